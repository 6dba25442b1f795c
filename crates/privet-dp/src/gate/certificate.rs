//! The certificate that travels with every release, and the digest that binds it to its model.
//!
//! A certificate states neighbours, unit, (ε, δ), the events that were executed, and the public
//! request from which anyone can make the same plan again. Verification has three parts: the
//! guarantee is recomputed from the events ([`Certificate::recheck`]); the plan is made again from
//! the request (by the crate that owns the learners); the [`digest`] binds model and certificate.
//! It cannot show that its holder ran this code; a [`Signature`] lets an organisation vouch.

use super::made::{Made, SILENT, Version};
use crate::account::{self, AccountError, Event, Filter, Guarantee, Tally};
use crate::noise::Origin;
use ed25519_dalek::{Signer, SigningKey, VerifyingKey};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest, Sha256};

/// The form of certificate written by this version.
pub const FORMAT: &str = "privet-certificate-1";

/// What a certificate says of noise that can be made again.
const FIXED_SEED: &str = "NOT PRIVATE: the noise was made from a fixed seed";

/// In which arithmetic the guarantee is proved.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Arithmetic {
    /// For the program as executed: noise on a grid, rounding and solver error charged.
    Finite,
    /// For real numbers; the notes say what the floating-point program leaves unproved.
    Real,
}

/// What a release can reveal, and why.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Certificate {
    /// Version of this form.
    pub format: String,
    /// What is claimed; absent when nothing is.
    pub guarantee: Option<Guarantee>,
    /// In which arithmetic it is proved.
    pub arithmetic: Arithmetic,
    /// Where the noise came from; a fixed seed voids the guarantee.
    pub randomness: Option<Origin>,
    /// The events that were executed.
    pub events: Option<Event>,
    /// The limit under which they were chosen as it went, where they were not planned: the claim is what
    /// the limit proves.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub filter: Option<Filter>,
    /// Conditions and known gaps, in words.
    pub notes: Vec<String>,
    /// The public facts and settings from which the plan can be made again.
    pub request: Value,
    /// By which version of the program, when, and which one; absent in certificates of 0.1.0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub made: Option<Made>,
    /// SHA-256 that binds the released model and this certificate, once written to a file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digest: Option<String>,
    /// Who vouches for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signature: Option<Signature>,
}

/// An ed25519 signature over the digest, in hexadecimal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Signature {
    /// The signer's public key.
    pub public_key: String,
    /// The signature.
    pub signature: String,
}

impl Certificate {
    pub(super) fn new(
        events: Event,
        claim: Guarantee,
        arithmetic: Arithmetic,
        origin: Origin,
        mut notes: Vec<String>,
        request: Value,
    ) -> Result<Self, AccountError> {
        let mut guarantee = claim;
        if origin == Origin::FixedSeed {
            // Nothing is claimed, so there is nothing to recompute: an audit makes many of these.
            guarantee.epsilon = f64::INFINITY;
            notes.insert(0, FIXED_SEED.into());
        } else if !supports(&events, &guarantee)? {
            // The claim is recomputed here, at the gate: a learner cannot overstate it.
            guarantee = account::guarantee(&events, guarantee.delta)?;
        }
        Ok(Self {
            format: FORMAT.into(),
            guarantee: Some(guarantee),
            arithmetic,
            randomness: Some(origin),
            events: Some(events),
            filter: None,
            notes,
            request,
            made: Some(Made::now(Some(origin))),
            digest: None,
            signature: None,
        })
    }

