//! What was released, of any family, as Python holds it: written, read and checked with its certificate.

use crate::error::{Failure, Outcome, shown};
use crate::watched::watched;
use privet_data::write::Existing;
use privet_learn::file::{self, Seal};
use privet_learn::{Released, Task, Verdict};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use serde_json::json;
use std::ops::Deref;
use std::path::Path;

/// A release and where it comes from. Holds nothing else of the records.
pub struct Held<T: Task>(Released<T>, Origin);

/// Where a release comes from.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Origin {
    /// From a run: it is sealed when it is written.
    Run,
    /// From a file: its seal is the one it came with, or none.
    File,
    /// Part of another release, whose certificate it has: not written by itself.
    Part,
}

/// Whether a broken seal is refused.
pub fn seal(sealed: bool) -> Seal {
    if sealed { Seal::Required } else { Seal::Unchecked }
}

impl<T: Task> Deref for Held<T> {
    type Target = Released<T>;

    fn deref(&self) -> &Released<T> {
        &self.0
    }
}

impl<T: Task> Held<T> {
    /// Of a run.
    pub fn released(released: Released<T>) -> Self {
        Self(released, Origin::Run)
    }

    /// Of a file.
    pub fn loaded(released: Released<T>) -> Self {
        Self(released, Origin::File)
    }

    /// Of another release.
    pub fn part(released: Released<T>) -> Self {
        Self(released, Origin::Part)
    }

    /// Reads it from the bytes of its file.
    pub fn from_bytes(bytes: &[u8], sealed: bool) -> Outcome<Self> {
        let read = file::from_json(bytes, seal(sealed));
        read.map(Self::loaded).map_err(|why| Failure::value(format!("not a privet model: {why}")))
    }

    /// The text of its file. What came from a file is not sealed anew.
    fn written(&self) -> Outcome<String> {
        match self.1 {
            Origin::Run => {}
            Origin::File => {
                self.0.check_seal().map_err(Failure::value)?;
            }
            Origin::Part => {
                return Err(Failure::value(
                    "the model is part of a tuning, and its certificate is that of the whole: save the tuning",
                ));
            }
        }
        Ok(file::to_json(&self.0, None)?)
    }

    /// The digest that its file has, or will have.
    pub fn digest(&self) -> Outcome<String> {
        if let Some(digest) = &self.0.certificate().digest {
            return Ok(digest.clone());
        }
        let document: serde_json::Value = serde_json::from_str(&self.written()?)?;
        let digest = document["certificate"]["digest"].as_str();
        digest.map(String::from).ok_or_else(|| Failure::value("the model has no digest"))
    }

    /// The bytes of its file.
    pub fn to_bytes<'py>(&self, py: Python<'py>) -> Outcome<Bound<'py, PyBytes>> {
        Ok(PyBytes::new(py, self.written()?.as_bytes()))
    }

    /// Writes its file, whole or not at all, readable by its owner alone. It was paid for: if it cannot be
    /// put there it is put elsewhere, and the exception says where.
    pub fn save(&self, py: Python<'_>, path: &Path, overwrite: bool) -> Outcome<()> {
        self.written()?;
        let existing = if overwrite { Existing::Replace } else { Existing::Keep };
        let kept = py.detach(|| file::save(&self.0, path, None, existing))?;
        for left in &kept.swept {
            let words =
                format!("removed {}, which a run that was killed had left\n", left.display());
            // Nobody to tell is no reason to fail.
            let errors = py.import("sys").and_then(|sys| sys.getattr("stderr"));
            let _ = errors.and_then(|errors| errors.call_method1("write", (shown(&words),)));
        }
        kept.instead.map_or(Ok(()), |why| Err(Failure::kept(why, &kept.path)))
    }

    /// What the certificate claims, as JSON: all of it but the request and the proof of its origin.
    pub fn claim(&self) -> String {
        let certificate = self.0.certificate();
        json!({
            "guarantee": certificate.guarantee,
            "neighbours": self.0.request().neighbours,
            "unit": self.0.request().schema.unit(),
            "whose": self.0.whose(),
            "arithmetic": certificate.arithmetic,
            "notes": certificate.notes,
        })
        .to_string()
    }

    /// The certificate as JSON.
    pub fn document(&self) -> Outcome<String> {
        Ok(serde_json::to_string(self.0.certificate())?)
    }

    /// Checks it without data: the verdict as JSON.
    pub fn verdict(&self, py: Python<'_>) -> Outcome<String> {
        Ok(serde_json::to_string(&self.judged(py)?)?)
    }

    /// Checks it without data.
    pub fn judged(&self, py: Python<'_>) -> Outcome<Verdict> {
        // What was just released has no seal yet; the file it would be written to has. A file without
        // one is not valid.
        Ok(match self.1 {
            Origin::Part => {
                return Err(Failure::value(
                    "the model is part of a tuning, and its certificate is that of the whole: verify the tuning",
                ));
            }
            Origin::File => watched(py, |_| privet_learn::verify(&self.0))?,
            Origin::Run => {
                let text = file::to_json(&self.0, None)?;
                let sealed: Released<T> =
                    file::from_json(text.as_bytes(), Seal::Required).map_err(Failure::value)?;
                watched(py, |_| privet_learn::verify(&sealed))?
            }
        })
    }
}
