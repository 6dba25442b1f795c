//! Maps and residuals against their definitions.

use super::super::point::Point;
use super::super::{dot, norm};
use super::*;
use crate::testing::Lcg;
use proptest::prelude::*;

pub(crate) fn any_penalty(kind: u8, columns: usize, scale: f64) -> Penalty {
    match kind {
        0 => Penalty::L1 { weight: scale },
        1 => Penalty::Box { low: -0.3 * scale, high: 0.7 * scale },
        2 => Penalty::Ball { radius: scale },
        3 => {
            let mut sizes = vec![];
            let mut left = columns as u32;
            while left > 0 {
                let size = (1 + sizes.len() as u32 % 4).min(left);
                sizes.push(size);
                left -= size;
            }
            Penalty::Group { weight: scale, sizes }
        }
        4 => Penalty::Simplex { total: scale },
        5 => Penalty::Box { low: 0.1 * scale, high: scale },
        _ => Penalty::ElasticNet { l1: scale, l2: 2.0 * scale },
    }
}

fn inside(penalty: &Penalty, z: &[f64]) -> bool {
    match penalty {
        Penalty::Box { low, high } => z.iter().all(|t| low <= t && t <= high),
        Penalty::Ball { radius } => norm(z) <= radius * (1.0 + 1e-14),
        Penalty::Simplex { total } => {
            let sum: f64 = z.iter().sum();
            z.iter().all(|t| *t >= 0.0) && (sum - total).abs() <= 1e-14 * total * z.len() as f64
        }
        _ => true,
    }
}

fn mapped(penalty: &Penalty, v: &[f64], inverse_m: f64) -> Vec<f64> {
    Point::new(v.to_vec()).mapped(penalty, inverse_m, false).theta
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    /// z minimises penalty/M + ½‖z − v‖² exactly if 0 is among the subgradients there: the residual
    /// of the gradient M(z − v) vanishes. It is computed independently of the map.
    #[test]
    fn maps_satisfy_their_optimality_conditions(
        seed in any::<u64>(), columns in 1..12_usize, kind in 0..7_u8, size in -3.0..3.0_f64,
        scale in -2.0..2.0_f64, inverse_m in 0.01..10.0_f64,
    ) {
        let penalty = any_penalty(kind, columns, 10f64.powf(scale));
        let mut random = Lcg(seed);
        let spread = 10f64.powf(size);
        let v: Vec<f64> = (0..columns).map(|_| spread * random.centred()).collect();
        let mut digits: Vec<DoubleDouble> = v.iter().map(|&v| v.into()).collect();
        penalty.map(&mut digits, inverse_m);
        let m = DoubleDouble::from(inverse_m).reciprocal();
        let gradient: Vec<DoubleDouble> =
            digits.iter().zip(&v).map(|(z, &v)| (*z - DoubleDouble::from(v)) * m).collect();
        let point = Point::from_digits(&digits, true);
        let residual = penalty.residual(&point, &gradient);
        let magnitude = (norm(&v) + 10f64.powf(scale)) * (1.0 + m.high) * (columns as f64);
        prop_assert!(norm(&residual.vector) <= 1e-28 * magnitude, "{:?} {}", residual.vector, magnitude);
        prop_assert!(residual.off <= 1e-27 * magnitude, "{}", residual.off);
        prop_assert!(inside(&penalty, &point.theta));
    }

    /// Brute force: no allowed point has a lower value.
    #[test]
    fn no_point_is_nearer(seed in any::<u64>(), columns in 1..6_usize, kind in 0..7_u8) {
        let penalty = any_penalty(kind, columns, 0.8);
        let mut random = Lcg(seed);
        let v: Vec<f64> = (0..columns).map(|_| 2.0 * random.centred()).collect();
        let inverse_m = 0.7;
        // The elastic net's square is part of the ridge.
        let l1 = Penalty::L1 { weight: 0.8 };
        let counted = if kind == 6 { &l1 } else { &penalty };
        let cost = |z: &[f64]| {
            let away: Vec<f64> = z.iter().zip(&v).map(|(a, b)| a - b).collect();
            inverse_m * counted.value(z) + 0.5 * dot(&away, &away)
        };
        let best = mapped(&penalty, &v, inverse_m);
        for trial in 0..400 {
            let scale = [1e-5, 1e-3, 0.1, 1.0][trial % 4];
            let moved: Vec<f64> = best.iter().map(|z| z + scale * random.centred()).collect();
            // Any allowed point serves; sets are reached by clamping, scaling, or normalising.
            let other: Vec<f64> = match &penalty {
                Penalty::Box { low, high } => moved.iter().map(|t| t.clamp(*low, *high)).collect(),
                Penalty::Ball { radius } => {
                    let factor = (radius / norm(&moved)).min(1.0);
                    moved.iter().map(|t| t * factor).collect()
                }
                Penalty::Simplex { total } => {
                    let positive: Vec<f64> = moved.iter().map(|t| t.max(0.0)).collect();
                    let sum: f64 = positive.iter().sum();
                    if sum == 0.0 { continue }
                    positive.iter().map(|t| t * total / sum).collect()
                }
                _ => moved,
            };
            prop_assert!(cost(&best) <= cost(&other) + 1e-13, "{penalty:?}");
        }
    }

    /// The residual is the smallest: no other subgradient of the penalty gives less.
    #[test]
    fn no_subgradient_is_smaller(seed in any::<u64>(), columns in 2..8_usize, kind in 0..6_u8) {
        let penalty = any_penalty(kind, columns, 0.8);
        let mut random = Lcg(seed);
        let v: Vec<f64> = (0..columns).map(|_| 1.5 * random.centred()).collect();
        let theta = mapped(&penalty, &v, 0.5);
        let g: Vec<f64> = (0..columns).map(|_| 2.0 * random.centred()).collect();
        let digits: Vec<DoubleDouble> = g.iter().map(|&g| g.into()).collect();
        let rho = penalty.residual(&Point::new(theta.clone()), &digits).vector;
        // s = ρ − g is a subgradient: penalty(z) ≥ penalty(θ) + ⟨s, z − θ⟩ for allowed z. And ρ is the
        // nearest point of g + subgradients to 0, so −ρ is the steepest descent: the derivative of
        // F + penalty along it is −‖ρ‖².
        for _ in 0..100 {
            let w: Vec<f64> = (0..columns).map(|_| 1.5 * random.centred()).collect();
            let z = mapped(&penalty, &w, 0.3);
            let inner: f64 = (0..columns).map(|j| (rho[j] - g[j]) * (z[j] - theta[j])).sum();
            prop_assert!(penalty.value(&z) >= penalty.value(&theta) + inner - 1e-12);
        }
        let step = 1e-6;
        let moved: Vec<f64> = theta.iter().zip(&rho).map(|(t, r)| t - step * r).collect();
        if norm(&rho) > 1e-3 && !matches!(penalty, Penalty::Ball { .. }) {
            // Along −ρ sets are not left, to first order.
            let end = match &penalty {
                Penalty::Box { low, high } => moved.iter().map(|t| t.clamp(*low, *high)).collect(),
                Penalty::Simplex { .. } => mapped(&penalty, &moved, 0.0),
                _ => moved,
            };
            let change: f64 = (0..columns).map(|j| g[j] * (end[j] - theta[j])).sum::<f64>()
                + penalty.value(&end) - penalty.value(&theta);
            let expected = -step * dot(&rho, &rho);
            prop_assert!((change - expected).abs() <= 1e-2 * expected.abs() + 1e-11, "{change} {expected} {penalty:?}");
        }
    }
}

