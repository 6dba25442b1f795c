//! Keyed pseudo-random choices: SipHash-2-4 of (purpose, key, bytes), the same on every machine.
//!
//! Keys here are public constants or arguments. They make choices reproducible and independent of the
//! order in which unrelated records appear; they are not secrets, and no privacy rests on them.

use siphasher::sip::SipHasher24;

/// A 128-bit key.
pub type Key = [u8; 16];

/// A key from a small number, for seeds given on a command line.
pub fn key(seed: u64) -> Key {
    let mut key = *b"privet..........";
    key[8..].copy_from_slice(&seed.to_le_bytes());
    key
}

/// The hash of the parts, each prefixed by its length so that parts cannot run into each other.
pub fn hash(purpose: &str, key: &Key, parts: &[&[u8]]) -> u64 {
    use std::hash::Hasher;
    let mut hasher = SipHasher24::new_with_key(key);
    for part in std::iter::once(purpose.as_bytes()).chain(parts.iter().copied()) {
        hasher.write(&(part.len() as u64).to_le_bytes());
        hasher.write(part);
    }
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Stored models name hashed columns: the hash may never change. The value was computed by an
    /// independent SipHash-2-4.
    #[test]
    fn the_hash_is_pinned() {
        let pinned = hash("test", &key(7), &[b"ab", b"c"]);
        assert_eq!(pinned, PINNED);
        assert_ne!(pinned, hash("test", &key(7), &[b"a", b"bc"]));
        assert_ne!(pinned, hash("test", &key(8), &[b"ab", b"c"]));
        assert_ne!(pinned, hash("task", &key(7), &[b"ab", b"c"]));
    }
    const PINNED: u64 = 524_847_921_675_889_591;
}
