//! What is said of labels by votes.

use super::{Teacher, Vote};
use crate::release::family::Family;
use crate::release::released::Released;
use crate::release::report::{Part, Report, Section, number, release_json};
use privet_core::printable;
use serde_json::json;

impl Family for Vote {
    const VERB: &'static str = "vote";
    const NOUN: &'static str = "labels";
    const TELLS_SETTINGS: bool = true;

    fn report(labels: &Released<Self>) -> Report {
        let (found, request) = (labels.artefact(), labels.request());
        let own = json!({
            "aggregator": request.task.aggregator,
            "teacher": request.task.teacher,
            "teachers": request.task.teachers,
            "queries": request.task.queries,
            "asked_before": found.first,
            "answered": found.answered(),
            "classes": found.labels,
            "places": found.places,
        });
        Report::new(
            purpose(labels),
            vec![Section::new("Labels", [Part::Table(counted(labels))])],
            release_json(request, own),
        )
    }
}

/// How many rows have a label, by class.
fn counted(labels: &Released<Vote>) -> Vec<Vec<String>> {
    let found = labels.artefact();
    let names = labels.request().schema.classes().unwrap_or_default();
    let mut rows = vec![vec!["class".to_string(), "rows".into()]];
    for (class, name) in names.iter().enumerate() {
        let count = found.labels.iter().filter(|label| **label == class as i32).count();
        rows.push(vec![printable(name).into_owned(), number(count as f64)]);
    }
    rows.push(vec!["no label".into(), number((found.labels.len() - found.answered()) as f64)]);
    rows
}

fn purpose(labels: &Released<Vote>) -> String {
    let (found, request) = (labels.artefact(), labels.request());
    let who = match &request.task.teacher {
        // Quoted: it is the word of whoever made the file.
        Teacher::Outside { what } => {
            format!("models that the file calls \"{}\"", printable(what).replace('"', "'"))
        }
        built_in => format!("{} models", built_in.name()),
    };
    format!(
        "Labels of {} of {} public rows, by the votes of {} {who}, each trained on a part of the records.",
        number(found.answered() as f64),
        number(found.labels.len() as f64),
        number(f64::from(request.task.teachers.unwrap_or(0))),
    )
}
