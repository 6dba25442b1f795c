//! Workers, one a core, that train and evaluate models.
//!
//! Each worker has a rayon pool of one thread: independent models side by side keep every core busy
//! without the waiting that one model on all cores would have, and the seconds of a model are those of
//! one core. Lines are passed to the caller in the order in which they are done.

use super::cells::GridCell;
use super::learner::Learner;
use super::peer_job::PeerRuns;
use super::public::Public;
use super::ratings::Ratings;
use super::table::{Rows, Table};
use crate::error::BenchError;
use crate::line::{Line, Refused, Run, Stage};
use crate::memory;
use crate::score::{distance, ranking, score};
use privet_catalog as catalog;
use privet_core::Budget;
use privet_data::Schema;
use privet_dp::noise::SystemRandom;
use privet_learn::linear::model::Model;
use privet_learn::ratings::measure::measure;
use privet_learn::ratings::{Complete, Method as Completion};
use privet_learn::{Erm, LearnError, Method, Plan, Request, Task, plan};
use privet_optim::solver::SolveError;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, mpsc};
use std::time::Instant;

/// Some runs of one cell, which share a plan.
pub struct Job<'a> {
    /// The cell.
    pub place: &'a GridCell<'a>,
    /// Screening or final.
    pub stage: Stage,
    /// The runs.
    pub runs: Vec<u32>,
    /// The rows.
    pub rows: Rows,
    /// The initial weights of a network, where they are learnt from public records.
    pub public: Option<Arc<Public>>,
    /// The peers, for a learner that is not ours.
    pub beside: &'a PeerRuns<'a>,
}

/// A line, and the seconds that a worker spent on it, planning and evaluating included.
pub type CellResult = (Line, f64);

/// Makes every run on so many threads; `take` gets each line at once, and its error ends everything.
pub fn run_all(
    jobs: &[Job<'_>],
    threads: usize,
    take: &mut dyn FnMut(CellResult) -> Result<(), BenchError>,
) -> Result<(), BenchError> {
    let (next, stop) = (AtomicUsize::new(0), AtomicBool::new(false));
    let (sender, receiver) = mpsc::channel();
    std::thread::scope(|scope| {
        for _ in 0..threads.clamp(1, jobs.len().max(1)) {
            let sender = sender.clone();
            let (next, stop) = (&next, &stop);
            scope.spawn(move || {
                let alone = rayon::ThreadPoolBuilder::new().num_threads(1).build();
                while let Some(job) = jobs.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let tell = |line| {
                        if sender.send(line).is_err() {
                            stop.store(true, Ordering::Relaxed);
                        }
                    };
                    match &alone {
                        Ok(alone) => alone.install(|| job.make(stop, &tell)),
                        Err(_) => job.make(stop, &tell),
                    }
                    if stop.load(Ordering::Relaxed) {
                        break;
                    }
                }
            });
        }
        drop(sender);
        let ended =
            receiver.iter().try_for_each(|made: Result<CellResult, BenchError>| take(made?));
        stop.store(true, Ordering::Relaxed);
        ended
    })
}

