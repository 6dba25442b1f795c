//! Storage of entries: the interface of every back end.

use crate::LedgerError;
use crate::entry::Stored;
use crate::identity::{Identity, SECRET};
use zeroize::Zeroizing;

/// Rows appended in one transaction.
#[derive(Default)]
pub(crate) struct Batch {
    /// Entries, in order.
    pub entries: Vec<Stored>,
    /// A certificate's hash and text.
    pub certificate: Option<(String, String)>,
    /// A table now used as a data set.
    pub identity: Option<Identity>,
}

/// The ledger's secret, and the tables identified under it.
pub(crate) type Identities = (Zeroizing<[u8; SECRET]>, Vec<Identity>);

/// A back end. An implementer must make every append durable and exclusive.
pub(crate) trait Store: Send {
    /// Passes the entries after this one to `each`, in order.
    fn read(
        &mut self,
        after: u64,
        each: &mut dyn FnMut(Stored) -> Result<(), LedgerError>,
    ) -> Result<(), LedgerError>;

    /// Appends the batch that `make` returns, durably and with no other writer meanwhile. `make` first
    /// receives the entries after `after` that others appended. If it fails, nothing is appended.
    fn append(
        &mut self,
        after: u64,
        make: &mut dyn FnMut(&[Stored]) -> Result<Batch, LedgerError>,
    ) -> Result<(), LedgerError>;

    /// Returns one entry.
    fn entry(&mut self, sequence: u64) -> Result<Option<Stored>, LedgerError>;

    /// Returns a certificate by its hash.
    fn certificate(&mut self, hash: &str) -> Result<Option<String>, LedgerError>;

    /// Returns the secret and the tables identified under it; `None` if the back end stores none.
    fn identities(&mut self) -> Result<Option<Identities>, LedgerError>;
}
