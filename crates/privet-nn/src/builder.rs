//! Builds layers from a description, checks their shapes, and places their tensors.

use crate::description::{Input, Layer};
use crate::error::NetError;
use crate::layer::{Conv, GroupNorm, Linear, NormMethod, Op, TensorPosition, Window};
use crate::net::Tensor;

/// Maximum number of parameters: beyond it the weights alone would take 8 GiB.
const MOST_PARAMETERS: usize = 1 << 31;
/// Maximum values of an example between two layers.
pub(crate) const MOST_NUMBERS: usize = 1 << 28;

/// Shape of one example between two layers.
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

pub(crate) fn input_shape(input: Input) -> Result<Shape, NetError> {
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

/// Converts layers one by one and collects their tensors.
#[derive(Default)]
pub(crate) struct Builder {
    pub layer: usize,
    pub kind: &'static str,
    tensors: Vec<Tensor>,
    fans: Vec<usize>,
}

impl Builder {
    pub(crate) fn refuse(&self, problem: String) -> NetError {
        NetError::Layer { layer: self.layer, kind: self.kind, problem }
    }

    fn image(&self, shape: Shape) -> Result<(usize, usize, usize), NetError> {
        match shape {
            Shape::Image { height, width, channels } => Ok((height, width, channels)),
            flat => Err(self.refuse(format!("it wants an image, and what comes in is {flat}"))),
        }
    }

    /// Adds a tensor; its position is set by [`Self::settle`], when all are known.
    fn tensor(
        &mut self,
        what: &str,
        shape: &[usize],
        frozen: bool,
        fan: usize,
    ) -> Result<TensorPosition, NetError> {
        let numbers = shape.iter().try_fold(1_usize, |product, &side| product.checked_mul(side));
        let Some(length) = numbers.filter(|&length| length <= MOST_PARAMETERS) else {
            return Err(self.refuse(format!("more than {MOST_PARAMETERS} weights")));
        };
        let index = self.tensors.len();
        let name = format!("{}.{}.{what}", self.layer, self.kind);
        self.tensors.push(Tensor { name, shape: shape.to_vec(), range: 0..length, frozen });
        self.fans.push(fan);
        Ok(TensorPosition { tensor: index, start: 0, length, trained: !frozen, kept: 0 })
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
        // A description may be hostile: no product of its numbers is taken unchecked.
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

    pub(crate) fn op(&mut self, layer: &Layer, shape: Shape) -> Result<(Op, Shape), NetError> {
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
                // The windows of an image are stored side by side.
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
                let rule = NormMethod::cheaper(window.places(), fan, out);
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

    /// Sets each tensor's position: trainable ones first.
    pub(crate) fn settle(
        mut self,
        ops: &mut [Op],
    ) -> Result<(usize, Vec<Tensor>, Vec<usize>), NetError> {
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
