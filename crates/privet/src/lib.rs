//! Differentially private machine learning with certificates that anyone can re-check.
//!
//! This crate re-exports the crates of the workspace:
//!
//! | module | contents |
//! |---|---|
//! | [`core`] | neighbours, units, budgets, ranges |
//! | [`dp`] | noise, accounting, mechanisms, the gate and the certificate |
//! | [`data`] | schemas, readers, encoders, clipping, matrices |
//! | [`optim`] | losses, passes over rows, solvers that prove their tolerance |
//! | [`learn`] | the private learners, models, verification |
//!
//! and the few names that a program needs at its top level. The steps are always the same: a public
//! [`Schema`], a [`Request`], a [`plan`](fn@plan) made without data, then the records.
//!
//! From a file to a model, and from the model to answers:
//!
//! ```
//! use privet::{Budget, Model, Schema};
//! # let folder = std::env::temp_dir().join(format!("privet-{}", std::process::id()));
//! # std::fs::create_dir_all(&folder)?;
//! # let rows = (0..1000).map(|i| format!("{},{}\n", i % 100, if i % 100 > 60 { "yes" } else { "no" }));
//! # std::fs::write(folder.join("visits.csv"), format!("age,ill\n{}", rows.collect::<String>()))?;
//! # std::fs::write(folder.join("schema.toml"), "[clip]\nnorm = \"l2\"\nradius = 1.0\n[target]\ncolumn = \"ill\"\n\
//! #     classes = [\"no\", \"yes\"]\n[[columns]]\nname = \"age\"\ntype = \"number\"\nbounds = [0, 100]\n")?;
//!
//! let schema = Schema::load(folder.join("schema.toml"))?;
//! let model = privet::train(folder.join("visits.csv"), &schema, Budget::new(1.0, 1e-6)?)?;
//! model.save(folder.join("model.json"))?;
//!
//! let model = Model::load(folder.join("model.json"))?;
//! assert!(privet::verify(&model).valid);
//! let labels: Vec<String> = privet::predict(&model, folder.join("visits.csv"))?;
//! assert_eq!(labels.len(), 1000);
//! # std::fs::remove_dir_all(&folder)?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Any family that is offered is released in the same way, with the words of its verb:
//!
//! ```
//! use privet::{Describe, Schema};
//! # let folder = std::env::temp_dir().join(format!("privet-release-{}", std::process::id()));
//! # std::fs::create_dir_all(&folder)?;
//!
//! let schema = Schema::from_toml(
//!     "[clip]\nnorm = \"l2\"\nradius = 1.0\n[target]\ncolumn = \"ill\"\nclasses = [\"no\", \"yes\"]\n\
//!      [[columns]]\nname = \"age\"\ntype = \"number\"\nbounds = [0, 100]\n",
//! )?;
//! let rows: String = (0..1000).map(|i| format!("{},{}\n", i % 100, ["no", "yes"][i % 2])).collect();
//! std::fs::write(folder.join("visits.csv"), format!("age,ill\n{rows}"))?; // a made-up table
//!
//! let words = [("epsilon", "1"), ("delta", "1e-6"), ("bins", "10")];
//! let description = privet::release::<Describe>(folder.join("visits.csv"), &schema, &words)?;
//! assert_eq!(description.certificate().guarantee.map(|claim| claim.epsilon), Some(1.0));
//! let file = privet::learn::file::to_json(&description, None)?;
//! let read = privet::learn::file::from_json::<Describe>(file.as_bytes(), privet::Seal::Required)?;
//! assert!(privet::verify(&read).valid);
//! # std::fs::remove_dir_all(&folder)?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! The same step by step, with a learner of one's own choice:
//!
//! ```
//! use privet::{Budget, Erm, Loss, Model, Neighbours, Request, Schema, SystemRandom};
//! use std::sync::atomic::AtomicBool;
//!
//! // Public facts: written down from what everybody may know, never taken from the records.
//! let schema = Schema::from_toml(r#"
//!     bias = true
//!     [clip]
//!     norm = "l2"
//!     radius = 1.0
//!     [target]
//!     column = "ill"
//!     classes = ["no", "yes"]
//!     [[columns]]
//!     name = "age"
//!     type = "number"
//!     bounds = [0, 100]
//! "#)?;
//!
//! // The records: here a thousand invented ones.
//! let rows = (0..1000).map(|i| format!("{},{}\n", i % 100, if i % 100 > 60 { "yes" } else { "no" }));
//! let table = format!("age,ill\n{}", rows.collect::<String>());
//! let records = privet::data::read::csv_bytes(table.as_bytes(), &schema)?;
//!
//! // Plan before data: whatever decides the guarantee is a function of public facts.
//! let task = Erm { loss: Loss::Logistic, method: "amp".parse()? };
//! let request = Request::new(schema, 1000, Neighbours::ReplaceOne, task);
//! let plan = privet::plan(&request.with_budget(Budget::new(1.0, 1e-6)?))?;
//! assert_eq!(plan.guarantee().map(|guarantee| guarantee.epsilon), Some(1.0));
//!
//! // Run it. What comes out is a release: noised weights with their certificate.
//! let stop = AtomicBool::new(false); // set it from elsewhere to interrupt the solver
//! let release = plan.run(&records, &mut SystemRandom::new()?, &stop)?;
//! let model = Model::from_release(release)?;
//!
//! // Written, it can be checked by anyone, without the records.
//! let file = privet::learn::file::to_json(&model, None)?;
//! let read = privet::learn::file::from_json::<Erm>(file.as_bytes(), privet::Seal::Unchecked)?;
//! let verdict = privet::verify(&read);
//! assert!(verdict.valid, "{:?}", verdict.checks);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![forbid(unsafe_code)]

mod release;
mod simple;

pub use release::release;
pub use simple::{Error, predict, train};

pub use privet_audit as audit;
pub use privet_core as core;
pub use privet_data as data;
pub use privet_dp as dp;
pub use privet_learn as learn;
pub use privet_optim as optim;

pub use privet_core::{Budget, Neighbours, Unit};
pub use privet_data::{Dataset, Encoding, Schema};
pub use privet_dp::account::{Event, Guarantee};
pub use privet_dp::gate::{Certificate, Private, Release};
pub use privet_dp::noise::SystemRandom;
pub use privet_learn::file::Seal;
pub use privet_learn::linear::model::{Model, Predictions};
pub use privet_learn::selection::Select;
pub use privet_learn::statistics::describe::Describe;
pub use privet_learn::{
    Calibration, Erm, LearnError, Method, Plan, Request, Verdict, plan, verify,
};
pub use privet_optim::Loss;
