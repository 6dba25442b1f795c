//! Very many parties in one process, for experiments: every sum goes through shares, nobody's process is spared.
//!
//! Each party's exact sum is split and added up server by server ([`split`]), as over a network; the servers' noise follows in
//! the session ([`privet_dp::mechanism::shares::InProcess`]). Exact sums are whole numbers, so that their
//! sum does not depend on how rows are dealt out: a learner that needs rows in memory (`centred-gd`) is given all of
//! them, and its model has the same law.

use privet_data::Dataset;
use privet_data::centre::Centre;
use privet_dp::mechanism::shares::{Among, joined, split};
use privet_dp::noise::Source;
use privet_optim::Loss;
use privet_optim::sum::{
    Exact, ExactAnswer, ExactSum, Inner, InnerAnswer, Labels, Records, RecordsError, Table,
};
use std::sync::{Mutex, PoisonError};

/// A table dealt out to parties.
pub struct Crowd {
    whole: Dataset,
    parts: Vec<Dataset>,
    servers: u32,
    source: Mutex<Box<dyn Source>>,
}

impl Crowd {
    /// Deals rows out, one after the other, to as many parties as `among` says; the first ones get one more where
    /// they do not go up evenly. Shares are made from `source`.
    pub fn new(whole: Dataset, among: Among, source: Box<dyn Source>) -> Self {
        let (rows, parties) = (whole.rows(), among.parties.max(1) as usize);
        let cut = |party: usize| party * (rows / parties) + party.min(rows % parties);
        let parts = (0..parties)
            .map(|party| whole.select(&(cut(party)..cut(party + 1)).collect::<Vec<_>>()))
            .collect();
        Self { whole, parts, servers: among.servers, source: Mutex::new(source) }
    }

    /// What each party has.
    pub fn parts(&self) -> &[Dataset] {
        &self.parts
    }
}

impl Table for Crowd {
    fn rows(&self) -> usize {
        self.whole.rows()
    }

    fn columns(&self) -> usize {
        Table::columns(&self.whole)
    }

    fn in_memory(&self) -> Option<&Dataset> {
        Some(&self.whole)
    }

    fn visit(
        &self,
        see: &mut dyn FnMut(&Dataset) -> Result<(), RecordsError>,
    ) -> Result<(), RecordsError> {
        self.whole.visit(see)
    }

    fn rows_at(&self, places: &[usize]) -> Result<Dataset, RecordsError> {
        self.whole.rows_at(places)
    }

    fn offers_less(&self) -> bool {
        true
    }

    fn less(&self, centre: &Centre) -> Result<Box<dyn Table + '_>, RecordsError> {
        self.whole.less(centre)
    }

    fn problem(&self, labels: &Labels) -> Result<Box<dyn Records + '_>, RecordsError> {
        // One without rows has nothing to add.
        let parts = self.parts.iter().filter(|part| part.rows() > 0);
        Ok(Box::new(Several {
            whole: self.whole.problem(labels)?,
            each: parts.map(|part| part.problem(labels)).collect::<Result<_, _>>()?,
            crowd: self,
        }))
    }
}

/// The records of all parties with the labels of one problem.
struct Several<'a> {
    whole: Box<dyn Records + 'a>,
    each: Vec<Box<dyn Records + 'a>>,
    crowd: &'a Crowd,
}

fn refused(why: &str) -> RecordsError {
    RecordsError::BackEnd(why.into())
}

impl Records for Several<'_> {
    fn rows(&self) -> usize {
        self.whole.rows()
    }
    fn columns(&self) -> usize {
        self.whole.columns()
    }
    fn radius(&self) -> f64 {
        self.whole.radius()
    }
    fn longest_row(&self) -> usize {
        self.whole.longest_row()
    }
    fn entries(&self) -> usize {
        self.whole.entries()
    }
    fn labels_accepted(&self, loss: Loss) -> bool {
        self.whole.labels_accepted(loss)
    }
    fn look_at_grid(&mut self, radius: f64) {
        self.each.iter_mut().for_each(|records| records.look_at_grid(radius));
    }

    fn exact(&self, question: &Exact) -> Result<ExactAnswer, RecordsError> {
        let mut source = self.crowd.source.lock().unwrap_or_else(PoisonError::into_inner);
        let mut sums: Vec<Vec<u128>> = vec![Vec::new(); self.crowd.servers as usize];
        for records in &self.each {
            let ExactAnswer::Units(sum) = records.exact(question)? else {
                return Err(refused("parties add up vectors alone"));
            };
            let units = sum.into_units().ok_or_else(|| refused("a feature is off its grid"))?;
            for (sum, share) in
                sums.iter_mut().zip(split(&units, self.crowd.servers, source.as_mut()))
            {
                sum.resize(share.len(), 0);
                sum.iter_mut()
                    .zip(share.iter())
                    .for_each(|(sum, part)| *sum = sum.wrapping_add(*part));
            }
        }
        let units = joined(&sums).ok_or_else(|| refused("shares of different lengths"))?;
        Ok(ExactAnswer::Units(ExactSum::of_units(units, self.whole.rows() as u64)))
    }

    fn inner(&self, _question: &Inner) -> Result<InnerAnswer, RecordsError> {
        Err(refused("parties answer sums that are released, and no solver's questions"))
    }
}