impl Job<'_> {
    fn make(&self, stop: &AtomicBool, tell: &(dyn Fn(Result<CellResult, BenchError>) + Sync)) {
        let mut begun = Instant::now();
        let made = match &self.place.entry.learner {
            Learner::Peer(peer) => self.beside.make(self, *peer, stop, &mut begun, tell),
            _ => self.try_run(stop, &mut begun, tell),
        };
        let reason = match made {
            Ok(()) | Err(BenchError::Learn(LearnError::Solve(SolveError::Stopped))) => return,
            Err(BenchError::Learn(refused)) => refused.to_string(),
            Err(BenchError::Race(refused)) => refused.to_string(),
            Err(error) => return tell(Err(error)),
        };
        let line = Line::Refused(Refused { cell: self.place.cell.clone(), reason });
        tell(Ok((line, begun.elapsed().as_secs_f64())));
    }

    fn try_run(
        &self,
        stop: &AtomicBool,
        begun: &mut Instant,
        tell: &(dyn Fn(Result<CellResult, BenchError>) + Sync),
    ) -> Result<(), BenchError> {
        let entry = self.place.entry;
        let rows = match &self.rows {
            Rows::Table(table) => table.training.rows(),
            Rows::Ratings(ratings) => ratings.all.rows(),
        } as u64;
        let method =
            entry.learner.with(&entry.fixed, rows)?.with(&self.place.cell.settings, rows)?;
        let mut tell = |line: Run| {
            tell(Ok((Line::Run(line), begun.elapsed().as_secs_f64())));
            *begun = Instant::now();
        };
        match (&self.rows, method) {
            (Rows::Table(table), Learner::Train(method)) => {
                self.trained(table, method, stop, &mut tell)
            }
            (Rows::Table(table), Learner::Vote(voter)) => {
                self.train_students(table, voter, stop, &mut tell)
            }
            (Rows::Table(table), Learner::Nearby(asker)) => {
                self.answer_test_rows(table, &asker, stop, &mut tell)
            }
            (Rows::Table(table), Learner::Network(method)) => {
                self.networks(table, method, stop, &mut tell)
            }
            (Rows::Ratings(ratings), Learner::Complete(method)) => {
                self.train_completions(ratings, method, stop, &mut tell)
            }
            _ => {
                Err(LearnError::DataShape("the data set is of another kind than the suite").into())
            }
        }
    }

    /// The request for this many rows.
    pub(super) fn request<T: Task>(
        &self,
        schema: &Schema,
        rows: u64,
        task: T,
    ) -> Result<Request<T>, LearnError> {
        let cell = &self.place.cell;
        let budget = match (cell.epsilon, cell.delta) {
            (Some(epsilon), Some(delta)) => Some(Budget::new(epsilon, delta)?),
            _ => None,
        };
        Ok(Request {
            schema: schema.clone(),
            rows,
            budget,
            neighbours: cell.neighbours,
            calibration: cell.calibration,
            noise: vec![],
            among: None,
            prior_fits: vec![],
            task,
        })
    }

    /// Trains models of ratings: each run holds out another part of them.
    fn train_completions(
        &self,
        ratings: &Ratings,
        method: Completion,
        stop: &AtomicBool,
        tell: &mut dyn FnMut(Run),
    ) -> Result<(), BenchError> {
        let users = ratings.all.rows() as u64;
        let features = match self.place.entry.item_features {
            true => ratings.features.clone(),
            false => Vec::new(),
        };
        let task = Complete { features, ..Complete::by(method) };
        let plan = plan(&self.request(&ratings.schema, users, task)?)?;
        let mut source = SystemRandom::new()?;
        for run in &self.runs {
            if stop.load(Ordering::Relaxed) {
                return Ok(());
            }
            let parts = ratings.parts(*run);
            let started = Instant::now();
            let release = plan.run(&parts.kept, &mut source, stop)?;
            let seconds = started.elapsed().as_secs_f64();
            let found = measure(release.value(), plan.facts(), &parts.kept, &parts.held);
            tell(Run {
                cell: self.place.cell.clone(),
                stage: self.stage,
                run: *run,
                rows: users,
                columns: plan.facts().items as u64,
                classes: 0,
                measure: "rmse".into(),
                score: found.error,
                ranking: None,
                distance: None,
                recall: Some(found.recall),
                ndcg: Some(found.gain),
                loss: None,
                gradient: None,
                passes: None,
                questions: None,
                chosen: None,
                certified: plan.guarantee().map(|guarantee| guarantee.epsilon),
                seconds,
                peak_memory: memory::peak(),
            });
        }
        Ok(())
    }

    /// Trains linear models.
    fn trained(
        &self,
        table: &Table,
        method: Method,
        stop: &AtomicBool,
        tell: &mut dyn FnMut(Run),
    ) -> Result<(), BenchError> {
        let (rows, loss) = (table.training.rows() as u64, self.place.entry.loss);
        let plan: Plan = plan(&self.request(&table.schema, rows, Erm { loss, method })?)?;
        let mut source = SystemRandom::new()?;
        let encoded = table.encoded(plan.schema())?;
        let (training, test) = match &encoded {
            Some(encoded) => (&encoded.training, &encoded.test),
            None => (&table.training, &table.test),
        };
        let (asked, planned) = (self.place.entry.learner.name(), plan.request().task.method.name());
        let truth = catalog::truth(&self.place.cell.dataset);
        for run in &self.runs {
            if stop.load(Ordering::Relaxed) {
                return Ok(());
            }
            let started = Instant::now();
            let release = plan.run(training, &mut source, stop)?;
            let seconds = started.elapsed().as_secs_f64();
            let model = Model::from_release(release)?;
            let (measure, score) = score(&model, plan.schema(), test);
            let ranking = ranking(&model, test);
            let facts = plan.facts();
            tell(Run {
                cell: self.place.cell.clone(),
                stage: self.stage,
                run: *run,
                rows: facts.rows,
                columns: facts.columns as u64,
                classes: table.schema.classes().map_or(0, <[String]>::len) as u64,
                measure: measure.into(),
                score,
                ranking,
                distance: truth.as_ref().and_then(|truth| distance(&model, plan.schema(), truth)),
                recall: None,
                ndcg: None,
                loss: None,
                gradient: None,
                passes: None,
                questions: None,
                chosen: (asked != planned).then(|| planned.into()),
                certified: plan.guarantee().map(|guarantee| guarantee.epsilon),
                seconds,
                peak_memory: memory::peak(),
            });
        }
        Ok(())
    }
}
