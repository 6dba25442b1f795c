//! The public walk of every training ([`Walk`]): update rules that turn noisy sums of gradients into
//! weights.
//!
//! With aₜ the answer, b the *expected* size of a sample (a public number, for any draw) and r the
//! public penalty:
//!
//! | rule | direction |
//! |---|---|
//! | `Momentum` | v ← m·v + aₜ/b |
//! | `Adam` | first and second moments of aₜ/b, corrected for their start (Kingma & Ba 2015) |
//! | `Recursive` | v ← aₜ/b at first, then v ← (1 − γ)·v + aₜ/b ([`super::srm`]) |
//!
//! If requested, aₜ/b is smoothed by A_σ⁻¹ first ([`super::smoothing`]). Then θ ← Π(θ − ηₜ(v + ∇r(θ))),
//! Π the projection onto a ball around 0, so that weights are finite for any draw. The release is the
//! mean of the last points. All inputs are public numbers and charged answers: post-processing.

use super::smoothing::smooth;
use super::tensors::{Layout, Tensors};
use crate::linear::keep_within;
use privet_dp::continual::Running;
use privet_dp::gate::{Next, Walk};
use serde::{Deserialize, Serialize};

/// Update rule, with its parameters.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(crate) enum Rule {
    /// Momentum m.
    Momentum(f64),
    /// Adam's decays β₁ and β₂.
    Adam([f64; 2]),
    /// Weight γ of the gradient itself in the recursion.
    Recursive(f64),
}

/// Decay of the step size.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Decay {
    /// Constant.
    #[default]
    Constant,
    /// Linear, to 0 at the end.
    Linear,
    /// Inverse: as 1/t.
    Inverse,
}

impl Decay {
    /// Names of the decays.
    pub const WORDS: &'static str = "constant, linear or inverse";

    /// Factor of step t of T, from 0.
    fn at(self, step: u32, steps: u32) -> f64 {
        match self {
            Self::Constant => 1.0,
            Self::Linear => 1.0 - f64::from(step) / f64::from(steps.max(1)),
            Self::Inverse => 1.0 / (f64::from(step) + 1.0),
        }
    }
}

/// Public penalties on the mean loss.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Penalty {
    /// Strength λ of the ridge (λ/2)‖θ‖².
    pub ridge: f64,
    /// Strength λ of the nonconvex penalty λ·Σθ²/(1 + θ²).
    pub nonconvex: f64,
}

impl Rule {
    /// Default step size for gradients clipped to this norm.
    pub fn usual_rate(self, clip: f64) -> f64 {
        match self {
            Self::Momentum(momentum) => 0.5 * (1.0 - momentum) / clip,
            Self::Adam(_) => 1e-3,
            Self::Recursive(_) => 0.25 / clip,
        }
    }
}

impl Penalty {
    /// Value of the penalties.
    pub fn of(self, weights: &[f64]) -> f64 {
        let one = |weight: &f64| {
            let square = weight * weight;
            self.ridge / 2.0 * square + self.nonconvex * square / (1.0 + square)
        };
        weights.iter().map(one).sum()
    }

    /// Derivative at one weight.
    pub fn slope(self, weight: f64) -> f64 {
        let under = 1.0 + weight * weight;
        self.ridge * weight + self.nonconvex * 2.0 * weight / (under * under)
    }
}

/// Public parameters, fixed before any record is read.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Schedule {
    /// Number of steps, T.
    pub steps: u32,
    /// Expected size b of the first sample, and of the others.
    pub expected: [f64; 2],
    pub rule: Rule,
    /// Step size η.
    pub rate: f64,
    pub decay: Decay,
    /// Upper bound on the norm of a step.
    pub longest: Option<f64>,
    /// Smoothing strength σ, and true if each tensor is smoothed separately.
    pub smoothing: Option<(f64, bool)>,
    pub penalty: Penalty,
    /// Number of the last points that are averaged; 0 counts as 1.
    pub averaged: u32,
    /// Radius of the ball onto which trained weights are projected.
    pub ball: f64,
}

