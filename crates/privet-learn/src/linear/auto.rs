//! The default: which features, which learner, with which settings, from public facts alone.
//!
//! The rule, fixed in advance. *e* stands for what a budget is worth: rows × ε, twice that under add/remove
//! (whose sensitivities are half), divided by the records of a unit and by the classes beyond two.
//!
//! 1. **Features**, where the schema leaves them open ([`privet_data::schema::Basis::Auto`]).
//!    - Classes: each number keeps its own column, in [−1, 1], with **e^⅙ hats** beside it (3 to 12; none below e =
//!      100 or where there would be more of them than e), a constant ½, and rows filled to the radius. Noise then falls on more
//!      weights, but rows keep their length, so scores hardly get noisier, and the model can bend.
//!    - From e = 200,000 on, with 2 to 12 open numbers, all their **pairs** as well, e^⅐ knots each.
//!    - A numeric target, or δ = 0: numbers alone, in [−1, 1], and a constant ½.
//! 2. **Sparse.** Where a table of numbers is about as wide as it is long, only a model of few columns has a
//!    chance: [`crate::linear::frank_wolfe`], whose noise grows with ln p; and where no dense learner of classes is
//!    predicted to learn anything.
//! 3. **Dense.** Else a learner that moves all weights together: [`crate::linear::gd`] where δ > 0, whose predicted
//!    excess risk ([`crate::Procedure::predicted_excess`]) is the least at all usual
//!    sizes; [`crate::linear::amp`] where δ = 0. For the squared loss [`crate::linear::ssp`], up to the columns
//!    that it takes: it is hidden by about the same noise, in one release that has no length to choose.
//! 4. **Centred.** [`crate::linear::centred_gd`] in place of gd where δ > 0: for images of several classes with the
//!    logistic loss, since their rows all point much the same way; and for tables of classes from **e = 1,000** on (and
//!    three times the columns, fewer columns than half the rows), with a constant 1 and rows that are not filled before they are
//!    centred. Columns that are mostly one value then cost a row nothing of its length. Not with `scores = sum`.
//!
//! 5. **Few passes.** Beyond 2²⁰ rows [`crate::linear::amp`] in place of gd or centred-gd, for one linear problem of at most
//!    512 columns and δ > 0, where its predicted excess risk is no larger, or below 0.03: noise is then so small beside the
//!    losses that how often the rows are read decides, and amp reads them some ten times instead of 80 to 300. What gd lacks there
//!    is steps: from some 10⁵ of its time on it would have to take more than 300.
//!
//! `intervals = bought` goes to the learner that is chosen ([`crate::linear::curvature`]; `ssp` has its own for nothing), and then no model of few
//! columns is, since nothing is known of its intervals.
//!
//! No table is looked at and nothing is tuned, so that the budget asked for is the whole price. Every
//! parameter is a smooth function of the declared rows, the encoded columns, the classes and the
//! budget, but for whole numbers of knots: a fifth more rows or columns moves none of them by more than three
//! tenths (`tests/all/auto.rs`).
//!
//! **How the constants were chosen.** On some 200 generated tables (400 to 800,000 rows, 2 to 40 numbers, up to
//! 8 categories, 2 to 50 % positives; linear, bent, sparse, with and without interactions) by a simulation of
//! the learner, at ε from 0.03 to 3; the sets looked at besides are Adult, Bank Marketing, Diabetes 130,
//! Cod-RNA, KDD Cup 99, Covertype and California housing. Accuracy is flat around all of them: twice as many
//! hats, weights of 0.7 or 1.5 for 1, and a constant of 1 or 2 differ by a few tenths of a point. Refuted on the same tables and left out: cosines with decaying weights, hierarchical hats,
//! hats without the number itself, shrinking weights by a bound on their noise.
//!
//! The certificate names the method that was chosen, with its settings and the schema as it was settled, and
//! is verified as one of that method: it stays valid when a later version chooses otherwise.

use crate::LearnError;
use crate::linear::Decision;
use crate::linear::amp::Amp;
use crate::linear::centred_gd::CentredGd;
use crate::linear::curvature::{INTERVALS_SETTING, Intervals};
use crate::linear::facts::Facts;
use crate::linear::gd::Gd;
use crate::linear::learners::{LearnerFacts, Method, Scores};
use crate::linear::{gd, predicted};
use crate::release::allowance::Allowance;
use crate::release::covers::{Cover, Covers, NOT_PRINTED};
use crate::release::registry::Info;
use crate::release::request::Calibration;
use crate::release::request::Request;
use crate::release::settings::settings;
use privet_core::Relation;
use privet_data::Schema;
use privet_data::encode::Encoding;
use privet_data::schema::{Rows, Unfolding};
use privet_optim::loss::Loss;
use serde::{Deserialize, Serialize};

/// A line about it.
pub const INFO: Info<LearnerFacts> = Info {
    name: "auto",
    summary: "chooses the learner and all its settings by a fixed rule from public facts; nothing to \
              tune",
    source: "docs/learners.md",
    guarantee: "that of the method chosen",
    settings: Auto::SETTINGS,
    noised: "what the method chosen says",
    private: true,
    covers: Covers {
        printed: Cover::No {
            why: NOT_PRINTED,
            instead: "leave out the calibration, or name a method",
        },
        ..Covers::ALL
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
        /// Where intervals of the weights come from, for a learner that has that setting: bounds unless given.
        intervals: Intervals = INTERVALS_SETTING;
    }
}

/// What the scores of a model are to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Scoring {
    /// A sum over columns, for every row: so nothing is centred.
    Sum,
    /// What ranks best.
    Best,
}

