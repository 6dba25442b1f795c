//! The tests that `docs/errata.md` names: errors in print, shown in numbers.
//!
//! A claim is called false only where a pair of neighbouring data sets is computed here whose
//! exact δ exceeds it. Sum form throughout; λ is the ridge, m or n the number of rows.

use crate::common::Case;
use privet_core::{Neighbours, Unit};
use privet_data::{Schema, read};
use privet_dp::account::{
    self, Cost, Event, LossShape, ObjectiveCost, ObjectiveNoise, Sign, gaussian,
};
use privet_dp::gate::{GateError, Private, Session};
use privet_dp::mechanism::{Distance, OutputLaw, PerturbedObjective};
use privet_dp::noise::FixedSeed;
use privet_learn::linear::amp::printed_constants;
use privet_learn::linear::output::sensitivity;
use privet_learn::{plan, verify};
use privet_optim::loss::Loss;
use privet_optim::spectrum::Spectrum;
use proptest::prelude::*;

/// 1 + √(2 ln(1/δ)): the multiplier of the thesis's Lemma 2.1.9.
fn tail(delta: f64) -> f64 {
    1.0 + (2.0 * (1.0 / delta).ln()).sqrt()
}

fn schema() -> Schema {
    Schema::from_toml(
        "[clip]\nnorm = \"l2\"\nradius = 1.0\n\
         [target]\ncolumn = \"y\"\nclasses = [\"no\", \"yes\"]\n\
         [[columns]]\nname = \"a\"\ntype = \"number\"\nbounds = [-1, 1]\nscale = \"symmetric\"\n",
    )
    .expect("a valid schema")
}

fn printed(method: &str, loss: Loss, epsilon: f64, delta: f64, neighbours: Neighbours) -> Case {
    let case = Case::of(method).loss(loss).budget(epsilon, delta).neighbours(neighbours);
    case.schema(schema()).rows(8000).printed()
}

/// PRIV-2, claim false for free γ and split. Neighbours: one record x = 0 with label −1 or +1, so
/// both objectives are (λ/2)θ² + bθ + const. The optimiser goes to θ* + γ/λ or θ* − γ/λ by label,
/// where the gradient is exactly ±γ. The output is normal with the same variance for both, and its
/// means differ by 2γ/λ: δ is a value of the exact Gaussian curve.
#[test]
fn priv_2_norm_calibrated_output_noise_is_exceeded() {
    let (epsilon, delta) = (1.0, 1e-5);
    let (epsilon_1, epsilon_2, epsilon_3) = (0.1, 0.9, 0.05);
    let (delta_1, delta_2, gamma) = (1e-6, 0.9e-5, 1e4);
    // Λ = rβ/(ε₁ − ε₃), r = 2, β = Δ² = 1
    let ridge = 2.0 / (epsilon_1 - epsilon_3);
    let objective_noise = 2.0 * tail(delta_1) / epsilon_3;
    let printed = gamma / ridge * tail(delta_2) / epsilon_2;
    let spread = |output: f64| output.hypot(objective_noise / ridge);
    let true_delta = gaussian::delta(epsilon, 2.0 * gamma / ridge / spread(printed));
    assert!(true_delta > 8.0 * delta && true_delta < 9.0 * delta, "{true_delta}");
    // Twice the noise, i.e. calibrated for the sensitivity, keeps the claim.
    let repaired = gaussian::delta(epsilon, 2.0 * gamma / ridge / spread(2.0 * printed));
    assert!(repaired < delta, "{repaired}");
    // The lemma alone: (ε₂, δ₂) = (0.01, 1e-7).
    let lemma = gaussian::delta(0.01, 2.0 * 0.01 / tail(1e-7));
    assert!(lemma > 3e-7, "{lemma}");
}

/// PRIV-2, claim survives by slack: with γ = 1/m² and ε₂ = ε/100 the accountant, which charges the
/// factor 2, proves less than the thesis claims.
#[test]
fn priv_2_survives_at_the_hyperparameter_free_settings() {
    for epsilon in [0.01, 0.1, 1.0, 10.0] {
        let delta = 8000_f64.powi(-2);
        let request = printed("amp", Loss::Logistic, epsilon, delta, Neighbours::ReplaceOne);
        let planned = plan(&request).expect("a plan");
        let proved = planned.guarantee().expect("a guarantee");
        assert!(proved.epsilon <= epsilon, "{} at {epsilon}", proved.epsilon);
    }
}

