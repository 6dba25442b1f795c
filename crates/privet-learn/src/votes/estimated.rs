//! Stable winners, as [`super::sparse_vector`] releases them, with the number of unstable queries that
//! ends the run chosen by a private estimate.
//!
//! **Theorem** ([`privet_dp::mechanism::EstimatedAnswers`]; Thakkar 2019, Remark 11). q is the number of
//! votes on the public queries, over all teachers, that are not for the winner of their query. One unit
//! moves one teacher's votes, and so b − max n by at most 1 in each query: q moves by at most m̃. It
//! gets discrete Laplace noise for a fraction of ε; with the rest a sparse vector runs, one of several
//! planned alternatives, each of which costs that rest for any T.
//!
//! **Rule** (privacy does not depend on it). A winner from whom at most ξb teachers dissent leads by
//! (1 − 2ξ)b votes, at a distance of (1 − 2ξ)b/2 − 1: enough if that is d(T), so for
//! ξ = ½ − (d(T) + 1)/b. Fewer than q/(ξb) queries have more dissent (Thakkar 2019, Lemma 5.4.1). So T
//! is enough for q ≤ ξbT; the rule takes the least T for which that holds of the estimate plus one scale
//! of its noise, and if there is none, the T with the largest limit.

use super::aggregate::{
    Aggregate, Aggregator, AggregatorFacts, Decision, GUARANTEE, NamedClasses, PlanInput, STABLE,
    UnderWay,
};
use super::ballots::{Ballots, winner};
use super::sparse_vector::{CUTOFF, LOST_QUERY_PROBABILITY, sizes, stable_for};
use crate::LearnError;
use crate::release::allowance::Allowance;
use crate::release::note::{Condition, Note};
use crate::release::registry::Info;
use crate::release::settings::{PlanNumbers, settings};
use privet_core::{Budget, Range};
use privet_dp::account::{Event, ThresholdNoise};
use privet_dp::gate::{Noisy, Private, Session};
use privet_dp::mechanism::{EstimatedAnswers, QUERY_RATIO, QueryAnswer, StableAnswers};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Limits on the fraction of ε for the estimate.
pub const ESTIMATE_SHARE: Range = Range::open("estimate_share", 0.0, 1.0);

/// Upper limit on T.
const MOST_UNSTABLE_QUERIES: u32 = 256;

/// Registry entry of `estimated-sparse-vector`.
pub const INFO: Info<AggregatorFacts> = Info {
    name: "estimated-sparse-vector",
    summary: "as sparse-vector, but how often teachers dissent is estimated first, under noise, and says after how many \
              questions without a stable answer it ends",
    source: "Thakkar 2019, Remark 11, by the votes on public rows in place of a half set aside",
    guarantee: GUARANTEE,
    settings: Estimated::SETTINGS,
    noisy: "how often teachers dissent, and how many would have to change before another class wins",
    private: true,
    covers: STABLE,
    more: AggregatorFacts { streams: false, rounds: false },
};

settings! {
    /// Settings of `estimated-sparse-vector`.
    pub struct Estimated {
        estimate_share: f64 [ESTIMATE_SHARE] "share of epsilon for the estimate; 0.2 unless given";
    }
    also {
        /// Candidates of the estimate; settled by the plan, so that making it again calibrates nothing.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        pub alternatives: Vec<Alternative>,
    }
}

/// A sparse vector that the estimate may choose.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Alternative {
    /// Largest estimate for which it is chosen.
    pub limit: i64,
    /// Number of unanswered queries that ends the run, T.
    pub cutoff: u32,
    /// Noise scale of the threshold, s₁.
    pub noise_scale: f64,
    /// Noise scale of a query over that of the threshold, s₂/s₁.
    pub query_ratio: f64,
}

/// Upper limit on a limit's absolute value: no estimate exceeds it, and every JSON reader represents it.
const LARGEST_LIMIT: f64 = 1e15;

