//! Minimises a quadratic whose small eigenvalues are raised, in a ball, with a proved distance.
//!
//! A is symmetric, f(A) its matrix with every eigenvalue λ replaced by max(λ, Δ), and θ* minimises
//! ½θᵀf(A)θ − ⟨c, θ⟩ over ‖θ‖ ≤ B. [`MatrixFunction::minimiser`] returns θ̃ with a bound on ‖θ̃ − θ*‖ that
//! includes everything: the decomposition, the arithmetic, and the errors of A and c themselves.
//!
//! **Theorem.** Let Q̂, Λ̂ be any arrays, Λ̂ diagonal, m = max(Λ̂, Δ), M̂ = Q̂·m·Q̂ᵀ, t ≥ max m,
//! max|Λ̂|, and let φ ≥ ‖Q̂ᵀQ̂ − I‖_F, φ ≤ 10⁻³, e ≥ ‖A − Q̂Λ̂Q̂ᵀ‖_F, d_c ≥ ‖c − ĉ‖. For any θ̃ and
//! ν ≥ 0 put r = M̂θ̃ + νθ̃ − ĉ, ρ = 1.01‖r‖/(Δ + ν), and g = |B − ‖θ̃‖| where ν > 0, (‖θ̃‖ + ρ − B)₊
//! where ν = 0. Then
//!
//! **‖θ̃ − θ*‖ ≤ ((e + 6φt)·B + d_c)/Δ + ρ + 1.02·√(t/Δ)·(g + ρ)**, the last term being 0 if ν = 0 and
//! g = 0.
//!
//! *Proof.* Q̂ = QH, Q orthogonal and H = (Q̂ᵀQ̂)^½, so ‖Q̂ − Q‖_F = ‖H − I‖_F ≤ φ, as
//! |s − 1| ≤ |s² − 1| for each singular value s. So A′ = QΛ̂Qᵀ is within 2.5φt of Q̂Λ̂Q̂ᵀ and
//! f(A′) = QmQᵀ within 2.5φt of M̂, in the Frobenius norm, in which f is 1-Lipschitz:
//! ‖f(A) − M̂‖_F ≤ e + 6φt.
//!
//! *θ′, the minimiser for M̂ and ĉ in the ball.* θ* and θ′ satisfy ⟨f(A)θ* − c, θ′ − θ*⟩ ≥ 0 and
//! ⟨M̂θ′ − ĉ, θ* − θ′⟩ ≥ 0. Added, ⟨f(A)(θ* − θ′), θ* − θ′⟩ ≤ ⟨(M̂ − f(A))θ′ + c − ĉ, θ* − θ′⟩, and
//! f(A) ⪰ Δ: the first term of the bound.
//!
//! *θ_ν = (M̂ + ν)⁻¹ĉ.* M̂ ⪰ (1 − φ)²Δ ≥ Δ/1.01, so ‖θ̃ − θ_ν‖ ≤ ρ. θ′ is θ_ν′ for some ν′ ≥ 0, of norm
//! B unless ν′ = 0. Along the path from ν to ν′, with K = (M̂ + ν)⁻¹, dθ = −Kθ dν and
//! d‖θ‖ = −(⟨θ, Kθ⟩/‖θ‖)dν, and by Kantorovich's inequality ‖θ‖‖Kθ‖ ≤ ½(√κ + 1/√κ)·⟨θ, Kθ⟩ ≤ √κ·⟨θ, Kθ⟩,
//! κ ≤ 1.03·t/Δ the condition of M̂: the path is at most √κ times as long as its norm, which is monotone
//! in ν, changes. If ν > 0 that change is at most |B − ‖θ_ν‖| ≤ g + ρ
//! (for ν′ = 0 too: then ‖θ_ν‖ ≤ ‖θ′‖ ≤ B). If ν = 0, θ_ν is θ′ unless ‖θ_ν‖ > B, and then it is
//! ‖θ_ν‖ − B ≤ g. ∎
//!
//! - e, φ are computed in f64, u = 2⁻⁵³. By the usual bound for products, in any order of summation,
//!   rounding changes them by at most 1.1·p(p + 8)u·t and 1.1·p(p + 8)u: |q|ᵀ|q| sums to at most 1.01p
//!   over the diagonal. Both are added.
//! - r is computed in double-double: its own error, below 2⁻⁹⁰(t + ν)·p·(‖θ̃‖ + ‖ĉ‖/Δ), is added.
//! - [`Sizes::largest_distance`] is the value of the bound from public sizes: backward errors of the
//!   decomposition of p(p + 8)u·t and p(p + 8)u, more than any that were observed, and a θ̃ accurate to
//!   64√p·u.
//!
//! Tested by `the_bound_holds_and_stays_below_what_was_planned` and `tests/all/linear.rs` of
//! `privet-learn`.

