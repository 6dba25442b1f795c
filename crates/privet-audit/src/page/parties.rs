//! The table of sums among parties.

use super::progress::{OTHER, Progress};
use super::{Page, answer, by_mu, short};
use crate::AuditError;
use crate::attack::AttackOptions;
use crate::parties::{self, Subject};
use privet_core::Budget;
use std::fmt::Write as _;

/// What is asked for, and stated where the claim is false.
const EPSILONS: (f64, f64) = (4.0, 2.0);
/// Runs that a Gaussian claim of half its ε takes.
const LEAST_RUNS: u64 = 6_000;

/// Rows of the table.
pub(super) fn subjects() -> Result<Vec<Subject>, AuditError> {
    Subject::all(EPSILONS.0, 1e-5)
}

pub(super) fn shared(
    page: &mut Page,
    options: &AttackOptions,
    progress: &Progress<'_>,
) -> Result<(), AuditError> {
    let (_, stated) = EPSILONS;
    let _ = writeln!(
        page.text,
        "## Sums among parties\n\nWhat all other parties and some of the servers see together of a record of one \
         party: the shares that those servers were sent, their own noise, and all that is opened. *At ε/2*: judged by \
         the certificate for ε = {stated}, which is false.\n\n\
         | servers | counted on as honest | in the coalition | claimed (ε, δ) | ε at least | by μ | refuted | \
         refuted at ε/2 |\n|---|---|---|---|---|---|---|---|"
    );
    let options = AttackOptions { runs: options.runs.max(LEAST_RUNS), ..*options };
    for subject in subjects()? {
        let Subject { among, colluding, budget } = subject;
        let what = format!("{colluding} of {} servers", among.servers);
        progress.step(OTHER, &format!("parties, {what}"));
        let found = parties::audit(&subject, &options, &())?;
        let half = Budget::new(stated, budget.delta())?;
        let bold = parties::audit_against(&subject, half, &options, &())?;
        page.expect(!found.refuted, || format!("parties, {what}: refuted"));
        // Where nobody colludes the noise of all servers is left, which is wider than what is claimed.
        if colluding > 0 {
            page.expect(bold.refuted, || format!("parties, {what}: not refuted at half the ε"));
        }
        let _ = writeln!(
            page.text,
            "| {} | {} | {colluding} | ({}, {}) | {:.3} | {} | {} | {} |",
            among.servers,
            among.honest,
            short(budget.epsilon()),
            short(budget.delta()),
            found.epsilon_lower,
            by_mu(&found),
            answer(found.refuted),
            answer(bold.refuted)
        );
    }
    page.text.push('\n');
    Ok(())
}
