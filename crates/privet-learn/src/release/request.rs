//! What a caller asks for: public facts and settings, nothing else.
//!
//! A [`Request`] is all that a plan depends on, so a certificate carries it whole and anyone can
//! make the plan again. Its head is the same for every family of releases; the rest is a [`Task`].
//!
//! As JSON the fields of the task stand beside those of the head, with its name under `task`; without that
//! name it is [`Erm`].

use crate::LearnError;
use crate::linear::Erm;
use crate::linear::learners::{Method, Scores};
use crate::release::task::Task;
use privet_core::{Budget, Neighbours, Range, Relation, Whose};
use privet_data::schema::Schema;
use privet_dp::mechanism::shares::Among;
use privet_optim::loss::Loss;
use serde::de::Error as _;
use serde::ser::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value};
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

/// Public facts, budget and settings. Deserialising does not make it valid: [`crate::plan()`]
/// checks every number.
#[derive(Debug, Clone, PartialEq)]
pub struct Request<T = Erm> {
    /// The public schema.
    pub schema: Schema,
    /// The declared number of rows.
    pub rows: u64,
    /// (ε, δ); `None` only for a baseline without privacy.
    pub budget: Option<Budget>,
    /// Which data sets are neighbours.
    pub neighbours: Neighbours,
    /// Whose constants.
    pub calibration: Calibration,
    /// The scale of each event's noise, once a plan has settled it; empty in what a person asks for.
    pub noise: Vec<f64>,
    /// Among which parties and servers, where no one holds all records ([`privet_dp::mechanism::shares`]).
    pub among: Option<Among>,
    /// What was fitted on the same records before, outside the budget (a scaler, a vectoriser), by the names
    /// of classes. Nothing checks it; the plan states it as a condition.
    pub prior_fits: Vec<String>,
    /// What is to be released.
    pub task: T,
}

/// What all requests have.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Head {
    schema: Schema,
    rows: u64,
    budget: Option<Budget>,
    neighbours: Neighbours,
    #[serde(default)]
    calibration: Calibration,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    noise: Vec<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    among: Option<Among>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    prior_fits: Vec<String>,
}

/// The fields of [`Head`].
const HEAD: [&str; 8] =
    ["schema", "rows", "budget", "neighbours", "calibration", "noise", "among", "prior_fits"];
/// How many prior fits are named, at most, and in how many letters each.
const PRIOR_FITS: (usize, usize) = (64, 120);
/// Where the name of the task stands.
pub(crate) const TASK: &str = "task";

impl<T> Request<T> {
    /// Of a task, with sound constants and no budget yet.
    pub fn new(schema: Schema, rows: u64, neighbours: Neighbours, task: T) -> Self {
        let (budget, calibration, noise) = (None, Calibration::Sound, Vec::new());
        let (among, prior_fits) = (None, Vec::new());
        Self { schema, rows, budget, neighbours, calibration, noise, among, prior_fits, task }
    }

    /// After these were fitted on the same records, outside the budget: names, such as `StandardScaler`.
    pub fn after_fits(self, prior_fits: Vec<String>) -> Self {
        Self { prior_fits, ..self }
    }

    /// Refuses prior fits that are not names: a certificate prints them, and a sentence there would pass for
    /// ours.
    pub(crate) fn check_prior_fits(&self) -> Result<(), LearnError> {
        let (most, letters) = PRIOR_FITS;
        let plain = |letter: char| letter.is_alphanumeric() || "_.-".contains(letter);
        let named = |name: &String| {
            !name.is_empty() && name.chars().count() <= letters && name.chars().all(plain)
        };
        if self.prior_fits.len() <= most && self.prior_fits.iter().all(named) {
            return Ok(());
        }
        Err(LearnError::Asked {
            name: "prior_fits",
            what: format!(
                "are not names; accepted: up to {most} names of up to {letters} letters, digits, '_', '.' and '-', such as \
                 StandardScaler"
            ),
        })
    }

    /// The condition that prior fits are.
    pub(crate) fn prior_fits_in_words(&self) -> Option<String> {
        (!self.prior_fits.is_empty()).then(|| {
            format!(
                "fitted on these records before, outside the budget: {}. The guarantee does not cover what they took from \
                 the records",
                self.prior_fits.join(", ")
            )
        })
    }

    /// Among parties, none of whom holds all records; `rows` is how many they have together.
    pub fn shared(self, among: Among) -> Self {
        Self { among: Some(among), ..self }
    }

    /// Within a budget.
    pub fn within(self, budget: Budget) -> Self {
        Self { budget: Some(budget), ..self }
    }

    /// Who a unit is.
    pub fn whose(&self) -> Whose {
        self.schema.whose()
    }

    /// Which tables are neighbours, counted in which unit.
    pub fn relation(&self) -> Relation {
        Relation::new(self.neighbours, self.schema.unit())
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

impl<T: Task> Serialize for Request<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let head = Head {
            schema: self.schema.clone(),
            rows: self.rows,
            budget: self.budget,
            neighbours: self.neighbours,
            calibration: self.calibration,
            noise: self.noise.clone(),
            among: self.among,
            prior_fits: self.prior_fits.clone(),
        };
        let mut all = fields(&head).map_err(S::Error::custom)?;
        all.extend(fields(&self.task).map_err(S::Error::custom)?);
        if T::NAME != Erm::NAME {
            all.insert(TASK.into(), T::NAME.into());
        }
        all.serialize(serializer)
    }
}

impl<'de, T: Task> Deserialize<'de> for Request<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut all = Map::<String, Value>::deserialize(deserializer)?;
        let named = task_of(&all).map_err(D::Error::custom)?;
        if named != T::NAME {
            return Err(D::Error::custom(format!("it is of task {named}, not {}", T::NAME)));
        }
        all.remove(TASK);
        let mut head = Map::new();
        for name in HEAD {
            head.extend(all.remove(name).map(|value| (name.to_string(), value)));
        }
        let head: Head = read(head).map_err(D::Error::custom)?;
        let task = read(all).map_err(D::Error::custom)?;
        let Head { schema, rows, budget, neighbours, calibration, noise, among, prior_fits } = head;
        Ok(Self { schema, rows, budget, neighbours, calibration, noise, among, prior_fits, task })
    }
}

/// The name of the task that a request in JSON is for.
pub(crate) fn task_of(request: &Map<String, Value>) -> Result<String, String> {
    match request.get(TASK) {
        None => Ok(Erm::NAME.into()),
        // One way to write it.
        Some(Value::String(name)) if name != Erm::NAME => Ok(name.clone()),
        Some(_) => {
            Err("its task is not a word that names one (for linear models leave it out)".into())
        }
    }
}

fn fields(value: &impl Serialize) -> Result<Map<String, Value>, String> {
    match serde_json::to_value(value) {
        Ok(Value::Object(map)) => Ok(map),
        Ok(_) => Err("a task is an object".into()),
        Err(error) => Err(error.to_string()),
    }
}

fn read<R: for<'de> Deserialize<'de>>(map: Map<String, Value>) -> Result<R, String> {
    serde_json::from_value(Value::Object(map)).map_err(|error| error.to_string())
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
