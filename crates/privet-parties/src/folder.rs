//! A member's folder: what it was handed, and what it must remember.
//!
//! ```text
//!  clinic/party.toml         its name and where the rest lies; may be edited
//!  clinic/agreement.json     what all agree on, the same for everyone
//!  clinic/certificate.pem    who it is, signed by the authority of the agreement
//!  clinic/key.pem            its secret; readable by its owner alone
//!  clinic/state/             what it must find again after a restart
//! ```

use crate::agreement::LONGEST;
use crate::message::{read_frame, write_frame};
use crate::{Agreement, Line, PartiesError, Party, Server};
use privet_data::write::{Destination, Existing, WriteError};
use privet_dp::gate::Entered;
use serde::{Deserialize, Serialize};
use std::fs::{self, File};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use zeroize::Zeroizing;

/// The name of the settings file.
pub const SETTINGS: &str = "party.toml";
/// The name of the agreement.
pub const AGREEMENT: &str = "agreement.json";
/// The name of the certificate.
pub const CERTIFICATE: &str = "certificate.pem";
/// The name of the secret key.
pub const KEY: &str = "key.pem";

/// What a member's settings file says. Paths are relative to its folder.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    /// Its name in the agreement.
    pub name: String,
    /// What all agree on.
    pub agreement: PathBuf,
    /// Its certificate.
    pub certificate: PathBuf,
    /// Its secret key.
    pub key: PathBuf,
    /// What it must remember.
    pub state: PathBuf,
    /// Of a server: where it listens, if not where the agreement says that it is reached.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub listen: Option<String>,
}

impl Settings {
    /// As `init` writes them.
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

/// A member's folder, read.
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
        let settings: Settings = toml::from_str(&text)
            .map_err(|error| PartiesError::Asked(format!("{}: {error}", file.display())))?;
        let file = path.join(&settings.agreement);
        let agreement = Agreement::read(&read(&file)?, &file.display().to_string())?;
        Ok(Self { path: path.into(), settings, agreement })
    }

    /// What all agree on.
    pub fn agreement(&self) -> &Agreement {
        &self.agreement
    }

    /// What the settings file says.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// The certificate and the secret key, as PEM.
    pub fn identity(&self) -> Result<(Vec<u8>, Zeroizing<Vec<u8>>), PartiesError> {
        let certificate = read(&self.path.join(&self.settings.certificate))?;
        Ok((certificate, Zeroizing::new(read(&self.path.join(&self.settings.key))?)))
    }

    /// What it must remember; refused while another process has it.
    fn store(&self) -> Result<Store, PartiesError> {
        Store::open(&self.path.join(&self.settings.state))
    }

    /// The party of this folder, that goes on where it was.
    pub fn party<L: Line>(&self, schema: &str, line: L) -> Result<Party<L>, PartiesError> {
        let store = Some(self.store()?);
        Party::with(self.agreement.clone(), &self.settings.name, schema, store, line)
    }

    /// The same without what it must remember: it can ask how far the run is, and not take part.
    pub fn onlooker<L: Line>(&self, line: L) -> Result<Party<L>, PartiesError> {
        Party::with(self.agreement.clone(), &self.settings.name, "", None, line)
    }

    /// The server of this folder, that goes on where it was.
    pub fn server(&self, tell: Box<dyn Fn(&str) + Send + Sync>) -> Result<Server, PartiesError> {
        let store = Some(self.store()?);
        Server::with(self.agreement.clone(), &self.settings.name, store, tell)
    }

    /// Where the ledger has this run, if it was paid for before.
    pub fn paid(&self) -> Result<Option<Paid>, PartiesError> {
        let path = self.path.join(&self.settings.state).join("paid.json");
        match fs::read(&path) {
            Ok(bytes) => serde_json::from_slice(&bytes)
                .map(Some)
                .map_err(|error| PartiesError::Asked(format!("{}: {error}", path.display()))),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(source) => Err(PartiesError::File { path, source }),
        }
    }

    /// Writes down that the whole plan is spent, before anything is sent.
    pub fn keep_paid(&self, paid: &Paid) -> Result<(), PartiesError> {
        let state = self.path.join(&self.settings.state);
        make_folder(&state)?;
        let text = serde_json::to_vec_pretty(paid).unwrap_or_default();
        keep(&state.join("paid.json"), &text)
    }
}

