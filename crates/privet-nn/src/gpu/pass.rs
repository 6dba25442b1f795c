//! A piece of a batch forward, back and summed on the device.

use super::GpuError;
use super::device::{Argument, Argument::*, Device, Matrix};
use crate::batch::{Batch, Targets};
use crate::description::Loss;
use crate::layer::{Conv, GroupNorm, Op, Rule, Window};
use crate::net::Net;
use crate::sum::{ClippedSum, check_clip};
use cudarc::driver::CudaSlice;

/// Numbers that a piece may need of the device: 8 GiB of `f32`.
const ROOM: usize = 1 << 31;
/// Examples a piece at most.
const PIECE: usize = 8192;
/// As on the processor: what is rounded after the norm is known.
const ROUNDED: f64 = 1.0 / (1_u64 << 22) as f64;

/// Examples in the device's memory.
pub struct Table {
    inputs: CudaSlice<f32>,
    classes: CudaSlice<u32>,
    values: CudaSlice<f32>,
    rows: usize,
}

/// A network on a device, with room for a piece of a batch.
pub struct Trainer<'a> {
    device: &'a Device,
    net: &'a Net,
    /// The network's, every convolution formed.
    ops: Vec<Op>,
    /// Numbers formed of an example's gradient.
    each: usize,
    piece: usize,
    weights: CudaSlice<f32>,
    rows: CudaSlice<u32>,
    rooms: Vec<CudaSlice<f32>>,
    slopes: Vec<CudaSlice<f32>>,
    chosen: Vec<CudaSlice<u32>>,
    seen: Vec<CudaSlice<f32>>,
    moments: Vec<CudaSlice<f32>>,
    back: CudaSlice<f32>,
    kept: CudaSlice<f32>,
    squares: CudaSlice<f64>,
    factors: CudaSlice<f32>,
    ones: CudaSlice<f32>,
    sum: CudaSlice<f32>,
}

impl Device {
    /// Copies a table to the device.
    pub fn table(&self, net: &Net, inputs: &[f32], targets: Targets) -> Result<Table, GpuError> {
        let rows = Batch::all(inputs, targets).examples(net)?;
        let (classes, values) = match targets {
            Targets::Classes(classes) => (classes, &[0.0][..]),
            Targets::Values(values) => (&[0][..], values),
        };
        Ok(Table {
            inputs: self.upload(inputs)?,
            classes: self.upload(classes)?,
            values: self.upload(values)?,
            rows,
        })
    }

    /// Room for a network.
    pub fn trainer<'a>(&'a self, net: &'a Net) -> Result<Trainer<'a>, GpuError> {
        let mut ops = net.ops.clone();
        let mut each = 0;
        for op in &mut ops {
            if let Op::Conv(conv) = op {
                conv.rule = Rule::Formed;
            }
            op.keep(&mut each);
        }
        let seen = |op: &Op| match op {
            Op::Conv(conv) => conv.window.places() * conv.window.patch(),
            _ => 0,
        };
        let widest = ops.iter().map(seen).max().unwrap_or(0);
        let sizes: usize = net.sizes.iter().sum();
        let needed = 3 * sizes + ops.iter().map(seen).sum::<usize>() + widest + each;
        let piece = (ROOM / needed).clamp(1, PIECE);
        let mut rooms = Vec::new();
        let mut slopes = Vec::new();
        for (&slot, size) in net.slots.iter().zip(&net.sizes) {
            if slot == rooms.len() {
                rooms.push(self.zeros(size * piece)?);
                slopes.push(self.zeros(size * piece)?);
            }
        }
        let places =
            ops.iter().map(|op| if let Op::Conv(conv) = op { conv.window.places() } else { 1 });
        let ones = vec![1.0_f32; piece * places.max().unwrap_or(1)];
        let pooled = |(op, size): (&Op, &usize)| match op {
            Op::MaxPool(_) => self.zeros(size * piece),
            _ => self.zeros(0),
        };
        let moments = |op: &Op| match op {
            Op::GroupNorm(norm) => self.zeros(2 * norm.groups * piece),
            _ => self.zeros(0),
        };
        Ok(Trainer {
            device: self,
            net,
            each,
            piece,
            weights: self.zeros(net.parameters())?,
            rows: self.zeros(piece)?,
            rooms,
            slopes,
            chosen: ops.iter().zip(&net.sizes[1..]).map(pooled).collect::<Result<_, _>>()?,
            seen: ops.iter().map(|op| self.zeros(seen(op) * piece)).collect::<Result<_, _>>()?,
            moments: ops.iter().map(moments).collect::<Result<_, _>>()?,
            back: self.zeros(widest * piece)?,
            kept: self.zeros(each * piece)?,
            squares: self.zeros(piece)?,
            factors: self.zeros(piece)?,
            ones: self.upload(&ones)?,
            sum: self.zeros(net.trainable())?,
            ops,
        })
    }
}

