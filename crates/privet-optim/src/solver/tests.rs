//! Solvers against each other, against the definition, and against hard cases.

use super::*;
use crate::double_double::DoubleDouble;
use crate::sum::{Exact, ExactAnswer, InMemory, Inner, InnerAnswer, RecordsError};
use crate::testing::{Lcg, random_csr, random_dense};
use certificate::{Evaluation, evaluate};
use penalty::tests::any_penalty;
use point::Point;
use privet_data::matrix::{DenseMatrix, Matrix};
use proptest::prelude::*;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

fn table(seed: u64, rows: usize, columns: usize, sparse: bool) -> (Matrix, Vec<f64>, Vec<f64>) {
    let mut random = Lcg(seed);
    let matrix = if sparse {
        random_csr(&mut random, rows, columns, 6.min(columns))
    } else {
        random_dense(&mut random, rows, columns)
    };
    let truth: Vec<f64> = (0..columns).map(|_| 4.0 * random.centred()).collect();
    let labels = (0..rows)
        .map(|i| {
            let u = match &matrix {
                Matrix::Dense(m) => crate::kernel::dense::dot::<false>(m.row(i), &truth),
                Matrix::Csr(m) => {
                    let (indices, values) = m.row(i);
                    indices
                        .iter()
                        .zip(values)
                        .map(|(&j, &x)| truth[j as usize] * f64::from(x))
                        .sum()
                }
            };
            if u + random.centred() > 0.0 { 1.0 } else { -1.0 }
        })
        .collect();
    let linear = (0..columns).map(|_| random.centred()).collect();
    (matrix, labels, linear)
}

const LOSSES: [Loss; 7] = [
    Loss::Logistic,
    Loss::HuberSvm { h: 0.5 },
    Loss::HuberSvm { h: 0.01 },
    Loss::SQUARED,
    Loss::Huber { width: 0.05 },
    Loss::Quantile { tau: 0.8, h: 0.05 },
    Loss::Poisson { least: 0.1, shift: 2.0 },
];

#[test]
fn all_methods_certify_and_agree() {
    for sparse in [false, true] {
        let (matrix, labels, linear) = table(7, 3000, 20, sparse);
        let records = InMemory::new(&matrix, &labels).unwrap();
        for loss in LOSSES {
            for ridge in [0.01, 1.0, 100.0] {
                let problem = Problem::new(&records, loss, ridge).with_linear(&linear);
                let tolerance = 1.0 / 3000.0;
                let mut found: Vec<Certified> = Vec::new();
                for method in [Method::Newton, Method::Lbfgs, Method::NewtonCg] {
                    let options = SolverOptions { method, ..SolverOptions::default() };
                    let one = minimise(&problem, tolerance, &options).unwrap();
                    assert!(one.gradient_norm_bound() <= tolerance);
                    assert!(one.distance_bound() <= tolerance / ridge * 1.001);
                    println!("{loss:?} {ridge} {method:?}: {} passes", one.evaluations());
                    found.push(one);
                }
                for other in &found[1..] {
                    let gap = gap(found[0].theta(), other.theta());
                    assert!(gap <= found[0].distance_bound() + other.distance_bound());
                }
            }
        }
    }
}

fn gap(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum::<f64>().sqrt()
}

