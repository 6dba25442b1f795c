//! `privet complete`: learns from ratings to predict others, with each user protected whole.

use crate::failure::Failure;
use crate::head::{FlagPresence, Head, head};
use crate::progress::Meter;
use crate::releasing::Releasing;
use crate::settings::{self};
use clap::Args;
use privet_data::Schema;
use privet_data::ratings::{self, Layout, RatingFacts, RatingsError};
use privet_data::read::ReadOptions;
use privet_data::schema::{Draft, Invalid};
use privet_learn::ratings::{Complete as Task, Method};
use privet_learn::{Request, plan};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

/// Learn from ratings, privately, what users would say of items that they have not rated
#[derive(Args, Debug)]
#[command(
    long_about = "\
Learns from a file of ratings what the items have in common, and writes it with a certificate into
one file. Each user is protected whole: all her ratings, and which items she rated. The file may
be seen by everyone; `privet recommend` makes predictions from it and one user's own ratings, and
those are for that user alone.

The list of items is public: --items N says that they are called 1 to N, --item-list names a file
with one a line, or the schema lists them. It is never taken from the ratings; \"the most rated
items\" is a look at private data, which --top K pays for out of the budget and shows in the
certificate. Ratings of items that are not listed are left out.

How many users there are is private: declare about how many, from public knowledge.",
    after_help = "\
Examples:
  privet complete ratings.csv --layout movielens --items 3952 --users 6000 --epsilon 1 --out films.json
  privet complete u.data --layout movielens-100k --items 1682 --users 1000 --epsilon 3 --out films.json
  privet complete jester.csv --layout jester --items 100 --bounds -10,10 --users 25000 --epsilon 1 \\
      --out jokes.json
  privet complete table.csv --schema ratings.toml --users 50000 --epsilon 1 --out model.json"
)]
pub struct Complete {
    #[command(flatten)]
    head: Head<OfRatings>,
    #[arg(
        long, value_name = "LAYOUT", default_value = "triples",
        help = format!("How the file is laid out: {}. Triples are user,item,rating under that header", Layout::ACCEPTED),
    )]
    layout: Layout,
    /// How many items there are, called 1 to N
    #[arg(long, value_name = "N", conflicts_with_all = ["item_list", "schema"])]
    items: Option<u32>,
    /// A file that lists the items, one a line
    #[arg(long, value_name = "FILE", conflicts_with = "schema")]
    item_list: Option<PathBuf>,
    /// Keep the K items with the largest noised counts, paid from the budget; all others are left out
    #[arg(long, value_name = "K", value_parser = clap::value_parser!(u32).range(2..))]
    top: Option<u32>,
    /// Public features of the items: MovieLens' movies.dat or u.item, or lines item,NUMBER,… under a header
    #[arg(long, value_name = "FILE")]
    item_features: Option<PathBuf>,
    /// The least and the largest rating; one outside counts as the nearest [default: 1,5]
    #[arg(
        long, value_name = "LOW,HIGH", value_parser = bounds, allow_hyphen_values = true,
        conflicts_with = "schema",
    )]
    bounds: Option<[f64; 2]>,
    /// Ratings kept of each user, chosen before anything else [default: one of each item]
    #[arg(
        long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..), conflicts_with = "schema",
    )]
    most: Option<u32>,
    /// What becomes of a line that does not fit: refuse, which ends the command, or drop, as with
    /// `invalid = "drop"` in a schema: no rating of its user
    #[arg(
        long, value_name = "POLICY", default_value = "refuse", value_parser = ["refuse", "drop"],
        conflicts_with = "schema",
    )]
    invalid: String,
    /// What says whose a line is, where the layout has no header: for a ledger and for `privet total`,
    /// which count one kind of user alone
    #[arg(long, value_name = "COLUMN", value_parser = settings::column, conflicts_with = "schema")]
    unit_column: Option<String>,
    /// Who is protected: users, whole
    #[arg(long, value_name = "UNIT", default_value = "user", value_parser = ["user"])]
    unit: String,
    #[arg(
        long, value_name = "METHOD", default_value = "moments",
        help = format!("How: {}", Method::accepted()),
    )]
    method: Method,
    /// A setting of the method, by name; may be given several times
    #[arg(long = "set", value_name = "NAME=VALUE", value_parser = settings::assignment)]
    set: Vec<(String, String)>,
    #[command(flatten)]
    releasing: Releasing,
}

head! {
    OfRatings {
        data: (FlagPresence::Always, "The ratings (.gz, .zst)"),
        schema: (
            FlagPresence::Perhaps,
            "The public schema (TOML) of ratings; in place of --layout, --items and --bounds",
        ),
        epsilon: (FlagPresence::Perhaps, ""),
        delta: " [default: 1/N², N the declared number of users]",
        rows: (FlagPresence::Always, "users", "About how many users there are, from public knowledge"),
    }
}

