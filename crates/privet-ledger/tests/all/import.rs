//! Ledgers of copies are merged, counting conservatively.

use crate::world::{asked, gaussian, ledger, note, spend};
use privet_core::{Budget, Neighbours, Relation, Unit, UnitDefinition};
use privet_dp::account::{Cost, Event};
use privet_dp::gate::Purse;
use privet_ledger::{Kind, Ledger, Limit, State};
use std::collections::BTreeMap;
use std::path::Path;

fn release(ledger: &mut Ledger, mu: f64) {
    let event = gaussian(mu);
    ledger.purse_for(asked("riders", &event)).spend_whole(&spend(&event)).unwrap();
}

fn spent(ledger: &Ledger) -> f64 {
    ledger.books().accounts()["riders"].spent.spent_quantity()
}

fn near(found: f64, expected: f64) {
    assert!((found / expected - 1.0).abs() < 1e-6, "{found} for {expected}");
}

#[test]
fn what_two_ledgers_spent_adds_up_once() {
    let (_one, path, mut first) = ledger(Kind::Gaussian);
    release(&mut first, 0.05);
    drop(first);
    // A copy; then each is used separately.
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
    // Imported again after more releases: only new ones count.
    release(&mut second, 0.08);
    first.take_in(&mut second, &BTreeMap::new(), &note("")).unwrap();
    let squares = [0.05_f64, 0.06, 0.07, 0.08].map(|mu| mu * mu).iter().sum();
    near(spent(&first), squares);
    // Imports count after the ledger is read again.
    near(spent(&Ledger::open(&path).unwrap()), squares);
}

/// Two copies with equal releases in the same second have released twice.
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

