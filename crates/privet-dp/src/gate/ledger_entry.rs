//! The ledger entry of a release.

use serde::{Deserialize, Serialize};

/// The newest entry that a session wrote into a ledger before its certificate was made; under the seal.
/// Its hash covers every entry before it, so that a ledger in which any of them was edited, removed or
/// cut off no longer fits the certificate.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LedgerEntry {
    /// Identifier of the ledger: 128 random bits in hexadecimal.
    pub ledger: String,
    /// The number of the entry, from 1.
    pub sequence: u64,
    /// SHA-256 of the entry and of all before it, in hexadecimal.
    pub hash: String,
}

impl LedgerEntry {
    /// True if every part is well-formed.
    pub fn well_formed(&self) -> bool {
        let bytes = |text: &str, count: usize| {
            super::from_hex(text).is_some_and(|bytes| bytes.len() == count)
        };
        bytes(&self.ledger, 16) && bytes(&self.hash, 32) && self.sequence >= 1
    }
}
