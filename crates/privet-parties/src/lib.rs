//! Several organisations, one model, and nobody sees another's records, nor a sum of them.
//!
//! ```text
//!  party 1 ─┐ a share of its sums for every server
//!  party 2 ─┼──► server A: adds up shares, adds its noise ──► opens ─┐
//!  party m ─┘──► server B: the same ──────────────────────► opens ──┴─► every party: noised sums, next step
//! ```
//! Servers commit to what they open before any opening is shown, and at the end every party signs all that it heard.
//!
//! Every party carries out the same plan ([`privet_learn::Plan::run_among`]) on its own rows; whatever a learner asks,
//! the answer is the noised sum over all parties ([`privet_dp::mechanism::shares`], where the theorem is). So there is nobody in
//! the middle who would have to be trusted with a question: parties ask themselves, and all end with the same model.
//!
//! | what | where |
//! |---|---|
//! | what all agree on before anything is sent | [`Agreement`] |
//! | what a server does with shares | [`Server`] |
//! | a party's way to the servers, and what a lying server cannot do | [`Party`], over a [`Line`] |
//! | what a server is held to before it opens | [`Commitment`] |
//! | what every party signs before there is a result | [`Signed`] |
//! | in one process | [`Room`] |
//! | over mutual TLS | [`tls`] |
//! | certificates for it | [`authority`] |
//! | noise that servers draw together | [`Engine`], by the [`Program`] of `joint/` |
//! | very many parties at once, for experiments | [`Crowd`] |
//!
//! **What goes wrong, and how it ends.** A party that is late, or sends what is no message, another length or another
//! share for the same round, ends the run: the server writes down why, opens nothing more, and tells everyone. A
//! process that is killed goes on where it was: a party has written down its shares of a round before it sends
//! them, a server what it opens before it opens it, so neither is ever made twice for one round. Once anything was opened the whole
//! plan is spent; another run is another agreement, with other noise and a charge of its own.
#![forbid(unsafe_code)]

mod agreement;
pub mod authority;
mod commitment;
mod crowd;
mod doors;
mod drawing;
mod engine;
mod error;
mod folder;
mod message;
mod party;
mod plausible;
mod room;
mod same;
mod server;
mod signature;
mod store;
mod table;
mod timed;
pub mod tls;
mod waiting;

pub use agreement::{Agreement, Family, Holder, Names, Station};
pub use commitment::{Commitment, leaf};
pub use crowd::Crowd;
pub use engine::{Engine, Job, PROGRAM, Program, SendTo};
pub use error::PartiesError;
pub use folder::{Folder, Paid, Recognised, Settings};
pub use message::{Ask, FRAME, PROTOCOL, Reply, Standing};
pub use party::{Line, Party};
pub use room::Room;
pub use server::Server;
pub use signature::{Signed, Witness};
