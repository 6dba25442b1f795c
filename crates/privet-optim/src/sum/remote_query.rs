//! Rows kept on other machines: the queries sent to them, and their answers.
//!
//! A [`RemoteQuery`] is plain data, and is sent as a [`QueryMessage`]. A machine answers it for the rows that
//! it has ([`answer_query`]), and answers are merged ([`merge_answers`]) in any order where sums are
//! exact, in the order of their pieces where they are not ([`super::pieces`]). [`super::Remote`] is the
//! table that sends the queries.

use super::carried::Transferable;
use super::memory::{Norms, norms_of};
use super::message::QueryMessage;
use super::query::SumBackEnd;
use super::table::other_target;
use super::{Block, Exact, Inner, Labels, RecordsError, Statistic};
use crate::loss::Loss;
use privet_data::Dataset;
use privet_data::block;
use privet_data::centre::Centre;
use privet_data::matrix::Matrix;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::cell::RefCell;

/// A query of rows on other machines, as plain data.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "ask", rename_all = "kebab-case", deny_unknown_fields)]
pub enum RemoteQuery {
    /// A sum that is released: partial sums of any rows, in any order.
    Exact {
        /// The problem's labels.
        labels: Labels,
        /// The public centre that is subtracted from every row first, if any.
        moved: Option<Centre>,
        /// The sum.
        #[serde(rename = "question")]
        query: Exact,
    },
    /// A sum within a solver, not released: one partial sum for each piece, in their order.
    Inner {
        /// The problem's labels.
        labels: Labels,
        /// The public centre that is subtracted from every row first, if any.
        moved: Option<Centre>,
        /// The sum.
        #[serde(rename = "question")]
        query: Inner,
        /// The total number of rows.
        rows: usize,
        /// The number of pieces that they are cut into.
        pieces: usize,
    },
    /// The number of rows with a label that a loss does not accept.
    Unaccepted {
        /// The problem's labels.
        labels: Labels,
        /// The loss.
        loss: Loss,
    },
    /// The rows at these indices, ascending, as blocks in their order.
    Rows {
        /// Indices from 0, in the order of all rows.
        places: Vec<usize>,
    },
}

/// The known facts about rows on other machines: their number, shape and norms, and a fingerprint.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RemoteRows {
    rows: usize,
    columns: usize,
    entries: usize,
    norms: Norms,
    /// A fingerprint of the rows, independent of their partition ([`block::print_of_rows`]).
    print: u64,
}

impl RemoteRows {
    /// The facts about rows that are here.
    pub fn of(rows: &Dataset) -> Result<Self, RecordsError> {
        let entries = match &rows.features {
            Matrix::Dense(dense) => dense.values().len(),
            Matrix::Csr(csr) => csr.values().len(),
        };
        let norms = norms_of(&rows.features, 0)?;
        let (count, columns) = (rows.rows(), rows.features.columns());
        Ok(Self { rows: count, columns, entries, norms, print: block::print_of_rows(rows) })
    }

    /// The facts about several sets of rows together; `None` for none, or where their columns differ.
    pub fn of_all(each: &[Self]) -> Option<Self> {
        let (first, rest) = each.split_first()?;
        rest.iter().try_fold(*first, |all, next| {
            (all.columns == next.columns).then(|| Self {
                rows: all.rows + next.rows,
                columns: all.columns,
                entries: all.entries + next.entries,
                norms: all.norms.and(next.norms),
                print: all.print.wrapping_add(next.print),
            })
        })
    }

    /// The number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// The number and the fingerprint of the rows.
    pub(super) fn identity(&self) -> RowsIdentity {
        RowsIdentity { rows: self.rows as u64, print: self.print }
    }

    /// The number of encoded columns.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// The total number of stored entries.
    pub fn entries(&self) -> usize {
        self.entries
    }

    /// Stored entries of the longest row.
    pub fn longest_row(&self) -> usize {
        self.norms.longest_row
    }

