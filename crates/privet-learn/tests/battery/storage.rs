//! Dense or compressed rows.

use crate::common::sparse;
use crate::subject::Subject;
use privet_learn::{METHODS, Task};

/// Methods that compute their release from exact sums, so that no bit depends on the storage.
const EXACT: &[&str] = &[
    "gd",
    "centred-gd",
    "placed-gd",
    "dp-ight",
    "sgd",
    "ssp",
    "frank-wolfe",
    "count",
    "describe",
    "evaluate",
    "correlation",
    "exponential",
    "distance",
    "subsample",
    "lasso-stability",
    "ftrl",
    "implicit",
    "giga",
    "tally",
    "sparse-vector",
    "gnmax",
    "confident-gnmax",
    "neighbours",
    "dp-sgd",
    "dp-adam",
    "dp-lssgd",
    "dp-lsadam",
    "dp-srm",
    "dp-gd",
    "rrpsgd",
    "dp-ftrl",
];

/// Other methods sum a row's entries in another order: far below the noise, whose draws are equal.
const NEAR: f64 = 1e-6;

pub fn same<T: Task>(subject: &Subject<T>) {
    let name = &subject.name;
    let dense = subject.seeded(&subject.data).unwrap();
    let compressed = subject.seeded(&sparse(&subject.data)).unwrap();
    let settled = subject.settled();
    if EXACT.contains(&settled.as_str()) || settled.starts_with("complete-") {
        assert_eq!(dense, compressed, "{name}");
    }
    let size = dense.iter().fold(0.0, |most: f64, number| most.max(number.abs()));
    for (one, other) in dense.iter().zip(&compressed) {
        assert!((one - other).abs() <= NEAR * size, "{name}: {one} and {other}");
    }
}

/// If storage is chosen from the records, a model that depended on it would depend on them.
#[test]
fn exact_methods_say_so() {
    for info in METHODS {
        assert!(info.more.any_storage || !EXACT.contains(&info.name), "{}", info.name);
    }
    let own: Vec<_> =
        METHODS.iter().filter(|info| !info.more.any_storage).map(|info| info.name).collect();
    assert_eq!(own, ["auto", "sample-aggregate", "simplex"]);
}
