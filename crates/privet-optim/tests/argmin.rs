//! `argmin`'s answers are checked, and polished where they fall short.

#[path = "../examples/argmin.rs"]
mod example;

use example::ArgminLbfgs;
use privet_data::matrix::{DenseMatrix, Matrix};
use privet_optim::solver::minimise_with;
use privet_optim::{InMemory, Loss, Problem, SolverOptions, minimise};

#[test]
fn argmin_is_polished_to_the_tolerance() {
    let (rows, columns) = (2000, 8);
    let at =
        |i: usize, j: usize| (((i * 31 + j * 17 + i * j * 7) % 257) as f32 / 257.0 - 0.5) / 3.0;
    let values = (0..rows * columns).map(|k| at(k / columns, k % columns)).collect();
    let features = Matrix::Dense(DenseMatrix::new(values, rows, columns));
    let labels: Vec<f64> =
        (0..rows).map(|i| if at(i, 1) + at(i, 3) > 0.0 { 1.0 } else { -1.0 }).collect();
    let records = InMemory::new(&features, &labels).unwrap();
    let problem = Problem::new(&records, Loss::Logistic, 0.5);
    let options = SolverOptions::default();
    let own = minimise(&problem, 1e-9, &options).unwrap();
    // Few iterations leave much to polish; many leave less, but the answer is never trusted.
    for iterations in [1, 5, 200] {
        let mut optimizer = ArgminLbfgs { iterations };
        let minimiser = minimise_with(&problem, 1e-9, &options, &mut optimizer).unwrap();
        assert!(minimiser.gradient_norm_bound() <= 1e-9);
        let gap =
            minimiser.theta().iter().zip(own.theta()).map(|(a, b)| (a - b).powi(2)).sum::<f64>();
        assert!(gap.sqrt() <= minimiser.distance_bound() + own.distance_bound());
        println!("{iterations} of theirs, then {} of ours", minimiser.evaluations());
    }
}
