//! Loops over rows, compiled for each loss on its own so that each is vectorised.

use super::LossPoint;

const LANES: usize = 8;

/// A loop over rows that can be compiled for each loss.
pub(super) trait Loop {
    type Output;
    fn over(self, loss: impl Fn(f64, f64) -> LossPoint) -> Self::Output;
}

/// Writes ℓ′; returns Σℓ and Σ|ℓ′|.
pub(super) struct Sums<'a> {
    pub margins: &'a [f64],
    pub labels: &'a [f64],
    pub derivatives: &'a mut [f64],
}

impl Loop for Sums<'_> {
    type Output = (f64, f64);

    #[inline(always)]
    fn over(self, loss: impl Fn(f64, f64) -> LossPoint) -> (f64, f64) {
        let (mut values, mut sizes) = ([0.0; LANES], [0.0; LANES]);
        let (u, u_rest) = self.margins.as_chunks::<LANES>();
        let (y, y_rest) = self.labels.as_chunks::<LANES>();
        let (d, d_rest) = self.derivatives.as_chunks_mut::<LANES>();
        for ((u, y), d) in u.iter().zip(y).zip(d) {
            for lane in 0..LANES {
                let point = loss(u[lane], y[lane]);
                values[lane] += point.value;
                sizes[lane] += point.derivative.abs();
                d[lane] = point.derivative;
            }
        }
        for ((&u, &y), d) in u_rest.iter().zip(y_rest).zip(d_rest) {
            let point = loss(u, y);
            values[0] += point.value;
            sizes[0] += point.derivative.abs();
            *d = point.derivative;
        }
        (values.iter().sum(), sizes.iter().sum())
    }
}

/// Writes one number of every row's point; numbers needed only by the others are not computed.
pub(super) struct WriteRows<'a, O> {
    pub margins: &'a [f64],
    pub labels: &'a [f64],
    pub written: &'a mut [f64],
    pub of: O,
}

impl<O: Fn(LossPoint) -> f64> Loop for WriteRows<'_, O> {
    type Output = ();

    #[inline(always)]
    fn over(self, loss: impl Fn(f64, f64) -> LossPoint) {
        for ((w, &u), &y) in self.written.iter_mut().zip(self.margins).zip(self.labels) {
            *w = (self.of)(loss(u, y));
        }
    }
}
