//! Entries of the ledger, each bound by a hash to all before it.
//!
//! An entry is one line of JSON: its number, the hash of the entry before, time, writer, program
//! version, and content. Its hash is SHA-256 of that text. An entry that is edited, removed, inserted or
//! moved no longer fits the one after it, and the newest hash stands for the whole ledger. Entries are
//! never changed.
//!
//! | entry | content |
//! |---|---|
//! | `began` | the ledger's identifier and format; the first entry |
//! | `opened` | a data set, with its limit and unit |
//! | `unit` | the unit of a data set, stated after its opening |
//! | `seen` | another table counts as a known data set |
//! | `reserved` | the budget of a session, its price and purpose |
//! | `drawn` | that session is about to draw noise: spent from here on |
//! | `settled` | its release was made, with the certificate's hash |
//! | `void` | nothing was drawn: the price no longer counts |
//! | `imported` | spending of another ledger on the same data, release by release |
//!
//! No entry contains data. The fingerprints of tables ([`crate::identity`]) are kept apart and never
//! exported.

use crate::LedgerError;
use crate::exact::Exact;
use crate::limit::Limit;
use privet_core::UnitDefinition;
use privet_dp::account::{Event, Filter, Guarantee};
use privet_dp::gate::Spend;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use sha2::{Digest, Sha256};

/// Format name that this version writes.
pub const FORMAT: &str = "privet-ledger-1";

/// Predecessor's hash in the first entry.
pub const NO_PREDECESSOR: &str = "0000000000000000000000000000000000000000000000000000000000000000";

/// An entry as stored: its text and hash.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stored {
    /// Its number, from 1.
    pub sequence: u64,
    /// SHA-256 of the text, in hexadecimal.
    pub hash: String,
    /// One line of JSON.
    pub text: String,
}

/// A parsed entry.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Entry {
    /// Its number, from 1.
    pub sequence: u64,
    /// Hash of the entry before.
    pub previous: String,
    /// 128 random bits in hexadecimal, so that two copies of a ledger that write the same content
    /// differ.
    pub nonce: String,
    /// Time by the writer's clock. No check depends on it.
    pub at: String,
    /// User name of the writer, as the operating system gives it.
    pub who: String,
    /// Version of the program that wrote it.
    pub version: String,
    /// Content.
    pub what: EntryContent,
}

/// Content of an entry, by kind.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum EntryContent {
    /// The ledger begins.
    Began {
        /// Identifier of the ledger: 128 random bits in hexadecimal.
        ledger: String,
        /// Format name, [`FORMAT`].
        format: String,
    },
    /// A data set is opened, with its limit.
    Opened {
        /// Name of the data set.
        dataset: String,
        /// Limit on all its releases together.
        limit: Limit,
        /// Its unit; absent if it is a record, or if the first reservation states it.
        #[serde(default, skip_serializing_if = "UnitDefinition::goes_without_saying")]
        whose: UnitDefinition,
        /// Purpose, in free text.
        purpose: String,
        /// Data sets that the table shared rows with, though it was opened as a new one.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        shares_rows_with: Vec<String>,
    },
    /// States the unit of a data set that was opened without one.
    Unit {
        /// Name of the data set.
        dataset: String,
        /// Its unit.
        whose: UnitDefinition,
    },
    /// Another table, with rows added or removed, counts as this data set.
    Seen {
        /// Name of the data set.
        dataset: String,
    },
    /// A session may spend this.
    Reserved(Reserved),
    /// A session is about to draw noise.
    Drawn {
        /// The entry of its reservation.
        reservation: u64,
    },
    /// The release was made.
    Settled {
        /// The entry of its reservation.
        reservation: u64,
        /// SHA-256 of its certificate, which is stored beside; absent for a stream, whose certificates
        /// are made later.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        certificate: Option<String>,
    },
    /// Nothing was drawn; the reservation no longer counts.
    Void {
        /// The entry of its reservation.
        reservation: u64,
        /// Reason, a fixed text of the program.
        reason: String,
    },
    /// Spending of another ledger.
    Imported {
        /// Hash of the first entry there that is not here; identifies the branch.
        branch: String,
        /// The number of entries there.
        sequence: u64,
        /// Hash of its last entry.
        hash: String,
        /// Name of the data set here.
        dataset: String,
        /// Its unit there; absent if it is a record, or if the other ledger does not state it.
        #[serde(default, skip_serializing_if = "UnitDefinition::goes_without_saying")]
        whose: UnitDefinition,
        /// Price, in the quantities of the limit here.
        price: Exact,
        /// The number of reservations there that this stands for.
        releases: u64,
        /// Each reservation; absent in ledgers of 0.2.0, which recorded a branch as a whole.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        each: Vec<ImportedRelease>,
    },
}

