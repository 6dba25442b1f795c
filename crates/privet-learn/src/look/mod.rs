//! Looking at a table: counts.
//!
//! | file | what |
//! |---|---|
//! | [`count`] | how many records are in each declared category, `privet count` |
//! | [`stream`] | the same again and again, from one budget, by processes that come and go |

pub mod count;
mod margin;
pub mod stream;
