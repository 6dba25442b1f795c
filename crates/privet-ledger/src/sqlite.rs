//! A ledger in one file: SQLite, write-ahead log, every commit on disk before it returns.
//!
//! Budget counts as spent only if its entry is in the file: the schema must be this program's and
//! nothing else ([`crate::schema_check`]), each insertion must change one row, and every row written is read
//! back before it is committed.
//!
//! Reading changes nothing: the file is opened read-only, and as immutable if no write-ahead log lies
//! beside it. A log belongs to another process at work, or was left by a killed one: then SQLite reads
//! both, and may create its index (`-shm`) beside.

use crate::LedgerError;
use crate::entry::Stored;
use crate::identity::{Identity, SECRET};
use crate::schema_check::{self, APPLICATION, LAYOUT, TABLES, sibling_file};
use crate::store::{Batch, Identities, Store};
use rusqlite::{Connection, ErrorCode, OpenFlags, OptionalExtension, Row, TransactionBehavior};
use std::fs::OpenOptions;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};
use zeroize::Zeroizing;

/// Maximum time to wait for another writer.
const WRITER_PATIENCE: Duration = Duration::from_secs(60);

pub(crate) struct Sqlite {
    connection: Connection,
    path: String,
    /// The file opened as immutable, and its stamp at the opening.
    still: Option<(PathBuf, Stamp)>,
}

/// Length, time of the last change, and presence of a log: differs if the file has changed.
type Stamp = (u64, Option<SystemTime>, bool);

fn stamp(path: &Path) -> std::io::Result<Stamp> {
    let metadata = std::fs::metadata(path)?;
    Ok((metadata.len(), metadata.modified().ok(), has_log(path)))
}

/// True if a non-empty write-ahead log lies beside the file.
fn has_log(path: &Path) -> bool {
    std::fs::metadata(sibling_file(path, "-wal")).is_ok_and(|log| log.len() > 0)
}

/// Mode of opening a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    /// Read and write.
    Write,
    /// Read, while others may write.
    Look,
    /// Read an immutable file: no process is writing, and nothing is created beside it.
    LookAtUnchanging,
}

impl Sqlite {
    /// Creates the file, readable by its owner alone.
    pub fn create(path: &Path) -> Result<Self, LedgerError> {
        let shown = path.display().to_string();
        let mut options = OpenOptions::new();
        options.read(true).write(true).create_new(true);
        owner_only(&mut options).open(path).map_err(|error| match error.kind() {
            std::io::ErrorKind::AlreadyExists => LedgerError::Exists { path: shown.clone() },
            _ => environment(&shown, "made", &error.to_string()),
        })?;
        let made = Self::connect(path, Way::Write).and_then(|store| {
            let mut key = Zeroizing::new([0; SECRET]);
            getrandom::fill(&mut *key)
                .map_err(|error| environment(&shown, "made", &error.to_string()))?;
            let wrong = |error: rusqlite::Error| database_failed(&shown, "made", &error);
            let layout = format!(
                "BEGIN; {TABLES} PRAGMA application_id = {APPLICATION}; PRAGMA user_version = {LAYOUT}; COMMIT;"
            );
            store.connection.execute_batch(&layout).map_err(wrong)?;
            store.connection.execute("INSERT INTO secret VALUES (?1)", [&key[..]]).map_err(wrong)?;
            // The log is enabled only now, so that the application id and layout are in the file and not
            // in a log alone.
            store.log_ahead()?;
            Ok(store)
        });
        if made.is_err() {
            // It never held an entry.
            let _ = std::fs::remove_file(path);
        }
        made
    }

