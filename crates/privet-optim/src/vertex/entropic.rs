//! Minimising Σℓ(⟨xᵢ, θ⟩; yᵢ) + λΣw ln w over signed mixtures of columns, to a proved distance.
//!
//! θ = C(w⁺ − w⁻) with (w⁺, w⁻) in the simplex of 2p weights; entries are those of a [`GridMatrix`],
//! within ±τ, derivatives are clipped to ±S (ℓ with linear tails), κ = Cτ, c ≥ ℓ″.
//!
//! **Claim.** For dual numbers g let w ∝ e^(∓C·gⱼ) and q = Σℓ′xᵢ at its θ. The minimiser ŵ has
//! ‖w − ŵ‖₁ ≤ **(C/λ)·‖q − λg‖∞**.
//!
//! *Proof.* The objective G is λ-strongly convex in ‖·‖₁ (entropy is, by Pinsker), so
//! ⟨∇G(w) − ∇G(ŵ), w − ŵ⟩ ≥ λ‖w − ŵ‖₁². On the simplex constants do not count: ∇G(ŵ) = 0, and
//! ∇G(w) = ±C(q − λg), since λ ln w = ∓λC·g + constant. Hölder. ∎
//!
//! **Iteration.** g ← (Bg + q)/(B + λ): mirror descent. With B = ncκ² the losses are B-smooth relative
//! to entropy, (B + λ)·KL(ŵ, w′) ≤ B·KL(ŵ, w), and the distance falls below any e > 0 in a number of
//! rounds that is known beforehand ([`Entropic::rounds`]). Smaller B are tried first.
//!
//! **In finite arithmetic** the result is the *integer* scores at the computed θ. Their difference from
//! q is bounded by [`Entropic::slack`] and added to the distance: truncation of derivatives (a unit),
//! error of ℓ′ and of margins, and of the weights (from exponentials, whose arguments are at most
//! nSκ/λ, and from their sum).
//!
//! - Tested by `the_distance_is_proved`, `the_rounds_suffice`.

use super::grid::GridMatrix;
use super::scores::SlopeGrid;
use crate::loss::Loss;
use crate::solver::{Monitor, Progress};
use rayon::prelude::*;

/// Rounds in which smaller B are tried.
const TRIALS: u32 = 400;

/// The problem's public numbers, without its records.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Entropic {
    /// The loss ℓ.
    pub loss: Loss,
    /// The clipping bound S of derivatives and its unit.
    pub slopes: SlopeGrid,
    /// The ℓ1 radius C.
    pub radius: f64,
    /// The weight λ of the entropy.
    pub entropy: f64,
    /// The bound τ on entries.
    pub bound: f64,
    /// The number of rows n.
    pub rows: u64,
    /// The number of columns p.
    pub columns: usize,
}

impl Entropic {
    /// The bound κ on margins.
    pub fn margin_bound(&self) -> f64 {
        self.radius * self.bound
    }

    /// Upper bound on the difference between a computed derivative and ℓ′ at the exact margin of the
    /// computed weights.
    pub fn slope_error(&self) -> f64 {
        let rounding = (self.columns as f64 + 8.0) * f64::EPSILON;
        let margin = self.loss.curvature() * self.margin_bound() * rounding;
        // The last term: rounding of the residual itself, a few units of 2⁻⁵² of a sum of derivatives.
        self.slopes.unit()
            + self.loss.derivative_error()
            + margin
            + 8.0 * f64::EPSILON * self.slopes.clip()
    }

    /// The part of the distance due to finite arithmetic.
    pub fn slack(&self) -> f64 {
        // Exponents C·g are at most nSκ/λ, rounded relatively.
        let exponent = self.rows as f64 * self.slopes.clip() * self.margin_bound() / self.entropy;
        let roundings = self.columns as f64 + exponent;
        let weights = 2_f64.powi(-40) + 4.0 * roundings * f64::EPSILON;
        // The weights' own error changes q, too.
        let moved = self.smoothness() / self.entropy * weights;
        self.margin_bound() / self.entropy * self.rows as f64 * self.slope_error() + moved + weights
    }

    /// The smoothness B.
    fn smoothness(&self) -> f64 {
        self.rows as f64 * self.loss.curvature() * self.margin_bound() * self.margin_bound()
    }

