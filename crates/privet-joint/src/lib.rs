//! Noise that no party knows, drawn once: servers sample it inside a secure computation and get shares
//! of it.
//!
//! If every server adds noise of its own (`privet_dp::mechanism::shares`) a released sum carries k
//! draws, since any of them may be known to a reader. Here the k servers evaluate one circuit on random
//! bits of all of them, which outputs one draw X for each coordinate, in shares: server s < k gets −Mₛ,
//! Mₛ its own random mask, and server k gets X + ΣMₛ, mod 2¹²⁸. Each adds its share to its sum of the
//! parties' shares and opens the result; together: Σvⱼ + X.
//!
//! This crate has the laws as circuits, their cost in gates and the privacy charge; it evaluates them in
//! the clear alone. The package `joint/` of the repository evaluates them between servers.
//!
//! **Theorem.** Let the servers evaluate [`circuit_for`] by a protocol that is secure against all but
//! one of them, active cheating and early termination included, up to an advantage of κ. Let a coalition
//! have at most k − 1 of the servers and any of the parties. The coalition's view of one round of p
//! coordinates is, for a record of a party outside it, within p·τ + κ in total variation (to a feasible
//! observer) of a post-processing of: the sum of the honest parties plus one exact draw of the target
//! law for each coordinate. τ is [`Law::distance`], below [`NOISE_LAW_DISTANCE`] = 2⁻⁶⁰.
//!
//! *Proof.* In the ideal evaluation the servers' bits are fixed before any output, so those of the
//! coalition do not depend on an honest server's h. Every bit the samplers use is the sum mod 2 of one
//! from each server: uniform, h's being so. Hence the circuit's X has exactly the law of its tables, for
//! any input of the coalition, and that is within τ of the target law ([`JointGaussian`],
//! [`JointLaplace`]). The coalition's output is nothing, or (if it has the server k) X + ΣMₛ with the
//! mask of h, which is uniform and independent of X; so ending the evaluation early, or beginning it
//! again, reveals nothing of X and does not change its law. Given the coalition's shares, h's is X less
//! terms known to the coalition. The shares that honest parties sent the coalition are uniform
//! (`privet_dp::mechanism::shares`), so the openings of the honest servers can be computed from (the sum
//! of the honest parties + X), the coalition's knowledge, and uniform numbers. X is used for one opening
//! and no other. ∎
//!
//! **Charge.** The target law, as from one trusted server: for the Gaussian its curve at σ and the
//! grid's distance (`privet_dp::noise::grid_distance`), for the Laplace law ε = ‖Δ‖₁/scale, so √d·Δ₂/ε
//! as a scale where Δ₂ bounds the ℓ2 norm; and [`charge`] on top of δ. For T rounds of p coordinates
//! laws within pTτ + Tκ of (ε, δ)-DP ones are (ε, δ + (1 + e^ε)(pTτ + Tκ))-DP: P′(S) ≤ P(S) +
//! a ≤ e^ε·Q(S) + δ + a ≤ e^ε·(Q′(S) + a) + δ + a.
//!
//! **Assumptions.** The engine of `joint/` is [`polytune`](https://docs.rs/polytune) 0.2.0-alpha.4:
//! authenticated garbling among many parties (Wang, Ranellucci & Katz 2017), secure with abort if at
//! least one server is honest. Its authors fix the statistical security of each step at 2⁻⁴⁰
//! ([`UNDETECTED_CHEATING`], 2⁻³⁶ for each evaluation that a round takes, is charged as κ) and rely on
//! correlation-robust hashing from fixed-key AES, oblivious transfer over Curve25519 and ChaCha20. It is
//! an alpha release without a known audit. The caller must provide private and authenticated connections
//! between servers.
//!
//! **Claim: for servers that follow the protocol.** By inspection, the published engine does not meet
//! the theorem's premise against servers that cheat: in the check of leaking AND gates a commitment
//! contains neither its sender nor a fresh number, so that a server may repeat another's and pass; and
//! the random numbers that choose which gates are combined are drawn before those gates are made. A
//! server that exploits this may learn bits of the noise. Until an engine without these flaws is
//! available a plan claims nothing about servers that cheat while they draw, and says so;
//! [`UNDETECTED_CHEATING`] is charged all the same.
//!
//! **Limits.** A server that cheats after the evaluation can add any number to its opening: it spoils
//! the sum and learns nothing by it. A server that ends the evaluation ends the round.
//!
//! Costs: [`gates`]. Tests: exact laws, in the files of this crate; whole evaluations, in `joint/tests`.
#![forbid(unsafe_code)]

