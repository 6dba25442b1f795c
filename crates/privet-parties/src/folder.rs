//! A member's folder: the files handed to it, and its stored state.
//!
//! ```text
//!  clinic/party.toml         its name and where the rest lies; may be edited
//!  clinic/agreement.json     what all agree on, the same for everyone
//!  clinic/certificate.pem    who it is, signed by the authority of the agreement
//!  clinic/key.pem            its secret; readable by its owner alone
//!  clinic/state/             what it must find again after a restart
//! ```

use crate::party::PartyState;
use crate::signature::Signed;
use crate::store::{Store, make_folder, write_private_file};
use crate::table::{Rows, TableDigest};
use crate::{Agreement, PartiesError, Party, Server, Transport};
use privet_data::write::{Destination, Existing};
use privet_dp::gate::LedgerEntry;
use serde::{Deserialize, Serialize};
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use zeroize::Zeroizing;

/// File name of the settings.
pub const SETTINGS: &str = "party.toml";
/// File name of the agreement.
pub const AGREEMENT: &str = "agreement.json";
/// File name of the certificate.
pub const CERTIFICATE: &str = "certificate.pem";
/// File name of the secret key.
pub const KEY: &str = "key.pem";

/// A party's table, read to be recognised later; nothing of it is stored before the party begins.
pub struct RecognisedTable {
    store: Store,
    mark: TableDigest,
}

/// A member's settings file. Paths are relative to its folder.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    /// Its name in the agreement.
    pub name: String,
    /// File of the agreement.
    pub agreement: PathBuf,
    /// File of its certificate.
    pub certificate: PathBuf,
    /// File of its secret key.
    pub key: PathBuf,
    /// Folder of its state.
    pub state: PathBuf,
    /// Of a server: the address to listen at, if other than the one in the agreement.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub listen: Option<String>,
}

impl Settings {
    /// The settings that `init` writes.
    pub fn usual(name: &str) -> Self {
        Self {
            name: name.into(),
            agreement: AGREEMENT.into(),
            certificate: CERTIFICATE.into(),
            key: KEY.into(),
            state: "state".into(),
            listen: None,
        }
    }
}

/// A member's folder, with settings and agreement read.
#[derive(Debug, Clone)]
pub struct Folder {
    path: PathBuf,
    settings: Settings,
    agreement: Agreement,
}

impl Folder {
    /// Reads settings and agreement.
    pub fn open(path: &Path) -> Result<Self, PartiesError> {
        let file = path.join(SETTINGS);
        let text = String::from_utf8_lossy(&read(&file)?).into_owned();
        let settings: Settings = toml::from_str(&text).map_err(|error| {
            PartiesError::InvalidRequest(format!("{}: {error}", file.display()))
        })?;
        let file = path.join(&settings.agreement);
        let agreement = Agreement::read(&read(&file)?, &file.display().to_string())?;
        Ok(Self { path: path.into(), settings, agreement })
    }

    /// The agreement of all members.
    pub fn agreement(&self) -> &Agreement {
        &self.agreement
    }

    /// The settings.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Reads the certificate and the secret key, as PEM.
    pub fn identity(&self) -> Result<(Vec<u8>, Zeroizing<Vec<u8>>), PartiesError> {
        let certificate = read(&self.path.join(&self.settings.certificate))?;
        Ok((certificate, Zeroizing::new(read(&self.path.join(&self.settings.key))?)))
    }

    /// Signs the digest of everything this member received.
    pub fn sign(&self, transcript: &str) -> Result<Signed, PartiesError> {
        crate::tls::signer(self)?.sign(&self.agreement, transcript)
    }

    /// Opens the stored state; refused while another process has it open.
    fn store(&self) -> Result<Store, PartiesError> {
        Store::open(&self.path.join(&self.settings.state))
    }

    /// Creates the party of this folder, to greet servers and check that all agree. It cannot send
    /// shares: that needs a table ([`Self::begin`]).
    pub fn party<L: Transport>(&self, schema: &str, line: L) -> Result<Party<L>, PartiesError> {
        let own = PartyState { store: Some(self.store()?), begun: None, signer: None };
        Party::with(self.agreement.clone(), &self.settings.name, schema, own, line)
    }

