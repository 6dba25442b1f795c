//! Published numbers, from the files in `published/`: by suite, data set, ε and column, with the known
//! differences between the publications and us.

use super::aggregate::{Group, same_epsilon};
use privet_core::Neighbours;
use privet_learn::Calibration;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::sync::LazyLock;

const FILES: [&str; 2] = [
    include_str!("../../published/iyengar-logistic.toml"),
    include_str!("../../published/iyengar-huber.toml"),
];

static ALL: LazyLock<Vec<Published>> =
    LazyLock::new(|| FILES.iter().filter_map(|file| toml::from_str(file).ok()).collect());

/// The numbers of one publication.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Published {
    /// Suites that they are compared with.
    pub suites: Vec<String>,
    /// The publication.
    pub source: String,
    /// The measure.
    pub measure: String,
    /// The neighbouring relation.
    pub neighbours: Neighbours,
    /// The columns, in their order.
    pub column: Vec<Column>,
    /// The numbers by data set, ε and column.
    table: BTreeMap<String, BTreeMap<String, BTreeMap<String, f64>>>,
    /// Differences of their data from ours, by data set.
    #[serde(default)]
    data: BTreeMap<String, String>,
    /// Reasons for differing results; the first that applies is given.
    #[serde(default)]
    pub reason: Vec<Reason>,
}

/// A column, and our results that are compared with it.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Column {
    /// The printed name.
    pub name: String,
    /// Our name of the learner.
    pub method: String,
    /// True if its settings were tuned.
    pub tuned: bool,
}

/// A reason why a result of ours differs.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Reason {
    /// Applies to these learners; to all if empty.
    #[serde(default)]
    pub methods: Vec<String>,
    /// Applies to these sets; to all if empty.
    #[serde(default)]
    pub datasets: Vec<String>,
    /// Applies under this calibration alone.
    #[serde(default)]
    pub calibration: Option<Calibration>,
    /// Applies only where ours is tuned, or is not.
    #[serde(default)]
    pub tuned: Option<bool>,
    /// Applies only where ours is `above` or `below`.
    #[serde(default)]
    pub side: Option<Side>,
    /// The sentence.
    pub text: String,
}

/// The side of the published number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Side {
    /// Ours is larger.
    Above,
    /// Ours is smaller.
    Below,
}

/// A difference that needs a reason.
#[derive(Debug, Clone, Copy)]
pub struct Difference<'a> {
    /// The data set.
    pub dataset: &'a str,
    /// Our learner.
    pub method: &'a str,
    /// The constants: proved or a paper's.
    pub calibration: Calibration,
    /// True if ours is tuned.
    pub tuned: bool,
    /// Ours less theirs.
    pub points: f64,
}

