//! Secret state on disk: encrypted under a key that its user keeps elsewhere, or not written at all.
//!
//! Encrypt, then authenticate: the ChaCha20 stream under SHA-256(“stream”, key, nonce), then
//! HMAC-SHA-256 under SHA-256(“tag”, key) over context, nonce and ciphertext. The nonce is 32 bytes from
//! the operating system for each state. The context binds a state to its session and its position in it.

use crate::gate::{GateError, from_hex};
use chacha20::ChaCha20Rng;
use chacha20::rand_core::{Rng, SeedableRng};
use sha2::{Digest, Sha256};
use zeroize::Zeroizing;

/// A key that encrypts the secret state; wiped when dropped.
pub struct StateKey(Zeroizing<[u8; 32]>);

impl std::fmt::Debug for StateKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("StateKey(withheld)")
    }
}

const NONCE: usize = 32;
const TAG: usize = 32;

fn hash(parts: &[&[u8]]) -> Zeroizing<[u8; 32]> {
    let mut digest = Sha256::new();
    for part in parts {
        // Lengths first, so that no two lists of parts have the same encoding.
        digest.update((part.len() as u64).to_le_bytes());
        digest.update(part);
    }
    Zeroizing::new(digest.finalize().into())
}

impl StateKey {
    /// A key from 32 secret bytes.
    pub fn new(bytes: [u8; 32]) -> Self {
        Self(Zeroizing::new(bytes))
    }

    fn mask(&self, nonce: &[u8], bytes: &mut [u8]) {
        let seed = hash(&[b"privet state stream", self.0.as_slice(), nonce]);
        let mut stream = ChaCha20Rng::from_seed(*seed);
        let mut block = Zeroizing::new([0_u8; 64]);
        for piece in bytes.chunks_mut(block.len()) {
            stream.fill_bytes(block.as_mut_slice());
            piece.iter_mut().zip(block.iter()).for_each(|(byte, mask)| *byte ^= mask);
        }
    }

    /// HMAC-SHA-256 (RFC 2104).
    fn tag(&self, context: &str, nonce: &[u8], hidden: &[u8]) -> [u8; 32] {
        let key = hash(&[b"privet state tag", self.0.as_slice()]);
        let pad = |with: u8| {
            let mut block = Zeroizing::new([with; 64]);
            block.iter_mut().zip(key.iter()).for_each(|(byte, key)| *byte ^= key);
            block
        };
        let mut inner = Sha256::new();
        inner.update(pad(0x36).as_slice());
        for part in [context.as_bytes(), nonce, hidden] {
            inner.update((part.len() as u64).to_le_bytes());
            inner.update(part);
        }
        let mut outer = Sha256::new();
        outer.update(pad(0x5c).as_slice());
        outer.update(inner.finalize());
        outer.finalize().into()
    }

    pub(crate) fn seal(&self, context: &str, secret: &[u8]) -> Result<String, GateError> {
        let mut nonce = [0_u8; NONCE];
        getrandom::fill(&mut nonce).map_err(|error| {
            GateError::Noise(crate::noise::NoiseError::NoEntropy { reason: error.to_string() })
        })?;
        let mut hidden = secret.to_vec();
        self.mask(&nonce, &mut hidden);
        let tag = self.tag(context, &nonce, &hidden);
        let all = nonce.iter().chain(&tag).chain(&hidden);
        Ok(all.map(|byte| format!("{byte:02x}")).collect())
    }

    pub(crate) fn open(&self, context: &str, text: &str) -> Result<Zeroizing<Vec<u8>>, GateError> {
        let all = from_hex(text).filter(|all| all.len() >= NONCE + TAG);
        let all = all.ok_or(GateError::Malformed)?;
        let (nonce, rest) = all.split_at(NONCE);
        let (tag, hidden) = rest.split_at(TAG);
        let differs =
            self.tag(context, nonce, hidden).iter().zip(tag).fold(0, |d, (a, b)| d | (a ^ b));
        if differs != 0 {
            return Err(GateError::Malformed);
        }
        let mut secret = Zeroizing::new(hidden.to_vec());
        self.mask(nonce, &mut secret);
        Ok(secret)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_sealed_opens_under_its_own_key_and_context_alone() {
        let (key, other) = (StateKey::new([7; 32]), StateKey::new([8; 32]));
        let secret: Vec<u8> = (0..200).collect();
        let sealed = key.seal("a session, step 3", &secret).unwrap();
        assert_eq!(*key.open("a session, step 3", &sealed).unwrap(), secret);
        assert!(key.open("a session, step 4", &sealed).is_err());
        assert!(other.open("a session, step 3", &sealed).is_err());
        assert_ne!(key.seal("a session, step 3", &secret).unwrap(), sealed);
        for place in 0..sealed.len() {
            let mut bent = sealed.clone().into_bytes();
            bent[place] = if bent[place] == b'0' { b'1' } else { b'0' };
            assert!(key.open("a session, step 3", std::str::from_utf8(&bent).unwrap()).is_err());
        }
        assert!(key.open("", "").is_err() && key.open("", "zz").is_err());
    }
}
