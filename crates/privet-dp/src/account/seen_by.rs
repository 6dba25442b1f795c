//! Towards whom a guarantee holds.

use serde::{Deserialize, Serialize};
use std::fmt;

/// Who may see what was released, for the guarantee to hold. In order: the later is the weaker.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SeenBy {
    /// Everyone: differential privacy.
    #[default]
    Everyone,
    /// Everyone but the unit whose records change: joint differential privacy. The unit itself sees a part
    /// that may depend on its own records at will.
    AllButTheUnit,
}

impl SeenBy {
    /// Whether it is everyone, as in all that was written before there was a choice.
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
