//! Sums over records: the queries that learners put to data.
//!
//! Every query of data is a sum over records of a [`Statistic`]: plain serialisable data (a loss and a
//! point θ), never a closure, so that the same query works for rows in memory, on disk, on other
//! machines or behind secure aggregation. A [`Table`] is a back end: a
//! [`Dataset`](privet_data::Dataset) in memory, a file of row blocks ([`OnDisk`]), rows on other
//! machines ([`Remote`]). For each problem ([`Labels`]) it gives [`Records`], which answer the two
//! closed lists of queries ([`Exact`], [`Inner`]).
//!
//! A statistic states a public bound on one record's contribution, adds a [`Block`] of rows to a sum
//! and merges two partial sums. Floating-point sums count the roundings between any term and the result
//! ([`GradientSum::depth`]), for any order that a back end uses, so that a certificate can bound their
//! error. Sums that are released must not depend on the order at all: [`ExactGradient`],
//! [`SoftmaxGradient`], [`ExactGram`], [`ExactCurvature`], [`Described`].

mod block;
mod carried;
mod curvature;
mod described;
mod disk;
mod exact;
mod gradient;
mod gram;
mod hessian;
mod memory;
mod message;
mod occupied;
pub mod pieces;
mod query;
mod recentring;
mod remote;
mod remote_query;
mod softmax;
mod table;

pub use block::Block;
pub use carried::Transferable;
pub use curvature::ExactCurvature;
pub use described::{Described, Part, Slot};
pub use disk::OnDisk;
pub(crate) use exact::exponent_above;
pub use exact::{ExactGradient, ExactSum};
pub use gradient::{Gradient, GradientSum, LossAndGradient, PreciseGradient, PreciseSum};
pub use gram::ExactGram;
pub use hessian::{Hessian, HessianDiagonal, HessianVector};
pub use memory::InMemory;
pub use message::QueryMessage;
pub use occupied::Occupied;
pub use query::{Exact, ExactAnswer, Inner, InnerAnswer, Labels, Summable, Sums};
pub use recentring::Recentring;
pub use remote::{Remote, RowMachines};
pub use remote_query::{RemoteQuery, RemoteRows, answer_query, merge_answers, rows_at};
pub use softmax::SoftmaxGradient;
pub use table::Table;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// A query of records whose answer is a sum over them.
pub trait Statistic: Clone + Serialize + DeserializeOwned + Send + Sync {
    /// The sum, or a partial one.
    type Sum: Send + Transferable;

    /// The name under which other machines find the kernel.
    const NAME: &'static str;

    /// Upper bound on the Euclidean norm of one record's contribution, given ‖x‖₂ ≤ `radius`.
    fn bound(&self, radius: f64) -> f64;

    /// The empty sum for rows of `columns` features.
    fn zero(&self, columns: usize) -> Self::Sum;

    /// The approximate size in bytes of one partial sum: back ends keep fewer of large ones.
    fn bytes(&self, columns: usize) -> usize;

    /// Rows may be added in portions of any multiple of this number, the rest last, with the same bits
    /// as all at once; `None` if they must be added all at once. Back ends that read rows read no more
    /// at a time than they need.
    fn grain(&self, _columns: usize) -> Option<usize> {
        None
    }

    /// Adds every row of a block.
    ///
    /// # Panics
    /// If a vector of the statistic does not have one entry per column of the block.
    fn add(&self, block: Block<'_>, into: &mut Self::Sum);

    /// Adds a partial sum.
    fn merge(&self, into: &mut Self::Sum, other: Self::Sum);
}

/// Rows with labels that answer sums. The answer must have the bits that [`pieces`] prescribes;
/// [`Sums::sum`] returns it with the statistic's own type.
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
    /// True if every label satisfies `accepts` (see [`crate::Loss::accepts`]).
    fn labels_accepted(&self, loss: crate::Loss) -> bool;
    /// Checks once if every feature is on the grid of rows of this radius, so that exact sums need not
    /// check again; a feature off the grid is left for them to find.
    fn look_at_grid(&mut self, radius: f64);
    /// A sum that is released.
    fn exact(&self, query: &Exact) -> Result<ExactAnswer, RecordsError>;
    /// A sum within a solver, not released.
    fn inner(&self, query: &Inner) -> Result<InnerAnswer, RecordsError>;
}

/// The reason records could not be summed or set up. Names places, never values.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum RecordsError {
    /// The number of labels differs from the number of rows.
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
        /// The row, from 0.
        row: usize,
    },
    /// A label is NaN or outside [−1, 1].
    #[error("the label of row {row} is not a number from -1 to 1")]
    Label {
        /// The row, from 0.
        row: usize,
    },
    /// The back end failed to read or to reach records.
    #[error("records could not be read: {0}")]
    BackEnd(String),
}

/// Sums are derived from records: their `Debug` shows the type and nothing else.
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
