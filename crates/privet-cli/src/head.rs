//! The head of every verb that releases something: the table, its schema, the budget, whose difference must not show, and
//! how many rows there are. Each flag, its limits and its help stand here once; a verb says what of it differs ([`Shape`]).

use crate::failure::Failure;
use crate::order::Table;
use crate::settings::{self, within};
use clap::{Arg, ArgMatches, Args, Command, FromArgMatches, value_parser};
use privet_core::{Budget, DELTA, EPSILON, Neighbours, Relation};
use privet_data::Schema;
use std::marker::PhantomData;
use std::ops::Deref;
use std::path::{Path, PathBuf};

/// Whether a verb takes a flag.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Given {
    /// It must be given.
    Always,
    /// It may be.
    Perhaps,
    /// The verb has none.
    Never,
}
use Given::{Always, Never, Perhaps};

/// What of a verb's head differs from that of others, in words of help and in what is required.
#[derive(Debug, Clone, Copy)]
pub struct Shape {
    /// What the table is.
    pub data: (Given, &'static str),
    /// The public schema, and what is said of it.
    pub schema: (Given, &'static str),
    /// ε, and what is said between the name of the budget and its limits.
    pub epsilon: (Given, &'static str),
    /// What is said of δ after its limits: what else is accepted, and the default.
    pub delta: &'static str,
    /// Which tables are neighbours where nobody says, and which there are.
    pub neighbours: (Neighbours, &'static str),
    /// The number of rows: its flag, and what is said of it.
    pub rows: (Given, &'static str, &'static str),
    /// A release is made only where ε is given: all else that is of a release asks for it.
    pub only_with_epsilon: bool,
}

/// What most tables are.
pub const TABLE: &str = "The table: CSV (.gz, .zst), LIBSVM or Parquet, as the schema says; a file, a folder of files, or a \
                         pattern of names in quotes ('visits/part-*.csv'); - is standard input";
/// What most say of δ.
pub const PURE_AT_ZERO: &str = "; 0 asks for pure ε [default: 1/N², N the number of rows]";
/// The two relations.
pub const RELATIONS: &str = "replace-one (row count public) or add-remove (row count private)";
/// What is said of a schema where a stream goes on without it.
pub const NOT_FOR_A_STREAM: &str = "The public schema (TOML); not for a stream that goes on";

/// What most verbs ask for.
pub const USUAL: Shape = Shape {
    data: (Always, TABLE),
    schema: (Always, "The public schema (TOML)"),
    epsilon: (Always, ""),
    delta: PURE_AT_ZERO,
    neighbours: (Neighbours::ReplaceOne, RELATIONS),
    rows: (
        Perhaps,
        "rows",
        "Number of rows you declare; required where it is private (add-remove, or users with several rows) [default: that \
         of the file]",
    ),
    only_with_epsilon: false,
};

/// Which head a verb has.
pub trait HasHead: std::fmt::Debug + Clone + Send + Sync + 'static {
    /// Its head.
    const SHAPE: Shape;
}

/// Names a head.
macro_rules! head {
    ($(#[$doc:meta])* $visible:vis $Name:ident $fields:tt) => {
        $(#[$doc])*
        #[derive(Debug, Clone)]
        $visible struct $Name;

        impl $crate::head::HasHead for $Name {
            const SHAPE: $crate::head::Shape = head!(@shape $fields);
        }
    };
    (@shape { $($field:ident: $value:expr),* $(,)? }) => {
        $crate::head::Shape { $($field: $value,)* ..$crate::head::USUAL }
    };
}
pub(crate) use head;

head! {
    /// Of what may be a baseline, which needs no budget.
    pub MayBePlain { epsilon: (Perhaps, "") }
}

/// The head as it was told.
#[derive(Debug, Clone)]
pub struct HeadArguments {
    data: PathBuf,
    schema: Option<PathBuf>,
    /// ε, where it was given.
    pub epsilon: Option<f64>,
    /// δ, where it was given.
    pub delta: Option<f64>,
    /// Which tables are neighbours.
    pub neighbours: Neighbours,
    /// How many rows were declared.
    pub rows: Option<u64>,
    /// The flags that were given.
    given: Vec<String>,
}

impl HeadArguments {
    /// The table.
    pub fn data(&self) -> &Path {
        &self.data
    }

    /// Reads the schema.
    pub fn schema(&self) -> Result<Schema, Failure> {
        match &self.schema {
            Some(path) => Ok(Schema::load(path)?),
            None => Err(Failure::input("--schema is missing: the public schema of the table")),
        }
    }

    /// Where the schema is.
    pub fn schema_path(&self) -> Option<&Path> {
        self.schema.as_deref()
    }

    /// Which tables are neighbours, counted in which unit.
    pub fn relation(&self, schema: &Schema) -> Relation {
        Relation::new(self.neighbours, schema.unit())
    }

    /// The table, nothing of which was read.
    pub fn table<'a>(&'a self, schema: &'a Schema) -> Result<Table<'a>, Failure> {
        Table::new(&self.data, schema, self.relation(schema), self.rows)
    }

    /// ε, which is needed, and δ where it was given.
    pub fn budget(&self) -> Result<(f64, Option<f64>), Failure> {
        let missing = || {
            Failure::input(format!(
                "--epsilon is missing: the privacy budget, {EPSILON}; privet picks none for you"
            ))
        };
        Ok((self.epsilon.ok_or_else(missing)?, self.delta))
    }

    /// The budget, its δ that of so many rows unless it was given.
    pub fn budget_for(&self, rows: u64) -> Result<Budget, Failure> {
        let (epsilon, delta) = self.budget()?;
        Ok(Budget::new(epsilon, delta.unwrap_or_else(|| Budget::usual_delta(rows)))?)
    }

    /// The files that it names, and these.
    pub fn inputs<'a>(&'a self, more: &[Option<&'a Path>]) -> Vec<&'a Path> {
        let own =
            [Some(&*self.data).filter(|path| !path.as_os_str().is_empty()), self.schema_path()];
        own.into_iter().chain(more.iter().copied()).flatten().collect()
    }

    /// Refuses what a file that goes on as it was begun says already: what is given of the head, and what of these is.
    pub fn not_again(&self, path: &Path, more: &[(&str, bool)]) -> Result<(), Failure> {
        let more = more.iter().filter(|(_, given)| *given).map(|(flag, _)| (*flag).to_string());
        match self.given.iter().cloned().chain(more).next() {
            None => Ok(()),
            Some(flag) => Err(Failure::input(format!(
                "--{flag}: {} says it already, and goes on as it was begun; leave it out, or name another stream",
                path.display()
            ))),
        }
    }

    /// As the arguments tell it.
    pub fn of(matches: &ArgMatches, shape: &Shape) -> Self {
        fn one<T: Clone + Send + Sync + 'static>(matches: &ArgMatches, name: &str) -> Option<T> {
            matches.try_get_one::<T>(name).ok().flatten().cloned()
        }
        let schema: Option<PathBuf> = one(matches, "schema");
        let (epsilon, delta) = (one(matches, "epsilon"), one(matches, "delta"));
        let neighbours: Option<Neighbours> = one(matches, "neighbours");
        let rows: Option<u64> = one(matches, shape.rows.1);
        let given = [
            ("schema", schema.is_some()),
            ("epsilon", epsilon.is_some()),
            ("delta", delta.is_some()),
            ("neighbours", neighbours.is_some()),
            (shape.rows.1, rows.is_some()),
        ];
        let given = given.iter().filter(|(_, given)| *given).map(|(flag, _)| (*flag).to_string());
        Self {
            data: one(matches, "data").unwrap_or_default(),
            schema,
            epsilon,
            delta,
            neighbours: neighbours.unwrap_or(shape.neighbours.0),
            rows,
            given: given.collect(),
        }
    }
}

/// The command with the flags of a head.
pub fn with_head(command: Command, shape: &Shape) -> Command {
    let budgeted = |flag: Arg| match shape.only_with_epsilon {
        true => flag.requires("epsilon"),
        false => flag,
    };
    let number = |flag: Arg| flag.allow_hyphen_values(true);
    let flag =
        |name: &'static str, value: &'static str| Arg::new(name).long(name).value_name(value);
    let (default, relations) = shape.neighbours;
    let flags = [
        (
            shape.data.0,
            Arg::new("data").value_name("DATA").help(shape.data.1).value_parser(settings::table()),
        ),
        (
            shape.schema.0,
            flag("schema", "SCHEMA").help(shape.schema.1).value_parser(value_parser!(PathBuf)),
        ),
        (
            shape.epsilon.0,
            number(flag("epsilon", "E")).value_parser(within(EPSILON)).help(format!(
                "Privacy budget ε{}: {EPSILON}. Smaller is more private; privet picks none for you",
                shape.epsilon.1
            )),
        ),
        (
            Perhaps,
            budgeted(number(flag("delta", "D"))).value_parser(within(DELTA)).help(format!(
                "What probabilities may differ by beyond e^ε, δ: {DELTA}{}",
                shape.delta
            )),
        ),
        (
            Perhaps,
            budgeted(flag("neighbours", "RELATION"))
                .value_parser(value_parser!(Neighbours))
                .help(format!("Neighbouring tables: {relations} [default: {default}]")),
        ),
        (
            shape.rows.0,
            budgeted(flag(shape.rows.1, "N")).value_parser(settings::rows).help(shape.rows.2),
        ),
    ];
    flags
        .into_iter()
        .filter(|(given, _)| *given != Never)
        .fold(command, |command, (given, flag)| command.arg(flag.required(given == Always)))
}

/// The head of a verb.
#[derive(Debug, Clone)]
pub struct Head<K>(HeadArguments, PhantomData<K>);

impl<K> Deref for Head<K> {
    type Target = HeadArguments;
    fn deref(&self) -> &HeadArguments {
        &self.0
    }
}

impl<K: HasHead> Args for Head<K> {
    fn augment_args(command: Command) -> Command {
        with_head(command, &K::SHAPE)
    }

    fn augment_args_for_update(command: Command) -> Command {
        with_head(command, &K::SHAPE)
    }
}

impl<K: HasHead> FromArgMatches for Head<K> {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        Ok(Self(HeadArguments::of(matches, &K::SHAPE), PhantomData))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}
