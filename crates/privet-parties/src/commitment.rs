//! Commitments of servers to their openings, and the digest of everything a party received.
//!
//! Before it opens a round, a server commits to its opening by SHA-256 over the agreement, the round,
//! its charge, the server's index, a fresh random number of 256 bits and the numbers. The commitment is
//! binding: another opening with the same digest would be a collision of SHA-256. It is hiding for
//! anyone who does not know the random number. The index keeps a server from repeating another's
//! commitment.

use crate::agreement::{Agreement, digest_of, hex};
use privet_dp::account::Event;
use sha2::{Digest, Sha256};
use zeroize::Zeroizing;

/// Everything a commitment binds, apart from the numbers.
#[derive(Debug, Clone, PartialEq)]
pub struct Commitment<'a> {
    /// Digest of the agreement, [`Agreement::digest`].
    pub agreement: &'a str,
    /// Index of the round, from 0.
    pub round: u64,
    /// SHA-256 of the round's charge ([`leaf`]).
    pub leaf: &'a str,
    /// Index of the server, from 0.
    pub server: usize,
    /// 256 random bits, in hexadecimal.
    pub nonce: &'a str,
}

impl Commitment<'_> {
    /// The commitment to these numbers, in hexadecimal.
    pub fn digest(&self, opening: &[u128]) -> String {
        let mut hash = Sha256::new();
        piece(&mut hash, b"privet parties, commitment 2");
        piece(&mut hash, self.agreement.as_bytes());
        piece(&mut hash, &self.round.to_le_bytes());
        piece(&mut hash, self.leaf.as_bytes());
        piece(&mut hash, &(self.server as u64).to_le_bytes());
        piece(&mut hash, self.nonce.as_bytes());
        numbers(&mut hash, opening);
        hex(&hash.finalize())
    }
}

/// SHA-256 of a round's charge, as stated and committed to.
pub fn leaf(charged: &Event) -> String {
    serde_json::to_value(charged).map(|leaf| digest_of(&leaf)).unwrap_or_default()
}

/// A fresh nonce.
pub(crate) fn nonce() -> Result<String, getrandom::Error> {
    let mut bytes = Zeroizing::new([0_u8; 32]);
    getrandom::fill(&mut *bytes)?;
    Ok(hex(&*bytes))
}

/// True for 64 lower-case hexadecimal digits.
pub(crate) fn is_digest(text: &str) -> bool {
    text.len() == 64 && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

/// Hashes a piece after its length, so that no two sequences of pieces have the same bytes.
fn piece(hash: &mut Sha256, bytes: &[u8]) {
    hash.update((bytes.len() as u64).to_le_bytes());
    hash.update(bytes);
}

fn numbers(hash: &mut Sha256, numbers: &[u128]) {
    hash.update((numbers.len() as u64).to_le_bytes());
    numbers.iter().for_each(|number| hash.update(number.to_le_bytes()));
}

/// Digest of everything a party received: for every round its charge (the query follows from the rounds
/// before), the commitments, the openings and their sum.
#[derive(Clone)]
pub(crate) struct Transcript(Sha256);

impl Transcript {
    pub fn new(agreement: &Agreement) -> Self {
        let mut hash = Sha256::new();
        piece(&mut hash, b"privet parties, all that was heard 2");
        piece(&mut hash, agreement.digest().as_bytes());
        Self(hash)
    }

    pub fn round(
        &mut self,
        (round, leaf): (u64, &str),
        commitments: &[String],
        openings: &[Vec<u128>],
        sum: &[i128],
    ) {
        piece(&mut self.0, &round.to_le_bytes());
        piece(&mut self.0, leaf.as_bytes());
        commitments.iter().for_each(|commitment| piece(&mut self.0, commitment.as_bytes()));
        openings.iter().for_each(|opening| numbers(&mut self.0, opening));
        self.0.update((sum.len() as u64).to_le_bytes());
        sum.iter().for_each(|value| self.0.update(value.to_le_bytes()));
    }

    pub fn digest(&self) -> String {
        hex(&self.0.clone().finalize())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A change of any part gives another commitment.
    #[test]
    fn a_commitment_is_to_one_opening_of_one_server_in_one_round() {
        let of = |agreement, round, leaf, server, nonce, opening: &[u128]| {
            Commitment { agreement, round, leaf, server, nonce }.digest(opening)
        };
        let all = [
            of("a", 0, "l", 0, "n", &[1, 2]),
            of("b", 0, "l", 0, "n", &[1, 2]),
            of("a", 1, "l", 0, "n", &[1, 2]),
            of("a", 0, "m", 0, "n", &[1, 2]),
            of("a", 0, "l", 1, "n", &[1, 2]),
            of("a", 0, "l", 0, "o", &[1, 2]),
            of("a", 0, "l", 0, "n", &[1, 3]),
            of("a", 0, "l", 0, "n", &[1]),
            of("al", 0, "", 0, "n", &[1, 2]),
        ];
        for (place, one) in all.iter().enumerate() {
            assert!(is_digest(one) && !all[..place].contains(one));
        }
        assert_eq!(all[0], of("a", 0, "l", 0, "n", &[1, 2]));
        assert_ne!(nonce().unwrap(), nonce().unwrap());
    }
}
