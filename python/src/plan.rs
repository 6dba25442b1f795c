//! Plans: made without data, then carried out on them.

use crate::error::{Failure, Outcome};
use crate::held::Held;
use crate::input;
use crate::model::Model;
use crate::noise::source;
use crate::schema::Schema;
use crate::watched::watched;
use privet_core::{Budget, Neighbours};
use privet_data::schema::TargetKind;
use privet_learn::{Calibration, Erm, Method, Request};
use privet_optim::loss::{Loss, RATE_SHARE_AT_ZERO};
use pyo3::prelude::*;
use serde_json::json;

/// Everything that decides a guarantee, fixed before any record is read.
#[pyclass(module = "privet._privet", frozen)]
pub struct Plan(privet_learn::Plan);

/// The loss by its name, with the one number that some have: a width, a quantile or a rate.
fn loss(
    name: &str,
    width: f64,
    quantile: f64,
    rate_at_zero: Option<f64>,
    target: &TargetKind,
) -> Outcome<Loss> {
    let loss = match name {
        "logistic" => Loss::Logistic,
        "huber-svm" => Loss::HuberSvm { h: width },
        "squared" => Loss::SQUARED,
        "huber" => Loss::Huber { width },
        "quantile" => Loss::Quantile { tau: quantile, h: width },
        "poisson" => match target {
            TargetKind::Number { low, high } => {
                Loss::poisson(*low, *high, rate_at_zero.unwrap_or(RATE_SHARE_AT_ZERO * high))?
            }
            TargetKind::Classes(_) => {
                return Err(Failure::value(
                    "loss 'poisson' is given with classes; a target with bounds is accepted",
                ));
            }
        },
        _ => {
            let accepted = match target {
                TargetKind::Classes(_) => "logistic, huber-svm, squared",
                TargetKind::Number { .. } => "squared, huber, quantile, poisson",
            };
            return Err(Failure::value(format!("'{name}' is not a loss; accepted: {accepted}")));
        }
    };
    Ok(loss.check()?)
}

/// What a plan decides, as JSON.
pub fn decided(plan: &privet_learn::Plan) -> String {
    let request = plan.request();
    json!({
        "method": request.task.method.name(),
        "loss": request.task.loss.name(),
        "rows": request.rows,
        "columns": plan.facts().columns,
        "radius": plan.facts().radius,
        "neighbours": request.neighbours,
        "unit": request.schema.unit(),
        "calibration": request.calibration,
        "guarantee": plan.guarantee(),
        "arithmetic": plan.arithmetic(),
        "settings": plan.settings(),
        "predicted_excess": plan.predicted_excess(),
        "events": plan.events(),
        "notes": plan.notes(),
    })
    .to_string()
}

#[pymethods]
impl Plan {
    /// Makes the plan from public facts.
    #[new]
    #[pyo3(signature = (schema, rows, *, epsilon, delta, neighbours, loss, width, quantile,
                        rate_at_zero, method, settings, calibration, notes))]
    fn new(
        py: Python<'_>,
        schema: &Bound<'_, Schema>,
        rows: u64,
        epsilon: Option<f64>,
        delta: Option<f64>,
        neighbours: &str,
        loss: &str,
        width: f64,
        quantile: f64,
        rate_at_zero: Option<f64>,
        method: &str,
        settings: Vec<(String, String)>,
        calibration: &str,
        notes: Vec<String>,
    ) -> Outcome<Self> {
        let schema = schema.get().0.clone();
        let method: Method = method.parse()?;
        let method =
            settings.iter().try_fold(method, |method, (name, value)| method.with(name, value))?;
        let delta = delta.unwrap_or_else(|| Budget::usual_delta(rows));
        let budget = match (epsilon, method.is_private()) {
            (Some(epsilon), true) => Some(Budget::new(epsilon, delta)?),
            (None, false) => None,
            (None, true) => {
                return Err(Failure::value(
                    "epsilon is missing: privet picks no privacy budget for you; a number above 0 \
                     is accepted, and smaller is more private",
                ));
            }
            (Some(_), false) => {
                return Err(Failure::value(
                    "epsilon: method non-private adds no noise and spends no budget; epsilon=None \
                     is accepted with it",
                ));
            }
        };
        let loss = self::loss(loss, width, quantile, rate_at_zero, &schema.target().kind)?;
        let (neighbours, calibration) =
            (neighbours.parse::<Neighbours>()?, calibration.parse::<Calibration>()?);
        let (noise, task) = (Vec::new(), Erm { loss, method });
        let request = Request { schema, rows, budget, neighbours, calibration, noise, task };
        let plan = watched(py, |_| privet_learn::plan(&request))??;
        Ok(Self(notes.into_iter().fold(plan, privet_learn::Plan::noting)))
    }

    /// What was decided, as JSON.
    fn to_json(&self) -> String {
        decided(&self.0)
    }

    /// Carries it out: one release.
    #[pyo3(signature = (features, labels, units, seed))]
    fn run(
        &self,
        py: Python<'_>,
        features: &Bound<'_, PyAny>,
        labels: &Bound<'_, PyAny>,
        units: Option<&Bound<'_, PyAny>>,
        seed: Option<u64>,
    ) -> Outcome<Model> {
        let request = self.0.request();
        let public_count = request.relation().count_is_public();
        let options = input::to_learn(!public_count, request.task.method.info().any_storage);
        let data = input::dataset(features, labels, units, &request.schema, &options)?;
        let mut source = source(seed)?;
        let release = watched(py, |stop| self.0.run(&data, source.as_mut(), stop))??;
        Ok(Model(Held::released(privet_learn::model::Model::from_release(release)?)))
    }
}
