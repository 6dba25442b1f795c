//! Shape functions of a model, as JSON.

use privet_data::encode::{AxisKind, Level};
use privet_learn::linear::additive::{BAND, Scale, Shape, Shapes};
use serde_json::{Value, json};

/// The JSON of all shape functions, with their scale.
pub fn to_json(shapes: &Shapes) -> String {
    let band = |noise: &f64| BAND * noise;
    let scale = match shapes.scale {
        Scale::Score => "score",
        Scale::Target => "target",
        Scale::LogRate => "log-rate",
    };
    json!({
        "scale": scale,
        "exact": shapes.exact,
        "intercept": shapes.intercept,
        "intercept_band": shapes.intercept_noise.as_ref().map(band),
        "shapes": shapes.shapes.iter().map(shape_json).collect::<Vec<_>>(),
    })
    .to_string()
}

fn shape_json(shape: &Shape) -> Value {
    let kind = match (shape.axes.len(), shape.axes[0].kind) {
        (2, _) => "pair",
        (_, AxisKind::Straight | AxisKind::Curved) => "number",
        (_, AxisKind::Category) => "category",
        (_, AxisKind::Binary) => "binary",
    };
    let points = shape.axes.iter().map(|axis| axis.levels.iter().map(level).collect::<Vec<_>>());
    let band = |noise: &Vec<f64>| noise.iter().map(|noise| BAND * noise).collect::<Vec<_>>();
    json!({
        "columns": shape.axes.iter().map(|axis| &axis.column).collect::<Vec<_>>(),
        "kind": kind,
        "axes": points.collect::<Vec<_>>(),
        "effects": shape.effects,
        "band": shape.noise.as_ref().map(band),
        "beyond": shape.beyond(),
    })
}

/// A number, or a text.
fn level(level: &Level) -> Value {
    match level {
        Level::At(value) => json!(value),
        Level::Text(text) => json!(text),
        Level::Bucket(bucket) => json!(format!("#{bucket}")),
        Level::Other => json!("(other)"),
        Level::Unlisted => json!("(not listed)"),
        Level::Missing => json!("(missing)"),
    }
}
