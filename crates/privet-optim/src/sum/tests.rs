//! Every pass against its definition, dense against sparse, pieces against the whole.

use super::*;
use crate::Loss;
use crate::testing::{Lcg, random_csr, random_dense, select_rows};
use privet_data::matrix::{DenseMatrix, Matrix};
use proptest::prelude::*;

/// One row at a time, by the formulas.
fn row(matrix: &Matrix, i: usize) -> Vec<f64> {
    match matrix {
        Matrix::Dense(m) => m.row(i).iter().map(|&x| f64::from(x)).collect(),
        Matrix::Csr(m) => {
            let mut full = vec![0.0; m.columns()];
            let (indices, values) = m.row(i);
            indices.iter().zip(values).for_each(|(&j, &x)| full[j as usize] = f64::from(x));
            full
        }
    }
}

fn densified(matrix: &Matrix) -> Matrix {
    let (rows, columns) = (matrix.rows(), matrix.columns());
    let values = (0..rows).flat_map(|i| row(matrix, i)).map(|x| x as f32).collect();
    Matrix::Dense(DenseMatrix::new(values, rows, columns))
}

fn close(a: &[f64], b: &[f64]) -> bool {
    let scale = 1.0 + b.iter().fold(0.0, |m: f64, x| m.max(x.abs()));
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| (a - b).abs() <= 1e-11 * scale)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn passes_are_their_definitions(
        seed in any::<u64>(), rows in 0..700_usize, columns in 1..23_usize, sparse in any::<bool>(),
        loss in prop::sample::select(vec![Loss::Logistic, Loss::HuberSvm { h: 0.5 }, Loss::SQUARED]),
    ) {
        let mut random = Lcg(seed);
        let matrix = if sparse {
            random_csr(&mut random, rows, columns, 5)
        } else {
            random_dense(&mut random, rows, columns)
        };
        let labels: Vec<f64> = (0..rows).map(|_| random.sign()).collect();
        let theta: Vec<f64> = (0..columns).map(|_| 3.0 * random.centred()).collect();
        let direction: Vec<f64> = (0..columns).map(|_| random.centred()).collect();
        let mut value = 0.0;
        let mut gradient = vec![0.0; columns];
        let mut hessian = vec![0.0; columns * columns];
        for (i, &y) in labels.iter().enumerate() {
            let x = row(&matrix, i);
            let at = loss.at(x.iter().zip(&theta).map(|(x, t)| x * t).sum(), y);
            value += at.value;
            for j in 0..columns {
                gradient[j] += at.derivative * x[j];
                for k in j..columns {
                    hessian[j * columns + k] += at.second * x[j] * x[k];
                }
            }
        }
        let records = InMemory::new(&matrix, &labels).unwrap();
        let sum = records.sum(&LossAndGradient { loss, theta: theta.clone() }).unwrap();
        prop_assert!(close(&[sum.value], &[value]) && close(&sum.gradient, &gradient));
        let tail = vec![0.0; columns];
        let precise = records.sum(&PreciseGradient { loss, theta: theta.clone(), tail }).unwrap();
        let high: Vec<f64> = precise.gradient.iter().map(|g| g.high).collect();
        prop_assert!(close(&high, &gradient));
        prop_assert!(close(&[precise.absolute], &[sum.absolute]));

        let actual = records.sum(&Hessian { loss, theta: theta.clone(), stride: 1 }).unwrap();
        for j in 0..columns {
            prop_assert!(close(&actual[j * columns + j..(j + 1) * columns],
                &hessian[j * columns + j..(j + 1) * columns]));
        }
        let diagonal = records.sum(&HessianDiagonal { loss, theta: theta.clone() }).unwrap();
        let expected: Vec<f64> = (0..columns).map(|j| hessian[j * columns + j]).collect();
        prop_assert!(close(&diagonal, &expected));
        let product: Vec<f64> = (0..columns)
            .map(|j| (0..columns)
                .map(|k| hessian[j.min(k) * columns + j.max(k)] * direction[k])
                .sum())
            .collect();
        let actual = records.sum(&HessianVector { loss, theta, direction }).unwrap();
        prop_assert!(close(&actual, &product));
        prop_assert_eq!(records.sum(&Count).unwrap(), rows as u64);
    }

    #[test]
    fn dense_and_sparse_agree(seed in any::<u64>()) {
        let mut random = Lcg(seed);
        let sparse = random_csr(&mut random, 300, 11, 4);
        let dense = densified(&sparse);
        let labels: Vec<f64> = (0..300).map(|_| random.sign()).collect();
        let theta: Vec<f64> = (0..11).map(|_| random.centred()).collect();
        let statistic = LossAndGradient { loss: Loss::Logistic, theta };
        let a = InMemory::new(&sparse, &labels).unwrap();
        let b = InMemory::new(&dense, &labels).unwrap();
        prop_assert!((a.radius() - b.radius()).abs() <= 1e-14);
        let (a, b) = (a.sum(&statistic).unwrap(), b.sum(&statistic).unwrap());
        prop_assert!(close(&a.gradient, &b.gradient));
    }

    /// One record changes a sum by no more than its stated bound.
    #[test]
    fn contributions_are_within_their_bounds(seed in any::<u64>(), scale in 0.0..50.0_f64) {
        let mut random = Lcg(seed);
        let matrix = random_dense(&mut random, 30, 5);
        let labels: Vec<f64> = (0..30).map(|_| random.sign()).collect();
        let theta: Vec<f64> = (0..5).map(|_| scale * random.centred()).collect();
        for loss in [Loss::Logistic, Loss::HuberSvm { h: 0.1 }, Loss::SQUARED] {
            for i in 0..30 {
                let one = select_rows(&matrix, &[i]);
                let records = InMemory::new(&one, &labels[i..=i]).unwrap();
                let radius = records.radius();
                let both = LossAndGradient { loss, theta: theta.clone() };
                let sum = records.sum(&both).unwrap();
                let size = sum.gradient.iter().map(|g| g * g).sum::<f64>().sqrt();
                prop_assert!(size.hypot(sum.value) <= both.bound(radius) * (1.0 + 1e-12));
                prop_assert!(size <= Gradient(both).bound(radius) * (1.0 + 1e-12));
                let exact = ExactGradient { loss, theta: theta.clone(), radius: 1.0, slope: loss.lipschitz() };
                let sum = records.sum(&exact).unwrap().to_f64(exact.unit()).unwrap();
                let size = sum.iter().map(|g| g * g).sum::<f64>().sqrt();
                prop_assert!(size <= exact.bound(radius));
            }
        }
    }
}

