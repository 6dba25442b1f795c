//! Two ledgers of copies become one, to the safe side.

use crate::world::{asked, gaussian, ledger, note, spend};
use privet_core::{Budget, Neighbours, Relation, Unit};
use privet_dp::account::{Cost, Event};
use privet_dp::gate::Purse;
use privet_ledger::{Kind, Ledger, Limit, State};
use std::collections::BTreeMap;
use std::path::Path;

fn release(ledger: &mut Ledger, mu: f64) {
    let event = gaussian(mu);
    ledger.paying(asked("riders", &event)).spend_whole(&spend(&event)).unwrap();
}

fn spent(ledger: &Ledger) -> f64 {
    ledger.books().accounts()["riders"].spent.spent()
}

fn near(found: f64, expected: f64) {
    assert!((found / expected - 1.0).abs() < 1e-6, "{found} for {expected}");
}

#[test]
fn what_two_ledgers_spent_adds_up_once() {
    let (_one, path, mut first) = ledger(Kind::Gaussian);
    release(&mut first, 0.05);
    drop(first);
    // A copy, then each goes its own way.
    let folder = tempfile::tempdir().unwrap();
    let copied = folder.path().join("copy.ledger");
    std::fs::copy(&path, &copied).unwrap();
    let (mut first, mut second) = (Ledger::open(&path).unwrap(), Ledger::open(&copied).unwrap());
    assert!(first.take_in(&mut second, &BTreeMap::new(), &note("")).is_err(), "nothing new");
    release(&mut first, 0.06);
    release(&mut second, 0.07);
    let merged = first.take_in(&mut second, &BTreeMap::new(), &note("")).unwrap();
    assert_eq!((merged.len(), merged[0].releases), (1, 1));
    near(spent(&first), 0.05_f64.powi(2) + 0.06_f64.powi(2) + 0.07_f64.powi(2));
    // Again, further on: only what is new.
    release(&mut second, 0.08);
    first.take_in(&mut second, &BTreeMap::new(), &note("")).unwrap();
    let squares = [0.05_f64, 0.06, 0.07, 0.08].map(|mu| mu * mu).iter().sum();
    near(spent(&first), squares);
    // What was taken in counts after it is read again.
    near(spent(&Ledger::open(&path).unwrap()), squares);
}

/// Two copies that release the same in the same second have released twice.
#[test]
fn the_same_at_the_same_time_is_twice() {
    let (_one, path, first) = ledger(Kind::Gaussian);
    drop(first);
    let folder = tempfile::tempdir().unwrap();
    let copied = folder.path().join("copy.ledger");
    std::fs::copy(&path, &copied).unwrap();
    let clock = || "2026-01-01T00:00:00Z".into();
    let mut first = Ledger::open(&path).unwrap().with_clock(clock);
    let mut second = Ledger::open(&copied).unwrap().with_clock(clock);
    release(&mut first, 0.05);
    release(&mut second, 0.05);
    first.take_in(&mut second, &BTreeMap::new(), &note("")).unwrap();
    near(spent(&first), 2.0 * 0.05_f64.powi(2));
}

/// A reservation of the shared part that is void here and drawn there was drawn.
#[test]
fn void_here_and_drawn_there_is_drawn() {
    let (_one, path, mut first) = ledger(Kind::Gaussian);
    let event = gaussian(0.05);
    let mut paying = first.paying(asked("riders", &event));
    paying.set_aside(&spend(&event)).unwrap();
    std::mem::forget(paying); // a process that was killed
    drop(first);
    let folder = tempfile::tempdir().unwrap();
    let copied = folder.path().join("copy.ledger");
    std::fs::copy(&path, &copied).unwrap();
    let (mut first, mut second) = (Ledger::open(&path).unwrap(), Ledger::open(&copied).unwrap());
    first.void(3, "officer", "by hand").unwrap();
    assert!(first.books().accounts()["riders"].spent.is_nothing());
    release(&mut second, 0.01);
    first.take_in(&mut second, &BTreeMap::new(), &note("")).unwrap();
    near(spent(&first), 0.05_f64.powi(2) + 0.01_f64.powi(2));
}

