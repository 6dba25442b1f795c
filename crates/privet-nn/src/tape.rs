//! Forward and backward pass of a piece of a batch: each layer's inputs, and the derivative of the loss
//! at each output.

use crate::batch::Batch;
use crate::kernel::transpose;
use crate::layer::{self, NormMethod, Op, PatchBuffers};
use crate::loss::loss_and_slopes;
use crate::net::Net;

/// Weights, and the transposes that the backward pass needs.
pub(crate) struct Weights<'a> {
    pub flat: &'a [f32],
    transposed: Vec<Vec<f32>>,
}

impl<'a> Weights<'a> {
    /// For the forward pass alone.
    pub fn forward(flat: &'a [f32]) -> Self {
        Self { flat, transposed: Vec::new() }
    }

    /// With transposes down to the lowest trainable layer.
    pub fn both(net: &Net, flat: &'a [f32]) -> Self {
        let transposed = net.ops.iter().enumerate().map(|(index, op)| {
            let (rows, columns, place) = match op {
                _ if index <= net.lowest => return Vec::new(),
                Op::Linear(linear) => (linear.inputs, linear.outputs, &linear.weight),
                Op::Conv(conv) => (conv.window.patch(), conv.outputs, &conv.weight),
                _ => return Vec::new(),
            };
            let mut turned = vec![0.0; rows * columns];
            transpose(rows, columns, &flat[place.range()], &mut turned);
            turned
        });
        Self { flat, transposed: transposed.collect() }
    }
}

