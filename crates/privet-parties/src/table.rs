//! Recognises a party's table by a keyed digest.
//!
//! HMAC-SHA-256 of all rows, in order, under a key of the folder's own. Both stay in the folder,
//! readable by its owner alone: without the key a guess of a small table could be confirmed by its
//! digest. It is computed when the party begins and compared whenever it resumes, so that a copy of the
//! folder resumes with the same table or not at all. Beside it is a random identifier, which is sent to
//! servers: two copies made before either began draw different identifiers, and a server admits the
//! first alone.

use crate::PartiesError;
use crate::agreement::hex;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use zeroize::{Zeroize, Zeroizing};

/// Key and digest of a table.
#[derive(Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct TableDigest {
    /// Random identifier of the begun run, sent to servers.
    pub begun: String,
    key: String,
    /// Digest of the table; empty before the first reading.
    digest: String,
}

impl TableDigest {
    pub fn new() -> Result<Self, PartiesError> {
        let word = |length: usize| {
            let mut bytes = Zeroizing::new(vec![0_u8; length]);
            getrandom::fill(&mut bytes).map(|()| hex(&bytes))
        };
        let failed = |error: getrandom::Error| PartiesError::Transport(error.to_string());
        let (begun, key) = (word(16).map_err(failed)?, word(32).map_err(failed)?);
        Ok(Self { begun, key, digest: String::new() })
    }
}

impl Drop for TableDigest {
    fn drop(&mut self) {
        self.key.zeroize();
    }
}

/// Digest of a table while it is read row by row.
pub(crate) struct Rows {
    inner: Sha256,
    outer: Sha256,
}

impl Rows {
    /// Starts HMAC (RFC 2104): both hashes begin with a block of the key, here its 64 digits.
    pub fn keyed_by(mark: &TableDigest) -> Self {
        let begun = |pad: u8| {
            let mut block = Zeroizing::new([pad; 64]);
            block.iter_mut().zip(mark.key.bytes()).for_each(|(byte, key)| *byte ^= key);
            let mut hash = Sha256::new();
            hash.update(&block[..]);
            hash
        };
        Self { inner: begun(0x36), outer: begun(0x5c) }
    }

    pub fn row(&mut self, bytes: &[u8]) {
        self.inner.update((bytes.len() as u64).to_le_bytes());
        self.inner.update(bytes);
    }

    /// Returns the mark with this table's digest; refused if it has another table's.
    pub fn finish(mut self, mark: TableDigest) -> Result<TableDigest, PartiesError> {
        self.outer.update(self.inner.finalize());
        let digest = hex(&self.outer.finalize());
        match mark.digest.is_empty() || mark.digest == digest {
            true => Ok(TableDigest { digest, begun: mark.begun.clone(), key: mark.key.clone() }),
            false => Err(PartiesError::OtherTable),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn digest(mark: &TableDigest, rows: &[&[u8]]) -> Result<TableDigest, PartiesError> {
        let mut table = Rows::keyed_by(mark);
        rows.iter().for_each(|row| table.row(row));
        table.finish(mark.clone())
    }

    #[test]
    fn a_table_is_known_again_and_another_is_refused() {
        let fresh = TableDigest::new().unwrap();
        let mark = digest(&fresh, &[b"one", b"two"]).unwrap();
        assert!(digest(&mark, &[b"one", b"two"]).is_ok());
        for other in [&[b"one" as &[u8], b"too"][..], &[b"two", b"one"], &[b"onetwo"], &[]] {
            assert!(matches!(digest(&mark, other), Err(PartiesError::OtherTable)));
        }
        // Another key gives another digest, so that a guess cannot be confirmed.
        let elsewhere = digest(&TableDigest::new().unwrap(), &[b"one", b"two"]).unwrap();
        assert!(elsewhere.digest != mark.digest && elsewhere.begun != mark.begun);
    }

    /// By Python's hmac over the length (8 bytes, least significant first) and `row`, under 64 letters
    /// `a`.
    #[test]
    fn the_digest_is_hmac() {
        let mark = TableDigest { begun: String::new(), key: "a".repeat(64), digest: String::new() };
        let found = digest(&mark, &[b"row"]).unwrap().digest.clone();
        assert_eq!(found, HMAC);
    }

    const HMAC: &str = "c26d4f5e2dcf671b404498ad8ee4b790df058df6f1ce8097b6831c766f87974c";
}
