//! Beside scikit-learn: lbfgs in memory, and SGDClassifier.partial_fit out of core, on the same rows in
//! one run.

use super::fit::{FitSettings, fit};
use super::models::{GROWTH_STANDIN, Measured};
use super::shards::GeneratedRows;
use super::{Scale, SizeSelection, line};
use crate::error::BenchError;
use crate::parts::{Emit, Settings};
use crate::race::environment::{Environment, Rival};
use privet_data::Target;
use privet_data::block::BlockFiles;
use privet_data::matrix::Matrix;
use privet_optim::sum::{OnDisk, Table};
use serde_json::{Value, json};
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

const SCRIPT: &str = "scale.py";
const LIMIT: Duration = Duration::from_secs(900);
/// Rows of a piece of the peer's file.
const PIECE: usize = 1 << 16;
/// Ridge λ of the peers, that of our model without privacy.
const RIDGE: f64 = 1.0;

/// Runs the race.
pub(super) fn run(
    suite: &Scale,
    settings: &Settings,
    size: &SizeSelection,
    emit: Emit<'_>,
) -> Result<(), BenchError> {
    let (beside, columns) = (&suite.race, suite.race.columns);
    let rows = size.rows(beside.rows);
    let generated = GeneratedRows::like(GROWTH_STANDIN, columns)?;
    let shards = generated.write(&settings.work.join("rows"), rows)?;
    let held_out = generated.held_out(beside.held_out)?;
    let measured = Measured { made: &generated, size, rows, columns };
    let stem = settings.work.join("rows").join("peer");
    let files = BlockFiles::open(&shards.files)?;
    export(&stem, (0..rows).step_by(PIECE).map(|from| files.piece(from..rows.min(from + PIECE))))?;
    export(&stem.with_extension("held"), held_out.iter().map(|some| Ok(some.clone())))?;
    let rival = [Rival::ScikitLearn];
    let environment = Environment::make(&settings.work, &settings.python, &rival)
        .unwrap_or_else(|_| Environment::empty(&settings.work));
    let mut peers = Vec::new();
    let out_of_core = beside.epochs.iter().map(|epochs| ("sgd", *epochs));
    for (kind, epochs) in [("lbfgs", 0)].into_iter().chain(out_of_core) {
        let Some(mut peer) = environment.start(Rival::ScikitLearn, SCRIPT, &[])? else { continue };
        let who = format!("scikit-learn {} {kind}", peer.version("scikit-learn"));
        let question = json!({
            "kind": kind, "rows": rows, "columns": columns, "ridge": RIDGE, "epochs": epochs,
            "stem": stem, "held": beside.held_out,
        });
        let mut answer = peer.ask(&question, LIMIT)?;
        let name = if epochs == 0 { kind.to_string() } else { format!("{kind}_{epochs}") };
        answer["size"] = json!(size.label());
        answer["peer"] = json!(name);
        peers.push((name, answer["seconds"].as_f64().unwrap_or(f64::NAN)));
        emit(line("race", &who, answer))?;
    }
    let beside_peers = |mut facts: Value| {
        for (kind, seconds) in &peers {
            let times = facts["seconds"].as_f64().unwrap_or(f64::NAN) / seconds;
            facts[format!("times_{kind}")] = json!(times);
        }
        facts
    };
    let table = OnDisk::open_all(&shards.files, u64::MAX)?;
    let data = files.piece(0..rows)?;
    for method in &suite.methods {
        let who = format!("privet {method}");
        for (storage, table) in [("memory", &data as &dyn Table), ("files", &table as &dyn Table)] {
            let fitted = fit(
                &generated.schema,
                table,
                FitSettings::usual(method, beside.epsilon),
                &held_out,
            )?;
            let facts = measured.facts(method, beside.epsilon, storage, fitted);
            emit(line("race", &who, beside_peers(facts)))?;
        }
    }
    Ok(())
}

/// Writes rows as `peers/scale.py` reads them: values and labels, 32-bit numbers.
fn export(
    stem: &Path,
    pieces: impl Iterator<Item = Result<privet_data::Dataset, privet_data::block::BlockError>>,
) -> Result<(), BenchError> {
    let named = |ending: &str| PathBuf::from(format!("{}.{ending}", stem.display()));
    let create = |ending: &str| {
        let path = named(ending);
        Ok::<_, BenchError>(BufWriter::new(
            File::create(&path).map_err(BenchError::on_path(&path))?,
        ))
    };
    let (mut values, mut labels) = (create("values")?, create("labels")?);
    for piece in pieces {
        let piece = piece?;
        let (Matrix::Dense(dense), Target::Class { codes, .. }) = (&piece.features, &piece.target)
        else {
            continue;
        };
        let numbers: Vec<u8> = dense.values().iter().flat_map(|x| x.to_le_bytes()).collect();
        let signs = codes.iter().map(|code| if *code == 1 { 1.0_f32 } else { -1.0 });
        let signs: Vec<u8> = signs.flat_map(f32::to_le_bytes).collect();
        values.write_all(&numbers).map_err(BenchError::on_path(&named("values")))?;
        labels.write_all(&signs).map_err(BenchError::on_path(&named("labels")))?;
    }
    values.flush().map_err(BenchError::on_path(&named("values")))?;
    labels.flush().map_err(BenchError::on_path(&named("labels")))
}
