//! `privet-bench run`: measures, and keeps every line.

use crate::head;
use crate::ledger;
use crate::parts::{self, PartSuite, Settings};
use crate::suite::{self, Filter, RunObserver, RunOptions, Suite, counted, duration_words};
use clap::Args;
use privet_cli::say;
use privet_cli::shared::{self, Failure, Meter, advise, quote_for_shell, range_parser, writing};
use privet_core::EPSILON;
use privet_learn::Calibration;
use std::path::{Path, PathBuf};

/// The default folder of the originals.
const ORIGINALS: &str = "../shared/data";

/// Run a suite, and append what is measured to a file
#[derive(Args, Debug)]
#[command(
    long_about = "\
Trains and judges the models of a suite: learners × constants × data sets × budgets × grid × runs. Each
model is a line of OUT/results.jsonl as soon as it is done. A run that was ended, in whatever way, goes on
with --resume: nothing is lost and nothing is measured twice.

SUITE is the name of one that comes with privet (privet-bench list) or a TOML file of your own; a data
set of your own is a schema and two files in it. Grids are tuned on the held-out rows, as the papers did:
that is not private, and says so in the suite.

Sets of the catalog are prepared once from their originals (privet data list says where to get
them); one that cannot be found is left out, and said so. Peers (a suite's `peer = …`) are installed from
the package index into environments beside the prepared sets, by the interpreter that PYTHON names
(python3 unless set); one that cannot be installed is left out as well.",
    after_help = "\
Examples:
  privet-bench run smoke
  privet-bench run iyengar-logistic --dry-run
  privet-bench run iyengar-logistic --data downloads --datasets adult --methods auto,amp --epsilons 0.1,1
  privet-bench run mine.toml --out results --resume"
)]
pub struct Run {
    /// A suite's name, or a TOML file
    suite: String,
    /// Only these data sets of the suite; of suite scale sizes, or a part of one (uber-4/100)
    #[arg(long, value_name = "NAME,…", value_delimiter = ',')]
    datasets: Vec<String>,
    /// Only these of the suite's methods, by the name they have there; of suite race, the races; of
    /// suites thakurta-online and scale, their parts; of wang-parties its parts logistic, ridge, flat,
    /// ours, joint and noise
    #[arg(long, value_name = "NAME,…", value_delimiter = ',')]
    methods: Vec<String>,
    #[arg(
        long, value_name = "E,…", value_delimiter = ',', value_parser = range_parser(EPSILON),
        allow_hyphen_values = true, help = format!("These budgets instead of the suite's: {EPSILON}"),
    )]
    epsilons: Vec<f64>,
    /// Models for each cell instead of the suite's number
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=10_000))]
    runs: Option<u32>,
    /// Only these constants: sound, printed
    #[arg(long, value_name = "WHOSE,…", value_delimiter = ',')]
    calibration: Vec<Calibration>,
    /// Folder for the results; made if need be [default: privet-bench-SUITE]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Continue the results in that folder
    #[arg(long)]
    resume: bool,
    /// Folder with the originals of the sets, each in a folder of its name
    #[arg(long, value_name = "DIR", env = "PRIVET_DATA", default_value = ORIGINALS)]
    data: PathBuf,
    /// Folder for prepared sets, which several runs may share [default: OUT/data]
    #[arg(long, value_name = "DIR")]
    cache: Option<PathBuf>,
    /// Models made at once [default: one for each core]
    #[arg(long, value_name = "N")]
    threads: Option<std::num::NonZeroUsize>,
    /// Only say how many models it would be, and about how long it would take
    #[arg(long)]
    dry_run: bool,
}

