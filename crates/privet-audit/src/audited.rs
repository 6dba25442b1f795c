//! Audit functions of every kind of setting, written once: against its own claim, or that of another
//! budget.
//!
//! A kind has a `Setting` with a `budget`, and a function `attack_setting` that builds the target and its
//! claim; the attack is the same for all.

use crate::AuditError;
use crate::attack::{self, AttackOptions, Finding};
use crate::claim::Claim;
use crate::planned_target::claim_of_plan;
use crate::runs::{AttackWatch, Target};
use privet_core::Budget;
use privet_learn::{Plan, Task};

/// An attack that is to be made on a target.
pub(crate) struct TargetAttack<'a> {
    pub options: &'a AttackOptions,
    pub watch: &'a dyn AttackWatch,
}

impl TargetAttack<'_> {
    /// Attacks a target and judges a claim.
    pub fn attack(&self, target: &dyn Target, claim: &Claim) -> Result<Finding, AuditError> {
        attack::audit(target, claim, self.options, self.watch)
    }
}

/// Defines `audit` and `audit_against` for the `Setting` of a module.
macro_rules! audited {
    ($setting:ty) => {
        /// Audits a setting against its own certificate.
        pub fn audit(
            setting: &$setting,
            options: &crate::attack::AttackOptions,
            watch: &dyn crate::runs::AttackWatch,
        ) -> Result<crate::attack::Finding, crate::AuditError> {
            audit_against(setting, setting.budget, options, watch)
        }

        /// Audits a setting against the certificate of another budget: with a smaller one that
        /// certificate is false, and an audit with power refutes it.
        pub fn audit_against(
            setting: &$setting,
            stated: privet_core::Budget,
            options: &crate::attack::AttackOptions,
            watch: &dyn crate::runs::AttackWatch,
        ) -> Result<crate::attack::Finding, crate::AuditError> {
            attack_setting(setting, stated, &crate::audited::TargetAttack { options, watch })
        }
    };
}
pub(crate) use audited;

/// The plan of one budget, and the claim of another's plan.
pub(crate) fn plan_and_claim<T: Task>(
    planned: impl Fn(Budget) -> Result<Plan<T>, AuditError>,
    budget: Budget,
    stated: Budget,
) -> Result<(Plan<T>, Claim), AuditError> {
    let claim = claim_of_plan(&planned(stated)?)?;
    let claim = claim.ok_or(AuditError::NothingClaimed { method: T::NAME })?;
    Ok((planned(budget)?, claim))
}
