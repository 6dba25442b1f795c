//! The thesis' methods on one problem split among m parties: each made sound, except two.
//!
//! With b = n/m rows a party, G = 1, and μ(ε, δ) the multiplier of the exact Gaussian curve:
//!
//! | method | sensitivity | noise on the average |
//! |---|---|---|
//! | mpc-out | (2/b + 2γ)/(λm), of the mean of minimisers | ℓ2-Laplace or Gaussian, one draw a server |
//! | mpc-grad | 2/n, of the mean gradient, T times | Gaussian, √T, one draw a server |
//! | mpc-grad-chosen | 2cₜ/n, derivatives clipped at cₜ, T times | Gaussian, by rounds, one draw a server |
//! | mpc-grad-chosen-joint | the same | the same, one draw that the servers make together |
//! | mpc-grad-joint | as mpc-grad, steps with momentum | the same, one draw that the servers make together |
//! | local-out | (2/b + 2γ)/λ, of each party's minimiser | ℓ2-Laplace at each party: averaged, √m less |
//! | local-obj (as printed) | see below | inside, averaged |
//! | local-grad | 2/b, of each party's gradient, T times | Gaussian at each party: averaged, √m less |
//! | pathak | as mpc-out's of a single party: m times as much | ℓ2-Laplace |
//! | rajkumar-agarwal (as printed) | see below | not private at ε |
//!
//! γ bounds each party's gradient at its approximate minimiser. Two servers: an opened result has the
//! noise of both.
//!
//! **local-obj** is objective perturbation of each party (Chaudhuri et al. 2011): pure ε for exact
//! minimisers, which no solver finds. **rajkumar-agarwal** has Laplace noise of 2/(nε) a coordinate and
//! round, and one Gaussian term; it spends ε a *round*, √d times that for an ℓ2 bound.
//!
//! **mpc-grad-chosen** is MPC Grad P with public settings of the suite's file ([`ChosenGradSettings`]):
//! momentum, longer steps, derivatives clipped (by which the gradients, and so the noise, are smaller,
//! and the minimum another), less noise in later rounds, and at the end weights that noise alone could
//! have made are 0. Round t has Δₜ/σₜ = μ·√(share of t), the shares adding up to 1: T Gaussian rounds
//! with these are one at μ. The settings were chosen on the gap on KDDCup99's training rows, as the
//! thesis chooses its own, which is not charged; nothing was chosen on the other sets, nor on test rows.

use super::problem::{Rows, Shape, gaussian, l2_laplace, laplace, rows, square};
use super::{DealtData, Parties, line};
use crate::error::BenchError;
use crate::parts::{Emit, Settings};
use crate::suite::RunObserver;
use privet_dp::account::gaussian::mu;
use privet_dp::noise::{Source, SystemRandom};
use rayon::prelude::*;
use serde::Deserialize;
use serde_json::json;

/// Gradient norm at which a party stops.
const TOLERANCE: f64 = 1e-6;
/// Servers, each of which adds a draw.
const SERVERS: usize = 2;
/// Momentum of `mpc-grad-joint`; 0.6 to 0.8 were tried on KDDCup99.
const MOMENTUM: f64 = 0.7;

/// The settings of `mpc-grad-chosen`.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct ChosenGradSettings {
    /// Number of rounds T.
    pub rounds: u32,
    /// Momentum.
    pub momentum: f64,
    /// Step size, in units of 1/L.
    pub rate: f64,
    /// Clipping bounds of the derivatives: in the first round, in the last, linear in between.
    pub slopes: [f64; 2],
    /// The noise variance of the last round is e^(−falls) times that of the first, at equal clips.
    pub falls: f64,
    /// Weights below so many standard deviations of pure noise are set to 0.
    pub zeroed_below: f64,
}

impl ChosenGradSettings {
    /// For each round, the clipping bound and (Δₜ/σₜ)²/μ²; the latter sum to 1.
    fn rounds(&self) -> Vec<(f64, f64)> {
        let along = |t: u32| f64::from(t) / f64::from(self.rounds.max(2) - 1);
        let weight = |t: u32| (self.falls * along(t)).exp();
        let all: f64 = (0..self.rounds).map(weight).sum();
        let [first, last] = self.slopes;
        (0..self.rounds).map(|t| (first + (last - first) * along(t), weight(t) / all)).collect()
    }
}

