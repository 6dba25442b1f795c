//! Rows of levels: each column of a table at one of a few levels, a byte a column (two where a column has
//! 256 values or more).
//!
//! A [`Run`] is a run of encoded columns of which a row is at one at most: the knots of a number, the
//! values of a category. A row's *code* in it is 0 if all those entries are 0, else 1 + the place of the
//! largest (the first of equal ones). A table of numbers per run and code then stands for any map of
//! rows: a margin is a sum of look-ups, and a gradient a histogram of integers, of which every linear
//! image ([`LinearImage`]) is the gradient of the features that are functions of the codes.
//!
//! Let z = s·(F(c) − m), where the features F(c) = Σᵣ fᵣ(cᵣ) are a sum over runs, m is a public vector
//! and s = ℛ(1 − 2⁻²⁰)/max(L, ℛ/8) in f32, rounded toward 0, with L² = Σᵣ `lengths`(cᵣ) + `centre`.
//!
//! **Claim.** Let Σᵣ `lengths`(cᵣ) + `centre` be ‖F(c) − m‖² up to 2⁻³⁰ℛ² for every row of codes. Then
//! [`LevelGradient`]'s sum is the same for any order of rows, threads, storage and sharding, and under
//! the image that maps code c to f(c), the last entry but one to −m, and the last one to a coordinate of its
//! own, times b, one record's contribution has norm at most S·√(ℛ² + b²).
//!
//! *Proof.* A record adds q to the entries of its codes and to the last but one, and p to the last, so its
//! image is (q·(F(c) − m), b·p), with q = trunc(s·ℓ′/u)·u and p = trunc(ℓ′/u)·u, |ℓ′| ≤ S: |p| ≤ S and
//! |q| ≤ s·S(1 + 2⁻⁵²). Where L ≥ ℛ/8,
//! ‖F − m‖² ≤ L² + 2⁻³⁰ℛ² ≤ L²(1 + 2⁻²⁴), so that s·‖F − m‖ ≤ ℛ(1 − 2⁻²⁰)(1 + 2⁻²⁵); where L < ℛ/8,
//! ‖F − m‖² ≤ ℛ²/64 + 2⁻³⁰ℛ² alike. The factor 1 − 2⁻²⁰ covers the roundings of s and of the product.
//! Margins are added in the order of the runs, so that they depend on the row's codes alone; ℓ′ is
//! computed without fused operations; and sums are of integers, at most 2²⁴ units a record. ∎
//!
//! A row whose code in the run `present` is 0, the null record, adds nothing.
//!
//! - Tested by `bytes_rows_and_shards_agree`, `no_record_exceeds_its_bound`, `agrees_with_plain_sums`.

use super::exact::{ExactSum, exponent_above};
use super::gradient::ROWS_PER_PART;
use super::{Block, Exact, ExactAnswer, Inner, InnerAnswer, Records, RecordsError, Statistic};
use crate::kernel::{Kernel, dispatch};
use crate::loss::Loss;
use privet_data::matrix::Matrix;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

/// The largest factor by which a row is scaled up.
pub const STRETCH: f64 = 8.0;
/// Room below ℛ for all roundings of a row's scale.
const BELOW: f64 = 1.0 - 1.0 / 1_048_576.0;
/// Rows that a thread takes at a time.
const PIECE: usize = 1 << 14;

/// Consecutive encoded columns of which a row is at one at most.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Run {
    /// The first encoded column.
    pub first: u32,
    /// The number of columns; codes are from 0 to it.
    pub count: u32,
}

/// The runs of a table, and the one in which every record but the null record is at a level.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Runs {
    /// In the order of their columns.
    pub runs: Vec<Run>,
    /// The place of the run that marks a record as present.
    pub present: usize,
}

impl Runs {
    /// The place of each run's code 0 in tables of codes; and the length of those tables.
    pub fn starts(&self) -> (Vec<u32>, usize) {
        let mut next = 0_u32;
        let start = |run: &Run| {
            let own = next;
            next += run.count + 1;
            own
        };
        (self.runs.iter().map(start).collect(), next as usize)
    }

