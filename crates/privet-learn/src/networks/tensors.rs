//! What is released: the weights of a network, tensor after tensor.

use super::BALL;
use crate::release::support::Support;
use crate::release::task::Artefact;
use privet_nn::Net;
use serde::{Deserialize, Serialize, Serializer};
use sha2::{Digest, Sha256};
use std::ops::Range;

/// The weights of a network, tensor after tensor.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tensors {
    /// In the order of the layers.
    pub tensors: Vec<Tensor>,
}

/// One tensor of a network.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tensor {
    /// What it is called.
    pub name: String,
    /// Its sides.
    pub shape: Vec<usize>,
    /// Its numbers, row by row.
    #[serde(serialize_with = "widened")]
    pub values: Vec<f32>,
}

/// As numbers of 64 bits, exactly: the seal is taken of those.
fn widened<S: Serializer>(values: &[f32], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(values.iter().map(|value| f64::from(*value)))
}

impl Artefact for Tensors {
    const KIND: &'static str = "tensors";

    fn numbers(&self) -> Vec<f64> {
        self.tensors.iter().flat_map(|tensor| &tensor.values).map(|x| f64::from(*x)).collect()
    }
}

/// Where the tensors of a network are in the vector of its weights.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Layout {
    /// In the order of the layers.
    pub places: Vec<Place>,
    /// Weights that are trained: the first so many.
    pub trained: usize,
}

/// Where one tensor is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Place {
    pub name: String,
    pub shape: Vec<usize>,
    pub range: Range<usize>,
}

impl Layout {
    /// That of a network.
    pub fn of(net: &Net) -> Self {
        let place = |tensor: &privet_nn::Tensor| Place {
            name: tensor.name.clone(),
            shape: tensor.shape.clone(),
            range: tensor.range.clone(),
        };
        Self { places: net.tensors().iter().map(place).collect(), trained: net.trainable() }
    }

    /// The ranges of the tensors that are trained, ascending.
    pub fn trained_ranges(&self) -> Vec<Range<usize>> {
        let ranges = self.places.iter().map(|place| place.range.clone());
        ranges.filter(|range| range.end <= self.trained).collect()
    }

    /// All weights, cut into tensors.
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
    /// All of them in one vector, as the network has it, if they are those of this network; otherwise what
    /// differs.
    pub fn flat(&self, net: &Net) -> Result<Vec<f32>, String> {
        let known = net.tensors();
        if self.tensors.len() != known.len() {
            return Err(format!(
                "it has {} tensors, and the network has {}",
                self.tensors.len(),
                known.len()
            ));
        }
        // Before there is room for them: a file may describe a network far larger than what it holds.
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

    /// Why no training of this network that began there can have released them.
    pub(crate) fn refused(&self, net: &Net, begin: Option<&[f32]>) -> Option<&'static str> {
        let Ok(flat) = self.flat(net) else {
            return Some("its tensors are not those of the network");
        };
        let (trained, frozen) = flat.split_at(net.trainable());
        if begin.is_some_and(|begin| begin[net.trainable()..] != *frozen) {
            return Some("a frozen weight is not the one that training began from");
        }
        let trained = trained.iter().map(|x| f64::from(*x)).collect();
        // Weights are rounded to 24 bits when they are released.
        Support::Ball(BALL * (1.0 + 1e-6)).refuses(&[trained])
    }
}

/// A public file of weights, by what it holds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PublicFile {
    /// SHA-256 of all its weights, in hexadecimal ([`digest`]).
    pub sha256: String,
    /// The same of the weights that stay as they are, where a layer is frozen: what was released holds them, so
    /// that anyone can take it again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub frozen: Option<String>,
    /// ε and δ that the file itself claims; none where it claims nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub claims: Option<[f64; 2]>,
}

impl PublicFile {
    /// Of these weights of a network, frozen ones last.
    pub(crate) fn of(net: &Net, weights: &[f32]) -> Self {
        let frozen = weights.get(net.trainable()..).filter(|frozen| !frozen.is_empty());
        Self { sha256: digest(weights), frozen: frozen.map(digest), claims: None }
    }

    /// What a certificate says of it.
    pub(crate) fn note(&self) -> String {
        let own = match self.claims {
            Some([epsilon, delta]) => format!(
                "the weights it began from were themselves released under ε = {epsilon}, δ = {delta}, says the file"
            ),
            None => "the weights it began from carry no guarantee".into(),
        };
        format!(
            "weights began from a file (SHA-256 {}) that was said to be public: {own}; they are taken as public, and \
             its records are not protected here",
            self.sha256
        )
    }

    /// Whether these can be the digests of a file of such a network, or what is wrong with them.
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

    /// Why no training that began from this file can have released these.
    pub(crate) fn refuses(&self, net: &Net, found: &Tensors) -> Option<&'static str> {
        let flat = found.flat(net).ok()?;
        let differs = Self::of(net, &flat).frozen != self.frozen;
        differs.then_some("a frozen weight is not that of the public file that training began from")
    }
}

/// The SHA-256 of weights, in hexadecimal: of their little-endian bytes.
pub fn digest(weights: &[f32]) -> String {
    let mut hash = Sha256::new();
    weights.iter().for_each(|weight| hash.update(weight.to_le_bytes()));
    hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}
