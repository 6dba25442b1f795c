//! A job of a peer: it runs in a process of its own, and is evaluated by its predictions.
//!
//! A peer that is not installed is left out before anything runs ([`super::running`]). One that fails on
//! a data set, or takes longer than [`LIMIT`] for one model, is recorded as refused, with its own last
//! line.

use super::handed::PeerFiles;
use super::peer::Peer;
use super::pool::{CellResult, Job};
use super::table::{Rows, Table};
use crate::error::BenchError;
use crate::line::{Line, Run};
use crate::race::RaceError;
use crate::race::environment::Environment;
use privet_data::Target;
use privet_learn::statistics::ranking;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// The time limit for one model.
const LIMIT: Duration = Duration::from_secs(1_200);

/// The peers of a run, and the rows of one data set in their files.
pub struct PeerRuns<'a> {
    environment: &'a Environment,
    work: PathBuf,
    handed: Mutex<BTreeMap<Peer, Arc<PeerFiles>>>,
    started: AtomicUsize,
}

impl<'a> PeerRuns<'a> {
    /// With no rows written yet.
    pub fn new(environment: &'a Environment, work: &Path) -> Self {
        let (handed, started) = (Mutex::default(), AtomicUsize::new(0));
        Self { environment, work: work.into(), handed, started }
    }

    /// The rows for a peer, written once.
    fn rows(&self, table: &Table, peer: Peer) -> Result<Arc<PeerFiles>, BenchError> {
        let mut handed = self.handed.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        if let Some(known) = handed.get(&peer) {
            return Ok(known.clone());
        }
        let rows = Arc::new(PeerFiles::write_files(table, peer, &self.work)?);
        handed.insert(peer, rows.clone());
        Ok(rows)
    }

    /// Makes the runs of a job.
    pub(super) fn make(
        &self,
        job: &Job<'_>,
        peer: Peer,
        stop: &AtomicBool,
        begun: &mut Instant,
        tell: &(dyn Fn(Result<CellResult, BenchError>) + Sync),
    ) -> Result<(), BenchError> {
        let Rows::Table(table) = &job.rows else { return Ok(()) };
        let handed = self.rows(table, peer)?;
        let (rival, script) = peer.script();
        let arguments = [handed.folder.path().as_os_str().to_owned()];
        // Several may run at once, each with a log of its own.
        let number = self.started.fetch_add(1, Ordering::Relaxed);
        let log = handed.folder.path().join(format!("{number}.log"));
        let Some(mut process) = self.environment.start_logging(rival, script, &arguments, &log)?
        else {
            return Ok(());
        };
        let package = format!("{} {}", rival.name(), process.version(rival.name()));
        let (cell, entry) = (&job.place.cell, job.place.entry);
        let question = json!({
            "epsilon": cell.epsilon,
            "delta": cell.delta,
            "settings": peer.question_json([&entry.fixed, &cell.settings]),
        });
        for run in &job.runs {
            if stop.load(Ordering::Relaxed) {
                return Ok(());
            }
            let answer = process.ask(&question, LIMIT)?;
            let (score, ranking, seconds) = peer_scores(&answer, &table.test.target, peer)?;
            let line = Line::Run(Run {
                cell: cell.clone(),
                stage: job.stage,
                run: *run,
                rows: table.training.rows() as u64,
                columns: handed.columns,
                classes: table.schema.classes().map_or(0, <[String]>::len) as u64,
                measure: "accuracy".into(),
                score,
                ranking,
                distance: None,
                recall: None,
                ndcg: None,
                loss: None,
                gradient: None,
                passes: None,
                questions: None,
                chosen: Some(package.clone()),
                certified: None,
                seconds,
                peak_memory: None,
            });
            tell(Ok((line, begun.elapsed().as_secs_f64())));
            *begun = Instant::now();
        }
        Ok(())
    }
}

/// Accuracy and area under the ROC curve in per cent, as for our own models, and the peer's seconds of
/// fitting.
fn peer_scores(
    answer: &Value,
    target: &Target,
    peer: Peer,
) -> Result<(f64, Option<f64>, f64), RaceError> {
    let silent =
        |reason: &str| RaceError::Silent { who: peer.name().into(), reason: reason.into() };
    let Target::Class { codes, .. } = target else { return Err(silent("there are no classes")) };
    let list = |key: &str| answer[key].as_array().filter(|list| list.len() == codes.len());
    let found = list("classes").ok_or_else(|| silent("its predictions are not one a record"))?;
    let right = found.iter().zip(codes).filter(|(a, b)| a.as_u64() == Some(u64::from(**b))).count();
    let area = list("scores").and_then(|scores| {
        let scores: Vec<f64> =
            scores.iter().map(|score| score.as_f64().unwrap_or(f64::NAN)).collect();
        let positive: Vec<bool> = codes.iter().map(|code| *code == 1).collect();
        ranking::area(&scores, &positive)
    });
    let seconds = answer["seconds"].as_f64().ok_or_else(|| silent("it gave no seconds"))?;
    let accuracy = 100.0 * right as f64 / codes.len() as f64;
    Ok((accuracy, area.map(|area| 100.0 * area), seconds))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_peer_is_judged_by_its_predictions() {
        let target = Target::Class { codes: vec![0, 1, 1, 0], count: 2 };
        let answer =
            json!({ "classes": [0, 1, 0, 0], "scores": [-1, 2, -0.5, -0.5], "seconds": 2.5 });
        let found = peer_scores(&answer, &target, Peer::DpEbm).unwrap();
        // Of four pairs three are in order, and one is a tie.
        assert_eq!(found, (75.0, Some(87.5), 2.5));
        let unknown = json!({ "classes": [0, 1, 0, 0], "scores": [null, 2, 0, 0], "seconds": 1 });
        assert_eq!(peer_scores(&unknown, &target, Peer::DpEbm).unwrap().1, None);
        let short = json!({ "classes": [0, 1], "seconds": 1 });
        let refused = peer_scores(&short, &target, Peer::DpEbm).unwrap_err().to_string();
        assert!(refused.contains("dp-ebm") && refused.contains("one a record"), "{refused}");
    }
}
