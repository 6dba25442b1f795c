//! The door for noised sums: whoever has the records adds the noise.
//!
//! A learner hands over questions, plain data, and gets back their sum under noise; it never holds the sum
//! itself. In one process ([`Here`]) the sum is taken and noised on the spot. Among several holders each
//! would add its share, and nobody would ever open the whole.

use crate::LearnError;
use privet_dp::gate::{GateError, Noised, Private, Session};
use privet_dp::mechanism::{ExactCounts, Gaussian, Laplace};
use privet_optim::sum::{Exact, ExactAnswer, Less, Records};

/// The noise on a sum; its sensitivity must be that of all questions together.
#[derive(Debug, Clone, PartialEq)]
pub enum SumNoise {
    /// Gaussian.
    Gaussian(Gaussian),
    /// Laplace.
    Laplace(Laplace),
}

/// Several sums at once: question i is put to the records of problem i, and their answers are one vector of
/// whole numbers of `unit`.
#[derive(Debug, Clone, PartialEq)]
pub struct Questions {
    /// What is asked, a problem each.
    pub each: Vec<Exact>,
    /// What the answers count in, a power of two.
    pub unit: f64,
    /// What is taken from each answer before any noise.
    pub less: Option<Less>,
}

impl Questions {
    /// With nothing taken from the answers.
    pub fn of(each: Vec<Exact>, unit: f64) -> Self {
        Self { each, unit, less: None }
    }
}

/// Who has the records, for sums that are released.
pub trait Answers {
    /// The sums, under noise that is charged to the session.
    fn answer(
        &self,
        questions: &Questions,
        noise: &SumNoise,
        session: &mut Session<'_>,
    ) -> Result<Noised<Vec<f64>>, LearnError>;
}

/// Records of this process, a problem each.
pub struct Here<'a>(pub Vec<Box<dyn Records + 'a>>);

impl Here<'_> {
    /// The sums themselves; `None` where they cannot be vouched for.
    pub(crate) fn sums(&self, questions: &Questions) -> Option<ExactCounts> {
        let mut counts = Vec::new();
        if self.0.len() != questions.each.len() {
            return None;
        }
        for (records, question) in self.0.iter().zip(&questions.each) {
            let ExactAnswer::Units(sum) = records.exact(question).ok()? else { return None };
            counts.extend(sum.into_units()?);
        }
        let Some(less) = &questions.less else {
            return Some(ExactCounts { counts, unit: questions.unit });
        };
        let unit = questions.unit / 2_f64.powi(less.bits as i32);
        Some(ExactCounts { counts: less.taken_from(&counts)?, unit })
    }
}

impl Answers for Here<'_> {
    fn answer(
        &self,
        questions: &Questions,
        noise: &SumNoise,
        session: &mut Session<'_>,
    ) -> Result<Noised<Vec<f64>>, LearnError> {
        let sums = Private::new(self.sums(questions).ok_or(GateError::Unanswered)?);
        Ok(match noise {
            SumNoise::Gaussian(gaussian) => gaussian.run_units(sums, session)?,
            SumNoise::Laplace(laplace) => laplace.run_units(sums, session)?,
        })
    }
}
