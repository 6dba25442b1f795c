//! How good predictions are on ratings that were held out. For whoever holds the ratings: none of it is
//! noised.

use super::factors::Factors;
use super::local::LocalState;
use super::shape::{Shape, each_rating};
use privet_data::Dataset;

/// Errors and rankings on ratings held out.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Measures {
    /// Root mean squared error of predicted ratings.
    pub error: f64,
    /// The mean over users of the share of the held-out items she rates in the upper quarter of the bounds
    /// that are among the 20 recommended.
    pub recall: f64,
    /// The mean over the same users of the discounted gain of those 20 (1/log₂(1 + place) for each hit) over
    /// the largest possible.
    pub gain: f64,
}

/// How many are recommended.
pub const RECOMMENDED: usize = 20;

/// Rows of `kept` and `held` are of the same users in the same order; predictions are made from `kept`.
pub fn measure(factors: &Factors, shape: &Shape, kept: &Dataset, held: &Dataset) -> Measures {
    let (mut squares, mut ratings) = (0.0, 0.0);
    let (mut recall, mut gain, mut users) = (0.0, 0.0, 0.0);
    for row in 0..held.features.rows().min(kept.features.rows()) {
        let mut wanted = false;
        each_rating(&held.features, row, |_, _| wanted = true);
        if !wanted {
            continue;
        }
        let user = LocalState::of(&kept.features, row);
        let predictions = factors.predictions(&user, shape);
        let mut liked = Vec::new();
        each_rating(&held.features, row, |item, cell| {
            let truth = shape.low + (f64::from(cell) - 1.0) * (shape.high - shape.low);
            squares += (predictions[item as usize] - truth).powi(2);
            ratings += 1.0;
            if cell >= 1.75 {
                liked.push(item as usize);
            }
        });
        if liked.is_empty() {
            continue;
        }
        users += 1.0;
        let discount = |place: usize| 1.0 / (place as f64 + 2.0).log2();
        let best: f64 = (0..liked.len().min(RECOMMENDED)).map(discount).sum();
        let (mut hits, mut gained) = (0.0, 0.0);
        for (place, found) in factors.ranked(&user, &predictions, RECOMMENDED).iter().enumerate() {
            if liked.contains(&found.item) {
                hits += 1.0;
                gained += discount(place);
            }
        }
        recall += hits / liked.len() as f64;
        gain += gained / best;
    }
    let users = f64::max(users, 1.0);
    let error = (squares / f64::max(ratings, 1.0)).sqrt();
    Measures { error, recall: recall / users, gain: gain / users }
}
