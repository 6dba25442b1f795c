//! Made-up tables: clusters on a hypercube ([`make_classification`]) and labels drawn from a
//! logistic model ([`Logistic`]), many columns of which few matter ([`Sparse`]),
//! and tables of many shapes ([`Made`]).

mod classification;
mod draw;
mod logistic;
mod made;
mod sparse;

pub use classification::{Classification, Table, make_classification};
pub use logistic::{Logistic, LogisticRecords};
pub use made::{Category, Kind, Law, Made, MadeRecords, Number};
pub use sparse::{Sparse, SparseRecords};