/// A pair of numbers LOW,HIGH.
fn bounds(text: &str) -> Result<[f64; 2], String> {
    let parsed: Option<Vec<f64>> = text.split(',').map(|part| part.trim().parse().ok()).collect();
    match parsed.as_deref() {
        Some([low, high]) if low.is_finite() && high.is_finite() && low < high => Ok([*low, *high]),
        _ => Err("accepted are two numbers LOW,HIGH, the first below the second".into()),
    }
}

impl Complete {
    /// Plans, reads, trains, writes.
    pub fn run(self) -> Result<(), Failure> {
        let head = &self.head;
        let users = head.rows.unwrap_or_default();
        let budget = match head.epsilon.is_some() || self.method.is_private() {
            true => Some(head.budget_for(users)?),
            false => None,
        };
        let schema = self.schema()?;
        let method = self.method.clone();
        let method =
            self.set.iter().try_fold(method, |method, (name, value)| method.with(name, value))?;
        let features = match &self.item_features {
            Some(path) => {
                let rated = ratings::Rated::of(&schema)
                    .map_err(|error| Failure::input(error.to_string()))?;
                ratings::features(path, rated.items)?.rows
            }
            None => Vec::new(),
        };
        let request = Task { method, top: self.top, features }.request(
            schema.clone(),
            users,
            head.neighbours,
        );
        let request = Request { budget, ..request };
        let laid_out = self.laid_out(&schema)?;
        let table = head.table(&laid_out)?;
        let planned = |_| {
            let _meter = Meter::spinner("planning");
            Ok(plan(&request)?)
        };
        let doing = format!("complete {}", request.task.method);
        let (place, reserved) = self.releasing.reserve(table, &self.inputs(), &doing, planned)?;
        let (ready, data) = reserved.read(|plan| {
            let _meter = Meter::spinner(&format!("reading {}", head.data().display()));
            let options = ReadOptions { allow_empty: true, ..ReadOptions::default() };
            Ok(ratings::read(head.data(), self.layout, plan.schema(), &options)?)
        })?;
        let mut source = self.releasing.source()?;
        let made = {
            let _meter = Meter::spinner("learning");
            ready.draw(&data, source.as_mut(), &AtomicBool::new(false))?
        };
        self.releasing.keep(place, made)
    }

    fn inputs(&self) -> Vec<&Path> {
        self.head.inputs(&[self.item_list.as_deref(), self.item_features.as_deref()])
    }

    /// The schema by which a ledger recognises the table: without a header, with names that do not
    /// depend on the user column's.
    fn laid_out(&self, schema: &Schema) -> Result<Schema, Failure> {
        match self.head.schema_path().is_none() && !self.layout.has_header() {
            true => Ok(ratings::with_unit(schema, "user")?),
            false => Ok(schema.clone()),
        }
    }

    fn schema(&self) -> Result<Schema, Failure> {
        if self.head.schema_path().is_some() {
            return self.head.schema();
        }
        if self.unit_column.is_some() && self.layout.has_header() {
            return Err(Failure::input(
                "--unit-column: the layout has a header, which names the column; accepted with --layout \
                 movielens-100k or jester, and a schema says it with [unit]",
            ));
        }
        let items: Vec<String> = match (self.items, &self.item_list) {
            (Some(count), _) => (1..=count).map(|item| item.to_string()).collect(),
            (None, Some(path)) => {
                let bytes = privet_data::read::decompressed(path)?;
                let text = String::from_utf8(bytes).map_err(|_| {
                    Failure::input(format!("--item-list {}: not text", path.display()))
                })?;
                text.lines()
                    .map(str::trim)
                    .filter(|line| !line.is_empty())
                    .map(Into::into)
                    .collect()
            }
            (None, None) => {
                return Err(Failure::input(
                    "--items is missing: the list of items is public and is not taken from the ratings. \
                     Accepted: --items N where they are called 1 to N, --item-list FILE, or --schema",
                ));
            }
        };
        let most = self.most.unwrap_or(items.len().max(1) as u32);
        let bounds = self.bounds.unwrap_or(match self.layout {
            Layout::Grid => [-10.0, 10.0],
            _ => [1.0, 5.0],
        });
        let refusing = ratings::schema(&RatingFacts { layout: self.layout, items, bounds, most })?;
        let invalid = (self.invalid == "drop").then_some(Invalid::Drop);
        let schema = Draft { invalid, ..refusing.into() }.check()?;
        Ok(match &self.unit_column {
            Some(name) => ratings::with_unit(&schema, name)?,
            None => schema,
        })
    }
}

impl From<RatingsError> for Failure {
    fn from(error: RatingsError) -> Self {
        match error {
            RatingsError::Data(error) => error.into(),
            error => Self::input(error.to_string()),
        }
    }
}
