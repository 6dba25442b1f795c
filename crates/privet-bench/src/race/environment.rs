//! The virtual environments of the peers, made by the harness itself.
//!
//! Scripts and pinned requirements are part of the program, so that an installed one can race anywhere.
//! diffprivlib needs an older scikit-learn and Opacus a large torch: they have environments of their
//! own. Each peer is installed on its own, within the pins of its environment: an unavailable one does
//! not affect the others.

use super::RaceError;
use super::peer::{Peer, shorten_line};
use crate::error::BenchError;
use privet_cli::say;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The peers' scripts, and the code they share.
const SCRIPTS: &[(&str, &str)] = &[
    ("serving.py", include_str!("../../peers/serving.py")),
    ("fit.py", include_str!("../../peers/fit.py")),
    ("diffprivlib_fit.py", include_str!("../../peers/diffprivlib_fit.py")),
    ("accountant.py", include_str!("../../peers/accountant.py")),
    ("samplers.py", include_str!("../../peers/samplers.py")),
    ("network.py", include_str!("../../peers/network.py")),
    ("growth.py", include_str!("../../peers/growth.py")),
    ("scale.py", include_str!("../../peers/scale.py")),
    ("rows.py", include_str!("../../peers/rows.py")),
    ("river_stream.py", include_str!("../../peers/river_stream.py")),
    ("dp_ebm.py", include_str!("../../peers/dp_ebm.py")),
    ("diffprivlib_rows.py", include_str!("../../peers/diffprivlib_rows.py")),
];
const PINS: &str = include_str!("../../peers/requirements.txt");
const RIVER_PINS: &str = include_str!("../../peers/requirements-river.txt");
const OLDER_PINS: &str = include_str!("../../peers/requirements-diffprivlib.txt");
const NETWORK_PINS: &str = include_str!("../../peers/requirements-opacus.txt");

/// A peer to race against.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rival {
    /// scikit-learn and SciPy.
    ScikitLearn,
    /// diffprivlib.
    Diffprivlib,
    /// dp-accounting.
    DpAccounting,
    /// OpenDP.
    OpenDp,
    /// InterpretML, without its pages.
    Interpret,
    /// river.
    River,
    /// Opacus, on torch.
    Opacus,
}

impl Rival {
    /// Its packages; the first is its name.
    fn packages(self) -> &'static [&'static str] {
        match self {
            Self::ScikitLearn => &["scikit-learn", "scipy"],
            Self::Diffprivlib => &["diffprivlib", "scikit-learn"],
            Self::DpAccounting => &["dp-accounting"],
            Self::OpenDp => &["opendp"],
            Self::River => &["river"],
            Self::Interpret => &["interpret-core", "scikit-learn", "scipy"],
            Self::Opacus => &["opacus", "torch"],
        }
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        self.packages()[0]
    }

    /// The folder of its environment, and the pins there.
    fn place(self) -> (&'static str, &'static str) {
        match self {
            Self::Diffprivlib => ("venv-diffprivlib", OLDER_PINS),
            Self::River => ("venv-river", RIVER_PINS),
            Self::Opacus => ("venv-opacus", NETWORK_PINS),
            _ => ("venv", PINS),
        }
    }
}

/// The installed rivals.
pub struct Environment {
    folder: PathBuf,
    ready: Vec<Rival>,
    /// Rivals that could not be installed, with the reason.
    pub missing: Vec<(Rival, String)>,
}

impl Environment {
    /// An environment without rivals.
    pub fn empty(folder: &Path) -> Self {
        Self { folder: folder.into(), ready: Vec::new(), missing: Vec::new() }
    }

    /// Makes the environments of these rivals, or uses existing ones.
    pub fn make(work: &Path, python: &Path, rivals: &[Rival]) -> Result<Self, BenchError> {
        let mut made = Self::empty(&work.join("peers"));
        if rivals.is_empty() {
            return Ok(made);
        }
        fs::create_dir_all(&made.folder).map_err(BenchError::on_path(&made.folder))?;
        for (name, text) in SCRIPTS {
            let path = made.folder.join(name);
            fs::write(&path, text).map_err(BenchError::on_path(&path))?;
        }
        for &rival in rivals {
            match made.install(python, rival) {
                Ok(()) => made.ready.push(rival),
                Err(BenchError::Race(RaceError::NoPeers { reason })) => {
                    say!("peers: {} cannot be installed: {reason}", rival.name());
                    made.missing.push((rival, reason));
                }
                Err(error) => return Err(error),
            }
        }
        match made.missing.last() {
            Some((_, reason)) if made.ready.is_empty() => {
                Err(RaceError::NoPeers { reason: reason.clone() }.into())
            }
            _ => Ok(made),
        }
    }

