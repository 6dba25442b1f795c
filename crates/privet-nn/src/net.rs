//! A checked network: shapes, positions of tensors in the vector of weights, norm method of each layer.

use crate::builder::{Builder, MOST_NUMBERS, Shape, input_shape};
use crate::description::{Description, Loss};
use crate::error::NetError;
use crate::layer::Op;
use std::ops::Range;

/// Maximum number of gradient values stored for one piece until its clipping factors are known.
const STORED_GRADIENT_VALUES: usize = 1 << 18;
/// Maximum examples of a piece.
const EXAMPLES_PER_PIECE: usize = 16;

/// A tensor of weights, and its position in the flat vector. Trainable tensors come first, in the order
/// of the layers, then the frozen ones: a sum of gradients has one coordinate for each of the first
/// [`Net::trainable`] weights.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tensor {
    /// Name, as in `1.conv.weight`: the layer's number in the description from 1, its kind, and the
    /// tensor.
    pub name: String,
    /// `[inputs, outputs]` of a linear layer, `[height, width, inputs, outputs]` of a convolution, else
    /// one length.
    pub shape: Vec<usize>,
    /// Indices in the flat vector.
    pub range: Range<usize>,
    /// True if it keeps its initial weights.
    pub frozen: bool,
}

/// A network that can be evaluated, differentiated and clipped.
#[derive(Debug, Clone)]
pub struct Net {
    pub(crate) ops: Vec<Op>,
    /// Values of an example at the input of each layer, then at the output of the last.
    pub(crate) sizes: Vec<usize>,
    /// Index of the buffer for each of these: elementwise layers work in place.
    pub(crate) slots: Vec<usize>,
    pub(crate) loss: Loss,
    pub(crate) tensors: Vec<Tensor>,
    pub(crate) trainable: usize,
    /// Lowest layer with weights to train: derivatives are propagated back no further.
    pub(crate) lowest: usize,
    /// The number of gradient values multiplied out per example, beside those in factors.
    pub(crate) kept: usize,
    /// The number of examples processed together.
    pub(crate) piece: usize,
    fans: Vec<usize>,
}

impl Net {
    /// Checks that the layers fit together.
    pub fn new(description: &Description) -> Result<Self, NetError> {
        let mut shape = input_shape(description.input)?;
        let mut builder = Builder::default();
        let mut ops = Vec::new();
        let mut sizes = vec![shape.size()];
        for (index, layer) in description.layers.iter().enumerate() {
            builder.layer = index + 1;
            builder.kind = layer.kind();
            let (op, next) = builder.op(layer, shape)?;
            if next.size() == 0 || next.size() > MOST_NUMBERS {
                return Err(
                    builder.refuse(format!("{} numbers an example come out of it", next.size()))
                );
            }
            ops.push(op);
            sizes.push(next.size());
            shape = next;
        }
        let Shape::Flat(outputs) = shape else {
            return Err(NetError::Description(format!(
                "the last layer gives {shape}; accepted is a row of numbers: end with flatten and linear"
            )));
        };
        if description.loss == Loss::CrossEntropy && outputs < 2 {
            return Err(NetError::Description(
                "cross-entropy was asked of one output; accepted are two or more, or the loss \"logistic\"".into(),
            ));
        }
        let lowest = ops.iter().position(Op::trains).ok_or_else(|| {
            NetError::Description("no layer has weights to train; accepted is at least one".into())
        })?;
        let (trainable, tensors, fans) = builder.settle(&mut ops)?;
        let mut kept = 0;
        for op in &mut ops {
            op.assign_offsets(&mut kept);
        }
        let slots = slots(&ops);
        let widest = sizes.iter().copied().max().unwrap_or(1).max(kept);
        let piece = (STORED_GRADIENT_VALUES / widest).clamp(1, EXAMPLES_PER_PIECE);
        Ok(Self {
            ops,
            sizes,
            slots,
            loss: description.loss,
            tensors,
            trainable,
            lowest,
            kept,
            piece,
            fans,
        })
    }

    /// The number of weights, frozen ones included.
    pub fn parameters(&self) -> usize {
        self.tensors.iter().map(|tensor| tensor.range.len()).sum()
    }

    /// The number of trained weights: the first ones of the vector, and the length of every sum.
    pub fn trainable(&self) -> usize {
        self.trainable
    }

    /// Every tensor, in the order of the layers.
    pub fn tensors(&self) -> &[Tensor] {
        &self.tensors
    }

    /// The number of input values per example.
    pub fn inputs(&self) -> usize {
        self.sizes[0]
    }

    /// The number of outputs: for cross-entropy, the classes.
    pub fn outputs(&self) -> usize {
        *self.sizes.last().expect("the input is there")
    }

    /// The loss to minimise.
    pub fn loss_kind(&self) -> Loss {
        self.loss
    }

    pub(crate) fn takes_classes(&self) -> bool {
        self.loss == Loss::CrossEntropy
    }

    /// Initial weights, a function of a *public* seed: uniform on ±1/√fan-in for linear layers and
    /// convolutions (weights and biases), scale 1 and shift 0 for group norm. The same on every machine.
    pub fn initial(&self, seed: u64) -> Vec<f32> {
        let mut weights = vec![0.0; self.parameters()];
        for ((tensor, &fan), number) in self.tensors.iter().zip(&self.fans).zip(0_u64..) {
            let place = &mut weights[tensor.range.clone()];
            if fan == 0 {
                place.fill(if tensor.name.ends_with("scale") { 1.0 } else { 0.0 });
                continue;
            }
            let bound = 1.0 / (fan as f64).sqrt();
            let mut state = seed ^ number.wrapping_mul(0xd134_2543_de82_ef95);
            for weight in place {
                *weight = (bound * (2.0 * uniform(&mut state) - 1.0)) as f32;
            }
        }
        weights
    }

    pub(crate) fn check_weights(&self, weights: &[f32]) -> Result<(), NetError> {
        let expected = self.parameters();
        if weights.len() == expected {
            Ok(())
        } else {
            Err(NetError::Weights { expected, given: weights.len() })
        }
    }
}

/// SplitMix64 (Steele, Lea & Flood 2014), then 53 bits in [0, 1).
fn uniform(state: &mut u64) -> f64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut mixed = *state;
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^= mixed >> 31;
    (mixed >> 11) as f64 / (1_u64 << 53) as f64
}

/// Assigns buffers. An elementwise layer overwrites its input, unless that is the result of another such
/// layer, whose backward pass needs it. No other layer needs its own result, and none but this one its
/// input once it is overwritten.
fn slots(ops: &[Op]) -> Vec<usize> {
    let mut slots = vec![0];
    let (mut slot, mut needed) = (0, false);
    for op in ops {
        let in_place = match op {
            Op::Flatten => true,
            Op::Relu | Op::Tanh => !needed,
            _ => false,
        };
        slot += usize::from(!in_place);
        needed = matches!(op, Op::Relu | Op::Tanh) || (needed && matches!(op, Op::Flatten));
        slots.push(slot);
    }
    slots
}
