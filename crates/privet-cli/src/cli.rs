//! The command line. Each verb owns its flags and its help; see [`crate::verbs`].

use crate::bad_line;
use crate::failure::Failure;
use crate::flow::flowing;
use crate::output;
use crate::verbs;
#[cfg(feature = "data")]
use crate::verbs::data::Data;
#[cfg(not(feature = "data"))]
use crate::verbs::left_out::Data;
use clap::{Args, CommandFactory, FromArgMatches, Parser, Subcommand};

const ABOUT: &str = "\
Learns from sensitive records and releases only what differential privacy allows.

Every model comes with a certificate that says what it can reveal about a record, and that anyone
can re-check without the data.

New here?  privet demo
Your own table:
  1. write a public schema        privet schema new table.csv --out S.toml, fill it in, then
                                  privet schema check S.toml table.csv
  2. see noise, settings and predicted cost of a budget
                                  privet plan  --schema S.toml --rows 20000 --epsilon 1
  3. train                        privet train table.csv --schema S.toml --epsilon 1 --out m.json
  4. check what was released      privet verify m.json;  privet inspect m.json
  5. use it                       privet predict m.json new.csv --out predictions.csv
  6. take it away                 privet export m.json --to onnx --out m.onnx";

const AFTER_HELP: &str = "\
Exit codes: 0 done; 1 refused on privacy grounds (certificate, proof, budget); 2 bad input or usage, data
and model files included; 3 the environment (disk, permission); 130 interrupted.
Results go to standard output, prose and progress to standard error.";

/// The whole command line.
#[derive(Parser, Debug)]
#[command(
    name = "privet",
    version,
    about = "Differentially private machine learning with certificates",
    long_about = ABOUT,
    after_help = AFTER_HELP,
    max_term_width = 100,
    subcommand_required = true,
    arg_required_else_help = true,
    infer_subcommands = false
)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
    #[command(flatten)]
    everywhere: Everywhere,
}

/// Flags of every verb.
#[derive(Args, Debug)]
pub struct Everywhere {
    /// Threads to compute with; all cores unless given. The result does not depend on it
    #[arg(long, global = true, value_name = "N", help_heading = "Everywhere")]
    threads: Option<std::num::NonZeroUsize>,
    /// Print errors, results that go to standard output and --json only; no reports and no passed checks
    #[arg(short, long, global = true, help_heading = "Everywhere")]
    quiet: bool,
}

impl Cli {
    /// The parser, with help that fits the window.
    pub fn shape() -> clap::Command {
        flowing(bad_line::with_help(Self::command()))
    }

    /// Parses the arguments, the first of which is the program's name.
    pub fn read<S: Into<std::ffi::OsString> + Clone>(
        arguments: impl IntoIterator<Item = S>,
    ) -> Result<Self, clap::Error> {
        Self::from_arg_matches(&Self::shape().try_get_matches_from(arguments)?)
    }

    /// Runs the command.
    pub fn run(self) -> Result<(), Failure> {
        self.everywhere.heed();
        self.command.run()
    }
}

impl Everywhere {
    /// Applies these flags from now on.
    pub fn heed(&self) {
        output::set_quiet(self.quiet);
        if let Some(threads) = self.threads {
            // A second pool in one process is no reason to fail.
            let _ = rayon::ThreadPoolBuilder::new().num_threads(threads.get()).build_global();
        }
    }
}

/// The verbs, one a file.
#[derive(Subcommand, Debug)]
pub enum Command {
    Demo(verbs::demo::Demo),
    Plan(verbs::plan::ShowPlan),
    Train(verbs::train::Train),
    Tune(verbs::tune::Tune),
    Count(verbs::count::Count),
    #[command(flatten)]
    Family(crate::family::ParsedCommand),
    Online(verbs::online::OnlineVerb),
    Vote(verbs::vote::Vote),
    Answer(verbs::answer::Answer),
    Neighbours(verbs::neighbours::Neighbours),
    Complete(verbs::complete::Complete),
    Recommend(verbs::recommend::Recommend),
    Predict(verbs::predict::Predict),
    Evaluate(verbs::evaluate::Evaluate),
    Budget(verbs::budget::Budget),
    Party(verbs::party::PartyVerb),
    Verify(verbs::verify::Verify),
    Audit(verbs::audit::Audit),
    #[command(hide = true)]
    Bench(verbs::moved::Bench),
    Inspect(verbs::inspect::Inspect),
    Report(verbs::report::Report),
    Total(verbs::total::Total),
    Explain(verbs::explain::Explain),
    Methods(verbs::methods::Methods),
    Export(verbs::export::Export),
    Schema(verbs::schema::Schema),
    Split(verbs::split::Split),
    Data(Data),
    Keygen(verbs::keygen::Keygen),
    Completions(verbs::completions::Completions),
    Man(verbs::completions::Man),
}

impl Command {
    /// Runs the verb.
    pub fn run(self) -> Result<(), Failure> {
        match self {
            Self::Demo(verb) => verb.run(),
            Self::Plan(verb) => verb.run(),
            Self::Train(verb) => verb.run(),
            Self::Tune(verb) => verb.run(),
            Self::Count(verb) => verb.run(),
            Self::Family(verb) => verb.run(),
            Self::Online(verb) => verb.run(),
            Self::Vote(verb) => verb.run(),
            Self::Answer(verb) => verb.run(),
            Self::Neighbours(verb) => verb.run(),
            Self::Complete(verb) => verb.run(),
            Self::Recommend(verb) => verb.run(),
            Self::Predict(verb) => verb.run(),
            Self::Evaluate(verb) => verb.run(),
            Self::Budget(verb) => verb.run(),
            Self::Party(verb) => verb.run(),
            Self::Verify(verb) => verb.run(),
            Self::Audit(verb) => verb.run(),
            Self::Bench(verb) => verb.run(),
            Self::Inspect(verb) => verb.run(),
            Self::Report(verb) => verb.run(),
            Self::Total(verb) => verb.run(),
            Self::Explain(verb) => verb.run(),
            Self::Methods(verb) => verb.run(),
            Self::Export(verb) => verb.run(),
            Self::Schema(verb) => verb.run(),
            Self::Split(verb) => verb.run(),
            Self::Data(verb) => verb.run(),
            Self::Keygen(verb) => verb.run(),
            Self::Completions(verb) => verb.run(),
            Self::Man(verb) => verb.run(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_flags_fit_together() {
        Cli::command().debug_assert();
    }
}
