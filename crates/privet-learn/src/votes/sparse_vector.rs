//! The votes of black boxes under a sparse vector: stable winners are released free, unstable queries
//! consume the budget.
//!
//! **Theorem** ([`privet_dp::mechanism::StableAnswers`]; Thakkar 2019, Algorithm 10 and Theorem 9,
//! corrected). The winner of each query and its distance (`ballots`) are released by a sparse vector
//! that ends after T queries without a stable winner: (ε, δ), whatever the teachers are, for any number
//! of teachers and chunks of any size.
//!
//! **Comparison with moments accounting** (Zhu & Wang 2020, whose curve of a run is D_α of the
//! threshold's noise against itself one step away, plus 2/s₂). For *exponential* noise, the default,
//! that likelihood ratio is e^(1/s₁) wherever the first distribution has mass, so that its Rényi
//! divergence is 1/s₁ at *every* order: the curve is the constant ε₀, no stronger than a run being
//! ε₀-DP, and T of those are composed exactly here. For *Laplace* noise the curve is below that, but
//! only in its first part: the second adds up T times, where exact composition lets the whole of ε₀ grow
//! like a root. At ε = 1 both are level up to about 8 runs and the moments need more noise from 16 on
//! (1.6 times at 64); at ε = 8 and 16 runs they need 2 % less (`tests/all/transfer_outside.rs`).
//! Gaussian thresholds, whose curves need a limit on the number of queries, are not offered.
//!
//! **Numbers of teachers and T** (privacy does not depend on them). With b teachers that are right with
//! two votes in three the winner leads by b/3, at a distance of b/6 − 1; that must reach the distance
//! d(T) that the noise needs, so b = 6(d(T) + 1). Each query that a third of the teachers get wrong may
//! be lost: three times the error α of a teacher, T = 3αm̃ (Thakkar 2019, Lemma 5.4.1). And α decreases
//! with the rows of a chunk: α ≈ V·b/n for V weights to learn. `sizes` searches the least T for which
//! all three hold. If there is none (n too small), it takes chunks of 10 rows a class, and T as large as
//! the noise then allows: the notes say that few answers may be released.

use super::aggregate::{
    Aggregate, Aggregator, AggregatorFacts, Decision, GUARANTEE, NamedClasses, PlanInput, STABLE,
    UnderWay,
};
use super::ballots::{Ballots, winner};
use crate::LearnError;
use crate::release::allowance::Allowance;
use crate::release::note::{Condition, Note};
use crate::release::registry::Info;
use crate::release::settings::{PlanNumbers, settings};
use privet_core::Range;
use privet_dp::account::{Event, ThresholdNoise};
use privet_dp::gate::{Noisy, Private, Session};
use privet_dp::mechanism::{QUERY_RATIO, QueryAnswer, StableAnswers, ln_overlap};
use std::sync::Arc;

/// Limits on T, the number of unanswered queries that ends the run.
pub const CUTOFF: Range = Range::from("cutoff", 1.0, 1_000_001.0);

/// Registry entry of `sparse-vector`.
pub const INFO: Info<AggregatorFacts> = Info {
    name: "sparse-vector",
    summary: "the class that most teachers vote for, where no one's records could change it; the budget pays for the \
              questions on which teachers do not agree, and ends after so many of them",
    source: "Thakkar 2019, Algorithms 6 to 10, with the distance and the chunks corrected",
    guarantee: GUARANTEE,
    settings: SparseVector::SETTINGS,
    noisy: "how many teachers would have to change before another class wins",
    private: true,
    covers: STABLE,
    more: AggregatorFacts { streams: true, rounds: true },
};

settings! {
    /// Settings of `sparse-vector`.
    #[derive(Copy)]
    pub struct SparseVector {
        cutoff: u32 [CUTOFF]
            "questions without a stable answer after which nothing more is answered; chosen from \
             public facts unless given";
        law: ThresholdNoise ["exponential or laplace"]
            "the law of the noises; exponential unless given, which needs less agreement";
        query_ratio: f64 [QUERY_RATIO]
            "noise on a question's distance, as a multiple of the noise on the threshold; chosen \
             unless given";
    }
}

/// Bound on the probability that any of the queries with the needed distance is lost.
pub(super) const LOST_QUERY_PROBABILITY: f64 = 0.05;
/// Rows of a chunk for each class, if there are too few rows for the rule.
const ROWS_A_CLASS: u64 = 10;

/// Approximate ε of one of T runs, by basic or advanced composition: for rules, not for guarantees.
fn epsilon_of_run(epsilon: f64, delta: f64, cutoff: f64) -> f64 {
    let fits = |one: f64| {
        let advanced =
            (2.0 * cutoff * (2.0 / delta).ln()).sqrt() * one + cutoff * one * one.exp_m1();
        advanced.min(cutoff * one) <= epsilon
    };
    let (mut low, mut high) = (epsilon / cutoff, epsilon);
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        if fits(middle) { low = middle } else { high = middle }
    }
    low
}

