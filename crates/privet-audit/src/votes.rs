//! Audit of labels by votes: certificates against behaviour on sharp neighbouring tables.
//!
//! A query of two classes. All teachers vote for the first, for any records, except the one whose chunk
//! has the canary: it votes for the second. Chunks are drawn by secret coins, and for any chunk of the
//! canary the lead is less by 2 and the distance by 1. The number of teachers places this at the point
//! where an aggregator decides, so that nearly the whole charge of this decision is visible
//! ([`CanaryDecision`]).
//!
//! - An answer, by a sparse vector. Votes: a distance one above the threshold, or at it. Visible: of ε =
//!   1/s₁ + 2/s₂ the first part; the second is for answers that move against each other.
//! - T, by an estimate. Votes: as many dissenters, by the index of their chunk, as put the limit between
//!   two T just below the total with the canary. Visible: its share of ε, unless the canary falls on a
//!   dissenter.
//! - A label. Votes: a lead of 1 against −1 (of one teacher), or of 2 against 0. Visible: all of μ,
//!   since a plurality of two is a threshold on a Gaussian, which is the optimal test.
//! - The test that enough agree. Votes: all of two teachers, or one of them; the test has nearly all of
//!   the budget. Visible: nearly all of μ.
//! - The test that releases labels. Votes: a distance one above that of the test, or at it; the test has
//!   nearly all of ε. Visible: the share of ε.
//!
//! The cost of `agreed-gnmax`'s labels once released is not attacked: its bound is far above the known
//! effect of any votes that pass. It is compared with exact laws in [`privet_dp::account::agreement`].

use crate::AuditError;
use crate::attack::Finding;
use crate::audited::{TargetAttack, audited, plan_and_claim};
use crate::runs::{Neighbour, Target};
use privet_core::{Budget, Neighbours, Unit};
use privet_data::matrix::Matrix;
use privet_data::{Dataset, Schema, read};
use privet_dp::account::agreement::{Agreement, Gaps};
use privet_dp::mechanism::Stability;
use privet_dp::noise::Source;
use privet_learn::votes::{
    Aggregator, Ballot, Teach, Teacher, TrainingData, Vote, with_rows_and_teachers,
};
use privet_learn::{Plan, plan};
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// Setting of an audit: an aggregator and its claim.
#[derive(Debug, Clone, PartialEq)]
pub struct Setting {
    /// The aggregator with its settings.
    pub aggregator: Aggregator,
    /// Decision of the canary's vote.
    pub decides: CanaryDecision,
    /// The number of queries.
    pub questions: u64,
    /// Budget requested.
    pub budget: Budget,
    /// Neighbour relation.
    pub neighbours: Neighbours,
}

/// Decision of the canary's vote.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CanaryDecision {
    /// Answer or no answer of a sparse vector.
    Answers,
    /// The number of unanswered queries after which it ends.
    Estimate,
    /// The class released.
    Label,
    /// Release of any class, or of none.
    Test,
}

impl fmt::Display for CanaryDecision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Answers => "answers",
            Self::Estimate => "estimate",
            Self::Label => "label",
            Self::Test => "test",
        })
    }
}

/// Name, settings available to any user, decision under them and number of queries.
type Case = (&'static str, &'static [(&'static str, &'static str)], CanaryDecision, u64);

const CASES: [Case; 9] = [
    ("sparse-vector", &[("cutoff", "1"), ("query_ratio", "4")], CanaryDecision::Answers, 1),
    // A second threshold after the first query without an answer.
    ("sparse-vector", &[("cutoff", "2"), ("query_ratio", "3")], CanaryDecision::Answers, 8),
    // Noise on both sides: one query alone shows little of its threshold.
    (
        "sparse-vector",
        &[("cutoff", "1"), ("query_ratio", "3"), ("law", "laplace")],
        CanaryDecision::Answers,
        4,
    ),
    ("estimated-sparse-vector", &[("estimate_share", "0.05")], CanaryDecision::Answers, 1),
    ("estimated-sparse-vector", &[("estimate_share", "0.5")], CanaryDecision::Estimate, 2),
    ("gnmax", &[], CanaryDecision::Label, 1),
    ("confident-gnmax", &[("agree", "0.01"), ("answers", "1")], CanaryDecision::Label, 1),
    (
        "confident-gnmax",
        &[("agree", "0.75"), ("answers", "1"), ("test_ratio", "0.25")],
        CanaryDecision::Test,
        1,
    ),
    ("agreed-gnmax", &[("vote_noise", "4"), ("test_share", "0.9")], CanaryDecision::Test, 1),
];

/// Settings of the cases that are also audited for the protection of labels alone.
const LABELS: [&[(&str, &str)]; 2] = [&[("cutoff", "1"), ("query_ratio", "4")], &[]];

/// Votes of all teachers except the canary's.
#[derive(Debug, Clone, Copy)]
struct Shape {
    teachers: u32,
    /// The number of them that vote for the second class.
    against: u32,
}

