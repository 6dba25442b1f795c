//! The layers: a file each, forward, backward, and what its gradient is made of.

mod activation;
mod conv;
mod linear;
mod norm;
mod pool;

pub(crate) use activation::{relu, relu_back, tanh, tanh_back};
pub(crate) use conv::{Conv, Rule, Seen, Window, patches};
pub(crate) use linear::Linear;
pub(crate) use norm::GroupNorm;
pub(crate) use pool::{average, average_back, largest, largest_back};

use std::ops::Range;

/// Where a tensor is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Place {
    /// Among the network's tensors.
    pub tensor: usize,
    /// In the flat vector.
    pub start: usize,
    /// Numbers.
    pub length: usize,
    /// Has a gradient.
    pub trained: bool,
    /// Among the gradients of one example that are formed, where it is one of them.
    pub kept: usize,
}

impl Place {
    pub fn range(&self) -> Range<usize> {
        self.start..self.start + self.length
    }

    pub fn kept_range(&self) -> Range<usize> {
        self.kept..self.kept + self.length
    }
}

/// A layer with its shapes known.
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
    /// Has weights that are trained.
    pub fn trains(&self) -> bool {
        match self {
            Self::Linear(linear) => linear.weight.trained,
            Self::Conv(conv) => conv.weight.trained,
            Self::GroupNorm(norm) => norm.scale.trained,
            _ => false,
        }
    }

    pub fn places_mut(&mut self) -> Vec<&mut Place> {
        match self {
            Self::Linear(linear) => vec![&mut linear.weight, &mut linear.bias],
            Self::Conv(conv) => vec![&mut conv.weight, &mut conv.bias],
            Self::GroupNorm(norm) => vec![&mut norm.scale, &mut norm.shift],
            _ => vec![],
        }
    }

    /// The tensors whose gradient is formed for every example; those of linear layers, and of convolutions by
    /// [`Rule::Factors`], are known by their factors.
    pub fn formed(&self) -> Vec<&Place> {
        match self {
            _ if !self.trains() => vec![],
            Self::Conv(conv) if conv.rule == Rule::Formed => vec![&conv.weight, &conv.bias],
            Self::Conv(conv) => vec![&conv.bias],
            Self::GroupNorm(norm) => vec![&norm.scale, &norm.shift],
            _ => vec![],
        }
    }

    /// Gives the formed tensors a place among an example's gradients.
    pub fn keep(&mut self, next: &mut usize) {
        if !self.trains() {
            return;
        }
        let places = match self {
            Self::Conv(conv) if conv.rule == Rule::Formed => vec![&mut conv.weight, &mut conv.bias],
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