    /// Upper bound on every row's Euclidean norm.
    pub fn radius(&self) -> f64 {
        self.norms.radius(self.columns)
    }
}

/// The identity of the rows of a partial answer: their number and their fingerprint. Those of several
/// parts add up, so that a row counted twice or left out is detected.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct RowsIdentity {
    rows: u64,
    print: u64,
}

impl RowsIdentity {
    /// The number of rows.
    pub fn rows(self) -> usize {
        self.rows as usize
    }

    /// The sum of both.
    fn and(self, other: Self) -> Self {
        Self {
            rows: self.rows.saturating_add(other.rows),
            print: self.print.wrapping_add(other.print),
        }
    }

    /// The sum over all parts of an answer.
    pub fn of_all(parts: &[impl AsRef<[u8]>]) -> Result<Self, RecordsError> {
        parts.iter().try_fold(Self::default(), |all, part| {
            Ok(all.and(Self::read(&mut part.as_ref()).ok_or_else(misfit_answer)?))
        })
    }
}

impl Transferable for RowsIdentity {
    fn write(&self, into: &mut Vec<u8>) {
        self.rows.write(into);
        self.print.write(into);
    }
    fn read(from: &mut &[u8]) -> Option<Self> {
        Some(Self { rows: u64::read(from)?, print: u64::read(from)? })
    }
}

/// Computes the answer for these rows, which are piece `piece` (0 for exact sums, which have no
/// pieces).
pub fn answer_query(
    query: &QueryMessage,
    piece: usize,
    rows: &Dataset,
) -> Result<Vec<u8>, RecordsError> {
    let of = |labels: &Labels| labels.of(&rows.target).ok_or_else(other_target);
    let answer = match query.query() {
        RemoteQuery::Exact { labels, moved, query } => {
            let part = PieceRows::new(rows, moved.as_ref(), of(labels)?)?;
            query.sum_with(&part)?;
            part.into_bytes()
        }
        RemoteQuery::Inner { labels, moved, query, .. } => {
            let part = PieceRows::new(rows, moved.as_ref(), of(labels)?)?;
            query.sum_with(&part)?;
            part.into_bytes()
        }
        RemoteQuery::Unaccepted { labels, loss } => {
            let labels = of(labels)?;
            let refused = labels.iter().filter(|y| !loss.accepts(**y)).count();
            (refused as u64).bytes()
        }
        // The choice among these rows depends on the index of the first: see `rows_at`.
        RemoteQuery::Rows { .. } => return Err(misfit_answer()),
    };
    Ok(query.seal_answer(piece, &answer))
}

/// Answers a query of rows with those that are among these, the first of which has index `first`.
pub fn rows_at(
    query: &QueryMessage,
    first: usize,
    rows: &Dataset,
) -> Result<Vec<u8>, RecordsError> {
    let RemoteQuery::Rows { places } = query.query() else { return Err(misfit_answer()) };
    let from = places.partition_point(|place| *place < first);
    let upto = places.partition_point(|place| *place < first + rows.rows());
    let here: Vec<usize> = places[from..upto].iter().map(|place| place - first).collect();
    Ok(query.seal_answer(first, &block::to_bytes(&rows.select(&here))))
}

/// Merges several answers to one query, whose sums are exact.
pub fn merge_answers(
    query: &QueryMessage,
    columns: usize,
    parts: &[impl AsRef<[u8]>],
) -> Result<Vec<u8>, RecordsError> {
    let parts = answers(query, parts)?;
    let answer = match query.query() {
        RemoteQuery::Exact { moved, query, .. } => {
            let columns = columns + usize::from(moved.is_some());
            let sum = query.sum_with(&Merging { parts: &parts, columns })?.sum_bytes();
            let mut bytes = RowsIdentity::of_all(&parts)?.bytes();
            bytes.extend_from_slice(&sum);
            bytes
        }
        RemoteQuery::Unaccepted { .. } => count_unaccepted(&parts)?.bytes(),
        RemoteQuery::Inner { .. } | RemoteQuery::Rows { .. } => return Err(misfit_answer()),
    };
    Ok(query.seal_answer(0, &answer))
}

