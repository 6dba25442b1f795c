//! The back end of other machines: a table whose rows are summed where they are, never fetched.
//!
//! An implementation of [`RowMachines`] sends a [`QueryMessage`] to the machines that keep the rows and
//! returns the parts of the answer. Here they are merged: exact sums as they come, others in the order
//! of their pieces, so that a model has the same bits as from memory. Each part is checked to answer
//! this very query, and to be of its piece or its rows ([`QueryMessage`]). The rows of the parts of a sum
//! are checked by their number and by a sum of checksums of the rows (`block::print_of_rows`), so that
//! an engine that counts some twice, or leaves some out, by accident is detected. Noise is drawn by the
//! holder of this table, and nowhere else.

use super::carried::Transferable;
use super::message::QueryMessage;
use super::remote_query::{
    Merging, RemoteQuery, RemoteRows, RowsIdentity, answers, count_unaccepted, misfit_answer,
};
use super::{Exact, ExactAnswer, Inner, InnerAnswer, Labels, Records, RecordsError, Table, pieces};
use crate::loss::Loss;
use privet_data::Dataset;
use privet_data::block;
use privet_data::centre::Centre;
use std::hash::{BuildHasher, RandomState};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::SystemTime;

/// Machines that keep rows.
pub trait RowMachines: Send + Sync {
    /// Returns the parts of the answer: for an [`RemoteQuery::Inner`] one for each piece, in their order;
    /// for an [`RemoteQuery::Rows`] in the order of the rows.
    fn ask(&self, query: &QueryMessage) -> Result<Vec<Vec<u8>>, RecordsError>;
}

/// A table on other machines; each row was checked there against the plan's admission rule.
pub struct Remote<E> {
    elsewhere: E,
    kept: RemoteRows,
    /// The number of the table in its queries, and the number of queries so far.
    number: u64,
    asked: AtomicU64,
}

impl<E> std::fmt::Debug for Remote<E> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Remote(withheld)")
    }
}

impl<E: RowMachines> Remote<E> {
    /// The table of rows with these facts. The machines that keep them must have checked each by the
    /// plan's own rule.
    pub fn new(elsewhere: E, kept: RemoteRows) -> Self {
        let number = RandomState::new().hash_one((std::process::id(), SystemTime::now()));
        Self { elsewhere, kept, number, asked: AtomicU64::new(0) }
    }

    /// Sends a query; returns it with the parts of the answer as they came.
    fn ask(&self, asking: RemoteQuery) -> Result<(QueryMessage, Vec<Vec<u8>>), RecordsError> {
        let number = self.asked.fetch_add(1, Ordering::Relaxed);
        let query = QueryMessage::new(self.number, number, asking)?;
        let parts = self.elsewhere.ask(&query)?;
        Ok((query, parts))
    }

    /// The machines that keep the rows.
    pub fn machines(&self) -> &E {
        &self.elsewhere
    }

    fn view(&self, moved: Option<Centre>) -> View<'_, E> {
        View { table: self, moved }
    }
}

/// The table's rows, as they are or minus a public vector.
struct View<'a, E> {
    table: &'a Remote<E>,
    moved: Option<Centre>,
}

impl<'a, E: RowMachines> View<'a, E> {
    fn columns(&self) -> usize {
        self.table.kept.columns() + usize::from(self.moved.is_some())
    }

    fn labelled(&self, labels: &Labels) -> Labelled<'a, E> {
        let view = Self { table: self.table, moved: self.moved.clone() };
        Labelled { view, labels: labels.clone() }
    }
}

/// True if blocks are in order, and each holds exactly the wanted rows from its first to the next
/// one's.
fn as_placed(places: &[usize], blocks: &[(usize, &[u8])]) -> bool {
    let mut taken = 0;
    let together = blocks.chunk_by(|one, next| one.0 == next.0);
    blocks.is_sorted_by_key(|(first, _)| *first)
        && together.into_iter().all(|blocks| {
            let begins = places.partition_point(|place| *place < blocks[0].0) == taken;
            let rows =
                |(_, block): &(usize, &[u8])| block::print_of(block).map_or(0, |print| print.0);
            taken += blocks.iter().map(rows).sum::<usize>();
            begins
        })
}

/// The error for a request to show rows on other machines.
fn not_shown() -> RecordsError {
    RecordsError::BackEnd("rows on other machines are not shown, only summed".into())
}

impl<E: RowMachines> Table for Remote<E> {
    fn rows(&self) -> usize {
        self.kept.rows()
    }

    fn columns(&self) -> usize {
        self.kept.columns()
    }

    fn in_memory(&self) -> Option<&Dataset> {
        None
    }

    fn visit(
        &self,
        _see: &mut dyn FnMut(&Dataset) -> Result<(), RecordsError>,
    ) -> Result<(), RecordsError> {
        Err(not_shown())
    }