    /// The number of codes of all runs.
    pub fn codes(&self) -> usize {
        self.starts().1
    }

    fn widest(&self) -> u32 {
        self.runs.iter().map(|run| run.count).max().unwrap_or(0)
    }

    /// The run of each encoded column; those of no run have none.
    fn of_columns(&self, columns: usize) -> Vec<u32> {
        let mut of = vec![u32::MAX; columns];
        for (place, run) in self.runs.iter().enumerate() {
            for column in run.first..run.first + run.count {
                if let Some(own) = of.get_mut(column as usize) {
                    *own = place as u32;
                }
            }
        }
        of
    }

    /// Writes a row's codes into `codes`.
    fn place(
        &self,
        of: &[u32],
        block: &Block<'_>,
        row: usize,
        best: &mut [f64],
        codes: &mut [u16],
    ) {
        best.fill(0.0);
        codes.fill(0);
        block.for_entries(row, |column, x| {
            let run = of[column] as usize;
            if run < codes.len() && x > best[run] {
                best[run] = x;
                codes[run] = (column as u32 - self.runs[run].first + 1) as u16;
            }
        });
    }

    fn check(&self, columns: usize) -> Result<(), RecordsError> {
        let inside = |run: &Run| u64::from(run.first) + u64::from(run.count) <= columns as u64;
        let fits = self.present < self.runs.len()
            && self.runs.iter().all(inside)
            && self.widest() < u32::from(u16::MAX);
        match fits {
            true => Ok(()),
            false => Err(RecordsError::BackEnd("the levels are not those of the rows".into())),
        }
    }
}

/// The number of records at each level: by run, then by code.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LevelCounts {
    /// The runs.
    pub runs: Runs,
}

/// The exact sums of q over the records at each code, of q, and of p: see the module's documentation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LevelGradient {
    /// The runs.
    pub runs: Runs,
    /// The loss ℓ.
    pub loss: Loss,
    /// The score of each code: ⟨f(c), θ⟩.
    pub scores: Vec<f64>,
    /// ⟨m, θ⟩, subtracted from every row's score before it is scaled.
    pub taken: f64,
    /// Added to every row's scaled score: b times the constant's coefficient.
    pub constant: f64,
    /// The part of each code in ‖F(c) − m‖².
    pub lengths: Vec<f64>,
    /// The part of every row: ‖m‖².
    pub centre: f64,
    /// The norm ℛ to which rows are scaled.
    pub reach: f64,
    /// The bound S to which |ℓ′| is clipped; above 0.
    pub slope: f64,
}

impl LevelGradient {
    /// The unit of the sum's integers, a power of two.
    pub fn unit(&self) -> f64 {
        2f64.powi(exponent_above(self.slope * STRETCH) - 21)
    }

    fn scaling(&self) -> Scaling<'_> {
        Scaling { lengths: &self.lengths, centre: self.centre, reach: self.reach }
    }
}

/// The scale s of a row.
#[derive(Clone, Copy)]
struct Scaling<'a> {
    lengths: &'a [f64],
    centre: f64,
    reach: f64,
}

impl Scaling<'_> {
    /// s of a row with these places in the tables; 0 for the null record.
    #[inline(always)]
    fn of(&self, places: impl Iterator<Item = usize>, present: bool) -> f32 {
        if !present {
            return 0.0;
        }
        let square = places.fold(self.centre, |sum, place| sum + self.lengths[place]);
        let length = square.max(0.0).sqrt().max(self.reach / STRETCH);
        let scale = self.reach * BELOW / length;
        let rounded = scale as f32;
        if f64::from(rounded) > scale { rounded.next_down() } else { rounded }
    }
}

/// Rows of codes with what a pass needs of each.
struct Coded<'a, C> {
    /// Codes, run after run of each row.
    codes: &'a [C],
    labels: &'a [f64],
    scales: &'a [f32],
}

