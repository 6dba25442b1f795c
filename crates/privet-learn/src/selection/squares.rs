//! Least squares over a ball, on a few columns of integers, with a proved gap.
//!
//! q(Γ) = min over θ supported on Γ, ‖θ‖₂ ≤ B, of ½Σᵢ(yᵢ − ⟨xᵢ, θ⟩)². Entries and targets are integer
//! multiples of a unit, so that the second moments are exact ([`Moments`]).
//!
//! **Accuracy.** For a point θ of the ball with gradient g the minimum is at least F(θ) − (⟨g,
//! θ⟩ + B‖g‖₂), since F is convex: that gap is computed. Where it exceeds `gap`, accelerated projected
//! gradients replace the solution; their excess is at most half of `gap` after a number of steps that is
//! fixed beforehand ([`privet_optim::lasso::steps`]; Schmidt, Le Roux & Bach 2011): so there is an
//! answer for all records. With s ≤ [`LARGEST_SIZE`] columns and fewer than 2³² records of terms at most
//! M = (1 + Bρ)², ρ bounding a row on Γ, each computed sum of (s + 1)² products is within
//! 4(s + 2)²·2⁻⁵³·2³²·M < 6.5·10⁻⁴·M of its exact value. So the returned value is within
//! gap + 2.6·10⁻³·M of q(Γ): F(θ) is one such sum, its gap two, and a fourth covers θ leaving the ball
//! by rounding.
//!
//! *Solved by* the secular equation: (G + μI)θ = c with μ ≥ 0, and ‖θ‖ = B unless μ = 0; ‖θ(μ)‖
//! decreases in μ, and bisection ends at adjacent floating-point numbers.

use privet_data::matrix::Matrix;
use privet_optim::lasso::steps;
use privet_optim::vertex::{FeatureGrid, GridMatrix};

/// Upper limit on the number of columns fitted together.
pub(super) const LARGEST_SIZE: usize = 16;

/// Unit to which a target is truncated.
const LABEL_UNIT: f64 = 1.0 / 16_384.0;

/// Second moments of entries and targets, exact.
pub(super) struct Moments {
    columns: usize,
    /// Σ xⱼxₗ in squared units of entries, row-major.
    gram: Vec<i64>,
    /// Σ xⱼy in units of entries times [`LABEL_UNIT`].
    products: Vec<i64>,
    /// Σ y² in squared [`LABEL_UNIT`]s.
    square: i64,
    /// Unit of an entry.
    unit: f64,
}

impl Moments {
    /// Moments of the first `columns` columns; targets in [−1, 1]. `None` for 2³² rows or more.
    pub fn new(
        features: &Matrix,
        labels: &[f64],
        columns: usize,
        grid: FeatureGrid,
    ) -> Option<Self> {
        let rows = GridMatrix::new(features, grid)?;
        let mut all = Self {
            columns,
            gram: vec![0; columns * columns],
            products: vec![0; columns],
            square: 0,
            unit: grid.unit(),
        };
        let mut entries: Vec<(usize, i64)> = Vec::new();
        for (row, label) in labels.iter().enumerate() {
            // Truncated toward 0, so that its absolute value does not grow.
            let label = (label.clamp(-1.0, 1.0) / LABEL_UNIT) as i64;
            entries.clear();
            rows.for_row(row, |column, k| {
                if column < columns && k != 0 {
                    entries.push((column, i64::from(k)));
                }
            });
            for (column, x) in &entries {
                all.products[*column] += x * label;
                for (other, z) in &entries {
                    all.gram[column * columns + other] += x * z;
                }
            }
            all.square += label * label;
        }
        Some(all)
    }

    /// XᵀX and Xᵀy, entries multiplied by `entry` and targets by `target`.
    pub fn scaled_moments(&self, entry: f64, target: f64) -> (Vec<f64>, Vec<f64>) {
        let unit = self.unit * entry;
        let gram = self.gram.iter().map(|sum| *sum as f64 * (unit * unit)).collect();
        let label = unit * LABEL_UNIT * target;
        (gram, self.products.iter().map(|sum| *sum as f64 * label).collect())
    }

    fn block(&self, set: &[u32]) -> (Vec<f64>, Vec<f64>) {
        let all = set.iter().flat_map(|row| set.iter().map(move |column| (row, column)));
        let gram = all.map(|(row, column)| self.entry(*row, *column)).collect();
        (gram, set.iter().map(|j| self.linear(*j)).collect())
    }

