//! What is said of the best of several trainings.

use super::Tune;
use crate::linear::learners::Method;
use crate::linear::model::Model;
use crate::release::family::Family;
use crate::release::released::Released;
use crate::release::report::{Part, Report, Section, number, release_json};
use serde_json::{Value, json};

impl Family for Tune {
    const VERB: &'static str = "tune";
    const NOUN: &'static str = "model";

    fn report(tuned: &Released<Self>) -> Report {
        let task = &tuned.request().task;
        let place = tuned.artefact().best.as_ref().map(|best| best.candidate);
        let own = json!({
            "candidate": place,
            "method": place.and_then(|place| task.candidates.get(place as usize)),
            "candidates": task.candidates,
            "trials": task.trials,
            "law": task.law,
            "trial_epsilon": task.trial_epsilon,
            "loss": task.loss,
        });
        Report::new(
            "The best of a secret number of trainings, each of a candidate drawn by lot.",
            vec![Section::new("Best trial", [Part::Prose(best(tuned))])],
            release_json(tuned.request(), own),
        )
    }

    fn model(tuned: &Released<Self>) -> Option<Model> {
        tuned.model()
    }
}

/// Which candidate was best.
fn best(tuned: &Released<Tune>) -> String {
    let task = &tuned.request().task;
    let Some(best) = &tuned.artefact().best else {
        return "no trial was made, which the law of their number allows: nothing was learnt, and it is paid for".into();
    };
    let method = task.candidates.get(best.candidate as usize);
    format!(
        "best of {} candidates: number {}, {}",
        task.candidates.len(),
        best.candidate + 1,
        method.map_or(String::new(), in_words)
    )
}

/// A method with its settings.
fn in_words(method: &Method) -> String {
    let Ok(Value::Object(all)) = serde_json::to_value(method) else { return method.to_string() };
    let settings: Vec<String> = all
        .iter()
        .filter(|(name, value)| *name != "name" && (value.is_number() || value.is_string()))
        .map(|(name, value)| match value.as_f64() {
            Some(value) => format!("{name} = {}", number(value)),
            None => format!("{name} = {}", value.as_str().unwrap_or_default()),
        })
        .collect();
    match settings.is_empty() {
        true => format!("method {method}"),
        false => format!("method {method} ({})", settings.join(", ")),
    }
}
