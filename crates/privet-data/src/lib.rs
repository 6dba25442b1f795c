//! Schemas, readers, encoders, clipping and matrices.
#![forbid(unsafe_code)]

pub mod matrix;
