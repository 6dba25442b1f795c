//! Initial weights of a training: a network, and its weights once they are known.

use super::tensors::{Layout, PublicFile, Tensors};
use super::update::{Schedule, Start};
use super::{InitialSource, NetFacts};
use crate::LearnError;
use privet_data::matrix::Matrix;
use privet_dp::continual::Running;
use privet_nn::Net;
use std::sync::Arc;

/// A network, and its initial weights once they are known.
#[derive(Debug, Clone)]
pub(crate) struct InitialWeights {
    pub net: Arc<Net>,
    begin: InitialSource,
    weights: Option<Vec<f32>>,
}

impl InitialWeights {
    pub fn of(facts: &NetFacts) -> Self {
        let weights = match facts.begin {
            InitialSource::Seed(seed) => Some(facts.net.initial(seed)),
            InitialSource::File(_) => None,
        };
        Self { net: facts.net.clone(), begin: facts.begin.clone(), weights }
    }

    /// Returns the weights; an error if they are missing.
    pub fn weights(&self) -> Result<&[f32], LearnError> {
        self.weights.as_deref().ok_or_else(|| LearnError::InvalidRequest {
            name: "weights",
            what: "are missing: the plan names a file of them".into(),
        })
    }

    /// Start of a walk.
    pub fn walk(&self, schedule: &Schedule) -> Option<serde_json::Value> {
        self.walk_along(schedule, None)
    }

    /// Start of a walk, with a running sum if answers are rows of a stream.
    pub fn walk_along(
        &self,
        schedule: &Schedule,
        running: Option<Running>,
    ) -> Option<serde_json::Value> {
        let (schedule, weights) = (schedule.clone(), self.weights.clone()?);
        let layout = Layout::of(&self.net);
        serde_json::to_value(Start { schedule, weights, layout, running }).ok()
    }

    /// Takes the weights of a public file ([`Self::from`]); `None` if the plan names no file.
    pub fn begun(&self, rows: &Matrix) -> Option<Result<Self, LearnError>> {
        matches!(self.begin, InitialSource::File(_)).then(|| self.from(rows))
    }

    /// Takes the weights of a public file, in one row; refuses weights other than those that the plan
    /// names.
    pub fn from(&self, rows: &Matrix) -> Result<Self, LearnError> {
        let invalid = |what: String| Err(LearnError::InvalidRequest { name: "weights", what });
        let InitialSource::File(named) = &self.begin else {
            return invalid("are given, and the plan names no file of them".into());
        };
        let expected = self.net.parameters();
        if rows.rows() != 1 || rows.columns() != expected {
            let found = rows.rows() * rows.columns();
            return invalid(format!("are {found} numbers; the network has {expected} weights"));
        }
        let weights = rows.dense_row(0);
        let found = PublicFile::of(&self.net, &weights);
        if found.sha256 != named.sha256 {
            let (found, named) = (found.sha256, &named.sha256);
            return invalid(format!("have the SHA-256 {found}, and the plan names {named}"));
        }
        if found.frozen != named.frozen {
            return invalid(
                "are frozen in part, and the plan names another SHA-256 of that part".into(),
            );
        }
        if !weights.iter().all(|weight| weight.is_finite()) {
            return invalid("are not all finite numbers".into());
        }
        Ok(Self { weights: Some(weights), ..self.clone() })
    }

    /// Reason why no training from here can have released these tensors; `None` if one may.
    pub fn refuses(&self, found: &Tensors) -> Option<&'static str> {
        let refused = found.refusal(&self.net, self.weights.as_deref());
        refused.or_else(|| match &self.begin {
            InitialSource::File(named) => named.refuses(&self.net, found),
            InitialSource::Seed(_) => None,
        })
    }
}