    fn entry(&self, row: u32, column: u32) -> f64 {
        self.gram[row as usize * self.columns + column as usize] as f64 * self.unit * self.unit
    }

    fn linear(&self, column: u32) -> f64 {
        self.products[column as usize] as f64 * self.unit * LABEL_UNIT
    }

    /// Sum of squared targets, Σ y².
    fn constant(&self) -> f64 {
        self.square as f64 * LABEL_UNIT * LABEL_UNIT
    }

    /// q(Γ), within the error stated above.
    pub fn fit(&self, set: &[u32], radius: f64, gap: f64) -> f64 {
        let (gram, linear) = self.block(set);
        let slope = |theta: &[f64]| -> Vec<f64> {
            times(&gram, theta).iter().zip(&linear).map(|(a, b)| a - b).collect()
        };
        let found = |theta: &[f64]| {
            let gradient = slope(theta);
            dot(&gradient, theta) + radius * dot(&gradient, &gradient).sqrt()
        };
        let mut theta = in_ball(&gram, &linear, radius);
        // Tests "within", so that NaN fails.
        let within = found(&theta) <= gap;
        if !within {
            theta = accelerated(&gram, &linear, radius, 0.5 * gap);
        }
        let product = times(&gram, &theta);
        0.5 * (self.constant() + dot(&product, &theta) - 2.0 * dot(&linear, &theta))
    }

    /// Products of every column with the residual of the fit of `set`, Xᵀ(y − X_Pθ), and the energy
    /// ½(Σy² − ‖X_Pθ‖²).
    pub fn residual_products(&self, set: &[u32], radius: f64) -> (Vec<f64>, f64) {
        let (gram, linear) = self.block(set);
        let theta = if set.is_empty() { vec![] } else { in_ball(&gram, &linear, radius) };
        let one = |column: u32| {
            let fitted = set.iter().zip(&theta).map(|(j, t)| self.entry(column, *j) * t);
            self.linear(column) - fitted.sum::<f64>()
        };
        let energy = 0.5 * (self.constant() - dot(&times(&gram, &theta), &theta));
        ((0..self.columns as u32).map(one).collect(), energy)
    }
}

