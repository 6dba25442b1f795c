//! An artefact with its certificate: the content of a file.

use crate::LearnError;
use crate::families::{UNNAMED, own_column};
use crate::release::file::Origin;
use crate::release::request::{Request, TASK};
use crate::release::strict;
use crate::release::task::Task;
use privet_core::UnitDefinition;
use privet_data::Schema;
use privet_dp::gate::{Certificate, Release, Version};

/// The definition of a unit in a certificate, for a caller that has no [`Released`]
/// ([`Released::unit_definition`]).
pub fn whose_of(certificate: &Certificate) -> UnitDefinition {
    let schema = certificate.request.get("schema").cloned().unwrap_or_default();
    let family = certificate.request.get(TASK).and_then(|name| name.as_str()).unwrap_or(UNNAMED);
    let whose = serde_json::from_value(schema)
        .map_or(UnitDefinition::NotSaid, |schema: Schema| schema.unit_definition());
    as_said(certificate, family, whose)
}

/// Removes unit columns that the Python package named by itself before 0.2.1, and the command for files
/// without a header.
fn as_said(certificate: &Certificate, family: &str, whose: UnitDefinition) -> UnitDefinition {
    let early = certificate.version().is_none_or(|version| version < Version(0, 2, 1));
    let own = |column: &str| {
        let column = column.trim_end_matches('_');
        column == "group" || own_column(family) == Some(column)
    };
    match &whose {
        UnitDefinition::Column { column, .. } if early && own(column) => UnitDefinition::NotSaid,
        _ => whose,
    }
}

/// An artefact with its certificate, and the request that the certificate carries.
#[derive(Debug, Clone)]
pub struct Released<T: Task> {
    artefact: T::Artefact,
    request: Request<T>,
    certificate: Certificate,
    /// The file it was read from, if any.
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

    /// A part of another release, under its certificate: for prediction, never for verification.
    pub(crate) fn part_view(
        artefact: T::Artefact,
        request: Request<T>,
        certificate: Certificate,
    ) -> Self {
        Self { artefact, request, certificate, origin: None }
    }

    /// The artefact.
    pub fn artefact(&self) -> &T::Artefact {
        &self.artefact
    }

    /// The request.
    pub fn request(&self) -> &Request<T> {
        &self.request
    }

    /// The definition of a unit under which the claim holds, as far as the file states it. Before 0.2.1
    /// the Python package wrote these column names itself, whatever the caller passed.
    pub fn unit_definition(&self) -> UnitDefinition {
        as_said(&self.certificate, T::NAME, self.request.unit_definition())
    }

    /// The certificate.
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
