//! Records of many columns of which few matter: the generated tables of Wang 2021, §2.6.
//!
//! **Law.** θ* has s entries uniform on (−1, 1) at random places, the rest 0; entries of x are uniform on (−2, 2), each
//! row scaled down to length 2s where it is longer. The target is ⟨x, θ*⟩ + N(0, 0.1), or 1 with probability
//! 1/(1 + e^(−⟨x, θ*⟩)); printed is the opposite sign, with which an estimator converges to −θ*.

use super::draw::Draw;

/// What to make.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sparse {
    /// p.
    pub features: usize,
    /// s.
    pub informative: usize,
    /// Fixes every draw.
    pub seed: u64,
}

/// An endless row of records.
pub struct SparseRecords {
    draw: Draw,
    weights: Vec<f64>,
    longest: f64,
}

impl Sparse {
    /// Records one after the other, without end.
    pub fn records(&self) -> SparseRecords {
        let mut draw = Draw::new(self.seed);
        let places = draw.permutation(self.features);
        let mut weights = vec![0.0; self.features];
        for place in places.into_iter().take(self.informative) {
            weights[place] = draw.symmetric();
        }
        SparseRecords { draw, weights, longest: 2.0 * self.informative as f64 }
    }
}

impl SparseRecords {
    /// θ*.
    pub fn weights(&self) -> &[f64] {
        &self.weights
    }

    /// Fills the record, as long as there are features, and returns ⟨x, θ*⟩.
    pub fn next_into(&mut self, record: &mut Vec<f64>) -> f64 {
        record.clear();
        record.extend((0..self.weights.len()).map(|_| 2.0 * self.draw.symmetric()));
        let length = record.iter().map(|x| x * x).sum::<f64>().sqrt();
        if length > self.longest {
            record.iter_mut().for_each(|x| *x *= self.longest / length);
        }
        record.iter().zip(&self.weights).map(|(x, w)| x * w).sum()
    }

    /// A target with noise of variance 0.1.
    pub fn number(&mut self, score: f64) -> f64 {
        score + 0.1_f64.sqrt() * self.draw.normal()
    }

    /// Whether the class is the second one.
    pub fn class(&mut self, score: f64) -> bool {
        self.draw.uniform() < 1.0 / (1.0 + libm::exp(-score))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rows are as long as they may be, and targets lie about the score; 7 standard deviations of a mean of 2,000.
    #[test]
    fn records_follow_the_law() {
        let mut records = Sparse { features: 400, informative: 5, seed: 1 }.records();
        assert_eq!(records.weights().iter().filter(|w| **w != 0.0).count(), 5);
        let (mut record, mut squares, mut right) = (Vec::new(), 0.0, 0.0);
        for _ in 0..2_000 {
            let score = records.next_into(&mut record);
            let length = record.iter().map(|x| x * x).sum::<f64>().sqrt();
            assert!(length <= 10.0 * (1.0 + 1e-12) && record.len() == 400, "{length}");
            squares += (records.number(score) - score).powi(2) / 2_000.0;
            right += if records.class(score) == (score > 0.0) { 1.0 / 2_000.0 } else { 0.0 };
        }
        assert!((squares - 0.1).abs() < 7.0 * 0.1 * (2.0_f64 / 2_000.0).sqrt(), "{squares}");
        assert!(right > 0.55, "{right}");
    }
}