    fn rows_at(&self, places: &[usize]) -> Result<Dataset, RecordsError> {
        if !places.is_sorted() || places.last().is_some_and(|last| *last >= self.kept.rows()) {
            return Err(RecordsError::BackEnd("no such row".into()));
        }
        let (query, parts) = self.ask(RemoteQuery::Rows { places: places.to_vec() })?;
        let found = query.open_answers(&parts)?;
        let blocks: Vec<&[u8]> = found.iter().map(|(_, block)| *block).collect();
        let rows = block::from_bytes(&blocks).map_err(|_| misfit_answer())?;
        let fits = rows.rows() == places.len()
            && rows.features.columns() == self.columns()
            && as_placed(places, &found);
        if fits { Ok(rows) } else { Err(misfit_answer()) }
    }

    fn is_vouched_for(&self) -> bool {
        true
    }

    fn offers_less(&self) -> bool {
        true
    }

    fn recentred(&self, centre: &Centre) -> Result<Box<dyn Table + '_>, RecordsError> {
        Ok(Box::new(self.view(Some(centre.clone()))))
    }

    fn problem(&self, labels: &Labels) -> Result<Box<dyn Records + '_>, RecordsError> {
        Ok(Box::new(self.view(None).labelled(labels)))
    }
}

impl<E: RowMachines> Table for View<'_, E> {
    fn rows(&self) -> usize {
        self.table.kept.rows()
    }

    fn columns(&self) -> usize {
        self.columns()
    }

    fn in_memory(&self) -> Option<&Dataset> {
        None
    }

    fn visit(
        &self,
        _see: &mut dyn FnMut(&Dataset) -> Result<(), RecordsError>,
    ) -> Result<(), RecordsError> {
        Err(not_shown())
    }

    fn rows_at(&self, _places: &[usize]) -> Result<Dataset, RecordsError> {
        Err(not_shown())
    }

    fn is_vouched_for(&self) -> bool {
        true
    }

    fn problem(&self, labels: &Labels) -> Result<Box<dyn Records + '_>, RecordsError> {
        Ok(Box::new(self.labelled(labels)))
    }
}

/// Rows with the labels of one problem.
struct Labelled<'a, E> {
    view: View<'a, E>,
    labels: Labels,
}

impl<E: RowMachines> Labelled<'_, E> {
    fn ask(&self, asking: RemoteQuery) -> Result<(QueryMessage, Vec<Vec<u8>>), RecordsError> {
        self.view.table.ask(asking)
    }
}

impl<E: RowMachines> Records for Labelled<'_, E> {
    fn rows(&self) -> usize {
        self.view.table.kept.rows()
    }

    fn columns(&self) -> usize {
        self.view.columns()
    }

    fn radius(&self) -> f64 {
        match &self.view.moved {
            Some(centre) => Centre::norm_bound(centre.radius()),
            None => self.view.table.kept.radius(),
        }
    }

    fn longest_row(&self) -> usize {
        self.view.table.kept.longest_row() + usize::from(self.view.moved.is_some())
    }

    fn entries(&self) -> usize {
        let more = if self.view.moved.is_some() { self.rows() } else { 0 };
        self.view.table.kept.entries() + more
    }

    fn labels_accepted(&self, loss: Loss) -> bool {
        let asking = RemoteQuery::Unaccepted { labels: self.labels.clone(), loss };
        let refused =
            self.ask(asking).and_then(|(query, parts)| count_unaccepted(&answers(&query, &parts)?));
        refused == Ok(0)
    }

    /// Each exact sum checks the grid itself, where the rows are.
    fn look_at_grid(&mut self, _radius: f64) {}

    fn exact(&self, query: &Exact) -> Result<ExactAnswer, RecordsError> {
        let (labels, moved) = (self.labels.clone(), self.view.moved.clone());
        let (asked, parts) =
            self.ask(RemoteQuery::Exact { labels, moved, query: query.clone() })?;
        let parts = answers(&asked, &parts)?;
        if RowsIdentity::of_all(&parts)? != self.view.table.kept.identity() {
            return Err(misfit_answer());
        }
        query.sum_with(&Merging { parts: &parts, columns: self.columns() })
    }

    fn inner(&self, query: &Inner) -> Result<InnerAnswer, RecordsError> {
        let (labels, moved) = (self.labels.clone(), self.view.moved.clone());
        let (rows, columns) = (self.rows(), self.columns());
        let count = pieces::pieces(rows, columns, query.bytes(columns));
        let asking =
            RemoteQuery::Inner { labels, moved, query: query.clone(), rows, pieces: count };
        let (asked, parts) = self.ask(asking)?;
        let found = asked.open_answers(&parts)?;
        let as_cut = |(piece, (place, part)): (usize, &(usize, &[u8]))| {
            let found = RowsIdentity::read(&mut &part[..]).map(RowsIdentity::rows);
            piece == *place && found == Some(pieces::rows_of(piece, count, rows).len())
        };
        let parts: Vec<&[u8]> = found.iter().map(|(_, part)| *part).collect();
        if parts.len() != count
            || !found.iter().enumerate().all(as_cut)
            || RowsIdentity::of_all(&parts)? != self.view.table.kept.identity()
        {
            return Err(misfit_answer());
        }
        query.sum_with(&Merging { parts: &parts, columns })
    }
}
