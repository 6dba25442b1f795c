//! Noisy pluralities: the class with the most votes under Gaussian noise, of every query, of those on
//! which many agree, or of all if a private test shows that voters agree.
//!
//! **Theorems** are those of [`privet_dp::mechanism::NoisyArgmax`],
//! [`privet_dp::mechanism::ConfidentArgmax`] and [`privet_dp::mechanism::AgreedLabels`] (Papernot, Song,
//! Mironov, Raghunathan, Talwar & Erlingsson 2018), on votes of which one unit moves one (`ballots`).
//! Charges are the same for any votes. In the last the labels' loss may depend on the votes, but is
//! limited beforehand and tested under noise; the certificate claims the budget.
//!
//! **Numbers of teachers and queries** follow from the rows n and the budget alone; privacy does not
//! depend on them. Let μ be that of the Gaussian release that the budget allows. m labels, each of
//! sensitivity √2, leave noise √(2m)/μ on a count and 2√m/μ on a lead. (1) With teachers that are right
//! with two votes in three the winner leads by b/3: set the noise to that, b = 6√m/μ. (2) Let the
//! student have five times the rows of a teacher, m = 5n/b: its labels are those of many teachers, some
//! of them wrong. Together **b³ = 180n/μ²**, and m = 5n/b is the number of useful queries.
//! - Fewer queries leave less noise. Teachers are limited to b = 18√m̃/μ, where the lead is three times
//!   the noise: more of them would have fewer rows each without a gain.
//! - A chunk keeps 10 rows a class: b ≤ n/(10K). If that is less than the rule's b, the notes say so.
//! - Labels of `confident-gnmax` cost as a + m̃/(2ratio²) queries do, a the answers, tests included;
//!   `agreed-gnmax`, whose test needs agreement, has as many teachers as rows allow, at most 1,000.
//!
//! All queries of a batch are tested before the first is answered, so that only the number of answers
//! depends on earlier noisy answers, and the plan has an upper bound on that number.

use super::aggregate::{
    Aggregate, Aggregator, AggregatorFacts, Decision, GUARANTEE, NamedClasses, PRINTED_DISTANCE,
    PlanInput, UnderWay,
};
use super::ballots::Ballots;
use crate::LearnError;
use crate::release::covers::{Coverage, MethodCoverage, TableAccess};
use crate::release::note::{Condition, Note};
use crate::release::registry::Info;
use crate::release::settings::{PlanNumbers, settings};
use privet_core::Range;
use privet_dp::account::gaussian;
use privet_dp::account::{Cost, Event};
use privet_dp::gate::{Noisy, Private, Session};
use privet_dp::mechanism::{AgreedLabels, ConfidentArgmax, NoisyArgmax};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Limits on the number of answers.
pub const ANSWERS: Range = Range::from("answers", 1.0, 10_000_001.0);
/// Limits on the fraction of the teachers that must agree.
pub const AGREE: Range = Range::open("agree", 0.0, 1.0);
/// Limits on the noise of the test, as a multiple of that of the labels.
pub const TEST_RATIO: Range = Range::open("test_ratio", 0.0, 1e4);
/// Limits on the noise scale of the votes, σ.
pub const VOTE_NOISE: Range = Range::open("vote_noise", 0.0, 1e9);
/// Limits on the fraction of ε for the test of agreement.
pub const TEST_SHARE: Range = Range::open("test_share", 0.0, 1.0);

const SOURCE: &str = "Papernot, Song, Mironov, Raghunathan, Talwar & Erlingsson 2018";
const NOISY_ANSWER: &str = "how many teachers vote for each class";

/// Cases that pluralities under Gaussian noise cover.
const COVERS: MethodCoverage = MethodCoverage {
    pure: Coverage::gaussian("give a delta, for example 1e-6"),
    needs: TableAccess::Memory,
    printed: Coverage::unprinted(PRINTED_DISTANCE),
    ..MethodCoverage::ALL
};

/// Registry entry of `gnmax`.
pub const GNMAX: Info<AggregatorFacts> = Info {
    name: "gnmax",
    summary: "the class with the most votes under Gaussian noise, for every question",
    source: SOURCE,
    guarantee: GUARANTEE,
    settings: &[],
    noisy: NOISY_ANSWER,
    private: true,
    covers: COVERS,
    more: AggregatorFacts { streams: false, rounds: true },
};

/// Registry entry of `confident-gnmax`.
pub const CONFIDENT_GNMAX: Info<AggregatorFacts> = Info {
    name: "confident-gnmax",
    summary: "the same for those questions alone on which many teachers agree, which is tested under noise first",
    source: SOURCE,
    guarantee: GUARANTEE,
    settings: ConfidentGnmax::SETTINGS,
    noisy: NOISY_ANSWER,
    private: true,
    covers: COVERS,
    more: AggregatorFacts { streams: false, rounds: false },
};

