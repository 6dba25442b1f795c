//! Connecting the dots of a curve, with all digits where losses are tiny.
//!
//! **Setting.** H(x), x = e^e, is convex and falls from 1 at x = 0; bounds v_k ≥ H(x_k) are known at dots
//! x_k = e^{l_k}. The largest convex function below the dots is the curve C of a loss with mass
//! pₖ = xₖ(sₖ−sₖ₊₁) at l_k, sₖ the fall −C′ before xₖ, and v of the last dot at ∞ (see
//! [`super::distribution`]).
//!
//! **Digits.** For losses of 10⁻¹⁰ all x are 1 and all falls left of 0 are 1, up to 10⁻¹⁰. So nothing
//! here is a difference of such numbers: dots are given by w = v−(1−x)₊, the excess over the curve of a
//! mechanism without loss; widths are x_i(e^{l_j−l_i}−1), and l_j−l_i is exact ([`exact_step`]); a fall
//! is kept both as s and as 1−s = (w_j−w_i)/(x_j−x_i) left of 0.
//!
//! **Error.** A loss with these masses and the *rest* of probability at 0 dominates if its curve is at
//! least v at every dot. Right of 0 that is Σ_{j>k}sⱼ(xⱼ−xⱼ₋₁)+v_∞ = v_k, each summand to a few units u
//! in its last place as falls and masses are; left of 0 it is v_k up to a few x_k·w(0)·u, by the same
//! sum (w is convex on either side, so (1−x_k)·(its slope there) ≤ w(0)). Masses above 0 are therefore
//! multiplied by 1+[`MASS_RAISE`], which raises the curve by more than that at every dot. Hence errors are
//! *relative to w*, however small: relative errors of E e^{sU}−1, not of E e^{sU}.

/// Relative amount by which masses above 0 are raised.
const MASS_RAISE: f64 = 64.0 * f64::EPSILON;
/// Largest number of significant bits of the dots' indices; steps have the remaining bits.
const INDEX_BITS: u32 = 18;

/// A slightly wider step whose multiples by indices as of [`exact_index`] are all exact.
pub fn exact_step(step: f64) -> f64 {
    let cut = (1_u64 << INDEX_BITS) - 1;
    // Adding to the bits of a positive number rounds up, into the next binade where need be.
    f64::from_bits((step.max(f64::MIN_POSITIVE).to_bits() + cut) & !cut)
}

/// A positive index with its last bits rounded up, so that it has few enough.
pub fn exact_index(index: i64) -> i64 {
    let bits = i64::BITS - index.leading_zeros();
    let cut = (1_i64 << bits.saturating_sub(INDEX_BITS)) - 1;
    (index + cut) & !cut
}

/// A fall s, and 1 − s: one of the two has all its digits.
#[derive(Debug, Clone, Copy)]
struct Fall {
    fall: f64,
    lack: f64,
}

impl Fall {
    /// The difference self − other.
    fn less(self, other: Self) -> f64 {
        if self.fall <= 0.5 && other.fall <= 0.5 {
            self.fall - other.fall
        } else {
            other.lack - self.lack
        }
    }
}

/// The dots of a curve.
#[derive(Debug)]
pub struct Dots<'a> {
    /// The losses l in units of the step, increasing.
    pub index: &'a [i64],
    /// The abscissae x = e^l.
    pub x: &'a [f64],
    /// The excess w = v − (1−x)₊.
    pub w: &'a [f64],
    /// The width of a step.
    pub step: f64,
}

