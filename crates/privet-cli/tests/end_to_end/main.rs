//! The real binary, from outside: command lines and their output.
//!
//! - `happy`: every kind of file, target, method and unit, to a verified model.
//! - `audit`: findings and refusals of the auditor.
//! - `budget`: ledgers: paid for, refused, recognised, checked, shown.
//! - `bad_input`: refusals, their messages, and that nothing is written.
//! - `certificates`: models that were edited, cut, weakened, signed by others or never private.
//! - `complete`: ratings, completed and recommended from.
//! - `count`: counts, once and as a stream.
//! - `describe`: descriptions of a table.
//! - `documents`: the commands in README and guide.
//! - `disk`: tables of several files, and larger than memory.
//! - `browser`: the page to sign in a real browser.
//! - `doors`: schemas from headers, models for other programs, and shell conventions.
//! - `everywhere`: conventions of every verb: `--quiet`, files that cannot be written, help.
//! - `html`: a model as a page.
//! - `invalid`: records that do not fit, under each policy of a schema.
//! - `online`: streams, whole and in several calls.
//! - `order`: the order of refusing, paying, writing and settling.
//! - `private_count`: under add-remove, no trace of the file's length.
//! - `select`: columns chosen, or none.
//! - `neighbours`: answers by the records near public queries.
//! - `tune`: the best of several candidates.
//! - `environment`: disks, permissions, pipes, interruption.
//! - `output`: accepted values of `--out`, and the treatment of existing files.

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

/// A command line run in a [`world`].
const PROGRAM: &str = env!("CARGO_BIN_EXE_privet");