/// Registry entry of `agreed-gnmax`.
pub const AGREED_GNMAX: Info<AggregatorFacts> = Info {
    name: "agreed-gnmax",
    summary: "the class with the most votes under Gaussian noise, for all questions if a private test says that teachers \
              agree so much that this costs no more than the budget, and otherwise for none",
    source: "Papernot et al. 2018, by propose, test, release",
    guarantee: GUARANTEE,
    settings: AgreedGnmax::SETTINGS,
    noisy: "votes, and how many teachers would have to change before they cost more",
    private: true,
    covers: COVERS,
    more: AggregatorFacts { streams: false, rounds: false },
};

/// Settings of `gnmax`: none.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Gnmax {}

settings! {
    /// Settings of `confident-gnmax`.
    #[derive(Copy)]
    pub struct ConfidentGnmax {
        answers: u32 [ANSWERS] "questions that are answered, at most; a third of them unless given";
        agree: f64 [AGREE] "share of the teachers that must agree, under noise; 0.8 unless given";
        test_ratio: f64 [TEST_RATIO]
            "noise of the test, as a multiple of the noise of the labels; 3.75 unless given";
    }
}

settings! {
    /// Settings of `agreed-gnmax`.
    #[derive(Copy)]
    pub struct AgreedGnmax {
        vote_noise: f64 [VOTE_NOISE]
            "standard deviation of the noise on votes; a sixth of the teachers unless given";
        test_share: f64 [TEST_SHARE] "share of epsilon for the test; 0.25 unless given";
    }
}

fn argmax(input: &PlanInput<'_>, noise_scale: f64) -> NoisyArgmax {
    let (neighbours, unit) = (input.facts.neighbours, input.facts.unit);
    NoisyArgmax { neighbours, unit, noise_scale, classes: input.classes }
}

/// Lower bound on the rows of a chunk for each class.
const ROWS_A_CLASS: u64 = 10;
/// Upper bound on the number of teachers, unless it is requested.
const MOST_TEACHERS: f64 = 5_000.0;

/// Number of teachers with 10 rows a class.
fn most_teachers(input: &PlanInput<'_>) -> u64 {
    (input.facts.rows / (ROWS_A_CLASS * input.classes as u64)).max(1)
}

/// Numbers of teachers and queries by the rule.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Sizes {
    /// Number of teachers, b, within the limit of the rows.
    teachers: u32,
    /// True if that is the rule's number.
    enough: bool,
    /// Number of useful queries, m.
    worth: f64,
}

/// The rule, for a request whose cost is that of `questions` queries.
fn sizes(input: &PlanInput<'_>, questions: f64) -> Sizes {
    let rows = input.facts.rows as f64;
    let mu = gaussian::mu(input.budget.epsilon(), input.budget.delta());
    let balanced = (180.0 * rows / mu.powi(2)).cbrt();
    let asked = balanced.min(18.0 * questions.sqrt() / mu).clamp(1.0, MOST_TEACHERS);
    let most = most_teachers(input) as f64;
    let teachers = asked.min(most).round().max(1.0);
    Sizes { teachers: teachers as u32, enough: asked <= most, worth: 5.0 * rows / balanced }
}

/// Number of teachers, b, and notes if it is too small or the number of queries too large.
fn choose_teachers(input: &PlanInput<'_>, questions: f64) -> (u32, Vec<Note>) {
    let sizes = sizes(input, questions);
    let mut notes = Vec::new();
    if input.teachers.is_none() && !sizes.enough {
        let mu = gaussian::mu(input.budget.epsilon(), input.budget.delta());
        // n at which the rule leaves 10 rows a class.
        let rows = ((ROWS_A_CLASS as f64) * input.classes as f64).powf(1.5) * 180_f64.sqrt() / mu;
        notes.push(Note::expectation(format!(
            "the table is small for this: with about {rows:.0} rows there would be so many teachers that two votes in three \
             are heard above the noise, and each would still have {ROWS_A_CLASS} rows a class"
        )));
    }
    if input.teachers.is_none() && questions > 2.0 * sizes.worth {
        notes.push(Note::expectation(format!(
            "about {:.0} questions are worth asking of so many rows under this budget: every one adds to the noise on all. \
             Ask about fewer rows (vote: --ask)",
            sizes.worth.max(1.0)
        )));
    }
    (input.teachers.unwrap_or(sizes.teachers), notes)
}

