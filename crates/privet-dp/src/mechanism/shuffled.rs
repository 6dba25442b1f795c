//! Gaussian noise on the result of a computation that reads records in a secret random order.
//!
//! **Setting.** There are M `slots`, a public number. A uniformly random order of the n records and of
//! max(0, M − n) empty places is drawn; the first M fill the slots. The computation f reads the filled
//! slots, in their order, and nothing else of the records. If n > M, the n − M records without a slot
//! are a uniformly random choice; if n < M, the M − n empty slots are.
//!
//! **Lemma.** Let two tables have all but at most k records each in common. There is a joint law of
//! their two orders, each as drawn here, under which the two lists of slots differ in at most k slots.
//!
//! *Proof.* Let n ≥ n′ be the two sizes; pair the differing records as far as they go, a ≤ k pairs, with
//! n − n′ ≤ k − a of the larger table left over. (i) n ≤ M: pair each left-over record with one of the
//! n − n′ empty places that the smaller table has more, and use the same order of M places. (ii)
//! n′ ≥ M: remove the left-over records one after the other. A uniform ordered choice of M out of N
//! becomes one of M out of N − 1 if, where the removed record was chosen, its slot is given to a
//! uniform one of those that were not; only that slot changes, and it changes only if it held the
//! removed record, or one put there in its place. (iii) n′ < M < n: both, one after the other. So no
//! slots differ but those of the at most k differing records of the larger table. ∎
//!
//! **Theorem.** If f changes by at most Δ whenever at most k slots are exchanged, filled or emptied,
//! then f plus N(0, σ²I) has the curve of a Gaussian mechanism of sensitivity Δ, for units of at most k
//! records, *under both relations*. *Proof.* H_ε of two mixtures over the joint law is at most the
//! largest H_ε of a pair (joint convexity), and each pair is Gaussian with a distance of at most Δ. ∎
//!
//! The secrecy of the order is not credited: the event is [`super::Gaussian`]'s. A random order must
//! not depend on the records, and this is why it is drawn here.
//!
//! - Tested by `tests/all/sampled_gaussian.rs`.

use super::Gaussian;
use crate::account::Event;
use crate::gate::{GateError, Noisy, Private, Session};
use crate::noise::subset::shuffle;
use zeroize::Zeroizing;

/// Gaussian noise after a computation on shuffled records.
#[derive(Debug, Clone, PartialEq)]
pub struct ShuffledGaussian {
    /// The noise; its sensitivity is Δ of the theorem.
    pub gaussian: Gaussian,
    /// Number M of slots.
    pub slots: usize,
}

impl ShuffledGaussian {
    /// The event of one release.
    pub fn event(&self) -> Result<Event, GateError> {
        self.gaussian.event()
    }

    /// Draws an order of `records` records, lends it to `compute` and adds noise to the result. A slot
    /// holds the index of a record, or a number of at least `records` if it is empty. `None` stops:
    /// nothing is released.
    pub fn run(
        &self,
        records: Private<usize>,
        session: &mut Session<'_>,
        compute: impl Fn(&[usize]) -> Option<Private<Vec<f64>>> + Sync,
    ) -> Result<Noisy<Vec<f64>>, GateError> {
        let pool = records.open().max(self.slots);
        let mut order = Zeroizing::new((0..pool).collect::<Vec<usize>>());
        shuffle(&mut order, session.source());
        let computed = compute(&order[..self.slots]).ok_or(GateError::Malformed)?;
        self.gaussian.run(computed, session)
    }
}
