//! A party's signature under the digest of everything it received.
//!
//! The key is the one of its certificate, whose fingerprint the agreement states; so a server can
//! withhold a signature but not forge one. The signed text has a prefix of its own: TLS signs nothing
//! with this prefix. An agreement without certificates, because all its members are in one process, has
//! no signatures either, and only the digests are compared.

use crate::PartiesError;
use crate::agreement::{Agreement, hex};
use crate::authority::fingerprint;
use rustls::SignatureScheme;
use rustls::crypto::ring::{default_provider, sign::any_supported_type};
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::sign::SigningKey;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Signature schemes, for any kind of key that a member may have.
const SCHEMES: [SignatureScheme; 6] = [
    SignatureScheme::ECDSA_NISTP256_SHA256,
    SignatureScheme::ECDSA_NISTP384_SHA384,
    SignatureScheme::ED25519,
    SignatureScheme::RSA_PKCS1_SHA256,
    SignatureScheme::RSA_PKCS1_SHA384,
    SignatureScheme::RSA_PKCS1_SHA512,
];

/// A party's signature under the digest of everything it received.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Signed {
    /// Digest of everything the party received.
    pub transcript: String,
    /// The party's certificate (DER), in hexadecimal; empty if all members are in one process.
    pub certificate: String,
    /// Its signature, in hexadecimal; empty if all members are in one process.
    pub signature: String,
}

/// All parties' signatures, needed before a party accepts a result; stored in its folder.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Witness {
    /// Names of the parties, in the order of the agreement.
    pub parties: Vec<String>,
    /// Their signatures.
    pub signatures: Vec<Signed>,
}

/// A party's certificate and key.
pub(crate) struct Signer {
    certificate: CertificateDer<'static>,
    key: Arc<dyn SigningKey>,
}

fn message(agreement: &Agreement, transcript: &str) -> Vec<u8> {
    format!("privet parties, signature 2\n{}\n{transcript}", agreement.digest()).into_bytes()
}

impl Signer {
    pub fn new(
        certificate: CertificateDer<'static>,
        key: &PrivateKeyDer<'_>,
    ) -> Result<Self, PartiesError> {
        let odd = |error| PartiesError::InvalidRequest(format!("the key cannot be used: {error}"));
        Ok(Self { certificate, key: any_supported_type(key).map_err(odd)? })
    }

    pub fn sign(&self, agreement: &Agreement, transcript: &str) -> Result<Signed, PartiesError> {
        let odd =
            || PartiesError::InvalidRequest("the key signs by none of the known schemes".into());
        let signer = self.key.choose_scheme(&SCHEMES).ok_or_else(odd)?;
        let signature = signer.sign(&message(agreement, transcript)).map_err(|_| odd())?;
        Ok(Signed {
            transcript: transcript.into(),
            certificate: hex(&self.certificate),
            signature: hex(&signature),
        })
    }
}

impl Signed {
    /// True if this is a valid signature of the party of this index.
    pub fn is_of(&self, agreement: &Agreement, party: usize) -> bool {
        let Some(holder) = agreement.parties.get(party) else { return false };
        if agreement.is_one_process() {
            return true;
        }
        let (Some(certificate), Some(signature)) =
            (bytes(&self.certificate), bytes(&self.signature))
        else {
            return false;
        };
        let certificate = CertificateDer::from(certificate);
        if fingerprint(&certificate) != holder.fingerprint {
            return false;
        }
        let Ok(certificate) = webpki::EndEntityCert::try_from(&certificate) else { return false };
        let said = message(agreement, &self.transcript);
        let known = default_provider().signature_verification_algorithms.all;
        known.iter().any(|by| certificate.verify_signature(*by, &said, &signature).is_ok())
    }
}

fn bytes(hexadecimal: &str) -> Option<Vec<u8>> {
    let digits: Option<Vec<u8>> =
        hexadecimal.chars().map(|digit| digit.to_digit(16).map(|digit| digit as u8)).collect();
    let digits = digits?;
    let whole = digits.len() % 2 == 0;
    whole.then(|| digits.chunks_exact(2).map(|pair| pair[0] << 4 | pair[1]).collect())
}
