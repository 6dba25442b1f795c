//! Events far from any sensible budget must come out useless, never cheap.

use privet_core::{Neighbours, Unit};
use privet_dp::account::{
    Cost, Event, LossShape, ObjectiveCost, ObjectiveNoise, OutputNoise, Sign, delta, gaussian,
};

fn objective(noise_scale: f64, ridge: f64, logistic: bool, sign: Sign) -> ObjectiveCost {
    let curvature = if logistic { 0.25 } else { 5.0 };
    ObjectiveCost {
        loss: LossShape { lipschitz: 1.0, curvature, sign, logistic },
        radius: 1.0,
        ridge,
        noise: ObjectiveNoise::Gaussian { noise_scale, grid: None },
    }
}

/// Nearly no noise: losses of thousands overflow e^loss, and the mass there once got lost, so that
/// three releases with σ = 0.017 seemed to cost δ = 1e-9 at ε = 0.1.
#[test]
fn nearly_no_noise_is_worth_nothing() {
    for neighbours in [Neighbours::ReplaceOne, Neighbours::AddRemove] {
        for unit in [Unit::Record, Unit::User { max_records: 2 }] {
            for (logistic, sign) in [(true, Sign::Fixed), (false, Sign::Fixed), (false, Sign::Any)]
            {
                for noise_scale in [1e-6, 0.0174, 0.3] {
                    for count in [1, 3] {
                        let objective = objective(noise_scale, 1500.0, logistic, sign);
                        let output = OutputNoise::Gaussian { noise_scale: 1e-8, grid: None };
                        let minima =
                            Cost::ApproximateMinima { objective, output_sensitivity: 1e-9, output };
                        for cost in [Cost::Objective(objective), minima] {
                            let event = Event::Use { neighbours, unit, cost };
                            let event = Event::Repeat { count, event: Box::new(event) };
                            let sides =
                                if neighbours == Neighbours::ReplaceOne { 2.0 } else { 1.0 };
                            let shift = sides * f64::from(unit.records()) / noise_scale;
                            let attained = gaussian::delta(0.1, shift * f64::from(count).sqrt());
                            let actual = delta(&event, 0.1).unwrap();
                            assert!(
                                actual >= attained * (1.0 - 1e-9) && actual <= 1.0,
                                "{actual} below {attained}: {event:?}"
                            );
                        }
                    }
                }
            }
        }
    }
}

/// Thousands of different parts, and parts on very different scales: merged and coarsened upwards, so
/// that the work is bounded. The bound is at least that of a few of them, and no certificate is refused
/// for it.
#[test]
fn odd_mixtures_are_answered_from_above() {
    let used =
        |cost: Cost| Event::Use { neighbours: Neighbours::AddRemove, unit: Unit::Record, cost };
    let laplace = |sensitivity| used(Cost::Laplace { sensitivity, noise_scale: 1.0, step: None });
    let sampled = |rate, noise_scale| {
        used(Cost::PoissonGaussian { rate, sensitivity: 1.0, noise_scale, grid: None })
    };
    let repeated = |count, event| Event::Repeat { count, event: Box::new(event) };
    let all: Vec<Event> = (1..=1_500)
        .map(f64::from)
        .map(|k| if k % 2.0 == 0.0 { laplace(1e-3 * k) } else { sampled(6e-4 * k, 1.0 + 0.01 * k) })
        .collect();
    let few = Event::All(all.iter().rev().take(40).cloned().collect());
    for epsilon in [5.0, 15.0] {
        let (part, whole) =
            (delta(&few, epsilon).unwrap(), delta(&Event::All(all.clone()), epsilon).unwrap());
        assert!((part * (1.0 - 5e-3)..=1.0).contains(&whole), "{epsilon}: {part} {whole}");
    }
    // One large loss beside a million tiny ones, and beside sampled ones: at least its cost alone.
    for others in [repeated(1_000_000, laplace(1e-6)), repeated(1_000, sampled(1e-3, 0.3))] {
        let event = Event::All(vec![others, laplace(20.0), laplace(1e-9)]);
        let alone = -(-2.5_f64).exp_m1();
        let actual = delta(&event, 15.0).unwrap();
        assert!((alone * (1.0 - 1e-9)..=1.0).contains(&actual), "{actual} {alone}");
    }
}