/// The gradient ∇F at theta + tail in sums of many f64 (each exact): the reference for error bounds.
/// Squared and Huber losses are piecewise linear in θ, so with few bits all of it is exact in i128.
mod exact {
    /// Features k/2⁸, θ k/2¹⁰, labels ±1: margins are multiples of 2⁻¹⁸, ℓ′ of the squared loss too.
    pub fn squared_gradient(x: &[i64], y: &[i64], theta: &[i64], columns: usize) -> Vec<f64> {
        let mut sum = vec![0_i128; columns];
        for (row, &y) in x.chunks(columns).zip(y) {
            let u: i64 = row.iter().zip(theta).map(|(x, t)| x * t).sum();
            let derivative = (u - (y << 18)).clamp(-2 << 18, 2 << 18);
            for (s, &x) in sum.iter_mut().zip(row) {
                *s += i128::from(derivative) * i128::from(x);
            }
        }
        sum.iter().map(|&s| s as f64 / 2f64.powi(26)).collect()
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    /// Against integers: no rounding at all in the reference.
    #[test]
    fn the_error_bound_holds_against_integers(seed in any::<u64>()) {
        let mut random = Lcg(seed);
        let (rows, columns) = (400, 6);
        let draw = |random: &mut Lcg, most: f64| (random.centred() * most) as i64;
        let x: Vec<i64> = (0..rows * columns).map(|_| draw(&mut random, 100.0)).collect();
        let y: Vec<i64> = (0..rows).map(|_| random.sign() as i64).collect();
        let theta: Vec<i64> = (0..columns).map(|_| draw(&mut random, 3000.0)).collect();
        let values = x.iter().map(|&k| k as f32 / 256.0).collect();
        let matrix = Matrix::Dense(DenseMatrix::new(values, rows, columns));
        let labels: Vec<f64> = y.iter().map(|&y| y as f64).collect();
        let records = InMemory::new(&matrix, &labels).unwrap();
        let ridge = 0.5;
        let problem = Problem::new(&records, Loss::SQUARED, ridge);
        let point: Vec<f64> = theta.iter().map(|&k| k as f64 / 1024.0).collect();
        let mut expected = exact::squared_gradient(&x, &y, &theta, columns);
        add_scaled(&mut expected, ridge, &point);
        for precise in [false, true] {
            let evaluation = evaluate(&problem, Point::new(point.clone()), precise).unwrap();
            // The reference is rounded to f64, and so is the double-double gradient here.
            let rounding = if precise { 2.3e-16 * norm(&expected) } else { 0.0 };
            prop_assert!(gap(&evaluation.gradient, &expected) <= evaluation.error + rounding, "{precise}");
        }
    }

    /// Plain against double-double, whose own bound is 2⁴⁰ times smaller.
    #[test]
    fn the_error_bound_is_never_violated(
        seed in any::<u64>(), sparse in any::<bool>(), which in 0..LOSSES.len(), scale in -2.0..3.0_f64,
    ) {
        let (matrix, labels, linear) = table(seed, 700, 9, sparse);
        let records = InMemory::new(&matrix, &labels).unwrap();
        let problem = Problem::new(&records, LOSSES[which], 0.3).with_linear(&linear);
        let mut random = Lcg(!seed);
        let theta: Vec<f64> = (0..9).map(|_| 10f64.powf(scale) * random.centred()).collect();
        let plain = evaluate(&problem, Point::new(theta.clone()), false).unwrap();
        let precise = evaluate(&problem, Point::new(theta), true).unwrap();
        let gap = gap(&plain.gradient, &precise.gradient);
        let rounding = 1.2e-16 * norm(&precise.gradient);
        prop_assert!(gap <= plain.error + precise.error + rounding, "{gap} {}", plain.error);
        prop_assert!(precise.error <= plain.error);
        // Not vacuous either: within a thousand times a typical rounding error.
        prop_assert!(plain.error <= 1e-9 * 10f64.powf(scale).max(1.0));
    }

    /// Every penalty, ill-conditioned or dominated by noise, at tolerances down to 1e-9.
    #[test]
    fn penalties_are_certified(
        seed in any::<u64>(), which in 0..LOSSES.len(), kind in 0..7_u8, ridge in -4.0..3.0_f64,
        size in 0.0..4.0_f64, scale in -2.0..2.0_f64, fine in -9.0..-3.0_f64,
    ) {
        let (matrix, labels, mut linear) = table(seed, 400, 12, seed % 2 == 0);
        linear.iter_mut().for_each(|b| *b *= 10f64.powf(size));
        let records = InMemory::new(&matrix, &labels).unwrap();
        let penalty = any_penalty(kind, 12, 10f64.powf(scale));
        let problem = Problem::new(&records, LOSSES[which], 10f64.powf(ridge))
            .with_linear(&linear)
            .with_penalty(&penalty);
        let tolerance = 10f64.powf(fine);
        let minimiser = minimise(&problem, tolerance, &SolverOptions::default()).unwrap();
        prop_assert!(minimiser.gradient_norm_bound() <= tolerance);
        // No allowed point is lower than strong convexity implies: with ρ the certified subgradient at
        // θ′, F(z) ≥ F(θ′) − γ‖z − θ′‖ + (λ/2)‖z − θ′‖².
        let theta = minimiser.theta();
        let total = |z: &[f64]| problem.value_and_gradient(z).unwrap().0 + penalty.value(z);
        let at = total(theta);
        let convexity = problem.ridge + penalty.convexity();
        let mut random = Lcg(seed ^ 1);
        for scale in [1e-4, 1e-2, 1.0] {
            let other: Vec<f64> = theta.iter().map(|t| t + scale * random.centred()).collect();
            let other = Point::new(other).mapped(&penalty, 0.0, false).theta;
            let distance = gap(theta, &other);
            let least = at - tolerance * distance + 0.5 * convexity * distance * distance;
            let rounding = 1e-11 * (at.abs() + 400.0 + norm(&linear) * (norm(theta) + 1.0));
            prop_assert!(total(&other) >= least - rounding, "{penalty:?} {scale}");
        }
    }

    /// Noise much larger than the data, tiny and huge ridges: always certified.
    #[test]
    fn hard_problems_are_certified(
        seed in any::<u64>(), which in 0..LOSSES.len(), ridge in -4.0..5.0_f64, size in 0.0..6.0_f64,
        method in prop::sample::select(vec![Method::Newton, Method::NewtonCg]),
    ) {
        let (matrix, labels, mut linear) = table(seed, 400, 8, seed % 2 == 0);
        linear.iter_mut().for_each(|b| *b *= 10f64.powf(size));
        let records = InMemory::new(&matrix, &labels).unwrap();
        let problem = Problem::new(&records, LOSSES[which], 10f64.powf(ridge)).with_linear(&linear);
        let options = SolverOptions { method, ..SolverOptions::default() };
        let minimiser = minimise(&problem, 1.0 / 400.0, &options).unwrap();
        prop_assert!(minimiser.gradient_norm_bound() <= 1.0 / 400.0);
    }
}

/// Tolerances that f64 cannot reach: double-double evaluation, and a tail on θ.
#[test]
fn fine_tolerances_are_met_in_double_double() {
    for (loss, sparse) in [(Loss::Logistic, false), (Loss::Logistic, true), (LOSSES[1], false)] {
        let (matrix, labels, linear) = table(11, 4000, 10, sparse);
        let records = InMemory::new(&matrix, &labels).unwrap();
        let problem = Problem::new(&records, loss, 0.7).with_linear(&linear);
        for method in [Method::Newton, Method::Lbfgs, Method::NewtonCg] {
            let options = SolverOptions { method, ..SolverOptions::default() };
            for tolerance in [4000.0 * 1e-13, 4000.0 * 1e-16, 1e-20] {
                let minimiser = minimise(&problem, tolerance, &options).unwrap();
                println!("{loss:?} {method:?} {tolerance:e}: {} passes", minimiser.evaluations());
                assert!(
                    minimiser.used_double_double() && minimiser.gradient_norm_bound() <= tolerance
                );
                let (theta, tail) = (minimiser.theta().to_vec(), minimiser.tail().to_vec());
                assert!(tail.iter().zip(&theta).all(|(l, h)| l.abs() <= 1.2e-16 * h.abs()));
                // Evaluated again from scratch.
                let again = evaluate(&problem, Point { theta, tail }, true).unwrap();
                assert!(norm(&again.gradient) + again.error <= tolerance);
            }
        }
    }
}

/// The same with penalties: their edges are resolved to 106 bits too.
#[test]
fn fine_tolerances_are_met_with_penalties() {
    let (matrix, labels, linear) = table(11, 2000, 10, false);
    let records = InMemory::new(&matrix, &labels).unwrap();
    for loss in [Loss::Logistic, LOSSES[1], LOSSES[5], LOSSES[6]] {
        for kind in 0..7 {
            let penalty = any_penalty(kind, 10, if kind == 0 || kind == 3 { 20.0 } else { 0.8 });
            let problem =
                Problem::new(&records, loss, 0.7).with_linear(&linear).with_penalty(&penalty);
            for tolerance in [1e-10, 1e-13, 1e-18] {
                let minimiser = minimise(&problem, tolerance, &SolverOptions::default()).unwrap();
                println!("{loss:?} {penalty:?} {tolerance:e}: {} passes", minimiser.evaluations());
                assert!(minimiser.gradient_norm_bound() <= tolerance);
                assert!(minimiser.distance_bound() <= tolerance / 0.7 + 1e-15);
            }
        }
    }
}

/// A minimiser inside a ball by less than a sphere's rounding counts as inside: its position must not
/// decide whether there is a proof.
#[test]
fn minima_just_inside_a_ball_are_certified() {
    let matrix = Matrix::Dense(DenseMatrix::new(vec![1000.0; 10], 10, 1));
    let labels = [0.5; 10];
    let records = InMemory::new(&matrix, &labels).unwrap();
    let plain = Problem::new(&records, Loss::SQUARED, 1.0);
    let minimiser: f64 = 5000.0 / (1e7 + 1.0);
    for room in [-1e-9, -8e-13, -1e-16, 0.0, 1e-16, 1e-14, 8e-13, 1e-9] {
        let penalty = Penalty::Ball { radius: minimiser * (1.0 + room) };
        let found =
            minimise(&plain.with_penalty(&penalty), 1e-9, &SolverOptions::default()).unwrap();
        assert!((found.theta()[0] / minimiser - 1.0).abs() < 2e-9, "{room}");
    }
}

#[test]
fn a_tolerance_beyond_double_double_is_refused_beforehand() {
    let (matrix, labels, _) = table(3, 100, 4, false);
    let records = InMemory::new(&matrix, &labels).unwrap();
    let problem = Problem::new(&records, Loss::Logistic, 1.0);
    let refusal = minimise(&problem, 1e-40, &SolverOptions::default());
    assert!(matches!(refusal, Err(SolveError::TooFine { .. })), "{refusal:?}");
}

#[test]
fn rounding_to_a_grid_uses_the_tail() {
    let (matrix, labels, linear) = table(5, 200, 4, false);
    let records = InMemory::new(&matrix, &labels).unwrap();
    let problem = Problem::new(&records, Loss::Logistic, 1.0).with_linear(&linear);
    let minimiser = minimise(&problem, 1e-22, &SolverOptions::default()).unwrap();
    let step = 2f64.powi(-30);
    for ((rounded, theta), tail) in
        minimiser.round_to(step).iter().zip(minimiser.theta()).zip(minimiser.tail())
    {
        assert_eq!((rounded / step).fract(), 0.0);
        let off = DoubleDouble::new(*theta, *tail) - DoubleDouble::from(*rounded);
        assert!(off.high.abs() <= step / 2.0);
    }
}

#[test]
fn degenerate_tables_are_solved() {
    for (rows, columns) in [(0, 3), (5, 0), (0, 0), (1, 1)] {
        let matrix = Matrix::Dense(DenseMatrix::new(vec![0.5; rows * columns], rows, columns));
        let labels = vec![1.0; rows];
        let records = InMemory::new(&matrix, &labels).unwrap();
        let linear = vec![3.0; columns];
        let problem = Problem::new(&records, Loss::Logistic, 2.0).with_linear(&linear);
        for method in [Method::Auto, Method::Newton, Method::Lbfgs, Method::NewtonCg] {
            let options = SolverOptions { method, ..SolverOptions::default() };
            let minimiser = minimise(&problem, 1e-9, &options).unwrap();
            if rows == 0 {
                assert!(minimiser.theta().iter().all(|t| (t + 1.5).abs() < 1e-9));
            }
        }
    }
}

#[test]
fn bad_problems_are_refused() {
    let (matrix, labels, linear) = table(5, 20, 4, false);
    let records = InMemory::new(&matrix, &labels).unwrap();
    let good = Problem::new(&records, Loss::Logistic, 1.0).with_linear(&linear);
    let options = SolverOptions::default();
    let refused = |problem: Problem<'_, InMemory<'_>>, tolerance: f64| {
        minimise(&problem, tolerance, &options).unwrap_err().to_string()
    };
    assert!(refused(Problem { ridge: 0.0, ..good }, 1.0).contains("ridge"));
    assert!(refused(Problem { ridge: f64::NAN, ..good }, 1.0).contains("ridge"));
    assert!(refused(good, 0.0).contains("gradient_tolerance"));
    assert!(refused(good, f64::NAN).contains("gradient_tolerance"));
    assert!(refused(Problem { linear: Some(&[1.0]), ..good }, 1.0).contains("4 columns"));
    assert!(refused(Problem { linear: Some(&[f64::NAN; 4]), ..good }, 1.0).contains("entry 0"));
    let penalty = &Penalty::Box { low: 1.0, high: 0.0 };
    assert!(refused(Problem { penalty, ..good }, 1.0).contains("box"));
    assert!(refused(Problem { loss: Loss::HuberSvm { h: -1.0 }, ..good }, 1.0).contains('h'));
    let none = vec![0.0; 20];
    let records = InMemory::new(&matrix, &none).unwrap();
    assert!(refused(Problem { records: &records, ..good }, 1.0).contains("-1 and 1"));
    assert!(InMemory::new(&matrix, &labels[1..]).is_err());
    assert!(InMemory::new(&matrix, &[f64::NAN; 20]).is_err());
    for bad in [f32::NAN, f32::INFINITY] {
        let matrix = Matrix::Dense(DenseMatrix::new(vec![0.0, 1.0, 2.0, bad], 2, 2));
        let refusal = InMemory::new(&matrix, &[1.0, 1.0]).unwrap_err();
        assert_eq!(refusal, crate::sum::RecordsError::NotFinite { row: 1 });
    }
}

#[test]
fn the_monitor_sees_progress_and_stops() {
    struct Three(AtomicU32);
    impl Monitor for Three {
        fn proceed(&self, progress: Progress) -> bool {
            assert!(progress.gradient_norm >= 0.0 && progress.tolerance == 1e-6);
            self.0.fetch_add(1, Ordering::Relaxed) < 2
        }
    }
    let (matrix, labels, _) = table(5, 2000, 6, false);
    let records = InMemory::new(&matrix, &labels).unwrap();
    let problem = Problem::new(&records, Loss::Logistic, 0.01);
    let three = Three(AtomicU32::new(0));
    let options = SolverOptions { monitor: Some(&three), ..SolverOptions::default() };
    assert_eq!(minimise(&problem, 1e-6, &options).unwrap_err(), SolveError::Stopped);
    assert_eq!(three.0.into_inner(), 3);
    let stop = AtomicBool::new(true);
    let options = SolverOptions { monitor: Some(&stop), ..SolverOptions::default() };
    assert_eq!(minimise(&problem, 1e-6, &options).unwrap_err(), SolveError::Stopped);
}

/// The number of threads changes nothing, down to the last bit.
#[test]
fn threads_do_not_change_the_answer() {
    let (matrix, labels, linear) = table(5, 5000, 10, true);
    let records = InMemory::new(&matrix, &labels).unwrap();
    let problem = Problem::new(&records, Loss::Logistic, 0.5).with_linear(&linear);
    let on = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| minimise(&problem, 1e-4, &SolverOptions::default()).unwrap().into_theta())
    };
    assert_eq!(on(1), on(3));
}

