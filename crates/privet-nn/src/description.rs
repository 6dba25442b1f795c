//! A network as a person writes it: what goes in, the layers in order, the loss.
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

/// The net of the papers on handwritten digits, as `examples/digits.toml` has it.
pub const DIGITS: &str = include_str!("../examples/digits.toml");

/// A network as a person writes it. [`Net::new`](crate::Net::new) checks it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Description {
    /// What one example is.
    pub input: Input,
    /// From the input to the outputs.
    pub layers: Vec<Layer>,
    /// What is minimised.
    #[serde(default)]
    pub loss: Loss,
}

/// What one example is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged, deny_unknown_fields)]
pub enum Input {
    /// An image, whose numbers stand row by row, pixel by pixel, the channels of a pixel together.
    Image {
        /// Numbers a pixel: 1 for grey, 3 for colours.
        channels: usize,
        /// Rows of pixels.
        height: usize,
        /// Pixels a row.
        width: usize,
    },
    /// A row of numbers.
    Features {
        /// How many.
        features: usize,
    },
}

/// One step from input to outputs. A `frozen` layer keeps the weights it is given: it has no part in
/// gradients, norms or sums.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
#[non_exhaustive]
pub enum Layer {
    /// Every output a weighted sum of every input, plus a bias. Wants a flat input.
    Linear {
        /// Outputs.
        out: usize,
        /// Keeps its weights.
        #[serde(default, skip_serializing_if = "is_false")]
        frozen: bool,
    },
    /// Convolution with a square kernel, plus a bias a channel. Wants an image.
    Conv {
        /// Channels of the output.
        out: usize,
        /// Side of the kernel.
        kernel: usize,
        /// Pixels from one place to the next.
        #[serde(default = "one")]
        stride: usize,
        /// Zeros on each side.
        #[serde(default)]
        padding: usize,
        /// Keeps its weights.
        #[serde(default, skip_serializing_if = "is_false")]
        frozen: bool,
    },
    /// max(0, x).
    Relu,
    /// The hyperbolic tangent.
    Tanh,
    /// The largest of each square of pixels.
    MaxPool {
        /// Side of the square.
        size: usize,
        /// Pixels from one square to the next; the side where nothing is said.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        stride: Option<usize>,
    },
    /// The mean of each square of pixels.
    AveragePool {
        /// Side of the square.
        size: usize,
        /// Pixels from one square to the next; the side where nothing is said.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        stride: Option<usize>,
    },
    /// Each group of an example's channels brought to mean 0 and variance 1, then a scale and a shift a channel.
    GroupNorm {
        /// Groups; divides the channels.
        groups: usize,
        /// Keeps its scale and shift.
        #[serde(default, skip_serializing_if = "is_false")]
        frozen: bool,
    },
    /// An image as a row of numbers.
    Flatten,
    /// Refused: an example's output depends on the others of the batch.
    BatchNorm,
}

impl Layer {
    /// The kind, as the description writes it.
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

/// What is minimised, for one example with outputs z.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Loss {
    /// log Σⱼ exp zⱼ − z_y, y the class.
    #[default]
    CrossEntropy,
    /// Σⱼ log(1 + exp zⱼ) − yⱼzⱼ, y between 0 and 1: one output is logistic regression.
    Logistic,
    /// ½Σⱼ(zⱼ − yⱼ)².
    Squared,
}

fn one() -> usize {
    1
}

fn is_false(flag: &bool) -> bool {
    !flag
}
