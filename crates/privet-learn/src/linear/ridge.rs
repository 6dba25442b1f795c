//! How much to regularise: rules that read public facts alone.
//!
//! Two forces set λ.
//!
//! *Privacy.* Objective perturbation pays C = ln(1 + β/λ) for the determinant, β = cR². For the
//! logistic loss and one problem nothing is paid once λ ≥ R²/(ε/2 + m²) under replace-one and
//! λ ≥ R²/(ε + m²/2) under add/remove, m = R/σ (Theorem 4 of [`privet_dp::account`]); otherwise we
//! let the K problems together pay a tenth of ε: K·C ≤ Kβ/λ ≤ ε/10.
//!
//! *Accuracy.* A linear term of scale σ costs up to σ²p/(2λ) of empirical risk and the ridge costs
//! λB²/2 for a best model of norm B: the sum is least at λ = σ√p/B. B is not known and may not be
//! looked up; B = 16 is a round number between the norms of the best models of well and badly
//! conditioned tables (rows of norm one), chosen on synthetic tables.

use crate::linear::facts::Facts;
use privet_core::Neighbours;

/// B of the rule above.
pub const EXPECTED_NORM: f64 = 16.0;

/// Share of ε that the determinant may take where it is not free.
pub const DETERMINANT_SHARE: f64 = 0.1;

/// Beyond this ε regularisation is no longer lowered: privacy has become cheap, and a ridge that
/// vanishes would only make the determinant dear.
const LARGE_EPSILON: f64 = 10.0;

/// Slack on the logistic threshold, which must hold with a little less than ε when there is output
/// noise as well.
const THRESHOLD_SLACK: f64 = 1.05;

/// λ for objective perturbation with Gaussian or ℓ2-Laplace noise of about scale `noise`, whose
/// norm is about `noise_norm`.
pub fn for_objective(facts: &Facts, epsilon: f64, noise: f64, noise_norm: f64) -> f64 {
    private_floor(facts, epsilon, noise).max(noise_norm / (EXPECTED_NORM / facts.radius))
}

/// The λ below which privacy becomes dear.
fn private_floor(facts: &Facts, epsilon: f64, noise: f64) -> f64 {
    let (radius, records) = (facts.radius, f64::from(facts.unit.records()));
    let epsilon = epsilon.min(LARGE_EPSILON);
    let noise = noise.max(radius / LARGE_EPSILON);
    if facts.shape.logistic && facts.problems == 1 && records == 1.0 {
        let squared = (radius / noise).powi(2);
        let threshold = match facts.neighbours {
            Neighbours::ReplaceOne | Neighbours::ReplaceLabel => epsilon / 2.0 + squared,
            Neighbours::AddRemove => epsilon + squared / 2.0,
        };
        return THRESHOLD_SLACK * radius * radius / threshold;
    }
    let smoothness = facts.shape.curvature * radius * radius;
    f64::from(facts.problems) * records * smoothness / (DETERMINANT_SHARE * epsilon)
}

/// λ for output perturbation whose noise is `noise_per_ridge`/λ a coordinate: noise of scale τ
/// moves a margin by about τR, which costs n·L·R·τ, against λB²/2.
pub fn for_output(facts: &Facts, noise_per_ridge: f64) -> f64 {
    let norm = EXPECTED_NORM / facts.radius;
    (2.0 * facts.rows as f64 * facts.gradient_bound() * noise_per_ridge).sqrt() / norm
}
