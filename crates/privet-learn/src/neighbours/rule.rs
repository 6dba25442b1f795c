//! Default distance and number of votes: from the public questions, the declared number of rows and the
//! budget.
//!
//! The nearer a record must be, the more it says of the question; but the voters must be enough to stand
//! out from the noise. If a share s of the records is near a question, as of the questions themselves,
//! n·s vote; a record is near to about s·m questions, some to twice as many, so that K = 2sm and
//! σ = √K/μ. s is the least of a short list with **n·s ≥ 20σ**: then a majority of two to one differs from a
//! tie by 4σ of the difference of two counts. Records distributed otherwise than the questions, many
//! columns unrelated to the target, or categories that set every record apart leave fewer near, or the
//! wrong ones: the questions do not show that; the noisy counts do.

/// Upper bound on the questions compared.
const MOST_COMPARED_QUESTIONS: usize = 400;
/// Candidate shares.
const SHARES: [f64; 8] = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2];
/// Voters required per unit of noise.
pub const VOTERS_PER_NOISE: f64 = 20.0;
/// The largest share.
pub const LARGEST_SHARE: f64 = SHARES[SHARES.len() - 1];
/// The share of questions for which K suffices.
const SUFFICIENT_SHARE: f64 = 0.9;

fn distance(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(x, y)| (x - y).powi(2)).sum::<f64>().sqrt()
}

/// The quantile of a list at this share.
fn quantile(mut values: Vec<f64>, share: f64) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    let place = (values.len() as f64 * share).ceil() as usize;
    values.get(place.saturating_sub(1)).copied()
}

/// The share of records that should be near a question, given the number of rows and noise of √K times
/// `noise_of_one`.
pub fn share(rows: u64, questions: usize, noise_of_one: f64) -> f64 {
    let enough = |share: &f64| {
        let votes = (2.0 * share * questions as f64).max(1.0);
        rows as f64 * share >= VOTERS_PER_NOISE * noise_of_one * votes.sqrt()
    };
    SHARES.into_iter().find(enough).unwrap_or(LARGEST_SHARE)
}

/// The distance within which this share of the pairs of questions lie; half the radius if there are no
/// pairs, or that distance is 0.
pub fn distance_of_share(questions: &[Vec<f64>], share: f64, radius: f64) -> f64 {
    let some = &questions[..questions.len().min(MOST_COMPARED_QUESTIONS)];
    let pairs = some
        .iter()
        .enumerate()
        .flat_map(|(place, one)| some[..place].iter().map(move |other| distance(one, other)));
    quantile(pairs.collect(), share).filter(|found| *found > 0.0).unwrap_or(radius / 2.0)
}

/// The number of questions that 9 in 10 questions have within the distance, themselves included.
pub fn votes(questions: &[Vec<f64>], within: f64) -> u32 {
    let some = &questions[..questions.len().min(MOST_COMPARED_QUESTIONS)];
    let near = |one: &Vec<f64>| {
        questions.iter().filter(|other| distance(one, other) <= within).count() as f64
    };
    quantile(some.iter().map(near).collect(), SUFFICIENT_SHARE).unwrap_or(1.0).max(1.0) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn questions_on_a_line_are_near_to_their_neighbours() {
        let line: Vec<Vec<f64>> = (0..100).map(|x| vec![f64::from(x)]).collect();
        let found = distance_of_share(&line, 0.05, 1.0);
        // 4950 pairs; 99 + 98 + 97 = 294 of them are at most 3 apart.
        assert_eq!(found, 3.0);
        assert_eq!(votes(&line, found), 7);
        assert_eq!(distance_of_share(&[vec![1.0]], 0.05, 8.0), 4.0);
        assert_eq!(distance_of_share(&[vec![1.0], vec![1.0]], 0.05, 8.0), 4.0);
        // More rows let the distance shrink, more noise lets it grow.
        assert_eq!(share(1_000_000, 1_000, 4.0), 0.001);
        assert_eq!(share(100_000, 1_000, 4.0), 0.002);
        assert_eq!(share(30_000, 1_000, 4.0), 0.02);
        assert_eq!(share(10, 1_000, 4.0), 0.2);
        assert_eq!(votes(&[vec![1.0]], 4.0), 1);
    }
}
