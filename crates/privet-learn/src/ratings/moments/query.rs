//! Queries of `moments`, and a user's contribution to each.

use super::learning::GlobalState;
use super::{CLIP_CORE, CLIP_RESIDUAL, CLIP_ROW, CLIP_TASTE, COUNT_WEIGHT, OFFSET_WEIGHT};
use crate::ratings::local::{self, LocalState, Tally, into_ball};
use serde::Serialize;

/// A query: plain data, all of it public.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "ask", rename_all = "kebab-case")]
pub(crate) enum Query {
    /// Ratings around their user's mean, and counts.
    Offsets {
        /// Number of items.
        items: usize,
        /// ξ, the number of ratings of a user that have full weight.
        spread: f64,
    },
    /// Products of residuals at these items.
    Core {
        /// Model after earlier answers.
        state: GlobalState,
        /// Indices of the items, most rated first.
        core: Vec<u32>,
    },
    /// Residuals, and their products with the user's fitted z.
    Round {
        /// Model after earlier answers.
        state: GlobalState,
        /// ξ, the number of ratings of a user that have full weight.
        spread: f64,
    },
}

/// Unit of sums.
const UNIT: f64 = 1.0 / 16_777_216.0;
/// Unit of residuals of the core; the unit of their products is its square.
const CORE_UNIT: f64 = 1.0 / 65_536.0;

impl Query {
    /// Index of the query: 0 offsets, 1 core, 2 round.
    pub(crate) fn number(&self) -> usize {
        match self {
            Self::Offsets { .. } => 0,
            Self::Core { .. } => 1,
            Self::Round { .. } => 2,
        }
    }
}

/// Weight w = min(1, √(ξ/n)) of a user with n ratings.
pub(in crate::ratings) fn weight(spread: f64, ratings: usize) -> f64 {
    // Rounded down: it bounds the norm of the counts.
    (spread / ratings.max(1) as f64).sqrt().min(1.0) * (1.0 - 1e-9)
}

impl local::Query for Query {
    fn coordinates(&self) -> usize {
        match self {
            Self::Offsets { items, .. } => 2 * items,
            Self::Core { core, .. } => core.len() * core.len().saturating_sub(1) / 2,
            Self::Round { state, .. } => state.offsets.len() * (1 + state.rank()),
        }
    }

    fn unit(&self) -> f64 {
        match self {
            Self::Core { .. } => CORE_UNIT * CORE_UNIT,
            _ => UNIT,
        }
    }

    fn add(&self, user: &LocalState, into: &mut Tally) {
        match self {
            Self::Offsets { items, spread } => offsets(*items, *spread, user, into),
            Self::Core { state, core } => core_products(state, core, user, into),
            Self::Round { state, spread } => round(state, *spread, user, into),
        }
    }
}

pub(in crate::ratings) fn offsets(items: usize, spread: f64, user: &LocalState, into: &mut Tally) {
    let count = user.items().len();
    let weight = weight(spread, count);
    // As if there were one further rating, in the middle.
    let mean = user.scaled_ratings().iter().sum::<f64>() / (count + 1) as f64;
    let row: Vec<f64> = user.scaled_ratings().iter().map(|place| weight * (place - mean)).collect();
    let factor = into_ball(&row, CLIP_ROW * spread.sqrt());
    for (item, entry) in user.items().iter().zip(&row) {
        into.add(*item as usize, factor * entry);
        into.add(items + *item as usize, COUNT_WEIGHT * weight);
    }
}

fn core_products(state: &GlobalState, core: &[u32], user: &LocalState, into: &mut Tally) {
    let own = state.fit_user(user);
    let residuals = state.residuals(user, &own);
    let mut places: Vec<(u32, usize)> =
        core.iter().enumerate().map(|(place, item)| (*item, place)).collect();
    places.sort_unstable();
    let mut found: Vec<(usize, f64)> = Vec::new();
    let mut rest = places.iter().peekable();
    for (item, residual) in user.items().iter().zip(residuals) {
        while rest.next_if(|(other, _)| other < item).is_some() {}
        if let Some((_, place)) = rest.next_if(|(other, _)| other == item) {
            found.push((*place, residual));
        }
    }
    let row: Vec<f64> = found.iter().map(|(_, residual)| *residual).collect();
    let factor = into_ball(&row, CLIP_CORE);
    let whole: Vec<(usize, i64)> = found
        .iter()
        .map(|(place, residual)| (*place, (factor * residual / CORE_UNIT) as i64))
        .collect();
    for (one, (i, x)) in whole.iter().enumerate() {
        for (j, y) in &whole[..one] {
            let (low, high) = (i.min(j), i.max(j));
            into.add_units(high * (high - 1) / 2 + low, x * y);
        }
    }
}

fn round(state: &GlobalState, spread: f64, user: &LocalState, into: &mut Tally) {
    let own = state.fit_user(user);
    let weight = weight(spread, user.items().len());
    let mut row = state.residuals(user, &own);
    row.iter_mut().for_each(|residual| *residual *= weight);
    let factor = into_ball(&row, CLIP_RESIDUAL * spread.sqrt());
    let mut taste = own.taste().to_vec();
    let shorter = into_ball(&taste, CLIP_TASTE);
    taste.iter_mut().for_each(|z| *z *= shorter);
    let each = 1 + taste.len();
    let offset = if taste.is_empty() { 1.0 } else { OFFSET_WEIGHT };
    for (item, residual) in user.items().iter().zip(&row) {
        let (first, residual) = (*item as usize * each, factor * residual);
        // Slightly less: covers the rounding of the product.
        into.add(first, offset * residual * (1.0 - 1e-12));
        for (place, z) in taste.iter().enumerate() {
            into.add(first + 1 + place, z * residual);
        }
    }
}
