//! `privet report`: writes one page to sign.

use crate::failure::Failure;
use crate::{output, page, say};
use clap::Args;
use privet_learn::file::{self, Seal};
use std::path::PathBuf;

/// Write one page about a release for whoever has to sign it off
#[derive(Args, Debug)]
#[command(
    long_about = "\
Writes one page about a release: its guarantee in words, whose difference it hides, the public facts
that it rests on (the schema with bounds, categories, class weights and where they come from), how δ
falls as ε grows, what an attacker of a stated rate of false accusations can gain, weights with their intervals, what is not covered, and how
to check it again without this program's word.

It is made of the file alone, so that it may be shown to whoever may see the file.",
    after_help = "\
Examples:
  privet report model.json --html model.html
  privet report worth.json --html -"
)]
pub struct Report {
    /// The file: a model, counts, an evaluation, whatever has a certificate
    file: PathBuf,
    /// Where to write the page; - is standard output
    #[arg(long, value_name = "PAGE")]
    html: PathBuf,
    /// Overwrite a page that is there
    #[arg(long)]
    force: bool,
}

impl Report {
    /// Loads, verifies, writes.
    pub fn run(self) -> Result<(), Failure> {
        let released = file::load_any(&self.file, Seal::Required)?;
        let mut place = output::open_for("--html", &self.html, self.force, &[&self.file])?;
        let verdict = released.verify();
        let text = page::signing::page(&released, &verdict);
        output::write_for("--html", &mut place, &self.html, text.as_bytes())?;
        if !place.is_standard() {
            let mode = output::mode(place.file().is_some());
            say!("page written to {}{mode}", self.html.display());
        }
        if super::inspect::claims(released.certificate()) && !verdict.valid {
            say!(
                "error: its claim does NOT hold: see privet verify {}",
                output::quote_for_shell(&self.file)
            );
            return Err(Failure::Told);
        }
        Ok(())
    }
}
