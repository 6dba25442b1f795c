//! What is said of factors learnt from ratings.

use super::{Complete, Factors};
use crate::release::family::Family;
use crate::release::released::Released;
use crate::release::report::{Part, Report, Section, number, with_relation};
use privet_data::ratings::Rated;
use serde_json::json;

impl Family for Complete {
    const VERB: &'static str = "complete";
    const NOUN: &'static str = "model";

    fn report(factors: &Released<Self>) -> Report {
        let request = factors.request();
        let told = json!({
            "method": request.task.method,
            "items": items(factors),
            "top": request.task.top,
            "users": request.rows,
        });
        Report::new(
            "What items have in common, learnt from ratings: with a user's own ratings it predicts what she would say of \
             others (`privet recommend`).",
            vec![Section::new("Items", [Part::Prose(learnt_sentence(factors))])],
            with_relation(request, told),
        )
    }
}

/// What was learnt, for people.
fn learnt_sentence(released: &Released<Complete>) -> String {
    let request = released.request();
    let factors = match released.artefact() {
        Factors::Chosen(chosen) => &*chosen.of,
        factors => factors,
    };
    let what = match factors {
        Factors::Moments(state) => {
            let rank = state.vectors.first().map_or(0, Vec::len);
            format!("an offset, how often it is rated, and {rank} numbers of each item")
        }
        Factors::Directions(path) => format!("{} directions over the items", path.directions.len()),
        Factors::Descent(descent) => format!("{} projections over the items", descent.steps.len()),
        Factors::Subspace(subspace) => {
            format!("{} directions over the items", subspace.vectors.len())
        }
        Factors::Chosen(_) => String::new(),
    };
    let chosen = match request.task.top {
        Some(top) => format!(", of which {top} were chosen by noised counts"),
        None => String::new(),
    };
    format!(
        "{} items{chosen}, about {} users; {}: {what}",
        number(items(released) as f64),
        request.rows,
        request.task.method
    )
}

fn items(released: &Released<Complete>) -> usize {
    Rated::of(&released.request().schema).map_or(0, |rated| rated.items.len())
}
