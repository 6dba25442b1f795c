//! Laws that every event tree must obey, and trees that must be refused.

use privet_core::{Budget, Neighbours, Unit};
use privet_dp::account::{
    self, AccountError, Cost, Event, Grid, Guarantee, LossShape, ObjectiveCost, ObjectiveNoise,
    OutputNoise, Sign, ThresholdNoise, calibrate,
};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

/// Loss distributions are composed on grids chosen anew each time, so laws hold up to this.
const GRID: f64 = 5e-3;

fn shape() -> impl Strategy<Value = LossShape> + Clone {
    prop_oneof![
        Just(LossShape { lipschitz: 1.0, curvature: 0.25, sign: Sign::Fixed, logistic: true }),
        Just(LossShape { lipschitz: 1.0, curvature: 5.0, sign: Sign::Fixed, logistic: false }),
        Just(LossShape { lipschitz: 1.0, curvature: 1.0, sign: Sign::Any, logistic: false }),
    ]
}

/// Every kind of cost, all noise multiplied by `noise`.
fn any_cost() -> impl Strategy<Value = Cost> {
    let scale = (0.0..1.0_f64).prop_map(|x| 4.0 * 10_f64.powf(x));
    let objective =
        (shape(), scale.clone(), 0.0..3.0_f64).prop_map(|(loss, noise_scale, ridge)| {
            let noise = ObjectiveNoise::Gaussian { noise_scale, grid: None };
            ObjectiveCost { loss, radius: 1.0, ridge: 10_f64.powf(ridge), noise }
        });
    let grid = proptest::option::of(Just(Grid { step: 2_f64.powi(-40), coordinates: 10 }));
    prop_oneof![
        (scale.clone(), grid).prop_map(|(noise_scale, grid)| Cost::Gaussian {
            sensitivity: 1.0,
            noise_scale,
            grid
        }),
        (scale.clone(), proptest::option::of(Just(0.25))).prop_map(|(noise_scale, step)| {
            Cost::Laplace { sensitivity: 1.0, noise_scale, step }
        }),
        scale.clone().prop_map(|noise_scale| Cost::ContinualGaussian {
            factor: privet_dp::continual::Factor::Tree,
            steps: 8,
            participation: privet_dp::continual::Participation::ONCE,
            sensitivity: 1.0,
            noise_scale,
            grid: Grid { step: 2_f64.powi(-40), coordinates: 80 },
        }),
        (scale.clone(), 0.0..1e-3_f64).prop_map(|(noise_scale, distance)| Cost::JointGaussian {
            sensitivity: 1.0,
            noise_scale,
            grid: Grid { step: 2_f64.powi(-40), coordinates: 10 },
            distance,
        }),
        scale.clone().prop_map(|noise_scale| Cost::IndividualGaussian {
            steps: 8,
            sensitivity: 1.0,
            noise_scale,
            grid: Grid { step: 2_f64.powi(-40), coordinates: 80 },
        }),
        scale.clone().prop_map(|noise_scale| Cost::L2Laplace { sensitivity: 1.0, noise_scale }),
        (scale.clone(), 0.01..1.0_f64).prop_map(|(noise_scale, rate)| Cost::PoissonGaussian {
            rate,
            sensitivity: 1.0,
            noise_scale,
            grid: None
        }),
        scale.clone().prop_map(|x| Cost::Pure { epsilon: 1.0 / x }),
        scale.clone().prop_map(|noise_scale| Cost::AboveThreshold {
            law: ThresholdNoise::Exponential,
            sensitivity: 1.0,
            noise_scale,
            query_noise_scale: 2.0 * noise_scale,
        }),
        scale.clone().prop_map(|x| Cost::BoundedRange { range: 1.0 / x }),
        scale.clone().prop_map(|x| Cost::ZeroConcentrated { rho: 0.5 / (x * x) }),
        scale.clone().prop_map(|x| Cost::Approximate { epsilon: 1.0 / x, delta: 1e-9 / x }),
        objective.clone().prop_map(Cost::Objective),
        (objective, scale).prop_map(|(objective, noise_scale)| Cost::ApproximateMinima {
            objective,
            output_sensitivity: 0.1,
            output: OutputNoise::Gaussian { noise_scale, grid: None },
        }),
    ]
}

fn used(cost: Cost) -> Event {
    Event::Use { neighbours: Neighbours::AddRemove, unit: Unit::Record, cost }
}

