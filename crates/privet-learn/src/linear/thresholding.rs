//! A model of few columns from noisy gradients: steps that keep the largest weights, then steps on
//! those.
//!
//! The learner's part of [`super::dp_ight`], a [`Walk`]. First stage, from θ = 0, on all columns:
//!
//! θ ← H_s(mean of θₜ − η·aₜ so far, weighted by 4^hₜ),
//!
//! each of them an estimate under fresh noise, the variance of which falls as 4^(−hₜ); H_s keeping the s
//! columns whose weights (of all problems together) have the largest norms, of equal ones the first, and
//! the constant column always. Second stage, from there, on these columns alone, their rows clipped
//! anew: θ ← θ − η·aₜ, and the mean of the last half of the points is released.
//!
//! *Steps that overshoot.* A step's curvature is the change of the gradient along it,
//! λ = 1/η + ⟨a, d⟩/|d|² for the step d before and the gradient a after. If ⟨a, d⟩ is above [`SIGNIFICANCE`]
//! standard deviations of its noise, a public number, η is 1/λ from then on, and means restart. It reads
//! noisy answers alone, so it is post-processing.
//!
//! *Clipping.* Step t queries derivatives clipped to S/2^hₜ, a public schedule, and is answered in units
//! that much larger: the answer is divided by 2^hₜ.

use super::chosen_columns::{fill_columns, spread};
use super::descent::keep_within;
use crate::linear::model::LinearWeights;
use privet_dp::gate::{Next, Walk};
use serde::{Deserialize, Serialize};

/// Parameters of the walk: public numbers, fixed before any record is read.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Start {
    /// The number of columns of the table, the constant one included.
    pub columns: usize,
    /// The number of linear problems.
    pub problems: usize,
    /// True if the last column is the constant one.
    pub bias: bool,
    /// The number of columns s to keep.
    pub size: usize,
    /// The number of steps of the first stage.
    pub steps: u32,
    /// The number of steps of the second.
    pub fit_steps: u32,
    /// The step size η of the sum form.
    pub rate: f64,
    /// The radius of the ball that points are kept in.
    pub ball: f64,
    /// The number of times that the clipping bound is halved at the first step, and at the last.
    pub halved: (u32, u32),
    /// Standard deviation of the noise on an answer, of the first stage and of the second.
    pub noise: [f64; 2],
}

/// The significance threshold, in standard deviations.
const SIGNIFICANCE: f64 = 2.0;

impl Start {
    /// The halvings hₜ at a step of the first stage; the second stage keeps the last number.
    pub fn halved_at(&self, step: u32) -> u32 {
        let (first, last) = self.halved;
        if step >= self.steps {
            return last;
        }
        first + (last - first + 1) * step / self.steps.max(1)
    }
}

/// A query: the gradient at a point, of all columns or of the chosen ones.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(super) struct Query {
    /// The columns; `None` for all of them.
    pub columns: Option<Vec<usize>>,
    /// The point θ, problem after problem.
    pub theta: Vec<f64>,
    /// The halvings h of the clipping bound.
    pub halved: u32,
}

/// The state of the walk.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Thresholding {
    start: Start,
    heard: u32,
    rate: f64,
    chosen: Option<Vec<usize>>,
    point: Vec<f64>,
    /// The step before.
    moved: Vec<f64>,
    mean: Vec<f64>,
    /// The weight of all estimates in the mean of the first stage.
    weight: f64,
}

impl Thresholding {
    fn step(&mut self, answer: &[f64]) {
        let scale = 2_f64.powi(-(self.start.halved_at(self.heard) as i32));
        let gradient: Vec<f64> = answer.iter().map(|a| a * scale).collect();
        let along: f64 = gradient.iter().zip(&self.moved).map(|(g, m)| g * m).sum();
        let square: f64 = self.moved.iter().map(|m| m * m).sum();
        let noise = self.start.noise[usize::from(self.chosen.is_some())] * scale;
        if along > SIGNIFICANCE * noise * square.sqrt() {
            self.rate = 1.0 / (1.0 / self.rate + along / square);
            self.weight = 0.0;
        }
        let mut next: Vec<f64> =
            self.point.iter().zip(&gradient).map(|(x, g)| x - self.rate * g).collect();
        if self.chosen.is_none() {
            let own = scale.powi(-2);
            self.weight += own;
            for (mean, x) in self.mean.iter_mut().zip(&mut next) {
                *mean += (*x - *mean) * (own / self.weight);
                *x = *mean;
            }
            self.threshold(&mut next);
        }
        keep_within(&mut next, self.start.ball);
        self.moved = next.iter().zip(&self.point).map(|(new, old)| new - old).collect();
        self.point = next;
    }

