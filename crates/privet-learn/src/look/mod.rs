//! Looking at a table: counts, and descriptions of its columns.
//!
//! | file | what |
//! |---|---|
//! | [`count`] | how many records are in each declared category, `privet count` |
//! | [`describe`] | counts, means, quantiles, histograms and correlations of its columns, `privet describe` |
//! | [`stream`] | the same again and again, from one budget, by processes that come and go |

pub mod count;
pub mod describe;
mod margin;
pub mod stream;
