//! Discrete Fourier transforms of powers of two, of several images side by side.
//!
//! Forward: decimation in frequency, natural order in, bit-reversed order out. Inverse: decimation in
//! time, the other way round, without the factor 1/n. In between there are only products with tables,
//! which are kept in bit-reversed order too, so nothing is ever reordered.
//!
//! L images lie side by side (`[f32; L]`), and every lane goes through the same sums and products in
//! the same order: its bits do not depend on the other lanes. There are no fused operations, so they
//! are the same on every processor.

/// One complex number for each of L images.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Lanes<const L: usize> {
    pub(super) real: [f32; L],
    pub(super) imaginary: [f32; L],
}

impl<const L: usize> Lanes<L> {
    pub(super) const ZERO: Self = Self { real: [0.0; L], imaginary: [0.0; L] };

    #[inline(always)]
    fn sum_and_difference(self, other: Self) -> (Self, Self) {
        let (mut sum, mut difference) = (self, self);
        for lane in 0..L {
            sum.real[lane] += other.real[lane];
            sum.imaginary[lane] += other.imaginary[lane];
            difference.real[lane] -= other.real[lane];
            difference.imaginary[lane] -= other.imaginary[lane];
        }
        (sum, difference)
    }

    #[inline(always)]
    fn times(self, (cosine, sine): (f32, f32)) -> Self {
        let mut product = self;
        for lane in 0..L {
            let (a, b) = (self.real[lane], self.imaginary[lane]);
            product.real[lane] = a * cosine - b * sine;
            product.imaginary[lane] = a * sine + b * cosine;
        }
        product
    }
}

/// Transforms of one length.
#[derive(Debug, Clone)]
pub(super) struct Fourier {
    /// The length n, a power of two.
    length: usize,
    /// Twiddle factors: for each half-length h = n/2, n/4, …, 1, cos and −sin of πj/h, j < h.
    roots: Vec<Vec<(f32, f32)>>,
}

impl Fourier {
    pub(super) fn new(length: usize) -> Self {
        let halves = std::iter::successors(Some(length / 2), |half| Some(half / 2));
        let root = |half: usize, j: usize| {
            let angle = std::f64::consts::PI * j as f64 / half as f64;
            (libm::cos(angle) as f32, -libm::sin(angle) as f32)
        };
        let roots = halves
            .take_while(|half| *half > 0)
            .map(|half| (0..half).map(|j| root(half, j)).collect())
            .collect();
        Self { length, roots }
    }

    /// Transforms along the middle axis of `values`, which lie as [·][n][inner].
    fn forward<const L: usize>(&self, values: &mut [Lanes<L>], inner: usize) {
        for roots in &self.roots {
            let half = roots.len() * inner;
            for block in values.chunks_exact_mut(2 * half) {
                let (low, high) = block.split_at_mut(half);
                let pairs = low.chunks_exact_mut(inner).zip(high.chunks_exact_mut(inner));
                for ((low, high), root) in pairs.zip(roots) {
                    for (a, b) in low.iter_mut().zip(high) {
                        let (sum, difference) = a.sum_and_difference(*b);
                        (*a, *b) = (sum, difference.times(*root));
                    }
                }
            }
        }
    }

    /// The inverse of [`Self::forward`], up to the factor n.
    fn inverse<const L: usize>(&self, values: &mut [Lanes<L>], inner: usize) {
        for roots in self.roots.iter().rev() {
            let half = roots.len() * inner;
            for block in values.chunks_exact_mut(2 * half) {
                let (low, high) = block.split_at_mut(half);
                let pairs = low.chunks_exact_mut(inner).zip(high.chunks_exact_mut(inner));
                for ((low, high), &(cosine, sine)) in pairs.zip(roots) {
                    for (a, b) in low.iter_mut().zip(high) {
                        (*a, *b) = a.sum_and_difference(b.times((cosine, -sine)));
                    }
                }
            }
        }
    }
}

/// Transforms of images of one size.
#[derive(Debug, Clone)]
pub(super) struct Plane {
    rows: Fourier,
    columns: Fourier,
}

impl Plane {
    /// For images of these sides, both powers of two.
    pub(super) fn new(rows: usize, columns: usize) -> Self {
        Self { rows: Fourier::new(rows), columns: Fourier::new(columns) }
    }

    pub(super) fn forward<const L: usize>(&self, image: &mut [Lanes<L>]) {
        self.rows.forward(image, self.columns.length);
        self.columns.forward(image, 1);
    }

    /// The inverse transform without the factor 1/(rows · columns).
    pub(super) fn inverse<const L: usize>(&self, image: &mut [Lanes<L>]) {
        self.columns.inverse(image, 1);
        self.rows.inverse(image, self.columns.length);
    }
}

/// The index of frequency `k` of `length`, in bit-reversed order.
pub(super) fn place(k: usize, length: usize) -> usize {
    (0..length.trailing_zeros()).fold(0, |place, bit| place << 1 | k >> bit & 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn image(rows: usize, columns: usize) -> Vec<Lanes<2>> {
        let value = |at: usize, by: usize| ((at * by) % 17) as f32 / 17.0 - 0.4;
        let lanes = |at| Lanes {
            real: [value(at, 5), value(at, 11)],
            imaginary: [value(at, 7), value(at, 3)],
        };
        (0..rows * columns).map(lanes).collect()
    }

    #[test]
    fn agrees_with_the_definition_and_comes_back() {
        for (rows, columns) in [(1, 1), (8, 2), (4, 16)] {
            let plane = Plane::new(rows, columns);
            let before = image(rows, columns);
            let mut found = before.clone();
            plane.forward(&mut found);
            for k in 0..rows {
                for l in 0..columns {
                    let (mut real, mut imaginary) = (0.0, 0.0);
                    for (at, x) in before.iter().enumerate() {
                        let turns = (k * (at / columns)) as f64 / rows as f64
                            + (l * (at % columns)) as f64 / columns as f64;
                        let (sine, cosine) = (-2.0 * std::f64::consts::PI * turns).sin_cos();
                        let (a, b) = (f64::from(x.real[1]), f64::from(x.imaginary[1]));
                        real += a * cosine - b * sine;
                        imaginary += a * sine + b * cosine;
                    }
                    let there = found[place(k, rows) * columns + place(l, columns)];
                    assert!((f64::from(there.real[1]) - real).abs() < 1e-4);
                    assert!((f64::from(there.imaginary[1]) - imaginary).abs() < 1e-4);
                }
            }
            plane.inverse(&mut found);
            let size = (rows * columns) as f32;
            for (x, y) in before.iter().zip(&found) {
                assert!((0..2).all(|lane| (x.real[lane] - y.real[lane] / size).abs() < 1e-5));
                assert!((0..2).all(|l| (x.imaginary[l] - y.imaginary[l] / size).abs() < 1e-5));
            }
        }
    }
}
