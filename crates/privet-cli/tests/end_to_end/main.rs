//! The real binary, from outside: what a user types and what comes back.
//!
//! - `happy`: every kind of file, target, method and unit, to a verified model.
//! - `audit`: what the auditor says, and to whom it refuses.
//! - `budget`: ledgers: paid for, refused, recognised, checked, shown.
//! - `bad_input`: what is refused, with which words, and that nothing is written.
//! - `certificates`: models that were edited, cut, weakened, signed by others or never private.
//! - `complete`: ratings, completed and recommended from.
//! - `count`: counts, once and as a stream.
//! - `describe`: what a table looks like.
//! - `documents`: what README and guide tell to type.
//! - `disk`: tables of several files, and larger than memory.
//! - `browser`: the page to sign in a real browser.
//! - `doors`: schemas from headers, models for other programs, and what a shell expects.
//! - `everywhere`: what every verb does alike: `--quiet`, files that cannot be written, help.
//! - `html`: a model as a page.
//! - `invalid`: records that do not fit, under each policy of a schema.
//! - `online`: streams, whole and in several calls.
//! - `order`: what is refused, paid, written and settled, in which order.
//! - `private_count`: under add-remove, no trace of the file's length.
//! - `select`: columns chosen, or none.
//! - `neighbours`: answers by the records near public questions.
//! - `tune`: the best of several candidates.
//! - `environment`: disks, permissions, pipes, interruption.
//! - `output`: what `--out` may be, and what becomes of what is there.

#![cfg(unix)]

mod as_parquet;
mod audit;
mod bad_input;
mod browser;
mod budget;
mod certificates;
mod chromium;
mod complete;
mod count;
mod describe;
mod disk;
mod documents;
mod doors;
mod environment;
mod evaluate;
mod everywhere;
mod happy;
mod html;
mod invalid;
mod neighbours;
mod network;
mod online;
mod order;
mod output;
mod party;
mod private_count;
mod public;
mod select;
mod signing;
mod tune;
mod unit;
mod vote;
mod world;

/// What is run in a [`world`].
const PROGRAM: &str = env!("CARGO_BIN_EXE_privet");
