//! Audit of private evaluations: their certificate against their behaviour on the worst neighbouring
//! tables.
//!
//! A confident model, and a unit whose records it predicts right in one table and wrong in the other
//! (replace-one), or that is absent from one (add-remove): every part of the sums moves by nearly its
//! whole sensitivity.

pub use crate::sums::Setting;

use crate::AuditError;
use crate::attack::Finding;
use crate::audited::{TargetAttack, audited, plan_and_claim};
use crate::sums::{OTHER_RECORDS, SumsPair, exact_sums};
use privet_core::Budget;
use privet_data::{Dataset, Schema};
use privet_dp::noise::FixedSeed;
use privet_learn::linear::model::Model;
use privet_learn::statistics::evaluate::{Evaluate, Judgements, OutputKind};
use privet_learn::{Erm, Method, Plan, Request, plan};
use privet_optim::loss::Loss;
use std::sync::atomic::AtomicBool;

const COLUMNS: &str =
    "[[columns]]\nname = \"a\"\ntype = \"number\"\nbounds = [-1, 1]\nscale = \"symmetric\"\n";

/// The plan, as a caller of the learner gets it.
fn make_plan(setting: &Setting, budget: Budget) -> Result<Plan<Evaluate>, AuditError> {
    let task = Evaluate {
        model: "0".repeat(64),
        says: OutputKind::Probabilities,
        threshold: None,
        declared_public: false,
    };
    let budget = (budget.epsilon(), Some(budget.delta()));
    let schema = setting.schema(COLUMNS)?;
    Ok(plan(&task.request(&schema, setting.rows(), setting.neighbours, budget)?)?)
}

fn table(setting: &Setting, schema: &Schema, own: (&str, u32)) -> Result<Dataset, AuditError> {
    setting.table(schema, "a,y", ["1,yes", "-1,no"], own)
}

/// A model that predicts yes at 1 with confidence: trained without noise on records that are all so.
fn model(setting: &Setting, schema: &Schema) -> Result<Model, AuditError> {
    let learnt = table(setting, schema, ("1,yes", 0))?;
    let method: Method = "non-private".parse().map_err(AuditError::Learn)?;
    let method = method.with("ridge", "0.001").map_err(AuditError::Learn)?;
    let task = Erm { loss: Loss::Logistic, method };
    let request = Request::new(schema.clone(), u64::from(OTHER_RECORDS), setting.neighbours, task);
    let release = plan(&request)?.run(&learnt, &mut FixedSeed::new(0), &AtomicBool::new(false))?;
    Ok(Model::from_release(release)?)
}

/// Evaluations of two neighbouring tables.
fn pair<'a>(
    setting: &Setting,
    plan: &'a Plan<Evaluate>,
) -> Result<SumsPair<'a, Evaluate>, AuditError> {
    let (schema, form) = (setting.schema(COLUMNS)?, plan.facts());
    let model = model(setting, &schema)?;
    let judged = |own| -> Result<Dataset, AuditError> {
        let data = table(setting, &schema, own)?;
        Ok(Judgements::by_model(&model, &data, form)?.table(form))
    };
    let [one, other] = setting.rows_of_unit(["1,no", "1,yes"], "1,no");
    let worlds = [judged(one)?, judged(other)?];
    let sums = |neighbour: &Dataset| exact_sums(&form.query, &form.labels, neighbour);
    let exact = [sums(&worlds[0])?, sums(&worlds[1])?];
    Ok(SumsPair::new(plan, worlds, exact))
}

audited!(Setting);

fn attack_setting(
    setting: &Setting,
    stated: Budget,
    judge: &TargetAttack<'_>,
) -> Result<Finding, AuditError> {
    let (plan, claim) =
        plan_and_claim(|budget| make_plan(setting, budget), setting.budget, stated)?;
    judge.attack(&pair(setting, &plan)?, &claim)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_worlds_differ_by_nearly_all_that_is_charged() {
        for setting in Setting::all(1.0, 1e-5).unwrap() {
            let plan = make_plan(&setting, setting.budget).unwrap();
            let share = pair(&setting, &plan).unwrap().share_of(plan.facts().shift());
            assert!((0.9..=1.0).contains(&share), "{setting:?}: {share}");
        }
    }
}
