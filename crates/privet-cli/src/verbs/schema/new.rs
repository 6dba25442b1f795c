//! `privet schema new`: a schema to fill in, from a table's header alone; or a complete one, from a
//! public table or estimated privately from the records.

use super::outlined::PaidLook;
use crate::failure::Failure;
use crate::output::{self, quote_for_shell};
use crate::say;
use clap::{Args, ValueEnum};
use privet_core::{Spelling, printable};
use privet_data::read::{ColumnSurvey, Header, survey};
use privet_data::schema::{FileFacts, Format};
use sha2::{Digest, Sha256};
use std::fmt::Write;
use std::path::{Path, PathBuf};

/// Largest number of categories that are listed.
const LISTED: usize = 50;
/// A column of integers with at most this many distinct values is read as categories.
const CODES: usize = 12;

/// What the target is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum TargetIs {
    /// One of a few labels, be they written as numbers
    Classes,
    /// A number between two bounds
    Number,
}

/// Write a schema to fill in, from a table's header
#[derive(Args, Debug)]
#[command(
    long_about = "\
Writes a schema to fill in. Only the header of TABLE is read: the names of its columns, and what stands
between them. Types, bounds and categories are left blank, since they must come from the questionnaire,
the code book or common sense: taken from the records they would give them away.

A first line that may be a record is not copied: one with a name that is a number, a date, empty or
there twice. If it is the header all the same, say so with --header.

With --epsilon everything is filled in by a private look at the records, which is paid for: types by
what most cells are, bounds by quantiles, categories by what enough people hold. Each person counts
for at most two values of a column, of all that her rows hold (at most --max-records of them): more rows
a person need no more noise. A column of which less than half was found, as the noisy counts say,
gets no bounds: \"nothing stood out of the noise\". The price and what proves it stand in the schema, and
every certificate made under it states schema, release and both together. Where bounds are known but
wide, `privet schema narrow` makes them narrower by a description.

A target that is written in numbers may be classes (0 and 1) or a number: --target-is says which. With
--epsilon it must be said, before a record is read; with --public where the table leaves it open.

With --public the whole table is read and everything is filled in. That is for tables that anybody may
see. Where the table can be found and its digest are noted in the schema, and so in every certificate.",
    after_help = "\
Examples:
  privet schema new visits.csv --target readmitted --out schema.toml
  privet schema new visits.csv --target readmitted --unit patient --max-records 3
  privet schema new visits.csv --target readmitted --target-is classes --unit patient --max-records 2 \\
      --rows 70000 --categories ward_id --leave-out visit_id --epsilon 0.2 --out schema.toml
  privet schema new adult.csv --public \"UCI Adult, doi.org/10.24432/C5XW20\" --target income
Then fill in what is blank, and:
  privet schema check schema.toml visits.csv"
)]
pub struct New {
    /// The table: CSV or Parquet
    pub(super) table: PathBuf,
    /// Where to write the schema; - is standard output
    #[arg(long, value_name = "TOML", default_value = "-")]
    out: PathBuf,
    /// Overwrite a file that is there
    #[arg(long)]
    pub(super) force: bool,
    /// The column to predict
    #[arg(long, value_name = "COLUMN")]
    pub(super) target: Option<String>,
    /// What the target is, where its cells may leave that open
    #[arg(long, value_name = "WHAT", requires = "target")]
    pub(super) target_is: Option<TargetIs>,
    /// The column that says whose a row is, if one person has several
    #[arg(long, value_name = "COLUMN")]
    pub(super) unit: Option<String>,
    /// With --unit: how many rows of each person are used
    #[arg(long, value_name = "K", requires = "unit")]
    pub(super) max_records: Option<u32>,
    /// With --unit: when two of its cells name one person
    ///
    /// text: the same text. number: the same integer, so that 2, 2.0, 02 and +2 are one person (pandas
    /// writes 2.0 where another row has no id), and what writes none is nobody's. nfc: the same
    /// characters, however an accent is composed. Say what the ids are; the records are not asked.
    /// number and nfc need neighbours replace-one.
    #[arg(
        long,
        value_name = "text|number|nfc",
        default_value_t,
        requires = "unit",
        hide_default_value = true
    )]
    pub(super) unit_spelling: Spelling,
    /// The first line is the header, whatever it looks like
    #[arg(long)]
    header: bool,
    /// TABLE is public, and this is where anybody can find it: fill in everything from it
    #[arg(long, value_name = "SOURCE", conflicts_with = "epsilon")]
    public: Option<String>,
    #[command(flatten)]
    looking: PaidLook,
}

