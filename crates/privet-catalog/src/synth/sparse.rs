//! Records of many columns of which few matter: the generated tables of Wang 2021, §2.6 and §3.4, and
//! their like.
//!
//! **Law.** θ* has s entries uniform on (−1, 1) at random places, the rest 0; entries of x are uniform
//! on (−a, a), each row scaled down to norm `longest` where its norm is larger (§2.6: a = 2 and 2s;
//! §3.4: a = 1, no row is scaled). The target is ⟨x, θ*⟩ + N(0, 0.1), or 1 with probability
//! 1/(1 + e^(−⟨x, θ*⟩)); printed is the opposite sign, with which an estimator converges to −θ*.

use super::draw::Draw;

/// Settings of a generated sparse table.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sparse {
    /// Number of features p.
    pub features: usize,
    /// Number of informative features s.
    pub informative: usize,
    /// Half width a of the range of an entry.
    pub span: f64,
    /// Upper bound on the norm of a row.
    pub longest: f64,
    /// Variance of the noise on a number.
    pub noise: f64,
    /// Seed of every draw.
    pub seed: u64,
}

/// An endless sequence of records.
pub struct SparseRecords {
    draw: Draw,
    weights: Vec<f64>,
    law: Sparse,
}

impl Sparse {
    /// An endless sequence of records.
    pub fn records(&self) -> SparseRecords {
        let mut draw = Draw::new(self.seed);
        let places = draw.permutation(self.features);
        let mut weights = vec![0.0; self.features];
        for place in places.into_iter().take(self.informative) {
            weights[place] = draw.symmetric();
        }
        SparseRecords { draw, weights, law: *self }
    }
}

impl SparseRecords {
    /// The parameter θ*.
    pub fn weights(&self) -> &[f64] {
        &self.weights
    }

    /// Fills the record with a value per feature and returns the score ⟨x, θ*⟩.
    pub fn next_into(&mut self, record: &mut Vec<f64>) -> f64 {
        record.clear();
        record.extend((0..self.weights.len()).map(|_| self.law.span * self.draw.symmetric()));
        let length = record.iter().map(|x| x * x).sum::<f64>().sqrt();
        if length > self.law.longest {
            record.iter_mut().for_each(|x| *x *= self.law.longest / length);
        }
        record.iter().zip(&self.weights).map(|(x, w)| x * w).sum()
    }

    /// A noisy target for a score.
    pub fn number(&mut self, score: f64) -> f64 {
        score + self.law.noise.sqrt() * self.draw.normal()
    }

    /// Draws the class of a score; true for the second.
    pub fn class(&mut self, score: f64) -> bool {
        self.draw.uniform() < 1.0 / (1.0 + libm::exp(-score))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Norms stay within their bound, and targets lie about the score; 7 standard deviations of a mean
    /// of 2,000.
    #[test]
    fn records_follow_the_law() {
        let shape =
            Sparse { features: 400, informative: 5, span: 2.0, longest: 10.0, noise: 0.1, seed: 1 };
        let mut records = shape.records();
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
