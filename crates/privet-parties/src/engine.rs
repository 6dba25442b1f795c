//! The engine that evaluates the circuit of noise drawn by the servers together.
//!
//! [`Program`] runs `privet-joint-noise`, which is built from the package `joint/` of the repository:
//! its dependencies cannot be locked beside those of the rest, so it is a separate program and nothing
//! here depends on it. It opens no connection: its messages to other servers go through this process,
//! over the mutual TLS between servers.

use crate::PartiesError;
use privet_dp::mechanism::joint::Drawing;
use privet_joint::pipe;
use std::io::{self, BufReader, BufWriter, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::Receiver;
use zeroize::{Zeroize, Zeroizing};

/// The name of the program.
pub const PROGRAM: &str = "privet-joint-noise";
/// Instructions for building and finding it.
const BUILD: &str = "build it with `cargo build --release --locked --manifest-path joint/Cargo.toml` in the repository of \
                     privet, and name it with --joint-program (joint/target/release/privet-joint-noise), or put it beside \
                     `privet` or on the PATH";
/// Maximum letters of its last error output that are reported.
const LAST_WORDS: u64 = 400;

/// One server's part of one draw.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Job {
    /// Index of the server, from 0.
    pub place: usize,
    /// The number of servers.
    pub servers: usize,
    /// The noise to draw: scale and length.
    pub drawing: Drawing,
}

/// Sends bytes to the server of an index.
pub type SendTo<'a> = dyn FnMut(usize, &[u8]) -> io::Result<()> + 'a;

/// Draws noise together with the engines of the other servers.
pub trait Engine: Send + Sync {
    /// Draws this server's share of one round's noise. Messages of other servers' engines come through
    /// `from`, with their indices; if `from` ends before the draw does, the draw is abandoned. An error
    /// gives the reason and implies that nothing was drawn.
    fn draw(
        &self,
        job: &Job,
        from: Receiver<(usize, Vec<u8>)>,
        to: &mut SendTo<'_>,
    ) -> Result<Zeroizing<Vec<u128>>, String>;
}

/// The program, at its path.
#[derive(Debug, Clone)]
pub struct Program {
    path: PathBuf,
}

impl Program {
    /// Finds the program: at the path given, beside the running executable, or on the PATH. Refuses a
    /// missing program and one with another protocol.
    pub fn find(named: Option<&Path>) -> Result<Self, PartiesError> {
        let beside = || {
            let own = std::env::current_exe().ok()?;
            Some(own.with_file_name(PROGRAM)).filter(|path| path.is_file())
        };
        let path = named.map(Path::to_path_buf).or_else(beside).unwrap_or_else(|| PROGRAM.into());
        let asked = Command::new(&path).arg("--version").stdin(Stdio::null()).output();
        let said = asked.map_err(|error| {
            PartiesError::InvalidRequest(format!(
                "the agreement has servers draw noise together, and {} cannot be run ({error}): {BUILD}",
                path.display()
            ))
        })?;
        let expected = format!("{PROGRAM} {}", pipe::PROTOCOL);
        match String::from_utf8_lossy(&said.stdout).trim() == expected {
            true => Ok(Self { path }),
            false => Err(PartiesError::InvalidRequest(format!(
                "{} is not {expected}, which this version of privet asks for: {BUILD}",
                path.display()
            ))),
        }
    }

    fn start(&self, job: &Job) -> io::Result<Child> {
        let numbers = [job.place.to_string(), job.servers.to_string()];
        Command::new(&self.path)
            .args(numbers)
            .arg(format!("{:016x}", job.drawing.steps.to_bits()))
            .arg(job.drawing.coordinates.to_string())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
    }
}

impl Engine for Program {
    fn draw(
        &self,
        job: &Job,
        from: Receiver<(usize, Vec<u8>)>,
        to: &mut SendTo<'_>,
    ) -> Result<Zeroizing<Vec<u128>>, String> {
        let failed = |error: io::Error| format!("{}: {error}", self.path.display());
        let mut child = Running(self.start(job).map_err(failed)?);
        let missing = || failed(io::Error::other("it has no input or output"));
        let input = child.0.stdin.take().ok_or_else(missing)?;
        let output = child.0.stdout.take().ok_or_else(missing)?;
        let errors = child.0.stderr.take().ok_or_else(missing)?;
        // Both threads end with the program: writing to it fails, and reading from it ends.
        std::thread::spawn(move || {
            let mut input = BufWriter::new(input);
            for (place, bytes) in from {
                let bytes = Zeroizing::new(bytes);
                if pipe::write(&mut input, place as u8, &bytes).is_err() {
                    break;
                }
            }
        });
        let errors = std::thread::spawn(move || {
            let mut words = Vec::new();
            let _ = errors.take(LAST_WORDS).read_to_end(&mut words);
            String::from_utf8_lossy(&words).trim().to_string()
        });
        let mut share = Zeroizing::new(Vec::with_capacity(16 * job.drawing.coordinates));
        let mut output = BufReader::with_capacity(1 << 16, output);
        let passed_on = loop {
            match pipe::read(&mut output) {
                Ok(None) => break Ok(()),
                Ok(Some((pipe::OUTCOME, mut bytes))) => {
                    share.extend(&bytes);
                    bytes.zeroize();
                }
                Ok(Some((place, bytes))) => {
                    if let Err(error) = to(usize::from(place), &bytes) {
                        break Err(error);
                    }
                }
                Err(error) => break Err(error),
            }
        };
        passed_on.map_err(|error| format!("what {PROGRAM} said was not passed on: {error}"))?;
        let ended = child.0.wait().map_err(failed)?;
        if !ended.success() || share.len() != 16 * job.drawing.coordinates {
            let words = errors.join().unwrap_or_default();
            let words = privet_core::printable(&words);
            return Err(format!("{PROGRAM} ended without noise ({ended}): {words}"));
        }
        let number = |bytes: &[u8]| {
            let mut word = [0; 16];
            word.copy_from_slice(bytes);
            u128::from_le_bytes(word)
        };
        Ok(Zeroizing::new(share.chunks_exact(16).map(number).collect()))
    }
}

/// A process that is killed when this is dropped.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
