//! Refuses plans whose tolerance a solver might not reach, from public facts alone.
//!
//! A solver that gives up discloses something about the records, even after the noise was drawn. So a
//! plan whose tolerance might be out of reach is refused before a record is read. Two things can keep a
//! point θ̃, rounded to `f64`, from being *proved* within γ/λ of the minimiser θ*:
//!
//! 1. the gradient's own error in double-double arithmetic ([`Sizes::finest_tolerance`]), which grows
//!    with every size, so upper bounds from the plan serve;
//! 2. the rounding of θ̃, at most u‖θ̃‖ with u = 2⁻⁵³. At the minimiser F(θ*) ≤ F(0), that is
//!    (λ/2)r² ≤ nℓ(0) + ‖b‖r for r = ‖θ*‖, hence **r ≤ 2‖b‖/λ + √(2nℓ(0)/λ)**; and r ≤ (nLR + ‖b‖)/λ.
//!    Both hold with a penalty that is least at zero; in a bounded set its size bounds r.
//!
//! - n: the declared count; [`SPARE`] times that where the count is private
//! - ‖b‖: at most σ(√p + 40), or s(2p + 1000), except with probability below e⁻⁵⁰⁰
//! - γ: of the sum form; the solver is asked for 0.9γ, and half of the rest is for rounding
//!
//! Remaining leak: a table with more than [`SPARE`] times the declared rows, at a γ that is nearly out
//! of reach anyway.

use super::minimum::{SolverRequest, linear_norm};
use crate::LearnError;
use crate::linear::facts::Facts;
use privet_dp::account::ObjectiveNoise;
use privet_optim::solver::{Penalty, Sizes};

/// The assumed bound on a table's rows if the count is private, as a multiple of the declared rows.
pub const SPARE: f64 = 16.0;

/// The solver's share of γ; the rest covers rounding.
pub(super) const SOLVER_SHARE: f64 = 0.9;

/// The finest useful γ, as a multiple of the scale of b, and the coarsest that is tried before 1/n.
const FINEST: f64 = 1.0 / (1 << 28) as f64;
const COARSEST: f64 = 1.0 / (1 << 20) as f64;
/// The factor by which b may exceed its expected size, once determinants are paid for.
const LARGER: f64 = 4.0;

/// A tolerance γ of the sum form that is far below the scale of b and still sure to be reached; if there
/// is none, one that [`check`] refuses.
pub(super) fn finest_tolerance(
    facts: &Facts,
    ridge: f64,
    noise: ObjectiveNoise,
    penalty: &Penalty,
) -> f64 {
    let (ObjectiveNoise::Gaussian { noise_scale, .. } | ObjectiveNoise::L2Laplace { noise_scale }) =
        noise;
    let linear_norm = LARGER * linear_norm(noise, facts.columns);
    let coarsest = (COARSEST * noise_scale).max(facts.default_tolerance());
    let is_reached =
        |tolerance| is_reachable(facts, SolverRequest { ridge, tolerance, linear_norm }, penalty);
    let doubled =
        std::iter::successors(Some(FINEST * noise_scale), |tolerance| Some(2.0 * tolerance));
    let mut looked_at = doubled.take(64).take_while(|tolerance| *tolerance < coarsest);
    looked_at.find(|tolerance| is_reached(*tolerance)).unwrap_or(coarsest)
}

/// Refuses a tolerance that might be out of reach.
pub(super) fn check(
    facts: &Facts,
    ask: SolverRequest,
    penalty: &Penalty,
) -> Result<(), LearnError> {
    if is_reachable(facts, ask, penalty) {
        return Ok(());
    }
    Err(LearnError::NotCovered {
        what: format!(
            "no solver can be sure to prove a gradient norm of {:e} (mean form) at ridge {:e}",
            ask.tolerance / facts.rows as f64,
            ask.ridge
        ),
        instead: "give a larger ridge or, where the method has it, a larger gamma",
    })
}

/// True if a solver is sure to reach the tolerance.
fn is_reachable(facts: &Facts, ask: SolverRequest, penalty: &Penalty) -> bool {
    let SolverRequest { ridge, tolerance, linear_norm } = ask;
    let spare = if facts.relation().count_is_public() { 1.0 } else { SPARE };
    let rows = facts.rows as f64 * spare;
    let loss = facts.loss;
    let sizes = Sizes {
        loss,
        ridge,
        rows,
        // The solver measures it, with a little rounding up.
        radius: facts.radius * (1.0 + 1e-6),
        longest_row: facts.columns as f64,
        linear_norm,
    };
    let at_zero = loss.largest_at_zero();
    let by_value = 2.0 * linear_norm / ridge + (2.0 * rows * at_zero / ridge).sqrt();
    let by_slope = (rows * facts.gradient_bound() + linear_norm) / ridge;
    let anywhere = by_value.min(by_slope);
    // A penalty that is least at zero only brings θ* nearer.
    let farthest = match penalty.largest_norm(facts.columns) {
        Some(norm) if penalty.allows_zero() => norm.min(anywhere),
        Some(norm) => norm,
        None => anywhere,
    };
    let rounding = f64::EPSILON * (farthest + tolerance / ridge);
    let finest = sizes.finest_tolerance_with(penalty, facts.columns);
    let proved = finest <= SOLVER_SHARE * tolerance;
    // Asks "within reach?", never "out of reach?", so that NaN is refused.
    proved && rounding <= (1.0 - SOLVER_SHARE) / 2.0 * (tolerance / ridge)
}
