//! A purse for one session: a small file that records the reservation, the committed draws and the
//! resumed states.
//!
//! It grows by whole lines, each on disk (`fsync`) before the announced step is done, under a lock that
//! one process at a time holds. A line that was cut short by a crash announces nothing, since its step
//! was not done; it is removed when the file is opened again.
//!
//! ```text
//! privet-session-1
//! reserve 3f9a…                 SHA-256 of what may be spent
//! aside 0 7c1e…                 SHA-256 of a state of generation 0, before it is written anywhere
//! draw 0
//! resume 0                      a process went on from the state of generation 0
//! draw 1
//! settled
//! ```
//!
//! A stream of very many draws commits many at once ([`Journal::committing_ahead`]): `ahead 500` means
//! that draws up to number 500 may have been made, and `made 321`, before a state is suspended, that
//! exactly 321 were.

use super::{Certificate, Purse, PurseError, Spend, sorted};
use sha2::{Digest, Sha256};
use std::fs::{File, OpenOptions};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::Path;
use std::time::{Duration, Instant};

const FIRST_LINE: &str = "privet-session-1";
/// Largest size of a journal: it is read whole; one line per draw.
const LARGEST_JOURNAL: u64 = 1 << 30;
/// Time to wait for another holder of the lock: a process that is being started may hold a copy of it
/// for a moment.
const LOCK_PATIENCE: Duration = Duration::from_secs(2);

/// The journal of one session.
#[derive(Debug)]
pub struct Journal {
    file: File,
    name: String,
    reserved: Option<String>,
    draws: u64,
    /// The number of draws committed on disk, at least `draws`.
    committed: u64,
    /// The number of draws committed at once.
    ahead: u64,
    /// The newest resumed generation, plus one.
    generations: u64,
    /// Digests of the states that may be resumed.
    aside: Vec<(u64, String)>,
    ended: bool,
}

impl Journal {
    /// Creates a journal; refuses if the file exists.
    pub fn create(path: &Path) -> Result<Self, PurseError> {
        let mut options = OpenOptions::new();
        options.read(true).write(true).create_new(true);
        let file =
            owner_only(&mut options).open(path).map_err(|error| journal_error(path, &error))?;
        let mut journal = Self::lock_journal(file, path)?;
        journal.line(FIRST_LINE)?;
        Ok(journal)
    }

    /// Opens an existing journal.
    pub fn open(path: &Path) -> Result<Self, PurseError> {
        let file = OpenOptions::new().read(true).write(true).open(path);
        let mut journal =
            Self::lock_journal(file.map_err(|error| journal_error(path, &error))?, path)?;
        journal.read()?;
        Ok(journal)
    }

    fn lock_journal(file: File, path: &Path) -> Result<Self, PurseError> {
        let name = path.display().to_string();
        let start = Instant::now();
        while let Err(error) = file.try_lock() {
            match error {
                std::fs::TryLockError::WouldBlock if start.elapsed() < LOCK_PATIENCE => {
                    std::thread::sleep(Duration::from_millis(10));
                }
                std::fs::TryLockError::WouldBlock => return Err(PurseError::InUse(name)),
                std::fs::TryLockError::Error(error) => return Err(journal_error(path, &error)),
            }
        }
        Ok(Self {
            file,
            name,
            reserved: None,
            draws: 0,
            committed: 0,
            ahead: 1,
            generations: 0,
            aside: Vec::new(),
            ended: false,
        })
    }