/// Maximum number of teachers tried in the search for a shape.
const MOST_TEACHERS: u32 = 1_024;

impl Setting {
    /// Settings of every aggregator, at each of its decisions, under both relations; and for labels
    /// alone, by an aggregator of either kind (the tables differ in the canary's label only).
    pub fn all(epsilon: f64, delta: f64) -> Result<Vec<Self>, AuditError> {
        let budget = Budget::new(epsilon, delta)?;
        let mut all = Vec::new();
        for (name, settings, decides, questions) in CASES {
            let set = |how: Aggregator, (name, value): &(&str, &str)| how.with(name, value);
            let aggregator = settings.iter().try_fold(name.parse::<Aggregator>()?, set)?;
            let labels = matches!(decides, CanaryDecision::Answers | CanaryDecision::Label)
                && LABELS.contains(&settings);
            let labels = labels.then_some(Neighbours::ReplaceLabel);
            for neighbours in
                [Neighbours::ReplaceOne, Neighbours::AddRemove].into_iter().chain(labels)
            {
                let aggregator = aggregator.clone();
                all.push(Self { aggregator, decides, questions, budget, neighbours });
            }
        }
        Ok(all)
    }

    /// Name of the aggregator with the settings that distinguish it.
    pub fn name(&self) -> String {
        let written = serde_json::to_value(&self.aggregator).unwrap_or_default();
        let law = written["law"].as_str().map(|law| format!(", {law}")).unwrap_or_default();
        let more = written["cutoff"].as_u64().filter(|cutoff| *cutoff > 1);
        let more = more.map(|cutoff| format!(", {cutoff} thresholds")).unwrap_or_default();
        format!("{}{law}{more}", self.aggregator)
    }

    fn make_plan(&self, budget: Budget, teachers: u32) -> Result<Plan<Vote>, AuditError> {
        let task = Vote {
            teachers: Some(teachers),
            teacher: Teacher::Outside { what: "votes of an audit".into() },
            aggregator: self.aggregator.clone(),
            ..Vote::on(self.questions)
        };
        let (epsilon, delta) = (budget.epsilon(), Some(budget.delta()));
        let rows = u64::from(teachers) + 1;
        Ok(plan(&task.request(&schema()?, rows, self.neighbours, (epsilon, delta))?)?)
    }

    /// The number of teachers, and of those that dissent for any records.
    fn shape(&self) -> Result<Shape, AuditError> {
        let all = |teachers: u32| Shape { teachers, against: 0 };
        Ok(match (self.decides, &self.aggregator) {
            (CanaryDecision::Answers, _) => {
                // ⌈b/2⌉ − 1 is one above the threshold.
                let plan = self.make_plan(self.budget, 1)?;
                let threshold = plan.settings().get("threshold").unwrap_or(0.0);
                all(2 * (threshold as u32 + 2))
            }
            (CanaryDecision::Label, Aggregator::Gnmax(_)) => all(1),
            (CanaryDecision::Test, Aggregator::AgreedGnmax(_)) => all(self.as_far_as_the_test()?),
            (CanaryDecision::Label | CanaryDecision::Test, _) => all(2),
            (CanaryDecision::Estimate, _) => self.at_the_limit()?,
        })
    }

    /// The number of teachers at which all votes are one farther than the test requires, and all but one
    /// just as far.
    fn as_far_as_the_test(&self) -> Result<u32, AuditError> {
        let plan = self.make_plan(self.budget, 1)?;
        let settings = plan.settings();
        let shown = |name: &str| settings.get(name).unwrap_or(f64::NAN);
        let delta = self.budget.delta();
        let (neighbours, noise_scale) = (self.neighbours, shown("test_noise"));
        let test = Stability { neighbours, unit: Unit::Record, noise_scale, delta };
        let agreement = Agreement::new(shown("vote_noise"), MOST_TEACHERS, delta)?;
        let far = |teachers: &u32| {
            let gaps = vec![Gaps::of(&[*teachers, 0]); self.questions as usize];
            agreement.distance(&gaps, shown("label_epsilon")) > test.threshold()
        };
        let found = (1..MOST_TEACHERS).find(far);
        found.ok_or(AuditError::Table("no number of teachers passes the test".into()))
    }

    /// The smallest number of teachers for which two T are planned, and as many dissenters as put the
    /// limit between them just below the dissent with the canary.
    fn at_the_limit(&self) -> Result<Shape, AuditError> {
        let mut teachers = 8;
        while teachers < MOST_TEACHERS {
            let plan = self.make_plan(self.budget, teachers)?;
            if let Aggregator::EstimatedSparseVector(settled) = &plan.request().task.aggregator
                && let [first, _, ..] = &settled.alternatives[..]
                && let Ok(above) = u64::try_from(first.limit + 1)
                && above >= self.questions
                && above.is_multiple_of(self.questions)
            {
                // Each dissenter dissents in all queries.
                let against = above / self.questions - 1;
                return Ok(Shape { teachers, against: against as u32 });
            }
            teachers += (teachers / 16).max(1);
        }
        Err(AuditError::Table("no number of teachers leaves a choice of cutoffs".into()))
    }
}

