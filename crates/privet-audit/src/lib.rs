//! An auditor that tries to refute every certificate.
//!
//! A proof excludes a leak; an audit looks for one. Nothing here can show that a learner is private: a
//! claim that survives was not refuted *by these attacks*, at the stated confidence.
//!
//! | content | module |
//! |---|---|
//! | distinguishing neighbours better than claimed | [`attack`], for any [`Target`] |
//! | … of a learner, on built-in worst cases | [`learner`], [`pairs`] |
//! | … of counts of categories | [`counts`] |
//! | … of answers by nearby records | [`answers`] |
//! | … of descriptions of tables | [`descriptions`] |
//! | … of evaluations of models | [`evaluations`] |
//! | … of tuned models | [`tunings`] |
//! | … of outlines of tables, curvature for intervals | [`outlines`], [`curvatures`] |
//! | … of all releases of a stream together | [`streams`] |
//! | … of choices of columns | [`selections`] |
//! | … of labels by votes | [`votes`] |
//! | … of completed ratings, by a planted user | [`ratings`] |
//! | … of trained networks, by a planted record and from a single run | [`networks`] |
//! | … of sums among parties, by a coalition | [`parties`] |
//! | … of whatever is offered, by its declaration | [`declared`] |
//! | … of a plan of any other family | [`planned_target`] |
//! | … from a single run | [`one_run`] |
//! | laws of the samplers | [`samplers`] |
//! | low bits that identify a neighbour | [`bits`]; the phase of b on its grid: [`phase`] |
//! | effect of b's grid on a rounded result | [`cells`] |
//! | consistency of the accountant | [`accounting`] |
//! | membership inference on a finished model | [`membership`] |
//! | mechanisms as printed, to be refuted; with sound ones | [`printed`], [`cases`] |
//! | true ε of published settings | [`peers`] |
//!
//! Every random choice comes from one seed, so an audit can be repeated bit for bit on any number of
//! cores.
#![forbid(unsafe_code)]

pub mod accounting;
pub mod answers;
pub mod attack;
mod audited;
pub mod bits;
pub mod cases;
pub mod cells;
pub mod claim;
pub mod counts;
pub mod curvatures;
pub mod declared;
pub mod descriptions;
mod error;
pub mod evaluations;
pub mod interval;
pub mod learner;
pub mod membership;
pub mod networks;
pub mod normal;
pub mod one_run;
pub mod outlines;
pub mod page;
pub mod pairs;
pub mod parties;
pub mod peers;
pub mod phase;
pub mod planned_target;
pub mod printed;
pub mod ratings;
pub mod runs;
pub mod samplers;
pub mod selections;
mod sharp;
pub mod statistic;
pub mod streams;
pub mod sums;
pub mod tunings;
pub mod votes;

pub use attack::{AttackOptions, Finding};
pub use claim::Claim;
pub use error::AuditError;
pub use runs::{AttackWatch, Neighbour, Target};
