//! Coefficients as CSV: a line for each encoded column, a column of weights for each problem.

use crate::error::LearnError;
use crate::linear::model::Model;
use privet_data::Encoding;
use std::fmt::Write;

/// Every encoded column with its weights, and its entry of the centre if the model has one. Weights are
/// those of encoded, bounded columns: see `privet schema check` for the encoding of a column.
pub fn coefficients(model: &Model) -> Result<String, LearnError> {
    let encoding = Encoding::new(&model.request().schema);
    let released = model.weights();
    let classes = model.request().schema.classes().unwrap_or_default();
    let mut text = String::from("column");
    match (released.weights.len(), classes) {
        (1, [_, second]) => {
            let _ = write!(text, ",{}", cell(&format!("weight for {second}")));
        }
        (1, _) => text.push_str(",weight"),
        (_, classes) => classes.iter().for_each(|class| {
            let _ = write!(text, ",{}", cell(&format!("weight for {class}")));
        }),
    }
    text.push_str(if released.centre.is_some() { ",centre\n" } else { "\n" });
    for (place, name) in encoding.column_names().into_iter().enumerate() {
        text.push_str(&cell(&name));
        let centre = released.centre.iter().map(|centre| centre.get(place));
        let weights = released.weights.iter().map(|weights| weights.get(place));
        for value in weights.chain(centre) {
            let _ = write!(text, ",{}", value.copied().unwrap_or(0.0));
        }
        text.push('\n');
    }
    Ok(text)
}

/// Quotes a cell, so that no program interprets it as a formula.
fn cell(text: &str) -> String {
    let formula = text.starts_with(['=', '+', '-', '@', '\t', '\r']);
    let text = if formula { format!("'{text}") } else { text.to_string() };
    match text.contains([',', '"', '\n', '\r']) {
        true => format!("\"{}\"", text.replace('"', "\"\"")),
        false => text,
    }
}
