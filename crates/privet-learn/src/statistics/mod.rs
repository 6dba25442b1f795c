//! Looking at a table: counts, descriptions of its columns, and what a model is worth on it.
//!
//! | file | what |
//! |---|---|
//! | [`count`] | how many records are in each declared category, `privet count` |
//! | [`describe`] | counts, means, quantiles, histograms and correlations of its columns, `privet describe` |
//! | [`evaluate`] | how well a public model does on its records, `privet evaluate --epsilon` |
//! | [`outline`] | what stands in columns that no schema describes yet, `privet schema new --epsilon` |
//! | `sums` | the sums of a description or an evaluation, and their noise |
//! | [`stream`] | the same again and again, from one budget, by processes that come and go |

pub mod count;
pub mod describe;
pub mod evaluate;
mod noise_margin;
pub mod outline;
pub mod ranking;
pub mod stream;
mod sums;