    /// For each column, true if the norm of its weights is among the largest.
    fn longest(&self, point: &[f64]) -> Vec<bool> {
        let open = self.start.columns - usize::from(self.start.bias);
        let length = |column: usize| {
            (column..point.len())
                .step_by(self.start.columns)
                .map(|at| point[at] * point[at])
                .sum::<f64>()
        };
        let mut order: Vec<(f64, usize)> =
            (0..open).map(|column| (length(column), column)).collect();
        let by_length =
            |a: &(f64, usize), b: &(f64, usize)| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1));
        if self.start.size < order.len() {
            order.select_nth_unstable_by(self.start.size, by_length);
        }
        let mut kept = vec![false; open];
        order
            .iter()
            .take(self.start.size)
            .for_each(|(length, column)| kept[*column] = *length > 0.0);
        kept
    }

    fn threshold(&self, point: &mut [f64]) {
        let kept = self.longest(point);
        for (at, x) in point.iter_mut().enumerate() {
            if kept.get(at % self.start.columns) == Some(&false) {
                *x = 0.0;
            }
        }
    }

    /// Restricts the walk to the chosen columns.
    fn choose(&mut self) {
        let Start { columns, size, bias, .. } = self.start;
        let kept = self.longest(&self.point);
        let chosen = fill_columns(|column| kept[column], kept.len(), size, bias);
        let point =
            self.point.chunks(columns).flat_map(|row| chosen.iter().map(|column| row[*column]));
        self.point = point.collect();
        self.moved = vec![0.0; self.point.len()];
        self.mean = self.moved.clone();
        self.rate = self.start.rate;
        self.chosen = Some(chosen);
    }

    fn average(&mut self) {
        let last = self.start.fit_steps.div_ceil(2);
        if self.heard + last >= self.start.steps + self.start.fit_steps {
            let point = self.point.iter();
            self.mean.iter_mut().zip(point).for_each(|(mean, x)| *mean += x / f64::from(last));
        }
    }
}

impl Walk for Thresholding {
    type Start = Start;
    type Query = Query;
    type Answer = Vec<f64>;
    type Artefact = LinearWeights;

    fn begin(start: Start) -> Self {
        let zero = vec![0.0; start.columns * start.problems];
        let (rate, moved, mean) = (start.rate, zero.clone(), zero.clone());
        Self { start, heard: 0, rate, chosen: None, point: zero, moved, mean, weight: 0.0 }
    }

    fn next(&mut self, answer: Option<Vec<f64>>) -> Next<Query, LinearWeights> {
        if let Some(answer) = answer {
            self.step(&answer);
            if self.chosen.is_some() {
                self.average();
            }
            self.heard += 1;
            if self.heard == self.start.steps {
                self.choose();
            }
        }
        let all = self.start.steps + self.start.fit_steps;
        match (&self.chosen, self.heard == all) {
            (Some(columns), true) => {
                let rows = self.mean.chunks(columns.len().max(1)).map(<[f64]>::to_vec).collect();
                Next::Release(LinearWeights::of(spread(rows, columns, self.start.columns)))
            }
            (None, true) => Next::End,
            _ => Next::Ask(Query {
                columns: self.chosen.clone(),
                theta: self.point.clone(),
                halved: self.start.halved_at(self.heard),
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn start() -> Start {
        Start {
            columns: 4,
            problems: 1,
            bias: true,
            size: 1,
            steps: 2,
            fit_steps: 2,
            rate: 1.0,
            ball: 100.0,
            halved: (0, 1),
            noise: [0.0; 2],
        }
    }

    #[test]
    fn two_stages_by_hand() {
        let mut walk = Thresholding::begin(start());
        let ask = |columns: Option<Vec<usize>>, theta: &[f64], halved| {
            Next::Ask(Query { columns, theta: theta.to_vec(), halved })
        };
        assert_eq!(walk.next(None), ask(None, &[0.0; 4], 0));
        assert_eq!(
            walk.next(Some(vec![-1.0, 4.0, 3.0, -2.0])),
            ask(None, &[0.0, -4.0, 0.0, 2.0], 1)
        );
        // Half of the answer; it points back along the step before, by 20 of a square of 20: half of the
        // step size, and the mean restarts.
        let text = serde_json::to_string(&walk).unwrap();
        let mut walk: Thresholding = serde_json::from_str(&text).unwrap();
        let query = walk.next(Some(vec![0.0, -10.0, 48.0, 0.0]));
        assert_eq!(query, ask(Some(vec![2, 3]), &[-12.0, 2.0], 1));
        assert_eq!(walk.next(Some(vec![2.0, 0.0])), ask(Some(vec![2, 3]), &[-13.0, 2.0], 1));
        // The last half of two points is the last one: back along the step, at a quarter of the step
        // size.
        let released = walk.next(Some(vec![-6.0, 0.0]));
        let expected = LinearWeights::of(vec![vec![0.0, 0.0, -12.25, 2.0]]);
        assert_eq!(released, Next::Release(expected));
    }

    /// Two estimates of the first stage are weighted by their noise, and noise alone does not shorten
    /// steps.
    #[test]
    fn estimates_are_averaged_before_the_threshold() {
        let start = Start { size: 3, fit_steps: 1, noise: [10.0; 2], ..start() };
        let mut walk = Thresholding::begin(start);
        walk.next(None);
        walk.next(Some(vec![-5.0, 0.0, 0.0, 0.0]));
        // θ = 5, its gradient +5 (in halves): 0. Of weights 1 and 4: (5 + 4·0)/5.
        let Next::Ask(asked) = walk.next(Some(vec![10.0, 0.0, 0.0, 0.0])) else { panic!() };
        assert_eq!(asked.theta, [1.0, 0.0, 0.0, 0.0]);
    }

    #[test]
    fn slopes_are_halved_by_a_public_schedule() {
        let start = Start { steps: 6, halved: (2, 4), ..start() };
        let all: Vec<u32> = (0..8).map(|step| start.halved_at(step)).collect();
        assert_eq!(all, [2, 2, 3, 3, 4, 4, 4, 4]);
    }
}
