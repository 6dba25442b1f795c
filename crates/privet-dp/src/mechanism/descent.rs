//! Noisy gradient descent: a sequence of Gaussian mechanisms, each asked at a point that the answers
//! before it have led to.
//!
//! **Theorem.** Let g(θ, D) be any vector with ‖g(θ, D) − g(θ, D′)‖₂ ≤ Δ for *every* θ and all
//! neighbours D, D′. The map from D to all T answers aₜ = g(θₜ₋₁, D) + N(0, σ²I), with θₜ a fixed
//! function of a₁ … aₜ, has the curve of T Gaussian mechanisms, that of one of multiplier √T·Δ/σ; so
//! has everything computed from the answers.
//!
//! *Proof.* Given the answers before it, each answer is a Gaussian mechanism of sensitivity Δ whose
//! dominating pair N(0, σ²), N(Δ, σ²) does not depend on them; adaptive composition keeps products of
//! dominating pairs (Zhu, Dong & Wang 2022, Theorem 10), and a product of Gaussian pairs is one of
//! the distance √T·Δ (Dong, Roth & Su 2022, Corollary 2). θ_T is post-processing. ∎
//!
//! Grid, rounding and the distance of the discrete noise are charged at each step, as
//! [`super::Gaussian`] charges them: the guarantee holds for the program as executed.
//!
//! The fixed function, from the numbers of a [`Schedule`] alone:
//!
//! v ← m·v + aₜ,  θ ← Π((θ − η·v)/(1 + ηλ)),
//!
//! and the mean of the last θs is released. Π is the projection on a ball: with it θ is finite
//! whatever was drawn, and so is every margin.
//!
//! **The door.** The question must be put at a θ that has not been settled yet. It is lent, by
//! reference, to a closure that can hand back nothing but a [`Private`] value or a bare refusal, and
//! that cannot write to what it captured. No noised value leaves before [`Session::settle`].
//!
//! - η `rate`, m `momentum`, λ `ridge`: of the sum form, so η is about 1/(nβ)
//! - Tested by `tests/descent.rs`.

use super::{Gaussian, Units};
use crate::account::Event;
use crate::gate::{GateError, Noised, Private, Session};

/// How answers become a point. Public numbers, fixed before any record is read.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Schedule {
    /// η.
    pub rate: f64,
    /// m, from 0 to below 1.
    pub momentum: f64,
    /// λ, 0 for none.
    pub ridge: f64,
    /// How many of the last points are averaged; 0 counts as 1.
    pub averaged: u32,
    /// Radius of the ball that points are kept in.
    pub ball: f64,
}

/// Noisy gradient descent from θ = 0.
#[derive(Debug, Clone, PartialEq)]
pub struct Descent {
    /// What is done to each gradient; its sensitivity must hold at every θ.
    pub gaussian: Gaussian,
    /// T.
    pub steps: u32,
    /// What is done with the answers.
    pub schedule: Schedule,
}

impl Descent {
    /// What it will cost.
    pub fn event(&self) -> Result<Event, GateError> {
        Ok(Event::Repeat { count: self.steps, event: Box::new(self.gaussian.event()?) })
    }

