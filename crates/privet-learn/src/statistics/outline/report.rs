//! What is said of columns that no schema describes yet.

use super::{Outline, Suggestion, suggest_columns};
use crate::release::family::Family;
use crate::release::released::Released;
use crate::release::report::{Part, Report, Section, cut_text, number};
use privet_core::printable;
use serde_json::json;

impl Family for Outline {
    const VERB: &'static str = "schema";
    const NOUN: &'static str = "outline";

    fn report(released: &Released<Self>) -> Report {
        Report::new(
            format!(
                "What enough people hold in {} columns of a table: numbers by bins, dates by years, texts.",
                released.request().task.columns.len()
            ),
            vec![Section::new("Columns", [Part::Table(outline_rows(released))])],
            json!({}),
        )
    }
}

/// What each column seems to hold.
fn outline_rows(released: &Released<Outline>) -> Vec<Vec<String>> {
    suggest_columns(released)
        .into_iter()
        .map(|column| {
            let what = match &column.what {
                Suggestion::Number(low, high) => format!("{} to {}", number(*low), number(*high)),
                Suggestion::Dates(first, last) => format!("dates of {first} to {last}"),
                Suggestion::Category(texts) => texts.join(", "),
                Suggestion::Nothing => "nothing that stands out of the noise".into(),
            };
            vec![printable(&column.name).into_owned(), cut_text(&what, 60)]
        })
        .collect()
}
