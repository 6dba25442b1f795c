//! `privet budget report`: a page that a data-protection officer can read.

use super::Which;
use crate::failure::Failure;
use crate::{output, page, say};
use clap::Args;
use std::path::{Path, PathBuf};

/// Write a page: what was spent, on what, what remains, and what it means
#[derive(Args, Debug)]
pub struct Report {
    #[command(flatten)]
    which: Which,
    /// Where to write the page
    #[arg(long, value_name = "FILE")]
    html: PathBuf,
    /// Overwrite a file that is there
    #[arg(long)]
    force: bool,
}

impl Report {
    /// Reads and writes.
    pub fn run(self) -> Result<(), Failure> {
        let ledger = self.which.look()?;
        let read: [&Path; 1] = [&self.which.ledger];
        let mut place = output::open_for("--html", &self.html, self.force, &read)?;
        let page = page::budget::page(ledger.books());
        output::write_for("--html", &mut place, &self.html, page.as_bytes())?;
        say!("written to {}", self.html.display());
        Ok(())
    }
}