use crate::double_double::DoubleDouble;
use crate::spectrum::Spectrum;

/// The unit round-off 2⁻⁵³.
const UNIT: f64 = f64::EPSILON / 2.0;

/// Upper bound on rounding, or on the error of a decomposition, relative to its size.
fn product_error(columns: usize) -> f64 {
    let p = columns as f64;
    p * (p + 8.0) * UNIT
}

fn norm(vector: &[f64]) -> f64 {
    vector.iter().map(|x| x * x).sum::<f64>().sqrt()
}

/// Public sizes of a problem, known before its records.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sizes {
    /// The number of columns p.
    pub columns: usize,
    /// Upper bound on the largest eigenvalue of A.
    pub largest: f64,
    /// The eigenvalue floor Δ.
    pub floor: f64,
    /// The ball's radius B.
    pub bound: f64,
    /// Upper bound on ‖c‖.
    pub pull: f64,
}

impl Sizes {
    /// The value that the proved distance is expected not to exceed for any problem of these sizes.
    pub fn largest_distance(&self) -> f64 {
        let Self { columns, floor, bound, pull, .. } = *self;
        let top = 1.001 * self.largest.max(floor);
        let root = (columns as f64).sqrt();
        let known = 16.0 * product_error(columns) * top * bound / floor + 4.0 * UNIT * pull / floor;
        let solved = 64.0 * root * UNIT * bound * top / floor;
        known + solved + 1.02 * (top / floor).sqrt() * (16.0 * root * UNIT * bound + solved)
    }
}

/// The matrix f(A), by its decomposition.
pub struct MatrixFunction {
    spectrum: Spectrum,
    raised: Vec<f64>,
    floor: f64,
    /// The bound t on eigenvalues.
    top: f64,
    /// The error e + 6φt of the matrix.
    error: f64,
    /// The non-orthogonality φ of the eigenvectors.
    skew: f64,
}

/// A point with an upper bound on its distance to the exact minimiser.
pub struct Approximate {
    /// The point θ̃.
    pub theta: Vec<f64>,
    /// Upper bound on ‖θ̃ − θ*‖; infinite where nothing is proved.
    pub distance: f64,
}

/// Withheld: derived from records, without noise.
impl std::fmt::Debug for Approximate {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Near(withheld)")
    }
}

/// Withheld: derived from records, without noise.
impl std::fmt::Debug for MatrixFunction {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Raised(withheld)")
    }
}

impl MatrixFunction {
    /// The decomposition of a symmetric row-major matrix whose entries are each the nearest `f64` to
    /// those of A. `None` as for [`Spectrum::of`].
    pub fn of(matrix: &[f64], columns: usize, floor: f64) -> Option<Self> {
        let spectrum = Spectrum::of(matrix, columns)?;
        let raised: Vec<f64> = spectrum.values().iter().map(|value| value.max(floor)).collect();
        let top = spectrum.values().iter().fold(floor, |top, value| top.max(value.abs()));
        let (residual, skew) = spectrum.defects(matrix);
        let rounding = 1.1 * product_error(columns);
        let skew = 1.001 * skew + rounding;
        let error = 1.001 * residual + rounding * top + UNIT * 1.001 * norm(matrix);
        let error = 1.001 * (error + 6.0 * skew * top);
        Some(Self { spectrum, raised, floor, top, error, skew })
    }

