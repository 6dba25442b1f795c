//! A durable record of every ε that was spent on a data set, and the limit that it is held to.
//!
//! Privacy is lost by the second query, not the first. A [`Ledger`] is the [`privet_dp::gate::Purse`] of sessions: it is
//! told what a session may spend before anything is drawn, refuses what would exceed the limit, and remembers.
//!
//! ```text
//!  reserve (on disk) ─► read and validate ─► draw (on disk first) ─► release ─► settle
//!       └── a refusal before the first draw: void
//! ```
//!
//! | question | file |
//! |---|---|
//! | what may be spent in all, and by which theorem? | [`Limit`] |
//! | what is written down, and how is it chained? | [`entry`] |
//! | what do the entries add up to? | [`Books`] |
//! | what does a session tell? | [`Paying`] |
//! | is this table one that is known? | [`identity`] |
//! | where is it kept? | `sqlite`, `server` |
//! | does a certificate fit? | [`Ledger::check_certificate`] |
//!
//! **What holds.** Every release that a session under a ledger let out is covered by an entry that was on disk before
//! its noise was drawn. What all entries of a data set that are not void add up to never exceeds its limit, in whichever
//! order processes came, so that all those releases together are (ε, δ)-differentially private towards the limit's
//! relation and unit: the filter's theorem ([`privet_dp::account::filter`]), whose reservations are the events, each
//! chosen after whatever came before. A crash can waste budget, never hide spending. The log is the only truth: nothing
//! that is enforced is kept anywhere else.
//!
//! **Sessions at once.** Reservations of several processes are open side by side, so that one session may draw between two
//! draws of another. Filters of (ε, δ), of f-differential privacy (Gaussian) and of one Rényi order hold for interactive
//! mechanisms whose queries are interleaved, too, and zCDP is a Rényi filter at every order (Haney, Shoemate, Tian,
//! Vadhan, Vyrros, Xu & Zhang 2023, "Concurrent composition for interactive differential privacy with adaptive
//! privacy-loss parameters"). Streams are interactive: whoever asks sees an answer before the next question, and
//! may ask other sessions meanwhile. A stream that is charged by its claim, or with a leak, counts as one (ε, δ)
//! mechanism, and composition holds for interactive mechanisms that are interleaved as it does for single answers
//! (Lyu 2022, "Composition theorems for interactive differential privacy"; Vadhan & Zhang 2023, "Concurrent
//! composition theorems for differential privacy"). What takes the whole limit has nothing beside it.
//!
//! **What does not.** Whoever may write the file may rewrite all of it; certificates that were given out tell, as far as
//! they exist ([`Ledger::check_certificate`]). Releases made without the ledger are not in it. What tables are
//! known by is outside of the chain of hashes.
#![forbid(unsafe_code)]

mod beneath;
mod books;
pub mod entry;
mod error;
mod exact;
mod export;
pub mod identity;
mod ledger;
mod limit;
mod merge;
mod paying;
#[cfg(feature = "postgres")]
mod server;
mod sqlite;
mod store;

pub use books::{Account, Books, Held, State};
pub use entry::Note;
pub use error::LedgerError;
pub use exact::Exact;
pub use export::{as_csv, as_json};
pub use ledger::{Checked, Known, Ledger, Quote};
pub use limit::{Kind, Limit};
pub use merge::Merged;
pub use paying::{Asked, Paying};