/// A reservation of the shared part that is still open here and was drawn from there is spent here, too.
#[test]
fn open_here_and_drawn_there_is_drawn() {
    let (_one, path, mut second) = ledger(Kind::Gaussian);
    let event = gaussian(0.05);
    let mut paying = second.paying(asked("riders", &event));
    paying.set_aside(&spend(&event)).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let copied = folder.path().join("copy.ledger");
    // With what is in its log.
    for ending in ["", "-wal"] {
        let whole = |path: &Path| format!("{}{ending}", path.display());
        if Path::new(&whole(&path)).exists() {
            std::fs::copy(whole(&path), whole(&copied)).unwrap();
        }
    }
    paying.drawn(0).unwrap();
    drop(paying);
    let mut first = Ledger::open(&copied).unwrap();
    assert_eq!(first.books().held()[&3].state, State::Reserved);
    assert!(first.take_in(&mut second, &BTreeMap::new(), &note("")).unwrap().is_empty());
    assert_eq!(first.books().held()[&3].state, State::Drawn);
    assert!(first.void(3, "officer", "by hand").is_err());
    near(spent(&first), 0.05_f64.powi(2));
}

/// What another ledger took in is in the quantities of its own limit, of one relation and unit.
#[test]
fn what_was_taken_in_there_counts_here_only_for_the_same_relation() {
    let of = |neighbours| {
        let folder = tempfile::tempdir().unwrap();
        let mut ledger = Ledger::create(&folder.path().join("l"), "tester").unwrap();
        let budget = Budget::new(1.0, 1e-6).unwrap();
        let relation = Relation::new(neighbours, Unit::Record);
        let limit = Limit::new(Kind::Gaussian, None, budget, relation).unwrap();
        ledger.add("riders", limit, &note(""), None, false).unwrap();
        (folder, ledger)
    };
    let neighbours = Neighbours::AddRemove;
    let ((_one, mut first), (_two, mut second)) = (of(Neighbours::ReplaceOne), of(neighbours));
    let (_three, mut third) = of(neighbours);
    let cost = Cost::Gaussian { sensitivity: 0.05, noise_scale: 1.0, grid: None };
    let event = Event::Use { neighbours, unit: Unit::Record, cost };
    third.paying(asked("riders", &event)).spend_whole(&spend(&event)).unwrap();
    second.take_in(&mut third, &BTreeMap::new(), &note("")).unwrap();
    let refused = first.take_in(&mut second, &BTreeMap::new(), &note("")).unwrap_err();
    assert!(refused.to_string().contains("relation"), "{refused}");
    assert!(first.books().accounts()["riders"].spent.is_nothing());
    let (_four, mut fourth) = of(neighbours);
    fourth.take_in(&mut second, &BTreeMap::new(), &note("")).unwrap();
    near(spent(&fourth), 0.05_f64.powi(2));
}

/// Ledgers of their own, with other filters; what is taken in may exceed the limit, and then nothing more fits.
#[test]
fn another_ledger_is_priced_by_the_limit_here() {
    let (_one, _, mut first) = ledger(Kind::Zcdp);
    let (_two, _, mut second) = ledger(Kind::Gaussian);
    for _ in 0..20 {
        release(&mut second, 0.04);
    }
    let limit = first.books().accounts()["riders"].limit;
    first.take_in(&mut second, &BTreeMap::new(), &note("")).unwrap();
    near(spent(&first), 20.0 * 0.04_f64.powi(2) / 2.0);
    let (_three, _, mut third) = ledger(Kind::Renyi);
    let mut all = third.books().accounts()["riders"].limit.filter.limit.most();
    let event = gaussian(0.1);
    while all > 0.0 {
        let mut paying = third.paying(asked("riders", &event));
        if paying.set_aside(&spend(&event)).is_err() {
            break;
        }
        paying.drawn(0).unwrap();
        all -= 1e-9;
    }
    first.take_in(&mut third, &BTreeMap::new(), &note("")).unwrap();
    let account = &first.books().accounts()["riders"];
    assert!(account.share() > 1.0 && account.proved() > limit.epsilon);
    assert!(first.paying(asked("riders", &event)).set_aside(&spend(&event)).is_err());
}

#[test]
fn names_may_differ_and_must_be_known() {
    let (_one, _, mut first) = ledger(Kind::Gaussian);
    let (_two, _, mut second) = ledger(Kind::Gaussian);
    first
        .add("drivers", crate::world::limit(Kind::Gaussian, 1.0, 1e-6), &note(""), None, false)
        .unwrap();
    release(&mut second, 0.05);
    let names = BTreeMap::from([("riders".to_string(), "drivers".to_string())]);
    let merged = first.take_in(&mut second, &names, &note("")).unwrap();
    assert_eq!(merged[0].dataset, "drivers");
    let names = BTreeMap::from([("riders".to_string(), "nobody".to_string())]);
    assert!(first.take_in(&mut second, &names, &note("")).is_err());
}
