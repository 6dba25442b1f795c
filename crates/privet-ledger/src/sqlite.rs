//! A ledger in one file: SQLite, write-ahead log, every commit on disk before it returns.

use crate::LedgerError;
use crate::entry::Stored;
use crate::identity::{Identity, SECRET};
use crate::store::{Batch, Identities, Store};
use rusqlite::{Connection, ErrorCode, OpenFlags, OptionalExtension, TransactionBehavior};
use std::fs::OpenOptions;
use std::path::{Path, PathBuf};
use std::time::Duration;
use zeroize::Zeroizing;

/// How long another writer is waited for.
const PATIENCE: Duration = Duration::from_secs(60);
/// "prvt": tells a ledger from other SQLite files.
const APPLICATION: i64 = 0x7072_7674;
/// The layout of the tables; the format of entries is [`crate::entry::FORMAT`].
const LAYOUT: i64 = 1;

const TABLES: &str = "
CREATE TABLE entry (sequence INTEGER PRIMARY KEY, hash TEXT NOT NULL, text TEXT NOT NULL) STRICT;
CREATE TABLE certificate (hash TEXT PRIMARY KEY, text TEXT NOT NULL) STRICT;
CREATE TABLE secret (key BLOB NOT NULL) STRICT;
CREATE TABLE identity (dataset TEXT NOT NULL, fingerprint BLOB NOT NULL, rows INTEGER NOT NULL,
                       sketch BLOB NOT NULL) STRICT;
";

pub(crate) struct Sqlite {
    connection: Connection,
    path: String,
}

impl Sqlite {
    /// Makes the file, for its owner alone.
    pub fn create(path: &Path) -> Result<Self, LedgerError> {
        let shown = path.display().to_string();
        let mut options = OpenOptions::new();
        options.read(true).write(true).create_new(true);
        owner_only(&mut options).open(path).map_err(|error| match error.kind() {
            std::io::ErrorKind::AlreadyExists => LedgerError::Exists { path: shown.clone() },
            _ => environment(&shown, "made", &error.to_string()),
        })?;
        let made = Self::connect(path, OpenFlags::SQLITE_OPEN_READ_WRITE).and_then(|store| {
            let mut key = Zeroizing::new([0; SECRET]);
            getrandom::fill(&mut *key)
                .map_err(|error| environment(&shown, "made", &error.to_string()))?;
            let wrong = |error: rusqlite::Error| failed(&shown, "made", &error);
            let layout = format!(
                "BEGIN; {TABLES} PRAGMA application_id = {APPLICATION}; PRAGMA user_version = {LAYOUT}; COMMIT;"
            );
            store.connection.execute_batch(&layout).map_err(wrong)?;
            store.connection.execute("INSERT INTO secret VALUES (?1)", [&key[..]]).map_err(wrong)?;
            Ok(store)
        });
        if made.is_err() {
            // Nothing was ever in it.
            let _ = std::fs::remove_file(path);
        }
        made
    }

    /// Opens the file that is there.
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
        // Whoever may write looks as a writer does: it leaves nothing beside the file. On a medium that nobody can write
        // to nothing changes either, and no log is needed.
        let writable = OpenOptions::new().write(true).open(path).is_ok();
        let store = match (writable || !read_only, beside(path, "-wal").exists()) {
            (true, _) => Self::connect(path, OpenFlags::SQLITE_OPEN_READ_WRITE)?,
            (false, true) => Self::connect(path, OpenFlags::SQLITE_OPEN_READ_ONLY)?,
            (false, false) => {
                let text = path.to_string_lossy();
                let escaped = text.replace('%', "%25").replace('?', "%3f").replace('#', "%23");
                let unchanging = PathBuf::from(format!("file:{escaped}?immutable=1"));
                let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI;
                Self { path: shown.clone(), ..Self::connect(&unchanging, flags)? }
            }
        };
        let number = |name: &str| {
            let found = store.connection.query_row(&format!("PRAGMA {name}"), [], |row| row.get(0));
            found.map_err(|error| failed(&shown, "read", &error))
        };
        let (application, layout): (i64, i64) =
            (number("application_id")?, number("user_version")?);
        if application != APPLICATION {
            return Err(not_a_ledger(&shown, "a database of another program"));
        }
        if layout != LAYOUT {
            return Err(LedgerError::Version { found: format!("layout {layout}") });
        }
        Ok(store)
    }

    fn connect(path: &Path, flags: OpenFlags) -> Result<Self, LedgerError> {
        let shown = path.display().to_string();
        let wrong = |error: rusqlite::Error| failed(&shown, "opened", &error);
        let flags = flags | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(path, flags).map_err(wrong)?;
        connection.busy_timeout(PATIENCE).map_err(wrong)?;
        if !flags.contains(OpenFlags::SQLITE_OPEN_READ_ONLY) {
            let mode: String = connection
                .query_row("PRAGMA journal_mode = WAL", [], |row| row.get(0))
                .map_err(wrong)?;
            if !mode.eq_ignore_ascii_case("wal") {
                return Err(environment(
                    &shown,
                    "opened",
                    "its file system has no write-ahead log",
                ));
            }
        }
        // FULL: a commit is on disk, not only handed to the system, before it returns.
        connection
            .execute_batch(
                "PRAGMA synchronous = FULL; PRAGMA fullfsync = ON; PRAGMA trusted_schema = OFF;",
            )
            .map_err(wrong)?;
        Ok(Self { connection, path: shown })
    }

    fn wrong(&self, doing: &'static str) -> impl Fn(rusqlite::Error) -> LedgerError + '_ {
        move |error| failed(&self.path, doing, &error)
    }
}

