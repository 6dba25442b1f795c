//! Checks on the file under a ledger: its header, read before SQLite may touch the file, and its schema,
//! which must hold this program's tables and nothing else.
//!
//! A foreign trigger, view or table could remove an entry as soon as it is written. So the complete
//! schema of the database must equal [`TABLES`], when it is opened and again in every transaction that
//! writes.

use crate::LedgerError;
use rusqlite::{Connection, Result as Sql};
use std::fs::File;
use std::io::{ErrorKind, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

/// SQLite application id "prvt": distinguishes a ledger from other SQLite files.
pub(crate) const APPLICATION: u32 = 0x7072_7674;
/// The layout of the tables; the format of entries is [`crate::entry::FORMAT`].
pub(crate) const LAYOUT: u32 = 1;

pub(crate) const TABLES: &str = "
CREATE TABLE entry (sequence INTEGER PRIMARY KEY, hash TEXT NOT NULL, text TEXT NOT NULL) STRICT;
CREATE TABLE certificate (hash TEXT PRIMARY KEY, text TEXT NOT NULL) STRICT;
CREATE TABLE secret (key BLOB NOT NULL) STRICT;
CREATE TABLE identity (dataset TEXT NOT NULL, fingerprint BLOB NOT NULL, rows INTEGER NOT NULL,
                       sketch BLOB NOT NULL) STRICT;
";

/// Length of a database's header in bytes.
const HEADER: usize = 100;
/// First bytes of every SQLite database.
const MAGIC: &[u8; 16] = b"SQLite format 3\0";
/// Bytes before the first frame of a write-ahead log, and before the page of each frame.
const LOG_HEADER: usize = 32;
const FRAME_HEADER: usize = 24;
/// Magic number of a write-ahead log, without its last bit.
const LOG_MAGIC: u32 = 0x377f_0682;

/// Refuses a file that is not a ledger of this version, by its first bytes or by those that a
/// write-ahead log beside it has in their place. Only reads: a file of another program is left as it is.
pub(crate) fn check_header(path: &Path) -> Result<(), LedgerError> {
    let shown = path.display().to_string();
    let refused = |why: &str| Err(LedgerError::NotALedger { path: shown.clone(), why: why.into() });
    let failed = |error: std::io::Error| LedgerError::Environment {
        path: shown.clone(),
        doing: "read",
        why: error.to_string(),
    };
    let header = match first_bytes(path) {
        Ok(header) => header,
        Err(error) if error.kind() == ErrorKind::UnexpectedEof => {
            return refused("the file is empty, damaged, or no database");
        }
        Err(error) => return Err(failed(error)),
    };
    if !header.starts_with(MAGIC) {
        return refused("the file is damaged, or no database");
    }
    // A ledger whose creator was killed has its application id and layout in the log alone.
    let newest = newest_in_log(&sibling_file(path, "-wal")).map_err(failed)?.unwrap_or(header);
    if number(&newest, 68) != APPLICATION {
        return refused("a database of another program");
    }
    match number(&newest, 60) {
        LAYOUT => Ok(()),
        other => Err(LedgerError::Version { found: format!("layout {other}") }),
    }
}

fn first_bytes(path: &Path) -> std::io::Result<[u8; HEADER]> {
    let mut header = [0; HEADER];
    File::open(path)?.read_exact(&mut header)?;
    Ok(header)
}

/// Returns the header of the newest first page in a log, if there is one. SQLite itself checks sums and
/// commits afterwards.
fn newest_in_log(path: &Path) -> std::io::Result<Option<[u8; HEADER]>> {
    let mut log = match File::open(path) {
        Ok(log) => log,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    let length = log.metadata()?.len();
    let mut head = [0; LOG_HEADER];
    if length < LOG_HEADER as u64 {
        return Ok(None);
    }
    log.read_exact(&mut head)?;
    let (magic, page) = (number(&head, 0), u64::from(number(&head, 8)));
    if magic & !1 != LOG_MAGIC || page < HEADER as u64 {
        return Ok(None);
    }
    let (mut newest, mut at) = (None, LOG_HEADER as u64);
    while at + FRAME_HEADER as u64 + page <= length {
        log.seek(SeekFrom::Start(at))?;
        let mut frame = [0; FRAME_HEADER];
        log.read_exact(&mut frame)?;
        // Frames of an earlier round of the log have other salts.
        if frame[8..16] != head[16..24] {
            break;
        }
        if number(&frame, 0) == 1 {
            let mut header = [0; HEADER];
            log.read_exact(&mut header)?;
            newest = Some(header);
        }
        at += FRAME_HEADER as u64 + page;
    }
    Ok(newest)
}

fn number(bytes: &[u8], at: usize) -> u32 {
    let mut four = [0; 4];
    four.copy_from_slice(&bytes[at..at + 4]);
    u32::from_be_bytes(four)
}

/// Path of the file beside a database with this ending.
pub(crate) fn sibling_file(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(ending);
    name.into()
}

/// Type, name, table and SQL text of every object in a database.
type SchemaObject = Vec<(String, String, String, Option<String>)>;

fn stored_schema(connection: &Connection) -> Sql<SchemaObject> {
    let query = "SELECT type, name, tbl_name, sql FROM sqlite_master ORDER BY type, name";
    let mut statement = connection.prepare(query)?;
    let rows =
        statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?)))?;
    rows.collect()
}

/// Returns the first object that a database has and a ledger has not, or the reverse; `None` if the
/// schema is exactly a ledger's.
pub(crate) fn foreign(connection: &Connection) -> Sql<Option<String>> {
    let made = Connection::open_in_memory()?;
    made.execute_batch(TABLES)?;
    let (ours, found) = (stored_schema(&made)?, stored_schema(connection)?);
    let named = |(kind, name, ..): &(String, String, String, Option<String>)| {
        format!("{} '{}'", privet_core::printable(kind), privet_core::printable(name))
    };
    let more = found.iter().find(|one| !ours.contains(one));
    let fewer = ours.iter().find(|one| !found.contains(one));
    Ok(more.or(fewer).map(named))
}
