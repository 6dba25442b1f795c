//! `privet party`: several organisations, one model.

mod init;
mod look;
mod serve;
mod train;

use crate::failure::Failure;
use crate::{say, sentences};
use clap::{Args, Subcommand};
use privet_core::printable;
use privet_data::schema::ColumnKind;
use privet_learn::{Plan, Task};
use privet_parties::{Folder, PartiesError};
use std::path::PathBuf;

/// Train one model with other organisations, none of whom sees another's records
#[derive(Args, Debug)]
#[command(
    long_about = "\
Several organisations train one model (or count) together. Nobody's records leave their table, and nobody sees
anybody's sums: each party splits its sums into random shares for two or more servers; each server adds the
shares up, adds noise of its own, and opens the result. Only all servers together could undo that. The
model's certificate says among how many parties and servers, and `privet verify` checks it as any other.

In order:
  1. privet party init    one person lays out a folder for every party and server, and hands them out
  2. privet party serve   every server starts, each at another organisation
  3. privet party join    every party checks that it agrees: plan, schema, clock (optional)
  4. privet party train   every party trains on its own table; all get the same model
  5. privet party status  how far it is, and who is waited for

Whoever is killed is started again with the same command, and goes on. See docs/parties.md for what is
protected from whom.",
    after_help = "\
Examples:
  privet party init study --schema s.toml --epsilon 1 --party clinic=4000 --party hospital=9000 \\
      --server north=10.0.0.4:7001 --server south=10.0.1.4:7001
  privet party serve study/north
  privet party train study/clinic --data clinic.csv --out model.json
  privet party status study/clinic"
)]
pub struct PartyVerb {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Subcommand, Debug)]
enum Verb {
    Init(Box<init::Init>),
    Serve(serve::Serve),
    Join(look::Join),
    Train(Box<train::Train>),
    Status(look::Status),
}

impl PartyVerb {
    /// Runs the subcommand.
    pub fn run(self) -> Result<(), Failure> {
        match self.verb {
            Verb::Init(verb) => verb.run(),
            Verb::Serve(verb) => verb.run(),
            Verb::Join(verb) => verb.run(),
            Verb::Train(verb) => verb.run(),
            Verb::Status(verb) => verb.run(),
        }
    }
}

/// Whose folder.
#[derive(Args, Debug)]
struct Member {
    /// The member's folder, as `privet party init` laid it out
    folder: PathBuf,
}

impl Member {
    fn open(&self) -> Result<Folder, Failure> {
        Ok(Folder::open(&self.folder)?)
    }
}

/// Prints the cost of a plan and its conditions on standard error, before anything is sent.
fn print_cost<T: Task>(planned: &Plan<T>) {
    let claim =
        planned.guarantee().map(|claim| format!("planned: {}.", sentences::guarantee(claim)));
    let schema = planned.schema();
    let named: Vec<_> =
        schema.columns().iter().filter(|one| one.kind != ColumnKind::Ignore).collect();
    let columns = match (schema.libsvm(), named.len()) {
        (Some(sparse), _) => format!("{} numbered features", sparse.features),
        (None, count @ 0..=24) => {
            let names: Vec<_> = named.iter().map(|one| printable(&one.name)).collect();
            format!("{count} columns ({})", names.join(", "))
        }
        (None, count) => format!("{count} columns"),
    };
    let target = printable(&schema.target().column);
    say!(
        "{}",
        sentences::wrap_lines(&format!("what is read: {columns}, and {target}"), "").trim_end()
    );
    let notes = planned.notes().iter().map(|note| format!("note: {note}"));
    for line in claim.into_iter().chain(notes) {
        say!("{}", sentences::wrap_lines(&line, "").trim_end());
    }
}

impl From<PartiesError> for Failure {
    fn from(error: PartiesError) -> Self {
        let words = error.to_string();
        match error {
            PartiesError::Learn(error) => error.into(),
            PartiesError::OtherTable => Self::Refused(words),
            error if error.is_environment() => Self::Environment(words),
            _ => Self::Input(words),
        }
    }
}
