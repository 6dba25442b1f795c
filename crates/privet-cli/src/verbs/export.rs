//! `privet export`: a model for other programs.

use crate::failure::Failure;
use crate::usable::UsableModel;
use crate::{output, say};
use clap::{Args, ValueEnum};
use privet_learn::export;
use std::path::PathBuf;

/// Take a model away, as ONNX, SQL or a table of coefficients
#[derive(Args, Debug)]
#[command(
    long_about = "\
Writes a model for other programs: a linear one in each of these forms, a network as ONNX. ONNX and SQL start from the raw columns of a table and end with
what `privet predict` says: bounds, categories, missing cells and the clipping of a row are part of them.
It costs no budget: the model is public in the sense of its certificate.

  onnx   a file for onnxruntime and its like. Inputs are the columns, each of shape (rows, 1), numbers as
         double (NaN is missing), all else as string; outputs are prediction, scores and, for logistic
         models and networks of classes, probabilities. The certificate is in its metadata.
  sql    one query that SQLite and DuckDB understand, on a table with the model's columns
  csv    encoded columns with their weights

Where `privet predict` refuses a row, since a cell is missing that may not be, its prediction is empty (NULL, or no
text). A table that lacks a column is refused. A text that is no number, in a column of numbers, is an error in DuckDB
and 0 in SQLite: check such columns first.

Scores agree with privet's to about seven digits (six of a network, whose sums are taken in another order):
privet rounds rows to 24 bits and other programs do not. Models of [image] features, sparse files, hashed
categories or random waves are refused.",
    after_help = "\
Examples:
  privet export model.json --to onnx --out model.onnx
  privet export model.json --to sql --table visits --id patient --out model.sql
  privet export model.json --to csv"
)]
pub struct Export {
    /// The model file
    model: PathBuf,
    /// What to write
    #[arg(long, value_enum)]
    to: Form,
    /// Where to write it; - is standard output
    #[arg(long, value_name = "FILE", default_value = "-")]
    out: PathBuf,
    /// Overwrite a file that is there
    #[arg(long)]
    force: bool,
    /// SQL: the table that is read
    #[arg(long, value_name = "NAME", default_value = "records")]
    table: String,
    /// SQL: the column of the table that stands beside each prediction; those of the model unless given
    #[arg(long, value_name = "COLUMN")]
    id: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Form {
    Onnx,
    Sql,
    Csv,
}

impl Export {
    /// Loads the model and writes it.
    pub fn run(self) -> Result<(), Failure> {
        let model = UsableModel::load(&self.model)?;
        let mut out = output::open(&self.out, self.force, &[&self.model])?;
        let shown = out.is_standard() && std::io::IsTerminal::is_terminal(&std::io::stdout());
        if self.to == Form::Onnx && shown {
            let words =
                "--to onnx: a file of bytes, which a terminal cannot show; --out FILE is accepted";
            return Err(Failure::input(words));
        }
        let bytes = match (&model, self.to) {
            (UsableModel::Linear(model), Form::Onnx) => export::onnx(model)?,
            (UsableModel::Network(network), Form::Onnx) => export::network(network)?,
            (UsableModel::Linear(model), Form::Sql) => {
                export::sql(model, &self.table, self.id.as_deref())?.into_bytes()
            }
            (UsableModel::Linear(model), Form::Csv) => export::coefficients(model)?.into_bytes(),
            (UsableModel::Network(_), Form::Sql | Form::Csv) => {
                return Err(Failure::input(format!(
                    "{}: a network is no sum over columns, which SQL and a table of coefficients could say; --to onnx \
                     is accepted",
                    self.model.display()
                )));
            }
        };
        output::write(&mut out, &self.out, &bytes)?;
        if !out.is_standard() {
            say!("written to {}{}", self.out.display(), output::mode(out.file().is_some()));
        }
        Ok(())
    }
}
