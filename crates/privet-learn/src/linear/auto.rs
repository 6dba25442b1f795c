//! The default method: chooses features, learner and settings from public facts alone.
//!
//! The rule, fixed in advance. *e* is the effective size of the table: rows × ε, twice that under
//! add/remove (whose sensitivities are half), divided by the records of a unit and by the classes beyond
//! two.
//!
//! 1. **Features**, where the schema leaves them open ([`privet_data::schema::Basis::Auto`]).
//!    - Classes: each number keeps its own column, in [−1, 1], with **e^⅙ hats** beside it (piecewise-linear
//!      basis functions; 3 to 12; none below e = 100 or where there would be more of them than e), a constant
//!      ½, and rows scaled up to the radius. Noise then falls on more weights, but rows keep their norm, so
//!      scores hardly get noisier, and the model can be nonlinear in each number.
//!    - From e = 200,000 on, with 2 to 12 open numbers, all their **pairs** as well, e^⅐ knots each.
//!    - A numeric target, or δ = 0: numbers alone, in [−1, 1], and a constant ½.
//! 2. **Sparse.** For a table of numbers about as wide as it is long, only a model of few columns has a
//!    chance: [`crate::linear::frank_wolfe`], whose noise grows with ln p; likewise if no dense learner
//!    of classes is predicted to learn anything.
//! 3. **Dense.** Else a learner that moves all weights together: [`crate::linear::gd`] if δ > 0, whose
//!    predicted excess risk ([`crate::Procedure::predicted_excess`]) is the least at all usual sizes;
//!    [`crate::linear::amp`] if δ = 0. For the squared loss [`crate::linear::ssp`], up to the columns
//!    that it takes: it needs about the same noise, in one release without a step size or number of
//!    steps to choose.
//! 4. **Centred.** [`crate::linear::centred_gd`] in place of gd if δ > 0: for images of several classes
//!    with the logistic loss, since their rows all have much the same direction; and for tables of
//!    classes from **e = 1,000** on (and three times the columns, fewer columns than half the rows),
//!    with a constant 1 and rows that are not scaled up before they are centred. Columns that are mostly
//!    one value then take nothing of a row's norm. Not with `scores = sum`.
//!
//! 5. **Few passes.** Beyond 2²⁰ rows [`crate::linear::amp`] in place of gd or centred-gd, for one
//!    linear problem of at most 512 columns and δ > 0, if its predicted excess risk is no larger, or
//!    below 0.03: noise is then so small beside the losses that the number of passes decides, and amp
//!    takes some ten instead of 80 to 300. gd lacks steps there: from some 10⁵ of its time on it would
//!    need more than 300.
//!
//! `intervals = bought` is passed to the chosen learner ([`crate::linear::curvature`]; `ssp` has
//! intervals at no cost), and then no model of few columns is chosen, since its intervals are unknown.
//!
//! No record is read and nothing is tuned, so that the budget requested is the whole cost. Every
//! parameter is a smooth function of the declared rows, the encoded columns, the classes and the budget,
//! but for integer numbers of knots: a fifth more rows or columns moves none of them by more than three
//! tenths (`tests/all/auto.rs`).
//!
//! **Constants** were chosen on generated tables and seven public sets, among them Adult, Covertype and
//! California housing: `docs/tuning-log.md`.
//!
//! The certificate names the chosen method, with its settings and the settled schema, and is verified as
//! one of that method: it stays valid when a later version chooses otherwise.

use crate::linear::Decision;
use crate::linear::amp::Amp;
use crate::linear::centred_gd::CentredGd;
use crate::linear::curvature::{INTERVALS_SETTING, Intervals};
use crate::linear::facts::Facts;
use crate::linear::gd::Gd;
use crate::linear::learners::{LearnerFacts, Method, Scores};
use crate::linear::{gd, predicted};
use crate::release::allowance::Allowance;
use crate::release::covers::{Coverage, MethodCoverage, NOT_PRINTED};
use crate::release::registry::Info;
use crate::release::request::Calibration;
use crate::release::settings::settings;
use crate::{LearnError, Request};
use privet_core::Relation;
use privet_data::Schema;
use privet_data::encode::Encoding;
use privet_data::schema::{BasisChoice, Rows};
use privet_optim::loss::Loss;
use serde::{Deserialize, Serialize};

