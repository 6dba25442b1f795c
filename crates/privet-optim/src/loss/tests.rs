//! One battery for every loss.

use super::*;
use proptest::prelude::*;

fn any_loss() -> impl Strategy<Value = Loss> {
    prop_oneof![
        Just(Loss::Logistic),
        (1e-3..10.0_f64).prop_map(|h| Loss::HuberSvm { h }),
        Just(Loss::HuberSvm { h: 1e-6 }),
        (1e-3..10.0_f64).prop_map(|clip| Loss::Squared { clip }),
        Just(Loss::SQUARED),
        (1e-3..10.0_f64).prop_map(|width| Loss::Huber { width }),
        Just(Loss::Huber { width: 1e-6 }),
        (0.01..0.99_f64, 1e-3..2.0_f64).prop_map(|(tau, h)| Loss::Quantile { tau, h }),
        (1e-9..1.0_f64).prop_map(|tau| Loss::Quantile { tau, h: 1e-6 }),
        (0.0..0.99_f64, 0.0..20.0_f64).prop_map(|(least, shift)| Loss::Poisson { least, shift }),
        Just(Loss::Poisson { least: 0.0, shift: 2.0 }),
    ]
}

fn any_label(loss: Loss, pick: f64) -> f64 {
    if loss.keeps_sign() { pick.signum() } else { pick }
}

fn any_margin() -> impl Strategy<Value = f64> {
    prop_oneof![
        -5.0..5.0_f64,
        -800.0..800.0_f64,
        prop::num::f64::NORMAL | prop::num::f64::SUBNORMAL | prop::num::f64::ZERO,
        prop::sample::select(vec![0.0, -0.0, 1e300, -1e300, f64::MAX, -f64::MAX, 5e-324, -5e-324]),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(5_000))]

    #[test]
    fn the_table_of_facts_holds(loss in any_loss(), pick in -1.0..1.0_f64, u in any_margin()) {
        let y = any_label(loss, pick);
        let at = loss.at(u, y);
        prop_assert!(at.value >= 0.0, "{loss:?} {u} {y} {at:?}");
        prop_assert!(at.derivative.abs() <= loss.lipschitz(), "{at:?}");
        prop_assert!((0.0..=loss.curvature()).contains(&at.second), "{at:?}");
        if loss.keeps_sign() {
            prop_assert!(at.derivative * y <= 0.0);
        }
        if loss.logistic_like() {
            let q = at.derivative.abs() / loss.lipschitz();
            let bound = 4.0 * loss.curvature() * q * (1.0 - q);
            prop_assert!(at.second <= bound + 1e-15, "{} {}", at.second, bound);
        }
    }

    #[test]
    fn derivatives_match_differences(loss in any_loss(), pick in -1.0..1.0_f64, u in -8.0..8.0_f64) {
        let y = any_label(loss, pick);
        let step = 1e-6;
        let (low, high) = (loss.at(u - step, y), loss.at(u + step, y));
        let slope = (high.value - low.value) / (2.0 * step);
        let at = loss.at(u, y);
        // ℓ′ is c-Lipschitz, so the difference quotient is within c·step; rounding adds 1e-7.
        prop_assert!((slope - at.derivative).abs() <= loss.curvature() * step + 1e-7, "{loss:?}");
        // ℓ″ is not continuous: convexity bounds the change of ℓ′ instead.
        let change = high.derivative - low.derivative;
        // u ± step themselves are rounded, by up to 1e-15 each.
        let slack = 1e-14 * (1.0 + loss.curvature());
        prop_assert!(change >= -slack && change <= 2.0 * step * loss.curvature() + slack);
        if loss.logistic_like() {
            prop_assert!((change / (2.0 * step) - at.second).abs() < 1e-8);
        }
    }

    #[test]
    fn derivative_keeps_its_error_bound(loss in any_loss(), pick in -1.0..1.0_f64, u in any_margin()) {
        let y = any_label(loss, pick);
        let exact = loss.precise_derivative(DoubleDouble::from(u), y);
        for found in [loss.evaluate::<false>(u, y), loss.evaluate::<true>(u, y)] {
            let gap = (DoubleDouble::from(found.derivative) - exact).high.abs();
            prop_assert!(gap <= loss.derivative_error(), "{loss:?} u {u} y {y} gap {gap}");
        }
    }

    #[test]
    fn blocks_agree_with_points(loss in any_loss(), margins in prop::collection::vec(-50.0..50.0_f64, 0..40)) {
        let labels: Vec<f64> = (0..margins.len()).map(|i| if i % 3 == 0 { 1.0 } else { -1.0 }).collect();
        let mut derivatives = vec![0.0; margins.len()];
        let (sum, _) = loss.values_and_derivatives::<false>(&margins, &labels, &mut derivatives);
        let (mut only, mut second) = (derivatives.clone(), derivatives.clone());
        loss.derivatives::<false>(&margins, &labels, &mut only);
        loss.second_derivatives::<false>(&margins, &labels, &mut second);
        prop_assert_eq!(&only, &derivatives);
        let mut expected = 0.0;
        for i in 0..margins.len() {
            prop_assert_eq!(second[i], loss.second_derivative(margins[i], labels[i]));
            expected += loss.value(margins[i], labels[i]);
            prop_assert_eq!(derivatives[i], loss.derivative(margins[i], labels[i]));
        }
        prop_assert!((sum - expected).abs() <= 1e-12 * (1.0 + expected));
    }
}

