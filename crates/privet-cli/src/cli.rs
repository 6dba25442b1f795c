//! The command line's shape. Each verb owns its flags and its help; see [`crate::verbs`].

use crate::failure::Failure;
use crate::verbs;
#[cfg(not(feature = "bench"))]
use crate::verbs::left_out::{Bench, Data};
#[cfg(feature = "bench")]
use crate::verbs::{bench::Bench, data::Data};
use clap::{Parser, Subcommand};

const ABOUT: &str = "\
Learns from sensitive records and lets out only what differential privacy allows.

Every model comes with a certificate that says what it can reveal about a record, and that anyone
can re-check without the data.

New here?  privet demo
Your own table:
  1. write a public schema        see docs/guide.md, check it with:  privet schema check S.toml
  2. see what a budget buys       privet plan  --schema S.toml --rows 20000 --epsilon 1
  3. train                        privet train table.csv --schema S.toml --epsilon 1 --out m.json
  4. check what was released      privet verify m.json;  privet inspect m.json
  5. use it                       privet predict m.json new.csv --out predictions.csv";

const AFTER: &str = "\
Exit codes: 0 done; 1 refused on privacy grounds (certificate, proof, budget), or a benchmark's target
missed; 2 bad input or usage, data and model files included; 3 the environment (disk, permission); 130 interrupted.
Results go to standard output, prose and progress to standard error.";

/// The whole command line.
#[derive(Parser, Debug)]
#[command(
    name = "privet",
    version,
    about = "Differentially private machine learning with certificates",
    long_about = ABOUT,
    after_help = AFTER,
    max_term_width = 100,
    subcommand_required = true,
    arg_required_else_help = true,
    infer_subcommands = false
)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// The verbs, one a file.
#[derive(Subcommand, Debug)]
pub enum Command {
    Demo(verbs::demo::Demo),
    Plan(verbs::plan::ShowPlan),
    Train(verbs::train::Train),
    Tune(verbs::tune::Tune),
    Count(verbs::count::Count),
    Describe(verbs::describe::Describe),
    Online(verbs::online::OnlineVerb),
    Select(verbs::select::Select),
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
    Bench(Bench),
    Inspect(verbs::inspect::Inspect),
    Report(verbs::report::Report),
    Total(verbs::total::Total),
    Explain(verbs::explain::Explain),
    Methods(verbs::methods::Methods),
    Schema(verbs::schema::Schema),
    Data(Data),
    Keygen(verbs::keygen::Keygen),
}

impl Command {
    /// Does it.
    pub fn run(self) -> Result<(), Failure> {
        match self {
            Self::Demo(verb) => verb.run(),
            Self::Plan(verb) => verb.run(),
            Self::Train(verb) => verb.run(),
            Self::Tune(verb) => verb.run(),
            Self::Count(verb) => verb.run(),
            Self::Describe(verb) => verb.run(),
            Self::Online(verb) => verb.run(),
            Self::Select(verb) => verb.run(),
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
            Self::Schema(verb) => verb.run(),
            Self::Data(verb) => verb.run(),
            Self::Keygen(verb) => verb.run(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_flags_fit_together() {
        Cli::command().debug_assert();
    }
}
