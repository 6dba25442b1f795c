//! The private learners.
//!
//! ```text
//!  Request ──plan──► Plan ──run(data, randomness)──► Release<LinearWeights> ──► model file
//! ```
//!
//! [`plan`] reads public facts only: what it decides can be printed, compared and costed with no
//! data in the room. [`Plan::run`] executes exactly that. [`model::file`] writes model and
//! certificate together, and [`verify`] checks them without the data.
#![forbid(unsafe_code)]

mod admit;
mod again;
pub mod auto;
pub mod erm;
mod error;
mod facts;
mod learner;
mod method;
pub mod model;
mod plan;
mod request;
mod run;
mod support;
mod verify;
mod void;

pub use error::LearnError;
pub use facts::Facts;
pub use learner::Settings;
pub use method::{METHODS, Method, MethodInfo, Scores, SettingInfo};
pub use plan::{Plan, plan};
pub use request::{Calibration, GAMMA, RIDGE, ROWS, Request, SPLIT, STEPS};
pub use verify::{Check, UNSIGNED, Verdict, verify};
pub use void::{DOUBTFUL, Finding, VOID};
