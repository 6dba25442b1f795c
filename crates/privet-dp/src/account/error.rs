//! Errors of the accountant.

use privet_core::{Neighbours, Unit};

/// Reason for stating no guarantee. Carries parameters, never a value read from records.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum AccountError {
    /// A parameter that must be a positive number is not.
    #[error("{what} = {value} in an event: a finite number above 0 is needed")]
    NotPositive {
        /// The parameter's name.
        what: &'static str,
        /// The refused value.
        value: f64,
    },
    /// A parameter that may be zero is negative, infinite or not a number.
    #[error("{what} = {value} in an event: a finite number of at least 0 is needed")]
    Negative {
        /// The parameter's name.
        what: &'static str,
        /// The refused value.
        value: f64,
    },
    /// A probability is outside [0, 1].
    #[error("{what} = {value}: a number from 0 to 1 is needed")]
    NotProbability {
        /// The parameter's name.
        what: &'static str,
        /// The refused value.
        value: f64,
    },
    /// A grid is too coarse for the continuous law that it replaces.
    #[error("noise_scale / step = {ratio} in an event: at least {least} grid steps are needed")]
    CoarseGrid {
        /// The refused ratio.
        ratio: f64,
        /// The smallest accepted ratio.
        least: f64,
    },
    /// An event repeated zero times, or an empty composition.
    #[error("an event with no leaf or count = 0: at least one use is needed")]
    Empty,
    /// More repetitions than the accountant supports.
    #[error("more than {most} uses of one mechanism in one event")]
    TooMany {
        /// The largest accepted number.
        most: u64,
    },
    /// More different mechanisms than the accountant supports.
    #[error("more than {most} different mechanisms in one event")]
    TooManyKinds {
        /// The largest accepted number.
        most: usize,
    },
    /// Leaves under different neighbour relations.
    #[error("events for {first} and for {second}: convert by group privacy first")]
    MixedNeighbours {
        /// The first leaf's relation.
        first: Neighbours,
        /// A later leaf's relation.
        second: Neighbours,
    },
    /// Leaves under different units.
    #[error("events for {first} and for {second}: convert by group privacy first")]
    MixedUnits {
        /// The first leaf's unit.
        first: Unit,
        /// A later leaf's unit.
        second: Unit,
    },
    /// A sampling rate outside (0, 1].
    #[error("rate = {rate} in a sampled event: a number above 0 and at most 1 is needed")]
    Rate {
        /// The refused rate.
        rate: f64,
    },
    /// A batch that cannot be drawn without replacement.
    #[error("a batch of {batch} out of {population} records: 1 up to {population} are needed")]
    Batch {
        /// The batch size.
        batch: u64,
        /// The number of records.
        population: u64,
    },
    /// Records are sampled, but the unit owns more than one record.
    #[error("a sampled event for {unit}: sampling is accounted for one record only")]
    SampledUnit {
        /// The leaf's unit.
        unit: Unit,
    },
    /// Batches of fixed size need a public number of records.
    #[error("batches without replacement for {neighbours}: only replace-one is accounted")]
    SampledRelation {
        /// The leaf's relation.
        neighbours: Neighbours,
    },
    /// A kind of event that the filter's theorem does not cover.
    #[error(
        "an event that the limit of this session has no bound for: see the kinds that its law admits"
    )]
    NotAdmitted,
    /// A guarantee towards everyone but the unit was used where everyone sees the output.
    #[error("a guarantee towards everyone but the person concerned is none towards everyone")]
    NotForEveryone,
    /// The remaining budget of a filter does not cover the event.
    #[error("the limit of this session does not allow another such event; nothing was drawn")]
    Exhausted,
    /// Not even the largest noise of the search range meets the budget.
    #[error("noise of scale {largest} still exceeds epsilon = {epsilon}, delta = {delta}")]
    OutOfReach {
        /// The largest noise tried.
        largest: f64,
        /// The budget's ε.
        epsilon: f64,
        /// The budget's δ.
        delta: f64,
    },
    /// A search range that is empty or not positive.
    #[error("the search range {from}..={to} for the noise scale is not one of positive numbers")]
    SearchRange {
        /// The low end.
        from: f64,
        /// The high end.
        to: f64,
    },
}

/// Returns the value if it is finite and above 0.
pub(super) fn positive(what: &'static str, value: f64) -> Result<f64, AccountError> {
    if value > 0.0 && value < f64::INFINITY {
        Ok(value)
    } else {
        Err(AccountError::NotPositive { what, value })
    }
}

/// Returns the value if it is finite and at least 0.
pub(super) fn non_negative(what: &'static str, value: f64) -> Result<f64, AccountError> {
    if (0.0..f64::INFINITY).contains(&value) {
        Ok(value)
    } else {
        Err(AccountError::Negative { what, value })
    }
}

/// Returns the value if it is in [0, 1].
pub(super) fn probability(what: &'static str, value: f64) -> Result<f64, AccountError> {
    if (0.0..=1.0).contains(&value) {
        Ok(value)
    } else {
        Err(AccountError::NotProbability { what, value })
    }
}
