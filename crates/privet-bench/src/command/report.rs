//! `privet-bench report`: measurements as a page.

use crate::report::{Format, ReportError, report};
use clap::{ArgGroup, Args};
use privet_cli::say;
use privet_cli::shared::{self, Failure};
use std::path::PathBuf;

/// Turn results into a page, tables for a document, or comma-separated values
#[derive(Args, Debug)]
#[command(
    group = ArgGroup::new("format").required(true).args(["html", "markdown", "csv"]),
    long_about = "\
Reads the results.jsonl in each folder and writes one report of them all: for each data set the score
against ε with error bars, the published numbers beside ours with the difference and why, certified
beside claimed ε of printed constants, time and memory, refusals, machine and commit.

Of a tuned entry the point of its grid with the best mean counts, as in the papers. A results file
that was cut in the middle of a line is used as far as it is whole, and the report says so.",
    after_help = "\
Examples:
  privet-bench report bench/iyengar-logistic --html --out report.html
  privet-bench report bench/default bench/race --markdown --short --out docs/results.md --force
  privet-bench report bench/iyengar-logistic --csv > cells.csv"
)]
pub struct Report {
    /// Folders that `privet-bench run` wrote
    #[arg(value_name = "DIR", required = true)]
    folders: Vec<PathBuf>,
    /// One page that needs nothing else, with plots
    #[arg(long)]
    html: bool,
    /// Tables
    #[arg(long)]
    markdown: bool,
    /// With --markdown: headlines and overviews alone, as in docs/results.md
    #[arg(long, requires = "markdown")]
    short: bool,
    /// A line for each cell, full digits, points of grids that do not count included
    #[arg(long)]
    csv: bool,
    /// Where to write it, whole or not at all; - is standard output
    #[arg(long, value_name = "FILE", default_value = "-")]
    out: PathBuf,
    /// Overwrite a file that is there
    #[arg(long)]
    force: bool,
}

impl Report {
    /// Reads the results and writes the report.
    pub fn run(self) -> Result<(), Failure> {
        let format = match (self.html, self.markdown) {
            (true, _) => Format::Html,
            (_, true) if self.short => Format::Summary,
            (_, true) => Format::Markdown,
            _ => Format::Csv,
        };
        let read: Vec<PathBuf> =
            self.folders.iter().map(|folder| folder.join("results.jsonl")).collect();
        let read: Vec<&std::path::Path> = read.iter().map(PathBuf::as_path).collect();
        let mut out = shared::open(&self.out, self.force, &read)?;
        let report = report(&self.folders, format)?;
        for notice in &report.notices {
            say!("note: {notice}");
        }
        shared::write(&mut out, &self.out, report.text.as_bytes())
    }
}

impl From<ReportError> for Failure {
    fn from(error: ReportError) -> Self {
        match error {
            ReportError::File { path, source } => Self::file(&path.display().to_string(), &source),
            ReportError::Write(words) => Self::Environment(words),
            error => Self::input(error.to_string()),
        }
    }
}
