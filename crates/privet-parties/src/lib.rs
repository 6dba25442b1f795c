//! Several organisations train one model; none sees another's records, nor a sum of them.
//!
//! ```text
//!  party 1 ─┐ a share of its sums for every server
//!  party 2 ─┼──► server A: adds up shares, adds its noise ──► opens ─┐
//!  party m ─┘──► server B: the same ──────────────────────► opens ──┴─► every party: noised sums, next step
//! ```
//! Servers commit to their openings before any opening is shown, and at the end every party signs
//! everything it received.
//!
//! Every party carries out the same plan ([`privet_learn::Plan::run_among`]) on its own rows; the answer
//! to every query of a learner is the noisy sum over all parties ([`privet_dp::mechanism::shares`], with
//! the theorem). No central party has to be trusted with the queries: parties compute them themselves,
//! and all end with the same model.
//!
//! | content | place |
//! |---|---|
//! | the agreement of all members before anything is sent | [`Agreement`] |
//! | a server's sums of shares | [`Server`] |
//! | a party's protocol, and the limits of a lying server | [`Party`], over a [`Transport`] |
//! | a server's commitment before it opens | [`Commitment`] |
//! | a party's signature before there is a result | [`Signed`] |
//! | all members in one process | [`InProcessServers`] |
//! | transport over mutual TLS | [`tls`] |
//! | certificates for it | [`authority`] |
//! | noise that servers draw together | [`Engine`], by the [`Program`] of `joint/` |
//! | very many parties at once, for experiments | [`ManyParties`] |
//!
//! **Failures.** A party that is late, or sends a malformed message, another length or another share for
//! the same round, ends the run: the server records the reason, opens nothing more, and informs all
//! parties. A process that was killed resumes where it was: a party stores its shares of a round before
//! it sends them, a server its opening before it opens, so neither is ever made twice for one round.
//! Once anything was opened the whole plan is spent; another run is another agreement, with other noise
//! and its own charge.
#![forbid(unsafe_code)]

mod agreement;
pub mod authority;
mod commitment;
mod connection_limits;
mod drawing;
mod engine;
mod error;
mod folder;
mod in_process;
mod many_parties;
mod message;
mod party;
mod plausible;
mod server;
mod signature;
mod store;
mod table;
mod timed;
pub mod tls;
mod unanimous;
mod waiting;

pub use agreement::{Agreement, Family, Holder, Names, ServerAddress};
pub use commitment::{Commitment, leaf};
pub use engine::{Engine, Job, PROGRAM, Program, SendTo};
pub use error::PartiesError;
pub use folder::{Folder, PaymentRecord, RecognisedTable, Settings};
pub use in_process::InProcessServers;
pub use many_parties::ManyParties;
pub use message::{FRAME, PROTOCOL, PartyRequest, RunStanding, ServerReply};
pub use party::{Party, Transport};
pub use server::Server;
pub use signature::{Signed, Witness};
