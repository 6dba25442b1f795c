//! The head of every verb that releases something: the table, its schema, the budget, the neighbouring
//! tables, and the number of rows. Each flag, its limits and its help are written here once; a verb
//! declares its differences ([`Shape`]).

use crate::failure::Failure;
use crate::order::Table;
use crate::settings::{self, range_parser};
use clap::{Arg, ArgMatches, Args, Command, FromArgMatches, value_parser};
use privet_core::{Budget, DELTA, EPSILON, Neighbours, Relation};
use privet_data::Schema;
use std::marker::PhantomData;
use std::ops::Deref;
use std::path::{Path, PathBuf};

/// The presence of a flag in a verb.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FlagPresence {
    /// It is required.
    Always,
    /// It is optional.
    Perhaps,
    /// The verb does not have it.
    Never,
}
use FlagPresence::{Always, Never, Perhaps};

/// The differences of a verb's head from the usual one, in help and in required flags.
#[derive(Debug, Clone, Copy)]
pub struct Shape {
    /// The table: its flag's presence and help.
    pub data: (FlagPresence, &'static str),
    /// The public schema: its flag's presence and help.
    pub schema: (FlagPresence, &'static str),
    /// ε: its flag's presence, and the help between the name of the budget and its limits.
    pub epsilon: (FlagPresence, &'static str),
    /// Help on δ after its limits: other accepted values, and the default.
    pub delta: &'static str,
    /// The default neighbouring relation, and help on the accepted ones.
    pub neighbours: (Neighbours, &'static str),
    /// The number of rows: its flag's presence, name and help.
    pub rows: (FlagPresence, &'static str, &'static str),
    /// True if a release is made only where ε is given: every other flag of a release then requires it.
    pub only_with_epsilon: bool,
}

/// Help on the table, for most verbs.
pub const TABLE_HELP: &str = "The table: CSV (.gz, .zst), LIBSVM or Parquet, as the schema says; a file, a folder of files, or a \
                         pattern of names in quotes ('visits/part-*.csv'); - is standard input";
/// Help on δ, for most verbs.
pub const PURE_AT_ZERO: &str = "; 0 asks for pure ε [default: 1/N², N the number of rows]";
/// Help on the two relations.
pub const RELATIONS_HELP: &str = "replace-one (row count public) or add-remove (row count private)";
/// Help on a schema that a resumed stream does not take.
pub const NOT_FOR_A_STREAM: &str = "The public schema (TOML); not for a stream that goes on";

/// The usual head.
pub const USUAL_HEAD: Shape = Shape {
    data: (Always, TABLE_HELP),
    schema: (Always, "The public schema (TOML)"),
    epsilon: (Always, ""),
    delta: PURE_AT_ZERO,
    neighbours: (Neighbours::ReplaceOne, RELATIONS_HELP),
    rows: (
        Perhaps,
        "rows",
        "Number of rows you declare; required where it is private (add-remove, or users with several rows) [default: that \
         of the file]",
    ),
    only_with_epsilon: false,
};

/// A verb's type of head.
pub trait HasHead: std::fmt::Debug + Clone + Send + Sync + 'static {
    /// The shape of the head.
    const SHAPE: Shape;
}

/// Declares a type of head.
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
        $crate::head::Shape { $($field: $value,)* ..$crate::head::USUAL_HEAD }
    };
}
pub(crate) use head;

head! {
    /// The head of a verb that may run a baseline, which needs no budget.
    pub MayBePlain { epsilon: (Perhaps, "") }
}

/// The head as given on the command line.
#[derive(Debug, Clone)]
pub struct HeadArguments {
    data: PathBuf,
    schema: Option<PathBuf>,
    /// The privacy budget's ε, if given.
    pub epsilon: Option<f64>,
    /// The privacy budget's δ, if given.
    pub delta: Option<f64>,
    /// The neighbouring relation.
    pub neighbours: Neighbours,
    /// The declared number of rows.
    pub rows: Option<u64>,
    /// Names of the flags given.
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

    /// The path of the schema.
    pub fn schema_path(&self) -> Option<&Path> {
        self.schema.as_deref()
    }

    /// The neighbouring relation, with its unit.
    pub fn relation(&self, schema: &Schema) -> Relation {
        Relation::new(self.neighbours, schema.unit())
    }

    /// The table, not yet read.
    pub fn table<'a>(&'a self, schema: &'a Schema) -> Result<Table<'a>, Failure> {
        Table::new(&self.data, schema, self.relation(schema), self.rows)
    }

    /// The required ε, and δ if given.
    pub fn budget(&self) -> Result<(f64, Option<f64>), Failure> {
        let missing = || {
            Failure::input(format!(
                "--epsilon is missing: the privacy budget, {EPSILON}; privet picks none for you"
            ))
        };
        Ok((self.epsilon.ok_or_else(missing)?, self.delta))
    }

    /// The budget; δ defaults to that of this many rows.
    pub fn budget_for(&self, rows: u64) -> Result<Budget, Failure> {
        let (epsilon, delta) = self.budget()?;
        Ok(Budget::new(epsilon, delta.unwrap_or_else(|| Budget::usual_delta(rows)))?)
    }

    /// The files that the head names, and `more`.
    pub fn inputs<'a>(&'a self, more: &[Option<&'a Path>]) -> Vec<&'a Path> {
        let own =
            [Some(&*self.data).filter(|path| !path.as_os_str().is_empty()), self.schema_path()];
        own.into_iter().chain(more.iter().copied()).flatten().collect()
    }

    /// Refuses flags that a resumed file already settles: those given of the head, and those given of
    /// `more`.
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

    /// Reads the head from parsed arguments.
    pub fn of(matches: &ArgMatches, shape: &Shape) -> Self {
        fn one_value<T: Clone + Send + Sync + 'static>(
            matches: &ArgMatches,
            name: &str,
        ) -> Option<T> {
            matches.try_get_one::<T>(name).ok().flatten().cloned()
        }
        let schema: Option<PathBuf> = one_value(matches, "schema");
        let (epsilon, delta) = (one_value(matches, "epsilon"), one_value(matches, "delta"));
        let neighbours: Option<Neighbours> = one_value(matches, "neighbours");
        let rows: Option<u64> = one_value(matches, shape.rows.1);
        let given = [
            ("schema", schema.is_some()),
            ("epsilon", epsilon.is_some()),
            ("delta", delta.is_some()),
            ("neighbours", neighbours.is_some()),
            (shape.rows.1, rows.is_some()),
        ];
        let given = given.iter().filter(|(_, given)| *given).map(|(flag, _)| (*flag).to_string());
        Self {
            data: one_value(matches, "data").unwrap_or_default(),
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
            number(flag("epsilon", "E")).value_parser(range_parser(EPSILON)).help(format!(
                "Privacy budget ε{}: {EPSILON}. Smaller is more private; privet picks none for you",
                shape.epsilon.1
            )),
        ),
        (
            Perhaps,
            budgeted(number(flag("delta", "D"))).value_parser(range_parser(DELTA)).help(format!(
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
