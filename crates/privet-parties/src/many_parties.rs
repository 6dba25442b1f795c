//! Very many parties in one process, for experiments: every sum goes through shares, party by party.
//!
//! Each party's exact sum is split and added up server by server ([`split`]), as over a network; its
//! rows are as they are or less a public vector (`centred-gd`). The servers' noise follows in the
//! session ([`privet_dp::mechanism::shares::InProcess`]). Rows in memory are not offered, so that no
//! learner can bypass the shares. Compared with a network, each party has no process, connection or
//! disk of its own. `output`, whose parties minimise locally, is not simulated here but in a
//! [`crate::InProcessServers`].

use privet_data::Dataset;
use privet_data::centre::Centre;
use privet_dp::mechanism::shares::{Participants, split, sum_openings};
use privet_dp::noise::Source;
use privet_optim::Loss;
use privet_optim::sum::{
    Exact, ExactAnswer, ExactSum, Inner, InnerAnswer, Labels, Records, RecordsError, Table,
};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

/// A table divided among parties.
pub struct ManyParties {
    whole: Dataset,
    parts: Vec<Dataset>,
    servers: u32,
    source: Mutex<Box<dyn Source>>,
    shared: AtomicU64,
}

impl ManyParties {
    /// Divides the rows in order among the parties of `among`; the first ones get one more if the
    /// division leaves a remainder. Shares are drawn from `source`.
    pub fn new(whole: Dataset, among: Participants, source: Box<dyn Source>) -> Self {
        let (rows, parties) = (whole.rows(), among.parties.max(1) as usize);
        let cut = |party: usize| party * (rows / parties) + party.min(rows % parties);
        let parts = (0..parties)
            .map(|party| whole.select(&(cut(party)..cut(party + 1)).collect::<Vec<_>>()))
            .collect();
        let (source, shared) = (Mutex::new(source), AtomicU64::new(0));
        Self { whole, parts, servers: among.servers, source, shared }
    }

    /// The number of values split into shares so far.
    pub fn values_shared(&self) -> u64 {
        self.shared.load(Ordering::Relaxed)
    }

    /// The rows of each party.
    pub fn parts(&self) -> &[Dataset] {
        &self.parts
    }
}

impl Table for ManyParties {
    fn rows(&self) -> usize {
        self.whole.rows()
    }

    fn columns(&self) -> usize {
        Table::columns(&self.whole)
    }

    fn in_memory(&self) -> Option<&Dataset> {
        None
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

    fn recentred(&self, centre: &Centre) -> Result<Box<dyn Table + '_>, RecordsError> {
        Ok(Box::new(CentredParties {
            whole: self.whole.recentred(centre)?,
            parts: self
                .parts
                .iter()
                .map(|part| part.recentred(centre))
                .collect::<Result<_, _>>()?,
            many_parties: self,
        }))
    }

    fn problem(&self, labels: &Labels) -> Result<Box<dyn Records + '_>, RecordsError> {
        let parts = self.parts.iter().map(|part| part as &dyn Table);
        ProblemRecords::of(self, (&self.whole, parts), labels)
    }
}

/// Every party's rows less a public vector.
struct CentredParties<'a> {
    whole: Box<dyn Table + 'a>,
    parts: Vec<Box<dyn Table + 'a>>,
    many_parties: &'a ManyParties,
}

impl Table for CentredParties<'_> {
    fn rows(&self) -> usize {
        self.whole.rows()
    }

    fn columns(&self) -> usize {
        self.whole.columns()
    }

    fn in_memory(&self) -> Option<&Dataset> {
        None
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

    fn problem(&self, labels: &Labels) -> Result<Box<dyn Records + '_>, RecordsError> {
        let parts = self.parts.iter().map(|part| part.as_ref());
        ProblemRecords::of(self.many_parties, (self.whole.as_ref(), parts), labels)
    }
}

/// Records of all parties with the labels of one problem.
struct ProblemRecords<'a> {
    whole: Box<dyn Records + 'a>,
    each: Vec<Box<dyn Records + 'a>>,
    many_parties: &'a ManyParties,
}

impl<'a> ProblemRecords<'a> {
    fn of(
        many_parties: &'a ManyParties,
        (whole, parts): (&'a dyn Table, impl Iterator<Item = &'a dyn Table>),
        labels: &Labels,
    ) -> Result<Box<dyn Records + 'a>, RecordsError> {
        // A party without rows adds nothing.
        let parts = parts.filter(|part| part.rows() > 0);
        let each = parts.map(|part| part.problem(labels)).collect::<Result<_, _>>()?;
        Ok(Box::new(Self { whole: whole.problem(labels)?, each, many_parties }))
    }
}

fn back_end_error(why: &str) -> RecordsError {
    RecordsError::BackEnd(why.into())
}

impl Records for ProblemRecords<'_> {
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

    fn exact(&self, query: &Exact) -> Result<ExactAnswer, RecordsError> {
        let mut source = self.many_parties.source.lock().unwrap_or_else(PoisonError::into_inner);
        let mut sums: Vec<Vec<u128>> = vec![Vec::new(); self.many_parties.servers as usize];
        for records in &self.each {
            let ExactAnswer::Units(sum) = records.exact(query)? else {
                return Err(back_end_error("parties add up vectors alone"));
            };
            let units =
                sum.into_units().ok_or_else(|| back_end_error("a feature is off its grid"))?;
            self.many_parties.shared.fetch_add(units.len() as u64, Ordering::Relaxed);
            for (sum, share) in
                sums.iter_mut().zip(split(&units, self.many_parties.servers, source.as_mut()))
            {
                sum.resize(share.len(), 0);
                sum.iter_mut()
                    .zip(share.iter())
                    .for_each(|(sum, part)| *sum = sum.wrapping_add(*part));
            }
        }
        let units =
            sum_openings(&sums).ok_or_else(|| back_end_error("shares of different lengths"))?;
        Ok(ExactAnswer::Units(ExactSum::of_units(units, self.whole.rows() as u64)))
    }

    fn inner(&self, _question: &Inner) -> Result<InnerAnswer, RecordsError> {
        Err(back_end_error("parties answer sums that are released, and no solver's questions"))
    }
}
