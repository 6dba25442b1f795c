//! The tables of private descriptions and of tuned models.

use super::progress::{OTHER, Progress};
use super::{Page, answer, by_mu, short};
use crate::AuditError;
use crate::attack::AttackOptions;
use crate::{descriptions, tunings};
use privet_core::Budget;
use std::fmt::Write as _;

/// What is asked for, and stated where the claim is false.
const EPSILONS: (f64, f64) = (4.0, 2.0);
/// Runs that a claim of half its ε takes.
const LEAST_RUNS: u64 = 6_000;

/// Rows of both tables.
pub(super) fn rows() -> Result<usize, AuditError> {
    let described = descriptions::Subject::all(EPSILONS.0, 1e-5)?.len();
    Ok(described + tunings::Subject::all(2.0 * EPSILONS.0, 1e-5)?.len())
}

pub(super) fn descriptions(
    page: &mut Page,
    options: &AttackOptions,
    progress: &Progress<'_>,
) -> Result<(), AuditError> {
    let (_, stated) = EPSILONS;
    let _ = writeln!(
        page.text,
        "## Descriptions\n\nA unit's records all at one corner of the bounds, against another's at the other (replace-one, \
         which moves a part of the sums) or nobody's (add-remove, which moves all of them by all that is charged; Laplace \
         noise, δ = 0, on many sums shows all of its ε in rare events alone). *At ε/2*: judged by the certificate for ε = {stated}, which is false.\n\n\
         | neighbours | records a unit | claimed (ε, δ) | ε at least | by μ | refuted | refuted at ε/2 |\n\
         |---|---|---|---|---|---|---|"
    );
    let options = AttackOptions { runs: options.runs.max(LEAST_RUNS), ..*options };
    for subject in descriptions::Subject::all(EPSILONS.0, 1e-5)? {
        let descriptions::Subject { budget, neighbours, max_records } = subject;
        let what = format!("{neighbours} {} {}", max_records.unwrap_or(1), short(budget.delta()));
        progress.step(OTHER, &format!("descriptions, {what}"));
        let found = descriptions::audit(&subject, &options, &())?;
        let half = Budget::new(stated, budget.delta())?;
        let bold = descriptions::audit_against(&subject, half, &options, &())?;
        page.expect(!found.refuted, || format!("descriptions, {what}: refuted"));
        // Laplace noise on many sums shows all of its ε in rare events alone.
        let sharp = neighbours == privet_core::Neighbours::AddRemove && !budget.is_pure();
        page.expect(bold.refuted || !sharp, || {
            format!("descriptions, {what}: not refuted at half the ε")
        });
        let _ = writeln!(
            page.text,
            "| {neighbours} | {} | ({}, {}) | {:.3} | {} | {} | {} |",
            max_records.map_or("1".into(), |most| format!("a user's {most}")),
            short(budget.epsilon()),
            short(budget.delta()),
            found.epsilon_lower,
            by_mu(&found),
            answer(found.refuted),
            answer(bold.refuted)
        );
    }
    page.text.push('\n');
    tuned(page, &options, progress)
}

fn tuned(
    page: &mut Page,
    options: &AttackOptions,
    progress: &Progress<'_>,
) -> Result<(), AuditError> {
    let _ = writeln!(
        page.text,
        "## Tuned models\n\nThe best of about four trials of two candidates on five records, of which one changes. The price of \
         tuning is a bound for any mechanism, so that much of it is slack here.\n\n\
         | law of the trials | neighbours | claimed (ε, δ) | ε at least | refuted |\n|---|---|---|---|---|"
    );
    for subject in tunings::Subject::all(2.0 * EPSILONS.0, 1e-5)? {
        let tunings::Subject { law, budget, neighbours } = subject;
        let what = format!("{law:?} {neighbours}");
        progress.step(OTHER, &format!("tuned models, {what}"));
        let found = tunings::audit(&subject, options, &())?;
        page.expect(!found.refuted, || format!("tuned models, {what}: refuted"));
        let _ = writeln!(
            page.text,
            "| {} | {neighbours} | ({}, {}) | {:.3} | {} |",
            format!("{law:?}").to_lowercase(),
            short(budget.epsilon()),
            short(budget.delta()),
            found.epsilon_lower,
            answer(found.refuted)
        );
    }
    page.text.push('\n');
    Ok(())
}
