//! Units: spending on one unit does not count for another.

use crate::world::{limit, note, spend};
use privet_core::{Budget, Neighbours, Relation, Spelling, Unit, UnitDefinition};
use privet_dp::account::{Cost, Event, guarantee};
use privet_dp::gate::{Arithmetic, Certificate, Private, Purse, Session, Statement};
use privet_dp::mechanism::Gaussian;
use privet_dp::noise::SystemRandom;
use privet_ledger::{BudgetRequest, Kind, Ledger, LedgerError, Limit, entry};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

const USER: Unit = Unit::User { max_records: 5 };

fn event(unit: Unit) -> Event {
    let cost = Cost::Gaussian { sensitivity: 0.05, noise_scale: 1.0, grid: None };
    Event::Use { neighbours: Neighbours::ReplaceOne, unit, cost }
}

fn asked(dataset: &str) -> BudgetRequest {
    let claim = Some(guarantee(&event(USER), 1e-7).unwrap());
    BudgetRequest {
        dataset: dataset.into(),
        doing: "test".into(),
        note: note(""),
        claim,
        whole: false,
    }
}

fn users() -> Limit {
    let relation = Relation::new(Neighbours::ReplaceOne, USER);
    Limit::new(Kind::Gaussian, None, Budget::new(1.0, 1e-6).unwrap(), relation).unwrap()
}

/// A ledger with a limit on users, defined by `whose`.
fn opened(whose: &UnitDefinition) -> (TempDir, PathBuf, Ledger) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("budget.ledger");
    let mut ledger = Ledger::create(&path, "tester").unwrap();
    ledger.add("riders", users(), whose, &note(""), None, false).unwrap();
    (folder, path, ledger)
}

fn reserve(ledger: &mut Ledger, whose: &UnitDefinition) -> Result<(), LedgerError> {
    let mut paying = ledger.purse_for(asked("riders"));
    paying.of(whose.clone());
    paying.set_aside(&spend(&event(USER)))?;
    paying.drawn(0).unwrap();
    Ok(())
}

fn whose(ledger: &Ledger) -> &UnitDefinition {
    &ledger.books().accounts()["riders"].whose
}

/// A budget for people once paid for all visits of a person, as if each were another person.
#[test]
fn a_limit_on_people_pays_for_no_visits() {
    let (id, visit) = (UnitDefinition::column("id"), UnitDefinition::column("visit"));
    let (_folder, path, mut ledger) = opened(&id);
    let number =
        UnitDefinition::Column { column: "id".into(), trim: true, spelling: Spelling::Number };
    let blanks =
        UnitDefinition::Column { column: "id".into(), trim: false, spelling: Spelling::Text };
    for other in [visit, number, blanks] {
        let refused = reserve(&mut ledger, &other).unwrap_err();
        assert!(matches!(refused, LedgerError::OtherUnit { .. }), "{refused}");
        assert!(refused.is_refusal());
        let words = refused.to_string();
        assert!(words.contains(&id.to_string()) && words.contains(&other.to_string()), "{words}");
    }
    for unsaid in [UnitDefinition::NotSaid, UnitDefinition::Records] {
        let refused = reserve(&mut ledger, &unsaid).unwrap_err();
        assert!(matches!(refused, LedgerError::UnitNotSaid(_)), "{refused}");
    }
    assert_eq!(ledger.books().sequence(), 2, "nothing was written down");
    reserve(&mut ledger, &id).unwrap();
    let again = Ledger::open_read_only(&path).unwrap();
    assert_eq!(whose(&again), &id);
    assert_eq!(again.books().reservations()[&3].whose, id);
}

