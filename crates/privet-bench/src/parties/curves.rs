//! The thesis' methods on one problem dealt out to m parties: each made sound, but for two that say that they are not.
//!
//! With b = n/m rows a party, G = 1, and μ(ε, δ) the multiplier of the exact Gaussian curve:
//!
//! | method | sensitivity | noise on what is averaged |
//! |---|---|---|
//! | mpc-out | (2/b + 2γ)/(λm), of the mean of minimisers | ℓ2-Laplace or Gaussian, one draw a server |
//! | mpc-grad | 2/n, of the mean gradient, T times | Gaussian, √T, one draw a server |
//! | mpc-grad-joint | the same, steps with momentum | the same, one draw that the servers make together |
//! | local-out | (2/b + 2γ)/λ, of each party's minimiser | ℓ2-Laplace at each party: averaged, √m less |
//! | local-obj (as printed) | objective perturbation of each party (Chaudhuri et al. 2011), pure ε for exact minimisers, which nobody has | inside, averaged |
//! | local-grad | 2/b, of each party's gradient, T times | Gaussian at each party: averaged, √m less |
//! | pathak | as mpc-out's of a single party: m times as much | ℓ2-Laplace |
//! | rajkumar-agarwal | printed: Laplace 2/(nε) a round and one Gaussian term; it spends ε a *round* | not private at ε |
//!
//! γ bounds each party's gradient at what is called its minimiser. Two servers: what is opened has the noise of both.

use super::problem::{Rows, Shape, gaussian, l2_laplace, rows, square};
use super::{Dealt, Parties, line};
use crate::error::BenchError;
use crate::streams::{Emit, Settings};
use crate::suite::Onlooker;
use privet_dp::account::gaussian::mu;
use privet_dp::noise::{Source, SystemRandom};
use rayon::prelude::*;
use serde_json::json;

/// Gradient norm at which a party stops.
const TOLERANCE: f64 = 1e-6;
/// Servers, each of which adds a draw.
const SERVERS: usize = 2;
/// How much of its last move a step of `mpc-grad-joint` goes on with; 0.6 to 0.8 were looked at on KDDCup99.
const MOMENTUM: f64 = 0.7;

struct Setting<'a> {
    train: &'a Rows,
    shape: Shape,
    parties: usize,
    epsilon: f64,
    ridge: f64,
    /// μ(ε, δ).
    multiplier: f64,
}

impl Setting<'_> {
    /// b.
    fn part(&self) -> usize {
        self.train.count() / self.parties
    }

    fn places(&self, party: usize) -> std::ops::Range<usize> {
        let (rows, parties) = (self.train.count(), self.parties);
        party * rows / parties..(party + 1) * rows / parties
    }

    /// How far one party's minimiser moves.
    fn moves(&self) -> f64 {
        (2.0 / self.part() as f64 + 2.0 * TOLERANCE) / self.ridge
    }

    /// The mean of all parties' minimisers.
    fn averaged(&self) -> Result<Vec<f64>, BenchError> {
        let own = |party: usize| {
            self.train.minimum((self.shape, self.ridge), self.places(party), None, TOLERANCE)
        };
        let each = (0..self.parties).into_par_iter().map(own).collect::<Result<_, _>>()?;
        Ok(mean(each, self.train.columns))
    }

    /// The mean of minimisers of perturbed objectives.
    fn perturbed(&self, source: &mut dyn Source) -> Result<Vec<f64>, BenchError> {
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
            self.train.minimum((self.shape, ridge), self.places(party), Some(linear), TOLERANCE)
        };
        let each = noise.par_iter().enumerate().map(own).collect::<Result<_, _>>()?;
        Ok(mean(each, self.train.columns))
    }

    /// T steps from gradients under noise, each with some of the last move.
    fn descended(
        &self,
        rounds: u32,
        momentum: f64,
        mut noise: impl FnMut() -> Result<Vec<f64>, BenchError>,
    ) -> Result<Vec<f64>, BenchError> {
        let rate = 1.0 / (self.shape.curvature() + self.ridge);
        let (mut theta, mut ahead) = (vec![0.0; self.train.columns], vec![0.0; self.train.columns]);
        for _ in 0..rounds {
            let gradient = self.train.whole_gradient(self.shape, &ahead);
            for (at, (g, b)) in gradient.into_iter().zip(noise()?).enumerate() {
                let next = ahead[at] - rate * (g + b + self.ridge * ahead[at]);
                ahead[at] = next + momentum * (next - theta[at]);
                theta[at] = next;
            }
        }
        Ok(theta)
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

/// What a method is judged by.
struct Judge<'a> {
    shape: Shape,
    ridge: f64,
    train: &'a Rows,
    test: &'a Rows,
    best: f64,
    right: f64,
}

impl Judge<'_> {
    fn said(&self, theta: &[f64]) -> (f64, f64) {
        let gap = self.train.objective(self.shape, theta, self.ridge) - self.best;
        (gap, self.right - self.test.accuracy(self.shape, theta))
    }
}

/// Runs one set of the part.
pub(super) fn curves(
    suite: &Parties,
    (part, dealt): (&str, &Dealt),
    settings: &Settings,
    watch: &dyn Onlooker,
    emit: Emit<'_>,
) -> Result<(), BenchError> {
    let shape = if part == "logistic" { Shape::Logistic } else { Shape::Clipped };
    let (train, test) = rows(dealt, shape, settings)?;
    let ridge = suite.ridge;
    let best = train.minimum((shape, ridge), 0..train.count(), None, 1e-9)?;
    let judge = Judge {
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
        let averaged = setting.averaged()?;
        let (moves, m, n) = (setting.moves(), setting.parties as f64, train.count() as f64);
        let mut tell = |method: &str, rounds: u32, run: u32, theta: &[f64]| {
            let (gap, loss) = judge.said(theta);
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
            let mut laplace = averaged.clone();
            for _ in 0..SERVERS {
                out = plus(out, gaussian(columns, moves / m / setting.multiplier, source)?);
                laplace = plus(laplace, l2_laplace(columns, moves / m / suite.epsilon, source)?);
            }
            tell("mpc-out", 0, run, &out)?;
            tell("mpc-out-laplace", 0, run, &laplace)?;
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
                &setting.perturbed(source)?,
            )?;
            for rounds in &suite.rounds {
                let each = f64::from(*rounds).sqrt() / setting.multiplier;
                let scale = 2.0 / n * each * (SERVERS as f64).sqrt();
                let theta = setting.descended(*rounds, 0.0, || gaussian(columns, scale, source))?;
                tell("mpc-grad", *rounds, run, &theta)?;
                let theta = setting
                    .descended(*rounds, MOMENTUM, || gaussian(columns, 2.0 / n * each, source))?;
                tell("mpc-grad-joint", *rounds, run, &theta)?;
                let scale = 2.0 * m / n * each / m.sqrt();
                let theta = setting.descended(*rounds, 0.0, || gaussian(columns, scale, source))?;
                tell("local-grad", *rounds, run, &theta)?;
            }
            // As printed, with one ε a round; what it is worth is ε times the rounds.
            if let Some(rounds) = suite.rounds.get(2) {
                let once = gaussian(columns, 2.0 / n / setting.multiplier, source)?;
                let theta = setting.descended(*rounds, 0.0, || {
                    Ok(plus(once.clone(), l2_laplace(columns, 2.0 / (n * suite.epsilon), source)?))
                })?;
                tell("rajkumar-agarwal (not private at epsilon)", *rounds, run, &theta)?;
            }
        }
    }
    Ok(())
}
