//! Parts around a plan: private choice of items, features of items, and each user's own predictions.

use crate::completion::{ITEMS, method, planned, schema, tables};
use privet_core::{Budget, Neighbours};
use privet_dp::account::{Event, SeenBy};
use privet_dp::gate::Release;
use privet_dp::noise::{FixedSeed, SystemRandom};
use privet_learn::file::{Seal, from_json, to_json};
use privet_learn::ratings::measure::measure;
use privet_learn::ratings::{Complete, Factors, LocalState, METHODS, Method, joint};
use privet_learn::{LearnError, Plan, Released, plan, verify};
use std::sync::atomic::AtomicBool;

fn asked(task: Complete, epsilon: f64) -> Result<Plan<Complete>, LearnError> {
    let request = task.request(schema(24), 2000, Neighbours::AddRemove);
    plan(&request.with_budget(Budget::new(epsilon, 1e-6).unwrap()))
}

/// Written, read back and verified.
fn holds(release: Release<Factors>) -> bool {
    let text = to_json(&Released::<Complete>::from_release(release).unwrap(), None).unwrap();
    let read = from_json::<Complete>(text.as_bytes(), Seal::Required).unwrap();
    verify(&read).valid
}

/// The choice is an event of the plan, every method supports it, and its cost is in ε.
#[test]
fn items_are_chosen_and_paid_for() {
    let (kept, _) = tables(&schema(24), 500, 4);
    for info in METHODS.iter().filter(|info| info.private) {
        let settings: &[(&str, &str)] =
            if info.name == "moments" { &[("rank", "2"), ("core", "6")] } else { &[] };
        let task = Complete { top: Some(8), ..Complete::by(method(info.name, settings)) };
        let plan = asked(task, 1.0).unwrap();
        let Some(Event::All(parts)) = plan.events() else { panic!("{}", info.name) };
        assert_eq!(parts.len(), 2, "{}: the choice, and the method", info.name);
        assert!(plan.guarantee().unwrap().epsilon <= 1.0);
        assert!(plan.settings().get("choice_noise").unwrap() > 0.0);
        let mut source = SystemRandom::new().unwrap();
        let release = plan.run(&kept, &mut source, &AtomicBool::new(false)).unwrap();
        let Factors::Chosen(chosen) = release.value() else { panic!("{}", info.name) };
        assert_eq!(chosen.items.len(), 8);
        let user = LocalState::of(&kept.features, 3);
        let told = release.value().recommend(&user, plan.facts(), 100);
        assert!(told.iter().all(|one| chosen.items.contains(&(one.item as u32))));
        assert!(holds(release), "{}", info.name);
    }
    let task = |top| Complete { top: Some(top), ..Complete::default() };
    for top in [0, 1, ITEMS as u32, 1000] {
        assert!(matches!(asked(task(top), 1.0), Err(LearnError::NotCovered { .. })), "{top}");
    }
    let plain: Method = "mean".parse().unwrap();
    let free = Complete { top: Some(8), ..Complete::by(plain) };
    let free = plan(&free.request(schema(24), 2000, Neighbours::AddRemove));
    assert!(matches!(free, Err(LearnError::NotASetting { .. })));
}

/// With a fixed seed and a large budget: items that are rated far more often are found.
#[test]
fn the_most_rated_items_are_chosen() {
    let few = schema(24);
    let rated = privet_data::ratings::Rated::of(&few).unwrap();
    let user = |user: usize| {
        let mut own = privet_data::ratings::OwnRatings::default();
        for item in (0..ITEMS).filter(|item| item % 3 == 0 || user.is_multiple_of(10)) {
            own.and(item, 3.0, &rated);
        }
        own
    };
    let data = privet_data::ratings::table((0..2000).map(user).collect(), &rated);
    let plan = asked(Complete { top: Some(8), ..Complete::default() }, 1.0).unwrap();
    let release = plan.run(&data, &mut FixedSeed::new(3), &AtomicBool::new(false)).unwrap();
    let Factors::Chosen(chosen) = release.value() else { panic!("chosen") };
    assert_eq!(chosen.items, [0, 3, 6, 9, 12, 15, 18, 21]);
}

