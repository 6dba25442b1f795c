//! Why a network, a batch or a setting was refused.

/// What was refused, and what would be accepted. Carries public facts alone: nothing that was read from a
/// record decides one of these.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum NetError {
    /// A layer that does not fit what comes before it.
    #[error("layer {layer} ({kind}): {problem}")]
    Layer {
        /// Place in the description, from 1.
        layer: usize,
        /// The layer's kind, as the description writes it.
        kind: &'static str,
        /// What does not fit, with the numbers.
        problem: String,
    },
    /// A layer that mixes examples, so that no gradient belongs to one of them.
    #[error(
        "layer {layer} (batch-norm): it is refused, since its output for one example depends on the others of \
         the batch, and clipping an example's gradient then bounds nothing; use group-norm, which looks at one \
         example alone"
    )]
    MixesExamples {
        /// Place in the description, from 1.
        layer: usize,
    },
    /// The description as a whole.
    #[error("{0}")]
    Description(String),
    /// A vector of weights of another length than the network's.
    #[error("{given} weights were given to a network of {expected}")]
    Weights {
        /// The network's parameters.
        expected: usize,
        /// What was given.
        given: usize,
    },
    /// A batch that is not of the network's shape.
    #[error("{0}")]
    Batch(String),
    /// A norm to clip to that bounds nothing.
    #[error("a clip of {0} was given; accepted is a number above 1e-30 and below 1e30")]
    Clip(f64),
}
