//! Files: an artefact and its certificate in one JSON document, sealed by a digest.
//!
//! | format | document |
//! |---|---|
//! | `privet-2`, written now | `format`, `kind` ([`Artefact::KIND`] of `body`), `body`, `certificate` |
//! | `privet-model-1`, of versions before 0.2 | `format`, `model` (always a linear one), `certificate` |
//!
//! The seal is that of [`privet_dp::gate::seal`], computed from the document as it stands. A release
//! that was read keeps the bytes of its file, so that reading, verifying and writing it again all speak
//! of the same bytes. Files are written by [`privet_data::write`]: whole or not at all, and never lost.

use crate::LearnError;
use crate::families::{FORMAT_1, Loaded};
use crate::release::released::Released;
use crate::release::strict;
use crate::release::task::{Artefact, Task};
use privet_data::write::{self, Existing, Written};
use privet_dp::gate::{Certificate, CertificateError, Signer, seal};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::io::Read;
use std::path::Path;
use std::sync::Arc;

/// Largest size of a file that is read as a model, in bytes.
const LARGEST_FILE: u64 = 4 << 30;
/// Largest number of bytes read from a pipe or a device, which does not state its length.
const LARGEST_STREAM: u64 = 1 << 28;

/// The bytes of the file that was read, and the check of their seal.
#[derive(Debug, Clone)]
pub(crate) struct Origin {
    text: Arc<[u8]>,
    seal: Result<Option<Signer>, CertificateError>,
}

/// A document of format 2 as it is written, its fields in reading order.
#[derive(Serialize)]
struct Document<'a, A> {
    format: &'a str,
    kind: &'a str,
    body: &'a A,
    certificate: Certificate,
}

/// The fields beside the body, in either format.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct FileHead {
    format: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    kind: Option<String>,
    certificate: Certificate,
}

/// The treatment of a file whose seal is broken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Seal {
    /// Refuse a file whose digest or signature does not match (every use but verification).
    Required,
    /// Read it all the same; [`crate::verify`] will report the fault.
    Unchecked,
}

impl<T: Task> Released<T> {
    /// The signer, or the fault of the seal, of the file that it was read from. A release that was not
    /// read from a file is sealed when it is written, and has no seal yet.
    pub fn check_seal(&self) -> Result<Option<&Signer>, CertificateError> {
        let origin = self.origin().as_ref().ok_or(CertificateError::Edited)?;
        origin.seal.as_ref().map(Option::as_ref).map_err(Clone::clone)
    }
}

/// The document as text. A release read from a file gives that file, byte by byte, unless it is to be
/// signed; one whose seal is broken is refused. A new one is sealed, and signed if a secret key is
/// given.
pub fn to_json<T: Task>(
    released: &Released<T>,
    secret: Option<&[u8; 32]>,
) -> Result<String, LearnError> {
    write_text(released, secret).map_err(|why| LearnError::NotAModel { path: "model".into(), why })
}

fn write_text<T: Task>(
    released: &Released<T>,
    secret: Option<&[u8; 32]>,
) -> Result<String, String> {
    let words = |error: serde_json::Error| error.to_string();
    if let Some(origin) = released.origin() {
        origin.seal.as_ref().map_err(ToString::to_string)?;
        let text = String::from_utf8(origin.text.to_vec()).map_err(|error| error.to_string())?;
        if secret.is_none() {
            return Ok(text);
        }
        let document = serde_json::from_str(&text).map_err(words)?;
        let signed = seal::seal_document(document, secret).map_err(|error| error.to_string())?;
        return Ok(serde_json::to_string_pretty(&signed).map_err(words)? + "\n");
    }
    let (body, kind) = (released.artefact(), T::Artefact::KIND);
    let written = serde_json::to_value(body).map_err(words)?;
    let document = seal::document(kind, written, released.certificate());
    let mut sealed = seal::seal_document(document, secret).map_err(|error| error.to_string())?;
    let certificate = serde_json::from_value(sealed["certificate"].take()).map_err(words)?;
    let document = Document { format: seal::FORMAT, kind, body, certificate };
    Ok(serde_json::to_string_pretty(&document).map_err(words)? + "\n")
}

/// Writes a release, which has spent its budget and cannot be made again: whole, readable by its owner
/// alone, and at another path if need be ([`privet_data::write`]).
pub fn save<T: Task>(
    released: &Released<T>,
    path: &Path,
    secret: Option<&[u8; 32]>,
    existing: Existing,
) -> Result<Written, LearnError> {
    Ok(write::keep(path, to_json(released, secret)?.as_bytes(), existing)?)
}