/// One pass over rows of codes.
struct CodedPass<'a, C> {
    rows: Coded<'a, C>,
    starts: &'a [u32],
    statistic: &'a LevelGradient,
    /// Sums of q in units, one for each code, and of all; then of p.
    sums: &'a mut [i64],
}

impl<C: Copy + Into<u32>> Kernel for CodedPass<'_, C> {
    type Output = ();

    #[inline(always)]
    fn run<const F: bool>(self) {
        let LevelGradient { loss, slope, scores, taken, constant, .. } = self.statistic;
        let per_unit = 1.0 / self.statistic.unit();
        let width = self.starts.len().max(1);
        let (mut margins, mut multipliers) = ([0.0; ROWS_PER_PART], [0.0; ROWS_PER_PART]);
        let (sums, both) = self.sums.split_at_mut(self.sums.len().saturating_sub(2));
        let labels = self.rows.labels;
        for first in (0..labels.len()).step_by(ROWS_PER_PART) {
            let rows = first..labels.len().min(first + ROWS_PER_PART);
            let margins = &mut margins[..rows.len()];
            let multipliers = &mut multipliers[..rows.len()];
            let codes = &self.rows.codes[rows.start * width..rows.end * width];
            let scales = &self.rows.scales[rows.clone()];
            for ((row, scale), margin) in codes.chunks_exact(width).zip(scales).zip(&mut *margins) {
                let sum = row.iter().zip(self.starts).fold(0.0, |sum, (code, start)| {
                    let code: u32 = (*code).into();
                    sum + scores[(start + code) as usize]
                });
                *margin = f64::from(*scale) * (sum - taken) + constant;
            }
            loss.derivatives::<false>(margins, &labels[rows], multipliers);
            for ((row, scale), m) in codes.chunks_exact(width).zip(scales).zip(&*multipliers) {
                // Not `clamp`, which would let a NaN pass and corrupt the terms of other records.
                let clipped = m.max(-slope).min(*slope);
                let units = (clipped * f64::from(*scale) * per_unit).trunc() as i64;
                both[0] += units;
                if *scale > 0.0 {
                    both[1] += (clipped * per_unit).trunc() as i64;
                }
                for (code, start) in row.iter().zip(self.starts) {
                    let code: u32 = (*code).into();
                    sums[(start + code) as usize] += units;
                }
            }
        }
    }
}

impl Statistic for LevelCounts {
    type Sum = ExactSum;
    const NAME: &'static str = "level-counts";

    /// A record is at one level of each run at most.
    fn bound(&self, _radius: f64) -> f64 {
        (self.runs.runs.len() as f64).sqrt()
    }
    fn zero(&self, _columns: usize) -> ExactSum {
        ExactSum::zero(self.runs.codes())
    }
    fn bytes(&self, _columns: usize) -> usize {
        24 * self.runs.codes() + 64
    }

    /// The sum is of integers.
    fn grain(&self, _columns: usize) -> Option<usize> {
        Some(1)
    }

    fn add(&self, block: Block<'_>, into: &mut ExactSum) {
        let mut counts = vec![0_i64; self.runs.codes()];
        let (starts, _) = self.runs.starts();
        coded(&self.runs, block, |rows, codes| {
            for row in codes.chunks_exact(starts.len().max(1)).take(rows.rows()) {
                count(row, &starts, &mut counts);
            }
        });
        into.note(block.rows(), self.runs.check(block.columns()).is_ok());
        into.add_units(|code| counts[code]);
    }

    fn merge(&self, into: &mut ExactSum, other: ExactSum) {
        into.merge(other);
    }
}

/// Counts a row at each of its codes but 0.
fn count<C: Copy + Into<u32>>(row: &[C], starts: &[u32], counts: &mut [i64]) {
    for (code, start) in row.iter().zip(starts) {
        let code: u32 = (*code).into();
        counts[(start + code) as usize] += i64::from(code > 0);
    }
}

