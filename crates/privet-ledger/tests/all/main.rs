//! The ledger against crashes, writers at once, edits and attackers.

mod beneath;
mod broken;
mod identity;
mod import;
mod limits;
mod purse;
mod unit;
mod world;
mod writers;
