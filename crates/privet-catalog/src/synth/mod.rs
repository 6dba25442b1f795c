//! Generated tables: clusters on a hypercube ([`make_classification`]) and labels drawn from a logistic
//! model ([`Logistic`]), many columns of which few matter ([`Sparse`], [`Text`]), tables of many shapes
//! ([`GeneratedTable`]), linearly separable classes ([`Separable`]), and ratings of rank one ([`RankOne`]).

mod classification;
mod draw;
mod generated;
mod logistic;
mod rank_one;
mod separable;
mod sparse;
mod text;

pub use classification::{Classification, Table, make_classification};
pub use generated::{Category, GeneratedRecords, GeneratedTable, Kind, Law, Number};
pub use logistic::{Logistic, LogisticRecords};
pub use rank_one::RankOne;
pub use separable::{Separable, SeparableRecords};
pub use sparse::{Sparse, SparseRecords};
pub use text::{Text, TextRecords};
