//! Signing keys: 32 bytes of ed25519 secret, as 64 hexadecimal digits in a file that only its
//! owner can read.

use crate::failure::Failure;
use privet_dp::gate::from_hex;
use std::path::Path;
use zeroize::Zeroizing;

/// A secret key, wiped when dropped.
pub type Secret = Zeroizing<[u8; 32]>;

const FORM: &str = "64 hexadecimal digits (32 bytes), as written by `privet keygen`";

/// Reads a secret key; refuses one that others can read.
pub fn read_secret(path: &Path) -> Result<Secret, Failure> {
    let shown = path.display();
    let failed = |error| Failure::file(&shown.to_string(), &error);
    let facts = std::fs::metadata(path).map_err(failed)?;
    if others_can_read(&facts) {
        return Err(Failure::input(format!(
            "{shown}: others can read this secret key; run `chmod 600 {}`",
            crate::output::quote_for_shell(path)
        )));
    }
    // A longer file is no key, whatever its first bytes.
    if facts.len() > 4096 {
        return Err(Failure::input(format!("{shown}: not a secret key; accepted: {FORM}")));
    }
    let text = Zeroizing::new(std::fs::read(path).map_err(failed)?);
    let digits = std::str::from_utf8(&text).unwrap_or("").trim();
    let bytes = Zeroizing::new(from_hex(digits).unwrap_or_default());
    let key: [u8; 32] = bytes
        .as_slice()
        .try_into()
        .map_err(|_| Failure::input(format!("{shown}: not a secret key; accepted: {FORM}")))?;
    Ok(Zeroizing::new(key))
}

/// A public key as given on the command line, in small letters.
pub fn public_key(text: &str) -> Result<String, String> {
    match from_hex(text) {
        Some(bytes) if bytes.len() == 32 => Ok(text.to_ascii_lowercase()),
        _ => Err("a public key is 64 hexadecimal digits, as printed by `privet keygen`".into()),
    }
}

#[cfg(unix)]
fn others_can_read(facts: &std::fs::Metadata) -> bool {
    use std::os::unix::fs::PermissionsExt;
    facts.permissions().mode() & 0o077 != 0
}

#[cfg(not(unix))]
fn others_can_read(_: &std::fs::Metadata) -> bool {
    false
}