/// Points where maps are at an edge: zeros, ties, ends, all equal, far out.
#[test]
fn maps_at_the_edges() {
    let simplex = Penalty::Simplex { total: 1.0 };
    assert_eq!(mapped(&simplex, &[0.0, 0.0, 0.0, 0.0], 1.0), [0.25; 4]);
    assert_eq!(mapped(&simplex, &[5.0, 1.0], 1.0), [1.0, 0.0]);
    assert_eq!(mapped(&simplex, &[-7.0], 1.0), [1.0]);
    assert_eq!(mapped(&simplex, &[1e300, -1e300], 1.0), [1.0, 0.0]);
    assert_eq!(mapped(&simplex, &[0.5, 0.5], 1.0), [0.5, 0.5]);
    let group = Penalty::Group { weight: 1.0, sizes: vec![2, 1] };
    assert_eq!(mapped(&group, &[0.6, 0.8, 3.0], 1.0), [0.0, 0.0, 2.0]);
    assert_eq!(mapped(&group, &[0.0, 0.0, 0.0], 1.0), [0.0; 3]);
    assert_eq!(
        mapped(&Penalty::L1 { weight: 1.0 }, &[1.0, -1.0, 1.5, -0.0], 1.0),
        [0.0, 0.0, 0.5, 0.0]
    );
    let ball = Penalty::Ball { radius: 5.0 };
    assert_eq!(mapped(&ball, &[3.0, 4.0], 1.0), [3.0, 4.0]);
    assert_eq!(mapped(&ball, &[3e200, 4e200], 1.0), [3.0, 4.0]);
}

#[test]
fn what_does_not_fit_is_refused() {
    for bad in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert!(Penalty::L1 { weight: bad }.check(3).is_err());
        assert!(Penalty::ElasticNet { l1: bad, l2: 1.0 }.check(3).is_err());
        assert!(Penalty::ElasticNet { l1: 1.0, l2: bad }.check(3).is_err());
        assert!(Penalty::Group { weight: bad, sizes: vec![3] }.check(3).is_err());
        assert!(Penalty::Ball { radius: bad }.check(3).is_err());
        assert!(Penalty::Simplex { total: bad }.check(3).is_err());
    }
    for sizes in [vec![], vec![2], vec![4], vec![0, 3], vec![u32::MAX; 4]] {
        assert!(Penalty::Group { weight: 1.0, sizes }.check(3).is_err());
    }
    assert!(Penalty::Simplex { total: 1.0 }.check(0).is_err());
    assert!(Penalty::Group { weight: 1.0, sizes: vec![] }.check(0).is_ok());
}