impl New {
    /// Reads the header, or all of a public table, and writes.
    pub fn run(self) -> Result<(), Failure> {
        let mut out = output::open(&self.out, self.force, &[&self.table])?;
        let header = Header::read(&self.table)?;
        let doubts = header.doubts();
        if !doubts.is_empty() && !self.header {
            let places: Vec<String> = doubts
                .iter()
                .take(5)
                .map(|(place, doubt)| format!("name {place} is {doubt}"))
                .collect();
            return Err(Failure::input(format!(
                "{}: the first line may be a record ({}), and is not copied; accepted: a table whose first \
                 line names the columns, or --header if it does",
                self.table.display(),
                places.join(", ")
            )));
        }
        for (flag, name) in [("--target", &self.target), ("--unit", &self.unit)] {
            if let Some(name) = name
                && !header.names.contains(name)
            {
                return Err(Failure::input(format!(
                    "{flag} {name}: the table has no such column; accepted: {}",
                    header.names.join(", ")
                )));
            }
        }
        let (standard, whole) = (out.is_standard(), out.file().is_some());
        let (text, bought) = match (&self.public, self.looking.head.epsilon) {
            (Some(source), _) => (self.filled_in(&header, source)?, None),
            (None, Some(epsilon)) => {
                let (text, bought) = self.looking.filled_in(&self, &header, epsilon)?;
                (text, Some(bought))
            }
            (None, None) => (self.to_fill_in(&header), None),
        };
        match bought {
            None => output::write(&mut out, &self.out, text.as_bytes())?,
            Some(bought) => {
                let misplaced = output::keep(out, &text)?.misplaced;
                let settled = bought.settle();
                misplaced.map_or(Ok(()), Err).and(settled)?;
            }
        }
        if !standard {
            say!("schema written to {}{}", self.out.display(), output::mode(whole));
            let filled = self.public.is_some() || self.looking.head.epsilon.is_some();
            let blank = if filled { "look it over" } else { "fill in what is blank" };
            let (schema, table) = (quote_for_shell(&self.out), quote_for_shell(&self.table));
            say!("{blank}, then: privet schema check {schema} {table}");
        }
        Ok(())
    }

    /// The tables common to every schema, up to the target.
    pub(super) fn head(&self, file: &FileFacts, missing: &[String]) -> String {
        let mut text = String::new();
        let separator = (file.separator != b',').then(|| char::from(file.separator).to_string());
        let parquet = file.format == Format::Parquet;
        if parquet || separator.is_some() || !missing.is_empty() {
            text.push_str("\n[file]\n");
            if parquet {
                text.push_str("format = \"parquet\"\n");
            }
            if let Some(separator) = separator {
                let _ = writeln!(text, "separator = {}", toml_text(&separator));
            }
            if !missing.is_empty() {
                let texts: Vec<String> = missing.iter().map(|text| toml_text(text)).collect();
                let _ = writeln!(text, "missing_values = [{}]", texts.join(", "));
            }
        }
        text.push_str(
            "\n[clip]                          # every record is scaled down to this length, and the noise is\n\
             norm = \"l2\"                     # in proportion to it; 1 is a good start\n\
             radius = 1.0\n",
        );
        text
    }

    pub(super) fn unit_table(&self) -> String {
        match (&self.unit, self.max_records) {
            (None, _) => String::new(),
            (Some(unit), most) => {
                let most = most
                    .map_or("0                 # how many rows of each are used".into(), |k| {
                        k.to_string()
                    });
                let spelling = match self.unit_spelling {
                    Spelling::Text => "# spelling = \"number\"           # if ids are integers: 2, 2.0 and 02 are one person; else 3".into(),
                    other => format!("spelling = \"{other}\""),
                };
                format!(
                    "\n[unit]                          # all rows of one person are protected together\n\
                         column = {}\nmax_records = {most}\n{spelling}\n",
                    toml_text(unit)
                )
            }
        }
    }