/// Start of a training's walk: public numbers alone.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Start {
    pub schedule: Schedule,
    /// All weights: trained ones first, then frozen ones.
    pub weights: Vec<f32>,
    /// Tensors of these weights.
    pub layout: Layout,
    /// Running sum of the answers, if they are rows of a stream under correlated noise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub running: Option<Running>,
}

/// A query of the sum of gradients at a point.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Query {
    /// Number of earlier answers.
    pub step: u32,
    /// All weights.
    pub at: Vec<f32>,
    /// All weights at the previous point, if gradients are compared.
    pub before: Option<Vec<f32>>,
}

/// State of a training's walk.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Training {
    start: Start,
    heard: u32,
    /// Trained weights, at full precision.
    point: Vec<f64>,
    /// Direction v, or the first moment.
    direction: Vec<f64>,
    /// Second moments, if the rule has them.
    second: Vec<f64>,
    mean: Vec<f64>,
    /// All weights at the previous point, if the rule compares gradients.
    before: Option<Vec<f32>>,
}

/// Number that Adam adds to the root of second moments.
pub const ADAM_FLOOR: f64 = 1e-8;

impl Walk for Training {
    type Start = Start;
    type Query = Query;
    type Answer = Vec<f64>;
    type Artefact = Tensors;

    fn begin(start: Start) -> Self {
        let point: Vec<f64> =
            start.weights[..start.layout.trained].iter().map(|x| f64::from(*x)).collect();
        let zero = vec![0.0; point.len()];
        let second = match start.schedule.rule {
            Rule::Adam(_) => zero.clone(),
            _ => Vec::new(),
        };
        Self { start, heard: 0, direction: zero.clone(), second, mean: zero, point, before: None }
    }

    fn next(&mut self, answer: Option<Vec<f64>>) -> Next<Query, Tensors> {
        let steps = self.start.schedule.steps;
        if let Some(answer) = answer {
            let averaged = self.start.schedule.averaged.clamp(1, steps.max(1));
            if let Rule::Recursive(_) = self.start.schedule.rule {
                self.before = Some(self.all(&self.point));
            }
            // An answer that was lost with a process is empty: the point stays.
            if !answer.is_empty() {
                self.hear(answer);
            }
            self.heard += 1;
            if self.heard > steps - averaged {
                let share = f64::from(averaged);
                self.mean.iter_mut().zip(&self.point).for_each(|(mean, x)| *mean += x / share);
            }
        }
        // At the end, and again if a process ended before it could write the release.
        if self.heard >= steps {
            return Next::Release(self.start.layout.cut(&self.all(&self.mean)));
        }
        let (step, at) = (self.heard, self.all(&self.point));
        Next::Ask(Query { step, at, before: self.before.clone() })
    }
}

impl Training {
    /// All weights, with `trained` as the trained ones.
    fn all(&self, trained: &[f64]) -> Vec<f32> {
        let frozen = &self.start.weights[trained.len()..];
        trained.iter().map(|weight| *weight as f32).chain(frozen.iter().copied()).collect()
    }

