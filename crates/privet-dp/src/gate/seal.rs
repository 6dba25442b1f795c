//! The seal of a document: a digest of its content, and a signature of that digest.
//!
//! A document is JSON, sealed and checked *as it stands*: it is never parsed into a type and written out
//! again in between, so a seal covers exactly the values that another reader of the same file finds.
//!
//! - Format `privet-2` has `format`, `kind`, `body`, `certificate`. Its digest is SHA-256, in
//!   hexadecimal, of [`canonical`] of the whole document without `certificate.digest` and
//!   `certificate.signature`; the ed25519 signature is of `privet-2:` and the digest.
//! - Format `privet-model-1` has `format`, `model`, `certificate`. Its digest is SHA-256, in
//!   hexadecimal, of [`sorted`] of the model, a zero byte, and [`sorted`] of the certificate without the
//!   same two fields; the ed25519 signature is of the digest.
//!
//! New documents are of format 2; those of format 1 keep theirs, even if sealed again. The prefix keeps
//! a signature of one format from verifying a document of the other. Version, date and id
//! ([`super::Provenance`]) are inside the certificate, and so under the seal.

use super::canonical::{TooWide, canonical, sorted};
use super::certificate::{FORMAT as CERTIFICATE_FORMAT, FORMAT_1 as CERTIFICATE_FORMAT_1};
use super::{Certificate, CertificateError};
use ed25519_dalek::{Signer as _, SigningKey, VerifyingKey};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};

/// The document format that this version writes.
pub const FORMAT: &str = "privet-2";
/// The document format of versions before 0.2, which is still read.
pub const FORMAT_1: &str = "privet-model-1";

/// An ed25519 signature over the digest, in hexadecimal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Signature {
    /// The signer's public key.
    pub public_key: String,
    /// The signature.
    pub signature: String,
}

/// The public key, in hexadecimal, of a document's signer; only a check of the seal makes one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Signer(String);

impl Signer {
    /// The public key as it stands in the document.
    pub fn public_key(&self) -> &str {
        &self.0
    }
}

/// The parts of a document whose format is known.
enum Parts<'a> {
    One { model: &'a Value, certificate: &'a Map<String, Value> },
    Two { document: &'a Value, certificate: &'a Map<String, Value> },
}

/// A document of format 2, not sealed yet.
pub fn document(kind: &str, body: Value, certificate: &Certificate) -> Value {
    json!({ "format": FORMAT, "kind": kind, "body": body, "certificate": certificate })
}

/// Returns the document with a fresh digest, signed if a 32-byte ed25519 secret is given; drops an
/// earlier signature.
pub fn seal_document(
    mut document: Value,
    secret: Option<&[u8; 32]>,
) -> Result<Value, CertificateError> {
    let parts = Parts::of(&document)?;
    let digest = parts.digest()?;
    let signature = secret.map(|secret| {
        let signed = SigningKey::from_bytes(secret).sign(parts.message(&digest).as_bytes());
        Signature { public_key: public_key(secret), signature: to_hex(&signed.to_bytes()) }
    });
    if let Some(certificate) = document["certificate"].as_object_mut() {
        certificate.remove("signature");
        certificate.insert("digest".into(), digest.into());
        if let Some(signature) = signature {
            certificate.insert("signature".into(), json!(signature));
        }
    }
    Ok(document)
}

/// Checks that the document is unchanged since it was sealed, and verifies its signature if it has one;
/// returns the signer.
pub fn check(document: &Value) -> Result<Option<Signer>, CertificateError> {
    let parts = Parts::of(document)?;
    let digest = parts.digest()?;
    if parts.certificate().get("digest").and_then(Value::as_str) != Some(&digest) {
        return Err(CertificateError::Edited);
    }
    match parts.certificate().get("signature") {
        None | Some(Value::Null) => Ok(None),
        Some(given) => {
            let signature = Signature::deserialize(given);
            let signature = signature.map_err(|_| CertificateError::Signature)?;
            signature.check(&parts.message(&digest))?;
            Ok(Some(Signer(signature.public_key)))
        }
    }
}

impl<'a> Parts<'a> {
    fn of(document: &'a Value) -> Result<Self, CertificateError> {
        let format = |value: Option<&'a Value>| value.and_then(Value::as_str).unwrap_or("");
        let certificate = document.get("certificate").and_then(Value::as_object);
        let certificate = certificate.ok_or(CertificateError::Missing("certificate"))?;
        let inner = format(certificate.get("format"));
        let has = |name| document.get(name).ok_or(CertificateError::Missing(name));
        let (parts, expected) = match format(document.get("format")) {
            FORMAT => {
                has("kind")?;
                has("body")?;
                (Self::Two { document, certificate }, CERTIFICATE_FORMAT)
            }
            FORMAT_1 => (Self::One { model: has("model")?, certificate }, CERTIFICATE_FORMAT_1),
            other => return Err(CertificateError::Document(other.into())),
        };
        // A certificate of the one format was never written in a document of the other.
        if inner == expected { Ok(parts) } else { Err(CertificateError::Format(inner.into())) }
    }