fn any_event() -> impl Strategy<Value = Event> {
    let leaf = any_cost().prop_map(used);
    leaf.prop_recursive(2, 4, 2, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 1..3).prop_map(Event::All),
            (1_u32..4, inner.clone())
                .prop_map(|(count, event)| Event::Repeat { count, event: Box::new(event) }),
            (1_u32..4, inner)
                .prop_map(|(count, event)| Event::UpTo { count, event: Box::new(event) }),
        ]
    })
}

/// The same tree with all noise multiplied.
fn quieter(event: &Event, by: f64) -> Event {
    let noise = |noise: ObjectiveNoise| match noise {
        ObjectiveNoise::Gaussian { noise_scale, grid } => {
            ObjectiveNoise::Gaussian { noise_scale: noise_scale * by, grid }
        }
        ObjectiveNoise::L2Laplace { noise_scale } => {
            ObjectiveNoise::L2Laplace { noise_scale: noise_scale * by }
        }
    };
    let objective = |cost: ObjectiveCost| ObjectiveCost { noise: noise(cost.noise), ..cost };
    match event.clone() {
        Event::All(events) => Event::All(events.iter().map(|e| quieter(e, by)).collect()),
        Event::Repeat { count, event } => {
            Event::Repeat { count, event: Box::new(quieter(&event, by)) }
        }
        Event::UpTo { count, event } => Event::UpTo { count, event: Box::new(quieter(&event, by)) },
        Event::BestOf { law, candidates } => {
            let candidates = candidates.iter().map(|event| quieter(event, by)).collect();
            Event::BestOf { law, candidates }
        }
        Event::Selected { law, event } => {
            Event::Selected { law, event: Box::new(quieter(&event, by)) }
        }
        Event::Use { neighbours, unit, cost } => {
            let cost = match cost {
                Cost::Gaussian { sensitivity, noise_scale, grid } => {
                    Cost::Gaussian { sensitivity, noise_scale: noise_scale * by, grid }
                }
                Cost::PoissonGaussian { rate, sensitivity, noise_scale, grid } => {
                    let noise_scale = noise_scale * by;
                    Cost::PoissonGaussian { rate, sensitivity, noise_scale, grid }
                }
                cost @ Cost::WithoutReplacementGaussian { .. } => cost,
                Cost::AboveThreshold { law, sensitivity, noise_scale, query_noise_scale } => {
                    let (noise_scale, query_noise_scale) =
                        (noise_scale * by, query_noise_scale * by);
                    Cost::AboveThreshold { law, sensitivity, noise_scale, query_noise_scale }
                }
                Cost::ContinualGaussian {
                    factor,
                    steps,
                    participation,
                    sensitivity,
                    noise_scale,
                    grid,
                } => {
                    let noise_scale = noise_scale * by;
                    Cost::ContinualGaussian {
                        factor,
                        steps,
                        participation,
                        sensitivity,
                        noise_scale,
                        grid,
                    }
                }
                Cost::JointGaussian { sensitivity, noise_scale, grid, distance } => {
                    let noise_scale = noise_scale * by;
                    Cost::JointGaussian { sensitivity, noise_scale, grid, distance }
                }
                Cost::IndividualGaussian { steps, sensitivity, noise_scale, grid } => {
                    let noise_scale = noise_scale * by;
                    Cost::IndividualGaussian { steps, sensitivity, noise_scale, grid }
                }
                Cost::Laplace { sensitivity, noise_scale, step } => {
                    Cost::Laplace { sensitivity, noise_scale: noise_scale * by, step }
                }
                Cost::L2Laplace { sensitivity, noise_scale } => {
                    Cost::L2Laplace { sensitivity, noise_scale: noise_scale * by }
                }
                Cost::Pure { epsilon } => Cost::Pure { epsilon: epsilon / by },
                Cost::BoundedRange { range } => Cost::BoundedRange { range: range / by },
                Cost::ZeroConcentrated { rho } => Cost::ZeroConcentrated { rho: rho / by },
                Cost::Approximate { epsilon, delta } => {
                    Cost::Approximate { epsilon: epsilon / by, delta: delta / by }
                }
                Cost::Objective(cost) => Cost::Objective(objective(cost)),
                Cost::ApproximateMinima { objective: cost, output_sensitivity, output } => {
                    let objective = objective(cost);
                    Cost::ApproximateMinima { objective, output_sensitivity, output }
                }
            };
            Event::Use { neighbours, unit, cost }
        }
    }
}