proptest! {
    /// PRIV-3, claim survives: in two dimensions, for records of smoothness at most β, the ratio
    /// of determinants is at most e^{2β/λ} (printed) and even 1 + β/λ (used).
    #[test]
    fn priv_3_the_determinant_ratio_obeys_both_bounds(
        angles in prop::array::uniform3(0.0_f64..std::f64::consts::TAU),
        curvatures in prop::array::uniform3(0.0_f64..1.0),
        ridge in 0.01_f64..10.0,
    ) {
        let hessian = |parts: &[usize]| {
            let mut h = [ridge, 0.0, ridge];
            for &part in parts {
                let (x, y) = (angles[part].cos(), angles[part].sin());
                h[0] += curvatures[part] * x * x;
                h[1] += curvatures[part] * x * y;
                h[2] += curvatures[part] * y * y;
            }
            h[0] * h[2] - h[1] * h[1]
        };
        let ratio = hessian(&[0, 1]) / hessian(&[0, 2]);
        prop_assert!(ratio <= (1.0 + 1.0 / ridge) * (1.0 + 1e-12));
        prop_assert!(ratio <= (2.0 / ridge).exp());
    }
}

/// PRIV-4: a minimiser leaves only against a proof that it is within γ/λ of the exact one, as
/// ‖∇J‖ ≤ γ would imply; here γ = 1e-3, λ = 10.
#[test]
fn priv_4_the_gate_refuses_a_point_that_is_not_proved_close() {
    for (bound, released) in [(0.999e-4, true), (1.001e-4, false), (f64::NAN, false)] {
        let perturbed = PerturbedObjective {
            neighbours: Neighbours::ReplaceOne,
            unit: Unit::Record,
            objective: objective(Loss::Logistic, 10.0, 10.0),
            tolerance: 1e-3,
            coordinates: 2,
            output: OutputLaw::Gaussian(1.0),
        };
        let mut source = FixedSeed::new(7);
        let mut session = Session::start(perturbed.event().expect("an event"), &mut source);
        let (_noise, token) = perturbed.draw(&mut session).expect("a draw");
        let minimiser = Private::new(vec![0.0, 0.0]);
        match token.release(minimiser, Distance(bound), &mut session) {
            Ok(_) => assert!(released, "{bound} was let out"),
            Err(error) => {
                assert!(!released, "{bound} was refused");
                assert_eq!(error, GateError::NotCertified);
            }
        }
    }
}

fn objective(loss: Loss, ridge: f64, noise_scale: f64) -> ObjectiveCost {
    ObjectiveCost {
        loss: LossShape {
            lipschitz: loss.lipschitz(),
            curvature: loss.curvature(),
            sign: Sign::Fixed,
            logistic: loss.logistic_like(),
        },
        radius: 1.0,
        ridge,
        noise: ObjectiveNoise::Gaussian { noise_scale, grid: None },
    }
}

/// PRIV-5: ℓ″ of the Huber loss reaches 1/(2h), five times the squared Lipschitz constant.
#[test]
fn priv_5_huber_curvature_exceeds_the_squared_lipschitz_constant() {
    let loss = Loss::HuberSvm { h: 0.1 };
    assert_eq!(loss.lipschitz(), 1.0);
    assert!((loss.second_derivative(1.0, 1.0) - 5.0).abs() < 1e-12);
    assert!(loss.curvature() >= 5.0);
    assert!(Loss::Logistic.curvature() <= 0.25 * (1.0 + 1e-12));
}

