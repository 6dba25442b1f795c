//! Made-up tables: clusters on a hypercube ([`make_classification`]) and labels drawn from a
//! logistic model ([`Logistic`]).

mod classification;
mod draw;
mod logistic;

pub use classification::{Classification, Table, make_classification};
pub use logistic::{Logistic, LogisticRecords};
