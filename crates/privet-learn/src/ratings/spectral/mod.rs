//! Completion from the covariance of residuals: Frank–Wolfe, the same by Oja's rule, projected descent, and
//! one subspace.
//!
//! After Jain, Thakkar & Thakurta ("Differentially private matrix completion revisited", ICML 2018;
//! chapter 6 of Thakkar's thesis), Algorithms 13 to 16, with corrected constants (`docs/errata.md`,
//! PRIV-21 to PRIV-28). A user keeps their row: their ratings minus their own mean, clipped to norm Δ
//! (`clip`). The public part are unit vectors over the items; a user's contribution to a sum is computed
//! from their residuals a on the items they rated, clipped to norm R: 2Δ for Frank–Wolfe, where a is a
//! prediction minus a row and both have norm at most Δ, and Δ for the others.
//!
//! | query | a user's vector | add or remove one | replace one |
//! |---|---|---|---|
//! | covariance | the triangle of aaᵀ with its diagonal, entries off it times 3/2 | R²·√(9/8) | R²·3/2 |
//! | power, for a unit v | a⟨a, v⟩ | R² | R² |
//! | energy | ⟨a, v⟩² | R² | R² |
//!
//! *Proof.* Covariance: with M = aaᵀ, or aaᵀ − bbᵀ, the squared norm of the contribution is Σᵢ
//! Mᵢᵢ² + (9/4)·Σ_{i<j} Mᵢⱼ² = (9/8)‖M‖²_F − (1/8)·Σᵢ Mᵢᵢ² ≤ (9/8)‖M‖²_F, and ‖aaᵀ‖²_F ≤ R⁴,
//! ‖aaᵀ − bbᵀ‖²_F = ‖a‖⁴ + ‖b‖⁴ − 2⟨a, b⟩² ≤ 2R⁴. (3/2 replaces √2, with which the noise on entries off
//! the diagonal would be least; it is less than 10⁻⁴ above that.) Power: ‖Mv‖ ≤ ‖M‖, the spectral norm;
//! aaᵀ has R² at most, and so has aaᵀ − bbᵀ, the difference of two positive semi-definite matrices.
//! Energy: both numbers are in [0, R²]. A query is a function of earlier noisy answers; composition is
//! adaptive ([`crate::linear::gd`]). ∎
//!
//! *In finite arithmetic* as in [`super::moments`]: a is scaled to 1 − 10⁻⁹ of R and truncated to
//! integer multiples of a unit, products of which are exact; a unit vector has norm 1 to 10⁻¹⁵. In a
//! power step each product is truncated to units of at most R²/2³⁸, which can move the contributions of
//! two users apart by one unit in each coordinate: √n·R²/2³⁸ more is charged under replace-one, where
//! the bound does not follow from the norms of the two.
//!
//! **Frank–Wolfe** (`frank-wolfe`). Round t: the top eigenvector v of the noisy covariance of all a, and
//! its eigenvalue λ², floored; every user steps to (1 − η)Y − η·k·(⟨a, v⟩/λ′)·v with η = 2/(t + 1) and
//! clips their row to norm Δ. T rounds, T releases: the printed first round with v = 0 is left out, and
//! the last covariance is used. λ′² = λ² + the edge of the noise's spectrum, so that the users' steps
//! together have norm at most k.
//!
//! **Oja** (`oja`) finds v by Γ noisy steps v ← v + (AᵀAv + g)/(σ√n), normalised, from a fixed unit
//! start, and λ² by a noisy energy: T·(Γ + 1) releases, all charged; no n × n matrix, O(ratings) a step.
//!
//! **Projected descent** (`pgd`). Every round each user steps from their whole row towards their ratings
//! and clips it to norm Δ = R (it is unbounded in print); the noisy covariance of all rows determines
//! the projection of singular values onto the nuclear ball. T releases of whole rows: n² work a user, so
//! at most 2,048 items.
//!
//! **Subspace** (`svd`): one covariance of rows; a user's row is (n/|Ωᵢ|)·PV VᵀP with their own |Ωᵢ|,
//! which stays private.
//!
//! Tested by `no_user_moves_a_sum_further_than_is_charged` here, and by `tests/all/completion.rs`.

mod baseline;
mod directions;
mod eigen;
mod methods;
mod path;
mod procedure;
mod query;

pub use baseline::{PlainFrankWolfe, PlainPgd};
pub(super) use baseline::{plain_frank_wolfe, plain_pgd};
pub(super) use eigen::Triangle;
pub use methods::{FrankWolfe, Oja, Pgd, Svd};
pub(super) use methods::{frank_wolfe, oja, pgd, svd};
pub use path::{Descent, Direction, Path, Projection, Subspace};

#[cfg(test)]
pub(super) use query::Query;
#[cfg(test)]
mod tests;