/// The ratio s₂/s₁ that needs the least agreement: thresholds of T runs are s₁·L₁ above, answers s₂·L₂
/// below, and (1 + 2s₁/s₂)/s₁ is spent.
fn ratio((epsilon, delta): (f64, f64), cutoff: u32, questions: u64) -> f64 {
    let second = (questions as f64 / LOST_QUERY_PROBABILITY).ln().max(1.0);
    (2.0 * raised_limit((epsilon, delta), cutoff).max(1.0) / second).sqrt().clamp(0.1, 10.0)
}

/// Approximate L₁: ln(2T/δ) − [`ln_overlap`]; the second term matters for a large ε.
fn raised_limit((epsilon, delta): (f64, f64), cutoff: u32) -> f64 {
    let one = epsilon_of_run(epsilon, delta, f64::from(cutoff));
    (2.0 * f64::from(cutoff) / delta).ln() - ln_overlap(cutoff, one)
}

/// Approximate needed distance d(T).
fn needed_distance(input: &PlanInput<'_>, cutoff: u32) -> f64 {
    let (epsilon, delta) = (input.budget.epsilon(), input.budget.delta());
    let first = raised_limit((epsilon, delta), cutoff);
    let second = (input.questions as f64 / LOST_QUERY_PROBABILITY).ln();
    (first.sqrt() + (2.0 * second).sqrt()).powi(2)
        / epsilon_of_run(epsilon, delta, f64::from(cutoff))
        + 1.0
}

/// Numbers b of teachers and T from public facts; true if all conditions of the rule hold.
pub(super) fn sizes(input: &PlanInput<'_>) -> (u32, u32, bool) {
    let rows = input.facts.rows as f64;
    let learnt = input.facts.columns as f64 * (input.classes as f64 - 1.0).max(1.0);
    let most = input.questions.min(10_000) as u32;
    let mut cutoff = 1_u32;
    while cutoff <= most.max(1) {
        let teachers = (6.0 * (needed_distance(input, cutoff) + 1.0)).ceil();
        let error = learnt * teachers / rows;
        if error <= 0.25 && f64::from(cutoff) >= 3.0 * error * input.questions as f64 {
            return (teachers.min(1e6) as u32, cutoff, true);
        }
        cutoff += (cutoff / 8).max(1);
    }
    let chunk = ROWS_A_CLASS * input.classes as u64;
    let teachers = (input.facts.rows / chunk).clamp(1, 5_000) as u32;
    (teachers, largest_cutoff(input, teachers, most), false)
}

/// The largest T for which b teachers that are right with three votes in four reach the needed distance;
/// at least 1.
fn largest_cutoff(input: &PlanInput<'_>, teachers: u32, most: u32) -> u32 {
    let room = f64::from(teachers) / 4.0 - 1.0;
    let (mut best, mut cutoff) = (1, 1);
    while cutoff <= most && needed_distance(input, cutoff) <= room {
        best = cutoff;
        cutoff += (cutoff / 8).max(1);
    }
    best
}

/// Stable answers with T, a noise distribution and optionally a ratio, with the least noise that meets a
/// budget.
pub(super) fn stable_for(
    input: &PlanInput<'_>,
    budget: &Allowance<'_>,
    (cutoff, law, query_ratio): (u32, ThresholdNoise, Option<f64>),
) -> Result<StableAnswers, LearnError> {
    CUTOFF.check(f64::from(cutoff))?;
    let usual = ratio((budget.epsilon(), budget.delta()), cutoff, input.questions);
    let query_ratio = QUERY_RATIO.check(query_ratio.unwrap_or(usual))?;
    let facts = input.facts;
    let at = |noise_scale: f64| StableAnswers {
        neighbours: facts.neighbours,
        unit: facts.unit,
        law,
        noise_scale,
        query_ratio,
        cutoff,
        questions: input.questions,
        // Half for the release of unstable answers, half for composition.
        delta: budget.delta() / 2.0,
    };
    let most = budget.epsilon() - (-2.0 * budget.delta().min(0.4)).ln_1p();
    let floor = (1.0 + 2.0 / query_ratio) / most;
    Ok(at(budget.least_scale(floor, |scale| at(scale).event())?))
}

/// Reason why a vector that ends after `cutoff` unanswered queries cannot name these classes.
pub(super) fn refusal_of_classes(classes: &[Option<u32>], cutoff: u32) -> Option<&'static str> {
    let unstable = classes.iter().enumerate().filter(|(_, class)| class.is_none());
    let last = unstable.map(|(place, _)| place).nth((cutoff as usize).checked_sub(1)?)?;
    let after = classes[last..].iter().any(Option::is_some);
    after.then_some("it has answers after as many questions without one as end it")
}

