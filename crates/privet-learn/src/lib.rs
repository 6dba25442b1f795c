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
//! That path is the same for every release (`release/`). Beside it stand families only, a folder each,
//! named for what is looked for; `families.rs` lists them and says how to add one.
#![forbid(unsafe_code)]

mod error;
pub mod export;
mod families;
pub mod linear;
pub mod neighbours;
pub mod networks;
pub mod ratings;
pub mod release;
pub mod selection;
pub mod statistics;
pub mod streams;
pub mod tuning;
pub mod votes;

pub use error::LearnError;
pub use families::{AnyPlan, Loaded, each_offered};
pub use linear::facts::Facts;
pub use linear::learners::{LearnerFacts, METHODS, Method, Scores};
pub use linear::request::RequestOptions;
pub use linear::{Erm, Plan, Released, Request};
pub use release::{
    Allowance, Answers, Artefact, Baseline, BudgetOptions, CLASSES_FROM_RECORDS, Calibration,
    Check, Concern, Condition, Coverage, DOUBTFUL_SCHEMAS, Fact, Family, FamilyPlan, FamilyVisitor,
    Finding, GAMMA, Info, LocalRecords, MethodCoverage, NoLearner, Note, OfferedFamily,
    PlanNumbers, Procedure, PublicFacts, Queries, RIDGE, ROWS, RegisteredMethod, SPLIT, STEPS,
    SchemaConcern, SettingInfo, SumNoise, TableAccess, Task, UNSIGNED, Unchecked, Verdict, Work,
    admit_piece, admit_shape, declaration, file, order, pay, plan, private_estimates, report,
    verify, weight_noise, whose_of,
};
