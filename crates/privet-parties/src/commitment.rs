//! What a server is held to before it opens, and the digest of all that a party heard.
//!
//! A server commits itself to a round's opening by SHA-256 over the agreement, the round, what is charged, its own place, a
//! fresh random number of 256 bits and the numbers. No other opening has the same digest (a collision would be one of
//! SHA-256), and the digest tells nothing of the opening to who does not know the random number. The place keeps a
//! server from repeating another's commitment.

use crate::agreement::{Agreement, digest_of, hex};
use privet_dp::account::Event;
use sha2::{Digest, Sha256};
use zeroize::Zeroizing;

/// What a commitment binds, but for the numbers.
#[derive(Debug, Clone, PartialEq)]
pub struct Commitment<'a> {
    /// [`Agreement::digest`].
    pub agreement: &'a str,
    /// From 0.
    pub round: u64,
    /// SHA-256 of what the round is charged for ([`leaf`]).
    pub leaf: &'a str,
    /// The place of the server, from 0.
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

/// SHA-256 of what a round is charged for, as it is said and committed to.
pub fn leaf(charged: &Event) -> String {
    serde_json::to_value(charged).map(|leaf| digest_of(&leaf)).unwrap_or_default()
}

/// A fresh nonce.
pub(crate) fn nonce() -> Result<String, getrandom::Error> {
    let mut bytes = Zeroizing::new([0_u8; 32]);
    getrandom::fill(&mut *bytes)?;
    Ok(hex(&*bytes))
}

/// Whether it has the form of a digest.
pub(crate) fn is_digest(text: &str) -> bool {
    text.len() == 64 && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

/// No two sequences of pieces have the same bytes.
fn piece(hash: &mut Sha256, bytes: &[u8]) {
    hash.update((bytes.len() as u64).to_le_bytes());
    hash.update(bytes);
}

fn numbers(hash: &mut Sha256, numbers: &[u128]) {
    hash.update((numbers.len() as u64).to_le_bytes());
    numbers.iter().for_each(|number| hash.update(number.to_le_bytes()));
}

/// All that a party heard, as one digest: of every round what is charged (its question follows from the rounds before),
/// commitments, openings and their sum.
#[derive(Clone)]
pub(crate) struct Heard(Sha256);

impl Heard {
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
        commitments.iter().for_each(|one| piece(&mut self.0, one.as_bytes()));
        openings.iter().for_each(|one| numbers(&mut self.0, one));
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

    /// Whatever is changed, it is another commitment.
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
