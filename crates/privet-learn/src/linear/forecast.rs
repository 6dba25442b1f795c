//! Forecast of a model's accuracy, from public facts, before any record is read.
//!
//! **The quantity.** *Cost*: the share that privacy takes, from 0 to 1, of the accuracy that the same
//! model without privacy gains over always predicting the commonest class; for a numeric target, of its
//! R². *Gain*: the points of accuracy left above the commonest class, on a table of medium signal. No
//! plan is forecast to lose more than that gain.
//!
//! **Derivation.** With m columns of about the same size, the mean gradient of the loss at 0 has a norm
//! of about g·LR/√m along the best direction if all m matter alike (each holds one part in √m of a row's
//! norm R), g·LR if one does; LR is the largest gradient of a record. Noise for k records has in each
//! direction the scale s·LR, s = 2k/(μn) for a budget of Gaussian parameter μ (half of that under
//! add/remove; √p/ε in place of 1/μ at δ = 0, whose noise has p times its scale in all). A score along
//! that gradient is of size gR²/m, or gR²/√m; the noise in a score is sR², for any number of encoded
//! columns. So the ratio of noise to signal is, in scores,
//!
//! x = c·m^a·s with a between ½ and 1,  and the correlation of scores with the target ϱ/√(1 + x^(2h)), h = 1,
//!
//! ϱ that of the best model's. c contains all that a method adds, and g. Methods that put noise on the
//! weights, or choose columns, lose more slowly and depend less on m: for them a and h are smaller
//! (fitted, not derived).
//!
//! Accuracy follows. Let the class be that of a standard normal z, the class z > t with Φ(t) the base
//! rate b, and let a score u have the correlation κ with z. The likelier class given u is right with
//! probability
//!
//! A(κ) = E Φ(|κu − t|/√(1 − κ²)),  A(0) = max(b, 1 − b),  and for b = ½: ½ + arcsin(κ)/π.
//!
//! Of K > 2 classes: d = √2·Φ⁻¹ of the latter, and A = ∫ φ(u − d)·Φ(u)^(K−1) du, from 1/K on; a base
//! rate above 1/K moves the range from [1/K, 1] to [b, 1]. Of a number: R² = κ². With
//! κ = ϱ/√(1 + x^(2h)),
//!
//! cost = 1 − (A(κ) − A(0))/(A(ϱ) − A(0)),  gain = 100·(A(κ) − A(0)).
//!
//! **Order.** μ grows with ε, and n·μ(ε, δ) with n, also at δ = 1/n²; A grows with κ, since a score of
//! less correlation is one of more with noise added. So for a method, a schema and a base rate the cost
//! falls with n and with ε, and the gain grows: by construction, for every method forecast here. The
//! effect of a method's settings is not included.
//!
//! **Calibration.** ϱ = 0.8, and a, h and c of each method (`CLASSES`, `NUMBERS`) were fitted on
//! generated tables (`docs/tuning-log.md`; `examples/forecast.rs` makes such tables and counts). On them
//! the cost is within a factor of two in nine of ten (`docs/learners.md`, "What a plan predicts"). Most
//! of the error comes from the unknown signal. At δ = 0 nothing was fitted anew, and for more than two
//! classes only descents are forecast. Wide sparse rows, of which a schema does not say how many columns
//! matter, and methods that were not tested have no forecast.
//!
//! The number by which [`crate::linear::auto`] compares methods ([`crate::Procedure::predicted_excess`])
//! is another, a bound on the mean loss, and is not shown: it orders methods correctly, but not tables.
//!
//! - Tested by `tests/all/forecast.rs`.

use crate::linear::Erm;
use crate::linear::facts::Facts;
use crate::linear::learners::Method;
use crate::{LearnError, Plan};
use privet_core::{Budget, Range};
use privet_dp::account::{gaussian, normal_cdf};
use privet_optim::loss::Loss;
use serde::Serialize;

/// Limits on a declared base rate.
pub const BASE_RATE: Range = Range::open("base rate", 0.0, 1.0);

/// The correlation ϱ of the best model's scores with the variable that decides.
const BEST_CORRELATION: f64 = 0.8;

