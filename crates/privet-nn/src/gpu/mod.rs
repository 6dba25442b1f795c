//! The same clipped sums on an NVIDIA device (feature `gpu`).
//!
//! Kernels are compiled when the device is opened (NVRTC), products are cuBLAS's, both loaded at run time: the crate
//! compiles where neither is. Of a convolution each example's gradient is formed (a product a batch of matrices) and
//! kept for a piece of at most [`Trainer::piece`] examples; linear layers are known by their factors. Theorem 2 of
//! the crate holds but for one word: a product of cuBLAS may choose its order by the size of the batch, so vᵢ is a
//! function of example i, the weights *and the number of examples*, up to rounding. Sums are in `f32` within a
//! piece. A certificate says `real`.
//!
//! Noise is not drawn here: the sum comes back to the processor, where exact noise is added as always.
//!
//! **Why `cudarc`.** Clipping example by example wants a product of many small matrices a layer, which cuBLAS has, and a
//! few kernels of our own for norms and weighing, which NVRTC compiles from text. `cudarc` is these three and nothing
//! else. Frameworks with tensors and derivatives of their own (`burn`, `cubecl`) would leave the norms to be written
//! all the same; none was measured on a device.
//!
//! **What was run.** The example `gpu_race` on one NVIDIA H200, 2026-11-17, kernels of commit 15082d4 (one file then, cut
//! into files by 0e932d5). Since then it is compiled and linted, and was not run again: no device was at hand.
//!
//! **What is not there.** `privet train` runs on the processor. To train through here, the rows of a training
//! (`privet_learn::networks::Examples`) would hold a [`Table`] on the device and ask a [`Trainer`] for `sums = "float"`.
//! Sums in whole numbers would want the truncation as a kernel, and every product of a piece to have one size whatever
//! the batch: else what an example gives depends on how many there are.

mod back;
mod clip;
mod device;
mod forward;
mod pass;

pub use device::Device;
pub use pass::{Table, Trainer};

/// Why the device did not do what was asked. Carries nothing that was read from a record.
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
