//! The selected part of a suite.

use super::file::{Entry, Source, Suite};
use crate::error::BenchError;
use privet_core::EPSILON;
use privet_learn::Calibration;

/// Names and numbers that restrict a suite; empty means all of them.
#[derive(Debug, Clone, Default)]
pub struct Filter {
    /// Only these data sets.
    pub datasets: Vec<String>,
    /// Only these entries of the suite's list of methods.
    pub methods: Vec<String>,
    /// These budgets instead of the suite's.
    pub epsilons: Vec<f64>,
    /// Only these constants.
    pub calibrations: Vec<Calibration>,
    /// This many models per cell instead of the suite's number.
    pub runs: Option<u32>,
}

/// A filter that fits its suite.
#[derive(Debug, Clone)]
pub struct Selection {
    filter: Filter,
    /// Models per cell.
    pub runs: u32,
    /// Unavailable entries.
    absent: Vec<String>,
}

impl Selection {
    /// Refuses names that the suite does not have.
    pub fn new(filter: Filter, suite: &Suite) -> Result<Self, BenchError> {
        let datasets: Vec<&str> =
            suite.datasets.iter().map(|source| source.name.as_str()).collect();
        let methods: Vec<&str> = suite.entries.iter().map(|entry| entry.name.as_str()).collect();
        check_known("data set", &filter.datasets, &datasets)?;
        check_known("method", &filter.methods, &methods)?;
        for epsilon in &filter.epsilons {
            EPSILON.check(*epsilon)?;
        }
        let runs = filter.runs.unwrap_or(suite.runs);
        let wanted = Self { filter, runs, absent: vec![] };
        let any =
            suite.datasets.iter().filter(|source| wanted.dataset(&source.name)).any(|source| {
                let entries = suite.entries.iter().filter(|entry| wanted.entry(entry, source));
                entries.into_iter().any(|entry| !wanted.calibrations(entry).is_empty())
            });
        match any && runs > 0 {
            true => Ok(wanted),
            false => Err(BenchError::NothingLeft {
                why: "no method of the suite is for these data sets with these constants".into(),
            }),
        }
    }

    /// Everything.
    #[cfg(test)]
    pub fn all(suite: &Suite) -> Self {
        Self { filter: Filter::default(), runs: suite.runs, absent: vec![] }
    }

    /// True if a data set is selected.
    pub fn dataset(&self, name: &str) -> bool {
        self.filter.datasets.is_empty() || self.filter.datasets.iter().any(|other| other == name)
    }

    /// Leaves out an unavailable entry.
    pub fn leave_out(&mut self, entry: &str) {
        self.absent.push(entry.into());
    }

    /// True if an entry is selected on this data set.
    pub fn entry(&self, entry: &Entry, source: &Source) -> bool {
        let named = &self.filter.methods;
        if self.absent.contains(&entry.name) {
            return false;
        }
        let taken = source.methods.as_ref().is_none_or(|names| names.contains(&entry.name));
        taken && entry.is_for(&source.name) && (named.is_empty() || named.contains(&entry.name))
    }

    /// The budgets of an entry on a data set.
    pub fn epsilons(&self, entry: &Entry, source: &Source) -> Vec<f64> {
        let tuned = source.tuned_epsilons.as_ref().filter(|_| entry.is_tuned());
        match (self.filter.epsilons.as_slice(), tuned.or(source.epsilons.as_ref())) {
            (_, Some(none)) if none.is_empty() => Vec::new(),
            ([], Some(other)) => other.clone(),
            ([], None) => entry.epsilons.clone(),
            (given, _) => given.to_vec(),
        }
    }

    /// The constants of an entry.
    pub fn calibrations(&self, entry: &Entry) -> Vec<Calibration> {
        let wanted = &self.filter.calibrations;
        let keep = |calibration: &&Calibration| wanted.is_empty() || wanted.contains(calibration);
        entry.calibrations.iter().filter(keep).copied().collect()
    }
}

fn check_known(what: &'static str, given: &[String], accepted: &[&str]) -> Result<(), BenchError> {
    match given.iter().find(|name| !accepted.contains(&name.as_str())) {
        Some(name) => {
            Err(BenchError::Unknown { what, given: name.clone(), accepted: accepted.join(", ") })
        }
        None => Ok(()),
    }
}