/// PRIV-5, claim false for β = Δ² and a split that leaves most to the ridge: the record x = 1
/// against x = 0, one dimension, the exact minimiser. Its density at θ is that of b at
/// −(ℓ′(θ) + λθ), times λ + ℓ″(θ); the integral over the quadratic part alone, by midpoints, is a
/// lower bound on δ.
#[test]
fn priv_5_too_little_ridge_breaks_the_claim() {
    let (epsilon, delta, h) = (1.0_f64, 1e-5, 0.1);
    let (epsilon_1, epsilon_3, delta_1) = (0.99, 0.05, 0.99e-5);
    let loss = Loss::HuberSvm { h };
    let noise = 2.0 * tail(delta_1) / epsilon_3;
    let density =
        |b: f64| (-0.5 * (b / noise).powi(2)).exp() / (noise * std::f64::consts::TAU.sqrt());
    let true_delta = |ridge: f64| {
        let nodes = 20_000;
        let width = 2.0 * h / f64::from(nodes);
        (0..nodes)
            .map(|node| {
                let theta = 1.0 - h + width * (f64::from(node) + 0.5);
                let curvature = ridge + loss.second_derivative(theta, 1.0);
                let with = density(loss.derivative(theta, 1.0) + ridge * theta) * curvature;
                let without = density(ridge * theta) * ridge;
                (with - epsilon.exp() * without).max(0.0) * width
            })
            .sum::<f64>()
    };
    let printed = 2.0 / (epsilon_1 - epsilon_3);
    assert!(true_delta(printed) > 40.0 * delta, "{}", true_delta(printed));
    // With β = Δ²/(2h) this pair is harmless.
    assert!(true_delta(5.0 * printed) < delta, "{}", true_delta(5.0 * printed));
    // And the accountant says so of the same noise and ridge.
    let event = |ridge: f64| Event::Use {
        neighbours: Neighbours::ReplaceOne,
        unit: Unit::Record,
        cost: Cost::Objective(objective(loss, ridge, noise)),
    };
    assert!(account::guarantee(&event(printed), delta).expect("known").epsilon > epsilon);
    assert!(account::guarantee(&event(5.0 * printed), delta).expect("known").epsilon <= epsilon);
}

/// PRIV-5 under `printed`: the claim for the Huber loss is that of its true curvature.
#[test]
fn priv_5_printed_huber_certificates_use_the_true_curvature() {
    let loss = Loss::HuberSvm { h: 0.1 };
    for epsilon in [0.1, 1.0] {
        let request = printed("amp", loss, epsilon, 8000_f64.powi(-2), Neighbours::ReplaceOne);
        let planned = plan(&request).expect("a plan");
        let constants = printed_constants(
            8000.0,
            false,
            1.0,
            epsilon,
            8000_f64.powi(-2),
            8000_f64.powi(-2),
            0.01,
        );
        let ridge = planned.settings().get("ridge").unwrap();
        assert!((ridge / constants.ridge - 1.0).abs() < 1e-9, "the printed ridge is kept");
        let determinant = (1.0 + loss.smoothness(1.0) / ridge).ln();
        let proved = planned.guarantee().expect("a guarantee").epsilon;
        assert!(proved > determinant, "{proved} leaves out the determinant {determinant}");
        // Survives by slack at these settings, as the errata say.
        assert!(proved <= epsilon, "{proved} at {epsilon}");
    }
}

/// PRIV-7: a model whose noise can be made again claims nothing, and is refused.
#[test]
fn priv_7_a_fixed_seed_proves_nothing() {
    let asked = printed("amp", Loss::Logistic, 1.0, 1e-5, Neighbours::ReplaceOne).rows(4);
    let data = read::csv_bytes(b"a,y\n0.5,yes\n-0.5,no\n0.2,yes\n-0.9,no\n", &asked.schema)
        .expect("four rows");
    let model = asked.seeded(&data);
    assert!(model.certificate().guarantee.as_ref().is_none_or(|g| g.epsilon.is_infinite()));
    assert!(model.certificate().notes.iter().any(|note| note.contains("NOT PRIVATE")));
    assert!(!verify(&model).valid);
}

/// Lemma 2.1.9, claim false at ε = 30 and true with room at ε ≤ 10; δ = 1/m².
#[test]
fn lemma_2_1_9_fails_at_large_epsilon_only() {
    for rows in [1600.0_f64, 8000.0, 464_809.0] {
        let delta = rows.powi(-2);
        let ratio = |epsilon: f64| gaussian::delta(epsilon, epsilon / tail(delta)) / delta;
        assert!(ratio(30.0) > 5.0, "m = {rows}: {}", ratio(30.0));
        for epsilon in [0.01, 0.1, 1.0, 10.0] {
            assert!(ratio(epsilon) < 0.005, "m = {rows}, ε = {epsilon}: {}", ratio(epsilon));
        }
    }
}

