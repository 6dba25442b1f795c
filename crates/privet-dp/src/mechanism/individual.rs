//! Individual privacy accounting: many noisy sums, in which a unit is charged for its own contributions
//! alone and left out once its budget is spent.
//!
//! Each release is a sum over units of a contribution per unit, under Gaussian noise. A unit whose
//! contribution is 0 loses nothing by a release, so it is not charged for it: a unit is charged the
//! square of its own contribution's norm, and is left out of every sum that would exceed its budget.
//!
//! **Theorem** (individual filters: Feldman & Zrnic 2021; for Gaussian releases Koskela, Tobaben &
//! Honkela 2023). Let the contribution of unit u to release t be a vector v of integer multiples of a
//! resolution r, no entry below 0, that depends on u's own records, on public queries and on the answers
//! before t, *and on no other unit*. u takes part in release t if the squared norms of its own
//! contributions so far, this one included, add up to at most B² (else its contribution there is 0). All
//! releases together, each under N(0, σ²I), have the curve of one Gaussian release of sensitivity
//!
//! **B** (add/remove), **√2·B** (replace-one),
//!
//! for any number of releases and any adaptive choice of queries.
//!
//! *Proof.* Fix a transcript. Whether another unit takes part at t, and with what, is a function of the
//! transcript and of that unit alone: it is the same with and without u. So the means of release t
//! differ by u's own contribution dₜ where it takes part and 0 where it does not, a function of the
//! transcript before t, and Σ‖dₜ‖² ≤ B² for sure. Where u is exchanged for u′ they differ by dₜ − d′ₜ,
//! and ‖dₜ − d′ₜ‖² ≤ ‖dₜ‖² + ‖d′ₜ‖² since no entry is below 0: at most 2B² in all. Given all before it,
//! release t is a Gaussian one with a shift known from the past, and the squared shifts add up to no
//! more than the limit: the Gaussian filter ([`crate::account::filter`]) bounds the whole. ∎
//!
//! If the contribution did depend on others (the k *nearest* records), removing a unit would change who
//! else takes part and pays, and the proof fails at its second sentence.
//!
//! **Never shown:** the units that took part, and those left out. The proof does not need a unit left
//! out of one release to stay out for good; here it may take part in a cheaper one later.
//!
//! **Deletion.** A unit removed between two releases leaves all others unchanged: later answers are
//! those of a table without it, at no cost. Earlier answers and their costs stay.
//!
//! **A resumed session** ([`Spending::count_earlier`]) stores no secret: the amount that a unit has spent
//! is a function of its own records and of the earlier public queries, and is recomputed from the current
//! table. *Tables may lose and gain units between two releases*: let the records of a unit be the same in
//! every table that has them. Whether it can pay at t is then the same function of records and queries
//! whether or not it was there before (one that was not is counted as if it had been), so the releases
//! that it takes part in are among those of a unit that always was: Σ‖dₜ‖² ≤ B² as above. Changed records
//! form another unit, with a budget of its own.
//!
//! *In finite arithmetic.* Contributions are integers, squares are added and compared as such, sums are
//! exact; rounding to the grid of the noise (where it is coarser than r) is charged over all coordinates
//! of all releases, and so is the grid itself.
//! Tested by `tests/all/individual.rs`.

use super::grid::{ExactCounts, from_grid, round_up, rounding};
use crate::account::{Cost, Event, Grid};
use crate::gate::{GateError, Noisy, Private, Session};
use crate::noise::GridGaussian;
use privet_core::{Neighbours, Relation, Unit};
use zeroize::{Zeroize, Zeroizing};

/// Noisy sums in which every unit is charged for its own contributions.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Individual {
    /// The neighbour relation.
    pub neighbours: Neighbours,
    /// The unit of protection, which contributions belong to.
    pub unit: Unit,
    /// The number of releases.
    pub steps: u32,
    /// A unit's budget B²/r²: the limit on the sum of squares of its integer contributions.
    pub share: u128,
    /// The resolution r, a power of two.
    pub resolution: f64,
    /// Standard deviation σ of each coordinate's noise.
    pub noise_scale: f64,
    /// Length of a contribution.
    pub coordinates: usize,
}

/// One unit's contribution to a sum.
#[derive(Clone, PartialEq)]
pub struct OwnPart {
    /// Index of the unit, from 0.
    pub owner: usize,
    /// Its contribution, in integer multiples of the resolution, no entry below 0.
    pub part: Vec<u32>,
}

impl std::fmt::Debug for OwnPart {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("OwnPart(withheld)")
    }
}

impl OwnPart {
    /// The squared norm, in squares of the resolution.
    fn square(&self) -> u128 {
        self.part.iter().map(|entry| u128::from(*entry) * u128::from(*entry)).sum()
    }
}

/// An [`Individual`] in progress: the units' spending stays inside.
pub struct Spending {
    individual: Individual,
    event: Event,
    noise: GridGaussian,
    /// The spent amount of each unit, in squares of the resolution.
    spent: Zeroizing<Vec<u128>>,
    /// Draws of the event so far, and earlier releases that were counted as spent.
    drawn: u64,
    past: u64,
}

