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
//! With `task = "complete"` (and no `loss`) the data sets are of ratings and the methods those of `privet complete`;
//! each run holds out another `held-out = 0.1` of every user's ratings, the same for all methods, and is judged by the
//! root mean squared error (`rmse`), `recall` and `ndcg`. A method with `item-features = true` is told the public
//! features of films, where the catalog has any. A data set of either kind may have its own `delta`.
//!
//! With `task = "network"` (and no `loss`) a method has a `net`, one of those that come with privet. `hats = 8` in `set`
//! unfolds each number of a table into so many hats below it, and nothing is clipped then. With `public = "a set of the
//! catalog"` its training begins from weights that were learnt from that set without privacy ([`super::public`]).
//!
//! [`super::target`] shows what stands under `[[targets]]`. A method may also have its own `loss`, `delta`, `epsilons`, `neighbours` and `datasets`, and `set`:
//! settings that are the same everywhere. [`super::grid`] lists the keys of `set` and `grid` beyond the learner's own.

use super::draft::parse;
use super::grid::Point;
use super::learner::{Family, Learner};
use super::target::Target;
use crate::error::BenchError;
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
    /// What it shows, in a line.
    pub title: String,
    /// What its entries learn.
    pub family: Family,
    /// Models that count, for each cell.
    pub runs: u32,
    /// Data sets, in order.
    pub datasets: Vec<Source>,
    /// Learners, in order.
    pub entries: Vec<Entry>,
    /// What its results must reach, in order; it measures the same without them.
    pub targets: Vec<Target>,
    /// The file as written.
    pub text: String,
}

/// Where a data set comes from.
#[derive(Debug, Clone, PartialEq)]
pub struct Source {
    /// Its name in the results.
    pub name: String,
    /// Schema, training and test file of one's own; none for the catalog.
    pub own: Option<[PathBuf; 3]>,
    /// Budgets on it instead of the methods' own.
    pub epsilons: Option<Vec<f64>>,
    /// The same for tuned methods, where they take too long for all; nothing in it: they do not run.
    pub tuned_epsilons: Option<Vec<f64>>,
    /// The methods for it; all of them if none.
    pub methods: Option<Vec<String>>,
    /// δ on it instead of the methods' own.
    pub delta: Option<Delta>,
    /// Of ratings: the share of them that each run holds out.
    pub held_out: f64,
}

impl Source {
    /// One of the catalog, with nothing of its own.
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

/// A learner as a suite asks for it.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    /// Its name in the results.
    pub name: String,
    /// Its name for people.
    pub label: String,
    /// The learner.
    pub learner: Learner,
    /// Its settings that are the same everywhere.
    pub fixed: Point,
    /// Of ratings: whether it is told the public features of items.
    pub item_features: bool,
    /// Of networks: the layers.
    pub net: Option<Description>,
    /// Of networks: the data set, taken as public, whose weights they begin from.
    pub public: Option<String>,
    /// What it minimises.
    pub loss: Loss,
    /// Budgets.
    pub epsilons: Vec<f64>,
    /// δ.
    pub delta: Delta,
    /// Which data sets are neighbours.
    pub neighbours: Neighbours,
    /// Whose constants.
    pub calibrations: Vec<Calibration>,
    /// Its column in the published tables.
    pub published: Option<String>,
    /// The grid; one empty point if there is none.
    pub points: Vec<Point>,
    /// Runs of each point before it is chosen or not.
    pub screen: u32,
    /// How many points are chosen.
    pub keep: usize,
    /// The data sets it is for; all of them if none.
    pub datasets: Option<Vec<String>>,
}

impl Entry {
    /// Whether points are screened first.
    pub fn is_tuned(&self) -> bool {
        self.points.len() > 1
    }

    /// Whether it is for this data set.
    pub fn is_for(&self, dataset: &str) -> bool {
        self.datasets.as_ref().is_none_or(|names| names.iter().any(|name| name == dataset))
    }
}

/// How δ follows from the number of rows.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Delta {
    /// 1/n².
    InverseSquare,
    /// The same for all.
    Fixed(f64),
}

impl Delta {
    /// For n rows.
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
        let names = BUILT_IN.iter().map(|known| known.name).chain([super::races::NAME]);
        let accepted = names.collect::<Vec<_>>().join(", ");
        return Err(BenchError::UnknownSuite { given: name.into(), accepted });
    }
    let text = std::fs::read_to_string(path).map_err(BenchError::at(path))?;
    parse(&text, name, path.parent().unwrap_or(Path::new("")))
}

/// Whether two suites, as text, measure the same: they may differ in their targets, comments and blanks.
pub(crate) fn measure_the_same(one: &str, other: &str) -> bool {
    let measured = |text: &str| {
        let mut table: toml::Table = text.parse().ok()?;
        table.remove("targets");
        Some(table)
    };
    one == other || measured(one).is_some_and(|one| measured(other) == Some(one))
}
