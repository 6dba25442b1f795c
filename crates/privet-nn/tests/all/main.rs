//! What the crate promises, each promise a test.

mod gradients;
mod nets;
