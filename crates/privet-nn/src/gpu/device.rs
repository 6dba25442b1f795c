//! A device: its kernels, compiled when it is opened, and matrix products.

use super::GpuError;
use cudarc::cublas::{CudaBlas, result, sys};
use cudarc::driver::{
    CudaContext, CudaFunction, CudaSlice, CudaStream, DevicePtr, DeviceRepr, LaunchConfig,
    PushKernelArg, ValidAsZeroBits,
};
use cudarc::nvrtc::{CompileOptions, compile_ptx_with_opts};
use std::collections::HashMap;
use std::sync::Arc;

const SOURCE: &str = include_str!("kernels.cu");
const THREADS: u32 = 128;
const MOST_BLOCKS: i64 = 1 << 16;

/// An open device. All its operations run in one order.
pub struct Device {
    pub(super) stream: Arc<CudaStream>,
    blas: CudaBlas,
    kernels: HashMap<&'static str, CudaFunction>,
    name: String,
}

impl std::fmt::Debug for Device {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Device({})", self.name)
    }
}

/// Argument of a kernel.
#[derive(Clone, Copy)]
pub(super) enum Argument {
    /// An address in the device's memory.
    Pointer(u64),
    /// A 32-bit integer.
    Short(i32),
    /// A 64-bit integer.
    Long(i64),
    /// A floating-point number.
    Real(f64),
}

/// A matrix in the device's memory: address and values per row.
#[derive(Clone, Copy)]
pub(super) struct Matrix {
    pub at: u64,
    pub turned: bool,
    pub row: usize,
    /// Distance to the next matrix of a batch, in values.
    pub next: usize,
}

impl Matrix {
    pub fn rows_of(at: u64, row: usize) -> Self {
        Self { at, turned: false, row, next: 0 }
    }

    pub fn turned(self) -> Self {
        Self { turned: true, ..self }
    }

    pub fn every(self, next: usize) -> Self {
        Self { next, ..self }
    }
}

impl Device {
    /// Opens a device by its number, from 0.
    pub fn open(number: usize) -> Result<Self, GpuError> {
        // The loader panics if a library is missing; converted to an error.
        let opened = std::panic::catch_unwind(|| Self::opened(number));
        opened.unwrap_or_else(|_| {
            Err(GpuError::new("loading the driver, the compiler and cuBLAS", "not found"))
        })
    }

    fn opened(number: usize) -> Result<Self, GpuError> {
        let context = CudaContext::new(number).map_err(GpuError::at("opening the device"))?;
        let name = context.name().unwrap_or_default();
        let (major, minor) =
            context.compute_capability().map_err(GpuError::at("asking for its kind"))?;
        // SAFETY: there is one stream, so order needs no events.
        unsafe { context.disable_event_tracking() };
        let options = CompileOptions {
            options: vec![format!("--gpu-architecture=compute_{major}{minor}")],
            ..CompileOptions::default()
        };
        let compiled = compile_ptx_with_opts(SOURCE, options)
            .map_err(GpuError::at("compiling the kernels"))?;
        let module = context.load_module(compiled).map_err(GpuError::at("loading the kernels"))?;
        let mut kernels = HashMap::new();
        for line in SOURCE.lines().filter(|line| line.starts_with("extern \"C\"")) {
            let name = line
                .split("void ")
                .nth(1)
                .and_then(|rest| rest.split('(').next())
                .expect("a kernel's name");
            kernels.insert(name, module.load_function(name).map_err(GpuError::at(name))?);
        }
        let stream = context.default_stream();
        let blas = CudaBlas::new(stream.clone()).map_err(GpuError::at("opening cuBLAS"))?;
        Ok(Self { stream, blas, kernels, name })
    }

    /// Name of the device.
    pub fn name(&self) -> &str {
        &self.name
    }

    pub(super) fn zeros<T: DeviceRepr + ValidAsZeroBits>(
        &self,
        count: usize,
    ) -> Result<CudaSlice<T>, GpuError> {
        self.stream.alloc_zeros(count.max(1)).map_err(GpuError::at("reserving memory"))
    }

    pub(super) fn upload<T: DeviceRepr>(&self, values: &[T]) -> Result<CudaSlice<T>, GpuError> {
        self.stream.clone_htod(values).map_err(GpuError::at("copying to the device"))
    }

    pub(super) fn at<T>(&self, room: &CudaSlice<T>) -> u64 {
        room.device_ptr(&self.stream).0
    }

    /// Runs a kernel over `count` values.
    pub(super) fn run(
        &self,
        kernel: &'static str,
        arguments: &[Argument],
        count: usize,
    ) -> Result<(), GpuError> {
        self.launch(kernel, arguments, count.div_ceil(THREADS as usize) as i64)
    }

    /// Runs a kernel in `blocks` blocks.
    pub(super) fn launch(
        &self,
        kernel: &'static str,
        arguments: &[Argument],
        blocks: i64,
    ) -> Result<(), GpuError> {
        let mut builder = self.stream.launch_builder(&self.kernels[kernel]);
        for argument in arguments {
            match argument {
                Argument::Pointer(at) => builder.arg(at),
                Argument::Short(number) => builder.arg(number),
                Argument::Long(number) => builder.arg(number),
                Argument::Real(number) => builder.arg(number),
            };
        }
        let grid = blocks.clamp(1, MOST_BLOCKS) as u32;
        let shape = LaunchConfig {
            grid_dim: (grid, 1, 1),
            block_dim: (THREADS, 1, 1),
            shared_mem_bytes: 0,
        };
        // SAFETY: arguments are those of the kernel's signature, and buffers hold the values that it
        // names.
        unsafe { builder.launch(shape) }.map_err(GpuError::at(kernel))?;
        Ok(())
    }

    /// C = A·B + keep·C for `batch` triples of matrices, row by row: A is (rows × inner), B
    /// (inner × columns), each stored transposed if `turned`.
    pub(super) fn product(
        &self,
        (rows, columns, inner): (usize, usize, usize),
        a: Matrix,
        b: Matrix,
        c: Matrix,
        keep: f32,
        batch: usize,
    ) -> Result<(), GpuError> {
        let operation = |matrix: Matrix| match matrix.turned {
            true => sys::cublasOperation_t::CUBLAS_OP_T,
            false => sys::cublasOperation_t::CUBLAS_OP_N,
        };
        let one = 1.0_f32;
        // cuBLAS stores by columns: Cᵀ = Bᵀ·Aᵀ.
        // SAFETY: buffers hold as many values as the sizes state; the caller's arithmetic is that of the
        // shapes.
        unsafe {
            result::sgemm_strided_batched(
                *self.blas.handle(),
                operation(b),
                operation(a),
                columns as i32,
                rows as i32,
                inner as i32,
                &one,
                b.at as *const f32,
                b.row as i32,
                b.next as i64,
                a.at as *const f32,
                a.row as i32,
                a.next as i64,
                &keep,
                c.at as *mut f32,
                c.row as i32,
                c.next as i64,
                batch as i32,
            )
        }
        .map_err(GpuError::at("a product"))
    }
}
