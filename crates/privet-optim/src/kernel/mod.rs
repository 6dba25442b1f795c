//! Fast passes over rows: runtime choice of instructions, and the inner loops.
//!
//! Inner loops are ordinary safe Rust with a fixed number of lanes, written so that the compiler
//! vectorises them. `dispatch` compiles a whole loop a second time for AVX2 with fused
//! multiply-add and picks that version when the processor has them, so one binary runs everywhere.
//! `F` below is true if fused multiply-add is native; error bounds hold for both versions.
//!
//! - `dense`, `csr`: margins u = Xθ, gradients Xᵀm, weighted Gram matrices XᵀWX.
//! - `exponential`: e^x and ln(1 + x) with stated error bounds.

pub(crate) mod csr;
pub(crate) mod dense;
pub(crate) mod exponential;

/// The unit round-off, half an ulp of 1: every f64 operation errs by at most this factor of its result.
pub const UNIT_ROUNDOFF: f64 = f64::EPSILON / 2.0;

/// A loop that can be compiled for several instruction sets.
pub(crate) trait Kernel {
    /// The result of the loop.
    type Output;
    /// The loop. Must be `#[inline(always)]`, or it keeps the baseline's instructions.
    fn run<const F: bool>(self) -> Self::Output;
}

/// Runs the version of `kernel` compiled for the best instructions of this processor.
#[inline]
pub(crate) fn dispatch<K: Kernel>(kernel: K) -> K::Output {
    #[cfg(target_arch = "x86_64")]
    {
        #[target_feature(enable = "avx2,fma")]
        fn wide<K: Kernel>(kernel: K) -> K::Output {
            kernel.run::<true>()
        }
        if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
            // SAFETY: `wide` needs avx2 and fma, and the line above found both.
            return unsafe { wide(kernel) };
        }
        kernel.run::<false>()
    }
    #[cfg(not(target_arch = "x86_64"))]
    kernel.run::<{ cfg!(target_arch = "aarch64") }>()
}

/// The value a·b + c, fused where that is one instruction (a library call elsewhere is very slow).
#[inline(always)]
pub(crate) fn fma<const F: bool>(a: f64, b: f64, c: f64) -> f64 {
    if F { a.mul_add(b, c) } else { a * b + c }
}

/// The classical factor k·u/(1 − k·u) of k roundings, itself rounded up.
pub fn accumulated(roundings: f64) -> f64 {
    let product = roundings * UNIT_ROUNDOFF;
    if product < 0.5 { (product / (1.0 - product)).next_up() } else { f64::INFINITY }
}
