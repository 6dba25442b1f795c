//! The registry: every learner that can be asked for, one line each.
//!
//! A learner is a module with three names:
//! - a type of its own settings, named as the learner, each of them optional: whatever is left out is chosen
//!   by a rule that reads public facts alone;
//! - `INFO`, all that is known of it besides;
//! - `plan`, from facts, allowance and settings to a [`Decision`].

use crate::allowance::Allowance;
use crate::erm::Decision;
use crate::facts::Facts;
use crate::request::{Calibration, RIDGE};
use crate::settings::{SettingInfo, given};
use crate::{LearnError, auto, erm};
use serde::{Deserialize, Serialize};
use std::{fmt, str::FromStr};

/// All that is known of a method besides how it plans.
#[derive(Debug, Clone, Copy)]
pub struct MethodInfo {
    /// The word for `--method`.
    pub name: &'static str,
    /// What it does, in one sentence.
    pub summary: &'static str,
    /// Where it comes from.
    pub source: &'static str,
    /// In which arithmetic its guarantee is proved.
    pub guarantee: &'static str,
    /// The settings of its own that it accepts.
    pub settings: &'static [SettingInfo],
    /// What its scores say of the classes.
    pub scores: Scores,
    /// What gets its noise, in words: the weights themselves, or something that they are computed from.
    pub noised: &'static str,
    /// Whether its proof holds although the storage of the rows was chosen from the records, which decides
    /// in which order a row's entries are added up: because what is released does not depend on it (sums
    /// that are exact, margins included), because every order is charged for (a proved tolerance, a bound
    /// on rounding), or because nothing is claimed of finite arithmetic.
    pub any_storage: bool,
}

/// The learners that ask a table for sums alone, or for single rows by their places: they run on one that is read from
/// disk, with the same result.
pub const FROM_DISK: [&str; 11] = [
    "amp",
    "centred-gd",
    "gd",
    "sgd",
    "ssp",
    "output",
    "objective",
    "linear",
    "linear-rotated",
    "dpsl-kt",
    "non-private",
];

/// What the scores of a model with the logistic loss say of the classes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scores {
    /// Each score is a log-odds of its own.
    Separate,
    /// The same, but slopes were clipped ([`crate::erm::gd`]).
    Clipped,
    /// Slopes were clipped to that of a model that knows nothing, and more than two classes were
    /// fitted jointly ([`crate::erm::gd`]).
    ClippedJoint,
}

/// The ridge λ, for every learner that has one.
pub(crate) const RIDGE_SETTING: SettingInfo = SettingInfo::number(
    RIDGE,
    "strength of λ/2·‖θ‖² beside the sum of losses; chosen from public facts unless given",
);

