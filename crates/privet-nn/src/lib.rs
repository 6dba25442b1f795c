//! Small networks whose gradients are clipped example by example: forward, back, norms that are proved, sums.
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
//! Nothing here adds noise, and every sum is derived from records: noise, accounting and release are for whoever
//! calls. What a caller may rest on:
//!
//! **Theorem 1 (norms without gradients).** A linear layer with input x and slope s at its output has the gradient
//! (x, 1) ⊗ s, so ‖·‖² = (‖x‖² + 1)·‖s‖² (Goodfellow 2015). A convolution with patches a_p and slopes s_p has
//! Σ_p a_p ⊗ s_p, so ‖·‖² = Σ_{p,q} ⟨a_p, a_q⟩⟨s_p, s_q⟩ (Bu et al. 2022). The difference of two outer products is
//! a⊗s − a′⊗s′ = (a − a′)⊗s + a′⊗(s − s′), a sum of two. *Proof.* ⟨a⊗s, b⊗t⟩ = ⟨a, b⟩⟨s, t⟩, and expand. ∎
//! The gradient of a convolution is formed, kept for a piece of the batch and measured as it stands where that is
//! cheaper, which it is unless there are few places and many weights; so are the biases of convolutions and the
//! scales and shifts of group norm. Linear layers are never formed.
//!
//! **Theorem 2 (no term is longer than the clip).** For example i, let gᵢ be the exact vector whose coordinates are
//! the `f32` numbers formed and the exact products of the `f32` factors. The norm's bound bᵢ, in `f64`, has
//! bᵢ ≥ ‖gᵢ‖ + 2⁻²²·Σ‖u‖‖h‖, the lengths of its terms; the factor cᵢ = min(1, C/bᵢ) is rounded toward zero to `f32`, and 0 where bᵢ is not finite.
//! Then vᵢ, which is cᵢgᵢ with cᵢ·slope rounded to `f32` for the layers known by their factors, has ‖vᵢ‖₂ ≤ C; and
//! vᵢ is a function of the weights and of example i alone, bit for bit.
//! *Proof.* Products of two `f32` are exact in `f64`, and a sum of N of them errs by at most N·2⁻⁵³ times the sum of
//! their sizes; so a formed tensor's square is known within a relative N·2⁻⁵³, and a term ⟨u, u′⟩⟨h, h′⟩ of Theorem 1
//! within (U + H + 8)·2⁻⁵²·‖u‖‖u′‖‖h‖‖h′‖ for U and H numbers, which is added: over all terms
//! (Σ‖u‖‖h‖)² times that (module `clip`). A slack of 2⁻²²·Σ‖u‖‖h‖ covers the rest: rounding cᵢ·slope is within 2⁻²⁴ of its
//! own term, or to 0 below the smallest normal number. What is computed for an example never mixes with another's numbers, and is
//! added up in an order that does not depend on them (module `kernel`). ∎ In a difference, gᵢ is made of the `f32`
//! differences of formed numbers, inputs and slopes. Between near points its two terms are of the size of the difference, and so is
//! what is added for rounding; between far ones they may cancel, and what is added is a share of the terms, not of the
//! difference.
//!
//! **Sums.** Neighbours that differ by adding an example differ by vᵢ in Σvᵢ, so the ℓ2-sensitivity is C (2C where
//! one is replaced).
//! - [`Net::clipped_sum`] and [`Net::clipped_difference_sum`] are Σvᵢ *rounded*: in `f32` within a piece of at most
//!   16 examples, then in `f64`, in the order of the batch. The theorem is about real numbers; a certificate says
//!   `real`.
//! - [`Net::clipped_sum_exact`] truncates the coordinates of each vᵢ toward zero to a grid of C·2⁻²⁰ to C·2⁻²¹ and
//!   adds whole numbers: the sum is Σ of what each example gives alone, the same bits in any order, in any batch, on
//!   any number of threads, and each term's ℓ2 norm is at most C. A certificate may say `finite` with discrete
//!   noise. There every gradient is formed, the norm is that of the numbers formed, and truncation only shortens.
//! - [`Net::clipped_share_exact`] and [`Net::clipped_difference_share_exact`] do so with s·vᵢ for a share s in (0, 1] and
//!   a grid that the caller gives, so that a gradient and a difference are added up on one grid: each term's norm is at
//!   most sC. A coordinate of a difference is the sum of its two products in `f64`, which errs by 2⁻⁵³ of them: the slack
//!   of Theorem 2 is more.
//!
//! Errors tell of settings and shapes alone. A record that is not finite, or whose class the network does not have,
//! contributes 0 to every sum.
//!
//! **Memory.** A batch goes through in pieces whose length the network decides; room is a few networks' worth for
//! each thread, whatever the batch ([`Workspace::bytes`]).
//!
//! Tested by `one_example_is_no_longer_than_the_clip`, `norms_are_tight`,
//! `clipped_sums_are_sums_of_clipped_gradients`, `clipped_differences_are_those_of_the_gradients`,
//! `an_exact_sum_is_the_sum_of_its_examples_alone`,
//! `an_exact_difference_is_that_of_its_examples_alone`, `gradients_are_finite_differences`,
//! `memory_does_not_grow_with_the_batch` and the others in `tests/all`.
//!
//! Speed: `cargo run -p privet-nn --example race`, and `privet bench run race` beside Opacus.

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
pub use description::{Description, Input, Layer, Loss};
pub use error::NetError;
pub use exact::{ExactSum, Share, grid};
pub use net::{Net, Tensor};
pub use predict::LOSS_STEPS;
pub use sum::ClippedSum;
pub use workspace::Workspace;
