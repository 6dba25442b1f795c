//! Reading changes nothing, and a foreign schema is refused.

use crate::world::{asked, gaussian, ledger, spend, sql};
use privet_ledger::{Kind, Ledger, LedgerError};
use rusqlite::Connection;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Every file of a folder with its bytes, except SQLite's index of a log, in which readers leave marks.
fn contents(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let files = std::fs::read_dir(folder).unwrap().map(|file| file.unwrap().path());
    let kept = files.filter(|path| !path.to_string_lossy().ends_with("-shm"));
    kept.map(|path| (path.clone(), std::fs::read(&path).unwrap())).collect()
}

fn names(folder: &Path) -> Vec<PathBuf> {
    let mut all: Vec<PathBuf> =
        std::fs::read_dir(folder).unwrap().map(|file| file.unwrap().path()).collect();
    all.sort();
    all
}

/// Neither reading nor opening a file of another program changes it or creates anything beside it.
#[test]
fn files_of_other_programs_stay_as_they_are() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    std::fs::write(at("empty"), "").unwrap();
    std::fs::write(at("text"), "age,job\n1,2\n").unwrap();
    std::fs::write(at("magic"), "SQLite format 3\0").unwrap();
    sql(&at("plain"), "CREATE TABLE t (x); INSERT INTO t VALUES (1)");
    sql(&at("marked"), "PRAGMA application_id = 7; CREATE TABLE t (x)");
    sql(
        &at("newer"),
        "PRAGMA application_id = 1886549620; PRAGMA user_version = 9; CREATE TABLE t (x)",
    );
    // One with a log that its program has open, and one closed in that mode.
    sql(&at("resting"), "PRAGMA journal_mode = WAL; CREATE TABLE t (x)");
    let live = Connection::open(at("live")).unwrap();
    live.execute_batch("PRAGMA journal_mode = WAL; CREATE TABLE t (x); INSERT INTO t VALUES (1)")
        .unwrap();
    assert!(at("live-wal").metadata().unwrap().len() > 0);
    let (before, files) = (contents(folder.path()), names(folder.path()));
    for name in ["empty", "text", "magic", "plain", "marked", "newer", "resting", "live"] {
        for refused in [Ledger::open_read_only(&at(name)), Ledger::open(&at(name))] {
            let refused = refused.unwrap_err();
            let known = matches!(&refused, LedgerError::NotALedger { .. })
                || (name == "newer" && matches!(&refused, LedgerError::Version { .. }));
            assert!(known, "{name}: {refused}");
        }
        assert_eq!(names(folder.path()), files, "{name}");
        assert!(contents(folder.path()) == before, "{name} was changed");
    }
}

#[test]
fn looking_at_a_ledger_changes_nothing() {
    let (folder, path, mut open) = ledger(Kind::Renyi);
    let event = gaussian(0.01);
    open.purse_for(asked("riders", &event)).spend_whole(&spend(&event)).unwrap();
    let head = open.books().head();
    // Its newest entries are in the log alone.
    let before = contents(folder.path());
    assert_eq!(Ledger::open_read_only(&path).unwrap().books().head(), head);
    assert!(contents(folder.path()) == before);
    drop(open);
    assert_eq!(names(folder.path()), std::slice::from_ref(&path));
    let before = contents(folder.path());
    assert_eq!(Ledger::open_read_only(&path).unwrap().books().head(), head);
    assert!(contents(folder.path()) == before);
    assert_eq!(names(folder.path()), [path]);
}

/// A reader sees entries written meanwhile at its next read.
#[test]
fn whoever_looks_sees_what_is_written_meanwhile() {
    let (_folder, path, open) = ledger(Kind::Renyi);
    drop(open);
    let mut looking = Ledger::open_read_only(&path).unwrap();
    let mut open = Ledger::open(&path).unwrap();
    let event = gaussian(0.01);
    open.purse_for(asked("riders", &event)).spend_whole(&spend(&event)).unwrap();
    looking.catch_up().unwrap();
    assert_eq!(looking.books().head(), open.books().head());
    open.purse_for(asked("riders", &event)).spend_whole(&spend(&event)).unwrap();
    drop(open);
    looking.catch_up().unwrap();
    assert_eq!(looking.books().head(), Ledger::open_read_only(&path).unwrap().books().head());
}