/// The registry entry.
pub const INFO: Info<LearnerFacts> = Info {
    name: "auto",
    summary: "chooses the learner and all its settings by a fixed rule from public facts; nothing to \
              tune",
    source: "docs/learners.md",
    guarantee: "that of the method chosen",
    settings: Auto::SETTINGS,
    noisy: "what the method chosen says",
    private: true,
    covers: MethodCoverage {
        printed: Coverage::No {
            why: NOT_PRINTED,
            instead: "leave out the calibration, or name a method",
        },
        ..MethodCoverage::ALL
    },
    more: LearnerFacts { scores: Scores::Separate, any_storage: false },
};

settings! {
    /// Settings of `auto`.
    #[derive(Copy)]
    pub struct Auto {
        scores: Scoring ["sum or best"]
            "sum: every score is a sum over columns, so that shape functions say all; best, unless \
             given: what ranks best";
        /// The source of intervals of the weights, for a learner that has that setting: bounds unless
        /// given.
        intervals: Intervals = INTERVALS_SETTING;
    }
}

/// The kind of scores that a model should have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Scoring {
    /// A sum over columns, for every row: so no row is centred.
    Sum,
    /// The scores that rank best.
    Best,
}

/// Least and largest number of hats of a number.
const HATS_OF_NUMBER: (f64, f64) = (3.0, 12.0);
/// The e below which numbers have no hats.
const HATS_FROM: f64 = 100.0;
/// The constant column: half of the largest value of a number's own, so that it takes little of a row's
/// norm.
const CONSTANT: f64 = 0.5;
/// The e from which centring pays, and as a multiple of the columns.
const CENTRED_FROM: (f64, f64) = (1000.0, 3.0);
/// The constant column of centred rows, which have no other.
const CENTRED_CONSTANT: f64 = 1.0;
/// The e from which pairs of numbers pay.
const PAIRS_FROM: f64 = 200_000.0;
/// Largest number of open numbers that are paired.
const MOST_PAIRED_NUMBERS: usize = 12;
/// The rows beyond which the number of passes decides, the most columns for which few passes are sure to
/// suffice, and a negligible excess risk.
const LARGE_TABLE: (u64, usize, f64) = (1 << 20, 512, 0.03);
/// Least and largest number of knots of a number in a pair.
const PAIR_HATS: (f64, f64) = (3.0, 8.0);

/// The effective size e of a table.
fn effective_size(rows: u64, epsilon: f64, relation: Relation, classes: usize) -> f64 {
    let beyond = classes.saturating_sub(1).max(1) as f64;
    2.0 * rows as f64 * epsilon / (relation.records() * beyond)
}

/// True if a table of so many rows and columns, of this effective size, should be centred.
fn centred_pays(rows: u64, columns: usize, worth: f64) -> bool {
    let (columns, (from, times)) = (columns as f64, CENTRED_FROM);
    2.0 * columns < rows as f64 && worth >= from.max(times * columns)
}

