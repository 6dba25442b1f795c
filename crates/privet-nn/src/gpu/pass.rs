//! A network on a device with buffers for a piece of a batch, and sums over batches.

use super::GpuError;
use super::device::Device;
use crate::batch::{Batch, Targets};
use crate::layer::{NormMethod, Op};
use crate::net::Net;
use crate::sum::{ClippedSum, check_clip};
use cudarc::driver::CudaSlice;

/// Maximum values of a piece on the device: 8 GiB of `f32`.
const MOST_PIECE_VALUES: usize = 1 << 31;
/// Maximum examples of a piece.
const EXAMPLES_PER_PIECE: usize = 8192;
/// Examples in the device's memory.
pub struct Table {
    pub(super) inputs: CudaSlice<f32>,
    pub(super) classes: CudaSlice<u32>,
    pub(super) values: CudaSlice<f32>,
    rows: usize,
}

/// A network on a device, with buffers for a piece of a batch.
pub struct Trainer<'a> {
    pub(super) device: &'a Device,
    pub(super) net: &'a Net,
    /// The network's layers, every convolution's gradient multiplied out.
    pub(super) ops: Vec<Op>,
    /// The number of gradient values multiplied out per example.
    pub(super) each: usize,
    pub(super) piece: usize,
    pub(super) weights: CudaSlice<f32>,
    pub(super) rows: CudaSlice<u32>,
    pub(super) rooms: Vec<CudaSlice<f32>>,
    pub(super) slopes: Vec<CudaSlice<f32>>,
    pub(super) chosen: Vec<CudaSlice<u32>>,
    pub(super) seen: Vec<CudaSlice<f32>>,
    pub(super) moments: Vec<CudaSlice<f32>>,
    pub(super) back: CudaSlice<f32>,
    pub(super) kept: CudaSlice<f32>,
    pub(super) squares: CudaSlice<f64>,
    pub(super) factors: CudaSlice<f32>,
    pub(super) ones: CudaSlice<f32>,
    pub(super) sum: CudaSlice<f32>,
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

    /// Allocates buffers for a network.
    pub fn trainer<'a>(&'a self, net: &'a Net) -> Result<Trainer<'a>, GpuError> {
        let mut ops = net.ops.clone();
        let mut each = 0;
        for op in &mut ops {
            if let Op::Conv(conv) = op {
                conv.rule = NormMethod::Formed;
            }
            op.assign_offsets(&mut each);
        }
        let seen = |op: &Op| match op {
            Op::Conv(conv) => conv.window.places() * conv.window.patch(),
            _ => 0,
        };
        let widest = ops.iter().map(seen).max().unwrap_or(0);
        let sizes: usize = net.sizes.iter().sum();
        let needed = 3 * sizes + ops.iter().map(seen).sum::<usize>() + widest + each;
        let piece = (MOST_PIECE_VALUES / needed).clamp(1, EXAMPLES_PER_PIECE);
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
    /// The number of examples processed together.
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

    /// Σᵢ gᵢ over these rows of the table, without clipping.
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

    pub(super) fn weight(&self, start: usize) -> u64 {
        self.device.at(&self.weights) + 4 * start as u64
    }

    pub(super) fn summed(&self, start: usize) -> u64 {
        self.device.at(&self.sum) + 4 * start as u64
    }

    pub(super) fn formed(&self, start: usize) -> u64 {
        self.device.at(&self.kept) + 4 * start as u64
    }

    pub(super) fn room(&self, index: usize) -> u64 {
        self.device.at(&self.rooms[self.net.slots[index]])
    }

    pub(super) fn derivative(&self, index: usize) -> u64 {
        self.device.at(&self.slopes[self.net.slots[index]])
    }
}
