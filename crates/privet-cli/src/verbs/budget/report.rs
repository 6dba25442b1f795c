//! `privet budget report`: a page that a data-protection officer can read.

use super::LedgerFlags;
use crate::failure::Failure;
use crate::{output, page, say};
use clap::Args;
use std::path::PathBuf;

/// Write a page: what was spent, on what, what remains, and what it means
#[derive(Args, Debug)]
pub struct Report {
    #[command(flatten)]
    which: LedgerFlags,
    /// Where to write the page
    #[arg(long, value_name = "FILE")]
    html: PathBuf,
    /// Overwrite a file that is there
    #[arg(long)]
    force: bool,
}

impl Report {
    /// Reads the ledger and writes the page.
    pub fn run(self) -> Result<(), Failure> {
        let ledger = self.which.look()?;
        let destination =
            output::open_for("--html", &self.html, self.force, &[&self.which.ledger])?;
        let placed = output::keep(destination, &page::budget::page(ledger.books()))?;
        say!("written to {}", placed.path.display());
        placed.misplaced.map_or(Ok(()), Err)
    }
}