fn count(input: &PlanInput<'_>) -> Result<u32, LearnError> {
    ANSWERS.check(input.questions as f64).map_err(|_| LearnError::NotCovered {
        what: format!("{} questions", input.questions),
        instead: "give at most 10,000,000 questions, or aggregator sparse-vector",
    })?;
    Ok(input.questions as u32)
}

/// Approximate scale at which Gaussian releases of total norm `length` meet the budget.
fn floor(input: &PlanInput<'_>, length: f64) -> f64 {
    let mu = gaussian::mu(input.budget.epsilon(), input.budget.delta());
    0.999 * length / mu
}

/// Plans from public facts alone.
pub(super) fn plan_gnmax(input: &PlanInput<'_>, _: &Gnmax) -> Result<Decision, LearnError> {
    let questions = count(input)?;
    let event = |scale: f64| {
        let event = Box::new(argmax(input, scale).event()?);
        Ok(Event::Repeat { count: questions, event })
    };
    let length = (2.0 * f64::from(questions)).sqrt();
    let scale = input.budget.least_scale(floor(input, length), event)?;
    let (teachers, mut notes) = choose_teachers(input, f64::from(questions));
    notes.extend(loud_noise_note(scale, teachers));
    let aggregate = Plurality { argmax: argmax(input, scale), questions };
    Ok(Decision {
        aggregate: Arc::new(aggregate),
        settled: Aggregator::Gnmax(Gnmax {}),
        teachers,
        notes,
    })
}

/// Note if the noise is of the size of the votes.
fn loud_noise_note(scale: f64, teachers: u32) -> Option<Note> {
    if 4.0 * scale < f64::from(teachers) {
        return None;
    }
    Some(Note::expectation(format!(
        "the noise on votes ({scale:.0}) is large against {teachers} teachers: many labels will be wrong. Ask fewer \
         questions, or give more teachers or a larger epsilon"
    )))
}

/// Plans from public facts alone.
pub(super) fn plan_confident(
    input: &PlanInput<'_>,
    options: &ConfidentGnmax,
) -> Result<Decision, LearnError> {
    let questions = count(input)?;
    let answers = options.answers.unwrap_or(questions.div_ceil(3)).min(questions);
    ANSWERS.check(f64::from(answers))?;
    let agree = AGREE.check(options.agree.unwrap_or(0.8))?;
    let test_ratio = TEST_RATIO.check(options.test_ratio.unwrap_or(3.75))?;
    let tests = f64::from(questions) / (2.0 * test_ratio.powi(2));
    let (teachers, mut notes) = choose_teachers(input, f64::from(answers) + tests);
    // Of the two settled scales that of the test comes first.
    let at = |test_scale: f64| ConfidentArgmax {
        argmax: argmax(input, test_scale / test_ratio),
        threshold: agree * f64::from(teachers),
        test_scale,
    };
    let squares = f64::from(questions) + 2.0 * f64::from(answers) * test_ratio.powi(2);
    let event = |scale: f64| at(scale).events(questions, answers);
    let test_scale = input.budget.least_scale(floor(input, squares.sqrt()), event)?;
    notes.extend(loud_noise_note(test_scale / test_ratio, teachers));
    Ok(Decision {
        aggregate: Arc::new(Confident { confident: at(test_scale), questions, answers }),
        settled: Aggregator::ConfidentGnmax(ConfidentGnmax {
            answers: Some(answers),
            agree: Some(agree),
            test_ratio: Some(test_ratio),
        }),
        teachers,
        notes,
    })
}

/// Plans from public facts alone.
pub(super) fn plan_agreed(
    input: &PlanInput<'_>,
    options: &AgreedGnmax,
) -> Result<Decision, LearnError> {
    let questions = count(input)?;
    let teachers = input.teachers.unwrap_or(most_teachers(input).min(1_000) as u32);
    let (epsilon, delta) = (input.budget.epsilon(), input.budget.delta());
    let noise = VOTE_NOISE.check(options.vote_noise.unwrap_or(f64::from(teachers) / 6.0))?;
    let share = TEST_SHARE.check(options.test_share.unwrap_or(0.25))?;
    let at = |delta: f64| AgreedLabels {
        argmax: argmax(input, noise),
        voters: teachers,
        questions,
        // Slightly less than the budget: the event rounds up.
        test_scale: 1.0 / (share * epsilon),
        label_epsilon: (1.0 - share) * epsilon * (1.0 - 1e-9),
        delta,
    };
    // Increase of δ by noise on a grid, which grows with e^ε.
    let stated = match at(delta / 2.0).event()?.single_cost() {
        Some(Cost::Approximate { delta, .. }) => *delta,
        _ => 1.0,
    };
    let apart = stated - delta / 2.0;
    if apart.is_nan() || apart > delta / 4.0 {
        return Err(LearnError::NotCovered {
            what: format!("aggregator agreed-gnmax at epsilon = {epsilon}"),
            instead: "give a smaller epsilon, below about 15, or aggregator gnmax",
        });
    }
    let agreed = at((delta - apart) * (1.0 - 1e-9));
    Ok(Decision {
        aggregate: Arc::new(Agreed(agreed)),
        settled: Aggregator::AgreedGnmax(AgreedGnmax {
            vote_noise: Some(noise),
            test_share: Some(share),
        }),
        teachers,
        notes: vec![ALL_OR_NONE.into()],
    })
}

