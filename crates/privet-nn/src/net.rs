//! A checked network: shapes that fit, where each tensor is in the vector of weights, the rule of each layer.

use crate::description::{Description, Input, Layer, Loss};
use crate::error::NetError;
use crate::layer::{Conv, GroupNorm, Linear, Op, Place, Rule, Window};
use std::ops::Range;

/// More parameters than this are refused: the weights alone would take 8 GiB.
const MOST_PARAMETERS: usize = 1 << 31;
/// Numbers an example may have between two layers.
const MOST_NUMBERS: usize = 1 << 28;
/// Numbers of one piece's gradients that are kept until its clipping factors are known.
const KEPT: usize = 1 << 18;
/// Examples a piece at most.
const PIECE: usize = 16;

/// A tensor of weights, and where it is in the flat vector. Trainable tensors come first, in the order of the
/// layers, then the frozen ones: a sum of gradients has one number for each of the first
/// [`Net::trainable`] weights.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tensor {
    /// `1.conv.weight`: the layer's place in the description from 1, its kind, what it is.
    pub name: String,
    /// `[inputs, outputs]` of a linear layer, `[height, width, inputs, outputs]` of a convolution, else one length.
    pub shape: Vec<usize>,
    /// Where it is in the flat vector.
    pub range: Range<usize>,
    /// Keeps its weights.
    pub frozen: bool,
}

/// What goes from one layer to the next, for one example.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shape {
    Image { height: usize, width: usize, channels: usize },
    Flat(usize),
}

impl Shape {
    pub(crate) fn size(self) -> usize {
        match self {
            Self::Image { height, width, channels } => height * width * channels,
            Self::Flat(size) => size,
        }
    }
}

impl std::fmt::Display for Shape {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Image { height, width, channels } => {
                write!(f, "an image of {height} × {width} pixels with {channels} channels")
            }
            Self::Flat(size) => write!(f, "a row of {size} numbers"),
        }
    }
}

/// A network that can be evaluated, differentiated and clipped.
#[derive(Debug, Clone)]
pub struct Net {
    pub(crate) ops: Vec<Op>,
    /// What goes into each layer, then what comes out of the last.
    pub(crate) sizes: Vec<usize>,
    /// Which room each of those is in: functions of one number work in place.
    pub(crate) slots: Vec<usize>,
    pub(crate) loss: Loss,
    pub(crate) tensors: Vec<Tensor>,
    pub(crate) trainable: usize,
    /// First layer with something to train: slopes go back no further.
    pub(crate) lowest: usize,
    /// Numbers of an example's own gradient that are formed, beside those known by their factors.
    pub(crate) kept: usize,
    /// Examples that go through the layers together.
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
            op.keep(&mut kept);
        }
        let slots = slots(&ops);
        let widest = sizes.iter().copied().max().unwrap_or(1).max(kept);
        let piece = (KEPT / widest).clamp(1, PIECE);
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

    /// Weights, frozen ones included.
    pub fn parameters(&self) -> usize {
        self.tensors.iter().map(|tensor| tensor.range.len()).sum()
    }

    /// Weights that are trained: the first so many of the vector, and the length of every sum.
    pub fn trainable(&self) -> usize {
        self.trainable
    }

    /// Every tensor, in the order of the layers.
    pub fn tensors(&self) -> &[Tensor] {
        &self.tensors
    }

    /// Numbers an example has.
    pub fn inputs(&self) -> usize {
        self.sizes[0]
    }

    /// Numbers that are predicted: the classes, for cross-entropy.
    pub fn outputs(&self) -> usize {
        *self.sizes.last().expect("the input is there")
    }

    /// What is minimised.
    pub fn loss_kind(&self) -> Loss {
        self.loss
    }

    pub(crate) fn takes_classes(&self) -> bool {
        self.loss == Loss::CrossEntropy
    }

    /// Weights to begin with, a function of a *public* seed: uniform on ±1/√fan-in for linear layers and
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

/// A function of one number writes over its input, unless that is the result of another such function, which
/// needs it to go back. No other layer needs its own result, and none but this one its input once it is overwritten.
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

