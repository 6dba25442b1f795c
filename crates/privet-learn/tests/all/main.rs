//! The tests of the learners and of written files; the checks of every method are in `battery`.
//!
//! One program, since each costs seconds of linking; `cargo test -p privet-learn --test all NAME::` runs
//! one file.

mod additive;
mod auto;
mod averaged;
mod centred_gd;
mod certainty;
mod choosing;
mod chosen_amp;
#[path = "../common/mod.rs"]
mod common;
mod completion;
mod completion_parts;
mod completion_real;
mod conditions;
mod count;
mod descent;
mod describe;
mod disk;
mod erm;
mod errata;
mod evaluate;
mod experts;
mod file;
mod forecast;
mod formats;
mod frank_wolfe;
mod golden;
mod linear;
mod linf;
mod names;
mod neighbours;
mod neighbours_real;
mod null_record;
mod online;
mod online_real;
mod order;
mod outline;
mod penalty;
mod permutation;
mod prior_fits;
mod remote_rows;
mod sample_aggregate;
mod sampled;
mod select;
mod simplex;
mod sparse;
mod spelling;
mod spine;
mod ssp;
mod sweep;
mod sweep_networks;
mod toy;
mod transfer;
mod transfer_outside;
mod tune;
mod void;
