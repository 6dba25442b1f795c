//! Many noised sums, of which every unit pays for its own part alone, and stays out once its share is spent.
//!
//! Each release is a sum over units of a part that one unit contributes, under Gaussian noise. A unit whose part is 0
//! loses nothing by a release, so it is not charged for it: a unit is charged the square of its own part, and is left
//! out of every sum that would take it beyond its share.
//!
//! **Theorem** (individual filters: Feldman & Zrnic 2021; for Gaussian releases Koskela, Tobaben & Honkela 2023). Let the
//! part of unit u in release t be a vector v of whole numbers of a resolution r, none below 0, that depends on u's own
//! records, on public questions and on the answers before t, *and on no other unit*. u takes part in release t if the
//! squares of its own parts so far, this one included, add up to at most B² (else its part there is 0). All releases
//! together, each under N(0, σ²I), have the curve of one Gaussian release of sensitivity
//!
//! **B** (add/remove), **√2·B** (replace-one),
//!
//! however many releases there are, and whatever is asked after which answers.
//!
//! *Proof.* Fix a transcript. Whether another unit takes part at t, and with what, is a function of the transcript and of
//! that unit alone: it is the same with and without u. So the means of release t differ by u's own part dₜ where it
//! takes part and 0 where it does not, a function of the transcript before t, and Σ‖dₜ‖² ≤ B² for sure. Where u is exchanged
//! for u′ they differ by dₜ − d′ₜ, and ‖dₜ − d′ₜ‖² ≤ ‖dₜ‖² + ‖d′ₜ‖² since no entry is below 0: at most 2B² in all. Given all before
//! it, release t is a Gaussian one that moves by a vector known from the past, and the squares add up to no more than the
//! limit: the Gaussian filter ([`crate::account::filter`]) bounds the whole. ∎
//!
//! Where the part did depend on others (the k *nearest* records), a unit's leaving would change who else takes part and
//! pays, and the proof fails at its second sentence.
//!
//! **Never shown:** who took part, and who is left. It does not enter the proof whether a unit is left out of one release for
//! good or takes part in a cheaper one later; here it may.
//!
//! **Deletion.** A unit taken out between two releases leaves all others as they were: answers to come are those of a table
//! without it, at no cost. Answers given before stay what they were, and so does what they cost.
//!
//! **A session that is taken up again** ([`Spending::past`]) stores no secret: what a unit spent is a function of its own records
//! and of the public questions before, and is made again from the table at hand. *Tables may lose and gain units between
//! two releases*: let the records of a unit be the same in every table that has them. Whether it can pay at t is then
//! the same function of records and questions whether or not it was there before (one that was not is counted as if it
//! had been), so the releases that it takes part in are among those of a unit that always was: Σ‖dₜ‖² ≤ B² as above.
//! Records that change are another unit's, with a share of its own.
//!
//! *In finite arithmetic.* Parts are whole numbers, squares are added and compared as such, sums are exact; rounding to the grid of the noise
//! (where it is coarser than r) is charged over all coordinates of all releases, and so is the grid itself.
//! Tested by `tests/all/individual.rs`.

use super::grid::{ExactCounts, from_grid, rounding, up};
use crate::account::{Cost, Event, Grid};
use crate::gate::{GateError, Noised, Private, Session};
use crate::noise::GridGaussian;
use privet_core::{Neighbours, Relation, Unit};
use zeroize::{Zeroize, Zeroizing};

/// Sums under noise, of which every unit pays for its own part.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Individual {
    /// The relation of units.
    pub neighbours: Neighbours,
    /// Whose parts they are.
    pub unit: Unit,
    /// How many releases there are.
    pub steps: u32,
    /// B²/r²: what the squares of a unit's parts may add up to, parts in whole numbers.
    pub share: u128,
    /// r, a power of two.
    pub resolution: f64,
    /// σ.
    pub noise_scale: f64,
    /// Length of a part.
    pub coordinates: usize,
}

/// What one unit adds to a sum.
#[derive(Clone, PartialEq)]
pub struct OwnPart {
    /// Which unit, counted from 0.
    pub owner: usize,
    /// Its part, in whole numbers of the resolution, none below 0.
    pub part: Vec<u32>,
}

impl std::fmt::Debug for OwnPart {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("OwnPart(withheld)")
    }
}

impl OwnPart {
    /// The square of its length, in squares of the resolution.
    fn square(&self) -> u128 {
        self.part.iter().map(|entry| u128::from(*entry) * u128::from(*entry)).sum()
    }
}

/// An [`Individual`] under way: what each unit has spent stays inside.
pub struct Spending {
    individual: Individual,
    event: Event,
    noise: GridGaussian,
    /// Of each unit, in squares of the resolution.
    spent: Zeroizing<Vec<u128>>,
    /// Draws of the event that were made, and earlier releases that were counted as spent.
    drawn: u64,
    past: u64,
}

impl std::fmt::Debug for Spending {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Spending(withheld)")
    }
}

impl Individual {
    /// B, or √2·B.
    fn bound(&self) -> f64 {
        let sides = Relation::new(self.neighbours, self.unit).sides();
        up((self.share as f64 * sides).sqrt() * self.resolution)
    }

    /// What all its releases together will cost.
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
                sensitivity: up(self.bound() + rounding(step, coordinates as usize)),
                noise_scale: self.noise_scale,
                grid: Grid { step, coordinates },
            },
        })
    }

    /// Begins, with so many units; nothing is charged yet. Refused where draws of the event were made in this session before:
    /// they are of somebody who knows what units spent. A session that was just taken up goes on, once all earlier
    /// releases are counted ([`Spending::past`]).
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
    /// Parts in an earlier release, each unit at most once, in order: counted as spent, nothing is drawn.
    pub fn past(&mut self, parts: Private<Vec<OwnPart>>) -> Result<(), GateError> {
        let parts = self.known(parts)?;
        self.payers(&parts);
        self.past += 1;
        Ok(())
    }

    /// The parts, if they are of known units in order.
    fn known(&self, parts: Private<Vec<OwnPart>>) -> Result<Vec<OwnPart>, GateError> {
        let (parts, coordinates) = (parts.open(), self.individual.coordinates);
        let ordered = parts.windows(2).all(|two| two[0].owner < two[1].owner);
        let known = parts.last().is_none_or(|last| last.owner < self.spent.len());
        match ordered && known && parts.iter().all(|own| own.part.len() == coordinates) {
            true => Ok(parts),
            false => Err(GateError::Malformed),
        }
    }

    /// Lets those pay that can, and says who they are.
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

    /// One release: the sum of the parts of all units that can still pay for theirs, under noise. Each unit at most
    /// once, in order. Refused, with nothing drawn, where draws of the event were made that this does not know of.
    pub fn step(
        &mut self,
        parts: Private<Vec<OwnPart>>,
        session: &mut Session<'_>,
    ) -> Result<Noised<Vec<f64>>, GateError> {
        let coordinates = self.individual.coordinates;
        let parts = self.known(parts)?;
        let place = session.place_in(&self.event);
        // Every draw is of this one, or of a release before that was counted as spent.
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
        let noised = from_grid(&steps, &draws, self.noise.step());
        sum.counts.zeroize();
        steps.zeroize();
        Ok(session.noised(noised))
    }
}
