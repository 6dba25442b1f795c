//! Golden values of the objective-perturbation note: calibrated noise scales.

use privet_core::{Budget, Neighbours, Unit};
use privet_dp::account::{
    self, Cost, Event, LossShape, ObjectiveCost, ObjectiveNoise, OutputNoise, Sign, calibrate,
};

const RECORD: Unit = Unit::Record;

fn objective(loss: LossShape, radius: f64, ridge: f64, noise: ObjectiveNoise) -> ObjectiveCost {
    ObjectiveCost { loss, radius, ridge, noise }
}

fn gaussian(noise_scale: f64) -> ObjectiveNoise {
    ObjectiveNoise::Gaussian { noise_scale, grid: None }
}

fn shape(lipschitz: f64, curvature: f64, sign: Sign, logistic: bool) -> LossShape {
    LossShape { lipschitz, curvature, sign, logistic }
}

/// The calibrated σ is within `tolerance` of the golden one and never below it by more.
fn check(name: &str, want: f64, tolerance: f64, budget: Budget, event_for: impl Fn(f64) -> Event) {
    let got = calibrate(&budget, 1e-3..=1e6, &event_for).unwrap();
    let error = got / want - 1.0;
    assert!(error.abs() <= tolerance, "{name}: {got} instead of {want} ({error:e})");
    assert!(account::meets(&event_for(got), budget).unwrap(), "{name} is on the wrong side");
}

/// ε, δ, λ, β, L, R, then S1…S6 (S5, S6 only for the logistic loss).
type Row = (f64, f64, f64, f64, f64, f64, [f64; 6]);

const SIGMAS: [Row; 20] = [
    (
        0.1,
        1e-5,
        5.0,
        0.25,
        1.0,
        1.0,
        [56.53238314, 56.53238314, 113.0647663, 120.0884245, 35.0837455, 87.52676267],
    ),
    (
        0.1,
        1e-5,
        10.0,
        0.25,
        1.0,
        1.0,
        [39.82310956, 39.82310956, 79.64621913, 84.32647552, 30.74956613, 64.94290371],
    ),
    (
        0.1,
        1e-5,
        20.0,
        0.25,
        1.0,
        1.0,
        [34.70582184, 34.70582184, 69.41164368, 73.40462108, 30.74956613, 61.49913226],
    ),
    (
        0.5,
        1e-6,
        2.0,
        0.25,
        1.0,
        1.0,
        [10.35782354, 10.35782354, 20.71564708, 21.48572591, 8.057618481, 16.97271082],
    ),
    (
        1.0,
        1e-5,
        0.5,
        0.25,
        1.0,
        1.0,
        [5.999662674, 5.999662674, 11.99932535, 12.53135708, 4.021890454, 9.458013581],
    ),
    (
        1.0,
        1e-5,
        1.0,
        0.25,
        1.0,
        1.0,
        [4.697072980, 4.697072980, 9.394145960, 9.795236338, 3.730631635, 7.776231675],
    ),
    (
        1.0,
        1e-5,
        2.0,
        0.25,
        1.0,
        1.0,
        [4.182070742, 4.182070742, 8.364141484, 8.714739409, 3.730631635, 7.461263270],
    ),
    (
        1.0,
        1e-5,
        10.0,
        0.25,
        1.0,
        1.0,
        [3.816563178, 3.884140805, 7.633126356, 7.948388043, 3.730631635, 7.461263270],
    ),
    (
        1.0,
        1e-6,
        1.0,
        0.25,
        1.0,
        1.0,
        [5.342057759, 5.342057759, 10.68411552, 11.05045151, 4.224678889, 8.829738251],
    ),
    (
        1.0,
        1e-6,
        1.0,
        1.0,
        1.0,
        2.0,
        [25.44129175, 25.44129175, 50.88258351, 52.82022632, 14.52293587, 38.84516772],
    ),
    (
        1.0,
        1e-8,
        1.0,
        0.25,
        1.0,
        1.0,
        [6.482369033, 6.482369033, 12.96473807, 13.28066195, 5.100308788, 10.69490003],
    ),
    (
        3.0,
        1e-5,
        0.25,
        0.25,
        1.0,
        1.0,
        [1.755152548, 1.755152548, 3.510305095, 3.636271985, 1.394326345, 2.936788440],
    ),
    (
        3.0,
        1e-5,
        1.0,
        0.25,
        1.0,
        1.0,
        [1.488779896, 1.488779896, 2.977559792, 3.080760831, 1.390593457, 2.781186913],
    ),
    (
        8.0,
        1e-5,
        0.1,
        0.25,
        1.0,
        1.0,
        [0.6917414799, 0.6917414799, 1.383482960, 1.422771098, 0.6002757901, 1.222938288],
    ),
    (
        8.0,
        1e-5,
        1.0,
        0.25,
        1.0,
        1.0,
        [0.6144630856, 0.6165138603, 1.228926171, 1.262527996, 0.6002290722, 1.200458144],
    ),
    (
        1.0,
        1e-5,
        10.0,
        5.0,
        1.0,
        1.0,
        [5.999662674, 5.999662674, 11.99932535, 12.53135708, f64::NAN, f64::NAN],
    ),
    (
        1.0,
        1e-5,
        50.0,
        5.0,
        1.0,
        1.0,
        [4.087203504, 4.087203504, 8.174407008, 8.515791972, f64::NAN, f64::NAN],
    ),
    (
        3.0,
        1e-5,
        5.0,
        5.0,
        1.0,
        1.0,
        [1.755152548, 1.755152548, 3.510305095, 3.636271985, f64::NAN, f64::NAN],
    ),
    (
        8.0,
        1e-6,
        1.0,
        5.0,
        1.0,
        1.0,
        [0.8115587219, 0.8115587219, 1.623117444, 1.663078661, f64::NAN, f64::NAN],
    ),
    (
        1.0,
        1e-5,
        4.0,
        1.0,
        2.0,
        1.5,
        [14.09121894, 14.09121894, 28.18243788, 29.38570902, f64::NAN, f64::NAN],
    ),
];

