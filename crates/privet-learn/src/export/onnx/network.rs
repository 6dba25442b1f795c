//! A network as ONNX: raw columns as inputs, as for linear models, then layer by layer in single
//! precision, as privet computes.
//!
//! Images have the shape (example, channel, row, column), as ONNX's operators require; privet keeps the
//! channels of a pixel together, so they are transposed at the start and back where they are flattened.
//! Group norm is written out in elementary operators, since ONNX has an operator of its own only from
//! version 18 on. Sums are computed in another order than privet's: outputs agree to about six digits.

use super::super::protobuf::{self, Element, Message};
use super::super::{Factor, Outcome, Probabilities, refuse};
use super::{Graph, names_are_free};
use crate::error::LearnError;
use crate::networks::{Network, TrainedNetwork};
use crate::release::task::Task as _;
use privet_data::encode::Encoding;
use privet_data::schema::TargetKind;
use privet_nn::{Input, Layer, Loss};

/// Added to a variance, as by `privet_nn`.
const FLOOR: f32 = 1e-5;

/// Shape of one example between two layers.
#[derive(Debug, Clone, Copy)]
enum Shape {
    Image { height: usize, width: usize, channels: usize },
    Flat(usize),
}

/// The network as an ONNX file.
pub fn network(model: &TrainedNetwork) -> Result<Vec<u8>, LearnError> {
    let request = model.request();
    let facts = Network::facts(request)?;
    let recipe = match Encoding::new(&request.schema).recipe(&request.schema) {
        Ok(recipe) => recipe,
        Err(why) => return refuse(why),
    };
    names_are_free(&recipe)?;
    let unfit = |why: String| LearnError::Export(why);
    let weights = model.artefact().flat(&facts.net).map_err(unfit)?;
    let factor = Factor::of(&recipe)?;
    let mut graph = Graph::default();
    let row = graph.row(&recipe);
    let constant = recipe.constant.map_or(0.0, |(_, value)| value);
    let squares = graph.squares(&row, facts.inputs, constant);
    let factor = graph.factor(factor, &squares);
    let row = graph.node("Mul", &[&row, &factor]);
    let row = graph.times(&row, facts.scale);
    let row = graph.plus(&row, facts.shift);
    let row = graph.cast(&row, Element::Float);
    let tensor = |layer: usize, what: &str| -> Result<&[f32], LearnError> {
        let named = |name: &str| {
            name.starts_with(&format!("{layer}.")) && name.ends_with(&format!(".{what}"))
        };
        let found = facts.net.tensors().iter().find(|tensor| named(&tensor.name));
        found
            .and_then(|tensor| weights.get(tensor.range.clone()))
            .ok_or_else(|| LearnError::Export(format!("layer {layer} has no {what}")))
    };
    let (mut value, mut shape) = match request.task.net.input {
        Input::Features { features } => (row, Shape::Flat(features)),
        Input::Image { channels, height, width } => {
            let sides = [-1, height as i64, width as i64, channels as i64];
            let image = graph.reshaped(&row, &sides);
            (graph.transpose(&image, &[0, 3, 1, 2]), Shape::Image { height, width, channels })
        }
    };
    for (place, layer) in request.task.net.layers.iter().enumerate() {
        let number = place + 1;
        (value, shape) = match (layer, shape) {
            (Layer::Relu, shape) => (graph.node("Relu", &[&value]), shape),
            (Layer::Tanh, shape) => (graph.node("Tanh", &[&value]), shape),
            (Layer::Linear { out, .. }, Shape::Flat(inputs)) => {
                let weight = graph.floats(&[inputs, *out], tensor(number, "weight")?);
                let bias = graph.floats(&[1, *out], tensor(number, "bias")?);
                let sums = graph.node("MatMul", &[&value, &weight]);
                (graph.node("Add", &[&sums, &bias]), Shape::Flat(*out))
            }
            (
                Layer::Conv { out, kernel, stride, padding, .. },
                Shape::Image { height, width, channels },
            ) => {
                let own = tensor(number, "weight")?;
                let side = *kernel;
                // From (row, column, input, output) to (output, input, row, column).
                let at = |o: usize, i: usize, y: usize, x: usize| {
                    own[((y * side + x) * channels + i) * out + o]
                };
                let mut turned = Vec::with_capacity(own.len());
                for o in 0..*out {
                    for i in 0..channels {
                        turned.extend((0..side * side).map(|p| at(o, i, p / side, p % side)));
                    }
                }
                let weight = graph.floats(&[*out, channels, side, side], &turned);
                let bias = graph.floats(&[*out], tensor(number, "bias")?);
                let mut attributes = window(side, *stride);
                attributes.push(protobuf::attribute_integers("pads", &[*padding as i64; 4]));
                let sums = graph.node_with("Conv", &[&value, &weight, &bias], &attributes);
                let after = |length: usize| (length + 2 * padding - side) / stride + 1;
                (sums, Shape::Image { height: after(height), width: after(width), channels: *out })
            }
            (
                Layer::MaxPool { size, stride } | Layer::AveragePool { size, stride },
                Shape::Image { height, width, channels },
            ) => {
                let step = stride.unwrap_or(*size);
                let operator = match layer {
                    Layer::MaxPool { .. } => "MaxPool",
                    _ => "AveragePool",
                };
                let pooled = graph.node_with(operator, &[&value], &window(*size, step));
                let after = |length: usize| (length - size) / step + 1;
                (pooled, Shape::Image { height: after(height), width: after(width), channels })
            }
            (Layer::GroupNorm { groups, .. }, shape) => {
                let (scale, shift) = (tensor(number, "scale")?, tensor(number, "shift")?);
                (graph.group_norm(&value, shape, *groups, scale, shift), shape)
            }
            (Layer::Flatten, Shape::Image { height, width, channels }) => {
                let size = height * width * channels;
                let turned = graph.transpose(&value, &[0, 2, 3, 1]);
                (graph.reshaped(&turned, &[-1, size as i64]), Shape::Flat(size))
            }
            (Layer::Flatten, shape) => (value, shape),
            (layer, _) => return refuse(&format!("layer {number} is a {}", layer.kind())),
        };
    }
    let scores = graph.cast(&value, Element::Double);
    let scores = graph.or_nothing(&scores);
    let outcome = match &request.schema.target().kind {
        TargetKind::Number { low, high } => {
            Outcome::Number { low: *low, high: *high, poisson: None }
        }
        TargetKind::Classes(names) => {
            let chances = match request.task.net.loss {
                Loss::Logistic => Probabilities::Sigmoid,
                _ => Probabilities::Softmax,
            };
            Outcome::Classes { names: names.clone(), chances: Some(chances) }
        }
    };
    graph.outcome(&outcome, facts.net.outputs(), &scores);
    graph.file(model.certificate())
}