/// Earlier versions wrote even the application id into the log first: killed then, the file itself has
/// none.
#[test]
fn a_ledger_whose_marks_are_in_its_log_alone_is_one() {
    let (_folder, path, open) = ledger(Kind::Renyi);
    let head = open.books().head();
    drop(open);
    let folder = tempfile::tempdir().unwrap();
    let old = folder.path().join("old.ledger");
    let made = Connection::open(&old).unwrap();
    made.execute_batch("PRAGMA journal_mode = WAL").unwrap();
    let from = format!("ATTACH '{}' AS made", path.display());
    made.execute_batch(&from).unwrap();
    let texts: Vec<String> = made
        .prepare("SELECT sql FROM made.sqlite_master WHERE sql IS NOT NULL")
        .unwrap()
        .query_map([], |row| row.get(0))
        .unwrap()
        .map(Result::unwrap)
        .collect();
    made.execute_batch(&format!(
        "BEGIN; {}; INSERT INTO entry SELECT * FROM made.entry; INSERT INTO secret SELECT * FROM made.secret;
         PRAGMA main.application_id = 1886549620; PRAGMA main.user_version = 1; COMMIT",
        texts.join("; ")
    ))
    .unwrap();
    assert_eq!(std::fs::read(&old).unwrap()[68..72], [0; 4], "the marks are in the file");
    assert_eq!(Ledger::open_read_only(&old).unwrap().books().head(), head);
    assert_eq!(Ledger::open(&old).unwrap().books().head(), head);
}

const PLANTED: [(&str, &str); 8] = [
    (
        "trigger 'gone'",
        "CREATE TRIGGER gone BEFORE INSERT ON entry BEGIN SELECT RAISE(IGNORE); END",
    ),
    (
        "trigger 'gone'",
        "CREATE TRIGGER gone AFTER INSERT ON entry WHEN new.text LIKE '%\"reserved\"%'
         BEGIN DELETE FROM entry WHERE sequence = new.sequence; END",
    ),
    ("view 'also'", "CREATE VIEW also AS SELECT * FROM entry"),
    ("table 'also'", "CREATE TABLE also (x)"),
    ("index 'fast'", "CREATE UNIQUE INDEX fast ON entry (text)"),
    ("table 'entry'", "ALTER TABLE entry ADD COLUMN more TEXT"),
    ("table 'identity'", "DROP TABLE identity"),
    (
        "table 'kept'",
        "ALTER TABLE entry RENAME TO kept; CREATE VIEW entry AS SELECT * FROM kept WHERE sequence < 3",
    ),
];

/// A trigger once made spending vanish silently, and `budget verify` found nothing.
#[test]
fn tables_that_are_not_the_programs_are_refused() {
    for (what, planted) in PLANTED {
        let (_folder, path, open) = ledger(Kind::Renyi);
        drop(open);
        sql(&path, planted);
        for refused in [Ledger::open(&path), Ledger::open_read_only(&path)] {
            let refused = refused.unwrap_err();
            assert!(matches!(&refused, LedgerError::Foreign { .. }), "{planted}: {refused}");
            let actual = refused.to_string();
            let named = what.split(' ').next_back().unwrap();
            // For a table turned into a view both names differ somewhere; the first difference is
            // reported.
            assert!(actual.contains(named) || planted.contains("RENAME"), "{planted}: {actual}");
        }
    }
}

/// A trigger planted under an open ledger stops the next write, and nothing is written.
#[test]
fn what_is_planted_while_a_ledger_is_open_stops_the_next_write() {
    for (_, planted) in PLANTED {
        let (_folder, path, mut open) = ledger(Kind::Renyi);
        sql(&path, planted);
        let event = gaussian(0.01);
        let refused =
            open.purse_for(asked("riders", &event)).set_aside(&spend(&event)).unwrap_err();
        // If the table itself was replaced, the reading before may already fail.
        assert!(
            matches!(&refused, LedgerError::Foreign { .. } | LedgerError::Environment { .. }),
            "{planted}: {refused}"
        );
        assert_eq!(open.books().sequence(), 2, "{planted}");
    }
}
