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

pub mod erm;
mod error;
pub mod model;
mod plan;
mod request;
mod verify;

pub use error::LearnError;
pub use plan::{Facts, Plan, Settings, Step, plan};
pub use request::{
    Calibration, GAMMA, METHODS, Method, MethodInfo, RIDGE, ROWS, Request, SPLIT, STEPS,
};
pub use verify::{Check, Verdict, verify};
