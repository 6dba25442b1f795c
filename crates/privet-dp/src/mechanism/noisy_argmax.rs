//! Labels by a noisy plurality of voters: GNMax, and the form that answers only where many agree.
//!
//! The records of every unit belong to one voter (a teacher, trained on a part of the records), and each
//! voter votes for one class. The part of a unit must not depend on other units: under add/remove it is
//! drawn by a secret key, under replace-one by its position ([`super::independent_blocks`]). (Parts by a
//! hash of the content would, under replace-one, move a record from one voter to another: two votes
//! change, and the theorem does not hold.) A voter without records votes for a fixed class, so that the
//! number of votes is public.
//!
//! **Theorem** (Papernot, Song, Mironov, Raghunathan, Talwar & Erlingsson 2018). Between neighbours one
//! voter's vote moves from one class to another: the histogram changes by e_a − e_b, **√2** in ℓ2; its
//! largest count by at most **1**.
//! - [`NoisyArgmax`]: the class whose count under N(0, σ²) noise is largest is a post-processing of a
//!   Gaussian release of sensitivity √2.
//! - [`ConfidentArgmax`]: first the largest count under N(0, σ₁²) noise is compared with a threshold, a
//!   Gaussian release of sensitivity 1; where it is not below, the label is released as above. The
//!   second event depends on the answer of the first, so a session of many queries is one under a
//!   Gaussian filter ([`ConfidentArgmax::filter`], [`crate::account::filter`]), or one that plans for an
//!   answer to each query.
//!
//! The counts are integers and the noise is drawn on a grid ([`super::Gaussian`]); ties go to the first
//! class. The charge does not depend on the votes; [`super::AgreedLabels`] uses a loss that does. Tested
//! by `tests/all/argmax.rs`.

use super::gaussian::Gaussian;
use super::grid::{ExactCounts, round_up};
use crate::account::filter::Law;
use crate::account::{Event, Filter};
use crate::gate::{GateError, Noisy, Private, Session};
use crate::noise::GridGaussian;
use privet_core::{Neighbours, Unit};

/// The number of votes for each class.
pub type Votes = Vec<u32>;

/// The class with the largest noisy count.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct NoisyArgmax {
    /// The neighbour relation under which one vote moves.
    pub neighbours: Neighbours,
    /// The unit for which one vote moves.
    pub unit: Unit,
    /// Standard deviation σ of each count's noise.
    pub noise_scale: f64,
    /// The number of classes.
    pub classes: usize,
}

impl NoisyArgmax {
    fn gaussian(&self) -> Gaussian {
        Gaussian {
            neighbours: self.neighbours,
            unit: self.unit,
            sensitivity: round_up(std::f64::consts::SQRT_2),
            noise_scale: self.noise_scale,
            coordinates: self.classes,
        }
    }

    /// The event of one label.
    pub fn event(&self) -> Result<Event, GateError> {
        self.gaussian().event()
    }

    /// Returns the class, counted from 0.
    pub fn run(
        &self,
        votes: Private<Votes>,
        session: &mut Session<'_>,
    ) -> Result<Noisy<usize>, GateError> {
        let label = self.label(votes, session)?;
        Ok(session.mark_noisy(label))
    }

    fn label(&self, votes: Private<Votes>, session: &mut Session<'_>) -> Result<usize, GateError> {
        let noisy = self.gaussian().add_to_units(votes.map(|votes| exact(&votes)), session)?;
        first_largest(&noisy).ok_or(GateError::Malformed)
    }
}

/// As [`NoisyArgmax`], if the largest noisy count reaches a threshold.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ConfidentArgmax {
    /// The mechanism that names the class.
    pub argmax: NoisyArgmax,
    /// The threshold T.
    pub threshold: f64,
    /// Standard deviation σ₁ of the noise on the largest count.
    pub test_scale: f64,
}

impl ConfidentArgmax {
    fn test(&self) -> Gaussian {
        Gaussian {
            neighbours: self.argmax.neighbours,
            unit: self.argmax.unit,
            sensitivity: 1.0,
            noise_scale: self.test_scale,
            coordinates: 1,
        }
    }

