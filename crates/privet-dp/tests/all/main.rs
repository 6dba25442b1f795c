//! The tests of the accountant, the noise, the mechanisms and the gate.
//!
//! One program, since each takes seconds of linking; `cargo test -p privet-dp --test all NAME::` runs
//! one file.

mod account_bounds;
mod account_bracket;
mod account_brute_force;
#[path = "../account_common/mod.rs"]
mod account_common;
mod account_extremes;
mod account_laws;
mod account_objective;
mod account_review;
mod account_sampled;
mod account_tiny;
mod account_vectors;
mod argmax;
mod continual;
mod doors;
mod estimated_answers;
mod filter;
mod gate;
mod individual;
mod joint;
mod moments;
mod noise_choice;
#[path = "../noise_common/mod.rs"]
mod noise_common;
mod noise_continuous_laws;
mod noise_integer_laws;
mod rotated;
mod sampled_gaussian;
mod selected_runs;
mod selection;
mod session;
mod shares;
mod sparse_vector;
mod stability;
mod stable_histogram;
