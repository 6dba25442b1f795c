//! Records whose label is drawn from a logistic model, so that the best accuracy is known.
//!
//! **Law.** x ~ N(0, I_d), w a unit vector, z = ⟨w, x⟩ ~ N(0, 1), and the label is 1 with
//! probability σ(a + s·z), else 0. Hence the share of ones is E σ(a + s·z), and no classifier can
//! exceed the accuracy E σ(|a + s·z|), which the linear one sign(a + s·z) attains.
//!
//! - d `features`, a `offset`, s `signal`, σ(u) = 1/(1 + e^−u)
//! - w: signs and order at random, magnitudes ∝ 1/rank: a few strong columns and a long tail.
//! - Scaling a record and its constant column together moves it across no linear boundary, so clipping
//!   to a ball costs no accuracy.
//! - Tested by `labels_follow_the_law`.

use super::draw::Draw;

/// Settings of a generated logistic table.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Logistic {
    /// Number of features.
    pub features: usize,
    /// Log-odds of label 1 at x = 0.
    pub offset: f64,
    /// Standard deviation of the log-odds.
    pub signal: f64,
    /// Seed of every draw.
    pub seed: u64,
}

impl Logistic {
    /// An endless sequence of records.
    pub fn records(&self) -> LogisticRecords {
        let mut draw = Draw::new(self.seed);
        let ranks = draw.permutation(self.features);
        let mut direction: Vec<f64> = ranks
            .iter()
            .map(|rank| if draw.below(2) == 0 { 1.0 } else { -1.0 } / (*rank as f64 + 1.0))
            .collect();
        let length = direction.iter().map(|w| w * w).sum::<f64>().sqrt();
        direction.iter_mut().for_each(|w| *w *= self.signal / length);
        LogisticRecords { draw, direction, offset: self.offset }
    }

    /// Records of the same distribution, different for each part: so several cores can draw them.
    pub fn part(&self, part: u64) -> LogisticRecords {
        // An odd multiple of the golden ratio: parts far apart.
        let seed = self.seed ^ part.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        LogisticRecords { draw: Draw::new(seed), ..self.records() }
    }

    /// The share of ones and the best accuracy, by quadrature.
    pub fn expected(&self) -> (f64, f64) {
        const STEPS: i32 = 4_000;
        let (mut mass, mut ones, mut right) = (0.0, 0.0, 0.0);
        for step in -STEPS..=STEPS {
            let z = f64::from(step) * (9.0 / f64::from(STEPS));
            let weight = libm::exp(-0.5 * z * z);
            let one = logistic(self.offset + self.signal * z);
            mass += weight;
            ones += weight * one;
            right += weight * one.max(1.0 - one);
        }
        (ones / mass, right / mass)
    }
}

/// An endless sequence of records with their labels.
pub struct LogisticRecords {
    draw: Draw,
    direction: Vec<f64>,
    offset: f64,
}

impl LogisticRecords {
    /// Fills the record with a value per feature and returns its label.
    pub fn next_into(&mut self, record: &mut Vec<f64>) -> u32 {
        record.clear();
        let mut log_odds = self.offset;
        for weight in &self.direction {
            let value = self.draw.normal();
            log_odds += weight * value;
            record.push(value);
        }
        u32::from(self.draw.uniform() < logistic(log_odds))
    }
}

fn logistic(log_odds: f64) -> f64 {
    1.0 / (1.0 + libm::exp(-log_odds))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Counts of 20,000 independent labels: by Hoeffding each leaves its mean by more than 0.025
    /// with probability below 2·exp(−2·20,000·0.025²) < 3e-11. Seeds are fixed.
    #[test]
    fn labels_follow_the_law() {
        for seed in 0..3 {
            let settings = Logistic { features: 7, offset: -1.2, signal: 1.5, seed };
            let (ones, best) = settings.expected();
            let mut records = settings.records();
            let direction = records.direction.clone();
            let (mut record, mut seen, mut right) = (Vec::new(), 0_u32, 0_u32);
            for _ in 0..20_000 {
                let label = records.next_into(&mut record);
                let score: f64 = record.iter().zip(&direction).map(|(x, w)| x * w).sum();
                seen += label;
                right += u32::from(u32::from(score - 1.2 > 0.0) == label);
            }
            assert!((f64::from(seen) / 20_000.0 - ones).abs() < 0.025, "seed {seed}: {seen}");
            assert!((f64::from(right) / 20_000.0 - best).abs() < 0.025, "seed {seed}: {right}");
        }
    }

    /// Without signal every label is a coin of known bias, and the best guess is the likelier side.
    #[test]
    fn without_signal_the_majority_is_best() {
        let settings = Logistic { features: 3, offset: -libm::log(3.0), signal: 0.0, seed: 1 };
        let (ones, best) = settings.expected();
        assert!((ones - 0.25).abs() < 1e-12 && (best - 0.75).abs() < 1e-12, "{ones} {best}");
    }
}
