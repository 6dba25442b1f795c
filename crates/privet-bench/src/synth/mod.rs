//! Made-up tables: clusters on a hypercube ([`make_classification`]) and labels drawn from a
//! logistic model ([`Logistic`]), many columns of which few matter ([`Sparse`], [`Text`]),
//! and tables of many shapes ([`Made`]).

mod classification;
mod draw;
mod logistic;
mod made;
mod sparse;
mod text;

pub use classification::{Classification, Table, make_classification};
pub use logistic::{Logistic, LogisticRecords};
pub use made::{Category, ENTRIES, Kind, Law, Made, MadeRecords, Number};
pub use sparse::{Sparse, SparseRecords};
pub use text::{Text, TextRecords};
