//! Messages between parties and servers.
//!
//! A frame is a header in JSON and a body of numbers, each preceded by its length in four bytes, most
//! significant first. A body holds numbers of 128 bits, least significant byte first. Lengths beyond
//! [`FRAME`] are refused before anything is read into memory.

use crate::signature::Signed;
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use std::io::{self, Read, Write};
use zeroize::Zeroizing;

/// Maximum length of a header and of a body, in bytes.
pub const FRAME: (u32, u32) = (65_536, 1 << 29);
/// Version of the messages below. Version 1 (up to privet 0.2.0) had neither commitments nor signatures.
pub const PROTOCOL: u32 = 2;

/// Version of a greeting that states none.
fn first() -> u32 {
    1
}

/// Requests of a party to a server.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "ask", rename_all = "kebab-case", deny_unknown_fields)]
pub enum PartyRequest {
    /// First request of a connection.
    Hello {
        /// Protocol version, [`PROTOCOL`].
        #[serde(default = "first")]
        protocol: u32,
        /// Digest of the agreement, [`crate::Agreement::digest`].
        agreement: String,
        /// SHA-256 of the party's own schema.
        schema: String,
        /// Distinguishes this party's run from one begun elsewhere under the same name.
        instance: String,
        /// Random identifier drawn when the party's table was fixed; none if it only checks that all
        /// agree.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        begun: Option<String>,
        /// Time in seconds since 1970.
        clock: u64,
    },
    /// A share of the sums of a round, in the body.
    Share {
        /// Index of the round, from 0.
        round: u64,
        /// SHA-256 of the round's charge.
        leaf: String,
        /// SHA-256 of everything received before ([`crate::Commitment`] lists what).
        heard: String,
    },
    /// Requests the server's commitment for a round, given once it has every party's share.
    Commitment {
        /// Index of the round, from 0.
        round: u64,
    },
    /// Requests the server's opening of a round, given once every party has sent it the same
    /// commitments.
    Opening {
        /// Index of the round, from 0.
        round: u64,
        /// The commitments of all servers in this round, as this party received them.
        commitments: Vec<String>,
    },
    /// After the last round: this party's signature, and a request for all parties'.
    Sign {
        /// This party's signature.
        signed: Signed,
        /// Index of the first party requested.
        from: u64,
    },
    /// The party has its result.
    Done,
    /// The party withdraws: its finding must end the run for everyone.
    End {
        /// The reason, in words.
        why: String,
    },
    /// Requests the standing of the run.
    Status,
}

/// Answers of a server to a party.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "reply", rename_all = "kebab-case", deny_unknown_fields)]
pub enum ServerReply {
    /// To a greeting: accepted.
    Welcome {
        /// Index of the open round, from 0.
        round: u64,
    },
    /// To a greeting, while the servers still draw their noise together: try again.
    Drawing {
        /// The number of rounds drawn.
        done: u64,
        /// The number of rounds to draw.
        of: u64,
    },
    /// The share is stored.
    Taken,
    /// To a request for the commitment.
    Committed {
        /// The commitment, [`crate::Commitment::digest`].
        digest: String,
    },
    /// The opening; its numbers are in the body.
    Opened {
        /// The random number in the commitment.
        nonce: String,
    },
    /// Signatures of the parties in order, from the index requested: as many as a message holds.
    Signatures {
        /// The signatures.
        signatures: Vec<Signed>,
    },
    /// Not yet available.
    Waiting {
        /// Names of the members waited for.
        missing: Vec<String>,
    },
    /// Standing of the run.
    Standing(RunStanding),
    /// Refused; the run goes on.
    Refused {
        /// The reason, in words.
        why: String,
    },
    /// The run ended early.
    Ended {
        /// The reason, in words.
        why: String,
    },
}

/// Standing of a run at a server.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RunStanding {
    /// The number of rounds opened.
    pub opened: u64,
    /// True if all planned rounds are opened.
    pub complete: bool,
    /// Names of the parties that joined.
    pub joined: Vec<String>,
    /// Names of the parties waited for: for a share, the commitments, or a signature.
    pub missing: Vec<String>,
    /// The reason, if the run ended early.
    pub ended: Option<String>,
    /// The number of rounds drawn and to draw, while servers draw noise together.
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

/// Reads a frame whose body has at most `most` numbers.
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
        let ask = PartyRequest::Share { round: 3, leaf: "a".into(), heard: "b".into() };
        let mut bytes = Vec::new();
        write_frame(&mut bytes, &ask, &[1, u128::MAX, 7 << 100]).unwrap();
        let (header, body): (PartyRequest, _) = read_frame(&mut &bytes[..], 3).unwrap();
        assert_eq!((header, &body[..]), (ask, &[1, u128::MAX, 7 << 100][..]));
    }

    #[test]
    fn what_is_no_frame_is_refused() {
        let mut bytes = Vec::new();
        write_frame(&mut bytes, &PartyRequest::Done, &[1, 2]).unwrap();
        let read =
            |bytes: &[u8], most| read_frame::<PartyRequest>(&mut &bytes[..], most).map(|_| ());
        assert!(read(&bytes, 2).is_ok());
        assert!(read(&bytes, 1).is_err(), "longer than any share");
        for cut in 0..bytes.len() {
            assert!(read(&bytes[..cut], 2).is_err(), "cut at {cut}");
        }
        assert!(read(&[0xff; 64], 2).is_err());
        assert!(read(b"\0\0\0\x02{}\0\0\0\0", 2).is_err());
        assert!(read(b"\0\0\0\x0e{\"ask\":\"done\"}\0\0\0\x03abc", 2).is_err());
    }

    /// A greeting of 0.2.0 parses, so that the party can be refused for its version.
    #[test]
    fn a_greeting_without_a_version_is_the_first() {
        let old = br#"{"ask":"hello","agreement":"a","schema":"s","instance":"i","clock":7}"#;
        let read: PartyRequest = serde_json::from_slice(old).unwrap();
        assert!(matches!(read, PartyRequest::Hello { protocol: 1, begun: None, .. }));
    }

    /// Ten thousand frames with reproducible damage: never a panic, never more numbers than allowed, and
    /// a frame that is read at all reads back from its own encoding.
    #[test]
    fn damaged_frames_are_refused_or_are_frames() {
        use privet_dp::noise::{FixedSeed, Source};
        let mut draws = FixedSeed::new(22);
        let (most, mut kept) = (3, 0);
        let asks = [
            PartyRequest::Hello {
                protocol: PROTOCOL,
                agreement: "a".into(),
                schema: "s".into(),
                instance: "i".into(),
                begun: Some("b".into()),
                clock: 7,
            },
            PartyRequest::Share { round: 3, leaf: "a".into(), heard: "b".into() },
            PartyRequest::Opening { round: u64::MAX, commitments: vec!["c".into(), "d".into()] },
            PartyRequest::Commitment { round: 1 },
            PartyRequest::Sign { signed: Signed::default(), from: 2 },
            PartyRequest::End { why: "\u{1b}".into() },
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
            let Ok((ask, numbers)) = read_frame::<PartyRequest>(&mut &bytes[..], most) else {
                continue;
            };
            kept += 1;
            assert!(numbers.len() <= most);
            let mut again = Vec::new();
            write_frame(&mut again, &ask, &numbers).unwrap();
            let (same, too) = read_frame::<PartyRequest>(&mut &again[..], most).unwrap();
            assert_eq!((&same, &too[..]), (&ask, &numbers[..]));
        }
        assert!(kept > 2000, "{kept}");
    }
}