    /// Of a session whose events were chosen as it went: what is claimed is what its filter proves.
    pub(super) fn within(
        filter: Filter,
        events: Event,
        claim: Guarantee,
        arithmetic: Arithmetic,
        origin: Origin,
        notes: Vec<String>,
        request: Value,
    ) -> Result<Self, AccountError> {
        let proved = filter.guarantee(claim.delta)?;
        // Relation and unit are the filter's, whatever was claimed.
        let guarantee = Guarantee { epsilon: proved.epsilon.max(claim.epsilon), ..proved };
        let mut certificate = Self {
            guarantee: Some(guarantee),
            arithmetic,
            randomness: Some(origin),
            events: Some(events),
            filter: Some(filter),
            notes,
            ..Self::without_privacy(request)
        };
        if origin == Origin::FixedSeed {
            let epsilon = f64::INFINITY;
            certificate.guarantee = Some(Guarantee { epsilon, ..guarantee });
            certificate.notes.insert(0, FIXED_SEED.into());
        }
        Ok(certificate)
    }

    pub(super) fn without_privacy(request: Value) -> Self {
        Self {
            format: FORMAT.into(),
            guarantee: None,
            arithmetic: Arithmetic::Real,
            randomness: None,
            events: None,
            filter: None,
            notes: vec!["NOT PRIVATE: trained without noise, for comparison only".into()],
            request,
            made: Some(Made::now(None)),
            digest: None,
            signature: None,
        }
    }

    /// The version of the program that made it; `None` if it says something that is none.
    pub fn version(&self) -> Option<Version> {
        match &self.made {
            None => Some(SILENT),
            // Where noise is not repeatable, date and id are drawn with it.
            Some(made) => {
                let dated = made.id.is_some() || self.randomness != Some(Origin::OperatingSystem);
                Version::of(&made.version).filter(|_| made.well_formed() && dated)
            }
        }
    }

    /// Whether it is of the first format, whose requests say nothing of the noise that a plan settled.
    pub fn is_format_1(&self) -> bool {
        self.format == FORMAT
    }

    /// Recomputes the guarantee from the events. `Ok(None)` means that the certificate claims
    /// nothing (no noise, a fixed seed, or ε = ∞).
    pub fn recheck(&self) -> Result<Option<Guarantee>, CertificateError> {
        if self.format != FORMAT {
            return Err(CertificateError::Format(self.format.clone()));
        }
        if self.version().is_none() {
            return Err(CertificateError::Made);
        }
        let (Some(claimed), Some(events)) = (&self.guarantee, &self.events) else {
            return Ok(None);
        };
        if self.randomness != Some(Origin::OperatingSystem) || claimed.epsilon.is_infinite() {
            return Ok(None);
        }
        // Another platform's arithmetic may differ in the last digits.
        let rounded = Guarantee { epsilon: claimed.epsilon * (1.0 + 1e-9), ..*claimed };
        if let Some(filter) = &self.filter {
            return recheck_filter(filter, events, &rounded).map(|()| Some(*claimed));
        }
        if !supports(events, &rounded)? {
            let proved = account::guarantee(events, claimed.delta)?;
            if proved.neighbours != claimed.neighbours || proved.unit != claimed.unit {
                return Err(CertificateError::OtherNeighbours);
            }
            return Err(CertificateError::TooStrong {
                claimed: claimed.epsilon,
                proved: proved.epsilon,
            });
        }
        Ok(Some(*claimed))
    }

    /// Binds this certificate to `model`.
    pub fn seal(mut self, model: &Value) -> Self {
        self.signature = None;
        self.digest = Some(digest(model, &self));
        self
    }

    /// Checks that `model` is the one this certificate was sealed with, and the signature if any.
    pub fn check_seal(&self, model: &Value) -> Result<(), CertificateError> {
        if self.digest.as_deref() != Some(&digest(model, self)) {
            return Err(CertificateError::Edited);
        }
        match &self.signature {
            None => Ok(()),
            Some(signature) => signature.check(&digest(model, self)),
        }
    }
}

/// Whether the events prove the claim, relation and unit included.
fn supports(events: &Event, claim: &Guarantee) -> Result<bool, AccountError> {
    let found = account::relation(events)?;
    // Infinity is no number to compute with, and always holds.
    let met = if claim.epsilon == f64::INFINITY {
        true
    } else if claim.delta == 0.0 {
        account::epsilon(events, 0.0)? <= claim.epsilon
    } else {
        account::delta(events, claim.epsilon)? <= claim.delta
    };
    Ok(met && found == (claim.neighbours, claim.unit))
}

