//! The races against peers, and the tables they leave in `docs/`.
//!
//! [`accuracy`] measures the default learner on the catalog's sets, [`race`] our speed beside that of
//! peers; both leave one JSON object a line, and [`report`] turns results files ([`line`]) into a
//! page. Nothing measured on that page is typed by hand.
#![forbid(unsafe_code)]

pub mod accuracy;
pub mod error;
pub mod line;
pub mod memory;
pub mod race;
pub mod report;