/// Largest number of rounds of the variants with more noise or momentum, which are worse by then;
/// `mpc-grad` alone runs longer.
const LONG: u32 = 500;

struct Setting<'a> {
    train: &'a Rows,
    shape: Shape,
    parties: usize,
    epsilon: f64,
    ridge: f64,
    /// The multiplier μ(ε, δ).
    multiplier: f64,
}

impl Setting<'_> {
    /// Rows b of a party.
    fn part(&self) -> usize {
        self.train.count() / self.parties
    }

    fn party_rows(&self, party: usize) -> std::ops::Range<usize> {
        let (rows, parties) = (self.train.count(), self.parties);
        party * rows / parties..(party + 1) * rows / parties
    }

    /// The sensitivity of one party's minimiser.
    fn minimiser_sensitivity(&self) -> f64 {
        (2.0 / self.part() as f64 + 2.0 * TOLERANCE) / self.ridge
    }

    /// The mean of all parties' minimisers.
    fn mean_minimiser(&self) -> Result<Vec<f64>, BenchError> {
        let own = |party: usize| {
            self.train.minimum((self.shape, self.ridge), self.party_rows(party), None, TOLERANCE)
        };
        let each = (0..self.parties).into_par_iter().map(own).collect::<Result<_, _>>()?;
        Ok(mean(each, self.train.columns))
    }

    /// The mean of minimisers of perturbed objectives.
    fn mean_perturbed_minimiser(&self, source: &mut dyn Source) -> Result<Vec<f64>, BenchError> {
        let (part, c) = (self.part() as f64, self.shape.curvature());
        let left = self.epsilon
            - (1.0 + 2.0 * c / (part * self.ridge) + (c / (part * self.ridge)).powi(2)).ln();
        let (more, left) = match left > 0.0 {
            true => (0.0, left),
            false => {
                (c / (part * ((self.epsilon / 4.0).exp() - 1.0)) - self.ridge, self.epsilon / 2.0)
            }
        };
        let ridge = self.ridge + more.max(0.0);
        let noise: Vec<Vec<f64>> = (0..self.parties)
            .map(|_| l2_laplace(self.train.columns, 2.0 / (left * part), source))
            .collect::<Result<_, _>>()?;
        let own = |(party, linear): (usize, &Vec<f64>)| {
            self.train.minimum((self.shape, ridge), self.party_rows(party), Some(linear), TOLERANCE)
        };
        let each = noise.par_iter().enumerate().map(own).collect::<Result<_, _>>()?;
        Ok(mean(each, self.train.columns))
    }

    /// T noisy gradient steps with momentum.
    fn noisy_descent(
        &self,
        rounds: u32,
        momentum: f64,
        mut noise: impl FnMut() -> Result<Vec<f64>, BenchError>,
    ) -> Result<Vec<f64>, BenchError> {
        let rate = 1.0 / (self.shape.curvature() + self.ridge);
        let (mut theta, mut ahead) = (vec![0.0; self.train.columns], vec![0.0; self.train.columns]);
        for _ in 0..rounds {
            let gradient = self.train.whole_gradient((self.shape, 1.0), &ahead);
            for (at, (g, b)) in gradient.into_iter().zip(noise()?).enumerate() {
                let next = ahead[at] - rate * (g + b + self.ridge * ahead[at]);
                ahead[at] = next + momentum * (next - theta[at]);
                theta[at] = next;
            }
        }
        Ok(theta)
    }

    /// Noisy gradient steps with chosen settings, the noise scaled by `wide` relative to one draw.
    fn chosen_descent(
        &self,
        by: &ChosenGradSettings,
        wide: f64,
        source: &mut dyn Source,
    ) -> Result<Vec<f64>, BenchError> {
        let (columns, n) = (self.train.columns, self.train.count() as f64);
        let rate = by.rate / (self.shape.curvature() + self.ridge);
        let (mut theta, mut ahead) = (vec![0.0; columns], vec![0.0; columns]);
        // The effect so far of one unit of noise in each round on a weight that no row moves.
        let rounds = by.rounds();
        let (mut kept, mut kept_ahead) = (vec![0.0; rounds.len()], vec![0.0; rounds.len()]);
        let scale =
            |(clip, share): &(f64, f64)| 2.0 * clip / n * wide / (self.multiplier * share.sqrt());
        for (round, setting) in rounds.iter().enumerate() {
            let gradient = self.train.whole_gradient((self.shape, setting.0), &ahead);
            let noise = gaussian(columns, scale(setting), source)?;
            for (at, (g, b)) in gradient.into_iter().zip(noise).enumerate() {
                let next = ahead[at] - rate * (g + b + self.ridge * ahead[at]);
                ahead[at] = next + by.momentum * (next - theta[at]);
                theta[at] = next;
            }
            for at in 0..=round {
                let drawn = if at == round { 1.0 } else { 0.0 };
                let next = kept_ahead[at] - rate * (drawn + self.ridge * kept_ahead[at]);
                kept_ahead[at] = next + by.momentum * (next - kept[at]);
                kept[at] = next;
            }
        }
        let made = |(kept, setting): (&f64, &(f64, f64))| (kept * scale(setting)).powi(2);
        let alone = kept.iter().zip(&rounds).map(made).sum::<f64>().sqrt();
        let least = by.zeroed_below * alone;
        Ok(theta
            .into_iter()
            .map(|weight| if weight.abs() < least { 0.0 } else { weight })
            .collect())
    }
}

