//! What the crate promises, each promise a test.

mod bound;
mod descriptions;
mod differences;
mod gradients;
mod memory;
mod nets;
mod same_bits;
mod scales;
