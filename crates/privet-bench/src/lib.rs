//! The benchmark: suites of learners and data sets, races against peers, and what is made of them.
//!
//! [`suite`] measures learners on data sets, [`race`] our speed beside that of peers, [`accuracy`] the
//! default learner for `docs/results.md`; all leave one JSON object a line ([`mod@line`]), and [`report`]
//! turns results files into a page. Nothing measured on that page is typed by hand.
#![forbid(unsafe_code)]

pub mod accuracy;
pub mod error;
pub mod head;
pub mod line;
pub mod memory;
pub mod race;
pub mod report;
pub mod suite;