/// By `mpmath`, 60 digits: ln(1 + e^{−z}) and −1/(1 + e^z).
#[test]
fn logistic_at_extremes() {
    let cases = [
        (0.0, std::f64::consts::LN_2, -0.5),
        (40.0, 4.248354255291589e-18, -4.248354255291589e-18),
        (-40.0, 40.0, -1.0),
        (700.0, 9.85967654375977e-305, -9.85967654375977e-305),
        (1e300, 0.0, 0.0),
        (-1e300, 1e300, -1.0),
        (1.0, 0.3132616875182228, -0.2689414213699951),
        (-5.5, 5.504078443270571, -0.9959298622841039),
    ];
    for (z, value, derivative) in cases {
        let at = Loss::Logistic.at(z, 1.0);
        assert!((at.value - value).abs() <= 1e-14 * value + 4e-308, "{z}: {at:?}");
        assert!((at.derivative - derivative).abs() <= 2e-15 * derivative.abs() + 4e-308, "{z}");
    }
}

/// The three branches as printed, at points in, on and outside them.
#[test]
fn huber_is_the_printed_formula() {
    let h: f64 = 0.5;
    for z in [-3.0, 0.0, 0.49, 0.5, 0.75, 1.0, 1.2, 1.5, 1.51, 9.0] {
        let t: f64 = 1.0 - z;
        let printed = if t > h {
            t
        } else if t < -h {
            0.0
        } else {
            t * t / (4.0 * h) + t / 2.0 + h / 4.0
        };
        for y in [-1.0, 1.0] {
            assert!((Loss::HuberSvm { h }.value(y * z, y) - printed).abs() < 1e-15);
        }
    }
}

