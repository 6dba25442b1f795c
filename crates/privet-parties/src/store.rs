//! A member's state across restarts: its folder `state/`, locked by one process at a time.

use crate::PartiesError;
use crate::agreement::{MOST_ROUND_NUMBERS, hex};
use crate::message::{read_frame, write_frame};
use crate::signature::{Signed, Witness};
use crate::table::TableDigest;
use privet_data::write::{Destination, Existing, WriteError};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::fs::{self, File};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use zeroize::Zeroizing;

/// A member's state across restarts. Only one process has it open.
#[derive(Debug)]
pub(crate) struct Store {
    folder: PathBuf,
    /// Lock, held until this is dropped.
    _lock: File,
}

/// The shares of one round, as they were sent.
pub(crate) struct StoredShares {
    pub round: u64,
    pub shares: Vec<Zeroizing<Vec<u128>>>,
}

#[derive(Serialize, Deserialize)]
struct Head {
    round: u64,
    parts: usize,
    /// Of an opening: the random number in its commitment.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    nonce: String,
}

impl Head {
    fn shares(round: u64, parts: usize) -> Self {
        Self { round, parts, nonce: String::new() }
    }
}

/// Header of a share of noise.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Drawn {
    round: u64,
    draw: String,
}

/// Identifier of the draw, and this server's share of it.
pub(crate) type NoiseKept = (String, Zeroizing<Vec<u128>>);

/// Content of a file of numbers.
type Numbers = (Head, Zeroizing<Vec<u128>>);

