//! The rotated objective where its law is known: in one dimension.

use privet_core::{Neighbours, Unit};
use privet_dp::account::{self, Cost, Event};
use privet_dp::gate::{GateError, Private, Session};
use privet_dp::mechanism::{Distance, RotatedObjective};
use privet_dp::noise::FixedSeed;

fn objective(noise_scale: f64, delta: f64) -> RotatedObjective {
    RotatedObjective {
        neighbours: Neighbours::ReplaceOne,
        unit: Unit::Record,
        radius: 1.0,
        bound: 1.0,
        floor: 2.0,
        noise_scale,
        coordinates: 1,
        delta,
        tolerance: 1e-9,
        output_noise: 1e-6,
    }
}

/// P(θ* ≤ t) for |t| < 1, where θ* = (pull − b)/curvature is clipped to the ball.
fn below(curvature: f64, pull: f64, noise_scale: f64, t: f64) -> f64 {
    0.5 * libm::erfc((pull - curvature * t) / (noise_scale * std::f64::consts::SQRT_2))
}

/// The minimiser's law is a Gaussian clipped to the ball, with an atom at each end. Its δ at the ε of
/// the theorem, by cells (a lower bound, and close), never exceeds the δ of the theorem.
#[test]
fn in_one_dimension_the_theorem_holds() {
    const CELLS: usize = 2000;
    for (delta, noise_scale) in [(1e-2, 3.0), (1e-3, 6.0), (1e-1, 1.5)] {
        let epsilon = objective(noise_scale, delta).epsilon();
        let masses = |(curvature, pull): (f64, f64)| {
            let edge = |i: usize| {
                let t = -1.0 + 2.0 * i as f64 / CELLS as f64;
                below(curvature, pull, noise_scale, t)
            };
            let mut masses: Vec<f64> = (0..CELLS).map(|i| edge(i + 1) - edge(i)).collect();
            masses.extend([edge(0), 1.0 - edge(CELLS)]);
            masses
        };
        for count in [0.0, 0.5, 3.0, 20.0] {
            for (label, other) in [(1.0, -1.0), (1.0, 0.5), (-1.0, -1.0)] {
                // x = 1 with its label, against 0 or 1 with the other.
                for second in [0.0, 1.0] {
                    let laws = [(count + 1.0, label), (count + second, other * second)]
                        .map(|(a, pull): (f64, f64)| masses((a.max(2.0), pull)));
                    for (p, q) in [(&laws[0], &laws[1]), (&laws[1], &laws[0])] {
                        let excess = |(p, q): (&f64, &f64)| (p - epsilon.exp() * q).max(0.0);
                        let found: f64 = p.iter().zip(q).map(excess).sum();
                        assert!(found <= delta, "{found} > {delta}");
                    }
                }
            }
        }
    }
}

/// σ chosen for an ε gives that ε, and the cost falls as noise and floor grow.
#[test]
fn the_least_noise_meets_its_epsilon() {
    for epsilon in [1e-3, 0.1, 1.0, 10.0] {
        for delta in [1e-12, 1e-6, 0.1] {
            let mut objective = objective(1.0, delta);
            objective.noise_scale = objective.least_noise(epsilon);
            let spent = objective.epsilon() - objective.determinant();
            assert!(spent <= epsilon * (1.0 + 1e-11) && spent >= epsilon * (1.0 - 1e-9), "{spent}");
            let noise_scale = 2.0 * objective.noise_scale;
            let more = RotatedObjective { noise_scale, ..objective.clone() };
            let higher = RotatedObjective { floor: 4.0, ..objective.clone() };
            assert!(more.epsilon() < objective.epsilon() && higher.epsilon() < objective.epsilon());
        }
    }
}

/// Δ_out = 2(e + η/Δ) + rounding, never less, and each grid is charged.
#[test]
fn the_events_contain_every_part() {
    let objective = RotatedObjective { coordinates: 9, ..objective(8.0, 1e-6) };
    let Event::All(parts) = objective.event().unwrap() else { panic!("one event") };
    let costs: Vec<&Cost> = parts.iter().map(|part| part.single_cost().unwrap()).collect();
    let [
        Cost::Approximate { epsilon, delta },
        Cost::Gaussian { sensitivity: none, noise_scale: 8.0, grid: Some(inside) },
        Cost::Gaussian { sensitivity, noise_scale: 1e-6, grid: Some(outside) },
    ] = costs.as_slice()
    else {
        panic!("other events: {costs:?}")
    };
    assert_eq!((*epsilon, *delta, *none), (objective.epsilon(), 1e-6, 0.0));
    assert_eq!((inside.step, inside.coordinates), (2_f64.powi(3 - 40), 9));
    assert_eq!((outside.step, outside.coordinates), (2_f64.powi(-20 - 40), 9));
    let needed = 2.0 * (1e-9 + inside.step * 3.0 / 2.0 / 2.0) + outside.step * 3.0;
    assert!(*sensitivity >= needed && *sensitivity < needed * (1.0 + 1e-12), "{sensitivity}");
    // The grid of b costs something, and nothing else does without output noise: seen where δ is so small
    // that a sum with it still shows the grid's share.
    let small = RotatedObjective { delta: 1e-28, ..objective };
    let Event::All(parts) = small.event().unwrap() else { panic!("one event") };
    let epsilon = small.epsilon();
    let without = account::delta(&parts[0], epsilon).unwrap();
    let with = account::delta(&Event::All(parts[..2].to_vec()), epsilon).unwrap();
    assert!(with > without && with < without + 1e-20 * epsilon.exp(), "{with} {without}");
}

#[test]
fn a_rotated_token_wants_the_distance_proved() {
    let objective = objective(8.0, 1e-6);
    for (bad, good) in [(2e-9, false), (f64::NAN, false), (f64::INFINITY, false), (1e-9, true)] {
        let mut source = FixedSeed::new(1);
        let mut session = Session::start(objective.event().unwrap(), &mut source);
        let (_, token) = objective.draw(&mut session).unwrap();
        let outcome = token.release(Private::new(vec![0.5]), Distance(bad), &mut session);
        assert_eq!(outcome.is_ok(), good);
        assert!(good || outcome.err() == Some(GateError::NotCertified));
    }
}
