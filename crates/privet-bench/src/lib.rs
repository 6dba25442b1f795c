//! The benchmark: suites of learners and data sets, races against peers, and their reports.
//!
//! [`suite`] measures learners on data sets, [`race`] our speed beside that of peers; both write one
//! JSON object per line ([`mod@line`]), [`report`] turns results files into a page, and [`check`]
//! compares them with a suite's targets; [`streams`], [`scale`] and [`parties`] are suites in [`parts`],
//! as the races are; [`ledger`] is one of its own kind. No measurement on that page is typed by hand.
//! [`command`] is the command line; public sets come from [`privet_catalog`].
#![forbid(unsafe_code)]

pub mod check;
pub mod command;
pub mod error;
pub mod head;
pub mod ledger;
pub mod line;
pub mod memory;
pub mod parties;
pub mod parts;
pub mod race;
pub mod report;
pub mod scale;
pub mod score;
pub mod streams;
pub mod suite;
