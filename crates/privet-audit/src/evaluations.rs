//! Audit of private evaluations: their certificate against their behaviour on the worst neighbouring
//! tables.
//!
//! A confident model, and a unit whose records it predicts right in one table and wrong in the other
//! (replace-one), or that is absent from one (add-remove): every part of the sums moves by nearly its
//! whole sensitivity.

pub use crate::sums::Setting;

use crate::AuditError;
use crate::attack::Finding;
use crate::audited::{Judge, audited, plan_and_claim};
use crate::sums::{OTHERS, SumsPair, exact_sums};
use privet_core::Budget;
use privet_data::{Dataset, Schema};
use privet_dp::noise::FixedSeed;
use privet_learn::linear::model::Model;
use privet_learn::statistics::evaluate::{Evaluate, Judged, Says};
use privet_learn::{Erm, Method, Plan, Request, plan};
use privet_optim::loss::Loss;
use std::sync::atomic::AtomicBool;

const COLUMNS: &str =
    "[[columns]]\nname = \"a\"\ntype = \"number\"\nbounds = [-1, 1]\nscale = \"symmetric\"\n";

/// The plan, as a caller of the learner gets it.
fn planned(subject: &Setting, budget: Budget) -> Result<Plan<Evaluate>, AuditError> {
    let task = Evaluate {
        model: "0".repeat(64),
        says: Says::Probabilities,
        threshold: None,
        declared_public: false,
    };
    let budget = (budget.epsilon(), Some(budget.delta()));
    let schema = subject.schema(COLUMNS)?;
    Ok(plan(&task.request(&schema, subject.rows(), subject.neighbours, budget)?)?)
}

fn table(subject: &Setting, schema: &Schema, own: (&str, u32)) -> Result<Dataset, AuditError> {
    subject.table(schema, "a,y", ["1,yes", "-1,no"], own)
}

/// A model that predicts yes at 1 with confidence: trained without noise on records that are all so.
fn model(subject: &Setting, schema: &Schema) -> Result<Model, AuditError> {
    let learnt = table(subject, schema, ("1,yes", 0))?;
    let method: Method = "non-private".parse().map_err(AuditError::Learn)?;
    let method = method.with("ridge", "0.001").map_err(AuditError::Learn)?;
    let task = Erm { loss: Loss::Logistic, method };
    let request = Request::new(schema.clone(), u64::from(OTHERS), subject.neighbours, task);
    let release = plan(&request)?.run(&learnt, &mut FixedSeed::new(0), &AtomicBool::new(false))?;
    Ok(Model::from_release(release)?)
}

/// Evaluations of two neighbouring tables.
fn pair<'a>(
    subject: &Setting,
    plan: &'a Plan<Evaluate>,
) -> Result<SumsPair<'a, Evaluate>, AuditError> {
    let (schema, form) = (subject.schema(COLUMNS)?, plan.facts());
    let model = model(subject, &schema)?;
    let judged = |own| -> Result<Dataset, AuditError> {
        let data = table(subject, &schema, own)?;
        Ok(Judged::by_model(&model, &data, form)?.table(form))
    };
    let [one, other] = subject.own(["1,no", "1,yes"], "1,no");
    let worlds = [judged(one)?, judged(other)?];
    let sums = |world: &Dataset| exact_sums(&form.question, &form.labels, world);
    let exact = [sums(&worlds[0])?, sums(&worlds[1])?];
    Ok(SumsPair::new(plan, worlds, exact))
}

audited!(Setting);

fn judged(subject: &Setting, stated: Budget, judge: Judge<'_>) -> Result<Finding, AuditError> {
    let (plan, claim) = plan_and_claim(|budget| planned(subject, budget), subject.budget, stated)?;
    judge(&pair(subject, &plan)?, &claim)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_worlds_differ_by_nearly_all_that_is_charged() {
        for subject in Setting::all(1.0, 1e-5).unwrap() {
            let plan = planned(&subject, subject.budget).unwrap();
            let share = pair(&subject, &plan).unwrap().share_of(plan.facts().shift());
            assert!((0.9..=1.0).contains(&share), "{subject:?}: {share}");
        }
    }
}
