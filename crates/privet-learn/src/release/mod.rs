//! The path of every release, with no family's name in it: request, plan, run, file, verification.
//!
//! ```text
//!  Request<T> ──plan──► Plan<T> ──run(table, randomness)──► Release<T::Artefact> ──► file ──► verify
//! ```
//!
//! A family is a [`Task`](task::Task); the families stand beside this folder, a folder each, and
//! [`crate::families`] lists them.

pub(crate) mod admit;
pub(crate) mod again;
pub(crate) mod allowance;
pub(crate) mod answers;
pub mod bought;
pub(crate) mod conditions;
pub(crate) mod covers;
pub(crate) mod family;
pub mod file;
pub(crate) mod format_1;
pub(crate) mod note;
pub(crate) mod plan;
pub(crate) mod registry;
pub(crate) mod released;
pub(crate) mod remote;
pub mod report;
pub(crate) mod request;
pub(crate) mod rounding;
pub(crate) mod run;
pub(crate) mod settings;
pub(crate) mod strict;
pub(crate) mod support;
pub(crate) mod task;
pub(crate) mod unchecked;
pub(crate) mod verify;
pub(crate) mod void;
