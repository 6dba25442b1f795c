//! Audit of tuned models: their certificate against the effect of one record on the best of many trials.
//!
//! Few records, of which one at the corner of its bounds is present or absent, or has the other class.
//! It affects every trial's training and score. The price of the best of a random number of runs is a
//! bound for any mechanism, so that much of the claim is slack here: a tuning must not be refuted, and
//! its certificate for a twentieth of ε must be.

use crate::AuditError;
use crate::attack::Finding;
use crate::audited::{TargetAttack, audited, plan_and_claim};
use crate::planned_target::PlannedTarget;
use crate::runs::{Neighbour, Target};
use privet_core::{Budget, Neighbours};
use privet_data::{Dataset, Schema, read};
use privet_dp::noise::Source;
use privet_learn::tuning::{Law, Tune};
use privet_learn::{Method, Plan, Request, RequestOptions, plan};

/// Setting of an audit: a tuning and its claim.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Setting {
    /// The law of the number of trials.
    pub law: Law,
    /// Budget requested.
    pub budget: Budget,
    /// Neighbour relation.
    pub neighbours: Neighbours,
}

const SCHEMA: &str = "[clip]\nnorm = \"l2\"\nradius = 1.0\n[target]\ncolumn = \"y\"\nclasses = [\"no\", \"yes\"]\n\
     [[columns]]\nname = \"a\"\ntype = \"number\"\nbounds = [-1, 1]\nscale = \"symmetric\"\n";

impl Setting {
    /// Settings of every law under both relations.
    pub fn all(epsilon: f64, delta: f64) -> Result<Vec<Self>, AuditError> {
        let budget = Budget::new(epsilon, delta)?;
        let laws = [Law::Poisson, Law::Geometric, Law::Logarithmic];
        let relations = [Neighbours::ReplaceOne, Neighbours::AddRemove];
        let each = laws.into_iter().flat_map(|law| relations.map(|neighbours| (law, neighbours)));
        Ok(each.map(|(law, neighbours)| Self { law, budget, neighbours }).collect())
    }

    /// The plan, as a caller of the learner gets it.
    fn make_plan(&self, budget: Budget) -> Result<Plan<Tune>, AuditError> {
        let schema =
            Schema::from_toml(SCHEMA).map_err(|error| AuditError::Table(error.to_string()))?;
        let gd: Method = "gd".parse()?;
        let candidates = vec![gd.with("steps", "1")?, gd.with("steps", "2")?];
        let words = RequestOptions {
            epsilon: Some(budget.epsilon()),
            delta: Some(budget.delta()),
            neighbours: self.neighbours,
            ..RequestOptions::of(gd)
        };
        let request = Tune::request(&schema, 5, &words, candidates)?;
        let task = Tune { trials: Some(4.0), law: Some(self.law), ..request.task.clone() };
        Ok(plan(&Request { task, ..request })?)
    }

    /// The two neighbouring tables: four records of others, and the one under attack.
    fn worlds(&self, schema: &Schema) -> Result<[Dataset; 2], AuditError> {
        let others = "a,y\n0.2,yes\n-0.2,no\n0.1,no\n-0.1,yes\n";
        let own = match self.neighbours {
            Neighbours::ReplaceOne | Neighbours::ReplaceLabel => ["1,no\n", "1,yes\n"],
            Neighbours::AddRemove => ["", "1,yes\n"],
        };
        let table = |own: &str| {
            let read = read::csv_bytes(format!("{others}{own}").as_bytes(), schema);
            read.map_err(|error| AuditError::Table(error.to_string()))
        };
        Ok([table(own[0])?, table(own[1])?])
    }
}

/// Tunings on two neighbouring tables; a tuning without a trial gives a weight of 0.
struct TuningPair<'a>(PlannedTarget<'a, Tune>);

impl Target for TuningPair<'_> {
    fn release(
        &self,
        neighbour: Neighbour,
        source: &mut dyn Source,
    ) -> Result<Vec<f64>, AuditError> {
        let mut found = self.0.release(neighbour, source)?;
        found.resize(1, 0.0);
        Ok(found)
    }

    fn direction(&self) -> Option<Vec<f64>> {
        Some(vec![1.0])
    }
}

audited!(Setting);

fn attack_setting(
    setting: &Setting,
    stated: Budget,
    judge: &TargetAttack<'_>,
) -> Result<Finding, AuditError> {
    let (plan, claim) = plan_and_claim(|budget| setting.make_plan(budget), setting.budget, stated)?;
    let worlds = setting.worlds(plan.schema())?;
    judge.attack(&TuningPair(PlannedTarget::on_tables(&plan, worlds, vec![1.0])), &claim)
}
