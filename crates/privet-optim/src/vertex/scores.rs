//! Scores Σ mᵢ·kᵢⱼ of every column j, exactly, while θ moves along signed columns.
//!
//! A move is θ ← shrink·θ ± add·e_j, with public numbers `shrink` and `add`. Margins are kept without
//! the product of all shrinks, uᵢ = ⟨xᵢ, θ⟩/scale, so that a move changes uᵢ only for rows with an
//! entry in column j. Those rows are *revised*: their clipped derivative mᵢ is recomputed, and its
//! change is scattered over the row's own columns. All other rows keep their mᵢ, although their margins
//! shrank; at marked moves every row is revised. An unmarked move costs the entries of the rows it
//! touches, for any n and p.
//!
//! **Claim.** At every moment score_j = Σᵢ mᵢkᵢⱼ, a sum over records in which mᵢ and kᵢ are functions
//! of record i and of the moves so far alone, with |mᵢ| ≤ M and |kᵢⱼ| ≤ K. So replacing a record
//! changes every score by at most 2MK, adding or removing one by at most MK, *whether derivatives are
//! fresh or stale*; and the scores do not depend on the order of rows or on the number of threads.
//!
//! *Proof.* By induction over moves. uᵢ is changed by a product of the move's numbers and kᵢⱼ; whether
//! row i is revised depends on the move's mark and on kᵢⱼ ≠ 0; the new mᵢ is a function of uᵢ, the
//! label and `scale`. Scores are sums of integers: 2³² rows of at most 2³⁰ each fit into 64 bits. ∎
//!
//! - mᵢ = trunc(clamp(ℓ′, −S, S)/unit), unit = 2^(a−16), 2^a ≥ S the least such power: M ≤ 2¹⁶
//! - Stale derivatives are those of Raff, Khanna & Lu (2023), which are never marked; there for speed.
//! - Tested by `scores_are_sums_of_bounded_terms`, `marked_moves_follow_the_gradient`,
//!   `both_storages_agree`.

use super::grid::GridMatrix;
use crate::loss::Loss;
use crate::sum::exponent_above;
use rayon::prelude::*;

/// The public bound and grid to which derivatives are clipped and rounded.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SlopeGrid {
    clip: f64,
    unit: f64,
    largest: u32,
}

impl SlopeGrid {
    /// The grid for derivatives clipped to ±`clip`, a number from 1e-60 to 1e60; any other bound is
    /// clamped to these.
    pub fn new(clip: f64) -> Self {
        Self::with_bits(clip, 16)
    }

    /// The finest grid that 64-bit sums over this many rows allow, up to 28 bits: M ≤ 2²⁸.
    pub fn for_rows(clip: f64, rows: u64) -> Self {
        Self::with_bits(clip, (48 - rows.max(1).ilog2() as i32 - 1).clamp(16, 28))
    }

    fn with_bits(clip: f64, bits: i32) -> Self {
        let clip = if clip.is_nan() { 1.0 } else { clip.clamp(1e-60, 1e60) };
        let unit = 2_f64.powi(exponent_above(clip) - bits);
        Self { clip, unit, largest: (clip / unit) as u32 }
    }

    /// The clipping bound S.
    pub fn clip(&self) -> f64 {
        self.clip
    }

    /// The unit of the grid.
    pub fn unit(&self) -> f64 {
        self.unit
    }

    /// The largest number of units M of a derivative.
    pub fn largest(&self) -> u32 {
        self.largest
    }

    /// The number of units m of a derivative: clipped, truncated toward 0.
    pub fn units(&self, slope: f64) -> i32 {
        (slope.clamp(-self.clip, self.clip) / self.unit) as i32
    }
}

/// A move θ ← shrink·θ ± add·e_column.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Move {
    /// The column j.
    pub column: usize,
    /// True if the sign is −.
    pub negative: bool,
    /// The shrinkage factor, from 0 to 1.
    pub shrink: f64,
    /// The step along the column.
    pub add: f64,
    /// True if every row is revised.
    pub revise_all: bool,
}

/// The scores of all columns along a path that starts at θ = 0.
pub struct ColumnScores<'a> {
    features: &'a GridMatrix,
    labels: &'a [f64],
    loss: Loss,
    slopes: SlopeGrid,
    scale: f64,
    records: Vec<Record>,
    scores: Vec<i64>,
    /// Columns changed by the current move, and for each column whether it is among them.
    changed: Vec<u32>,
    marked: Vec<bool>,
}

#[derive(Clone, Copy, Default)]
struct Record {
    /// The unscaled margin u.
    margin: f64,
    /// The derivative m, in units.
    slope: i32,
}

/// Withheld: derived from records.
impl std::fmt::Debug for ColumnScores<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("ColumnScores(withheld)")
    }
}

