//! The audit of labels by votes: certificates against behaviour on sharp neighbours.
//!
//! A question of two classes, teachers of which so many vote for the first that the winner is a little short of what is
//! released by itself, whatever their records; the one whose chunk the canary is in votes for the second class. Where it
//! would have voted for the first, as most would, the lead moves by 2 between the worlds, the distance by 1. Several questions
//! are asked with the same votes: the sparse vector's threshold is shared by them, and an answer to each of many
//! tells more than one.

use crate::AuditError;
use crate::attack::{self, AttackOptions, Finding};
use crate::planned::claimed;
use crate::runs::{Target, Watch, World};
use privet_core::{Budget, Neighbours};
use privet_data::matrix::Matrix;
use privet_data::{Dataset, Schema, read};
use privet_dp::noise::Source;
use privet_learn::transfer::{Aggregator, Ballot, School, Teach, Teacher, Vote, taught};
use privet_learn::{Plan, plan};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// Which aggregator, and what it is to claim.
#[derive(Debug, Clone, PartialEq)]
pub struct Subject {
    /// The aggregator with its settings.
    pub aggregator: Aggregator,
    /// What is asked for.
    pub budget: Budget,
    /// Under which relation.
    pub neighbours: Neighbours,
}

/// Records of others, two a chunk or so.
const OTHERS: usize = 400;
/// Teachers, where their number is not that of a distance.
const TEACHERS: u32 = 200;
/// Questions.
const QUESTIONS: u64 = 4;

impl Subject {
    /// Every aggregator, the sparse vector by both laws, under both relations.
    pub fn all(epsilon: f64, delta: f64) -> Result<Vec<Self>, AuditError> {
        let mut all = Vec::new();
        for (name, settings) in [
            ("sparse-vector", &[("cutoff", "1")][..]),
            ("sparse-vector", &[("cutoff", "2"), ("law", "laplace")]),
            ("estimated-sparse-vector", &[]),
            ("gnmax", &[]),
            ("confident-gnmax", &[("agree", "0.55"), ("answers", "4")]),
            ("agreed-gnmax", &[("vote_noise", "20")]),
        ] {
            let set = |how: Aggregator, (name, value): &(&str, &str)| how.with(name, value);
            let aggregator = settings.iter().try_fold(name.parse::<Aggregator>()?, set)?;
            for neighbours in [Neighbours::ReplaceOne, Neighbours::AddRemove] {
                let budget = Budget::new(epsilon, delta)?;
                all.push(Self { aggregator: aggregator.clone(), budget, neighbours });
            }
        }
        Ok(all)
    }

    /// Its name and what tells it from others of that name.
    pub fn name(&self) -> String {
        let law = serde_json::to_value(&self.aggregator).unwrap_or_default();
        let law = law["law"].as_str().map(|law| format!(", {law}"));
        format!("{}{}", self.aggregator, law.unwrap_or_default())
    }

    fn planned(&self, budget: Budget, teachers: u32) -> Result<Plan<Vote>, AuditError> {
        let task = Vote {
            teachers: Some(teachers),
            teacher: Teacher::Outside { what: "votes of an audit".into() },
            aggregator: self.aggregator.clone(),
            ..Vote::on(QUESTIONS)
        };
        let (epsilon, delta) = (budget.epsilon(), Some(budget.delta()));
        let rows = OTHERS as u64 + 1;
        Ok(plan(&task.request(&schema()?, rows, self.neighbours, (epsilon, delta))?)?)
    }
}

fn schema() -> Result<Schema, AuditError> {
    let text = "[clip]\nnorm = \"l2\"\nradius = 1.0\n[target]\ncolumn = \"y\"\nclasses = [\"no\", \"yes\"]\n\
         [[columns]]\nname = \"a\"\ntype = \"number\"\nbounds = [-1, 1]\nscale = \"symmetric\"\n";
    Schema::from_toml(text).map_err(|error| AuditError::Table(error.to_string()))
}

/// Rows of class no, but for the canary.
fn table(rows: usize, canary: bool) -> Result<Dataset, AuditError> {
    let mut text = String::from("a,y\n");
    (0..rows - usize::from(canary)).for_each(|_| text.push_str("0.5,no\n"));
    if canary {
        text.push_str("0.5,yes\n");
    }
    let read = read::csv_bytes(text.as_bytes(), &schema()?);
    read.map_err(|error| AuditError::Table(error.to_string()))
}

/// So many of the others vote for the first class; who has the canary votes for the second.
#[derive(Debug)]
struct Voters {
    first: u32,
}

impl Teach for Voters {
    fn ballots(
        &self,
        school: &School<'_>,
        _go_on: &(dyn Fn() -> bool + Sync),
    ) -> Option<Vec<Ballot>> {
        let marked = |chunk: &Vec<usize>| chunk.iter().any(|row| school.labels()[*row] == 1);
        let ballots = school.chunks.iter().enumerate().map(|(number, chunk)| {
            let class = u32::from(marked(chunk) || number as u32 >= self.first);
            Some(vec![class; school.queries.rows()])
        });
        Some(ballots.collect())
    }
}

/// A vote on two neighbouring tables.
struct Voted {
    plan: Plan<Vote>,
    worlds: [Dataset; 2],
    stop: AtomicBool,
}

impl Target for Voted {
    /// How many questions the first class, and the second, was named for.
    fn release(&self, world: World, source: &mut dyn Source) -> Result<Vec<f64>, AuditError> {
        let data = &self.worlds[usize::from(world == World::Second)];
        let (labels, _) = self.plan.run(data, source, &self.stop)?.into_parts();
        let named =
            |class: i32| labels.labels.iter().filter(|label| **label == class).count() as f64;
        Ok(vec![named(0), named(1)])
    }

    fn direction(&self) -> Option<Vec<f64>> {
        Some(vec![-1.0, 1.0])
    }
}

/// Audits labels by votes.
pub fn audit(
    subject: &Subject,
    options: &AttackOptions,
    watch: &dyn Watch,
) -> Result<Finding, AuditError> {
    audit_against(subject, subject.budget, options, watch)
}

/// The same, judged by the certificate that it would have with another budget.
pub fn audit_against(
    subject: &Subject,
    stated: Budget,
    options: &AttackOptions,
    watch: &dyn Watch,
) -> Result<Finding, AuditError> {
    let threshold = subject.planned(subject.budget, TEACHERS)?.settings().get("threshold");
    // For the sparse vector a distance one above the threshold, and hardly anybody who votes otherwise: wherever the canary's
    // chunk is, the lead is then less by 2. For the others a narrow lead.
    let (lead, teachers) = match subject.aggregator.name() {
        "sparse-vector" | "estimated-sparse-vector" => {
            let lead = threshold.unwrap_or(0.0) as u32 + 2;
            (lead, 2 * lead + 2)
        }
        _ => (1, TEACHERS),
    };
    let plan = subject.planned(subject.budget, teachers)?;
    let claim = claimed(&subject.planned(stated, teachers)?)?;
    let claim = claim.ok_or(AuditError::NothingClaimed { method: "vote" })?;
    let rows = plan.request().rows as usize;
    let replaced = subject.neighbours == Neighbours::ReplaceOne;
    let worlds = [table(rows - usize::from(!replaced), false)?, table(rows, true)?];
    let questions: Matrix = table(QUESTIONS as usize, false)?.features;
    let voters = Voters { first: (teachers / 2 + lead).min(teachers) };
    let plan = taught(plan, &questions, Some(Arc::new(voters)))?;
    attack::audit(&Voted { plan, worlds, stop: AtomicBool::new(false) }, &claim, options, watch)
}
