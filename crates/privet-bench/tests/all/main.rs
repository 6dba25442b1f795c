//! The tests of the benchmark: suites, checks, pages and races.
//!
//! One program, since each costs seconds of linking; `cargo test -p privet-bench --test all NAME::` runs
//! one file.

mod browser;
mod check;
// The same browser, and the same folders with a program run in them, as in the tests of `privet`.
#[path = "../../../privet-cli/tests/end_to_end/chromium.rs"]
mod chromium;
#[cfg(unix)]
mod command;
#[path = "../fixture/mod.rs"]
mod fixture;
mod golden;
mod growth;
#[cfg(unix)]
mod pages;
mod peers;
mod race;
mod ratings;
mod report;
mod suites;
#[allow(dead_code)]
#[path = "../../../privet-cli/tests/end_to_end/world.rs"]
mod world;

/// A command line run in a [`world`].
const PROGRAM: &str = env!("CARGO_BIN_EXE_privet-bench");