/// Passes the rows of a block to `see` with their codes, at most [`ROWS_PER_PART`] at a time.
fn coded(runs: &Runs, block: Block<'_>, mut see: impl FnMut(Block<'_>, &[u16])) {
    if runs.check(block.columns()).is_err() {
        return;
    }
    let (of, width) = (runs.of_columns(block.columns()), runs.runs.len());
    let (mut codes, mut best) = (vec![0_u16; ROWS_PER_PART * width], vec![0.0; width]);
    for part in block.parts(ROWS_PER_PART) {
        for (row, codes) in codes.chunks_exact_mut(width).enumerate().take(part.rows()) {
            runs.place(&of, &part, row, &mut best, codes);
        }
        see(part, &codes[..part.rows() * width]);
    }
}

impl Statistic for LevelGradient {
    type Sum = ExactSum;
    const NAME: &'static str = "level-gradient";

    fn bound(&self, _radius: f64) -> f64 {
        self.slope * self.reach
    }
    fn zero(&self, _columns: usize) -> ExactSum {
        ExactSum::zero(self.runs.codes() + 2)
    }
    fn bytes(&self, _columns: usize) -> usize {
        24 * self.runs.codes() + 112
    }

    /// The sum is of integers.
    fn grain(&self, _columns: usize) -> Option<usize> {
        Some(1)
    }

    fn add(&self, block: Block<'_>, into: &mut ExactSum) {
        let (starts, total) = self.runs.starts();
        let fits = self.scores.len() == total && self.lengths.len() == total;
        into.note(block.rows(), fits && self.runs.check(block.columns()).is_ok());
        if !fits {
            return;
        }
        let (mut sums, mut scales) = (vec![0_i64; total + 2], [0.0_f32; ROWS_PER_PART]);
        coded(&self.runs, block, |rows, codes| {
            let scales = &mut scales[..rows.rows()];
            scale(&self.runs, &starts, self.scaling(), codes, scales);
            let rows = Coded { codes, labels: rows.labels(), scales };
            let pass = CodedPass { rows, starts: &starts, statistic: self, sums: &mut sums };
            dispatch(pass);
        });
        into.add_units(|code| sums[code]);
    }

    fn merge(&self, into: &mut ExactSum, other: ExactSum) {
        into.merge(other);
    }
}

/// Writes the scale of each row of codes.
fn scale<C: Copy + Into<u32>>(
    runs: &Runs,
    starts: &[u32],
    scaling: Scaling<'_>,
    codes: &[C],
    scales: &mut [f32],
) {
    for (row, scale) in codes.chunks_exact(starts.len().max(1)).zip(scales) {
        let place = |(code, start): (&C, &u32)| {
            let code: u32 = (*code).into();
            (start + code) as usize
        };
        let present: u32 = row[runs.present].into();
        *scale = scaling.of(row.iter().zip(starts).map(place), present > 0);
    }
}

/// A linear map of exact sums, in integers: exact, so that it maps each record's part to its own image.
#[derive(Debug, Clone, PartialEq)]
pub struct LinearImage {
    /// For each entry of the image, the entries of the sum that it is made of, with their multiples in
    /// units of 2^−`bits`.
    pub rows: Vec<Vec<(u32, i64)>>,
    /// The number of fractional bits of the multiples.
    pub bits: u32,
}

impl LinearImage {
    /// The image of a sum, in units of 2^−`bits`. `None` if an entry does not exist, or on overflow of 128
    /// bits.
    pub fn of(&self, sum: &[i128]) -> Option<Vec<i128>> {
        let entry = |row: &Vec<(u32, i64)>| {
            row.iter().try_fold(0_i128, |all, (at, multiple)| {
                all.checked_add(sum.get(*at as usize)?.checked_mul(i128::from(*multiple))?)
            })
        };
        self.rows.iter().map(entry).collect()
    }
}

/// Rows in memory as codes, a byte or two a column, which answer the sums of levels; all others are
/// those of the rows that they were made of.
pub struct LevelRows<'a> {
    inner: Box<dyn Records + 'a>,
    runs: Runs,
    codes: Codes,
    labels: Vec<f64>,
    scales: std::sync::Mutex<Option<Scaled>>,
}

