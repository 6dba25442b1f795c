//! The audit of curvatures that are bought for intervals: their event by itself, judged by what it adds to a model's file.
//!
//! One column, squares, and targets of 0: a record's ℓ″ is then the same at every θ, so that what a file says of the column's
//! interval is a function of the noised curvature alone, and has to keep to the claim of that event alone, a small part of the
//! whole. The length grows as the curvature falls: an attacker reads the noised sum off it. Under add-remove a record at the edge
//! of its bounds is there or not, which moves the sum by all that is charged (and nearly so of centred rows); under replace-one it is at the
//! edge or at 0, which moves it by 1/√2 of what is charged.

use crate::AuditError;
use crate::attack::{self, AttackOptions, Finding};
use crate::claim::Claim;
use crate::runs::{Target, Watch, World};
use privet_core::{Budget, Neighbours};
use privet_data::{Dataset, Schema, read};
use privet_dp::account::{self, Event};
use privet_dp::noise::Source;
use privet_learn::{Erm, Method, Plan, Request, plan};
use privet_optim::loss::Loss;
use std::sync::atomic::AtomicBool;

/// Which learner buys it, and for what.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Subject {
    /// Its name.
    pub method: &'static str,
    /// Of the whole release.
    pub budget: Budget,
    /// Under which relation.
    pub neighbours: Neighbours,
}

/// Records of others, at half of the bound.
const OTHERS: usize = 40;
/// Declared under add-remove, where nobody knows how many there are: no curvature that is seen is then above what rates are for.
const DECLARED: u64 = 200;

const SCHEMA: &str = "[clip]\nnorm = \"l2\"\nradius = 1.0\n[target]\ncolumn = \"y\"\nbounds = [-1, 1]\n\
     [[columns]]\nname = \"a\"\ntype = \"number\"\nbounds = [-1, 1]\nscale = \"symmetric\"\n";

impl Subject {
    /// Every learner that buys it, under both relations. Centred rows of one column are all as long as any: nothing that replaces one
    /// of them would be seen.
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

    /// The plan that anybody would get.
    fn planned(&self, budget: Budget) -> Result<Plan, AuditError> {
        let schema =
            Schema::from_toml(SCHEMA).map_err(|error| AuditError::Table(error.to_string()))?;
        let method = self.method.parse::<Method>()?.with("intervals", "bought")?;
        let method = match self.method {
            "amp" => method.with("ridge", "1")?,
            _ => method.with("steps", "12")?,
        };
        let rows = match self.neighbours {
            Neighbours::AddRemove => DECLARED,
            Neighbours::ReplaceOne | Neighbours::ReplaceLabel => OTHERS as u64 + 1,
        };
        let task = Erm { loss: Loss::SQUARED, method };
        Ok(plan(&Request::new(schema, rows, self.neighbours, task).within(budget))?)
    }

    /// The two tables.
    fn worlds(&self, schema: &Schema) -> Result<[Dataset; 2], AuditError> {
        let others = format!("a,y\n{}", "0.5,0\n".repeat(OTHERS));
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

/// The last event of a plan, by itself.
fn own_claim(plan: &Plan) -> Result<Claim, AuditError> {
    let nothing = AuditError::NothingClaimed { method: "intervals = bought" };
    let Some(Event::All(events)) = plan.events() else { return Err(nothing) };
    let (Some(own), Some(guarantee)) = (events.last(), plan.guarantee()) else {
        return Err(nothing);
    };
    Claim::certified(&account::guarantee(own, guarantee.delta)?, own)
}

/// What files of two neighbouring tables say of the column's interval.
struct Lengths {
    plan: Plan,
    worlds: [Dataset; 2],
    stop: AtomicBool,
}

impl Target for Lengths {
    fn release(&self, world: World, source: &mut dyn Source) -> Result<Vec<f64>, AuditError> {
        let data = &self.worlds[usize::from(world == World::Second)];
        let (model, _) = self.plan.run(data, source, &self.stop)?.into_parts();
        Ok(model.spread.map(|spread| spread.length).unwrap_or_default())
    }

    fn likelihood_ratio(&self, release: &[f64]) -> Option<f64> {
        release.first().map(|length| -length)
    }
}

/// Audits the curvature that a learner buys.
pub fn audit(
    subject: &Subject,
    options: &AttackOptions,
    watch: &dyn Watch,
) -> Result<Finding, AuditError> {
    audit_against(subject, subject.budget, options, watch)
}

/// The same, judged by what its event would claim with another budget.
pub fn audit_against(
    subject: &Subject,
    stated: Budget,
    options: &AttackOptions,
    watch: &dyn Watch,
) -> Result<Finding, AuditError> {
    let plan = subject.planned(subject.budget)?;
    let claim = own_claim(&subject.planned(stated)?)?;
    let worlds = subject.worlds(plan.schema())?;
    attack::audit(&Lengths { plan, worlds, stop: AtomicBool::new(false) }, &claim, options, watch)
}
