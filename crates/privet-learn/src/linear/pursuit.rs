//! A model of few columns from private choices of columns and noisy gradients, in rounds.
//!
//! The learner's part of [`super::peeled`], a [`Walk`]. In each round some columns join those chosen
//! before, by their scores at the current point; then a descent on all of them, whose later half is
//! averaged, continues from there. Columns that joined stay: choosing them anew would cost as much as
//! choosing others.
//!
//! *Steps that overshoot.* A step's curvature is the change of the gradient along it,
//! λ = 1/η + ⟨a, d⟩/|d|² for the step d before and the gradient a after. If ⟨a, d⟩ is above [`SIGNIFICANCE`]
//! standard deviations of its noise, which is a public number, the step size is 1/λ from then on. The
//! constant column, whose entries may be twice those of others, moves at a quarter of the step size.
//!
//! All of it reads public numbers and noisy answers alone.

use super::chosen_columns::spread;
use super::descent::keep_within;
use crate::linear::model::LinearWeights;
use privet_dp::gate::{Next, Walk};
use serde::{Deserialize, Serialize};

/// The significance threshold, in standard deviations.
const SIGNIFICANCE: f64 = 2.0;
/// The constant column's fraction of the step size.
const CONSTANT: f64 = 0.25;

/// The parameters of a round: public numbers.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Round {
    /// The number of columns that join.
    pub size: usize,
    /// The number of times that the clipping bound is halved.
    pub halved: u32,
    /// Standard deviation of the noise on a gradient, in units of the full clipping bound.
    pub noise: f64,
}

/// Parameters of the walk: public numbers, fixed before any record is read.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Start {
    /// The number of columns of the table, the constant one included.
    pub columns: usize,
    /// The number of linear problems.
    pub problems: usize,
    /// True if the last column is the constant one.
    pub bias: bool,
    /// The rounds, in order.
    pub rounds: Vec<Round>,
    /// The number of steps of each descent.
    pub fit_steps: u32,
    /// The step size η of the sum form.
    pub rate: f64,
    /// The radius of the ball that points are kept in.
    pub ball: f64,
}

/// A query at a point of the columns chosen so far (ascending, the constant one last).
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(super) struct Query {
    /// The index of the round.
    pub round: usize,
    /// True for a choice among the other columns, false for the gradient of these.
    pub choose: bool,
    /// The columns chosen so far.
    pub columns: Vec<usize>,
    /// The weights θ of those, problem after problem.
    pub theta: Vec<f64>,
}

/// The state of the walk.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Pursuit {
    start: Start,
    round: usize,
    /// The steps of this round's descent so far; `None` before its choice.
    heard: Option<u32>,
    /// The chosen columns: ascending, the constant one last.
    chosen: Vec<usize>,
    point: Vec<f64>,
    moved: Vec<f64>,
    mean: Vec<f64>,
    rate: f64,
}

/// The other columns, among which a choice is made, ascending.
pub(super) fn other_columns(open: usize, chosen: &[usize]) -> Vec<usize> {
    (0..open).filter(|column| chosen.binary_search(column).is_err()).collect()
}

impl Pursuit {
    fn open(&self) -> usize {
        self.start.columns - usize::from(self.start.bias)
    }

    /// Adds the chosen columns at weight 0: the round's number of them for any answer.
    fn join(&mut self, answer: &[f64]) {
        let left = other_columns(self.open(), &self.chosen);
        let named = |place: usize| {
            let mut same = (place..answer.len()).step_by(left.len().max(1));
            same.any(|at| answer[at] != 0.0)
        };
        let size = self.start.rounds[self.round].size;
        let mut places: Vec<usize> =
            (0..left.len()).filter(|place| named(*place)).take(size).collect();
        let rest = (0..left.len()).filter(|place| !named(*place));
        places.extend(rest.take(size - places.len().min(size)));
        let old = std::mem::take(&mut self.chosen);
        self.chosen =
            old.iter().copied().chain(places.into_iter().map(|place| left[place])).collect();
        self.chosen.sort_unstable();
        let width = old.len().max(1);
        let value = |problem: usize, column: &usize| match old.binary_search(column) {
            Ok(place) => self.point.get(problem * width + place).copied().unwrap_or(0.0),
            Err(_) => 0.0,
        };
        let problems = 0..self.start.problems;
        self.point = problems
            .flat_map(|problem| self.chosen.iter().map(move |column| (problem, column)))
            .map(|(problem, column)| value(problem, column))
            .collect();
        self.moved = vec![0.0; self.point.len()];
        self.mean = self.moved.clone();
        self.rate = self.start.rate;
        self.heard = Some(0);
    }

    fn step(&mut self, answer: &[f64], heard: u32) {
        let Round { halved, noise, .. } = self.start.rounds[self.round];
        let scale = 2_f64.powi(-(halved as i32));
        let gradient: Vec<f64> = answer.iter().map(|a| a * scale).collect();
        let along: f64 = gradient.iter().zip(&self.moved).map(|(g, m)| g * m).sum();
        let square: f64 = self.moved.iter().map(|m| m * m).sum();
        if along > SIGNIFICANCE * noise * scale * square.sqrt() {
            self.rate = 1.0 / (1.0 / self.rate + along / square);
        }
        let (width, bias) = (self.chosen.len().max(1), self.start.bias);
        let rate = |at: usize| {
            let constant = bias && at % width + 1 == width;
            self.rate * if constant { CONSTANT } else { 1.0 }
        };
        let mut next: Vec<f64> = self
            .point
            .iter()
            .zip(&gradient)
            .enumerate()
            .map(|(at, (x, g))| x - rate(at) * g)
            .collect();
        keep_within(&mut next, self.start.ball);
        self.moved = next.iter().zip(&self.point).map(|(new, old)| new - old).collect();
        self.point = next;
        let last = self.start.fit_steps.div_ceil(2);
        if heard + last >= self.start.fit_steps {
            let point = self.point.iter();
            self.mean.iter_mut().zip(point).for_each(|(mean, x)| *mean += x / f64::from(last));
        }
    }