    fn hear(&mut self, mut answer: Vec<f64>) {
        if let Some(running) = &mut self.start.running {
            let before = running.sum().to_vec();
            answer =
                running.hear(&answer).iter().zip(before).map(|(now, then)| now - then).collect();
        }
        let schedule = &self.start.schedule;
        let expected = schedule.expected[usize::from(self.heard > 0)];
        answer.iter_mut().for_each(|sum| *sum /= expected);
        if let Some((strength, each)) = schedule.smoothing {
            let parts = match each {
                true => self.start.layout.trained_ranges(),
                false => std::iter::once(0..answer.len()).collect(),
            };
            parts.into_iter().for_each(|part| smooth(&mut answer[part], strength));
        }
        let rate = schedule.rate * schedule.decay.at(self.heard, schedule.steps);
        let mut step = self.direction_of(&answer);
        let penalty = self.start.schedule.penalty;
        step.iter_mut().zip(&self.point).for_each(|(step, x)| *step += penalty.slope(*x));
        let length = step.iter().map(|x| x * x).sum::<f64>().sqrt();
        let rate = match self.start.schedule.longest {
            Some(longest) if rate * length > longest => longest / length,
            _ => rate,
        };
        self.point.iter_mut().zip(&step).for_each(|(x, step)| *x -= rate * step);
        if !keep_within(&mut self.point, self.start.schedule.ball) {
            let mend = |v: &mut f64| *v = if v.is_finite() { *v } else { 0.0 };
            self.direction.iter_mut().chain(&mut self.second).for_each(mend);
        }
    }