/// A party's own record of what it spent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Paid {
    /// Of which agreement.
    pub agreement: String,
    /// ε, all of it from the first share on.
    pub epsilon: f64,
    /// δ.
    pub delta: f64,
    /// When.
    pub at: String,
    /// In which ledger, if there is one.
    pub entered: Option<Entered>,
    /// Where there is none: which table it was begun with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub table: Option<String>,
}

/// What a member must find again. Only one process has it.
#[derive(Debug)]
pub(crate) struct Store {
    folder: PathBuf,
    /// Held as long as this is.
    _lock: File,
}

/// The shares of one round, as they were sent.
pub(crate) struct Kept {
    pub round: u64,
    pub shares: Vec<Zeroizing<Vec<u128>>>,
}

#[derive(Serialize, Deserialize)]
struct Head {
    round: u64,
    parts: usize,
}

/// What stands above a share of noise.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Drawn {
    round: u64,
    draw: String,
}

/// Which draw a share of noise is of, and the share.
pub(crate) type NoiseKept = (String, Zeroizing<Vec<u128>>);

/// What a file of numbers holds.
type Numbers = (Head, Zeroizing<Vec<u128>>);

impl Store {
    pub(crate) fn open(folder: &Path) -> Result<Self, PartiesError> {
        make_folder(folder)?;
        let path = folder.join("lock");
        let wrong = |source| PartiesError::File { path: path.clone(), source };
        let lock = File::create(&path).map_err(wrong)?;
        match lock.try_lock() {
            Ok(()) => Ok(Self { folder: folder.into(), _lock: lock }),
            Err(fs::TryLockError::WouldBlock) => Err(PartiesError::Line(format!(
                "{} is in use by another process: a member takes part once",
                folder.display()
            ))),
            Err(fs::TryLockError::Error(source)) => Err(wrong(source)),
        }
    }

    fn text(&self, name: &str) -> Result<Option<String>, PartiesError> {
        let path = self.folder.join(name);
        match fs::read_to_string(&path) {
            Ok(text) => Ok(Some(text)),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(source) => Err(PartiesError::File { path, source }),
        }
    }

    /// Refuses what is left of another run.
    pub fn belongs_to(&self, agreement: &str) -> Result<(), PartiesError> {
        match self.text("agreement")? {
            None => keep(&self.folder.join("agreement"), agreement.as_bytes()),
            Some(there) if there == agreement => Ok(()),
            Some(_) => Err(PartiesError::Asked(format!(
                "{} is of another agreement, or the agreement was edited: a new one needs a new folder",
                self.folder.display()
            ))),
        }
    }

    /// Tells this folder from a copy of it elsewhere that was begun by itself.
    pub fn instance(&self) -> Result<String, PartiesError> {
        if let Some(there) = self.text("instance")? {
            return Ok(there);
        }
        let mut bytes = [0_u8; 16];
        getrandom::fill(&mut bytes).map_err(|error| PartiesError::Line(error.to_string()))?;
        let made = crate::agreement::hex(&bytes);
        keep(&self.folder.join("instance"), made.as_bytes())?;
        Ok(made)
    }

    pub fn ended(&self) -> Result<Option<String>, PartiesError> {
        self.text("ended")
    }

    pub fn keep_ended(&self, why: &str) -> Result<(), PartiesError> {
        keep(&self.folder.join("ended"), why.as_bytes())
    }

