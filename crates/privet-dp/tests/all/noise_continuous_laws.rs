//! The laws on the reals: Gaussian on a grid, ℓ2-Laplace, Gumbel. False failure ≤ 1e-10 a test.

use crate::noise_common::{allowed_gap, fresh, largest_gap, normal_cdf};
use privet_dp::noise::{GridGaussian, Gumbel, L2Laplace};

const DRAWS: usize = 200_000;

#[test]
fn grid_gaussian_has_the_normal_law() {
    let (mut source, seed) = fresh();
    for scale in [1e-20, 0.37, 1.0, 12_345.6] {
        let mut draws = vec![0.0; DRAWS];
        GridGaussian::new(scale).unwrap().fill(&mut draws, &mut source);
        let gap = largest_gap(&mut draws, |x| normal_cdf(x / scale));
        assert!(gap <= allowed_gap(DRAWS, 4), "σ {scale}: gap {gap}, seed {seed}");
    }
}

/// Gamma(p, s) for integer p: 1 − e^(−x)·Σ_{i<p} xⁱ/i!, x = r/s (Erlang).
fn erlang_cdf(p: usize, x: f64) -> f64 {
    let mut term = (-x).exp();
    let mut sum = term;
    for i in 1..p {
        term *= x / i as f64;
        sum += term;
    }
    1.0 - sum
}

fn radii(
    scale: f64,
    dimensions: usize,
    count: usize,
    source: &mut impl privet_dp::noise::Source,
) -> Vec<f64> {
    let law = L2Laplace::new(scale).unwrap();
    let mut vector = vec![0.0; dimensions];
    let draw = |_| {
        law.fill(&mut vector, source);
        vector.iter().map(|value| value * value).sum::<f64>().sqrt()
    };
    (0..count).map(draw).collect()
}

#[test]
fn l2_laplace_norms_are_gamma() {
    let (mut source, seed) = fresh();
    for (dimensions, scale) in [(1, 1.0), (2, 0.3), (3, 7.0), (10, 1.0), (105, 2.5)] {
        let mut norms = radii(scale, dimensions, 50_000, &mut source);
        let gap = largest_gap(&mut norms, |r| erlang_cdf(dimensions, r / scale));
        assert!(gap <= allowed_gap(50_000, 5), "p {dimensions}: gap {gap}, seed {seed}");
    }
}

#[test]
fn a_norm_ten_per_cent_off_is_caught() {
    let (mut source, seed) = fresh();
    for dimensions in [1, 10] {
        let mut norms = radii(1.1, dimensions, 50_000, &mut source);
        let gap = largest_gap(&mut norms, |r| erlang_cdf(dimensions, r));
        assert!(gap > 1.5 * allowed_gap(50_000, 5), "p {dimensions}: gap {gap}, seed {seed}");
    }
}

/// Archimedes: on the sphere in three dimensions every coordinate of the direction is uniform on
/// [−1, 1]; on the circle the angle is uniform; on the line the sign is fair.
#[test]
fn l2_laplace_directions_are_uniform() {
    let (mut source, seed) = fresh();
    let law = L2Laplace::new(3.0).unwrap();
    let count = 50_000;
    let mut coordinates = [vec![], vec![], vec![]];
    for _ in 0..count {
        let mut b = [0.0; 3];
        law.fill(&mut b, &mut source);
        let norm = b.iter().map(|value| value * value).sum::<f64>().sqrt();
        for (list, value) in coordinates.iter_mut().zip(b) {
            list.push(value / norm);
        }
    }
    for list in &mut coordinates {
        let gap = largest_gap(list, |x| 0.5 * (x + 1.0));
        assert!(gap <= allowed_gap(count, 5), "gap {gap}, seed {seed}");
    }
    let mut angles: Vec<f64> = (0..count)
        .map(|_| {
            let mut b = [0.0; 2];
            law.fill(&mut b, &mut source);
            b[1].atan2(b[0])
        })
        .collect();
    let gap = largest_gap(&mut angles, |x| 0.5 + x / std::f64::consts::TAU);
    assert!(gap <= allowed_gap(count, 5), "gap {gap}, seed {seed}");
    // In one dimension the whole law is Laplace(3).
    let mut line: Vec<f64> = (0..count)
        .map(|_| {
            let mut b = [0.0];
            law.fill(&mut b, &mut source);
            b[0]
        })
        .collect();
    let gap = largest_gap(&mut line, |x| {
        if x < 0.0 { 0.5 * (x / 3.0).exp() } else { 1.0 - 0.5 * (-x / 3.0).exp() }
    });
    assert!(gap <= allowed_gap(count, 5), "gap {gap}, seed {seed}");
}

#[test]
fn gumbel_has_its_law() {
    let (mut source, seed) = fresh();
    for scale in [0.5, 20.0] {
        let law = Gumbel::new(scale).unwrap();
        let mut draws: Vec<f64> = (0..DRAWS).map(|_| law.draw(&mut source)).collect();
        let gap = largest_gap(&mut draws, |x| (-(-x / scale).exp()).exp());
        assert!(gap <= allowed_gap(DRAWS, 2), "scale {scale}: gap {gap}, seed {seed}");
    }
}