    /// Creates the party of this folder with its table, resuming where it was. `rows` passes every row
    /// of the table; another table than the folder's run was begun with is refused before anything is
    /// sent.
    pub fn begin<L: Transport, E: From<PartiesError>>(
        &self,
        schema: &str,
        line: L,
        rows: impl FnOnce(&mut dyn FnMut(&[u8])) -> Result<(), E>,
    ) -> Result<Party<L>, E> {
        Ok(self.begin_with(schema, line, self.recognise(rows)?)?)
    }

    /// The first half of [`Self::begin`]: reads the table, and keeps nothing of it yet.
    pub fn recognise<E: From<PartiesError>>(
        &self,
        rows: impl FnOnce(&mut dyn FnMut(&[u8])) -> Result<(), E>,
    ) -> Result<RecognisedTable, E> {
        let store = self.store()?;
        store.belongs_to(&self.agreement.digest())?;
        let mark = match store.mark()? {
            Some(mark) => mark,
            None => TableDigest::new()?,
        };
        let mut table = Rows::keyed_by(&mark);
        rows(&mut |row| table.row(row))?;
        Ok(RecognisedTable { store, mark: table.finish(mark)? })
    }

    /// The second half: the folder is bound to this table from here on.
    pub fn begin_with<L: Transport>(
        &self,
        schema: &str,
        line: L,
        RecognisedTable { store, mark }: RecognisedTable,
    ) -> Result<Party<L>, PartiesError> {
        let signer = Some(crate::tls::signer(self)?);
        store.keep_mark(&mark)?;
        let own = PartyState { store: Some(store), begun: Some(mark.begun.clone()), signer };
        Party::with(self.agreement.clone(), &self.settings.name, schema, own, line)
    }

    /// Creates a party without stored state: it can query the standing, but not take part.
    pub fn onlooker<L: Transport>(&self, line: L) -> Result<Party<L>, PartiesError> {
        Party::with(self.agreement.clone(), &self.settings.name, "", PartyState::none(), line)
    }

    /// Creates the server of this folder, resuming where it was.
    pub fn server(&self, tell: Box<dyn Fn(&str) + Send + Sync>) -> Result<Server, PartiesError> {
        let store = Some(self.store()?);
        Server::with(self.agreement.clone(), &self.settings.name, store, tell)
    }

    /// The record of payment for this run, if there is one.
    pub fn payment_record(&self) -> Result<Option<PaymentRecord>, PartiesError> {
        let path = self.path.join(&self.settings.state).join("paid.json");
        match fs::read(&path) {
            Ok(bytes) => serde_json::from_slice(&bytes).map(Some).map_err(|error| {
                PartiesError::InvalidRequest(format!("{}: {error}", path.display()))
            }),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(source) => Err(PartiesError::File { path, source }),
        }
    }

    /// Records that the whole plan is spent, before anything is sent.
    pub fn keep_paid(&self, paid: &PaymentRecord) -> Result<(), PartiesError> {
        let state = self.path.join(&self.settings.state);
        make_folder(&state)?;
        let text = serde_json::to_vec_pretty(paid).unwrap_or_default();
        write_private_file(&state.join("paid.json"), &text)
    }
}

/// A party's own record of its spending.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PaymentRecord {
    /// Digest of the agreement.
    pub agreement: String,
    /// ε of the whole plan, spent from the first share on.
    pub epsilon: f64,
    /// δ of the whole plan.
    pub delta: f64,
    /// Time.
    pub at: String,
    /// Entry in its ledger, if there is one.
    pub entered: Option<LedgerEntry>,
}

fn read(path: &Path) -> Result<Vec<u8>, PartiesError> {
    fs::read(path).map_err(|source| PartiesError::File { path: path.into(), source })
}

/// Creates a member's folder. Existing files are kept.
pub(crate) fn lay_out(
    folder: &Path,
    settings: &Settings,
    agreement: &Agreement,
    (certificate, key): (&str, &str),
) -> Result<(), PartiesError> {
    make_folder(folder)?;
    let agreement = serde_json::to_string_pretty(agreement).unwrap_or_default();
    let written = toml::to_string(settings).unwrap_or_default();
    let parts: [(&Path, &str); 4] = [
        (Path::new(SETTINGS), &written),
        (&settings.agreement, &agreement),
        (&settings.certificate, certificate),
        (&settings.key, key),
    ];
    for (name, text) in parts {
        Destination::open(&folder.join(name), Existing::Keep)?.write(text.as_bytes())?;
    }
    Ok(())
}