/// If the opening states no unit the first release that counts does; a void one does not.
#[test]
fn the_first_release_says_it() {
    let (_folder, path, mut ledger) = opened(&UnitDefinition::NotSaid);
    let (id, visit) = (UnitDefinition::column("id"), UnitDefinition::column("visit"));
    let mut paying = ledger.purse_for(asked("riders"));
    paying.of(visit.clone());
    paying.set_aside(&spend(&event(USER))).unwrap();
    drop(paying);
    assert_eq!(whose(&ledger), &UnitDefinition::NotSaid, "it is void");
    reserve(&mut ledger, &id).unwrap();
    assert_eq!(whose(&ledger), &id);
    assert!(matches!(reserve(&mut ledger, &visit), Err(LedgerError::OtherUnit { .. })));
    let stated = ledger.state_unit("riders", &visit, &note(""));
    assert!(matches!(stated, Err(LedgerError::OtherUnit { .. })));
    assert_eq!(whose(&Ledger::open_read_only(&path).unwrap()), &id);
}

/// The session's unit is compared with the reserved one, whoever reserved it.
#[test]
fn a_session_about_others_than_was_reserved_is_refused() {
    let (_folder, _, mut ledger) = opened(&UnitDefinition::column("id"));
    let mut paying = ledger.purse_for(asked("riders"));
    paying.of(UnitDefinition::column("id"));
    paying.set_aside(&spend(&event(USER))).unwrap();
    paying.of(UnitDefinition::column("visit"));
    paying.spent_on(&UnitDefinition::column("id")).unwrap();
    assert!(paying.spent_on(&UnitDefinition::column("visit")).is_err());
}

/// For records no unit is written, so that 0.2.0 can read the ledger.
#[test]
fn of_records_nothing_is_written() {
    let (_folder, _, mut ledger) = crate::world::ledger(Kind::Gaussian);
    assert_eq!(whose(&ledger), &UnitDefinition::Records);
    let event = event(Unit::Record);
    let mut paying = ledger.purse_for(crate::world::asked("riders", &event));
    paying.of(UnitDefinition::Records);
    paying.spend_whole(&spend(&event)).unwrap();
    for stored in ledger.entries().unwrap() {
        assert!(!stored.text.contains("whose"), "{}", stored.text);
    }
    assert!(limit(Kind::Gaussian, 1.0, 1e-6).holds());
}

/// A ledger as version 0.2.0 wrote it, with one release.
fn golden() -> (TempDir, PathBuf) {
    golden_with(str::to_string)
}

/// The same with edited entries, chained again.
fn golden_with(edit: impl Fn(&str) -> String) -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("old.ledger");
    drop(Ledger::create(&path, "tester").unwrap());
    let connection = rusqlite::Connection::open(&path).unwrap();
    connection.execute("DELETE FROM entry", []).unwrap();
    let insert = "INSERT INTO entry VALUES (?1, ?2, ?3)";
    let mut previous = [entry::NO_PREDECESSOR.to_string(), entry::NO_PREDECESSOR.to_string()];
    for (at, text) in include_str!("../golden/0.2.0-user.jsonl").lines().enumerate() {
        let edited = edit(&text.replace(&previous[0], &previous[1]));
        previous = [entry::hash(text), entry::hash(&edited)];
        connection.execute(insert, (at as i64 + 1, &previous[1], edited)).unwrap();
    }
    (folder, path)
}

#[test]
fn a_ledger_of_an_earlier_version_says_that_it_does_not_know() {
    let (_folder, path) = golden();
    let mut ledger = Ledger::open(&path).unwrap();
    let account = &ledger.books().accounts()["t"];
    assert_eq!((&account.whose, account.releases), (&UnitDefinition::NotSaid, 1));
    let id = UnitDefinition::column("id");
    let pay = |ledger: &mut Ledger, whose: &UnitDefinition| {
        let mut paying = ledger.purse_for(asked("t"));
        paying.of(whose.clone());
        paying.set_aside(&spend(&event(USER)))
    };
    let refused = pay(&mut ledger, &id).unwrap_err().to_string();
    assert!(refused.contains("does not know") && refused.contains("budget unit"), "{refused}");
    for nobody in [UnitDefinition::Records, UnitDefinition::NotSaid] {
        ledger.state_unit("t", &nobody, &note("")).unwrap_err();
    }
    ledger.state_unit("t", &id, &note("")).unwrap();
    ledger.state_unit("t", &id, &note("")).unwrap();
    assert_eq!(ledger.books().sequence(), 6, "stated once");
    pay(&mut ledger, &id).unwrap();
    assert!(pay(&mut ledger, &UnitDefinition::column("visit")).is_err());
    assert_eq!(Ledger::open_read_only(&path).unwrap().books().accounts()["t"].whose, id);
}

