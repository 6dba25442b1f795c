//! Rows on other machines give the model that memory gives, bit for bit, however they are cut up among
//! them; what comes back of other rows than those asked for is refused.

use crate::common::{Case, data};
use privet_data::{Dataset, block};
use privet_dp::noise::FixedSeed;
use privet_learn::{LearnError, Request, admit_piece, plan};
use privet_optim::sum::{
    Asking, Elsewhere, Kept, RecordsError, Remote, Table, answered, merged, pieces, rows_at,
};
use std::sync::Mutex;
use std::sync::atomic::AtomicBool;

const ROWS: usize = 3000;

/// Machines with a block each, to which questions go as text and from which answers come as bytes.
struct Machines {
    blocks: Vec<Vec<u8>>,
    /// What is done to the parts of every answer.
    meddle: fn(&mut Vec<Vec<u8>>),
    asked: Mutex<usize>,
}

impl Machines {
    fn rows(&self) -> Dataset {
        block::from_bytes(&self.blocks).unwrap()
    }
}

impl Elsewhere for Machines {
    fn ask(&self, asking: &Asking) -> Result<Vec<Vec<u8>>, RecordsError> {
        *self.asked.lock().unwrap() += 1;
        let asking: Asking =
            serde_json::from_str(&serde_json::to_string(asking).unwrap()).unwrap();
        let mut parts = Vec::new();
        match &asking {
            Asking::Inner { rows, pieces: count, .. } => {
                let all = self.rows();
                for piece in 0..*count {
                    let places: Vec<usize> = pieces::rows_of(piece, *count, *rows).collect();
                    parts.push(answered(&asking, &all.select(&places))?);
                }
            }
            Asking::Rows { places } => {
                let mut first = 0;
                for bytes in &self.blocks {
                    let rows = block::from_bytes(&[bytes]).unwrap();
                    parts.push(rows_at(places, first, &rows));
                    first += rows.rows();
                }
            }
            _ => {
                // Last machine first, all but one put together on the way.
                for bytes in self.blocks.iter().rev() {
                    parts.push(answered(&asking, &block::from_bytes(&[bytes]).unwrap())?);
                }
                let columns = self.rows().features.columns();
                let first = parts.pop().unwrap();
                parts = match parts.is_empty() {
                    true => vec![first],
                    false => vec![merged(&asking, columns, &parts)?, first],
                };
            }
        }
        (self.meddle)(&mut parts);
        Ok(parts)
    }
}

fn cut(data: &Dataset, machines: usize, meddle: fn(&mut Vec<Vec<u8>>)) -> Remote<Machines> {
    let some = |machine| {
        let places: Vec<usize> = pieces::rows_of(machine, machines, data.rows()).collect();
        data.select(&places)
    };
    let each: Vec<Dataset> = (0..machines).map(some).collect();
    let kept: Vec<Kept> = each.iter().map(|rows| Kept::of(rows).unwrap()).collect();
    let blocks = each.iter().map(block::to_bytes).collect();
    let machines = Machines { blocks, meddle, asked: Mutex::new(0) };
    Remote::new(machines, Kept::of_all(&kept).unwrap())
}

fn weights(request: &Request, table: &dyn Table) -> Result<Vec<Vec<f64>>, LearnError> {
    let release = plan(request)?.run(table, &mut FixedSeed::new(11), &AtomicBool::new(false))?;
    Ok(release.value().weights.clone())
}

#[test]
fn learners_that_ask_for_sums_give_the_same_bits_from_other_machines() {
    let methods = ["gd", "centred-gd", "sgd", "amp", "objective", "output", "ssp", "linear", "auto"];
    for classes in [2, 3] {
        let data = data(ROWS, classes, 5);
        for method in methods {
            let request = Case::of(method).rows(ROWS as u64).classes(classes);
            let from_memory = weights(&request, &data).unwrap();
            for machines in [1, 2, 7] {
                let table = cut(&data, machines, |_| {});
                let found = weights(&request, &table);
                assert_eq!(found.unwrap(), from_memory, "{method}, {classes} classes, {machines}");
                assert!(*table.elsewhere().asked.lock().unwrap() > 0);
            }
        }
    }
}

#[test]
fn answers_of_other_rows_or_kinds_are_refused() {
    let data = data(ROWS, 2, 5);
    let meddling: [fn(&mut Vec<Vec<u8>>); 4] = [
        |parts| drop(parts.pop()),
        |parts| parts.push(parts[0].clone()),
        |parts| _ = parts[0].pop(),
        |parts| parts[0].clear(),
    ];
    for method in ["gd", "centred-gd", "amp", "ssp", "sgd"] {
        let request = Case::of(method).rows(ROWS as u64);
        for (number, meddle) in meddling.into_iter().enumerate() {
            let refused = weights(&request, &cut(&data, 3, meddle));
            assert!(refused.is_err(), "{method}, {number}");
        }
    }
}

#[test]
fn a_learner_that_needs_rows_refuses_other_machines_in_words() {
    let data = data(ROWS, 2, 5);
    let refused = weights(&Case::of("psgd").rows(ROWS as u64), &cut(&data, 2, |_| {})).unwrap_err();
    assert!(matches!(refused, LearnError::NeedsMemory { .. }), "{refused}");
}

#[test]
fn a_piece_is_admitted_by_the_rule_of_the_whole() {
    let data = data(ROWS, 2, 5);
    let request = plan(&Case::of("gd").rows(ROWS as u64)).unwrap().request().clone();
    admit_piece(&request, &data.select(&[1, 2, 3])).unwrap();
    admit_piece(&request, &data.select(&[])).unwrap();
    let mut long = data.select(&[1, 2, 3]);
    long.features = match long.features {
        privet_data::matrix::Matrix::Dense(dense) => {
            let values = dense.values().iter().map(|x| x * 1000.0 + 1000.0).collect();
            privet_data::matrix::Matrix::Dense(privet_data::matrix::DenseMatrix::new(
                values,
                3,
                dense.columns(),
            ))
        }
        other => other,
    };
    assert!(matches!(admit_piece(&request, &long), Err(LearnError::DataShape(_))));
}
