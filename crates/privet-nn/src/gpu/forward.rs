//! Forward pass of a piece of a batch on the device.

use super::GpuError;
use super::device::{Argument, Argument::*, Matrix};
use super::pass::{Table, Trainer};
use crate::layer::{GroupNorm, Op, Window};

impl Trainer<'_> {
    pub(super) fn forward(&self, table: &Table, count: usize) -> Result<(), GpuError> {
        let (device, net) = (self.device, self.net);
        let width = net.inputs();
        let (inputs, rows) = (device.at(&table.inputs), device.at(&self.rows));
        let all = (count * width) as i64;
        let arguments =
            [Pointer(inputs), Pointer(rows), Pointer(self.room(0)), Long(width as i64), Long(all)];
        device.run("gather", &arguments, count * width)?;
        for (index, op) in self.ops.iter().enumerate() {
            let (from, to) = (self.room(index), self.room(index + 1));
            let (into, out) = (count * net.sizes[index], count * net.sizes[index + 1]);
            match op {
                Op::Relu | Op::Tanh | Op::Flatten => {
                    if from != to {
                        device.run(
                            "copy",
                            &[Pointer(from), Pointer(to), Long(into as i64)],
                            into,
                        )?;
                    }
                    match op {
                        Op::Relu => device.run("relu", &[Pointer(to), Long(out as i64)], out)?,
                        Op::Tanh => {
                            device.run("tanh_forward", &[Pointer(to), Long(out as i64)], out)?
                        }
                        _ => {}
                    }
                }
                Op::Linear(linear) => {
                    self.affine(
                        (count, linear.inputs, linear.outputs),
                        linear.weight.start,
                        linear.bias.start,
                        from,
                        to,
                    )?;
                }
                Op::Conv(conv) => {
                    let (rows, patch) = (count * conv.window.places(), conv.window.patch());
                    let seen = device.at(&self.seen[index]);
                    self.windowed(
                        "patches",
                        &[Pointer(from), Pointer(seen)],
                        &conv.window,
                        rows * patch,
                    )?;
                    self.affine(
                        (rows, patch, conv.outputs),
                        conv.weight.start,
                        conv.bias.start,
                        seen,
                        to,
                    )?;
                }
                Op::MaxPool(window) => {
                    let chosen = device.at(&self.chosen[index]);
                    self.windowed(
                        "largest",
                        &[Pointer(from), Pointer(to), Pointer(chosen)],
                        window,
                        out,
                    )?;
                }
                Op::AveragePool(window) => {
                    self.windowed("average", &[Pointer(from), Pointer(to)], window, out)?;
                }
                Op::GroupNorm(norm) => {
                    let blocks = (count * norm.groups) as i64;
                    let mut arguments = vec![Pointer(from), Pointer(to)];
                    arguments.extend(
                        [norm.scale.start, norm.shift.start]
                            .map(|start| Pointer(self.weight(start))),
                    );
                    arguments.push(Pointer(device.at(&self.moments[index])));
                    arguments.extend(shape_of(norm));
                    arguments.push(Long(blocks));
                    device.launch("norm_forward", &arguments, blocks)?;
                }
            }
        }
        Ok(())
    }

    /// Computes to = from·W + bias.
    fn affine(
        &self,
        (rows, inner, columns): (usize, usize, usize),
        weight: usize,
        bias: usize,
        from: u64,
        to: u64,
    ) -> Result<(), GpuError> {
        let all = rows * columns;
        let arguments =
            [Pointer(to), Pointer(self.weight(bias)), Long(columns as i64), Long(all as i64)];
        self.device.run("fill_rows", &arguments, all)?;
        let (a, b) = (Matrix::rows_of(from, inner), Matrix::rows_of(self.weight(weight), columns));
        self.device.product((rows, columns, inner), a, b, Matrix::rows_of(to, columns), 1.0, 1)
    }

    pub(super) fn windowed(
        &self,
        kernel: &'static str,
        first: &[Argument],
        window: &Window,
        count: usize,
    ) -> Result<(), GpuError> {
        let sides = [
            window.height,
            window.width,
            window.channels,
            window.size,
            window.stride,
            window.padding,
            window.out_height,
            window.out_width,
        ];
        let mut arguments = first.to_vec();
        arguments.extend(sides.map(|side| Short(side as i32)));
        arguments.push(Long(count as i64));
        self.device.run(kernel, &arguments, count)
    }
}

pub(super) fn shape_of(norm: &GroupNorm) -> [Argument; 3] {
    [norm.places, norm.channels, norm.groups].map(|number| Short(number as i32))
}