impl Store for Sqlite {
    fn read(
        &mut self,
        after: u64,
        each: &mut dyn FnMut(Stored) -> Result<(), LedgerError>,
    ) -> Result<(), LedgerError> {
        let wrong = self.wrong("read");
        read(&self.connection, after, each, &wrong)
    }

    fn append(
        &mut self,
        after: u64,
        make: &mut dyn FnMut(&[Stored]) -> Result<Batch, LedgerError>,
    ) -> Result<(), LedgerError> {
        let path = self.path.clone();
        let wrong = move |error: rusqlite::Error| failed(&path, "written", &error);
        // Immediate: the right to write is taken before anything is read.
        let transaction = self
            .connection
            .transaction_with_behavior(TransactionBehavior::Immediate)
            .map_err(&wrong)?;
        let mut others = Vec::new();
        read(
            &transaction,
            after,
            &mut |stored| {
                others.push(stored);
                Ok(())
            },
            &wrong,
        )?;
        let batch = make(&others)?;
        for Stored { sequence, hash, text } in &batch.entries {
            transaction
                .prepare("INSERT INTO entry VALUES (?1, ?2, ?3)")
                .and_then(|mut insert| insert.execute((*sequence as i64, hash, text)))
                .map_err(&wrong)?;
        }
        if let Some((hash, text)) = &batch.certificate {
            transaction
                .execute("INSERT OR IGNORE INTO certificate VALUES (?1, ?2)", (hash, text))
                .map_err(&wrong)?;
        }
        if let Some(identity) = &batch.identity {
            let values = (
                &identity.dataset,
                &identity.print.fingerprint[..],
                identity.print.rows as i64,
                identity.print.sketch_bytes(),
            );
            transaction
                .execute("INSERT INTO identity VALUES (?1, ?2, ?3, ?4)", values)
                .map_err(&wrong)?;
        }
        transaction.commit().map_err(&wrong)
    }

    fn entry(&mut self, sequence: u64) -> Result<Option<Stored>, LedgerError> {
        self.connection
            .query_row(
                "SELECT sequence, hash, text FROM entry WHERE sequence = ?1",
                [sequence as i64],
                |row| {
                    let sequence = row.get::<_, i64>(0)? as u64;
                    Ok(Stored { sequence, hash: row.get(1)?, text: row.get(2)? })
                },
            )
            .optional()
            .map_err(self.wrong("read"))
    }

    fn certificate(&mut self, hash: &str) -> Result<Option<String>, LedgerError> {
        self.connection
            .query_row("SELECT text FROM certificate WHERE hash = ?1", [hash], |row| row.get(0))
            .optional()
            .map_err(self.wrong("read"))
    }

    fn identities(&mut self) -> Result<Option<Identities>, LedgerError> {
        let wrong = self.wrong("read");
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

fn read(
    connection: &Connection,
    after: u64,
    each: &mut dyn FnMut(Stored) -> Result<(), LedgerError>,
    wrong: &dyn Fn(rusqlite::Error) -> LedgerError,
) -> Result<(), LedgerError> {
    let mut statement = connection
        .prepare("SELECT sequence, hash, text FROM entry WHERE sequence > ?1 ORDER BY sequence")
        .map_err(wrong)?;
    let mut rows = statement.query([after as i64]).map_err(wrong)?;
    while let Some(row) = rows.next().map_err(wrong)? {
        let get = || -> rusqlite::Result<Stored> {
            Ok(Stored {
                sequence: row.get::<_, i64>(0)? as u64,
                hash: row.get(1)?,
                text: row.get(2)?,
            })
        };
        each(get().map_err(wrong)?)?;
    }
    Ok(())
}

fn beside(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(ending);
    name.into()
}

fn environment(path: &str, doing: &'static str, why: &str) -> LedgerError {
    LedgerError::Environment { path: path.into(), doing, why: why.into() }
}

fn not_a_ledger(path: &str, why: &str) -> LedgerError {
    LedgerError::NotALedger { path: path.into(), why: why.into() }
}

fn failed(path: &str, doing: &'static str, error: &rusqlite::Error) -> LedgerError {
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
