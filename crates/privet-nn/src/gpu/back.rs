//! Backward pass of a piece of a batch on the device: derivatives, and gradients of each example or of
//! all.

use super::GpuError;
use super::device::{Argument::*, Matrix};
use super::forward::shape_of;
use super::pass::{Table, Trainer};
use crate::description::Loss;
use crate::layer::{Conv, Op};
use cudarc::driver::CudaSlice;

impl Trainer<'_> {
    /// Propagates derivatives back to the lowest trainable layer; gradients go into each example's
    /// storage or, without clipping, into the sum.
    pub(super) fn back(&self, table: &Table, count: usize, keep: bool) -> Result<(), GpuError> {
        let (device, net) = (self.device, self.net);
        let last = self.ops.len();
        let kind = match net.loss {
            Loss::CrossEntropy => 0,
            Loss::Logistic => 1,
            Loss::Squared => 2,
        };
        let targets = [device.at(&table.classes), device.at(&table.values), device.at(&self.rows)];
        let mut arguments = vec![Pointer(self.room(last))];
        arguments.extend(targets.map(Pointer));
        arguments.push(Pointer(self.derivative(last)));
        arguments.extend([Short(kind), Short(net.outputs() as i32), Long(count as i64)]);
        device.run("loss_slopes", &arguments, count)?;
        for (index, op) in self.ops.iter().enumerate().skip(net.lowest).rev() {
            let (from, to) = (self.derivative(index + 1), self.derivative(index));
            let (into, out) = (count * net.sizes[index], count * net.sizes[index + 1]);
            let (input, output) = (self.room(index), self.room(index + 1));
            let further = index > net.lowest;
            if op.trains() {
                self.gradient(op, index, count, keep)?;
            }
            match op {
                Op::Relu | Op::Tanh | Op::Flatten => {
                    if from != to {
                        device.run(
                            "copy",
                            &[Pointer(from), Pointer(to), Long(into as i64)],
                            into,
                        )?;
                    }
                    let arguments = [Pointer(output), Pointer(to), Long(out as i64)];
                    match op {
                        Op::Relu => device.run("relu_back", &arguments, out)?,
                        Op::Tanh => device.run("tanh_back", &arguments, out)?,
                        _ => {}
                    }
                }
                _ if !further => {}
                Op::Linear(linear) => {
                    let weight =
                        Matrix::rows_of(self.weight(linear.weight.start), linear.outputs).turned();
                    let sizes = (count, linear.inputs, linear.outputs);
                    let slopes = Matrix::rows_of(from, linear.outputs);
                    device.product(
                        sizes,
                        slopes,
                        weight,
                        Matrix::rows_of(to, linear.inputs),
                        0.0,
                        1,
                    )?;
                }
                Op::Conv(conv) => {
                    let (rows, patch) = (count * conv.window.places(), conv.window.patch());
                    let weight =
                        Matrix::rows_of(self.weight(conv.weight.start), conv.outputs).turned();
                    let slopes = Matrix::rows_of(from, conv.outputs);
                    let back = device.at(&self.back);
                    let sizes = (rows, patch, conv.outputs);
                    device.product(sizes, slopes, weight, Matrix::rows_of(back, patch), 0.0, 1)?;
                    self.windowed("unpatch", &[Pointer(back), Pointer(to)], &conv.window, into)?;
                }
                Op::MaxPool(window) | Op::AveragePool(window) => {
                    let mean = matches!(op, Op::AveragePool(_));
                    let chosen = device.at(&self.chosen[index]);
                    let first = [Pointer(from), Pointer(chosen), Pointer(to), Short(mean.into())];
                    self.windowed("pool_back", &first, window, into)?;
                }
                Op::GroupNorm(norm) => {
                    let blocks = (count * norm.groups) as i64;
                    let mut arguments = vec![Pointer(input), Pointer(from), Pointer(to)];
                    arguments.push(Pointer(self.weight(norm.scale.start)));
                    arguments.push(Pointer(device.at(&self.moments[index])));
                    arguments.extend(shape_of(norm));
                    arguments.push(Long(blocks));
                    device.launch("norm_back", &arguments, blocks)?;
                }
            }
        }
        Ok(())
    }

    fn gradient(&self, op: &Op, index: usize, count: usize, keep: bool) -> Result<(), GpuError> {
        match op {
            Op::Linear(_) if keep => Ok(()),
            Op::Linear(linear) => {
                let sizes = (linear.inputs, linear.outputs, count);
                self.add_outer(
                    sizes,
                    self.room(index),
                    self.derivative(index + 1),
                    linear.weight.start,
                    linear.bias.start,
                )
            }
            Op::Conv(conv) => self.conv_gradient(conv, index, count, keep),
            Op::GroupNorm(norm) => {
                // Multiplied out in either case: as many values as channels.
                let all = (count * norm.channels) as i64;
                let mut arguments =
                    vec![Pointer(self.room(index)), Pointer(self.derivative(index + 1))];
                arguments.push(Pointer(self.device.at(&self.moments[index])));
                arguments.extend(
                    [norm.scale.kept, norm.shift.kept].map(|start| Pointer(self.formed(start))),
                );
                arguments.push(Long(self.each as i64));
                arguments.extend(shape_of(norm));
                arguments.push(Long(all));
                self.device.run("norm_gradient", &arguments, all as usize)?;
                if !keep {
                    self.weighted(
                        norm.scale.kept,
                        norm.scale.start,
                        norm.channels,
                        count,
                        &self.ones,
                    )?;
                    self.weighted(
                        norm.shift.kept,
                        norm.shift.start,
                        norm.channels,
                        count,
                        &self.ones,
                    )?;
                }
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn conv_gradient(
        &self,
        conv: &Conv,
        index: usize,
        count: usize,
        keep: bool,
    ) -> Result<(), GpuError> {
        let (places, patch) = (conv.window.places(), conv.window.patch());
        let (seen, slopes) = (self.device.at(&self.seen[index]), self.derivative(index + 1));
        if !keep {
            let sizes = (patch, conv.outputs, count * places);
            return self.add_outer(sizes, seen, slopes, conv.weight.start, conv.bias.start);
        }
        let own = Matrix::rows_of(self.formed(conv.weight.kept), conv.outputs).every(self.each);
        let patches = Matrix::rows_of(seen, patch).turned().every(places * patch);
        let slopes_of = Matrix::rows_of(slopes, conv.outputs).every(places * conv.outputs);
        self.device.product((patch, conv.outputs, places), patches, slopes_of, own, 0.0, count)?;
        let arguments = [
            Pointer(slopes),
            Pointer(self.formed(conv.bias.kept)),
            Long(self.each as i64),
            Short(places as i32),
            Short(conv.outputs as i32),
            Long((count * conv.outputs) as i64),
        ];
        self.device.run("bias_gradient", &arguments, count * conv.outputs)
    }

    /// Adds Σ x ⊗ s, and Σ s, over rows to the sum.
    pub(super) fn add_outer(
        &self,
        (inputs, outputs, rows): (usize, usize, usize),
        values: u64,
        slopes: u64,
        weight: usize,
        bias: usize,
    ) -> Result<(), GpuError> {
        let x = Matrix::rows_of(values, inputs).turned();
        let s = Matrix::rows_of(slopes, outputs);
        let to = Matrix::rows_of(self.summed(weight), outputs);
        self.device.product((inputs, outputs, rows), x, s, to, 1.0, 1)?;
        let ones = Matrix::rows_of(self.device.at(&self.ones), rows);
        let to = Matrix::rows_of(self.summed(bias), outputs);
        self.device.product((1, outputs, rows), ones, s, to, 1.0, 1)
    }

    /// Adds Σ weight·(the gradient stored at `kept`) over the examples to the sum.
    pub(super) fn weighted(
        &self,
        kept: usize,
        start: usize,
        length: usize,
        count: usize,
        weights: &CudaSlice<f32>,
    ) -> Result<(), GpuError> {
        let row = Matrix::rows_of(self.device.at(weights), count);
        let own = Matrix::rows_of(self.formed(kept), self.each);
        let to = Matrix::rows_of(self.summed(start), length);
        self.device.product((1, length, count), row, own, to, 1.0, 1)
    }
}
