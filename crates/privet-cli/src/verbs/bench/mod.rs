//! `privet bench`: measure learners on data sets, beside the published numbers.

mod check;
mod list;
mod report;
mod run;

use crate::failure::Failure;
use clap::{Args, Subcommand};
use privet_bench::error::BenchError;
use std::path::PathBuf;

/// Measure learners on public data sets, beside the papers' numbers
#[derive(Args, Debug)]
pub struct Bench {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Subcommand, Debug)]
enum Verb {
    Run(run::Run),
    List(list::List),
    Report(report::Report),
    Check(check::Check),
    /// One size of the growth race, in a process of its own
    #[command(hide = true)]
    ServeGrowth,
}

impl Bench {
    /// Does it.
    pub fn run(self) -> Result<(), Failure> {
        match self.verb {
            Verb::Run(run) => run.run(),
            Verb::List(list) => list.run(),
            Verb::Report(report) => report.run(),
            Verb::Check(check) => check.run(),
            Verb::ServeGrowth => {
                privet_bench::race::growth::serve();
                Ok(())
            }
        }
    }
}

/// Where the results of a suite are unless said otherwise.
fn results_of(suite: &str) -> PathBuf {
    format!("privet-bench-{suite}").into()
}

impl From<BenchError> for Failure {
    fn from(error: BenchError) -> Self {
        match error {
            BenchError::File { path, source } => Self::file(&path.display().to_string(), &source),
            BenchError::Catalog(error) => error.into(),
            BenchError::Data(error) => error.into(),
            BenchError::Learn(error) => error.into(),
            BenchError::Report(error) => error.into(),
            BenchError::Noise(_) | BenchError::Race(_) => Self::Environment(error.to_string()),
            error => Self::input(error.to_string()),
        }
    }
}
