//! Ledgers that were edited, truncated, or are no ledgers: nothing is spent from them.

use crate::world::{asked, gaussian, ledger, note, spend, sql};
use privet_core::UnitDefinition;
use privet_ledger::{Kind, Ledger, LedgerError, entry};

fn filled() -> (tempfile::TempDir, std::path::PathBuf) {
    let (folder, path, mut ledger) = ledger(Kind::Renyi);
    for _ in 0..3 {
        let event = gaussian(0.01);
        ledger.purse_for(asked("riders", &event)).spend_whole(&spend(&event)).unwrap();
    }
    assert_eq!(ledger.books().sequence(), 11);
    (folder, path)
}

/// Rewrites an entry, with a hash that fits its text.
fn rewrite(path: &std::path::Path, sequence: u64, edit: impl Fn(&str) -> String) {
    let mut ledger = Ledger::open_read_only(path).unwrap();
    let stored = ledger.entries().unwrap()[sequence as usize - 1].clone();
    drop(ledger);
    let text = edit(&stored.text);
    assert_ne!(text, stored.text, "the edit does nothing");
    let hash = entry::hash(&text);
    let connection = rusqlite::Connection::open(path).unwrap();
    connection
        .execute(
            "UPDATE entry SET text = ?1, hash = ?2 WHERE sequence = ?3",
            (text, hash, sequence as i64),
        )
        .unwrap();
}

fn broken_at(path: &std::path::Path) -> u64 {
    match Ledger::open(path) {
        Err(LedgerError::Broken { sequence, .. }) => sequence,
        other => panic!("{other:?}"),
    }
}

#[test]
fn every_edit_is_found_and_named() {
    type Edit = fn(&std::path::Path);
    let cases: [(&str, Edit, u64); 8] = [
        (
            "text",
            |p| {
                sql(
                    p,
                    "UPDATE entry SET text = replace(text, 'to see', 'to hide') WHERE sequence = 6",
                )
            },
            6,
        ),
        (
            "hash",
            // Changes one digit, whichever it is.
            |p| {
                sql(
                    p,
                    "UPDATE entry SET hash = iif(hash LIKE 'a%', 'b', 'a') || substr(hash, 2)
                        WHERE sequence = 4",
                )
            },
            4,
        ),
        ("missing", |p| sql(p, "DELETE FROM entry WHERE sequence = 5"), 5),
        ("first", |p| sql(p, "DELETE FROM entry WHERE sequence = 1"), 1),
        (
            "swapped",
            |p| {
                sql(
                    p,
                    "UPDATE entry SET sequence = 99 WHERE sequence = 4;
                        UPDATE entry SET sequence = 4 WHERE sequence = 7;
                        UPDATE entry SET sequence = 7 WHERE sequence = 99;",
                )
            },
            4,
        ),
        // With a matching hash: then the entry after does not follow.
        ("rewritten", |p| rewrite(p, 6, |text| text.replace("to see", "to hide")), 7),
        // The last entry: it follows, but states a price lower than its events'.
        (
            "cheap",
            |p| {
                sql(p, "DELETE FROM entry WHERE sequence > 9");
                rewrite(p, 9, cheap)
            },
            9,
        ),
        ("void", |p| rewrite(p, 11, |text| text.replace("settled", "void")), 11),
    ];
    for (name, edit, sequence) in cases {
        let (_folder, path) = filled();
        edit(&path);
        assert_eq!(broken_at(&path), sequence, "{name}");
        assert!(Ledger::open_read_only(&path).is_err(), "{name}");
    }
}

fn cheap(text: &str) -> String {
    let start = text.find("\"spent\":\"").unwrap() + 9;
    let end = start + text[start..].find('"').unwrap();
    format!("{}1{}", &text[..start], &text[end..])
}

