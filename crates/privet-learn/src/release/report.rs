//! The report of a release, for people and for programs: a sentence, sections of prose and tables, and
//! JSON. Plain data, which the command, its pages and Python each show in their own way.

use crate::release::request::Request;
use crate::release::task::Task;
use privet_core::printable;
use serde::Serialize;
use serde_json::{Value, json};

/// The report of a release, beside its guarantee.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Report {
    /// A sentence on its purpose.
    pub purpose: String,
    /// The released artefact.
    pub sections: Vec<Section>,
    /// The JSON that the command that releases it prints, beside its claim.
    pub told: Value,
    /// The JSON of the file's content, with its name; `None` where a program reads the file itself.
    pub shown: Option<(&'static str, Value)>,
}

/// A titled section.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Section {
    /// The title.
    pub title: &'static str,
    /// The content.
    pub parts: Vec<Part>,
}

/// A part of a section.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Part {
    /// A paragraph, wrapped by the code that shows it.
    Prose(String),
    /// Lines, shown unchanged.
    Lines(String),
    /// Rows of cells, the first row being the heads.
    Table(Vec<Vec<String>>),
}

impl Report {
    /// With a sentence, sections on the artefact, and the JSON that the command prints.
    pub fn new(purpose: impl Into<String>, sections: Vec<Section>, told: Value) -> Self {
        Self { purpose: purpose.into(), sections, told, shown: None }
    }

    /// With the JSON of the file's content.
    pub fn showing(self, name: &'static str, shown: &impl Serialize) -> Self {
        Self { shown: Some((name, serde_json::to_value(shown).unwrap_or_default())), ..self }
    }
}

impl Section {
    /// Parts under a title.
    pub fn new(title: &'static str, parts: impl IntoIterator<Item = Part>) -> Self {
        Self { title, parts: parts.into_iter().collect() }
    }
}

/// A number for people: six digits, no trailing zeros, ∞ for infinity.
pub fn number(value: f64) -> String {
    if value == 0.0 {
        return "0".into();
    }
    if value.is_infinite() {
        return "∞".into();
    }
    let magnitude = value.abs();
    if (1e-4..1e6).contains(&magnitude) {
        let digits = (5 - magnitude.log10().floor() as i32).max(0) as usize;
        let text = format!("{value:.digits$}");
        if text.contains('.') {
            text.trim_end_matches('0').trim_end_matches('.').into()
        } else {
            text
        }
    } else {
        let text = format!("{value:.4e}");
        match text.split_once('e') {
            Some((mantissa, exponent)) if mantissa.contains('.') => {
                format!("{}e{exponent}", mantissa.trim_end_matches('0').trim_end_matches('.'))
            }
            _ => text,
        }
    }
}

/// A text cut to so many characters at most, without terminal control characters.
pub fn cut_text(text: &str, most: usize) -> String {
    let text = printable(text);
    match text.chars().count() > most {
        true => text.chars().take(most - 1).chain(['…']).collect(),
        false => text.into_owned(),
    }
}

/// The JSON on a release: its own fields, the number of rows and the relation.
pub(crate) fn release_json<T: Task>(request: &Request<T>, own: Value) -> Value {
    let mut told = own;
    told["rows"] = request.rows.into();
    with_relation(request, told)
}

/// The same without the number of rows.
pub(crate) fn with_relation<T: Task>(request: &Request<T>, own: Value) -> Value {
    let mut told = own;
    told["neighbours"] = json!(request.neighbours);
    told["unit"] = json!(request.schema.unit());
    told
}

/// The schema's name of its target, in quotes.
pub(crate) fn target(schema: &privet_data::Schema) -> String {
    match schema.target().column.as_str() {
        "" => "the label".to_string(),
        name => format!("\"{}\"", printable(name)),
    }
}
