//! What a caller asks for: public facts and settings, nothing else.
//!
//! A [`Request`] is all that a plan depends on, so a certificate carries it whole and anyone can
//! make the plan again.

use crate::method::{Method, Scores};
use privet_core::{Budget, Neighbours, Range, Relation};
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

impl Request {
    /// Which tables are neighbours, counted in which unit.
    pub fn relation(&self) -> Relation {
        Relation::new(self.neighbours, self.schema.unit())
    }

    /// What the scores of its model say of the classes: printed constants come with plain losses.
    pub fn scores(&self) -> Scores {
        match self.calibration {
            Calibration::Sound => self.method.info().scores,
            Calibration::Printed => Scores::Separate,
        }
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
