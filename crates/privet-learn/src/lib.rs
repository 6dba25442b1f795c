//! The private learners.
//!
//! ```text
//!  Request<T> ──plan──► Plan<T> ──run(table, randomness)──► Release<T::Artefact> ──► file
//! ```
//!
//! [`plan`] reads public facts only: what it decides can be printed, compared and costed with no
//! data in the room. [`Plan::run`] executes exactly that. [`mod@file`] writes what was released and its
//! certificate together, and [`verify`] checks them without the data.
//!
//! That path is the same for every release (`release/`). Beside it stand families only, a folder each, named for what
//! is looked for; `families.rs` lists them and says how to add one.
#![forbid(unsafe_code)]

mod error;
pub mod export;
mod families;
pub mod linear;
pub mod neighbours;
pub mod networks;
pub mod ratings;
mod release;
pub mod selection;
pub mod statistics;
pub mod streams;
pub mod tuning;
pub mod votes;

pub use error::LearnError;
pub use families::{AnyPlan, Loaded, each_offered};
pub use linear::Erm;
pub use linear::facts::Facts;
pub use linear::learners::{LearnerFacts, METHODS, Method, Scores};
pub use linear::request::Words;
pub use release::allowance::Allowance;
pub use release::answers::{Answers, Here, Questions, SumNoise};
pub use release::conditions::CLASSES_FROM_RECORDS;
pub use release::covers::{Cover, Covers, Needs};
pub use release::family::{Budgeted, Family, Offered, PublicFacts, Visit};
pub use release::note::Note;
pub use release::plan::{Plan, plan};
pub use release::registry::{Info, NoLearner, Registered};
pub use release::released::{Released, whose_of};
pub use release::remote::admit_piece;
pub use release::request::{Calibration, GAMMA, RIDGE, ROWS, Request, SPLIT, STEPS};
pub use release::settings::{SettingInfo, Shown};
pub use release::task::{Artefact, Baseline, Planned, Procedure, Task, Work};
pub use release::unchecked::{Fact, Unchecked};
pub use release::verify::{Check, UNSIGNED, Verdict, verify};
pub use release::void::{DOUBTFUL, Finding, VOID};
pub use release::{bought, file, report};