/// Plans from public facts alone.
pub(super) fn plan(input: &PlanInput<'_>, options: &Estimated) -> Result<Decision, LearnError> {
    let (epsilon, delta) = (input.budget.epsilon(), input.budget.delta());
    let share = ESTIMATE_SHARE.check(options.estimate_share.unwrap_or(0.2))?;
    let teachers = input.teachers.unwrap_or_else(|| sizes(input).0);
    // Slightly less than the budget: the event rounds up.
    let answers_epsilon = (1.0 - share) * epsilon * (1.0 - 1e-9);
    let noise_scale = input.questions as f64 / (share * epsilon);
    let rest = Budget::new(answers_epsilon, delta)?;
    let alternatives = match &options.alternatives[..] {
        [] => planned(input, rest, noise_scale, teachers)?,
        settled => settled_by(input, rest, settled)?,
    };
    let first = alternatives.first().map(|(_, answers)| answers);
    let least =
        first.map(|first| first.distance_needed(input.questions as f64, LOST_QUERY_PROBABILITY));
    let least = least.transpose()?.unwrap_or(0.0);
    let cutoffs: Vec<String> =
        alternatives.iter().map(|(_, answers)| answers.cutoff.to_string()).collect();
    let mut notes: Vec<Note> = vec![CUTOFF_ESTIMATED.with(&[("cutoffs", &cutoffs.join(", "))])];
    if 0.5 + (least + 1.0) / f64::from(teachers) > 1.0 {
        notes.push(Note::expectation(format!(
            "{teachers} teachers are too few for any answer to come out but by chance: a winner must lead by {} votes. \
             Give more teachers or a larger epsilon",
            2.0 * (least + 1.0)
        )));
    }
    let sensitivity = input.questions;
    let settled = |(limit, answers): &(i64, StableAnswers)| Alternative {
        limit: *limit,
        cutoff: answers.cutoff,
        noise_scale: answers.noise_scale,
        query_ratio: answers.query_ratio,
    };
    let settled = alternatives.iter().map(settled).collect();
    let answers =
        EstimatedAnswers { alternatives, sensitivity, noise_scale, answers_epsilon, delta };
    Ok(Decision {
        aggregate: Arc::new(Estimating { answers, least, teachers }),
        settled: Aggregator::EstimatedSparseVector(Estimated {
            estimate_share: Some(share),
            alternatives: settled,
        }),
        teachers,
        notes,
    })
}

/// Alternatives that each cost the rest of the budget, up to the T with the largest limit.
fn planned(
    input: &PlanInput<'_>,
    rest: Budget,
    noise_scale: f64,
    teachers: u32,
) -> Result<Vec<(i64, StableAnswers)>, LearnError> {
    let (mut alternatives, mut cutoff) = (Vec::<(i64, StableAnswers)>::new(), 1_u32);
    while cutoff <= MOST_UNSTABLE_QUERIES && u64::from(cutoff) <= input.questions {
        let settings = (cutoff, ThresholdNoise::Exponential, None);
        let answers = stable_for(input, &Allowance::new(rest, &[]), settings)?;
        let distance = answers.distance_needed(input.questions as f64, LOST_QUERY_PROBABILITY)?;
        let room = 0.5 * f64::from(teachers) - distance - 1.0;
        let limit = (room * f64::from(cutoff) - noise_scale).clamp(-LARGEST_LIMIT, LARGEST_LIMIT);
        // A larger T without a larger limit is of no use.
        if alternatives.last().is_some_and(|(before, _)| limit <= *before as f64) {
            break;
        }
        alternatives.push((limit.floor() as i64, answers));
        cutoff *= 2;
    }
    Ok(alternatives)
}

/// Alternatives of a settled plan. The mechanism recomputes that each keeps within the rest of the
/// budget.
fn settled_by(
    input: &PlanInput<'_>,
    rest: Budget,
    settled: &[Alternative],
) -> Result<Vec<(i64, StableAnswers)>, LearnError> {
    let most = MOST_UNSTABLE_QUERIES.ilog2() as usize + 1;
    if settled.len() > most
        || settled.iter().any(|one| one.limit.unsigned_abs() as f64 > LARGEST_LIMIT)
    {
        return Err(LearnError::SettingValue {
            setting: "alternatives",
            given: format!("{} of them", settled.len()),
            accepted: format!("at most {most}, with limits of at most {LARGEST_LIMIT:e}"),
        });
    }
    let one = |one: &Alternative| {
        CUTOFF.check(f64::from(one.cutoff))?;
        let query_ratio = QUERY_RATIO.check(one.query_ratio)?;
        let (neighbours, unit) = (input.facts.neighbours, input.facts.unit);
        let answers = StableAnswers {
            neighbours,
            unit,
            law: ThresholdNoise::Exponential,
            noise_scale: one.noise_scale,
            query_ratio,
            cutoff: one.cutoff,
            questions: input.questions,
            delta: rest.delta() / 2.0,
        };
        Ok((one.limit, answers))
    };
    settled.iter().map(one).collect()
}

