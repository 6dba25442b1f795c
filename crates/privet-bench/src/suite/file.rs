//! A suite as a file: which learners on which data sets at which budgets.
//!
//! ```toml
//! name = "mine"
//! title = "Two learners on a table of our own"
//! loss = "logistic"
//! epsilons = [0.1, 1]
//! delta = "1/n^2"
//! neighbours = "replace-one"
//! runs = 10
//!
//! [[datasets]]
//! name = "adult"                    # of the catalog: privet data list
//! epsilons = [0.1]                  # if need be: these budgets, and for methods with a grid these,
//! tuned-epsilons = []               # here none at all
//! methods = ["auto"]                # if need be: these methods only
//!
//! [[datasets]]
//! name = "ours"                     # paths are relative to this file
//! schema = "schema.toml"
//! train = "train.csv"
//! test = "test.csv"
//!
//! [[methods]]
//! name = "auto"                     # as it is called in the results
//! method = "auto"
//!
//! [[methods]]
//! name = "amp-tuned"
//! method = "amp"
//! calibrations = ["sound", "printed"]
//! published = "AMP"                 # its column in the published tables
//! grid = { fraction = [0.9, 0.99], row-norm = [0.1, 1, 10] }
//! screen = 1                        # runs of each point,
//! keep = 5                          # and of how many points `runs` are made
//!
//! [[methods]]
//! name = "dp-ebm"
//! peer = "dp-ebm"                   # somebody else's learner ([`super::peer`]), in its own environment
//! ```
//!
//! With `task = "complete"` (and no `loss`) the data sets are of ratings and the methods those of
//! `privet complete`; each run holds out another `held-out = 0.1` of every user's ratings, the same for
//! all methods, and is evaluated by the root mean squared error (`rmse`), `recall` and `ndcg`. A method
//! with `item-features = true` gets the public features of films, where the catalog has any. A data set
//! of either kind may have its own `delta`.
//!
//! With `task = "network"` (and no `loss`) a method has a `net`, one of those that come with privet.
//! `hats = 8` in `set` expands each number of a table in a piecewise-linear basis of so many hat
//! functions, and nothing is clipped then. With `public = "a set of the catalog"` its training begins
//! from weights learnt from that set without privacy ([`super::public`]).
//!
//! [`super::target`] documents `[[targets]]`. A method may also have its own `loss`, `delta`,
//! `epsilons`, `neighbours` and `datasets`, and `set`: settings that are the same everywhere.
//! [`super::grid`] lists the keys of `set` and `grid` beyond the learner's own.

use super::draft::parse;
use super::grid::Point;
use super::learner::{Family, Learner};
use super::target::Target;
use crate::error::BenchError;
use crate::{ledger, parts};
use privet_core::Neighbours;
use privet_learn::Calibration;
use privet_nn::Description;
use privet_optim::loss::Loss;
use std::path::{Path, PathBuf};

/// A checked suite.
#[derive(Debug, Clone)]
pub struct Suite {
    /// Its name.
    pub name: String,
    /// A one-line description.
    pub title: String,
    /// The family of its learners.
    pub family: Family,
    /// Number of final models for each cell.
    pub runs: u32,
    /// Data sets, in order.
    pub datasets: Vec<Source>,
    /// Learners, in order.
    pub entries: Vec<Entry>,
    /// Its targets, in order; they do not affect the measurements.
    pub targets: Vec<Target>,
    /// The file as written.
    pub text: String,
}

/// The source of a data set.
#[derive(Debug, Clone, PartialEq)]
pub struct Source {
    /// Its name in the results.
    pub name: String,
    /// Schema, training and test file of the user; `None` for the catalog.
    pub own: Option<[PathBuf; 3]>,
    /// Budgets ε on it instead of the methods' own.
    pub epsilons: Option<Vec<f64>>,
    /// Budgets ε of tuned methods on it, where all would take too long; an empty list: tuned methods do
    /// not run.
    pub tuned_epsilons: Option<Vec<f64>>,
    /// The methods for it; `None` for all.
    pub methods: Option<Vec<String>>,
    /// The δ on it instead of the methods' own.
    pub delta: Option<Delta>,
    /// For ratings: the fraction of them that each run holds out.
    pub held_out: f64,
}