    fn read(&mut self) -> Result<(), PurseError> {
        let odd = |what: &str| PurseError::NotKept(format!("{what} in a session's journal"));
        let failed = |error: std::io::Error| PurseError::NotKept(error.to_string());
        if self.file.metadata().map_err(failed)?.len() > LARGEST_JOURNAL {
            return Err(odd("too many lines"));
        }
        let mut bytes = Vec::new();
        self.file.read_to_end(&mut bytes).map_err(failed)?;
        let whole = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |last| last + 1);
        self.file.set_len(whole as u64).map_err(failed)?;
        self.file.seek(SeekFrom::End(0)).map_err(failed)?;
        let text =
            std::str::from_utf8(&bytes[..whole]).map_err(|_| odd("bytes that are no text"))?;
        let mut lines = text.lines();
        match lines.next() {
            Some(FIRST_LINE) => {}
            // Cut off in its first line: nothing was reserved.
            None => self.line(FIRST_LINE)?,
            Some(_) => return Err(odd("another first line")),
        }
        for line in lines {
            let number = |text: &str| text.parse::<u64>().map_err(|_| odd("a line that is none"));
            match line.split_once(' ') {
                Some(("reserve", digest)) if self.reserved.is_none() => {
                    self.reserved = Some(digest.into());
                }
                Some(("draw", index)) if number(index)? == self.draws => self.draws += 1,
                Some(("ahead", upto)) if number(upto)? > self.draws => self.draws = number(upto)?,
                // The writer of this line held the lock, and drew no more.
                Some(("made", draws)) if number(draws)? <= self.draws => {
                    self.draws = number(draws)?;
                }
                Some(("aside", state)) => {
                    let (generation, digest) =
                        state.split_once(' ').ok_or_else(|| odd("a line that is none"))?;
                    self.remember_digest(number(generation)?, digest);
                }
                Some(("resume", generation)) if number(generation)? >= self.generations => {
                    self.generations = number(generation)?.saturating_add(1);
                }
                None if line == "settled" || line == "void" => self.ended = true,
                _ => return Err(odd("a line that does not follow")),
            }
        }
        self.committed = self.draws;
        Ok(())
    }

    /// Keeps the digest of a suspended state. A state of a generation that has not begun yet replaces
    /// those of the same generation: they may hold different news, and only one of them may be resumed.
    fn remember_digest(&mut self, generation: u64, digest: &str) {
        if generation > self.generations {
            self.aside.retain(|(known, _)| *known != generation);
        }
        self.aside.push((generation, digest.into()));
    }

    /// Commits this many draws at once from here on: a process that ends early loses up to that many.
    pub fn committing_ahead(self, draws: u64) -> Self {
        Self { ahead: draws.max(1), ..self }
    }

    /// The number of committed draws.
    pub fn draws(&self) -> u64 {
        self.draws
    }

    /// Writes a line and waits until it is on disk.
    fn line(&mut self, line: &str) -> Result<(), PurseError> {
        let text = format!("{line}\n");
        let written = self.file.write_all(text.as_bytes()).and_then(|()| self.file.sync_all());
        written.map_err(|error| PurseError::NotKept(format!("{}: {error}", self.name)))
    }

    fn going(&self) -> Result<(), PurseError> {
        match (&self.reserved, self.ended) {
            (Some(_), false) => Ok(()),
            (_, true) => Err(PurseError::Refused("this session has ended".into())),
            (None, _) => Err(PurseError::Refused("nothing was reserved for this session".into())),
        }
    }
}

impl Purse for Journal {
    fn reserve(&mut self, spend: &Spend) -> Result<(), PurseError> {
        if self.reserved.is_some() {
            return Err(PurseError::Refused("this session's budget was reserved before".into()));
        }
        let digest = digest(spend)?;
        self.line(&format!("reserve {digest}"))?;
        self.reserved = Some(digest);
        Ok(())
    }

    fn drawn(&mut self, index: u64) -> Result<(), PurseError> {
        self.going()?;
        if index != self.draws {
            return Err(PurseError::Refused("a draw out of turn".into()));
        }
        if self.draws == self.committed {
            if self.ahead > 1 {
                self.line(&format!("ahead {}", index.saturating_add(self.ahead)))?;
            } else {
                self.line(&format!("draw {index}"))?;
            }
            self.committed = index.saturating_add(self.ahead);
        }
        self.draws += 1;
        Ok(())
    }