    /// Returns the direction of an answer, and updates the state.
    fn direction_of(&mut self, answer: &[f64]) -> Vec<f64> {
        let time = f64::from(self.heard) + 1.0;
        let both = self.direction.iter_mut().zip(answer);
        match self.start.schedule.rule {
            Rule::Momentum(momentum) => {
                both.for_each(|(v, a)| *v = momentum * *v + a);
                self.direction.clone()
            }
            Rule::Recursive(gamma) => {
                let kept = if self.heard > 0 { 1.0 - gamma } else { 0.0 };
                both.for_each(|(v, a)| *v = kept * *v + a);
                self.direction.clone()
            }
            Rule::Adam([first, second]) => {
                let (mend, mend_second) = (1.0 - first.powf(time), 1.0 - second.powf(time));
                both.zip(&mut self.second)
                    .map(|((mean, a), square)| {
                        *mean = first * *mean + (1.0 - first) * a;
                        *square = second * *square + (1.0 - second) * a * a;
                        (*mean / mend) / ((*square / mend_second).sqrt() + ADAM_FLOOR)
                    })
                    .collect()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tensors::Place;
    use super::*;

    fn schedule(rule: Rule) -> Schedule {
        Schedule {
            steps: 3,
            expected: [4.0, 2.0],
            rule,
            rate: 0.5,
            decay: Decay::Constant,
            longest: None,
            smoothing: None,
            penalty: Penalty::default(),
            averaged: 1,
            ball: 100.0,
        }
    }

    /// Of three weights the last one is frozen.
    fn training(schedule: Schedule) -> Training {
        let place = |name: &str, range| Place { name: name.into(), shape: vec![1], range };
        let places = vec![place("a", 0..1), place("c", 2..3), place("b", 1..2)];
        let layout = Layout { places, trained: 2 };
        Training::begin(Start { schedule, weights: vec![1.0, 0.0, 7.0], layout, running: None })
    }

    fn asked(next: Next<Query, Tensors>) -> Query {
        match next {
            Next::Ask(query) => query,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn momentum_by_hand_and_frozen_weights_stay() {
        let mut walk = training(schedule(Rule::Momentum(0.5)));
        assert_eq!(
            asked(walk.next(None)),
            Query { step: 0, at: vec![1.0, 0.0, 7.0], before: None }
        );
        // The first answer is divided by 4: v = (1, 0), θ = (0.5, 0).
        assert_eq!(asked(walk.next(Some(vec![4.0, 0.0]))).at, [0.5, 0.0, 7.0]);
        // v = (0.5, 2), θ = (0.25, −1).
        assert_eq!(asked(walk.next(Some(vec![0.0, 4.0]))).at, [0.25, -1.0, 7.0]);
        let text = serde_json::to_string(&walk).unwrap();
        let mut walk: Training = serde_json::from_str(&text).unwrap();
        // v = (0.25, 1), θ = (0.125, −1.5).
        let Next::Release(tensors) = walk.next(Some(vec![0.0, 0.0])) else {
            panic!("not at its end")
        };
        let values: Vec<_> = tensors.tensors.iter().map(|tensor| tensor.values[0]).collect();
        assert_eq!(values, [0.125, 7.0, -1.5]);
        // Suspended at its end it gives the same once more.
        let text = serde_json::to_string(&walk).unwrap();
        let mut walk: Training = serde_json::from_str(&text).unwrap();
        assert_eq!(walk.next(None), Next::Release(tensors));
    }

    /// v⁰ = a/b₀, v ← (1 − γ)v + a/b: the recursion uses the *noisy* v, and the query has the previous
    /// point as well.
    #[test]
    fn the_recursion_is_that_of_noised_answers() {
        let mut walk = training(schedule(Rule::Recursive(0.25)));
        asked(walk.next(None));
        let second = asked(walk.next(Some(vec![4.0, 0.0])));
        assert_eq!(second.before, Some(vec![1.0, 0.0, 7.0]));
        assert_eq!(second.at, [0.5, 0.0, 7.0]);
        // v = 0.75·(1, 0) + (0, 1).
        let third = asked(walk.next(Some(vec![0.0, 2.0])));
        assert_eq!(third.at, [0.125, -0.5, 7.0]);
        assert_eq!(third.before, Some(second.at));
    }

    /// An empty answer is one that was lost: the point does not move, and one step less is left.
    #[test]
    fn a_lost_answer_counts_as_heard() {
        let mut walk = training(schedule(Rule::Momentum(0.0)));
        let first = asked(walk.next(None));
        let second = asked(walk.next(Some(vec![])));
        assert_eq!((second.step, &second.at), (1, &first.at));
        asked(walk.next(Some(vec![4.0, 0.0])));
        assert!(matches!(walk.next(Some(vec![])), Next::Release(_)));
    }

    #[test]
    fn adam_steps_by_its_rate_whatever_the_scale() {
        for scale in [1e-3, 1.0, 1e6] {
            let mut walk = training(schedule(Rule::Adam([0.9, 0.999])));
            asked(walk.next(None));
            let at = asked(walk.next(Some(vec![4.0 * scale, -4.0 * scale]))).at;
            assert!((at[0] - 0.5).abs() < 1e-4 && (at[1] - 0.5).abs() < 1e-4, "{at:?}");
        }
    }

    #[test]
    fn steps_are_no_longer_than_allowed_and_rates_fall() {
        let capped = Schedule { longest: Some(0.1), ..schedule(Rule::Momentum(0.0)) };
        let mut walk = training(capped);
        asked(walk.next(None));
        let at = asked(walk.next(Some(vec![40.0, 0.0]))).at;
        assert!((at[0] - 0.9).abs() < 1e-6);
        assert_eq!(Decay::Linear.at(1, 4), 0.75);
        assert_eq!(Decay::Inverse.at(3, 4), 0.25);
        assert_eq!(Decay::Constant.at(3, 4), 1.0);
    }

    /// The derivative of λθ²/(1 + θ²), by finite differences.
    #[test]
    fn the_penalty_has_its_slope() {
        let penalty = Penalty { ridge: 0.3, nonconvex: 0.7 };
        let value = |x: f64| penalty.of(&[x]);
        for x in [-3.0, -0.2, 0.0, 1.0, 5.0] {
            let slope = (value(x + 1e-6) - value(x - 1e-6)) / 2e-6;
            assert!((penalty.slope(x) - slope).abs() < 1e-8, "{x}");
        }
    }

    #[test]
    fn weights_are_finite_whatever_is_drawn() {
        for rule in [Rule::Momentum(0.9), Rule::Adam([0.9, 0.999]), Rule::Recursive(0.1)] {
            let mut walk = training(schedule(rule));
            asked(walk.next(None));
            for answer in [[f64::MAX, 1.0], [-f64::MAX, f64::MAX]] {
                let at = asked(walk.next(Some(answer.to_vec()))).at;
                assert!(at.iter().all(|x| x.is_finite()), "{rule:?} {at:?}");
            }
        }
    }
}
