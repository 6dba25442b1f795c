//! `privet schema narrow`: narrows wide bounds by a private description.

use crate::failure::Failure;
use crate::{output, say};
use clap::Args;
use privet_data::Schema;
use privet_learn::Loaded;
use privet_learn::file::{self, Seal};
use privet_learn::statistics::describe;
use std::path::PathBuf;

/// Make bounds and categories narrower by a private description
#[derive(Args, Debug)]
#[command(
    long_about = "\
Bounds that people write without looking are wide, and noise is in proportion to them. This takes a
description that `privet describe` released and writes the schema with narrower ones: of a number the 5 %
and 95 % quantiles with a quarter of their distance beyond, never outside what was declared; of a category
with unknown = \"other\" only those that the description can tell from none.

It costs nothing beyond the description. What that cost is noted in the schema with its events: every plan
checks them, and every certificate made under the schema states schema, release and total apart.",
    after_help = "\
Example:
  privet describe visits.csv --schema wide.toml --epsilon 0.2 --out visits.json
  privet schema narrow wide.toml --by visits.json --out schema.toml
  privet train visits.csv --schema schema.toml --epsilon 0.8 --out model.json    # 1 in all"
)]
pub struct Narrow {
    /// The schema that the table was described with
    schema: PathBuf,
    /// What `privet describe` released
    #[arg(long, value_name = "DESCRIPTION")]
    by: PathBuf,
    /// Where to write the schema; - is standard output
    #[arg(long, value_name = "TOML", default_value = "-")]
    out: PathBuf,
    /// Overwrite a file that is there
    #[arg(long)]
    force: bool,
}

impl Narrow {
    /// Loads both and writes the schema.
    pub fn run(self) -> Result<(), Failure> {
        let schema = Schema::load(&self.schema)?;
        let Loaded::Description(description) = file::load_any(&self.by, Seal::Required)? else {
            return Err(Failure::input(format!(
                "--by {}: no description; accepted is what `privet describe` released",
                self.by.display()
            )));
        };
        let mut out = output::open(&self.out, self.force, &[&self.schema, &self.by])?;
        let narrowed = describe::narrow_bounds(&schema, &description)?;
        output::write(&mut out, &self.out, narrowed.to_toml().as_bytes())?;
        if !out.is_standard() {
            say!("schema written to {}{}", self.out.display(), output::mode(out.file().is_some()));
        }
        Ok(())
    }
}