/// A part of the rows represents all of them: the same scale for any pieces.
#[test]
fn a_strided_hessian_has_the_full_scale() {
    let matrix = Matrix::Dense(DenseMatrix::new(vec![0.5; 9000], 9000, 1));
    let labels = vec![1.0; 9000];
    let records = InMemory::new(&matrix, &labels).unwrap();
    let at = |stride| {
        records.sum(&Hessian { loss: Loss::SQUARED, theta: vec![0.0], stride }).unwrap()[0]
    };
    for stride in [1, 2, 7, 16, 1000] {
        assert!((at(stride) - 2250.0).abs() < 1e-9, "{stride}: {}", at(stride));
    }
}

/// The radius is rounded up: no row has a larger norm.
#[test]
fn the_radius_bounds_every_row() {
    let mut random = Lcg(9);
    for sparse in [false, true] {
        let matrix = if sparse {
            random_csr(&mut random, 200, 9, 4)
        } else {
            random_dense(&mut random, 200, 9)
        };
        let labels = vec![1.0; 200];
        let records = InMemory::new(&matrix, &labels).unwrap();
        let norms = (0..200).map(|i| row(&matrix, i).iter().map(|x| x * x).sum::<f64>().sqrt());
        let largest = norms.fold(0.0, f64::max);
        assert!(records.radius() >= largest && records.radius() <= largest * (1.0 + 1e-13));
    }
}

#[test]
fn questions_travel_as_text() {
    let query = ExactGradient {
        loss: Loss::HuberSvm { h: 0.1 },
        theta: vec![0.1, -2.0],
        radius: 1.0,
        slope: 1.0,
    };
    let text = serde_json::to_string(&query).unwrap();
    assert_eq!(serde_json::from_str::<ExactGradient>(&text).unwrap(), query);
    let query = Gradient(LossAndGradient { loss: Loss::Logistic, theta: vec![1.0 / 3.0] });
    let text = serde_json::to_string(&query).unwrap();
    assert_eq!(serde_json::from_str::<Gradient>(&text).unwrap(), query);
}
