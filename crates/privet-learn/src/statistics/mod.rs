//! Queries of a table: counts, descriptions of its columns, and the evaluation of a model on it.
//!
//! | file | content |
//! |---|---|
//! | [`count`] | the number of records in each declared category, `privet count` |
//! | [`describe`] | counts, means, quantiles, histograms and correlations of columns, `privet describe` |
//! | [`evaluate`] | a public model's accuracy and other metrics on the records, `privet evaluate --epsilon` |
//! | [`outline`] | contents of columns that have no schema yet, `privet schema new --epsilon` |
//! | `sums` | the sums of a description or an evaluation, and their noise |
//! | [`stream`] | counts released repeatedly, from one budget, by successive processes |

pub mod count;
pub mod describe;
pub mod evaluate;
mod noise_margin;
pub mod outline;
pub mod ranking;
pub mod stream;
mod sums;