const ALL_OR_NONE: Condition = Condition::new(
    "all-or-none",
    "all questions are answered or none is, by a test of how much the teachers agree; the budget is spent either \
     way",
);

#[derive(Debug, Clone, Copy)]
struct Plurality {
    argmax: NoisyArgmax,
    questions: u32,
}

impl Aggregate for Plurality {
    fn event(&self) -> Result<Event, LearnError> {
        Ok(Event::Repeat { count: self.questions, event: Box::new(self.argmax.event()?) })
    }

    fn settings(&self) -> PlanNumbers {
        PlanNumbers::of([("vote_noise", self.argmax.noise_scale)])
    }

    fn refuses(&self, named: &NamedClasses) -> Option<&'static str> {
        named.classes.contains(&None).then_some("a question has no answer")
    }

    fn name(
        &self,
        votes: Ballots,
        _asked: u64,
        _under_way: &mut UnderWay,
        session: &mut Session<'_>,
    ) -> Result<Noisy<NamedClasses>, LearnError> {
        let mut named = Vec::with_capacity(votes.0.len());
        for counts in votes.0 {
            let class = self.argmax.run(Private::new(counts), session)?;
            named.push(class.map(|class| Some(class as u32)));
        }
        Ok(session.gather(named)?.map(super::aggregate::without_choice))
    }
}

#[derive(Debug, Clone, Copy)]
struct Confident {
    confident: ConfidentArgmax,
    questions: u32,
    answers: u32,
}

impl Aggregate for Confident {
    fn event(&self) -> Result<Event, LearnError> {
        Ok(self.confident.events(self.questions, self.answers)?)
    }

    fn settings(&self) -> PlanNumbers {
        PlanNumbers::of([
            ("test_noise", self.confident.test_scale),
            ("vote_noise", self.confident.argmax.noise_scale),
            ("threshold", self.confident.threshold),
            ("answers", f64::from(self.answers)),
        ])
    }

    fn refuses(&self, named: &NamedClasses) -> Option<&'static str> {
        let answers = named.classes.iter().flatten().count();
        (answers > self.answers as usize).then_some("it has more answers than were planned")
    }

    fn name(
        &self,
        votes: Ballots,
        _asked: u64,
        _under_way: &mut UnderWay,
        session: &mut Session<'_>,
    ) -> Result<Noisy<NamedClasses>, LearnError> {
        let named = self.confident.run_all(Private::new(votes.0), self.answers, session)?;
        Ok(named.map(|classes| {
            let class = |class: Option<usize>| class.map(|class| class as u32);
            super::aggregate::without_choice(classes.into_iter().map(class).collect())
        }))
    }
}

#[derive(Debug, Clone, Copy)]
struct Agreed(AgreedLabels);

impl Aggregate for Agreed {
    fn event(&self) -> Result<Event, LearnError> {
        Ok(self.0.event()?)
    }

    fn settings(&self) -> PlanNumbers {
        PlanNumbers::of([
            ("vote_noise", self.0.argmax.noise_scale),
            ("test_noise", self.0.test_scale),
            ("label_epsilon", self.0.label_epsilon),
        ])
    }

    fn refuses(&self, named: &NamedClasses) -> Option<&'static str> {
        let answers = named.classes.iter().flatten().count();
        let some = answers > 0 && answers < named.classes.len();
        some.then_some("it has some answers, where all or none come out")
    }

    fn name(
        &self,
        votes: Ballots,
        _asked: u64,
        _under_way: &mut UnderWay,
        session: &mut Session<'_>,
    ) -> Result<Noisy<NamedClasses>, LearnError> {
        /// No answers at all: the request supplies their number.
        fn none_or_all(named: Option<Vec<usize>>) -> NamedClasses {
            let classes = named.unwrap_or_default().into_iter();
            super::aggregate::without_choice(classes.map(|class| Some(class as u32)).collect())
        }
        Ok(self.0.run(Private::new(votes.0), session)?.map(none_or_all))
    }
}
