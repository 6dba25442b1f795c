//! Description of a network, as written by a person: input, layers in order, loss.
//!
//! ```
//! let written = r#"
//!     loss = "cross-entropy"
//!     input = { channels = 1, height = 28, width = 28 }
//!     [[layers]]
//!     kind = "conv"
//!     out = 16
//!     kernel = 8
//!     stride = 2
//!     padding = 3
//!     [[layers]]
//!     kind = "relu"
//!     [[layers]]
//!     kind = "flatten"
//!     [[layers]]
//!     kind = "linear"
//!     out = 10
//! "#;
//! let description: privet_nn::Description = toml::from_str(written).unwrap();
//! let net = privet_nn::Net::new(&description).unwrap();
//! assert_eq!(net.parameters(), (8 * 8 * 16 + 16) + (14 * 14 * 16 * 10 + 10));
//! ```

use serde::{Deserialize, Serialize};

/// The network of the papers on handwritten digits, `examples/digits.toml`.
pub const DIGITS: &str = include_str!("../examples/digits.toml");

/// Description of a network. [`Net::new`](crate::Net::new) checks it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Description {
    /// Shape of one example.
    pub input: Input,
    /// Layers from the input to the outputs.
    pub layers: Vec<Layer>,
    /// The loss to minimise.
    #[serde(default)]
    pub loss: Loss,
}

/// Shape of one example.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged, deny_unknown_fields)]
pub enum Input {
    /// An image: values row by row, pixel by pixel, the channels of a pixel together.
    Image {
        /// Values per pixel: 1 for grey, 3 for colours.
        channels: usize,
        /// Rows of pixels.
        height: usize,
        /// Pixels per row.
        width: usize,
    },
    /// A vector of features.
    Features {
        /// The number of features.
        features: usize,
    },
}

/// One layer. A `frozen` layer keeps its initial weights and has no part in gradients, norms or sums.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
#[non_exhaustive]
pub enum Layer {
    /// Affine map: every output is a weighted sum of every input, plus a bias. Needs a flat input.
    Linear {
        /// The number of outputs.
        out: usize,
        /// True to keep the initial weights.
        #[serde(default, skip_serializing_if = "is_false")]
        frozen: bool,
    },
    /// Convolution with a square kernel, plus a bias per channel. Needs an image.
    Conv {
        /// Channels of the output.
        out: usize,
        /// Side of the kernel.
        kernel: usize,
        /// Step of the kernel in pixels.
        #[serde(default = "one")]
        stride: usize,
        /// Zeros added on each side.
        #[serde(default)]
        padding: usize,
        /// True to keep the initial weights.
        #[serde(default, skip_serializing_if = "is_false")]
        frozen: bool,
    },
    /// The rectifier, max(0, x).
    Relu,
    /// The hyperbolic tangent.
    Tanh,
    /// The maximum of each square of pixels.
    MaxPool {
        /// Side of the square.
        size: usize,
        /// Step between squares in pixels; equals `size` if absent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        stride: Option<usize>,
    },
    /// The mean of each square of pixels.
    AveragePool {
        /// Side of the square.
        size: usize,
        /// Step between squares in pixels; equals `size` if absent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        stride: Option<usize>,
    },
    /// Each group of an example's channels standardised to mean 0 and variance 1, then a scale and a
    /// shift per channel.
    GroupNorm {
        /// The number of groups; divides the channels.
        groups: usize,
        /// True to keep the initial scale and shift.
        #[serde(default, skip_serializing_if = "is_false")]
        frozen: bool,
    },
    /// An image as a flat vector.
    Flatten,
    /// Refused: an example's output depends on the others of the batch.
    BatchNorm,
}

impl Layer {
    /// Name of the kind in a description.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Linear { .. } => "linear",
            Self::Conv { .. } => "conv",
            Self::Relu => "relu",
            Self::Tanh => "tanh",
            Self::MaxPool { .. } => "max-pool",
            Self::AveragePool { .. } => "average-pool",
            Self::GroupNorm { .. } => "group-norm",
            Self::Flatten => "flatten",
            Self::BatchNorm => "batch-norm",
        }
    }
}

/// The loss of one example with outputs z.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Loss {
    /// Cross-entropy: log Σⱼ exp zⱼ − z_y, y the class.
    #[default]
    CrossEntropy,
    /// Logistic loss: Σⱼ log(1 + exp zⱼ) − yⱼzⱼ, y between 0 and 1; with one output it is logistic
    /// regression.
    Logistic,
    /// Squared loss: ½Σⱼ(zⱼ − yⱼ)².
    Squared,
}

fn one() -> usize {
    1
}

fn is_false(flag: &bool) -> bool {
    !flag
}
