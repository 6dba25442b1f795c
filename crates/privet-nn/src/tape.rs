//! A piece of a batch through the layers and back: what each layer saw, and the slope of the loss at each output.

use crate::batch::Batch;
use crate::kernel::transpose;
use crate::layer::{self, Op, Rule};
use crate::loss::loss_and_slopes;
use crate::net::Net;

/// Weights, and the transposes that going back wants.
pub(crate) struct Weights<'a> {
    pub flat: &'a [f32],
    transposed: Vec<Vec<f32>>,
}

impl<'a> Weights<'a> {
    /// For going forward alone.
    pub fn forward(flat: &'a [f32]) -> Self {
        Self { flat, transposed: Vec::new() }
    }

    /// For going back as far as there is something to train.
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

/// Where gradients go while a piece goes back.
pub(crate) enum Gradients<'a> {
    /// Each example's own, for tensors that are formed; the rest is known by its factors.
    Kept(&'a mut [f32]),
    /// One sum, for all tensors.
    Summed(&'a mut [f32]),
}

/// What a piece left behind on its way.
#[derive(Default)]
pub(crate) struct Tape {
    /// What goes into each layer, then the outputs.
    pub values: Vec<Vec<f32>>,
    /// The slope of the loss at each of those.
    pub slopes: Vec<Vec<f32>>,
    /// Which pixel was the largest.
    chosen: Vec<Vec<u32>>,
    /// 1 where the layer's constant input is part of the factors: see the clipped difference.
    pub constant: f64,
}

/// Room for patches, whose padding stays zero.
#[derive(Default)]
pub(crate) struct Patches {
    pub seen: Vec<Vec<f32>>,
    back: Vec<f32>,
}

impl Patches {
    pub fn new(net: &Net) -> Self {
        let numbers = |op: &Op| match op {
            Op::Conv(conv) => conv.window.places() * conv.window.patch(),
            _ => 0,
        };
        let seen: Vec<_> = net.ops.iter().map(|op| vec![0.0; numbers(op)]).collect();
        let back = seen.iter().map(Vec::len).max().unwrap_or(0);
        Self { seen, back: vec![0.0; back] }
    }
}

impl Tape {
    pub fn new(net: &Net) -> Self {
        let room = |&size: &usize| vec![0.0; size * net.piece];
        let chosen = net.ops.iter().zip(&net.sizes[1..]).map(|(op, size)| match op {
            Op::MaxPool(_) => vec![0; size * net.piece],
            _ => Vec::new(),
        });
        Self {
            values: net.sizes.iter().map(room).collect(),
            slopes: net.sizes.iter().map(room).collect(),
            chosen: chosen.collect(),
            constant: 1.0,
        }
    }

    /// Examples `first .. first + count` of the batch, as far as the outputs.
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
        for (example, row) in self.values[0][..count * width].chunks_exact_mut(width).enumerate() {
            row.copy_from_slice(batch.input(first + example, width));
        }
        for (index, op) in net.ops.iter().enumerate() {
            let (before, after) = self.values.split_at_mut(index + 1);
            let (into, out) = (net.sizes[index], net.sizes[index + 1]);
            let input = &before[index][..count * into];
            let output = &mut after[0][..count * out];
            match op {
                Op::Linear(linear) => linear.forward(weights.flat, count, input, output),
                Op::Relu => layer::relu(input, output),
                Op::Tanh => layer::tanh(input, output),
                Op::Flatten => output.copy_from_slice(input),
                _ => {
                    let chosen = &mut self.chosen[index];
                    for (example, (input, output)) in
                        input.chunks_exact(into).zip(output.chunks_exact_mut(out)).enumerate()
                    {
                        match op {
                            Op::Conv(conv) => {
                                conv.forward(weights.flat, input, output, &mut patches.seen[index]);
                            }
                            Op::MaxPool(window) => {
                                let chosen = &mut chosen[example * out..(example + 1) * out];
                                layer::largest(window, input, output, chosen);
                            }
                            Op::AveragePool(window) => layer::average(window, input, output),
                            Op::GroupNorm(norm) => norm.forward(weights.flat, input, output),
                            _ => unreachable!("handled above"),
                        }
                    }
                }
            }
        }
    }

    /// The outputs of a piece that went forward.
    pub fn outputs(&self, net: &Net, count: usize) -> &[f32] {
        &self.values[net.ops.len()][..count * net.outputs()]
    }

    /// From the loss back to the first layer with something to train.
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
        let last = net.ops.len();
        let outputs = net.outputs();
        for example in 0..count {
            let range = example * outputs..(example + 1) * outputs;
            loss_and_slopes(
                net.loss,
                batch,
                first + example,
                &self.values[last][range.clone()],
                Some(&mut self.slopes[last][range]),
            );
        }
        for (index, op) in net.ops.iter().enumerate().skip(net.lowest).rev() {
            let (into, out) = (net.sizes[index], net.sizes[index + 1]);
            let (before, after) = self.slopes.split_at_mut(index + 1);
            let slopes = &after[0][..count * out];
            let target = &mut before[index][..count * into];
            let input = &self.values[index][..count * into];
            let output = &self.values[index + 1][..count * out];
            let further = index > net.lowest;
            match op {
                Op::Linear(linear) => {
                    if let (Gradients::Summed(sum), true) = (&mut gradients, op.trains()) {
                        linear.add(count, input, slopes, sum, true);
                    }
                    if further {
                        linear.back(&weights.transposed[index], count, slopes, target);
                    }
                }
                Op::Relu => layer::relu_back(output, slopes, target),
                Op::Tanh => layer::tanh_back(output, slopes, target),
                Op::Flatten => target.copy_from_slice(slopes),
                _ => {
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
                            Op::Conv(conv) => {
                                let turned = &weights.transposed[index];
                                let room =
                                    &mut patches.back[..conv.window.places() * conv.window.patch()];
                                conv.back(turned, slopes, target, room);
                            }
                            Op::MaxPool(window) => {
                                layer::largest_back(
                                    window,
                                    &self.chosen[index][wide],
                                    slopes,
                                    target,
                                );
                            }
                            Op::AveragePool(window) => layer::average_back(window, slopes, target),
                            Op::GroupNorm(norm) => norm.back(weights.flat, input, slopes, target),
                            _ => unreachable!("handled above"),
                        }
                    }
                }
            }
        }
    }
}

/// What one example gives to the tensors of a layer that are formed, or to the sum.
fn gradient_of_one(
    op: &Op,
    net: &Net,
    example: usize,
    input: &[f32],
    slopes: &[f32],
    patches: &mut [f32],
    gradients: &mut Gradients,
) {
    if !op.trains() {
        return;
    }
    let own = |kept: usize| example * net.kept + kept;
    match (op, gradients) {
        (Op::Conv(conv), Gradients::Summed(sum)) => {
            conv.window.patches(input, patches);
            conv.weight_gradient(patches, slopes, &mut sum[conv.weight.range()], true);
            conv.bias_gradient(slopes, &mut sum[conv.bias.range()], true);
        }
        (Op::Conv(conv), Gradients::Kept(kept)) => {
            if conv.rule == Rule::Formed {
                conv.window.patches(input, patches);
                let place = own(conv.weight.kept)..own(conv.weight.kept) + conv.weight.length;
                conv.weight_gradient(patches, slopes, &mut kept[place], false);
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
