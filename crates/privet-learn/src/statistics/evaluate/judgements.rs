//! Judgements: for each record the model's output and the truth, in a row that is a function of that
//! record alone.

use super::Form;
use super::form::{BINS, bin};
use crate::LearnError;
use crate::linear::model::{Model, Predictions};
use crate::networks::TrainedNetwork;
use privet_data::encode::Encoding;
use privet_data::matrix::{CsrMatrix, Matrix};
use privet_data::{Dataset, Target};

/// The largest log loss of a record: a probability below 1 % counts as 1 %.
pub(super) fn largest_log_loss() -> f64 {
    100_f64.ln()
}

/// Judgements, one row per record. Derived from private data: release nothing of them without noise.
pub struct Judgements {
    truth: Truth,
    /// The rows of null records: they contribute to no sum.
    null_rows: Vec<usize>,
    units: Option<Vec<u64>>,
}

enum Truth {
    Classes {
        truth: Vec<u32>,
        predicted: Vec<u32>,
        /// Scores of two classes, which rank records for the exact area under the ROC curve.
        scores: Option<Vec<f64>>,
        /// Of two classes the log odds of the second, of more those of the predicted one.
        log_odds: Option<Vec<f64>>,
        /// The probability of each row and class, row by row.
        probabilities: Option<Vec<f64>>,
    },
    /// Positions between the target's bounds, from 0 to 1.
    Number { truth: Vec<f64>, predicted: Vec<f64> },
}

impl Judgements {
    /// Judges the predictions of a linear model.
    pub fn by_model(model: &Model, data: &Dataset, form: &Form) -> Result<Self, LearnError> {
        let features = &data.features;
        let probabilities = model.probabilities(features);
        let scores = (form.classes.len() == 2).then(|| model.scores(features));
        let said = (model.predict(features), scores, probabilities);
        Self::of(said, &Encoding::new(&model.request().schema), data, form)
    }

    /// Judges the predictions of a network.
    pub fn by_network(
        network: &TrainedNetwork,
        data: &Dataset,
        form: &Form,
    ) -> Result<Self, LearnError> {
        let said = (network.predict(&data.features)?, None, network.probabilities(&data.features)?);
        Self::of(said, &Encoding::new(&network.request().schema), data, form)
    }

    fn of(
        (predictions, scores, probabilities): (Predictions, Option<Vec<f64>>, Option<Vec<f64>>),
        encoding: &Encoding,
        data: &Dataset,
        form: &Form,
    ) -> Result<Self, LearnError> {
        let truth = match (predictions, &data.target) {
            (Predictions::Classes(mut predicted), Target::Class { codes, count })
                if *count == form.classes.len() =>
            {
                if let (Some(threshold), Some(all)) = (form.threshold, &probabilities) {
                    predicted = all.chunks(2).map(|row| u32::from(row[1] > threshold)).collect();
                }
                let log_odds = match &probabilities {
                    Some(all) => {
                        let own = |(row, class): (&[f64], &u32)| match count {
                            2 => log_odds(row[1]),
                            _ => log_odds(row[*class as usize]),
                        };
                        Some(all.chunks(*count).zip(&predicted).map(own).collect())
                    }
                    None => scores.clone(),
                };
                let truth = codes.clone();
                Truth::Classes { truth, predicted, scores, log_odds, probabilities }
            }
            (Predictions::Numbers(predicted), Target::Number(encoded)) => {
                let (low, high) = form.bounds.unwrap_or((0.0, 1.0));
                let place = |value: f64| ((value - low) / (high - low)).clamp(0.0, 1.0);
                let truth = encoded.iter().map(|value| place(encoding.decode_target(*value)));
                Truth::Number {
                    truth: truth.collect(),
                    predicted: predicted.into_iter().map(place).collect(),
                }
            }
            _ => return Err(LearnError::DataShape("the target is not of the planned kind")),
        };
        let (null_rows, units) = (data.report.null_rows.clone(), data.units.clone());
        Ok(Self { truth, null_rows, units })
    }

    /// The exact number of records judged, null records left out: not private.
    pub fn rows(&self) -> usize {
        self.all_rows() - self.null_rows.len()
    }

