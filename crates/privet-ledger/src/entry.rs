//! What is written down: entries, each bound to all before it.
//!
//! An entry is one line of JSON: its number, the hash of the entry before, when, by whom, by which version, and what. Its
//! hash is SHA-256 of that text. So an entry that is edited, taken out, put in or moved no longer fits the one after it,
//! and the newest hash stands for the whole ledger. Entries are never changed.
//!
//! | entry | says |
//! |---|---|
//! | `began` | the ledger's number and format; the first |
//! | `opened` | a data set, with its limit and who a unit is |
//! | `unit` | who a unit is, said of a data set afterwards |
//! | `seen` | another table counts as a data set that is known |
//! | `reserved` | what a session may spend, its price, and why |
//! | `drawn` | that session is about to draw noise: it is spent from here on |
//! | `settled` | its release was made, with the certificate's hash |
//! | `void` | nothing was drawn: it is free again |
//! | `imported` | what another ledger had spent on the same data, release by release |
//!
//! Nothing of the data is in an entry. What they are known by ([`crate::identity`]) is kept apart and never exported.

use crate::LedgerError;
use crate::exact::Exact;
use crate::limit::Limit;
use privet_core::Whose;
use privet_dp::account::{Event, Filter, Guarantee};
use privet_dp::gate::Spend;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use sha2::{Digest, Sha256};

/// The form of ledger that this version writes.
pub const FORMAT: &str = "privet-ledger-1";

/// The hash that the first entry follows.
pub const NOTHING: &str = "0000000000000000000000000000000000000000000000000000000000000000";

/// An entry as it is kept: its text, and what binds it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stored {
    /// Its number, from 1.
    pub sequence: u64,
    /// SHA-256 of the text, in hexadecimal.
    pub hash: String,
    /// One line of JSON.
    pub text: String,
}

/// An entry.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Entry {
    /// Its number, from 1.
    pub sequence: u64,
    /// The hash of the entry before.
    pub previous: String,
    /// 128 random bits in hexadecimal: two copies of a ledger that say the same of themselves differ.
    pub nonce: String,
    /// When, by the clock of whoever wrote it. Nothing rests on it.
    pub at: String,
    /// Who, as the system called them.
    pub who: String,
    /// By which version of the program.
    pub version: String,
    /// What.
    pub what: What,
}

/// What an entry says.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum What {
    /// The ledger begins.
    Began {
        /// 128 random bits in hexadecimal, which tell it from every other.
        ledger: String,
        /// [`FORMAT`].
        format: String,
    },
    /// A data set is opened, with its limit.
    Opened {
        /// Its name.
        dataset: String,
        /// What may be spent on it in all.
        limit: Limit,
        /// Who a unit is; absent of records, and where the first reservation says it.
        #[serde(default, skip_serializing_if = "Whose::goes_without_saying")]
        whose: Whose,
        /// Why, in words.
        purpose: String,
        /// Data sets that the table shared rows with when it was opened as another one all the same.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        shares_rows_with: Vec<String>,
    },
    /// Who a unit is of a data set that did not say it when it was opened.
    Unit {
        /// Its name.
        dataset: String,
        /// Who.
        whose: Whose,
    },
    /// Another table, appended to or cut out, counts as this data set.
    Seen {
        /// Its name.
        dataset: String,
    },
    /// A session may spend this.
    Reserved(Reserved),
    /// A session is about to draw.
    Drawn {
        /// The entry of its reservation.
        reservation: u64,
    },
    /// The release was made.
    Settled {
        /// The entry of its reservation.
        reservation: u64,
        /// SHA-256 of its certificate, which is kept beside; absent where a stream's are made later.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        certificate: Option<String>,
    },
    /// Nothing was drawn.
    Void {
        /// The entry of its reservation.
        reservation: u64,
        /// Why, a word of the program's.
        reason: String,
    },
    /// What another ledger had spent.
    Imported {
        /// The hash of its first entry that is not here: what tells its branch from others.
        branch: String,
        /// How far it was.
        sequence: u64,
        /// Its hash there.
        hash: String,
        /// The data set here.
        dataset: String,
        /// Who a unit was; absent of records, and where the other ledger does not know it.
        #[serde(default, skip_serializing_if = "Whose::goes_without_saying")]
        whose: Whose,
        /// What it had spent, in the quantities of the limit here.
        price: Exact,
        /// The reservations there that this stands for.
        releases: u64,
        /// Each of them; absent in ledgers of 0.2.0, where the branch as a whole is all that is known.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        each: Vec<Taken>,
    },
}

/// Something that another ledger had spent. By its entry it is known again, whichever copies it came through.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Taken {
    /// The hash of its reservation there; where a ledger of 0.2.0 had taken it in, of the branch that it is part of.
    pub entry: String,
    /// What it costs, in the quantities of the limit here.
    pub price: Exact,
    /// The reservations that it stands for; more than one of a branch.
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

/// What a session may spend, and why.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Reserved {
    /// The data set.
    pub dataset: String,
    /// Who a unit is; absent of records, and in ledgers of 0.2.0.
    #[serde(default, skip_serializing_if = "Whose::goes_without_saying")]
    pub whose: Whose,
    /// What may be spent: events, or a filter of the session's own. As written, so that it is read where it is needed.
    pub spend: Box<RawValue>,
    /// What the release will claim.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub claim: Option<Guarantee>,
    /// By what it is charged.
    pub charged: Charged,
    /// What it costs, in the quantities of the limit.
    pub price: Exact,
    /// What is done, in a word or two: the verb and method.
    pub doing: String,
    /// Why, in words.
    pub purpose: String,
}

/// By what a release is charged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Charged {
    /// By its events.
    Events,
    /// By its claimed (ε, δ), which the events prove.
    Claim,
    /// As the only release ever: its claim is within the limit, and nothing follows.
    Whole,
}

/// Who writes, and why.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Note {
    /// Who.
    pub who: String,
    /// Why, in words.
    pub purpose: String,
}

impl Entry {
    /// Reads an entry and checks its hash; what it says is for [`crate::Books`].
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

    /// As it is kept.
    pub fn stored(&self) -> Result<Stored, LedgerError> {
        let text = serde_json::to_string(self).map_err(|error| LedgerError::Broken {
            sequence: self.sequence,
            why: format!("it cannot be written: {error}"),
        })?;
        Ok(Stored { sequence: self.sequence, hash: hash(&text), text })
    }
}

impl Reserved {
    /// What may be spent.
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

/// What a session may spend, as two kinds of thing that have a price.
pub(crate) enum Priced<'a> {
    /// Events.
    Events(&'a Event),
    /// A filter of its own.
    Filter(&'a Filter),
}

impl<'a> From<&'a Spend> for Priced<'a> {
    fn from(spend: &'a Spend) -> Self {
        match spend {
            Spend::Exactly(event) => Self::Events(event),
            Spend::Within(filter) => Self::Filter(filter),
        }
    }
}
