//! What a plan is expected to be worth to people, from public facts, before any record is read.
//!
//! **The quantity.** *Cost*: of what the same model without privacy is right more often than the commonest class is, the
//! share that privacy takes, from 0 to 1; where the target is a number, of its R². *Gain*: how many points of accuracy are
//! left above the commonest class, on a table of middling signal. A plan is never told to lose more than there is.
//!
//! **Derivation.** Of m columns of about one size, the mean gradient of the loss at 0 has a length of about g·LR/√m along the
//! best direction where all m matter alike (each holds one part in √m of a row's length R), g·LR where one does; LR is the
//! largest gradient of a record. Noise that hides k records has in each direction the scale s·LR, s = 2k/(μn) where a
//! budget is worth μ (half of that under add/remove; √p/ε in place of 1/μ at δ = 0, whose noise has p times its scale
//! in all). A score along that gradient is of size gR²/m, or gR²/√m; the noise in a score is sR², in however
//! many encoded columns a row is written. So noise beside signal is, in scores,
//!
//! x = c·m^a·s with a between ½ and 1,  and the correlation of scores with what is to be predicted ϱ/√(1 + x^(2h)), h = 1,
//!
//! ϱ that of the best model's. c is all that a method adds, and g. Methods that put noise on the weights, or
//! choose columns, lose more slowly and depend less on m: for them a and h are smaller (fitted, not derived).
//!
//! Accuracy follows. Let what decides the class be a normal z, the class z > t with Φ(t) the base rate b, and a score u
//! have the correlation κ with z. To say the likelier class is right with probability
//!
//! A(κ) = E Φ(|κu − t|/√(1 − κ²)),  A(0) = max(b, 1 − b),  and for b = ½: ½ + arcsin(κ)/π.
//!
//! Of K > 2 classes: d = √2·Φ⁻¹ of the latter, and A = ∫ φ(u − d)·Φ(u)^(K−1) du, from 1/K on; a base rate above 1/K moves the
//! range from [1/K, 1] to [b, 1]. Of a number: R² = κ². With κ = ϱ/√(1 + x^(2h)),
//!
//! cost = 1 − (A(κ) − A(0))/(A(ϱ) − A(0)),  gain = 100·(A(κ) − A(0)).
//!
//! **Order.** μ grows with ε, and n·μ(ε, δ) with n, also at δ = 1/n²; A grows with κ, since a score of less correlation is
//! one of more with noise added. So for a method, a schema and a base rate the cost falls with n and with ε, and the gain
//! grows: by construction, for every method that is told of here. What settings do is not in it.
//!
//! **Calibration.** ϱ = 0.8, and a, h and c of each method (`CLASSES`, `NUMBERS`) were fitted on generated tables of 300 to
//! 3,000 rows (numbers: to 10,000) and 3 to 50 columns, half of them with categories and columns that go together, at ε from 0.03 to 3, base rates
//! of 50 and 80 % and signals of 0.5 to 0.95, wherever the model without privacy gains two points or more. On the same tables
//! the cost is within a factor of two in nine of ten (`docs/learners.md`, "What a plan predicts"; `examples/forecast.rs`
//! makes such tables and counts), on tables of other seeds, sizes and signals in 87 to 98 of 100, `auto` in 89. Signals are not known to a plan: they are what most of the factor is. At δ = 0 nothing was fitted anew, and
//! for more than two classes only descents are told of. Nor are wide sparse rows, of which a schema does not say how
//! many columns matter, and methods that were not looked at.
//!
//! The number that [`crate::linear::auto`] compares methods by ([`crate::Procedure::predicted_excess`]) is another, a bound on the
//! mean loss, and is shown to nobody: it has the order of methods right, not that of tables.
//!
//! - Tested by `tests/all/forecast.rs`.

use crate::LearnError;
use crate::linear::Erm;
use crate::linear::facts::Facts;
use crate::linear::learners::Method;
use crate::release::plan::Plan;
use privet_core::{Budget, Range};
use privet_dp::account::{gaussian, normal_cdf};
use privet_optim::loss::Loss;
use serde::Serialize;

/// Limits on a declared base rate.
pub const BASE_RATE: Range = Range::open("base rate", 0.0, 1.0);

/// ϱ: the correlation that the best model has with what decides.
const SIGNAL: f64 = 0.8;