    fn numbers(&self, name: &str) -> Result<Option<Numbers>, PartiesError> {
        let path = self.folder.join(name);
        let bytes = match fs::read(&path) {
            Ok(bytes) => Zeroizing::new(bytes),
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            Err(source) => return Err(PartiesError::File { path, source }),
        };
        let read = read_frame(&mut &bytes[..], LONGEST);
        read.map(Some).map_err(|source| PartiesError::File { path, source })
    }

    fn keep_numbers(&self, name: &str, head: &Head, body: &[u128]) -> Result<(), PartiesError> {
        let mut bytes = Zeroizing::new(Vec::new());
        write_frame(&mut *bytes, head, body)
            .map_err(|source| PartiesError::File { path: self.folder.join(name), source })?;
        keep(&self.folder.join(name), &bytes)
    }

    pub fn opening(&self, round: u64) -> Result<Option<Vec<u128>>, PartiesError> {
        Ok(self.numbers(&format!("opening-{round:07}"))?.map(|(_, body)| body.to_vec()))
    }

    /// The draw that this server's share of the noise of a round is of, and the share: empty once it was used.
    pub fn noise(&self, round: u64) -> Result<Option<NoiseKept>, PartiesError> {
        let path = self.folder.join(noise_name(round));
        let bytes = match fs::read(&path) {
            Ok(bytes) => Zeroizing::new(bytes),
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            Err(source) => return Err(PartiesError::File { path, source }),
        };
        let read = read_frame::<Drawn>(&mut &bytes[..], LONGEST);
        match read {
            Ok((drawn, share)) if drawn.round == round => Ok(Some((drawn.draw, share))),
            Ok(_) => Err(PartiesError::Asked(format!("{} is of another round", path.display()))),
            Err(source) => Err(PartiesError::File { path, source }),
        }
    }

    /// On disk for good before anything is made of it.
    pub fn keep_noise(&self, round: u64, draw: &str, share: &[u128]) -> Result<(), PartiesError> {
        let path = self.folder.join(noise_name(round));
        let mut bytes = Zeroizing::new(Vec::new());
        write_frame(&mut *bytes, &Drawn { round, draw: draw.into() }, share)
            .map_err(|source| PartiesError::File { path: path.clone(), source })?;
        keep(&path, &bytes)?;
        self.sync()
    }

    /// Leaves of a share of noise no more than which draw it was of: it was used, and is used for nothing else.
    pub fn wipe_noise(&self, round: u64) -> Result<(), PartiesError> {
        match self.noise(round)? {
            Some((draw, share)) if !share.is_empty() => self.keep_noise(round, &draw, &[]),
            _ => Ok(()),
        }
    }

    /// Forgets shares of noise from this round on that not all servers have.
    pub fn forget_noise(&self, from: u64) -> Result<(), PartiesError> {
        for round in from.. {
            let path = self.folder.join(noise_name(round));
            match fs::remove_file(&path) {
                Ok(()) => {}
                Err(error) if error.kind() == ErrorKind::NotFound => break,
                Err(source) => return Err(PartiesError::File { path, source }),
            }
        }
        self.sync()
    }

    /// How often the noise of each round was begun.
    pub fn attempts(&self) -> Result<Vec<u32>, PartiesError> {
        let Some(text) = self.text("noise-attempts")? else { return Ok(Vec::new()) };
        let odd =
            |_| PartiesError::Asked("noise-attempts in the server's folder was edited".into());
        serde_json::from_str(&text).map_err(odd)
    }

    pub fn keep_attempts(&self, attempts: &[u32]) -> Result<(), PartiesError> {
        let text = serde_json::to_vec(attempts).unwrap_or_default();
        keep(&self.folder.join("noise-attempts"), &text)?;
        self.sync()
    }

    /// Of which draws all servers have their shares, once all have said so: none is ever made again.
    pub fn noise_is_ready(&self) -> Result<Option<String>, PartiesError> {
        self.text("noise-ready")
    }

    pub fn keep_noise_ready(&self, draws: &str) -> Result<(), PartiesError> {
        keep(&self.folder.join("noise-ready"), draws.as_bytes())?;
        self.sync()
    }