/// A method with its constants c, a and h.
type Fitted = (&'static str, f64, f64, f64);

/// Constants for classes.
const CLASSES: [Fitted; 13] = [
    ("gd", 6.65, 0.875, 0.8),
    ("centred-gd", 6.65, 0.875, 0.8),
    ("sgd", 5.7, 0.75, 0.7),
    ("amp", 10.3, 0.75, 1.0),
    ("objective", 10.3, 0.75, 1.0),
    ("ssp", 3.9, 1.0, 0.5),
    ("output", 64.0, 0.75, 1.0),
    ("averaged", 173.0, 0.25, 0.7),
    ("psgd", 57.0, 0.25, 0.5),
    ("psgd-strong", 89.0, 0.25, 0.5),
    ("frank-wolfe", 45.0, 0.5, 0.7),
    ("sample-aggregate", 271.0, 0.25, 0.7),
    ("simplex", 275.0, 0.75, 1.0),
];

/// Constants for numbers and the squared loss.
const NUMBERS: [Fitted; 7] = [
    ("ssp", 11.6, 1.0, 0.7),
    ("gd", 44.0, 1.0, 1.0),
    ("centred-gd", 56.0, 0.75, 1.0),
    ("sgd", 36.0, 0.75, 1.0),
    ("amp", 36.0, 1.0, 1.0),
    ("objective", 23.0, 1.0, 1.0),
    ("output", 646.0, 1.0, 0.5),
];

/// Methods with a forecast for more than two classes, which they fit jointly.
const JOINT_CLASS_METHODS: [&str; 2] = ["gd", "centred-gd"];

/// Methods with a forecast at δ = 0.
const PURE: [&str; 3] = ["amp", "objective", "output"];

/// Points of gain below which a note warns.
const POINT: f64 = 1.0;

/// The ratio x at which half of the signal is kept, for the suggestions of a note.
const HALF_SIGNAL_RATIO: f64 = 1.732_050_807_568_877;

/// The expected accuracy of a plan.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Forecast {
    /// The share that privacy takes of the gain over the commonest class without privacy, or of R² for a
    /// numeric target.
    pub cost: f64,
    /// Points of accuracy left above the base rate, on a table of medium signal; of R² for a numeric
    /// target.
    pub gain: f64,
    /// The accuracy of always predicting the commonest class; `None` for a numeric target.
    pub base_rate: Option<f64>,
    /// True if that was declared; else all classes are assumed to be of equal size.
    pub declared: bool,
    /// Suggested changes, if the gain is below a point.
    pub note: Option<String>,
}

/// The ratio of noise to signal, x^h, and the power of the rows that it falls with; `None` if there is
/// no forecast.
fn loudness(
    facts: &Facts,
    classes: Option<usize>,
    budget: Budget,
    method: &str,
) -> Option<(f64, f64)> {
    let fitted: &[Fitted] = match classes {
        Some(_) => &CLASSES,
        None if matches!(facts.loss, Loss::Squared { .. }) => &NUMBERS,
        None => &[],
    };
    let (name, factor, exponent, power) = fitted.iter().find(|(name, ..)| *name == method)?;
    // A schema of mostly zero rows does not say how many columns matter.
    let sparse = facts.entries * 4.0 < facts.sources as f64 && !facts.image;
    let several = facts.problems > 1 && !JOINT_CLASS_METHODS.contains(name);
    if sparse || several || (budget.is_pure() && !PURE.contains(name)) {
        return None;
    }
    let worth = match budget.is_pure() {
        true => budget.epsilon() / (facts.columns as f64).sqrt(),
        false => gaussian::mu(budget.epsilon(), budget.delta()),
    };
    let shift = facts.relation().shift(1.0) * facts.widening;
    let columns = (facts.sources.max(1) as f64).powf(*exponent);
    let beside = factor * columns * shift / (worth * facts.rows as f64);
    Some((beside.powf(*power), *power))
}

/// E f(u) of a standard normal u, to six digits.
fn mean_over_normal(f: impl Fn(f64) -> f64) -> f64 {
    const STEPS: i32 = 400;
    let (mut sum, mut weights) = (0.0, 0.0);
    for step in -STEPS..=STEPS {
        let u = 8.0 * f64::from(step) / f64::from(STEPS);
        let weight = (-u * u / 2.0).exp();
        sum += weight * f(u);
        weights += weight;
    }
    sum / weights
}

/// The normal quantile Φ⁻¹, by bisection.
fn quantile(share: f64) -> f64 {
    let (mut low, mut high) = (-9.0, 9.0);
    for _ in 0..80 {
        let middle = (low + high) / 2.0;
        if normal_cdf(middle) < share { low = middle } else { high = middle }
    }
    low
}

/// The accuracy A(κ).
fn accuracy(correlation: f64, classes: u32, base: f64) -> f64 {
    let even = 0.5 + correlation.asin() / std::f64::consts::PI;
    if classes == 2 {
        let threshold = quantile(base.max(1.0 - base));
        let left = (1.0 - correlation * correlation).sqrt();
        return mean_over_normal(|u| normal_cdf((correlation * u - threshold).abs() / left));
    }
    let (apart, others) = (std::f64::consts::SQRT_2 * quantile(even), classes as i32 - 1);
    let chance = 1.0 / f64::from(classes);
    let right = mean_over_normal(|u| normal_cdf(u + apart).powi(others));
    base + (right - chance).max(0.0) / (1.0 - chance) * (1.0 - base)
}

