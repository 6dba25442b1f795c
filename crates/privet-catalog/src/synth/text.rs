//! Sparse rows like those of texts, with very many columns, and a number that is linear in some of them.
//!
//! **Law.** A row has a fixed number of distinct columns, column j drawn about in proportion to
//! 1/(j + 10), entries uniform on (½, 1½), the row then scaled to norm 1. θ* has s entries uniform on
//! (−1, 1) at random places among the first fifth of the columns. The target is c·⟨x, θ*⟩ + N(0, σ²), c such
//! that the score's variance is about 1.

use super::draw::Draw;

/// Settings of a generated text table.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Text {
    /// Number of features p.
    pub features: usize,
    /// Number of informative features s.
    pub informative: usize,
    /// Number of nonzero entries of a row.
    pub entries: usize,
    /// Variance σ² of the noise on the target.
    pub noise: f64,
    /// Seed of every draw.
    pub seed: u64,
}

/// An endless sequence of records.
pub struct TextRecords {
    draw: Draw,
    weights: Vec<f64>,
    law: Text,
}

impl Text {
    /// An endless sequence of records.
    pub fn records(&self) -> TextRecords {
        let mut draw = Draw::new(self.seed);
        let places = draw.permutation(self.features / 5);
        let mut weights = vec![0.0; self.features];
        // A row of k equal entries has a score of variance s/(k·3·p/5)·k/k for weights of variance ⅓.
        let share = self.informative as f64 / (self.features as f64 / 5.0);
        let scale = (3.0 / share).sqrt();
        for place in places.into_iter().take(self.informative) {
            weights[place] = scale * draw.symmetric();
        }
        TextRecords { draw, weights, law: *self }
    }
}

impl TextRecords {
    /// The parameter θ*, times c.
    pub fn weights(&self) -> &[f64] {
        &self.weights
    }

    /// Fills the record, columns ascending, and returns its target.
    pub fn next_into(&mut self, record: &mut Vec<(usize, f64)>) -> f64 {
        record.clear();
        let (first, last) = (10.0_f64, 10.0 + self.law.features as f64);
        while record.len() < self.law.entries {
            // Inverts the distribution function of 1/(j + 10).
            let at = first * libm::pow(last / first, self.draw.uniform()) - first;
            let column = (at as usize).min(self.law.features - 1);
            if record.iter().all(|(known, _)| *known != column) {
                record.push((column, 0.5 + self.draw.uniform()));
            }
        }
        record.sort_unstable_by_key(|(column, _)| *column);
        let length = record.iter().map(|(_, x)| x * x).sum::<f64>().sqrt();
        record.iter_mut().for_each(|(_, x)| *x /= length);
        let score: f64 = record.iter().map(|(column, x)| x * self.weights[*column]).sum();
        score + self.law.noise.sqrt() * self.draw.normal()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_have_their_entries_in_order_and_length_1() {
        let law = Text { features: 500, informative: 20, entries: 12, noise: 0.25, seed: 3 };
        let mut records = law.records();
        assert_eq!(records.weights().iter().filter(|w| **w != 0.0).count(), 20);
        let mut record = Vec::new();
        for _ in 0..200 {
            assert!(records.next_into(&mut record).is_finite());
            assert!(record.len() == 12 && record.windows(2).all(|two| two[0].0 < two[1].0));
            let square: f64 = record.iter().map(|(_, x)| x * x).sum();
            assert!((square - 1.0).abs() < 1e-12);
        }
    }
}