    fn all_rows(&self) -> usize {
        match &self.truth {
            Truth::Classes { truth, .. } => truth.len(),
            Truth::Number { truth, .. } => truth.len(),
        }
    }

    /// The table on which a plan of this form runs.
    pub fn table(&self, form: &Form) -> Dataset {
        let mut starts = vec![0];
        let (mut places, mut values) = (Vec::new(), Vec::new());
        for row in 0..self.all_rows() {
            if self.null_rows.binary_search(&row).is_err() {
                let own = self.entries(row, form).into_iter();
                for (place, value) in own.filter(|(_, value)| *value != 0.0) {
                    places.push(place as u32);
                    values.push(value as f32);
                }
                places.push(form.query.marker as u32);
                values.push(1.0);
            }
            starts.push(places.len());
        }
        Dataset {
            features: Matrix::Csr(CsrMatrix::new(starts, places, values, form.columns())),
            target: Target::Number(vec![0.0; self.all_rows()]),
            units: self.units.clone(),
            report: Default::default(),
        }
    }

    /// A record's contribution to the sums, in the order of columns.
    fn entries(&self, row: usize, form: &Form) -> Vec<(usize, f64)> {
        match &self.truth {
            Truth::Number { truth, predicted } => {
                // Extreme weights may predict NaN, which counts as the largest error. Whether a table
                // can be evaluated must not depend on the content of a record.
                let (u, error) = (truth[row], (predicted[row] - truth[row]).abs());
                let error = if error.is_nan() { 1.0 } else { error };
                let all = [error, error * error, u, u * u];
                all.into_iter().enumerate().collect()
            }
            Truth::Classes { truth, predicted, log_odds, probabilities, .. } => {
                let (classes, own) = (form.classes.len(), truth[row] as usize);
                let said = predicted[row] as usize;
                let mut entries = vec![(own * classes + said, 1.0)];
                let mut at = classes * classes;
                if let Some(odds) = log_odds {
                    let kind = if classes == 2 { own } else { usize::from(own == said) };
                    entries.push((at + kind * BINS + bin(odds[row]), 1.0));
                    at += 2 * BINS;
                }
                if let Some(all) = probabilities {
                    let all = &all[row * classes..(row + 1) * classes];
                    let loss = -all[own].ln() / largest_log_loss();
                    let square =
                        |(class, p): (usize, &f64)| (p - f64::from(u8::from(class == own))).powi(2);
                    let distance: f64 = all.iter().enumerate().map(square).sum::<f64>() / 2.0;
                    let within = |share: f64| {
                        if share.is_nan() { 1.0 } else { share.clamp(0.0, 1.0) }
                    };
                    entries.extend([(at, within(loss)), (at + 1, within(distance))]);
                }
                entries
            }
        }
    }

    /// The sums without noise or rounding to a grid, not private: the number of rows, then one sum per
    /// column.
    pub(super) fn exact_sums(&self, form: &Form) -> Vec<f64> {
        let mut sums = vec![0.0; form.columns()];
        let kept = |row: &usize| self.null_rows.binary_search(row).is_err();
        for row in (0..self.all_rows()).filter(kept) {
            sums[0] += 1.0;
            for (place, value) in self.entries(row, form) {
                sums[1 + place] += value;
            }
        }
        sums
    }

    /// The area under the ROC curve without noise, not private.
    pub(super) fn exact_area(&self) -> Option<f64> {
        let Truth::Classes { truth, scores, log_odds, .. } = &self.truth else { return None };
        let odds = scores.as_ref().or(log_odds.as_ref())?;
        let kept = |row: &usize| self.null_rows.binary_search(row).is_err();
        let rows: Vec<usize> = (0..truth.len()).filter(kept).collect();
        let scores: Vec<f64> = rows.iter().map(|row| odds[*row]).collect();
        let positive: Vec<bool> = rows.iter().map(|row| truth[*row] == 1).collect();
        crate::statistics::ranking::area(&scores, &positive)
    }
}

fn log_odds(probability: f64) -> f64 {
    probability.ln() - (1.0 - probability).ln()
}
