//! `privet data`: lists and prepares known public sets.

use crate::failure::Failure;
use crate::progress::Meter;
use crate::{interrupt, output, say};
use clap::{Args, Subcommand};
use privet_catalog::{self as catalog, CatalogError, Entry, entries};
use serde_json::{Value, json};
use std::path::PathBuf;

/// The line on the generated tables, too many to list.
const GENERATED_TABLES_LINE: &str = "\
made-0001 to made-9999: generated tables of many shapes, for trying a method on what nobody tuned it to
";

/// List and prepare well-known public data sets
#[derive(Args, Debug)]
pub struct Data {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Subcommand, Debug)]
enum Verb {
    List(List),
    Prepare(Prepare),
}

/// List the sets that can be prepared, and where the public gets the originals
#[derive(Args, Debug)]
struct List {
    /// As JSON
    #[arg(long)]
    json: bool,
}

/// Turn a set's original files into train, test and schema
#[derive(Args, Debug)]
#[command(
    long_about = "\
Turns the original files of a known set into train.*, test.* and schema.toml: the same task and
dimensions as in the papers, with public bounds instead of the data's own maxima. Originals are
checked against their published sha256; `privet data list` says where to get them. Sets that are
made up (synthetic-l, synthetic-h, realizable, sparse-linear, sparse-logistic, the stand-ins uber-1 to uber-4, and
made-0001 to made-9999, tables of many shapes) need no originals.",
    after_help = "\
Examples:
  privet data prepare adult --from downloads --out adult
  privet data prepare synthetic-l --out synthetic-l
  privet data prepare made-0007 --out made-0007
  privet train adult/train.csv --schema adult/schema.toml --epsilon 1 --out adult/model.json"
)]
struct Prepare {
    /// Which set; see `privet data list`
    name: String,
    /// Folder with the original files, or with a sub-folder of the set's name
    #[arg(long, value_name = "DIR")]
    from: Option<PathBuf>,
    /// Folder for the results; made if need be
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// Overwrite files of those names that are there
    #[arg(long)]
    force: bool,
    /// Another shuffle, or other draws of a set that is made up
    #[arg(long, value_name = "SEED")]
    seed: Option<u64>,
}

impl Data {
    /// Runs the subcommand.
    pub fn run(self) -> Result<(), Failure> {
        match self.verb {
            Verb::List(list) => list.run(),
            Verb::Prepare(prepare) => prepare.run(),
        }
    }
}

impl List {
    fn run(self) -> Result<(), Failure> {
        if self.json {
            let list: Vec<Value> = entries().map(as_json).collect();
            return output::print_json(&Value::from(list));
        }
        let text = entries().map(in_words).collect::<String>();
        output::print(&format!("{text}{GENERATED_TABLES_LINE}"))
    }
}

impl Prepare {
    fn run(self) -> Result<(), Failure> {
        let entry = catalog::find(&self.name)?;
        let from = match self.from {
            Some(from) => from,
            None if entry.files.is_empty() => PathBuf::new(),
            None => {
                return Err(Failure::input(format!(
                    "--from is missing: the folder with {}; get them from {}",
                    entry.files.iter().map(|file| file.name).collect::<Vec<_>>().join(", "),
                    entry.origin
                )));
            }
        };
        let there = ["train.csv", "train.svm", "test.csv", "test.svm", "schema.toml"]
            .map(|name| self.out.join(name))
            .into_iter()
            .find(|path| path.exists());
        if let Some(path) = there.filter(|_| !self.force) {
            return Err(Failure::input(format!(
                "--out {}: {} exists already, and is kept; another folder is accepted, and --force \
                 overwrites it",
                self.out.display(),
                path.display()
            )));
        }
        output::room("--out", &self.out)?;
        let meter = Meter::spinner(&format!("preparing {}", self.name));
        let guard = interrupt::writing();
        let prepared = catalog::prepare(&self.name, &from, &self.out, self.seed)?;
        drop((guard, meter));
        output::report(&format!(
            "{}: {} rows\n{}: {} rows\n{}\n",
            prepared.train.display(),
            prepared.train_rows,
            prepared.test.display(),
            prepared.test_rows,
            prepared.schema_file.display(),
        ))?;
        say!(
            "next: privet train {} --schema {} --epsilon 1 --out {}",
            output::quote_for_shell(&prepared.train),
            output::quote_for_shell(&prepared.schema_file),
            output::quote_for_shell(&self.out.join("model.json"))
        );
        Ok(())
    }
}

impl From<CatalogError> for Failure {
    fn from(error: CatalogError) -> Self {
        match error {
            CatalogError::Data(error) => error.into(),
            error => Self::input(error.to_string()),
        }
    }
}

fn as_json(entry: &Entry) -> Value {
    let files = entry.files.iter().map(
        |file| json!({ "name": file.name, "sha256": file.sha256, "gzip_sha256": file.gzip_sha256 }),
    );
    json!({
        "name": entry.name,
        "title": entry.title,
        "task": entry.task,
        "rows": entry.rows,
        "columns": entry.columns,
        "classes": entry.classes,
        "origin": entry.origin,
        "licence": entry.licence,
        "files": files.collect::<Vec<_>>(),
    })
}

fn in_words(entry: &Entry) -> String {
    let target = match entry.classes {
        0 => "a number".to_string(),
        classes => format!("{classes} classes"),
    };
    let mut text = format!(
        "{}: {}\n    {}\n    {} rows, {} encoded columns, {target}\n",
        entry.name, entry.title, entry.task, entry.rows, entry.columns
    );
    if entry.files.is_empty() {
        text.push_str("    made up: needs no original\n");
        return text;
    }
    text.push_str(&format!("    from {} ({})\n", entry.origin, entry.licence));
    for file in entry.files {
        text.push_str(&format!("    {}  sha256 {}\n", file.name, file.sha256));
        if let Some(digest) = file.gzip_sha256 {
            text.push_str(&format!("    {}.gz  sha256 {digest}\n", file.name));
        }
    }
    text
}
