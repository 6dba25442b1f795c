//! The page's table of phases of b.

use super::progress::{OTHER_WEIGHT, Progress};
use super::{Page, yes_or_no};
use crate::AuditError;
use crate::attack::AttackOptions;
use crate::phase::{self, Released};
use privet_core::Budget;
use std::fmt::Write as _;

/// Methods whose minimiser is linear in b on a table of one column.
pub(super) const PHASES: [&str; 4] = ["objective", "linear", "linear-rotated", "amp"];

pub(super) fn write_phases_section(
    page: &mut Page,
    options: &AttackOptions,
    progress: &Progress<'_>,
) -> Result<(), AuditError> {
    page.text.push_str(
        "## Phase of b\n\nLeast squares in one column at (1, 1e-5), add-remove: is (Σxy − θ(Σx² + λ))/step whole for \
         one table and not for the other? *Bare* is the minimiser bit for bit (fixture, broken).\n\n\
         | method | bare: ε at least | refuted | as released: ε at least | refuted |\n\
         |---|---|---|---|---|\n",
    );
    for name in PHASES {
        progress.step(OTHER_WEIGHT, &format!("phase of b in {name}"));
        let find = |released| {
            let budget = Budget::new(1.0, 1e-5)?;
            phase::audit(&name.parse()?, budget, released, options, &())
        };
        let (bare, planned) = (find(Released::Bare)?, find(Released::AsPlanned)?);
        page.expect(bare.refuted, || format!("phase of b in a bare {name}: not refuted"));
        page.expect(!planned.refuted, || format!("phase of b in {name}: refuted"));
        let _ = writeln!(
            page.text,
            "| {name} | {:.3} | {} | {:.3} | {} |",
            bare.epsilon_lower,
            yes_or_no(bare.refuted),
            planned.epsilon_lower,
            yes_or_no(planned.refuted)
        );
    }
    page.text.push('\n');
    Ok(())
}
