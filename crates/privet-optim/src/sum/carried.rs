//! Serialisation of sums, for back ends on other machines: little-endian, a vector after its length.

use super::{ExactSum, GradientSum, PreciseSum};
use crate::double_double::DoubleDouble;

/// A sum that is serialised for other machines, bit for bit. Implementers: `read` must restore every
/// bit that `write` wrote.
pub trait Transferable: Sized {
    /// Appends the bytes of the sum.
    fn write(&self, into: &mut Vec<u8>);
    /// Reads a sum from the beginning of `from`, and advances it; `None` if the bytes are too few.
    fn read(from: &mut &[u8]) -> Option<Self>;

    /// The bytes of the sum.
    fn bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        self.write(&mut bytes);
        bytes
    }
}

macro_rules! carried_numbers {
    ($($number:ty),*) => {$(
        impl Transferable for $number {
            fn write(&self, into: &mut Vec<u8>) {
                into.extend_from_slice(&self.to_le_bytes());
            }
            fn read(from: &mut &[u8]) -> Option<Self> {
                let (first, rest) = from.split_first_chunk()?;
                *from = rest;
                Some(Self::from_le_bytes(*first))
            }
        }
    )*};
}
carried_numbers!(u64, i128, f64);

impl Transferable for DoubleDouble {
    fn write(&self, into: &mut Vec<u8>) {
        self.high.write(into);
        self.low.write(into);
    }
    fn read(from: &mut &[u8]) -> Option<Self> {
        Some(Self { high: f64::read(from)?, low: f64::read(from)? })
    }
}

impl<T: Transferable> Transferable for Vec<T> {
    fn write(&self, into: &mut Vec<u8>) {
        (self.len() as u64).write(into);
        self.iter().for_each(|each| each.write(into));
    }
    fn read(from: &mut &[u8]) -> Option<Self> {
        let length = u64::read(from)?;
        // Each element takes at least one byte: a forged length allocates nothing.
        if length > from.len() as u64 {
            return None;
        }
        (0..length).map(|_| T::read(from)).collect()
    }
}

impl Transferable for ExactSum {
    fn write(&self, into: &mut Vec<u8>) {
        self.units.write(into);
        self.rows.write(into);
        u64::from(self.on_grid).write(into);
    }
    fn read(from: &mut &[u8]) -> Option<Self> {
        let (units, rows) = (Vec::read(from)?, u64::read(from)?);
        Some(Self { units, rows, on_grid: u64::read(from)? == 1 })
    }
}

impl Transferable for GradientSum {
    fn write(&self, into: &mut Vec<u8>) {
        self.value.write(into);
        self.gradient.write(into);
        self.absolute.write(into);
        self.depth.write(into);
    }
    fn read(from: &mut &[u8]) -> Option<Self> {
        let (value, gradient) = (f64::read(from)?, Vec::read(from)?);
        Some(Self { value, gradient, absolute: f64::read(from)?, depth: u64::read(from)? })
    }
}

impl Transferable for PreciseSum {
    fn write(&self, into: &mut Vec<u8>) {
        self.gradient.write(into);
        self.absolute.write(into);
        self.depth.write(into);
    }
    fn read(from: &mut &[u8]) -> Option<Self> {
        let (gradient, absolute) = (Vec::read(from)?, f64::read(from)?);
        Some(Self { gradient, absolute, depth: u64::read(from)? })
    }
}