impl<'a> ColumnScores<'a> {
    /// The scores at θ = 0. `None` unless there is one label per row.
    pub fn new(
        features: &'a GridMatrix,
        labels: &'a [f64],
        loss: Loss,
        slopes: SlopeGrid,
    ) -> Option<Self> {
        if labels.len() != features.rows() {
            return None;
        }
        let columns = features.columns();
        let mut scores = Self {
            features,
            labels,
            loss,
            slopes,
            scale: 1.0,
            records: vec![Record::default(); labels.len()],
            scores: vec![0; columns],
            changed: Vec::new(),
            marked: vec![false; columns],
        };
        scores.revise_rows(|_| true);
        Some(scores)
    }

    /// Every score, in units of derivative unit × feature unit.
    pub fn scores(&self) -> &[i64] {
        &self.scores
    }

    /// Makes a move and calls `report` with each column whose score changed (after a pass over all
    /// rows: with every column). A move along a column that does not exist is ignored.
    pub fn apply_move(&mut self, step: Move, mut report: impl FnMut(usize, i64)) {
        if step.column >= self.features.columns() {
            return;
        }
        self.scale *= step.shrink;
        // A scale of 0 forgets the past; so would one that is about to underflow.
        let forget = self.scale < 1e-200;
        if forget {
            self.scale = 1.0;
            self.records.iter_mut().for_each(|record| record.margin = 0.0);
        }
        let signed = if step.negative { -step.add } else { step.add };
        let per_unit = signed / self.scale * self.features.grid().unit();
        let all = step.revise_all || forget;
        let features = self.features;
        // In a dense matrix most rows have the column: one parallel pass is faster.
        let one_pass = all || features.is_dense();
        features.for_column(step.column, |row, k| {
            self.records[row].margin += per_unit * f64::from(k);
            if !one_pass {
                self.revise(row);
            }
        });
        if one_pass {
            self.revise_rows(|row| all || features.dense_entry(row, step.column) != 0);
            self.scores.iter().enumerate().for_each(|(column, score)| report(column, *score));
        }
        for column in self.changed.drain(..) {
            self.marked[column as usize] = false;
            report(column as usize, self.scores[column as usize]);
        }
    }

    /// The derivative of a row at this margin, in units.
    fn slope(&self, row: usize, margin: f64) -> i32 {
        self.slopes.units(self.loss.derivative(margin * self.scale, self.labels[row]))
    }

    fn revise(&mut self, row: usize) {
        let Record { margin, slope: old } = self.records[row];
        let new = self.slope(row, margin);
        if new == old {
            return;
        }
        self.records[row].slope = new;
        let change = i64::from(new - old);
        let (scores, marked, changed) = (&mut self.scores, &mut self.marked, &mut self.changed);
        self.features.for_row(row, |column, k| {
            scores[column] += change * i64::from(k);
            if !std::mem::replace(&mut marked[column], true) {
                changed.push(column as u32);
            }
        });
    }