fn schema() -> Result<Schema, AuditError> {
    let text = "[clip]\nnorm = \"l2\"\nradius = 1.0\n[target]\ncolumn = \"y\"\nclasses = [\"no\", \"yes\"]\n\
         [[columns]]\nname = \"a\"\ntype = \"number\"\nbounds = [-1, 1]\nscale = \"symmetric\"\n";
    Schema::from_toml(text).map_err(|error| AuditError::Table(error.to_string()))
}

/// Rows of class no, except the canary.
fn table(rows: usize, canary: bool) -> Result<Dataset, AuditError> {
    let mut text = String::from("a,y\n");
    (0..rows - usize::from(canary)).for_each(|_| text.push_str("0.5,no\n"));
    if canary {
        text.push_str("0.5,yes\n");
    }
    let read = read::csv_bytes(text.as_bytes(), &schema()?);
    read.map_err(|error| AuditError::Table(error.to_string()))
}

/// Teachers: the canary's and the first `against` ones vote for the second class.
#[derive(Debug)]
struct Voters {
    against: u32,
}

impl Teach for Voters {
    fn ballots(
        &self,
        school: &TrainingData<'_>,
        _go_on: &(dyn Fn() -> bool + Sync),
    ) -> Option<Vec<Ballot>> {
        let marked = |chunk: &Vec<usize>| chunk.iter().any(|row| school.labels()[*row] == 1);
        let ballots = school.chunks.iter().enumerate().map(|(number, chunk)| {
            let class = u32::from(marked(chunk) || (number as u32) < self.against);
            Some(vec![class; school.queries.rows()])
        });
        Some(ballots.collect())
    }
}

/// A vote on two neighbouring tables.
struct VotePair {
    plan: Plan<Vote>,
    worlds: [Dataset; 2],
    stop: AtomicBool,
}

impl Target for VotePair {
    /// The label of every query, −1 for none, and T if it was chosen in the run.
    fn release(
        &self,
        neighbour: Neighbour,
        source: &mut dyn Source,
    ) -> Result<Vec<f64>, AuditError> {
        let data = &self.worlds[usize::from(neighbour == Neighbour::Second)];
        let (labels, _) = self.plan.run(data, source, &self.stop)?.into_parts();
        let questions = self.plan.request().task.queries as usize;
        let label = |class: Option<u32>| class.map_or(-1.0, f64::from);
        let mut released: Vec<f64> = labels.by_row(questions).into_iter().map(label).collect();
        released.push(f64::from(labels.cutoff.unwrap_or(0)));
        Ok(released)
    }
}

audited!(Setting);

fn attack_setting(
    setting: &Setting,
    stated: Budget,
    judge: &TargetAttack<'_>,
) -> Result<Finding, AuditError> {
    let Shape { teachers, against } = setting.shape()?;
    let planned = |budget| setting.make_plan(budget, teachers);
    let (plan, claim) = plan_and_claim(planned, setting.budget, stated)?;
    let rows = plan.request().rows as usize;
    let replaced = setting.neighbours != Neighbours::AddRemove;
    let worlds = [table(rows - usize::from(!replaced), false)?, table(rows, true)?];
    let questions: Matrix = table(setting.questions as usize, false)?.features;
    let plan = with_rows_and_teachers(plan, &questions, Some(Arc::new(Voters { against })))?;
    judge.attack(&VotePair { plan, worlds, stop: AtomicBool::new(false) }, &claim)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The votes are at a decision: one teacher fewer, or one dissenter more, changes it.
    #[test]
    fn votes_are_where_something_is_decided() {
        let all = Setting::all(8.0, 1e-5).unwrap();
        let labels = all.iter().filter(|one| one.neighbours == Neighbours::ReplaceLabel);
        assert_eq!((all.len(), labels.count()), (2 * CASES.len() + LABELS.len(), LABELS.len()));
        for setting in all {
            let Shape { teachers, against } = setting.shape().unwrap();
            let plan = setting.make_plan(setting.budget, teachers).unwrap();
            match (setting.decides, &plan.request().task.aggregator) {
                (CanaryDecision::Answers, _) => {
                    let threshold = plan.settings().get("threshold").unwrap();
                    assert!(threshold > 0.0, "{setting:?}");
                    assert_eq!(f64::from(teachers / 2 - 1), threshold + 1.0, "{setting:?}");
                }
                (CanaryDecision::Estimate, Aggregator::EstimatedSparseVector(settled)) => {
                    let limit = settled.alternatives[0].limit;
                    let dissent = |more: u32| i64::from(against + more) * setting.questions as i64;
                    assert_eq!(limit + 1, dissent(1), "{setting:?}");
                    // The canary rarely falls on a dissenter.
                    assert!(against * 4 < teachers, "{against} of {teachers}: {setting:?}");
                }
                _ => assert!(teachers < 100 && against == 0, "{setting:?}"),
            }
        }
    }
}