impl Source {
    /// A set of the catalog, with no settings of its own.
    pub(super) fn of_catalog(name: &str) -> Self {
        Self {
            name: name.into(),
            own: None,
            epsilons: None,
            tuned_epsilons: None,
            methods: None,
            delta: None,
            held_out: 0.0,
        }
    }
}

/// A learner with its settings in a suite.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    /// Its name in the results.
    pub name: String,
    /// Its name for people.
    pub label: String,
    /// The learner.
    pub learner: Learner,
    /// Settings that are the same everywhere.
    pub fixed: Point,
    /// For ratings: true if it gets the public features of items.
    pub item_features: bool,
    /// For networks: the layers.
    pub net: Option<Description>,
    /// For networks: the data set, taken as public, from whose weights they begin.
    pub public: Option<String>,
    /// The loss.
    pub loss: Loss,
    /// Budgets ε.
    pub epsilons: Vec<f64>,
    /// The δ of the budgets.
    pub delta: Delta,
    /// The neighbouring relation.
    pub neighbours: Neighbours,
    /// The constants: proved or a paper's.
    pub calibrations: Vec<Calibration>,
    /// Its column in the published tables.
    pub published: Option<String>,
    /// The points of the grid; one empty point without a grid.
    pub points: Vec<Point>,
    /// Number of screening runs of each point.
    pub screen: u32,
    /// Number of points chosen.
    pub keep: usize,
    /// The data sets it is for; `None` for all.
    pub datasets: Option<Vec<String>>,
}

impl Entry {
    /// True if points are screened first.
    pub fn is_tuned(&self) -> bool {
        self.points.len() > 1
    }

    /// True if it is for this data set.
    pub fn is_for(&self, dataset: &str) -> bool {
        self.datasets.as_ref().is_none_or(|names| names.iter().any(|name| name == dataset))
    }
}

/// The δ as a function of the number of rows.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Delta {
    /// δ = 1/n².
    InverseSquare,
    /// A constant δ.
    Fixed(f64),
}

impl Delta {
    /// The δ for n rows.
    pub fn of(self, rows: u64) -> f64 {
        match self {
            Self::InverseSquare => privet_core::Budget::usual_delta(rows),
            Self::Fixed(delta) => delta,
        }
    }
}

/// A suite that comes with privet.
#[derive(Debug, Clone, Copy)]
pub struct BuiltIn {
    /// Its name.
    pub name: &'static str,
    text: &'static str,
}

macro_rules! built_in {
    ($($name:literal),* $(,)?) => {
        /// The suites that come with privet.
        pub const BUILT_IN: &[BuiltIn] = &[$(BuiltIn {
            name: $name,
            text: include_str!(concat!("../../suites/", $name, ".toml")),
        }),*];
    };
}

built_in![
    "smoke",
    "default",
    "tables",
    "made",
    "images",
    "iyengar-logistic",
    "iyengar-huber",
    "jain-thakurta",
    "wang-sparse",
    "thakkar-completion",
    "thakkar-transfer",
    "wang-nonconvex",
];

/// The suite of that name, or in that file.
pub fn find(name: &str) -> Result<Suite, BenchError> {
    if let Some(known) = BUILT_IN.iter().find(|known| known.name == name) {
        return parse(known.text, &format!("suite {name}"), Path::new(""));
    }
    let path = Path::new(name);
    if !path.is_file() {
        if let Some(known) = parts::find(name) {
            return Err(BenchError::InParts { given: known.name, kind: known.kind });
        }
        if name == ledger::NAME {
            return Err(BenchError::InParts { given: ledger::NAME, kind: "measurements" });
        }
        let names = BUILT_IN.iter().map(|known| known.name);
        let in_parts = parts::PART_SUITES.iter().map(|known| known.name).chain([ledger::NAME]);
        let accepted = names.chain(in_parts).collect::<Vec<_>>().join(", ");
        return Err(BenchError::UnknownSuite { given: name.into(), accepted });
    }
    let text = std::fs::read_to_string(path).map_err(BenchError::on_path(path))?;
    parse(&text, name, path.parent().unwrap_or(Path::new("")))
}

/// True if two suites, as text, measure the same: they may differ in their targets, comments and blanks.
pub(crate) fn measure_the_same(one: &str, other: &str) -> bool {
    let measured = |text: &str| {
        let mut table: toml::Table = text.parse().ok()?;
        table.remove("targets");
        Some(table)
    };
    one == other || measured(one).is_some_and(|one| measured(other) == Some(one))
}
