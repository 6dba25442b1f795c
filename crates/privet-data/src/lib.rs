//! Schemas, readers, encoders, clipping and matrices.
//!
//! A record's path: a [`schema::Schema`] states the public facts; [`encode::Encoding`] derives from it
//! the columns of a row and the bound that every row obeys; [`read::read`] streams a file through both
//! into a [`Dataset`]. No parameter is chosen from the records.
//!
//! - [`block`]: encoded rows in a plain file.
//! - [`bound`]: clipping, proved in integers.
//! - [`centre`]: rows minus a public vector.
//! - [`image`]: rows of images, by a fixed encoder.
//! - [`matrix`]: dense and sparse rows.
//! - [`ratings`]: users' ratings of items, one sparse row per user.
//! - [`mod@write`]: files written whole or not at all, never over an unrelated file.
//! - [`split`], [`keyed`]: shuffles and hold-outs by keyed hash.
#![forbid(unsafe_code)]

pub mod block;
pub mod bound;
pub mod centre;
pub mod encode;
pub mod image;
pub mod keyed;
pub mod matrix;
pub mod ratings;
pub mod read;
pub mod schema;
pub mod split;
#[doc(hidden)]
pub mod testing;
pub mod write;

mod dataset;
mod error;

pub use dataset::{Dataset, Features, Target};
pub use encode::Encoding;
pub use error::{DataError, Place, Problem};
pub use schema::Schema;