/// An optimiser that returns nonsense does no harm.
#[test]
fn outside_answers_are_not_believed() {
    struct Liar(Vec<f64>);
    impl OutsideOptimizer for Liar {
        fn minimise(&mut self, objective: &dyn Objective, start: Vec<f64>) -> Vec<f64> {
            assert_eq!(
                objective.value_and_gradient(&start).unwrap().1.len(),
                objective.dimension()
            );
            self.0.clone()
        }
    }
    let (matrix, labels, _) = table(5, 500, 4, false);
    let records = InMemory::new(&matrix, &labels).unwrap();
    let problem = Problem::new(&records, Loss::Logistic, 0.5);
    for lie in [vec![], vec![f64::NAN; 4], vec![1e6; 4], vec![0.0; 4], vec![1e300; 4]] {
        let minimiser =
            minimise_with(&problem, 1e-4, &SolverOptions::default(), &mut Liar(lie)).unwrap();
        assert!(minimiser.gradient_norm_bound() <= 1e-4);
    }
    let far = [1e308, -1e308, 1e308, 1e308];
    for penalty in [Penalty::None, Penalty::L1 { weight: 1.0 }, Penalty::Ball { radius: 1.0 }] {
        let options = SolverOptions { start: Some(&far), ..SolverOptions::default() };
        let minimiser = minimise(&problem.with_penalty(&penalty), 1e-4, &options).unwrap();
        assert!(minimiser.gradient_norm_bound() <= 1e-4);
    }
}