    /// The event of a query's test, answered or not.
    pub fn test_event(&self) -> Result<Event, GateError> {
        self.test().event()
    }

    /// The additional event of an answer.
    pub fn answer_event(&self) -> Result<Event, GateError> {
        self.argmax.event()
    }

    /// The events of at most so many queries and answers.
    pub fn events(&self, questions: u32, answers: u32) -> Result<Event, GateError> {
        let up_to = |count, event| Event::UpTo { count, event: Box::new(event) };
        Ok(Event::All(vec![
            up_to(questions, self.test_event()?),
            up_to(answers, self.answer_event()?),
        ]))
    }

    /// A filter that admits so many queries and answers, in any order.
    pub fn filter(&self, questions: u32, answers: u32) -> Result<Filter, GateError> {
        let square = |event: Event| match event.single_cost() {
            Some(crate::account::Cost::Gaussian { sensitivity, noise_scale, .. }) => {
                (sensitivity / noise_scale).powi(2)
            }
            _ => f64::NAN,
        };
        let squares = f64::from(questions) * square(self.test_event()?)
            + f64::from(answers) * square(self.answer_event()?);
        let distance = f64::from(questions) * GridGaussian::new(self.test_scale)?.distance(1)
            + f64::from(answers)
                * GridGaussian::new(self.argmax.noise_scale)?.distance(self.argmax.classes as u64);
        // Room for the filter's rounding, each time.
        let room = 1.0 + 1e-11 + 4.0 * f64::EPSILON * (f64::from(questions) + f64::from(answers));
        Ok(Filter {
            neighbours: self.argmax.neighbours,
            unit: self.argmax.unit,
            limit: Law::Gaussian { mu: (squares * room).sqrt() * (1.0 + 1e-12) },
            distance: distance * room,
            leak: 0.0,
        })
    }

    /// Returns the class, counted from 0, or `None` if too few voters agree.
    pub fn run(
        &self,
        votes: Private<Votes>,
        session: &mut Session<'_>,
    ) -> Result<Noisy<Option<usize>>, GateError> {
        let votes = votes.open();
        let largest = ExactCounts {
            counts: vec![votes.iter().copied().max().unwrap_or(0).into()],
            unit: 1.0,
        };
        let noisy = self.test().add_to_units(Private::new(largest), session)?;
        let label = if noisy[0] >= self.threshold {
            Some(self.argmax.label(Private::new(votes), session)?)
        } else {
            None
        };
        Ok(session.mark_noisy(label))
    }
}

impl ConfidentArgmax {
    /// As [`Self::run`], for a batch fixed before the first vote: every query is tested, then the first
    /// `answers` of those that reached the threshold are answered; the order of [`Self::events`].
    pub fn run_all(
        &self,
        votes: Private<Vec<Votes>>,
        answers: u32,
        session: &mut Session<'_>,
    ) -> Result<Noisy<Vec<Option<usize>>>, GateError> {
        let votes = votes.open();
        let mut reached = Vec::with_capacity(votes.len());
        for votes in &votes {
            let counts = vec![votes.iter().copied().max().unwrap_or(0).into()];
            let largest = Private::new(ExactCounts { counts, unit: 1.0 });
            reached.push(self.test().add_to_units(largest, session)?[0] >= self.threshold);
        }
        let mut labels = Vec::with_capacity(votes.len());
        let mut left = answers;
        for (votes, reached) in votes.into_iter().zip(reached) {
            let label = match reached && left > 0 {
                true => Some(self.argmax.label(Private::new(votes), session)?),
                false => None,
            };
            left -= u32::from(label.is_some());
            labels.push(label);
        }
        Ok(session.mark_noisy(labels))
    }
}

/// The counts as exact integers.
pub(super) fn exact(votes: &[u32]) -> ExactCounts {
    ExactCounts { counts: votes.iter().map(|count| i128::from(*count)).collect(), unit: 1.0 }
}

/// Index of the first largest entry.
pub(super) fn first_largest(counts: &[f64]) -> Option<usize> {
    let better = |best: Option<usize>, place: usize| match best {
        Some(best) if counts[place] <= counts[best] => Some(best),
        _ => Some(place),
    };
    (0..counts.len()).fold(None, better)
}
