//! Linear regression by Algorithms 4.1 and 4.2, from request to verified model.

use crate::common::{Case, RELATIONS, data, distance, failed, relative_error, uniform};
use privet_core::{Neighbours, Unit};
use privet_dp::account::{Cost, Event};
use privet_dp::gate::Arithmetic;
use privet_dp::mechanism::RotatedObjective;
use privet_dp::noise::FixedSeed;
use privet_learn::linear::regression;
use privet_learn::{Facts, LearnError, verify};
use privet_optim::approximate::MatrixFunction;
use privet_optim::loss::Loss;
use privet_optim::spectrum::Spectrum;
use proptest::prelude::*;

fn case(method: &str, epsilon: f64, delta: f64) -> Case {
    Case::of(method).classes(1).budget(epsilon, delta)
}

#[test]
fn both_algorithms_train_and_verify() {
    let (training, test) = (data(4000, 1, 1), data(2000, 1, 2));
    for (method, delta) in [("linear", 1e-6), ("linear", 0.0), ("linear-rotated", 1e-6)] {
        for neighbours in RELATIONS {
            let case = case(method, 4.0, delta).neighbours(neighbours);
            let model = case.verified(&training);
            let what = format!("{method} {neighbours}, delta {delta}");
            let finite = if delta == 0.0 { Arithmetic::Real } else { Arithmetic::Finite };
            assert_eq!(model.certificate().arithmetic, finite, "{what}");
            let notes = model.certificate().notes.join(" ");
            assert_eq!(notes.contains("experimental"), method == "linear-rotated");
            let actual = relative_error(&case.seeded(&training), &test);
            assert!(actual < 0.5, "{what}: error {actual}");
        }
    }
    let classes = Case::of("linear").classes(3).budget(4.0, 1e-6);
    assert!(matches!(classes.plan().events(), Some(Event::Repeat { count: 3, .. })));
}

/// The printed constants of 4.1 cover their claim; for 4.2 the certificate states more than requested.
#[test]
fn printed_constants_claim_what_is_proved() {
    let printed = |method: &str, neighbours| {
        let planned = case(method, 0.5, 1e-6).neighbours(neighbours).printed().plan();
        planned.guarantee().unwrap().epsilon
    };
    for neighbours in RELATIONS {
        assert!(printed("linear", neighbours) <= 0.5);
        let actual = printed("linear-rotated", neighbours);
        // Three columns: √3/2 of ε, and √2 of that under replace-one, plus the noise's part.
        assert!(actual > 0.4 && actual < 0.5 * 2.0, "{actual}");
    }
    assert!(printed("linear-rotated", Neighbours::ReplaceOne) > 0.5);
}

#[test]
fn what_is_not_covered_is_refused_with_what_is() {
    let refused = |case: Case| case.refusal().to_string();
    for method in ["linear", "linear-rotated"] {
        let request = case(method, 1.0, 1e-6);
        assert!(refused(request.clone().classes(2).loss(Loss::Logistic)).contains("loss squared"));
        for bad in ["0", "-1", "1e6"] {
            let outcome = request.clone().set("norm", bad).refusal();
            assert!(matches!(outcome, LearnError::Setting(_)), "{bad}");
        }
        assert!(matches!(request.set("ridge", "0").refusal(), LearnError::Setting(_)));
    }
    assert!(refused(case("linear-rotated", 1.0, 0.0)).contains("delta above 0"));
    assert!(refused(Case::of("linear-rotated").classes(3)).contains("two classes"));
    // A ridge that costs more than the budget.
    assert!(refused(case("linear-rotated", 1.0, 1e-6).set("ridge", "1")).contains("larger ridge"));
}

/// A certificate of 4.2 cannot claim less than the plan proves.
#[test]
fn a_smaller_epsilon_is_found_out() {
    let model = case("linear-rotated", 1.0, 1e-6).model(&data(4000, 1, 1));
    assert!(verify(&model).valid);
    let holds = failed(&model, |certificate| {
        certificate["events"]["all"][0]["use"]["cost"]["epsilon"] = 0.4.into();
        certificate["guarantee"]["epsilon"] = 0.5.into();
    });
    assert_eq!(holds, [false, false, true]);
}

/// Both algorithms' minimisers stay in the ball, but for the noise on the result, and hit it when the noise
/// of b is large.
#[test]
fn weights_stay_near_the_ball() {
    let hidden = |method: &str, norm: &str| {
        let model = case(method, 0.01, 1e-6).set("norm", norm).seeded(&data(4000, 1, 1));
        model.weights().weights[0].iter().map(|w| w * w).sum::<f64>().sqrt()
    };
    for method in ["linear", "linear-rotated"] {
        for norm in [0.25, 2.0] {
            let actual = hidden(method, &norm.to_string());
            assert!(actual <= norm + 1e-3, "{method}: {actual} > {norm}");
        }
    }
}

