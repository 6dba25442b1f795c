//! Releases that are sums under noise, on the worst neighbours: what the audits of counts, descriptions and evaluations
//! have in common. A subject is a budget, a relation and a unit; each of the three adds a schema, what a record is, and
//! the exact sums.

use crate::AuditError;
use crate::planned::Planned;
use crate::runs::{Target, World};
use privet_core::{Budget, Neighbours};
use privet_data::{Dataset, Schema, read};
use privet_dp::noise::Source;
use privet_learn::{Plan, Task};
use privet_optim::sum::{Described, Exact, ExactAnswer, Labels, Table};
use std::fmt::Write as _;

/// Records of others.
pub(crate) const OTHERS: u32 = 8;

/// Which release, and what it is to claim.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Subject {
    /// What is asked for; without a δ the noise is of Laplace law.
    pub budget: Budget,
    /// Under which relation.
    pub neighbours: Neighbours,
    /// The most records of a user; `None` where the unit is a record.
    pub max_records: Option<u32>,
}

impl Subject {
    /// Both laws, relations and units.
    pub fn all(epsilon: f64, delta: f64) -> Result<Vec<Self>, AuditError> {
        let mut all = Vec::new();
        for delta in [0.0, delta] {
            for neighbours in [Neighbours::ReplaceOne, Neighbours::AddRemove] {
                for max_records in [None, Some(3)] {
                    let budget = Budget::new(epsilon, delta)?;
                    all.push(Self { budget, neighbours, max_records });
                }
            }
        }
        Ok(all)
    }

    /// How many records the unit has.
    pub(crate) fn most(&self) -> u32 {
        self.max_records.unwrap_or(1)
    }

    /// How many records there are, the unit's included.
    pub(crate) fn rows(&self) -> u64 {
        u64::from(OTHERS + self.most())
    }

    /// A schema of two classes with these columns.
    pub(crate) fn schema(&self, columns: &str) -> Result<Schema, AuditError> {
        let mut text = "[clip]\nnorm = \"l2\"\nradius = 1.0\n[target]\ncolumn = \"y\"\n\
                        classes = [\"no\", \"yes\"]\n"
            .to_string();
        if let Some(most) = self.max_records {
            let _ = write!(text, "[unit]\ncolumn = \"who\"\nmax_records = {most}\n");
        }
        text.push_str(columns);
        Schema::from_toml(&text).map_err(|error| AuditError::Table(error.to_string()))
    }

    /// The records of either world: all of the unit's are `exchanged` (replace-one), or `there` or not (add-remove).
    pub(crate) fn own(
        &self,
        exchanged: [&'static str; 2],
        there: &'static str,
    ) -> [(&'static str, u32); 2] {
        match self.neighbours {
            Neighbours::ReplaceOne | Neighbours::ReplaceLabel => {
                exchanged.map(|record| (record, self.most()))
            }
            Neighbours::AddRemove => [(there, 0), (there, self.most())],
        }
    }

    /// Others' records, of two kinds in turn, and so many of the unit's own.
    pub(crate) fn table(
        &self,
        schema: &Schema,
        header: &str,
        others: [&str; 2],
        (own, count): (&str, u32),
    ) -> Result<Dataset, AuditError> {
        let others = (0..OTHERS).map(|number| (number + 1, others[number as usize % 2]));
        let users = self.max_records.is_some();
        let mut text = format!("{header}{}\n", if users { ",who" } else { "" });
        for (who, record) in others.chain((0..count).map(|_| (0, own))) {
            let _ = match users {
                true => writeln!(text, "{record},person {who}"),
                false => writeln!(text, "{record}"),
            };
        }
        let read = read::csv_bytes(text.as_bytes(), schema);
        read.map_err(|error| AuditError::Table(error.to_string()))
    }
}

/// Sums of two neighbouring tables.
pub(crate) struct SumsPair<'a, T: Task> {
    planned: Planned<'a, T>,
    /// The exact sums of either world.
    exact: [Vec<f64>; 2],
    pure: bool,
}

impl<'a, T: Task> SumsPair<'a, T> {
    /// On these tables, whose sums without noise are these.
    pub fn new(plan: &'a Plan<T>, worlds: [Dataset; 2], exact: [Vec<f64>; 2]) -> Self {
        let direction = exact[1].iter().zip(&exact[0]).map(|(b, a)| b - a).collect();
        let pure = plan.request().budget.is_some_and(|budget| budget.is_pure());
        Self { planned: Planned::on(plan, worlds, direction), exact, pure }
    }

    /// The sums of either world without noise.
    #[cfg(test)]
    pub fn exact(&self) -> &[Vec<f64>; 2] {
        &self.exact
    }

    /// The two tables.
    #[cfg(test)]
    pub fn worlds(&self) -> &[Dataset; 2] {
        self.planned.worlds()
    }

    /// How far apart the two worlds are in ℓ2, as a share of what is charged.
    #[cfg(test)]
    pub fn share_of(&self, charged: f64) -> f64 {
        let moved = self.planned.direction().unwrap_or_default();
        moved.iter().map(|x| x * x).sum::<f64>().sqrt() / charged
    }
}

impl<T: Task> Target for SumsPair<'_, T> {
    fn release(&self, world: World, source: &mut dyn Source) -> Result<Vec<f64>, AuditError> {
        self.planned.release(world, source)
    }

    fn likelihood_ratio(&self, release: &[f64]) -> Option<f64> {
        let far = |from: &[f64]| release.iter().zip(from).map(|(a, b)| (a - b).abs()).sum::<f64>();
        self.pure.then(|| far(&self.exact[0]) - far(&self.exact[1]))
    }

    fn direction(&self) -> Option<Vec<f64>> {
        self.planned.direction()
    }
}

/// The sums that a description or an evaluation asks of a table, without noise.
pub(crate) fn exact_sums(
    question: &Described,
    labels: &Labels,
    data: &Dataset,
) -> Result<Vec<f64>, AuditError> {
    let broken = |what: &str| AuditError::Table(what.to_string());
    let records = data.problem(labels).map_err(|error| broken(&error.to_string()))?;
    let question = Exact::Described(question.clone());
    match records.exact(&question).map_err(|error| broken(&error.to_string()))? {
        ExactAnswer::Units(sum) => sum.to_f64(Described::UNIT).ok_or_else(|| broken("no sum")),
        ExactAnswer::Count(_) => Err(broken("no sum")),
    }
}
