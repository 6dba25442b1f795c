//! The `privet-bench` command: measure learners on data sets, beside the published numbers.
//!
//! Conventions, including exit codes, are those of `privet` ([`privet_cli`]); 1 is a missed target.

mod check;
mod list;
mod report;
mod run;

use crate::error::BenchError;
use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};
use privet_cli::shared::{Everywhere, Failure, flowing};
use std::ffi::OsString;
use std::path::PathBuf;

const AFTER_HELP: &str = "\
Exit codes: 0 done; 1 a target missed; 2 bad input or usage; 3 the environment (disk, permission, peers); 130
interrupted. Results go to standard output, prose and progress to standard error.";

/// Measure learners on public data sets, beside the papers' numbers
#[derive(Parser, Debug)]
#[command(
    name = "privet-bench",
    version,
    after_help = AFTER_HELP,
    max_term_width = 100,
    subcommand_required = true,
    arg_required_else_help = true,
    infer_subcommands = false
)]
struct Bench {
    #[command(subcommand)]
    verb: Verb,
    #[command(flatten)]
    everywhere: Everywhere,
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
    /// The `privet` command that this one was built with, whose time and memory is measured
    #[command(hide = true)]
    AsPrivet {
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        words: Vec<OsString>,
    },
}

/// Runs the command line, whose first argument is the program's name, and returns the exit code. It is
/// the whole program: it handles Ctrl-C and panics from here on.
pub fn main(arguments: impl IntoIterator<Item = OsString>) -> u8 {
    privet_cli::end_of(|| Bench::read(arguments), Bench::run)
}

impl Bench {
    fn read(arguments: impl IntoIterator<Item = OsString>) -> Result<Self, clap::Error> {
        let shape = flowing(Self::command());
        Self::from_arg_matches(&shape.try_get_matches_from(arguments)?)
    }

    fn run(self) -> Result<(), Failure> {
        self.everywhere.heed();
        match self.verb {
            Verb::Run(run) => run.run(),
            Verb::List(list) => list.run(),
            Verb::Report(report) => report.run(),
            Verb::Check(check) => check.run(),
            Verb::AsPrivet { words } => {
                let code = privet_cli::main([OsString::from("privet")].into_iter().chain(words));
                std::process::exit(i32::from(code))
            }
            Verb::ServeGrowth => {
                crate::race::growth::serve();
                Ok(())
            }
        }
    }
}

/// The default folder for the results of a suite.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_flags_fit_together() {
        flowing(Bench::command()).debug_assert();
    }
}
