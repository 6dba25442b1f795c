//! Model files: what was learnt and its certificate in one JSON document, sealed by a digest.
//!
//! | format | document |
//! |---|---|
//! | `privet-2`, written now | `format`, `kind` (what `body` holds: a word of [`Kind`]), `body`, `certificate` |
//! | `privet-model-1`, of versions before 0.2 | `format`, `model` (always [`Kind::Linear`]), `certificate` |
//!
//! The seal is that of [`privet_dp::gate::seal`], taken of the document as it stands. A model keeps the file it
//! was read from, so that reading, verifying and writing it again all speak of the same bytes. Files are
//! written by [`privet_data::write`]: whole or not at all, and never lost.

use super::{LinearWeights, Model, strict};
use crate::LearnError;
use privet_data::write::{self, Existing, Kept};
use privet_dp::gate::{Certificate, CertificateError, Signer, seal};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::io::Read;
use std::path::Path;
use std::str::FromStr;
use std::sync::Arc;

/// Files beyond this size are not read as models.
const LARGEST: u64 = 4 << 30;
/// Nor is more than this of a pipe or a device, which does not say how long it is.
const LARGEST_STREAM: u64 = 1 << 28;

/// What a file can hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// [`LinearWeights`].
    Linear,
}

impl Kind {
    /// Every kind with its word.
    const WORDS: [(Self, &'static str); 1] = [(Self::Linear, "linear")];

    /// The word that stands in a file.
    pub fn word(self) -> &'static str {
        Self::WORDS.iter().find(|(kind, _)| *kind == self).map_or("", |(_, word)| *word)
    }
}

impl FromStr for Kind {
    type Err = UnknownKind;

    fn from_str(word: &str) -> Result<Self, UnknownKind> {
        let found = Self::WORDS.iter().find(|(_, known)| *known == word);
        found.map(|(kind, _)| *kind).ok_or_else(|| UnknownKind(word.into()))
    }
}

/// A file that holds what this version does not know.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "it holds '{}', which is not known; known is: {}", privet_core::printable(.0),
    Kind::WORDS.map(|(_, word)| word).join(", ")
)]
pub struct UnknownKind(String);

/// The one place where a body becomes what its kind says.
fn model_of(kind: Kind, body: Value, certificate: Certificate) -> Result<Model, String> {
    match kind {
        Kind::Linear => {
            let weights: LinearWeights =
                serde_json::from_value(body).map_err(|error| error.to_string())?;
            Model::new(weights, certificate)
        }
    }
}

/// What a model was read from.
#[derive(Debug, Clone)]
pub(super) struct Origin {
    text: Arc<[u8]>,
    seal: Result<Option<Signer>, CertificateError>,
}

/// A document of format 2 as it is written, in an order for people.
#[derive(Serialize)]
struct Document<'a> {
    format: &'a str,
    kind: &'a str,
    body: &'a LinearWeights,
    certificate: Certificate,
}

/// What stands beside the body, in either format.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Head {
    format: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    kind: Option<String>,
    certificate: Certificate,
}

/// Whether the seal must hold for a file to be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Seal {
    /// Refuse a file whose digest or signature does not match (every use but verification).
    Required,
    /// Read it all the same; [`crate::verify`] will say what is wrong.
    Unchecked,
}

impl Model {
    /// Whether the seal of the file that it was read from holds, and who signed it. What was not read from a
    /// file is sealed when it is written, and has none yet.
    pub fn check_seal(&self) -> Result<Option<&Signer>, CertificateError> {
        let origin = self.origin.as_ref().ok_or(CertificateError::Edited)?;
        origin.seal.as_ref().map(Option::as_ref).map_err(Clone::clone)
    }
}

/// The document as text. What was read from a file is that file, byte by byte, unless it is to be signed;
/// one whose seal is broken is refused. What is new is sealed, and signed if a secret key is given.
pub fn to_json(model: &Model, secret: Option<&[u8; 32]>) -> Result<String, LearnError> {
    write_text(model, secret).map_err(|why| LearnError::NotAModel { path: "model".into(), why })
}

