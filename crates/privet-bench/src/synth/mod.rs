//! Made-up tables: clusters on a hypercube ([`make_classification`]) and labels drawn from a
//! logistic model ([`Logistic`]), many columns of which few matter ([`Sparse`]), and ratings of rank one ([`RankOne`]).

mod classification;
mod draw;
mod logistic;
mod rank_one;
mod sparse;

pub use classification::{Classification, Table, make_classification};
pub use logistic::{Logistic, LogisticRecords};
pub use rank_one::RankOne;
pub use sparse::{Sparse, SparseRecords};
