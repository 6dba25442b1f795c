//! Requests in words and numbers: the common way from a command line, Python or elsewhere to a
//! [`Request`].

use crate::linear::Erm;
use crate::linear::learners::{Method, Scores};
use crate::release::request::Calibration;
use crate::{LearnError, Request};
use privet_core::{Budget, EPSILON, Neighbours};
use privet_data::Schema;
use privet_data::schema::TargetKind;
use privet_optim::loss::{Loss, RATE_SHARE_AT_ZERO};

/// The default width over which a loss's corners are rounded.
pub const DEFAULT_HUBER_WIDTH: f64 = 0.1;
/// The default quantile: the median.
pub const DEFAULT_QUANTILE: f64 = 0.5;

/// A loss that can be requested by name.
#[derive(Debug, Clone, Copy)]
pub struct LossInfo {
    /// Its name in requests.
    pub name: &'static str,
    /// Its meaning, in one sentence.
    pub meaning: &'static str,
    /// True if it is for classes.
    pub classes: bool,
    /// True if it is for numbers.
    pub numbers: bool,
    /// True if it has a corner that is rounded over a width.
    pub has_width: bool,
}

/// Every loss that can be requested.
pub const REQUESTABLE_LOSSES: &[LossInfo] = &[
    LossInfo {
        name: "logistic",
        meaning: "ln(1 + e^(−margin)); gives probabilities",
        classes: true,
        numbers: false,
        has_width: false,
    },
    LossInfo {
        name: "huber-svm",
        meaning: "The hinge of a support vector machine with its corner rounded",
        classes: true,
        numbers: false,
        has_width: true,
    },
    LossInfo {
        name: "squared",
        meaning: "Squares; for a number, or for classes as −1 and +1",
        classes: true,
        numbers: true,
        has_width: false,
    },
    LossInfo {
        name: "huber",
        meaning: "Squares up to a width, absolute values beyond; for a number with outliers",
        classes: false,
        numbers: true,
        has_width: true,
    },
    LossInfo {
        name: QUANTILE,
        meaning: "A quantile of a number",
        classes: false,
        numbers: true,
        has_width: true,
    },
    LossInfo {
        name: POISSON,
        meaning: "Counts and other numbers from 0 to a bound: rates grow exponentially with the score",
        classes: false,
        numbers: true,
        has_width: false,
    },
];

/// The name of the loss that predicts a quantile.
pub const QUANTILE: &str = "quantile";
/// The name of the loss that predicts a rate.
pub const POISSON: &str = "poisson";

/// A request in words. Every `None` is chosen from public facts, or is not needed.
#[derive(Debug, Clone)]
pub struct RequestOptions {
    /// The budget ε; needed by every private method.
    pub epsilon: Option<f64>,
    /// The budget δ; 1/rows² unless given.
    pub delta: Option<f64>,
    /// The neighbouring relation.
    pub neighbours: Neighbours,
    /// A name of [`REQUESTABLE_LOSSES`]; by the target unless given.
    pub loss: Option<String>,
    /// The width of rounded corners, for losses that have one.
    pub huber_width: Option<f64>,
    /// The quantile, for loss quantile.
    pub quantile: Option<f64>,
    /// The rate at score 0, for loss poisson.
    pub rate_at_zero: Option<f64>,
    /// The learner.
    pub method: Method,
    /// The learner's own settings: names and values.
    pub settings: Vec<(String, String)>,
    /// The constants: proved, or as printed in the papers.
    pub calibration: Calibration,
}

fn invalid<T>(name: &'static str, what: impl Into<String>) -> Result<T, LearnError> {
    Err(LearnError::InvalidRequest { name, what: what.into() })
}

impl RequestOptions {
    /// A method with every other choice left to its rules, under replace-one neighbours.
    pub fn of(method: Method) -> Self {
        Self {
            epsilon: None,
            delta: None,
            neighbours: Neighbours::ReplaceOne,
            loss: None,
            huber_width: None,
            quantile: None,
            rate_at_zero: None,
            method,
            settings: Vec::new(),
            calibration: Calibration::Sound,
        }
    }

    fn budget(&self, rows: u64) -> Result<Option<Budget>, LearnError> {
        let method = &self.method;
        match (self.epsilon, method.is_private()) {
            (Some(epsilon), true) => {
                let delta = self.delta.unwrap_or_else(|| Budget::usual_delta(rows));
                Ok(Some(Budget::new(epsilon, delta)?))
            }
            (None, true) => invalid(
                "epsilon",
                format!(
                    "is missing: privet picks no privacy budget for you, and method {method} needs one; \
                     {EPSILON} is accepted, and smaller is more private"
                ),
            ),
            (Some(_), false) => invalid(
                "epsilon",
                format!(
                    "is given, but method {method} adds no noise and spends no budget: leave it out, or \
                     choose a private method"
                ),
            ),
            (None, false) => Ok(None),
        }
    }

