//! A table in a file of row blocks, or on other machines.

use crate::common::{elsewhere, on_disk};
use crate::subject::{ROWS, Subject};
use privet_dp::noise::{FixedSeed, Source};
use privet_learn::FROM_DISK;
use privet_learn::{LearnError, Task};
use std::sync::atomic::AtomicBool;

/// What needs more of a table than sums: orders, subsets, single columns.
const MEMORY: &[&str] = &[
    "chosen-amp",
    "two-stage",
    "dp-ight",
    "psgd",
    "psgd-strong",
    "averaged",
    "sample-aggregate",
    "frank-wolfe",
    "simplex",
    "correlation",
    "exponential",
    "distance",
    "subsample",
    "lasso-stability",
    "ftrl",
    "implicit",
    "giga",
    "leader",
    "experts",
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
    "dp-agd",
    "rrpsgd",
    "dp-ftrl",
    "tune",
];

/// The bits that memory gives, however the file is cut; or a refusal in words before any noise is drawn.
pub fn same_bits<T: Task>(subject: &Subject<T>) {
    let name = &subject.name;
    let from_memory = subject.seeded(&subject.data).unwrap();
    for pieces in [ROWS, 40] {
        let (_folder, file) = on_disk(&subject.data, pieces);
        let mut source = FixedSeed::new(11);
        match subject.watched(&file, &mut source, &AtomicBool::new(false)) {
            Ok(from_file) => {
                assert!(!MEMORY.contains(&subject.settled().as_str()), "{name} needs memory");
                assert_eq!(from_memory, from_file, "{name}, pieces of {pieces}");
            }
            Err(error @ LearnError::NeedsMemory { .. }) => {
                assert!(MEMORY.contains(&subject.settled().as_str()), "{name} asks for sums alone");
                assert!(!FROM_DISK.contains(&subject.settled().as_str()), "{name} is said to run");
                assert!(error.to_string().contains("in memory"), "{error}");
                let untouched = FixedSeed::new(11).next_u64();
                assert_eq!(source.next_u64(), untouched, "{name}: noise was drawn");
            }
            Err(error) => panic!("{name}: {error}"),
        }
    }
}

/// The same of rows that other machines keep, for the families that can be put to them.
pub fn same_bits_elsewhere<T: Task>(subject: &Subject<T>) {
    let name = &subject.name;
    let from_memory = subject.seeded(&subject.data).unwrap();
    for machines in [1, 3] {
        let table = elsewhere(&subject.data, machines, |_| {});
        let mut source = FixedSeed::new(11);
        match subject.watched(&table, &mut source, &AtomicBool::new(false)) {
            Ok(found) => assert_eq!(from_memory, found, "{name}, {machines} machines"),
            Err(error @ LearnError::NeedsMemory { .. }) => {
                assert!(error.to_string().contains("in memory"), "{error}");
                let untouched = FixedSeed::new(11).next_u64();
                assert_eq!(source.next_u64(), untouched, "{name}: noise was drawn");
            }
            Err(error) => panic!("{name}: {error}"),
        }
    }
}
