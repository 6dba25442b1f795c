//! Charged is executed: what was recorded must be what was planned.

use super::{Arithmetic, Certificate, Release};
use crate::account::{AccountError, Event, Guarantee};
use crate::noise::{NoiseError, Source};
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};

/// Why the gate stayed shut.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum GateError {
    /// The events recorded are not those planned. Nothing is released; what was drawn is spent.
    #[error("the noise drawn is not the noise planned; nothing was released")]
    NotAsPlanned,
    /// A value noised under another odometer was handed in.
    #[error("a noised value of another computation was handed in; nothing was released")]
    Foreign,
    /// A solver's certificate does not reach the tolerance that the theorem needs.
    #[error("the solver's certificate does not meet the planned tolerance; nothing was released")]
    NotCertified,
    /// A value has the wrong number of coordinates, or one that is not finite.
    #[error("a value to be noised is not a finite vector of the planned length")]
    Malformed,
    /// The noise could not be drawn.
    #[error(transparent)]
    Noise(#[from] NoiseError),
    /// The events could not be accounted for.
    #[error(transparent)]
    Account(#[from] AccountError),
}

/// A value to which noise has been added, waiting for the odometer to settle. Until then it is not
/// charged in full, so it cannot be printed either.
pub struct Noised<T> {
    value: T,
    odometer: u64,
}

impl<T> fmt::Debug for Noised<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Noised(withheld until settled)")
    }
}

impl<T> Noised<T> {
    /// Post-processing by a plain function.
    pub fn map<U>(self, function: fn(T) -> U) -> Noised<U> {
        Noised { value: function(self.value), odometer: self.odometer }
    }
}

impl Noised<Vec<f64>> {
    /// Cut into rows of `length` numbers, a public one; the last may be shorter.
    pub fn rows_of(self, length: usize) -> Noised<Vec<Vec<f64>>> {
        let rows = self.value.chunks(length.max(1)).map(<[f64]>::to_vec).collect();
        Noised { value: rows, odometer: self.odometer }
    }
}

static NEXT: AtomicU64 = AtomicU64::new(1);

/// Owns the randomness of one run, records every draw, and opens the gate when the record equals
/// the plan.
pub struct Odometer<'a> {
    number: u64,
    planned: Event,
    recorded: Vec<(u64, Event)>,
    source: &'a mut dyn Source,
}

impl<'a> Odometer<'a> {
    /// Starts a run that is to execute `planned`, drawing from `source`.
    pub fn start(planned: Event, source: &'a mut dyn Source) -> Self {
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        Self { number, planned, recorded: Vec::new(), source }
    }

    /// Whether any noise was drawn: from then on the budget is spent, whatever happens.
    pub fn spent(&self) -> bool {
        !self.recorded.is_empty()
    }

    /// Records a leaf and lends the randomness for exactly that draw.
    pub(crate) fn record(&mut self, leaf: Event) -> &mut dyn Source {
        push(&mut self.recorded, 1, leaf);
        self.source
    }

    /// The randomness, for a further draw that an event recorded before already covers.
    pub(crate) fn source(&mut self) -> &mut dyn Source {
        self.source
    }

    /// Tells this run from every other.
    pub(crate) fn number(&self) -> u64 {
        self.number
    }

    /// Marks a value as noised under this odometer.
    pub(crate) fn noised<T>(&self, value: T) -> Noised<T> {
        Noised { value, odometer: self.number }
    }

    /// Several noised values as one.
    pub fn gather<T>(&self, parts: Vec<Noised<T>>) -> Result<Noised<Vec<T>>, GateError> {
        let mut values = Vec::with_capacity(parts.len());
        for part in parts {
            if part.odometer != self.number {
                return Err(GateError::Foreign);
            }
            values.push(part.value);
        }
        Ok(self.noised(values))
    }

    /// Opens the gate: checks that exactly the planned events were recorded and attaches the
    /// certificate. `request` holds the public facts from which the plan can be made again.
    /// `claim` is the guarantee the certificate states: what the accountant proves for the
    /// events. A fixed seed proves nothing, and the certificate then says so.
    pub fn settle<T>(
        self,
        noised: Noised<T>,
        claim: Guarantee,
        arithmetic: Arithmetic,
        notes: Vec<String>,
        request: serde_json::Value,
    ) -> Result<Release<T>, GateError> {
        if noised.odometer != self.number {
            return Err(GateError::Foreign);
        }
        let mut expected = Vec::new();
        leaves(&self.planned, 1, &mut expected);
        if expected != self.recorded {
            return Err(GateError::NotAsPlanned);
        }
        let origin = self.source.origin();
        let certificate =
            Certificate::new(self.planned, claim, arithmetic, origin, notes, request)?;
        Ok(Release::new(noised.value, certificate))
    }
}

/// Run-length list of leaves, so that a million equal steps are one entry.
fn push(list: &mut Vec<(u64, Event)>, count: u64, leaf: Event) {
    match list.last_mut() {
        Some((total, last)) if *last == leaf => *total += count,
        _ => list.push((count, leaf)),
    }
}

/// The leaves of a tree in order of execution.
fn leaves(event: &Event, times: u64, into: &mut Vec<(u64, Event)>) {
    match event {
        Event::Use { .. } => push(into, times, event.clone()),
        Event::All(parts) => {
            for _ in 0..times {
                parts.iter().for_each(|part| leaves(part, 1, into));
            }
        }
        Event::Repeat { count, event } => leaves(event, times * u64::from(*count), into),
    }
}
