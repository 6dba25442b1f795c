//! The release: weights of a network, tensor after tensor.

use super::BALL_RADIUS;
use crate::release::note::{Condition, Note};
use crate::release::support::Support;
use crate::release::task::Artefact;
use privet_nn::Net;
use serde::{Deserialize, Serialize, Serializer};
use sha2::{Digest, Sha256};
use std::ops::Range;

/// Weights of a network, tensor after tensor.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tensors {
    /// Tensors in the order of the layers.
    pub tensors: Vec<Tensor>,
}

/// One tensor of a network.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tensor {
    /// Name of the tensor.
    pub name: String,
    /// Sizes of its dimensions.
    pub shape: Vec<usize>,
    /// Its entries, row-major.
    #[serde(serialize_with = "widened")]
    pub values: Vec<f32>,
}

/// Serialises entries as numbers of 64 bits, exactly: the seal is computed from those.
fn widened<S: Serializer>(values: &[f32], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(values.iter().map(|value| f64::from(*value)))
}

impl Artefact for Tensors {
    const KIND: &'static str = "tensors";

    fn numbers(&self) -> Vec<f64> {
        self.tensors.iter().flat_map(|tensor| &tensor.values).map(|x| f64::from(*x)).collect()
    }
}

/// Ranges of the tensors of a network in the vector of its weights.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Layout {
    /// Tensors in the order of the layers.
    pub places: Vec<Place>,
    /// Number of trained weights, which come first.
    pub trained: usize,
}

/// Range of one tensor.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Place {
    pub name: String,
    pub shape: Vec<usize>,
    pub range: Range<usize>,
}

impl Layout {
    /// Layout of a network.
    pub fn of(net: &Net) -> Self {
        let place = |tensor: &privet_nn::Tensor| Place {
            name: tensor.name.clone(),
            shape: tensor.shape.clone(),
            range: tensor.range.clone(),
        };
        Self { places: net.tensors().iter().map(place).collect(), trained: net.trainable() }
    }

    /// Ranges of the trained tensors, ascending.
    pub fn trained_ranges(&self) -> Vec<Range<usize>> {
        let ranges = self.places.iter().map(|place| place.range.clone());
        ranges.filter(|range| range.end <= self.trained).collect()
    }

    /// Cuts all weights into tensors.
    pub fn cut(&self, weights: &[f32]) -> Tensors {
        let cut = |place: &Place| Tensor {
            name: place.name.clone(),
            shape: place.shape.clone(),
            values: weights[place.range.clone()].to_vec(),
        };
        Tensors { tensors: self.places.iter().map(cut).collect() }
    }
}

impl Tensors {
    /// All weights in one vector, in the network's order; an error with the difference if they are not
    /// of this network.
    pub fn flat(&self, net: &Net) -> Result<Vec<f32>, String> {
        let known = net.tensors();
        if self.tensors.len() != known.len() {
            return Err(format!(
                "it has {} tensors, and the network has {}",
                self.tensors.len(),
                known.len()
            ));
        }
        // Before memory is allocated: a file may describe a network far larger than its contents.
        let held: usize = self.tensors.iter().map(|tensor| tensor.values.len()).sum();
        if held != net.parameters() {
            return Err(format!("it has {held} weights, and the network has {}", net.parameters()));
        }
        let mut weights = vec![0.0; net.parameters()];
        for (own, known) in self.tensors.iter().zip(known) {
            if own.name != known.name || own.shape != known.shape {
                return Err(format!(
                    "its tensor '{}' is {:?}, and the network's '{}' is {:?}",
                    own.name, own.shape, known.name, known.shape
                ));
            }
            if own.values.len() != known.range.len() || !own.values.iter().all(|x| x.is_finite()) {
                return Err(format!("its tensor '{}' is not {:?} numbers", own.name, known.shape));
            }
            weights[known.range.clone()].copy_from_slice(&own.values);
        }
        Ok(weights)
    }

