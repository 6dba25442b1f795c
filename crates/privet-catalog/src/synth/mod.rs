//! Generated tables: clusters on a hypercube ([`make_classification`]) and labels drawn from a logistic
//! model ([`Logistic`]), many columns of which few matter ([`Sparse`], [`Text`]), tables of many shapes
//! ([`Made`]), linearly separable classes ([`Separable`]), and ratings of rank one ([`RankOne`]).

mod classification;
mod draw;
mod logistic;
mod made;
mod rank_one;
mod separable;
mod sparse;
mod text;

pub use classification::{Classification, Table, make_classification};
pub use logistic::{Logistic, LogisticRecords};
pub use made::{Category, Kind, Law, Made, MadeRecords, Number};
pub use rank_one::RankOne;
pub use separable::{Separable, SeparableRecords};
pub use sparse::{Sparse, SparseRecords};
pub use text::{Text, TextRecords};
