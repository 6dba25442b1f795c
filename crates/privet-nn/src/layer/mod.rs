//! The layers, one file each: forward pass, backward pass, and gradient.

mod activation;
mod conv;
mod linear;
mod norm;
mod pool;

pub(crate) use activation::{relu, relu_back, tanh, tanh_back};
pub(crate) use conv::{Conv, NormMethod, PatchBuffers, Window, patches};
pub(crate) use linear::Linear;
pub(crate) use norm::GroupNorm;
pub(crate) use pool::{average, average_back, largest, largest_back};

use std::ops::Range;

/// Position of a tensor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TensorPosition {
    /// Index among the network's tensors.
    pub tensor: usize,
    /// Offset in the flat vector of weights.
    pub start: usize,
    /// The number of values.
    pub length: usize,
    /// True if it has a gradient.
    pub trained: bool,
    /// Offset among one example's stored gradients, if it is stored.
    pub kept: usize,
}

impl TensorPosition {
    pub fn range(&self) -> Range<usize> {
        self.start..self.start + self.length
    }

    pub fn kept_range(&self) -> Range<usize> {
        self.kept..self.kept + self.length
    }
}

/// A layer with checked shapes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Op {
    Linear(Linear),
    Conv(Conv),
    Relu,
    Tanh,
    MaxPool(Window),
    AveragePool(Window),
    GroupNorm(GroupNorm),
    Flatten,
}

impl Op {
    /// True if it has weights to train.
    pub fn trains(&self) -> bool {
        match self {
            Self::Linear(linear) => linear.weight.trained,
            Self::Conv(conv) => conv.weight.trained,
            Self::GroupNorm(norm) => norm.scale.trained,
            _ => false,
        }
    }

    pub fn places_mut(&mut self) -> Vec<&mut TensorPosition> {
        match self {
            Self::Linear(linear) => vec![&mut linear.weight, &mut linear.bias],
            Self::Conv(conv) => vec![&mut conv.weight, &mut conv.bias],
            Self::GroupNorm(norm) => vec![&mut norm.scale, &mut norm.shift],
            _ => vec![],
        }
    }

    /// The tensors whose gradient is multiplied out for every example; those of linear layers, and of
    /// convolutions by [`NormMethod::Factors`], stay in factors.
    pub fn multiplied_tensors(&self) -> Vec<&TensorPosition> {
        match self {
            _ if !self.trains() => vec![],
            Self::Conv(conv) if conv.rule == NormMethod::Formed => vec![&conv.weight, &conv.bias],
            Self::Conv(conv) => vec![&conv.bias],
            Self::GroupNorm(norm) => vec![&norm.scale, &norm.shift],
            _ => vec![],
        }
    }

    /// Assigns offsets among one example's stored gradients.
    pub fn assign_offsets(&mut self, next: &mut usize) {
        if !self.trains() {
            return;
        }
        let places = match self {
            Self::Conv(conv) if conv.rule == NormMethod::Formed => {
                vec![&mut conv.weight, &mut conv.bias]
            }
            Self::Conv(conv) => vec![&mut conv.bias],
            Self::GroupNorm(norm) => vec![&mut norm.scale, &mut norm.shift],
            _ => vec![],
        };
        for place in places {
            place.kept = *next;
            *next += place.length;
        }
    }
}
