//! Online learning: POffL (C1) and PGIGA (C2) of Thakurta 2013, chapter 5.
//!
//! **C1.** Algorithm 5.4 averages the points of implicit gradient descent on ℓ = gθ + (Ψ/2)θ² and adds
//! N(0, β²), β = 2√2(L + Ψ‖θ*‖)·ln T·√(ln(1/δ) + ε)/(Tε): the 1/Ψ of Lemma 5.9 is lost. It is run here
//! on both neighbours, C = \[−10, 10\], |g| ≤ 1, from θ₁ = 0 (the text lets it be any point of C, public
//! or drawn without the data).
//!
//! **C2.** Lemma 5.12 bounds a step of Algorithm 5.3 by 2G/(Ψt) with step size 2/(Ψt); gradients of two
//! neighbours differ by up to 2G, so that one step moves by up to 4G/(Ψt). Noise N(0, β²/t²) of all
//! T − 1 outputs is one Gaussian release of μ = √(T − 1)·λ_A/β, with λ_A = 4G/Ψ still far below the
//! claim (3ε, 2δ).

use super::{Erratum, Verdict};
use privet_dp::account::gaussian;

/// Movement of POffL's mean when record `place` changes its gradient from −1 to +1, all others 0.
pub fn offline_movement(steps: u32, strength: f64, bound: f64, place: u32) -> f64 {
    let run = |changed: f64| {
        let (mut theta, mut sum) = (0.0_f64, 0.0);
        for t in 1..steps {
            let rate = 1.0 / (strength * f64::from(t));
            let gradient = if t == place { changed } else { 0.0 };
            theta = ((theta - rate * gradient) / (1.0 + rate * strength)).clamp(-bound, bound);
            sum += theta;
        }
        sum / f64::from(steps)
    };
    (run(1.0) - run(-1.0)).abs()
}

/// β of Algorithm 5.4 with L = 1; the repaired one is this divided by Ψ.
pub fn offline_noise(steps: u32, strength: f64, bound: f64, epsilon: f64, delta: f64) -> f64 {
    let t = f64::from(steps);
    2.0 * std::f64::consts::SQRT_2 * (1.0 + strength * bound) * libm::log(t) / (t * epsilon)
        * libm::sqrt(libm::log(1.0 / delta) + epsilon)
}

/// Movement of a point by one step of PGIGA at step t, gradients ±G, times Ψt: 4G, where the lemma
/// states 2G.
pub fn gradient_ascent_step(bound: f64, strength: f64, t: f64) -> f64 {
    let rate = 2.0 / (strength * t);
    let (up, down) = (rate * bound, -rate * bound);
    (up - down) * strength * t
}

/// The printed β/λ_A of Algorithm 5.1.
pub fn online_noise(steps: f64, epsilon: f64, delta: f64) -> f64 {
    let c = libm::log(libm::log(2.0 / delta) / (2.0 * epsilon)) / (2.0 * libm::log(steps));
    let power = libm::pow(steps, 0.5 + c);
    power * libm::sqrt(2.0 / epsilon * (libm::log(steps / delta) + libm::sqrt(epsilon) / power))
}

pub(super) fn errata() -> Vec<Erratum> {
    let (steps, strength, bound, epsilon, delta) = (5000, 0.01, 10.0, 1.0, 1e-6);
    let moved = offline_worst(steps, strength, bound);
    let printed = offline_noise(steps, strength, bound, epsilon, delta);
    let mut all = vec![Erratum {
        id: "C1",
        what: "POffL without 1/Ψ: T = 5000, Ψ = 0.01, ‖θ*‖ = 10".into(),
        epsilon,
        delta,
        recomputed: gaussian::epsilon(delta, moved / printed),
        verdict: Verdict::ClaimFalse,
    }];
    for (steps, epsilon, delta) in [(1e3, 0.1, 1e-6), (1e3, 1.0, 1e-6), (1e5, 1.0, 1e-5)] {
        // λ_A is 4G/Ψ, while β was calibrated for 2G/Ψ.
        let mu = libm::sqrt(steps - 1.0) * 2.0 / online_noise(steps, epsilon, delta);
        all.push(Erratum {
            id: "C2",
            what: format!("PGIGA: a step moves by 4G/(Ψt), the lemma says 2G/(Ψt); T = {steps:e}"),
            epsilon: 3.0 * epsilon,
            delta: 2.0 * delta,
            recomputed: gaussian::epsilon(2.0 * delta, mu),
            verdict: Verdict::LemmaFalse,
        });
    }
    all
}

/// The largest movement over the first 40 places.
pub fn offline_worst(steps: u32, strength: f64, bound: f64) -> f64 {
    (1..=40).map(|place| offline_movement(steps, strength, bound, place)).fold(0.0, f64::max)
}
