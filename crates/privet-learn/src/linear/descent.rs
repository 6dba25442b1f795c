//! Descent on noisy gradients: steps, momentum, projection and averaging.
//!
//! The learner's part of a noisy descent, a [`Walk`]: it queries the gradient at a point and gets the
//! noisy sum, and uses the numbers of a [`Schedule`] alone:
//!
//! v ← m·v + aₜ,  θ ← Π((θ − η·v)/(1 + ηλ)),
//!
//! and the mean of the last θs is its artefact. Coordinates may have step sizes of their own, times η. Π
//! is the projection on a ball: with it θ is finite for any noise, and so is every margin. All of it is
//! post-processing of noisy answers, which are charged.
//!
//! - η `rate`, m `momentum`, λ `ridge`: of the sum form, so η is about 1/(nβ)

use privet_dp::gate::{Next, Walk};
use serde::{Deserialize, Serialize};

/// Parameters of a descent. Public numbers, fixed before any record is read.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Schedule {
    /// The number of steps T.
    pub steps: u32,
    /// The step size η.
    pub rate: f64,
    /// The momentum m, from 0 to below 1.
    pub momentum: f64,
    /// The ridge λ, 0 for none.
    pub ridge: f64,
    /// The number of last points that are averaged; 0 counts as 1.
    pub averaged: u32,
    /// Radius of the ball that points are kept in.
    pub ball: f64,
}

/// A descent from θ = 0: schedule, point, velocity and mean so far.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Descent {
    schedule: Schedule,
    /// The number of answers so far.
    heard: u32,
    point: Vec<f64>,
    velocity: Vec<f64>,
    mean: Vec<f64>,
    /// Step sizes as multiples of η, one per coordinate; empty if all are 1.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    rates: Vec<f64>,
}

/// The public numbers that a descent starts from.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Start {
    /// The parameters of the descent.
    pub schedule: Schedule,
    /// The number of coordinates of the point.
    pub coordinates: usize,
}

impl Walk for Descent {
    type Start = Start;
    type Query = Vec<f64>;
    type Answer = Vec<f64>;
    type Artefact = Vec<f64>;

    fn begin(Start { schedule, coordinates }: Start) -> Self {
        let zero = vec![0.0; coordinates];
        let rates = Vec::new();
        Self { schedule, heard: 0, point: zero.clone(), velocity: zero.clone(), mean: zero, rates }
    }

    fn next(&mut self, answer: Option<Vec<f64>>) -> Next<Vec<f64>, Vec<f64>> {
        let steps = self.schedule.steps;
        if let Some(answer) = answer {
            let averaged = self.schedule.averaged.clamp(1, steps.max(1));
            self.step(&answer);
            self.heard += 1;
            if self.heard > steps - averaged {
                self.average(averaged);
            }
            if self.heard == steps {
                return Next::Release(self.mean.clone());
            }
        }
        if self.heard < steps { Next::Ask(self.point.clone()) } else { Next::End }
    }
}

impl Descent {
    /// Sets step sizes per coordinate, as multiples of η, from now on.
    pub(super) fn at_rates(&mut self, rates: Vec<f64>) {
        self.rates = rates;
    }

    /// Moves the point to begin at, before the first answer; a point of another length is left out.
    pub(super) fn start_at(&mut self, point: Vec<f64>) {
        if self.heard == 0 && point.len() == self.point.len() {
            self.point = point;
            keep_within(&mut self.point, self.schedule.ball);
        }
    }

    fn step(&mut self, answer: &[f64]) {
        let Schedule { rate, momentum, ridge, ball, .. } = self.schedule;
        let shrink = 1.0 / (1.0 + rate * ridge);
        let own = self.rates.iter().copied().chain(std::iter::repeat(1.0));
        for (((x, v), a), own) in self.point.iter_mut().zip(&mut self.velocity).zip(answer).zip(own)
        {
            *v = momentum * *v + own * a;
            *x = (*x - rate * *v) * shrink;
        }
        if !keep_within(&mut self.point, ball) {
            self.velocity.iter_mut().for_each(|v| *v = if v.is_finite() { *v } else { 0.0 });
        }
    }

    fn average(&mut self, count: u32) {
        for (mean, x) in self.mean.iter_mut().zip(&self.point) {
            *mean += x / f64::from(count);
        }
    }
}

/// Projects a point on the ball of this radius, so that it is finite for any noise; returns true if it
/// was inside.
pub(crate) fn keep_within(point: &mut [f64], ball: f64) -> bool {
    let norm = point.iter().map(|x| x * x).sum::<f64>().sqrt();
    // Asks "inside?", so that a point that overflowed is projected as well.
    if norm <= ball {
        return true;
    }
    let scale = if norm.is_finite() { ball / norm } else { 0.0 };
    point.iter_mut().for_each(|x| *x = if x.is_finite() { *x * scale } else { 0.0 });
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    fn walk(rate: f64, momentum: f64, ridge: f64, ball: f64) -> Descent {
        let schedule = Schedule { steps: 2, rate, momentum, ridge, averaged: 2, ball };
        Descent::begin(Start { schedule, coordinates: 2 })
    }

    #[test]
    fn two_steps_by_hand() {
        let mut walk = walk(0.5, 0.5, 2.0, 100.0);
        assert_eq!(walk.next(None), Next::Ask(vec![0.0, 0.0]));
        // v = 0.5·4 + 0, θ = (−1 − 0.5·2)/2; v = 8, θ = −4/2.
        assert_eq!(walk.next(Some(vec![4.0, 0.0])), Next::Ask(vec![-1.0, 0.0]));
        // A serialised walk resumes as it was.
        let text = serde_json::to_string(&walk).unwrap();
        let mut walk: Descent = serde_json::from_str(&text).unwrap();
        assert_eq!(walk.next(Some(vec![0.0, 8.0])), Next::Release(vec![-1.0, -1.0]));
        assert_eq!(walk.point, [-1.0, -2.0]);
        assert_eq!(walk.next(None), Next::End);
    }

    #[test]
    fn a_coordinate_may_go_faster() {
        let mut walk = walk(0.5, 0.0, 0.0, 100.0);
        walk.at_rates(vec![1.0, 4.0]);
        assert_eq!(walk.next(None), Next::Ask(vec![0.0, 0.0]));
        assert_eq!(walk.next(Some(vec![2.0, 2.0])), Next::Ask(vec![-1.0, -4.0]));
        let text = serde_json::to_string(&walk).unwrap();
        assert_eq!(serde_json::from_str::<Descent>(&text).unwrap(), walk);
    }

    #[test]
    fn the_point_stays_in_its_ball_whatever_is_drawn() {
        let mut walk = walk(1.0, 0.9, 0.0, 5.0);
        for answer in [[-30.0, 40.0], [f64::MAX, 1.0], [f64::MAX, f64::MAX], [1.0, 0.0]] {
            walk.step(&answer);
            let norm = walk.point[0].hypot(walk.point[1]);
            assert!(norm <= 5.0 * (1.0 + 1e-15), "{:?}", walk.point);
            assert!(walk.velocity.iter().all(|v| v.is_finite()));
        }
    }
}
