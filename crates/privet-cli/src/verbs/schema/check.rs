//! `privet schema check`: checks a schema, and a file against it.

use crate::failure::Failure;
use crate::output::{self, number};
use crate::progress::Meter;
use crate::sentences;
use clap::Args;
use privet_data::read::{ReadOptions, TableProblem, problems, read};
use privet_data::schema::Invalid;
use privet_data::{Encoding, Schema as PublicSchema, Target};
use std::path::{Path, PathBuf};

/// Encoded columns shown before the rest is only counted.
const SHOWN_COLUMNS: usize = 100;

/// Check a schema; with DATA, also the table
#[derive(Args, Debug)]
#[command(
    long_about = "\
Checks a schema and shows what it makes of a record: the encoded columns, the length to which every
record is clipped, and how rows are stored. With DATA the table is read against it too. All problems
are told in one go: keys of the schema, and places in the table, never what stands there.

A schema is public: write it from what everybody may know (code books, common sense), never from the
private records. What is printed about DATA is for you who hold the data, and for nobody else.",
    after_help = "\
Examples:
  privet schema check s.toml
  privet schema check s.toml table.csv

A schema:
  bias = true                          # an intercept
  invalid = \"drop\"                     # a bad line becomes a row of zeros; refused unless given
  [clip]
  norm = \"l2\"                          # every encoded record has at most this length
  radius = 1.0
  [target]
  column = \"income\"
  classes = [\"low\", \"high\"]            # or  bounds = [0, 500000]  for a number
  [[columns]]
  name = \"age\"
  type = \"number\"
  bounds = [0, 120]                    # public; values outside are moved to the nearest bound
  [[columns]]
  name = \"region\"
  type = \"category\"
  categories = [\"north\", \"south\"]
  unknown = \"other\"                    # what an unlisted one becomes
All keys: privet schema reference. A schema to begin with: privet schema new TABLE.csv"
)]
pub struct Check {
    /// The schema (TOML)
    schema: PathBuf,
    /// A table to read against it
    data: Option<PathBuf>,
}

impl Check {
    /// Checks the schema and the table.
    pub fn run(self) -> Result<(), Failure> {
        let schema = self.schema()?;
        let encoding = Encoding::new(&schema);
        let mut text = format!("{}: accepted\n", self.schema.display());
        text.push_str(&describe(&schema, &encoding));
        if let Some(path) = &self.data {
            let meter = Meter::bar(&format!("reading {}", path.display()));
            let tell = |done, total| meter.at(done, total);
            let options = ReadOptions { progress: Some(&tell), ..ReadOptions::default() };
            let found = match read(path, &schema, &options) {
                Ok(data) => Ok(data),
                // Read once more, to list every problem.
                Err(first) => Err((problems(path, &schema, &options).unwrap_or_default(), first)),
            };
            drop(meter);
            let data = found.map_err(|(all, first)| match all.is_empty() {
                true => first.into(),
                false => mismatch(path, &all),
            })?;
            text.push_str(&format!(
                "{}: fits the schema\n(what follows comes from the records: for you, not for \
                 publication)\n  {} rows kept\n",
                path.display(),
                data.rows()
            ));
            if let (Target::Class { codes, .. }, Some(classes)) = (&data.target, schema.classes()) {
                for (code, class) in (0_u32..).zip(classes) {
                    let count = codes.iter().filter(|found| **found == code).count();
                    let class = privet_core::printable(class);
                    text.push_str(&format!("  {count} of class {class}\n"));
                }
            }
            for line in data.report.to_string().lines() {
                text.push_str(&sentences::wrap_lines(line, "  "));
            }
        }
        output::report(&text)
    }
}

impl Check {
    /// The schema, or all its problems.
    fn schema(&self) -> Result<PublicSchema, Failure> {
        let refused = match PublicSchema::load(&self.schema) {
            Ok(schema) => return Ok(schema),
            Err(error) => error,
        };
        let text = std::fs::read_to_string(&self.schema).unwrap_or_default();
        let all = PublicSchema::problems(&text);
        if all.len() < 2 {
            return Err(refused.into());
        }
        let lines: Vec<String> = all.iter().map(|problem| format!("\n- {problem}")).collect();
        let (path, count) = (self.schema.display(), all.len());
        Err(Failure::input(format!("{path}: {count} problems{}", lines.concat())))
    }
}

/// Everything in a table that does not fit: positions, never values.
fn mismatch(path: &Path, all: &[TableProblem]) -> Failure {
    let shown = all.iter().take(SHOWN_COLUMNS).map(|problem| format!("\n- {problem}"));
    let mut words = format!("{}: does not fit the schema", path.display());
    words.extend(shown);
    if all.len() > SHOWN_COLUMNS {
        words.push_str(&format!("\n- and {} more", all.len() - SHOWN_COLUMNS));
    }
    words.push_str("\n(for you who hold the table, not for publication)");
    Failure::input(words)
}

/// The treatment of records that do not fit, in words.
fn policy(invalid: Invalid) -> &'static str {
    match invalid {
        Invalid::Refuse => "refused: a bad cell or line ends the reading",
        Invalid::Drop => "a bad line becomes a row of zeros; every line is a record",
        Invalid::StandIn => {
            "a bad cell becomes its column's stand-in, or the line a row of zeros; every line is a \
             record"
        }
    }
}

fn describe(schema: &PublicSchema, encoding: &Encoding) -> String {
    let target = match (schema.classes(), schema.target().column.as_str()) {
        (Some(classes), "") => format!("the label, one of {}", classes.join(", ")),
        (Some(classes), name) => format!("{name}, one of {}", classes.join(", ")),
        (None, "") => "the label, a number".into(),
        (None, name) => format!("{name}, a number"),
    };
    let names: Vec<String> = (0..encoding.width().min(SHOWN_COLUMNS))
        .filter_map(|column| encoding.column_name(column))
        .collect();
    let mut columns = format!("{} encoded: {}", encoding.width(), names.join(", "));
    if encoding.width() > SHOWN_COLUMNS {
        columns.push_str(&format!(", … ({} more)", encoding.width() - SHOWN_COLUMNS));
    }
    let radius = number(encoding.l2_radius());
    let lines = [
        ("target", target),
        ("unit", schema.unit().to_string()),
        ("radius", format!("{radius} (bound on the ℓ2 length of every encoded record)")),
        ("invalid", policy(schema.invalid()).into()),
        ("storage", format!("{:?}", encoding.storage()).to_lowercase()),
        ("columns", columns),
    ];
    // A long text continues below, with the same indent.
    lines
        .iter()
        .map(|(name, told)| sentences::wrap_after_margin(&format!("  {name:<10}"), told))
        .collect()
}
