//! Effect of b's grid on a rounded minimiser, and on one with noise on it.

use privet_audit::cells::{Line, OLD_ROUNDING, OutputGrid, Rounding, noisy_delta, rounded_delta};
use privet_core::{Budget, Neighbours, Unit};
use privet_dp::account::{
    self, Cost, Event, Grid, LossShape, ObjectiveCost, ObjectiveNoise, OutputNoise, Sign,
};
use privet_dp::noise::GridGaussian;

/// Weight of the second class: on none of the grids below.
const WEIGHT: f64 = 0.999;

/// A Huber hinge of width ½ on rows of norm 1; in its linear part at these ridges.
fn objective(ridge: f64, noise_scale: f64, grid: Option<Grid>) -> ObjectiveCost {
    ObjectiveCost {
        loss: LossShape { lipschitz: 1.0, curvature: 1.0, sign: Sign::Fixed, logistic: false },
        radius: 1.0,
        ridge,
        noise: ObjectiveNoise::Gaussian { noise_scale, grid },
    }
}

fn event(cost: Cost) -> Event {
    Event::Use { neighbours: Neighbours::ReplaceOne, unit: Unit::Record, cost }
}

fn power_below(x: f64) -> f64 {
    2_f64.powi(x.log2().floor() as i32)
}

/// The rounding of 0.1.0 broke its claim at small ε; in real arithmetic the same release keeps it. No
/// randomness.
#[test]
fn a_rounded_minimiser_exceeds_its_claim_at_small_epsilon() {
    for (epsilon, delta, factor, least) in [
        (0.01, 1e-6, 1.370_123_4, 1.6),
        (0.005, 1e-6, 1.370_123_4, 2.5),
        (0.005, 1e-9, 1.911_123_4, 1.6),
        (0.002, 1e-6, 1.370_123_4, 4.0),
        (0.001, 1e-9, 1.001_123_4, 10.0),
    ] {
        let ridge = factor * 65_536.0;
        let budget = Budget::new(epsilon, delta).unwrap();
        let claimed = |scale: f64| event(Cost::Objective(objective(ridge, scale, None)));
        let floor = 2.0 / account::gaussian::mu(epsilon, delta);
        let noise_scale =
            account::calibrate(&budget, floor * 0.99..=floor * 10.0, claimed).unwrap();
        let rounding = Rounding {
            noise_scale,
            step: GridGaussian::new(noise_scale).unwrap().step(),
            width: power_below(noise_scale / ridge) * OLD_ROUNDING,
        };
        let lines = Line::pair(WEIGHT, ridge);
        let points = rounding.points(lines[0]);
        assert!((400.0..2100.0).contains(&points), "{points}");
        let claim = account::delta(&claimed(noise_scale), epsilon).unwrap();
        let actual = rounded_delta(lines, &rounding, epsilon, 400_000, false) / claim;
        let real = rounded_delta(lines, &rounding, epsilon, 400_000, true) / claim;
        println!(
            "({epsilon}, {delta}), {points} points: {actual} of the claim, {real} on real numbers"
        );
        assert!(real <= 1.0 + 1e-3, "{real}");
        assert!(actual > least, "{actual}");
    }
}

/// With noise on the result the claim holds on the same neighbours, every point of both grids counted:
/// the grids are coarse, 2¹⁰ points per standard deviation, and their distances are in the claim.
/// Rounded to cells of few points instead, it does not.
#[test]
fn noise_on_the_result_keeps_the_claim() {
    for (ridge, noise_scale) in [(70_001.0, 3.0), (90_000.0, 2.5)] {
        let step = power_below(noise_scale) / 1024.0;
        let error = step / ridge;
        // ν is a tenth.
        let output_step = power_below(10.0 * error) / 1024.0;
        let sensitivity = error + output_step;
        let output_scale = 10.0 * sensitivity;
        let grid = |step| Some(Grid { step, coordinates: 1 });
        let noisy = event(Cost::ApproximateMinima {
            objective: objective(ridge, noise_scale, grid(step)),
            output_sensitivity: sensitivity,
            output: OutputNoise::Gaussian { noise_scale: output_scale, grid: grid(output_step) },
        });
        let bare = event(Cost::Objective(objective(ridge, noise_scale, grid(step))));
        let lines = Line::pair(WEIGHT, ridge);
        let output = OutputGrid { step: output_step, spread: output_scale / output_step };
        let width = power_below(noise_scale / ridge) / 256.0;
        let rounding = Rounding { noise_scale, step, width };
        let mut broken = false;
        let epsilons = [0.5, 1.0, 2.0];
        let actual = noisy_delta(lines, noise_scale, step, &output, &epsilons);
        for (epsilon, actual) in epsilons.into_iter().zip(actual) {
            let claim = account::delta(&noisy, epsilon).unwrap();
            println!("{ridge} {noise_scale} {epsilon}: {actual} of {claim}");
            assert!(actual <= claim, "{actual} > {claim}");
            // The claim is not loose: δ comes near it.
            assert!(actual > 0.5 * claim, "{actual} far below {claim}");
            let rounded = rounded_delta(lines, &rounding, epsilon, 200_000, false);
            broken |= rounded > 1.05 * account::delta(&bare, epsilon).unwrap();
        }
        assert!(broken, "even cells of few points kept the claim");
    }
}