/// L of 4.1: no residual in the ball is larger, and some are as large.
#[test]
fn residuals_in_the_ball_stay_within_the_slope() {
    let facts = Facts::of(&case("linear", 1.0, 1e-6)).unwrap();
    let facts = regression::in_ball(&facts, 2.5);
    let (radius, slope) = (facts.radius, facts.shape.lipschitz);
    assert!((slope - (1.0 + 2.5 * radius)).abs() < 1e-12 && slope >= 1.0 + 2.5 * radius);
    for u in [-2.5 * radius, 0.0, 2.5 * radius] {
        for y in [-1.0, 0.3, 1.0] {
            assert_eq!(facts.loss.derivative(u, y), u - y);
        }
    }
}

/// Q·h(Λ)·Qᵀ as a row-major matrix.
fn function_of(matrix: &[f64], columns: usize, h: impl Fn(f64) -> f64) -> Vec<f64> {
    let spectrum = Spectrum::of(matrix, columns).unwrap();
    let unit = |k: usize| (0..columns).map(|j| f64::from(u8::from(j == k))).collect::<Vec<_>>();
    (0..columns).flat_map(|k| spectrum.apply_filter(&unit(k), &h)).collect()
}

fn log_determinant(matrix: &[f64], columns: usize) -> f64 {
    Spectrum::of(matrix, columns).unwrap().values().iter().map(|value| value.ln()).sum()
}