impl Store {
    pub(crate) fn open(folder: &Path) -> Result<Self, PartiesError> {
        make_folder(folder)?;
        let path = folder.join("lock");
        let wrong = |source| PartiesError::File { path: path.clone(), source };
        let lock = File::create(&path).map_err(wrong)?;
        match lock.try_lock() {
            Ok(()) => Ok(Self { folder: folder.into(), _lock: lock }),
            Err(fs::TryLockError::WouldBlock) => Err(PartiesError::Transport(format!(
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

    /// Refuses the state of another run.
    pub fn belongs_to(&self, agreement: &str) -> Result<(), PartiesError> {
        match self.text("agreement")? {
            None => write_private_file(&self.folder.join("agreement"), agreement.as_bytes()),
            Some(there) if there == agreement => Ok(()),
            Some(_) => Err(PartiesError::InvalidRequest(format!(
                "{} is of another agreement, or the agreement was edited: a new one needs a new folder",
                self.folder.display()
            ))),
        }
    }

    /// Random identifier of this folder; it differs from that of a copy begun separately.
    pub fn instance(&self) -> Result<String, PartiesError> {
        if let Some(there) = self.text("instance")? {
            return Ok(there);
        }
        let mut bytes = [0_u8; 16];
        getrandom::fill(&mut bytes).map_err(|error| PartiesError::Transport(error.to_string()))?;
        let made = hex(&bytes);
        write_private_file(&self.folder.join("instance"), made.as_bytes())?;
        Ok(made)
    }

    pub fn end_reason(&self) -> Result<Option<String>, PartiesError> {
        self.text("ended")
    }

    pub fn keep_ended(&self, why: &str) -> Result<(), PartiesError> {
        write_private_file(&self.folder.join("ended"), why.as_bytes())
    }

    fn numbers(&self, name: &str) -> Result<Option<Numbers>, PartiesError> {
        let path = self.folder.join(name);
        let bytes = match fs::read(&path) {
            Ok(bytes) => Zeroizing::new(bytes),
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            Err(source) => return Err(PartiesError::File { path, source }),
        };
        let read = read_frame(&mut &bytes[..], MOST_ROUND_NUMBERS);
        read.map(Some).map_err(|source| PartiesError::File { path, source })
    }

    fn keep_numbers(&self, name: &str, head: &Head, body: &[u128]) -> Result<(), PartiesError> {
        let mut bytes = Zeroizing::new(Vec::new());
        write_frame(&mut *bytes, head, body)
            .map_err(|source| PartiesError::File { path: self.folder.join(name), source })?;
        write_private_file(&self.folder.join(name), &bytes)
    }

    /// Nonce and numbers of a server's opening of a round.
    pub fn opening(&self, round: u64) -> Result<Option<(String, Vec<u128>)>, PartiesError> {
        let read = self.numbers(&format!("opening-{round:07}"))?;
        Ok(read.map(|(head, body)| (head.nonce, body.to_vec())))
    }

    /// Draw and share of this server's noise of a round; the share is empty once it was used.
    pub fn noise(&self, round: u64) -> Result<Option<NoiseKept>, PartiesError> {
        let path = self.folder.join(noise_name(round));
        let bytes = match fs::read(&path) {
            Ok(bytes) => Zeroizing::new(bytes),
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            Err(source) => return Err(PartiesError::File { path, source }),
        };
        let read = read_frame::<Drawn>(&mut &bytes[..], MOST_ROUND_NUMBERS);
        match read {
            Ok((drawn, share)) if drawn.round == round => Ok(Some((drawn.draw, share))),
            Ok(_) => {
                Err(PartiesError::InvalidRequest(format!("{} is of another round", path.display())))
            }
            Err(source) => Err(PartiesError::File { path, source }),
        }
    }

    /// Stores a share durably before it is used.
    pub fn keep_noise(&self, round: u64, draw: &str, share: &[u128]) -> Result<(), PartiesError> {
        let path = self.folder.join(noise_name(round));
        let mut bytes = Zeroizing::new(Vec::new());
        write_frame(&mut *bytes, &Drawn { round, draw: draw.into() }, share)
            .map_err(|source| PartiesError::File { path: path.clone(), source })?;
        write_private_file(&path, &bytes)?;
        self.sync()
    }

    /// Replaces a used share of noise by its draw's identifier alone, so that it cannot be used again.
    pub fn wipe_noise(&self, round: u64) -> Result<(), PartiesError> {
        match self.noise(round)? {
            Some((draw, share)) if !share.is_empty() => self.keep_noise(round, &draw, &[]),
            _ => Ok(()),
        }
    }

    /// Deletes the shares of noise from this round on, which not all servers have.
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

    /// The number of times that the noise of each round was begun.
    pub fn attempts(&self) -> Result<Vec<u32>, PartiesError> {
        let Some(text) = self.text("noise-attempts")? else { return Ok(Vec::new()) };
        let odd = |_| {
            PartiesError::InvalidRequest("noise-attempts in the server's folder was edited".into())
        };
        serde_json::from_str(&text).map_err(odd)
    }

    pub fn keep_attempts(&self, attempts: &[u32]) -> Result<(), PartiesError> {
        let text = serde_json::to_vec(attempts).unwrap_or_default();
        write_private_file(&self.folder.join("noise-attempts"), &text)?;
        self.sync()
    }

    /// Digest of the draws that all servers have, once all have confirmed it: none is ever made again.
    pub fn noise_is_ready(&self) -> Result<Option<String>, PartiesError> {
        self.text("noise-ready")
    }

    pub fn keep_noise_ready(&self, draws: &str) -> Result<(), PartiesError> {
        write_private_file(&self.folder.join("noise-ready"), draws.as_bytes())?;
        self.sync()
    }

    fn sync(&self) -> Result<(), PartiesError> {
        #[cfg(unix)]
        File::open(&self.folder)
            .and_then(|folder| folder.sync_all())
            .map_err(|source| PartiesError::File { path: self.folder.clone(), source })?;
        Ok(())
    }

    /// Refuses a gap in the openings: the missing round would be opened again with other noise.
    pub fn no_gaps(&self, openings: usize) -> Result<(), PartiesError> {
        let wrong = |source| PartiesError::File { path: self.folder.clone(), source };
        let mut found = 0;
        for entry in fs::read_dir(&self.folder).map_err(wrong)? {
            let name = entry.map_err(wrong)?.file_name();
            found += usize::from(name.to_string_lossy().starts_with("opening-"));
        }
        match found == openings {
            true => Ok(()),
            false => Err(PartiesError::InvalidRequest(format!(
                "{} lacks what was opened in round {}, and has later ones: bring it back whole, or begin a new agreement",
                self.folder.display(),
                openings + 1
            ))),
        }
    }

    /// Stores an opening durably, or fails: a round that was committed to and lost would be opened with
    /// other noise.
    pub fn keep_opening(
        &self,
        round: u64,
        nonce: &str,
        opening: &[u128],
    ) -> Result<(), PartiesError> {
        let head = Head { round, parts: 1, nonce: nonce.into() };
        self.keep_numbers(&format!("opening-{round:07}"), &head, opening)?;
        self.sync()
    }

    /// The commitments of all servers in a round: of a party, those it received; of a server, those that
    /// all parties received, so that the round is open.
    pub fn commitments(&self, round: u64) -> Result<Option<Vec<String>>, PartiesError> {
        self.json(&format!("commitments-{round:07}"))
    }

    pub fn keep_commitments(&self, round: u64, all: &[String]) -> Result<(), PartiesError> {
        self.keep_json(&format!("commitments-{round:07}"), &all)
    }

    /// The signature of the party of this index.
    pub fn signature(&self, place: usize) -> Result<Option<Signed>, PartiesError> {
        self.json(&format!("signature-{place}"))
    }

    pub fn keep_signature(&self, place: usize, signed: &Signed) -> Result<(), PartiesError> {
        self.keep_json(&format!("signature-{place}"), signed)
    }

    /// Stores all parties' signatures, before the party accepts its result.
    pub fn keep_witness(&self, witness: &Witness) -> Result<(), PartiesError> {
        self.keep_json("signatures.json", witness)
    }

    /// True if the party of this index has its result.
    pub fn is_party_done(&self, place: usize) -> Result<bool, PartiesError> {
        Ok(self.text(&format!("done-{place}"))?.is_some())
    }

    pub fn keep_done(&self, place: usize) -> Result<(), PartiesError> {
        write_private_file(&self.folder.join(format!("done-{place}")), b"")
    }

    /// Key and digest of the run's table.
    pub fn mark(&self) -> Result<Option<TableDigest>, PartiesError> {
        self.json("table.json")
    }

    pub fn keep_mark(&self, mark: &TableDigest) -> Result<(), PartiesError> {
        self.keep_json("table.json", mark)
    }

    /// The joined party of this index: instance, schema, and identifier of its begun run.
    pub fn joined_party<T: DeserializeOwned>(
        &self,
        place: usize,
    ) -> Result<Option<T>, PartiesError> {
        self.json(&format!("joined-{place}"))
    }

    pub fn keep_joined(&self, place: usize, who: &impl Serialize) -> Result<(), PartiesError> {
        self.keep_json(&format!("joined-{place}"), who)
    }

    fn json<T: DeserializeOwned>(&self, name: &str) -> Result<Option<T>, PartiesError> {
        let Some(text) = self.text(name)?.map(Zeroizing::new) else { return Ok(None) };
        let path = self.folder.join(name);
        let odd = |_| PartiesError::InvalidRequest(format!("{} was edited", path.display()));
        serde_json::from_str(&text).map(Some).map_err(odd)
    }

    /// Stores a value durably before anything of it is sent.
    fn keep_json(&self, name: &str, value: &impl Serialize) -> Result<(), PartiesError> {
        let text = Zeroizing::new(serde_json::to_vec(value).unwrap_or_default());
        write_private_file(&self.folder.join(name), &text)?;
        self.sync()
    }

    /// The last shares made.
    pub fn stored_shares(&self) -> Result<Option<StoredShares>, PartiesError> {
        let Some((Head { round, parts, .. }, body)) = self.numbers("shares")? else {
            return Ok(None);
        };
        if parts == 0 {
            return Ok(Some(StoredShares { round, shares: Vec::new() }));
        }
        let length = (body.len() / parts).max(1);
        let shares = body.chunks(length).map(|share| Zeroizing::new(share.to_vec())).collect();
        Ok(Some(StoredShares { round, shares }))
    }

    /// Deletes the shares, which add up to this party's own sums. After a restart all rounds are past.
    pub fn forget_shares(&self) -> Result<(), PartiesError> {
        self.keep_numbers("shares", &Head::shares(u64::MAX, 0), &[])
    }

    pub fn keep_shares(&self, kept: &StoredShares) -> Result<(), PartiesError> {
        let head = Head::shares(kept.round, kept.shares.len());
        let mut body = Zeroizing::new(Vec::new());
        kept.shares.iter().for_each(|share| body.extend(share.iter()));
        self.keep_numbers("shares", &head, &body)
    }
}

fn noise_name(round: u64) -> String {
    format!("noise-{round:07}")
}

/// Creates a folder readable by its owner alone.
pub(crate) fn make_folder(folder: &Path) -> Result<(), PartiesError> {
    let wrong = |source| PartiesError::File { path: folder.into(), source };
    let mut builder = fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.recursive(true).create(folder).map_err(wrong)
}

/// Writes a file whole or not at all, readable by its owner alone.
pub(crate) fn write_private_file(path: &Path, bytes: &[u8]) -> Result<(), PartiesError> {
    let written: Result<(), WriteError> =
        Destination::open(path, Existing::Own).and_then(|mut file| file.write(bytes));
    Ok(written?)
}