/// c, a and h of a method.
type Fitted = (&'static str, f64, f64, f64);

/// For classes.
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

/// For numbers and the squared loss.
const NUMBERS: [Fitted; 7] = [
    ("ssp", 11.6, 1.0, 0.7),
    ("gd", 44.0, 1.0, 1.0),
    ("centred-gd", 56.0, 0.75, 1.0),
    ("sgd", 36.0, 0.75, 1.0),
    ("amp", 36.0, 1.0, 1.0),
    ("objective", 23.0, 1.0, 1.0),
    ("output", 646.0, 1.0, 0.5),
];

/// Methods that are told of for more than two classes, which they fit at once.
const SEVERAL: [&str; 2] = ["gd", "centred-gd"];

/// Methods that are told of at δ = 0.
const PURE: [&str; 3] = ["amp", "objective", "output"];

/// Points of gain below which a model is said not to be worth having.
const POINT: f64 = 1.0;

/// x at which half of what can be learnt is still seen: what a note asks for.
const HALF: f64 = 1.732_050_807_568_877;

/// What a plan is expected to be worth.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Forecast {
    /// Of what the model without privacy gains over the commonest class, the share that privacy takes; of its R² where the
    /// target is a number.
    pub cost: f64,
    /// Points of accuracy above the base rate that are left, on a table of middling signal; of R².
    pub gain: f64,
    /// How often the commonest class is right; `None` where the target is a number.
    pub base_rate: Option<f64>,
    /// Whether that was declared; else all classes are taken to be of one size.
    pub declared: bool,
    /// What to change, where the gain is below a point.
    pub note: Option<String>,
}

/// Noise beside signal, x^h, and what power of the rows it falls with; `None` where nothing is known.
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
    // Of rows that are mostly zeros it is not known how many columns matter.
    let sparse = facts.entries * 4.0 < facts.sources as f64 && !facts.image;
    let several = facts.problems > 1 && !SEVERAL.contains(name);
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

/// Φ⁻¹, by bisection.
fn quantile(share: f64) -> f64 {
    let (mut low, mut high) = (-9.0, 9.0);
    for _ in 0..80 {
        let middle = (low + high) / 2.0;
        if normal_cdf(middle) < share { low = middle } else { high = middle }
    }
    low
}

/// A(κ).
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

/// Of a method's plan for so many classes, or a number.
pub(crate) fn of(
    facts: &Facts,
    classes: Option<usize>,
    budget: Budget,
    method: &Method,
    base_rate: Option<f64>,
) -> Option<Forecast> {
    let (loudness, power) = loudness(facts, classes, budget, method.name())?;
    let kept = SIGNAL / (1.0 + loudness * loudness).sqrt();
    let (best, left, base) = match classes {
        Some(classes) => {
            let classes = classes.max(2) as u32;
            let either = |base: f64| if classes == 2 { base.max(1.0 - base) } else { base };
            let base = base_rate.map_or(1.0 / f64::from(classes), either);
            let at = |correlation| accuracy(correlation, classes, base);
            (at(SIGNAL), at(kept), Some(base))
        }
        None => (SIGNAL * SIGNAL, kept * kept, None),
    };
    let least = base.unwrap_or(0.0);
    let gain = 100.0 * (left - least).max(0.0);
    let cost = (1.0 - (left - least) / (best - least)).clamp(0.0, 1.0);
    let declared = base_rate.is_some();
    let note = (gain < POINT).then(|| words(facts, budget, (loudness, power), base, declared));
    Some(Forecast { cost, gain, base_rate: base, declared, note })
}

/// Two digits: it is no better known.
fn about(value: f64) -> String {
    let power = 10_f64.powi(1 - value.log10().floor() as i32);
    let rounded = (value * power).ceil() / power;
    if rounded >= 1.0 { format!("{rounded:.0}") } else { format!("{rounded}") }
}

/// What to change, each enough for half of what can be learnt.
fn words(
    facts: &Facts,
    budget: Budget,
    (loudness, power): (f64, f64),
    base: Option<f64>,
    declared: bool,
) -> String {
    // Rows, or ε, by so much.
    let beyond = (loudness / HALF).max(1.0).powf(1.0 / power);
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
            about(loudness),
            about(facts.rows as f64 * beyond),
            about(budget.epsilon() * beyond)
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
        // No noise of privacy is in the way.
        told.push_str(": so common a class leaves little to gain. Rank records by their scores, or weight the classes");
    }
    told
}

impl Plan<Erm> {
    /// What it is expected to be worth, given how common the commonest class is, or for classes of equal size; `None`
    /// where nothing is known.
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

    /// The same with the notes of the plan, among which what is said of classes of equal size gives way to what is said of
    /// the base rate.
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