/// A release imported from another ledger. Its key identifies it through any number of copies.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ImportedRelease {
    /// Hash of its reservation there; for what a ledger of 0.2.0 had imported, the first entry of the
    /// branch.
    pub entry: String,
    /// Price, in the quantities of the limit here.
    pub price: Exact,
    /// The number of reservations it stands for; above 1 only for a branch.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub releases: u64,
}

fn one() -> u64 {
    1
}

#[allow(clippy::trivially_copy_pass_by_ref)] // serde's form
fn is_one(releases: &u64) -> bool {
    *releases == 1
}

/// Budget of a session and its price.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Reserved {
    /// Name of the data set.
    pub dataset: String,
    /// Unit of the release; absent if it is a record, and in ledgers of 0.2.0.
    #[serde(default, skip_serializing_if = "UnitDefinition::goes_without_saying")]
    pub whose: UnitDefinition,
    /// The budget: events, or a filter of the session's own. Kept as JSON text, and parsed by the method
    /// of this name.
    pub spend: Box<RawValue>,
    /// The (ε, δ) that the release will claim.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub claim: Option<Guarantee>,
    /// Basis of the price.
    pub charged: PriceBasis,
    /// Price, in the quantities of the limit.
    pub price: Exact,
    /// The action, in a word or two: verb and method.
    pub doing: String,
    /// Purpose, in free text.
    pub purpose: String,
}

/// Basis of a price.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PriceBasis {
    /// The events.
    Events,
    /// The claimed (ε, δ), which the events prove.
    Claim,
    /// The whole limit: the only release ever, its claim within the limit.
    Whole,
}

/// Writer and purpose of an entry.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Note {
    /// User name of the writer.
    pub who: String,
    /// Purpose, in free text.
    pub purpose: String,
}

impl Entry {
    /// Parses an entry and checks its hash and number. The content is checked by [`crate::Books`].
    pub fn read(stored: &Stored) -> Result<Self, LedgerError> {
        let broken = |why: String| LedgerError::Broken { sequence: stored.sequence, why };
        if hash(&stored.text) != stored.hash {
            return Err(broken("its text was changed: the hash differs".into()));
        }
        let entry: Self = serde_json::from_str(&stored.text)
            .map_err(|error| broken(format!("it cannot be read: {error}")))?;
        if entry.sequence != stored.sequence {
            return Err(broken(format!("it says that it is entry {}", entry.sequence)));
        }
        Ok(entry)
    }

    /// Serialises the entry and computes its hash.
    pub fn to_stored(&self) -> Result<Stored, LedgerError> {
        let text = serde_json::to_string(self).map_err(|error| LedgerError::Broken {
            sequence: self.sequence,
            why: format!("it cannot be written: {error}"),
        })?;
        Ok(Stored { sequence: self.sequence, hash: hash(&text), text })
    }
}

impl Reserved {
    /// Parses the budget: events or a filter.
    pub fn spend(&self) -> Result<Spend, serde_json::Error> {
        serde_json::from_str(self.spend.get())
    }
}

/// SHA-256 of a text, in hexadecimal.
pub fn hash(text: &str) -> String {
    hexadecimal(&Sha256::digest(text.as_bytes()))
}

pub(crate) fn hexadecimal(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let digit = |value: u8| char::from(DIGITS[usize::from(value)]);
    bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect()
}

/// The two kinds of budget that have a price.
pub(crate) enum PricedBudget<'a> {
    /// Events.
    Events(&'a Event),
    /// A session's own filter.
    Filter(&'a Filter),
}

impl<'a> From<&'a Spend> for PricedBudget<'a> {
    fn from(spend: &'a Spend) -> Self {
        match spend {
            Spend::Exactly(event) => Self::Events(event),
            Spend::Within(filter) => Self::Filter(filter),
        }
    }
}