/// C5, claim survives for linear models: σ² = ζ²(8 ln(2/δ) + 4ε)/ε² with λ = 2β/ε, both relations
/// (ζ doubled under replace-one), Gaussian and pure.
#[test]
fn c5_printed_objective_constants_hold_for_linear_models() {
    for neighbours in [Neighbours::AddRemove, Neighbours::ReplaceOne] {
        for loss in [Loss::Logistic, Loss::HuberSvm { h: 0.1 }] {
            for (epsilon, delta) in [(0.1, 1e-6), (1.0, 1e-5), (4.0, 1e-8), (1.0, 0.0)] {
                let planned =
                    plan(&printed("objective", loss, epsilon, delta, neighbours)).expect("a plan");
                let proved = planned.guarantee().expect("a guarantee").epsilon;
                assert!(proved <= epsilon, "{neighbours}, {loss:?}: {proved} at {epsilon}");
            }
        }
    }
}

/// C8, claim holds, loose: printed ‖N‖ ~ Gamma(p, 2·GS/ε) with GS = 2ζ/λ is four times the scale
/// needed under add/remove and twice that under replace-one (up to the solver's tolerance).
#[test]
fn c8_printed_output_noise_is_four_and_two_times_what_is_needed() {
    for (neighbours, times) in [(Neighbours::AddRemove, 4.0), (Neighbours::ReplaceOne, 2.0)] {
        let asked = printed("output", Loss::Logistic, 1.0, 0.0, neighbours);
        let planned = plan(&asked).expect("a plan");
        let (facts, ridge) = (planned.facts(), planned.settings().get("ridge").unwrap());
        let printed = 2.0 * (2.0 * facts.gradient_bound() / ridge) / 1.0;
        let needed = sensitivity(facts, ridge, facts.default_tolerance()) / 1.0;
        assert!((printed / needed / times - 1.0).abs() < 1e-3, "{}", printed / needed);
    }
}

/// OUT, claims hold: the constants of Jain & Thakurta §4.1 cover an inexact minimiser too.
#[test]
fn out_printed_output_noise_covers_its_claim() {
    for (epsilon, delta) in [(0.1, 1e-6), (1.0, 1e-5), (8.0, 1e-6), (30.0, 1e-6), (1.0, 0.0)] {
        let asked = printed("output", Loss::Logistic, epsilon, delta, Neighbours::ReplaceOne);
        let proved = plan(&asked).expect("a plan").guarantee().expect("a guarantee").epsilon;
        assert!(proved <= epsilon, "{proved} at {epsilon}");
    }
}

/// OBJ, claim false: Huber SVM, records x = 1 and x′ = −1 of one label, λ = 1000. While |θ| < 0.9
/// both losses are linear and the gradients differ by exactly 2, so there the two densities of θ
/// are those of normal laws 2/λ apart; |θ| ≥ 0.9 has probability below 1e-300.
#[test]
fn objective_gauss_as_printed_is_too_small() {
    let loss = Loss::HuberSvm { h: 0.1 };
    for (x, theta) in [(1.0, 0.89), (1.0, -0.89), (-1.0, 0.89), (-1.0, -0.89)] {
        assert_eq!(loss.derivative(x * theta, 1.0), -1.0);
        assert_eq!(loss.second_derivative(x * theta, 1.0), 0.0);
    }
    let printed = |epsilon: f64, delta: f64| 2.0 * ((1.0 / delta).ln() + epsilon).sqrt() / epsilon;
    let true_delta =
        |epsilon: f64, delta: f64| gaussian::delta(epsilon, 2.0 / printed(epsilon, delta));
    assert!(0.899 * 1000.0 > 40.0 * printed(1.0, 1e-5));
    assert!((true_delta(1.0, 1e-5) / 2.33e-5 - 1.0).abs() < 0.01);
    assert!((true_delta(8.0, 1e-6) / 1.98e-5 - 1.0).abs() < 0.01);
    // Slack elsewhere: not every printed setting is broken by this pair.
    assert!(true_delta(0.1, 1e-5) < 1e-5 && true_delta(1.0, 1e-3) < 1e-3);
}