    /// Reason why no training of this network with these initial weights can have released them; `None`
    /// if one may.
    pub(crate) fn refusal(&self, net: &Net, begin: Option<&[f32]>) -> Option<&'static str> {
        let Ok(flat) = self.flat(net) else {
            return Some("its tensors are not those of the network");
        };
        let (trained, frozen) = flat.split_at(net.trainable());
        if begin.is_some_and(|begin| begin[net.trainable()..] != *frozen) {
            return Some("a frozen weight is not the one that training began from");
        }
        let trained = trained.iter().map(|x| f64::from(*x)).collect();
        // Weights are rounded to 24 bits when they are released.
        Support::Ball(BALL_RADIUS * (1.0 + 1e-6)).refuses(&[trained])
    }
}

/// A public file of weights, by its digests.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PublicFile {
    /// SHA-256 of all its weights, in hexadecimal ([`digest`]).
    pub sha256: String,
    /// The same of the frozen weights, if a layer is frozen: the release holds them, so that anyone can
    /// recompute it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub frozen: Option<String>,
    /// ε and δ that the file itself claims; `None` if it claims none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub claims: Option<[f64; 2]>,
}

impl PublicFile {
    /// Digests of these weights of a network, frozen ones last.
    pub(crate) fn of(net: &Net, weights: &[f32]) -> Self {
        let frozen = weights.get(net.trainable()..).filter(|frozen| !frozen.is_empty());
        Self { sha256: digest(weights), frozen: frozen.map(digest), claims: None }
    }

    /// Note of the certificate on the file.
    pub(crate) fn note(&self) -> Note {
        match self.claims {
            Some([epsilon, delta]) => BEGAN_FROM_RELEASE.with(&[
                ("sha256", &self.sha256),
                ("epsilon", &epsilon),
                ("delta", &delta),
            ]),
            None => BEGAN_FROM_PUBLIC.with(&[("sha256", &self.sha256)]),
        }
    }

    /// Checks that these can be the digests of a file of such a network; otherwise an error with the
    /// reason.
    pub(crate) fn check(&self, net: &Net) -> Result<(), String> {
        let digits = |text: &str| {
            text.len() == 64 && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
        };
        if ![Some(&self.sha256), self.frozen.as_ref()]
            .into_iter()
            .flatten()
            .all(|text| digits(text))
        {
            return Err(
                "are named by their SHA-256; accepted are 64 digits from 0 to 9 and a to f".into(),
            );
        }
        if !self.claims.iter().flatten().all(|claim| claim.is_finite() && *claim >= 0.0) {
            return Err("claim an ε and a δ; accepted are numbers from 0".into());
        }
        match (&self.frozen, net.trainable() < net.parameters()) {
            (None, true) => {
                Err("are frozen in part; accepted is a SHA-256 of that part too".into())
            }
            (Some(_), false) => Err("have a SHA-256 of a frozen part; no layer is frozen".into()),
            _ => Ok(()),
        }
    }

    /// Reason why no training from this file can have released these tensors; `None` if one may.
    pub(crate) fn refuses(&self, net: &Net, found: &Tensors) -> Option<&'static str> {
        let flat = found.flat(net).ok()?;
        let differs = Self::of(net, &flat).frozen != self.frozen;
        differs.then_some("a frozen weight is not that of the public file that training began from")
    }
}

/// SHA-256 of weights, in hexadecimal: of their little-endian bytes.
pub fn digest(weights: &[f32]) -> String {
    let mut hash = Sha256::new();
    weights.iter().for_each(|weight| hash.update(weight.to_le_bytes()));
    hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

const BEGAN_FROM_RELEASE: Condition = Condition::new(
    "began-from-release",
    "weights began from a file (SHA-256 {sha256}) that was said to be public: the weights it began from were themselves \
     released under ε = {epsilon}, δ = {delta}, says the file; they are taken as public, and its records are not \
     protected here",
);
const BEGAN_FROM_PUBLIC: Condition = Condition::new(
    "began-from-public",
    "weights began from a file (SHA-256 {sha256}) that was said to be public: the weights it began from carry no \
     guarantee; they are taken as public, and its records are not protected here",
);