/// A shared reservation that is void here and drawn there counts as drawn.
#[test]
fn void_here_and_drawn_there_is_drawn() {
    let (_one, path, mut first) = ledger(Kind::Gaussian);
    let event = gaussian(0.05);
    let mut paying = first.purse_for(asked("riders", &event));
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

/// A shared reservation that is still open here and was drawn there is spent here, too.
#[test]
fn open_here_and_drawn_there_is_drawn() {
    let (_one, path, mut second) = ledger(Kind::Gaussian);
    let event = gaussian(0.05);
    let mut paying = second.purse_for(asked("riders", &event));
    paying.set_aside(&spend(&event)).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let copied = folder.path().join("copy.ledger");
    // Together with its log.
    for ending in ["", "-wal"] {
        let whole = |path: &Path| format!("{}{ending}", path.display());
        if Path::new(&whole(&path)).exists() {
            std::fs::copy(whole(&path), whole(&copied)).unwrap();
        }
    }
    paying.drawn(0).unwrap();
    drop(paying);
    let mut first = Ledger::open(&copied).unwrap();
    assert_eq!(first.books().reservations()[&3].state, State::Reserved);
    assert!(first.take_in(&mut second, &BTreeMap::new(), &note("")).unwrap().is_empty());
    assert_eq!(first.books().reservations()[&3].state, State::Drawn);
    assert!(first.void(3, "officer", "by hand").is_err());
    near(spent(&first), 0.05_f64.powi(2));
}

/// Imports of another ledger are in the quantities of its own limit, with one relation and unit.
#[test]
fn what_was_taken_in_there_counts_here_only_for_the_same_relation() {
    let of = |neighbours| {
        let folder = tempfile::tempdir().unwrap();
        let mut ledger = Ledger::create(&folder.path().join("l"), "tester").unwrap();
        let budget = Budget::new(1.0, 1e-6).unwrap();
        let relation = Relation::new(neighbours, Unit::Record);
        let limit = Limit::new(Kind::Gaussian, None, budget, relation).unwrap();
        ledger.add("riders", limit, &UnitDefinition::NotSaid, &note(""), None, false).unwrap();
        (folder, ledger)
    };
    let neighbours = Neighbours::AddRemove;
    let ((_one, mut first), (_two, mut second)) = (of(Neighbours::ReplaceOne), of(neighbours));
    let (_three, mut third) = of(neighbours);
    let cost = Cost::Gaussian { sensitivity: 0.05, noise_scale: 1.0, grid: None };
    let event = Event::Use { neighbours, unit: Unit::Record, cost };
    third.purse_for(asked("riders", &event)).spend_whole(&spend(&event)).unwrap();
    second.take_in(&mut third, &BTreeMap::new(), &note("")).unwrap();
    let refused = first.take_in(&mut second, &BTreeMap::new(), &note("")).unwrap_err();
    assert!(refused.to_string().contains("relation"), "{refused}");
    assert!(first.books().accounts()["riders"].spent.is_nothing());
    let (_four, mut fourth) = of(neighbours);
    fourth.take_in(&mut second, &BTreeMap::new(), &note("")).unwrap();
    near(spent(&fourth), 0.05_f64.powi(2));
}

/// Copies a closed ledger.
fn copy(path: &Path, folder: &Path, name: &str) -> std::path::PathBuf {
    let copied = folder.join(name);
    std::fs::copy(path, &copied).unwrap();
    copied
}

fn squares(mus: &[f64]) -> f64 {
    mus.iter().map(|mu| mu * mu).sum()
}

/// A fork, and a fork of that, which then diverged: shared entries count once, in any order of import.
#[test]
fn a_fork_of_a_fork_counts_what_they_share_once() {
    let (folder, path, first) = ledger(Kind::Gaussian);
    drop(first);
    let second = copy(&path, folder.path(), "second");
    release(&mut Ledger::open(&second).unwrap(), 0.05);
    let third = copy(&second, folder.path(), "third");
    release(&mut Ledger::open(&second).unwrap(), 0.06);
    release(&mut Ledger::open(&third).unwrap(), 0.07);
    let all = squares(&[0.05, 0.06, 0.07]);
    for order in [[&second, &third], [&third, &second]] {
        let path = copy(&path, folder.path(), "taking");
        let mut taking = Ledger::open(&path).unwrap();
        for other in order {
            let mut other = Ledger::open(other).unwrap();
            taking.take_in(&mut other, &BTreeMap::new(), &note("")).unwrap();
        }
        near(spent(&taking), all);
        assert_eq!(taking.books().accounts()["riders"].releases, 3);
        // Importing again adds nothing, and the result is the same when read again.
        let mut other = Ledger::open(order[0]).unwrap();
        assert!(taking.take_in(&mut other, &BTreeMap::new(), &note("")).unwrap().is_empty());
        drop(taking);
        near(spent(&Ledger::open(&path).unwrap()), all);
        std::fs::remove_file(path).unwrap();
    }
}

/// A release that came through another ledger is recognised when its own ledger is imported, and a
/// ledger's own releases when they come back.
#[test]
fn what_comes_through_others_counts_once() {
    let (folder, path, mut first) = ledger(Kind::Gaussian);
    let second = copy_live(&mut first, &path, folder.path(), "second");
    let third = copy_live(&mut first, &path, folder.path(), "third");
    let (mut second, mut third) = (Ledger::open(&second).unwrap(), Ledger::open(&third).unwrap());
    release(&mut first, 0.05);
    release(&mut second, 0.06);
    release(&mut third, 0.07);
    let take = |into: &mut Ledger, from: &mut Ledger| {
        into.take_in(from, &BTreeMap::new(), &note("")).unwrap();
    };
    take(&mut second, &mut first);
    take(&mut second, &mut third);
    near(spent(&second), squares(&[0.05, 0.06, 0.07]));
    // Its own release came back with the second's, and the third's through it.
    take(&mut first, &mut second);
    near(spent(&first), squares(&[0.05, 0.06, 0.07]));
    take(&mut first, &mut third);
    take(&mut third, &mut first);
    take(&mut first, &mut third);
    for ledger in [&first, &second, &third] {
        near(spent(ledger), squares(&[0.05, 0.06, 0.07]));
        assert_eq!(ledger.books().accounts()["riders"].releases, 3);
    }
}

/// Copies a ledger that was opened and closed meanwhile, so that nothing is in a log.
fn copy_live(ledger: &mut Ledger, path: &Path, folder: &Path, name: &str) -> std::path::PathBuf {
    let other = tempfile::tempdir().unwrap();
    let away = Ledger::create(&other.path().join("l"), "tester").unwrap();
    drop(std::mem::replace(ledger, away));
    let copied = copy(path, folder, name);
    *ledger = Ledger::open(path).unwrap();
    copied
}

/// A release that came back under another data set's name once did not count on that one.
#[test]
fn ones_own_counts_on_another_data_set_when_it_comes_back_as_that() {
    let (folder, path, mut first) = ledger(Kind::Gaussian);
    let limit = crate::world::limit(Kind::Gaussian, 1.0, 1e-6);
    first.add("drivers", limit, &UnitDefinition::NotSaid, &note(""), None, false).unwrap();
    let second = copy_live(&mut first, &path, folder.path(), "second");
    let mut second = Ledger::open(&second).unwrap();
    release(&mut first, 0.05);
    let names = BTreeMap::from([("riders".to_string(), "drivers".to_string())]);
    second.take_in(&mut first, &names, &note("")).unwrap();
    first.take_in(&mut second, &BTreeMap::new(), &note("")).unwrap();
    near(spent(&first), 0.05_f64.powi(2));
    near(first.books().accounts()["drivers"].spent.spent_quantity(), 0.05_f64.powi(2));
}

/// A branch that 0.2.0 imported as a whole is recognised by its last entry.
#[test]
fn what_an_earlier_version_took_in_is_known_again() {
    let (folder, path, first) = ledger(Kind::Gaussian);
    drop(first);
    let second = copy(&path, folder.path(), "second");
    let mut second = Ledger::open(&second).unwrap();
    release(&mut second, 0.05);
    release(&mut second, 0.06);
    let mut first = Ledger::open(&path).unwrap();
    first.take_in(&mut second, &BTreeMap::new(), &note("")).unwrap();
    drop(first);
    // As 0.2.0 wrote it.
    let connection = rusqlite::Connection::open(&path).unwrap();
    let text: String = connection
        .query_row("SELECT text FROM entry WHERE sequence = 3", [], |row| row.get(0))
        .unwrap();
    let (start, end) = (text.find(",\"each\":[").unwrap(), text.rfind("]}").unwrap());
    let old = format!("{}{}", &text[..start], &text[end + 1..]);
    let hash = privet_ledger::entry::hash(&old);
    connection
        .execute("UPDATE entry SET text = ?1, hash = ?2 WHERE sequence = 3", (&old, &hash))
        .unwrap();
    drop(connection);
    let mut first = Ledger::open(&path).unwrap();
    near(spent(&first), squares(&[0.05, 0.06]));
    release(&mut second, 0.07);
    first.take_in(&mut second, &BTreeMap::new(), &note("")).unwrap();
    near(spent(&first), squares(&[0.05, 0.06, 0.07]));
    // An entry whose parts do not add up is refused.
    drop(first);
    let connection = rusqlite::Connection::open(&path).unwrap();
    let text: String = connection
        .query_row("SELECT text FROM entry WHERE sequence = 4", [], |row| row.get(0))
        .unwrap();
    let made_up = text.replace("\"releases\":1", "\"releases\":0");
    let hash = privet_ledger::entry::hash(&made_up);
    connection
        .execute("UPDATE entry SET text = ?1, hash = ?2 WHERE sequence = 4", (&made_up, &hash))
        .unwrap();
    assert!(Ledger::open(&path).is_err());
}

/// Unrelated ledgers with other filters; an import may exceed the limit, and then nothing more fits.
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
    let mut all = third.books().accounts()["riders"].limit.filter.limit.limit();
    let event = gaussian(0.1);
    while all > 0.0 {
        let mut paying = third.purse_for(asked("riders", &event));
        if paying.set_aside(&spend(&event)).is_err() {
            break;
        }
        paying.drawn(0).unwrap();
        all -= 1e-9;
    }
    first.take_in(&mut third, &BTreeMap::new(), &note("")).unwrap();
    let account = &first.books().accounts()["riders"];
    assert!(account.share() > 1.0 && account.proved_epsilon() > limit.epsilon);
    assert!(first.purse_for(asked("riders", &event)).set_aside(&spend(&event)).is_err());
}

#[test]
fn names_may_differ_and_must_be_known() {
    let (_one, _, mut first) = ledger(Kind::Gaussian);
    let (_two, _, mut second) = ledger(Kind::Gaussian);
    first
        .add(
            "drivers",
            crate::world::limit(Kind::Gaussian, 1.0, 1e-6),
            &UnitDefinition::NotSaid,
            &note(""),
            None,
            false,
        )
        .unwrap();
    release(&mut second, 0.05);
    let names = BTreeMap::from([("riders".to_string(), "drivers".to_string())]);
    let merged = first.take_in(&mut second, &names, &note("")).unwrap();
    assert_eq!(merged[0].dataset, "drivers");
    let names = BTreeMap::from([("riders".to_string(), "nobody".to_string())]);
    assert!(first.take_in(&mut second, &names, &note("")).is_err());
}