fn delta(event: &Event, epsilon: f64) -> f64 {
    account::delta(event, epsilon).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, failure_persistence: None, rng_seed: RngSeed::Fixed(7), ..ProptestConfig::default() })]

    /// `any_event` yields every kind: one that forgets `count` fails here.
    #[test]
    fn a_count_equals_repetition(event in any_event(), count in 1_u32..6, epsilon in 0.1..3.0_f64) {
        let counted = Event::Repeat { count, event: Box::new(event.clone()) };
        let listed = Event::All(vec![event; count as usize]);
        let (counted, listed) = (delta(&counted, epsilon), delta(&listed, epsilon));
        prop_assert!((counted - listed).abs() <= 1e-9 * listed, "{counted} {listed}");
    }

    #[test]
    fn more_noise_never_costs_more(event in any_event(), epsilon in 0.3..3.0_f64) {
        let (loud, quiet) = (delta(&event, epsilon), delta(&quieter(&event, 1.3), epsilon));
        prop_assert!(quiet <= (loud * (1.0 + GRID)).max(1e-15), "{quiet} {loud}");
    }

    /// A part is composed with a negligible one, so that both sides are composed in the same way: on its
    /// own it may be bounded by a closed form, which is looser.
    #[test]
    fn a_composition_costs_at_least_each_part(
        first in any_event(), second in any_event(), epsilon in 0.3..3.0_f64
    ) {
        let both = delta(&Event::All(vec![first.clone(), second.clone()]), epsilon);
        for part in [first, second] {
            let nothing = used(Cost::Pure { epsilon: 1e-9 });
            let alone = delta(&Event::All(vec![part, nothing]), epsilon);
            let fine = !(1e-100..=0.3).contains(&alone) || both >= 0.9 * alone;
            prop_assert!(fine, "{both} {alone}");
        }
    }

    #[test]
    fn delta_falls_with_epsilon(event in any_event(), low in 0.0..3.0_f64, more in 0.01..2.0_f64) {
        let (at_low, at_high) = (delta(&event, low), delta(&event, low + more));
        // Far below any budget the charge of a grid, or the composition's own rounding bound, rules.
        prop_assert!(at_high <= (at_low * (1.0 + GRID)).max(1e-15), "{at_low} {at_high}");
    }

    #[test]
    fn epsilon_and_delta_are_inverse_on_the_safe_side(event in any_event(), power in 2.0..9.0_f64) {
        let expected = 10_f64.powf(-power);
        let epsilon = account::epsilon(&event, expected).unwrap();
        if epsilon.is_finite() {
            prop_assert!(delta(&event, epsilon) <= expected, "{epsilon} {expected}");
            prop_assert!(epsilon < 1e-9 || delta(&event, epsilon * 0.99) > expected * 0.9);
        }
    }

    /// Events are read as they were written.
    #[test]
    fn events_survive_a_file(event in any_event()) {
        let text = serde_json::to_string(&event).unwrap();
        prop_assert_eq!(serde_json::from_str::<Event>(&text).unwrap(), event);
    }

    /// No number causes a panic, and an accepted event yields a probability.
    #[test]
    fn odd_numbers_are_refused_or_bounded(
        a in prop_oneof![Just(0.0), Just(f64::NAN), Just(f64::INFINITY), Just(-1.0), Just(1e-300),
            Just(1e300), Just(1.0)],
        b in prop_oneof![Just(0.0), Just(f64::NAN), Just(f64::INFINITY), Just(-1.0), Just(1e-300),
            Just(1e300), Just(1.0)],
        epsilon in prop_oneof![Just(0.0), Just(1.0), Just(1e5)],
    ) {
        let loss = LossShape { lipschitz: a, curvature: b, sign: Sign::Fixed, logistic: true };
        let noise = ObjectiveNoise::Gaussian { noise_scale: b, grid: None };
        let pure_noise = ObjectiveNoise::L2Laplace { noise_scale: b };
        let grid = Some(Grid { step: b, coordinates: u64::MAX });
        for cost in [
            Cost::Gaussian { sensitivity: a, noise_scale: b, grid: None },
            Cost::Gaussian { sensitivity: 1.0, noise_scale: a, grid },
            Cost::PoissonGaussian { rate: a, sensitivity: 1.0, noise_scale: b, grid: None },
            Cost::PoissonGaussian { rate: 1e-6, sensitivity: a, noise_scale: b, grid: None },
            Cost::PoissonGaussian { rate: 0.5, sensitivity: 1.0, noise_scale: a, grid },
            Cost::WithoutReplacementGaussian {
                population: u64::MAX, batch: 10, sensitivity: a, noise_scale: b, grid: None
            },
            Cost::Laplace { sensitivity: a, noise_scale: b, step: None },
            Cost::Laplace { sensitivity: 1.0, noise_scale: a, step: Some(b) },
            Cost::L2Laplace { sensitivity: a, noise_scale: b },
            Cost::Pure { epsilon: a },
            Cost::BoundedRange { range: a },
            Cost::ZeroConcentrated { rho: a },
            Cost::Approximate { epsilon: a, delta: b },
            Cost::Objective(ObjectiveCost { loss, radius: 1.0, ridge: 1.0, noise }),
            Cost::Objective(ObjectiveCost { loss, radius: a, ridge: b, noise: pure_noise }),
        ] {
            for (unit, count) in [(Unit::Record, 1), (Unit::User { max_records: 3 }, 1), (Unit::Record, 2)] {
                let event = Event::Use { neighbours: Neighbours::ReplaceOne, unit, cost: cost.clone() };
                let event = Event::Repeat { count, event: Box::new(event) };
                if let Ok(delta) = account::delta(&event, epsilon) {
                    prop_assert!((0.0..=1.0).contains(&delta), "{cost:?} {epsilon} {delta}");
                }
            }
        }
    }
}

