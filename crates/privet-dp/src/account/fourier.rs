//! A plain radix-2 Fourier transform.
//!
//! Own code because results must not depend on the processor: a library that picks vector instructions
//! at run time rounds differently on different machines, and a verifier must find the same ε. Error:
//! each output passes log₂N butterflies, each adding at most 4u of the sum of the moduli below it
//! (u = 2⁻⁵³; twiddles are rounded sines), so |error| ≤ [`error_bound`]·Σ|input|.

use std::sync::OnceLock;

/// Largest transform: 2^LARGEST points.
pub const LARGEST_TRANSFORM_LOG2: usize = 20;

/// A complex number.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Complex {
    /// Real part.
    pub re: f64,
    /// Imaginary part.
    pub im: f64,
}

impl Complex {
    /// The number 1.
    pub const ONE: Self = Self { re: 1.0, im: 0.0 };

    /// The product of two complex numbers.
    pub fn times(self, other: Self) -> Self {
        Self {
            re: self.re * other.re - self.im * other.im,
            im: self.re * other.im + self.im * other.re,
        }
    }

    /// The squared modulus |z|².
    pub fn square(self) -> f64 {
        self.re * self.re + self.im * self.im
    }

    /// The power zⁿ, by squaring.
    pub fn power(self, exponent: u64) -> Self {
        let (mut base, mut left) = (self, exponent);
        let mut result = Self::ONE;
        while left > 0 {
            if left & 1 == 1 {
                result = result.times(base);
            }
            left >>= 1;
            if left > 0 {
                base = base.times(base);
            }
        }
        result
    }
}

/// Componentwise error bound of a transform of 2^`bits` points, relative to the sum of moduli.
pub fn error_bound(bits: usize) -> f64 {
    8.0 * f64::EPSILON * (bits as f64 + 1.0)
}

/// The twiddle factors e^{−2πik/N} for k < N/2.
fn twiddles(bits: usize) -> &'static [Complex] {
    static TABLES: [OnceLock<Vec<Complex>>; LARGEST_TRANSFORM_LOG2 + 1] =
        [const { OnceLock::new() }; LARGEST_TRANSFORM_LOG2 + 1];
    TABLES[bits].get_or_init(|| {
        let points = 1_usize << bits;
        (0..points / 2)
            .map(|k| {
                let (sin, cos) =
                    libm::sincos(-2.0 * std::f64::consts::PI * k as f64 / points as f64);
                Complex { re: cos, im: sin }
            })
            .collect()
    })
}

/// The transform Σ_k x_k e^{−2πijk/N}, in place; the length is a power of two up to
/// 2^[`LARGEST_TRANSFORM_LOG2`].
pub fn transform(data: &mut [Complex]) {
    let points = data.len();
    debug_assert!(points.is_power_of_two() && points <= 1 << LARGEST_TRANSFORM_LOG2);
    let bits = points.trailing_zeros() as usize;
    if bits == 0 {
        return;
    }
    for k in 0..points {
        let mirrored = k.reverse_bits() >> (usize::BITS as usize - bits);
        if k < mirrored {
            data.swap(k, mirrored);
        }
    }
    // Two stages at a time: half as many passes over memory, the same arithmetic.
    let mut stage = 1;
    if bits % 2 == 1 {
        for pair in data.chunks_exact_mut(2) {
            (pair[0], pair[1]) = butterfly(pair[0], pair[1], Complex::ONE);
        }
        stage = 2;
    }
    while stage < bits {
        let half = 1_usize << (stage - 1);
        let (first, second) = (twiddles(stage), twiddles(stage + 1));
        let (second, later) = second.split_at(half);
        for block in data.chunks_exact_mut(4 * half) {
            let (low, high) = block.split_at_mut(2 * half);
            let ((a, b), (c, d)) = (low.split_at_mut(half), high.split_at_mut(half));
            for k in 0..half {
                let (a0, b0) = butterfly(a[k], b[k], first[k]);
                let (c0, d0) = butterfly(c[k], d[k], first[k]);
                (a[k], c[k]) = butterfly(a0, c0, second[k]);
                (b[k], d[k]) = butterfly(b0, d0, later[k]);
            }
        }
        stage += 2;
    }
}

