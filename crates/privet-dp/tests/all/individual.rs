//! Sums in which every unit is charged for its own contribution, through the gate.

use privet_core::{Neighbours, Unit};
use privet_dp::account::{self, Cost, Event};
use privet_dp::gate::{Arithmetic, GateError, Private, Session, Statement};
use privet_dp::mechanism::{Individual, OwnPart};
use privet_dp::noise::FixedSeed;
use proptest::prelude::*;
use serde_json::json;

const UNIT: f64 = 1.0 / 1024.0;

fn individual(neighbours: Neighbours, steps: u32, share: u128) -> Individual {
    Individual {
        neighbours,
        unit: Unit::Record,
        steps,
        share,
        resolution: UNIT,
        noise_scale: 3.0,
        coordinates: 2,
    }
}

/// Contributions of each unit at each step; a unit that contributes nothing is absent.
type Parts = Vec<Vec<[u32; 2]>>;

fn own(parts: &[[u32; 2]]) -> Vec<OwnPart> {
    let there = parts.iter().enumerate().filter(|(_, part)| **part != [0, 0]);
    there.map(|(owner, part)| OwnPart { owner, part: part.to_vec() }).collect()
}

/// All released steps with this seed.
fn released(mechanism: &Individual, parts: &Parts, seed: u64) -> Vec<Vec<f64>> {
    let mut source = FixedSeed::new(seed);
    let event = mechanism.event().unwrap();
    let claim = account::guarantee(&event, 1e-5).unwrap();
    let mut session = Session::start(event, &mut source);
    let mut spending = mechanism.begin(parts[0].len(), &session).unwrap();
    let steps =
        parts.iter().map(|step| spending.step(Private::new(own(step)), &mut session).unwrap());
    let all: Vec<_> = steps.collect();
    let all = session.gather(all).unwrap();
    let statement = Statement::new(claim, Arithmetic::Finite, json!({}));
    session.settle(all, statement).unwrap().into_parts().0
}

/// Sum of squared differences between two worlds with the same noise, in squares of the resolution.
fn moved(first: &[Vec<f64>], second: &[Vec<f64>]) -> f64 {
    let both = first.iter().flatten().zip(second.iter().flatten());
    both.map(|(a, b)| ((a - b) / UNIT).powi(2)).sum()
}

proptest! {
    /// Removing one unit changes all answers together by at most its budget, and each by its own
    /// contribution or nothing; replacing it by at most twice the budget. Contributions reach their
    /// extremes, queries are random.
    #[test]
    fn no_unit_moves_all_answers_by_more_than_its_share(
        parts in proptest::collection::vec(proptest::collection::vec(
            prop_oneof![Just([0, 0]), Just([1024, 0]), Just([0, 1024]), [0_u32..2000, 0_u32..2000]], 4), 1..12),
        other in proptest::collection::vec([0_u32..2000, 0_u32..2000], 12),
        share in 1_u128..(6 << 20), seed in 0_u64..1000,
    ) {
        let steps = parts.len() as u32;
        let mechanism = individual(Neighbours::AddRemove, steps, share);
        let without = |step: &Vec<[u32; 2]>| { let mut step = step.clone(); step[1] = [0, 0]; step };
        let left: Parts = parts.iter().map(without).collect();
        let (all, fewer) = (released(&mechanism, &parts, seed), released(&mechanism, &left, seed));
        prop_assert!(moved(&all, &fewer) <= share as f64 * (1.0 + 1e-9));
        for ((one, two), step) in all.iter().zip(&fewer).zip(&parts) {
            let gap: Vec<f64> = one.iter().zip(two).map(|(a, b)| ((a - b) / UNIT).round()).collect();
            let part = step[1].map(f64::from);
            prop_assert!(gap == [0.0, 0.0] || gap == part, "{:?} {:?}", gap, part);
        }
        let replaced: Parts = parts.iter().zip(&other).map(|(step, part)| {
            let mut step = step.clone(); step[1] = *part; step
        }).collect();
        let mechanism = individual(Neighbours::ReplaceOne, steps, share);
        let (one, two) = (released(&mechanism, &parts, seed), released(&mechanism, &replaced, seed));
        prop_assert!(moved(&one, &two) <= 2.0 * share as f64 * (1.0 + 1e-9));
    }
}

/// The charge is that of one Gaussian release, for any number of answers.
#[test]
fn the_charge_is_one_gaussian_release_of_the_share() {
    for (neighbours, wanted) in
        [(Neighbours::AddRemove, 3.0), (Neighbours::ReplaceOne, 3.0 * 2_f64.sqrt())]
    {
        // 9·1024² squares of the resolution: B = 3.
        let event = individual(neighbours, 500, 9 << 20).event().unwrap();
        let Event::Use { cost: cost @ Cost::IndividualGaussian { sensitivity, .. }, .. } = &event
        else {
            panic!()
        };
        assert!((sensitivity / wanted - 1.0).abs() < 1e-8 && *sensitivity >= wanted);
        assert_eq!((cost.draws(), cost.hides()), (500, Some("who has spent their share")));
        let plain = Cost::Gaussian { sensitivity: *sensitivity, noise_scale: 3.0, grid: None };
        let plain = Event::Use { neighbours, unit: Unit::Record, cost: plain };
        let (one, other) =
            (account::epsilon(&event, 1e-5).unwrap(), account::epsilon(&plain, 1e-5).unwrap());
        assert!((one / other - 1.0).abs() < 1e-9 && one >= other);
    }
}

