//! How well a model does on records it has not seen.

use privet_data::{Dataset, Encoding, Schema, Target};
use privet_learn::model::{Model, Predictions};

/// The measure's name, and the model's: per cent of the records whose class is found, or R².
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

/// How well a model ranks records of two classes: the area under the ROC curve, in per cent.
pub fn ranking(model: &Model, test: &Dataset) -> Option<f64> {
    match &test.target {
        Target::Class { codes, .. } => {
            model.ranking(&test.features, codes).map(|area| 100.0 * area)
        }
        Target::Number(_) => None,
    }
}

/// 1 − Σ(found − truth)² / Σ(truth − mean)².
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
    fn r_squared_of_the_truth_the_mean_and_worse() {
        let truth = [1.0, 2.0, 3.0];
        assert_eq!(r_squared(&truth, &truth), 1.0);
        assert_eq!(r_squared(&[2.0; 3], &truth), 0.0);
        assert_eq!(r_squared(&[3.0, 2.0, 1.0], &truth), -3.0);
    }
}
