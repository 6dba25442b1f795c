//! What was released, with its certificate: what a file holds.

use crate::LearnError;
use crate::linear::Erm;
use crate::ratings::Complete;
use crate::release::file::Origin;
use crate::release::request::{Request, TASK};
use crate::release::strict;
use crate::release::task::Task;
use privet_core::Whose;
use privet_data::Schema;
use privet_dp::gate::{Certificate, Release, Version};

/// Who a unit is of whom a certificate speaks, for who has no more than that ([`Released::whose`]).
pub fn whose_of(certificate: &Certificate) -> Whose {
    let schema = certificate.request.get("schema").cloned().unwrap_or_default();
    let family = certificate.request.get(TASK).and_then(|name| name.as_str()).unwrap_or(Erm::NAME);
    let whose =
        serde_json::from_value(schema).map_or(Whose::NotSaid, |schema: Schema| schema.whose());
    as_said(certificate, family, whose)
}

/// Without the names that the Python package wrote itself before 0.2.1, and the command where a file has no header.
fn as_said(certificate: &Certificate, family: &str, whose: Whose) -> Whose {
    let early = certificate.version().is_none_or(|version| version < Version(0, 2, 1));
    let own = |column: &str| match column.trim_end_matches('_') {
        "group" => true,
        "user" => family == Complete::NAME,
        _ => false,
    };
    match &whose {
        Whose::Column { column, .. } if early && own(column) => Whose::NotSaid,
        _ => whose,
    }
}

/// What was released, with its certificate, and the request that the certificate carries.
#[derive(Debug, Clone)]
pub struct Released<T: Task = Erm> {
    artefact: T::Artefact,
    request: Request<T>,
    certificate: Certificate,
    /// The file it was read from, if it was.
    origin: Option<Origin>,
}

impl<T: Task> Released<T> {
    /// From a release.
    pub fn from_release(release: Release<T::Artefact>) -> Result<Self, LearnError> {
        let (artefact, certificate) = release.into_parts();
        Self::new(artefact, certificate)
            .map_err(|why| LearnError::NotAModel { path: "what was released".into(), why })
    }

    pub(crate) fn new(artefact: T::Artefact, certificate: Certificate) -> Result<Self, String> {
        let request: Request<T> = serde_json::from_value(certificate.request.clone())
            .map_err(|error| format!("its request cannot be read: {error}"))?;
        let known = serde_json::to_value(&request).map_err(|error| error.to_string())?;
        if let Some(field) = strict::unknown_field(&certificate.request, &known) {
            return Err(format!("its request has a field that is not known: {field}"));
        }
        T::fits(&request, &artefact)?;
        Ok(Self { artefact, request, certificate, origin: None })
    }

    /// A part of another release, under its certificate: for who predicts with it, never for who verifies.
    pub(crate) fn viewed(
        artefact: T::Artefact,
        request: Request<T>,
        certificate: Certificate,
    ) -> Self {
        Self { artefact, request, certificate, origin: None }
    }

    /// What was released.
    pub fn artefact(&self) -> &T::Artefact {
        &self.artefact
    }

    /// What was asked for.
    pub fn request(&self) -> &Request<T> {
        &self.request
    }

    /// Who a unit is of whom its claim speaks, as far as the file says. Before 0.2.1 the Python package wrote these names
    /// itself, whatever had been handed over to it.
    pub fn whose(&self) -> Whose {
        as_said(&self.certificate, T::NAME, self.request.whose())
    }

    /// What it can reveal.
    pub fn certificate(&self) -> &Certificate {
        &self.certificate
    }

    pub(crate) fn origin(&self) -> &Option<Origin> {
        &self.origin
    }

    pub(crate) fn read_from(self, origin: Origin) -> Self {
        Self { origin: Some(origin), ..self }
    }
}