    fn certificate(&self) -> &'a Map<String, Value> {
        match self {
            Self::One { certificate, .. } | Self::Two { certificate, .. } => certificate,
        }
    }

    /// The certificate without the fields outside the seal.
    fn bare(&self) -> Value {
        let mut bare = self.certificate().clone();
        bare.retain(|key, _| key != "digest" && key != "signature");
        Value::Object(bare)
    }

    fn digest(&self) -> Result<String, TooWide> {
        let mut hash = Sha256::new();
        match self {
            Self::One { model, .. } => {
                hash.update(sorted(model));
                hash.update([0]);
                hash.update(sorted(&self.bare()));
            }
            Self::Two { document, .. } => {
                let mut document = (*document).clone();
                document["certificate"] = self.bare();
                hash.update(canonical(&document)?);
            }
        }
        Ok(to_hex(&hash.finalize()))
    }

    /// The signed message.
    fn message(&self, digest: &str) -> String {
        match self {
            Self::One { .. } => digest.into(),
            Self::Two { .. } => format!("{FORMAT}:{digest}"),
        }
    }
}

impl Signature {
    fn check(&self, message: &str) -> Result<(), CertificateError> {
        let valid = || -> Option<bool> {
            let key: [u8; 32] = from_hex(&self.public_key)?.try_into().ok()?;
            let bytes: [u8; 64] = from_hex(&self.signature)?.try_into().ok()?;
            let key = VerifyingKey::from_bytes(&key).ok()?;
            // Strict: a key of small order would "sign" every digest.
            let signature = ed25519_dalek::Signature::from_bytes(&bytes);
            Some(key.verify_strict(message.as_bytes(), &signature).is_ok())
        };
        if valid() == Some(true) { Ok(()) } else { Err(CertificateError::Signature) }
    }
}

/// The public key, in hexadecimal, of a 32-byte ed25519 secret.
pub fn public_key(secret: &[u8; 32]) -> String {
    to_hex(SigningKey::from_bytes(secret).verifying_key().as_bytes())
}

