//! Tests of the ledger: crashes, concurrent writers, edits and attackers.

mod beneath;
mod broken;
mod identity;
mod import;
mod limits;
mod purse;
mod unit;
mod world;
mod writers;
