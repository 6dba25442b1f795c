//! Clipping: the step that every sensitivity rests on.
//!
//! **Claim.** For every finite row x, radius R and norm, [`Clip::apply`] returns integers k with
//! the *exact* bound ‖k·g‖ ≤ R, where g = 2^(e−23) and 2^e is the least power of two ≥ R. The
//! products k·g are `f32` numbers, so the stored row obeys the bound with no rounding term.
//!
//! *Proof.* Let ρ = R/g, exact in `f64` since g is a power of two, 2²² < ρ ≤ 2²³.
//! - L∞: k = trunc(clamp(x/g, −ρ, ρ)); division by a power of two is exact (or ends below 1 and
//!   truncates to 0), so |k| ≤ ρ.
//! - L2: a factor f ≤ 1 is computed in floating point, k = trunc(f·x/g). Nothing is assumed about
//!   the accuracy of f: Σk² is summed in `u128` and compared with ⌊ρ²⌋, itself an exact integer
//!   (ρ·2³⁰ is an integer of 53 bits). Σk² ≤ ⌊ρ²⌋ ⇔ ‖k·g‖₂ ≤ R since Σk² is an integer. While it
//!   fails, f shrinks by one part in 2³⁰; the row of zeros, which passes, is the last resort.
//! - |k| ≤ ρ ≤ 2²³ has at most 24 bits, and e − 23 ≥ −42, so k·g is a normal `f32` or zero. ∎
//!
//! In real arithmetic the L2 map is x·min(1, R/‖x‖₂), then truncation toward zero, or with
//! [`Rows::Fill`] x·R/‖x‖₂ for x ≠ 0; it is a pure function of one record, so replacing one record
//! changes one stored row. Filling only changes f, of which nothing is assumed.
//! - Tested by `the_exact_norm_never_exceeds_the_radius`, with rows placed around the boundary.

use crate::{
    matrix::DenseMatrix,
    schema::{ClipFacts, Norm, Rows},
};

/// Fractional bits of an entry relative to the power of two above the radius.
const GRID_BITS: i32 = 23;
/// Above this magnitude squares could overflow; such rows are divided by their largest entry first.
const LARGE_MAGNITUDE: f64 = 1e100;

/// A clipping rule with its grid.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Clip {
    norm: Norm,
    radius: f64,
    /// True if rows of a smaller norm are scaled up to the radius.
    fill: bool,
    /// Grid steps per unit, 1/g.
    per_grid: f64,
    /// The radius in grid steps, ρ.
    grid_radius: f64,
    /// Upper bound on the squared norm in grid steps, ⌊ρ²⌋.
    grid_radius_squared: u128,
    grid_exponent: i32,
}

impl Clip {
    /// The rule of a checked schema.
    ///
    /// # Panics
    /// If the radius is outside [`crate::schema::RADIUS`]; a checked schema's never is.
    pub fn new(facts: ClipFacts) -> Self {
        let ClipFacts { norm, radius, rows } = facts;
        assert!(crate::schema::RADIUS.check(radius).is_ok(), "unchecked radius {radius}");
        let grid_exponent = ceil_log2(radius) - GRID_BITS;
        let per_grid = libm::exp2(f64::from(-grid_exponent));
        let grid_radius = radius * per_grid;
        let fixed = (grid_radius * f64::from(1 << 30)) as u128;
        Self {
            norm,
            radius,
            fill: rows == Rows::Fill,
            per_grid,
            grid_radius,
            grid_radius_squared: (fixed * fixed) >> 60,
            grid_exponent,
        }
    }

    /// The same rule on a coarser grid: the grid of rows whose Euclidean norm is at most `length`, on
    /// which exact sums of such rows are computed. Entries clamped one by one (L∞) would otherwise lie
    /// between its points. A pure function of public numbers; the bound holds as before, since
    /// k = trunc(clamp(x/g, −R/g, R/g)) for any g.
    pub fn on_grid_of(self, length: f64) -> Self {
        if self.norm != Norm::Linf || !length.is_finite() {
            return self;
        }
        let grid_exponent = self.grid_exponent.max(ceil_log2(length) - GRID_BITS);
        let per_grid = libm::exp2(f64::from(-grid_exponent));
        Self { per_grid, grid_radius: self.radius * per_grid, grid_exponent, ..self }
    }

    /// The norm that is bounded.
    pub fn norm(&self) -> Norm {
        self.norm
    }

    /// The radius R.
    pub fn radius(&self) -> f64 {
        self.radius
    }

    /// The exponent of g: every stored entry is an integer times 2 to this power.
    pub fn grid_exponent(&self) -> i32 {
        self.grid_exponent
    }

    /// Clips the row and truncates it to the grid. Values must be finite; one that is not becomes zero.
    pub fn apply<T: Entry>(&self, row: &mut [T]) {
        match self.norm {
            Norm::Linf => {
                let bound = self.grid_radius;
                for entry in row {
                    let value = entry.get();
                    let steps = truncate((value * self.per_grid).clamp(-bound, bound));
                    entry.set(if value.is_finite() { steps / self.per_grid } else { 0.0 });
                }
            }
            Norm::L2 => self.apply_l2(row),
        }
    }