/// Reads a file of any family.
pub fn load_any(path: &Path, seal: Seal) -> Result<Loaded, LearnError> {
    any_from_json(&bytes_of(path)?, seal).map_err(|why| file_error(path, &why))
}

/// Reads a file of one family.
pub fn load<T: Task>(path: &Path, seal: Seal) -> Result<Released<T>, LearnError> {
    from_json(&bytes_of(path)?, seal).map_err(|why| file_error(path, &why))
}

pub(crate) fn bytes_of(path: &Path) -> Result<Vec<u8>, LearnError> {
    let failed = |source| LearnError::File { path: path.display().to_string(), source };
    let file = std::fs::File::open(path).map_err(failed)?;
    let found = file.metadata().map_err(failed)?;
    let most = if found.is_file() { LARGEST_FILE } else { LARGEST_STREAM };
    let mut text = Vec::new();
    if found.len() <= most {
        file.take(most + 1).read_to_end(&mut text).map_err(failed)?;
    }
    if found.len() > most || text.len() as u64 > most {
        let why = format!("it is too large: {} MiB are read of it at most", most >> 20);
        return Err(file_error(path, &why));
    }
    Ok(text)
}

/// Reads a file of any family from bytes; the error names the fault, without terminal control
/// characters.
pub fn any_from_json(bytes: &[u8], seal: Seal) -> Result<Loaded, String> {
    let read = OpenedDocument::read(bytes, seal).and_then(Loaded::of);
    read.map_err(|why| privet_core::printable(&why).into_owned())
}

/// Reads a file of one family from bytes; errors as in [`any_from_json`].
pub fn from_json<T: Task>(bytes: &[u8], seal: Seal) -> Result<Released<T>, String> {
    let read = OpenedDocument::read(bytes, seal).and_then(OpenedDocument::of);
    read.map_err(|why| privet_core::printable(&why).into_owned())
}

/// A document of a known format, its body not yet read.
pub(crate) struct OpenedDocument {
    kind: String,
    body: Value,
    certificate: Certificate,
    origin: Origin,
}

impl OpenedDocument {
    fn read(bytes: &[u8], required: Seal) -> Result<Self, String> {
        let mut document = strict::read(bytes)?;
        let found = seal::check(&document);
        if required == Seal::Required {
            found.as_ref().map_err(ToString::to_string)?;
        }
        let mut take = |name| document.as_object_mut().and_then(|fields| fields.remove(name));
        let (body, model) = (take("body"), take("model"));
        let head = FileHead::deserialize(&document).map_err(|error| error.to_string())?;
        let known = serde_json::to_value(&head).map_err(|error| error.to_string())?;
        if let Some(field) = strict::unknown_field(&document, &known) {
            return Err(format!("it has a field that is not known: {field}"));
        }
        let (kind, body) = match (head.format.as_str(), head.kind, body, model) {
            (seal::FORMAT, Some(kind), Some(body), None) => (kind, body),
            (seal::FORMAT, ..) => {
                return Err("accepted are format, kind, body and certificate".into());
            }
            (seal::FORMAT_1, None, None, Some(model)) => (FORMAT_1.into(), model),
            (seal::FORMAT_1, ..) => return Err("accepted are format, model and certificate".into()),
            (other, ..) => return Err(CertificateError::Document(other.into()).to_string()),
        };
        let origin = Origin { text: bytes.into(), seal: found };
        Ok(Self { kind, body, certificate: head.certificate, origin })
    }

    /// The public facts that the certificate carries.
    pub(crate) fn request(&self) -> &Value {
        &self.certificate.request
    }

    /// As a release of this family.
    pub(crate) fn of<T: Task>(self) -> Result<Released<T>, String> {
        let known = T::Artefact::KIND;
        if self.kind != known {
            return Err(format!("it holds a '{}', and a '{known}' is wanted", self.kind));
        }
        let body = serde_json::from_value(self.body).map_err(|error| error.to_string())?;
        Ok(Released::new(body, self.certificate)?.read_from(self.origin))
    }
}

pub(crate) fn file_error(path: &Path, why: &str) -> LearnError {
    LearnError::NotAModel { path: path.display().to_string(), why: why.into() }
}