/// Attributes of a square window and its stride.
fn window(side: usize, stride: usize) -> Vec<Message> {
    vec![
        protobuf::attribute_integers("kernel_shape", &[side as i64; 2]),
        protobuf::attribute_integers("strides", &[stride as i64; 2]),
    ]
}

impl Graph {
    fn floats(&mut self, shape: &[usize], values: &[f32]) -> String {
        let name = self.name("constant");
        self.constants.push(protobuf::floats(&name, shape, values));
        name
    }

    fn cast(&mut self, value: &str, element: Element) -> String {
        self.node_with("Cast", &[value], &[protobuf::attribute("to", element as i64)])
    }

    fn reshaped(&mut self, value: &str, sides: &[i64]) -> String {
        let sides = self.integers(sides);
        self.node("Reshape", &[value, &sides])
    }

    fn transpose(&mut self, value: &str, order: &[i64]) -> String {
        self.node_with("Transpose", &[value], &[protobuf::attribute_integers("perm", order)])
    }

    /// Normalises each group of an example's channels to mean 0 and variance 1, then applies a scale and
    /// a shift for each channel.
    fn group_norm(
        &mut self,
        value: &str,
        shape: Shape,
        groups: usize,
        scale: &[f32],
        shift: &[f32],
    ) -> String {
        let (places, channels) = match shape {
            Shape::Image { height, width, channels } => (height * width, channels),
            Shape::Flat(size) => (1, size),
        };
        let each = (places * channels / groups) as i64;
        let grouped = self.reshaped(value, &[-1, groups as i64, each]);
        let over = [protobuf::attribute_integers("axes", &[2]), protobuf::attribute("keepdims", 1)];
        let mean = self.node_with("ReduceMean", &[&grouped], &over);
        let apart = self.node("Sub", &[&grouped, &mean]);
        let squares = self.node("Mul", &[&apart, &apart]);
        let variance = self.node_with("ReduceMean", &[&squares], &over);
        let floor = self.floats(&[1, 1, 1], &[FLOOR]);
        let variance = self.node("Add", &[&variance, &floor]);
        let length = self.node("Sqrt", &[&variance]);
        let normal = self.node("Div", &[&apart, &length]);
        let (back, own): (Vec<i64>, Vec<usize>) = match shape {
            Shape::Image { height, width, channels } => {
                (vec![-1, channels as i64, height as i64, width as i64], vec![1, channels, 1, 1])
            }
            Shape::Flat(size) => (vec![-1, size as i64], vec![1, size]),
        };
        let normal = self.reshaped(&normal, &back);
        let scale = self.floats(&own, scale);
        let shift = self.floats(&own, shift);
        let scaled = self.node("Mul", &[&normal, &scale]);
        self.node("Add", &[&scaled, &shift])
    }
}
