//! The verbs of the command line, one file each: flags, help, and a short `run`.

pub mod answer;
pub mod audit;
pub mod budget;
pub mod complete;
pub mod completions;
pub mod count;
#[cfg(feature = "data")]
pub mod data;
pub mod demo;
pub mod evaluate;
pub mod explain;
pub mod export;
pub mod inspect;
pub mod keygen;
#[cfg(not(feature = "data"))]
pub mod left_out;
pub mod methods;
pub mod moved;
pub mod neighbours;
pub mod network;
pub mod online;
pub mod party;
pub mod plan;
mod plan_ratings;
pub mod predict;
pub mod recommend;
pub mod report;
pub mod schema;
pub mod split;
pub mod total;
pub mod train;
pub mod tune;
pub mod verify;
pub mod vote;
