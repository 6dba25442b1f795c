//! The interface for noisy sums: the holder of the records adds the noise.
//!
//! A learner passes queries, plain data, and receives their noisy sum; it never holds the exact one. In
//! one process ([`LocalRecords`]) the sum is computed and noised on the spot. Among several holders each
//! would add its share of the noise, and no one would ever open the exact sum.

use crate::LearnError;
use privet_dp::gate::{GateError, Noisy, Private, Session};
use privet_dp::mechanism::{ExactCounts, Gaussian, Laplace};
use privet_optim::sum::{Exact, ExactAnswer, Recentring, Records};

/// The noise on a sum; its sensitivity must be that of all queries together.
#[derive(Debug, Clone, PartialEq)]
pub enum SumNoise {
    /// Gaussian.
    Gaussian(Gaussian),
    /// Laplace.
    Laplace(Laplace),
}

/// Several sums at once: query i goes to the records of problem i, and the answers form one vector of
/// integer multiples of `unit`.
#[derive(Debug, Clone, PartialEq)]
pub struct Queries {
    /// The queries, one per problem.
    pub each: Vec<Exact>,
    /// The unit of the answers, a power of two.
    pub unit: f64,
    /// Subtracted from each answer before the noise.
    pub recentring: Option<Recentring>,
}

impl Queries {
    /// With nothing subtracted from the answers.
    pub fn of(each: Vec<Exact>, unit: f64) -> Self {
        Self { each, unit, recentring: None }
    }
}

/// The holder of the records, for sums that are released.
pub trait Answers {
    /// Returns the noisy sums. An implementation must charge the noise to the session and must not
    /// release the exact sums.
    fn answer(
        &self,
        questions: &Queries,
        noise: &SumNoise,
        session: &mut Session<'_>,
    ) -> Result<Noisy<Vec<f64>>, LearnError>;
}

/// Records of this process, one set per problem.
pub struct LocalRecords<'a>(pub Vec<Box<dyn Records + 'a>>);

impl LocalRecords<'_> {
    /// The exact sums; `None` if a query fails or its sum is not exact.
    pub(crate) fn sums(&self, questions: &Queries) -> Option<ExactCounts> {
        let mut counts = Vec::new();
        if self.0.len() != questions.each.len() {
            return None;
        }
        for (records, query) in self.0.iter().zip(&questions.each) {
            let ExactAnswer::Units(sum) = records.exact(query).ok()? else { return None };
            counts.extend(sum.into_units()?);
        }
        let Some(recentring) = &questions.recentring else {
            return Some(ExactCounts { counts, unit: questions.unit });
        };
        let unit = questions.unit / 2_f64.powi(recentring.bits as i32);
        Some(ExactCounts { counts: recentring.taken_from(&counts)?, unit })
    }
}

impl Answers for LocalRecords<'_> {
    fn answer(
        &self,
        questions: &Queries,
        noise: &SumNoise,
        session: &mut Session<'_>,
    ) -> Result<Noisy<Vec<f64>>, LearnError> {
        let sums = Private::new(self.sums(questions).ok_or(GateError::Unanswered)?);
        Ok(match noise {
            SumNoise::Gaussian(gaussian) => gaussian.run_units(sums, session)?,
            SumNoise::Laplace(laplace) => laplace.run_units(sums, session)?,
        })
    }
}
