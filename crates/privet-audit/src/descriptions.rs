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
use crate::audited::{Judge, audited, plan_and_claim};
use crate::sums::{SumsPair, exact_sums};
use privet_core::Budget;
use privet_data::Dataset;
use privet_learn::statistics::describe::Describe;
use privet_learn::{Plan, plan};

const COLUMNS: &str = "[[columns]]\nname = \"a\"\ntype = \"number\"\nbounds = [-1, 1]\n\
                       [[columns]]\nname = \"b\"\ntype = \"number\"\nbounds = [-1, 1]\n";

/// The plan, as a caller of the learner gets it.
fn planned(subject: &Setting, budget: Budget) -> Result<Plan<Describe>, AuditError> {
    let schema = subject.schema(COLUMNS)?;
    let task = Describe { bins: Some(2), ..Describe::default() };
    let budget = (budget.epsilon(), Some(budget.delta()));
    Ok(plan(&task.request(&schema, subject.rows(), subject.neighbours, budget)?)?)
}

/// Descriptions of two neighbouring tables.
fn pair<'a>(
    subject: &Setting,
    plan: &'a Plan<Describe>,
) -> Result<SumsPair<'a, Describe>, AuditError> {
    let others = ["0.5,-0.5,no", "0,0,yes"];
    let table = |own| subject.table(plan.schema(), "a,b,y", others, own);
    let [one, other] = subject.own(["-1,1,no", "1,-1,yes"], "1,1,yes");
    let worlds = [table(one)?, table(other)?];
    let layout = plan.facts();
    let sums = |world: &Dataset| exact_sums(&layout.question, &layout.labels, world);
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
    use privet_core::Neighbours;

    /// Add-remove pairs are as far apart as the theorem allows, the others nearly.
    #[test]
    fn the_worlds_differ_by_nearly_all_that_is_charged() {
        for subject in Setting::all(1.0, 1e-5).unwrap() {
            let plan = planned(&subject, subject.budget).unwrap();
            let share = pair(&subject, &plan).unwrap().share_of(plan.facts().shift());
            let least = match subject.neighbours {
                Neighbours::AddRemove => 1.0 - 1e-9,
                Neighbours::ReplaceOne | Neighbours::ReplaceLabel => 0.8,
            };
            assert!((least..=1.0).contains(&share), "{subject:?}: {share}");
        }
    }
}