fn write_text(model: &Model, secret: Option<&[u8; 32]>) -> Result<String, String> {
    let words = |error: serde_json::Error| error.to_string();
    if let Some(origin) = &model.origin {
        origin.seal.as_ref().map_err(ToString::to_string)?;
        let text = String::from_utf8(origin.text.to_vec()).map_err(|error| error.to_string())?;
        if secret.is_none() {
            return Ok(text);
        }
        let document = serde_json::from_str(&text).map_err(words)?;
        let signed = seal::sealed(document, secret).map_err(|error| error.to_string())?;
        return Ok(serde_json::to_string_pretty(&signed).map_err(words)? + "\n");
    }
    let body = serde_json::to_value(&model.weights).map_err(words)?;
    let document = seal::document(Kind::Linear.word(), body, &model.certificate);
    let mut sealed = seal::sealed(document, secret).map_err(|error| error.to_string())?;
    let certificate = serde_json::from_value(sealed["certificate"].take()).map_err(words)?;
    let (format, kind) = (seal::FORMAT, Kind::Linear.word());
    let document = Document { format, kind, body: &model.weights, certificate };
    Ok(serde_json::to_string_pretty(&document).map_err(words)? + "\n")
}

/// Writes a model, which was paid for and cannot be made again: whole, readable by its owner alone, and if
/// need be elsewhere ([`privet_data::write`]).
pub fn save(
    model: &Model,
    path: &Path,
    secret: Option<&[u8; 32]>,
    existing: Existing,
) -> Result<Kept, LearnError> {
    Ok(write::keep(path, to_json(model, secret)?.as_bytes(), existing)?)
}

/// Reads a model.
pub fn load(path: &Path, seal: Seal) -> Result<Model, LearnError> {
    let failed = |source| LearnError::File { path: path.display().to_string(), source };
    let file = std::fs::File::open(path).map_err(failed)?;
    let found = file.metadata().map_err(failed)?;
    let most = if found.is_file() { LARGEST } else { LARGEST_STREAM };
    let mut text = Vec::new();
    if found.len() <= most {
        file.take(most + 1).read_to_end(&mut text).map_err(failed)?;
    }
    if found.len() > most || text.len() as u64 > most {
        let why = format!("it is too large: {} MiB are read of it at most", most >> 20);
        return Err(refused(path, &why));
    }
    from_json(&text, seal).map_err(|why| refused(path, &why))
}

/// Reads a model from bytes; the error says what is wrong with them, with nothing in it that acts on a
/// terminal.
pub fn from_json(bytes: &[u8], seal: Seal) -> Result<Model, String> {
    read(bytes, seal).map_err(|why| privet_core::printable(&why).into_owned())
}

fn read(bytes: &[u8], required: Seal) -> Result<Model, String> {
    let mut document = strict::read(bytes)?;
    let found = seal::check(&document);
    if required == Seal::Required {
        found.as_ref().map_err(ToString::to_string)?;
    }
    let mut take = |name| document.as_object_mut().and_then(|fields| fields.remove(name));
    let (body, model) = (take("body"), take("model"));
    let head = Head::deserialize(&document).map_err(|error| error.to_string())?;
    let known = serde_json::to_value(&head).map_err(|error| error.to_string())?;
    if let Some(field) = strict::unknown_field(&document, &known) {
        return Err(format!("it has a field that is not known: {field}"));
    }
    let (kind, body) = match (head.format.as_str(), head.kind, body, model) {
        (seal::FORMAT, Some(kind), Some(body), None) => (kind.parse(), body),
        (seal::FORMAT, ..) => return Err("accepted are format, kind, body and certificate".into()),
        (seal::FORMAT_1, None, None, Some(model)) => (Ok(Kind::Linear), model),
        (seal::FORMAT_1, ..) => return Err("accepted are format, model and certificate".into()),
        (other, ..) => return Err(CertificateError::Document(other.into()).to_string()),
    };
    let kind = kind.map_err(|error: UnknownKind| error.to_string())?;
    let model = model_of(kind, body, head.certificate)?;
    Ok(Model { origin: Some(Origin { text: bytes.into(), seal: found }), ..model })
}

fn refused(path: &Path, why: &str) -> LearnError {
    LearnError::NotAModel { path: path.display().to_string(), why: why.into() }
}
