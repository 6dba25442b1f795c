//! Two alternative methods, charged for whole users: alternating least squares, and a subspace after
//! cleansing.
//!
//! Both begin with the offsets and counts of [`super::moments`] (its first query, with a quarter of μ²)
//! and use the same ridge regression of users; they differ in the search for vectors of items. n is the
//! number of a user's ratings, w = min(1, √(ξ/n)).
//!
//! | method | query | a user's vector | its norm, at most B |
//! |---|---|---|---|
//! | `als` | a round, R of them | per item: r·z, and γ·w times the triangle of zzᵀ | √ξ·ζ·√(c² + 9γ²ζ²/8) |
//! | `cleansed-svd` | a covariance, once | the triangle of eeᵀ/n, and that of 11ᵀ/n | √(9/8)·√(H⁴ + 1) |
//!
//! In `als` the sums are per rated item, r = w·(rating − its prediction without ⟨z, v⟩) clipped to norm
//! c√ξ, and z is clipped to norm ζ. In `cleansed-svd` entries of e, over the rated items, are clamped to
//! [−H, H]. Triangles include their diagonal, with entries off it times 3/2.
//!
//! **Theorem.** Between neighbours that differ by one user, whole, each sum moves in ℓ2 by at most B if
//! one is added or removed, and by 2B if one is replaced.
//!
//! *Proof.* The triangle of a symmetric M, weighted so, has norm √(9/8)·‖M‖_F at most
//! ([`super::spectral`]). `als`: the first part has norm ‖r‖·‖z‖ ≤ c√ξ·ζ; the second is at most
//! γ·√(9/8)·‖z‖²·√(Σw²), and Σw² = n·min(1, ξ/n) ≤ ξ. `cleansed-svd`: ‖eeᵀ‖_F/n = ‖e‖²/n ≤ H², and
//! ‖11ᵀ‖_F/n = 1. A query is a function of earlier noisy answers; composition is adaptive. Numbers are
//! truncated toward zero to integer multiples of a unit, which does not increase the norm. ∎
//!
//! **`als`** has the form of Chien, Jain, Krichene, Rendle, Song, Thakurta & Zhang ("Private alternating
//! least squares", ICML 2021): noisy Gram matrices and right sides of all items in every round.
//! Departures: the release protects whole users, and everything is charged (their code takes the exact
//! list of frequent items); users with many ratings are weighted down instead of sampled; a user's own
//! fit has offsets; weights of Grams and ridges are ours.
//!
//! **`cleansed-svd`** follows McSherry & Mironov ("Differentially private recommender systems", KDD
//! 2009) as far as it is publicly described: averages of items removed, then of users (with β_p
//! pseudo-ratings at 0), residuals clamped, covariance and weights weighted by one over a user's
//! ratings, both noisy, each entry shrunk towards the mean entry by β times the mean weight, then a
//! low-rank step. Theirs protects single ratings; here all of a user is charged. Ours are: the noise,
//! the first query, H = 1, β, the number of directions, and the regression of a user's own ratings on
//! them. At most 2,048 items.
//!
//! Tested by `no_user_moves_a_sum_further_than_is_charged` here, and by `tests/all/completion.rs`.

mod procedure;
mod query;
mod rival;

pub use procedure::{Als, CleansedSvd};
pub(super) use procedure::{als, cleansed_svd};

#[cfg(test)]
mod tests;
