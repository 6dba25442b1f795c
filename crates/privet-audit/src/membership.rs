//! Membership inference on a finished model.
//!
//! The attack of Yeom et al. (2018) in the form of Carlini et al. (2022): a row on which the model's
//! loss is small is guessed to be a member. Reported are the area under the ROC curve, i.e. the
//! probability that a random member scores above a random non-member (ties count half), and the
//! true-positive rate at 0.1 % false positives, which exposes an attack that is good on average and
//! useless in practice.
//!
//! An (ε, δ)-DP model obeys TPR ≤ δ + e^ε·FPR for members drawn by a coin; one model is one draw, so
//! nothing here refutes a certificate, and nothing here proves one.
//!
//! Non-members come from a table of rows that were not trained on. Without one, *stand-ins* are made of
//! the members: within each class every column is shuffled independently, which keeps the statistics
//! that a linear model's mean score depends on and breaks the rows. That is a rough substitute, and
//! reported as such.
//!
//! Tested by `a_model_that_knows_its_rows_is_found_out`.

use crate::AuditError;
use privet_data::matrix::{DenseMatrix, Matrix};
use privet_data::{Dataset, Target};
use privet_dp::noise::FixedSeed;
use privet_dp::noise::subset::shuffle;
use privet_learn::linear::model::Model;
use serde::Serialize;

/// The false-positive rate at which the true-positive rate is reported.
pub const FALSE_POSITIVES: f64 = 0.001;

/// The number of non-members of which 0.1 % is one.
const FEWEST_NON_MEMBERS: usize = 1_000;

/// Maximum entries of the table of stand-ins: beyond it, a random sample of rows is taken.
const MOST_STANDIN_ENTRIES: usize = 1 << 26;

/// Result of membership inference.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Membership {
    /// Probability that a random member scores above a random non-member.
    pub auc: f64,
    /// True-positive rate at 0.1 % false positives.
    pub tpr_at_fpr_0_001: f64,
    /// Its expectation if members and non-members have the same law: with n non-members (⌊0.001·n⌋ +
    /// 1)/(n + 1), more than 0.1 % for small n.
    pub tpr_by_chance: f64,
    /// True with fewer than 1,000 non-members: a rate at 0.1 % is then uncertain.
    pub too_few_non_members: bool,
    /// The number of rows trained on.
    pub members: u64,
    /// The number of rows not trained on.
    pub non_members: u64,
    /// Source of the non-members: `holdout` or `stand-ins`.
    pub non_members_from: &'static str,
}

/// Attacks a model with the rows it was trained on and rows it was not; without the latter, with
/// stand-ins shuffled by `seed`.
pub fn audit(
    model: &Model,
    members: &Dataset,
    others: Option<&Dataset>,
    seed: u64,
) -> Result<Membership, AuditError> {
    let stand_ins;
    let (others, from) = match others {
        Some(others) => (others, "holdout"),
        None => {
            stand_ins = shuffle_columns(members, seed);
            (&stand_ins, "stand-ins")
        }
    };
    if members.rows() == 0 {
        return Err(AuditError::Empty { what: "the table of members" });
    }
    if others.rows() == 0 {
        return Err(AuditError::Empty { what: "the table of non-members" });
    }
    let (inside, outside) = (scores(model, members), scores(model, others));
    Ok(Membership {
        auc: area(&inside, &outside),
        tpr_at_fpr_0_001: found_at(&inside, &outside, FALSE_POSITIVES),
        tpr_by_chance: by_chance(outside.len()),
        too_few_non_members: outside.len() < FEWEST_NON_MEMBERS,
        members: inside.len() as u64,
        non_members: outside.len() as u64,
        non_members_from: from,
    })
}

