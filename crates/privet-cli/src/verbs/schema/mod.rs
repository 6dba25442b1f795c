//! `privet schema`: writes and checks a schema, and lists everything that one may contain.

mod check;
mod narrow;
mod new;
mod outlined;

use crate::failure::Failure;
use crate::output;
use clap::{Args, Subcommand};

/// Write a schema, check it and a table against it
#[derive(Args, Debug)]
pub struct Schema {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Subcommand, Debug)]
enum Verb {
    New(Box<new::New>),
    Check(check::Check),
    Narrow(narrow::Narrow),
    Reference(Reference),
}

/// Every key that a schema may have, as a page in Markdown
#[derive(Args, Debug)]
struct Reference {}

impl Schema {
    /// Runs the subcommand.
    pub fn run(self) -> Result<(), Failure> {
        match self.verb {
            Verb::New(new) => new.run(),
            Verb::Check(check) => check.run(),
            Verb::Narrow(narrow) => narrow.run(),
            Verb::Reference(Reference {}) => output::print_exact(&privet_data::schema::reference()),
        }
    }
}
