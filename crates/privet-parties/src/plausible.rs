//! Bounds on opened sums by rows and noise.
//!
//! A cheating party or server can send any numbers. Sums that no rows could have given are detected: the
//! learners that run among parties add up a vector for each row of norm at most Δ, the sensitivity
//! charged for the round under replace-one; so the sum over n rows is within nΔ. The noise of k servers
//! with σ/√t each is within σ√(k/t)·(√p + 40), one draw that they make together within σ(√p + 40),
//! except with a probability below e⁻⁸⁰⁰. Beyond both together some member cheats; which one is not
//! known.
//!
//! `output` adds up fⱼθ̃ⱼ, fⱼ = nⱼ/n, of minimisers: Fⱼ has the ridge fⱼλ and at 0 a gradient within
//! nⱼLR, so that ‖θ̃ⱼ‖ ≤ (nⱼLR + γ)/(fⱼλ), and the sum over at most n parties with rows is within n(LR +
//! γ)/λ ≤ nΔ, Δ = 2(LR + γ)/λ (`privet_learn::linear::part`).
//!
//! **Not checked**: under add/remove, where n is not public; for ratings, whose rows are people; and for
//! `output` with a penalty or set, whose minimisers may be far from 0. There an undetected cheat is not
//! bounded.
//!
//! Openings are public, so the check costs no privacy. It bounds an undetected cheat to what n rows of
//! any values could give: a tighter bound would need proofs of what each party sent.

use privet_dp::account::{Cost, Event};
use privet_dp::mechanism::shares::Participants;

/// True if n rows and the noise of all servers can add up to this; true for rounds without a bound.
pub(crate) fn is_plausible(leaf: &Event, among: Participants, rows: u64, sum: &[i128]) -> bool {
    let Event::Use { cost, .. } = leaf else { return true };
    let (Cost::Gaussian { sensitivity, noise_scale, grid: Some(grid) }
    | Cost::JointGaussian { sensitivity, noise_scale, grid, .. }) = cost
    else {
        return true;
    };
    let length = sum.iter().map(|x| (*x as f64 * grid.step).powi(2)).sum::<f64>().sqrt();
    let noise = noise_scale * among.widening() * ((sum.len() as f64).sqrt() + 40.0);
    length <= (rows as f64 * sensitivity + noise) * (1.0 + 1e-9)
}

#[cfg(test)]
mod tests {
    use super::*;
    use privet_core::{Neighbours, Unit};
    use privet_dp::mechanism::Gaussian;

    #[test]
    fn what_rows_cannot_give_is_seen() {
        let gaussian = Gaussian {
            neighbours: Neighbours::ReplaceOne,
            unit: Unit::Record,
            sensitivity: 2.0,
            noise_scale: 8.0,
            coordinates: 2,
        };
        let (leaf, among) = (
            gaussian.event().unwrap(),
            Participants { parties: 3, servers: 2, honest: 1, noise: Default::default() },
        );
        // A step is 2⁻³⁷.
        let at = |x: i128| is_plausible(&leaf, among, 1000, &[x << 37, 0]);
        assert!(at(0) && at(2000) && at(-2000) && at(2400));
        assert!(!at(2600) && !at(-2600) && !at(1 << 60));
    }
}