fn input_shape(input: Input) -> Result<Shape, NetError> {
    let (shape, numbers) = match input {
        Input::Image { channels, height, width } => (
            Shape::Image { height, width, channels },
            channels.checked_mul(height).and_then(|numbers| numbers.checked_mul(width)),
        ),
        Input::Features { features } => (Shape::Flat(features), Some(features)),
    };
    match numbers {
        Some(1..=MOST_NUMBERS) => Ok(shape),
        _ => Err(NetError::Description(format!(
            "the input is {shape}; accepted is one number at least and {MOST_NUMBERS} at most"
        ))),
    }
}

/// Goes through the layers and collects their tensors.
#[derive(Default)]
struct Builder {
    layer: usize,
    kind: &'static str,
    tensors: Vec<Tensor>,
    fans: Vec<usize>,
}

impl Builder {
    fn refuse(&self, problem: String) -> NetError {
        NetError::Layer { layer: self.layer, kind: self.kind, problem }
    }

    fn image(&self, shape: Shape) -> Result<(usize, usize, usize), NetError> {
        match shape {
            Shape::Image { height, width, channels } => Ok((height, width, channels)),
            flat => Err(self.refuse(format!("it wants an image, and what comes in is {flat}"))),
        }
    }

    /// A tensor, whose place is settled when all are known.
    fn tensor(
        &mut self,
        what: &str,
        shape: &[usize],
        frozen: bool,
        fan: usize,
    ) -> Result<Place, NetError> {
        let numbers = shape.iter().try_fold(1_usize, |product, &side| product.checked_mul(side));
        let Some(length) = numbers.filter(|&length| length <= MOST_PARAMETERS) else {
            return Err(self.refuse(format!("more than {MOST_PARAMETERS} weights")));
        };
        let index = self.tensors.len();
        let name = format!("{}.{}.{what}", self.layer, self.kind);
        self.tensors.push(Tensor { name, shape: shape.to_vec(), range: 0..length, frozen });
        self.fans.push(fan);
        Ok(Place { tensor: index, start: 0, length, trained: !frozen, kept: 0 })
    }

    fn window(
        &self,
        height: usize,
        width: usize,
        channels: usize,
        size: usize,
        stride: usize,
        padding: usize,
    ) -> Result<Window, NetError> {
        if size == 0 || stride == 0 {
            return Err(self.refuse(format!(
                "a side of {size} and a stride of {stride} were given; accepted is 1 and more"
            )));
        }
        if padding >= size {
            return Err(self.refuse(format!(
                "a padding of {padding} was given for a side of {size}; accepted is less than the side"
            )));
        }
        // A description may be anybody's: no product of its numbers is taken unchecked.
        let padded = |side: usize| padding.checked_mul(2).and_then(|both| side.checked_add(both));
        let product = |sides: [usize; 3]| {
            let all = sides.iter().try_fold(1_usize, |product, side| product.checked_mul(*side));
            all.filter(|numbers| *numbers <= MOST_NUMBERS)
        };
        let sides = padded(height).zip(padded(width));
        let fits = sides.filter(|(high, wide)| product([*high, *wide, channels]).is_some());
        let Some((high, wide)) = fits.filter(|_| product([size, size, channels]).is_some()) else {
            return Err(self.refuse(format!(
                "a side of {size} and a padding of {padding} were given for {height} × {width} pixels with {channels} \
                 channels; accepted are up to {MOST_NUMBERS} numbers in a window, and in an image with its padding"
            )));
        };
        if size > high || size > wide {
            return Err(self.refuse(format!(
                "a side of {size} does not fit into {height} × {width} pixels with a padding of {padding}"
            )));
        }
        let places = |padded: usize| (padded - size) / stride + 1;
        Ok(Window {
            height,
            width,
            channels,
            size,
            stride,
            padding,
            out_height: places(high),
            out_width: places(wide),
        })
    }

