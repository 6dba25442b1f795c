//! Errors of networks, batches and settings.

/// A refusal, with the accepted values. Carries public facts alone: no value of a record decides one of
/// these.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum NetError {
    /// A layer does not fit the one before it.
    #[error("layer {layer} ({kind}): {problem}")]
    Layer {
        /// Number of the layer in the description, from 1.
        layer: usize,
        /// Name of the layer's kind in the description.
        kind: &'static str,
        /// The mismatch, with the numbers.
        problem: String,
    },
    /// A layer mixes examples, so that no gradient belongs to one of them.
    #[error(
        "layer {layer} (batch-norm): it is refused, since its output for one example depends on the others of \
         the batch, and clipping an example's gradient then bounds nothing; use group-norm, which looks at one \
         example alone"
    )]
    MixesExamples {
        /// Number of the layer in the description, from 1.
        layer: usize,
    },
    /// The description as a whole is not accepted.
    #[error("{0}")]
    Description(String),
    /// The vector of weights has another length than the network's.
    #[error("{given} weights were given to a network of {expected}")]
    Weights {
        /// The number of weights of the network.
        expected: usize,
        /// Length of the vector given.
        given: usize,
    },
    /// The batch does not have the network's shape.
    #[error("{0}")]
    Batch(String),
    /// The clipping norm is out of range.
    #[error("a clip of {0} was given; accepted is a number above 1e-30 and below 1e30")]
    Clip(f64),
}
