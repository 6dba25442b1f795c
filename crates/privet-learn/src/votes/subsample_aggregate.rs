//! Any discrete functions of records, answered one after the other: A_subSamp as a building block.
//!
//! **Theorem** (Thakkar 2019, Algorithm 9 and Corollary 5.3.7, corrected). Cut the records into chunks
//! of which a unit is in one ([`super::chunks`]). For a function of the records of a chunk with values
//! in any ordered set, the value that most chunks give, with ⌈g/2⌉ − 1 for its lead g, is a proxy in the
//! sense of [`privet_dp::mechanism::StableAnswers`]: so answering any number of functions, each chosen
//! after the earlier answers, is (ε, δ)-private, and only those without a stable answer consume budget.
//! The printed distance g − 1 moves by 2, and printed chunks by position move all rows behind one.
//!
//! **Requirements on a function.** It depends on the records of its chunk alone: no state kept from
//! another chunk, no clock. It is called on all cores in no particular order. If it panics, or a chunk
//! has no records, its value is `otherwise`.

use super::chunks::chunks;
use super::teacher::catch_panic;
use crate::linear::facts::Facts;
use crate::selection::winner_of;
use privet_data::Dataset;
use privet_dp::gate::{GateError, Noisy, Private, Session};
use privet_dp::mechanism::{QueryAnswer, StableAnswers, StableStream, WithDistance};
use rayon::prelude::*;
use std::collections::BTreeMap;

/// Records in chunks, and a stream of queries about them.
#[derive(Debug)]
pub struct AnswerStream {
    parts: Vec<Option<Dataset>>,
    answering: StableStream,
}

impl AnswerStream {
    /// Cuts the records into `count` chunks, by coins of this session, and begins a stream that has it
    /// to itself. The relation and the unit of `answers` are those of the facts.
    pub fn begin(
        (facts, data): (&Facts, &Dataset),
        count: u32,
        answers: &StableAnswers,
        session: &mut Session<'_>,
    ) -> Result<Self, GateError> {
        if (answers.neighbours, answers.unit) != (facts.neighbours, facts.unit) {
            return Err(GateError::NotAsPlanned);
        }
        let cut = chunks(facts, data, count, session);
        let part = |rows: Vec<usize>| (!rows.is_empty()).then(|| data.select(&rows));
        let parts = cut.into_iter().map(part).collect();
        Ok(Self { parts, answering: answers.begin(0, session)? })
    }

    /// Returns the answer of most chunks, if it is stable.
    pub fn ask<A: Ord + Clone + Send + Sync>(
        &mut self,
        function: impl Fn(&Dataset) -> A + Sync,
        otherwise: A,
        session: &mut Session<'_>,
    ) -> Result<Noisy<QueryAnswer<A>>, GateError> {
        let answer = |part: &Option<Dataset>| {
            let Some(part) = part else { return otherwise.clone() };
            catch_panic(|| function(part)).unwrap_or_else(|| otherwise.clone())
        };
        let answers: Vec<A> = self.parts.par_iter().map(answer).collect();
        self.answering.ask(Private::new(winner(answers, otherwise)), session)
    }
}

/// The most frequent answer, of equally frequent ones the least, with its distance to another.
fn winner<A: Ord>(answers: Vec<A>, otherwise: A) -> WithDistance<A> {
    let mut votes: BTreeMap<A, u64> = BTreeMap::new();
    for answer in answers {
        *votes.entry(answer).or_default() += 1;
    }
    winner_of(votes, 2, otherwise)
}
