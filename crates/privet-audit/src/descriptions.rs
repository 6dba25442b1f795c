//! Audit of private descriptions: their certificate against their behaviour on the worst neighbouring
//! tables.
//!
//! One unit beside others' records. Under add-remove a unit with all its k records at one corner of the
//! bounds is present or absent: every sum moves by its whole sensitivity, so that hardly any of the
//! claim is slack. Under replace-one it is at the one end of the bounds or at the other: squares and
//! products do not change, and the other sums move by their whole sensitivity.

pub use crate::sums::Setting;

use crate::AuditError;
use crate::attack::Finding;
use crate::audited::{TargetAttack, audited, plan_and_claim};
use crate::sums::{SumsPair, exact_sums};
use privet_core::Budget;
use privet_data::Dataset;
use privet_learn::statistics::describe::Describe;
use privet_learn::{Plan, plan};

const COLUMNS: &str = "[[columns]]\nname = \"a\"\ntype = \"number\"\nbounds = [-1, 1]\n\
                       [[columns]]\nname = \"b\"\ntype = \"number\"\nbounds = [-1, 1]\n";

/// The plan, as a caller of the learner gets it.
fn make_plan(setting: &Setting, budget: Budget) -> Result<Plan<Describe>, AuditError> {
    let schema = setting.schema(COLUMNS)?;
    let task = Describe { bins: Some(2), ..Describe::default() };
    let budget = (budget.epsilon(), Some(budget.delta()));
    Ok(plan(&task.request(&schema, setting.rows(), setting.neighbours, budget)?)?)
}

/// Descriptions of two neighbouring tables.
fn pair<'a>(
    setting: &Setting,
    plan: &'a Plan<Describe>,
) -> Result<SumsPair<'a, Describe>, AuditError> {
    let others = ["0.5,-0.5,no", "0,0,yes"];
    let table = |own| setting.table(plan.schema(), "a,b,y", others, own);
    let [one, other] = setting.rows_of_unit(["-1,1,no", "1,-1,yes"], "1,1,yes");
    let worlds = [table(one)?, table(other)?];
    let layout = plan.facts();
    let sums = |neighbour: &Dataset| exact_sums(&layout.query, &layout.labels, neighbour);
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
    use privet_core::Neighbours;

    /// Add-remove pairs are as far apart as the theorem allows, the others nearly.
    #[test]
    fn the_worlds_differ_by_nearly_all_that_is_charged() {
        for setting in Setting::all(1.0, 1e-5).unwrap() {
            let plan = make_plan(&setting, setting.budget).unwrap();
            let share = pair(&setting, &plan).unwrap().share_of(plan.facts().shift());
            let least = match setting.neighbours {
                Neighbours::AddRemove => 1.0 - 1e-9,
                Neighbours::ReplaceOne | Neighbours::ReplaceLabel => 0.8,
            };
            assert!((least..=1.0).contains(&share), "{setting:?}: {share}");
        }
    }
}