impl Trainer<'_> {
    /// Examples that go through together.
    pub fn piece(&self) -> usize {
        self.piece
    }

    /// Σᵢ min(1, C/‖gᵢ‖)·gᵢ over these rows of the table: see [`Net::clipped_sum`].
    pub fn clipped_sum(
        &mut self,
        weights: &[f32],
        table: &Table,
        rows: &[u32],
        clip: f64,
    ) -> Result<ClippedSum, GpuError> {
        check_clip(clip)?;
        let sum = self.total(weights, table, rows, Some(clip))?;
        Ok(ClippedSum { sum, examples: rows.len() })
    }

    /// Σᵢ gᵢ over these rows of the table.
    pub fn plain_sum(
        &mut self,
        weights: &[f32],
        table: &Table,
        rows: &[u32],
    ) -> Result<Vec<f64>, GpuError> {
        self.total(weights, table, rows, None)
    }

    fn total(
        &mut self,
        weights: &[f32],
        table: &Table,
        rows: &[u32],
        clip: Option<f64>,
    ) -> Result<Vec<f64>, GpuError> {
        self.net.check_weights(weights)?;
        if rows.iter().any(|&row| row as usize >= table.rows) {
            return Err(GpuError::new(
                "the batch",
                format!("a row beyond the table's {}", table.rows),
            ));
        }
        let (device, stream) = (self.device, &self.device.stream);
        stream.memcpy_htod(weights, &mut self.weights).map_err(GpuError::at("copying weights"))?;
        let mut total = vec![0.0_f64; self.net.trainable()];
        for rows in rows.chunks(self.piece) {
            device
                .stream
                .memcpy_htod(rows, &mut self.rows)
                .map_err(GpuError::at("copying rows"))?;
            device.stream.memset_zeros(&mut self.sum).map_err(GpuError::at("clearing"))?;
            self.forward(table, rows.len())?;
            self.back(table, rows.len(), clip.is_some())?;
            if let Some(clip) = clip {
                self.clip(rows.len(), clip)?;
            }
            let sum = device
                .stream
                .clone_dtoh(&self.sum)
                .map_err(GpuError::at("copying the sum back"))?;
            crate::kernel::add_wide(&mut total, &sum);
        }
        Ok(total)
    }

    fn weight(&self, start: usize) -> u64 {
        self.device.at(&self.weights) + 4 * start as u64
    }

    fn summed(&self, start: usize) -> u64 {
        self.device.at(&self.sum) + 4 * start as u64
    }

    fn formed(&self, start: usize) -> u64 {
        self.device.at(&self.kept) + 4 * start as u64
    }

    fn room(&self, index: usize) -> u64 {
        self.device.at(&self.rooms[self.net.slots[index]])
    }

    fn slope(&self, index: usize) -> u64 {
        self.device.at(&self.slopes[self.net.slots[index]])
    }

    fn forward(&self, table: &Table, count: usize) -> Result<(), GpuError> {
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

    /// to = from·W + bias.
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

    fn windowed(
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

    /// Slopes as far back as there is something to train; gradients into what is kept of each example, or,
    /// where nothing is clipped, into the sum.
    fn back(&self, table: &Table, count: usize, keep: bool) -> Result<(), GpuError> {
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
        arguments.push(Pointer(self.slope(last)));
        arguments.extend([Short(kind), Short(net.outputs() as i32), Long(count as i64)]);
        device.run("loss_slopes", &arguments, count)?;
        for (index, op) in self.ops.iter().enumerate().skip(net.lowest).rev() {
            let (from, to) = (self.slope(index + 1), self.slope(index));
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
                    self.slope(index + 1),
                    linear.weight.start,
                    linear.bias.start,
                )
            }
            Op::Conv(conv) => self.conv_gradient(conv, index, count, keep),
            Op::GroupNorm(norm) => {
                // Formed in either case: as many numbers as channels.
                let all = (count * norm.channels) as i64;
                let mut arguments = vec![Pointer(self.room(index)), Pointer(self.slope(index + 1))];
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
        let (seen, slopes) = (self.device.at(&self.seen[index]), self.slope(index + 1));
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
    fn add_outer(
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

    /// Adds Σ weight·(what was formed at `kept`) over the examples to the sum.
    fn weighted(
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

    /// Norms, factors, and the weighted sum.
    fn clip(&self, count: usize, clip: f64) -> Result<(), GpuError> {
        let (device, net) = (self.device, self.net);
        let (squares, factors) = (device.at(&self.squares), device.at(&self.factors));
        let blocks = count as i64;
        let first =
            [Pointer(self.formed(0)), Pointer(squares), Long(self.each as i64), Long(blocks)];
        device.launch("square_kept", &first, blocks)?;
        let linear = |op: &Op| match op {
            Op::Linear(linear) if op.trains() => Some(linear.clone()),
            _ => None,
        };
        let layers: Vec<_> = self
            .ops
            .iter()
            .enumerate()
            .filter_map(|(index, op)| Some((index, linear(op)?)))
            .collect();
        let mut numbers = self.each;
        for (index, linear) in &layers {
            let arguments = [
                Pointer(self.room(*index)),
                Pointer(self.slope(index + 1)),
                Pointer(squares),
                Short(linear.inputs as i32),
                Short(linear.outputs as i32),
                Long(blocks),
            ];
            device.launch("square_linear", &arguments, blocks)?;
            numbers += linear.inputs + linear.outputs + 8;
        }
        let slack = ROUNDED + numbers as f64 * f64::EPSILON;
        device.run(
            "factors_of",
            &[Pointer(squares), Pointer(factors), Real(clip), Real(slack), Long(blocks)],
            count,
        )?;
        let rows = |kernel, at: u64, width: usize| {
            let all = count * width;
            let arguments = [Pointer(at), Pointer(factors), Long(width as i64), Long(all as i64)];
            device.run(kernel, &arguments, all)
        };
        if self.each > 0 {
            rows("wipe", self.formed(0), self.each)?;
        }
        for place in self.ops.iter().flat_map(Op::formed) {
            self.weighted(place.kept, place.start, place.length, count, &self.factors)?;
        }
        for (index, linear) in &layers {
            rows("weigh", self.slope(index + 1), linear.outputs)?;
            rows("wipe", self.room(*index), linear.inputs)?;
            let sizes = (linear.inputs, linear.outputs, count);
            let (values, slopes) = (self.room(*index), self.slope(index + 1));
            self.add_outer(sizes, values, slopes, linear.weight.start, linear.bias.start)?;
        }
        let _ = net;
        Ok(())
    }
}

fn shape_of(norm: &GroupNorm) -> [Argument; 3] {
    [norm.places, norm.channels, norm.groups].map(|number| Short(number as i32))
}
