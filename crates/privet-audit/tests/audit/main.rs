//! The auditor at work, a fast selection; `make audit` is the long one.
//!
//! All seeds are fixed: nothing here fails by chance, and each file states the probability that another
//! seed would have failed.

mod accounting;
mod answers;
mod bought;
mod cells;
mod counts;
mod declared;
mod descriptions;
mod errata;
mod evaluations;
mod learners;
#[path = "../../../privet-learn/tests/toys/mean.rs"]
mod mean;
mod membership;
mod networks;
mod parties;
mod phase;
mod power;
mod ratings;
mod samplers;
mod schemas;
mod selections;
mod soundness;
mod streams;
mod tunings;
mod votes;