/// Unwraps answers, whatever their places.
pub(super) fn answers<'a>(
    query: &QueryMessage,
    parts: &'a [impl AsRef<[u8]>],
) -> Result<Vec<&'a [u8]>, RecordsError> {
    Ok(query.open_answers(parts)?.into_iter().map(|(_, answer)| answer).collect())
}

/// The number of labels not accepted, over all parts of an answer to [`RemoteQuery::Unaccepted`].
pub(super) fn count_unaccepted(parts: &[impl AsRef<[u8]>]) -> Result<u64, RecordsError> {
    parts.iter().try_fold(0_u64, |all, part| {
        Ok(all.saturating_add(u64::read(&mut part.as_ref()).ok_or_else(misfit_answer)?))
    })
}

/// The error for an answer that does not fit its query.
pub(super) fn misfit_answer() -> RecordsError {
    RecordsError::BackEnd(
        "an answer is not of the kind, the length or the rows that were asked for".into(),
    )
}

/// Rows that are summed as one piece; keeps their sum as bytes.
struct PieceRows<'a> {
    features: Cow<'a, Matrix>,
    labels: Vec<f64>,
    counted: RowsIdentity,
    bytes: RefCell<Vec<u8>>,
}

impl<'a> PieceRows<'a> {
    fn new(
        rows: &'a Dataset,
        moved: Option<&Centre>,
        labels: Vec<f64>,
    ) -> Result<Self, RecordsError> {
        if let Some(row) = labels.iter().position(|y| !(-1.0..=1.0).contains(y)) {
            return Err(RecordsError::Label { row });
        }
        let features = match moved {
            Some(centre) if centre.columns() == rows.features.columns() => {
                Cow::Owned(centre.rows(&rows.features))
            }
            Some(_) => return Err(misfit_answer()),
            None => Cow::Borrowed(&rows.features),
        };
        let counted = RowsIdentity { rows: labels.len() as u64, print: block::print_of_rows(rows) };
        Ok(Self { features, labels, counted, bytes: Default::default() })
    }

    /// The rows' identity, then their sum, as bytes.
    fn into_bytes(self) -> Vec<u8> {
        self.bytes.into_inner()
    }
}

impl SumBackEnd for PieceRows<'_> {
    fn answer<S: Statistic>(&self, statistic: &S) -> Result<S::Sum, RecordsError> {
        let mut sum = statistic.zero(self.features.columns());
        statistic.add(Block::new(&self.features, 0, &self.labels), &mut sum);
        let mut bytes = self.counted.bytes();
        sum.write(&mut bytes);
        self.bytes.replace(bytes);
        Ok(sum)
    }
}

/// Partial sums received, merged in the order in which they are given.
pub(super) struct Merging<'a, B> {
    pub parts: &'a [B],
    pub columns: usize,
}

impl<B: AsRef<[u8]>> SumBackEnd for Merging<'_, B> {
    fn answer<S: Statistic>(&self, statistic: &S) -> Result<S::Sum, RecordsError> {
        let zero = statistic.zero(self.columns);
        let length = zero.bytes().len();
        let mut total: Option<S::Sum> = None;
        for part in self.parts {
            let mut bytes = part.as_ref();
            RowsIdentity::read(&mut bytes).ok_or_else(misfit_answer)?;
            if bytes.len() != length {
                return Err(misfit_answer());
            }
            let sum =
                S::Sum::read(&mut bytes).filter(|_| bytes.is_empty()).ok_or_else(misfit_answer)?;
            match &mut total {
                Some(total) => statistic.merge(total, sum),
                None => total = Some(sum),
            }
        }
        Ok(total.unwrap_or(zero))
    }
}
