//! Why a race stopped.

use std::path::PathBuf;

/// Why a race stopped.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RaceError {
    /// No such race.
    #[error("'{given}' is not a race; accepted: {accepted}")]
    Unknown {
        /// What was given.
        given: String,
        /// What would be accepted.
        accepted: String,
    },
    /// No interpreter for the peers.
    #[error(
        "'{}' cannot make a virtual environment for the peers ({reason}); accepted is a Python from \
         3.11 with its venv module", program.display()
    )]
    NoPython {
        /// What was tried.
        program: PathBuf,
        /// What happened.
        reason: String,
    },
    /// Nothing could be installed.
    #[error(
        "no peer could be installed ({reason}); peers need the network, or a package index that pip is \
         configured for"
    )]
    NoPeers {
        /// The last words of the installer.
        reason: String,
    },
    /// A peer gave no answer.
    #[error("{who} gave no answer: {reason}")]
    Silent {
        /// Whose.
        who: String,
        /// The last words it had.
        reason: String,
    },
    /// A peer took too long.
    #[error("{who} did not answer within {seconds} s")]
    Slow {
        /// Whose.
        who: String,
        /// How long was waited.
        seconds: u64,
    },
    /// A peer that is not for a data set.
    #[error("{who} is not for this set: {reason}")]
    NotFor {
        /// Whose.
        who: &'static str,
        /// Why.
        reason: String,
    },
    /// The race is for two classes.
    #[error("the race is for data of two classes")]
    NotTwoClasses,
}