/// An entry that counts another unit is refused, even with correct hashes.
#[test]
fn a_chain_that_mixes_units_is_broken() {
    let (_folder, path, mut ledger) = opened(&UnitDefinition::column("id"));
    reserve(&mut ledger, &UnitDefinition::column("id")).unwrap();
    drop(ledger);
    let edit = |text: &str| {
        let connection = rusqlite::Connection::open(&path).unwrap();
        connection.execute("DELETE FROM entry WHERE sequence > 3", []).unwrap();
        connection
            .execute(
                "UPDATE entry SET text = ?1, hash = ?2 WHERE sequence = 3",
                (text, entry::hash(text)),
            )
            .unwrap();
    };
    let text = Ledger::open_read_only(&path).unwrap().entries().unwrap()[2].text.clone();
    let said = "\"whose\":{\"kind\":\"column\",\"column\":\"id\"},";
    assert!(text.contains(said), "{text}");
    for other in ["", "\"whose\":{\"kind\":\"column\",\"column\":\"visit\"},"] {
        edit(&text.replace(said, other));
        let broken = Ledger::open_read_only(&path).unwrap_err();
        assert!(matches!(broken, LedgerError::Broken { sequence: 3, .. }), "{broken}");
    }
    edit(&text);
    Ledger::open_read_only(&path).unwrap();
}

/// Spending of another ledger on other units, or on a unit not stated, is not imported.
#[test]
fn another_unit_is_not_taken_in() {
    let take = |into: &mut Ledger, from: &Path| {
        into.take_in(&mut Ledger::open_read_only(from).unwrap(), &BTreeMap::new(), &note(""))
    };
    let (id, visit) = (UnitDefinition::column("id"), UnitDefinition::column("visit"));
    let (_one, theirs, mut other) = opened(&visit);
    reserve(&mut other, &visit).unwrap();
    let (_two, _, mut ledger) = opened(&id);
    let refused = take(&mut ledger, &theirs).unwrap_err().to_string();
    assert!(refused.contains("\"visit\"") && refused.contains("\"id\""), "{refused}");
    // If no unit was stated here and nothing counts yet, the import states it.
    let (_three, path, mut open) = opened(&UnitDefinition::NotSaid);
    take(&mut open, &theirs).unwrap();
    assert_eq!(whose(&open), &visit);
    assert_eq!(whose(&Ledger::open_read_only(&path).unwrap()), &visit);
    let (_four, old) = golden();
    let names = BTreeMap::from([("t".to_string(), "riders".to_string())]);
    let refused =
        ledger.take_in(&mut Ledger::open_read_only(&old).unwrap(), &names, &note("")).unwrap_err();
    assert!(refused.to_string().contains("budget unit"), "{refused}");
}

/// Two units that were not stated are not known to be the same: they must be stated in both ledgers
/// first.
#[test]
fn what_is_not_known_is_not_taken_into_what_is_not_known() {
    let id = UnitDefinition::column("id");
    let (_one, known) = golden();
    let (_two, other) = golden_with(|text| text.replace("981655a2", "00000000"));
    let names = BTreeMap::from([("t".to_string(), "riders".to_string())]);
    let (_three, _, open) = opened(&UnitDefinition::NotSaid);
    for (mut ledger, names) in [(Ledger::open(&known).unwrap(), &BTreeMap::new()), (open, &names)] {
        let before = ledger.books().sequence();
        let mut from = Ledger::open_read_only(&other).unwrap();
        let refused = ledger.take_in(&mut from, names, &note("")).unwrap_err().to_string();
        assert!(refused.contains("not said there") && refused.contains("budget unit"), "{refused}");
        assert_eq!(ledger.books().sequence(), before, "nothing was taken in");
    }
    let (mut ledger, mut from) = (Ledger::open(&known).unwrap(), Ledger::open(&other).unwrap());
    from.state_unit("t", &id, &note("")).unwrap();
    assert!(ledger.take_in(&mut from, &BTreeMap::new(), &note("")).is_err(), "stated on one side");
    ledger.state_unit("t", &id, &note("")).unwrap();
    ledger.take_in(&mut from, &BTreeMap::new(), &note("")).unwrap();
    assert_eq!(ledger.books().accounts()["t"].releases, 2);
}

