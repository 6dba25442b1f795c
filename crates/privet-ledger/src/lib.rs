//! A durable record of every ε that was spent on a data set, and the limit that it is held to.
//!
//! Privacy is lost by the second query, not the first. A [`Ledger`] is the [`privet_dp::gate::Purse`] of
//! sessions: a session reserves its budget before anything is drawn, a budget that would exceed the
//! limit is refused, and everything spent is recorded.
//!
//! ```text
//!  reserve (on disk) ─► read and validate ─► draw (on disk first) ─► release ─► settle
//!       └── a refusal before the first draw: void
//! ```
//!
//! | content | place |
//! |---|---|
//! | the limit on a data set, and its theorem | [`Limit`] |
//! | entries and their chain of hashes | [`entry`] |
//! | state computed from the entries | [`Books`] |
//! | payments of a session | [`SessionPurse`] |
//! | recognising a table | [`identity`] |
//! | storage | `sqlite`, `server` |
//! | checking a certificate | [`Ledger::check_certificate`] |
//!
//! **What holds.** Every release of a session under a ledger is covered by an entry that was on disk
//! before its noise was drawn. The entries of a data set that are not void never add up to more than its
//! limit, in whichever order processes came, so that all those releases together are (ε,
//! δ)-differentially private for the limit's neighbours and unit: by the filter's theorem
//! ([`privet_dp::account::filter`]), with reservations as the events, each chosen after whatever came
//! before. A crash can waste budget, never hide spending. The log is the only source of truth: nothing
//! that is enforced is stored anywhere else.
//!
//! **Concurrent sessions.** Reservations of several processes are open side by side, so that one session
//! may draw between two draws of another. Filters of (ε, δ), of f-differential privacy (Gaussian) and of
//! one Rényi order hold for interactive mechanisms whose queries are interleaved, too, and zCDP is a
//! Rényi filter at every order (Haney, Shoemate, Tian, Vadhan, Vyrros, Xu & Zhang 2023, "Concurrent
//! composition for interactive differential privacy with adaptive privacy-loss parameters"). Streams are
//! interactive: the analyst sees an answer before the next query, and may query other sessions
//! meanwhile. A stream that is charged by its claim, or with a leak, counts as one (ε, δ) mechanism, and
//! composition holds for interleaved interactive mechanisms as it does for single answers (Lyu 2022,
//! "Composition theorems for interactive differential privacy"; Vadhan & Zhang 2023, "Concurrent
//! composition theorems for differential privacy"). A release that takes the whole limit has no other
//! beside it.
//!
//! **What does not.** A party that may write the file may rewrite all of it; only published certificates
//! reveal this ([`Ledger::check_certificate`]). Releases made without the ledger are not in it. The
//! fingerprints of tables are outside the chain of hashes.
#![forbid(unsafe_code)]

mod books;
pub mod entry;
mod error;
mod exact;
mod export;
pub mod identity;
mod ledger;
mod limit;
mod merge;
mod schema_check;
#[cfg(feature = "postgres")]
mod server;
mod session_purse;
mod sqlite;
mod store;

pub use books::{Account, Books, Reservation, State};
pub use entry::Note;
pub use error::LedgerError;
pub use exact::Exact;
pub use export::{accounts, as_csv, as_json};
pub use ledger::{Checked, KnownDataset, Ledger, PriceQuote};
pub use limit::{Kind, Limit};
pub use merge::Merged;
pub use session_purse::{BudgetRequest, SessionPurse};
