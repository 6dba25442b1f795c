//! From a noisy curvature to the effect of noise on each weight: post-processing of
//! [`super::curvature`].
//!
//! **Effect of the noise on eigenvalues.** Let N have p² independent entries of deviation σ. Ĥ = H + E,
//! E = (N + Nᵀ)/2: entries of deviation σ on the diagonal and σ/√2 off it.
//! 1. *E‖E‖₂ ≤ σ√(2p) from above, and exceeded by more than tσ with probability at most e^(−t²/2).*
//!    Proof: for unit vectors uᵀNu is a Gaussian process with
//!    E(uᵀNu − vᵀNv)² = σ²‖uuᵀ − vvᵀ‖² = 2σ²(1 − ⟨u, v⟩²) ≤ 4σ²(1 − ⟨u, v⟩) = 2σ²‖u − v‖², that of
//!    √2·σ⟨g, u⟩; by Sudakov and Fernique the mean of its largest value, λ₁(E), is at most
//!    √2·σ·E‖g‖ ≤ σ√(2p). λ₁(E) is 1-Lipschitz in N. ∎ So with many columns eigenvalues of up to σ√(2p)
//!    are pure noise, and a margin of a few σ is not enough.
//! 2. *An isolated eigenvalue h of H is observed at h + pσ²/(2h)*, give or take σ, if h > σ√(p/2), and
//!    else is lost in the spectrum of the noise (Benaych-Georges & Nadakuditi 2011, Theorem 2.1, for
//!    p → ∞; the overlap of its vector with the true one is then 1 − pσ²/(2h²)). Solved for h:
//!    **h = (ĥ + √(ĥ² − 2pσ²))/2** if ĥ > σ√(2p), and 0 if not.
//!
//! From that, one σ more is subtracted ([`CAUTION`]), and negative values count as 0. For a minimiser, a
//! curvature estimated too small makes an interval too wide, never too narrow. The gain of a descent
//! falls with h too, but oscillates: at one step size the largest gain between h and the observed value
//! is taken; at step sizes per column the gain at h alone is, which can be too narrow by up to a half in
//! strongly curved directions. If many eigenvalues are alike and the noise is not small beside them, 2.
//! does not hold; they are then observed spread out to both sides. Subtracting σ√(2p) from all
//! eigenvalues would be below H by 1., for any H, and makes intervals up to 4 times as wide where 2. is
//! right. The coverage of intervals is not proved either way.
//!
//! **Effect of the curvature on noise**, to first order:
//! - of a minimiser under a linear term b of scale σ ([`super::amp`]): θ(b) − θ(0) = −(H + λ)⁻¹b, so
//!   that weight j has the standard deviation σ·‖(H + λ)⁻¹eⱼ‖, and the output noise beside it;
//! - of a descent ([`super::gd`]): in the direction of an eigenvalue h the released mean keeps cₛ(h) of
//!   the noise in the answer of step s (exact for a quadratic, by the recursion in `gain`), so that
//!   weight j has σ·√(Σᵢ Qⱼᵢ²·Σₛcₛ(hᵢ)²). Values observed above the largest curvature that the step
//!   sizes were chosen for count as that;
//! - with step sizes D per column ([`super::centred_gd`]): θ = D^½θ′ moves as a descent of curvature
//!   D^½HD^½ = QΛQᵀ under noise D^½ξ, so that weight j has σ·√(Dⱼ·Σᵢₖ Qⱼᵢ·Qⱼₖ·(QᵀDQ)ᵢₖ·Σₛcₛ(λᵢ)cₛ(λₖ)).

use super::descent::Schedule;
use privet_optim::spectrum::Spectrum;
use serde::{Deserialize, Serialize};

/// Standard deviations of the noise subtracted from each eigenvalue, besides the correction 2. of the
/// module.
pub const CAUTION: f64 = 1.0;

/// Largest curvature for which the step sizes were chosen, as a fraction of the stable one: at one step
/// size, and at step sizes per column.
const STABLE: (f64, f64) = (0.75, 0.975);

/// The number of points between the estimated and the observed curvature at which the gain of a descent
/// is evaluated.
const BETWEEN: u32 = 8;

/// The effect of noise on the weights, given the curvature.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(crate) enum Response {
    /// For a linear term in an objective with this ridge.
    Minimum { ridge: f64 },
    /// For the answers of a descent.
    Descent { schedule: Schedule },
}

