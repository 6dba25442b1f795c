//! The same clipped sums on an NVIDIA device (feature `gpu`).
//!
//! Kernels are compiled when the device is opened (NVRTC), products are cuBLAS's, both loaded at run
//! time: the crate compiles without either. Each example's gradient of a convolution is multiplied out
//! (one batched matrix product) and stored for a piece of at most [`Trainer::piece`] examples; linear
//! layers are represented by their factors. Theorem 2 of the crate holds with one exception: a product
//! of cuBLAS may choose its order by the size of the batch, so vᵢ is a function of example i, the
//! weights *and the number of examples*, up to rounding. Sums are in `f32` within a piece. A certificate
//! states the arithmetic `real`.
//!
//! Noise is not drawn here: the sum is copied back to the processor, where exact noise is added as
//! always.
//!
//! **Why `cudarc`.** Clipping by example needs a product of many small matrices per layer, which cuBLAS
//! has, and a few kernels of our own for norms and weighting, which NVRTC compiles from text. `cudarc`
//! is these three and nothing else. Frameworks with tensors and derivatives of their own (`burn`,
//! `cubecl`) would still need the norms to be written; none was measured on a device.
//!
//! **Measured.** The example `gpu_race` on one NVIDIA H200, 2026-11-17, kernels of commit 15082d4 (then
//! one file, split by 0e932d5). Compiled and linted since, not run again: no device was available.
//!
//! **Not implemented.** `privet train` runs on the processor. To train on a device, the rows of a
//! training (`privet_learn::networks::Examples`) would hold a [`Table`] on the device and use a
//! [`Trainer`] for `sums = "float"`. Sums in integers would need the truncation as a kernel, and every
//! product of a piece to have one size for any batch: otherwise an example's contribution depends on
//! their number.

mod back;
mod clip;
mod device;
mod forward;
mod pass;

pub use device::Device;
pub use pass::{Table, Trainer};

/// A failure of the device. Carries nothing that was read from a record.
#[derive(Debug, Clone, thiserror::Error)]
#[error("{doing}: {problem}")]
pub struct GpuError {
    doing: &'static str,
    problem: String,
}

impl GpuError {
    fn new(doing: &'static str, problem: impl std::fmt::Display) -> Self {
        Self { doing, problem: problem.to_string() }
    }

    fn at<E: std::fmt::Display>(doing: &'static str) -> impl Fn(E) -> Self {
        move |problem| Self::new(doing, problem)
    }
}

impl From<crate::NetError> for GpuError {
    fn from(refused: crate::NetError) -> Self {
        Self::new("the batch", refused)
    }
}