/// An evaluation whose error bound is too large proves nothing, however small the gradient.
#[test]
fn an_inexact_gradient_certifies_nothing() {
    let (matrix, labels, _) = table(5, 500, 4, false);
    let records = InMemory::new(&matrix, &labels).unwrap();
    let problem = Problem::new(&records, Loss::Logistic, 0.5);
    let exact = evaluate(&problem, Point::new(vec![0.0; 4]), false).unwrap();
    let with = |error: f64, gradient: f64| Evaluation {
        error,
        gradient: vec![gradient; 4],
        ..exact.clone()
    };
    assert!(with(0.0, 0.4).certify(&problem, 1.0, 1).is_some());
    assert!(with(0.11, 0.0).certify(&problem, 1.0, 1).is_none());
    assert!(with(0.0, 0.51).certify(&problem, 1.0, 1).is_none());
    assert!(with(f64::NAN, 0.0).certify(&problem, 1.0, 1).is_none());
    assert!(with(0.0, f64::NAN).certify(&problem, 1.0, 1).is_none());
}

/// Every row repeated a number of times, a power of two: sums are multiplied, which is exact.
struct Repeated<'a> {
    rows: InMemory<'a>,
    times: usize,
}

impl Records for Repeated<'_> {
    fn rows(&self) -> usize {
        self.rows.rows() * self.times
    }
    fn columns(&self) -> usize {
        self.rows.columns()
    }
    fn radius(&self) -> f64 {
        self.rows.radius()
    }
    fn longest_row(&self) -> usize {
        self.rows.longest_row()
    }
    fn entries(&self) -> usize {
        self.rows.entries() * self.times
    }
    fn labels_accepted(&self, loss: Loss) -> bool {
        self.rows.labels_accepted(loss)
    }
    fn look_at_grid(&mut self, radius: f64) {
        self.rows.look_at_grid(radius);
    }
    fn exact(&self, query: &Exact) -> Result<ExactAnswer, RecordsError> {
        self.rows.exact(query)
    }
    fn inner(&self, query: &Inner) -> Result<InnerAnswer, RecordsError> {
        let times = self.times as f64;
        let mut answer = self.rows.inner(query)?;
        match &mut answer {
            InnerAnswer::Gradient(sum) => {
                sum.value *= times;
                sum.absolute *= times;
                sum.gradient.iter_mut().for_each(|g| *g *= times);
                // As many roundings as pieces of that many rows have.
                sum.depth = sum.depth.max(1024) + 128;
            }
            InnerAnswer::Precise(sum) => {
                sum.absolute *= times;
                sum.gradient.iter_mut().for_each(|g| *g = g.times(times));
                sum.depth = sum.depth.max(1 << 18) + 128;
            }
            InnerAnswer::Vector(sum) => sum.iter_mut().for_each(|x| *x *= times),
        }
        Ok(answer)
    }
}

