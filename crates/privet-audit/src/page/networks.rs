//! The page's table of trained networks.

use super::progress::{OTHER_WEIGHT, Progress};
use super::{Page, by_mu, number_in_claim, yes_or_no};
use crate::AuditError;
use crate::attack::AttackOptions;
use crate::networks::{self, Setting};
use std::fmt::Write as _;

/// Budget of the trainings.
const EPSILON: f64 = 12.0;
/// False ε that a single run must refute.
const FALSE_EPSILON: f64 = 1.0;
/// The number of canaries of a single run.
const CANARIES: u64 = 1_000;

/// Settings of the table's rows.
pub(super) fn subjects() -> Result<Vec<Setting>, AuditError> {
    Setting::all(EPSILON, 1e-5)
}

pub(super) fn write_networks_table(
    page: &mut Page,
    options: &AttackOptions,
    progress: &Progress<'_>,
) -> Result<(), AuditError> {
    let _ = writeln!(
        page.text,
        "## Networks\n\nA planted record whose clipped gradient moves every sum by all that is charged, in a direction that \
         is orthogonal to all others' gradients, against one of the other class (replace-one) or none (add-remove). *Half the noise* (of `dp-agd` a quarter): judged by the certificate of \
         the budget that takes twice the noise (four times), which is false. *One run*: the lower bound on ε from a \
         single run with {CANARIES} canaries, nearly all of them in every sample; it must refute the false claim ε = {FALSE_EPSILON} of all \
         but `rrpsgd`, of whose samples a canary is in one of a thousand. Not attacked: the choices of `dp-agd`, a fifth of its \
         budget, and the differences of `dp-srm`, whose direction depends on the noise before; their sensitivities are \
         tested.\n\n\
         | method | neighbours | claimed (ε, δ) | ε at least | by μ | refuted | half the noise refuted | one run |\n\
         |---|---|---|---|---|---|---|---|"
    );
    for setting in subjects()? {
        let float = setting.method.settings().sums.is_some();
        let what = format!(
            "{}{} {}",
            setting.method,
            if float { ", float" } else { "" },
            setting.neighbours
        );
        progress.step(OTHER_WEIGHT, &format!("networks, {what}"));
        let finding = networks::audit(&setting, options, &())?;
        let false_claim = setting.with_more_noise(setting.refutable())?;
        let bold = networks::audit_against(&setting, false_claim, options, &())?;
        let once = networks::one_run(&setting, CANARIES, options.confidence, options.seed)?;
        page.expect(!finding.refuted && !once.refuted, || format!("networks, {what}: refuted"));
        page.expect(!setting.is_sharp() || once.epsilon_lower > FALSE_EPSILON, || {
            format!("networks, {what}: one run does not refute ε = {FALSE_EPSILON}")
        });
        page.expect(bold.refuted, || format!("networks, {what}: too little noise is not refuted"));
        let _ = writeln!(
            page.text,
            "| {}{} | {} | ({}, {}) | {:.3} | {} | {} | {} | {:.3} |",
            setting.method,
            if float { ", float sums" } else { "" },
            setting.neighbours,
            number_in_claim(setting.budget.epsilon()),
            number_in_claim(setting.budget.delta()),
            finding.epsilon_lower,
            by_mu(&finding),
            yes_or_no(finding.refuted),
            yes_or_no(bold.refuted),
            once.epsilon_lower
        );
    }
    page.text.push('\n');
    Ok(())
}
