//! Suites: every learner on every data set at every budget, measured as the papers did.
//!
//! ```text
//!  suite.toml ──► cells ──► jobs ──► workers ──► results.jsonl
//!  (file, grid)   (cells)            (pool)      (journal)
//! ```
//!
//! One data set is in memory at a time. Of a tuned entry, every point of the grid is screened first;
//! then the best get final runs. The lines of the results file alone decide the next job, so that an
//! interrupted run resumes as if it had not been interrupted.

mod ahead;
mod cells;
mod draft;
mod estimate;
mod file;
mod grid;
mod handed;
mod journal;
mod learner;
mod lock;
mod nearby;
mod nets;
mod networks;
mod peer;
mod peer_job;
mod pool;
mod public;
pub mod races;
mod ratings;
mod running;
mod select;
mod table;
pub mod target;
mod vote;

pub use ahead::Forecast;
pub use draft::parse;
pub use estimate::{counted, duration_words};
pub(crate) use file::measure_the_same;
pub use file::{BUILT_IN, BuiltIn, Delta, Entry, Source, Suite, find};
pub use grid::Point;
pub(crate) use handed::write_stream;
pub(crate) use journal::{Journal, SUITE_FILE};
pub use learner::{Family, Learner};
pub use peer::Peer;
pub use select::Filter;
pub use target::Target;
pub use vote::Voter;

use crate::error::BenchError;
use ahead::RemainingWork;
use cells::{KnownResults, groups};
use estimate::Measured;
use running::Running;
use select::Selection;
use std::path::PathBuf;
use table::Size;

/// The options of a run, beside its suite.
#[derive(Debug, Clone)]
pub struct RunOptions {
    /// Folder of the results.
    pub out: PathBuf,
    /// True to continue existing results.
    pub resume: bool,
    /// Folder with the originals of the catalog.
    pub originals: PathBuf,
    /// Folder for prepared data sets.
    pub cache: PathBuf,
    /// The selection from the suite.
    pub filter: Filter,
    /// Number of workers.
    pub threads: usize,
    /// The interpreter that makes the peers' environments, in the folder of prepared data sets.
    pub python: PathBuf,
}

/// An observer of a run.
pub trait RunObserver {
    /// Receives a message for people.
    fn say(&self, words: &str);
    /// Receives the progress: models made, of how many, and the expected seconds left.
    fn progress(&self, done: u64, total: u64, seconds_left: f64);
    /// Must call `write`, and keep the process from ending meanwhile.
    fn writing(&self, write: &mut dyn FnMut());
}

/// The outcome of a run.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Outcome {
    /// Number of models made this time.
    pub made: u64,
    /// Number of cells that a learner refused this time.
    pub refused: u64,
    /// Unavailable data sets and peers, each with the reason.
    pub missing: Vec<String>,
}

/// The modelled work of the selected part of a suite: nothing is read or measured.
pub fn forecast(suite: &Suite, filter: &Filter) -> Result<Forecast, BenchError> {
    let wanted = Selection::new(filter.clone(), suite)?;
    let (mut ahead, known) = (RemainingWork::default(), KnownResults::default());
    for source in suite.datasets.iter().filter(|source| wanted.dataset(&source.name)) {
        let size = Size::of(source)?;
        let groups = groups(suite, &wanted, source, size.rows);
        ahead.count(&source.name, &groups, &known, size);
    }
    Ok(ahead.total(&Measured::default()))
}

/// Runs a suite, or its remaining part.
pub fn run(
    suite: &Suite,
    options: &RunOptions,
    watch: &dyn RunObserver,
) -> Result<Outcome, BenchError> {
    let wanted = Selection::new(options.filter.clone(), suite)?;
    Running::start(suite, wanted, options, watch)?.finish()
}