    /// Opens an existing file.
    pub fn open(path: &Path, read_only: bool) -> Result<Self, LedgerError> {
        let shown = path.display().to_string();
        match std::fs::metadata(path) {
            Ok(found) if found.is_file() => {}
            Ok(_) => return Err(not_a_ledger(&shown, "no file")),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                return Err(LedgerError::Absent { path: shown });
            }
            Err(error) => return Err(environment(&shown, "read", &error.to_string())),
        }
        schema_check::check_header(path)?;
        let way = match read_only {
            false => Way::Write,
            true if has_log(path) => Way::Look,
            true => Way::LookAtUnchanging,
        };
        let store = Self::connect(path, way)?;
        let number = |name: &str| {
            let found = store.connection.query_row(&format!("PRAGMA {name}"), [], |row| row.get(0));
            found.map_err(|error| database_failed(&shown, "read", &error))
        };
        // As SQLite reads them, including the log.
        let (application, layout): (i64, i64) =
            (number("application_id")?, number("user_version")?);
        if application != i64::from(APPLICATION) {
            return Err(not_a_ledger(&shown, "a database of another program"));
        }
        if layout != i64::from(LAYOUT) {
            return Err(LedgerError::Version { found: format!("layout {layout}") });
        }
        store.check_tables()?;
        if way == Way::Write {
            store.log_ahead()?;
        }
        Ok(store)
    }

    fn connect(path: &Path, way: Way) -> Result<Self, LedgerError> {
        let shown = path.display().to_string();
        let wrong = |error: rusqlite::Error| database_failed(&shown, "opened", &error);
        let (alone, read) = (OpenFlags::SQLITE_OPEN_NO_MUTEX, OpenFlags::SQLITE_OPEN_READ_ONLY);
        let mut still = None;
        let opened = match way {
            Way::Write => {
                Connection::open_with_flags(path, alone | OpenFlags::SQLITE_OPEN_READ_WRITE)
            }
            Way::Look => Connection::open_with_flags(path, alone | read),
            Way::LookAtUnchanging => {
                let found = stamp(path);
                let found =
                    found.map_err(|error| environment(&shown, "read", &error.to_string()))?;
                still = Some((path.to_path_buf(), found));
                let text = path.to_string_lossy();
                let escaped = text.replace('%', "%25").replace('?', "%3f").replace('#', "%23");
                let unchanging = format!("file:{escaped}?immutable=1");
                let flags = alone | read | OpenFlags::SQLITE_OPEN_URI;
                Connection::open_with_flags(unchanging, flags)
            }
        };
        let connection = opened.map_err(wrong)?;
        connection.busy_timeout(WRITER_PATIENCE).map_err(wrong)?;
        // FULL: a commit is on disk, not only passed to the operating system, before it returns.
        connection
            .execute_batch(
                "PRAGMA synchronous = FULL; PRAGMA fullfsync = ON; PRAGMA trusted_schema = OFF;",
            )
            .map_err(wrong)?;
        Ok(Self { connection, path: shown, still })
    }

    /// Enables the write-ahead log, so that readers do not block writers.
    fn log_ahead(&self) -> Result<(), LedgerError> {
        let mode: String = self
            .connection
            .query_row("PRAGMA journal_mode = WAL", [], |row| row.get(0))
            .map_err(self.database_error("opened"))?;
        match mode.eq_ignore_ascii_case("wal") {
            true => Ok(()),
            false => {
                let why = "its file system has no write-ahead log";
                Err(environment(&self.path, "opened", why))
            }
        }
    }

    /// Refuses a schema that differs from the one this program creates.
    fn check_tables(&self) -> Result<(), LedgerError> {
        let found = schema_check::foreign(&self.connection).map_err(self.database_error("read"))?;
        found.map_or(Ok(()), |what| Err(LedgerError::Foreign { path: self.path.clone(), what }))
    }

    /// Returns every entry after this one. If a file opened as immutable has changed meanwhile, the rows
    /// read may be partly old and partly new: it is reopened as a file that others write to, and read
    /// again.
    fn entries_after(&mut self, after: u64) -> Result<Vec<Stored>, LedgerError> {
        let found = read(&self.connection, after).map_err(self.database_error("read"));
        let Some((path, before)) = &self.still else { return found };
        if stamp(path).is_ok_and(|now| now == *before) {
            return found;
        }
        *self = Self::connect(&path.clone(), Way::Look)?;
        self.check_tables()?;
        read(&self.connection, after).map_err(self.database_error("read"))
    }

    fn database_error(&self, doing: &'static str) -> impl Fn(rusqlite::Error) -> LedgerError + '_ {
        move |error| database_failed(&self.path, doing, &error)
    }
}

impl Store for Sqlite {
    fn read(
        &mut self,
        after: u64,
        each: &mut dyn FnMut(Stored) -> Result<(), LedgerError>,
    ) -> Result<(), LedgerError> {
        self.entries_after(after)?.into_iter().try_for_each(each)
    }

    fn append(
        &mut self,
        after: u64,
        make: &mut dyn FnMut(&[Stored]) -> Result<Batch, LedgerError>,
    ) -> Result<(), LedgerError> {
        let path = self.path.clone();
        let wrong = |error: rusqlite::Error| database_failed(&path, "written", &error);
        // Immediate: the write lock is taken before anything is read.
        let transaction = self
            .connection
            .transaction_with_behavior(TransactionBehavior::Immediate)
            .map_err(wrong)?;
        if let Some(what) = schema_check::foreign(&transaction).map_err(wrong)? {
            return Err(LedgerError::Foreign { path, what });
        }
        let others = read(&transaction, after).map_err(wrong)?;
        let batch = make(&others)?;
        match write(&transaction, &batch).map_err(wrong)? {
            true => transaction.commit().map_err(wrong),
            false => Err(not_kept(&path)),
        }
    }

    fn entry(&mut self, sequence: u64) -> Result<Option<Stored>, LedgerError> {
        entry(&self.connection, sequence).map_err(self.database_error("read"))
    }

    fn certificate(&mut self, hash: &str) -> Result<Option<String>, LedgerError> {
        certificate(&self.connection, hash).map_err(self.database_error("read"))
    }

