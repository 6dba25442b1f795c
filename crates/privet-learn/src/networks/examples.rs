//! Records as inputs of a network, and the sums that queries need.

use super::NetFacts;
use crate::LearnError;
use crate::release::admit;
use privet_data::matrix::Matrix;
use privet_data::{Dataset, Target};
use privet_dp::mechanism::ExactCounts;
use privet_nn::{Batch, ExactSum, Net, ScaledClip, Targets, Workspace};
use privet_optim::sum::Table;
use std::borrow::Cow;
use std::cell::RefCell;
use std::sync::Arc;

/// The records of a table as inputs of a network. Private: `Debug` shows nothing of them.
pub struct Examples {
    net: Arc<Net>,
    inputs: Vec<f32>,
    targets: Owned,
    rows: usize,
    /// Indices of null records, ascending: their gradient is 0.
    null: Vec<usize>,
    room: RefCell<Workspace>,
}

impl std::fmt::Debug for Examples {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Examples(withheld)")
    }
}

/// Targets of the records.
enum Owned {
    Classes(Vec<u32>),
    Values(Vec<f32>),
}

/// Rows of features as the inputs of a network.
pub(crate) fn inputs(facts: &NetFacts, features: &Matrix) -> Vec<f32> {
    let (scale, shift) = (facts.scale, facts.shift);
    let mut all = Vec::with_capacity(features.rows() * facts.inputs);
    for row in 0..features.rows() {
        let entries = features.dense_row(row);
        // The constant column is the last.
        all.extend(entries[..facts.inputs].iter().map(|x| (f64::from(*x) * scale + shift) as f32));
    }
    all
}

fn counts(sum: ExactSum) -> ExactCounts {
    let counts = sum.steps.iter().map(|steps| i128::from(*steps)).collect();
    ExactCounts { counts, unit: sum.grid }
}

impl Examples {
    /// Refuses a table that no network can be trained on.
    pub(super) fn check_table(table: &dyn Table) -> Result<&Dataset, LearnError> {
        let data = admit::in_memory(table, "network", "single records")?;
        match u32::try_from(data.rows()) {
            Ok(_) => Ok(data),
            Err(_) => Err(LearnError::DataShape("a network takes fewer than 2^32 rows")),
        }
    }

    /// Reads the rows of a table that the plan admits.
    pub fn of(facts: &NetFacts, table: &dyn Table) -> Result<Self, LearnError> {
        let data = Self::check_table(table)?;
        let targets = match (&data.target, facts.net.loss_kind()) {
            (Target::Class { codes, .. }, privet_nn::Loss::CrossEntropy) => {
                Owned::Classes(codes.clone())
            }
            (Target::Class { codes, .. }, _) => {
                Owned::Values(codes.iter().map(|code| *code as f32).collect())
            }
            (Target::Number(values), _) => {
                Owned::Values(values.iter().map(|value| *value as f32).collect())
            }
        };
        Ok(Self {
            net: facts.net.clone(),
            inputs: inputs(facts, &data.features),
            targets,
            rows: data.rows(),
            null: data.report.null_rows.clone(),
            room: RefCell::new(Workspace::default()),
        })
    }

    /// Number of records. Private under add-remove.
    pub fn rows(&self) -> usize {
        self.rows
    }

    fn batch<'a>(&'a self, rows: &'a [u32]) -> Batch<'a> {
        let targets = match &self.targets {
            Owned::Classes(classes) => Targets::Classes(classes),
            Owned::Values(values) => Targets::Values(values),
        };
        Batch::chosen(&self.inputs, targets, rows)
    }

    /// These rows without null records. A null record counts as a row and keeps its index, but a layer's
    /// constants would make a nonzero gradient of its zeros and its label.
    fn without_null_records<'a>(&self, rows: &'a [u32]) -> Cow<'a, [u32]> {
        let is_null = |row: &u32| self.null.binary_search(&(*row as usize)).is_ok();
        match self.null.is_empty() {
            true => Cow::Borrowed(rows),
            false => Cow::Owned(rows.iter().copied().filter(|row| !is_null(row)).collect()),
        }
    }

    /// Σ clip(∇ℓᵢ, C) over these rows. The inputs have the network's shape, so that there is always an
    /// answer.
    pub(super) fn clipped_sum(&self, at: &[f32], rows: &[u32], clip: f64) -> Option<Vec<f64>> {
        let room = &mut self.room.borrow_mut();
        let sum = self
            .net
            .clipped_sum(at, &self.batch(&self.without_null_records(rows)), clip, room)
            .ok()?
            .sum;
        Some(sum)
    }

    /// The same in integers.
    pub(super) fn exact_sum(&self, at: &[f32], rows: &[u32], clip: f64) -> Option<ExactCounts> {
        let room = &mut self.room.borrow_mut();
        let sum = self
            .net
            .clipped_sum_exact(at, &self.batch(&self.without_null_records(rows)), clip, room)
            .ok()?;
        Some(counts(sum))
    }

    /// The same for a multiple of each clipped gradient, on a grid of the caller's.
    pub(super) fn exact_share(
        &self,
        at: &[f32],
        rows: &[u32],
        share: ScaledClip,
    ) -> Option<ExactCounts> {
        let room = &mut self.room.borrow_mut();
        let rows = self.without_null_records(rows);
        let sum = self.net.clipped_share_exact(at, &self.batch(&rows), share, room).ok()?;
        Some(counts(sum))
    }

    /// The same plus a multiple of each clipped difference ∇ℓᵢ(new) − ∇ℓᵢ(old), on one grid.
    pub(super) fn exact_terms(
        &self,
        points: [&[f32]; 2],
        rows: &[u32],
        shares: [ScaledClip; 2],
    ) -> Option<ExactCounts> {
        let room = &mut self.room.borrow_mut();
        let rows = self.without_null_records(rows);
        let sum = self.net.clipped_terms_exact(points, &self.batch(&rows), shares, room).ok()?;
        Some(counts(sum))
    }

    /// Σ min(ℓᵢ, C) over these rows, in integer steps.
    pub(super) fn loss_steps(&self, at: &[f32], rows: &[u32], clip: f64) -> Option<i64> {
        let room = &mut self.room.borrow_mut();
        let rows = self.without_null_records(rows);
        self.net.clipped_loss_steps(at, &self.batch(&rows), clip, room).ok()
    }

    /// Σ clip(∇ℓᵢ(new) − ∇ℓᵢ(old), C) over these rows.
    pub(super) fn difference_sum(
        &self,
        [new, old]: [&[f32]; 2],
        rows: &[u32],
        clip: f64,
    ) -> Option<Vec<f64>> {
        let room = &mut self.room.borrow_mut();
        let rows = self.without_null_records(rows);
        let sum = self.net.clipped_difference_sum(new, old, &self.batch(&rows), clip, room);
        Some(sum.ok()?.sum)
    }

    /// Σ∇ℓᵢ over these rows, without clipping: for trainings without privacy.
    pub(super) fn plain_sum(&self, at: &[f32], rows: &[u32]) -> Option<Vec<f64>> {
        let rows = self.without_null_records(rows);
        self.net.plain_sum(at, &self.batch(&rows), &mut self.room.borrow_mut()).ok()
    }
}