    /// The number of rounds after which the residual is below half of `distance`, from any point that
    /// the trials can reach.
    ///  With r = B/(B + λ): KL(ŵ, w) falls by r a round from at most D = ln 2p + 2nSκ/λ (g is a mean of
    ///  numbers q/λ), so ‖w − ŵ‖₁ ≤ √(2D)·r^(t/2). C‖g − ĝ‖∞ falls by r, too, but for
    ///  (B/(B + λ))·‖w − ŵ‖₁ a round: it is at most r^(t/2)·(2nSκ/λ + (2B/λ)√(2D)), as
    ///  1/(1 − √r) ≤ 2(B + λ)/λ. And
    /// (C/λ)‖q − λg‖∞ ≤ (B/λ)‖w − ŵ‖₁ + C‖g − ĝ‖∞.
    pub fn rounds(&self, distance: f64) -> f64 {
        let shift =
            2.0 * self.rows as f64 * self.slopes.clip() * self.margin_bound() / self.entropy;
        let farthest = (2.0 * self.columns as f64).ln() + shift;
        let start = 3.0 * self.smoothness() / self.entropy * (2.0 * farthest).sqrt() + shift;
        let per_round = 0.5 * (self.entropy / self.smoothness()).ln_1p();
        ((2.0 * start / distance).ln() / per_round).max(0.0).ceil()
    }

    /// Returns the scores Σ mᵢkᵢⱼ at a θ whose weights are within `distance` of the minimiser's. `None`
    /// where that is not reached, which exact rounds exclude if `distance` is at least twice the
    /// [`Self::slack`] (rounded ones have not been seen to fail); or where `monitor` stops, or the
    /// records are not of the stated shape.
    pub fn solve(
        &self,
        features: &GridMatrix,
        labels: &[f64],
        distance: f64,
        monitor: &dyn Monitor,
    ) -> Option<Vec<i64>> {
        let fits = features.rows() as u64 == self.rows && features.columns() == self.columns;
        if !fits || labels.len() != features.rows() {
            return None;
        }
        let unit = self.slopes.unit() * features.grid().unit();
        let (full, slack) = (self.smoothness(), self.slack());
        let mut smoothness = full / 256.0;
        let mut dual = vec![0.0; self.columns];
        let mut last = f64::INFINITY;
        let most = f64::from(TRIALS) + self.rounds(distance) + 10.0;
        let mut round = 0_u32;
        while f64::from(round) <= most {
            let theta = self.theta(&dual);
            let scores = scores_at(features, labels, self.loss, self.slopes, &theta);
            let residual = scores.iter().zip(&dual).fold(0.0_f64, |largest, (score, g)| {
                largest.max((*score as f64 * unit - self.entropy * g).abs())
            });
            let reached = self.radius / self.entropy * residual * (1.0 + 1e-12) + slack;
            if reached <= distance {
                return Some(scores);
            }
            round = round.saturating_add(1);
            let progress = Progress {
                iteration: round,
                gradient_norm: reached,
                tolerance: distance,
                precise: false,
            };
            if !monitor.proceed(progress) {
                return None;
            }
            // Overshot: increase B. After the trials use the proved rate.
            if residual > last {
                smoothness = (4.0 * smoothness).min(full);
            }
            if round > TRIALS {
                smoothness = full;
            }
            last = residual;
            for (g, score) in dual.iter_mut().zip(&scores) {
                *g = (smoothness * *g + *score as f64 * unit) / (smoothness + self.entropy);
            }
        }
        None
    }

    /// The point θ = C(w⁺ − w⁻).
    fn theta(&self, dual: &[f64]) -> Vec<f64> {
        let largest = dual.iter().fold(0.0_f64, |largest, g| largest.max((self.radius * g).abs()));
        let mut total = 0.0;
        let mut theta: Vec<f64> = dual
            .iter()
            .map(|g| {
                let at = self.radius * g;
                let (up, down) = ((-at - largest).exp(), (at - largest).exp());
                total += up + down;
                up - down
            })
            .collect();
        theta.iter_mut().for_each(|x| *x *= self.radius / total);
        theta
    }
}

