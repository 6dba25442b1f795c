//! The remaining work, and its expected time.

use super::cells::{GridCell, Group, KnownResults};
use super::estimate::{Measured, model};
use super::table::Size;
use crate::line::{Run, Stage};
use std::collections::BTreeMap;

/// An amount of work.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Forecast {
    /// Number of screening models.
    pub screening: u64,
    /// Number of final models.
    pub counting: u64,
    /// Seconds on one core.
    pub seconds: f64,
}

impl Forecast {
    /// Number of models of either kind.
    pub fn models(&self) -> u64 {
        self.screening + self.counting
    }

    fn plus(self, other: Self) -> Self {
        Self {
            screening: self.screening + other.screening,
            counting: self.counting + other.counting,
            seconds: self.seconds + other.seconds,
        }
    }
}

/// The remaining work by data set and entry, in modelled seconds.
#[derive(Debug, Default)]
pub struct RemainingWork {
    parts: BTreeMap<(String, String), Forecast>,
}

impl RemainingWork {
    /// Recounts the remaining work on a data set.
    pub fn count(&mut self, dataset: &str, groups: &[Group<'_>], known: &KnownResults, size: Size) {
        self.forget(dataset);
        for group in groups {
            let Some(place) = group.places.first() else { continue };
            let key = (dataset.to_owned(), place.entry.name.clone());
            let part = self.parts.entry(key).or_default();
            *part = part.plus(remaining_work(group, known, size));
        }
    }

    /// Drops a data set that will not run.
    pub fn forget(&mut self, dataset: &str) {
        self.parts.retain(|(name, _), _| name != dataset);
    }

    /// Subtracts one model, with its modelled time.
    pub fn subtract_model(&mut self, run: &Run, modelled: f64) {
        let key = (run.cell.dataset.clone(), run.cell.entry.clone());
        if let Some(part) = self.parts.get_mut(&key) {
            let count = match run.stage {
                Stage::Screen => &mut part.screening,
                Stage::Final => &mut part.counting,
            };
            *count = count.saturating_sub(1);
            part.seconds = (part.seconds - modelled).max(0.0);
        }
    }

    /// The total, corrected by the measurements.
    pub fn total(&self, measured: &Measured) -> Forecast {
        self.parts.iter().fold(Forecast::default(), |total, ((dataset, entry), part)| {
            let seconds = part.seconds * measured.correction(dataset, entry);
            total.plus(Forecast { seconds, ..*part })
        })
    }
}

/// The remaining work of a group.
fn remaining_work(group: &Group<'_>, known: &KnownResults, size: Size) -> Forecast {
    let seconds = |place: &GridCell<'_>| model(place.entry, &place.cell.settings, size);
    let mut total = Forecast::default();
    let open: Vec<&GridCell<'_>> =
        group.places.iter().filter(|place| !known.is_refused(&place.cell)).collect();
    for place in open.iter().filter(|place| place.entry.is_tuned()) {
        let runs = known.missing(&place.cell, Stage::Screen, place.entry.screen).len() as u64;
        let seconds = runs as f64 * seconds(place);
        total = total.plus(Forecast { screening: runs, counting: 0, seconds });
    }
    if total.screening > 0 {
        // The chosen points are not known yet: they are assumed to be like all of them.
        let mean = open.iter().map(|place| seconds(place)).sum::<f64>() / open.len() as f64;
        let keep = open.first().map_or(0, |place| place.entry.keep.min(open.len()));
        let counting = keep as u64 * u64::from(group.runs);
        let seconds = counting as f64 * mean;
        return total.plus(Forecast { screening: 0, counting, seconds });
    }
    for place in known.final_places(group) {
        let counting = known.missing(&place.cell, Stage::Final, group.runs).len() as u64;
        let seconds = counting as f64 * seconds(place);
        total = total.plus(Forecast { screening: 0, counting, seconds });
    }
    total
}