#[test]
fn settings_outside_their_limits_are_refused() {
    for bad in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert!(Loss::HuberSvm { h: bad }.check().is_err());
        assert!(Loss::Squared { clip: bad }.check().is_err());
    }
    let text = serde_json::to_string(&Loss::HuberSvm { h: 0.1 }).unwrap();
    assert_eq!(serde_json::from_str::<Loss>(&text).unwrap(), Loss::HuberSvm { h: 0.1 });
    assert_eq!(serde_json::to_string(&Loss::Logistic).unwrap(), r#"{"kind":"logistic"}"#);
    assert!(serde_json::from_str::<Loss>(r#"{"kind":"huber-svm","h":0.0}"#).is_err());
    assert!(serde_json::from_str::<Loss>(r#"{"kind":"huber-svm","h":0.1,"g":1}"#).is_err());
}

/// By hand: the mean of the pinball loss over a uniform shift, by the midpoint rule.
#[test]
fn the_quantile_loss_is_the_smoothed_pinball() {
    let (tau, h, y) = (0.9, 0.3, 0.25);
    let pinball = |t: f64| if t > 0.0 { (1.0 - tau) * t } else { -tau * t };
    let points = 20_000;
    for u in [-2.0, -0.1, 0.0, 0.2, 0.25, 0.5, 0.56, 3.0] {
        let shift = |i: u32| h * ((2.0 * f64::from(i) + 1.0) / f64::from(points) - 1.0);
        let mean = (0..points).map(|i| pinball(u - y + shift(i))).sum::<f64>() / f64::from(points);
        assert!((Loss::Quantile { tau, h }.value(u, y) - mean).abs() < 1e-8, "{u}");
    }
    assert_eq!(Loss::Quantile { tau, h }.lipschitz(), 0.9);
    assert!(Loss::Quantile { tau: 0.1, h }.lipschitz() >= 0.9);
}

/// The minimiser of a mean of losses is the statistic it stands for: mean rate, median, quantile.
#[test]
fn minimisers_are_the_statistics_they_stand_for() {
    let targets: Vec<f64> = (0..101).map(|i| f64::from(i) / 50.0 - 1.0).collect();
    let best = |loss: Loss| {
        let slope = |u: f64| targets.iter().map(|y| loss.derivative(u, *y)).sum::<f64>();
        let (mut low, mut high) = (-50.0, 50.0);
        for _ in 0..200 {
            let middle = 0.5 * (low + high);
            if slope(middle) > 0.0 { high = middle } else { low = middle }
        }
        loss.prediction(low)
    };
    assert!((best(Loss::Quantile { tau: 0.9, h: 0.01 }) - 0.8).abs() < 0.03);
    assert!(best(Loss::Huber { width: 0.01 }).abs() < 0.01);
    assert!(best(Loss::Huber { width: 10.0 }).abs() < 1e-9);
    // Targets of 10 to 50: the best constant rate is the mean, 30, halfway between the bounds.
    let poisson = Loss::poisson(10.0, 50.0, 5.0).unwrap();
    assert!(best(poisson).abs() < 1e-9);
}

/// In the target's own unit: ℓ·high is e^η − kη up to a constant while the rate is below the bound.
#[test]
fn the_poisson_loss_is_the_likelihood() {
    let (low, high, at_zero) = (2.0, 40.0, 7.0);
    let loss = Loss::poisson(low, high, at_zero).unwrap();
    for k in [2.0, 11.0, 40.0] {
        let y = 2.0 * (k - low) / (high - low) - 1.0;
        let constant = high * loss.value(0.0, y) - at_zero;
        for u in [-30.0, -2.0, 0.0, 0.5, 1.7] {
            let rate = at_zero * f64::exp(u);
            assert!(rate < high);
            let likelihood = rate - k * u + constant;
            assert!((high * loss.value(u, y) - likelihood).abs() < 1e-10 * (1.0 + likelihood));
            let predicted = low + (high - low) * (loss.prediction(u) + 1.0) / 2.0;
            assert!((predicted - rate).abs() < 1e-12 * high, "{predicted} {rate}");
        }
    }
    assert!((loss.prediction(100.0) - 1.0).abs() < 1e-12);
}

#[test]
fn new_losses_refuse_what_their_theorems_do_not_cover() {
    for bad in [0.0, 1.0, -1.0, f64::NAN, f64::INFINITY] {
        assert!(Loss::Quantile { tau: bad, h: 0.1 }.check().is_err());
    }
    for bad in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert!(Loss::Quantile { tau: 0.5, h: bad }.check().is_err());
        assert!(Loss::Huber { width: bad }.check().is_err());
        assert!(Loss::poisson(0.0, 10.0, bad).is_err());
        assert!(Loss::poisson(0.0, bad, 1.0).is_err());
    }
    for bad in [1.0, -0.1, f64::NAN] {
        assert!(Loss::Poisson { least: bad, shift: 1.0 }.check().is_err());
        assert!(
            Loss::Poisson { least: 0.5, shift: if bad == 1.0 { 1e3 } else { bad } }
                .check()
                .is_err()
        );
    }
    assert!(Loss::poisson(-1.0, 10.0, 1.0).unwrap_err().to_string().contains("low"));
    assert!(Loss::poisson(5.0, 5.0, 1.0).unwrap_err().to_string().contains("high"));
    assert!(Loss::poisson(5.0, 10.0, 11.0).unwrap_err().to_string().contains("rate"));
    assert!(Loss::poisson(5.0, 10.0, 10.0).is_ok());
    for loss in [
        Loss::Huber { width: 0.5 },
        Loss::Quantile { tau: 0.5, h: 0.1 },
        Loss::Poisson { least: 0.0, shift: 2.0 },
    ] {
        let text = serde_json::to_string(&loss).unwrap();
        assert_eq!(serde_json::from_str::<Loss>(&text).unwrap(), loss);
    }
    assert!(serde_json::from_str::<Loss>(r#"{"kind":"quantile","tau":1.0,"h":0.1}"#).is_err());
}

/// A label of magnitude w is the loss times w, and no constant of the loss grows.
#[test]
fn the_size_of_a_sign_is_how_much_its_row_counts() {
    for loss in [Loss::Logistic, Loss::HuberSvm { h: 0.1 }] {
        for u in [-3.0, -0.4, 0.0, 0.95, 2.0] {
            for y in [-1.0, 1.0] {
                let (full, half) = (loss.at(u, y), loss.at(u, y / 2.0));
                assert_eq!(half.value, full.value / 2.0);
                assert_eq!(half.derivative, full.derivative / 2.0);
                assert_eq!(half.second, full.second / 2.0);
                let precise = loss.precise_derivative(u.into(), y / 2.0).high;
                assert!((precise - half.derivative).abs() <= loss.derivative_error());
            }
        }
        assert!(loss.accepts(-0.25) && loss.accepts(1.0) && !loss.accepts(0.0));
        assert!(!loss.accepts(1.5) && !loss.accepts(f64::NAN));
    }
}