/// A quote is for the limit's unit, too; a plan may leave its unit open.
#[test]
fn a_price_is_of_the_same_unit() {
    let (_folder, _, mut ledger) = opened(&UnitDefinition::column("id"));
    let mut quote =
        |whose: &UnitDefinition| ledger.quote(&asked("riders"), whose, &spend(&event(USER)));
    assert!(quote(&UnitDefinition::column("id")).unwrap().fits);
    assert!(quote(&UnitDefinition::NotSaid).unwrap().fits);
    let refused = quote(&UnitDefinition::column("visit")).unwrap_err();
    assert!(matches!(refused, LedgerError::OtherUnit { .. }), "{refused}");
}

/// A release paid for with this budget, with its certificate.
fn released(ledger: &mut Ledger, whose: &UnitDefinition) -> Certificate {
    let (sensitivity, noise_scale) = (1.0, 50.0);
    let neighbours = Neighbours::ReplaceOne;
    let law = Gaussian { neighbours, unit: USER, sensitivity, noise_scale, coordinates: 1 };
    let event = law.event().unwrap();
    let claim = guarantee(&event, 1e-7).unwrap();
    let request = serde_json::json!({});
    let statement = Statement {
        claim,
        arithmetic: Arithmetic::Finite,
        notes: vec![],
        conditions: vec![],
        request,
    };
    let mut source = SystemRandom::new().unwrap();
    let mut paying = ledger.purse_for(BudgetRequest { claim: Some(claim), ..asked("riders") });
    paying.of(whose.clone());
    let mut session = Session::open(spend(&event), &mut source, &mut paying).unwrap();
    let noisy = law.run(Private::new(vec![1.0]), &mut session).unwrap();
    session.settle(noisy, statement).unwrap().certificate().clone()
}

#[test]
fn a_certificate_of_another_unit_fits_no_entry() {
    let (_folder, _, mut ledger) = opened(&UnitDefinition::NotSaid);
    let id = UnitDefinition::column("id");
    let certificate = released(&mut ledger, &id);
    for fits in [&id, &UnitDefinition::NotSaid] {
        ledger.check_certificate(&certificate, fits).unwrap();
    }
    let blanks =
        UnitDefinition::Column { column: "id".into(), trim: false, spelling: Spelling::Text };
    for other in [UnitDefinition::column("visit"), blanks] {
        let refused = ledger.check_certificate(&certificate, &other).unwrap_err().to_string();
        assert!(refused.contains(&id.to_string()) && refused.contains(&other.to_string()));
    }
}

/// An export states the unit, by the release or as stated later.
#[test]
fn an_export_has_the_unit() {
    let (_folder, path) = golden();
    let mut ledger = Ledger::open(&path).unwrap();
    let unit = |ledger: &Ledger| {
        let text = privet_ledger::as_csv(ledger);
        let (first, second) = text.trim_end().split_once('\n').unwrap();
        assert!(first.ends_with(",unit"), "{first}");
        second
            .rsplit_once(",\"")
            .map_or(second.rsplit(',').next().unwrap().to_string(), |(_, end)| end.into())
    };
    assert_eq!(unit(&ledger), "not said");
    ledger.state_unit("t", &UnitDefinition::column("id"), &note("")).unwrap();
    assert_eq!(unit(&ledger), "the records with one value of \"\"id\"\"\"");
}
