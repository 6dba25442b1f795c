//! The audit of private counts: their certificate against their behaviour on the worst neighbours.
//!
//! Two categories; under replace-one neighbours a unit with all its k records in the one has its place taken by
//! one with as many in the other, under add-remove it is there or not. So the counts move by exactly what the
//! theorem charges ([`privet_learn::look::count`]), and hardly any of the claim is slack: the ratio of the
//! densities is e^±ε itself for Laplace noise, and a projection is the best test for Gaussian noise.

use crate::AuditError;
use crate::attack::{self, AttackOptions, Finding};
use crate::planned::{Planned, claimed};
use crate::runs::{Target, Watch, World};
use privet_core::{Budget, Neighbours};
use privet_data::{Dataset, Schema, read};
use privet_dp::noise::Source;
use privet_learn::look::count::{Count, Law};
use privet_learn::{Plan, plan};
use std::fmt::Write as _;

/// Records of others, half of them in each category.
const OTHERS: u32 = 8;

/// Which counts, and what they are to claim.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Subject {
    /// The law of the noise.
    pub law: Law,
    /// What is asked for.
    pub budget: Budget,
    /// Under which relation.
    pub neighbours: Neighbours,
    /// The most records of a user; `None` where the unit is a record.
    pub max_records: Option<u32>,
}

impl Subject {
    /// Every law, relation and unit with a budget that they can have.
    pub fn all(epsilon: f64, delta: f64) -> Result<Vec<Self>, AuditError> {
        let mut all = Vec::new();
        for (law, delta) in [(Law::Laplace, 0.0), (Law::Gaussian, delta)] {
            for neighbours in [Neighbours::ReplaceOne, Neighbours::AddRemove] {
                for max_records in [None, Some(3)] {
                    let budget = Budget::new(epsilon, delta)?;
                    all.push(Self { law, budget, neighbours, max_records });
                }
            }
        }
        Ok(all)
    }

    /// The plan that anybody would get.
    fn planned(&self, budget: Budget) -> Result<Plan<Count>, AuditError> {
        let mut text = "[clip]\nnorm = \"l2\"\nradius = 1.0\n[target]\ncolumn = \"y\"\n\
                        classes = [\"no\", \"yes\"]\n"
            .to_string();
        if let Some(most) = self.max_records {
            let _ = write!(text, "[unit]\ncolumn = \"who\"\nmax_records = {most}\n");
        }
        text.push_str(
            "[[columns]]\nname = \"kind\"\ntype = \"category\"\ncategories = [\"a\", \"b\"]\n",
        );
        let schema =
            Schema::from_toml(&text).map_err(|error| AuditError::Table(error.to_string()))?;
        let task = Count { by: "kind".into(), times: None, law: Some(self.law) };
        let rows = u64::from(OTHERS + self.max_records.unwrap_or(1));
        Ok(plan(&task.request(&schema, rows, self.neighbours)?.within(budget))?)
    }

    /// How many records of the unit are in each category, in either world.
    fn own(&self) -> [[u32; 2]; 2] {
        let most = self.max_records.unwrap_or(1);
        match self.neighbours {
            Neighbours::ReplaceOne | Neighbours::ReplaceLabel => [[0, most], [most, 0]],
            Neighbours::AddRemove => [[0, 0], [most, 0]],
        }
    }

    fn table(&self, schema: &Schema, own: [u32; 2]) -> Result<Dataset, AuditError> {
        let others = (0..OTHERS).map(|number| (number + 1, ["a", "b"][number as usize % 2]));
        let mine = (0..own[0]).map(|_| (0, "a")).chain((0..own[1]).map(|_| (0, "b")));
        let mut text =
            String::from(if self.max_records.is_some() { "who,kind,y\n" } else { "kind,y\n" });
        for (who, kind) in others.chain(mine) {
            if self.max_records.is_some() {
                let _ = write!(text, "person {who},");
            }
            let _ = writeln!(text, "{kind},no");
        }
        let read = read::csv_bytes(text.as_bytes(), schema);
        read.map_err(|error| AuditError::Table(error.to_string()))
    }
}

/// Counts on two neighbouring tables.
struct Counted<'a> {
    planned: Planned<'a, Count>,
    /// The exact counts of either world.
    exact: [Vec<f64>; 2],
}

impl<'a> Counted<'a> {
    fn new(subject: &Subject, plan: &'a Plan<Count>) -> Result<Self, AuditError> {
        let own = subject.own();
        let exact = own.map(|own| own.map(|count| f64::from(OTHERS / 2 + count)).to_vec());
        let schema = &plan.request().schema;
        let worlds = [subject.table(schema, own[0])?, subject.table(schema, own[1])?];
        let direction = exact[1].iter().zip(&exact[0]).map(|(b, a)| b - a).collect();
        Ok(Self { planned: Planned::on(plan, worlds, direction), exact })
    }
}

impl Target for Counted<'_> {
    fn release(&self, world: World, source: &mut dyn Source) -> Result<Vec<f64>, AuditError> {
        self.planned.release(world, source)
    }

    fn likelihood_ratio(&self, release: &[f64]) -> Option<f64> {
        if self.planned.plan().request().task.law != Some(Law::Laplace) {
            return None;
        }
        let far = |from: &[f64]| release.iter().zip(from).map(|(a, b)| (a - b).abs()).sum::<f64>();
        Some(far(&self.exact[0]) - far(&self.exact[1]))
    }

    fn direction(&self) -> Option<Vec<f64>> {
        self.planned.direction()
    }
}

/// Audits counts.
pub fn audit(
    subject: &Subject,
    options: &AttackOptions,
    watch: &dyn Watch,
) -> Result<Finding, AuditError> {
    audit_against(subject, subject.budget, options, watch)
}

/// The same, judged by the certificate that they would have with another budget: with a smaller one that
/// certificate is false, and an audit with power refutes it.
pub fn audit_against(
    subject: &Subject,
    stated: Budget,
    options: &AttackOptions,
    watch: &dyn Watch,
) -> Result<Finding, AuditError> {
    let plan = subject.planned(subject.budget)?;
    let claim = claimed(&subject.planned(stated)?)?;
    let claim = claim.ok_or(AuditError::NothingClaimed { method: "count" })?;
    attack::audit(&Counted::new(subject, &plan)?, &claim, options, watch)
}

#[cfg(test)]
mod tests {
    use super::*;
    use privet_optim::sum::{Sums, Table};

    /// The tables are neighbours as far apart as the theorem allows.
    #[test]
    fn the_worlds_differ_by_all_that_is_charged() {
        for subject in Subject::all(1.0, 1e-5).unwrap() {
            let plan = subject.planned(subject.budget).unwrap();
            let counted = Counted::new(&subject, &plan).unwrap();
            let facts = plan.facts();
            let found = counted.planned.worlds().each_ref().map(|world| {
                let records = world.problem(&facts.labels).unwrap();
                let units = records.sum(&facts.question).unwrap().into_units().unwrap();
                units.into_iter().map(|count| count as f64).collect::<Vec<f64>>()
            });
            assert_eq!(found, counted.exact, "{subject:?}");
            let moved = counted.direction().unwrap();
            let absolute: f64 = moved.iter().map(|d| d.abs()).sum();
            let square: f64 = moved.iter().map(|d| d * d).sum();
            assert_eq!(absolute, facts.absolute_shift(), "{subject:?}");
            assert!((square.sqrt() / facts.shift() - 1.0).abs() < 1e-12, "{subject:?}");
        }
    }
}
