//! A table in a file of row blocks gives the model that memory gives, bit for bit, for any number of
//! threads and of files. A method that needs more of a table than sums refuses it with an explanation:
//! `battery/back_end.rs`.

use crate::common::{Case, data, on_disk};
use privet_data::Dataset;
use privet_data::block::BlockWriter;
use privet_dp::noise::FixedSeed;
use privet_learn::{LearnError, Request, plan};
use privet_optim::sum::{OnDisk, Table};
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

/// The same table in `count` files, of which as much may be in memory as one thread holds.
fn in_files(data: &Dataset, count: usize) -> (tempfile::TempDir, OnDisk) {
    let folder = tempfile::tempdir().unwrap();
    let path = |file: usize| folder.path().join(format!("{file}.rows"));
    for file in 0..count {
        let places: Vec<usize> = (file * ROWS / count..(file + 1) * ROWS / count).collect();
        let mut writer = BlockWriter::create(&path(file)).unwrap();
        writer.push(&data.select(&places)).unwrap();
        writer.finish().unwrap();
    }
    let paths: Vec<_> = (0..count).map(path).collect();
    let table = OnDisk::open_all(&paths, 0).unwrap();
    (folder, table)
}

#[test]
fn learners_that_ask_for_sums_give_the_same_bits_from_a_file() {
    for classes in [2, 3] {
        let data = data(ROWS, classes, 5);
        let files =
            [on_disk(&data, ROWS), on_disk(&data, 700), in_files(&data, 2), in_files(&data, 7)];
        for method in ["gd", "centred-gd", "sgd", "amp", "objective", "output", "ssp", "linear"] {
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

/// A solver of a million rows begins at the minimum of a part of them: the same part from a file, and
/// few passes from there, also where the table is sorted by its classes.
#[test]
fn large_tables_take_few_passes_and_the_same_bits_from_a_file() {
    let rows = (1 << 20) + 77;
    let mixed = data(rows, 2, 5);
    let privet_data::Target::Class { codes, .. } = &mixed.target else { panic!("classes") };
    let mut order: Vec<usize> = (0..rows).collect();
    order.sort_by_key(|row| codes[*row]);
    for data in [mixed.select(&order), mixed] {
        let (_folder, file) = on_disk(&data, rows);
        let request = Case::of("amp").rows(rows as u64);
        let from_memory = weights(&request, &data, 2).unwrap();
        assert!(from_memory == weights(&request, &file, 2).unwrap());
        assert!(file.passes() <= 10.0, "{}", file.passes());
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
