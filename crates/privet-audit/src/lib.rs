//! An auditor that tries to refute every certificate.
//!
//! A proof says what cannot happen; an audit looks whether it happens. Nothing here can show that a
//! learner is private: a claim that survives was not refuted *by these attacks*, at the stated
//! confidence.
//!
//! | question | file |
//! |---|---|
//! | can neighbours be told apart better than claimed? | [`attack`], on whatever is a [`Target`] |
//! | … for a learner, on built-in worst cases | [`learner`], [`pairs`] |
//! | … for counts of categories | [`counts`] |
//! | … for answers by records nearby | [`answers`] |
//! | … for descriptions of tables | [`descriptions`] |
//! | … for evaluations of models | [`evaluations`] |
//! | … for tuned models | [`tunings`] |
//! | … for outlines of tables, curvature for intervals | [`outlines`], [`curvatures`] |
//! | … for all that a stream releases, taken together | [`streams`] |
//! | … for choices of columns | [`selections`] |
//! | … for labels by votes | [`votes`] |
//! | … for completed ratings, by a planted user | [`ratings`] |
//! | … for trained networks, by a planted record and from a single run | [`networks`] |
//! | … for sums among parties, by those who work together | [`parties`] |
//! | … for a plan of any other family | [`planned`] |
//! | … from a single run | [`one_run`] |
//! | do samplers have their laws? | [`samplers`] |
//! | do low bits give a neighbour away? | [`bits`]; the phase of b on its grid: [`phase`] |
//! | what does a grid of b do to a rounded result? | [`cells`] |
//! | is the accountant's arithmetic consistent? | [`accounting`] |
//! | does a finished model betray who was in its table? | [`membership`] |
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
pub mod planned;
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
pub use runs::{Target, Watch, World};