/// The schema with every open choice decided.
pub(crate) fn encoding(request: &Request) -> Schema {
    let schema = &request.schema;
    let pure = request.budget.is_none_or(|budget| budget.is_pure());
    let plain = |rows| BasisChoice { hats: 0, pair_hats: 0, bias: CONSTANT, rows, whole: false };
    if schema.classes().is_none() {
        return schema.with_bases(&plain(Rows::Clip));
    }
    if pure {
        return schema.with_bases(&plain(Rows::Fill));
    }
    let relation = Relation::new(request.neighbours, schema.unit());
    let (epsilon, classes) =
        (request.budget.map_or(0.0, |budget| budget.epsilon()), schema.classes());
    let worth = effective_size(request.rows, epsilon, relation, classes.map_or(0, <[_]>::len));
    let numbers = schema.open_count();
    let wanted = worth.powf(1.0 / 6.0).round().clamp(HATS_OF_NUMBER.0, HATS_OF_NUMBER.1);
    let hats = match wanted as u32 {
        hats if worth < HATS_FROM || f64::from(hats) * numbers as f64 > worth => 0,
        hats => hats,
    };
    let paired = worth >= PAIRS_FROM && (2..=MOST_PAIRED_NUMBERS).contains(&numbers);
    let pair_hats = match paired {
        true => worth.powf(1.0 / 7.0).round().clamp(PAIR_HATS.0, PAIR_HATS.1) as u32,
        false => 0,
    };
    let choice = BasisChoice { hats, pair_hats, bias: CONSTANT, rows: Rows::Fill, whole: false };
    let filled = schema.with_bases(&choice);
    let sum = matches!(request.task.method, Method::Auto(Auto { scores: Some(Scoring::Sum), .. }));
    if !request.task.loss.needs_classes()
        || sum
        || !centred_pays(request.rows, Encoding::new(&filled).width(), worth)
    {
        return filled;
    }
    let whole = BasisChoice { bias: CENTRED_CONSTANT, rows: Rows::Clip, whole: true, ..choice };
    let whole = schema.with_bases(&whole);
    // Filled if rows were declared to be filled, or are longer than any radius.
    if Encoding::new(&whole).is_whole() { whole } else { filled }
}

/// True if a table is about as wide as it is long, and its rows are not mostly zeros.
fn wide(facts: &Facts) -> bool {
    let columns = facts.columns as f64;
    2.0 * columns >= facts.rows as f64 && 2.0 * facts.entries >= columns
}

/// Rule 5, if it applies: `excess` is the predicted excess risk of the learner of rules 3 and 4.
fn few_passes(
    facts: &Facts,
    budget: &Allowance<'_>,
    calibration: Calibration,
    intervals: Option<Intervals>,
    excess: Option<f64>,
) -> Option<Decision> {
    let (rows, columns, negligible) = LARGE_TABLE;
    if facts.rows <= rows || facts.columns > columns || facts.problems > 1 || budget.is_pure() {
        return None;
    }
    let quick = Method::Amp(Amp { intervals, ..Default::default() });
    let quick = quick.plan(facts, budget, calibration).ok()?;
    quick.procedure.check(facts).ok()?;
    let lost = quick.procedure.predicted_excess(facts)?;
    (lost <= excess.map_or(negligible, |excess| excess.max(negligible))).then_some(quick)
}

/// Chooses a method and returns its plan.
pub(crate) fn plan(
    facts: &Facts,
    budget: &Allowance<'_>,
    calibration: Calibration,
    options: &Auto,
) -> Result<Decision, LearnError> {
    let classes = if facts.problems > 1 { facts.problems as usize } else { 2 };
    let worth = effective_size(facts.rows, budget.epsilon(), facts.relation(), classes);
    let pays = facts.whole && centred_pays(facts.rows, facts.columns, worth);
    let table = pays && facts.loss.needs_classes() && options.scores != Some(Scoring::Sum);
    let intervals = options.intervals;
    let centred = Method::CentredGd(CentredGd { intervals, ..Default::default() });
    let first = match budget.is_pure() {
        true => Method::Amp(Amp { intervals, ..Default::default() }),
        false if facts.image && gd::joint(facts) => centred,
        false if table => centred,
        false => Method::Gd(Gd { intervals, ..Default::default() }),
    };
    let dense = first.plan(facts, budget, calibration)?;
    if matches!(facts.loss, Loss::Squared { .. }) {
        return Method::Ssp(Default::default()).plan(facts, budget, calibration).or(Ok(dense));
    }
    let excess = dense.procedure.predicted_excess(facts);
    let hopeless = excess.is_some_and(|excess| predicted::hopeless(facts, excess));
    let alone = !facts.shared;
    if alone && let Some(quick) = few_passes(facts, budget, calibration, intervals, excess) {
        return Ok(quick);
    }
    // For numbers a model of few columns does worse than the mean; columns are not chosen among parties;
    // and no intervals are known for chosen columns.
    let sure = intervals == Some(Intervals::Bought);
    if alone && !sure && facts.loss.needs_classes() && (wide(facts) || hopeless) {
        let sparse = Method::FrankWolfe(Default::default());
        return sparse.plan(facts, budget, calibration).or(Ok(dense));
    }
    Ok(dense)
}
