//! Constants of noise that servers draw jointly, shared by the accounting and by the circuits. The
//! theorem, its proof and the assumptions on the engine are in the crate `privet-joint`.

/// Upper bound on the total variation distance between a coordinate's noise and its target law: 2⁻⁶⁰.
pub const NOISE_LAW_DISTANCE: f64 = 1.0 / (1_u64 << 60) as f64;
/// Probability that a server which cheats in one evaluation goes undetected, by the engine's design:
/// 2⁻³⁶, for nine batches of gates and the checks of its oblivious transfers at 2⁻⁴⁰ each. The release
/// in use falls short of its design (the crate `privet-joint` says how), and checks more often than is
/// counted here: this probability is charged, and no claim is made about servers that cheat.
///
/// The engine makes each AND gate from a random bucket of B gates that may leak: B = 5 in a batch of l <
/// 3100 gates, 4 for larger batches. Cheating in m of the l·B gates goes undetected with probability
/// 2⁻ᵐ, and fills some bucket with leaking gates alone with probability at most l·C(m, B)/C(lB, B). The
/// product is below 2⁻⁴⁰ for l ≥ 992, whatever m; nothing is evaluated with smaller batches.
pub const UNDETECTED_CHEATING: f64 = 1.0 / (1_u64 << 36) as f64;
/// Largest number of coordinates of one evaluation, from which plans count a round's evaluations.
pub const COORDINATES_PER_EVALUATION: u64 = 26;
