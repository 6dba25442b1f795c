//! What is said of a linear model.

use super::Erm;
use super::model::Model;
use crate::release::family::Family;
use crate::release::released::Released;
use crate::release::report::{Report, release_json};
use privet_data::Schema;
use privet_data::schema::{Basis, ColumnKind};
use serde_json::json;

impl Family for Erm {
    const VERB: &'static str = "train";
    const NOUN: &'static str = "model";
    const TELLS_SETTINGS: bool = true;

    fn report(model: &Released<Self>) -> Report {
        let request = model.request();
        let own = json!({
            "method": request.task.method.name(),
            "calibration": request.calibration,
            "loss": request.task.loss,
        });
        Report::new(purpose(model), Vec::new(), release_json(request, own))
    }

    fn model(model: &Released<Self>) -> Option<Model> {
        Some(model.clone())
    }
}

fn purpose(model: &Model) -> String {
    let schema = &model.request().schema;
    let column = match schema.target().column.as_str() {
        "" => "the label".to_string(),
        name => format!("\"{name}\""),
    };
    let what = match schema.classes() {
        Some(classes) => format!("predicts {column}, one of {}", classes.join(", ")),
        None => format!("predicts {column}, a number"),
    };
    let request = model.request();
    let kind = match features(schema) {
        Some(_) => "A linear model of fixed features, so that it can bend, that",
        None => "A linear model that",
    };
    format!(
        "{kind} {what}; method {}, {} calibration, loss {}.",
        request.task.method,
        request.calibration,
        request.task.loss.name()
    )
}

/// What columns are unfolded into before anything private happens; `None` where each stands alone.
pub fn features(schema: &Schema) -> Option<String> {
    let hats = |kind: &ColumnKind| match kind {
        ColumnKind::Number { basis: Basis::Hats(hats), .. } => Some(hats.count),
        _ => None,
    };
    let counts: Vec<u32> =
        schema.columns().iter().filter_map(|column| hats(&column.kind)).collect();
    let mut parts = Vec::new();
    if let (Some(least), Some(most)) = (counts.iter().min(), counts.iter().max()) {
        let numbers = match counts.len() {
            1 => "1 number bends".into(),
            count => format!("{count} numbers bend"),
        };
        let knots = if least == most { most.to_string() } else { format!("{least} to {most}") };
        parts.push(format!("{numbers} at {knots} public knots"));
    }
    match schema.pairs().len() {
        0 => {}
        1 => parts.push("1 pair of columns".into()),
        count => parts.push(format!("{count} pairs of columns")),
    }
    parts.extend(schema.fourier().map(|waves| format!("{} random waves", waves.count)));
    (!parts.is_empty()).then(|| format!("features fixed beforehand: {}", parts.join(", ")))
}
