//! Audit of private counts: their certificate against their behaviour on the worst neighbouring tables.
//!
//! Two categories; under replace-one a unit with all its k records in the one is replaced by one with as
//! many in the other, under add-remove it is present or absent. So the counts move by exactly the
//! sensitivity that the theorem charges ([`privet_learn::statistics::count`]), and hardly any of the claim is
//! slack: the ratio of the densities is e^±ε itself for Laplace noise, and a projection is the best test
//! for Gaussian noise.

pub use crate::sums::Setting;

use crate::AuditError;
use crate::attack::Finding;
use crate::audited::{TargetAttack, audited, plan_and_claim};
use crate::sums::{OTHER_RECORDS, SumsPair};
use privet_core::Budget;
use privet_learn::statistics::count::{Count, Law};
use privet_learn::{Plan, plan};

const COLUMNS: &str =
    "[[columns]]\nname = \"kind\"\ntype = \"category\"\ncategories = [\"a\", \"b\"]\n";

/// The law of the noise for a setting's counts.
pub fn law(setting: &Setting) -> Law {
    if setting.budget.is_pure() { Law::Laplace } else { Law::Gaussian }
}

/// The plan, as a caller of the learner gets it.
fn make_plan(setting: &Setting, budget: Budget) -> Result<Plan<Count>, AuditError> {
    let schema = setting.schema(COLUMNS)?;
    let task = Count { by: "kind".into(), times: None, law: Some(law(setting)) };
    Ok(plan(&task.request(&schema, setting.rows(), setting.neighbours)?.with_budget(budget))?)
}

/// Counts on two neighbouring tables.
fn pair<'a>(setting: &Setting, plan: &'a Plan<Count>) -> Result<SumsPair<'a, Count>, AuditError> {
    let table = |own| setting.table(plan.schema(), "kind,y", ["a,no", "b,no"], own);
    let own = setting.rows_of_unit(["b,no", "a,no"], "a,no");
    let worlds = [table(own[0])?, table(own[1])?];
    let half = f64::from(OTHER_RECORDS / 2);
    let exact = own.map(|(record, count)| {
        ["a,no", "b,no"].map(|kind| half + f64::from(u32::from(kind == record) * count)).to_vec()
    });
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
    use crate::runs::Target;
    use privet_optim::sum::{Sums, Table};

    /// The tables are neighbours as far apart as the theorem allows.
    #[test]
    fn the_worlds_differ_by_all_that_is_charged() {
        for setting in Setting::all(1.0, 1e-5).unwrap() {
            let plan = make_plan(&setting, setting.budget).unwrap();
            let counted = pair(&setting, &plan).unwrap();
            let facts = plan.facts();
            let found = counted.worlds().each_ref().map(|neighbour| {
                let records = neighbour.problem(&facts.labels).unwrap();
                let units = records.sum(&facts.query).unwrap().into_units().unwrap();
                units.into_iter().map(|count| count as f64).collect::<Vec<f64>>()
            });
            assert_eq!(found, *counted.exact(), "{setting:?}");
            let moved = counted.direction().unwrap();
            let absolute: f64 = moved.iter().map(|d| d.abs()).sum();
            assert_eq!(absolute, facts.absolute_shift(), "{setting:?}");
            assert!((counted.share_of(facts.shift()) - 1.0).abs() < 1e-12, "{setting:?}");
        }
    }
}
