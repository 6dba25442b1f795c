//! Messages between machines: queries and answers.
//!
//! A [`QueryMessage`] carries the identity of its table (a number drawn for each) and its own number among
//! that table's queries, so that no two are alike. An answer carries the digest of the exact text of
//! its query, its place (its piece, or its first row) and a checksum. An answer to another query, of
//! another place, or changed on the way is refused. This detects accidents, not dishonest machines.

use super::RecordsError;
use super::carried::Transferable;
use super::remote_query::RemoteQuery;
use privet_data::keyed;
use serde::{Deserialize, Serialize};

/// A query of rows on other machines, as sent.
#[derive(Debug, Clone)]
pub struct QueryMessage {
    query: RemoteQuery,
    text: String,
    digest: u64,
}

/// The text of a query.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct QueryText {
    table: u64,
    number: u64,
    #[serde(rename = "asking")]
    query: RemoteQuery,
}

impl QueryMessage {
    /// The query with this number of a table.
    pub fn new(table: u64, number: u64, query: RemoteQuery) -> Result<Self, RecordsError> {
        let written = QueryText { table, number, query };
        let text = serde_json::to_string(&written)
            .map_err(|_| RecordsError::BackEnd("the question cannot be written".into()))?;
        Ok(Self::of(text, written.query))
    }

    /// Parses a query's text on the receiving machine.
    pub fn read(text: &str) -> Result<Self, serde_json::Error> {
        let QueryText { query, .. } = serde_json::from_str(text)?;
        Ok(Self::of(text.into(), query))
    }

    fn of(text: String, query: RemoteQuery) -> Self {
        let digest = keyed::hash("question", &keyed::key(0), &[text.as_bytes()]);
        Self { query, text, digest }
    }

    /// The query itself.
    pub fn query(&self) -> &RemoteQuery {
        &self.query
    }

    /// The text that is sent.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Wraps an answer for this place with the query's digest and a checksum.
    pub(super) fn seal_answer(&self, place: usize, answer: &[u8]) -> Vec<u8> {
        let mut sealed = Vec::with_capacity(3 * size_of::<u64>() + answer.len());
        self.digest.write(&mut sealed);
        (place as u64).write(&mut sealed);
        checksum(self.digest, place as u64, answer).write(&mut sealed);
        sealed.extend_from_slice(answer);
        sealed
    }

    /// Unwraps an answer to this query: its place and its bytes.
    pub(super) fn open_answer<'a>(
        &self,
        mut sealed: &'a [u8],
    ) -> Result<(usize, &'a [u8]), RecordsError> {
        let mut next = || u64::read(&mut sealed).ok_or_else(damaged_answer);
        let (digest, place, sum) = (next()?, next()?, next()?);
        if checksum(digest, place, sealed) != sum {
            return Err(damaged_answer());
        }
        if digest != self.digest {
            return Err(RecordsError::BackEnd(
                "an answer is of another question than the one that was asked".into(),
            ));
        }
        Ok((place as usize, sealed))
    }

    /// Unwraps several answers.
    pub(super) fn open_answers<'a>(
        &self,
        parts: &'a [impl AsRef<[u8]>],
    ) -> Result<Vec<(usize, &'a [u8])>, RecordsError> {
        parts.iter().map(|part| self.open_answer(part.as_ref())).collect()
    }
}

fn checksum(digest: u64, place: u64, answer: &[u8]) -> u64 {
    keyed::hash("answer", &keyed::key(digest), &[&place.to_le_bytes(), answer])
}

fn damaged_answer() -> RecordsError {
    RecordsError::BackEnd("an answer was changed or cut off on its way".into())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn query(table: u64, number: u64) -> QueryMessage {
        QueryMessage::new(table, number, RemoteQuery::Rows { places: vec![1, 2] }).unwrap()
    }

    #[test]
    fn an_answer_opens_for_its_own_question_alone() {
        let asked = query(7, 3);
        let sealed = asked.seal_answer(5, b"sum");
        assert_eq!(asked.open_answer(&sealed).unwrap(), (5, &b"sum"[..]));
        let read = QueryMessage::read(asked.text()).unwrap();
        assert_eq!(read.open_answer(&sealed).unwrap(), (5, &b"sum"[..]));
        for other in [query(7, 4), query(8, 3)] {
            assert!(other.open_answer(&sealed).is_err());
        }
    }

    #[test]
    fn every_bit_of_an_answer_counts() {
        let query = query(7, 3);
        let sealed = query.seal_answer(5, b"sum");
        for bit in 0..8 * sealed.len() {
            let mut other = sealed.clone();
            other[bit / 8] ^= 1 << (bit % 8);
            assert!(query.open_answer(&other).is_err(), "bit {bit}");
        }
        assert!((0..sealed.len()).all(|length| query.open_answer(&sealed[..length]).is_err()));
    }
}