    /// The point θ̃ for a ĉ within distance `off` of c.
    pub fn minimiser(&self, pull: &[f64], off: f64, bound: f64) -> Option<Approximate> {
        let (coordinates, multiplier) = self.in_ball(pull, bound)?;
        let mut theta = self.spectrum.combination(&coordinates);
        // One step of refinement, by the residual that f64 lost.
        let (residual, _) = self.residual(&theta, multiplier, pull);
        let mut step = self.spectrum.coordinates(&residual);
        step.iter_mut().zip(&self.raised).for_each(|(s, m)| *s /= m + multiplier);
        let step = self.spectrum.combination(&step);
        theta.iter_mut().zip(step).for_each(|(t, s)| *t -= s);
        let distance = self.distance(&theta, multiplier, pull, off, bound);
        Some(Approximate { theta, distance })
    }

    /// The bound of the theorem.
    fn distance(&self, theta: &[f64], multiplier: f64, pull: &[f64], off: f64, bound: f64) -> f64 {
        if self.skew.is_nan() || self.skew > 1e-3 {
            return f64::INFINITY;
        }
        let (residual, own) = self.residual(theta, multiplier, pull);
        let near = 1.01 * (norm(&residual) + own) / (self.floor + multiplier);
        let size = norm(theta);
        // The norm's own rounding.
        let slack = (theta.len() as f64 + 4.0) * UNIT * size;
        let gap = if multiplier > 0.0 {
            (bound - size).abs() + slack
        } else {
            (size + slack + near - bound).max(0.0)
        };
        let path = if multiplier > 0.0 || gap > 0.0 {
            1.02 * (self.top / self.floor).sqrt() * (gap + near)
        } else {
            0.0
        };
        1.001 * ((self.error * bound + off) / self.floor + near + path)
    }

    /// The residual M̂θ + νθ − ĉ rounded from double-double, and a bound on its error.
    fn residual(&self, theta: &[f64], multiplier: f64, pull: &[f64]) -> (Vec<f64>, f64) {
        let product = self.spectrum.precise_product(theta, &self.raised);
        let rest = product.into_iter().zip(theta).zip(pull).map(|((product, t), c)| {
            (product + DoubleDouble::from(*t).times(multiplier) + DoubleDouble::from(-c)).high
        });
        let columns = theta.len() as f64;
        let sizes = norm(theta) + norm(pull) / self.floor;
        (rest.collect(), 2_f64.powi(-90) * (self.top + multiplier) * columns * sizes)
    }

