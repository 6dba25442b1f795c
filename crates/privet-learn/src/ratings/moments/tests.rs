//! Norms of users' contributions, at random and at the extremes, under both relations.

use super::query::Query;
use super::*;
use crate::ratings::local::{LocalState, user_vector};
use privet_core::Unit;
use proptest::prelude::*;

const ITEMS: usize = 60;

fn sizes(neighbours: Neighbours, rank: usize) -> Sizes {
    Sizes {
        items: ITEMS,
        users: 100,
        relation: Relation::new(neighbours, Unit::User { max_records: 60 }),
        rank,
        rounds: 3,
        core: 20,
        spread: 12.0,
        first: 1.0,
        most: 60,
        widening: 1.0,
        features: vec![],
    }
}

fn distance(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt()
}

/// Any user: none, few ratings or many, often at the bounds.
fn user() -> impl Strategy<Value = LocalState> {
    let rating = prop_oneof![Just(-2.0), Just(2.0), -2.0..2.0];
    let share = prop_oneof![Just(0.0), Just(1.0), 0.0..1.0];
    (prop::collection::vec((rating, 0.0..1.0), ITEMS), share).prop_map(|(all, share)| {
        let kept = all.iter().enumerate().filter(|(_, (_, draw))| *draw < share);
        let (items, places) = kept.map(|(item, (place, _))| (item as u32, *place)).unzip();
        LocalState::from_parts(items, places)
    })
}

/// Any released model.
fn state(rank: usize) -> impl Strategy<Value = GlobalState> {
    let number = prop_oneof![Just(4.0), Just(-4.0), -1.0..1.0];
    prop::collection::vec(prop::collection::vec(number, 2 + rank + 2), ITEMS).prop_map(
        move |items| GlobalState {
            offsets: items.iter().map(|item| item[0]).collect(),
            popularity: items.iter().map(|item| 5.0 * item[1]).collect(),
            vectors: items.iter().map(|item| item[2..2 + rank].to_vec()).collect(),
            features: items.iter().map(|item| item[2 + rank..].to_vec()).collect(),
        },
    )
}

fn questions(known: GlobalState, plain: GlobalState) -> [(Query, usize, usize); 4] {
    let core = (0..20).map(|place| (place * 7 % 60) as u32).collect();
    [
        (Query::Offsets { items: ITEMS, spread: 12.0 }, 0, 0),
        (Query::Core { state: plain.clone(), core }, 1, 3),
        (Query::Round { state: known, spread: 12.0 }, 2, 3),
        (Query::Round { state: plain, spread: 12.0 }, 2, 0),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]
    /// One user added, removed or exchanged for any other: no sum moves further than is charged.
    #[test]
    fn no_user_moves_a_sum_further_than_is_charged(
        one in user(), other in user(), known in state(3), plain in state(0)
    ) {
        for (question, place, rank) in questions(known, plain) {
            let (mine, hers) = (user_vector(&question, &one), user_vector(&question, &other));
            let nothing = vec![0.0; mine.len()];
            for (neighbours, moved) in [
                (Neighbours::AddRemove, distance(&mine, &nothing)),
                (Neighbours::ReplaceOne, distance(&mine, &hers)),
            ] {
                let sizes = sizes(neighbours, rank);
                let shifts = [sizes.offsets_shift(), sizes.core_shift(), sizes.round_shift()];
                prop_assert!(moved <= shifts[place], "{place}: {moved} of {}", shifts[place]);
                let planned = sizes.coordinates()[place];
                prop_assert_eq!(mine.len(), planned);
            }
        }
    }
}

/// The bounds are reached up to a thousandth: no charge is vacuous.
#[test]
fn the_bounds_are_tight() {
    let all = |sign: f64| {
        let place = |item: u32| if item.is_multiple_of(2) { 2.0 * sign } else { -2.0 * sign };
        LocalState::from_parts((0..60).collect(), (0..60).map(place).collect())
    };
    // Of other items: orthogonal counts.
    let half = |odd: u32| {
        let items: Vec<u32> = (0..60).filter(|item| item / 30 == odd).collect();
        let places = items.iter().map(|item| if item.is_multiple_of(2) { 2.0 } else { -2.0 });
        LocalState::from_parts(items.clone(), places.collect())
    };
    let flat = GlobalState {
        offsets: vec![0.0; 60],
        popularity: vec![0.0; 60],
        vectors: vec![vec![]; 60],
        features: vec![],
    };
    let offsets = Query::Offsets { items: ITEMS, spread: 12.0 };
    let alone = sizes(Neighbours::AddRemove, 0);
    let norm = |question: &Query, user: &LocalState| {
        let told = user_vector(question, user);
        distance(&told, &vec![0.0; told.len()])
    };
    let reached = norm(&offsets, &all(1.0));
    assert!(reached > 0.999 * alone.offsets_shift(), "{reached}");
    let round = Query::Round { state: flat.clone(), spread: 12.0 };
    let moved = distance(&user_vector(&round, &all(1.0)), &user_vector(&round, &all(-1.0)));
    let replaced = sizes(Neighbours::ReplaceOne, 0);
    assert!(moved > 0.999 * replaced.round_shift(), "{moved}");
    let counts =
        distance(&user_vector(&offsets, &half(0))[60..], &user_vector(&offsets, &half(1))[60..]);
    assert!(counts > 0.999 * COUNT_WEIGHT * (2.0_f64 * 12.0).sqrt(), "{counts}");
    // Below the diagonal: (1 − 1/n)/2 of the squared Frobenius norm.
    let core = Query::Core { state: flat, core: (0..20).collect() };
    let reached = norm(&core, &all(1.0));
    let least = (1.0 - 1.0 / 20.0_f64).sqrt() * 0.999;
    assert!(reached > least * alone.core_shift() && reached <= alone.core_shift(), "{reached}");
}

/// The displayed noise splits the budget by its fractions, for any rank.
#[test]
fn the_shares_of_the_budget_are_all_of_it() {
    for rank in [0, 3] {
        let sizes = sizes(Neighbours::AddRemove, rank);
        let [offsets, core, round] = sizes.noise();
        let part = |shift: f64, noise: f64| (shift / noise).powi(2);
        let core = if rank > 0 { part(sizes.core_shift(), core) } else { 0.0 };
        let rounds = 3.0 * part(sizes.round_shift(), round);
        let all = part(sizes.offsets_shift(), offsets) + core + rounds;
        let first = part(sizes.offsets_shift(), offsets);
        assert!((first / all - shares(rank)[0]).abs() < 1e-12);
    }
}
