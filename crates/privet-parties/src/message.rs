//! What parties and servers say to each other.
//!
//! A frame is a header in JSON and a body of numbers, each preceded by its length in four bytes, most significant
//! first. A body holds numbers of 128 bits, least significant byte first. Lengths beyond [`FRAME`] are refused before
//! anything is read into memory.

use crate::signature::Signed;
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use std::io::{self, Read, Write};
use zeroize::Zeroizing;

/// The longest header and the longest body, in bytes.
pub const FRAME: (u32, u32) = (65_536, 1 << 29);
/// The version of all that is said below. Version 1 (up to privet 0.2.0) had neither commitments nor signatures.
pub const PROTOCOL: u32 = 2;

/// What a greeting without a version means.
fn first() -> u32 {
    1
}

/// What a party says to a server.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "ask", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Ask {
    /// First of all.
    Hello {
        /// [`PROTOCOL`].
        #[serde(default = "first")]
        protocol: u32,
        /// [`crate::Agreement::digest`].
        agreement: String,
        /// SHA-256 of the party's own schema.
        schema: String,
        /// Tells this party's run from one begun elsewhere under the same name.
        instance: String,
        /// A random word that was drawn when the party's table was fixed; none where it only looks whether all agree.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        begun: Option<String>,
        /// Seconds since 1970.
        clock: u64,
    },
    /// A share of the sums of a round, in the body.
    Share {
        /// From 0.
        round: u64,
        /// SHA-256 of what is charged.
        leaf: String,
        /// SHA-256 of all that was heard before ([`crate::Commitment`] says of what).
        heard: String,
    },
    /// What the server commits itself to in a round, once it has everyone's share.
    Commitment {
        /// From 0.
        round: u64,
    },
    /// What the server opens in a round, once every party has said the same here.
    Opening {
        /// From 0.
        round: u64,
        /// The commitments of all servers in this round, as this party heard them.
        commitments: Vec<String>,
    },
    /// After the last round: this party's signature, and a question for everyone's.
    Sign {
        /// Its own.
        signed: Signed,
        /// From which party on.
        from: u64,
    },
    /// The party has its result.
    Done,
    /// The party takes no further part: what it saw must end the run for everyone.
    End {
        /// In words.
        why: String,
    },
    /// How far it is.
    Status,
}

/// What a server says to a party.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "reply", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Reply {
    /// To a greeting: the round that is open.
    Welcome {
        /// From 0.
        round: u64,
    },
    /// To a greeting, where the servers still draw their noise together: come again.
    Drawing {
        /// Rounds for which it is drawn.
        done: u64,
        /// Of so many.
        of: u64,
    },
    /// The share is kept.
    Taken,
    /// To what the server will open.
    Committed {
        /// [`crate::Commitment::digest`].
        digest: String,
    },
    /// In the body.
    Opened {
        /// What the commitment was made with.
        nonce: String,
    },
    /// Of all parties in order, from the one that was asked for on: as many as a message holds.
    Signatures {
        /// Theirs.
        signatures: Vec<Signed>,
    },
    /// Not yet; who is missing.
    Waiting {
        /// Names.
        missing: Vec<String>,
    },
    /// How far it is.
    Standing(Standing),
    /// Not accepted; the run goes on.
    Refused {
        /// In words.
        why: String,
    },
    /// The run is over, before its end.
    Ended {
        /// In words.
        why: String,
    },
}

/// How far a run is.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Standing {
    /// Rounds that were opened.
    pub opened: u64,
    /// Whether that is all.
    pub complete: bool,
    /// Who joined.
    pub joined: Vec<String>,
    /// Who is waited for: for a share, a word on the commitments, or a signature.
    pub missing: Vec<String>,
    /// Why it ended, if it did before its end.
    pub ended: Option<String>,
    /// For how many rounds noise is drawn, and of how many, while servers draw it together.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub drawing: Option<(u64, u64)>,
}

/// Writes a frame.
pub fn write_frame(to: &mut impl Write, header: &impl Serialize, body: &[u128]) -> io::Result<()> {
    let header = serde_json::to_vec(header)?;
    let mut bytes = Zeroizing::new(Vec::with_capacity(header.len() + 16 * body.len() + 8));
    let size = |bytes: usize| {
        u32::try_from(bytes).map_err(|_| io::Error::other("a message is too long to be written"))
    };
    bytes.extend(size(header.len())?.to_be_bytes());
    bytes.extend(&header);
    bytes.extend(size(16 * body.len())?.to_be_bytes());
    for number in body {
        bytes.extend(number.to_le_bytes());
    }
    to.write_all(&bytes)?;
    to.flush()
}

