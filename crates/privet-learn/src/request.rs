//! What a caller asks for: public facts and settings, nothing else.
//!
//! A [`Request`] is all that a plan depends on, so a certificate carries it whole and anyone can
//! make the plan again.

use crate::LearnError;
use privet_core::{Budget, Neighbours, Range};
use privet_data::schema::Schema;
use privet_optim::loss::Loss;
use serde::{Deserialize, Serialize};
use std::{fmt, str::FromStr};

/// Limits on the declared number of rows.
pub const ROWS: Range = Range::from("rows", 1.0, 9_007_199_254_740_992.0);
/// Limits on the ridge λ of the sum form.
pub const RIDGE: Range = Range::open("ridge", 0.0, f64::INFINITY);
/// Limits on γ, the gradient norm of the mean objective.
pub const GAMMA: Range = Range::open("gamma", 0.0, f64::INFINITY);
/// Limits on the share of the noise budget that pays for the inexact minimum.
pub const SPLIT: Range = Range::open("split", 0.0, 1.0);
/// Limits on the number of noised steps.
pub const STEPS: Range = Range::from("steps", 1.0, 1_000_001.0);

/// Public facts, budget and settings. Deserialising does not make it valid: [`crate::plan`]
/// checks every number.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Request {
    /// The public schema.
    pub schema: Schema,
    /// The declared number of rows.
    pub rows: u64,
    /// (ε, δ); `None` only for the non-private baseline.
    pub budget: Option<Budget>,
    /// Which data sets are neighbours.
    pub neighbours: Neighbours,
    /// The loss.
    pub loss: Loss,
    /// The learner and its own settings.
    pub method: Method,
    /// Whose constants.
    #[serde(default)]
    pub calibration: Calibration,
}

/// A learner and its own settings. Whatever is left out is chosen by a rule that reads public
/// facts alone.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(tag = "name", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Method {
    /// Approximate Minima Perturbation.
    Amp {
        /// λ of the sum form.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        ridge: Option<f64>,
        /// γ, the gradient norm of the mean objective; 1/n² unless given.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        gamma: Option<f64>,
        /// Share of the noise budget for the output noise; 0.01 unless given.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        split: Option<f64>,
    },
    /// Objective perturbation, the exact minimiser released.
    Objective {
        /// λ of the sum form.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        ridge: Option<f64>,
    },
    /// Output perturbation.
    Output {
        /// λ of the sum form.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        ridge: Option<f64>,
    },
    /// Noisy gradient descent on all records.
    Gd {
        /// T; chosen by [`crate::erm::gd::pace`] unless given.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        steps: Option<u32>,
        /// λ of the sum form; none unless given.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        ridge: Option<f64>,
    },
    /// No noise at all, for comparison.
    NonPrivate {
        /// λ of the sum form.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        ridge: Option<f64>,
    },
}

/// A line about each method, for `privet methods`.
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
    pub settings: &'static [&'static str],
}

/// Every method that can be asked for.
pub const METHODS: &[MethodInfo] = &[
    MethodInfo {
        name: "amp",
        summary: "perturbs the objective, minimises it to a proved tolerance, adds a little noise \
                  to the result; needs no tuning",
        source: "Iyengar et al. 2019, Algorithm 1; constants re-derived",
        guarantee: "(ε, δ) in finite arithmetic; pure ε in real arithmetic",
        settings: &["ridge", "gamma", "split"],
    },
    MethodInfo {
        name: "objective",
        summary: "perturbs the objective and releases its minimiser",
        source: "Chaudhuri et al. 2011; Kifer et al. 2012; Thakurta 2013, Algorithm 3.1",
        guarantee: "(ε, δ) and pure ε in real arithmetic, for the exact minimiser",
        settings: &["ridge"],
    },
    MethodInfo {
        name: "output",
        summary: "minimises a regularised objective and adds noise to the result",
        source: "Chaudhuri et al. 2011; Jain & Thakurta 2014, §4.1",
        guarantee: "(ε, δ) in finite arithmetic; pure ε in real arithmetic",
        settings: &["ridge"],
    },
    MethodInfo {
        name: "gd",
        summary: "gradient descent on all records, each gradient under Gaussian noise; several \
                  classes are fitted jointly",
        source: "Song et al. 2013; Bassily et al. 2014; accounting of Dong et al. 2022",
        guarantee: "(ε, δ) in finite arithmetic; no pure ε",
        settings: &["steps", "ridge"],
    },
    MethodInfo {
        name: "non-private",
        summary: "no noise and no guarantee: a baseline for data that are public anyway",
        source: "–",
        guarantee: "none",
        settings: &["ridge"],
    },
];