#[test]
fn mixed_trees_are_refused() {
    let cost = Cost::Pure { epsilon: 1.0 };
    let record = used(cost.clone());
    let replaced =
        Event::Use { neighbours: Neighbours::ReplaceOne, unit: Unit::Record, cost: cost.clone() };
    let user =
        Event::Use { neighbours: Neighbours::AddRemove, unit: Unit::User { max_records: 2 }, cost };
    let mixed = account::delta(&Event::All(vec![record.clone(), replaced]), 1.0).unwrap_err();
    assert!(matches!(mixed, AccountError::MixedNeighbours { .. }));
    assert!(mixed.to_string().contains("group privacy"));
    let mixed = account::delta(&Event::All(vec![record.clone(), user]), 1.0).unwrap_err();
    assert!(matches!(mixed, AccountError::MixedUnits { .. }));
    let none = Event::Repeat { count: 0, event: Box::new(record.clone()) };
    assert_eq!(account::delta(&none, 1.0), Err(AccountError::Empty));
    assert_eq!(account::delta(&Event::All(vec![]), 1.0), Err(AccountError::Empty));
    let huge =
        (0..3).fold(record, |event, _| Event::Repeat { count: u32::MAX, event: Box::new(event) });
    assert!(matches!(account::delta(&huge, 1.0), Err(AccountError::TooMany { .. })));
}

#[test]
fn a_coarse_grid_is_refused_and_a_fine_one_charged() {
    let gaussian = |step: Option<f64>| {
        let grid = step.map(|step| Grid { step, coordinates: 100 });
        used(Cost::Gaussian { sensitivity: 1.0, noise_scale: 4.0, grid })
    };
    assert!(matches!(
        account::delta(&gaussian(Some(0.01)), 1.0),
        Err(AccountError::CoarseGrid { .. })
    ));
    let step = 2_f64.powi(-20);
    let charge = (1.0 + 1_f64.exp()) * 100.0 * 0.021 * (step / 4.0).powi(2);
    let (plain, charged) = (delta(&gaussian(None), 1.0), delta(&gaussian(Some(step)), 1.0));
    assert!(((charged - plain) / charge - 1.0).abs() < 1e-3);
    // Below the distance itself the ratio is charged, a little of ε instead of a part of δ; and below
    // the probability outside the ratio's range no ε holds.
    let (plain, charged) = (gaussian(None), gaussian(Some(step)));
    let grown =
        account::epsilon(&charged, 1e-14).unwrap() - account::epsilon(&plain, 1e-14).unwrap();
    let most = 3.0 * 60.0 * 100.0 * (step / 4.0).powi(2);
    assert!(grown > 0.0 && grown < most, "{grown} of {most}");
    assert_eq!(account::epsilon(&charged, 1e-306).unwrap(), f64::INFINITY);
    // A large ε is no worse than a smaller one.
    assert!(delta(&charged, 600.0) <= 1e-30 && delta(&charged, 30.0) <= 1e-30);
}

