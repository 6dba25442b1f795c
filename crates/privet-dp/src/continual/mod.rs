//! Correlated noise for running sums of a stream, released step by step.
//!
//! To release all running sums of g₁ … gₙ, write the matrix of ones below the diagonal as A = B·C with C
//! lower triangular, add noise to **C·g**, and release B(Cg + z) = Ag + Bz. The whole costs one Gaussian
//! mechanism of the sensitivity of C; the error of a running sum is σ times the norm of a row of B. The
//! numbers are largest error × sensitivity, at n = 1,024 / 10⁴ / 10⁵:
//!
//! - [`Factor::Tree`]: sums of dyadic blocks (Dwork et al. 2010; Chan, Shi & Song 2011). Secret memory
//!   of log₂ n vectors; 10.5 / 13.5 / 16.5.
//! - [`Factor::SquareRoot`]: A^½ (Bennett 1977; Fichtenberger, Henzinger & Upadhyay 2023). Secret memory
//!   of n vectors; 3.27 / 4.00 / 4.73.
//! - [`Factor::Buffered`]: 1 + Σ ωⱼ x/(1 − λⱼx), a rational approximation of it (Dvijotham, McMahan,
//!   Pillutla, Steinke & Thakurta 2024). Secret memory of a few vectors; within 1 % of that.
//!
//! Noise is drawn on the grid for *C·g*, in integers ([`StreamState`]), and all else is post-processing of
//! the noisy rows ([`Running`]). Adding C⁻¹z to g on g's own grid instead would not be private:
//! C(g − g′) is not on the lattice of z, so that the supports of the two laws differ.

mod buffered;
mod factor;
mod running;
mod sealed;
mod stream_state;

pub use buffered::search;
pub use factor::{Factor, MOST_BUFFERS, Participation, SQUARE_ROOT_STEPS, STEPS};
pub use running::{Running, StreamAnswer};
pub use sealed::StateKey;
pub(crate) use stream_state::Rounding;
pub use stream_state::StreamState;