/// A point within `target` of the minimum of the objective over the ball, by accelerated projected
/// gradients.
fn accelerated(gram: &[f64], linear: &[f64], radius: f64, target: f64) -> Vec<f64> {
    let size = linear.len().max(1);
    let sum = |row: &[f64]| row.iter().map(|entry| entry.abs()).sum::<f64>();
    let smoothness = gram.chunks(size).map(sum).fold(0.0, f64::max) * (1.0 + 1e-9);
    let mut here = vec![0.0; linear.len()];
    if smoothness <= 0.0 {
        return here;
    }
    let mut from = here.clone();
    for step in 1..=steps(smoothness, radius, target) {
        let product = times(gram, &from);
        let free =
            from.iter().zip(product.iter().zip(linear)).map(|(y, (a, b))| y - (a - b) / smoothness);
        let mut next: Vec<f64> = free.collect();
        let length = dot(&next, &next).sqrt();
        if length > radius {
            next.iter_mut().for_each(|t| *t *= radius / length);
        }
        let momentum = (step - 1) as f64 / (step + 2) as f64;
        let moved = next.iter().zip(&here).map(|(new, old)| new + momentum * (new - old));
        from = moved.collect();
        here = next;
    }
    here
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn times(matrix: &[f64], vector: &[f64]) -> Vec<f64> {
    matrix.chunks(vector.len().max(1)).map(|row| dot(row, vector)).collect()
}

/// Approximate minimiser of ½θᵀGθ − cᵀθ over ‖θ‖ ≤ B.
fn in_ball(gram: &[f64], linear: &[f64], radius: f64) -> Vec<f64> {
    let size = linear.len();
    let norm = |theta: &[f64]| dot(theta, theta).sqrt();
    let largest = (0..size).map(|j| gram[j * size + j]).fold(0.0, f64::max);
    // A ridge that is negligible but makes the factorisation possible.
    let least = 1e-14 * largest.max(f64::MIN_POSITIVE) * size as f64;
    let free = [0.0, least].into_iter().find_map(|ridge| solve_ridge(gram, linear, ridge));
    if let Some(free) = free.filter(|free| norm(free) <= radius) {
        return free;
    }
    // ‖θ(μ)‖ ≤ ‖c‖/μ.
    let (mut low, mut high) = (0.0, norm(linear) / radius);
    for _ in 0..200 {
        let middle = 0.5 * (low + high);
        if middle <= low || middle >= high {
            break;
        }
        let inside = solve_ridge(gram, linear, middle).is_some_and(|theta| norm(&theta) <= radius);
        if inside { high = middle } else { low = middle }
    }
    let mut theta = solve_ridge(gram, linear, high).unwrap_or_else(|| vec![0.0; size]);
    let length = norm(&theta);
    if length > radius {
        theta.iter_mut().for_each(|t| *t *= radius / length);
    }
    theta
}

/// Smallest eigenvalue λ_min of a symmetric matrix, by Jacobi's rotations.
pub(super) fn smallest_eigenvalue(matrix: &[f64], size: usize) -> f64 {
    let mut a = matrix.to_vec();
    for _ in 0..64 {
        let mut off = 0.0;
        for p in 0..size {
            for q in p + 1..size {
                let (app, aqq, apq) = (a[p * size + p], a[q * size + q], a[p * size + q]);
                off += apq * apq;
                if apq == 0.0 {
                    continue;
                }
                let theta = (aqq - app) / (2.0 * apq);
                let t = theta.signum() / (theta.abs() + (theta * theta + 1.0).sqrt());
                let c = 1.0 / (t * t + 1.0).sqrt();
                let s = t * c;
                for k in 0..size {
                    let (x, y) = (a[k * size + p], a[k * size + q]);
                    (a[k * size + p], a[k * size + q]) = (c * x - s * y, s * x + c * y);
                }
                for k in 0..size {
                    let (x, y) = (a[p * size + k], a[q * size + k]);
                    (a[p * size + k], a[q * size + k]) = (c * x - s * y, s * x + c * y);
                }
            }
        }
        let trace: f64 = (0..size).map(|j| a[j * size + j].abs()).sum();
        if off.sqrt() <= 1e-15 * trace {
            break;
        }
    }
    (0..size).map(|j| a[j * size + j]).fold(f64::INFINITY, f64::min)
}

/// (G + μI)⁻¹c by Cholesky; `None` if a pivot is not above 0.
pub(super) fn solve_ridge(gram: &[f64], linear: &[f64], ridge: f64) -> Option<Vec<f64>> {
    let size = linear.len();
    let mut lower = vec![0.0; size * size];
    let mut theta = linear.to_vec();
    for row in 0..size {
        for column in 0..=row {
            let own = gram[row * size + column] + if row == column { ridge } else { 0.0 };
            let before = |k: usize| lower[row * size + k] * lower[column * size + k];
            let left = own - (0..column).map(before).sum::<f64>();
            lower[row * size + column] = if row == column {
                if left.is_nan() || left <= 1e-15 * own {
                    return None;
                }
                left.sqrt()
            } else {
                left / lower[column * size + column]
            };
        }
        let before: f64 = (0..row).map(|k| lower[row * size + k] * theta[k]).sum();
        theta[row] = (theta[row] - before) / lower[row * size + row];
    }
    for row in (0..size).rev() {
        let after: f64 = (row + 1..size).map(|k| lower[k * size + row] * theta[k]).sum();
        theta[row] = (theta[row] - after) / lower[row * size + row];
    }
    theta.iter().all(|t| t.is_finite()).then_some(theta)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn smallest_eigenvalues() {
        assert!((smallest_eigenvalue(&[2.0, 1.0, 1.0, 2.0], 2) - 1.0).abs() < 1e-14);
        let three = [4.0, 1.0, 0.0, 1.0, 3.0, 1.0, 0.0, 1.0, 2.0];
        // Root of det(A − λ) = (4 − λ)((3 − λ)(2 − λ) − 1) − (2 − λ).
        let least = smallest_eigenvalue(&three, 3);
        let at = |l: f64| (4.0 - l) * ((3.0 - l) * (2.0 - l) - 1.0) - (2.0 - l);
        assert!(at(least).abs() < 1e-12 && least < 2.0, "{least}");
        assert_eq!(smallest_eigenvalue(&[5.0], 1), 5.0);
    }
    use privet_data::matrix::DenseMatrix;
    use proptest::prelude::*;

    const COLUMNS: usize = 3;

    fn moments(values: &[f32], labels: &[f64]) -> Moments {
        let rows = Matrix::Dense(DenseMatrix::new(values.to_vec(), labels.len(), COLUMNS));
        Moments::new(&rows, labels, COLUMNS, FeatureGrid::new(1.0)).unwrap()
    }

    fn tables() -> impl Strategy<Value = (Vec<f32>, Vec<f64>)> {
        (0_usize..25).prop_flat_map(|rows| {
            let entry = prop_oneof![Just(0.0_f32), Just(1.0), Just(-1.0), -1.0_f32..1.0];
            let label = prop_oneof![Just(1.0_f64), Just(-1.0), -1.0_f64..1.0];
            (
                proptest::collection::vec(entry, rows * COLUMNS),
                proptest::collection::vec(label, rows),
            )
        })
    }

    proptest! {
        /// The fit is a minimum: no point of the ball is better, and the gap is always reached.
        #[test]
        fn no_point_of_the_ball_fits_better(
            (values, labels) in tables(),
            points in proptest::collection::vec(proptest::collection::vec(-1.0_f64..1.0, 2), 20),
            radius in prop_oneof![Just(0.01), Just(0.5), Just(1.0), Just(30.0)],
        ) {
            let all = moments(&values, &labels);
            let found = all.fit(&[0, 2], radius, 1e-6);
            let loss = |theta: &[f64]| {
                let one = |(row, y): (&[f32], &f64)| {
                    let k = |x: f32| f64::from(FeatureGrid::new(1.0).units(x)) * FeatureGrid::new(1.0).unit();
                    let y = (y / LABEL_UNIT).trunc() * LABEL_UNIT;
                    0.5 * (y - k(row[0]) * theta[0] - k(row[2]) * theta[1]).powi(2)
                };
                values.chunks(COLUMNS).zip(&labels).map(one).sum::<f64>()
            };
            for mut point in points {
                let length = dot(&point, &point).sqrt().max(1.0);
                point.iter_mut().for_each(|x| *x *= radius / length);
                prop_assert!(found <= loss(&point) + 2e-6);
            }
            prop_assert!(found <= loss(&[0.0, 0.0]) + 1e-9 && found >= -1e-9);
        }

        /// A record moves the fit of any set by at most its own largest loss, and only up.
        #[test]
        fn a_record_moves_a_fit_within_its_bound(
            (values, labels) in tables(),
            row in proptest::collection::vec(prop_oneof![Just(1.0_f32), Just(-1.0), -1.0_f32..1.0], COLUMNS),
            label in prop_oneof![Just(1.0_f64), Just(-1.0), -1.0_f64..1.0],
        ) {
            let (radius, set) = (0.7, [0, 1]);
            let fit = |all: Moments| all.fit(&set, radius, 1e-6);
            let before = fit(moments(&values, &labels));
            let more: Vec<f32> = values.iter().copied().chain(row).collect();
            let labelled: Vec<f64> = labels.iter().copied().chain([label]).collect();
            let moved = fit(moments(&more, &labelled)) - before;
            let most = 0.5 * (1.0 + radius * 2_f64.sqrt()).powi(2);
            prop_assert!((-3e-6..=most + 3e-6).contains(&moved), "{moved}");
        }
    }

    #[test]
    fn singular_moments_are_solved() {
        let (values, labels) = ([1.0_f32; 3 * COLUMNS], [1.0, 1.0, -1.0]);
        let found = moments(&values, &labels).fit(&[0, 1, 2], 1.0, 1e-6);
        assert!((found - 4.0 / 3.0).abs() < 1e-6, "{found}");
        assert_eq!(moments(&[], &[]).fit(&[0], 1.0, 1e-6), 0.0);
    }

    /// The fallback for an uncertified solution gives the same fits.
    #[test]
    fn accelerated_gradients_give_the_same_fits() {
        let values: Vec<f32> = (0..60).map(|k| ((k * 7919) % 41) as f32 / 20.0 - 1.0).collect();
        let labels: Vec<f64> = (0..20).map(|k| f64::from(k % 5) / 2.0 - 1.0).collect();
        let all = moments(&values, &labels);
        for radius in [0.05, 0.6, 20.0] {
            let (gram, linear) = all.block(&[0, 1, 2]);
            let theta = accelerated(&gram, &linear, radius, 1e-7);
            let value =
                0.5 * (all.constant() + dot(&times(&gram, &theta), &theta)) - dot(&linear, &theta);
            let fitted = all.fit(&[0, 1, 2], radius, 1e-9);
            assert!((value - fitted).abs() < 2e-7, "{radius}: {value} {fitted}");
        }
    }
}