/// A limit that its filter does not prove, and a reservation beyond the limit: refused, though forged
/// consistently.
#[test]
fn a_ledger_that_was_made_up_must_add_up() {
    let (_folder, path, mut ledger) = ledger(Kind::Gaussian);
    let event = gaussian(0.2);
    ledger.purse_for(asked("riders", &event)).spend_whole(&spend(&event)).unwrap();
    drop(ledger);
    sql(&path, "DELETE FROM entry WHERE sequence > 2");
    rewrite(&path, 2, |text| text.replace("\"epsilon\":1.0", "\"epsilon\":0.5"));
    assert_eq!(broken_at(&path), 2);
}

/// An entry appended by others that does not follow stops the next write.
#[test]
fn a_writer_that_finds_the_chain_broken_writes_nothing() {
    let (_folder, path) = filled();
    let mut open = Ledger::open(&path).unwrap();
    sql(&path, "INSERT INTO entry VALUES (12, 'no hash', '{}')");
    let event = gaussian(0.01);
    let refused = open.purse_for(asked("riders", &event)).set_aside(&spend(&event)).unwrap_err();
    assert!(matches!(refused, LedgerError::Broken { sequence: 12, .. }), "{refused}");
    let count: i64 = rusqlite::Connection::open(&path)
        .unwrap()
        .query_row("SELECT count(*) FROM entry", [], |row| row.get(0))
        .unwrap();
    assert_eq!(count, 12);
}

/// A ledger truncated at its end still opens: only certificates reveal it.
#[test]
fn what_is_cut_off_is_found_by_certificates_alone() {
    let (_folder, path) = filled();
    let head = Ledger::open_read_only(&path).unwrap().books().head();
    sql(&path, "DELETE FROM entry WHERE sequence > 8");
    let mut shorter = Ledger::open(&path).unwrap();
    assert_eq!(shorter.books().sequence(), 8);
    assert_ne!(shorter.books().head(), head);
    shorter
        .add(
            "more",
            crate::world::limit(Kind::Renyi, 1.0, 1e-6),
            &UnitDefinition::NotSaid,
            &note(""),
            None,
            false,
        )
        .unwrap();
    assert_eq!(shorter.books().sequence(), 9);
}

#[test]
fn a_newer_version_and_other_files_are_refused_in_words() {
    let (_folder, path) = filled();
    sql(&path, "PRAGMA user_version = 2");
    let refused = Ledger::open(&path).unwrap_err().to_string();
    assert!(refused.contains("take a newer one"), "{refused}");
    let (_folder, path) = filled();
    sql(&path, "DELETE FROM entry WHERE sequence > 1");
    rewrite(&path, 1, |text| text.replace("privet-ledger-1", "privet-ledger-2"));
    let refused = Ledger::open(&path).unwrap_err().to_string();
    assert!(refused.contains("privet-ledger-2"), "{refused}");

    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("other");
    assert!(matches!(Ledger::open(&file), Err(LedgerError::Absent { .. })));
    std::fs::write(&file, "age,job\n1,2\n").unwrap();
    assert!(matches!(Ledger::open(&file), Err(LedgerError::NotALedger { .. })));
    assert!(matches!(Ledger::create(&file, "t"), Err(LedgerError::Exists { .. })));
    assert_eq!(std::fs::read(&file).unwrap(), b"age,job\n1,2\n");
    assert!(matches!(Ledger::open(folder.path()), Err(LedgerError::NotALedger { .. })));
    let database = folder.path().join("database");
    sql(&database, "CREATE TABLE t (x)");
    assert!(matches!(Ledger::open(&database), Err(LedgerError::NotALedger { .. })));
}

#[cfg(unix)]
#[test]
fn only_its_owner_may_read_it() {
    use std::os::unix::fs::PermissionsExt;
    let (folder, _path, _ledger) = ledger(Kind::Renyi);
    for file in std::fs::read_dir(folder.path()).unwrap() {
        let file = file.unwrap();
        assert_eq!(file.metadata().unwrap().permissions().mode() & 0o777, 0o600, "{file:?}");
    }
}
