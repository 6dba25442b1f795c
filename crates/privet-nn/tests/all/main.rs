//! The crate's guarantees, one test each.

mod bound;
mod descriptions;
mod differences;
mod gradients;
mod memory;
mod nets;
mod same_bits;
mod scales;
