//! One sum: what is asked of records.
//!
//! Whatever is asked of data is a sum over records of a [`Statistic`]: plain serialisable data
//! (which loss, at which θ), never a closure, so that the same question can be put to rows in
//! memory, on disk, on other machines or behind secure aggregation. A [`Table`] is a back end: a
//! [`Dataset`](privet_data::Dataset) in memory, a file of row blocks ([`OnDisk`]), rows on other machines
//! ([`Remote`]). For each problem ([`Labels`])
//! it gives [`Records`], which answer the two closed lists of questions ([`Exact`], [`Inner`]).
//!
//! A statistic states a public bound on one record's contribution, knows how to add a [`Block`] of
//! rows and how to merge two partial sums. Floating-point sums carry with them how many roundings
//! lie between any term and the result ([`GradientSum::depth`]), whatever the back end's order, so
//! that a certificate can bound their error. Sums that are to be released must not depend on the
//! order at all: [`ExactGradient`], [`SoftmaxGradient`], [`ExactGram`], [`ExactCurvature`],
//! [`Described`].

mod block;
mod carried;
mod carrying;
mod curvature;
mod described;
mod disk;
mod elsewhere;
mod exact;
mod gradient;
mod gram;
mod hessian;
mod less;
mod memory;
mod occupied;
pub mod pieces;
mod question;
mod remote;
mod softmax;
mod table;

pub use block::Block;
pub use carried::Carried;
pub use carrying::Question;
pub use curvature::ExactCurvature;
pub use described::{Described, Part, Slot};
pub use disk::OnDisk;
pub use elsewhere::{Asking, Kept, answered, merged, rows_at};
pub(crate) use exact::exponent_above;
pub use exact::{ExactGradient, ExactSum};
pub use gradient::{Gradient, GradientSum, LossAndGradient, PreciseGradient, PreciseSum};
pub use gram::ExactGram;
pub use hessian::{Hessian, HessianDiagonal, HessianVector};
pub use less::Less;
pub use memory::InMemory;
pub use occupied::Occupied;
pub use question::{Asked, Exact, ExactAnswer, Inner, InnerAnswer, Labels, Sums};
pub use remote::{Elsewhere, Remote};
pub use softmax::SoftmaxGradient;
pub use table::Table;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// A question to records whose answer is a sum over them.
pub trait Statistic: Clone + Serialize + DeserializeOwned + Send + Sync {
    /// The sum, or a partial one.
    type Sum: Send + Carried;

    /// A name under which other machines find the kernel.
    const NAME: &'static str;

    /// Bound on the Euclidean norm of one record's contribution, given ‖x‖₂ ≤ `radius`.
    fn bound(&self, radius: f64) -> f64;

    /// The empty sum for rows of `columns` features.
    fn zero(&self, columns: usize) -> Self::Sum;

    /// About how many bytes one partial sum takes: back ends keep fewer of large ones.
    fn bytes(&self, columns: usize) -> usize;

    /// How many rows at a time may be added, or any multiple of as many and the rest last, to the same bits as all at once;
    /// `None` where only all at once will do. Back ends that read rows read no more at a time than they need.
    fn grain(&self, _columns: usize) -> Option<usize> {
        None
    }

    /// Adds every row of a block.
    ///
    /// # Panics
    /// When a vector of the statistic does not have an entry per column of the block.
    fn add(&self, block: Block<'_>, into: &mut Self::Sum);

    /// Adds a partial sum.
    fn merge(&self, into: &mut Self::Sum, other: Self::Sum);
}

/// Rows with labels that answer sums. The answer has the bits that [`pieces`] prescribes; [`Sums::sum`] asks
/// with the statistic's own type.
pub trait Records: Send + Sync {
    /// Number of rows.
    fn rows(&self) -> usize;
    /// Number of features of every row.
    fn columns(&self) -> usize;
    /// Upper bound on every row's Euclidean norm, rounded up.
    fn radius(&self) -> f64;
    /// Upper bound on the stored entries of one row.
    fn longest_row(&self) -> usize;
    /// Stored entries in total.
    fn entries(&self) -> usize;
    /// Whether every label satisfies `accepts` (see [`crate::Loss::accepts`]).
    fn labels_accepted(&self, loss: crate::Loss) -> bool;
    /// Looks once whether every feature is on the grid of rows of this radius, so that exact sums need
    /// not look again; one that is off it is left for them to find.
    fn look_at_grid(&mut self, radius: f64);
    /// A sum that is to be released.
    fn exact(&self, question: &Exact) -> Result<ExactAnswer, RecordsError>;
    /// A sum on a solver's way.
    fn inner(&self, question: &Inner) -> Result<InnerAnswer, RecordsError>;
}

/// Why records could not be summed or set up. Names places, never values.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum RecordsError {
    /// As many labels as rows are needed.
    #[error("{labels} labels were given for {rows} rows: one label per row is needed")]
    LabelCount {
        /// Rows of the matrix.
        rows: usize,
        /// Labels given.
        labels: usize,
    },
    /// A feature is NaN or infinite.
    #[error("row {row} has a feature that is not a finite number")]
    NotFinite {
        /// Which row, from 0.
        row: usize,
    },
    /// A label is NaN or outside [−1, 1].
    #[error("the label of row {row} is not a number from -1 to 1")]
    Label {
        /// Which row, from 0.
        row: usize,
    },
    /// The back end failed to read or to reach records.
    #[error("records could not be read: {0}")]
    BackEnd(String),
}

/// Sums are made of records: their `Debug` says which they are and no more.
macro_rules! withheld {
    ($($sum:ident),*) => {$(
        impl std::fmt::Debug for $sum {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(concat!(stringify!($sum), "(withheld)"))
            }
        }
    )*};
}
withheld!(ExactSum, GradientSum, PreciseSum);

/// The number of records.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Count;

impl Statistic for Count {
    type Sum = u64;
    const NAME: &'static str = "count";

    fn bound(&self, _radius: f64) -> f64 {
        1.0
    }
    fn zero(&self, _columns: usize) -> u64 {
        0
    }
    fn bytes(&self, _columns: usize) -> usize {
        8
    }
    fn add(&self, block: Block<'_>, into: &mut u64) {
        *into += block.rows() as u64;
    }
    fn merge(&self, into: &mut u64, other: u64) {
        *into += other;
    }
}

#[cfg(test)]
mod tests;