#[derive(Debug, Clone)]
struct Estimating {
    answers: EstimatedAnswers,
    /// Distance that an answer needs at the least T.
    least: f64,
    teachers: u32,
}

/// Number of votes that are not for the winner of their query.
fn dissent(votes: &Ballots, teachers: u32) -> i64 {
    let apart = |counts: &Vec<u32>| {
        let most = counts.iter().copied().max().unwrap_or(0);
        i64::from(teachers.saturating_sub(most))
    };
    votes.0.iter().map(apart).sum()
}

impl Aggregate for Estimating {
    fn event(&self) -> Result<Event, LearnError> {
        Ok(self.answers.event()?)
    }

    fn settings(&self) -> PlanNumbers {
        let last = self.answers.alternatives.last();
        let first = self.answers.alternatives.first();
        let threshold = first.and_then(|(_, answers)| answers.threshold().ok());
        PlanNumbers::of([
            ("threshold", threshold.unwrap_or(i64::MAX) as f64),
            ("estimate_noise", self.answers.noise_scale),
            ("answers_epsilon", self.answers.answers_epsilon),
            ("lead_needed", 2.0 * (self.least + 1.0)),
            ("largest_cutoff", last.map_or(0.0, |(_, answers)| f64::from(answers.cutoff))),
        ])
    }

    fn cutoffs(&self) -> Vec<u32> {
        self.answers.alternatives.iter().map(|(_, answers)| answers.cutoff).collect()
    }

    fn refuses(&self, named: &NamedClasses) -> Option<&'static str> {
        super::sparse_vector::refusal_of_classes(&named.classes, named.cutoff?)
    }

    fn name(
        &self,
        votes: Ballots,
        _asked: u64,
        _under_way: &mut UnderWay,
        session: &mut Session<'_>,
    ) -> Result<Noisy<NamedClasses>, LearnError> {
        fn named((cutoff, heard): (u32, Vec<QueryAnswer<u32>>)) -> NamedClasses {
            NamedClasses {
                cutoff: Some(cutoff),
                classes: heard.into_iter().map(QueryAnswer::answer).collect(),
            }
        }
        let estimated = Private::new(dissent(&votes, self.teachers));
        let found = Private::new(votes.0.iter().map(|counts| winner(counts)).collect());
        Ok(self.answers.run(estimated, found, session)?.map(named))
    }
}

const CUTOFF_ESTIMATED: Condition = Condition::new(
    "cutoff-estimated",
    "how often teachers dissent is estimated under noise, and decides after how many questions without a stable \
     answer nothing more is answered, of {cutoffs}; the whole budget is spent either way",
);

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// One ballot that changes arbitrarily moves the dissent by at most one for each query.
        #[test]
        fn one_ballot_moves_the_dissent_by_one_a_question(
            ballots in proptest::collection::vec(proptest::option::of(
                proptest::collection::vec(0_u32..4, 5)), 1..30),
            place: prop::sample::Index,
            other in proptest::option::of(proptest::collection::vec(0_u32..5, 4..6)),
        ) {
            let mut changed = ballots.clone();
            *place.get_mut(&mut changed) = other;
            let count = ballots.len() as u32;
            let of = |ballots: &[_]| dissent(&Ballots::count(ballots, 5, 4), count);
            prop_assert!(of(&ballots).abs_diff(of(&changed)) <= 5);
            prop_assert!(of(&ballots) >= 0);
        }
    }

    /// All ballots equal but one, against all equal: the bound is attained.
    #[test]
    fn the_dissent_moves_by_all_questions_at_once() {
        let same = vec![Some(vec![0; 5]); 9];
        let mut other = same.clone();
        other[3] = Some(vec![1; 5]);
        let of = |ballots: &[_]| dissent(&Ballots::count(ballots, 5, 4), 9);
        assert_eq!((of(&same), of(&other)), (0, 5));
    }
}
