//! Errors of races.

use std::path::PathBuf;

/// The reason why a race stopped.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RaceError {
    /// No such race.
    #[error("'{given}' is not a race; accepted: {accepted}")]
    Unknown {
        /// The name given.
        given: String,
        /// The accepted names.
        accepted: String,
    },
    /// No interpreter for the peers.
    #[error(
        "'{}' cannot make a virtual environment for the peers ({reason}); accepted is a Python from \
         3.11 with its venv module", program.display()
    )]
    NoPython {
        /// The program that was tried.
        program: PathBuf,
        /// The fault.
        reason: String,
    },
    /// Nothing could be installed.
    #[error(
        "no peer could be installed ({reason}); peers need the network, or a package index that pip is \
         configured for"
    )]
    NoPeers {
        /// The installer's last line.
        reason: String,
    },
    /// A peer gave no answer.
    #[error("{who} gave no answer: {reason}")]
    Silent {
        /// The peer.
        who: String,
        /// Its last line.
        reason: String,
    },
    /// A peer took too long.
    #[error("{who} did not answer within {seconds} s")]
    Slow {
        /// The peer.
        who: String,
        /// The time limit in seconds.
        seconds: u64,
    },
    /// A peer that is not for a data set.
    #[error("{who} is not for this set: {reason}")]
    NotFor {
        /// The peer.
        who: &'static str,
        /// The reason.
        reason: String,
    },
    /// The race is for two classes.
    #[error("the race is for data of two classes")]
    NotTwoClasses,
}