/// Destination of gradients in the backward pass.
pub(crate) enum Gradients<'a> {
    /// Each example's own, for tensors that are multiplied out; the others stay in factors.
    Kept(&'a mut [f32]),
    /// One sum, for all tensors.
    Summed(&'a mut [f32]),
}

/// Intermediate values of a piece.
#[derive(Default)]
pub(crate) struct Tape {
    /// Buffers for each layer's inputs and for the outputs; indexed by [`Net::slots`].
    rooms: Vec<Vec<f32>>,
    /// The derivative of the loss at each of those values.
    slope_rooms: Vec<Vec<f32>>,
    /// Index of the maximum in each pooling window.
    chosen: Vec<Vec<u32>>,
    /// 1 if the layer's constant input is part of the factors, else 0: see the clipped difference.
    pub constant: f64,
}

/// Buffers for patches, by layer, of the forward and the backward pass.
#[derive(Default)]
pub(crate) struct Patches {
    pub seen: Vec<PatchBuffers>,
    back: Vec<PatchBuffers>,
}

impl Patches {
    pub fn new(net: &Net) -> Self {
        let room = |op: &Op| match op {
            Op::Conv(conv) => PatchBuffers::new(&conv.window),
            _ => PatchBuffers::default(),
        };
        Self { seen: net.ops.iter().map(room).collect(), back: net.ops.iter().map(room).collect() }
    }

    /// The number of values in the buffers.
    pub fn numbers(&self) -> usize {
        self.seen.iter().chain(&self.back).map(PatchBuffers::numbers).sum()
    }
}

impl Tape {
    pub fn new(net: &Net) -> Self {
        let mut rooms: Vec<Vec<f32>> = Vec::new();
        for (&slot, size) in net.slots.iter().zip(&net.sizes) {
            if slot == rooms.len() {
                rooms.push(vec![0.0; size * net.piece]);
            }
        }
        let chosen = net.ops.iter().zip(&net.sizes[1..]).map(|(op, size)| match op {
            Op::MaxPool(_) => vec![0; size * net.piece],
            _ => Vec::new(),
        });
        Self { slope_rooms: rooms.clone(), rooms, chosen: chosen.collect(), constant: 1.0 }
    }

    /// The number of values in the buffers.
    pub fn numbers(&self) -> usize {
        let rooms: usize = self.rooms.iter().chain(&self.slope_rooms).map(Vec::len).sum();
        rooms + self.chosen.iter().map(Vec::len).sum::<usize>()
    }

    /// Inputs of layer `index`.
    pub fn values(&self, net: &Net, index: usize) -> &[f32] {
        &self.rooms[net.slots[index]]
    }

    /// Derivatives at the outputs of layer `index`.
    pub fn slopes(&self, net: &Net, index: usize) -> &[f32] {
        &self.slope_rooms[net.slots[index + 1]]
    }

    /// Both factors of a layer's gradient, mutably.
    pub fn factors_mut(&mut self, net: &Net, index: usize) -> (&mut [f32], &mut [f32]) {
        (&mut self.rooms[net.slots[index]], &mut self.slope_rooms[net.slots[index + 1]])
    }

    /// Forward pass of examples `first .. first + count` of the batch, up to the outputs.
    pub fn forward(
        &mut self,
        net: &Net,
        weights: &Weights,
        batch: &Batch,
        first: usize,
        count: usize,
        patches: &mut Patches,
    ) {
        let width = net.inputs();
        for (example, row) in self.rooms[0][..count * width].chunks_exact_mut(width).enumerate() {
            row.copy_from_slice(batch.input(first + example, width));
        }
        for (index, op) in net.ops.iter().enumerate() {
            let (into, out) = (net.sizes[index], net.sizes[index + 1]);
            if let Op::Relu | Op::Tanh | Op::Flatten = op {
                let values = copied_buffer(
                    &mut self.rooms,
                    net.slots[index],
                    net.slots[index + 1],
                    count * out,
                );
                match op {
                    Op::Relu => layer::relu(values),
                    Op::Tanh => layer::tanh(values),
                    _ => {}
                }
                continue;
            }
            let (before, after) = self.rooms.split_at_mut(net.slots[index + 1]);
            let input = &before[net.slots[index]][..count * into];
            let output = &mut after[0][..count * out];
            if let Op::Linear(linear) = op {
                linear.forward(weights.flat, count, input, output);
                continue;
            }
            for (example, (input, output)) in
                input.chunks_exact(into).zip(output.chunks_exact_mut(out)).enumerate()
            {
                match op {
                    Op::Conv(conv) => {
                        conv.forward(weights.flat, input, output, &mut patches.seen[index])
                    }
                    Op::MaxPool(window) => {
                        let chosen = &mut self.chosen[index][example * out..(example + 1) * out];
                        layer::largest(window, input, output, chosen);
                    }
                    Op::AveragePool(window) => layer::average(window, input, output),
                    Op::GroupNorm(norm) => norm.forward(weights.flat, input, output),
                    Op::Linear(_) | Op::Relu | Op::Tanh | Op::Flatten => {
                        unreachable!("handled above")
                    }
                }
            }
        }
    }

    /// Outputs of a piece after its forward pass.
    pub fn outputs(&self, net: &Net, count: usize) -> &[f32] {
        &self.values(net, net.ops.len())[..count * net.outputs()]
    }

    /// Backward pass from the loss to the lowest trainable layer.
    pub fn back(
        &mut self,
        net: &Net,
        weights: &Weights,
        batch: &Batch,
        first: usize,
        count: usize,
        patches: &mut Patches,
        mut gradients: Gradients,
    ) {
        let last = *net.slots.last().expect("the input is there");
        let outputs = net.outputs();
        for example in 0..count {
            let range = example * outputs..(example + 1) * outputs;
            let slopes = &mut self.slope_rooms[last][range.clone()];
            loss_and_slopes(
                net.loss,
                batch,
                first + example,
                &self.rooms[last][range],
                Some(slopes),
            );
        }
        for (index, op) in net.ops.iter().enumerate().skip(net.lowest).rev() {
            let (into, out) = (net.sizes[index], net.sizes[index + 1]);
            let (from, to) = (net.slots[index + 1], net.slots[index]);
            if let Op::Relu | Op::Tanh | Op::Flatten = op {
                let slopes = copied_buffer(&mut self.slope_rooms, from, to, count * into);
                match op {
                    Op::Relu => layer::relu_back(&self.rooms[from][..count * out], slopes),
                    Op::Tanh => layer::tanh_back(&self.rooms[from][..count * out], slopes),
                    _ => {}
                }
                continue;
            }
            let (before, after) = self.slope_rooms.split_at_mut(from);
            let slopes = &after[0][..count * out];
            let target = &mut before[to][..count * into];
            let input = &self.rooms[to][..count * into];
            let further = index > net.lowest;
            if let Op::Linear(linear) = op {
                if let (Gradients::Summed(sum), true) = (&mut gradients, op.trains()) {
                    linear.add(count, input, slopes, sum, true);
                }
                if further {
                    linear.back(&weights.transposed[index], count, slopes, target);
                }
                continue;
            }
            for example in 0..count {
                let wide = example * out..(example + 1) * out;
                let narrow = example * into..(example + 1) * into;
                let (input, slopes) = (&input[narrow.clone()], &slopes[wide.clone()]);
                let target = &mut target[narrow];
                gradient_of_one(
                    op,
                    net,
                    example,
                    input,
                    slopes,
                    &mut patches.seen[index],
                    &mut gradients,
                );
                match op {
                    _ if !further => {}
                    Op::Conv(conv) => conv.back(
                        &weights.transposed[index],
                        slopes,
                        target,
                        &mut patches.back[index],
                    ),
                    Op::MaxPool(window) => {
                        layer::largest_back(window, &self.chosen[index][wide], slopes, target)
                    }
                    Op::AveragePool(window) => layer::average_back(window, slopes, target),
                    Op::GroupNorm(norm) => norm.back(weights.flat, input, slopes, target),
                    Op::Linear(_) | Op::Relu | Op::Tanh | Op::Flatten => {
                        unreachable!("handled above")
                    }
                }
            }
        }
    }
}

/// The first `count` values of buffer `to`, copied from buffer `from` if that is another.
fn copied_buffer(rooms: &mut [Vec<f32>], from: usize, to: usize, count: usize) -> &mut [f32] {
    if from != to {
        let [source, target] = rooms.get_disjoint_mut([from, to]).expect("two rooms");
        target[..count].copy_from_slice(&source[..count]);
    }
    &mut rooms[to][..count]
}

/// Adds or writes one example's gradient of a layer in the tensors that are multiplied out, or in the
/// sum.
fn gradient_of_one(
    op: &Op,
    net: &Net,
    example: usize,
    input: &[f32],
    slopes: &[f32],
    seen: &mut PatchBuffers,
    gradients: &mut Gradients,
) {
    if !op.trains() {
        return;
    }
    let own = |kept: usize| example * net.kept + kept;
    match (op, gradients) {
        (Op::Conv(conv), Gradients::Summed(sum)) => {
            layer::patches(&conv.window, input, seen);
            conv.weight_gradient(seen, slopes, &mut sum[conv.weight.range()], true);
            conv.bias_gradient(slopes, &mut sum[conv.bias.range()], true);
        }
        (Op::Conv(conv), Gradients::Kept(kept)) => {
            if conv.rule == NormMethod::Formed {
                layer::patches(&conv.window, input, seen);
                let place = own(conv.weight.kept)..own(conv.weight.kept) + conv.weight.length;
                conv.weight_gradient(seen, slopes, &mut kept[place], false);
            }
            let place = own(conv.bias.kept)..own(conv.bias.kept) + conv.bias.length;
            conv.bias_gradient(slopes, &mut kept[place], false);
        }
        (Op::GroupNorm(norm), Gradients::Summed(sum)) => {
            let (scale, shift) = sum[norm.scale.start..].split_at_mut(norm.channels);
            norm.gradient(input, slopes, scale, &mut shift[..norm.channels], true);
        }
        (Op::GroupNorm(norm), Gradients::Kept(kept)) => {
            let (scale, shift) = kept[own(norm.scale.kept)..].split_at_mut(norm.channels);
            norm.gradient(input, slopes, scale, &mut shift[..norm.channels], false);
        }
        _ => {}
    }
}