/// Codes, run after run of each row.
enum Codes {
    Bytes(Vec<u8>),
    Pairs(Vec<u16>),
}

/// The scales of all rows under one public map.
struct Scaled {
    lengths: Vec<f64>,
    centre: f64,
    reach: f64,
    of_rows: std::sync::Arc<Vec<f32>>,
}

impl<'a> LevelRows<'a> {
    /// The codes of `features`, whose other sums are answered by `inner`.
    pub fn new(
        features: &Matrix,
        labels: Vec<f64>,
        runs: Runs,
        inner: Box<dyn Records + 'a>,
    ) -> Result<Self, RecordsError> {
        runs.check(features.columns())?;
        let rows = features.rows();
        if labels.len() != rows {
            return Err(RecordsError::LabelCount { rows, labels: labels.len() });
        }
        let codes = match runs.widest() < 256 {
            true => Codes::Bytes(codes_of(features, &labels, &runs, |code| code as u8)),
            false => Codes::Pairs(codes_of(features, &labels, &runs, |code| code)),
        };
        Ok(Self { inner, runs, codes, labels, scales: std::sync::Mutex::new(None) })
    }

    /// The scales of all rows, computed once for each map.
    fn scales(&self, statistic: &LevelGradient) -> std::sync::Arc<Vec<f32>> {
        let mut kept = self.scales.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if let Some(kept) = kept.as_ref()
            && kept.lengths == statistic.lengths
            && (kept.centre, kept.reach) == (statistic.centre, statistic.reach)
        {
            return kept.of_rows.clone();
        }
        let of_rows = std::sync::Arc::new(match &self.codes {
            Codes::Bytes(codes) => self.scales_of(codes, statistic),
            Codes::Pairs(codes) => self.scales_of(codes, statistic),
        });
        *kept = Some(Scaled {
            lengths: statistic.lengths.clone(),
            centre: statistic.centre,
            reach: statistic.reach,
            of_rows: of_rows.clone(),
        });
        of_rows
    }

    fn scales_of<C: Copy + Into<u32> + Sync>(
        &self,
        codes: &[C],
        statistic: &LevelGradient,
    ) -> Vec<f32> {
        let (starts, width) = (self.runs.starts().0, self.runs.runs.len());
        let mut scales = vec![0.0; self.labels.len()];
        let pieces = scales.par_chunks_mut(PIECE).zip(codes.par_chunks(PIECE * width));
        pieces.for_each(|(scales, codes)| {
            scale(&self.runs, &starts, statistic.scaling(), codes, scales);
        });
        scales
    }

    fn gradient<C: Copy + Into<u32> + Sync>(
        &self,
        codes: &[C],
        statistic: &LevelGradient,
    ) -> ExactSum {
        let ((starts, total), width) = (self.runs.starts(), self.runs.runs.len());
        let scales = self.scales(statistic);
        let zero = || vec![0_i64; total + 2];
        let add = |mut sums: Vec<i64>, piece: usize| {
            let rows = piece * PIECE..self.labels.len().min((piece + 1) * PIECE);
            let rows = Coded {
                codes: &codes[rows.start * width..rows.end * width],
                labels: &self.labels[rows.clone()],
                scales: &scales[rows],
            };
            dispatch(CodedPass { rows, starts: &starts, statistic, sums: &mut sums });
            sums
        };
        let merge = |mut sums: Vec<i64>, others: Vec<i64>| {
            sums.iter_mut().zip(&others).for_each(|(sum, other)| *sum += other);
            sums
        };
        let pieces = self.labels.len().div_ceil(PIECE);
        let sums = (0..pieces).into_par_iter().fold(zero, add).reduce(zero, merge);
        ExactSum::of_units(sums.into_iter().map(i128::from).collect(), self.labels.len() as u64)
    }

    fn counts<C: Copy + Into<u32>>(&self, codes: &[C]) -> ExactSum {
        let (starts, total) = self.runs.starts();
        let mut counts = vec![0_i64; total];
        codes.chunks_exact(starts.len()).for_each(|row| count(row, &starts, &mut counts));
        ExactSum::of_units(counts.into_iter().map(i128::from).collect(), self.labels.len() as u64)
    }
}