/// Plans from public facts alone.
pub(super) fn plan(input: &PlanInput<'_>, options: &SparseVector) -> Result<Decision, LearnError> {
    let budget = &input.budget;
    let (teachers, cutoff, fits) = match (input.teachers, options.cutoff) {
        (Some(teachers), Some(cutoff)) => (teachers, cutoff, true),
        (Some(teachers), None) => {
            let most = input.questions.min(10_000) as u32;
            (teachers, largest_cutoff(input, teachers, most.max(1)), true)
        }
        (None, given) => {
            let (teachers, cutoff, fits) = sizes(input);
            (teachers, given.unwrap_or(cutoff), fits)
        }
    };
    let law = options.law.unwrap_or_default();
    let answers = stable_for(input, budget, (cutoff, law, options.query_ratio))?;
    let (query_ratio, facts) = (answers.query_ratio, input.facts);
    let distance = answers.distance_needed(input.questions as f64, LOST_QUERY_PROBABILITY)?;
    let mut notes: Vec<Note> = vec![match cutoff {
        1 => ENDS_AFTER_ONE.into(),
        _ => ENDS_AFTER.with(&[("cutoff", &cutoff)]),
    }];
    // A lead of 2(d + 1) of b votes.
    let agree = 0.5 + (distance + 1.0) / f64::from(teachers);
    if agree > 1.0 {
        notes.push(Note::expectation(format!(
            "{teachers} teachers are too few for any answer to come out but by chance: a winner must lead by {} votes. \
             Give more teachers, a larger epsilon or a smaller cutoff",
            2.0 * (distance + 1.0)
        )));
    } else if !fits {
        let learnt = facts.columns as f64 * (input.classes as f64 - 1.0).max(1.0);
        let rows = 12.0 * learnt * 6.0 * (needed_distance(input, 1) + 1.0);
        notes.push(Note::expectation(format!(
            "the table is small for this: teachers that are sure to agree need about {rows:.0} rows in all, so that \
             answers may end early. An answer comes out where about {:.0} in 100 teachers agree",
            (100.0 * agree).ceil()
        )));
    }
    Ok(Decision {
        aggregate: Arc::new(Stable { answers, distance }),
        settled: Aggregator::SparseVector(SparseVector {
            cutoff: Some(cutoff),
            law: Some(law),
            query_ratio: Some(query_ratio),
        }),
        teachers,
        notes,
    })
}

/// The votes under a sparse vector.
#[derive(Debug, Clone, Copy)]
struct Stable {
    answers: StableAnswers,
    /// Distance that a query needs so that its answer is not lost by chance.
    distance: f64,
}

impl Aggregate for Stable {
    fn event(&self) -> Result<Event, LearnError> {
        Ok(self.answers.event()?)
    }

    fn settings(&self) -> PlanNumbers {
        let threshold = self.answers.threshold().unwrap_or(i64::MAX) as f64;
        PlanNumbers::of([
            ("threshold_noise", self.answers.noise_scale),
            ("distance_noise", self.answers.noise_scale * self.answers.query_ratio),
            ("threshold", threshold),
            ("cutoff", f64::from(self.answers.cutoff)),
            ("lead_needed", 2.0 * (self.distance + 1.0)),
        ])
    }

    /// Refuses answers after T unanswered queries.
    fn refuses(&self, named: &NamedClasses) -> Option<&'static str> {
        refusal_of_classes(&named.classes, self.answers.cutoff)
    }

    fn name(
        &self,
        votes: Ballots,
        query_count: u64,
        under_way: &mut UnderWay,
        session: &mut Session<'_>,
    ) -> Result<Noisy<NamedClasses>, LearnError> {
        let mut answering = match under_way.0.take() {
            Some(answering) => answering,
            None => self.answers.begin(query_count, session)?,
        };
        let mut heard = Vec::with_capacity(votes.0.len());
        for counts in votes.0 {
            heard.push(answering.ask(Private::new(winner(&counts)), session)?);
        }
        under_way.0 = Some(answering);
        let named = heard.into_iter().map(|heard| heard.map(QueryAnswer::answer)).collect();
        Ok(session.gather(named)?.map(super::aggregate::without_choice))
    }
}

const ENDS_AFTER_ONE: Condition = Condition::new(
    "ends-after-one",
    "nothing more is answered once 1 question was without a stable answer; the whole budget is spent either way",
);
const ENDS_AFTER: Condition = Condition::new(
    "ends-after",
    "nothing more is answered once {cutoff} questions were without a stable answer; the whole budget is spent either \
     way",
);