    /// Takes every step. `ask` is lent the current point and answers with the exact sum there, or
    /// with `None` to stop, which releases nothing.
    ///
    /// What it answers is private:
    /// ```compile_fail,E0308
    /// # use privet_dp::{gate::Session, mechanism::{Descent, Units}};
    /// fn open(descent: &Descent, session: &mut Session<'_>) {
    ///     let _ = descent.run(session, |_| Some(Units { counts: vec![0], unit: 1.0 }));
    /// }
    /// ```
    /// and it can neither keep the point nor write it down:
    /// ```compile_fail,E0594
    /// # use privet_dp::{gate::{Session, Private}, mechanism::{Descent, Units}};
    /// fn write(descent: &Descent, session: &mut Session<'_>) {
    ///     let mut leaked = 0.0;
    ///     let _ = descent.run(session, |point| {
    ///         leaked = point[0];
    ///         Some(Private::new(Units { counts: vec![0], unit: 1.0 }))
    ///     });
    /// }
    /// ```
    /// ```compile_fail,E0277
    /// # use privet_dp::{gate::{Session, Private}, mechanism::{Descent, Units}};
    /// fn smuggle(descent: &Descent, session: &mut Session<'_>) {
    ///     let leaked = std::cell::Cell::new(0.0);
    ///     let _ = descent.run(session, |point| {
    ///         leaked.set(point[0]);
    ///         Some(Private::new(Units { counts: vec![0], unit: 1.0 }))
    ///     });
    /// }
    /// ```
    pub fn run(
        &self,
        session: &mut Session<'_>,
        ask: impl Fn(&[f64]) -> Option<Private<Units>> + Sync,
    ) -> Result<Noised<Vec<f64>>, GateError> {
        let mean = descend(self.schedule, self.steps, self.gaussian.coordinates, |point| {
            let sum = ask(point).ok_or(GateError::Malformed)?;
            self.gaussian.add_to_units(sum, session)
        })?;
        Ok(session.noised(mean))
    }
}

/// Every step of a descent, each from the noised answer at the point before it: the mean of the last
/// points.
pub(super) fn descend(
    schedule: Schedule,
    steps: u32,
    coordinates: usize,
    mut answer: impl FnMut(&[f64]) -> Result<Vec<f64>, GateError>,
) -> Result<Vec<f64>, GateError> {
    let mut walk = Walk::new(schedule, coordinates);
    let averaged = schedule.averaged.clamp(1, steps.max(1));
    for step in 0..steps {
        let noised = answer(&walk.point)?;
        walk.step(&noised);
        if step >= steps - averaged {
            walk.average(averaged);
        }
    }
    Ok(walk.mean)
}

/// Point, velocity and mean so far.
struct Walk {
    schedule: Schedule,
    point: Vec<f64>,
    velocity: Vec<f64>,
    mean: Vec<f64>,
}

impl Walk {
    fn new(schedule: Schedule, coordinates: usize) -> Self {
        let zero = vec![0.0; coordinates];
        Self { schedule, point: zero.clone(), velocity: zero.clone(), mean: zero }
    }

    fn step(&mut self, answer: &[f64]) {
        let Schedule { rate, momentum, ridge, ball, .. } = self.schedule;
        let shrink = 1.0 / (1.0 + rate * ridge);
        for ((x, v), a) in self.point.iter_mut().zip(&mut self.velocity).zip(answer) {
            *v = momentum * *v + a;
            *x = (*x - rate * *v) * shrink;
        }
        let norm = self.point.iter().map(|x| x * x).sum::<f64>().sqrt();
        // Asks "inside?", so that a point that overflowed is brought back as well.
        if norm <= ball {
            return;
        }
        let scale = if norm.is_finite() { ball / norm } else { 0.0 };
        for (x, v) in self.point.iter_mut().zip(&mut self.velocity) {
            *x = if x.is_finite() { *x * scale } else { 0.0 };
            *v = if v.is_finite() { *v } else { 0.0 };
        }
    }

    fn average(&mut self, count: u32) {
        for (mean, x) in self.mean.iter_mut().zip(&self.point) {
            *mean += x / f64::from(count);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn walk(rate: f64, momentum: f64, ridge: f64, ball: f64) -> Walk {
        Walk::new(Schedule { rate, momentum, ridge, averaged: 1, ball }, 2)
    }

    #[test]
    fn two_steps_by_hand() {
        let mut walk = walk(0.5, 0.5, 2.0, 100.0);
        walk.step(&[4.0, 0.0]);
        assert_eq!(walk.point, [-1.0, 0.0]);
        // v = 0.5·4 + 0, θ = (−1 − 0.5·2)/2; v = 8, θ = −4/2.
        walk.step(&[0.0, 8.0]);
        assert_eq!(walk.point, [-1.0, -2.0]);
        walk.average(2);
        assert_eq!(walk.mean, [-0.5, -1.0]);
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