impl Response {
    /// The effect of a deviation of 1 in b, or in an answer, on each weight, given a noisy p × p matrix;
    /// a descent's columns have these step sizes, times η, or all η if there are none.
    pub fn lengths(
        &self,
        noisy: &[f64],
        columns: usize,
        noise_scale: f64,
        rates: &[f64],
    ) -> Vec<f64> {
        let at = |j: usize, k: usize| noisy.get(j * columns + k).copied().unwrap_or(0.0);
        let mean = |place: usize| {
            let (j, k) = (place / columns, place % columns);
            (at(j, k) + at(k, j)) / 2.0
        };
        let symmetric: Vec<f64> = (0..columns * columns).map(mean).collect();
        let Some(spectrum) = Spectrum::of(&symmetric, columns) else {
            // The decomposition cannot fail on finite numbers.
            return self.without_curvature(columns, rates);
        };
        let true_one = |seen: f64| shrunk_eigenvalue(seen, noise_scale, columns);
        match self {
            Self::Minimum { ridge } => {
                spectrum.filtered_lengths(|seen| 1.0 / (true_one(seen) + ridge))
            }
            Self::Descent { schedule } if rates.is_empty() => {
                let most = STABLE.0 * schedule.stable_to();
                spectrum.filtered_lengths(|seen| {
                    let (low, high) = (true_one(seen).min(most), seen.clamp(0.0, most));
                    let at = |k: u32| low + (high - low) * f64::from(k) / f64::from(BETWEEN);
                    (0..=BETWEEN).map(|k| schedule.gain_at(at(k))).fold(0.0, f64::max)
                })
            }
            Self::Descent { schedule } => {
                let roots: Vec<f64> = rates.iter().map(|rate| rate.sqrt()).collect();
                let scaled = spectrum.filtered_matrix(true_one);
                let scaled: Vec<f64> = (0..columns * columns)
                    .map(|place| scaled[place] * roots[place / columns] * roots[place % columns])
                    .collect();
                let Some(scaled) = Spectrum::of(&scaled, columns) else {
                    return self.without_curvature(columns, rates);
                };
                let most = STABLE.1 * schedule.stable_to();
                let lengths =
                    scaled.weighed_lengths(rates, |h| schedule.kept_at(h.clamp(0.0, most)));
                lengths.iter().zip(&roots).map(|(length, root)| length * root).collect()
            }
        }
    }

    /// The same without any curvature, which is the worst case.
    fn without_curvature(&self, columns: usize, rates: &[f64]) -> Vec<f64> {
        let (own, largest) = match self {
            Self::Minimum { ridge } => (1.0 / ridge, 1.0),
            Self::Descent { schedule } => {
                (schedule.gain_at(0.0), rates.iter().copied().fold(0.0, f64::max))
            }
        };
        match rates.len() {
            0 => vec![own; columns],
            _ => rates.iter().map(|rate| own * (rate * largest).sqrt()).collect(),
        }
    }
}

/// The eigenvalue of H estimated from the value `seen` of Ĥ, with a margin.
fn shrunk_eigenvalue(seen: f64, noise_scale: f64, columns: usize) -> f64 {
    let made_of_nothing = noise_scale * (2.0 * columns as f64).sqrt();
    // Asks "above?", so that NaN gives 0.
    if seen > made_of_nothing {
        let beyond = ((seen - made_of_nothing) * (seen + made_of_nothing)).sqrt();
        return ((seen + beyond) / 2.0 - CAUTION * noise_scale).max(0.0);
    }
    0.0
}

#[cfg(test)]
mod tests {
    use super::super::descent::{Descent, Start};
    use super::*;
    use privet_dp::gate::{Next, Walk};
    use privet_dp::noise::{FixedSeed, Source};

    #[test]
    fn without_noise_lengths_are_those_of_the_matrix() {
        // Eigenvalues 3 and 1, with (1, 1) and (1, −1).
        let lengths = Response::Minimum { ridge: 1.0 }.lengths(&[2.0, 1.0, 1.0, 2.0], 2, 0.0, &[]);
        let expected = (0.5 * (1.0_f64 / 16.0 + 1.0 / 4.0)).sqrt();
        assert!(lengths.iter().all(|x| (x - expected).abs() < 1e-12), "{lengths:?}");
        // A negative eigenvalue is noise.
        assert_eq!(Response::Minimum { ridge: 2.0 }.lengths(&[-5.0], 1, 0.0, &[]), [0.5]);
    }

