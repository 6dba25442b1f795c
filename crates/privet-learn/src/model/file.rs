//! Model files: weights and certificate in one JSON document, sealed by a digest.
//!
//! Written by [`privet_data::write`]: whole or not at all, and never lost.

use super::{LinearWeights, Model, strict};
use crate::LearnError;
use privet_data::write::{self, Existing, Kept};
use privet_dp::gate::{Certificate, sign};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::io::Read;
use std::path::Path;

/// The form of file written by this version.
pub const FORMAT: &str = "privet-model-1";

/// Files beyond this size are not read as models.
const LARGEST: u64 = 4 << 30;
/// Nor is more than this of a pipe or a device, which does not say how long it is.
const LARGEST_STREAM: u64 = 1 << 28;

#[derive(Serialize)]
struct Document {
    format: String,
    model: Value,
    certificate: Certificate,
}

/// A document without its model.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Head {
    format: String,
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

/// The document as text, signed if a secret key is given; a signature that the model came with and that
/// still holds is kept otherwise.
pub fn to_json(model: &Model, secret: Option<&[u8; 32]>) -> Result<String, LearnError> {
    let not_json = |why: serde_json::Error| LearnError::NotAModel {
        path: "model".into(),
        why: why.to_string(),
    };
    let weights = serde_json::to_value(model.weights()).map_err(not_json)?;
    let certificate = model.certificate().clone();
    let certificate = match secret {
        Some(secret) => sign(certificate.seal(&weights), secret),
        None if certificate.check_seal(&weights).is_ok() => certificate,
        None => certificate.seal(&weights),
    };
    let document = Document { format: FORMAT.into(), model: weights, certificate };
    let mut text = serde_json::to_string_pretty(&document).map_err(not_json)?;
    text.push('\n');
    Ok(text)
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

fn read(bytes: &[u8], seal: Seal) -> Result<Model, String> {
    let words = |error: serde_json::Error| error.to_string();
    let mut value = strict::read(bytes)?;
    let model = value.as_object_mut().and_then(|fields| fields.remove("model"));
    let head: Head = Head::deserialize(&value).map_err(words)?;
    if head.format != FORMAT {
        return Err(format!("format '{}' is not known; {FORMAT} is", head.format));
    }
    let model = model.ok_or("it has no field 'model'")?;
    let known = serde_json::to_value(&head).map_err(words)?;
    if let Some(field) = strict::unknown_field(&value, &known) {
        return Err(format!("it has a field that is not known: {field}"));
    }
    if seal == Seal::Required {
        head.certificate.check_seal(&model).map_err(|error| error.to_string())?;
    }
    let weights: LinearWeights = serde_json::from_value(model).map_err(words)?;
    Model::new(weights, head.certificate)
}

fn refused(path: &Path, why: &str) -> LearnError {
    LearnError::NotAModel { path: path.display().to_string(), why: why.into() }
}
