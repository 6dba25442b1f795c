//! The observers towards whom a guarantee holds.

use serde::{Deserialize, Serialize};
use std::fmt;

/// The observers of the release for whom the guarantee holds, from the stronger claim to the weaker.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SeenBy {
    /// Everyone: differential privacy.
    #[default]
    Everyone,
    /// Everyone but the unit whose records change: joint differential privacy. The unit itself sees a
    /// part of the output that may depend on its own records without limit.
    AllButTheUnit,
}

impl SeenBy {
    /// True for everyone, the default of older files.
    pub fn is_everyone(&self) -> bool {
        *self == Self::Everyone
    }
}

impl fmt::Display for SeenBy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Everyone => "everyone",
            Self::AllButTheUnit => "everyone but the person concerned",
        })
    }
}