    /// Goes to the next round; false if there is none.
    fn go_on(&mut self) -> bool {
        self.point = std::mem::take(&mut self.mean);
        self.round += 1;
        self.heard = None;
        self.round < self.start.rounds.len()
    }

    fn ask(&mut self) -> Next<Query, LinearWeights> {
        let choose = self.heard.is_none();
        if choose && self.start.rounds[self.round].size == 0 {
            self.join(&[]);
            return self.ask();
        }
        let (columns, theta) = (self.chosen.clone(), self.point.clone());
        Next::Ask(Query { round: self.round, choose, columns, theta })
    }
}

impl Walk for Pursuit {
    type Start = Start;
    type Query = Query;
    type Answer = Vec<f64>;
    type Artefact = LinearWeights;

    fn begin(start: Start) -> Self {
        let chosen: Vec<usize> = start.bias.then(|| start.columns - 1).into_iter().collect();
        let point = vec![0.0; chosen.len() * start.problems];
        let (rate, moved, mean) = (start.rate, point.clone(), point.clone());
        Self { start, round: 0, heard: None, chosen, point, moved, mean, rate }
    }

    fn next(&mut self, answer: Option<Vec<f64>>) -> Next<Query, LinearWeights> {
        match (answer, self.heard) {
            (None, _) if self.start.rounds.is_empty() => return Next::End,
            (None, _) => {}
            (Some(answer), None) => self.join(&answer),
            (Some(answer), Some(heard)) => {
                self.step(&answer, heard);
                self.heard = Some(heard + 1);
                if heard + 1 == self.start.fit_steps && !self.go_on() {
                    let rows = self.point.chunks(self.chosen.len().max(1)).map(<[f64]>::to_vec);
                    let rows = spread(rows.collect(), &self.chosen, self.start.columns);
                    return Next::Release(LinearWeights::of(rows));
                }
            }
        }
        self.ask()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn start() -> Start {
        let round = |size, halved| Round { size, halved, noise: 0.0 };
        Start {
            columns: 4,
            problems: 1,
            bias: true,
            rounds: vec![round(0, 0), round(1, 0), round(1, 1)],
            fit_steps: 2,
            rate: 1.0,
            ball: 100.0,
        }
    }

    fn asked(walk: &mut Pursuit, answer: Option<&[f64]>) -> Query {
        let text = serde_json::to_string(walk).unwrap();
        *walk = serde_json::from_str(&text).unwrap();
        match walk.next(answer.map(<[f64]>::to_vec)) {
            Next::Ask(query) => query,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn three_rounds_by_hand() {
        let mut walk = Pursuit::begin(start());
        let query = |round, choose, columns: &[usize], theta: &[f64]| Query {
            round,
            choose,
            columns: columns.to_vec(),
            theta: theta.to_vec(),
        };
        // The constant column alone, at a quarter of the rate.
        assert_eq!(asked(&mut walk, None), query(0, false, &[3], &[0.0]));
        assert_eq!(asked(&mut walk, Some(&[-8.0])), query(0, false, &[3], &[2.0]));
        // Of two steps the last is averaged; then a choice among columns 0, 1 and 2.
        assert_eq!(asked(&mut walk, Some(&[-4.0])), query(1, true, &[3], &[3.0]));
        let first = asked(&mut walk, Some(&[0.0, -1.0, 0.0]));
        assert_eq!(first, query(1, false, &[1, 3], &[0.0, 3.0]));
        let second = asked(&mut walk, Some(&[-2.0, 0.0]));
        assert_eq!(second, query(1, false, &[1, 3], &[2.0, 3.0]));
        // Points back along the step: λ = 1 + 4/4, half the rate.
        let third = asked(&mut walk, Some(&[2.0, 0.0]));
        assert_eq!(third, query(2, true, &[1, 3], &[1.0, 3.0]));
        // An answer that names nothing: the first column that is left joins.
        let joined = asked(&mut walk, Some(&[0.0, 0.0]));
        assert_eq!(joined, query(2, false, &[0, 1, 3], &[0.0, 1.0, 3.0]));
        // Slopes are halved: so are answers.
        let after = asked(&mut walk, Some(&[-2.0, 0.0, 0.0]));
        assert_eq!(after, query(2, false, &[0, 1, 3], &[1.0, 1.0, 3.0]));
        let released = walk.next(Some(vec![0.0, -2.0, 0.0]));
        let expected = LinearWeights::of(vec![vec![1.0, 2.0, 0.0, 3.0]]);
        assert_eq!(released, Next::Release(expected));
    }

    /// Two problems share their columns, and a column chosen for either joins for both.
    #[test]
    fn problems_share_columns() {
        let rounds = vec![Round { size: 2, halved: 0, noise: 0.0 }];
        let mut walk = Pursuit::begin(Start { problems: 2, bias: false, rounds, ..start() });
        assert!(asked(&mut walk, None).choose);
        let joined = asked(&mut walk, Some(&[0.0, 0.0, 0.0, 1.0, 0.0, -1.0, 0.0, 0.0]));
        assert_eq!((joined.columns, joined.theta), (vec![1, 3], vec![0.0; 4]));
    }
}
