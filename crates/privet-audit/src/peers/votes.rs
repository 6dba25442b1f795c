//! Labels by votes: what PATE's published settings cost whatever the votes.

use super::{number, short};
use crate::AuditError;
use privet_core::{Neighbours, Unit};
use privet_dp::account::{self, concentrated};
use privet_dp::mechanism::{ConfidentArgmax, NoisyArgmax};
use privet_learn::LearnError;
use std::fmt::Write as _;

/// δ of the published figures.
const DELTA: f64 = 1e-5;

/// ε of so many questions, of which so many are answered, at these scales: by the exact curve, and by moments with the
/// conversion that was usual then.
fn costs(
    (questions, answers): (u32, u32),
    (test_scale, noise_scale): (f64, f64),
) -> Result<(f64, f64), AuditError> {
    let (neighbours, unit) = (Neighbours::AddRemove, Unit::Record);
    let argmax = NoisyArgmax { neighbours, unit, noise_scale, classes: 10 };
    let mechanism = ConfidentArgmax { argmax, threshold: 200.0, test_scale };
    let event = mechanism.events(questions, answers).map_err(LearnError::from)?;
    let rho = f64::from(answers) / noise_scale.powi(2)
        + f64::from(questions) / (2.0 * test_scale.powi(2));
    Ok((account::epsilon(&event, DELTA)?, concentrated::classic_epsilon(rho, DELTA)))
}

/// The section.
pub(super) fn table(page: &mut String) -> Result<(), AuditError> {
    let _ = write!(
        page,
        "## Votes of teachers (PATE: Papernot et al. 2018)\n\n\
         MNIST, 250 teachers, Confident-GNMax with T = 200, σ₁ = 150, σ₂ = 40, δ = {}: 286 of 640 questions were answered. \
         *Published* is a number computed from the votes, which is no guarantee; the others hold whatever the votes.\n\n\
         | questions | answered | published | exact curve | moments |\n|---|---|---|---|---|\n",
        short(DELTA)
    );
    let (exact, moments) = costs((640, 286), (150.0, 40.0))?;
    let _ = writeln!(page, "| 640 | 286 | 1.97 | {} | {} |\n", number(exact), number(moments));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn published_labels_cost_more_than_was_computed_from_votes() {
        let (exact, moments) = costs((640, 286), (150.0, 40.0)).unwrap();
        assert!(
            (exact - 2.543).abs() < 2e-3 && (moments - 3.174).abs() < 2e-3,
            "{exact} {moments}"
        );
    }
}