/// Hats of a number, at least and at most.
const HATS: (f64, f64) = (3.0, 12.0);
/// Below this e numbers stay alone.
const HATS_FROM: f64 = 100.0;
/// The constant column: half of what a number's own can be, so that it takes little of a row's length.
const CONSTANT: f64 = 0.5;
/// e from which the rows' mean is worth its price, and how many times the columns.
const CENTRED_FROM: (f64, f64) = (1000.0, 3.0);
/// The constant column of centred rows, which have no other.
const CENTRED_CONSTANT: f64 = 1.0;
/// e from which pairs of numbers are worth their weights.
const PAIRS_FROM: f64 = 200_000.0;
/// Open numbers that are paired at most.
const PAIRED: usize = 12;
/// Rows beyond which passes decide, the most columns for which few passes are sure to do, and the excess risk that is
/// none.
const LARGE: (u64, usize, f64) = (1 << 20, 512, 0.03);
/// Knots of a number in a pair, at least and at most.
const PAIR_HATS: (f64, f64) = (3.0, 8.0);

/// e.
fn worth(rows: u64, epsilon: f64, relation: Relation, classes: usize) -> f64 {
    let beyond = classes.saturating_sub(1).max(1) as f64;
    2.0 * rows as f64 * epsilon / (relation.records() * beyond)
}

/// Whether a table of so many rows and columns is long enough, and worth enough, to be centred.
fn centred_pays(rows: u64, columns: usize, worth: f64) -> bool {
    let (columns, (from, times)) = (columns as f64, CENTRED_FROM);
    2.0 * columns < rows as f64 && worth >= from.max(times * columns)
}

/// The schema with what it leaves open decided.
pub(crate) fn encoding(request: &Request) -> Schema {
    let schema = &request.schema;
    let pure = request.budget.is_none_or(|budget| budget.is_pure());
    let plain = |rows| Unfolding { hats: 0, pair_hats: 0, bias: CONSTANT, rows, whole: false };
    if schema.classes().is_none() {
        return schema.unfolded(&plain(Rows::Clip));
    }
    if pure {
        return schema.unfolded(&plain(Rows::Fill));
    }
    let relation = Relation::new(request.neighbours, schema.unit());
    let (epsilon, classes) =
        (request.budget.map_or(0.0, |budget| budget.epsilon()), schema.classes());
    let worth = worth(request.rows, epsilon, relation, classes.map_or(0, <[_]>::len));
    let numbers = schema.open_count();
    let wanted = worth.powf(1.0 / 6.0).round().clamp(HATS.0, HATS.1);
    let hats = match wanted as u32 {
        hats if worth < HATS_FROM || f64::from(hats) * numbers as f64 > worth => 0,
        hats => hats,
    };
    let paired = worth >= PAIRS_FROM && (2..=PAIRED).contains(&numbers);
    let pair_hats = match paired {
        true => worth.powf(1.0 / 7.0).round().clamp(PAIR_HATS.0, PAIR_HATS.1) as u32,
        false => 0,
    };
    let choice = Unfolding { hats, pair_hats, bias: CONSTANT, rows: Rows::Fill, whole: false };
    let filled = schema.unfolded(&choice);
    let sum = matches!(request.task.method, Method::Auto(Auto { scores: Some(Scoring::Sum), .. }));
    if !request.task.loss.needs_classes()
        || sum
        || !centred_pays(request.rows, Encoding::new(&filled).width(), worth)
    {
        return filled;
    }
    let whole = Unfolding { bias: CENTRED_CONSTANT, rows: Rows::Clip, whole: true, ..choice };
    let whole = schema.unfolded(&whole);
    // Not so where rows were declared to be filled, or are longer than any radius.
    if Encoding::new(&whole).is_whole() { whole } else { filled }
}

/// Whether a table is about as wide as it is long, and not of rows that are mostly zeros.
fn wide(facts: &Facts) -> bool {
    let columns = facts.columns as f64;
    2.0 * columns >= facts.rows as f64 && 2.0 * facts.entries >= columns
}

/// Rule 5, where it applies: `excess` is what the learner of rules 3 and 4 is predicted to lose.
fn few_passes(
    facts: &Facts,
    budget: &Allowance<'_>,
    calibration: Calibration,
    intervals: Option<Intervals>,
    excess: Option<f64>,
) -> Option<Decision> {
    let (rows, columns, negligible) = LARGE;
    if facts.rows <= rows || facts.columns > columns || facts.problems > 1 || budget.is_pure() {
        return None;
    }
    let quick = Method::Amp(Amp { intervals, ..Default::default() });
    let quick = quick.plan(facts, budget, calibration).ok()?;
    quick.procedure.check(facts).ok()?;
    let lost = quick.procedure.predicted_excess(facts)?;
    (lost <= excess.map_or(negligible, |excess| excess.max(negligible))).then_some(quick)
}

/// Chooses, and lets the chosen method decide.
pub(crate) fn plan(
    facts: &Facts,
    budget: &Allowance<'_>,
    calibration: Calibration,
    options: &Auto,
) -> Result<Decision, LearnError> {
    let classes = if facts.problems > 1 { facts.problems as usize } else { 2 };
    let worth = worth(facts.rows, budget.epsilon(), facts.relation(), classes);
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
    // For numbers a model of few columns does worse than the mean; choices are not made among parties; and of chosen columns no
    // intervals are known.
    let sure = intervals == Some(Intervals::Bought);
    if alone && !sure && facts.loss.needs_classes() && (wide(facts) || hopeless) {
        let sparse = Method::FrankWolfe(Default::default());
        return sparse.plan(facts, budget, calibration).or(Ok(dense));
    }
    Ok(dense)
}
