//! Releases that are sums under noise, on the worst neighbouring tables: shared by the audits of counts,
//! descriptions and evaluations. A setting is a budget, a relation and a unit; each of the three audits
//! adds a schema, the records and the exact sums.

use crate::AuditError;
use crate::planned_target::PlannedTarget;
use crate::runs::{Neighbour, Target};
use privet_core::{Budget, Neighbours};
use privet_data::{Dataset, Schema, read};
use privet_dp::noise::Source;
use privet_learn::{Plan, Task};
use privet_optim::sum::{Described, Exact, ExactAnswer, Labels, Table};
use std::fmt::Write as _;

/// The number of other records.
pub(crate) const OTHER_RECORDS: u32 = 8;

/// Setting of an audit: a release and its claim.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Setting {
    /// Budget requested; with δ = 0 the noise is Laplace.
    pub budget: Budget,
    /// Neighbour relation.
    pub neighbours: Neighbours,
    /// Maximum records of a user; `None` if the unit is a record.
    pub max_records: Option<u32>,
}

impl Setting {
    /// Settings of both laws, relations and units.
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

    /// The number of records of the unit.
    pub(crate) fn unit_records(&self) -> u32 {
        self.max_records.unwrap_or(1)
    }

    /// The number of records, the unit's included.
    pub(crate) fn rows(&self) -> u64 {
        u64::from(OTHER_RECORDS + self.unit_records())
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

    /// Records of the unit in either table: all are `exchanged` (replace-one), or `there` or absent
    /// (add-remove).
    pub(crate) fn rows_of_unit(
        &self,
        exchanged: [&'static str; 2],
        there: &'static str,
    ) -> [(&'static str, u32); 2] {
        match self.neighbours {
            Neighbours::ReplaceOne | Neighbours::ReplaceLabel => {
                exchanged.map(|record| (record, self.unit_records()))
            }
            Neighbours::AddRemove => [(there, 0), (there, self.unit_records())],
        }
    }

    /// A table of others' records, alternating between two kinds, and `count` of the unit's own.
    pub(crate) fn table(
        &self,
        schema: &Schema,
        header: &str,
        others: [&str; 2],
        (own, count): (&str, u32),
    ) -> Result<Dataset, AuditError> {
        let others = (0..OTHER_RECORDS).map(|number| (number + 1, others[number as usize % 2]));
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
    planned: PlannedTarget<'a, T>,
    /// The exact sums of either table.
    exact: [Vec<f64>; 2],
    pure: bool,
}

impl<'a, T: Task> SumsPair<'a, T> {
    /// Builds the target from these tables and their sums without noise.
    pub fn new(plan: &'a Plan<T>, worlds: [Dataset; 2], exact: [Vec<f64>; 2]) -> Self {
        let direction = exact[1].iter().zip(&exact[0]).map(|(b, a)| b - a).collect();
        let pure = plan.request().budget.is_some_and(|budget| budget.is_pure());
        Self { planned: PlannedTarget::on_tables(plan, worlds, direction), exact, pure }
    }

    /// The sums of either table without noise.
    #[cfg(test)]
    pub fn exact(&self) -> &[Vec<f64>; 2] {
        &self.exact
    }

    /// The two neighbouring tables.
    #[cfg(test)]
    pub fn worlds(&self) -> &[Dataset; 2] {
        self.planned.worlds()
    }

    /// ℓ2 distance of the two sums, relative to the sensitivity charged.
    #[cfg(test)]
    pub fn share_of(&self, charged: f64) -> f64 {
        let moved = self.planned.direction().unwrap_or_default();
        moved.iter().map(|x| x * x).sum::<f64>().sqrt() / charged
    }
}

impl<T: Task> Target for SumsPair<'_, T> {
    fn release(
        &self,
        neighbour: Neighbour,
        source: &mut dyn Source,
    ) -> Result<Vec<f64>, AuditError> {
        self.planned.release(neighbour, source)
    }

    fn likelihood_ratio(&self, release: &[f64]) -> Option<f64> {
        let far = |from: &[f64]| release.iter().zip(from).map(|(a, b)| (a - b).abs()).sum::<f64>();
        self.pure.then(|| far(&self.exact[0]) - far(&self.exact[1]))
    }

    fn direction(&self) -> Option<Vec<f64>> {
        self.planned.direction()
    }
}

/// The sums in the query of a description or an evaluation, without noise.
pub(crate) fn exact_sums(
    query: &Described,
    labels: &Labels,
    data: &Dataset,
) -> Result<Vec<f64>, AuditError> {
    let broken = |what: &str| AuditError::Table(what.to_string());
    let records = data.problem(labels).map_err(|error| broken(&error.to_string()))?;
    let query = Exact::Described(query.clone());
    match records.exact(&query).map_err(|error| broken(&error.to_string()))? {
        ExactAnswer::Units(sum) => sum.to_f64(Described::UNIT).ok_or_else(|| broken("no sum")),
        ExactAnswer::Count(_) => Err(broken("no sum")),
    }
}
