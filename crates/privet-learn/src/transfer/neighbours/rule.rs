//! Distance and number of votes where none is given: from the public questions alone.

/// Questions that are looked at.
const SOME: usize = 400;
/// The share of pairs of questions that are near each other.
const NEAR: f64 = 0.05;
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

/// The distance within which 1 in 20 pairs of questions lie; half the radius where there are no pairs, or
/// they are all the same.
pub fn within(questions: &[Vec<f64>], radius: f64) -> f64 {
    let some = &questions[..questions.len().min(SOME)];
    let pairs = some
        .iter()
        .enumerate()
        .flat_map(|(place, one)| some[..place].iter().map(move |other| distance(one, other)));
    quantile(pairs.collect(), NEAR).filter(|found| *found > 0.0).unwrap_or(radius / 2.0)
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
        let found = within(&line, 1.0);
        // 4950 pairs; 99 + 98 + 97 = 294 of them are at most 3 apart.
        assert_eq!(found, 3.0);
        assert_eq!(votes(&line, found), 7);
        assert_eq!(within(&[vec![1.0]], 8.0), 4.0);
        assert_eq!(within(&[vec![1.0], vec![1.0]], 8.0), 4.0);
        assert_eq!(votes(&[vec![1.0]], 4.0), 1);
    }
}
