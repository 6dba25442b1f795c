//! What is said of answers to public questions.

use super::Nearby;
use crate::linear::model::Predictions;
use crate::release::family::Family;
use crate::release::released::Released;
use crate::release::report::{Part, Report, Section, number, release_json, target};
use privet_core::printable;
use serde_json::json;

/// How many answers are shown.
const SHOWN_ANSWERS: usize = 20;

impl Family for Nearby {
    const VERB: &'static str = "neighbours";
    const NOUN: &'static str = "answers";
    const TELLS_SETTINGS: bool = true;

    fn report(answered: &Released<Self>) -> Report {
        let (request, found) = (answered.request(), answered.artefact());
        let (labels, counts) = (labels(answered), found.counts());
        let line = |(place, (label, count)): (usize, (&String, &f64))| {
            format!("  {}: {label} (about {} near)\n", place + 1, number(count.max(0.0).round()))
        };
        let mut list: String =
            labels.iter().zip(&counts).enumerate().take(SHOWN_ANSWERS).map(line).collect();
        if labels.len() > SHOWN_ANSWERS {
            list.push_str(&format!("  … and {} more, in the file\n", labels.len() - SHOWN_ANSWERS));
        }
        let own = json!({
            "answers_given": labels,
            "asked_before": found.first,
            "counts": counts,
            "votes": found.votes,
        });
        Report::new(
            format!(
                "Answers to {} public questions about {}, each by the votes of the records near it.",
                found.votes.len(),
                target(&request.schema)
            ),
            vec![Section::new("Answers", [Part::Lines(list)])],
            release_json(request, own),
        )
    }
}

/// Each answer as text.
fn labels(answered: &Released<Nearby>) -> Vec<String> {
    let schema = &answered.request().schema;
    match answered.artefact().predictions(schema, Nearby::noise(answered.request())) {
        Predictions::Numbers(values) => values.into_iter().map(number).collect(),
        Predictions::Classes(codes) => {
            let classes = schema.classes().unwrap_or_default();
            let name = |code: u32| classes.get(code as usize).map_or("", |name| name.as_str());
            codes.into_iter().map(|code| printable(name(code)).into_owned()).collect()
        }
    }
}
