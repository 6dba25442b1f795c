//! The mean of implicit points: sensitivity, charges, refusals.

use crate::common::Case;
use privet_core::Neighbours;
use privet_data::matrix::{DenseMatrix, Matrix};
use privet_data::read::Report;
use privet_data::{Dataset, Target};
use privet_dp::account::{Cost, Event};
use privet_learn::linear::averaged::{AveragedWalk, Weights};
use privet_learn::streams::base::Ball;
use privet_learn::{METHODS, plan};
use privet_optim::loss::Loss;
use proptest::prelude::*;

fn table(rows: &[[f32; 2]]) -> Dataset {
    let values = rows.iter().flatten().copied().collect();
    let features = Matrix::Dense(DenseMatrix::new(values, rows.len(), 2));
    let target = Target::Class { codes: vec![0; rows.len()], count: 2 };
    Dataset { features, target, units: None, report: Report::default() }
}

fn walk(rows: usize, passes: u32, weights: Weights, ridge: f64) -> AveragedWalk {
    let slope = 0.375;
    let ball = Ball { radius: 1.01 * slope / ridge, ridge, slope };
    AveragedWalk { rows: rows as u64, passes, weights, ball }
}

fn apart(one: &[f64], other: &[f64]) -> f64 {
    one.iter().zip(other).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    /// Random and extreme neighbours, one pass and several: never farther than is charged.
    #[test]
    fn one_record_moves_the_mean_as_far_as_is_charged(
        rows in prop::collection::vec((prop::array::uniform2(-0.7_f32..0.7), any::<bool>()), 2..40),
        at in any::<prop::sample::Index>(), passes in 1_u32..5, ridge in -3.0..1.0_f64, even: bool, emptied: bool,
    ) {
        let at = at.index(rows.len());
        let weights = if even { Weights::Even } else { Weights::Linear };
        let walk = walk(rows.len(), passes, weights, 10_f64.powf(ridge));
        let mut x: Vec<[f32; 2]> = rows.iter().map(|(x, _)| *x).collect();
        let mut y: Vec<f64> = rows.iter().map(|(_, yes)| if *yes { 1.0 } else { -1.0 }).collect();
        let loss = Loss::HuberSvm { h: 1e-6 };
        let first = walk.mean(loss, &table(&x), &y, || true);
        if emptied { x[at] = [0.0; 2] } else { y[at] = -y[at] }
        let second = walk.mean(loss, &table(&x), &y, || true);
        let most = walk.sensitivity(1.0) + walk.rounding(1.0, 2);
        prop_assert!(apart(&first, &second) <= most, "{} > {most}", apart(&first, &second));
    }
}

/// The bound is nearly attained: the first of many rows, all others empty.
#[test]
fn the_bound_is_not_far_from_what_the_first_row_does() {
    for (weights, passes, least) in
        [(Weights::Linear, 1, 0.9), (Weights::Even, 1, 0.6), (Weights::Linear, 3, 0.9)]
    {
        let walk = walk(200, passes, weights, 1.0);
        let mut rows = vec![[0.0_f32; 2]; 200];
        rows[0] = [1.0, 0.0];
        let mean = |label: f64| {
            let labels: Vec<f64> = (0..200).map(|row| if row == 0 { label } else { 1.0 }).collect();
            walk.mean(Loss::HuberSvm { h: 1e-6 }, &table(&rows), &labels, || true)
        };
        let share = apart(&mean(1.0), &mean(-1.0)) / walk.sensitivity(1.0);
        assert!(share <= 1.0 + 1e-9 && share > least, "{weights:?} {passes}: {share}");
    }
}

/// C1: without 1/Ψ, as printed, the bound is broken many times over.
#[test]
fn the_printed_bound_is_broken() {
    let (rows, ridge) = (5_000, 0.01);
    let ball = Ball { radius: 101.0, ridge, slope: 1.0 };
    let walk = AveragedWalk { rows, passes: 1, weights: Weights::Even, ball };
    let mut x = vec![[0.0_f32; 2]; rows as usize];
    // Short, so that no point leaves the hinge's straight part.
    x[8] = [0.0625, 0.0];
    let mean = |label: f64| {
        let mut labels = vec![1.0; rows as usize];
        labels[8] = label;
        walk.mean(Loss::HuberSvm { h: 1e-6 }, &table(&x), &labels, || true)
    };
    let moved = apart(&mean(1.0), &mean(-1.0));
    let printed = 2.0 * 0.0625 * (rows as f64).ln() / rows as f64;
    assert!(moved > 20.0 * printed && moved <= walk.sensitivity(0.0625), "{moved} {printed}");
}

#[test]
fn what_is_charged_is_the_bound_and_what_no_theorem_covers_is_refused() {
    let case = Case::of("averaged").rows(1_000).set("ridge", "100").set("passes", "2");
    let Event::Use { cost: Cost::Gaussian { sensitivity, .. }, .. } =
        plan(&case).unwrap().events().unwrap().clone()
    else {
        panic!()
    };
    // 2SR(K + 1)/(Ψ(Kn + 3)), S = 3/8, R = the schema's radius.
    let radius = plan(&case).unwrap().facts().radius;
    let bound = 2.0 * 0.375 * radius * 3.0 / (0.1 * 2_003.0);
    assert!(sensitivity >= bound && sensitivity < 1.001 * bound, "{sensitivity} {bound}");
    for refused in [
        case.clone().neighbours(Neighbours::AddRemove),
        case.clone().delta(0.0),
        case.clone().printed(),
        Case::of("averaged").users(2),
    ] {
        assert!(plan(&refused).is_err());
    }
    assert!(METHODS.iter().any(|info| info.name == "averaged"));
}