/// A unit that cannot pay for a contribution is left out, and may pay for a smaller one later.
#[test]
fn a_unit_stays_out_once_its_share_is_spent() {
    let mechanism = individual(Neighbours::AddRemove, 4, 1 << 20);
    let parts = vec![vec![[800, 0]], vec![[800, 0]], vec![[0, 600]], vec![[0, 600]]];
    let nothing = vec![vec![[0, 0]]; 4];
    let (with, without) = (released(&mechanism, &parts, 3), released(&mechanism, &nothing, 3));
    let gaps: Vec<f64> = with
        .iter()
        .zip(&without)
        .map(|(a, b)| a.iter().zip(b).map(|(a, b)| ((a - b) / UNIT).round()).sum())
        .collect();
    assert_eq!(gaps, [800.0, 0.0, 600.0, 0.0]);
}

/// Anything but the plan is refused.
#[test]
fn other_parts_and_more_answers_are_refused() {
    let mechanism = individual(Neighbours::AddRemove, 1, 1 << 20);
    let mut source = FixedSeed::new(1);
    let mut session = Session::start(mechanism.event().unwrap(), &mut source);
    let mut spending = mechanism.begin(2, &session).unwrap();
    let part = |owner, length| OwnPart { owner, part: vec![1; length] };
    for bad in [
        vec![part(2, 2)],
        vec![part(0, 3)],
        vec![part(1, 2), part(1, 2)],
        vec![part(1, 2), part(0, 2)],
    ] {
        let refused = spending.step(Private::new(bad), &mut session);
        assert_eq!(refused.err(), Some(GateError::Malformed));
    }
    assert!(!session.has_spent());
    spending.step(Private::new(vec![part(0, 2)]), &mut session).unwrap();
    let more = spending.step(Private::new(vec![]), &mut session);
    assert_eq!(more.err(), Some(GateError::NotAsPlanned));
    assert_eq!(format!("{spending:?} {:?}", part(0, 1)), "Spending(withheld) OwnPart(withheld)");
    for bad in [
        Individual { resolution: 0.3, ..mechanism },
        Individual { resolution: f64::NAN, ..mechanism },
        Individual { steps: 0, ..mechanism },
        Individual { share: 0, ..mechanism },
        Individual { noise_scale: 0.0, ..mechanism },
    ] {
        assert!(bad.event().is_err(), "{bad:?}");
    }
}

/// One charge pays for one record of the units' spending: neither two that begin side by side nor a
/// later one can draw on it; and a resumed one counts all earlier releases first.
#[test]
fn a_second_account_of_what_was_spent_is_refused() {
    use privet_dp::gate::{Journal, Next, Spend, Walk};
    #[derive(serde::Serialize, serde::Deserialize)]
    struct Idle;
    impl Walk for Idle {
        type Start = ();
        type Query = ();
        type Answer = ();
        type Artefact = ();
        fn begin((): ()) -> Self {
            Self
        }
        fn next(&mut self, _: Option<()>) -> Next<(), ()> {
            Next::End
        }
    }
    let mechanism = individual(Neighbours::AddRemove, 4, 1 << 20);
    let parts = || Private::new(vec![OwnPart { owner: 0, part: vec![1024, 0] }]);
    let folder = tempfile::tempdir().unwrap();
    let mut journal = Journal::create(&folder.path().join("j")).unwrap();
    let mut source = FixedSeed::new(1);
    let spend = Spend::Exactly(mechanism.event().unwrap());
    let mut session = Session::open_walking(spend, json!(null), &mut source, &mut journal).unwrap();
    let walk = session.begin::<Idle>().unwrap();
    let mut first = mechanism.begin(1, &session).unwrap();
    let mut second = mechanism.begin(1, &session).unwrap();
    first.step(parts(), &mut session).unwrap();
    assert_eq!(second.step(parts(), &mut session).err(), Some(GateError::NotAsPlanned));
    assert_eq!(mechanism.begin(1, &session).err(), Some(GateError::NotAsPlanned));
    first.step(parts(), &mut session).unwrap();
    assert_eq!(session.draws(), 2);
    let state = session.suspend(walk, 0).unwrap();
    let mut source = FixedSeed::new(2);
    let (mut session, _walk) = state.resume(&mut source, &mut journal, |_| Ok(())).unwrap();
    let mut going_on = mechanism.begin(1, &session).unwrap();
    for _ in 0..2 {
        assert_eq!(going_on.step(parts(), &mut session).err(), Some(GateError::NotAsPlanned));
        going_on.count_earlier(parts()).unwrap();
    }
    let mut beside = mechanism.begin(1, &session).unwrap();
    (0..2).for_each(|_| beside.count_earlier(parts()).unwrap());
    going_on.step(parts(), &mut session).unwrap();
    assert_eq!(beside.step(parts(), &mut session).err(), Some(GateError::NotAsPlanned));
    assert_eq!(mechanism.begin(1, &session).err(), Some(GateError::NotAsPlanned));
    going_on.step(parts(), &mut session).unwrap();
}