/// Minus the loss of each row, so that members tend to score higher; for several classes, the sum over
/// the one-against-rest problems.
fn scores(model: &Model, data: &Dataset) -> Vec<f64> {
    let raw = model.scores(&data.features);
    let problems = model.weights().weights.len().max(1);
    let loss = model.loss();
    let label = |row: usize, problem: usize| match &data.target {
        Target::Number(values) => values[row],
        Target::Class { codes, .. } if problems == 1 => f64::from(codes[row]) * 2.0 - 1.0,
        Target::Class { codes, .. } => {
            if codes[row] as usize == problem {
                1.0
            } else {
                -1.0
            }
        }
    };
    raw.chunks(problems)
        .enumerate()
        .map(|(row, scores)| {
            let each = scores.iter().enumerate();
            -each.map(|(problem, score)| loss.value(*score, label(row, problem))).sum::<f64>()
        })
        .collect()
}

/// Probability that a member scores above a non-member, ties counting half.
pub(crate) fn area(inside: &[f64], outside: &[f64]) -> f64 {
    let mut sorted = outside.to_vec();
    sorted.sort_by(f64::total_cmp);
    let below = |score: f64| {
        let less = sorted.partition_point(|other| *other < score);
        let not_more = sorted.partition_point(|other| *other <= score);
        0.5 * (less + not_more) as f64
    };
    let total: f64 = inside.iter().map(|score| below(*score)).sum();
    total / (inside.len() as f64 * outside.len() as f64)
}

/// Probability that a member exceeds the (⌊0.001·n⌋ + 1)-th of n others of the same law.
fn by_chance(others: usize) -> f64 {
    ((FALSE_POSITIVES * others as f64).floor() + 1.0) / (others as f64 + 1.0)
}

/// Share of members above the smallest threshold that at most this share of non-members exceeds.
fn found_at(inside: &[f64], outside: &[f64], false_positives: f64) -> f64 {
    let mut sorted = outside.to_vec();
    sorted.sort_by(|a, b| f64::total_cmp(b, a));
    let allowed = (false_positives * outside.len() as f64).floor() as usize;
    let threshold = sorted[allowed.min(sorted.len() - 1)];
    inside.iter().filter(|score| **score > threshold).count() as f64 / inside.len() as f64
}

/// Shuffles every column independently within each class; for a numeric target, over all rows.
fn shuffle_columns(members: &Dataset, seed: u64) -> Dataset {
    let mut source = FixedSeed::new(crate::runs::scramble(seed));
    let columns = members.features.columns();
    let mut sample: Vec<usize> = (0..members.rows()).collect();
    if sample.len() > MOST_STANDIN_ENTRIES / columns.max(1) {
        shuffle(&mut sample, &mut source);
        sample.truncate((MOST_STANDIN_ENTRIES / columns.max(1)).max(1));
    }
    let members = &members.select(&sample);
    let rows = sample.len();
    let mut values = vec![0_f32; rows * columns];
    let groups: Vec<Vec<usize>> = match &members.target {
        Target::Class { codes, count } => (0..*count)
            .map(|class| (0..rows).filter(|row| codes[*row] as usize == class).collect())
            .collect(),
        Target::Number(_) => vec![(0..rows).collect()],
    };
    let dense: Vec<Vec<f32>> = (0..rows).map(|row| members.features.dense_row(row)).collect();
    for group in &groups {
        for column in 0..columns {
            let mut from = group.clone();
            shuffle(&mut from, &mut source);
            for (row, other) in group.iter().zip(&from) {
                values[row * columns + column] = dense[*other][column];
            }
        }
    }
    Dataset { features: Matrix::Dense(DenseMatrix::new(values, rows, columns)), ..members.clone() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn areas_and_rates_of_known_scores() {
        assert_eq!(area(&[2.0, 3.0], &[0.0, 1.0]), 1.0);
        assert_eq!(area(&[0.0, 1.0], &[0.0, 1.0]), 0.5);
        assert_eq!(found_at(&[2.0, 0.5], &[0.0, 1.0], 0.001), 0.5);
        let outside: Vec<f64> = (0..2000).map(f64::from).collect();
        assert_eq!(by_chance(9), 0.1);
        assert_eq!(by_chance(1999), 2.0 / 2000.0);
        assert_eq!(found_at(&[1998.5, 1997.0], &outside, 0.001), 0.5);
    }
}