    fn loss(&self, target: &TargetKind) -> Result<Loss, LearnError> {
        let of_classes = matches!(target, TargetKind::Classes(_));
        let by_target = if of_classes { "logistic" } else { "squared" };
        let name = self.loss.as_deref().unwrap_or(by_target);
        let Some(info) = REQUESTABLE_LOSSES.iter().find(|info| info.name == name) else {
            let fits = |info: &&LossInfo| if of_classes { info.classes } else { info.numbers };
            let names: Vec<_> =
                REQUESTABLE_LOSSES.iter().filter(fits).map(|info| info.name).collect();
            let name = privet_core::printable(name);
            return invalid("loss", format!("'{name}' is none; accepted: {}", names.join(", ")));
        };
        let only = |which: &dyn Fn(&LossInfo) -> bool| {
            let names = REQUESTABLE_LOSSES.iter().filter(|info| which(info)).map(|info| info.name);
            format!(
                "is given, but only these losses have one: {}",
                names.collect::<Vec<_>>().join(", ")
            )
        };
        if self.huber_width.is_some() && !info.has_width {
            return invalid("huber_width", only(&|info| info.has_width));
        }
        if self.quantile.is_some() && name != QUANTILE {
            return invalid("quantile", only(&|info| info.name == QUANTILE));
        }
        if self.rate_at_zero.is_some() && name != POISSON {
            return invalid("rate_at_zero", only(&|info| info.name == POISSON));
        }
        let width = self.huber_width.unwrap_or(DEFAULT_HUBER_WIDTH);
        let loss = match (name, target) {
            ("huber-svm", _) => Loss::HuberSvm { h: width },
            ("squared", _) => Loss::SQUARED,
            ("huber", _) => Loss::Huber { width },
            (QUANTILE, _) => {
                Loss::Quantile { tau: self.quantile.unwrap_or(DEFAULT_QUANTILE), h: width }
            }
            (POISSON, TargetKind::Number { low, high }) => {
                let rate = self.rate_at_zero.unwrap_or(RATE_SHARE_AT_ZERO * high);
                Loss::poisson(*low, *high, rate)?
            }
            (POISSON, TargetKind::Classes(_)) => {
                return invalid("loss", "poisson needs a number with bounds as target");
            }
            _ => Loss::Logistic,
        };
        Ok(loss.check()?)
    }
}

impl Request<Erm> {
    /// The full request, from words.
    pub fn build(schema: &Schema, rows: u64, words: &RequestOptions) -> Result<Self, LearnError> {
        let set = |method: Method, (name, value): &(String, String)| method.with(name, value);
        let method = words.settings.iter().try_fold(words.method.clone(), set)?;
        let task = Erm { loss: words.loss(&schema.target().kind)?, method };
        let request = Self::new(schema.clone(), rows, words.neighbours, task);
        let (budget, calibration) = (words.budget(rows)?, words.calibration);
        Ok(Self { budget, calibration, ..request })
    }
}

impl Request<Erm> {
    /// What the scores of its model say of the classes: printed constants come with plain losses.
    pub fn scores(&self) -> Scores {
        match self.calibration {
            Calibration::Sound => self.task.method.info().more.scores,
            Calibration::Printed => Scores::Separate,
        }
    }

    /// With another loss.
    pub fn with_loss(mut self, loss: Loss) -> Self {
        self.task.loss = loss;
        self
    }

    /// With another method.
    pub fn with_method(mut self, method: Method) -> Self {
        self.task.method = method;
        self
    }

    /// With a setting of its method.
    pub fn with(self, setting: &str, value: &str) -> Result<Self, LearnError> {
        let method = self.task.method.with(setting, value)?;
        Ok(self.with_method(method))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn schema(target: &str) -> Schema {
        let text = "[clip]\nnorm = \"l2\"\nradius = 1.0\n[[columns]]\nname = \"x\"\ntype = \"number\"\n\
                    bounds = [0, 1]\n[target]\ncolumn = \"y\"\n";
        Schema::from_toml(&format!("{text}{target}\n")).unwrap()
    }

    #[test]
    fn every_loss_can_be_asked_for_where_it_fits() {
        let targets = [schema("classes = [\"a\", \"b\"]"), schema("bounds = [0, 2]")];
        for info in REQUESTABLE_LOSSES {
            let words = RequestOptions {
                epsilon: Some(1.0),
                loss: Some(info.name.into()),
                ..RequestOptions::of("amp".parse().unwrap())
            };
            for (target, fits) in targets.iter().zip([info.classes, info.numbers]) {
                let built = Request::build(target, 100, &words).and_then(|request| {
                    assert_eq!(request.task.loss.name(), info.name);
                    crate::plan(&request)
                });
                // The Huber loss is defined for classes as well, as −1 and +1.
                let defined = info.name == "huber";
                assert_eq!(built.is_ok(), fits || defined, "{}: {built:?}", info.name);
            }
            let wide = RequestOptions { huber_width: Some(0.2), ..words.clone() };
            let fitting = &targets[usize::from(!info.classes)];
            assert_eq!(Request::build(fitting, 100, &wide).is_ok(), info.has_width);
        }
    }

    #[test]
    fn what_is_missing_or_too_much_is_named() {
        let target = schema("classes = [\"a\", \"b\"]");
        let base =
            RequestOptions { epsilon: Some(1.0), ..RequestOptions::of("amp".parse().unwrap()) };
        let words =
            |words: &RequestOptions| Request::build(&target, 100, words).unwrap_err().to_string();
        assert!(
            words(&RequestOptions { epsilon: None, ..base.clone() })
                .starts_with("epsilon is missing")
        );
        let plain = RequestOptions { method: "non-private".parse().unwrap(), ..base.clone() };
        assert!(words(&plain).contains("leave it out"));
        let odd = RequestOptions { loss: Some("logistc".into()), ..base.clone() };
        assert!(words(&odd).contains("logistic, huber-svm, squared"), "{}", words(&odd));
        let quantile = RequestOptions { quantile: Some(0.3), ..base.clone() };
        assert!(words(&quantile).starts_with("quantile is given"));
        let built = Request::build(&target, 100, &base).unwrap();
        assert_eq!(built.budget, Some(Budget::new(1.0, 1e-4).unwrap()));
    }
}
