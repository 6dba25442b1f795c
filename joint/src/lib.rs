//! Evaluates the circuits of [`privet_joint`] between servers, so that a sum which they open carries one draw of noise that
//! none of them knows. Theorem, proof and what is assumed: there.
//!
//! Every server runs [`noise`] over its [`Lines`] to the others, adds what it gets to its sum of the parties' shares
//! ([`opening`]) and opens that; [`joined`] adds the openings up. The protocol is that of
//! [`polytune`](https://docs.rs/polytune).
//!
//! **Lines are to be private and authenticated by whoever makes them**, by a TLS tunnel between every two servers, say:
//! [`Lines`] carry bytes and do neither. On a bare connection whoever is in between can stand in for a server, and the
//! noise is then known to them.
//!
//! `privet party serve` runs the program `privet-joint-noise` of this package, whose lines it carries over TLS. It is a package of its own,
//! outside the workspace, because the engine asks for release candidates of `aes`, `cipher` and `crypto-common` that cannot be locked beside the releases that the rest of
//! `privet` uses. `make joint` builds, tests and measures it.
#![forbid(unsafe_code)]

mod engine;
mod error;
mod lines;

pub use engine::{Source, evaluations, joined, noise, opening, system};
pub use error::JointError;
pub use lines::{Lines, Stream};
