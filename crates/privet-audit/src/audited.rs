//! How a kind of subject is audited, written once: by its own claim, or by that of another budget.
//!
//! A kind has a `Subject` with a `budget`, and says in a function `judged` what is attacked and what is claimed of it; the
//! attack is the same for all.

use crate::AuditError;
use crate::attack::Finding;
use crate::claim::Claim;
use crate::planned::claimed;
use crate::runs::Target;
use privet_core::Budget;
use privet_learn::{Plan, Task};

/// Attacks a target and judges a claim.
pub(crate) type Judge<'a> = &'a dyn Fn(&dyn Target, &Claim) -> Result<Finding, AuditError>;

/// `audit` and `audit_against` of the subjects of a module.
macro_rules! audited {
    ($subject:ty) => {
        /// Audits a subject.
        pub fn audit(
            subject: &$subject,
            options: &crate::attack::AttackOptions,
            watch: &dyn crate::runs::Watch,
        ) -> Result<crate::attack::Finding, crate::AuditError> {
            audit_against(subject, subject.budget, options, watch)
        }

        /// The same, judged by the certificate that it would have with another budget: with a smaller one that
        /// certificate is false, and an audit with power refutes it.
        pub fn audit_against(
            subject: &$subject,
            stated: privet_core::Budget,
            options: &crate::attack::AttackOptions,
            watch: &dyn crate::runs::Watch,
        ) -> Result<crate::attack::Finding, crate::AuditError> {
            judged(subject, stated, &|target, claim| {
                crate::attack::audit(target, claim, options, watch)
            })
        }
    };
}
pub(crate) use audited;

/// The plan of one budget, and what that of another claims.
pub(crate) fn plan_and_claim<T: Task>(
    planned: impl Fn(Budget) -> Result<Plan<T>, AuditError>,
    budget: Budget,
    stated: Budget,
) -> Result<(Plan<T>, Claim), AuditError> {
    let claim = claimed(&planned(stated)?)?;
    let claim = claim.ok_or(AuditError::NothingClaimed { method: T::NAME })?;
    Ok((planned(budget)?, claim))
}