/// Declared public features of items need not be learnt.
#[test]
fn public_features_of_items_help() {
    let (kept, held) = tables(&schema(24), 2000, 3);
    let feature = |item: usize| vec![if item < ITEMS / 2 { 1.0 } else { -1.0 }];
    let features: Vec<Vec<f64>> = (0..ITEMS).map(feature).collect();
    let by = method("moments", &[("rank", "0")]);
    let error = |features: Vec<Vec<f64>>| {
        let plan = asked(Complete { features, ..Complete::by(by.clone()) }, 1.0).unwrap();
        let mut source = SystemRandom::new().unwrap();
        let release = plan.run(&kept, &mut source, &AtomicBool::new(false)).unwrap();
        let actual = measure(release.value(), plan.facts(), &kept, &held).error;
        assert!(holds(release));
        actual
    };
    let (with, without) = (error(features.clone()), error(vec![]));
    assert!(with < 0.8 * without, "{with} {without}");
    let refused = |task: Complete| asked(task, 1.0).unwrap_err();
    let short = Complete { features: features[1..].to_vec(), ..Complete::default() };
    assert!(matches!(refused(short), LearnError::DataShape(_)));
    let far = Complete { features: vec![vec![5.0]; ITEMS], ..Complete::default() };
    assert!(matches!(refused(far), LearnError::DataShape(_)));
    let other = Complete { features: features.clone(), ..Complete::by(method("svd", &[])) };
    assert!(matches!(refused(other), LearnError::NotCovered { .. }));
    let both = Complete { features, top: Some(8), ..Complete::default() };
    assert!(matches!(refused(both), LearnError::NotCovered { .. }));
}

/// Each user's part is computed from the release and their own ratings, and is private towards everyone
/// else.
#[test]
fn each_user_is_told_her_own_with_a_certificate() {
    let (kept, _) = tables(&schema(24), 60, 6);
    let plan = planned(Method::default(), 24, (1.0, Neighbours::AddRemove));
    let mut source = SystemRandom::new().unwrap();
    let (release, mut parts) =
        joint::learn_jointly(&plan, &kept, 4, &mut source, &AtomicBool::new(false)).unwrap();
    let proved = release.certificate().recheck().unwrap().unwrap();
    assert_eq!((proved.seen_by, parts.units()), (SeenBy::Everyone, 60));
    let user = |row| LocalState::of(&kept.features, row);
    let expected = release.value().recommend(&user(17), plan.facts(), 4);
    let (told, certificate) = parts.take(17).unwrap().into_parts();
    assert_eq!(told, expected);
    let claim = certificate.recheck().unwrap().unwrap();
    assert_eq!((claim.seen_by, claim.epsilon), (SeenBy::AllButTheUnit, proved.epsilon));
    assert!(parts.take(17).is_none(), "once");
    // Later, from what was written.
    let released = Released::<Complete>::from_release(release).unwrap();
    let (again, later) = joint::recommend_for_user(&released, user(17), 4).unwrap().into_parts();
    assert_eq!((again, later.recheck().unwrap()), (told, Some(claim)));
    assert!(later.digest.is_none() && later.signature.is_none());
    // A method without privacy has nothing to state.
    let plain: Method = "non-private".parse().unwrap();
    let plain = Complete::by(plain).request(schema(24), 2000, Neighbours::AddRemove);
    let plain = privet_learn::plan(&plain).unwrap();
    let refused = joint::learn_jointly(&plain, &kept, 4, &mut source, &AtomicBool::new(false));
    assert!(matches!(refused, Err(LearnError::NotCovered { .. })));
}

/// Files of completed ratings, as each version wrote them (`privet complete` on a few synthetic
/// ratings), verify for ever.
#[test]
fn files_of_every_version_verify() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden-ratings");
    let mut seen = std::collections::BTreeSet::new();
    for version in std::fs::read_dir(folder).unwrap() {
        for entry in std::fs::read_dir(version.unwrap().path()).unwrap() {
            let path = entry.unwrap().path();
            let text = std::fs::read(&path).unwrap();
            let read = from_json::<Complete>(&text, Seal::Required).unwrap();
            let verdict = verify(&read);
            assert!(verdict.valid, "{}: {:?}", path.display(), verdict.checks);
            seen.insert(read.request().task.method.to_string());
        }
    }
    for info in METHODS.iter().filter(|info| info.private) {
        assert!(seen.contains(info.name), "no golden file of {}", info.name);
    }
}
