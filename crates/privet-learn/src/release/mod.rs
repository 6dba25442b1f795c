//! The path of every release, with no family's name in it: request, plan, run, file, verification.
//!
//! ```text
//!  Request<T> ──plan──► Plan<T> ──run(table, randomness)──► Release<T::Artefact> ──► file ──► verify
//! ```
//!
//! A family is a [`Task`]; the families stand beside this folder, a folder each, and
//! `families.rs` lists them.

pub(crate) mod admit;
pub(crate) mod again;
pub(crate) mod allowance;
pub(crate) mod answers;
pub(crate) mod ask;
pub(crate) mod conditions;
pub(crate) mod covers;
pub(crate) mod family;
pub mod file;
pub(crate) mod format_1;
pub(crate) mod note;
pub mod order;
pub mod pay;
pub(crate) mod plan;
pub mod private_estimates;
pub(crate) mod registry;
pub(crate) mod released;
pub(crate) mod remote;
pub mod report;
pub(crate) mod request;
pub(crate) mod rounding;
pub(crate) mod run;
pub(crate) mod sentences;
pub(crate) mod settings;
pub(crate) mod strict;
pub(crate) mod support;
pub(crate) mod task;
pub(crate) mod unchecked;
pub(crate) mod verify;
pub(crate) mod void;
pub(crate) mod watch;
pub mod weight_noise;

pub use admit::shape as admit_shape;
pub use allowance::Allowance;
pub use answers::{Answers, LocalRecords, Queries, SumNoise};
pub use conditions::CLASSES_FROM_RECORDS;
pub use covers::{Coverage, MethodCoverage, TableAccess};
pub use family::{BudgetOptions, Family, FamilyVisitor, OfferedFamily, PublicFacts, declaration};
pub use note::{Condition, Note};
pub use plan::{Plan, plan};
pub use registry::{Info, NoLearner, RegisteredMethod};
pub use released::{Released, whose_of};
pub use remote::admit_piece;
pub use request::{Calibration, GAMMA, RIDGE, ROWS, Request, SPLIT, STEPS};
pub use settings::{PlanNumbers, SettingInfo};
pub use task::{Artefact, Baseline, FamilyPlan, Procedure, Task, Work};
pub use unchecked::{Fact, Unchecked};
pub use verify::{Check, UNSIGNED, Verdict, verify};
pub use void::{Concern, DOUBTFUL_SCHEMAS, Finding, SchemaConcern};