    /// True if a rival is installed.
    pub fn has(&self, rival: Rival) -> bool {
        self.ready.contains(&rival)
    }

    /// Starts a script of a rival, if it is installed.
    pub fn start(
        &self,
        rival: Rival,
        script: &str,
        arguments: &[OsString],
    ) -> Result<Option<Peer>, BenchError> {
        self.start_logging(
            rival,
            script,
            arguments,
            &self.folder.join(script).with_extension("log"),
        )
    }

    /// Starts a script, with another log file for its standard error.
    pub fn start_logging(
        &self,
        rival: Rival,
        script: &str,
        arguments: &[OsString],
        log: &Path,
    ) -> Result<Option<Peer>, BenchError> {
        if !self.has(rival) {
            return Ok(None);
        }
        let mut all = vec![self.folder.join(script).into_os_string()];
        all.extend_from_slice(arguments);
        Peer::start(rival.name(), &python_of(&self.folder.join(rival.place().0)), all, log)
            .map(Some)
    }

    fn install(&self, python: &Path, rival: Rival) -> Result<(), BenchError> {
        let (place, pins) = rival.place();
        let folder = self.folder.join(place);
        let done = folder.join(format!("{}.installed", rival.name()));
        if fs::read_to_string(&done).is_ok_and(|found| found == pins) {
            return Ok(());
        }
        let inside = python_of(&folder);
        // Interrupted half-way, an environment may have an interpreter and no installer.
        let whole = folder.join("made");
        if !whole.exists() {
            say!("peers: making {}", folder.display());
            let made = wait_for(Command::new(python).args(["-m", "venv"]).arg(&folder));
            made.map_err(|reason| RaceError::NoPython { program: python.into(), reason })?;
            fs::write(&whole, "").map_err(BenchError::on_path(&whole))?;
        }
        say!("peers: installing {}", rival.packages().join(", "));
        let list = self.folder.join(format!("{place}.txt"));
        fs::write(&list, pins).map_err(BenchError::on_path(&list))?;
        let pip = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-input"];
        let mut command = Command::new(&inside);
        command.args(pip).arg("--constraint").arg(&list).args(rival.packages());
        wait_for(&mut command).map_err(|reason| RaceError::NoPeers { reason })?;
        fs::write(&done, pins).map_err(BenchError::on_path(&done))
    }
}

fn python_of(environment: &Path) -> PathBuf {
    environment.join(if cfg!(windows) { "Scripts/python.exe" } else { "bin/python" })
}

/// Waits for a command; an error is its last line.
fn wait_for(command: &mut Command) -> Result<(), String> {
    let output = command.stdin(Stdio::null()).output().map_err(|error| error.to_string())?;
    if output.status.success() {
        return Ok(());
    }
    let words = String::from_utf8_lossy(&output.stderr);
    let last = words.lines().rfind(|line| !line.trim().is_empty());
    Err(last.map_or_else(|| output.status.to_string(), shorten_line))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_peer_is_pinned() {
        use Rival::{Diffprivlib, DpAccounting, Interpret, Opacus, OpenDp, River, ScikitLearn};
        for rival in [ScikitLearn, Diffprivlib, DpAccounting, OpenDp, Interpret, River, Opacus] {
            let pins = rival.place().1;
            for package in rival.packages() {
                let pinned = pins.lines().filter_map(|line| line.split_once("=="));
                let version = pinned.into_iter().find(|(name, _)| name == package);
                let version = version.map(|(_, version)| version).unwrap_or_default();
                assert!(version.split('.').all(|part| part.parse::<u32>().is_ok()), "{package}");
            }
        }
        let pins = [PINS, OLDER_PINS, NETWORK_PINS].into_iter().flat_map(str::lines);
        for line in pins.filter(|line| !line.starts_with('#')) {
            assert!(line.contains("=="), "{line} is not pinned");
        }
    }
}