impl std::fmt::Debug for Spending {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Spending(withheld)")
    }
}

impl Individual {
    /// The sensitivity of all releases: B, or √2·B.
    fn bound(&self) -> f64 {
        let sides = Relation::new(self.neighbours, self.unit).sides();
        round_up((self.share as f64 * sides).sqrt() * self.resolution)
    }

    /// The event of all releases together.
    pub fn event(&self) -> Result<Event, GateError> {
        let step = GridGaussian::new(self.noise_scale)?.step();
        let whole = self.resolution.is_normal() && self.resolution.to_bits() << 12 == 0;
        if !whole || self.steps == 0 || self.coordinates == 0 || self.share == 0 {
            return Err(GateError::Malformed);
        }
        let coordinates = u64::from(self.steps) * self.coordinates as u64;
        Ok(Event::Use {
            neighbours: self.neighbours,
            unit: self.unit,
            cost: Cost::IndividualGaussian {
                steps: self.steps,
                sensitivity: round_up(self.bound() + rounding(step, coordinates as usize)),
                noise_scale: self.noise_scale,
                grid: Grid { step, coordinates },
            },
        })
    }

    /// Begins, for this number of units; nothing is charged yet. Refused if this session has already
    /// made draws of the event: the units' spending in them is unknown here. A session that was just
    /// resumed continues, once all earlier releases are counted ([`Spending::count_earlier`]).
    pub fn begin(&self, units: usize, session: &Session<'_>) -> Result<Spending, GateError> {
        let event = self.event()?;
        // Under a filter every release is charged in full.
        let drawn = session.place_in(&event).unwrap_or(0);
        if drawn > 0 && !session.just_taken_up() {
            return Err(GateError::NotAsPlanned);
        }
        Ok(Spending {
            individual: *self,
            event,
            noise: GridGaussian::new(self.noise_scale)?,
            spent: Zeroizing::new(vec![0; units]),
            drawn,
            past: 0,
        })
    }
}

impl Spending {
    /// Counts the contributions to an earlier release as spent and draws nothing; each unit at most
    /// once, in order.
    pub fn count_earlier(&mut self, parts: Private<Vec<OwnPart>>) -> Result<(), GateError> {
        let parts = self.check_units(parts)?;
        self.payers(&parts);
        self.past += 1;
        Ok(())
    }

    /// The contributions, if they are of known units in order.
    fn check_units(&self, parts: Private<Vec<OwnPart>>) -> Result<Vec<OwnPart>, GateError> {
        let (parts, coordinates) = (parts.open(), self.individual.coordinates);
        let ordered = parts.windows(2).all(|two| two[0].owner < two[1].owner);
        let known = parts.last().is_none_or(|last| last.owner < self.spent.len());
        match ordered && known && parts.iter().all(|own| own.part.len() == coordinates) {
            true => Ok(parts),
            false => Err(GateError::Malformed),
        }
    }

    /// Charges the units that can pay, and returns their contributions.
    fn payers<'p>(&mut self, parts: &'p [OwnPart]) -> Vec<&'p OwnPart> {
        let mut payers = Vec::new();
        for own in parts {
            let after = self.spent[own.owner] + own.square();
            if after <= self.individual.share {
                self.spent[own.owner] = after;
                payers.push(own);
            }
        }
        payers
    }

    /// One release: the noisy sum of the contributions of all units that can still pay for theirs, each
    /// unit at most once, in order. Refused, with nothing drawn, if draws of the event were made that
    /// this does not know of.
    pub fn step(
        &mut self,
        parts: Private<Vec<OwnPart>>,
        session: &mut Session<'_>,
    ) -> Result<Noisy<Vec<f64>>, GateError> {
        let coordinates = self.individual.coordinates;
        let parts = self.check_units(parts)?;
        let place = session.place_in(&self.event);
        // Every draw is of this object, or of an earlier release that was counted as spent.
        let known = place.is_none_or(|place| place == self.drawn);
        if !known || (self.past < self.drawn && session.just_taken_up()) {
            return Err(GateError::NotAsPlanned);
        }
        self.drawn += 1;
        let mut draws = Zeroizing::new(vec![0; coordinates]);
        self.noise.fill_steps(&mut draws, session.charge(self.event.clone())?);
        let mut sum =
            ExactCounts { counts: vec![0; coordinates], unit: self.individual.resolution };
        for own in self.payers(&parts) {
            let both = sum.counts.iter_mut().zip(&own.part);
            both.for_each(|(count, entry)| *count += i128::from(*entry));
        }
        let mut steps = sum.to_grid(self.noise.step(), coordinates)?;
        let noisy = from_grid(&steps, &draws, self.noise.step());
        sum.counts.zeroize();
        steps.zeroize();
        Ok(session.mark_noisy(noisy))
    }
}
