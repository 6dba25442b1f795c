//! Queries of both methods, and a user's contribution to each.

use crate::ratings::local::{self, LocalState, Tally, into_ball};
use crate::ratings::moments::{self, GlobalState};
use serde::Serialize;

/// Clip c of right sides.
pub(super) const CLIP_ROW: f64 = 0.9;
/// Clip ζ of a user's vector z.
pub(super) const CLIP_TASTE: f64 = 1.2;
/// Weight γ of Gram matrices.
pub(super) const GRAM_WEIGHT: f64 = 0.7;
/// Clamp H of residuals.
pub(super) const CLAMP: f64 = 1.0;
/// Number of pseudo-ratings at 0 in a user's mean, β_p.
const PSEUDO: f64 = 5.0;
/// Unit of sums.
const UNIT: f64 = 1.0 / 16_777_216.0;

/// A query: plain data, all of it public.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "ask", rename_all = "kebab-case")]
pub(crate) enum Query {
    /// The first query of [`moments`].
    Offsets {
        /// Number of items.
        items: usize,
        /// ξ, the number of ratings of a user that have full weight.
        spread: f64,
    },
    /// Gram matrices and right sides.
    Turn {
        /// Model after earlier answers.
        state: GlobalState,
        /// ξ, the number of ratings of a user that have full weight.
        spread: f64,
    },
    /// Products of residuals, and of ones.
    Covariance {
        /// Offsets of the items.
        offsets: Vec<f64>,
    },
}

/// Number of entries of a triangle with its diagonal.
pub(super) fn triangle(size: usize) -> usize {
    size * (size + 1) / 2
}

impl local::Query for Query {
    fn coordinates(&self) -> usize {
        match self {
            Self::Offsets { items, .. } => 2 * items,
            Self::Turn { state, .. } => {
                state.offsets.len() * (state.rank() + triangle(state.rank()))
            }
            Self::Covariance { offsets } => 2 * triangle(offsets.len()),
        }
    }

    fn unit(&self) -> f64 {
        UNIT
    }

    fn add(&self, user: &LocalState, into: &mut Tally) {
        match self {
            Self::Offsets { items, spread } => moments::offsets(*items, *spread, user, into),
            Self::Turn { state, spread } => turn(state, *spread, user, into),
            Self::Covariance { offsets } => covariance(offsets, user, into),
        }
    }
}

/// Slightly less than 1: covers the rounding of products of a few numbers.
const JUST_BELOW_ONE: f64 = 1.0 - 1e-9;

fn turn(state: &GlobalState, spread: f64, user: &LocalState, into: &mut Tally) {
    let own = state.fit_user(user);
    let weight = moments::weight(spread, user.items().len());
    let mut taste = own.taste().to_vec();
    let shorter = into_ball(&taste, CLIP_TASTE);
    taste.iter_mut().for_each(|z| *z *= shorter);
    let [level, stretch, popular] = own.fixed();
    let wanted = |(item, place): (usize, f64)| {
        let fixed = (1.0 + stretch) * state.offsets[item] + popular * state.popularity[item];
        weight * (place - level - fixed)
    };
    let row: Vec<f64> = user.ratings().map(wanted).collect();
    let factor = into_ball(&row, CLIP_ROW * spread.sqrt()) * JUST_BELOW_ONE;
    let rank = taste.len();
    let each = rank + triangle(rank);
    for (item, entry) in user.items().iter().zip(&row) {
        let first = *item as usize * each;
        for (place, z) in taste.iter().enumerate() {
            into.add(first + place, factor * entry * z);
        }
        let mut at = first + rank;
        for (i, x) in taste.iter().enumerate() {
            for (j, y) in taste[..=i].iter().enumerate() {
                let off = if i == j { 1.0 } else { 1.5 };
                into.add(at, JUST_BELOW_ONE * off * GRAM_WEIGHT * weight * x * y);
                at += 1;
            }
        }
    }
}

fn covariance(offsets: &[f64], user: &LocalState, into: &mut Tally) {
    let mut row: Vec<f64> = user.ratings().map(|(item, place)| place - offsets[item]).collect();
    let mean = row.iter().sum::<f64>() / (row.len() as f64 + PSEUDO);
    row.iter_mut().for_each(|entry| *entry = (*entry - mean).clamp(-CLAMP, CLAMP));
    let weight = JUST_BELOW_ONE / row.len().max(1) as f64;
    let second = triangle(offsets.len());
    // Items ascend, so that i is never below j.
    for (place, (i, x)) in user.items().iter().zip(&row).enumerate() {
        let first = triangle(*i as usize);
        for (j, y) in user.items()[..place].iter().zip(&row) {
            into.add(first + *j as usize, 1.5 * weight * x * y);
            into.add(second + first + *j as usize, 1.5 * weight);
        }
        into.add(first + *i as usize, weight * x * x);
        into.add(second + first + *i as usize, weight);
    }
}