impl Dots<'_> {
    /// The width x_j − x_i.
    pub fn width(&self, i: usize, j: usize) -> f64 {
        self.x[i] * libm::expm1((self.index[j] - self.index[i]) as f64 * self.step)
    }

    /// The fall from dot i to dot j > i; from x = 0 where i is `None`.
    fn fall_between(&self, i: Option<usize>, j: usize) -> Fall {
        let (w_i, w_j) = (i.map_or(0.0, |i| self.w[i]), self.w[j]);
        let left = i.is_none_or(|i| self.index[i] < 0);
        if self.index[j] <= 0 {
            let width = i.map_or(self.x[j], |i| self.width(i, j));
            let lack = (w_j - w_i) / width;
            return Fall { fall: 1.0 - lack, lack };
        }
        if !left {
            let fall = i.map_or(0.0, |i| (w_i - w_j) / self.width(i, j));
            return Fall { fall, lack: 1.0 - fall };
        }
        // From one side of 0 to the other: 1−x_i and x_j−1 are both positive.
        let before = i.map_or(1.0, |i| -libm::expm1(self.index[i] as f64 * self.step));
        let after = libm::expm1(self.index[j] as f64 * self.step);
        let (width, drop) = (before + after, w_i - w_j);
        Fall { fall: (before + drop) / width, lack: (after - drop) / width }
    }

    /// Masses of the largest convex function below the dots and (0, 1); `None` on overflow.
    pub fn masses(&self) -> Option<Vec<f64>> {
        // Lower hull by a stack.
        let mut hull: Vec<(usize, Fall)> = Vec::with_capacity(self.x.len());
        for k in 0..self.x.len() {
            let fall = loop {
                let fall = self.fall_between(hull.last().map(|(last, _)| *last), k);
                if !fall.fall.is_finite() || !fall.lack.is_finite() {
                    return None;
                }
                match hull.last() {
                    Some((_, before)) if before.less(fall) <= 0.0 => hull.pop(),
                    _ => break fall,
                };
            };
            hull.push((k, if fall.fall > 0.0 { fall } else { Fall { fall: 0.0, lack: 1.0 } }));
        }
        let mut mass = vec![0.0; self.x.len()];
        for (place, (k, before)) in hull.iter().enumerate() {
            let end = Fall { fall: 0.0, lack: 1.0 };
            let after = hull.get(place + 1).map_or(end, |(_, fall)| *fall);
            let raised = if self.index[*k] > 0 { 1.0 + MASS_RAISE } else { 1.0 };
            mass[*k] = self.x[*k] * before.less(after).max(0.0) * raised;
        }
        Some(mass)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn multiples_of_exact_steps_are_exact() {
        for step in [1e-9, 0.1, 1.0 / 3.0, 7e-300, 1e300, 2.0 - f64::EPSILON] {
            let exact = exact_step(step);
            assert!(exact >= step && exact <= step * (1.0 + 1e-10), "{step}");
            for index in [1, 3, 200_001, 262_143, 262_145, 1_000_000_007, 999_999_999_999] {
                let index = {
                    let exact = exact_index(index);
                    assert!(exact >= index && exact as f64 <= index as f64 * (1.0 + 1e-5));
                    exact
                };
                let product = index as f64 * exact;
                if product.is_finite() {
                    assert_eq!(libm::fma(index as f64, exact, -product), 0.0, "{step} {index}");
                }
            }
        }
    }

    /// Randomised response is its own hull, at every scale: masses 1/(1+e^{∓ε}) on its two losses.
    #[test]
    fn two_atoms_keep_their_digits() {
        for scale in [1.0, 1e-3, 1e-9, 1e-15, 1e-30, 1e-200] {
            let step = exact_step(scale / 8.0);
            let epsilon = 8.0 * step;
            let index: Vec<i64> = (-10..=10).collect();
            let x: Vec<f64> = index.iter().map(|k| libm::exp(*k as f64 * step)).collect();
            let w: Vec<f64> = index
                .iter()
                .map(|k| {
                    let away = (k.abs() as f64 * step - epsilon).min(0.0);
                    let least = libm::exp((*k.min(&0)) as f64 * step);
                    least * -libm::expm1(away) / (1.0 + libm::exp(-epsilon))
                })
                .collect();
            let mass = Dots { index: &index, x: &x, w: &w, step }.masses().unwrap();
            // Rounding of values makes traces of mass between the two; they carry no moment.
            let mean: f64 = index.iter().zip(&mass).map(|(k, m)| *k as f64 * step * m).sum();
            let spread: f64 = index
                .iter()
                .zip(&mass)
                .map(|(k, m)| (*k as f64 / 8.0) * (*k as f64 / 8.0) * m)
                .sum();
            let want = libm::tanh(epsilon / 2.0) * epsilon;
            assert!((spread - 1.0).abs() < 1e-12, "{scale}: {spread}");
            assert!((mean - want).abs() < 1e-12 * (epsilon + want), "{scale}: {mean} {want}");
        }
    }
}
