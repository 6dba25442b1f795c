//! A table in a file of row blocks gives the model that memory gives, bit for bit, for any number of
//! threads. What needs more of a table than sums refuses it in words: `battery/back_end.rs`.

use crate::common::{Case, data, on_disk};
use privet_dp::noise::FixedSeed;
use privet_learn::{LearnError, Request, plan};
use privet_optim::sum::Table;
use std::sync::atomic::AtomicBool;

const ROWS: usize = 3000;

fn weights(
    request: &Request,
    table: &dyn Table,
    threads: usize,
) -> Result<Vec<Vec<f64>>, LearnError> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
    let planned = plan(request)?;
    pool.install(|| {
        let release = planned.run(table, &mut FixedSeed::new(11), &AtomicBool::new(false))?;
        Ok(release.value().weights.clone())
    })
}

#[test]
fn learners_that_ask_for_sums_give_the_same_bits_from_a_file() {
    for classes in [2, 3] {
        let data = data(ROWS, classes, 5);
        let files = [on_disk(&data, ROWS), on_disk(&data, 700)];
        for method in ["gd", "sgd", "amp", "objective", "output", "ssp", "linear"] {
            let request = Case::of(method).rows(ROWS as u64).classes(classes);
            let from_memory = weights(&request, &data, 2).unwrap();
            for (_folder, file) in &files {
                for threads in [1, 3] {
                    let from_file = weights(&request, file, threads).unwrap();
                    assert!(from_memory == from_file, "{method}, {classes} classes, {threads}");
                }
            }
        }
    }
}

/// A file that was changed after it was opened is refused, and nothing of it is shown.
#[test]
fn a_file_that_changes_under_a_learner_is_refused() {
    let data = data(ROWS, 2, 5);
    let (folder, file) = on_disk(&data, ROWS);
    let path = folder.path().join("table.rows");
    let mut bytes = std::fs::read(&path).unwrap();
    bytes[100] ^= 1;
    std::fs::write(&path, bytes).unwrap();
    let refused = weights(&Case::of("gd").rows(ROWS as u64), &file, 2).unwrap_err();
    assert!(matches!(refused, LearnError::Records(_)), "{refused}");
}
