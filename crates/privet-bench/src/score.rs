//! Scores of a model on held-out records.

use privet_data::{Dataset, Encoding, Schema, Target};
use privet_learn::linear::model::{Model, Predictions};

/// The measure's name and the score: per cent of the records whose class is predicted, or R².
pub fn score(model: &Model, schema: &Schema, test: &Dataset) -> (&'static str, f64) {
    match (model.predict(&test.features), &test.target) {
        (Predictions::Classes(found), Target::Class { codes, .. }) => {
            let right = found.iter().zip(codes).filter(|(a, b)| a == b).count();
            ("accuracy", 100.0 * right as f64 / codes.len() as f64)
        }
        (Predictions::Numbers(found), Target::Number(values)) => {
            let encoding = Encoding::new(schema);
            let truth: Vec<f64> = values.iter().map(|v| encoding.decode_target(*v)).collect();
            ("r-squared", r_squared(&found, &truth))
        }
        _ => ("none", f64::NAN),
    }
}

/// The area under the ROC curve of a model on records of two classes, in per cent.
pub fn ranking(model: &Model, test: &Dataset) -> Option<f64> {
    match &test.target {
        Target::Class { codes, .. } => {
            model.ranking(&test.features, codes).map(|area| 100.0 * area)
        }
        Target::Number(_) => None,
    }
}

/// The relative distance ‖θ̂ − θ*‖/‖θ*‖ to the true weights of a generated set, in the target's own
/// unit; `None` for a model of other columns.
pub fn distance(model: &Model, schema: &Schema, truth: &[f64]) -> Option<f64> {
    let encoding = Encoding::new(schema);
    let unit = match encoding.classes() {
        Some(_) => 1.0,
        None => (encoding.decode_target(1.0) - encoding.decode_target(-1.0)) / 2.0,
    };
    match model.weights().weights.as_slice() {
        [found] if found.len() == truth.len() => Some(squared_distance(found, unit, truth)),
        // Without the constant column, which the true weights lack.
        [found] if found.len() == truth.len() + 1 && encoding.has_bias() => {
            Some(squared_distance(found, unit, truth))
        }
        _ => None,
    }
}

fn squared_distance(found: &[f64], unit: f64, truth: &[f64]) -> f64 {
    let gap: f64 = found.iter().zip(truth).map(|(f, t)| (f * unit - t).powi(2)).sum();
    (gap / truth.iter().map(|t| t * t).sum::<f64>()).sqrt()
}

/// The coefficient of determination, 1 − Σ(found − truth)² / Σ(truth − mean)².
fn r_squared(found: &[f64], truth: &[f64]) -> f64 {
    let mean = truth.iter().sum::<f64>() / truth.len() as f64;
    let missed: f64 = found.iter().zip(truth).map(|(f, t)| (f - t).powi(2)).sum();
    let spread: f64 = truth.iter().map(|t| (t - mean).powi(2)).sum();
    1.0 - missed / spread
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_truth_is_no_distance_away_and_nothing_is_one() {
        let truth = [3.0, 0.0, -4.0];
        assert_eq!(squared_distance(&[1.5, 0.0, -2.0], 2.0, &truth), 0.0);
        assert_eq!(squared_distance(&[0.0; 3], 2.0, &truth), 1.0);
        assert_eq!(squared_distance(&[-1.5, 0.0, 2.0, 9.0], 2.0, &truth), 2.0);
    }

    #[test]
    fn r_squared_of_the_truth_the_mean_and_worse() {
        let truth = [1.0, 2.0, 3.0];
        assert_eq!(r_squared(&truth, &truth), 1.0);
        assert_eq!(r_squared(&[2.0; 3], &truth), 0.0);
        assert_eq!(r_squared(&[3.0, 2.0, 1.0], &truth), -3.0);
    }
}
