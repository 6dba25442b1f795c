//! A table in a file of row blocks gives the model that memory gives, bit for bit, for any number of
//! threads; and what needs more of a table than sums refuses it in words.

mod common;

use common::{data, schema};
use privet_core::{Budget, Neighbours};
use privet_data::Dataset;
use privet_data::block::BlockWriter;
use privet_dp::noise::FixedSeed;
use privet_learn::{Calibration, Erm, LearnError, METHODS, Request, plan};
use privet_optim::loss::Loss;
use privet_optim::sum::{OnDisk, Table};
use std::sync::atomic::AtomicBool;

const ROWS: usize = 3000;

fn request(method: &str, classes: u32) -> Request {
    let squares = ["ssp", "linear", "linear-rotated"].contains(&method);
    Request {
        schema: schema(classes),
        rows: ROWS as u64,
        budget: Some(Budget::new(1.0, 1e-6).unwrap()),
        neighbours: Neighbours::ReplaceOne,
        calibration: Calibration::Sound,
        noise: vec![],
        task: Erm {
            loss: if squares { Loss::SQUARED } else { Loss::Logistic },
            method: method.parse().unwrap(),
        },
    }
}

/// The file of a table, cut into pieces of this many rows.
fn on_disk(data: &Dataset, pieces: usize) -> (tempfile::TempDir, OnDisk) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("table.rows");
    let mut writer = BlockWriter::create(&path).unwrap();
    for start in (0..data.rows()).step_by(pieces) {
        let end = data.rows().min(start + pieces);
        writer.push(&data.select(&(start..end).collect::<Vec<_>>())).unwrap();
    }
    writer.finish().unwrap();
    let table = OnDisk::open(&path).unwrap();
    (folder, table)
}

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
            let request = request(method, classes);
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

/// Every method either runs on a file or says what it lacks, before any noise is drawn.
#[test]
fn what_needs_more_than_sums_says_so() {
    let data = data(ROWS, 2, 5);
    let (_folder, file) = on_disk(&data, 1000);
    let mut refused = Vec::new();
    for info in METHODS.iter().filter(|info| info.name != "non-private") {
        match weights(&request(info.name, 2), &file, 2) {
            Ok(_) => {}
            Err(error @ LearnError::NeedsMemory { .. }) => {
                assert!(error.to_string().contains("in memory"), "{error}");
                refused.push(info.name);
            }
            Err(error) => panic!("{}: {error}", info.name),
        }
    }
    assert_eq!(refused, ["psgd", "psgd-strong", "sample-aggregate", "frank-wolfe", "simplex"]);
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
    let refused = weights(&request("gd", 2), &file, 2).unwrap_err();
    assert!(matches!(refused, LearnError::Records(_)), "{refused}");
}
