//! Solvers against each other, against the definition, and against hard cases.

use super::*;
use crate::sum::InMemory;
use crate::testing::{Lcg, random_csr, random_dense};
use privet_data::matrix::Matrix;

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
                Matrix::Csr(m) => crate::kernel::csr::dot::<false>(m.row(i).0, m.row(i).1, &truth),
            };
            if u + random.centred() > 0.0 { 1.0 } else { -1.0 }
        })
        .collect();
    let linear = (0..columns).map(|_| random.centred()).collect();
    (matrix, labels, linear)
}

const LOSSES: [Loss; 4] =
    [Loss::Logistic, Loss::HuberSvm { h: 0.5 }, Loss::HuberSvm { h: 0.01 }, Loss::SQUARED];

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
                    let options = Options { method, ..Options::default() };
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
