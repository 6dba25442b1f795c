//! Files that are written: their content, their paths, and the files they may replace.

#![cfg(unix)]

use privet_data::write::{Destination, Existing, WriteError, Written, keep};
use std::fs;
use std::io::Read;
use std::os::unix::fs::{FileTypeExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::TempDir;

fn folder() -> TempDir {
    tempfile::tempdir().unwrap()
}

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

fn write(path: &Path, bytes: &[u8], existing: Existing) -> Result<(), WriteError> {
    Destination::open(path, existing)?.write(bytes)
}

fn pipe(path: &Path) -> PathBuf {
    assert!(Command::new("mkfifo").arg(path).status().unwrap().success());
    path.into()
}

#[test]
fn a_new_file_is_its_owners_alone_and_nothing_is_left_beside_it() {
    let folder = folder();
    let path = folder.path().join("model.json");
    write(&path, b"whole", Existing::Keep).unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"whole");
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(names(folder.path()), ["model.json"]);
}

#[test]
fn a_file_that_is_there_is_kept_or_replaced_as_was_said() {
    let folder = folder();
    let path = folder.path().join("model.json");
    fs::write(&path, "old").unwrap();
    let refused = Destination::open(&path, Existing::Keep).unwrap_err();
    assert!(matches!(refused, WriteError::Exists { .. }), "{refused}");
    assert_eq!(fs::read(&path).unwrap(), b"old");
    write(&path, b"new", Existing::Replace).unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"new");
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(names(folder.path()), ["model.json"]);
}

#[test]
fn a_link_stays_and_what_it_leads_to_is_made_or_exchanged() {
    let folder = folder();
    let at = |name: &str| folder.path().join(name);
    fs::create_dir(at("far")).unwrap();
    symlink("far/model.json", at("near")).unwrap();
    symlink("near", at("nearer")).unwrap();
    write(&at("nearer"), b"first", Existing::Keep).unwrap();
    assert_eq!(fs::read(at("far/model.json")).unwrap(), b"first");
    let refused = Destination::open(&at("nearer"), Existing::Keep).unwrap_err();
    assert!(matches!(refused, WriteError::Exists { .. }), "{refused}");
    write(&at("nearer"), b"second", Existing::Replace).unwrap();
    assert_eq!(fs::read(at("far/model.json")).unwrap(), b"second");
    assert_eq!(names(&at("far")), ["model.json"]);
    for link in ["near", "nearer"] {
        assert!(fs::symlink_metadata(at(link)).unwrap().is_symlink());
    }
    symlink("circle", at("circle")).unwrap();
    let refused = Destination::open(&at("circle"), Existing::Replace).unwrap_err();
    assert!(refused.to_string().contains("circle"), "{refused}");
}

#[test]
fn a_device_is_written_through_and_stays_one() {
    for existing in [Existing::Keep, Existing::Replace] {
        write(Path::new("/dev/null"), b"gone", existing).unwrap();
        assert!(fs::symlink_metadata("/dev/null").unwrap().file_type().is_char_device());
    }
    let folder = folder();
    let link = folder.path().join("null");
    symlink("/dev/null", &link).unwrap();
    write(&link, b"gone", Existing::Keep).unwrap();
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    assert!(fs::metadata(&link).unwrap().file_type().is_char_device());
}

#[test]
fn a_pipe_is_written_through_and_stays_one() {
    let folder = folder();
    let path = pipe(&folder.path().join("pipe"));
    let reader = std::thread::spawn({
        let path = path.clone();
        move || fs::read(path).unwrap()
    });
    write(&path, b"through", Existing::Keep).unwrap();
    assert_eq!(reader.join().unwrap(), b"through");
    assert!(fs::symlink_metadata(&path).unwrap().file_type().is_fifo());
    assert_eq!(names(folder.path()), ["pipe"]);
}

#[test]
fn folders_and_places_where_nothing_can_be_made_are_refused_at_once() {
    let folder = folder();
    let at = |name: &str| folder.path().join(name);
    for path in [folder.path().to_path_buf(), at("new/"), at(".."), at("new/.")] {
        let refused = Destination::open(&path, Existing::Replace).unwrap_err();
        assert!(matches!(refused, WriteError::Folder { .. }), "{refused}");
    }
    let refused = Destination::open(&at("none/model.json"), Existing::Keep).unwrap_err();
    assert!(matches!(refused, WriteError::File { .. }), "{refused}");
    assert!(names(folder.path()).is_empty());
}

