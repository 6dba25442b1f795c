//! Norms of users' contributions, at random and at the extremes, under both relations.

use super::procedure::{AlternativeMethod, Sizes};
use super::query::Query;
use crate::ratings::local::{LocalState, user_vector};
use crate::ratings::moments::GlobalState;
use privet_core::{Neighbours, Relation, Unit};
use proptest::prelude::*;

const ITEMS: usize = 30;

fn sizes(neighbours: Neighbours, way: AlternativeMethod) -> Sizes {
    let relation = Relation::new(neighbours, Unit::User { max_records: 30 });
    Sizes { way, items: ITEMS, users: 100, relation, rank: 3, spread: 12.0, first: 1.0 }
}

fn user() -> impl Strategy<Value = LocalState> {
    let rating = prop_oneof![Just(-2.0), Just(2.0), -2.0..2.0];
    let share = prop_oneof![Just(0.0), Just(1.0), 0.0..1.0];
    (prop::collection::vec((rating, 0.0..1.0), ITEMS), share).prop_map(|(all, share)| {
        let kept = all.iter().enumerate().filter(|(_, (_, draw))| *draw < share);
        let (items, places) = kept.map(|(item, (place, _))| (item as u32, *place)).unzip();
        LocalState::from_parts(items, places)
    })
}

fn state() -> impl Strategy<Value = GlobalState> {
    let number = prop_oneof![Just(4.0), Just(-4.0), -1.0..1.0];
    prop::collection::vec(prop::collection::vec(number, 5), ITEMS).prop_map(|items| GlobalState {
        offsets: items.iter().map(|item| item[0]).collect(),
        popularity: items.iter().map(|item| 5.0 * item[1]).collect(),
        vectors: items.iter().map(|item| item[2..].to_vec()).collect(),
        features: vec![],
    })
}

fn distance(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]
    /// One user added, removed or exchanged for any other: no sum moves further than is charged.
    #[test]
    fn no_user_moves_a_sum_further_than_is_charged(
        one in user(), other in user(), state in state()
    ) {
        let offsets = state.offsets.clone();
        for (question, way, place) in [
            (Query::Offsets { items: ITEMS, spread: 12.0 }, AlternativeMethod::Als { rounds: 2 }, 0),
            (Query::Turn { state, spread: 12.0 }, AlternativeMethod::Als { rounds: 2 }, 1),
            (Query::Covariance { offsets }, AlternativeMethod::CleansedSvd { beta: 5.0 }, 1),
        ] {
            let (mine, hers) = (user_vector(&question, &one), user_vector(&question, &other));
            let nothing = vec![0.0; mine.len()];
            for (neighbours, moved) in [
                (Neighbours::AddRemove, distance(&mine, &nothing)),
                (Neighbours::ReplaceOne, distance(&mine, &hers)),
            ] {
                let most = sizes(neighbours, way).shifts()[place];
                prop_assert!(moved <= most, "{place}: {moved} of {most}");
            }
        }
    }
}

/// The bound of a covariance is reached up to a hundredth: the charge is not vacuous.
#[test]
fn the_bound_of_a_covariance_is_tight() {
    let places = (0..30).map(|item| if item % 2 == 0 { 2.0 } else { -2.0 }).collect();
    let user = LocalState::from_parts((0..30).collect(), places);
    let told = user_vector(&Query::Covariance { offsets: vec![0.0; ITEMS] }, &user);
    let reached = distance(&told, &vec![0.0; told.len()]);
    let most =
        sizes(Neighbours::AddRemove, AlternativeMethod::CleansedSvd { beta: 5.0 }).shifts()[1];
    assert!(reached > 0.99 * most && reached <= most, "{reached} of {most}");
}
