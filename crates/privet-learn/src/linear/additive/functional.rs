//! Weighted sums of a model's weights.

use std::collections::BTreeMap;

/// A weighted sum of weights, by encoded column.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Functional(BTreeMap<u32, f64>);

impl Functional {
    pub(super) fn of(entries: impl IntoIterator<Item = (u32, f64)>) -> Self {
        let mut all = Self::default();
        entries.into_iter().for_each(|(at, value)| *all.0.entry(at).or_default() += value);
        all
    }

    /// Adds `factor` times another sum.
    pub(super) fn plus(mut self, factor: f64, other: &Self) -> Self {
        self.add(factor, other);
        self
    }

    pub(super) fn add(&mut self, factor: f64, other: &Self) {
        if factor != 0.0 {
            other
                .0
                .iter()
                .for_each(|(at, value)| *self.0.entry(*at).or_default() += factor * value);
        }
    }

    /// Its value at these weights.
    pub(super) fn at(&self, weights: &[f64]) -> f64 {
        self.0.iter().map(|(at, value)| value * weights[*at as usize]).sum()
    }

    /// Its columns with their coefficients.
    pub(super) fn entries(&self) -> Vec<(u32, f64)> {
        self.0.iter().map(|(at, value)| (*at, *value)).collect()
    }

    /// The Euclidean norm of its coefficients, each times the entry of its column.
    pub(super) fn length(&self, columns: &[f64]) -> f64 {
        self.0.iter().map(|(at, value)| (value * columns[*at as usize]).powi(2)).sum::<f64>().sqrt()
    }
}
