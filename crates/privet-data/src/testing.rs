//! Fixtures shared by the tests of several crates. Not part of the API.

use std::path::PathBuf;

/// A schema with every type of column.
pub const SMALL_SCHEMA: &str = r#"
bias = true
[file]
missing_values = ["?"]
[clip]
norm = "l2"
radius = 1.0
[target]
column = "income"
classes = ["low", "high"]
[[columns]]
name = "age"
type = "number"
bounds = [0, 120]
missing = 38.5
[[columns]]
name = "work"
type = "category"
categories = ["private", "public"]
unknown = "other"
missing = "category"
[[columns]]
name = "town"
type = "category"
hash_buckets = 3
[[columns]]
name = "smokes"
type = "binary"
values = ["no", "yes"]
"#;

/// The folder of public data sets, one sub-folder each: `PRIVET_DATA`, or `shared/data` beside the
/// workspace. If it is absent, prints a note on standard error and returns `None`.
///
/// # Panics
/// If it is absent and `PRIVET_REQUIRE_DATA=1` is set.
pub fn real_data(test: &str) -> Option<PathBuf> {
    let folder = std::env::var_os("PRIVET_DATA").map_or_else(
        || PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/data")),
        PathBuf::from,
    );
    if folder.is_dir() {
        return Some(folder);
    }
    let required = std::env::var_os("PRIVET_REQUIRE_DATA").is_some_and(|value| value == "1");
    assert!(!required, "{test}: {} is not a folder, and the data are required", folder.display());
    eprintln!("SKIPPED: {test}: {} is not a folder", folder.display());
    None
}
