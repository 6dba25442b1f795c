//! Completion from the covariance of residuals: Frank–Wolfe, the same by Oja's rule, projected descent, and
//! one subspace.
//!
//! After Jain, Thakkar & Thakurta ("Differentially private matrix completion revisited", ICML 2018; chapter 6
//! of Thakkar's thesis), Algorithms 13 to 16, with their constants put right (`docs/errata.md`, PRIV-21 to
//! PRIV-28). A user keeps her row: her ratings around her own mean, scaled into a ball of radius Δ (`clip`).
//! What everyone is told are unit vectors over the items; what she adds to a sum is made of her residuals a
//! on the items she rated, scaled into a ball of radius R: 2Δ for Frank–Wolfe, where a is a prediction less a
//! row and both are in the ball of radius Δ, and Δ for the others.
//!
//! | question | what a user adds | add or remove one | replace one |
//! |---|---|---|---|
//! | covariance | the triangle of aaᵀ with its diagonal, entries off it times 3/2 | R²·√(9/8) | R²·3/2 |
//! | power, for a unit v | a⟨a, v⟩ | R² | R² |
//! | energy | ⟨a, v⟩² | R² | R² |
//!
//! *Proof.* Covariance: with M = aaᵀ, or aaᵀ − bbᵀ, the sum of squares of what is added is Σᵢ Mᵢᵢ² +
//! (9/4)·Σ_{i<j} Mᵢⱼ² = (9/8)‖M‖²_F − (1/8)·Σᵢ Mᵢᵢ² ≤ (9/8)‖M‖²_F, and ‖aaᵀ‖²_F ≤ R⁴, ‖aaᵀ − bbᵀ‖²_F = ‖a‖⁴ +
//! ‖b‖⁴ − 2⟨a, b⟩² ≤ 2R⁴. (3/2 stands for √2, with which the noise on entries off the diagonal would be
//! least; it is less than 10⁻⁴ above that.) Power: ‖Mv‖ ≤ ‖M‖, the spectral norm; aaᵀ has R² at most, and so
//! has aaᵀ − bbᵀ, the difference of two positive semi-definite matrices. Energy: both numbers are in [0, R²].
//! What a question holds is read off earlier noised answers; composition is adaptive ([`crate::linear::gd`]). ∎
//!
//! *In finite arithmetic* as in [`super::moments`]: a is scaled to 1 − 10⁻⁹ of R and truncated to whole
//! units, products of which are exact; a unit vector is one to 10⁻¹⁵. Of a power step each product is
//! truncated to units of at most R²/2³⁸, which can move what two users add apart by one unit a coordinate:
//! √n·R²/2³⁸ more is charged under replace-one, where the bound does not come from the lengths of the two.
//!
//! **Frank–Wolfe** (`frank-wolfe`). Round t: the top eigenvector v of the noised covariance of all a, and its
//! eigenvalue λ², floored; every user steps to (1 − η)Y − η·k·(⟨a, v⟩/λ′)·v with η = 2/(t + 1) and scales her
//! row into the ball of radius Δ. T rounds, T releases: the printed first round with v = 0 is left out, and
//! the last covariance is used. λ′² = λ² + the edge of the noise's spectrum, so that the users' steps
//! together are no longer than k.
//! **Oja** (`oja`) finds v by Γ noised steps v ← v + (AᵀAv + g)/(σ√n), normalised, from a fixed unit start,
//! and λ² by a noised energy: T·(Γ + 1) releases, all charged; no n × n matrix, O(ratings) a step.
//! **Projected descent** (`pgd`). Every round each user steps from her whole row towards her ratings and
//! scales it into the ball of radius Δ = R (nothing bounds it in print); the noised covariance of all rows
//! says how singular values are brought into the nuclear ball. T releases of whole rows: n² work a user, so
//! at most 2,048 items.
//! **Subspace** (`svd`): one covariance of rows; a user's row is (n/|Ωᵢ|)·PV VᵀP with her own |Ωᵢ|, which
//! nobody is told.
//!
//! Tested by `no_user_moves_a_sum_further_than_is_charged` here, and by `tests/all/completion.rs`.

mod baseline;
mod directions;
mod eigen;
mod methods;
mod path;
mod procedure;
mod question;

pub use baseline::{PlainFrankWolfe, PlainPgd};
pub(super) use baseline::{plain_frank_wolfe, plain_pgd};
pub(super) use eigen::Triangle;
pub use methods::{FrankWolfe, Oja, Pgd, Svd};
pub(super) use methods::{frank_wolfe, oja, pgd, svd};
pub use path::{Descent, Direction, Path, Projection, Subspace};

#[cfg(test)]
pub(super) use question::Question;
#[cfg(test)]
mod tests;