pub(super) fn to_hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Decodes a text of hexadecimal digits; `None` if it is not one.
pub fn from_hex(text: &str) -> Option<Vec<u8>> {
    let digit = |letter: u8| char::from(letter).to_digit(16);
    let byte = |pair: &[u8]| Some((digit(pair[0])? << 4 | digit(pair[1])?) as u8);
    let pairs = text.as_bytes().chunks_exact(2);
    if pairs.remainder().is_empty() { pairs.map(byte).collect() } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One of each format, without anything that differs from run to run.
    fn documents() -> [Value; 2] {
        let mut certificate = Certificate::without_privacy(json!({"rows": 10}));
        certificate.made = None;
        let two = document("linear", json!({"weights": [0.1, 0.2]}), &certificate);
        certificate.format = CERTIFICATE_FORMAT_1.into();
        let one = json!({
            "format": FORMAT_1, "model": {"weights": [0.1, 0.2]}, "certificate": certificate,
        });
        [one, two]
    }

    #[test]
    fn any_change_breaks_the_seal() {
        for document in documents() {
            assert_eq!(check(&document), Err(CertificateError::Edited), "no digest");
            let document = seal_document(document, None).unwrap();
            assert_eq!(check(&document), Ok(None));
            let body = if document.get("kind").is_some() { "body" } else { "model" };
            for change in [
                |document: &mut Value, body: &str| document[body]["weights"][1] = json!(0.3),
                |document: &mut Value, _: &str| document["certificate"]["notes"] = json!([]),
                |document: &mut Value, _: &str| document["certificate"]["filter"] = json!(null),
                |document: &mut Value, _: &str| {
                    document["certificate"]["request"]["rows"] = json!(11)
                },
                |document: &mut Value, _: &str| document["certificate"]["digest"] = json!(null),
            ] {
                let mut edited = document.clone();
                change(&mut edited, body);
                assert_eq!(check(&edited), Err(CertificateError::Edited), "{edited}");
            }
        }
        let [_, two] = documents().map(|document| seal_document(document, None).unwrap());
        for (field, value) in [("kind", json!("table")), ("more", json!(1))] {
            let mut edited = two.clone();
            edited[field] = value;
            assert_eq!(check(&edited), Err(CertificateError::Edited), "{field}");
        }
    }

    /// Layout, the order of keys and another spelling of the same double do not matter in format 2.
    #[test]
    fn format_2_seals_what_is_said_not_how() {
        let [_, two] = documents().map(|document| seal_document(document, None).unwrap());
        let text = serde_json::to_string_pretty(&two).unwrap();
        let other = text.replace("0.1", "1.0e-1").replace("10", "10.0");
        assert_ne!(other, text);
        assert_eq!(check(&serde_json::from_str(&other).unwrap()), Ok(None));
    }

    /// Both digests, computed by hand from SHA-256 and the two forms.
    #[test]
    fn digests_are_what_is_written_down() {
        let [one, two] = documents();
        let note = "NOT PRIVATE: trained without noise, for comparison only";
        let rest = format!(
            "\"guarantee\":null,\"notes\":[\"{note}\"],\"randomness\":null,\"request\":{{\"rows\":10}}}}"
        );
        let start = "{\"arithmetic\":\"real\",\"events\":null,\"format\":\"privet-certificate-";
        let by_hand = [
            (one, format!("{{\"weights\":[0.1,0.2]}}\0{start}1\",{rest}")),
            (
                two,
                format!(
                    "{{\"body\":{{\"weights\":[0.1,0.2]}},\"certificate\":{start}2\",{rest},\
                     \"format\":\"privet-2\",\"kind\":\"linear\"}}"
                ),
            ),
        ];
        for (document, text) in by_hand {
            let document = seal_document(document, None).unwrap();
            assert_eq!(document["certificate"]["digest"], to_hex(&Sha256::digest(text)));
        }
    }

    #[test]
    fn a_signature_vouches_and_cannot_be_moved() {
        for document in documents() {
            let signed = seal_document(document.clone(), Some(&[7; 32])).unwrap();
            let signer = check(&signed).unwrap().unwrap();
            assert_eq!(signer.public_key(), public_key(&[7; 32]));
            let again = seal_document(signed.clone(), None).unwrap();
            assert_eq!(check(&again), Ok(None), "sealed anew by somebody without the key");
            let mut moved = document;
            moved["certificate"]["notes"] = json!(["other"]);
            let mut moved = seal_document(moved, None).unwrap();
            moved["certificate"]["signature"] = signed["certificate"]["signature"].clone();
            assert_eq!(check(&moved), Err(CertificateError::Signature));
        }
    }

    /// Format 1 signs a bare digest, which must not verify as a signature of format 2.
    #[test]
    fn a_signature_of_one_format_is_none_of_the_other() {
        let [_, two] = documents().map(|document| seal_document(document, None).unwrap());
        let digest = two["certificate"]["digest"].as_str().unwrap();
        let bare = SigningKey::from_bytes(&[7; 32]).sign(digest.as_bytes());
        let mut replayed = two.clone();
        replayed["certificate"]["signature"] =
            json!({"public_key": public_key(&[7; 32]), "signature": to_hex(&bare.to_bytes())});
        assert_eq!(check(&replayed), Err(CertificateError::Signature));
    }

    /// Under the neutral element as key, R = neutral and s = 0 fit every message.
    #[test]
    fn a_key_that_signs_everything_vouches_for_nothing() {
        let neutral = format!("01{}", "00".repeat(31));
        let signature = format!("{neutral}{}", "00".repeat(32));
        for document in documents() {
            let mut forged = seal_document(document, None).unwrap();
            forged["certificate"]["signature"] =
                json!({"public_key": neutral, "signature": signature});
            assert_eq!(check(&forged), Err(CertificateError::Signature));
        }
    }

    /// `from_str_radix` reads "+3" as 3: another text of the same signature.
    #[test]
    fn hexadecimal_is_digits_alone() {
        assert_eq!(from_hex("00fFa0"), Some(vec![0, 255, 160]));
        for odd in ["+3", "-3", " 3", "3", "0x", "é", "3g"] {
            assert_eq!(from_hex(odd), None, "{odd}");
        }
        let [one, _] = documents();
        let mut signed = seal_document(one, Some(&[7; 32])).unwrap();
        let mut text =
            signed["certificate"]["signature"]["signature"].as_str().unwrap().to_string();
        let small = (0..text.len()).step_by(2).find(|at| text[*at..].starts_with('0')).unwrap();
        text.replace_range(small..=small, "+");
        signed["certificate"]["signature"]["signature"] = text.into();
        assert_eq!(check(&signed), Err(CertificateError::Signature));
    }

    #[test]
    fn what_is_no_document_has_no_seal() {
        let [one, two] = documents();
        let mut mixed = two.clone();
        mixed["certificate"]["format"] = one["certificate"]["format"].clone();
        let mut later = two.clone();
        later["format"] = json!("privet-3");
        let mut wide = two.clone();
        wide["certificate"]["request"]["rows"] = json!(u64::MAX);
        for (odd, words) in [
            (json!([]), "certificate"),
            (
                json!({"format": FORMAT, "kind": "linear", "certificate": two["certificate"]}),
                "body",
            ),
            (mixed, "privet-certificate-1"),
            (later, "privet-3"),
            (wide, "beyond 2^53"),
        ] {
            let found = seal_document(odd.clone(), None).unwrap_err();
            assert!(found.to_string().contains(words), "{found}");
            assert_eq!(check(&odd), Err(found));
        }
    }
}
