//! A table is recognised under any name.

use crate::world::{ledger, limit, note};
use privet_core::UnitDefinition;
use privet_ledger::identity::TableFingerprint;
use privet_ledger::{Kind, Ledger, LedgerError};

fn print(ledger: &mut Ledger, rows: std::ops::Range<u32>) -> TableFingerprint {
    let mut printer = ledger.printer().unwrap().unwrap();
    rows.for_each(|row| printer.row(&row.to_le_bytes()));
    printer.finish()
}

fn refused(outcome: Result<(), LedgerError>) -> String {
    match outcome {
        Err(LedgerError::Identity(words)) => words,
        other => panic!("{other:?}"),
    }
}

#[test]
fn tables_are_known_by_their_rows() {
    let (_folder, path, mut ledger) = ledger(Kind::Renyi);
    let limit = limit(Kind::Renyi, 1.0, 1e-6);
    let table = print(&mut ledger, 0..5000);
    ledger
        .add("patients", limit, &UnitDefinition::NotSaid, &note(""), Some(table.clone()), false)
        .unwrap();

    // The same rows under another name, with rows added, removed, half of them, none of them.
    let words = refused(ledger.add(
        "renamed",
        limit,
        &UnitDefinition::NotSaid,
        &note(""),
        Some(table.clone()),
        false,
    ));
    assert!(words.contains("'patients'"), "{words}");
    let words = refused(ledger.add(
        "renamed",
        limit,
        &UnitDefinition::NotSaid,
        &note(""),
        Some(table.clone()),
        true,
    ));
    assert!(words.contains("already"), "{words}");
    for rows in [0..6000, 100..200, 3000..8000] {
        let other = print(&mut ledger, rows);
        let words = refused(ledger.add(
            "other",
            limit,
            &UnitDefinition::NotSaid,
            &note(""),
            Some(other),
            false,
        ));
        assert!(words.contains("--same-as 'patients'") && words.contains("--new"), "{words}");
    }
    let few = print(&mut ledger, 4900..9000);
    ledger.add("next year", limit, &UnitDefinition::NotSaid, &note(""), Some(few), false).unwrap();
    let half = print(&mut ledger, 3000..4900);
    ledger
        .add("a cohort", limit, &UnitDefinition::NotSaid, &note(""), Some(half.clone()), true)
        .unwrap();
    assert_eq!(ledger.books().accounts()["a cohort"].shares_rows_with, ["patients"]);

    // Spending on it.
    ledger.recognise("patients", &table, false, &note("")).unwrap();
    ledger.recognise("a cohort", &half, false, &note("")).unwrap();
    let words = refused(ledger.recognise("next year", &table, false, &note("")));
    assert!(words.contains("'patients'"), "{words}");
    let words = refused(ledger.recognise("next year", &table, true, &note("")));
    assert!(words.contains("'patients'"), "same as one that it is not: {words}");
    let grown = print(&mut ledger, 0..5400);
    let words = refused(ledger.recognise("patients", &grown, false, &note("")));
    assert!(words.contains("--same-as"), "{words}");
    let foreign = print(&mut ledger, 100_000..101_000);
    let words = refused(ledger.recognise("patients", &foreign, false, &note("")));
    assert!(words.contains("hardly a row"), "{words}");
    // A data set that was opened without a table adopts the first one.
    ledger.recognise("riders", &foreign, false, &note("")).unwrap();
    let words = refused(ledger.recognise("patients", &foreign, true, &note("")));
    assert!(words.contains("'riders'"), "{words}");
    drop(ledger);
    let mut again = Ledger::open(&path).unwrap();
    again.recognise("riders", &foreign, false, &note("")).unwrap();
}

#[test]
fn tables_that_grow_count_as_the_same() {
    let (_folder, _, mut ledger) = ledger(Kind::Renyi);
    let (small, grown) = (print(&mut ledger, 0..1000), print(&mut ledger, 0..1300));
    ledger.recognise("riders", &small, false, &note("")).unwrap();
    ledger.recognise("riders", &grown, true, &note("")).unwrap();
    ledger.recognise("riders", &grown, false, &note("")).unwrap();
    ledger.recognise("riders", &small, false, &note("")).unwrap();
}

/// Another ledger has another secret: prints of different ledgers cannot be compared.
#[test]
fn prints_are_keyed() {
    let (_one, _, mut first) = ledger(Kind::Renyi);
    let (_two, _, mut second) = ledger(Kind::Renyi);
    let (a, b) = (print(&mut first, 0..100), print(&mut second, 0..100));
    assert!(!a.has_same_rows(&b) && a.overlap(&b) == 0.0);
    assert_eq!(format!("{a:?}"), "Print(withheld)");
}

/// Neither secret nor sketch nor fingerprint is in an export.
#[test]
fn an_export_has_nothing_of_the_tables() {
    let (_folder, path, mut ledger) = ledger(Kind::Renyi);
    let table = print(&mut ledger, 0..50);
    ledger.recognise("riders", &table, false, &note("")).unwrap();
    let text = privet_ledger::as_json(&mut ledger).unwrap().to_string();
    let csv = privet_ledger::as_csv(&ledger);
    let connection = rusqlite::Connection::open(&path).unwrap();
    let blob =
        |query: &str| -> Vec<u8> { connection.query_row(query, [], |row| row.get(0)).unwrap() };
    for secret in [blob("SELECT key FROM secret"), blob("SELECT fingerprint FROM identity")] {
        let hex: String = secret.iter().map(|byte| format!("{byte:02x}")).collect();
        assert!(secret.len() == 32 && !text.contains(&hex) && !csv.contains(&hex));
    }
    assert!(!text.contains("sketch") && !text.contains("fingerprint"));
}
