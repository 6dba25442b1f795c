//! The back end of a file: row blocks of [`privet_data::block`], read piece by piece in every pass.
//!
//! Sums have the same bits as those from memory ([`super::pieces`]): each piece is read whole and given to
//! the same kernels. At most one piece a thread is in memory.

use super::memory::{Norms, norms_of, off_grid};
use super::question::Answering;
use super::table::other_target;
use super::{
    Block, Exact, ExactAnswer, Inner, InnerAnswer, Labels, Records, RecordsError, Statistic, Table,
    pieces,
};
use crate::loss::Loss;
use privet_data::Dataset;
use privet_data::block::{BlockError, BlockFile};
use std::path::Path;

/// Rows of a file that are looked at together where no sum is asked for.
const LOOK: usize = 1 << 14;

/// A table in a file of row blocks.
#[derive(Debug)]
pub struct OnDisk {
    file: BlockFile,
    norms: Norms,
}

impl OnDisk {
    /// Opens a file; every row is looked at once.
    pub fn open(path: &Path) -> Result<Self, RecordsError> {
        let file = BlockFile::open(path).map_err(back_end)?;
        let mut table = Self { file, norms: Norms::default() };
        let (mut norms, mut first) = (Norms::default(), 0);
        table.visit(&mut |rows| {
            norms = norms.and(norms_of(&rows.features, first)?);
            first += rows.rows();
            Ok(())
        })?;
        table.norms = norms;
        Ok(table)
    }
}

fn back_end(error: BlockError) -> RecordsError {
    RecordsError::BackEnd(error.to_string())
}

impl Table for OnDisk {
    fn rows(&self) -> usize {
        self.file.rows()
    }

    fn columns(&self) -> usize {
        self.file.columns()
    }

    fn in_memory(&self) -> Option<&Dataset> {
        None
    }

    fn visit(
        &self,
        see: &mut dyn FnMut(&Dataset) -> Result<(), RecordsError>,
    ) -> Result<(), RecordsError> {
        let rows = self.file.rows();
        for start in (0..rows).step_by(LOOK) {
            see(&self.file.piece(start..rows.min(start + LOOK)).map_err(back_end)?)?;
        }
        if rows == 0 {
            see(&self.file.piece(0..0).map_err(back_end)?)?;
        }
        Ok(())
    }

    fn rows_at(&self, places: &[usize]) -> Result<Dataset, RecordsError> {
        if !places.is_sorted() || places.last().is_some_and(|last| *last >= self.file.rows()) {
            return Err(RecordsError::BackEnd("no such row".into()));
        }
        self.file.rows_at(places).map_err(back_end)
    }

    fn problem(&self, labels: &Labels) -> Result<Box<dyn Records + '_>, RecordsError> {
        let (mut only_signs, mut first) = (true, 0);
        self.visit(&mut |rows| {
            let labels = labels.of(&rows.target).ok_or_else(other_target)?;
            if let Some(row) = labels.iter().position(|y| !(-1.0..=1.0).contains(y)) {
                return Err(RecordsError::Label { row: first + row });
            }
            only_signs &= labels.iter().all(|y| y.abs() == 1.0);
            first += labels.len();
            Ok(())
        })?;
        Ok(Box::new(Labelled { table: self, labels: labels.clone(), only_signs, grid: None }))
    }
}

/// The rows of a file with the labels of one problem.
struct Labelled<'a> {
    table: &'a OnDisk,
    labels: Labels,
    only_signs: bool,
    grid: Option<f64>,
}

impl Answering for Labelled<'_> {
    fn answer<S: Statistic>(&self, statistic: &S) -> Result<S::Sum, RecordsError> {
        let (rows, columns) = (self.rows(), self.columns());
        pieces::summed(statistic, rows, columns, |piece| {
            let rows = self.table.file.piece(piece).map_err(back_end)?;
            let labels = self.labels.of(&rows.target).ok_or_else(other_target)?;
            let mut sum = statistic.zero(columns);
            let block = Block::new(&rows.features, 0, &labels).known_on_grid(self.grid);
            statistic.add(block, &mut sum);
            Ok(sum)
        })
    }
}

impl Records for Labelled<'_> {
    fn rows(&self) -> usize {
        self.table.file.rows()
    }

    fn columns(&self) -> usize {
        self.table.file.columns()
    }

    fn radius(&self) -> f64 {
        self.table.norms.radius(self.columns())
    }

    fn longest_row(&self) -> usize {
        self.table.norms.longest_row
    }

    fn entries(&self) -> usize {
        self.table.file.entries()
    }

    fn labels_accepted(&self, loss: Loss) -> bool {
        let all = |rows: &Dataset| match self.labels.of(&rows.target) {
            Some(labels) if labels.iter().all(|y| loss.accepts(*y)) => Ok(()),
            _ => Err(other_target()),
        };
        self.only_signs || self.table.visit(&mut |rows| all(rows)).is_ok()
    }

    fn look_at_grid(&mut self, radius: f64) {
        let unit = super::exact::ExactPlan::feature_unit(radius);
        let off = self.table.visit(&mut |rows| match off_grid(&rows.features, unit) {
            true => Err(other_target()),
            false => Ok(()),
        });
        self.grid = off.is_ok().then_some(unit);
    }

    fn exact(&self, question: &Exact) -> Result<ExactAnswer, RecordsError> {
        question.put(self)
    }

    fn inner(&self, question: &Inner) -> Result<InnerAnswer, RecordsError> {
        question.put(self)
    }
}
