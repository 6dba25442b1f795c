//! A table in a file of row blocks, or on other machines.

use crate::common::{on_disk, remote_rows};
use crate::subject::{ROWS, Subject};
use privet_dp::noise::{FixedSeed, Source};
use privet_learn::networks;
use privet_learn::ratings;
use privet_learn::selection::SELECTORS;
use privet_learn::streams;
use privet_learn::votes::AGGREGATORS;
use privet_learn::{Info, LearnError, METHODS, TableAccess, Task};
use std::sync::atomic::AtomicBool;

/// True if the settled method is declared to need all rows in memory: for orders, subsets, single
/// columns.
fn needs_memory<T: Task>(subject: &Subject<T>) -> bool {
    fn declared<M>(methods: &[Info<M>], name: &str) -> bool {
        methods.iter().any(|info| info.name == name && info.covers.needs == TableAccess::Memory)
    }
    let name = subject.settled();
    match T::NAME {
        "erm" => declared(METHODS, &name),
        "select" => declared(SELECTORS, &name),
        "complete" => declared(ratings::METHODS, &name),
        "online" => declared(streams::METHODS, &name),
        "vote" => declared(AGGREGATORS, &name),
        "network" => declared(networks::METHODS, &name),
        other => ["tally", "neighbours", "tune"].contains(&other),
    }
}

/// The bits of memory, for any division of the file; or a refusal with an explanation before any noise
/// is drawn.
pub fn same_bits<T: Task>(subject: &Subject<T>) {
    let name = &subject.name;
    let from_memory = subject.seeded(&subject.data).unwrap();
    for pieces in [ROWS, 40] {
        let (_folder, file) = on_disk(&subject.data, pieces);
        let mut source = FixedSeed::new(11);
        match subject.watched(&file, &mut source, &AtomicBool::new(false)) {
            Ok(from_file) => {
                assert!(!needs_memory(subject), "{name} needs memory");
                assert_eq!(from_memory, from_file, "{name}, pieces of {pieces}");
            }
            Err(error @ LearnError::NeedsMemory { .. }) => {
                assert!(needs_memory(subject), "{name} is said to ask for sums alone");
                assert!(error.to_string().contains("in memory"), "{error}");
                let untouched = FixedSeed::new(11).next_u64();
                assert_eq!(source.next_u64(), untouched, "{name}: noise was drawn");
            }
            Err(error) => panic!("{name}: {error}"),
        }
    }
}

/// The same for rows that other machines keep, for the families that support them.
pub fn same_bits_elsewhere<T: Task>(subject: &Subject<T>) {
    let name = &subject.name;
    let from_memory = subject.seeded(&subject.data).unwrap();
    for machines in [1, 3] {
        let table = remote_rows(&subject.data, machines, |_| {});
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