    /// The solution in the eigenbasis, with ν: found by bisection on the norm, which falls with ν.
    fn in_ball(&self, pull: &[f64], bound: f64) -> Option<(Vec<f64>, f64)> {
        let pull = self.spectrum.coordinates(pull);
        let at = |multiplier: f64| -> Vec<f64> {
            pull.iter().zip(&self.raised).map(|(c, m)| c / (m + multiplier)).collect()
        };
        let (mut low, mut high) = (0.0, norm(&pull) / bound);
        if !high.is_finite() {
            return None;
        }
        if norm(&at(0.0)) <= bound {
            return Some((at(0.0), 0.0));
        }
        // At ν = ‖pull‖/B the norm is at most B.
        while high - low > f64::EPSILON * high {
            let middle = 0.5 * (low + high);
            if middle <= low || middle >= high {
                break;
            }
            if norm(&at(middle)) > bound { low = middle } else { high = middle }
        }
        Some((at(high), high))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Lcg;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(200))]
        /// A = Q·diag·Qᵀ with Q a product of reflections of powers of two, so that f(A) is known
        /// exactly; the minimiser is then found in double-double by bisection on its own path.
        #[test]
        fn the_bound_holds_and_stays_below_what_was_planned(
            seed in any::<u64>(), spread in 0_i32..30, size in -3_i32..12, inside in any::<bool>()
        ) {
            // Q = ½·(a Hadamard matrix of order 4): orthogonal and exact.
            const SIGNS: [[f64; 4]; 4] =
                [[1.0, 1.0, 1.0, 1.0], [1.0, -1.0, 1.0, -1.0], [1.0, 1.0, -1.0, -1.0], [1.0, -1.0, -1.0, 1.0]];
            let mut random = Lcg(seed);
            let floor = 1.5;
            // Integers over 2: entries of A are exact.
            let values: [f64; 4] = std::array::from_fn(|i| {
                (random.centred().abs() * 2_f64.powi(spread * i as i32 / 3)).round()
            });
            let entry = |j: usize, k: usize| (0..4).map(|i| 0.25 * SIGNS[i][j] * SIGNS[i][k] * values[i]).sum();
            let matrix: Vec<f64> = (0..16).map(|at| entry(at / 4, at % 4)).collect();
            let pull: Vec<f64> = (0..4).map(|_| random.centred() * 2_f64.powi(size)).collect();
            let bound = if inside { 2_f64.powi(size + 3) } else { 2_f64.powi(size - 6) };
            let raised = MatrixFunction::of(&matrix, 4, floor).unwrap();
            let near = raised.minimiser(&pull, 0.0, bound).unwrap();
            // The exact solution, in the known basis.
            let dot = |i: usize, v: &[DoubleDouble]| (0..4).fold(DoubleDouble::ZERO, |sum, j| sum + v[j].times(0.5 * SIGNS[i][j]));
            let exact: Vec<DoubleDouble> = pull.iter().map(|c| DoubleDouble::from(*c)).collect();
            let along: Vec<DoubleDouble> = (0..4).map(|i| dot(i, &exact)).collect();
            let at = |nu: DoubleDouble| -> Vec<DoubleDouble> {
                (0..4).map(|i| along[i] * (DoubleDouble::from(values[i].max(floor)) + nu).reciprocal()).collect()
            };
            let square = |v: &[DoubleDouble]| v.iter().fold(DoubleDouble::ZERO, |sum, x| sum + *x * *x);
            let limit = DoubleDouble::from(bound) * DoubleDouble::from(bound);
            let (mut low, mut high) = (DoubleDouble::ZERO, DoubleDouble::from(norm(&pull) / bound * 1.01));
            if !(square(&at(low)) - limit).is_positive() {
                high = low;
            }
            for _ in 0..110 {
                let middle = (low + high).times(0.5);
                if (square(&at(middle)) - limit).is_positive() { low = middle } else { high = middle }
            }
            let truth = at(high);
            let found: Vec<DoubleDouble> = near.theta.iter().map(|t| DoubleDouble::from(*t)).collect();
            let off: Vec<DoubleDouble> = (0..4).map(|i| dot(i, &found) + truth[i].times(-1.0)).collect();
            let off = square(&off).high.max(0.0).sqrt();
            prop_assert!(off <= near.distance, "{off} > {}", near.distance);
            let sizes = Sizes {
                columns: 4, largest: values.iter().copied().fold(0.0, f64::max), floor, bound, pull: norm(&pull),
            };
            prop_assert!(near.distance <= sizes.largest_distance(), "{} > {}", near.distance, sizes.largest_distance());
        }
    }

    #[test]
    fn nothing_of_the_records_is_printed() {
        let raised = MatrixFunction::of(&[3.25], 1, 1.0).unwrap();
        let near = raised.minimiser(&[3.25], 0.0, 2.0).unwrap();
        assert_eq!(near.theta, [1.0]);
        assert_eq!(format!("{raised:?}{near:?}"), "Raised(withheld)Near(withheld)");
    }
}
