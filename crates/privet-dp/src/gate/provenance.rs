//! The origin of a certificate: program version, date and identifier.

use crate::noise::Origin;
use serde::{Deserialize, Serialize};
use std::fmt;

/// The version of this program.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The last version whose certificates omit this.
pub const LAST_WITHOUT_PROVENANCE: Version = Version(0, 1, 0);

/// The origin of a certificate; under its seal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Provenance {
    /// The version of the program.
    pub version: String,
    /// The date, as `2026-11-15T18:30:00Z`. Absent where the noise came from a fixed seed, which gives
    /// the same file twice.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub date: Option<String>,
    /// 128 random bits in hexadecimal, which identify this certificate. Absent with the date.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
}

impl Provenance {
    /// This program's version; the current date and a fresh identifier, unless the noise is repeatable.
    pub(super) fn now(origin: Option<Origin>) -> Self {
        let mut bits = [0; 16];
        let drawn = origin != Some(Origin::FixedSeed) && getrandom::fill(&mut bits).is_ok();
        Self {
            version: VERSION.into(),
            date: drawn.then(privet_core::now),
            id: drawn.then(|| super::seal::to_hex(&bits)),
        }
    }

    /// True if every part is well-formed.
    pub fn well_formed(&self) -> bool {
        let date = |text: &String| privet_core::is_timestamp(text);
        let id = |text: &String| super::from_hex(text).is_some_and(|bytes| bytes.len() == 16);
        Version::of(&self.version).is_some_and(|version| version > LAST_WITHOUT_PROVENANCE)
            && self.date.as_ref().is_none_or(date)
            && self.id.as_ref().is_none_or(id)
            && self.date.is_some() == self.id.is_some()
    }
}

/// A version, in order: major, minor, patch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Version(pub u32, pub u32, pub u32);

impl Version {
    /// Parses `1.2.3`; `None` for anything else.
    pub fn of(text: &str) -> Option<Self> {
        let part = |text: Option<&str>| {
            let text = text?;
            let plain = text.bytes().all(|digit| digit.is_ascii_digit());
            let short = text.len() == 1 || !text.starts_with('0');
            if plain && short { text.parse().ok() } else { None }
        };
        let mut parts = text.split('.');
        let version = Self(part(parts.next())?, part(parts.next())?, part(parts.next())?);
        parts.next().is_none().then_some(version)
    }

    /// The version of this program.
    pub fn this() -> Self {
        Self::of(VERSION).unwrap_or(LAST_WITHOUT_PROVENANCE)
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}", self.0, self.1, self.2)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_read_and_ordered() {
        assert!(Version::of("0.10.0") > Version::of("0.9.12"));
        assert_eq!(Version::this().to_string(), VERSION);
        for odd in ["", "1.2", "1.2.3.4", "1.2.x", "+1.2.3", "1. 2.3", "01.2.3", "1.2.99999999999"]
        {
            assert_eq!(Version::of(odd), None, "{odd}");
        }
    }

    #[test]
    fn what_is_written_is_well_formed_and_never_twice_the_same() {
        let (a, b) = (Provenance::now(Some(Origin::OperatingSystem)), Provenance::now(None));
        assert!(a.well_formed() && b.well_formed() && a.id.is_some() && a.id != b.id);
        let seeded = Provenance::now(Some(Origin::FixedSeed));
        assert!(seeded.well_formed() && seeded == Provenance::now(Some(Origin::FixedSeed)));
        for change in [
            |made: &mut Provenance| made.version = LAST_WITHOUT_PROVENANCE.to_string(),
            |made: &mut Provenance| made.version = "new\n".into(),
            |made: &mut Provenance| made.date = Some("yesterday".into()),
            |made: &mut Provenance| made.date = Some("2026-13-01T00:00:00Z".into()),
            |made: &mut Provenance| made.date = Some("2026-02-29T00:00:00Z".into()),
            |made: &mut Provenance| made.date = Some("2026-02-28T24:00:00Z".into()),
            |made: &mut Provenance| made.date = Some("0000-00-00T99:99:99Z".into()),
            |made: &mut Provenance| made.date = None,
            |made: &mut Provenance| made.id = Some("+1".repeat(16)),
        ] {
            let mut odd = a.clone();
            change(&mut odd);
            assert!(!odd.well_formed(), "{odd:?}");
        }
    }
}
