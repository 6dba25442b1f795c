//! Linear regression by Algorithms 4.1 and 4.2, from request to verified model.

mod common;

use common::{SCHEMA, forged, seeded, train, uniform};
use privet_core::{Budget, Neighbours, Unit};
use privet_data::{Dataset, Schema, Target, read};
use privet_dp::account::{Cost, Event};
use privet_dp::gate::Arithmetic;
use privet_dp::mechanism::RotatedObjective;
use privet_dp::noise::FixedSeed;
use privet_learn::erm::linear;
use privet_learn::model::{Model, Predictions};
use privet_learn::{Calibration, Erm, Facts, LearnError, Request, plan, verify};
use privet_optim::loss::Loss;
use privet_optim::raised::Raised;
use privet_optim::spectrum::Spectrum;
use proptest::prelude::*;

const RELATIONS: [Neighbours; 2] = [Neighbours::ReplaceOne, Neighbours::AddRemove];

fn schema(classes: u32) -> Schema {
    let text = match classes {
        1 => SCHEMA.replace(r#"classes = ["no", "yes"]"#, "bounds = [-1, 1]"),
        2 => SCHEMA.into(),
        _ => SCHEMA.replace(r#"["no", "yes"]"#, r#"["no", "yes", "perhaps"]"#),
    };
    Schema::from_toml(&text).unwrap()
}

fn data(rows: usize, seed: u64) -> Dataset {
    let mut source = FixedSeed::new(seed);
    let mut text = String::from("a,b,y\n");
    for _ in 0..rows {
        let (a, b, e) = (uniform(&mut source), uniform(&mut source), uniform(&mut source));
        text.push_str(&format!("{a},{b},{}\n", 0.6 * a - 0.3 * b + 0.1 * e));
    }
    read::csv_bytes(text.as_bytes(), &schema(1)).unwrap()
}

fn request(method: &str, epsilon: f64, delta: f64) -> Request {
    Request {
        schema: schema(1),
        rows: 4000,
        budget: Some(Budget::new(epsilon, delta).unwrap()),
        neighbours: Neighbours::ReplaceOne,
        calibration: Calibration::Sound,
        noise: vec![],
        task: Erm { loss: Loss::SQUARED, method: method.parse().unwrap() },
    }
}

/// Mean squared error over variance.
fn relative_error(model: &Model, data: &Dataset) -> f64 {
    let Predictions::Numbers(found) = model.predict(&data.features) else { panic!("no numbers") };
    let Target::Number(truth) = &data.target else { panic!("no numbers") };
    let mean = truth.iter().sum::<f64>() / truth.len() as f64;
    let error: f64 = found.iter().zip(truth).map(|(f, t)| (f - t).powi(2)).sum();
    error / truth.iter().map(|t| (t - mean).powi(2)).sum::<f64>()
}

#[test]
fn both_algorithms_train_and_verify() {
    let (training, test) = (data(4000, 1), data(2000, 2));
    for (method, delta) in [("linear", 1e-6), ("linear", 0.0), ("linear-rotated", 1e-6)] {
        for neighbours in RELATIONS {
            let request = Request { neighbours, ..request(method, 4.0, delta) };
            let model = train(&request, &training);
            let verdict = verify(&model);
            let what = format!("{method} {neighbours}, delta {delta}");
            assert!(verdict.valid, "{what}: {:?}", verdict.checks);
            let claimed = verdict.guarantee.unwrap();
            assert_eq!((claimed.epsilon, claimed.delta), (4.0, delta), "{what}");
            let finite = if delta == 0.0 { Arithmetic::Real } else { Arithmetic::Finite };
            assert_eq!(model.certificate().arithmetic, finite, "{what}");
            let notes = model.certificate().notes.join(" ");
            assert_eq!(notes.contains("experimental"), method == "linear-rotated");
            let found = relative_error(&seeded(&request, &training), &test);
            assert!(found < 0.5, "{what}: error {found}");
        }
    }
    let classes = Request { schema: schema(3), ..request("linear", 4.0, 1e-6) };
    assert!(matches!(plan(&classes).unwrap().events(), Some(Event::Repeat { count: 3, .. })));
}

/// The printed constants of 4.1 cover their claim; for 4.2 the certificate states more than asked.
#[test]
fn printed_constants_claim_what_is_proved() {
    let printed = |method: &str, neighbours| {
        let asked = Request { neighbours, ..request(method, 0.5, 1e-6) };
        let planned = plan(&Request { calibration: Calibration::Printed, ..asked }).unwrap();
        planned.guarantee().unwrap().epsilon
    };
    for neighbours in RELATIONS {
        assert!(printed("linear", neighbours) <= 0.5);
        let found = printed("linear-rotated", neighbours);
        // Three columns: √3/2 of ε, and √2 of that under replace-one, plus the noise's part.
        assert!(found > 0.4 && found < 0.5 * 2.0, "{found}");
    }
    assert!(printed("linear-rotated", Neighbours::ReplaceOne) > 0.5);
}

#[test]
fn what_is_not_covered_is_refused_with_what_is() {
    let refused = |request: Request| plan(&request).unwrap_err().to_string();
    for method in ["linear", "linear-rotated"] {
        let asked = request(method, 1.0, 1e-6);
        let logistic = Request { schema: schema(2), ..asked.clone() }.with_loss(Loss::Logistic);
        assert!(refused(logistic).contains("loss squared"));
        for bad in ["0", "-1", "1e6"] {
            let method = asked.task.method.with("norm", bad).unwrap();
            let outcome = plan(&asked.clone().with_method(method));
            assert!(matches!(outcome, Err(LearnError::Setting(_))), "{bad}");
        }
        let method = asked.task.method.with("ridge", "0").unwrap();
        assert!(matches!(plan(&asked.with_method(method)), Err(LearnError::Setting(_))));
    }
    assert!(refused(request("linear-rotated", 1.0, 0.0)).contains("delta above 0"));
    let three = Request { schema: schema(3), ..request("linear-rotated", 1.0, 1e-6) };
    assert!(refused(three).contains("two classes"));
    // A ridge that costs more than the budget.
    let asked = request("linear-rotated", 1.0, 1e-6);
    let method = asked.task.method.with("ridge", "1").unwrap();
    assert!(refused(asked.with_method(method)).contains("larger ridge"));
}

/// A certificate of 4.2 cannot claim less than the plan proves.
#[test]
fn a_smaller_epsilon_is_found_out() {
    let model = train(&request("linear-rotated", 1.0, 1e-6), &data(4000, 1));
    assert!(verify(&model).valid);
    let verdict = verify(&forged(&model, |certificate| {
        certificate["events"]["all"][0]["use"]["cost"]["epsilon"] = 0.4.into();
        certificate["guarantee"]["epsilon"] = 0.5.into();
    }));
    let holds: Vec<bool> = verdict.checks[..3].iter().map(|check| check.holds).collect();
    assert_eq!(holds, [false, false, true]);
}

/// Both algorithms' minimisers stay in the ball, but for the noise on the result, and hit it when the noise
/// of b is large.
#[test]
fn weights_stay_near_the_ball() {
    let hidden = |method: &str, norm: &str| {
        let asked = request(method, 0.01, 1e-6);
        let method = asked.task.method.with("norm", norm).unwrap();
        let model = seeded(&asked.with_method(method), &data(4000, 1));
        model.weights().weights[0].iter().map(|w| w * w).sum::<f64>().sqrt()
    };
    for method in ["linear", "linear-rotated"] {
        for norm in [0.25, 2.0] {
            let found = hidden(method, &norm.to_string());
            assert!(found <= norm + 1e-3, "{method}: {found} > {norm}");
        }
    }
}

/// L of 4.1: no residual in the ball is larger, and some are as large.
#[test]
fn residuals_in_the_ball_stay_within_the_slope() {
    let facts = Facts::of(&request("linear", 1.0, 1e-6)).unwrap();
    let facts = linear::in_ball(&facts, 2.5);
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
    (0..columns).flat_map(|k| spectrum.filtered(&unit(k), &h)).collect()
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
        let shift = f.iter().zip(&g).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt();
        prop_assert!(shift <= objective.matrix_shift() + 1e-9, "{shift}");
        // Opposite labels of size 1.
        let gradient = |matrix: &[f64], x: &[f64], y: f64| -> Vec<f64> {
            matrix.chunks(columns).zip(x)
                .map(|(row, x)| bound * row.iter().zip(&theta).map(|(m, t)| m * t).sum::<f64>() - y * x)
                .collect()
        };
        let label = if neighbours == Neighbours::AddRemove { 0.0 } else { -1.0 };
        let moved = gradient(&f, &x, 1.0).iter().zip(gradient(&g, &other, label))
            .map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt();
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

    /// What the output noise of 4.2 covers: a b that is off by η moves the minimiser by at most η/Δ, on
    /// random and extreme problems, inside the ball, on its sphere and across.
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
        let apart = |a: &[f64], b: &[f64]| {
            a.iter().zip(b).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt()
        };
        let raised = Raised::of(&gram, columns, floor).unwrap();
        let [one, two] = [&pull, &other].map(|pull| raised.minimiser(pull, 0.0, bound).unwrap());
        let allowed = apart(&pull, &other) / floor + one.distance + two.distance;
        let moved = apart(&one.theta, &two.theta);
        prop_assert!(moved <= allowed * (1.0 + 1e-12), "{moved} > {allowed}");
        prop_assert!(one.distance < 1e-11 && two.distance < 1e-11, "{} {}", one.distance, two.distance);
    }

    /// The closed form against its conditions: in the ball, and either inside it with no slope left
    /// or on its sphere with the slope along θ.
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
        let near = Raised::of(&gram, columns, 0.3).unwrap().minimiser(&pull, 0.0, 2.0).unwrap();
        let theta = near.theta;
        prop_assert!(near.distance < 1e-9, "{}", near.distance);
        let norm = theta.iter().map(|t| t * t).sum::<f64>().sqrt();
        prop_assert!(norm <= 2.0 * (1.0 + 1e-12));
        let product = spectrum.filtered(&theta, |value| value.max(0.3));
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
    let planned = plan(&request("linear-rotated", 1.0, 1e-6)).unwrap();
    let Some(Event::All(parts)) = planned.events() else { panic!("another event") };
    let Some(Cost::Approximate { epsilon, delta }) = parts[0].single_cost() else {
        panic!("another event")
    };
    assert!((0.99 - 1e-9..=0.99).contains(epsilon), "{epsilon}");
    assert!((0.99e-6 * (1.0 - 1e-9)..=0.99e-6).contains(delta), "{delta}");
    // Nothing beside the noise of b where the records say little.
    let [noise, ridge, output] = ["objective_noise", "ridge", "output_noise"]
        .map(|name| planned.settings().get(name).unwrap());
    assert!(output < 1e-5 * noise / ridge, "{output} {noise} {ridge}");
}

/// The noise on the result is nothing beside that of b, whatever the budget.
#[test]
fn the_noise_on_the_result_is_small() {
    for method in ["linear", "objective"] {
        for (epsilon, delta) in [(1.0, 1e-6), (0.01, 1e-6), (10.0, 1e-9), (1.0, 0.0), (0.01, 0.0)] {
            let planned = plan(&request(method, epsilon, delta)).unwrap();
            let [noise, ridge, output] = ["objective_noise", "ridge", "output_noise"]
                .map(|name| planned.settings().get(name).unwrap());
            let share = output / (noise / ridge);
            assert!(share < 1e-3 && share > 1e-9, "{method} {epsilon} {delta}: {share}");
        }
    }
}
