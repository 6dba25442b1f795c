//! The rotated objective where its law is known: in one dimension.

use privet_core::{Neighbours, Unit};
use privet_dp::mechanism::RotatedObjective;

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