    fn apply_l2<T: Entry>(&self, row: &mut [T]) {
        let mut largest = 0.0_f64;
        let mut squared = 0.0_f64;
        for entry in row.iter_mut() {
            let value = entry.get();
            if !value.is_finite() {
                entry.set(0.0);
                continue;
            }
            largest = largest.max(value.abs());
            squared += value * value;
        }
        // Squares would leave the range of f64: for large entries, and when filling also for small
        // ones.
        let extreme = largest > LARGE_MAGNITUDE
            || (self.fill && largest > 0.0 && largest < 1.0 / LARGE_MAGNITUDE);
        if extreme {
            squared = 0.0;
            for entry in row.iter_mut() {
                let value = entry.get() / largest;
                entry.set(value);
                squared += value * value;
            }
        }
        let norm = squared.sqrt();
        let scaled = extreme || norm > self.radius || (self.fill && norm > 0.0);
        let mut factor = if scaled { self.radius / norm } else { 1.0 };
        for _ in 0..64 {
            let scale = factor * self.per_grid;
            let steps = |value: f64| truncate(value * scale);
            let total = row.iter().map(|entry| steps(entry.get())).try_fold(0_u128, |sum, k| {
                // ρ < 2²⁴: a larger entry alone breaks the bound (and would overflow below).
                (k.abs() <= 16_777_216.0).then(|| sum + u128::from((k.abs() as u64).pow(2)))
            });
            if total.is_some_and(|total| total <= self.grid_radius_squared) {
                row.iter_mut().for_each(|entry| entry.set(steps(entry.get()) / self.per_grid));
                return;
            }
            factor *= 1.0 - 1.0 / f64::from(1 << 30);
        }
        row.iter_mut().for_each(|entry| entry.set(0.0));
    }

    /// Clips every row of a plain row-major table, for rows that do not come from a file; entries that
    /// are not finite become zero.
    ///
    /// # Panics
    /// If the length is not `rows · columns`.
    pub fn dense(&self, values: &[f64], rows: usize, columns: usize) -> DenseMatrix {
        let mut clipped = values.to_vec();
        if columns > 0 {
            clipped.chunks_mut(columns).for_each(|row| self.apply(row));
        }
        DenseMatrix::new(clipped.iter().map(|&value| value as f32).collect(), rows, columns)
    }
}

/// A number truncated toward zero: exact below 2⁶³; beyond that 2⁶³, which no grid reaches. Unlike
/// `f64::trunc`, one instruction on every machine.
fn truncate(value: f64) -> f64 {
    (value as i64) as f64
}

/// The least e with 2^e ≥ value, for positive normal values.
fn ceil_log2(value: f64) -> i32 {
    let bits = value.to_bits();
    let exponent = ((bits >> 52) & 0x7ff) as i32 - 1023;
    exponent + i32::from(bits & ((1 << 52) - 1) != 0)
}

/// Access to one entry's value.
pub trait Entry {
    /// Its value.
    fn get(&self) -> f64;
    /// Replaces the value.
    fn set(&mut self, value: f64);
}

impl Entry for f64 {
    fn get(&self) -> f64 {
        *self
    }
    fn set(&mut self, value: f64) {
        *self = value;
    }
}

impl Entry for (u32, f64) {
    fn get(&self) -> f64 {
        self.1
    }
    fn set(&mut self, value: f64) {
        self.1 = value;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Σ(x/g)² and (R/g)², both exactly: R = M·2^q gives ρ² as a ratio of integers.
    fn exact_norm_is_within(row: &[f64], radius: f64) -> bool {
        let e = ceil_log2(radius);
        let steps: Vec<u128> = row
            .iter()
            .map(|&x| {
                let k = x * 2_f64.powi(GRID_BITS - e);
                assert_eq!(k.fract(), 0.0, "off the grid");
                assert_eq!(f64::from(x as f32), x, "does not fit f32");
                k.abs() as u128
            })
            .collect();
        let sum: u128 = steps.iter().map(|k| k * k).sum();
        let mantissa = u128::from(radius.to_bits() & ((1 << 52) - 1) | (1 << 52));
        let power = ((radius.to_bits() >> 52) & 0x7ff) as i32 - 1075;
        // sum · g² ≤ M²·2^(2q)  ⇔  sum · 2^(2(e−23−q)) ≤ M²
        let shift = 2 * (e - GRID_BITS - power);
        assert!((0..=62).contains(&shift), "shift {shift}");
        sum.checked_mul(1 << shift).is_some_and(|left| left <= mantissa * mantissa)
    }

    fn any_entry() -> impl Strategy<Value = f64> {
        prop_oneof![
            4 => -2.0..2.0_f64,
            1 => Just(0.0),
            1 => Just(1.0),
            1 => any::<f64>().prop_filter("finite", |x| x.is_finite()),
            1 => (-30..30_i32).prop_map(|e| 2_f64.powi(e)),
        ]
    }

    fn any_radius() -> impl Strategy<Value = f64> {
        prop_oneof![
            Just(1.0),
            1e-6..1e6_f64,
            (-19..19_i32).prop_map(|e| 2_f64.powi(e)),
            (-19..19_i32).prop_map(|e| 2_f64.powi(e).next_up()),
        ]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(20_000))]
        #[test]
        fn the_exact_norm_never_exceeds_the_radius(
            mut row in prop::collection::vec(any_entry(), 1..40),
            radius in any_radius(),
            on_boundary in any::<bool>(),
        ) {
            if on_boundary {
                // A row whose computed norm is the radius to within rounding: the hardest case.
                let norm = row.iter().map(|x| x * x).sum::<f64>().sqrt();
                if norm.is_normal() {
                    row.iter_mut().for_each(|x| *x *= radius / norm);
                }
            }
            let before = row.clone();
            Clip::new(ClipFacts { norm: Norm::L2, radius, rows: Rows::Clip }).apply(&mut row);
            prop_assert!(exact_norm_is_within(&row, radius), "{row:?} beyond {radius}");
            for (x, y) in before.iter().zip(&row) {
                prop_assert!(y.abs() <= x.abs() && x * y >= 0.0, "{x} → {y}");
            }
        }

