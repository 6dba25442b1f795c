//! Audit of answers by nearby records: their certificate against their behaviour on the worst
//! neighbouring tables.
//!
//! One unit is near every query, and may vote in [`VOTES`] of the [`QUESTIONS`]; under replace-one it is
//! replaced by one as near, of the other class; under add-remove it is present or absent. So the answers
//! move by exactly the sensitivity that the theorem charges ([`privet_learn::neighbours`]), in
//! the first answers only, and a projection is the best test. Others are near as well, and use up votes
//! of their own.

use crate::AuditError;
use crate::attack::Finding;
use crate::audited::{TargetAttack, audited, plan_and_claim};
use crate::planned_target::PlannedTarget;
use privet_core::{Budget, Neighbours};
use privet_data::{Dataset, Schema, read};
use privet_learn::neighbours::Nearby;
use privet_learn::{Plan, plan};
use std::fmt::Write as _;

/// The number of queries, all at the same point.
pub const QUESTIONS: usize = 6;
/// K, the maximum number of votes of a record.
pub const VOTES: u32 = 2;
/// The number of other units, all near.
const OTHER_UNITS: u32 = 5;

/// Setting of an audit.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Setting {
    /// Budget requested.
    pub budget: Budget,
    /// Neighbour relation.
    pub neighbours: Neighbours,
    /// Maximum records of a user, all of them near; `None` if the unit is a record.
    pub max_records: Option<u32>,
}

impl Setting {
    /// Settings of both relations, with records and with users as units.
    pub fn all(epsilon: f64, delta: f64) -> Result<Vec<Self>, AuditError> {
        let budget = Budget::new(epsilon, delta)?;
        let relations = [Neighbours::ReplaceOne, Neighbours::AddRemove];
        let units = [None, Some(3)];
        let setting = |neighbours, max_records| Self { budget, neighbours, max_records };
        Ok(relations
            .into_iter()
            .flat_map(|relation| units.map(|unit| setting(relation, unit)))
            .collect())
    }

    /// The plan, as a caller of the learner gets it.
    pub fn make_plan(&self, budget: Budget) -> Result<Plan<Nearby>, AuditError> {
        let mut text =
            "bias = false\n[clip]\nnorm = \"l2\"\nradius = 1.0\n[target]\ncolumn = \"y\"\n\
                        classes = [\"no\", \"yes\"]\n"
                .to_string();
        if let Some(most) = self.max_records {
            let _ = write!(text, "[unit]\ncolumn = \"who\"\nmax_records = {most}\n");
        }
        text.push_str("[[columns]]\nname = \"x\"\ntype = \"number\"\nbounds = [0, 1]\n");
        let schema =
            Schema::from_toml(&text).map_err(|error| AuditError::Table(error.to_string()))?;
        // Encoded features of the unit: the last row.
        let there = self.table(&schema, Some("no"))?;
        let place = there.features.select(&[there.rows() - 1; QUESTIONS]);
        let task = Nearby { within: Some(0.25), votes: Some(VOTES), ..Nearby::of(&place) };
        let rows = u64::from(OTHER_UNITS + self.max_records.unwrap_or(1));
        let asked = (budget.epsilon(), Some(budget.delta()));
        Ok(plan(&task.request(&schema, rows, self.neighbours, asked)?)?)
    }

    fn table(&self, schema: &Schema, own: Option<&str>) -> Result<Dataset, AuditError> {
        let users = self.max_records.is_some();
        let mut text = String::from(if users { "who,x,y\n" } else { "x,y\n" });
        let mut row = |who: u32, x: &str, class: &str| {
            let _ = match users {
                true => writeln!(text, "person {who},{x},{class}"),
                false => writeln!(text, "{x},{class}"),
            };
        };
        for other in 1..=OTHER_UNITS {
            row(other, "0.6", ["no", "yes"][other as usize % 2]);
        }
        if let Some(class) = own {
            for _ in 0..self.max_records.unwrap_or(1) {
                row(0, "0.5", class);
            }
        }
        let read = read::csv_bytes(text.as_bytes(), schema);
        read.map_err(|error| AuditError::Table(error.to_string()))
    }

    /// The unit's class in either table; `None` if it is absent.
    fn classes_of_unit(&self) -> [Option<&'static str>; 2] {
        match self.neighbours {
            Neighbours::ReplaceOne | Neighbours::ReplaceLabel => [Some("no"), Some("yes")],
            Neighbours::AddRemove => [None, Some("yes")],
        }
    }

    /// Difference of the answers: one vote in each of the first K.
    fn direction(&self) -> Vec<f64> {
        let no = if self.neighbours == Neighbours::ReplaceOne { -1.0 } else { 0.0 };
        let step = |place: usize| if place < VOTES as usize { [no, 1.0] } else { [0.0, 0.0] };
        (0..QUESTIONS).flat_map(step).collect()
    }
}

audited!(Setting);

fn attack_setting(
    setting: &Setting,
    stated: Budget,
    judge: &TargetAttack<'_>,
) -> Result<Finding, AuditError> {
    let (plan, claim) = plan_and_claim(|budget| setting.make_plan(budget), setting.budget, stated)?;
    let schema = &plan.request().schema;
    let own = setting.classes_of_unit();
    let worlds = [setting.table(schema, own[0])?, setting.table(schema, own[1])?];
    judge.attack(&PlannedTarget::on_tables(&plan, worlds, setting.direction()), &claim)
}