/// The codes of all rows, in parallel.
fn codes_of<C: Copy + Default + Send>(
    features: &Matrix,
    labels: &[f64],
    runs: &Runs,
    narrow: impl Fn(u16) -> C + Sync,
) -> Vec<C> {
    let width = runs.runs.len();
    let mut all = vec![C::default(); labels.len() * width];
    all.par_chunks_mut(PIECE * width).enumerate().for_each(|(piece, into)| {
        let first = piece * PIECE;
        let rows = &labels[first..labels.len().min(first + PIECE)];
        let mut next = 0;
        coded(runs, Block::new(features, first, rows), |_, codes| {
            for (into, code) in into[next..].iter_mut().zip(codes) {
                *into = narrow(*code);
            }
            next += codes.len();
        });
    });
    all
}

impl Records for LevelRows<'_> {
    fn rows(&self) -> usize {
        self.inner.rows()
    }
    fn columns(&self) -> usize {
        self.inner.columns()
    }
    fn radius(&self) -> f64 {
        self.inner.radius()
    }
    fn longest_row(&self) -> usize {
        self.inner.longest_row()
    }
    fn entries(&self) -> usize {
        self.inner.entries()
    }
    fn labels_accepted(&self, loss: Loss) -> bool {
        self.inner.labels_accepted(loss)
    }
    fn look_at_grid(&mut self, radius: f64) {
        self.inner.look_at_grid(radius);
    }

    fn exact(&self, query: &Exact) -> Result<ExactAnswer, RecordsError> {
        Ok(ExactAnswer::Units(match (query, &self.codes) {
            (Exact::LevelCounts(own), Codes::Bytes(codes)) if own.runs == self.runs => {
                self.counts(codes)
            }
            (Exact::LevelCounts(own), Codes::Pairs(codes)) if own.runs == self.runs => {
                self.counts(codes)
            }
            (Exact::LevelGradient(own), codes) if own.runs == self.runs => {
                let total = self.runs.codes();
                if own.scores.len() != total || own.lengths.len() != total {
                    return Err(RecordsError::BackEnd("tables of other levels".into()));
                }
                match codes {
                    Codes::Bytes(codes) => self.gradient(codes, own),
                    Codes::Pairs(codes) => self.gradient(codes, own),
                }
            }
            _ => return self.inner.exact(query),
        }))
    }

    fn inner(&self, query: &Inner) -> Result<InnerAnswer, RecordsError> {
        self.inner.inner(query)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sum::{InMemory, Sums};
    use crate::testing::Lcg;
    use privet_data::matrix::{CsrMatrix, DenseMatrix};
    use proptest::prelude::*;

    /// Rows of two numbers of 5 and `wide` knots between whose neighbours they lie, and a constant; some null.
    fn rows(random: &mut Lcg, count: usize, wide: u32) -> (CsrMatrix, Runs, Vec<f64>) {
        let runs = [(0, 5), (5, wide), (5 + wide, 1)].map(|(first, count)| Run { first, count });
        let (mut starts, mut indices, mut values) = (vec![0], Vec::new(), Vec::new());
        for _ in 0..count {
            if !random.next().is_multiple_of(16) {
                for run in &runs[..2] {
                    let (at, share) = (random.next() as u32 % run.count, random.next() % 9);
                    let share = share as f32 / 8.0;
                    for (at, x) in [(at, 1.0 - share), (at + 1, share)] {
                        if x > 0.0 && at < run.count {
                            indices.push(run.first + at);
                            values.push(x);
                        }
                    }
                }
                indices.push(runs[2].first);
                values.push(1.0);
            }
            starts.push(indices.len());
        }
        let labels = (0..count).map(|_| random.sign()).collect();
        let matrix = CsrMatrix::new(starts, indices, values, 6 + wide as usize);
        (matrix, Runs { runs: runs.to_vec(), present: 2 }, labels)
    }

    fn dense(csr: &CsrMatrix) -> Matrix {
        let mut values = vec![0.0; csr.rows() * csr.columns()];
        for row in 0..csr.rows() {
            let (places, entries) = csr.row(row);
            for (at, x) in places.iter().zip(entries) {
                values[row * csr.columns() + *at as usize] = *x;
            }
        }
        Matrix::Dense(DenseMatrix::new(values, csr.rows(), csr.columns()))
    }

    /// Two features a code, a public m, and the statistic at a θ.
    struct Mapped {
        features: Vec<[f64; 2]>,
        centre: [f64; 2],
        statistic: LevelGradient,
    }

    fn mapped(random: &mut Lcg, runs: &Runs) -> Mapped {
        let (starts, total) = runs.starts();
        let on_grid = |x: f64| (x * 1024.0).trunc() / 1024.0;
        let mut features: Vec<[f64; 2]> = (0..total)
            .map(|_| [on_grid(2.0 * random.centred()), on_grid(2.0 * random.centred())])
            .collect();
        starts.iter().for_each(|start| features[*start as usize] = [0.0; 2]);
        let centre = [on_grid(random.centred()), on_grid(random.centred())];
        let theta = [9.0 * random.centred(), 9.0 * random.centred()];
        // The two features are those of all runs: lengths are no sum over runs but for one run.
        let lone: Vec<[f64; 2]> = features
            .iter()
            .enumerate()
            .map(|(at, f)| if at < starts[1] as usize { *f } else { [0.0; 2] })
            .collect();
        let dot = |a: &[f64; 2], b: &[f64; 2]| a[0] * b[0] + a[1] * b[1];
        let statistic = LevelGradient {
            runs: runs.clone(),
            loss: Loss::Logistic,
            scores: lone.iter().map(|f| dot(f, &theta)).collect(),
            taken: dot(&centre, &theta),
            constant: 0.3,
            lengths: lone.iter().map(|f| dot(f, f) - 2.0 * dot(f, &centre)).collect(),
            centre: dot(&centre, &centre),
            reach: 1.5,
            slope: 0.5,
        };
        Mapped { features: lone, centre, statistic }
    }

    fn image(mapped: &Mapped) -> LinearImage {
        let total = mapped.features.len() as u32;
        let units = |x: f64| (x * 1024.0) as i64;
        let entry = |at: usize| {
            let own = mapped.features.iter().enumerate().map(|(c, f)| (c as u32, units(f[at])));
            own.chain([(total, -units(mapped.centre[at]))]).collect()
        };
        LinearImage { rows: (0..2).map(entry).collect(), bits: 10 }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]

        #[test]
        fn bytes_rows_and_shards_agree(seed in any::<u64>(), wide in prop::sample::select(vec![7_u32, 300])) {
            let mut random = Lcg(seed);
            let (csr, runs, labels) = rows(&mut random, 700, wide);
            let statistic = mapped(&mut random, &runs).statistic;
            let counts = LevelCounts { runs: runs.clone() };
            let dense = dense(&csr);
            let csr = Matrix::Csr(csr);
            let inner = InMemory::new(&csr, &labels).unwrap();
            let coded = LevelRows::new(&csr, labels.clone(), runs, Box::new(inner.clone())).unwrap();
            let other = InMemory::new(&dense, &labels).unwrap();
            let found = coded.sum(&statistic).unwrap();
            prop_assert_eq!(&found, &inner.sum(&statistic).unwrap());
            prop_assert_eq!(&found, &other.sum(&statistic).unwrap());
            prop_assert_eq!(coded.sum(&counts).unwrap(), inner.sum(&counts).unwrap());
            prop_assert_eq!(coded.sum(&counts).unwrap(), other.sum(&counts).unwrap());
            let mut parts = statistic.zero(csr.columns());
            for cut in [0..300, 300..301, 301..700] {
                let mut part = statistic.zero(csr.columns());
                statistic.add(Block::new(&csr, cut.start, &labels[cut]), &mut part);
                statistic.merge(&mut parts, part);
            }
            prop_assert_eq!(found, parts);
        }

        #[test]
        fn no_record_exceeds_its_bound(seed in any::<u64>(), huge in any::<bool>()) {
            let mut random = Lcg(seed);
            let (csr, runs, labels) = rows(&mut random, 60, 7);
            let mut mapped = mapped(&mut random, &runs);
            if huge {
                mapped.statistic.scores.iter_mut().for_each(|x| *x *= 1e300);
            }
            let (csr, image) = (Matrix::Csr(csr), image(&mapped));
            let unit = mapped.statistic.unit() / 1024.0;
            for row in 0..60 {
                let constant = |sum: &ExactSum| *sum.units().unwrap().last().unwrap() as f64 * unit * 1024.0;
                let mut one = mapped.statistic.zero(csr.columns());
                mapped.statistic.add(Block::new(&csr, row, &labels[row..=row]), &mut one);
                let of = image.of(one.units().unwrap()).unwrap();
                let norm = of.iter().map(|x| (*x as f64 * unit).powi(2)).sum::<f64>().sqrt();
                prop_assert!(norm <= mapped.statistic.bound(1.0), "{norm}");
                prop_assert!(constant(&one).abs() <= mapped.statistic.slope);
            }
        }

        #[test]
        fn agrees_with_plain_sums(seed in any::<u64>()) {
            let mut random = Lcg(seed);
            let (csr, runs, labels) = rows(&mut random, 400, 7);
            let mapped = mapped(&mut random, &runs);
            let LevelGradient { loss, reach, slope, .. } = mapped.statistic;
            let (mut expected, mut constant) = ([0.0; 2], 0.0);
            for (row, label) in labels.iter().enumerate() {
                let (places, entries) = csr.row(row);
                if places.is_empty() {
                    continue;
                }
                let own = places.iter().zip(entries).filter(|(at, _)| **at < 5);
                let best = own.fold((0, 0.0), |best, (at, x)| if *x > best.1 { (at + 1, *x) } else { best });
                let f = mapped.features[best.0 as usize];
                let z = [f[0] - mapped.centre[0], f[1] - mapped.centre[1]];
                let length = z[0].hypot(z[1]).max(reach / STRETCH);
                let score = mapped.statistic.scores[best.0 as usize] - mapped.statistic.taken;
                let margin = reach / length * score + mapped.statistic.constant;
                let slope = loss.derivative(margin, *label).clamp(-slope, slope);
                constant += slope;
                expected = [0, 1].map(|at| expected[at] + slope * reach / length * z[at]);
            }
            let csr = Matrix::Csr(csr);
            let sum = InMemory::new(&csr, &labels).unwrap().sum(&mapped.statistic).unwrap();
            let found = image(&mapped).of(sum.units().unwrap()).unwrap();
            for (found, expected) in found.iter().zip(expected) {
                let found = *found as f64 * mapped.statistic.unit() / 1024.0;
                prop_assert!((found - expected).abs() < 1e-2, "{found} {expected}");
            }
            let last = *sum.units().unwrap().last().unwrap() as f64 * mapped.statistic.unit();
            prop_assert!((last - constant).abs() < 1e-2, "{last} {constant}");
        }
    }

    #[test]
    fn runs_of_other_rows_are_refused() {
        let (csr, runs, labels) = rows(&mut Lcg(1), 10, 7);
        let csr = Matrix::Csr(csr);
        let beyond = Runs { runs: vec![Run { first: 9, count: 9 }], present: 0 };
        let inner = || Box::new(InMemory::new(&csr, &labels).unwrap());
        assert!(LevelRows::new(&csr, labels.clone(), beyond.clone(), inner()).is_err());
        let counted = inner().sum(&LevelCounts { runs: beyond }).unwrap();
        assert!(counted.units().is_none());
        let short = LevelGradient { scores: vec![], ..mapped(&mut Lcg(2), &runs).statistic };
        assert!(inner().sum(&short).unwrap().units().is_none());
    }
}
