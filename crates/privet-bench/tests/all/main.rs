//! The tests of the benchmark: suites, checks, pages and races.
//!
//! One program, since each costs seconds of linking; `cargo test -p privet-bench --test all NAME::` runs one file.

mod browser;
mod check;
#[path = "../fixture/mod.rs"]
mod fixture;
mod golden;
mod peers;
mod race;
mod ratings;
mod real_data;
mod report;
mod suites;