#[test]
fn an_infinite_epsilon_survives_json() {
    let gaussian = used(Cost::Gaussian { sensitivity: 1.0, noise_scale: 1.0, grid: None });
    let none = account::guarantee(&gaussian, 0.0).unwrap();
    assert_eq!(none.epsilon, f64::INFINITY);
    let text = serde_json::to_string(&none).unwrap();
    assert!(text.contains("\"infinity\""), "{text}");
    assert_eq!(serde_json::from_str::<Guarantee>(&text).unwrap(), none);
    for bad in ["-1", "\"NaN\"", "\"inf\"", "null"] {
        let broken = text.replace("\"infinity\"", bad);
        assert!(serde_json::from_str::<Guarantee>(&broken).is_err(), "{broken}");
    }
}

#[test]
fn pure_events_add_up_at_delta_zero() {
    let one = used(Cost::Laplace { sensitivity: 1.0, noise_scale: 4.0, step: None });
    let event = Event::Repeat { count: 8, event: Box::new(one) };
    let epsilon = account::epsilon(&event, 0.0).unwrap();
    assert!((2.0..2.0 * (1.0 + 1e-14)).contains(&epsilon), "{epsilon}");
    assert!(account::epsilon(&event, 1e-6).unwrap() < 2.0);
}

/// Several records a unit: between k times the noise of one record's Gaussian floor and group privacy.
#[test]
fn units_of_several_records_cost_more() {
    let budget = Budget::new(1.0, 1e-6).unwrap();
    let loss = LossShape { lipschitz: 1.0, curvature: 0.25, sign: Sign::Fixed, logistic: true };
    let noise = |unit: Unit, ridge: f64| {
        calibrate(&budget, 1e-2..=1e5, |noise_scale| {
            let noise = ObjectiveNoise::Gaussian { noise_scale, grid: None };
            let cost = Cost::Objective(ObjectiveCost { loss, radius: 1.0, ridge, noise });
            Event::Use { neighbours: Neighbours::ReplaceOne, unit, cost }
        })
        .unwrap()
    };
    let one = noise(Unit::Record, 1e9);
    assert_eq!(one, noise(Unit::User { max_records: 1 }, 1e9));
    for k in [2, 5] {
        let unit = Unit::User { max_records: k };
        let (many, crude) = (noise(unit, 1e9), noise(unit, 50.0));
        assert!((many / (f64::from(k) * one) - 1.0).abs() < 1e-9, "{many} {one}");
        assert!(crude > many && crude < 3.0 * many, "{crude} {many}");
    }
}

#[test]
fn a_budget_out_of_reach_is_said_to_be() {
    let budget = Budget::new(1.0, 1e-6).unwrap();
    let event_for =
        |noise_scale| used(Cost::Gaussian { sensitivity: 1.0, noise_scale, grid: None });
    assert!(matches!(
        calibrate(&budget, 0.1..=1.0, event_for),
        Err(AccountError::OutOfReach { .. })
    ));
    assert_eq!(calibrate(&budget, 50.0..=60.0, event_for), Ok(50.0));
    for bad in [0.0..=1.0, 2.0..=1.0, f64::NAN..=1.0, 1.0..=f64::INFINITY] {
        assert!(calibrate(&budget, bad, event_for).is_err());
    }
}

/// A stated (ε, δ) costs ε at that δ, and infinitely much below it.
#[test]
fn a_stated_guarantee_holds_as_stated() {
    for (epsilon, delta) in [(1.0, 1e-5), (0.3, 1e-12), (7.0, 0.01), (0.0, 0.3)] {
        let cost = Cost::Approximate { epsilon, delta };
        let event = Event::Use { neighbours: Neighbours::ReplaceOne, unit: Unit::Record, cost };
        let actual = account::epsilon(&event, delta).unwrap();
        assert!(actual >= epsilon && actual <= epsilon * (1.0 + 1e-12), "{actual}");
        assert_eq!(account::delta(&event, actual).unwrap(), delta);
        assert_eq!(account::epsilon(&event, delta * 0.999).unwrap(), f64::INFINITY);
        let twice = Event::Repeat { count: 2, event: Box::new(event) };
        assert!(account::delta(&twice, 2.0 * epsilon).unwrap() >= delta * (2.0 - delta));
    }
}