impl Method {
    /// The words accepted by [`FromStr`].
    pub const ACCEPTED: &'static str = "amp, objective, output, gd, non-private";

    /// The word for `--method`.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Amp { .. } => "amp",
            Self::Objective { .. } => "objective",
            Self::Output { .. } => "output",
            Self::Gd { .. } => "gd",
            Self::NonPrivate { .. } => "non-private",
        }
    }

    /// Sets λ, γ and the split where the method has them.
    pub fn with(
        self,
        ridge: Option<f64>,
        gamma: Option<f64>,
        split: Option<f64>,
    ) -> Result<Self, LearnError> {
        let refuse =
            |setting: &'static str| Err(LearnError::NotASetting { setting, method: self.name() });
        Ok(match self {
            Self::Amp { .. } => Self::Amp { ridge, gamma, split },
            _ if gamma.is_some() => return refuse("gamma"),
            _ if split.is_some() => return refuse("split"),
            Self::Objective { .. } => Self::Objective { ridge },
            Self::Output { .. } => Self::Output { ridge },
            Self::Gd { steps, .. } => Self::Gd { steps, ridge },
            Self::NonPrivate { .. } => Self::NonPrivate { ridge },
        })
    }

    /// Sets the number of noised steps where the method has one; `None` leaves it as it is.
    pub fn with_steps(self, steps: Option<u32>) -> Result<Self, LearnError> {
        match (self, steps) {
            (method, None) => Ok(method),
            (Self::Gd { ridge, .. }, steps) => Ok(Self::Gd { steps, ridge }),
            _ => Err(LearnError::NotASetting { setting: "steps", method: self.name() }),
        }
    }
}

impl fmt::Display for Method {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Method {
    type Err = privet_core::Error;
    fn from_str(word: &str) -> Result<Self, Self::Err> {
        Ok(match word {
            "amp" => Self::Amp { ridge: None, gamma: None, split: None },
            "objective" => Self::Objective { ridge: None },
            "output" => Self::Output { ridge: None },
            "gd" => Self::Gd { steps: None, ridge: None },
            "non-private" => Self::NonPrivate { ridge: None },
            _ => {
                return Err(privet_core::Error::Unknown {
                    what: "method",
                    given: word.into(),
                    accepted: Self::ACCEPTED,
                });
            }
        })
    }
}

/// Whose constants are used.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Calibration {
    /// Constants that are proved, tight where tight ones are known.
    #[default]
    Sound,
    /// A paper's own constants. The certificate claims what the accountant proves for the noise
    /// really added, not what the paper claims.
    Printed,
}

impl Calibration {
    /// The words accepted by [`FromStr`].
    pub const ACCEPTED: &'static str = "sound, printed";
}

impl fmt::Display for Calibration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Sound => "sound",
            Self::Printed => "printed",
        })
    }
}

impl FromStr for Calibration {
    type Err = privet_core::Error;
    fn from_str(word: &str) -> Result<Self, Self::Err> {
        match word {
            "sound" => Ok(Self::Sound),
            "printed" => Ok(Self::Printed),
            _ => Err(privet_core::Error::Unknown {
                what: "calibration",
                given: word.into(),
                accepted: Self::ACCEPTED,
            }),
        }
    }
}
