//! The privacy cost of a mechanism: events, and the bounds that turn them into (ε, δ).
//!
//! | subject | file |
//! |---|---|
//! | events | [`Event`], plain data |
//! | upper bounds on ε, δ | [`epsilon`], [`delta`], [`guarantee`], [`meets`] |
//! | lower bounds | [`bracket()`] |
//! | an attacker's errors | [`TradeOff`] |
//! | noise for a budget | [`calibrate()`] |
//! | the curves behind them | [`gaussian`], [`pure`], [`concentrated`], [`renyi`], [`compose`] |
//! | objective perturbation and AMP | [`objective`], [`logistic`], [`minima`], [`classes`] |
//! | Gaussian releases of sampled records | [`sampled`] |
//! | heterogeneous composition | [`parts`], [`distribution`] |
//! | adaptively chosen events | [`filter`] |
//! | the best of a secret number of runs | [`selected`] |
//! | labels of voters who agree | [`agreement`] |
//!
//! Everything here is an upper bound (except the lower end of a bracket), rounded to the safe side, in f64
//! with `libm`'s functions, so that a verifier on another machine finds the same numbers.

mod accountant;
pub mod agreement;
mod bracket;
mod calibrate;
pub mod classes;
pub mod compose;
pub mod concentrated;
mod curve;
pub mod distribution;
mod error;
mod event;
pub mod filter;
mod fourier;
pub mod gaussian;
mod hull;
mod layout;
pub mod logistic;
mod lower_bound;
mod masses;
mod merge;
pub mod minima;
pub(crate) mod normal;
pub mod objective;
pub mod parts;
pub mod pure;
mod quadrature;
pub mod renyi;
pub mod sampled;
mod seen_by;
pub mod selected;
mod spectrum;
mod spherical;
mod tradeoff;

pub use accountant::{Guarantee, delta, epsilon, guarantee, meets, relation};
pub use bracket::bracket;
pub use calibrate::calibrate;
pub use error::AccountError;
pub use event::{
    Cost, Event, Grid, LossShape, ObjectiveCost, ObjectiveNoise, OutputNoise, Runs, Sign,
    ThresholdNoise,
};
pub use filter::{Filter, Tally};
pub use normal::cdf as normal_cdf;
pub use seen_by::SeenBy;
pub use tradeoff::TradeOff;