mod circuit;
mod fixed;
mod gaussian;
mod laplace;
pub mod pipe;
mod table;

pub use circuit::{Circuit, Gate, Wire};
pub use gaussian::{GAUSSIAN_STEPS, JointGaussian};
pub use laplace::{JointLaplace, LAPLACE_STEPS};
pub use privet_core::joint::{COORDINATES_PER_EVALUATION, NOISE_LAW_DISTANCE, UNDETECTED_CHEATING};
pub use table::Table;

/// The number of bits of a share.
pub const RING: usize = 128;

/// A law of noise as a circuit. An implementer must bound its distance from the target law.
pub trait Law {
    /// Adds the gates of one draw: the bits of X + [`Self::offset`], least significant first.
    fn draw(&self, circuit: &mut Circuit) -> Vec<Wire>;

    /// Public constant added to a draw so that it is not negative.
    fn offset(&self) -> u128;

    /// Upper bound on the total variation distance between a draw and the target law, if one server's
    /// bits are uniform.
    fn distance(&self) -> f64;
}

/// Cost of a coordinate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Gates {
    /// ANDs of the sampler alone: from uniform bits to X.
    pub sampler: usize,
    /// ANDs of the adders that make shares of X.
    pub sharing: usize,
    /// Maximum random bits of a server, masks included.
    pub bits: usize,
}

/// Computes the cost of a coordinate of this law among this many servers.
pub fn gates(law: &dyn Law, servers: u32) -> Gates {
    let mut circuit = Circuit::new(servers);
    let drawn = law.draw(&mut circuit);
    let sampler = circuit.ands();
    shared(drawn, &mut circuit);
    let bits = circuit.inputs().iter().copied().max().unwrap_or(0) as usize;
    Gates { sampler, sharing: circuit.ands() - sampler, bits }
}

/// The circuit for this many coordinates: a draw and its sharing for each, one after the other.
pub fn circuit_for(law: &dyn Law, servers: u32, coordinates: usize) -> Circuit {
    let mut circuit = Circuit::new(servers);
    for _ in 0..coordinates {
        let drawn = law.draw(&mut circuit);
        shared(drawn, &mut circuit);
    }
    circuit
}

/// Adds a mask of 128 bits from every server but the last; the output is for the last server alone.
fn shared(drawn: Vec<Wire>, circuit: &mut Circuit) {
    let mut columns: Vec<Vec<Wire>> = drawn.into_iter().map(|bit| vec![bit]).collect();
    columns.resize(RING, vec![]);
    for server in 0..circuit.inputs().len() as u32 - 1 {
        columns.iter_mut().for_each(|column| column.push(circuit.input(server)));
    }
    let share = circuit.add_up(columns);
    circuit.output(&share);
}

/// δ charged for `rounds` rounds of this many coordinates, each in this many evaluations, at this ε.
pub fn charge(coordinates: u64, evaluations: u64, rounds: u64, epsilon: f64) -> f64 {
    let round = coordinates as f64 * NOISE_LAW_DISTANCE + evaluations as f64 * UNDETECTED_CHEATING;
    (round * rounds as f64 * (1.0 + epsilon.exp()) * (1.0 + 1e-12)).min(1.0)
}

#[cfg(test)]
mod tests;
