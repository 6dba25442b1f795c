//! How well scores rank: the area under the ROC curve.

/// The share of pairs of a positive and another record in which the positive one has the higher score, ties
/// counting half; `None` unless there are both kinds and every score is a number.
pub fn area(scores: &[f64], positive: &[bool]) -> Option<f64> {
    let positives = positive.iter().filter(|positive| **positive).count();
    let others = positive.len() - positives;
    if positives == 0 || others == 0 || scores.iter().any(|score| score.is_nan()) {
        return None;
    }
    let mut order: Vec<(f64, bool)> =
        scores.iter().copied().zip(positive.iter().copied()).collect();
    order.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
    // Twice the wins, so that a tie is a whole number. −0 and 0 are one score.
    let (mut below, mut wins) = (0_u128, 0_u128);
    for tied in order.chunk_by(|a, b| a.0 == b.0) {
        let own = tied.iter().filter(|(_, positive)| *positive).count() as u128;
        let rest = tied.len() as u128 - own;
        wins += own * (2 * below + rest);
        below += rest;
    }
    Some(wins as f64 / (2.0 * positives as f64 * others as f64))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_are_counted() {
        let kinds = [false, true, false, true];
        assert_eq!(area(&[1.0, 2.0, 3.0, 4.0], &kinds), Some(0.75));
        assert_eq!(area(&[0.0, 0.0, 0.0, 0.0], &kinds), Some(0.5));
        assert_eq!(area(&[4.0, 3.0, 2.0, 1.0], &[false, false, true, true]), Some(0.0));
        assert_eq!(area(&[1.0, 2.0], &[true, true]), None);
        assert_eq!(area(&[f64::NAN, 2.0], &[true, false]), None);
        assert_eq!(area(&[0.0, -0.0], &[true, false]), Some(0.5));
    }
}
