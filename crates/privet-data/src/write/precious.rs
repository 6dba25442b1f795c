//! Files that hold what cannot be made again, and that nothing is written over, whoever gave leave to replace: ledgers and
//! what SQLite keeps beside them, secret keys, journals of what was drawn, sessions that are put aside.
//!
//! They are known by how they begin, so that links and other names change nothing; what lies beside a database is known by
//! its name as well, since a file that is not there yet would be taken for a part of it. Whoever goes on with a state of its
//! own writes it with [`super::Existing::Own`].

use std::fs::{self, File};
use std::io::Read;
use std::path::Path;

/// Bytes that are looked at.
const HEAD: u64 = 512;
/// How a database of SQLite begins.
const DATABASE: &[u8] = b"SQLite format 3\0";
/// How its log begins, in either order of bytes.
const LOGS: [&[u8]; 2] = [&[0x37, 0x7f, 0x06, 0x82], &[0x37, 0x7f, 0x06, 0x83]];
/// What the names of files beside a database end with.
const BESIDE: [&str; 3] = ["-wal", "-shm", "-journal"];
/// How the journal of a session begins.
const JOURNAL: &[u8] = b"privet-session-";
/// What states of sessions say of their format.
const STATES: [&str; 3] = ["privet-stream-", "privet-checkpoint-", "privet-online-"];

/// What the file of this path is, if nothing may be written over it. Links were followed.
pub(super) fn precious(path: &Path) -> Option<&'static str> {
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
    File::open(path).ok()?.take(HEAD).read_to_end(&mut head).ok()?;
    Some(head)
}

fn is_beside_a_database(path: &Path) -> bool {
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let bases = BESIDE.iter().filter_map(|ending| name.strip_suffix(ending));
    bases.into_iter().any(|base| {
        head_of(&path.with_file_name(base)).is_some_and(|head| head.starts_with(DATABASE))
    })
}