macro_rules! methods {
    ($($(#[$doc:meta])* $variant:ident: $($module:ident)::+;)*) => {
        /// A learner and its own settings.
        #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
        #[serde(tag = "name", rename_all = "kebab-case")]
        pub enum Method {
            $($(#[$doc])* $variant($($module)::+::$variant),)*
            /// No noise at all, for comparison.
            NonPrivate(erm::plain::NonPrivate),
        }

        /// Every method that can be asked for.
        pub const METHODS: &[MethodInfo] = &[$($($module)::+::INFO,)* erm::plain::INFO];

        impl Method {
            /// A line about it.
            pub fn info(&self) -> &'static MethodInfo {
                match self {
                    $(Self::$variant(_) => &$($module)::+::INFO,)*
                    Self::NonPrivate(_) => &erm::plain::INFO,
                }
            }

            /// Hands the request to its learner.
            pub(crate) fn plan(
                &self,
                facts: &Facts,
                allowance: &Allowance<'_>,
                calibration: Calibration,
            ) -> Result<Decision, LearnError> {
                match self {
                    $(Self::$variant(options) => {
                        $($module)::+::plan(facts, allowance, calibration, options)
                    })*
                    Self::NonPrivate(_) => Err(LearnError::NotASetting {
                        setting: "epsilon".into(),
                        method: self.name(),
                    }),
                }
            }

            fn named(word: &str) -> Option<Self> {
                $(if word == $($module)::+::INFO.name {
                    return Some(Self::$variant(Default::default()));
                })*
                (word == erm::plain::INFO.name).then(|| Self::NonPrivate(Default::default()))
            }
        }
    };
}

methods! {
    /// Whatever the rule chooses; see [`crate::auto`].
    Auto: auto;
    /// Approximate Minima Perturbation.
    Amp: erm::amp;
    /// Columns chosen privately, then the same on them.
    ChosenAmp: erm::chosen_amp;
    /// Columns chosen by their association, then least squares or the same on them.
    TwoStage: erm::two_stage;
    /// Noisy descent that keeps the largest weights.
    DpIght: erm::dp_ight;
    /// Noised answers to public inputs, then few columns.
    DpslKt: erm::dpsl_kt;
    /// Objective perturbation, next to no noise on the minimiser.
    Objective: erm::objective;
    /// Output perturbation.
    Output: erm::output;
    /// Noisy gradient descent on all records.
    Gd: erm::gd;
    /// The same on rows less their noised mean.
    CentredGd: erm::centred_gd;
    /// Noisy gradient descent on a random part of the records at each step.
    Sgd: erm::sgd;
    /// Permutation descent, noise on the result.
    Psgd: erm::psgd;
    /// The same with a ridge.
    PsgdStrong: erm::psgd_strong;
    /// Implicit steps in order, noise on the mean of their points.
    Averaged: erm::averaged;
    /// Least squares from noised second moments.
    Ssp: erm::ssp;
    /// Linear regression in a ball.
    Linear: erm::linear;
    /// Linear regression with a rotated regulariser.
    LinearRotated: erm::rotated;
    /// Sample and aggregate.
    SampleAggregate: erm::sample_aggregate;
    /// Frank–Wolfe: a signed column chosen at each step.
    FrankWolfe: erm::frank_wolfe;
    /// Entropy-regularised minimisation, released by sampling columns.
    Simplex: erm::simplex;
}

impl Method {
    /// The word for `--method`.
    pub fn name(&self) -> &'static str {
        self.info().name
    }

    /// The words accepted by [`FromStr`], separated by commas.
    pub fn accepted() -> String {
        METHODS.iter().map(|method| method.name).collect::<Vec<_>>().join(", ")
    }

    /// Whether it buys the curvature that intervals of its weights follow from.
    pub(crate) fn buys_intervals(&self) -> bool {
        let asked = match self {
            Self::Gd(options) => options.intervals,
            Self::CentredGd(options) => options.intervals,
            Self::Amp(options) => options.intervals,
            _ => None,
        };
        asked == Some(erm::curvature::Intervals::Bought)
    }

    /// Whether it is private at all.
    pub fn is_private(&self) -> bool {
        !matches!(self, Self::NonPrivate(_))
    }

    /// Whether it has a setting of that name.
    pub fn has(&self, setting: &str) -> bool {
        self.info().settings.iter().any(|known| known.name == setting)
    }

    /// With one setting given; a value that reads as a number is one.
    pub fn with(&self, setting: &str, value: &str) -> Result<Self, LearnError> {
        given((self, self.name()), self.info().settings, setting, value)
    }
}

impl fmt::Display for Method {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Method {
    type Err = LearnError;
    fn from_str(word: &str) -> Result<Self, Self::Err> {
        Self::named(word).ok_or_else(|| LearnError::UnknownMethod {
            given: word.into(),
            accepted: Self::accepted(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_method_is_found_by_its_name_and_knows_its_settings() {
        for info in METHODS {
            let method: Method = info.name.parse().unwrap();
            assert_eq!(method.name(), info.name);
            let written = serde_json::to_value(&method).unwrap();
            assert_eq!(written["name"], info.name, "the name in certificates is the one asked for");
            assert_eq!(serde_json::from_value::<Method>(written).unwrap(), method);
            let refused = method.with("no-such-setting", "1").unwrap_err();
            assert!(matches!(refused, LearnError::NotASetting { .. }));
            for setting in info.settings {
                let odd = method.with(setting.name, "\u{1}").unwrap_err();
                assert!(matches!(odd, LearnError::SettingValue { .. }), "{}", setting.name);
            }
        }
        assert!(matches!("ampp".parse::<Method>(), Err(LearnError::UnknownMethod { .. })));
    }
}
