//! Audit of curvatures released for intervals: their event alone, tested by what it adds to a model's
//! file.
//!
//! One column, squares, and targets of 0: a record's ℓ″ is then the same at every θ, so that the
//! column's interval in a file is a function of the noisy curvature alone, and must meet the claim of
//! that event alone, a small part of the whole. The length grows as the curvature falls: an attacker
//! reads the noisy sum off it. Under add-remove a record at the edge of its bounds is present or absent,
//! which moves the sum by the whole sensitivity (and nearly so for centred rows); under replace-one it
//! is at the edge or at 0, which moves it by 1/√2 of the sensitivity.

use crate::AuditError;
use crate::attack::Finding;
use crate::audited::{TargetAttack, audited};
use crate::claim::Claim;
use crate::runs::{Neighbour, Target};
use privet_core::{Budget, Neighbours};
use privet_data::{Dataset, Schema, read};
use privet_dp::account::{self, Event};
use privet_dp::noise::Source;
use privet_learn::{Erm, Method, Plan, Request, plan};
use privet_optim::loss::Loss;
use std::sync::atomic::AtomicBool;

/// Setting of an audit: a learner that releases a curvature.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Setting {
    /// Name of the method.
    pub method: &'static str,
    /// Budget of the whole release.
    pub budget: Budget,
    /// Neighbour relation.
    pub neighbours: Neighbours,
}

/// The number of other records, at half of the bound.
const OTHER_RECORDS: usize = 40;
/// Row count declared under add-remove, where the true one is private: no curvature found is then above
/// the one that noise and step size are planned for.
const DECLARED: u64 = 200;

const SCHEMA: &str = "[clip]\nnorm = \"l2\"\nradius = 1.0\n[target]\ncolumn = \"y\"\nbounds = [-1, 1]\n\
     [[columns]]\nname = \"a\"\ntype = \"number\"\nbounds = [-1, 1]\nscale = \"symmetric\"\n";

impl Setting {
    /// Every learner that releases a curvature, under both relations. Centred rows of one column all
    /// have the maximum norm: replacing one would not be visible.
    pub fn all(epsilon: f64, delta: f64) -> Result<Vec<Self>, AuditError> {
        let budget = Budget::new(epsilon, delta)?;
        let (exchanged, there) = (Neighbours::ReplaceOne, Neighbours::AddRemove);
        let each = [
            ("amp", exchanged),
            ("amp", there),
            ("gd", exchanged),
            ("gd", there),
            ("centred-gd", there),
        ];
        Ok(each.map(|(method, neighbours)| Self { method, budget, neighbours }).to_vec())
    }

    /// The plan, as a caller of the learner gets it.
    fn make_plan(&self, budget: Budget) -> Result<Plan, AuditError> {
        let schema =
            Schema::from_toml(SCHEMA).map_err(|error| AuditError::Table(error.to_string()))?;
        let method = self.method.parse::<Method>()?.with("intervals", "bought")?;
        let method = match self.method {
            "amp" => method.with("ridge", "1")?,
            _ => method.with("steps", "12")?,
        };
        let rows = match self.neighbours {
            Neighbours::AddRemove => DECLARED,
            Neighbours::ReplaceOne | Neighbours::ReplaceLabel => OTHER_RECORDS as u64 + 1,
        };
        let task = Erm { loss: Loss::SQUARED, method };
        Ok(plan(&Request::new(schema, rows, self.neighbours, task).with_budget(budget))?)
    }

    /// The two neighbouring tables.
    fn worlds(&self, schema: &Schema) -> Result<[Dataset; 2], AuditError> {
        let others = format!("a,y\n{}", "0.5,0\n".repeat(OTHER_RECORDS));
        let own = match self.neighbours {
            Neighbours::ReplaceOne | Neighbours::ReplaceLabel => ["0,0\n", "1,0\n"],
            Neighbours::AddRemove => ["", "1,0\n"],
        };
        let table = |own: &str| {
            let read = read::csv_bytes(format!("{others}{own}").as_bytes(), schema);
            read.map_err(|error| AuditError::Table(error.to_string()))
        };
        Ok([table(own[0])?, table(own[1])?])
    }
}

/// Claim of the last event of a plan alone.
fn own_claim(plan: &Plan) -> Result<Claim, AuditError> {
    let nothing = AuditError::NothingClaimed { method: "intervals = bought" };
    let Some(Event::All(events)) = plan.events() else { return Err(nothing) };
    let (Some(own), Some(guarantee)) = (events.last(), plan.guarantee()) else {
        return Err(nothing);
    };
    Claim::certified(&account::guarantee(own, guarantee.delta)?, own)
}

/// Interval lengths in the files of two neighbouring tables.
struct Lengths {
    plan: Plan,
    worlds: [Dataset; 2],
    stop: AtomicBool,
}

impl Target for Lengths {
    fn release(
        &self,
        neighbour: Neighbour,
        source: &mut dyn Source,
    ) -> Result<Vec<f64>, AuditError> {
        let data = &self.worlds[usize::from(neighbour == Neighbour::Second)];
        let (model, _) = self.plan.run(data, source, &self.stop)?.into_parts();
        Ok(model.spread.map(|spread| spread.length).unwrap_or_default())
    }

    fn likelihood_ratio(&self, release: &[f64]) -> Option<f64> {
        release.first().map(|length| -length)
    }
}

audited!(Setting);

/// Against the claim that the curvature's own event would have.
fn attack_setting(
    setting: &Setting,
    stated: Budget,
    judge: &TargetAttack<'_>,
) -> Result<Finding, AuditError> {
    let plan = setting.make_plan(setting.budget)?;
    let claim = own_claim(&setting.make_plan(stated)?)?;
    let worlds = setting.worlds(plan.schema())?;
    judge.attack(&Lengths { plan, worlds, stop: AtomicBool::new(false) }, &claim)
}