/// The forecast of a method's plan for this number of classes, or a number.
pub(crate) fn of(
    facts: &Facts,
    classes: Option<usize>,
    budget: Budget,
    method: &Method,
    base_rate: Option<f64>,
) -> Option<Forecast> {
    let (loudness, power) = loudness(facts, classes, budget, method.name())?;
    let kept = BEST_CORRELATION / (1.0 + loudness * loudness).sqrt();
    let (best, left, base) = match classes {
        Some(classes) => {
            let classes = classes.max(2) as u32;
            let either = |base: f64| if classes == 2 { base.max(1.0 - base) } else { base };
            let base = base_rate.map_or(1.0 / f64::from(classes), either);
            let at = |correlation| accuracy(correlation, classes, base);
            (at(BEST_CORRELATION), at(kept), Some(base))
        }
        None => (BEST_CORRELATION * BEST_CORRELATION, kept * kept, None),
    };
    let least = base.unwrap_or(0.0);
    let gain = 100.0 * (left - least).max(0.0);
    let cost = (1.0 - (left - least) / (best - least)).clamp(0.0, 1.0);
    let declared = base_rate.is_some();
    let note =
        (gain < POINT).then(|| forecast_sentence(facts, budget, (loudness, power), base, declared));
    Some(Forecast { cost, gain, base_rate: base, declared, note })
}

/// Rounds up to two digits, the precision of a forecast.
fn two_digits(value: f64) -> String {
    let power = 10_f64.powi(1 - value.log10().floor() as i32);
    let rounded = (value * power).ceil() / power;
    if rounded >= 1.0 { format!("{rounded:.0}") } else { format!("{rounded}") }
}

/// The note: suggested changes, each enough to keep half of the signal.
fn forecast_sentence(
    facts: &Facts,
    budget: Budget,
    (loudness, power): (f64, f64),
    base: Option<f64>,
    declared: bool,
) -> String {
    // The factor for rows, or ε.
    let beyond = (loudness / HALF_SIGNAL_RATIO).max(1.0).powf(1.0 / power);
    let mut told = match (base, declared) {
        (None, _) => {
            "it is not expected to explain so much as a point of the target's variance".into()
        }
        (Some(base), true) => format!(
            "it is not expected to be right by a point more often than always saying the commonest class (in {:.1} of \
             100 cases, as declared)",
            100.0 * base
        ),
        (Some(_), false) => format!(
            "it is not expected to be right by a point more often than guessing is (in {} of all cases, for classes of equal \
             size, since no base rate is declared; the less equal, the sooner so)",
            if facts.problems > 1 {
                format!("one in {}", facts.problems)
            } else {
                "one half".into()
            }
        ),
    };
    if beyond > 1.0 {
        told.push_str(&format!(
            ": the noise is about {} times as loud as what there is to learn. Half of it would be seen with about {} rows, \
             or an epsilon of about {}",
            two_digits(loudness),
            two_digits(facts.rows as f64 * beyond),
            two_digits(budget.epsilon() * beyond)
        ));
        if facts.sources > 1 {
            told.push_str(", or with fewer columns");
        }
        if facts.unit.records() > 1 {
            let fewer = (f64::from(facts.unit.records()) / beyond).max(1.0);
            told.push_str(&format!(
                ", or with max_records = {fewer:.0} in place of {}",
                facts.unit.records()
            ));
        }
    } else {
        // Privacy noise is not the obstacle.
        told.push_str(": so common a class leaves little to gain. Rank records by their scores, or weight the classes");
    }
    told
}

impl Plan<Erm> {
    /// The expected accuracy, given the share of the commonest class, or for classes of equal size;
    /// `None` if there is no forecast.
    pub fn forecast(&self, base_rate: Option<f64>) -> Result<Option<Forecast>, LearnError> {
        let (facts, classes) = (self.facts(), self.request().schema.classes().map(<[_]>::len));
        if let Some(base) = base_rate {
            BASE_RATE.check(base)?;
            let instead = "leave it out, or give the share of the commonest class: for K classes at least 1/K, for two \
                           that of either";
            let refused = |what: String| Err(LearnError::NotCovered { what, instead });
            if classes.is_none() {
                return refused(
                    "a base rate is the share of a class, and the target is a number".into(),
                );
            }
            if facts.problems > 1 && base * f64::from(facts.problems) < 1.0 {
                let classes = facts.problems;
                return refused(format!(
                    "the commonest of {classes} classes cannot have a share of {base}"
                ));
            }
        }
        if self.is_otherwise_among_parties() {
            return Ok(None);
        }
        let budget = self.request().budget;
        let method = &self.request().task.method;
        Ok(budget.and_then(|budget| of(facts, classes, budget, method, base_rate)))
    }

    /// The same with the notes of the plan, the note for classes of equal size replaced by that for the
    /// base rate.
    pub fn forecast_and_notes(
        &self,
        base_rate: Option<f64>,
    ) -> Result<(Option<Forecast>, Vec<String>), LearnError> {
        let even = self.forecast(None)?.and_then(|forecast| forecast.note);
        let forecast = self.forecast(base_rate)?;
        let own = self.notes().iter().map(ToString::to_string);
        let own = own.filter(|note| Some(note) != even.as_ref());
        let note = forecast.as_ref().and_then(|forecast| forecast.note.clone());
        Ok((forecast, own.chain(note).collect()))
    }
}