fn mean(each: Vec<Vec<f64>>, columns: usize) -> Vec<f64> {
    let mut sum = vec![0.0; columns];
    for one in &each {
        sum.iter_mut().zip(one).for_each(|(sum, x)| *sum += x);
    }
    sum.iter_mut().for_each(|x| *x /= each.len().max(1) as f64);
    sum
}

fn plus(mut value: Vec<f64>, noise: Vec<f64>) -> Vec<f64> {
    value.iter_mut().zip(noise).for_each(|(x, b)| *x += b);
    value
}

/// The evaluation of a method.
struct CurveEvaluation<'a> {
    shape: Shape,
    ridge: f64,
    train: &'a Rows,
    test: &'a Rows,
    best: f64,
    right: f64,
}

impl CurveEvaluation<'_> {
    fn evaluate(&self, theta: &[f64]) -> (f64, f64) {
        let gap = self.train.objective(self.shape, theta, self.ridge) - self.best;
        (gap, self.right - self.test.accuracy(self.shape, theta))
    }
}

/// Runs the part on one set.
pub(super) fn curves(
    suite: &Parties,
    (part, dealt): (&str, &DealtData),
    settings: &Settings,
    watch: &dyn RunObserver,
    emit: Emit<'_>,
) -> Result<(), BenchError> {
    let shape = if part == "logistic" { Shape::Logistic } else { Shape::Clipped };
    let (train, test) = rows(dealt, shape, settings)?;
    let ridge = suite.ridge;
    let best = train.minimum((shape, ridge), 0..train.count(), None, 1e-9)?;
    let judge = CurveEvaluation {
        shape,
        ridge,
        train: &train,
        test: &test,
        best: train.objective(shape, &best, ridge),
        right: test.accuracy(shape, &best),
    };
    let mut source = SystemRandom::new()?;
    let source: &mut dyn Source = &mut source;
    let columns = train.columns;
    for parties in &dealt.parties {
        let setting = Setting {
            train: &train,
            shape,
            parties: *parties as usize,
            epsilon: suite.epsilon,
            ridge,
            multiplier: mu(suite.epsilon, suite.delta),
        };
        watch.say(&format!("{part}: {} among {parties} parties", dealt.dataset));
        let averaged = setting.mean_minimiser()?;
        let (moves, m, n) =
            (setting.minimiser_sensitivity(), setting.parties as f64, train.count() as f64);
        let mut tell = |method: &str, rounds: u32, run: u32, theta: &[f64]| {
            let (gap, loss) = judge.evaluate(theta);
            emit(line(
                part,
                method,
                json!({
                    "dataset": dealt.dataset, "parties": parties, "method": method, "rounds": rounds, "run": run,
                    "epsilon": suite.epsilon, "delta": suite.delta, "columns": columns, "rows": train.count(),
                    "gap": gap, "accuracy-loss": loss, "best": judge.right,
                    "length": square(theta).sqrt(),
                }),
            ))
        };
        tell("averaged, no noise", 0, 0, &averaged)?;
        for run in 0..suite.runs {
            let mut out = averaged.clone();
            let mut by_length = averaged.clone();
            for _ in 0..SERVERS {
                out = plus(out, gaussian(columns, moves / m / setting.multiplier, source)?);
                by_length =
                    plus(by_length, l2_laplace(columns, moves / m / suite.epsilon, source)?);
            }
            tell("mpc-out", 0, run, &out)?;
            tell("mpc-out-laplace", 0, run, &by_length)?;
            let pathak = l2_laplace(columns, moves / suite.epsilon, source)?;
            tell("pathak", 0, run, &plus(averaged.clone(), pathak))?;
            let own =
                (0..setting.parties).map(|_| l2_laplace(columns, moves / suite.epsilon, source));
            let own = mean(own.collect::<Result<_, _>>()?, columns);
            tell("local-out", 0, run, &plus(averaged.clone(), own))?;
            tell(
                "local-obj (as printed: needs exact minima)",
                0,
                run,
                &setting.mean_perturbed_minimiser(source)?,
            )?;
            let wide = (SERVERS as f64).sqrt();
            let theta = setting.chosen_descent(&suite.chosen, wide, source)?;
            tell("mpc-grad-chosen", suite.chosen.rounds, run, &theta)?;
            let theta = setting.chosen_descent(&suite.chosen, 1.0, source)?;
            tell("mpc-grad-chosen-joint", suite.chosen.rounds, run, &theta)?;
            for rounds in &suite.rounds {
                let each = f64::from(*rounds).sqrt() / setting.multiplier;
                let scale = 2.0 / n * each * wide;
                let theta =
                    setting.noisy_descent(*rounds, 0.0, || gaussian(columns, scale, source))?;
                tell("mpc-grad", *rounds, run, &theta)?;
                if *rounds > LONG {
                    continue;
                }
                let theta = setting.noisy_descent(*rounds, MOMENTUM, || {
                    gaussian(columns, 2.0 / n * each, source)
                })?;
                tell("mpc-grad-joint", *rounds, run, &theta)?;
                let scale = 2.0 * m / n * each / m.sqrt();
                let theta =
                    setting.noisy_descent(*rounds, 0.0, || gaussian(columns, scale, source))?;
                tell("local-grad", *rounds, run, &theta)?;
            }
            // As printed: Laplace noise per coordinate, with one ε per round.
            if let Some(rounds) = suite.rounds.get(2) {
                let once = gaussian(columns, 2.0 / n / setting.multiplier, source)?;
                let theta = setting.noisy_descent(*rounds, 0.0, || {
                    Ok(plus(once.clone(), laplace(columns, 2.0 / (n * suite.epsilon), source)))
                })?;
                tell("rajkumar-agarwal (not private at epsilon)", *rounds, run, &theta)?;
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    /// All rounds together are one at μ, each is clipped as requested, and later ones are less noisy.
    #[test]
    fn rounds_share_one_budget() {
        let chosen = crate::parties::suite().unwrap().chosen;
        let rounds = chosen.rounds();
        assert_eq!(rounds.len(), chosen.rounds as usize);
        let sum: f64 = rounds.iter().map(|(_, share)| share).sum();
        assert!((sum - 1.0).abs() < 1e-12, "{sum}");
        assert_eq!([rounds[0].0, rounds[rounds.len() - 1].0], chosen.slopes);
        let fell = rounds[rounds.len() - 1].1 / rounds[0].1;
        assert!((fell - chosen.falls.exp()).abs() < 1e-9 && chosen.falls > 0.0);
    }
}
