//! Completing ratings: accuracy, refusals, charges.

use privet_core::{Budget, Neighbours, Unit};
use privet_data::matrix::{CsrMatrix, Matrix};
use privet_data::ratings::{self, Layout, OwnRatings, Rated, RatingFacts};
use privet_data::{Dataset, Schema};
use privet_dp::account::Event;
use privet_dp::noise::{FixedSeed, Source};
use privet_learn::ratings::measure::measure;
use privet_learn::ratings::{Complete, JOINT, LocalState, METHODS, Method};
use privet_learn::{Artefact, Calibration, LearnError, Plan, Released, plan, verify};
use std::str::FromStr;
use std::sync::atomic::AtomicBool;

pub const ITEMS: usize = 24;

pub fn schema(most: u32) -> Schema {
    let items = (0..ITEMS).map(|item| format!("film {item}")).collect();
    let facts = RatingFacts { layout: Layout::Triples, items, bounds: [1.0, 5.0], most };
    ratings::schema(&facts).unwrap()
}

/// Films differ, and users are of two tastes; of every four ratings one is held out.
pub fn tables(schema: &Schema, users: usize, seed: u64) -> (Dataset, Dataset) {
    let rated = Rated::of(schema).unwrap();
    let mut source = FixedSeed::new(seed);
    let mut draw = move || source.next_u64() as f64 / u64::MAX as f64;
    let (mut kept, mut held) = (Vec::new(), Vec::new());
    for user in 0..users {
        let [mut own, mut rest] = [OwnRatings::default(), OwnRatings::default()];
        for item in (0..ITEMS).filter(|item| item % 3 != user % 3) {
            let quality = 0.8 * ((item % 5) as f64 - 2.0) / 2.0;
            let taste = if (item < ITEMS / 2) == user.is_multiple_of(2) { 0.7 } else { -0.7 };
            let rating = (3.0 + quality + taste + draw() - 0.5).clamp(1.0, 5.0);
            let part = if draw() < 0.25 { &mut rest } else { &mut own };
            part.and(item, rating, &rated);
        }
        kept.push(own);
        held.push(rest);
    }
    (ratings::table(kept, &rated), ratings::table(held, &rated))
}

pub fn planned(
    method: Method,
    most: u32,
    (epsilon, neighbours): (f64, Neighbours),
) -> Plan<Complete> {
    let request = Complete::by(method).request(schema(most), 2000, neighbours);
    plan(&request.with_budget(Budget::new(epsilon, 1e-6).unwrap())).unwrap()
}

pub fn method(name: &str, settings: &[(&str, &str)]) -> Method {
    let method: Method = name.parse().unwrap();
    settings.iter().fold(method, |method, (name, value)| method.with(name, value).unwrap())
}

/// With a fixed seed. The spread of ratings is 1.2, that around film and taste 0.29.
#[test]
fn tastes_are_learnt_where_the_budget_allows() {
    let (kept, held) = tables(&schema(24), 2000, 3);
    let error = |method: Method| {
        let plan = planned(method, 24, (8.0, Neighbours::AddRemove));
        let release = plan.run(&kept, &mut FixedSeed::new(5), &AtomicBool::new(false)).unwrap();
        assert!(release.certificate().notes.iter().any(|note| note == JOINT.sentence));
        measure(release.value(), plan.facts(), &kept, &held)
    };
    let offsets = error(method("moments", &[("rank", "0")]));
    let tastes = error(method("moments", &[("rank", "2"), ("core", "24")]));
    assert!(offsets.error < 0.9, "{offsets:?}");
    assert!(tastes.error < 0.55 && tastes.error < 0.8 * offsets.error, "{tastes:?}");
    assert!(
        tastes.recall >= offsets.recall && tastes.gain > offsets.gain,
        "{tastes:?} {offsets:?}"
    );
    for name in ["frank-wolfe", "oja", "pgd", "svd"] {
        let actual = error(method(name, &[]));
        assert!(actual.error < 1.2, "{name}: {actual:?}");
    }
    for (name, settings, most) in [
        ("frank-wolfe", [("rounds", "6")], 0.9),
        ("als", [("rank", "2")], 0.6),
        ("cleansed-svd", [("rank", "2")], 0.8),
    ] {
        let actual = error(method(name, &settings));
        assert!(actual.error < most, "{name}: {actual:?}");
    }
}