fn plus_outer(matrix: &mut [f64], x: &[f64], weight: f64) {
    for (row, a) in matrix.chunks_mut(x.len()).zip(x) {
        row.iter_mut().zip(x).for_each(|(m, b)| *m += weight * a * b);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    /// The three bounds of the theorem of 4.2, on random and extreme neighbours: the shift of the
    /// matrix, of the gradient anywhere in the ball, and of the determinants under any P ⪰ 0.
    #[test]
    fn the_rotated_objective_moves_within_its_bounds(
        seed in any::<u64>(), columns in 1_usize..7, kind in 0_usize..5, rows in 0_usize..12
    ) {
        let mut source = FixedSeed::new(seed);
        // Rows at the bound: norm 1.
        let mut row = || {
            let x: Vec<f64> = (0..columns).map(|_| uniform(&mut source)).collect();
            let norm = x.iter().map(|x| x * x).sum::<f64>().sqrt();
            x.into_iter().map(|x| x / norm).collect::<Vec<f64>>()
        };
        let mut gram = vec![0.0; columns * columns];
        (0..rows).for_each(|_| plus_outer(&mut gram, &row(), 1.0));
        let (mut one, mut two) = (gram.clone(), gram);
        let (x, theta) = (row(), row());
        let other = match kind {
            1 => x.iter().map(|x| -x).collect(),
            2 => vec![0.0; columns],
            3 => x.iter().zip(row()).map(|(x, e)| x + 1e-3 * e).map(|x| x / 1.001).collect(),
            _ => row(),
        };
        let neighbours = if kind == 0 { Neighbours::AddRemove } else { Neighbours::ReplaceOne };
        plus_outer(&mut one, &x, 1.0);
        if neighbours == Neighbours::ReplaceOne {
            plus_outer(&mut two, &other, 1.0);
        }
        let (bound, floor) = (1.5, 0.5 + 2.0 * uniform(&mut source).abs());
        let objective = RotatedObjective {
            neighbours, unit: Unit::Record, radius: 1.0, bound, floor,
            noise_scale: 10.0, coordinates: columns, delta: 1e-6, tolerance: 1e-9, output_noise: 1e-6,
        };
        let raised = |matrix: &[f64]| function_of(matrix, columns, |value| value.max(floor));
        let (f, g) = (raised(&one), raised(&two));
        let shift = distance(&f, &g);
        prop_assert!(shift <= objective.matrix_shift() + 1e-9, "{shift}");
        // Opposite labels of size 1.
        let gradient = |matrix: &[f64], x: &[f64], y: f64| -> Vec<f64> {
            matrix.chunks(columns).zip(x)
                .map(|(row, x)| bound * row.iter().zip(&theta).map(|(m, t)| m * t).sum::<f64>() - y * x)
                .collect()
        };
        let label = if neighbours == Neighbours::AddRemove { 0.0 } else { -1.0 };
        let moved = distance(&gradient(&f, &x, 1.0), &gradient(&g, &other, label));
        prop_assert!(moved <= objective.gradient_shift() + 1e-9, "{moved}");
        for size in [0.0, 1.0, 1e4] {
            let (mut with, mut without) = (f.clone(), g.clone());
            let direction: Vec<f64> = (0..columns).map(|_| uniform(&mut source)).collect();
            plus_outer(&mut with, &direction, size);
            plus_outer(&mut without, &direction, size);
            let ratio = log_determinant(&with, columns) - log_determinant(&without, columns);
            prop_assert!(ratio.abs() <= objective.determinant() + 1e-7, "{ratio}");
        }
    }

    /// The output noise of 4.2 covers this: a b with an error of η moves the minimiser by at most η/Δ,
    /// on random and extreme problems, inside the ball, on its sphere and across.
    #[test]
    fn the_rotated_minimiser_follows_b_within_the_charge(
        seed in any::<u64>(), columns in 1_usize..6, rows in 0_usize..40, reach in -6_i32..8, shift in -30_i32..0
    ) {
        let mut source = FixedSeed::new(seed);
        let mut gram = vec![0.0; columns * columns];
        for row in 0..rows {
            // At the bound; every third one the same.
            let x: Vec<f64> = (0..columns)
                .map(|j| if row % 3 == 0 { f64::from(u8::from(j == 0)) } else { uniform(&mut source) })
                .collect();
            plus_outer(&mut gram, &x, 1.0);
        }
        let (floor, bound) = (0.75, 2.0);
        let pull: Vec<f64> = (0..columns).map(|_| uniform(&mut source) * 2_f64.powi(reach)).collect();
        let other: Vec<f64> = pull.iter().map(|c| c + uniform(&mut source) * 2_f64.powi(shift)).collect();
        let raised = MatrixFunction::of(&gram, columns, floor).unwrap();
        let [one, two] = [&pull, &other].map(|pull| raised.minimiser(pull, 0.0, bound).unwrap());
        let allowed = distance(&pull, &other) / floor + one.distance + two.distance;
        let moved = distance(&one.theta, &two.theta);
        prop_assert!(moved <= allowed * (1.0 + 1e-12), "{moved} > {allowed}");
        prop_assert!(one.distance < 1e-11 && two.distance < 1e-11, "{} {}", one.distance, two.distance);
    }

    /// The closed form against its conditions: in the ball, and either inside it with a zero gradient or
    /// on its sphere with the gradient along θ.
    #[test]
    fn the_ball_is_solved(seed in any::<u64>(), columns in 1_usize..8, size in 0.01_f64..100.0) {
        let mut source = FixedSeed::new(seed);
        let mut gram = vec![0.0; columns * columns];
        for _ in 0..columns {
            let x: Vec<f64> = (0..columns).map(|_| uniform(&mut source)).collect();
            plus_outer(&mut gram, &x, 1.0);
        }
        let pull: Vec<f64> = (0..columns).map(|_| size * uniform(&mut source)).collect();
        let spectrum = Spectrum::of(&gram, columns).unwrap();
        let near = MatrixFunction::of(&gram, columns, 0.3).unwrap().minimiser(&pull, 0.0, 2.0).unwrap();
        let theta = near.theta;
        prop_assert!(near.distance < 1e-9, "{}", near.distance);
        let norm = theta.iter().map(|t| t * t).sum::<f64>().sqrt();
        prop_assert!(norm <= 2.0 * (1.0 + 1e-12));
        let product = spectrum.apply_filter(&theta, |value| value.max(0.3));
        let slope: Vec<f64> = pull.iter().zip(product).map(|(c, p)| c - p).collect();
        let along: f64 = slope.iter().zip(&theta).map(|(s, t)| s * t).sum::<f64>() / (norm * norm);
        prop_assert!(along >= -1e-9 && (norm > 2.0 * (1.0 - 1e-9) || along.abs() < 1e-9));
        for (s, t) in slope.iter().zip(&theta) {
            prop_assert!((s - along * t).abs() < 1e-7 * (1.0 + size), "{s} {t}");
        }
    }
}

/// The events are the theorem's ε, the grid of b and the output noise; a hundredth is for the last two.
#[test]
fn the_events_state_the_epsilon_of_the_theorem() {
    let planned = case("linear-rotated", 1.0, 1e-6).plan();
    let Some(Event::All(parts)) = planned.events() else { panic!("another event") };
    let Some(Cost::Approximate { epsilon, delta }) = parts[0].single_cost() else {
        panic!("another event")
    };
    assert!((0.99 - 1e-9..=0.99).contains(epsilon), "{epsilon}");
    assert!((0.99e-6 * (1.0 - 1e-9)..=0.99e-6).contains(delta), "{delta}");
    // The other parts are negligible against the noise of b if the records have little effect.
    let [noise, ridge, output] = ["objective_noise", "ridge", "output_noise"]
        .map(|name| planned.settings().get(name).unwrap());
    assert!(output < 1e-5 * noise / ridge, "{output} {noise} {ridge}");
}

/// The noise on the result is negligible against that of b, for any budget.
#[test]
fn the_noise_on_the_result_is_small() {
    for method in ["linear", "objective"] {
        for (epsilon, delta) in [(1.0, 1e-6), (0.01, 1e-6), (10.0, 1e-9), (1.0, 0.0), (0.01, 0.0)] {
            let planned = case(method, epsilon, delta).loss(Loss::SQUARED).plan();
            let [noise, ridge, output] = ["objective_noise", "ridge", "output_noise"]
                .map(|name| planned.settings().get(name).unwrap());
            let share = output / (noise / ridge);
            assert!(share < 1e-3 && share > 1e-9, "{method} {epsilon} {delta}: {share}");
        }
    }
}