    /// A schema to fill in, from the header alone.
    fn to_fill_in(&self, header: &Header) -> String {
        let mut text = String::from(
            "# A schema to fill in: the columns come from the table's header, and nothing else was read.\n\
             # Types, bounds and categories are blank on purpose. Take them from the questionnaire, the code\n\
             # book or common sense, never from the records: what is copied from them is given away.\n\
             # All keys: privet schema reference\n\n\
             # other_columns = \"ignore\"      # columns that are not listed here are left out, not refused\n\
             # invalid = \"drop\"              # a record with a bad cell counts as empty; refused unless given\n",
        );
        text.push_str(&self.head(&header.file, &[]));
        let target = self.target.as_deref().map_or("\"\"".into(), toml_text);
        let which = if self.target.is_some() {
            ""
        } else {
            "                       # one of the columns; take it out of the list"
        };
        let _ = writeln!(text, "\n[target]\ncolumn = {target}{which}");
        let classes = "classes = []                    # the labels in order: [\"no\", \"yes\"]\n";
        let bounds = "# bounds = [0, 100]             # what it can be at all";
        text.push_str(&match self.target_is {
            Some(TargetIs::Classes) => classes.into(),
            Some(TargetIs::Number) => format!("{bounds}\n"),
            None => format!("{classes}{bounds}, in place of classes, if it is a number\n"),
        });
        text.push_str(&self.unit_table());
        for name in self.features(&header.names) {
            let _ = write!(
                text,
                "\n[[columns]]\nname = {}\ntype = \"\"                       # number | category | binary | date | ignore\n\
                 # bounds = [low, high]          # number: what it can be at all\n\
                 # categories = [\"a\", \"b\"]       # category: the code book's list\n",
                toml_text(name)
            );
        }
        text
    }

    fn features<'a>(&'a self, names: &'a [String]) -> impl Iterator<Item = &'a String> {
        let taken = [self.target.as_ref(), self.unit.as_ref()];
        names.iter().filter(move |name| !taken.contains(&Some(*name)))
    }

    /// A schema from a public table.
    fn filled_in(&self, header: &Header, source: &str) -> Result<String, Failure> {
        let columns = survey(&self.table, &header.file)?;
        let digest = digest(&self.table)?;
        let mut missing: Vec<String> =
            columns.iter().flat_map(|column| column.missing.iter().cloned()).collect();
        missing.sort();
        missing.dedup();
        let mut text = String::from(
            "# Filled in from a table that is marked public: bounds are its smallest and largest values, and\n\
             # categories those that it holds. For a private table of the same kind, look them over first.\n",
        );
        text.push_str(&self.head(&header.file, &missing));
        let of = |name: &str| columns.iter().find(|column| column.name == name);
        let target = self.target.as_deref().and_then(of);
        let _ = write!(
            text,
            "\n[target]\ncolumn = {}\n",
            self.target.as_deref().map_or("\"\"".into(), toml_text)
        );
        text.push_str(&match target {
            None => "classes = []                    # the labels in order\n".into(),
            Some(column) => self.target_of(column)?,
        });
        text.push_str(&self.unit_table());
        let _ = write!(
            text,
            "\n[origin]                        # every certificate carries this\npublic = {}\nsha256 = \"{digest}\"\n",
            toml_text(source)
        );
        for name in self.features(&header.names) {
            if let Some(column) = of(name) {
                text.push_str(&entry(column));
            }
        }
        Ok(text)
    }
}