/// A file, link or device that appears between the check and the writing stays.
#[test]
fn what_appeared_meanwhile_is_kept_and_the_bytes_go_beside_it() {
    for existing in [Existing::Keep, Existing::Replace, Existing::Own] {
        let folder = folder();
        let path = folder.path().join("model.json");
        let destination = Destination::open(&path, existing).unwrap();
        let appeared = match existing {
            Existing::Keep => fs::write(&path, "another"),
            Existing::Replace | Existing::Own => symlink("/dev/null", &path),
        };
        appeared.unwrap();
        fs::write(folder.path().join("model-2.json"), "a third").unwrap();
        let Written { path: kept, instead, .. } = destination.keep(b"paid for").unwrap();
        assert!(matches!(instead, Some(WriteError::Exists { .. })));
        assert_eq!(kept, folder.path().join("model-3.json"));
        assert_eq!(fs::read(&kept).unwrap(), b"paid for");
        assert_eq!(fs::metadata(&kept).unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(names(folder.path()), ["model-2.json", "model-3.json", "model.json"]);
        match existing {
            Existing::Keep => assert_eq!(fs::read(&path).unwrap(), b"another"),
            Existing::Replace | Existing::Own => {
                assert!(fs::symlink_metadata(&path).unwrap().is_symlink());
            }
        }
    }
}

/// A file that cannot be made again is replaced only by its own next state, even if it appeared
/// meanwhile.
#[test]
fn ledgers_keys_journals_and_states_are_kept() {
    let folder = folder();
    let at = |name: &str| folder.path().join(name);
    let key = format!("{}\n", "a1".repeat(32));
    let precious = [
        ("a.ledger", "SQLite format 3\0and more"),
        ("a.ledger-wal", "whatever"),
        ("log", "7\u{7f}\u{6}\u{82}"),
        ("own.key", key.as_str()),
        ("tls.pem", "-----BEGIN PRIVATE KEY-----\nMC4CAQ"),
        ("s.journal", "privet-session-1\nreserve 3f\n"),
        ("s", "{\n  \"format\": \"privet-stream-1\","),
        ("aside", "{\"format\":\"privet-checkpoint-1\","),
        ("o", "{\"format\":\"privet-online-1\","),
    ];
    for (name, text) in precious {
        // The log of a database begins with bytes that are no text.
        let bytes = if name == "log" { &[0x37, 0x7f, 6, 0x82][..] } else { text.as_bytes() };
        let late = Destination::open(&at("late.json"), Existing::Replace).unwrap();
        fs::write(at(name), bytes).unwrap();
        fs::write(at("late.json"), bytes).unwrap();
        symlink(name, at("soft")).unwrap();
        fs::hard_link(at(name), at("hard")).unwrap();
        for path in [name, "soft", "hard"] {
            if path == "hard" && name.ends_with("-wal") {
                continue;
            }
            let refused = Destination::open(&at(path), Existing::Replace).unwrap_err();
            assert!(matches!(refused, WriteError::Precious { .. }), "{path}: {refused}");
            let Written { path: elsewhere, .. } = keep(&at(path), b"x", Existing::Replace).unwrap();
            assert_ne!(elsewhere, at(path));
            fs::remove_file(elsewhere).unwrap();
        }
        if !name.ends_with("-wal") {
            let Written { path, .. } = late.keep(b"paid for").unwrap();
            assert_ne!(path, at("late.json"), "{name} appeared meanwhile");
            fs::remove_file(path).unwrap();
        }
        for path in ["soft", "hard", "late.json"] {
            fs::remove_file(at(path)).unwrap();
        }
        assert_eq!(fs::read(at(name)).unwrap(), bytes);
        Destination::open(&at(name), Existing::Own).unwrap();
    }
    // A name beside a database is reserved before the file exists; beside anything else it is not.
    for (name, free) in [("a.ledger-shm", false), ("a.ledger-journal", false), ("model-wal", true)]
    {
        assert_eq!(Destination::open(&at(name), Existing::Keep).is_ok(), free, "{name}");
    }
    // A release, a table and a digest with its name are not precious.
    for text in
        ["{\"format\": \"privet-2\", \"kind\": \"linear\"}", "x,y\n1,2\n", &format!("{key} file")]
    {
        fs::write(at("model.json"), text).unwrap();
        Destination::open(&at("model.json"), Existing::Replace).unwrap();
    }
}

/// A name of 255 bytes leaves no room for a number.
#[test]
fn a_name_as_long_as_can_be_loses_nothing() {
    let folder = folder();
    let path = folder.path().join("m".repeat(255));
    let destination = Destination::open(&path, Existing::Keep).unwrap();
    fs::write(&path, b"another's").unwrap();
    let Written { path: found, instead, .. } = destination.keep(b"paid for").unwrap();
    assert!(matches!(instead, Some(WriteError::Exists { .. })), "{instead:?}");
    assert_eq!(found, folder.path().join("privet-model-2.json"));
    assert_eq!(fs::read(&found).unwrap(), b"paid for");
    assert_eq!(fs::read(&path).unwrap(), b"another's");
    // A name that is too long from the start.
    let Written { path: found, instead, .. } =
        keep(&folder.path().join("m".repeat(300)), b"paid for too", Existing::Keep).unwrap();
    assert!(matches!(instead, Some(WriteError::File { .. })), "{instead:?}");
    assert_eq!(found, folder.path().join("privet-model-3.json"));
    assert_eq!(fs::read(&found).unwrap(), b"paid for too");
}

#[test]
fn a_folder_that_vanished_loses_nothing() {
    let folder = folder();
    let gone = folder.path().join("gone");
    fs::create_dir(&gone).unwrap();
    let destination = Destination::open(&gone.join("model.json"), Existing::Keep).unwrap();
    fs::remove_dir(&gone).unwrap();
    let kept = destination.keep(b"paid for").unwrap();
    assert!(matches!(kept.instead, Some(WriteError::File { .. })));
    assert_eq!(fs::read(&kept.path).unwrap(), b"paid for");
    fs::remove_file(kept.path).unwrap();
}

#[test]
fn a_pipe_whose_reader_left_loses_nothing() {
    let folder = folder();
    let path = pipe(&folder.path().join("pipe"));
    let reader = std::thread::spawn({
        let path = path.clone();
        move || drop(fs::File::open(path).unwrap())
    });
    let destination = Destination::open(&path, Existing::Keep).unwrap();
    reader.join().unwrap();
    let kept = destination.keep(b"paid for").unwrap();
    assert!(matches!(kept.instead, Some(WriteError::File { .. })));
    assert_eq!(fs::read(&kept.path).unwrap(), b"paid for");
    fs::remove_file(kept.path).unwrap();
    assert!(fs::symlink_metadata(&path).unwrap().file_type().is_fifo());
}

#[test]
fn a_path_nobody_looked_at_before() {
    let folder = folder();
    let path = folder.path().join("model");
    assert!(keep(&path, b"one", Existing::Keep).unwrap().instead.is_none());
    assert!(keep(&path, b"one", Existing::Keep).unwrap().instead.is_none(), "it is there");
    let two = keep(&path, b"two", Existing::Keep).unwrap();
    assert!(matches!(two.instead, Some(WriteError::Exists { .. })));
    assert_eq!(two.path, folder.path().join("model-2"));
    assert!(keep(&path, b"three", Existing::Replace).unwrap().instead.is_none());
    assert_eq!(fs::read(&path).unwrap(), b"three");
    assert_eq!(fs::read(&two.path).unwrap(), b"two");
}

/// Part of `killed_in_the_middle`: writes without end until it is killed.
#[test]
#[ignore = "never ends; run by killed_in_the_middle"]
fn writes_for_ever() {
    let path = PathBuf::from(std::env::var_os("PRIVET_TEST_WRITES_TO").unwrap());
    let bytes = vec![b'x'; 1 << 20];
    println!("begun");
    loop {
        write(&path, &bytes, Existing::Replace).unwrap();
    }
}

/// Killed at any moment: the file is absent, or whole. A part may be left under a temporary name.
#[test]
fn killed_in_the_middle() {
    let folder = folder();
    let path = folder.path().join("model.json");
    for round in 0..20 {
        let _ = fs::remove_file(&path);
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--ignored", "--exact", "--nocapture", "writing::writes_for_ever"])
            .env("PRIVET_TEST_WRITES_TO", &path)
            .stdout(std::process::Stdio::piped())
            .spawn()
            .unwrap();
        let mut said = child.stdout.take().unwrap();
        let mut words = Vec::new();
        while !String::from_utf8_lossy(&words).contains("begun") {
            let mut byte = [0];
            said.read_exact(&mut byte).unwrap();
            words.push(byte[0]);
        }
        // A different moment each time.
        for _ in 0..round * 10_000 {
            std::hint::spin_loop();
        }
        child.kill().unwrap();
        child.wait().unwrap();
        match fs::metadata(&path) {
            Ok(found) => assert_eq!(found.len(), 1 << 20),
            Err(error) => assert_eq!(error.kind(), std::io::ErrorKind::NotFound),
        }
        for name in names(folder.path()) {
            let part = name.starts_with(".privet-") && name.ends_with(".part");
            assert!(name == "model.json" || part, "{name}");
        }
    }
}