    fn op(&mut self, layer: &Layer, shape: Shape) -> Result<(Op, Shape), NetError> {
        Ok(match *layer {
            Layer::Linear { out, frozen } => {
                let Shape::Flat(inputs) = shape else {
                    return Err(self.refuse(format!(
                        "it wants a row of numbers, and what comes in is {shape}: flatten first"
                    )));
                };
                if out == 0 {
                    return Err(self.refuse("out is 0; accepted is 1 and more".into()));
                }
                let weight = self.tensor("weight", &[inputs, out], frozen, inputs)?;
                let bias = self.tensor("bias", &[out], frozen, inputs)?;
                (Op::Linear(Linear { inputs, outputs: out, weight, bias }), Shape::Flat(out))
            }
            Layer::Conv { out, kernel, stride, padding, frozen } => {
                let (height, width, channels) = self.image(shape)?;
                if out == 0 {
                    return Err(self.refuse("out is 0; accepted is 1 and more".into()));
                }
                let window = self.window(height, width, channels, kernel, stride, padding)?;
                let fan = window.patch();
                // The windows of an image are laid out side by side.
                let laid_out = window.places().checked_mul(fan);
                if laid_out.is_none_or(|numbers| numbers > MOST_NUMBERS) {
                    return Err(self.refuse(format!(
                        "its windows are {} of {fan} numbers; accepted are up to {MOST_NUMBERS} numbers in all",
                        window.places()
                    )));
                }
                let weight =
                    self.tensor("weight", &[kernel, kernel, channels, out], frozen, fan)?;
                let bias = self.tensor("bias", &[out], frozen, fan)?;
                let (height, width) = (window.out_height, window.out_width);
                let next = self.bounded(height, width, out)?;
                let rule = Rule::cheaper(window.places(), fan, out);
                (Op::Conv(Conv { window, outputs: out, weight, bias, rule }), next)
            }
            Layer::Relu => (Op::Relu, shape),
            Layer::Tanh => (Op::Tanh, shape),
            Layer::MaxPool { size, stride } | Layer::AveragePool { size, stride } => {
                let (height, width, channels) = self.image(shape)?;
                let window =
                    self.window(height, width, channels, size, stride.unwrap_or(size), 0)?;
                let next = self.bounded(window.out_height, window.out_width, channels)?;
                let op = match layer {
                    Layer::MaxPool { .. } => Op::MaxPool(window),
                    _ => Op::AveragePool(window),
                };
                (op, next)
            }
            Layer::GroupNorm { groups, frozen } => {
                let (places, channels) = match shape {
                    Shape::Image { height, width, channels } => (height * width, channels),
                    Shape::Flat(size) => (1, size),
                };
                if groups == 0 || !channels.is_multiple_of(groups) {
                    return Err(
                        self.refuse(format!("{groups} groups do not divide {channels} channels"))
                    );
                }
                let scale = self.tensor("scale", &[channels], frozen, 0)?;
                let shift = self.tensor("shift", &[channels], frozen, 0)?;
                (Op::GroupNorm(GroupNorm { places, channels, groups, scale, shift }), shape)
            }
            Layer::Flatten => (Op::Flatten, Shape::Flat(shape.size())),
            Layer::BatchNorm => return Err(NetError::MixesExamples { layer: self.layer }),
        })
    }

    fn bounded(&self, height: usize, width: usize, channels: usize) -> Result<Shape, NetError> {
        match height.checked_mul(width).and_then(|places| places.checked_mul(channels)) {
            Some(0..=MOST_NUMBERS) => Ok(Shape::Image { height, width, channels }),
            _ => {
                Err(self
                    .refuse(format!("more than {MOST_NUMBERS} numbers an example come out of it")))
            }
        }
    }

    /// Gives each tensor its place: trainable ones first.
    fn settle(mut self, ops: &mut [Op]) -> Result<(usize, Vec<Tensor>, Vec<usize>), NetError> {
        let lengths = self.tensors.iter().map(|tensor| tensor.range.len());
        let total = lengths.fold(0_usize, usize::saturating_add);
        if total > MOST_PARAMETERS {
            return Err(NetError::Description(format!(
                "{total} weights; accepted are {MOST_PARAMETERS}"
            )));
        }
        let mut next = 0;
        let mut trainable = 0;
        for frozen in [false, true] {
            for tensor in self.tensors.iter_mut().filter(|tensor| tensor.frozen == frozen) {
                let length = tensor.range.len();
                tensor.range = next..next + length;
                next += length;
            }
            if !frozen {
                trainable = next;
            }
        }
        for place in ops.iter_mut().flat_map(Op::places_mut) {
            place.start = self.tensors[place.tensor].range.start;
        }
        Ok((trainable, self.tensors, self.fans))
    }
}
