//! Small networks with example-wise clipped gradients: forward and backward passes, proved norm bounds,
//! sums.
//!
//! ```
//! use privet_nn::{Batch, Description, Net, Targets, Workspace};
//!
//! let net = Net::new(&toml::from_str(r#"
//!     input = { features = 3 }
//!     layers = [{ kind = "linear", out = 4 }, { kind = "tanh" }, { kind = "linear", out = 2 }]
//! "#)?)?;
//! let batch = Batch::all(&[0.5, 1.0, -1.0, 2.0, 0.0, 1.0], Targets::Classes(&[0, 1]));
//! let sum = net.clipped_sum(&net.initial(7), &batch, 1.0, &mut Workspace::new())?;
//! assert_eq!(sum.sum.len(), net.trainable());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Nothing here adds noise, and every sum is derived from records: noise, accounting and release are the
//! caller's. Guarantees for the caller:
//!
//! **Theorem 1 (norms without gradients).** A linear layer with input x and derivative s at its output
//! has the gradient (x, 1) ⊗ s, so ‖·‖² = (‖x‖² + 1)·‖s‖² (Goodfellow 2015). A convolution with patches
//! a_p and derivatives s_p has Σ_p a_p ⊗ s_p, so ‖·‖² = Σ_{p,q} ⟨a_p, a_q⟩⟨s_p, s_q⟩ (Bu et al. 2022).
//! The difference of two outer products is a⊗s − a′⊗s′ = (a − a′)⊗s + a′⊗(s − s′), a sum of two.
//! *Proof.* ⟨a⊗s, b⊗t⟩ = ⟨a, b⟩⟨s, t⟩, and expand. ∎ The gradient of a convolution is multiplied out,
//! stored for a piece of the batch and its norm computed directly if that is cheaper, which it is unless
//! there are few places and many weights; so are the biases of convolutions and the scales and shifts of
//! group norm. Linear layers stay in factors.
//!
//! **Theorem 2 (no term exceeds the clipping norm).** For example i, let gᵢ be the exact vector whose
//! coordinates are the `f32` numbers multiplied out and the exact products of the `f32` factors. The
//! norm's bound bᵢ, in `f64`, has bᵢ ≥ ‖gᵢ‖ + 2⁻²²·Σ‖u‖‖h‖, the norms of its terms; the factor cᵢ =
//! min(1, (C − fᵢ)/bᵢ) is rounded toward zero to `f32`, and 0 where bᵢ is not finite or fᵢ ≥ C. Here fᵢ
//! is 2⁻¹²⁵·√H·Σ‖u‖ over the layers that are sums of several products with H derivatives each
//! (convolutions by factors, and all layers by factors in a difference), and 0 in integer sums. Then vᵢ,
//! which is cᵢgᵢ with cᵢh rounded to `f32` for the layers in factors, has ‖vᵢ‖₂ ≤ C; and vᵢ is a
//! function of the weights and of example i alone, bit for bit. *Proof.* Products of two `f32` are exact
//! in `f64`, and a sum of N of them errs by at most N·2⁻⁵³ times the sum of their sizes; so the square
//! of a tensor multiplied out is known within a relative N·2⁻⁵³, and a term ⟨u, u′⟩⟨h, h′⟩ of Theorem 1
//! within (U + H + 8)·2⁻⁵²·‖u‖‖u′‖‖h‖‖h′‖ for U and H numbers, which is added: over all terms (Σ‖u‖‖h‖)²
//! times that (module `clip`). A slack of 2⁻²²·Σ‖u‖‖h‖ covers rounding that is relative: cᵢh is within
//! 2⁻²⁴ of its own term. A cᵢh below the smallest normal number, 2⁻¹²⁶, becomes 0. In a single product
//! that shortens coordinates; in a sum it adds at most √H·2⁻¹²⁶·Σ‖u‖, which is less than fᵢ, and cᵢbᵢ +
//! fᵢ ≤ C. No cᵢh overflows, since cᵢ ≤ 1. Values of different examples are never combined before the
//! sum, and the order of additions does not depend on other examples (module `kernel`). ∎ In a
//! difference, gᵢ is made of the `f32` differences of numbers multiplied out, inputs and derivatives.
//! Between near points its two terms are of the size of the difference, and so is the slack for
//! rounding; between far ones they may cancel, and the slack is relative to the terms, not to the
//! difference.
//!
//! **Sums.** Neighbouring batches that differ by adding an example differ by vᵢ in Σvᵢ, so the
//! ℓ2-sensitivity is C (2C under replace-one).
//! - [`Net::clipped_sum`] and [`Net::clipped_difference_sum`] are Σvᵢ *rounded*: in `f32` within a piece
//!   of at most 16 examples, then in `f64`, in the order of the batch. The theorem is about real
//!   numbers; a certificate states the arithmetic `real`.
//! - [`Net::clipped_sum_exact`] truncates the coordinates of each vᵢ toward zero to a grid of C·2⁻²⁰ to
//!   C·2⁻²¹ and adds integers: the sum is Σ of each example's contribution computed alone, the same bits
//!   in any order, in any batch, on any number of threads, and each term's ℓ2 norm is at most C. A
//!   certificate may state `finite` with discrete noise. There every gradient is multiplied out, its
//!   norm is that of the values, and truncation only shortens.
//! - [`Net::clipped_share_exact`] and [`Net::clipped_difference_share_exact`] do so with s·vᵢ for a
//!   factor s in (0, 1] and the caller's grid, so that a gradient and a difference are added up on one
//!   grid: each term's norm is at most sC. [`Net::clipped_terms_exact`] is the sum of both, bit for bit.
//!
//! **Theorem 3 (integers).** Let sC/grid ≤ 2²¹, and cᵢ = min(1, C/bᵢ)·s/grid rounded toward zero to
//! `f32`. The norm of the contribution of one example is at most sC/grid, and no sum of a piece
//! overflows. *Proof.* Numbers multiplied out, and biases: |x| ≤ bᵢ, so cᵢx is at most 2²¹ and rounded
//! once. One product (u, 1) ⊗ h: its constant has |h| ≤ bᵢ, so cᵢh is at most 2²¹, and rounded, or 0;
//! the product with u is rounded again. The two of a difference: (a − a′, 0) ⊗ h bounds *no* derivative
//! h by itself, where a − a′ is small, and cᵢh may be beyond `f32`. So no derivative is weighted there.
//! cᵢ(a − a′) and cᵢa′ are exact in `f64`, their products with derivatives are 0 or between 2⁻⁵⁰⁰ and
//! 2⁵⁰⁰ in size, and each coordinate errs by at most 2⁻⁵² of its two terms. In each case the slack for
//! rounding is within cᵢ·2⁻²²·Σ‖u‖‖h‖, so the norm is at most cᵢbᵢ ≤ sC/grid ≤ 2²¹; truncation shortens;
//! and 16 examples of a piece stay below 2²⁵. ∎ `i64` holds 2⁴² examples.
//!
//! Errors depend on settings and shapes alone. An example whose gradient is not finite, or whose class
//! the network does not have, contributes 0 to every sum; one with values that are not finite behind a
//! frozen layer may still have a finite gradient (ReLU maps NaN to 0), and it is clipped as any other.
//!
//! **Memory.** A batch is processed in pieces whose length depends on the network; each thread needs a
//! few networks' worth of memory, for any batch ([`Workspace::bytes`]).
//!
//! Tested by `one_example_is_no_longer_than_the_clip`, `norms_are_tight`,
//! `clipped_sums_are_sums_of_clipped_gradients`, `clipped_differences_are_those_of_the_gradients`,
//! `an_exact_sum_is_the_sum_of_its_examples_alone`, `an_exact_difference_is_that_of_its_examples_alone`,
//! `frozen_weights_of_any_size_keep_the_clip`,
//! `what_is_beyond_f32_on_the_way_is_the_difference_all_the_same`, `gradients_are_finite_differences`,
//! `a_larger_batch_takes_no_more_memory`, `memory_is_linear_in_the_network` and the others in
//! `tests/all`.
//!
//! Speed: `cargo run -p privet-nn --example race`, and `privet-bench run race` beside Opacus.

mod batch;
mod builder;
mod clip;
mod description;
mod error;
mod exact;
#[cfg(feature = "gpu")]
pub mod gpu;
mod kernel;
mod layer;
mod loss;
mod net;
mod predict;
mod sum;
mod tape;
mod workspace;

pub use batch::{Batch, Targets};
pub use description::{DIGITS, Description, Input, Layer, Loss};
pub use error::NetError;
pub use exact::{ExactSum, ScaledClip, grid};
pub use net::{Net, Tensor};
pub use predict::LOSS_STEPS;
pub use sum::ClippedSum;
pub use workspace::Workspace;
