//! Alternating least squares without privacy, for comparison.
//!
//! Each user fits y ≈ bⱼ + a₀ + a₁bⱼ + a₂Lⱼ + ⟨z, vⱼ⟩ as for [`super::moments`]; then each item fits
//! (bⱼ, vⱼ) by ridge regression on all users' ratings of it, given the users' fits; and so on. It begins
//! from the covariance of the core.

use super::baseline::{SettledBaseline, no_budget};
use super::factors::Factors;
use super::learners::{Decision, Method, Settling};
use super::local::{LocalState, solve};
use super::moments::{GlobalState, RANK, ROUNDS, start_state};
use super::shape::Shape;
use super::{Complete, going_on};
use crate::LearnError;
use crate::release::covers::MethodCoverage;
use crate::release::registry::{Info, NO_GUARANTEE};
use crate::release::settings::{PlanNumbers, settings};
use crate::release::task::Baseline;
use privet_optim::solver::Monitor;
use privet_optim::sum::Table;
use rayon::prelude::*;
use std::sync::Arc;

settings! {
    /// Settings of `non-private-als`.
    pub struct PlainAls {
        rank: u32 [RANK] "numbers of each item beside its offset; 10 unless given";
        rounds: u32 [ROUNDS] "turns of users and items; 15 unless given";
    }
}

/// Registry entry of `non-private-als`.
pub(super) const INFO: Info = Info {
    name: "non-private-als",
    summary: "alternating least squares without noise, for comparison",
    source: "Koren, Bell and Volinsky 2009",
    guarantee: NO_GUARANTEE,
    settings: PlainAls::SETTINGS,
    noisy: "nothing",
    private: false,
    covers: MethodCoverage::ALL,
    more: (),
};

/// Ridges of an offset and of each entry of a vector.
const RIDGES: [f64; 2] = [4.0, 12.0];

/// Refuses a budget: the method spends none.
pub(super) fn plan(
    _shape: &Shape,
    _settling: &Settling<'_>,
    _own: &PlainAls,
) -> Result<Decision, LearnError> {
    Err(no_budget("non-private-als"))
}

/// Returns the baseline and its settings with every choice made.
pub(super) fn baseline(shape: &Shape, own: &PlainAls) -> Result<SettledBaseline, LearnError> {
    let most = shape.items.clamp(1, 10) as u32;
    let rank = RANK.check(f64::from(own.rank.unwrap_or(most)))? as u32;
    let rounds = ROUNDS.check(f64::from(own.rounds.unwrap_or(15)))? as u32;
    if rank == 0 || rank as usize > shape.items {
        return Err(LearnError::NotCovered {
            what: "the rank is 0, or above the number of items".into(),
            instead: "give a rank from 1 to the number of items",
        });
    }
    let settled = PlainAls { rank: Some(rank), rounds: Some(rounds) };
    Ok((Arc::new(Turns { rank: rank as usize, rounds }), Method::PlainAls(settled)))
}

#[derive(Debug)]
struct Turns {
    rank: usize,
    rounds: u32,
}

impl Baseline<Complete> for Turns {
    fn settings(&self) -> PlanNumbers {
        PlanNumbers::of([("rank", self.rank as f64), ("rounds", f64::from(self.rounds))])
    }

    fn run(
        &self,
        shape: &Shape,
        table: &dyn Table,
        monitor: &dyn Monitor,
    ) -> Result<Factors, LearnError> {
        let mut state = start_state(shape, self.rank, table, monitor)?;
        for turn in 0..self.rounds {
            going_on(monitor, turn)?;
            state = alternate_once(&state, table)?;
        }
        Ok(Factors::Moments(state))
    }
}

/// Number of sums of one item's regression: triangle of the Gram matrix, then the right side.
fn items_sums(size: usize) -> usize {
    size * (size + 1) / 2 + size
}

/// One round: users fit, then items.
fn alternate_once(state: &GlobalState, table: &dyn Table) -> Result<GlobalState, LearnError> {
    let size = 1 + state.rank();
    let (items, each) = (state.offsets.len(), items_sums(size));
    let mut sums = vec![0.0; items * each];
    table.visit(&mut |data| {
        let rows = data.features.rows();
        let threads = rayon::current_num_threads().max(1);
        let piece = rows.div_ceil(threads).max(1);
        let parts: Vec<Vec<f64>> = (0..rows.div_ceil(piece))
            .into_par_iter()
            .map(|number| {
                let mut part = vec![0.0; items * each];
                for row in number * piece..((number + 1) * piece).min(rows) {
                    add(state, &LocalState::of(&data.features, row), size, &mut part);
                }
                part
            })
            .collect();
        for part in parts {
            sums.iter_mut().zip(part).for_each(|(sum, part)| *sum += part);
        }
        Ok(())
    })?;
    let mut next = state.clone();
    for (item, sums) in sums.chunks(each).enumerate() {
        let (triangle, right) = sums.split_at(each - size);
        let mut gram = vec![0.0; size * size];
        let mut entries = triangle.iter();
        for i in 0..size {
            for j in 0..=i {
                gram[i * size + j] = entries.next().copied().unwrap_or(0.0);
            }
        }
        let ridge: Vec<f64> = (0..size).map(|place| RIDGES[place.min(1)]).collect();
        let minimiser = solve(gram, &ridge, right.to_vec());
        next.offsets[item] = minimiser[0];
        next.vectors[item].copy_from_slice(&minimiser[1..]);
    }
    Ok(next)
}

fn add(state: &GlobalState, user: &LocalState, size: usize, sums: &mut [f64]) {
    let own = state.fit_user(user);
    let [level, stretch, popular] = own.fixed();
    let known = own.feature_weights();
    let each = items_sums(size);
    let mut columns = vec![1.0 + stretch];
    columns.extend_from_slice(own.taste());
    for (item, place) in user.ratings() {
        let features = state.features.get(item).into_iter().flatten().zip(known);
        let features: f64 = features.map(|(x, w)| x * w).sum();
        let wanted = place - level - popular * state.popularity[item] - features;
        let own = &mut sums[item * each..][..each];
        let mut at = 0;
        for (i, x) in columns.iter().enumerate() {
            for y in &columns[..=i] {
                own[at] += x * y;
                at += 1;
            }
        }
        own[at..].iter_mut().zip(&columns).for_each(|(sum, x)| *sum += x * wanted);
    }
}
