//! Points of a grid, and their settings.
//!
//! Most keys of a grid are settings of the learner by their own name. Three are not:
//! - `row-norm`: rows are scaled down to this Euclidean norm, for training and for testing (the papers'
//!   Δ), in place of the schema's clip;
//! - `entry-bound`: entries are clipped to ± this instead (the papers' Δ of Frank–Wolfe);
//! - `ridge-per-row`: the papers' Λ of the mean form, λ = Λ·n; 0 leaves the ridge out.

use privet_data::schema::{Draft, Norm, Schema, SchemaError};
use privet_learn::{LearnError, Method};
use std::collections::BTreeMap;

/// The keys that are not settings of a learner.
pub const OWN_KEYS: [&str; 3] = [ROW_NORM, ENTRY_BOUND, RIDGE_PER_ROW];

const ROW_NORM: &str = "row-norm";
const ENTRY_BOUND: &str = "entry-bound";
const RIDGE_PER_ROW: &str = "ridge-per-row";

/// A value as written: a number or a word.
#[derive(Debug, Clone, PartialEq, serde::Deserialize)]
#[serde(untagged, expecting = "a number or a word")]
pub enum Value {
    /// An integer.
    Whole(i64),
    /// A number.
    Number(f64),
    /// A word.
    Word(String),
}

impl std::fmt::Display for Value {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Whole(value) => write!(f, "{value}"),
            Self::Number(value) => write!(f, "{value}"),
            Self::Word(value) => f.write_str(value),
        }
    }
}

/// A point: the value of each key.
pub type Point = BTreeMap<String, String>;

/// Every point of a grid, the last key varying fastest; one empty point for no grid.
pub fn points(grid: &BTreeMap<String, Vec<Value>>) -> Vec<Point> {
    let mut points = vec![Point::new()];
    for (key, values) in grid {
        let longer = |point: &Point| {
            let longer = values.iter().map(|value| {
                let mut longer = point.clone();
                longer.insert(key.clone(), value.to_string());
                longer
            });
            longer.collect::<Vec<_>>()
        };
        points = points.iter().flat_map(longer).collect();
    }
    points
}

/// The clipping of rows at a point.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Clip {
    /// The schema's own.
    Schema,
    /// This norm and radius instead.
    Other(Norm, f64),
}

impl Clip {
    /// The clipping of a point; settings were checked when the suite was read.
    pub fn of(point: &Point) -> Self {
        let number = |key| point.get(key).and_then(|value| value.parse::<f64>().ok());
        match (number(ROW_NORM), number(ENTRY_BOUND)) {
            (Some(radius), _) => Self::Other(Norm::L2, radius),
            (None, Some(radius)) => Self::Other(Norm::Linf, radius),
            _ => Self::Schema,
        }
    }

    /// The schema with this clipping.
    pub fn apply(self, schema: &Schema) -> Result<Schema, SchemaError> {
        match self {
            Self::Schema => Ok(schema.clone()),
            Self::Other(norm, radius) => {
                let mut draft = Draft::from(schema.clone());
                (draft.clip.norm, draft.clip.radius) = (norm, radius);
                draft.check()
            }
        }
    }
}

/// The learner with a point's settings.
pub fn apply_point(method: &Method, point: &Point, rows: u64) -> Result<Method, LearnError> {
    point.iter().try_fold(method.clone(), |method, (key, value)| match key.as_str() {
        ROW_NORM | ENTRY_BOUND => Ok(method),
        RIDGE_PER_ROW => match value.parse::<f64>() {
            Ok(0.0) => Ok(method),
            Ok(share) => method.with("ridge", &(share * rows as f64).to_string()),
            Err(_) => method.with("ridge", value),
        },
        setting => method.with(setting, value),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grid(text: &str) -> BTreeMap<String, Vec<Value>> {
        toml::from_str(text).unwrap()
    }

    #[test]
    fn every_point_once() {
        assert_eq!(points(&BTreeMap::new()), vec![Point::new()]);
        let points = points(&grid("a = [1, 2.5]\nb = [\"x\", \"y\", \"z\"]"));
        assert_eq!(points.len(), 6);
        assert_eq!((points[0]["a"].as_str(), points[0]["b"].as_str()), ("1", "x"));
        assert_eq!((points[5]["a"].as_str(), points[5]["b"].as_str()), ("2.5", "z"));
        let different: std::collections::BTreeSet<_> = points.iter().collect();
        assert_eq!(different.len(), 6);
    }

    #[test]
    fn a_ridge_a_row_is_of_the_mean_form() {
        let method: Method = "psgd-strong".parse().unwrap();
        let at = |value: &str| {
            let point = Point::from([(RIDGE_PER_ROW.into(), value.into())]);
            apply_point(&method, &point, 1000)
        };
        assert_eq!(at("0.5").unwrap(), method.with("ridge", "500").unwrap());
        assert_eq!(at("0").unwrap(), method);
        assert!(at("much").is_err());
    }
}
