//! `privet bench`: measure learners on data sets, beside the published numbers.

mod report;

use crate::failure::Failure;
use clap::{Args, Subcommand};

/// Measure learners on public data sets, beside the papers' numbers
#[derive(Args, Debug)]
pub struct Bench {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Subcommand, Debug)]
enum Verb {
    Report(report::Report),
}

impl Bench {
    /// Does it.
    pub fn run(self) -> Result<(), Failure> {
        match self.verb {
            Verb::Report(report) => report.run(),
        }
    }
}