#[test]
fn calibrated_noise_scales_are_the_golden_ones() {
    use Neighbours::{AddRemove, ReplaceOne};
    let kinds = [
        ("S1", AddRemove, Sign::Fixed, false),
        ("S2", AddRemove, Sign::Any, false),
        ("S3", ReplaceOne, Sign::Fixed, false),
        ("S4", ReplaceOne, Sign::Any, false),
        ("S5", AddRemove, Sign::Fixed, true),
        ("S6", ReplaceOne, Sign::Fixed, true),
    ];
    for (epsilon, delta, ridge, beta, lipschitz, radius, sigmas) in SIGMAS {
        let budget = Budget::new(epsilon, delta).unwrap();
        for ((name, neighbours, sign, logistic), want) in kinds.into_iter().zip(sigmas) {
            if want.is_nan() {
                continue;
            }
            let loss = shape(lipschitz, beta / (radius * radius), sign, logistic);
            check(&format!("{name} at {epsilon} {delta} {ridge}"), want, 2e-9, budget, |sigma| {
                let cost = Cost::Objective(objective(loss, radius, ridge, gaussian(sigma)));
                Event::Use { neighbours, unit: RECORD, cost }
            });
        }
    }
}

#[test]
fn approximate_minima_have_their_golden_noise_scales() {
    use Neighbours::{AddRemove, ReplaceOne};
    for (epsilon, delta, determinant, nu, wants) in [
        (1.0, 1e-5, 0.1, 0.01, [8.220182996, 8.564358824, 4.110091498]),
        (1.0, 1e-5, 0.1, 0.05, [8.392062177, 8.759270545, 4.196031088]),
        (1.0, 1e-6, 1.25_f64.ln(), 0.02, [10.74562236, 11.11854568, 5.37281118]),
    ] {
        let budget = Budget::new(epsilon, delta).unwrap();
        let kinds = [(ReplaceOne, Sign::Fixed), (ReplaceOne, Sign::Any), (AddRemove, Sign::Fixed)];
        for ((neighbours, sign), want) in kinds.into_iter().zip(wants) {
            let loss = shape(1.0, determinant.exp_m1(), sign, false);
            check(&format!("AMP {neighbours} {nu}"), want, 2e-9, budget, |sigma| {
                let cost = Cost::ApproximateMinima {
                    objective: objective(loss, 1.0, 1.0, gaussian(sigma)),
                    output_sensitivity: nu,
                    output: OutputNoise::Gaussian { noise_scale: 1.0, grid: None },
                };
                Event::Use { neighbours, unit: RECORD, cost }
            });
        }
    }
}