/// At 2·10⁷ rows 1/n² of the mean form is below the round-off of `f64`: double-double proves it. The
/// tolerance declared there instead, (n − 2²⁰)·2⁻³⁸ of the sum form, is proved without.
#[test]
fn tolerances_of_twenty_million_rows_are_proved() {
    for columns in [20, 70] {
        let (matrix, labels, linear) = table(11, 4883, columns, false);
        let repeated = Repeated { rows: InMemory::new(&matrix, &labels).unwrap(), times: 4096 };
        let rows = repeated.rows() as f64;
        assert!(rows > 2e7);
        let linear: Vec<f64> = linear.iter().map(|b| 100.0 * b).collect();
        let problem = Problem::new(&repeated, Loss::Logistic, 50.0).with_linear(&linear);
        let finest = minimise(&problem, 1.0 / rows, &SolverOptions::default()).unwrap();
        assert!(finest.used_double_double() && finest.gradient_norm_bound() <= 1.0 / rows);
        let radius = repeated.radius();
        let declared = radius * (rows - 1_048_576.0) / (1_u64 << 38) as f64;
        let plain = minimise(&problem, declared, &SolverOptions::default()).unwrap();
        assert!(!plain.used_double_double(), "{columns}: in double-double");
        assert!(plain.evaluations() <= 30, "{columns}: {} passes", plain.evaluations());
        let apart: Vec<f64> =
            plain.theta().iter().zip(finest.theta()).map(|(a, b)| a - b).collect();
        let bound = plain.distance_bound() + finest.distance_bound();
        assert!(norm(&apart) <= bound, "{columns}: {} beyond {bound}", norm(&apart));
    }
}