    fn put_aside(&mut self, generation: u64, digest: &str) -> Result<(), PurseError> {
        self.going()?;
        if self.draws < self.committed {
            self.line(&format!("made {}", self.draws))?;
            self.committed = self.draws;
        }
        self.line(&format!("aside {generation} {digest}"))?;
        self.remember_digest(generation, digest);
        Ok(())
    }

    fn check_resumable(
        &self,
        spend: &Spend,
        generation: u64,
        draws: u64,
        state: &str,
    ) -> Result<(), PurseError> {
        self.going()?;
        if self.reserved.as_deref() != Some(&digest(spend)?) {
            return Err(PurseError::Refused("the state is of another session".into()));
        }
        if generation < self.generations || draws > self.draws {
            return Err(PurseError::Stale { generation, seen: self.generations });
        }
        if !self.aside.iter().any(|(known, digest)| *known == generation && digest == state) {
            return Err(PurseError::Refused("the state is not as it was put aside".into()));
        }
        Ok(())
    }

    fn record_resumption(&mut self, generation: u64) -> Result<u64, PurseError> {
        self.going()?;
        self.line(&format!("resume {generation}"))?;
        self.generations = generation.saturating_add(1);
        self.aside.retain(|(known, _)| *known > generation);
        Ok(self.draws)
    }

    fn record_settlement(&mut self, _certificate: &Certificate) -> Result<(), PurseError> {
        self.line("settled")?;
        self.ended = true;
        Ok(())
    }

    fn void(&mut self, _reason: &'static str) -> Result<(), PurseError> {
        self.line("void")?;
        self.ended = true;
        Ok(())
    }
}

fn digest(spend: &Spend) -> Result<String, PurseError> {
    let value =
        serde_json::to_value(spend).map_err(|error| PurseError::NotKept(error.to_string()))?;
    let hash = Sha256::digest(sorted(&value));
    Ok(hash.iter().map(|byte| format!("{byte:02x}")).collect())
}

fn journal_error(path: &Path, error: &std::io::Error) -> PurseError {
    PurseError::NotKept(format!("{}: {error}", path.display()))
}

#[cfg(unix)]
fn owner_only(options: &mut OpenOptions) -> &mut OpenOptions {
    std::os::unix::fs::OpenOptionsExt::mode(options, 0o600)
}

#[cfg(not(unix))]
fn owner_only(options: &mut OpenOptions) -> &mut OpenOptions {
    options
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::account::{Cost, Event};
    use privet_core::{Neighbours, Unit};

    /// Two processes with different news resume one state, and the first ends before its resumption is
    /// committed: only the later one's state is known.
    #[test]
    fn of_two_branches_of_a_generation_the_later_one_counts() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal");
        let cost = Cost::Approximate { epsilon: 1.0, delta: 0.0 };
        let (neighbours, unit) = (Neighbours::AddRemove, Unit::Record);
        let spend = Spend::Exactly(Event::Use { neighbours, unit, cost });
        let known = |journal: &Journal, generation, state| {
            journal.check_resumable(&spend, generation, 0, state).is_ok()
        };
        let mut journal = Journal::create(&path).unwrap();
        journal.reserve(&spend).unwrap();
        for (generation, state) in [(0, "a"), (1, "x"), (1, "y")] {
            journal.put_aside(generation, state).unwrap();
        }
        assert!(known(&journal, 0, "a") && known(&journal, 1, "y") && !known(&journal, 1, "x"));
        drop(journal);
        let mut journal = Journal::open(&path).unwrap();
        assert!(known(&journal, 1, "y") && !known(&journal, 1, "x"), "read again");
        // Once the generation has begun, its states before and after the draw both count.
        journal.record_resumption(0).unwrap();
        journal.put_aside(1, "z").unwrap();
        assert!(known(&journal, 1, "y") && known(&journal, 1, "z") && !known(&journal, 0, "a"));
    }
}