#[test]
fn the_pure_form_has_its_golden_noise_scales() {
    use Neighbours::{AddRemove, ReplaceOne};
    for (epsilon, ridge, wants) in [
        (1.0, 0.5, [3.363974137, 2.640850903, 1.681987069, 1.107475861]),
        (1.0, 1.0, [2.574478211, 2.114961751, 1.287239105, 1.0]),
        (1.0, 2.0, [2.26701603, 2.0, 1.133508015, 1.0]),
        (0.1, 10.0, [26.55781948, 21.49689724, 13.27890974, 10.0]),
    ] {
        let budget = Budget::new(epsilon, 0.0).unwrap();
        let kinds =
            [(ReplaceOne, false), (ReplaceOne, true), (AddRemove, false), (AddRemove, true)];
        for ((neighbours, logistic), want) in kinds.into_iter().zip(wants) {
            let loss = shape(1.0, 0.25, Sign::Fixed, logistic);
            check(&format!("pure {neighbours} {logistic}"), want, 1e-9, budget, |noise_scale| {
                let noise = ObjectiveNoise::L2Laplace { noise_scale };
                let cost = Cost::Objective(objective(loss, 1.0, ridge, noise));
                Event::Use { neighbours, unit: RECORD, cost }
            });
        }
    }
}

/// Above λ = 2σ² the release is Gaussian DP, and K of them compose as √K.
#[test]
fn the_gaussian_regime_reaches_the_gaussian_floor() {
    for (epsilon, delta, floor) in [
        (0.1, 1e-5, 30.74956613),
        (0.5, 1e-6, 8.057618481),
        (1.0, 1e-5, 3.730631635),
        (1.0, 1e-6, 4.224678889),
        (3.0, 1e-5, 1.390593457),
        (8.0, 1e-5, 0.6002290722),
    ] {
        let budget = Budget::new(epsilon, delta).unwrap();
        let loss = shape(1.0, 0.25, Sign::Fixed, true);
        for (neighbours, factor) in [(Neighbours::AddRemove, 1.0), (Neighbours::ReplaceOne, 2.0)] {
            for count in [1, 10] {
                let want = floor * factor * f64::from(count).sqrt();
                let event_for = |sigma| {
                    let cost = Cost::Objective(objective(loss, 1.0, 1e9, gaussian(sigma)));
                    let event = Box::new(Event::Use { neighbours, unit: RECORD, cost });
                    Event::Repeat { count, event }
                };
                let got = calibrate(&budget, 1e-3..=1e4, event_for).unwrap();
                assert!((got / want - 1.0).abs() < 1e-9, "{got} {want}");
            }
        }
    }
}

/// Below its determinant's share C a single objective is bounded by lines (Lemma H): never above the
/// closed forms, far below them, never below the attained Gaussian, and no worse than composing the same
/// curve with a negligible part.
#[test]
fn below_its_determinant_an_objective_is_bounded_by_lines() {
    let replaced = Neighbours::ReplaceOne;
    for (sign, sigma) in [(Sign::Any, 20.0), (Sign::Any, 100.0), (Sign::Fixed, 20.0)] {
        for ridge in [0.2, 1.0, 10.0] {
            let share = (1.0 + 0.25_f64 / ridge).ln();
            let mu = 2.0 / sigma;
            let cost = Cost::Objective(objective(
                shape(1.0, 0.25, sign, false),
                1.0,
                ridge,
                gaussian(sigma),
            ));
            let lone = Event::Use { neighbours: replaced, unit: RECORD, cost };
            let nothing = Event::Use {
                neighbours: replaced,
                unit: RECORD,
                cost: Cost::Pure { epsilon: 1e-9 },
            };
            let beside = Event::All(vec![lone.clone(), nothing]);
            for part in [0.0, 0.3, 0.6, 0.9, 1.0, 1.1] {
                let e = part * share;
                let actual = account::delta(&lone, e).unwrap();
                let closed = match sign {
                    Sign::Any => account::gaussian::delta_abs(e - share, mu),
                    Sign::Fixed => account::gaussian::delta_plus(e - share, mu),
                };
                assert!(actual <= closed * (1.0 + 1e-9), "{sign:?} {ridge} {part}");
                assert!(actual >= account::gaussian::delta(e, mu) * (1.0 - 1e-9));
                let composed = account::delta(&beside, e).unwrap();
                assert!(actual <= 1.02 * composed, "{sign:?} {ridge} {part}: {actual} {composed}");
                if part < 0.95 && share > 2.0 * mu {
                    assert!(actual < 0.9 * closed, "{sign:?} {ridge} {part}: {actual} {closed}");
                }
            }
        }
    }
}