impl New {
    /// Classes or bounds of a public table's target; refused where the kind of target was not given and
    /// the table leaves it open.
    fn target_of(&self, column: &ColumnSurvey) -> Result<String, Failure> {
        let refused = |what: &str| {
            let name = printable(&column.name);
            Err(Failure::input(format!("--target {name}: {what}")))
        };
        let few = column.texts.as_ref().filter(|texts| texts.len() <= CODES);
        let is = match (self.target_is, few) {
            (Some(is), _) => is,
            (None, _) if !column.is_number() => TargetIs::Classes,
            (None, None) => TargetIs::Number,
            (None, Some(_)) => {
                return refused(
                    "its cells are a few numbers, which may be classes or amounts; say which with --target-is \
                     classes or --target-is number",
                );
            }
        };
        match (is, &column.texts, column.bounds) {
            (TargetIs::Classes, Some(texts), _) => {
                Ok(format!("classes = {}\n", toml_list(texts.iter())))
            }
            (TargetIs::Classes, None, _) => {
                Ok("classes = []                    # too many different labels to list\n".into())
            }
            (TargetIs::Number, _, Some((low, high))) if column.is_number() => {
                Ok(format!("bounds = [{low}, {high}]\n"))
            }
            (TargetIs::Number, _, _) => {
                refused("not all its cells are numbers; --target-is classes is accepted")
            }
        }
    }
}

trait Holds {
    fn is_number(&self) -> bool;
}

impl Holds for ColumnSurvey {
    fn is_number(&self) -> bool {
        self.cells > 0 && self.numbers == self.cells
    }
}

/// One column of a complete schema.
fn entry(column: &ColumnSurvey) -> String {
    let mut text = format!("\n[[columns]]\nname = {}\n", toml_text(&column.name));
    let texts = column.texts.as_ref();
    let count = texts.map_or(usize::MAX, |texts| texts.len());
    let orders = [("ymd", column.dates[0]), ("dmy", column.dates[1]), ("mdy", column.dates[2])];
    let dated = orders.iter().find(|(_, found)| column.cells > 0 && *found == column.cells);
    let mut can_miss = !column.missing.is_empty();
    match (texts, column.bounds) {
        (Some(texts), _) if count == 2 && dated.is_none() => {
            let _ = write!(text, "type = \"binary\"\nvalues = {}\n", toml_list(texts.iter()));
        }
        (_, Some((low, high))) if column.is_number() && count > CODES && low < high => {
            let _ = write!(text, "type = \"number\"\nbounds = [{low}, {high}]\n");
        }
        _ if dated.is_some() => {
            let order = dated.map_or("ymd", |(order, _)| *order);
            text.push_str("type = \"date\"\n");
            match &column.days {
                Some((first, last)) if first < last && order == "ymd" => {
                    let _ = writeln!(text, "range = [{}, {}]", toml_text(first), toml_text(last));
                }
                _ => {
                    let _ = writeln!(text, "order = \"{order}\"\nparts = [\"month\", \"weekday\"]");
                }
            }
        }
        (Some(texts), _) if (1..=LISTED).contains(&count) => {
            let _ = write!(
                text,
                "type = \"category\"\ncategories = {}\nunknown = \"other\"\n",
                toml_list(texts.iter())
            );
        }
        _ => {
            can_miss = false;
            text.push_str(
                "type = \"ignore\"                 # too many different texts, or none\n",
            );
        }
    }
    if can_miss {
        text.push_str("missing = \"category\"\n");
    }
    text
}

fn digest(path: &Path) -> Result<String, Failure> {
    let mut file = std::fs::File::open(path)
        .map_err(|error| Failure::file(&path.display().to_string(), &error))?;
    let mut hash = Sha256::new();
    let mut buffer = vec![0; 1 << 16];
    loop {
        let count = std::io::Read::read(&mut file, &mut buffer)
            .map_err(|error| Failure::file(&path.display().to_string(), &error))?;
        if count == 0 {
            break;
        }
        hash.update(&buffer[..count]);
    }
    Ok(hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect())
}

/// A text in TOML syntax.
pub(super) fn toml_text(text: &str) -> String {
    toml::Value::String(text.to_string()).to_string()
}

pub(super) fn toml_list<'a>(texts: impl Iterator<Item = &'a String>) -> String {
    let texts: Vec<String> = texts.map(|text| toml_text(text)).collect();
    let line = format!("[{}]", texts.join(", "));
    if line.chars().count() <= 90 { line } else { format!("[\n    {},\n]", texts.join(",\n    ")) }
}