        #[test]
        fn no_entry_exceeds_the_radius(
            mut row in prop::collection::vec(any_entry(), 1..20),
            radius in any_radius(),
        ) {
            let before = row.clone();
            Clip::new(ClipFacts { norm: Norm::Linf, radius, rows: Rows::Clip }).apply(&mut row);
            let grid = 2_f64.powi(ceil_log2(radius) - GRID_BITS);
            for (x, y) in before.iter().zip(&row) {
                prop_assert!(y.abs() <= radius && f64::from(*y as f32) == *y);
                prop_assert!((x.clamp(-radius, radius) - y).abs() <= grid);
            }
        }

        /// Filled rows obey the bound as well, and attain it unless they are zero.
        #[test]
        fn a_filled_row_is_as_long_as_the_radius_and_no_longer(
            mut row in prop::collection::vec(any_entry(), 1..40),
            radius in any_radius(),
            power in -320..300_i32,
        ) {
            row.iter_mut().for_each(|x| *x *= 10_f64.powi(power));
            row.retain(|x| x.is_finite());
            let zero = row.iter().all(|x| *x == 0.0);
            let before = row.clone();
            Clip::new(ClipFacts { norm: Norm::L2, radius, rows: Rows::Fill }).apply(&mut row);
            prop_assert!(exact_norm_is_within(&row, radius), "{row:?} beyond {radius}");
            let norm = row.iter().map(|x| x * x).sum::<f64>().sqrt();
            let short = 8.0 * 2_f64.powi(-GRID_BITS) * radius * (row.len() as f64).sqrt();
            prop_assert!(zero || norm >= radius - short, "{before:?} → {norm} of {radius}");
            prop_assert!(!zero || norm == 0.0, "nothing becomes something");
            prop_assert!(before.iter().zip(&row).all(|(x, y)| x * y >= 0.0));
        }

        /// Truncation aside, a row outside the ball keeps its direction and is scaled to the radius.
        #[test]
        fn clipping_is_the_projection_up_to_the_grid(
            mut row in prop::collection::vec(-5.0..5.0_f64, 1..20),
        ) {
            let norm = row.iter().map(|x| x * x).sum::<f64>().sqrt();
            let expected: Vec<f64> = row.iter().map(|x| x * (1.0 / norm).min(1.0)).collect();
            Clip::new(ClipFacts { norm: Norm::L2, radius: 1.0, rows: Rows::Clip }).apply(&mut row);
            for (x, y) in expected.iter().zip(&row) {
                prop_assert!((x - y).abs() <= 2_f64.powi(-22), "{x} {y}");
            }
        }
    }

    #[test]
    fn what_is_not_finite_becomes_zero() {
        for norm in [Norm::L2, Norm::Linf] {
            let mut row = [f64::NAN, 0.5, f64::INFINITY];
            Clip::new(ClipFacts { norm, radius: 1.0, rows: Rows::Clip }).apply(&mut row);
            assert!(row[0] == 0.0 && row[1] == 0.5 && row[2] == 0.0);
        }
    }

    #[test]
    fn rows_inside_are_kept() {
        let mut row = [0.5, -0.25, 0.0];
        Clip::new(ClipFacts { norm: Norm::L2, radius: 1.0, rows: Rows::Clip }).apply(&mut row);
        assert_eq!(row, [0.5, -0.25, 0.0]);
        let mut one = [1.0];
        Clip::new(ClipFacts { norm: Norm::L2, radius: 1.0, rows: Rows::Clip }).apply(&mut one);
        assert_eq!(one, [1.0]);
    }
}