/// Reads a frame whose body has at most this many numbers.
pub fn read_frame<H: DeserializeOwned>(
    from: &mut impl Read,
    most: usize,
) -> io::Result<(H, Zeroizing<Vec<u128>>)> {
    let header = read_part(from, FRAME.0)?;
    let header = serde_json::from_slice(&header)
        .map_err(|_| io::Error::new(io::ErrorKind::InvalidData, "what came is no message"))?;
    let limit = u32::try_from(16 * most as u64).unwrap_or(u32::MAX).min(FRAME.1);
    let body = read_part(from, limit)?;
    if body.len() % 16 != 0 {
        return Err(io::Error::new(io::ErrorKind::InvalidData, "numbers are cut short"));
    }
    let number = |bytes: &[u8]| {
        let mut word = [0; 16];
        word.copy_from_slice(bytes);
        u128::from_le_bytes(word)
    };
    Ok((header, Zeroizing::new(body.chunks_exact(16).map(number).collect())))
}

fn read_part(from: &mut impl Read, most: u32) -> io::Result<Zeroizing<Vec<u8>>> {
    let mut length = [0; 4];
    from.read_exact(&mut length)?;
    let length = u32::from_be_bytes(length);
    if length > most {
        return Err(io::Error::new(io::ErrorKind::InvalidData, "what came is too long"));
    }
    let mut bytes = Zeroizing::new(vec![0; length as usize]);
    from.read_exact(&mut bytes)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_come_back_as_they_went() {
        let ask = Ask::Share { round: 3, leaf: "a".into(), heard: "b".into() };
        let mut bytes = Vec::new();
        write_frame(&mut bytes, &ask, &[1, u128::MAX, 7 << 100]).unwrap();
        let (header, body): (Ask, _) = read_frame(&mut &bytes[..], 3).unwrap();
        assert_eq!((header, &body[..]), (ask, &[1, u128::MAX, 7 << 100][..]));
    }

    #[test]
    fn what_is_no_frame_is_refused() {
        let mut bytes = Vec::new();
        write_frame(&mut bytes, &Ask::Done, &[1, 2]).unwrap();
        let read = |bytes: &[u8], most| read_frame::<Ask>(&mut &bytes[..], most).map(|_| ());
        assert!(read(&bytes, 2).is_ok());
        assert!(read(&bytes, 1).is_err(), "longer than any share");
        for cut in 0..bytes.len() {
            assert!(read(&bytes[..cut], 2).is_err(), "cut at {cut}");
        }
        assert!(read(&[0xff; 64], 2).is_err());
        assert!(read(b"\0\0\0\x02{}\0\0\0\0", 2).is_err());
        assert!(read(b"\0\0\0\x0e{\"ask\":\"done\"}\0\0\0\x03abc", 2).is_err());
    }

    /// A party of 0.2.0 is understood well enough to be told that its version is another.
    #[test]
    fn a_greeting_without_a_version_is_the_first() {
        let old = br#"{"ask":"hello","agreement":"a","schema":"s","instance":"i","clock":7}"#;
        let read: Ask = serde_json::from_slice(old).unwrap();
        assert!(matches!(read, Ask::Hello { protocol: 1, begun: None, .. }));
    }

    /// Damaged in a repeatable way, ten thousand times: never a panic, never more numbers than asked for, and what is read
    /// all the same reads back from its own frame.
    #[test]
    fn damaged_frames_are_refused_or_are_frames() {
        use privet_dp::noise::{FixedSeed, Source};
        let mut draws = FixedSeed::new(22);
        let (most, mut kept) = (3, 0);
        let asks = [
            Ask::Hello {
                protocol: PROTOCOL,
                agreement: "a".into(),
                schema: "s".into(),
                instance: "i".into(),
                begun: Some("b".into()),
                clock: 7,
            },
            Ask::Share { round: 3, leaf: "a".into(), heard: "b".into() },
            Ask::Opening { round: u64::MAX, commitments: vec!["c".into(), "d".into()] },
            Ask::Commitment { round: 1 },
            Ask::Sign { signed: Signed::default(), from: 2 },
            Ask::End { why: "\u{1b}".into() },
        ];
        for round in 0..10_000_u64 {
            let mut bytes = Vec::new();
            let body = vec![u128::MAX; draws.below(4) as usize];
            write_frame(&mut bytes, &asks[round as usize % asks.len()], &body).unwrap();
            for _ in 0..draws.below(4) {
                let at = draws.below(bytes.len() as u64) as usize;
                match draws.below(4) {
                    0 => bytes[at] ^= 1 << draws.below(8),
                    1 => bytes[at] = draws.below(256) as u8,
                    2 => drop(bytes.remove(at)),
                    _ => bytes.insert(at, draws.below(256) as u8),
                }
            }
            let Ok((ask, numbers)) = read_frame::<Ask>(&mut &bytes[..], most) else { continue };
            kept += 1;
            assert!(numbers.len() <= most);
            let mut again = Vec::new();
            write_frame(&mut again, &ask, &numbers).unwrap();
            let (same, too) = read_frame::<Ask>(&mut &again[..], most).unwrap();
            assert_eq!((&same, &too[..]), (&ask, &numbers[..]));
        }
        assert!(kept > 2000, "{kept}");
    }
}