/// C3: a regulariser that is diagonal in the eigenbasis, added without rotating it back, does not raise
/// the least eigenvalue to Δ. Two dimensions, all rows along (1, 1): eigenvalues 0 and n.
#[test]
fn c3_the_regulariser_as_printed_leaves_an_eigenvalue_below_its_floor() {
    let (n, floor) = (1000.0, 10.0);
    let least = |matrix: [f64; 4]| Spectrum::of(&matrix, 2).unwrap().values()[0];
    let half = n / 2.0;
    // Σ̂ = (Δ, 0) for the eigenvalues in ascending order, (0, Δ) in descending order.
    assert!(least([half + floor, half, half, half]) < 0.51 * floor);
    assert!(least([half, half, half, half + floor]) < 0.51 * floor);
    // Rotated back: Δ·(1, −1)(1, −1)ᵀ/2.
    let turned = floor / 2.0;
    let actual = least([half + turned, half - turned, half - turned, half + turned]);
    assert!((actual - floor).abs() < 1e-9);
}

/// SSP: each release of AdaSSP is short of (ε/3, δ/3), all three together are far within (ε, δ), until ε is
/// large. Add/remove, rows and labels of size 1: three Gaussian releases of sensitivity 1.
#[test]
fn ssp_the_printed_releases_fall_short_one_by_one_but_not_together() {
    let one = |epsilon: f64, delta: f64| Event::Use {
        neighbours: Neighbours::AddRemove,
        unit: Unit::Record,
        cost: Cost::Gaussian {
            sensitivity: 1.0,
            noise_scale: 3.0 * (6.0 / delta).ln().sqrt() / epsilon,
            grid: None,
        },
    };
    let spent = |event: &Event, epsilon: f64| account::delta(event, epsilon).unwrap();
    for (epsilon, delta, short) in [(1.0, 1e-6, 2.65), (8.0, 1e-6, 64.8), (1.0, 1e-10, 139.7)] {
        let each = one(epsilon, delta);
        let ratio = spent(&each, epsilon / 3.0) / (delta / 3.0);
        assert!((ratio / short - 1.0).abs() < 1e-2, "{ratio}");
        let all = Event::Repeat { count: 3, event: Box::new(each) };
        assert!(spent(&all, epsilon) < 1e-3 * delta);
    }
    let all = Event::Repeat { count: 3, event: Box::new(one(30.0, 1e-4)) };
    assert!(spent(&all, 30.0) > 5.0 * 1e-4);
}

/// DPSL-KT (Wang 2021, Theorem 3.3.3): the ℓ0-constrained minimiser, and what hard thresholding finds,
/// jump from one column to the other when one record of 1,001 is exchanged, 84 times as far as the proof
/// has it.
#[test]
fn dpsl_kt_a_sparse_teacher_has_no_small_sensitivity() {
    const RIDGE: f64 = 0.1;
    const ROWS: f64 = 1001.0;
    // Rows are e₁ or e₂, all targets 1: the mean loss has the gradient (pⱼ + λ)θⱼ − pⱼ.
    let teacher = |first: f64| {
        let shares = [first / ROWS, (ROWS - first) / ROWS];
        let mut theta = [0.0_f64; 2];
        for _ in 0..2_000 {
            let step = |j: usize| theta[j] - 0.5 * ((shares[j] + RIDGE) * theta[j] - shares[j]);
            let next = [step(0), step(1)];
            theta = if next[0].abs() >= next[1].abs() { [next[0], 0.0] } else { [0.0, next[1]] };
        }
        // On one column the minimum is ½ − ½p²/(p + λ): it is on the commoner one.
        let best = usize::from(shares[1] > shares[0]);
        assert!((theta[best] - shares[best] / (shares[best] + RIDGE)).abs() < 1e-9, "{theta:?}");
        theta
    };
    let (one, other) = (teacher(501.0), teacher(500.0));
    let moved = (one[0] - other[0]).hypot(one[1] - other[1]);
    // √(2s)·γ/(nλ) with s = 1, γ = 1.
    let printed = 2_f64.sqrt() / (ROWS * RIDGE);
    assert!(moved > 1.17 && printed < 0.0142, "{moved} and {printed}");
}