    /// Revises the rows for which `wanted` is true, in parallel; sums are of integers, so their order
    /// does not matter.
    fn revise_rows(&mut self, wanted: impl Fn(usize) -> bool + Sync) {
        let columns = self.features.columns();
        let piece = self.labels.len().div_ceil(rayon::current_num_threads()).max(256);
        let mut records = std::mem::take(&mut self.records);
        let changes: Vec<Vec<i64>> = records
            .par_chunks_mut(piece)
            .enumerate()
            .map(|(number, records)| {
                let mut sums = vec![0; columns];
                for (offset, record) in records.iter_mut().enumerate() {
                    let row = number * piece + offset;
                    if !wanted(row) {
                        continue;
                    }
                    let new = self.slope(row, record.margin);
                    if new != record.slope {
                        self.features.add_row(row, i64::from(new - record.slope), &mut sums);
                        record.slope = new;
                    }
                }
                sums
            })
            .collect();
        self.records = records;
        for change in changes {
            self.scores.iter_mut().zip(change).for_each(|(score, change)| *score += change);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Lcg, random_csr, select_rows};
    use crate::vertex::FeatureGrid;
    use privet_data::matrix::{DenseMatrix, Matrix};
    use proptest::prelude::*;

    const COLUMNS: usize = 8;

    fn matrix(random: &mut Lcg, rows: usize) -> Matrix {
        random_csr(random, rows, COLUMNS, 3)
    }

    fn dense(matrix: &Matrix) -> Matrix {
        let values = (0..matrix.rows()).flat_map(|row| matrix.dense_row(row)).collect();
        Matrix::Dense(DenseMatrix::new(values, matrix.rows(), matrix.columns()))
    }

    fn path(random: &mut Lcg, steps: usize) -> Vec<Move> {
        let step = |at: usize| Move {
            column: (random.next() % COLUMNS as u64) as usize,
            negative: random.next() & 1 == 1,
            shrink: [1.0, 0.5, 0.9, 0.0][(random.next() % if at == 0 { 4 } else { 3 }) as usize],
            add: 4.0 * random.unit(),
            revise_all: random.next().is_multiple_of(4),
        };
        (0..steps).map(step).collect()
    }

    fn walked(matrix: &Matrix, labels: &[f64], loss: Loss, path: &[Move]) -> Vec<i64> {
        let features = GridMatrix::new(matrix, FeatureGrid::new(0.4)).unwrap();
        let slopes = SlopeGrid::new(0.5);
        let mut scores = ColumnScores::new(&features, labels, loss, slopes).unwrap();
        let mut reported = scores.scores().to_vec();
        for step in path {
            scores.apply_move(*step, |column, score| reported[column] = score);
        }
        assert_eq!(reported, scores.scores(), "a change was not reported");
        reported
    }

    fn labels(random: &mut Lcg, rows: usize) -> Vec<f64> {
        (0..rows).map(|_| random.sign()).collect()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        /// The claim: each record adds a term of its own, independent of the others, within the bound.
        #[test]
        fn scores_are_sums_of_bounded_terms(seed in any::<u64>(), steps in 0_usize..12) {
            let mut random = Lcg(seed);
            let rows = 30;
            let all = matrix(&mut random, rows);
            let labels = labels(&mut random, rows);
            let path = path(&mut random, steps);
            let loss = [Loss::Logistic, Loss::HuberSvm { h: 0.1 }, Loss::SQUARED][seed as usize % 3];
            let whole = walked(&all, &labels, loss, &path);
            let mut sum = [0; COLUMNS];
            let bound = i64::from(SlopeGrid::new(0.5).largest() * FeatureGrid::new(0.4).largest());
            for row in 0..rows {
                let alone = walked(&select_rows(&all, &[row]), &labels[row..=row], loss, &path);
                for (sum, term) in sum.iter_mut().zip(alone) {
                    prop_assert!(term.abs() <= bound);
                    *sum += term;
                }
            }
            prop_assert_eq!(&whole[..], sum);
        }

        #[test]
        fn both_storages_agree(seed in any::<u64>(), steps in 0_usize..20) {
            let mut random = Lcg(seed);
            let rows = 700;
            let sparse = matrix(&mut random, rows);
            let labels = labels(&mut random, rows);
            let path = path(&mut random, steps);
            prop_assert_eq!(
                walked(&sparse, &labels, Loss::Logistic, &path),
                walked(&dense(&sparse), &labels, Loss::Logistic, &path)
            );
        }

        /// If every move is marked, the scores are the gradient at θ, up to truncation.
        #[test]
        fn marked_moves_follow_the_gradient(seed in any::<u64>(), steps in 0_usize..9) {
            let mut random = Lcg(seed);
            let rows = 50;
            let all = matrix(&mut random, rows);
            let labels = labels(&mut random, rows);
            let mut path = path(&mut random, steps);
            path.iter_mut().for_each(|step| step.revise_all = true);
            let found = walked(&all, &labels, Loss::Logistic, &path);
            let mut theta = [0.0; COLUMNS];
            for step in &path {
                theta.iter_mut().for_each(|x| *x *= step.shrink);
                theta[step.column] += if step.negative { -step.add } else { step.add };
            }
            let (grid, slopes) = (FeatureGrid::new(0.4), SlopeGrid::new(0.5));
            let mut gradient = [0.0; COLUMNS];
            for (row, y) in labels.iter().enumerate() {
                let x: Vec<f64> = all.dense_row(row).iter().map(|x| f64::from(grid.units(*x)) * grid.unit()).collect();
                let margin = x.iter().zip(theta).map(|(x, t)| x * t).sum();
                let slope = Loss::Logistic.derivative(margin, *y).clamp(-0.5, 0.5);
                gradient.iter_mut().zip(&x).for_each(|(g, x)| *g += slope * x);
            }
            for (score, gradient) in found.iter().zip(gradient) {
                let score = *score as f64 * grid.unit() * slopes.unit();
                prop_assert!((score - gradient).abs() <= 0.41 * rows as f64 * slopes.unit());
            }
        }
    }

    /// The bound is attained: the largest feature and derivative, with opposite labels.
    #[test]
    fn opposite_records_at_the_bound_move_a_score_by_twice_the_bound() {
        let one = |x: f32| Matrix::Dense(DenseMatrix::new(vec![x; COLUMNS], 1, COLUMNS));
        let up = walked(&one(0.9), &[1.0], Loss::HuberSvm { h: 0.1 }, &[]);
        let down = walked(&one(0.9), &[-1.0], Loss::HuberSvm { h: 0.1 }, &[]);
        let bound = i64::from(SlopeGrid::new(0.5).largest() * FeatureGrid::new(0.4).largest());
        assert!(up.iter().zip(down).all(|(up, down)| down - up == 2 * bound));
        assert_eq!(walked(&one(0.0), &[1.0], Loss::Logistic, &[]), [0; COLUMNS]);
        let features = GridMatrix::new(&one(1.0), FeatureGrid::new(1.0)).unwrap();
        let short = ColumnScores::new(&features, &[], Loss::Logistic, SlopeGrid::new(1.0));
        assert!(short.is_none());
    }
}
