//! Distance and number of votes where none is given: from the public questions, the declared number of rows and
//! the budget.
//!
//! The nearer a record must be, the more it says of the question; but so many must be near that noise does not
//! drown them. If a share s of the records is near a question, as of the questions themselves, n·s vote; a record is
//! near to about s·m questions, some to twice as many, so that K = 2sm and σ = √K/μ. s is the least of a short list with
//! **n·s ≥ 20σ**: then a majority of two to one is told from a tie by 4σ of the difference of two counts. Records that are
//! not spread as the questions are, many columns that say nothing of the target, or categories that keep everybody apart
//! leave fewer near, or others than should vote: the questions do not show that, and the votes that are told do.

/// Questions that are looked at.
const SOME: usize = 400;
/// Shares that are tried.
const SHARES: [f64; 8] = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2];
/// Voters that are wanted for each unit of noise.
pub const ENOUGH: f64 = 20.0;
/// The largest share.
pub const WIDEST: f64 = SHARES[SHARES.len() - 1];
/// The share of questions that K suffices for.
const MOST: f64 = 0.9;

fn distance(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(x, y)| (x - y).powi(2)).sum::<f64>().sqrt()
}

/// The value that this share of a list is at most.
fn quantile(mut values: Vec<f64>, share: f64) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    let place = (values.len() as f64 * share).ceil() as usize;
    values.get(place.saturating_sub(1)).copied()
}

/// The share of records that should be near a question, of so many rows, with noise of √K times this.
pub fn share(rows: u64, questions: usize, noise_of_one: f64) -> f64 {
    let enough = |share: &f64| {
        let votes = (2.0 * share * questions as f64).max(1.0);
        rows as f64 * share >= ENOUGH * noise_of_one * votes.sqrt()
    };
    SHARES.into_iter().find(enough).unwrap_or(WIDEST)
}

/// The distance within which this share of the pairs of questions lie; half the radius where there are no pairs, or
/// they are all the same.
pub fn within(questions: &[Vec<f64>], share: f64, radius: f64) -> f64 {
    let some = &questions[..questions.len().min(SOME)];
    let pairs = some
        .iter()
        .enumerate()
        .flat_map(|(place, one)| some[..place].iter().map(move |other| distance(one, other)));
    quantile(pairs.collect(), share).filter(|found| *found > 0.0).unwrap_or(radius / 2.0)
}

/// How many questions 9 in 10 questions have within the distance, themselves included.
pub fn votes(questions: &[Vec<f64>], within: f64) -> u32 {
    let some = &questions[..questions.len().min(SOME)];
    let near = |one: &Vec<f64>| {
        questions.iter().filter(|other| distance(one, other) <= within).count() as f64
    };
    quantile(some.iter().map(near).collect(), MOST).unwrap_or(1.0).max(1.0) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn questions_on_a_line_are_near_to_their_neighbours() {
        let line: Vec<Vec<f64>> = (0..100).map(|x| vec![f64::from(x)]).collect();
        let found = within(&line, 0.05, 1.0);
        // 4950 pairs; 99 + 98 + 97 = 294 of them are at most 3 apart.
        assert_eq!(found, 3.0);
        assert_eq!(votes(&line, found), 7);
        assert_eq!(within(&[vec![1.0]], 0.05, 8.0), 4.0);
        assert_eq!(within(&[vec![1.0], vec![1.0]], 0.05, 8.0), 4.0);
        // More rows let the distance shrink, more noise lets it grow.
        assert_eq!(share(1_000_000, 1_000, 4.0), 0.001);
        assert_eq!(share(100_000, 1_000, 4.0), 0.002);
        assert_eq!(share(30_000, 1_000, 4.0), 0.02);
        assert_eq!(share(10, 1_000, 4.0), 0.2);
        assert_eq!(votes(&[vec![1.0]], 4.0), 1);
    }
}
