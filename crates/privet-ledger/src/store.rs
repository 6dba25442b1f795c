//! Where entries are kept: what every back end does alike.

use crate::LedgerError;
use crate::entry::Stored;
use crate::identity::{Identity, SECRET};
use zeroize::Zeroizing;

/// What is appended at once.
#[derive(Default)]
pub(crate) struct Batch {
    /// Entries, in order.
    pub entries: Vec<Stored>,
    /// A certificate, by its hash.
    pub certificate: Option<(String, String)>,
    /// A table that a data set is known by.
    pub identity: Option<Identity>,
}

/// The secret that tables are known under, and the tables.
pub(crate) type Identities = (Zeroizing<[u8; SECRET]>, Vec<Identity>);

/// A back end.
pub(crate) trait Store: Send {
    /// Hands over the entries after this one, in order.
    fn read(
        &mut self,
        after: u64,
        each: &mut dyn FnMut(Stored) -> Result<(), LedgerError>,
    ) -> Result<(), LedgerError>;

    /// Appends what `make` gives, durably, with nobody else appending meanwhile. It is first handed the entries after
    /// `after` that others appended. Where it refuses, nothing is appended.
    fn append(
        &mut self,
        after: u64,
        make: &mut dyn FnMut(&[Stored]) -> Result<Batch, LedgerError>,
    ) -> Result<(), LedgerError>;

    /// One entry.
    fn entry(&mut self, sequence: u64) -> Result<Option<Stored>, LedgerError>;

    /// A certificate, by its hash.
    fn certificate(&mut self, hash: &str) -> Result<Option<String>, LedgerError>;

    /// Tables that data sets are known by, and the secret that they are known under; `None` where none are kept.
    fn identities(&mut self) -> Result<Option<Identities>, LedgerError>;
}
