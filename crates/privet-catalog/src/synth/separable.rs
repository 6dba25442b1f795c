//! Records of two classes that a hyperplane separates without an error, with a margin or none.
//!
//! **Law.** w is a unit vector, signs at random and entries of one size; x is uniform on the points of
//! [−1, 1]^d with four digits, drawn again while ⟨w, x⟩ is 0 or nearer to it than the margin; the class
//! is its sign. So some linear classifier is right about every record, which is the definition of
//! *realizable*, and scaling moves no record across the boundary.
//!
//! - d `features`; writing a record with four digits changes nothing.

use super::draw::Draw;

/// Settings of a separable table.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Separable {
    /// Number of features d.
    pub features: usize,
    /// Smallest distance of a record from the boundary; 0 for no margin.
    pub margin: f64,
    /// Seed of every draw.
    pub seed: u64,
}

impl Separable {
    /// An endless sequence of records.
    pub fn records(&self) -> SeparableRecords {
        let mut draw = Draw::new(self.seed);
        let size = 1.0 / (self.features as f64).sqrt();
        let signs = (0..self.features).map(|_| if draw.below(2) == 0 { size } else { -size });
        let weights = signs.collect();
        SeparableRecords { draw, weights, margin: self.margin }
    }
}

/// An endless sequence of records with their classes.
pub struct SeparableRecords {
    draw: Draw,
    weights: Vec<f64>,
    margin: f64,
}

impl SeparableRecords {
    /// The unit normal w of the boundary.
    pub fn weights(&self) -> &[f64] {
        &self.weights
    }

    /// Fills the record with a value per feature and returns its class.
    pub fn next_into(&mut self, record: &mut Vec<f64>) -> u32 {
        loop {
            record.clear();
            record.extend(self.weights.iter().map(|_| (self.draw.symmetric() * 1e4).round() / 1e4));
            let score: f64 = record.iter().zip(&self.weights).map(|(x, w)| x * w).sum();
            // Records on the boundary are 0 but for rounding; the next are 1e-4/√d away.
            if score.abs() >= self.margin.max(1e-9) {
                return u32::from(score > 0.0);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every record is on its side, beyond the margin. The share of ones is ½ by symmetry: by Hoeffding
    /// it leaves (0.475, 0.525) in 20,000 with probability below 2·exp(−2·20,000·0.025²) < 3e-11; the
    /// seed is fixed.
    #[test]
    fn a_plane_parts_the_classes() {
        for margin in [0.0, 0.1] {
            parts(margin);
        }
    }

    fn parts(margin: f64) {
        let settings = Separable { features: 5, margin, seed: 3 };
        let mut records = settings.records();
        let weights = records.weights().to_vec();
        assert!((weights.iter().map(|w| w * w).sum::<f64>() - 1.0).abs() < 1e-12);
        let (mut record, mut ones) = (Vec::new(), 0);
        for _ in 0..20_000 {
            let class = records.next_into(&mut record);
            let score: f64 = record.iter().zip(&weights).map(|(x, w)| x * w).sum();
            let written: f64 = record
                .iter()
                .zip(&weights)
                .map(|(x, w)| format!("{x:.4}").parse::<f64>().unwrap() * w)
                .sum();
            assert_eq!(written, score);
            let side = if class == 1 { score } else { -score };
            assert!(side > 0.0 && side >= margin, "{class}: {score}");
            ones += class;
        }
        assert!((9_500..10_500).contains(&ones), "{ones}");
    }
}
