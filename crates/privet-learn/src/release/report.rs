//! What a release says, for people and for programs: a sentence, sections of prose and tables, and JSON. Data, which the
//! command, its pages and Python each show in their own way.

use crate::release::request::Request;
use crate::release::task::Task;
use privet_core::printable;
use serde::Serialize;
use serde_json::{Value, json};

/// What is said of a release beside its guarantee.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Report {
    /// What it is, in a sentence.
    pub purpose: String,
    /// What was released.
    pub sections: Vec<Section>,
    /// What the command that releases it tells a program, beside its claim.
    pub told: Value,
    /// What a program is shown of a file, by name; nothing where a file is read for itself.
    pub shown: Option<(&'static str, Value)>,
}

/// Some of it under a title.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Section {
    /// Its title.
    pub title: &'static str,
    /// What stands in it.
    pub parts: Vec<Part>,
}

/// What can stand in a section.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Part {
    /// A paragraph, broken into lines by whoever shows it.
    Prose(String),
    /// Lines as they are.
    Lines(String),
    /// Rows of cells, the first of which are heads.
    Table(Vec<Vec<String>>),
}

impl Report {
    /// A sentence, sections of what was released, and what a program is told.
    pub fn new(purpose: impl Into<String>, sections: Vec<Section>, told: Value) -> Self {
        Self { purpose: purpose.into(), sections, told, shown: None }
    }

    /// With what a program is shown of a file.
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

/// A text of so many letters at most, with nothing in it that acts on a terminal.
pub fn cut(text: &str, most: usize) -> String {
    let text = printable(text);
    match text.chars().count() > most {
        true => text.chars().take(most - 1).chain(['…']).collect(),
        false => text.into_owned(),
    }
}

/// What a program is told of a release: what is its own, rows and relation.
pub(crate) fn told<T: Task>(request: &Request<T>, own: Value) -> Value {
    let mut told = own;
    told["rows"] = request.rows.into();
    with_relation(request, told)
}

/// The same without the rows.
pub(crate) fn with_relation<T: Task>(request: &Request<T>, own: Value) -> Value {
    let mut told = own;
    told["neighbours"] = json!(request.neighbours);
    told["unit"] = json!(request.schema.unit());
    told
}

/// What a schema calls its target, in quotes.
pub(crate) fn target(schema: &privet_data::Schema) -> String {
    match schema.target().column.as_str() {
        "" => "the label".to_string(),
        name => format!("\"{}\"", printable(name)),
    }
}