    /// Moments of a descent as implemented: a unit of noise in each column of each answer, one after the
    /// other.
    #[test]
    fn rates_of_their_own_do_to_noise_what_the_descent_does() {
        let schedule =
            Schedule { steps: 12, rate: 0.1, momentum: 0.6, ridge: 0.0, averaged: 3, ball: 1e9 };
        let curvature = [2.0, 0.7, 0.1, 0.7, 1.0, -0.4, 0.1, -0.4, 3.0];
        for rates in [vec![], vec![1.0; 3], vec![1.0, 4.0, 0.5]] {
            let mut squares = [0.0; 3];
            for (step, column) in (0..12).flat_map(|step| (0..3).map(move |column| (step, column)))
            {
                let mut walk = Descent::begin(Start { schedule, coordinates: 3 });
                walk.at_rates(rates.clone());
                let mut next = walk.next(None);
                let mut now = 0;
                let moved = loop {
                    match next {
                        Next::Ask(point) => {
                            let mut answer: Vec<f64> = (0..3)
                                .map(|j| (0..3).map(|k| curvature[3 * j + k] * point[k]).sum())
                                .collect();
                            answer[column] += f64::from(u8::from(now == step));
                            now += 1;
                            next = walk.next(Some(answer));
                        }
                        Next::Release(mean) => break mean,
                        Next::End => unreachable!("a descent ends with a release"),
                    }
                };
                squares.iter_mut().zip(&moved).for_each(|(sum, x)| *sum += x * x);
            }
            let found = Response::Descent { schedule }.lengths(&curvature, 3, 0.0, &rates);
            for (found, square) in found.iter().zip(squares) {
                assert!((found / square.sqrt() - 1.0).abs() < 1e-9, "{rates:?} {found} {square}");
            }
        }
    }

    /// For a table of few rows the noise is far above any curvature at which a descent is stable.
    #[test]
    fn what_no_descent_could_stand_is_not_believed() {
        let schedule =
            Schedule { steps: 300, rate: 0.1, momentum: 0.9, ridge: 0.0, averaged: 75, ball: 1e9 };
        let response = Response::Descent { schedule };
        for rates in [vec![], vec![2.0, 1.0]] {
            let found = response.lengths(&[1e9, 3.0, -7.0, -1e9], 2, 1.0, &rates);
            let most = response.without_curvature(2, &rates);
            assert!(
                found.iter().zip(&most).all(|(x, most)| *x > 0.0 && *x <= most * 1.01),
                "{found:?}"
            );
        }
    }

    /// Claims 1. and 2. of the module, at p = 60: of a zero matrix hardly an eigenvalue is left, and an
    /// isolated one is found. Seeds are fixed.
    #[test]
    fn what_noise_makes_is_taken_for_nothing_and_what_stands_alone_is_found() {
        let columns = 60;
        let mut source = FixedSeed::new(5);
        let mut normal = || {
            let uniform = |word: u64| (word >> 11) as f64 / (1_u64 << 53) as f64;
            let (a, b) = (uniform(source.next_u64()), uniform(source.next_u64()));
            (-2.0 * (1.0 - a).ln()).sqrt() * (std::f64::consts::TAU * b).cos()
        };
        let mut seen = |alone: f64| {
            let noise: Vec<f64> = (0..columns * columns).map(|_| normal()).collect();
            let symmetric: Vec<f64> = (0..columns * columns)
                .map(|place| {
                    let (j, k) = (place / columns, place % columns);
                    let own = if (j, k) == (7, 7) { alone } else { 0.0 };
                    own + (noise[place] + noise[k * columns + j]) / 2.0
                })
                .collect();
            Spectrum::of(&symmetric, columns).unwrap().values().to_vec()
        };
        let old = seen(0.0).iter().filter(|value| **value > 1.0).count();
        assert!(old > 20, "a caution of one deviation leaves {old} of 60");
        let mut found = 0.0;
        for _ in 0..40 {
            let left: f64 =
                seen(0.0).iter().map(|value| shrunk_eigenvalue(*value, 1.0, columns)).sum();
            assert!(left < 8.0, "{left}");
            found += shrunk_eigenvalue(*seen(20.0).last().unwrap(), 1.0, columns) / 40.0;
        }
        // 20 less the caution; the mean of 40 is off by 1/√40.
        assert!((found - 19.0).abs() < 0.8, "{found}");
    }
}
