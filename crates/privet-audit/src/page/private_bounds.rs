//! The page's tables of estimates beside a model: schemas by outlines, intervals by curvature.

use super::progress::{OTHER_WEIGHT, Progress};
use super::{Page, by_mu, number_in_claim, yes_or_no};
use crate::attack::{AttackOptions, Finding};
use crate::{AuditError, curvatures, outlines};
use privet_core::Budget;
use std::fmt::Write as _;

/// ε and δ of outlines whose texts others hold, and of texts of one unit alone: there ε is small, so
/// that it does not explain a leak.
const OUTLINE_BUDGETS: (f64, f64, (f64, f64)) = (4.0, 1e-5, (1.0, 0.4));
/// ε and δ of models with a privately estimated curvature: ε is large, since the curvature gets a small
/// share.
const CURVATURE_BUDGET: (f64, f64) = (60.0, 1e-5);
/// Divisor of ε, or of δ, for the false claim.
const FALSE_DIVISOR: f64 = 4.0;
/// Runs that refuting a quarter of the claim takes.
const LEAST_RUNS: u64 = 6_000;

/// The number of rows of both tables.
pub(super) fn rows() -> Result<usize, AuditError> {
    let (epsilon, delta, own) = OUTLINE_BUDGETS;
    let outlined = outlines::Setting::all(epsilon, delta, own)?.len();
    Ok(outlined + curvatures::Setting::all(CURVATURE_BUDGET.0, CURVATURE_BUDGET.1)?.len())
}

/// A row's last cells.
fn finding_cells(sound: &Finding, bold: &Finding) -> String {
    let lower = sound.epsilon_lower;
    format!(
        "{lower:.3} | {} | {} | {}",
        by_mu(sound),
        yes_or_no(sound.refuted),
        yes_or_no(bold.refuted)
    )
}

pub(super) fn write_private_bounds_tables(
    page: &mut Page,
    options: &AttackOptions,
    progress: &Progress<'_>,
) -> Result<(), AuditError> {
    let options = AttackOptions { runs: options.runs.max(LEAST_RUNS), ..*options };
    let _ = writeln!(
        page.text,
        "## Outlines of tables\n\nWhat `privet schema new --epsilon` asks: counts by keys that nobody listed, and totals by kind. A unit's keys \
         are others' as well, and move as many counts as is charged; or nobody else's, with a δ so large that they are seen to be let out. *At a quarter*: judged \
         by the certificate for ε/4, and for δ/4 where keys are nobody else's, which is false.\n\n\
         | neighbours | records a unit | keys | claimed (ε, δ) | ε at least | by μ | refuted | refuted at a quarter |\n\
         |---|---|---|---|---|---|---|---|"
    );
    let (epsilon, delta, own) = OUTLINE_BUDGETS;
    for setting in outlines::Setting::all(epsilon, delta, own)? {
        let outlines::Setting { budget, neighbours, max_records, alone } = setting;
        let whose = if alone { "nobody else's" } else { "others' as well" };
        let what = format!("{neighbours} {} {whose}", max_records.unwrap_or(1));
        progress.step(OTHER_WEIGHT, &format!("outlines, {what}"));
        let less = match alone {
            true => Budget::new(budget.epsilon(), budget.delta() / FALSE_DIVISOR)?,
            false => Budget::new(budget.epsilon() / FALSE_DIVISOR, budget.delta())?,
        };
        let sound = outlines::audit(&setting, &options, &())?;
        let bold = outlines::audit_against(&setting, less, &options, &())?;
        page.expect(!sound.refuted, || format!("outlines, {what}: refuted"));
        page.expect(bold.refuted, || format!("outlines, {what}: not refuted at a quarter"));
        let _ = writeln!(
            page.text,
            "| {neighbours} | {} | {whose} | ({}, {}) | {} |",
            max_records.map_or("1".into(), |most| format!("a user's {most}")),
            number_in_claim(budget.epsilon()),
            number_in_claim(budget.delta()),
            finding_cells(&sound, &bold)
        );
    }
    page.text.push('\n');
    write_curvatures_table(page, &options, progress)
}

fn write_curvatures_table(
    page: &mut Page,
    options: &AttackOptions,
    progress: &Progress<'_>,
) -> Result<(), AuditError> {
    let _ = writeln!(
        page.text,
        "## Curvature for intervals\n\nWhat `intervals = bought` adds to a model's file, judged by the claim of its own event: 4 % of μ² of a model \
         at ε = {}. One column and squares, so that the noised curvature can be read off the file. Replacing a record moves it by 1/√2 of what is \
         charged, adding one by all of it. *At a quarter*: judged by the event of a model at ε/4, which claims too little.\n\n\
         | method | neighbours | ε of its event | ε at least | by μ | refuted | refuted at a quarter |\n|---|---|---|---|---|---|---|",
        number_in_claim(CURVATURE_BUDGET.0)
    );
    for setting in curvatures::Setting::all(CURVATURE_BUDGET.0, CURVATURE_BUDGET.1)? {
        let curvatures::Setting { method, budget, neighbours } = setting;
        progress.step(OTHER_WEIGHT, &format!("curvature, {method} {neighbours}"));
        let less = Budget::new(budget.epsilon() / FALSE_DIVISOR, budget.delta())?;
        let sound = curvatures::audit(&setting, options, &())?;
        let bold = curvatures::audit_against(&setting, less, options, &())?;
        page.expect(!sound.refuted, || format!("curvature, {method} {neighbours}: refuted"));
        page.expect(bold.refuted, || {
            format!("curvature, {method} {neighbours}: not refuted at a quarter")
        });
        let _ = writeln!(
            page.text,
            "| `{method}` | {neighbours} | {:.3} | {} |",
            sound.epsilon_claimed,
            finding_cells(&sound, &bold)
        );
    }
    page.text.push('\n');
    Ok(())
}
