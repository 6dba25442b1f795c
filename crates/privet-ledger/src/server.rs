//! A ledger on a PostgreSQL server, for teams.
//!
//! The same entries in one table, appended under an exclusive lock; a commit is on the server's disk before it returns
//! (`synchronous_commit`). What tables are known by counts as data and stays off servers: here a data set is known by
//! its name alone. The connection is not encrypted by this program: use a socket, or a tunnel.

use crate::LedgerError;
use crate::entry::Stored;
use crate::store::{Batch, Identities, Store};
use postgres::{Client, GenericClient, NoTls, Row};

const TABLES: &str = "
CREATE TABLE IF NOT EXISTS privet_entry (sequence BIGINT PRIMARY KEY, hash TEXT NOT NULL, text TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS privet_certificate (hash TEXT PRIMARY KEY, text TEXT NOT NULL);
";
/// Whoever makes the tables holds this lock meanwhile.
const MAKING: i64 = 0x7072_7674;

pub(crate) struct Server {
    client: Client,
}

impl Server {
    /// Connects, and makes the tables where there are none.
    pub fn connect(address: &str) -> Result<Self, LedgerError> {
        let wrong = failed("opened");
        let mut client = Client::connect(address, NoTls).map_err(&wrong)?;
        let mut transaction = client.transaction().map_err(&wrong)?;
        transaction.execute("SELECT pg_advisory_xact_lock($1)", &[&MAKING]).map_err(&wrong)?;
        transaction.batch_execute(TABLES).map_err(&wrong)?;
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
        // Nobody else may append; whoever only looks is not held up.
        transaction.batch_execute("LOCK TABLE privet_entry IN EXCLUSIVE MODE").map_err(&wrong)?;
        let others = rows(&mut transaction, after, "written")?;
        let batch = make(&others)?;
        for Stored { sequence, hash, text } in &batch.entries {
            let number = *sequence as i64;
            transaction
                .execute("INSERT INTO privet_entry VALUES ($1, $2, $3)", &[&number, hash, text])
                .map_err(&wrong)?;
        }
        if let Some((hash, text)) = &batch.certificate {
            let insert = "INSERT INTO privet_certificate VALUES ($1, $2) ON CONFLICT DO NOTHING";
            transaction.execute(insert, &[hash, text]).map_err(&wrong)?;
        }
        transaction.commit().map_err(&wrong)
    }

    fn entry(&mut self, sequence: u64) -> Result<Option<Stored>, LedgerError> {
        let query = "SELECT sequence, hash, text FROM privet_entry WHERE sequence = $1";
        let row = self.client.query_opt(query, &[&(sequence as i64)]).map_err(failed("read"))?;
        Ok(row.as_ref().map(stored))
    }

    fn certificate(&mut self, hash: &str) -> Result<Option<String>, LedgerError> {
        let query = "SELECT text FROM privet_certificate WHERE hash = $1";
        let row = self.client.query_opt(query, &[&hash]).map_err(failed("read"))?;
        Ok(row.map(|row| row.get(0)))
    }

    fn identities(&mut self) -> Result<Option<Identities>, LedgerError> {
        Ok(None)
    }
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

/// Addresses may hold a password: they are not repeated.
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