    fn identities(&mut self) -> Result<Option<Identities>, LedgerError> {
        let wrong = self.database_error("read");
        let key: Zeroizing<Vec<u8>> = Zeroizing::new(
            self.connection
                .query_row("SELECT key FROM secret", [], |row| row.get(0))
                .map_err(&wrong)?,
        );
        let key: [u8; SECRET] =
            key[..].try_into().map_err(|_| not_a_ledger(&self.path, "its secret is none"))?;
        let mut statement = self
            .connection
            .prepare("SELECT dataset, fingerprint, rows, sketch FROM identity ORDER BY rowid")
            .map_err(&wrong)?;
        let rows = statement
            .query_map([], |row| {
                let (dataset, fingerprint): (String, Vec<u8>) = (row.get(0)?, row.get(1)?);
                let (rows, sketch): (i64, Vec<u8>) = (row.get(2)?, row.get(3)?);
                Ok(Identity::read(dataset, &fingerprint, rows, &sketch))
            })
            .map_err(&wrong)?;
        let mut found = Vec::new();
        for row in rows {
            let identity = row.map_err(&wrong)?;
            found.push(
                identity
                    .ok_or_else(|| not_a_ledger(&self.path, "a table's fingerprint is none"))?,
            );
        }
        Ok(Some((Zeroizing::new(key), found)))
    }
}

fn stored(row: &Row<'_>) -> rusqlite::Result<Stored> {
    let sequence = row.get::<_, i64>(0)? as u64;
    Ok(Stored { sequence, hash: row.get(1)?, text: row.get(2)? })
}

fn read(connection: &Connection, after: u64) -> rusqlite::Result<Vec<Stored>> {
    let query = "SELECT sequence, hash, text FROM entry WHERE sequence > ?1 ORDER BY sequence";
    let mut statement = connection.prepare(query)?;
    let rows = statement.query_map([after as i64], stored)?;
    rows.collect()
}

fn entry(connection: &Connection, sequence: u64) -> rusqlite::Result<Option<Stored>> {
    let query = "SELECT sequence, hash, text FROM entry WHERE sequence = ?1";
    connection.query_row(query, [sequence as i64], stored).optional()
}

fn certificate(connection: &Connection, hash: &str) -> rusqlite::Result<Option<String>> {
    let query = "SELECT text FROM certificate WHERE hash = ?1";
    connection.query_row(query, [hash], |row| row.get(0)).optional()
}

/// Writes a batch; false if a row read back differs from the one written.
fn write(connection: &Connection, batch: &Batch) -> rusqlite::Result<bool> {
    let mut insert = connection.prepare("INSERT INTO entry VALUES (?1, ?2, ?3)")?;
    for Stored { sequence, hash, text } in &batch.entries {
        if insert.execute((*sequence as i64, hash, text))? != 1 {
            return Ok(false);
        }
    }
    if let Some((hash, text)) = &batch.certificate {
        connection.execute("INSERT OR IGNORE INTO certificate VALUES (?1, ?2)", (hash, text))?;
        if certificate(connection, hash)?.as_ref() != Some(text) {
            return Ok(false);
        }
    }
    if let Some(Identity { dataset, print }) = &batch.identity {
        let (rows, sketch) = (print.rows as i64, print.sketch_bytes());
        let insert = "INSERT INTO identity VALUES (?1, ?2, ?3, ?4)";
        if connection.execute(insert, (dataset, &print.fingerprint[..], rows, sketch))? != 1 {
            return Ok(false);
        }
    }
    // Last of all, since a trigger on any insertion could have changed them.
    for written in &batch.entries {
        if entry(connection, written.sequence)?.as_ref() != Some(written) {
            return Ok(false);
        }
    }
    Ok(true)
}

fn environment(path: &str, doing: &'static str, why: &str) -> LedgerError {
    LedgerError::Environment { path: path.into(), doing, why: why.into() }
}

fn not_kept(path: &str) -> LedgerError {
    environment(path, "written", "an entry that was written is not there as it was written")
}

fn not_a_ledger(path: &str, why: &str) -> LedgerError {
    LedgerError::NotALedger { path: path.into(), why: why.into() }
}

fn database_failed(path: &str, doing: &'static str, error: &rusqlite::Error) -> LedgerError {
    match error.sqlite_error_code() {
        Some(ErrorCode::NotADatabase | ErrorCode::DatabaseCorrupt) => {
            not_a_ledger(path, "the file is damaged, or no database")
        }
        _ => environment(path, doing, &error.to_string()),
    }
}

#[cfg(unix)]
fn owner_only(options: &mut OpenOptions) -> &mut OpenOptions {
    std::os::unix::fs::OpenOptionsExt::mode(options, 0o600)
}

#[cfg(not(unix))]
fn owner_only(options: &mut OpenOptions) -> &mut OpenOptions {
    options
}
