//! The audit of private evaluations: their certificate against their behaviour on the worst neighbours.
//!
//! A model that is sure of itself, and a unit of whose records it is right in one world and wrong in the other
//! (replace-one), or that is not there (add-remove): every part of the sums moves by nearly all that is charged.

use crate::AuditError;
use crate::attack::{self, AttackOptions, Finding};
use crate::planned::{Planned, claimed};
use crate::runs::{Target, Watch, World};
use privet_core::{Budget, Neighbours};
use privet_data::{Dataset, Schema, read};
use privet_dp::noise::{FixedSeed, Source};
use privet_learn::look::evaluate::{Evaluate, Judged, Says};
use privet_learn::model::Model;
use privet_learn::{Erm, Method, Plan, Request, plan};
use privet_optim::loss::Loss;
use privet_optim::sum::{Described, Exact, ExactAnswer, Table};
use std::fmt::Write as _;
use std::sync::atomic::AtomicBool;

/// Records of others.
const OTHERS: u32 = 8;

/// Which evaluation, and what it is to claim.
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

    fn schema(&self) -> Result<Schema, AuditError> {
        let mut text = "[clip]\nnorm = \"l2\"\nradius = 1.0\n[target]\ncolumn = \"y\"\n\
                        classes = [\"no\", \"yes\"]\n"
            .to_string();
        if let Some(most) = self.max_records {
            let _ = write!(text, "[unit]\ncolumn = \"who\"\nmax_records = {most}\n");
        }
        text.push_str(
            "[[columns]]\nname = \"a\"\ntype = \"number\"\nbounds = [-1, 1]\nscale = \"symmetric\"\n",
        );
        Schema::from_toml(&text).map_err(|error| AuditError::Table(error.to_string()))
    }

    /// The plan that anybody would get.
    fn planned(&self, budget: Budget) -> Result<Plan<Evaluate>, AuditError> {
        let task = Evaluate { model: "0".repeat(64), says: Says::Probabilities, threshold: None };
        let rows = u64::from(OTHERS + self.max_records.unwrap_or(1));
        let budget = (budget.epsilon(), Some(budget.delta()));
        Ok(plan(&task.request(&self.schema()?, rows, self.neighbours, budget)?)?)
    }

    /// The unit's records in either world.
    fn own(&self) -> [(&'static str, u32); 2] {
        let most = self.max_records.unwrap_or(1);
        match self.neighbours {
            Neighbours::ReplaceOne | Neighbours::ReplaceLabel => [("1,no", most), ("1,yes", most)],
            Neighbours::AddRemove => [("1,no", 0), ("1,no", most)],
        }
    }

    fn table(&self, schema: &Schema, (own, count): (&str, u32)) -> Result<Dataset, AuditError> {
        let others =
            (0..OTHERS).map(|number| (number + 1, ["1,yes", "-1,no"][number as usize % 2]));
        let users = self.max_records.is_some();
        let mut text = String::from(if users { "a,y,who\n" } else { "a,y\n" });
        for (who, record) in others.chain((0..count).map(|_| (0, own))) {
            let _ = match users {
                true => writeln!(text, "{record},person {who}"),
                false => writeln!(text, "{record}"),
            };
        }
        let read = read::csv_bytes(text.as_bytes(), schema);
        read.map_err(|error| AuditError::Table(error.to_string()))
    }

    /// A model that is sure that 1 is yes: it was learnt from records that are all so, without noise.
    fn model(&self, schema: &Schema) -> Result<Model, AuditError> {
        let learnt = self.table(schema, ("1,yes", 0))?;
        let rows = u64::from(OTHERS);
        let method: Method = "non-private".parse().map_err(AuditError::Learn)?;
        let method = method.with("ridge", "0.001").map_err(AuditError::Learn)?;
        let task = Erm { loss: Loss::Logistic, method };
        let request = Request::new(schema.clone(), rows, self.neighbours, task);
        let release =
            plan(&request)?.run(&learnt, &mut FixedSeed::new(0), &AtomicBool::new(false))?;
        Ok(Model::from_release(release)?)
    }
}

/// Evaluations of two neighbouring tables.
struct Pair<'a> {
    planned: Planned<'a, Evaluate>,
    /// The exact sums of either world.
    exact: [Vec<f64>; 2],
    pure: bool,
}

impl<'a> Pair<'a> {
    fn new(subject: &Subject, plan: &'a Plan<Evaluate>) -> Result<Self, AuditError> {
        let (schema, form) = (subject.schema()?, plan.facts());
        let model = subject.model(&schema)?;
        let judged = |own| -> Result<Dataset, AuditError> {
            let data = subject.table(&schema, own)?;
            Ok(Judged::by_model(&model, &data, form)?.table(form))
        };
        let [one, other] = subject.own();
        let worlds = [judged(one)?, judged(other)?];
        let exact = [sums(plan, &worlds[0])?, sums(plan, &worlds[1])?];
        let direction = exact[1].iter().zip(&exact[0]).map(|(b, a)| b - a).collect();
        let pure = subject.budget.is_pure();
        Ok(Self { planned: Planned::on(plan, worlds, direction), exact, pure })
    }
}

fn sums(plan: &Plan<Evaluate>, data: &Dataset) -> Result<Vec<f64>, AuditError> {
    let broken = |what: &str| AuditError::Table(what.to_string());
    let records = data.problem(&plan.facts().labels).map_err(|error| broken(&error.to_string()))?;
    let question = Exact::Described(plan.facts().question.clone());
    match records.exact(&question).map_err(|error| broken(&error.to_string()))? {
        ExactAnswer::Units(sum) => sum.to_f64(Described::UNIT).ok_or_else(|| broken("no sum")),
        ExactAnswer::Count(_) => Err(broken("no sum")),
    }
}

impl Target for Pair<'_> {
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

/// Audits an evaluation.
pub fn audit(
    subject: &Subject,
    options: &AttackOptions,
    watch: &dyn Watch,
) -> Result<Finding, AuditError> {
    audit_against(subject, subject.budget, options, watch)
}

/// The same, judged by the certificate that it would have with another budget: with a smaller one that
/// certificate is false, and an audit with power refutes it.
pub fn audit_against(
    subject: &Subject,
    stated: Budget,
    options: &AttackOptions,
    watch: &dyn Watch,
) -> Result<Finding, AuditError> {
    let plan = subject.planned(subject.budget)?;
    let claim = claimed(&subject.planned(stated)?)?;
    let claim = claim.ok_or(AuditError::NothingClaimed { method: "evaluate" })?;
    attack::audit(&Pair::new(subject, &plan)?, &claim, options, watch)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_worlds_differ_by_nearly_all_that_is_charged() {
        for subject in Subject::all(1.0, 1e-5).unwrap() {
            let plan = subject.planned(subject.budget).unwrap();
            let moved = Pair::new(&subject, &plan).unwrap().direction().unwrap();
            let length = moved.iter().map(|x| x * x).sum::<f64>().sqrt();
            let share = length / plan.facts().shift();
            assert!((0.9..=1.0).contains(&share), "{subject:?}: {share}");
        }
    }
}
