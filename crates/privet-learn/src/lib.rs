//! The private learners.
//!
//! ```text
//!  Request<T> ──plan──► Plan<T> ──run(table, randomness)──► Release<T::Artefact> ──► file
//! ```
//!
//! [`plan`] reads public facts only: what it decides can be printed, compared and costed with no
//! data in the room. [`Plan::run`] executes exactly that. [`mod@file`] writes what was released and its
//! certificate together, and [`verify`] checks them without the data.
#![forbid(unsafe_code)]

pub mod additive;
mod admit;
mod again;
mod allowance;
mod answers;
pub mod auto;
pub mod bought;
pub mod certainty;
pub mod completion;
mod conditions;
mod covers;
mod elsewhere;
pub mod erm;
mod error;
pub mod export;
mod facts;
pub mod file;
pub mod forecast;
mod format_1;
mod loaded;
pub mod look;
mod method;
pub mod model;
mod near;
pub mod nonconvex;
mod note;
pub mod online;
mod plan;
pub mod ranking;
mod registry;
mod released;
mod request;
mod run;
pub mod select;
mod settings;
mod strict;
mod support;
mod task;
pub mod transfer;
pub mod tune;
mod unchecked;
mod verify;
mod void;
pub mod words;

pub use allowance::Allowance;
pub use answers::{Answers, Here, Questions, SumNoise};
pub use conditions::CLASSES_FROM_RECORDS;
pub use covers::{Cover, Covers, Needs};
pub use elsewhere::admit_piece;
pub use erm::Erm;
pub use error::LearnError;
pub use facts::Facts;
pub use loaded::Loaded;
pub use method::{LearnerFacts, METHODS, Method, Scores};
pub use note::Note;
pub use plan::{Plan, plan};
pub use registry::{Info, Registered};
pub use released::{Released, whose_of};
pub use request::{Calibration, GAMMA, RIDGE, ROWS, Request, SPLIT, STEPS};
pub use settings::{SettingInfo, Shown};
pub use task::{Artefact, Baseline, Planned, Procedure, Task, Work};
pub use unchecked::{Fact, Unchecked};
pub use verify::{Check, UNSIGNED, Verdict, verify};
pub use void::{DOUBTFUL, Finding, VOID};
pub use words::Words;
