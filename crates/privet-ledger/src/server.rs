//! A ledger on a PostgreSQL server, for teams.
//!
//! The same entries in one table, appended under an exclusive lock; a commit is on the server's disk
//! before it returns (`synchronous_commit`). The fingerprints of tables count as data and stay off
//! servers: here a data set is identified by its name alone. The connection is not encrypted by this
//! program: use a socket, or a tunnel.
//!
//! As in a file ([`crate::schema_check`]) the tables must be plain ones of this program's columns, with no
//! trigger, rule or policy on them, each insertion must change one row, and entries are read back before
//! they are committed.

use crate::LedgerError;
use crate::entry::Stored;
use crate::store::{Batch, Identities, Store};
use postgres::{Client, GenericClient, NoTls, Row};

const TABLES: &str = "
CREATE TABLE IF NOT EXISTS privet_entry (sequence BIGINT PRIMARY KEY, hash TEXT NOT NULL, text TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS privet_certificate (hash TEXT PRIMARY KEY, text TEXT NOT NULL);
";
/// Key of the advisory lock held while the tables are created.
const MAKING: i64 = 0x7072_7674;

pub(crate) struct Server {
    client: Client,
}

/// Query for triggers, rules, table kinds and columns that this program did not create; one row per
/// finding.
const FOREIGN: &str = "
SELECT 'trigger ' || tgname FROM pg_trigger
 WHERE NOT tgisinternal AND tgrelid IN ('privet_entry'::regclass, 'privet_certificate'::regclass)
UNION ALL
SELECT 'rule ' || rulename FROM pg_rewrite
 WHERE ev_class IN ('privet_entry'::regclass, 'privet_certificate'::regclass)
UNION ALL
SELECT 'kind of table of ' || relname FROM pg_class
 WHERE oid IN ('privet_entry'::regclass, 'privet_certificate'::regclass)
   AND (relkind <> 'r' OR relpersistence <> 'p' OR relrowsecurity
        OR EXISTS (SELECT 1 FROM pg_inherits WHERE pg_class.oid IN (inhrelid, inhparent)))
UNION ALL
SELECT 'list of columns of ' || relname FROM pg_class
 WHERE oid IN ('privet_entry'::regclass, 'privet_certificate'::regclass)
   AND (SELECT string_agg(attname || ' ' || atttypid::regtype || attnotnull || atthasdef, ', ' ORDER BY attnum)
          FROM pg_attribute WHERE attrelid = pg_class.oid AND attnum > 0 AND NOT attisdropped)
    <> CASE relname WHEN 'privet_entry' THEN 'sequence biginttruefalse, hash texttruefalse, text texttruefalse'
                    ELSE 'hash texttruefalse, text texttruefalse' END";
/// Query that is true if the ledger's tables exist.
const TABLES_EXIST: &str = "SELECT to_regclass('privet_entry') IS NOT NULL AND to_regclass('privet_certificate') IS NOT NULL";

impl Server {
    /// Connects read-only to an existing ledger; creates nothing.
    pub fn open_read_only(address: &str) -> Result<Self, LedgerError> {
        let wrong = failed("opened");
        let mut client = Client::connect(address, NoTls).map_err(&wrong)?;
        client.batch_execute("SET default_transaction_read_only = on").map_err(&wrong)?;
        match client.query_one(TABLES_EXIST, &[]).map_err(&wrong)?.get(0) {
            true => check(&mut client, "opened").map(|()| Self { client }),
            false => Err(LedgerError::Absent { path: "on the server".into() }),
        }
    }

    /// Connects, and creates the tables if they are missing.
    pub fn connect(address: &str) -> Result<Self, LedgerError> {
        let wrong = failed("opened");
        let mut client = Client::connect(address, NoTls).map_err(&wrong)?;
        let mut transaction = client.transaction().map_err(&wrong)?;
        transaction.execute("SELECT pg_advisory_xact_lock($1)", &[&MAKING]).map_err(&wrong)?;
        transaction.batch_execute(TABLES).map_err(&wrong)?;
        check(&mut transaction, "opened")?;
        transaction.commit().map_err(&wrong)?;
        client.batch_execute("SET synchronous_commit = on").map_err(&wrong)?;
        Ok(Self { client })
    }
}

impl Store for Server {
    fn read(
        &mut self,
        after: u64,
        each: &mut dyn FnMut(Stored) -> Result<(), LedgerError>,
    ) -> Result<(), LedgerError> {
        rows(&mut self.client, after, "read")?.into_iter().try_for_each(each)
    }

    fn append(
        &mut self,
        after: u64,
        make: &mut dyn FnMut(&[Stored]) -> Result<Batch, LedgerError>,
    ) -> Result<(), LedgerError> {
        let wrong = failed("written");
        let mut transaction = self.client.transaction().map_err(&wrong)?;
        // Excludes other writers; readers do not wait.
        transaction.batch_execute("LOCK TABLE privet_entry IN EXCLUSIVE MODE").map_err(&wrong)?;
        check(&mut transaction, "written")?;
        let others = rows(&mut transaction, after, "written")?;
        let batch = make(&others)?;
        let insert = "INSERT INTO privet_entry VALUES ($1, $2, $3)";
        for Stored { sequence, hash, text } in &batch.entries {
            let number = *sequence as i64;
            kept(transaction.execute(insert, &[&number, hash, text]).map_err(&wrong)? == 1)?;
        }
        if let Some((hash, text)) = &batch.certificate {
            let insert = "INSERT INTO privet_certificate VALUES ($1, $2) ON CONFLICT DO NOTHING";
            transaction.execute(insert, &[hash, text]).map_err(&wrong)?;
            kept(certificate(&mut transaction, hash)?.as_ref() == Some(text))?;
        }
        for written in &batch.entries {
            kept(entry(&mut transaction, written.sequence)?.as_ref() == Some(written))?;
        }
        transaction.commit().map_err(&wrong)
    }

    fn entry(&mut self, sequence: u64) -> Result<Option<Stored>, LedgerError> {
        entry(&mut self.client, sequence)
    }

    fn certificate(&mut self, hash: &str) -> Result<Option<String>, LedgerError> {
        certificate(&mut self.client, hash)
    }

    fn identities(&mut self) -> Result<Option<Identities>, LedgerError> {
        Ok(None)
    }
}

/// Refuses tables that differ from those this program creates.
fn check(client: &mut impl GenericClient, doing: &'static str) -> Result<(), LedgerError> {
    let found = client.query(FOREIGN, &[]).map_err(failed(doing))?;
    found.first().map_or(Ok(()), |row| {
        let what = privet_core::printable(row.get(0)).into_owned();
        Err(LedgerError::Foreign { path: "on the server".into(), what })
    })
}

/// Refuses to commit if a row read back differs from the one written.
fn kept(holds: bool) -> Result<(), LedgerError> {
    match holds {
        true => Ok(()),
        false => Err(LedgerError::Environment {
            path: "on the server".into(),
            doing: "written",
            why: "an entry that was written is not there as it was written".into(),
        }),
    }
}

fn entry(client: &mut impl GenericClient, sequence: u64) -> Result<Option<Stored>, LedgerError> {
    let query = "SELECT sequence, hash, text FROM privet_entry WHERE sequence = $1";
    let row = client.query_opt(query, &[&(sequence as i64)]).map_err(failed("read"))?;
    Ok(row.as_ref().map(stored))
}

fn certificate(client: &mut impl GenericClient, hash: &str) -> Result<Option<String>, LedgerError> {
    let query = "SELECT text FROM privet_certificate WHERE hash = $1";
    let row = client.query_opt(query, &[&hash]).map_err(failed("read"))?;
    Ok(row.map(|row| row.get(0)))
}

fn rows(
    client: &mut impl GenericClient,
    after: u64,
    doing: &'static str,
) -> Result<Vec<Stored>, LedgerError> {
    let query =
        "SELECT sequence, hash, text FROM privet_entry WHERE sequence > $1 ORDER BY sequence";
    let rows = client.query(query, &[&(after as i64)]).map_err(failed(doing))?;
    Ok(rows.iter().map(stored).collect())
}

fn stored(row: &Row) -> Stored {
    Stored { sequence: row.get::<_, i64>(0) as u64, hash: row.get(1), text: row.get(2) }
}

/// Converts a database error. The address is not repeated, since it may hold a password.
fn failed(doing: &'static str) -> impl Fn(postgres::Error) -> LedgerError {
    move |error| LedgerError::Environment {
        path: "on the server".into(),
        doing,
        why: match error.as_db_error() {
            Some(inner) => inner.message().to_string(),
            None => error.to_string(),
        },
    }
}
