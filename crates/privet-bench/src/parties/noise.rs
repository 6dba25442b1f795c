//! Table 6.1 of the thesis: the printed noise scales, the ε they give, and sound ones.
//!
//! m = 100 parties of n₁ = 500 rows, λ = 0.01, ε = 0.5, G = 1, T = 100; δ = 0.001 where noise is
//! Gaussian. Printed Laplace noise is drawn a coordinate at a time for an ℓ2 sensitivity: at d columns
//! it gives √d·ε. Printed Gaussian noise has ε where the multiplier belongs.

use super::{Parties, line};
use crate::error::BenchError;
use crate::parts::Emit;
use privet_dp::account::gaussian;
use serde_json::json;

/// Number of columns d of KDDCup99.
const COLUMNS: f64 = 122.0;

/// Emits a line for each column of the table.
pub(super) fn table(suite: &Parties, emit: Emit<'_>) -> Result<(), BenchError> {
    let (m, part, ridge, epsilon, rounds) = (100.0_f64, 500.0, 0.01, 0.5, 100.0_f64);
    let multiplier = gaussian::mu(epsilon, suite.delta);
    let minimum = 2.0 / (part * ridge);
    let gradient = 2.0 / part;
    // Name, printed scale, its ℓ2 sensitivity, and the divisor from averaging.
    let laplace =
        [("pathak", minimum, 1.0), ("local-out", minimum, m.sqrt()), ("mpc-out", minimum / m, 1.0)];
    for (name, sensitivity, divided) in laplace {
        let printed = sensitivity / epsilon / divided;
        emit(line(
            "noise",
            name,
            json!({
                "method": name, "law": "laplace", "printed": printed, "printed-is-worth": COLUMNS.sqrt() * epsilon,
                // The standard deviation of a coordinate of ℓ2-Laplace noise is √(d + 1) times its scale.
                "printed-deviation": printed * 2_f64.sqrt(),
                "sound-deviation": printed * (COLUMNS + 1.0).sqrt(),
                "sound-gaussian-deviation": sensitivity / multiplier / divided,
            }),
        ))?;
    }
    // Noise inside an objective: its ε depends on the minimum, which must be exact, and on a
    // determinant.
    let printed = gradient / epsilon;
    emit(line(
        "noise",
        "local-obj",
        json!({
            "method": "local-obj", "law": "laplace", "printed": printed, "printed-deviation": printed * 2_f64.sqrt(),
        }),
    ))?;
    for (name, sensitivity, divided) in
        [("local-grad", gradient, m.sqrt()), ("mpc-grad", gradient / m, 1.0)]
    {
        // √(2T)·G/(n₁ε), divided, with Δ = 2G/n₁: as if ρ = TΔ²/2σ² could be ε².
        let printed = (2.0 * rounds).sqrt() * sensitivity / 2.0 / epsilon / divided;
        let sound = sensitivity * rounds.sqrt() / multiplier / divided;
        let worth =
            gaussian::epsilon(suite.delta, sensitivity * rounds.sqrt() / (printed * divided));
        emit(line(
            "noise",
            name,
            json!({
                "method": name, "law": "gaussian", "printed": printed, "printed-is-worth": worth,
                "printed-deviation": printed, "sound-deviation": sound,
            }),
        ))?;
    }
    Ok(())
}