/// Sums are integers: the order of users and the number of threads change no bit.
#[test]
fn the_order_of_users_changes_nothing() {
    let (kept, _) = tables(&schema(24), 300, 4);
    let turned = kept.select(&(0..300).map(|row| row * 7 % 300).collect::<Vec<_>>());
    for info in METHODS.iter().filter(|info| info.private) {
        let plan = planned(method(info.name, &[]), 24, (1.0, Neighbours::ReplaceOne));
        let numbers = |table: &Dataset| {
            let release = plan.run(table, &mut FixedSeed::new(5), &AtomicBool::new(false));
            release.unwrap().value().numbers()
        };
        assert_eq!(numbers(&kept), numbers(&turned), "{}", info.name);
    }
}

/// PRIV-25: T rounds of Γ steps and an eigenvalue each are T·(Γ + 1) releases.
#[test]
fn every_step_of_oja_is_charged() {
    let ask = method("oja", &[("rounds", "7"), ("steps", "4")]);
    let plan = planned(ask, 24, (1.0, Neighbours::AddRemove));
    let Some(Event::Repeat { count: 7, event }) = plan.events() else { panic!("rounds") };
    let Event::All(parts) = &**event else { panic!("steps and an eigenvalue") };
    assert!(matches!(parts[..], [Event::Repeat { count: 4, .. }, Event::Use { .. }]));
    // Noise grows as the root of their number.
    let noise = |rounds: &str, steps: &str| {
        let ask = method("oja", &[("rounds", rounds), ("steps", steps)]);
        planned(ask, 24, (1.0, Neighbours::AddRemove)).request().noise[0]
    };
    let ratio = noise("8", "7") / noise("2", "3");
    assert!((ratio - (64.0_f64 / 8.0).sqrt()).abs() < 1e-3, "{ratio}");
}

#[test]
fn what_no_theorem_covers_is_refused() {
    let asked = Complete::default().request(schema(24), 100, Neighbours::AddRemove);
    let pure = asked.clone().with_budget(Budget::new(1.0, 0.0).unwrap());
    assert!(matches!(plan(&pure), Err(LearnError::NotCovered { .. })));
    let mut printed = asked.clone().with_budget(Budget::new(1.0, 1e-6).unwrap());
    printed.calibration = Calibration::Printed;
    assert!(matches!(plan(&printed), Err(LearnError::NotCovered { .. })));
    let plain = "[clip]\nnorm = \"l2\"\nradius = 1.0\n[target]\ncolumn = \"y\"\nbounds = [0, 1]\n\
                 [[columns]]\nname = \"age\"\ntype = \"number\"\nbounds = [0, 100]\n";
    let other =
        Complete::default().request(Schema::from_toml(plain).unwrap(), 100, Neighbours::AddRemove);
    let other = other.with_budget(Budget::new(1.0, 1e-6).unwrap());
    assert!(matches!(plan(&other), Err(LearnError::Schema(_))));
    // The baseline has no budget, and says so.
    let free = Method::from_str("non-private").unwrap();
    let paid = Complete::by(free.clone()).request(schema(24), 100, Neighbours::AddRemove);
    let paid = paid.with_budget(Budget::new(1.0, 1e-6).unwrap());
    assert!(matches!(plan(&paid), Err(LearnError::NotASetting { .. })));
    for info in METHODS {
        let method: Method = info.name.parse().unwrap();
        for setting in info.settings {
            for word in ["many", "nan", "inf", ""] {
                let refused = method.with(setting.name, word);
                assert!(matches!(refused, Err(LearnError::SettingValue { .. })));
            }
            for number in ["-1", "1e300"] {
                let refused = method.with(setting.name, number).and_then(|method| {
                    let asked =
                        Complete::by(method).request(schema(24), 100, Neighbours::AddRemove);
                    plan(&asked.with_budget(Budget::new(1.0, 1e-6).unwrap()))
                });
                assert!(refused.is_err(), "{} {} = {number}", info.name, setting.name);
            }
        }
        assert!(matches!(method.with("nothing", "1"), Err(LearnError::NotASetting { .. })));
    }
}

