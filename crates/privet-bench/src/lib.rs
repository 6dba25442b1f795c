//! The races against peers, and the tables they leave in `docs/`.
//!
//! A race is one run: our side ([`fit`], [`accuracy`], [`accountant`], and the benches of the crates)
//! and the peers' scripts (`peers/*.py`, in a virtual environment that `scripts/bench.sh` makes) print one JSON object a
//! line on the same machine, one after the other; [`report`] turns the lines into a page. Nothing
//! on that page is typed by hand.
#![forbid(unsafe_code)]

pub mod accountant;
pub mod accuracy;
pub mod error;
pub mod fit;
pub mod head;
pub mod line;
pub mod memory;
pub mod report;
pub mod suite;
