//! Predictions from noisy votes: a class or number for each question.
//!
//! **The rule**, post-processing of the release; σ is the noise scale of a count. *Classes*: the
//! commonest class is the one with the most votes in all answers together; another is predicted where it
//! leads that one by more than √2σ, one standard deviation of the noise on a lead. With no record near,
//! noise alone would pick the class; with many, their votes decide. *Numbers*: [`PRIOR`]·σ pseudo-votes,
//! divided as the votes of all answers together are, are added to each question's own, so that a
//! question with no record near is answered with the mean. The shares over all answers have noise that
//! is smaller by the root of their number. The margin was chosen with Adult and Covertype in view.

use super::NoisyVotes;
use crate::linear::model::Predictions;
use privet_data::Schema;
use privet_data::encode::Encoding;
use std::f64::consts::SQRT_2;

/// Pseudo-votes for the mean per unit of noise.
const PRIOR: f64 = 4.0;

impl NoisyVotes {
    /// Noisy number of voters of each question; may be below 0.
    pub fn counts(&self) -> Vec<f64> {
        self.votes.iter().map(|votes| votes.iter().sum()).collect()
    }

    /// Each class's (or end's) share of all votes; equal shares where no votes are left above 0.
    fn shares(&self) -> Vec<f64> {
        let ends = self.votes.first().map_or(0, Vec::len);
        let mut sums = vec![0.0_f64; ends];
        for votes in &self.votes {
            sums.iter_mut().zip(votes).for_each(|(sum, votes)| *sum += votes);
        }
        sums.iter_mut().for_each(|sum| *sum = sum.max(0.0));
        let all: f64 = sums.iter().sum();
        let share = |sum: f64| if all > 0.0 { sum / all } else { 1.0 / ends.max(1) as f64 };
        sums.into_iter().map(share).collect()
    }

    /// The predicted class of each question, or its number between the bounds, by this rule; `noise` is
    /// the noise scale of the votes, which the settled request of a release holds.
    pub fn predictions(&self, schema: &Schema, noise: f64) -> Predictions {
        let noise = noise.max(0.0);
        let shares = self.shares();
        let larger = |of: &[f64]| {
            (1..of.len()).fold(0, |best, at| if of[at] > of[best] { at } else { best })
        };
        let commonest = larger(&shares);
        let most = |votes: &Vec<f64>| {
            let mut votes = votes.clone();
            votes.iter_mut().skip(commonest).take(1).for_each(|own| *own += SQRT_2 * noise);
            larger(&votes) as u32
        };
        let encoding = Encoding::new(schema);
        let number = |votes: &Vec<f64>| {
            let all = shares.iter().map(|share| PRIOR * noise * share);
            let votes: Vec<f64> = votes.iter().zip(all).map(|(own, all)| own + all).collect();
            let total: f64 = votes.iter().sum();
            let high = votes.last().copied().unwrap_or(0.0) / total;
            let share = match total > 0.0 {
                true => high.clamp(0.0, 1.0),
                false => shares.last().copied().unwrap_or(0.5),
            };
            encoding.decode_target(2.0 * share - 1.0)
        };
        match schema.classes() {
            Some(_) => Predictions::Classes(self.votes.iter().map(most).collect()),
            None => Predictions::Numbers(self.votes.iter().map(number).collect()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CLASSES: &str = "[clip]\nnorm = \"l2\"\nradius = 1.0\n[target]\ncolumn = \"y\"\n\
         classes = [\"a\", \"b\"]\n[[columns]]\nname = \"x\"\ntype = \"number\"\nbounds = [0, 1]\n";

    /// Noise of 10. Many near records decide for themselves; a lead within the noise goes to the
    /// commonest class.
    #[test]
    fn where_nobody_is_near_the_commonest_class_wins() {
        let schema = Schema::from_toml(CLASSES).unwrap();
        let votes = vec![vec![300.0, 20.0], vec![20.0, 80.0], vec![-3.0, 9.0], vec![2.0, -4.0]];
        let answered = NoisyVotes { votes, first: 0, questions: vec![] };
        let found = |noise| match answered.predictions(&schema, noise) {
            Predictions::Classes(codes) => codes,
            Predictions::Numbers(_) => panic!(),
        };
        assert_eq!(found(0.0), [0, 1, 1, 0]);
        assert_eq!(found(10.0), [0, 1, 0, 0]);
        // A single question has no others to take the commonest class from.
        let alone = NoisyVotes { votes: vec![vec![-3.0, 9.0]], first: 0, questions: vec![] };
        assert!(
            matches!(alone.predictions(&schema, 10.0), Predictions::Classes(codes) if codes == [1])
        );
        let none = NoisyVotes { votes: vec![vec![-3.0, -9.0]], first: 0, questions: vec![] };
        assert!(
            matches!(none.predictions(&schema, 10.0), Predictions::Classes(codes) if codes == [0])
        );
    }

    /// With no record near, the number is the mean over all answers, and never outside its bounds.
    #[test]
    fn numbers_go_to_the_mean_of_all() {
        let text = CLASSES.replace("classes = [\"a\", \"b\"]", "bounds = [0, 10]");
        let schema = Schema::from_toml(&text).unwrap();
        let votes = vec![vec![300.0, 100.0], vec![0.0, 0.0], vec![-90.0, -8.0]];
        let answered = NoisyVotes { votes, first: 0, questions: vec![] };
        let Predictions::Numbers(found) = answered.predictions(&schema, 10.0) else { panic!() };
        let mean = 10.0 * 92.0 / 302.0;
        assert!((found[0] - 2.5).abs() < 0.1, "{found:?}");
        assert!((found[1] - mean).abs() < 1e-9 && (found[2] - mean).abs() < 1e-9, "{found:?}");
    }
}
