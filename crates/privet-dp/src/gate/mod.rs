//! The gate: the only way from private values to published ones.
//!
//! ```text
//!  Private<T> ──mechanism──► Noisy<T> ──Session::settle──► Release<T>
//! ```
//!
//! - [`Private`] holds a value computed from records. Only this crate opens it.
//! - A mechanism (see [`crate::mechanism`]) opens it, adds noise, records its event on the [`Session`]
//!   *when it draws*, and returns a [`Noisy`].
//! - [`Session::settle`] compares the recorded events with the planned ones. Only if they agree does it
//!   return a [`Release`], with its [`Certificate`].
//! - Afterwards only post-processing by a plain `fn` is possible, which cannot capture records.
//!
//! The following must not compile, and these examples check it.
//!
//! A private value cannot be printed, compared, serialised or opened:
//! ```compile_fail,E0277
//! let secret = privet_dp::gate::Private::new(41);
//! println!("{secret}");
//! ```
//! ```compile_fail,E0624
//! let secret = privet_dp::gate::Private::new(41);
//! let leaked: i32 = secret.open();
//! ```
//! ```compile_fail,E0369
//! let secret = privet_dp::gate::Private::new(41);
//! let _ = secret == privet_dp::gate::Private::new(41);
//! ```
//! ```compile_fail,E0277
//! let secret = privet_dp::gate::Private::new(41);
//! serde_json::to_string(&secret).unwrap();
//! ```
//! ```compile_fail,E0614
//! let secret = privet_dp::gate::Private::new(41);
//! let leaked: i32 = *secret;
//! ```
//! A release cannot be made by hand, nor a noisy value:
//! ```compile_fail,E0451
//! let forged = privet_dp::gate::Release { value: 41 };
//! ```
//! ```compile_fail,E0451
//! let forged = privet_dp::gate::Noisy { value: 41, session: 0 };
//! ```
//! Post-processing cannot capture anything:
//! ```compile_fail,E0308
//! fn leak(release: privet_dp::gate::Release<f64>, record: f64) {
//!     let _ = release.map(|value| value + record);
//! }
//! ```
//! while a plain function is allowed:
//! ```
//! fn halve(release: privet_dp::gate::Release<f64>) -> privet_dp::gate::Release<f64> {
//!     release.map(|value| value / 2.0)
//! }
//! ```
//! An objective-perturbation token is used once, and its noise is not copied out:
//! ```compile_fail,E0382
//! fn twice(token: privet_dp::mechanism::ObjectiveToken) {
//!     let (_a, _b) = (token, token);
//! }
//! ```
//! ```compile_fail,E0277
//! fn show(noise: privet_dp::mechanism::SecretNoise) -> String {
//!     serde_json::to_string(&noise).unwrap()
//! }
//! ```

mod canonical;
mod certificate;
pub mod joint;
mod journal;
mod ledger_entry;
mod plan_position;
mod planned_draws;
mod private;
mod provenance;
mod purse;
mod release;
pub mod seal;
pub mod select;
mod session;
mod statement;
mod suspended;
mod walk;

pub use canonical::{TooWide, canonical, sorted};
pub use certificate::{Arithmetic, Certificate, CertificateError, Condition};
pub use certificate::{ENDED_EARLY, FIXED_SEED, FOR_THE_UNIT, NOT_PRIVATE};
pub use joint::{Part, Parts};
pub use journal::Journal;
pub use ledger_entry::LedgerEntry;
pub use planned_draws::PlannedDraws;
pub use private::Private;
pub use provenance::{LAST_WITHOUT_PROVENANCE, Provenance, VERSION, Version};
pub use purse::{Purse, PurseError};
pub use release::Release;
pub use seal::{Signature, Signer, from_hex, public_key};
pub use select::{Candidate, Trial};
pub use session::{GateError, Noisy, Session, Spend};
pub use statement::Statement;
pub use suspended::Suspended;
pub use walk::{Next, ReceivingWalk, RunningWalk, Walk};
