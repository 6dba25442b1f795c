//! Exact decisions and the exact sampler that the integer laws share.
//!
//! - [`interval`]: e⁻ˣ in f64 with a proved relative error.
//! - [`natural`]: the few operations on big naturals that a tie needs.
//! - [`exponent`]: decides (offset + U)/scale < e⁻ˣ by an interval first, by integers on a tie.
//! - [`cell_table`]: symmetric integer laws with weight e^(−x(∣k∣)), from one word a draw.

pub(super) mod cell_table;
pub(super) mod exponent;
mod interval;
mod natural;
#[cfg(test)]
pub(super) mod oracle;