impl Run {
    /// Runs the measurements.
    pub fn run(self) -> Result<(), Failure> {
        if let Some(known) = parts::find(&self.suite) {
            return self.in_parts(known);
        }
        if self.suite == ledger::NAME {
            return self.ledger();
        }
        let suite = suite::find(&self.suite)?;
        let out = self.out.clone().unwrap_or_else(|| super::results_of(&suite.name));
        let options = RunOptions {
            cache: self.cache.clone().unwrap_or_else(|| out.join("data")),
            out,
            resume: self.resume,
            originals: self.data.clone(),
            threads: self.threads.map_or_else(head::cores, std::num::NonZeroUsize::get),
            filter: self.filter(),
            python: python(),
        };
        if self.dry_run {
            return forecast(&suite, &options);
        }
        room(&options.out, self.cache.as_deref())?;
        let again = format!(
            "to go on: privet-bench run {} --out {} --resume, and the same other options",
            quote_for_shell(self.suite.as_ref()),
            quote_for_shell(&options.out)
        );
        advise(again);
        let shown = Shown(Meter::bar(&suite.name));
        let outcome = suite::run(&suite, &options, &shown)?;
        drop(shown);
        say!(
            "{} made, {} refused by their learner; results in {}",
            counted(outcome.made, "model"),
            counted(outcome.refused, "cell"),
            quote_for_shell(&options.out)
        );
        for missing in &outcome.missing {
            say!("left out {missing}");
        }
        Ok(())
    }

    /// A suite in parts; `--methods` names them.
    fn in_parts(self, known: &PartSuite) -> Result<(), Failure> {
        let parts = (known.parts)(&self.methods)?;
        if self.dry_run {
            return shared::print(&format!("{}: {}\n", known.name, parts.join(", ")));
        }
        let out = self.out.unwrap_or_else(|| super::results_of(known.name));
        let program = std::env::current_exe()
            .map_err(|error| Failure::Environment(format!("this program: {error}")))?;
        room(&out, self.cache.as_deref())?;
        let settings = Settings {
            originals: self.data,
            work: self.cache.unwrap_or_else(|| out.join("data")),
            parts: self.methods,
            datasets: self.datasets,
            epsilons: self.epsilons,
            runs: self.runs,
            python: python(),
            program: Some(program),
        };
        let shown = Shown(Meter::spinner(known.doing));
        let outcome = (known.run)(&settings, &out, self.resume, &shown)?;
        drop(shown);
        say!("{}; results in {}", counted(outcome.made, "line"), quote_for_shell(&out));
        for missing in &outcome.missing {
            say!("left out {missing}");
        }
        Ok(())
    }

    /// Measures the speed and the tightness of ledgers.
    fn ledger(self) -> Result<(), Failure> {
        let out = self.out.unwrap_or_else(|| super::results_of(ledger::NAME));
        if self.dry_run {
            return shared::print("ledger: speed and tightness, about a minute\n");
        }
        room(&out, self.cache.as_deref())?;
        ledger::run(&out, None, &|words| say!("{words}"))?;
        say!("results in {}", quote_for_shell(&out));
        Ok(())
    }

    fn filter(&self) -> Filter {
        Filter {
            datasets: self.datasets.clone(),
            methods: self.methods.clone(),
            epsilons: self.epsilons.clone(),
            calibrations: self.calibration.clone(),
            runs: self.runs,
        }
    }
}

/// Checks that results, and tables made on the way, can be written to their folders.
fn room(out: &Path, cache: Option<&Path>) -> Result<(), Failure> {
    shared::room("--out", out)?;
    cache.map_or(Ok(()), |cache| shared::room("--cache", cache))
}

/// The interpreter that makes the environments of peers.
fn python() -> PathBuf {
    std::env::var_os("PYTHON").map_or_else(|| "python3".into(), PathBuf::from)
}

fn forecast(suite: &Suite, options: &RunOptions) -> Result<(), Failure> {
    let forecast = suite::forecast(suite, &options.filter)?;
    shared::print(&format!(
        "{}: {}, {} of them to screen; roughly {} on {}\n",
        suite.name,
        counted(forecast.models(), "model"),
        forecast.screening,
        duration_words(forecast.seconds / options.threads as f64),
        counted(options.threads as u64, "core")
    ))
}

struct Shown(Meter);

impl RunObserver for Shown {
    fn say(&self, words: &str) {
        self.0.say(words);
    }

    fn progress(&self, done: u64, total: u64, seconds_left: f64) {
        self.0.at(done, total);
        if seconds_left.is_nan() {
            return;
        }
        self.0.words(format!(
            "{done} of {total} models, about {} left",
            duration_words(seconds_left)
        ));
    }

    fn writing(&self, write: &mut dyn FnMut()) {
        let _guard = writing();
        write();
    }
}