/// Whether a filter proves the claim, and admits the events one after the other.
fn recheck_filter(
    filter: &Filter,
    events: &Event,
    claim: &Guarantee,
) -> Result<(), CertificateError> {
    let proved = filter.guarantee(claim.delta)?;
    if (proved.neighbours, proved.unit) != (claim.neighbours, claim.unit) {
        return Err(CertificateError::OtherNeighbours);
    }
    // Asks "enough?", so that a claim that is no number is refused.
    let met = proved.epsilon <= claim.epsilon;
    if !met {
        return Err(CertificateError::TooStrong { claimed: claim.epsilon, proved: proved.epsilon });
    }
    let whole = std::slice::from_ref(events);
    let list = if let Event::All(list) = events { &list[..] } else { whole };
    let mut tally = Tally::default();
    for event in list {
        tally = filter.admit(&tally, event)?;
    }
    Ok(())
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

/// Signs a sealed certificate with a 32-byte ed25519 secret key.
pub fn sign(mut certificate: Certificate, secret: &[u8; 32]) -> Certificate {
    let key = SigningKey::from_bytes(secret);
    if let Some(digest) = &certificate.digest {
        certificate.signature = Some(Signature {
            public_key: public_key(secret),
            signature: to_hex(&key.sign(digest.as_bytes()).to_bytes()),
        });
    }
    certificate
}

/// The public key, in hexadecimal, of a 32-byte ed25519 secret.
pub fn public_key(secret: &[u8; 32]) -> String {
    to_hex(SigningKey::from_bytes(secret).verifying_key().as_bytes())
}

/// Why a certificate was refused.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum CertificateError {
    /// Written by a version that this one does not know.
    #[error("certificate format '{}' is not known; {FORMAT} is", privet_core::printable(.0))]
    Format(String),
    /// Version, date or id are not what a program writes.
    #[error("its version, date or id are not of the form that the program writes")]
    Made,
    /// The events do not support the claim.
    #[error("the certificate claims ε = {claimed}, but its events prove only ε = {proved}")]
    TooStrong {
        /// Claimed ε.
        claimed: f64,
        /// What the events prove.
        proved: f64,
    },
    /// The claim speaks of other neighbours or another unit than the events.
    #[error("the claim's neighbours or unit are not those of the events")]
    OtherNeighbours,
    /// Model or certificate were changed after sealing.
    #[error("model and certificate do not belong together: the digest differs")]
    Edited,
    /// The signature is not by that key over this digest.
    #[error("the signature does not match the digest and public key")]
    Signature,
    /// The events could not be accounted for.
    #[error(transparent)]
    Account(#[from] AccountError),
}

/// SHA-256 over the canonical form of model and certificate (without digest and signature).
pub fn digest(model: &Value, certificate: &Certificate) -> String {
    let mut bare = certificate.clone();
    (bare.digest, bare.signature) = (None, None);
    let bare = serde_json::to_value(bare).unwrap_or(Value::Null);
    let mut hash = Sha256::new();
    hash.update(canonical_json(model));
    hash.update([0]);
    hash.update(canonical_json(&bare));
    to_hex(&hash.finalize())
}

/// JSON with sorted keys and no white space, whatever features `serde_json` was built with.
pub fn canonical_json(value: &Value) -> String {
    let mut text = String::new();
    write_canonical(value, &mut text);
    text
}

fn write_canonical(value: &Value, text: &mut String) {
    match value {
        Value::Object(map) => {
            let mut entries: Vec<_> = map.iter().collect();
            entries.sort_by_key(|(key, _)| key.as_str());
            text.push('{');
            for (place, (key, inner)) in entries.into_iter().enumerate() {
                if place > 0 {
                    text.push(',');
                }
                text.push_str(&Value::from(key.as_str()).to_string());
                text.push(':');
                write_canonical(inner, text);
            }
            text.push('}');
        }
        Value::Array(items) => {
            text.push('[');
            for (place, inner) in items.iter().enumerate() {
                if place > 0 {
                    text.push(',');
                }
                write_canonical(inner, text);
            }
            text.push(']');
        }
        plain => text.push_str(&plain.to_string()),
    }
}

pub(super) fn to_hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Bytes of a text of hexadecimal digits, two each; `None` if it is not one.
pub fn from_hex(text: &str) -> Option<Vec<u8>> {
    let digit = |letter: u8| char::from(letter).to_digit(16);
    let byte = |pair: &[u8]| Some((digit(pair[0])? << 4 | digit(pair[1])?) as u8);
    let pairs = text.as_bytes().chunks_exact(2);
    if pairs.remainder().is_empty() { pairs.map(byte).collect() } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn sealed(model: &Value) -> Certificate {
        Certificate::without_privacy(json!({"rows": 10})).seal(model)
    }

    #[test]
    fn any_change_breaks_the_seal() {
        let model = json!({"weights": [0.1, 0.2], "classes": ["a", "b"]});
        let certificate = sealed(&model);
        assert_eq!(certificate.check_seal(&model), Ok(()));
        let edited = json!({"weights": [0.1, 0.3], "classes": ["a", "b"]});
        assert_eq!(certificate.check_seal(&edited), Err(CertificateError::Edited));
        let mut renoted = certificate.clone();
        renoted.notes.clear();
        assert_eq!(renoted.check_seal(&model), Err(CertificateError::Edited));
    }

    #[test]
    fn a_signature_vouches_and_cannot_be_moved() {
        let model = json!({"weights": [1.0]});
        let signed = sign(sealed(&model), &[7; 32]);
        assert_eq!(signed.check_seal(&model), Ok(()));
        let mut moved = sealed(&json!({"weights": [2.0]}));
        moved.signature = signed.signature;
        assert_eq!(moved.check_seal(&json!({"weights": [2.0]})), Err(CertificateError::Signature));
    }

    /// Under the neutral element as key, R = neutral and s = 0 fit every message.
    #[test]
    fn a_key_that_signs_everything_vouches_for_nothing() {
        let model = json!({"weights": [1.0]});
        let mut forged = sealed(&model);
        let neutral = format!("01{}", "00".repeat(31));
        let signature = format!("{neutral}{}", "00".repeat(32));
        forged.signature = Some(Signature { public_key: neutral, signature });
        assert_eq!(forged.check_seal(&model), Err(CertificateError::Signature));
    }

    /// `from_str_radix` reads "+3" as 3: another text of the same signature.
    #[test]
    fn hexadecimal_is_digits_alone() {
        assert_eq!(from_hex("00fFa0"), Some(vec![0, 255, 160]));
        for odd in ["+3", "-3", " 3", "3", "0x", "é", "3g"] {
            assert_eq!(from_hex(odd), None, "{odd}");
        }
        let model = json!({"weights": [1.0]});
        // Without date and id, so that the signature is always the same.
        let bare = Certificate { made: None, ..sealed(&model) }.seal(&model);
        let mut signed = sign(bare, &[7; 32]);
        let text = &mut signed.signature.as_mut().unwrap().signature;
        let small = (0..text.len()).step_by(2).find(|at| text[*at..].starts_with('0')).unwrap();
        text.replace_range(small..=small, "+");
        assert_eq!(signed.check_seal(&model), Err(CertificateError::Signature));
    }

    #[test]
    fn canonical_form_sorts_keys() {
        assert_eq!(
            canonical_json(&json!({"b": 1, "a": [true, null]})),
            r#"{"a":[true,null],"b":1}"#
        );
    }
}
