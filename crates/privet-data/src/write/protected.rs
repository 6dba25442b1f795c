//! Files that cannot be made again, which are never overwritten, even if replacing is allowed: ledgers
//! and the files that SQLite keeps beside them, secret keys, journals of draws, suspended sessions.
//!
//! They are recognised by their first bytes, so that links and other names do not matter; files beside
//! a database are recognised by their names as well, since a file that does not exist yet would be
//! taken for a part of it. A resumed run writes its own state with [`super::Existing::Own`].

use std::fs::{self, File};
use std::io::Read;
use std::path::Path;

/// Bytes that are read to recognise a file.
const HEAD_BYTES: u64 = 512;
/// The first bytes of an SQLite database.
const DATABASE: &[u8] = b"SQLite format 3\0";
/// The first bytes of its log, in either byte order.
const LOGS: [&[u8]; 2] = [&[0x37, 0x7f, 0x06, 0x82], &[0x37, 0x7f, 0x06, 0x83]];
/// Suffixes of the names of files beside a database.
const DATABASE_SUFFIXES: [&str; 3] = ["-wal", "-shm", "-journal"];
/// The first bytes of a session's journal.
const JOURNAL: &[u8] = b"privet-session-";
/// Prefixes of the format names of sessions' states.
const STATES: [&str; 3] = ["privet-stream-", "privet-checkpoint-", "privet-online-"];

/// The kind of the file at this path, if it may not be overwritten. Links were followed.
pub(super) fn protected_kind(path: &Path) -> Option<&'static str> {
    if is_beside_a_database(path) {
        return Some("a part of the database beside it, as of a ledger");
    }
    let head = head_of(path)?;
    let begins = |with: &[u8]| head.starts_with(with);
    let text = String::from_utf8_lossy(&head);
    let digits = text.trim();
    let is_key = digits.len() == 64 && digits.bytes().all(|digit| digit.is_ascii_hexdigit());
    let compact: String = text.chars().filter(|letter| !letter.is_whitespace()).collect();
    let states = |format: &&str| compact.starts_with(&format!("{{\"format\":\"{format}"));
    match () {
        () if begins(DATABASE) => Some("a database, as a ledger is"),
        () if LOGS.iter().any(|log| begins(log)) => Some("the log of a database, as of a ledger"),
        () if begins(JOURNAL) => Some("the journal of what was drawn for a stream"),
        () if STATES.iter().any(states) => Some("a stream or training that was put aside"),
        () if is_key || text.contains("PRIVATE KEY-----") => Some("a secret key"),
        () => None,
    }
}

fn head_of(path: &Path) -> Option<Vec<u8>> {
    if !fs::metadata(path).ok()?.is_file() {
        return None;
    }
    let mut head = Vec::new();
    File::open(path).ok()?.take(HEAD_BYTES).read_to_end(&mut head).ok()?;
    Some(head)
}

fn is_beside_a_database(path: &Path) -> bool {
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let bases = DATABASE_SUFFIXES.iter().filter_map(|ending| name.strip_suffix(ending));
    bases.into_iter().any(|base| {
        head_of(&path.with_file_name(base)).is_some_and(|head| head.starts_with(DATABASE))
    })
}
