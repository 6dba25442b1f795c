//! A file that one run at a time writes to.
//!
//! The operating system's lock (`flock`) belongs to the open file, not to the process: while another
//! thread starts a program, the child holds a copy of every descriptor from its fork until its exec, and
//! closing ours does not release the lock then. So it is released explicitly when the file is dropped,
//! whoever has copies; and since a killed run cannot do that, a lock is awaited for a little, far longer
//! than a start takes, before it counts.

use std::fs::{File, TryLockError};
use std::io;
use std::ops::{Deref, DerefMut};
use std::thread::sleep;
use std::time::Duration;

/// The number of tries for a lock, and the pause between them.
const TRIES: u32 = 200;
const PAUSE: Duration = Duration::from_millis(10);

/// An open file, locked by this run.
#[derive(Debug)]
pub struct Locked(File);

impl Locked {
    /// Locks a file; `None` if another run holds it.
    pub fn new(file: File) -> io::Result<Option<Self>> {
        for _ in 0..TRIES {
            match file.try_lock() {
                Ok(()) => return Ok(Some(Self(file))),
                Err(TryLockError::WouldBlock) => sleep(PAUSE),
                Err(TryLockError::Error(error)) => return Err(error),
            }
        }
        Ok(None)
    }
}

impl Drop for Locked {
    fn drop(&mut self) {
        let _ = self.0.unlock();
    }
}

impl Deref for Locked {
    type Target = File;
    fn deref(&self) -> &File {
        &self.0
    }
}

impl DerefMut for Locked {
    fn deref_mut(&mut self) -> &mut File {
        &mut self.0
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::process::{Command, Stdio};
    use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

    fn open(path: &std::path::Path) -> File {
        File::options().create(true).truncate(false).write(true).open(path).unwrap()
    }

    /// A child that got a copy of the descriptor and keeps it: for it alone, the lock would last.
    #[test]
    fn a_descriptor_lent_to_a_child_does_not_prolong_the_lock() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("results");
        let locked = Locked::new(open(&path)).unwrap().unwrap();
        let lent = locked.try_clone().unwrap();
        let mut child =
            Command::new("cat").stdin(Stdio::piped()).stdout(Stdio::from(lent)).spawn().unwrap();
        assert!(open(&path).try_lock().is_err(), "locked while it is held");
        drop(locked);
        assert!(open(&path).try_lock().is_ok(), "free as soon as it is dropped");
        drop(child.stdin.take());
        child.wait().unwrap();
    }

    /// The real case: programs are started all the time while a file is locked and released.
    #[test]
    fn programs_that_are_started_meanwhile_do_not_prolong_the_lock() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("results");
        let started = AtomicU32::new(0);
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    while started.fetch_add(1, Relaxed) < 400 {
                        Command::new("true").status().unwrap();
                    }
                });
            }
            while started.load(Relaxed) < 400 {
                let file = open(&path);
                assert!(file.try_lock().is_ok(), "after {started:?} programs");
                drop(Locked(file));
            }
        });
    }
}