/// One butterfly: (a + wb, a − wb).
fn butterfly(a: Complex, b: Complex, w: Complex) -> (Complex, Complex) {
    let turned = b.times(w);
    (
        Complex { re: a.re + turned.re, im: a.im + turned.im },
        Complex { re: a.re - turned.re, im: a.im - turned.im },
    )
}

/// The root of unity e^{+2πik/N}, N = 2^`bits`, for any k.
pub fn turn(bits: usize, k: u64) -> Complex {
    if bits == 0 {
        return Complex::ONE;
    }
    let half = 1_usize << (bits - 1);
    let place = (k & ((1 << bits) - 1)) as usize;
    let table = twiddles(bits);
    if place < half {
        Complex { re: table[place].re, im: -table[place].im }
    } else {
        Complex { re: -table[place - half].re, im: table[place - half].im }
    }
}

/// The first N/2+1 values of the transform of N real numbers; the others are their conjugates.
///
/// Even and odd entries are packed as real and imaginary parts of N/2 complex numbers and go through one
/// transform; a last butterfly separates them, so the error is still within [`error_bound`].
pub fn real_transform(packed: &mut Vec<Complex>) {
    let half = packed.len();
    transform(packed);
    packed.push(packed[0]);
    let table = twiddles(half.trailing_zeros() as usize + 1);
    let apart = |here: Complex, there: Complex, w: Complex| {
        let even = Complex { re: 0.5 * (here.re + there.re), im: 0.5 * (here.im - there.im) };
        // (here − conj there)/2i.
        let odd = Complex { re: 0.5 * (here.im + there.im), im: 0.5 * (there.re - here.re) };
        butterfly(even, odd, w).0
    };
    for k in 0..=half / 2 {
        let (here, there) = (packed[k], packed[half - k]);
        // e^{−2πi(N/2−k)/N} = −conj(e^{−2πik/N}).
        let w = table[k];
        packed[k] = apart(here, there, w);
        packed[half - k] = apart(there, here, Complex { re: -w.re, im: w.im });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_power_of_the_transform_is_a_convolution() {
        let masses = [0.5, 0.25, 0.125, 0.125];
        let mut direct = [0.0; 16];
        for (i, a) in masses.iter().enumerate() {
            for (j, b) in masses.iter().enumerate() {
                for (k, c) in masses.iter().enumerate() {
                    direct[i + j + k] += a * b * c;
                }
            }
        }
        let mut data = [Complex { re: 0.0, im: 0.0 }; 16];
        masses.iter().zip(&mut data).for_each(|(mass, x)| x.re = *mass);
        transform(&mut data);
        data.iter_mut().for_each(|x| *x = x.power(3));
        data.iter_mut().for_each(|x| x.im = -x.im);
        transform(&mut data);
        for (want, got) in direct.iter().zip(&data) {
            assert!((want - got.re / 16.0).abs() < 2.0 * error_bound(4), "{want} {got:?}");
        }
    }

    #[test]
    fn real_numbers_have_the_same_transform() {
        for bits in [1, 2, 5, 10] {
            let points = 1_usize << bits;
            let data: Vec<f64> = (0..points).map(|k| libm::sin(1.0 + (k * k) as f64)).collect();
            let mut whole: Vec<Complex> =
                data.iter().map(|re| Complex { re: *re, im: 0.0 }).collect();
            transform(&mut whole);
            let total: f64 = data.iter().map(|x| x.abs()).sum();
            let mut packed: Vec<Complex> =
                data.chunks_exact(2).map(|pair| Complex { re: pair[0], im: pair[1] }).collect();
            real_transform(&mut packed);
            assert_eq!(packed.len(), points / 2 + 1);
            for (k, got) in packed.iter().enumerate() {
                let gap = (got.re - whole[k].re).abs().max((got.im - whole[k].im).abs());
                assert!(gap <= error_bound(bits) * total, "{bits} {k}: {gap}");
            }
        }
    }

    #[test]
    fn turns_go_round() {
        for k in [0_u32, 1, 7, 8, 15, 16, 1_000_003] {
            let (sin, cos) = libm::sincos(std::f64::consts::PI * f64::from(k % 16) / 8.0);
            let got = turn(4, k.into());
            assert!((got.re - cos).abs() < 1e-15 && (got.im - sin).abs() < 1e-15, "{k}");
        }
    }
}