/// The sum Σ mᵢkᵢⱼ for every column at θ, exactly.
fn scores_at(
    features: &GridMatrix,
    labels: &[f64],
    loss: Loss,
    slopes: SlopeGrid,
    theta: &[f64],
) -> Vec<i64> {
    let piece = labels.len().div_ceil(rayon::current_num_threads()).max(256);
    let unit = features.grid().unit();
    labels
        .par_chunks(piece)
        .enumerate()
        .map(|(number, labels)| {
            let mut sums = vec![0; features.columns()];
            for (offset, y) in labels.iter().enumerate() {
                let row = number * piece + offset;
                let mut margin = 0.0;
                features.for_row(row, |column, k| margin += theta[column] * f64::from(k));
                let slope = slopes.units(loss.derivative(margin * unit, *y));
                features.add_row(row, i64::from(slope), &mut sums);
            }
            sums
        })
        .reduce(
            || vec![0; features.columns()],
            |mut all, part| {
                all.iter_mut().zip(part).for_each(|(sum, part)| *sum += part);
                all
            },
        )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Lcg, random_csr};
    use crate::vertex::FeatureGrid;
    use proptest::prelude::*;
    use std::sync::atomic::AtomicBool;

    const COLUMNS: usize = 6;
    const ROWS: usize = 60;

    fn problem(entropy: f64) -> Entropic {
        Entropic {
            loss: Loss::Logistic,
            slopes: SlopeGrid::for_rows(0.5, ROWS as u64),
            radius: 4.0,
            entropy,
            bound: 0.5,
            rows: ROWS as u64,
            columns: COLUMNS,
        }
    }

    fn records(seed: u64) -> (GridMatrix, Vec<f64>) {
        let mut random = Lcg(seed);
        let matrix = random_csr(&mut random, ROWS, COLUMNS, 3);
        let labels = (0..ROWS).map(|_| random.sign()).collect();
        (GridMatrix::new(&matrix, FeatureGrid::new(0.5)).unwrap(), labels)
    }

    fn weights(problem: &Entropic, dual: &[f64]) -> Vec<f64> {
        let raw: Vec<f64> = dual
            .iter()
            .flat_map(|g| [(-problem.radius * g).exp(), (problem.radius * g).exp()])
            .collect();
        let total: f64 = raw.iter().sum();
        raw.into_iter().map(|weight| weight / total).collect()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(16))]
        /// A rough answer is within its distance of a fine one (up to the fine one's own).
        #[test]
        fn the_distance_is_proved(seed in any::<u64>(), entropy in 0.5_f64..20.0) {
            let problem = problem(entropy);
            let (features, labels) = records(seed);
            let quiet = AtomicBool::new(false);
            let fine = 1e-5;
            let best = problem.solve(&features, &labels, fine, &quiet).unwrap();
            let unit = problem.slopes.unit() * features.grid().unit();
            // The weights w ∝ e^(∓C·q/λ) of the returned scores are closer still to the minimiser's
            // fixed point.
            let dual = |scores: &[i64]| scores.iter().map(|s| *s as f64 * unit / entropy).collect::<Vec<_>>();
            for distance in [0.3, 0.03, 0.003] {
                let rough = problem.solve(&features, &labels, distance, &quiet).unwrap();
                // Scores change by at most nτcκ·distance.
                let limit = ROWS as f64 * 0.5 * 0.25 * 2.0 * (distance + fine) + 1e-3;
                for (a, b) in rough.iter().zip(&best) {
                    prop_assert!((a - b).abs() as f64 * unit <= limit);
                }
            }
            // The fixed point: weights of the scores are those of θ.
            let w = weights(&problem, &dual(&best));
            let theta = problem.theta(&dual(&best));
            for (j, t) in theta.iter().enumerate() {
                prop_assert!((4.0 * (w[2 * j] - w[2 * j + 1]) - t).abs() < 1e-12);
            }
        }
    }

    #[test]
    fn the_rounds_suffice() {
        let (features, labels) = records(3);
        for entropy in [0.05, 1.0, 100.0] {
            let problem = problem(entropy);
            let distance = 2.0 * problem.slack() + 1e-3;
            assert!(problem.rounds(distance) < 1e6);
            let quiet = AtomicBool::new(false);
            assert!(problem.solve(&features, &labels, distance, &quiet).is_some(), "{entropy}");
        }
        let stopped = AtomicBool::new(true);
        assert!(problem(1.0).solve(&features, &labels, 1e-4, &stopped).is_none());
        assert!(problem(1.0).solve(&features, &labels[1..], 1e-4, &stopped).is_none());
    }
}
