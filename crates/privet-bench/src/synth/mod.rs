//! Made-up tables: clusters on a hypercube ([`make_classification`]) and labels drawn from a
//! logistic model ([`Logistic`]), and many columns of which few matter ([`Sparse`], [`Text`]).

mod classification;
mod draw;
mod logistic;
mod sparse;
mod text;

pub use classification::{Classification, Table, make_classification};
pub use logistic::{Logistic, LogisticRecords};
pub use sparse::{Sparse, SparseRecords};
pub use text::{Text, TextRecords};
