//! What answers say: the class or number of each question, from noised votes.
//!
//! **The rule**, post-processing of what was released; σ is the noise on a count. *Classes*: the class with the most votes in
//! all answers together is the commonest, and another is named where it leads that by more than √2σ, one standard
//! deviation of the noise on a lead. Where nobody is near, noise alone would name any class; where many are, they decide.
//! *Numbers*: to the votes of a question are added those of [`PRIOR`]·σ voters who vote as all answers together do, so that
//! where nobody is near the answer is the mean. What all answers say has noise that is smaller by the root of their number.
//! The margin was chosen with Adult and Covertype in view.

use super::Answered;
use crate::linear::model::Predictions;
use privet_data::Schema;
use privet_data::encode::Encoding;
use std::f64::consts::SQRT_2;

/// Voters for each unit of noise whose number is the mean of all.
const PRIOR: f64 = 4.0;

impl Answered {
    /// About how many voted, question by question; under noise, so that it may be below 0.
    pub fn counts(&self) -> Vec<f64> {
        self.votes.iter().map(|votes| votes.iter().sum()).collect()
    }

    /// The share of each class, or end, among all votes; all the same where nobody seems to have voted.
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

    /// The class of each question, or where between its bounds its number lies, by this rule; `noise` is the scale of the
    /// noise on votes, which the settled request of a release has.
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

    /// Noise of 10. Questions that many are near decide for themselves; a lead within the noise is for the commonest class.
    #[test]
    fn where_nobody_is_near_the_commonest_class_wins() {
        let schema = Schema::from_toml(CLASSES).unwrap();
        let votes = vec![vec![300.0, 20.0], vec![20.0, 80.0], vec![-3.0, 9.0], vec![2.0, -4.0]];
        let answered = Answered { votes, first: 0, questions: vec![] };
        let found = |noise| match answered.predictions(&schema, noise) {
            Predictions::Classes(codes) => codes,
            Predictions::Numbers(_) => panic!(),
        };
        assert_eq!(found(0.0), [0, 1, 1, 0]);
        assert_eq!(found(10.0), [0, 1, 0, 0]);
        // One question alone has nothing beside it.
        let alone = Answered { votes: vec![vec![-3.0, 9.0]], first: 0, questions: vec![] };
        assert!(
            matches!(alone.predictions(&schema, 10.0), Predictions::Classes(codes) if codes == [1])
        );
        let none = Answered { votes: vec![vec![-3.0, -9.0]], first: 0, questions: vec![] };
        assert!(
            matches!(none.predictions(&schema, 10.0), Predictions::Classes(codes) if codes == [0])
        );
    }

    /// A number where nobody is near is the mean of all, and never beyond its bounds.
    #[test]
    fn numbers_go_to_the_mean_of_all() {
        let text = CLASSES.replace("classes = [\"a\", \"b\"]", "bounds = [0, 10]");
        let schema = Schema::from_toml(&text).unwrap();
        let votes = vec![vec![300.0, 100.0], vec![0.0, 0.0], vec![-90.0, -8.0]];
        let answered = Answered { votes, first: 0, questions: vec![] };
        let Predictions::Numbers(found) = answered.predictions(&schema, 10.0) else { panic!() };
        let mean = 10.0 * 92.0 / 302.0;
        assert!((found[0] - 2.5).abs() < 0.1, "{found:?}");
        assert!((found[1] - mean).abs() < 1e-9 && (found[2] - mean).abs() < 1e-9, "{found:?}");
    }
}
