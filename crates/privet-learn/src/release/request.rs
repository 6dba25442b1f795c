//! Requests: public facts and settings, nothing else.
//!
//! A plan depends on its [`Request`] alone, so a certificate carries it whole and anyone can make the
//! plan again. Its head is the same for every family of releases; the rest is a [`Task`].
//!
//! As JSON the fields of the task stand beside those of the head, with its name under `task`; without
//! that name it is the one of the first format ([`UNNAMED`]).

use crate::LearnError;
use crate::families::UNNAMED;
use crate::release::note::{Condition, Note};
use crate::release::task::Task;
use privet_core::{Budget, Neighbours, Range, Relation, UnitDefinition};
use privet_data::schema::Schema;
use privet_dp::mechanism::shares::Participants;
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
/// Limits on the number of noisy steps.
pub const STEPS: Range = Range::from("steps", 1.0, 1_000_001.0);

/// Public facts, budget and settings. Deserialising does not make it valid: [`crate::plan()`]
/// checks every number.
#[derive(Debug, Clone, PartialEq)]
pub struct Request<T> {
    /// The public schema.
    pub schema: Schema,
    /// The declared number of rows.
    pub rows: u64,
    /// (ε, δ); `None` only for a baseline without privacy.
    pub budget: Option<Budget>,
    /// The neighbouring relation.
    pub neighbours: Neighbours,
    /// The constants: proved or a paper's.
    pub calibration: Calibration,
    /// The scale of each event's noise, once a plan has settled it; empty in a user's request.
    pub noise: Vec<f64>,
    /// The parties and servers, where no one holds all records ([`privet_dp::mechanism::shares`]).
    pub among: Option<Participants>,
    /// Class names of transformers fitted on the same records before, outside the budget (a scaler, a
    /// vectoriser). Nothing checks them; the plan states them as a condition.
    pub prior_fits: Vec<String>,
    /// The task: the release that is requested.
    pub task: T,
}

/// The fields of every request.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct RequestHead {
    schema: Schema,
    rows: u64,
    budget: Option<Budget>,
    neighbours: Neighbours,
    #[serde(default)]
    calibration: Calibration,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    noise: Vec<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    among: Option<Participants>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    prior_fits: Vec<String>,
}

/// The fields of [`RequestHead`].
const HEAD: [&str; 8] =
    ["schema", "rows", "budget", "neighbours", "calibration", "noise", "among", "prior_fits"];
/// Upper bounds on the number of prior fits and on the characters of each.
const PRIOR_FITS: (usize, usize) = (64, 120);
const PRIOR_FITS_STATED: Condition = Condition::new(
    "prior-fits",
    "fitted on these records before, outside the budget: {fits}. The guarantee does not cover what they took from \
     the records",
);
/// The key of the task's name.
pub(crate) const TASK: &str = "task";

impl<T> Request<T> {
    /// With this task, sound constants and no budget yet.
    pub fn new(schema: Schema, rows: u64, neighbours: Neighbours, task: T) -> Self {
        let (budget, calibration, noise) = (None, Calibration::Sound, Vec::new());
        let (among, prior_fits) = (None, Vec::new());
        Self { schema, rows, budget, neighbours, calibration, noise, among, prior_fits, task }
    }

    /// With names of what was fitted on the same records before, outside the budget, such as
    /// `StandardScaler`.
    pub fn after_fits(self, prior_fits: Vec<String>) -> Self {
        Self { prior_fits, ..self }
    }

    /// Refuses prior fits that are not names: a certificate prints them, and a sentence there could pass
    /// for one of the program.
    pub(crate) fn check_prior_fits(&self) -> Result<(), LearnError> {
        let (most, letters) = PRIOR_FITS;
        let plain = |letter: char| letter.is_alphanumeric() || "_.-".contains(letter);
        let named = |name: &String| {
            !name.is_empty() && name.chars().count() <= letters && name.chars().all(plain)
        };
        if self.prior_fits.len() <= most && self.prior_fits.iter().all(named) {
            return Ok(());
        }
        Err(LearnError::InvalidRequest {
            name: "prior_fits",
            what: format!(
                "are not names; accepted: up to {most} names of up to {letters} letters, digits, '_', '.' and '-', such as \
                 StandardScaler"
            ),
        })
    }

    /// The condition that states the prior fits, if there are any.
    pub(crate) fn prior_fits_stated(&self) -> Option<Note> {
        let fits = self.prior_fits.join(", ");
        (!fits.is_empty()).then(|| PRIOR_FITS_STATED.with(&[("fits", &fits)]))
    }

    /// Shared among parties, none of whom holds all records; `rows` is their total.
    pub fn shared_among(self, among: Participants) -> Self {
        Self { among: Some(among), ..self }
    }

    /// With a budget.
    pub fn with_budget(self, budget: Budget) -> Self {
        Self { budget: Some(budget), ..self }
    }

    /// The definition of a unit.
    pub fn unit_definition(&self) -> UnitDefinition {
        self.schema.unit_definition()
    }

    /// The neighbouring relation, with its unit.
    pub fn relation(&self) -> Relation {
        Relation::new(self.neighbours, self.schema.unit())
    }
}

impl<T: Task> Serialize for Request<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let head = RequestHead {
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
        if T::NAME != UNNAMED {
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
        let head: RequestHead = read(head).map_err(D::Error::custom)?;
        let task = read(all).map_err(D::Error::custom)?;
        let RequestHead { schema, rows, budget, neighbours, calibration, noise, among, prior_fits } =
            head;
        Ok(Self { schema, rows, budget, neighbours, calibration, noise, among, prior_fits, task })
    }
}

/// The name of the task of a request in JSON.
pub(crate) fn task_of(request: &Map<String, Value>) -> Result<String, String> {
    match request.get(TASK) {
        None => Ok(UNNAMED.into()),
        // One spelling only.
        Some(Value::String(name)) if name != UNNAMED => Ok(name.clone()),
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

/// The constants in use.
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