    fn sync(&self) -> Result<(), PartiesError> {
        #[cfg(unix)]
        File::open(&self.folder)
            .and_then(|folder| folder.sync_all())
            .map_err(|source| PartiesError::File { path: self.folder.clone(), source })?;
        Ok(())
    }

    /// Refuses openings of which an earlier one is missing: it would be made again with other noise.
    pub fn no_gaps(&self, openings: usize) -> Result<(), PartiesError> {
        let wrong = |source| PartiesError::File { path: self.folder.clone(), source };
        let mut found = 0;
        for entry in fs::read_dir(&self.folder).map_err(wrong)? {
            let name = entry.map_err(wrong)?.file_name();
            found += usize::from(name.to_string_lossy().starts_with("opening-"));
        }
        match found == openings {
            true => Ok(()),
            false => Err(PartiesError::Asked(format!(
                "{} lacks what was opened in round {}, and has later ones: bring it back whole, or begin a new agreement",
                self.folder.display(),
                openings + 1
            ))),
        }
    }

    /// On disk for good, or refused: a round that was opened and is not found again would be opened with other noise.
    pub fn keep_opening(&self, round: u64, opening: &[u128]) -> Result<(), PartiesError> {
        self.keep_numbers(&format!("opening-{round:07}"), &Head { round, parts: 1 }, opening)?;
        self.sync()
    }

    /// Who has joined under the name at this place: instance and schema.
    pub fn joined(&self, place: usize) -> Result<Option<(String, String)>, PartiesError> {
        let Some(text) = self.text(&format!("joined-{place}"))? else { return Ok(None) };
        Ok(text.split_once('\n').map(|(instance, schema)| (instance.into(), schema.into())))
    }

    pub fn keep_joined(&self, place: usize, who: (&str, &str)) -> Result<(), PartiesError> {
        let text = format!("{}\n{}", who.0.replace('\n', " "), who.1);
        keep(&self.folder.join(format!("joined-{place}")), text.as_bytes())
    }

    /// The shares that were made last.
    pub fn kept(&self) -> Result<Option<Kept>, PartiesError> {
        let Some((Head { round, parts }, body)) = self.numbers("shares")? else { return Ok(None) };
        if parts == 0 {
            return Ok(Some(Kept { round, shares: Vec::new() }));
        }
        let length = (body.len() / parts).max(1);
        let shares = body.chunks(length).map(|share| Zeroizing::new(share.to_vec())).collect();
        Ok(Some(Kept { round, shares }))
    }

    /// Puts nothing in their place: together they are this party's own sums. Should it be started again, all rounds are past.
    pub fn forget_shares(&self) -> Result<(), PartiesError> {
        self.keep_numbers("shares", &Head { round: u64::MAX, parts: 0 }, &[])
    }

    pub fn keep_shares(&self, kept: &Kept) -> Result<(), PartiesError> {
        let head = Head { round: kept.round, parts: kept.shares.len() };
        let mut body = Zeroizing::new(Vec::new());
        kept.shares.iter().for_each(|share| body.extend(share.iter()));
        self.keep_numbers("shares", &head, &body)
    }
}

fn noise_name(round: u64) -> String {
    format!("noise-{round:07}")
}

fn make_folder(folder: &Path) -> Result<(), PartiesError> {
    let wrong = |source| PartiesError::File { path: folder.into(), source };
    let mut builder = fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.recursive(true).create(folder).map_err(wrong)
}

/// Writes a file whole or not at all, readable by its owner alone.
pub(crate) fn keep(path: &Path, bytes: &[u8]) -> Result<(), PartiesError> {
    let written: Result<(), WriteError> =
        Destination::open(path, Existing::Own).and_then(|mut file| file.write(bytes));
    Ok(written?)
}

fn read(path: &Path) -> Result<Vec<u8>, PartiesError> {
    fs::read(path).map_err(|source| PartiesError::File { path: path.into(), source })
}

/// Lays out a folder for a member. Nothing that is there is overwritten.
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