/// Tables that violate the theorem's assumptions on a user, made elsewhere than by the readers.
#[test]
fn tables_that_break_the_cap_are_refused_before_noise() {
    let row = |cells: Vec<f32>, units: Vec<u64>| {
        let each = cells.len() / units.len();
        let starts = (0..=units.len()).map(|row| row * each).collect();
        let items = (0..units.len()).flat_map(|_| 0..each as u32).collect();
        let features = Matrix::Csr(CsrMatrix::new(starts, items, cells, ITEMS));
        let target = privet_data::Target::Number(vec![0.0; units.len()]);
        Dataset { features, target, units: Some(units), report: Default::default() }
    };
    let plan = planned(Method::default(), 4, (1.0, Neighbours::AddRemove));
    let good = row(vec![1.0, 2.0, 1.5, 1.25], vec![3, 9]);
    for (bad, what) in [
        (row(vec![1.0, 2.0, 1.5, 1.25], vec![3, 3]), "more than one row"),
        (row(vec![1.5; 5], vec![3]), "more ratings than the cap"),
        (row(vec![2.5; 2], vec![3]), "within its bounds"),
        (row(vec![0.5; 2], vec![3]), "within its bounds"),
        (row(vec![f32::NAN; 2], vec![3]), "within its bounds"),
        (Dataset { units: None, ..good.clone() }, "no unit"),
    ] {
        let mut source = FixedSeed::new(7);
        let error = plan.run(&bad, &mut source, &AtomicBool::new(false)).unwrap_err();
        assert!(error.to_string().contains(what), "{error}");
        assert_eq!(source.next_u64(), FixedSeed::new(7).next_u64(), "{what}: noise was drawn");
    }
    assert!(plan.run(&good, &mut FixedSeed::new(7), &AtomicBool::new(false)).is_ok());
    assert_eq!(plan.guarantee().unwrap().unit, Unit::User { max_records: 4 });
}

/// Recommendations are items that the user has not rated, best first, within the bounds; no user's rows
/// are shown.
#[test]
fn recommendations_are_of_other_items() {
    let (kept, _) = tables(&schema(24), 500, 6);
    let plan = planned(Method::default(), 24, (2.0, Neighbours::AddRemove));
    let release = plan.run(&kept, &mut FixedSeed::new(5), &AtomicBool::new(false)).unwrap();
    let user = LocalState::of(&kept.features, 17);
    assert_eq!(format!("{user:?}"), "LocalState(withheld)");
    let actual = release.value().recommend(&user, plan.facts(), 5);
    let Matrix::Csr(rows) = &kept.features else { panic!() };
    assert_eq!(actual.len(), 5);
    assert!(actual.windows(2).all(|pair| pair[0].rating >= pair[1].rating));
    for one in &actual {
        assert!(!rows.row(17).0.contains(&(one.item as u32)));
        assert!((1.0..=5.0).contains(&one.rating));
    }
    // A user without ratings is recommended generally liked items.
    let nobody = LocalState::default();
    assert_eq!(release.value().recommend(&nobody, plan.facts(), 100).len(), ITEMS);
}

/// Without noise there is still a file, which claims nothing; none is worse than each user's mean.
#[test]
fn the_baselines_claim_nothing() {
    let (kept, held) = tables(&schema(24), 2000, 3);
    for (name, most) in [
        ("non-private", 0.45),
        ("non-private-frank-wolfe", 0.6),
        ("non-private-pgd", 0.6),
        ("non-private-als", 0.45),
        ("mean", 1.3),
    ] {
        let request = Complete::by(method(name, &[]));
        let plan = plan(&request.request(schema(24), 2000, Neighbours::AddRemove)).unwrap();
        assert!(plan.events().is_none() && plan.guarantee().is_none());
        let release = plan.run(&kept, &mut FixedSeed::new(5), &AtomicBool::new(false)).unwrap();
        let actual = measure(release.value(), plan.facts(), &kept, &held);
        assert!(actual.error < most, "{name}: {actual:?}");
        let released = Released::<Complete>::from_release(release).unwrap();
        assert!(!verify(&released).valid);
    }
}
