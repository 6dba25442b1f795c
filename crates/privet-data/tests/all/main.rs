//! The tests of reading, encoding and writing tables.
//!
//! One binary, since linking each takes seconds; `cargo test -p privet-data --test all NAME::` runs one
//! file.

mod bad_input;
mod bases;
mod identifiers;
mod invalid;
mod memory;
#[cfg(feature = "parquet")]
mod parquet_rows;
mod ratings;
mod reading;
mod spelling;
mod writing;
