//! Noise that servers draw together: what whoever charges for it, and whoever makes the circuits, must agree on. The theorem,
//! its proof and what is assumed of the engine are in the crate `privet-joint`.

/// At most this total variation lies between a coordinate's noise and the law asked for: 2⁻⁶⁰.
pub const DISTANCE: f64 = 1.0 / (1_u64 << 60) as f64;
/// The chance that the engine is designed to leave a server that cheats in one evaluation: 2⁻³⁶, for nine batches of gates
/// and the checks of its oblivious transfers at 2⁻⁴⁰ each. The release that is used falls short of its design (the crate `privet-joint` says how), and
/// checks more often than is counted here: it is set aside, and no claim about servers that cheat is made of it.
///
/// The engine makes each AND gate from B that may leak, put together at random: B = 5 in a batch of l < 3100 gates, 4 from
/// there on. Who cheats in m of the l·B is found out but for 2⁻ᵐ, and has a gate of leaking ones alone with a probability of at most
/// l·C(m, B)/C(lB, B). Together below 2⁻⁴⁰ for l ≥ 992, whatever m; nothing is evaluated with smaller batches.
pub const CHEATING: f64 = 1.0 / (1_u64 << 36) as f64;
/// Coordinates of one evaluation at most, where a plan counts on how many evaluations a round takes.
pub const EACH: u64 = 26;
