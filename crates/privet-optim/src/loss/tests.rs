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
        prop_assert!((slope - at.derivative).abs() <= loss.curvature() * step + 1e-7);
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
        let mut expected = 0.0;
        for i in 0..margins.len() {
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