impl Published {
    /// The numbers that are compared with a suite.
    pub fn of(suite: &str) -> Option<&'static Self> {
        ALL.iter().find(|one| one.suites.iter().any(|name| name == suite))
    }

    /// True if its numbers are comparable with a group's.
    pub fn comparable(&self, group: &Group) -> bool {
        self.measure == group.measure && self.neighbours == group.neighbours
    }

    /// Every ε with numbers of a set, with those numbers by column.
    pub fn of_set(&self, dataset: &str) -> impl Iterator<Item = (f64, &BTreeMap<String, f64>)> {
        let rows = self.table.get(dataset).into_iter().flatten();
        rows.filter_map(|(epsilon, row)| Some((epsilon.parse().ok()?, row)))
    }

    /// The numbers at an ε.
    pub fn at(&self, dataset: &str, epsilon: f64) -> Option<&BTreeMap<String, f64>> {
        self.of_set(dataset)
            .find(|(known, _)| same_epsilon(Some(*known), Some(epsilon)))
            .map(|(_, row)| row)
    }

    /// Differences of the publication's data from ours.
    pub fn data(&self, dataset: &str) -> Option<&str> {
        self.data.get(dataset).map(String::as_str)
    }

    /// True if a column is of a learner with privacy.
    pub fn is_private_column(&self, column: &str) -> bool {
        self.column.iter().any(|known| known.name == column && known.method != "non-private")
    }

    /// The best number of a row with privacy, with its column.
    pub fn best<'a>(&'a self, row: &'a BTreeMap<String, f64>) -> Option<(&'a str, f64)> {
        let private = row.iter().filter(|(name, _)| self.is_private_column(name));
        private.max_by(|a, b| a.1.total_cmp(b.1)).map(|(name, value)| (name.as_str(), *value))
    }

    /// The reason for a difference.
    pub fn reason_of(&self, asked: Difference<'_>) -> Option<&str> {
        let side = if asked.points < 0.0 { Side::Below } else { Side::Above };
        let named =
            |list: &[String], name: &str| list.is_empty() || list.iter().any(|one| one == name);
        let fits = |reason: &&Reason| {
            named(&reason.methods, asked.method)
                && named(&reason.datasets, asked.dataset)
                && reason.calibration.is_none_or(|one| one == asked.calibration)
                && reason.tuned.is_none_or(|one| one == asked.tuned)
                && reason.side.is_none_or(|one| one == side)
        };
        self.reason.iter().find(fits).map(|reason| reason.text.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_file_is_read_and_complete() {
        for file in FILES {
            let published: Published = toml::from_str(file).expect("a file of published numbers");
            assert_eq!(published.table.len(), 13);
            assert_eq!(published.measure, "accuracy");
            for (dataset, rows) in &published.table {
                assert_eq!(rows.len(), 1, "{dataset}");
                for (epsilon, row) in rows {
                    assert!(epsilon.parse::<f64>().is_ok_and(|epsilon| epsilon > 0.0));
                    assert_eq!(row.len(), published.column.len(), "{dataset}");
                    for column in &published.column {
                        let value = row.get(&column.name).copied().unwrap_or(f64::NAN);
                        assert!((50.0..100.0).contains(&value), "{dataset}, {}", column.name);
                    }
                }
            }
        }
        assert_eq!(ALL.len(), FILES.len());
    }

    /// Spot checks against the printed tables: the best private column of each row.
    #[test]
    fn the_best_columns_are_the_printed_ones() {
        for (suite, dataset, epsilon, column, value) in [
            ("iyengar-logistic", "adult", 0.1, "AMP", 79.1),
            ("iyengar-logistic", "kddcup99", 0.1, "P-PSGD", 98.1),
            ("iyengar-logistic", "covtype", 1.0, "P-SGD", 65.0),
            ("iyengar-logistic", "synthetic-h", 0.1, "P-FW", 57.6),
            ("iyengar-huber", "rcv1", 0.1, "P-FW", 75.8),
            ("iyengar-huber", "gisette", 0.1, "P-PSGD", 70.6),
            ("iyengar-huber", "uber-4", 0.1, "P-SGD", 81.7),
        ] {
            let published = Published::of(suite).expect("numbers");
            let row = published.at(dataset, epsilon).expect("a row");
            assert_eq!(published.best(row), Some((column, value)), "{suite}, {dataset}");
        }
        assert!(Published::of("another").is_none());
    }

    /// Every difference has a sentence, and none is empty.
    #[test]
    fn every_difference_has_its_sentence() {
        for published in ALL.iter() {
            for dataset in published.table.keys() {
                for column in &published.column {
                    for calibration in [Calibration::Sound, Calibration::Printed] {
                        for (tuned, points) in
                            [(true, 1.0), (true, -1.0), (false, 1.0), (false, -1.0)]
                        {
                            let asked = Difference {
                                dataset,
                                method: &column.method,
                                calibration,
                                tuned,
                                points,
                            };
                            assert!(
                                published.reason_of(asked).is_some_and(|text| text.ends_with('.'))
                            );
                            let auto = Difference { method: "auto", ..asked };
                            assert!(published.reason_of(auto).is_some());
                        }
                    }
                }
            }
        }
    }
}
