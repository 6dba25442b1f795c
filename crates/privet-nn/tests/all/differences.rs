//! Clipped differences of gradients against the gradients themselves.

use crate::gradients::{Examples, distance, length, singles};
use crate::nets::{Numbers, every_kind};
use privet_nn::{ScaledClip, Workspace};

#[test]
fn clipped_differences_are_those_of_the_gradients() {
    for (name, net) in every_kind() {
        let examples = Examples::new(&net, 21, 40, 1.0);
        let new = net.initial(9);
        for (step, tolerance) in [(0.3, 1e-5), (0.01, 1e-4), (1e-4, 1e-2)] {
            let mut old = new.clone();
            let moves = Numbers(12).vector(net.trainable(), step);
            for (weight, by) in old.iter_mut().zip(moves) {
                *weight += by;
            }
            let pairs =
                singles(&net, &new, &examples).into_iter().zip(singles(&net, &old, &examples));
            let differences: Vec<Vec<f64>> = pairs
                .map(|(now, then)| now.iter().zip(then).map(|(x, y)| x - y).collect())
                .collect();
            let mut lengths: Vec<f64> = differences.iter().map(|vector| length(vector)).collect();
            lengths.sort_by(f64::total_cmp);
            let mut work = Workspace::new();
            for clip in [lengths[0] * 0.5, lengths[10], lengths[20] * 2.0] {
                let mut expected = vec![0.0; net.trainable()];
                for difference in &differences {
                    let factor = (clip / length(difference)).min(1.0);
                    for (total, value) in expected.iter_mut().zip(difference) {
                        *total += factor * value;
                    }
                }
                let batch = examples.all(&net);
                let sum =
                    net.clipped_difference_sum(&new, &old, &batch, clip, &mut work).unwrap().sum;
                let gap = distance(&sum, &expected);
                let size = 21.0 * clip.min(lengths[20]);
                assert!(gap <= tolerance * size, "{name}, step {step}: {gap} of {size}");
                for index in 0..21 {
                    let batch = examples.one(&net, index);
                    let sum = net
                        .clipped_difference_sum(&new, &old, &batch, clip, &mut work)
                        .unwrap()
                        .sum;
                    let long = length(&sum);
                    assert!(
                        long <= clip * (1.0 + 1e-5),
                        "{name}, step {step}: {long} beyond {clip}"
                    );
                }
            }
        }
    }
}

#[test]
fn equal_weights_differ_by_nothing() {
    for (name, net) in every_kind() {
        let examples = Examples::new(&net, 21, 40, 1.0);
        let weights = net.initial(9);
        let mut work = Workspace::new();
        let sum = net
            .clipped_difference_sum(&weights, &weights, &examples.all(&net), 1.0, &mut work)
            .unwrap()
            .sum;
        assert!(sum.iter().all(|&value| value == 0.0), "{name}");
    }
}

/// For any clipping norm, factor and weights: the integer sum is that of each example alone, no term
/// exceeds its factor times the clipping norm, and the terms are the clipped differences.
#[test]
fn an_exact_difference_is_that_of_its_examples_alone() {
    for (name, net) in every_kind() {
        let mut work = Workspace::new();
        for (seed, scale) in (0..).zip([1.0_f32, 1e-3, 1e6, 1e20, f32::NAN]) {
            let examples = Examples::new(&net, 13, seed, scale);
            let new = net.initial(seed);
            for step in [0.3_f32, 1e-4, 1e4] {
                let mut old = new.clone();
                let moves = Numbers(seed + 5).vector(net.trainable(), step);
                old.iter_mut().zip(moves).for_each(|(weight, by)| *weight += by);
                for clip in [1e-6, 0.5, 1e3] {
                    let share = ScaledClip { clip, share: 0.7, grid: privet_nn::grid(0.8 * clip) };
                    let mut expected = vec![0_i64; net.trainable()];
                    for index in 0..13 {
                        let batch = examples.one(&net, index);
                        let alone = net
                            .clipped_difference_share_exact(&new, &old, &batch, share, &mut work)
                            .unwrap();
                        let squares: u128 = alone
                            .steps
                            .iter()
                            .map(|&steps| u128::from(steps.unsigned_abs()).pow(2))
                            .sum();
                        let most = share.share * clip / share.grid;
                        assert!(squares as f64 <= most * most, "{name}: {squares} beyond {most}²");
                        expected.iter_mut().zip(&alone.steps).for_each(|(sum, one)| *sum += one);
                    }
                    let batch = examples.all(&net);
                    let whole = net
                        .clipped_difference_share_exact(&new, &old, &batch, share, &mut work)
                        .unwrap();
                    assert_eq!(whole.steps, expected, "{name}, step {step}, clip {clip}");
                    // Weights of 10⁴ make gradients for which `f32` has too few digits to be compared.
                    if scale == 1.0 && step <= 1.0 {
                        let sum = net
                            .clipped_difference_sum(&new, &old, &batch, clip, &mut work)
                            .unwrap()
                            .sum;
                        let near: Vec<f64> =
                            whole.steps.iter().map(|&x| x as f64 * whole.grid / 0.7).collect();
                        let room = 13.0 * (net.trainable() as f64).sqrt() * whole.grid / 0.7;
                        let gap = distance(&sum, &near);
                        assert!(gap <= 1e-3 * 13.0 * clip + room, "{name}, step {step}: {gap}");
                    }
                }
            }
        }
    }
}

/// A gradient and a difference summed at once equal the sum of the two, bit for bit; two grids are
/// refused.
#[test]
fn both_terms_at_once_are_the_sum_of_the_two() {
    for (name, net) in every_kind() {
        let mut work = Workspace::new();
        for (seed, scale) in (0..).zip([1.0_f32, 1e-3, 1e20, f32::NAN]) {
            let examples = Examples::new(&net, 37, seed, scale);
            let (new, mut old) = (net.initial(seed), net.initial(seed));
            let moves = Numbers(seed + 5).vector(net.trainable(), 0.01);
            old.iter_mut().zip(moves).for_each(|(weight, by)| *weight += by);
            let grid = privet_nn::grid(1.0);
            let own = ScaledClip { clip: 1.0, share: 0.3, grid };
            let moved = ScaledClip { clip: 0.1, share: 0.7, grid };
            let batch = examples.all(&net);
            let gradient = net.clipped_share_exact(&new, &batch, own, &mut work).unwrap();
            let difference =
                net.clipped_difference_share_exact(&new, &old, &batch, moved, &mut work).unwrap();
            let points = [&new[..], &old];
            let both = net.clipped_terms_exact(points, &batch, [own, moved], &mut work).unwrap();
            let apart = gradient.steps.iter().zip(&difference.steps).map(|(g, h)| g + h);
            assert_eq!(both.steps, apart.collect::<Vec<i64>>(), "{name}");
            let coarser = ScaledClip { grid: 2.0 * grid, ..moved };
            assert!(net.clipped_terms_exact(points, &batch, [own, coarser], &mut work).is_err());
        }
    }
}

/// A grid that is not a power of two, a factor above 1, or so fine a grid that sums might overflow:
/// refused.
#[test]
fn a_share_that_is_none_is_refused() {
    let (_, net) = every_kind().remove(0);
    let examples = Examples::new(&net, 2, 1, 1.0);
    let (weights, batch) = (net.initial(1), examples.all(&net));
    let good = ScaledClip { clip: 1.0, share: 0.5, grid: privet_nn::grid(1.0) };
    let asked = |share: ScaledClip| {
        net.clipped_share_exact(&weights, &batch, share, &mut Workspace::new()).is_ok()
    };
    assert!(asked(good));
    for bad in [
        ScaledClip { grid: good.grid * 1.5, ..good },
        ScaledClip { grid: good.grid / 8.0, ..good },
        ScaledClip { grid: 0.0, ..good },
        ScaledClip { grid: -good.grid, ..good },
        ScaledClip { share: 1.5, ..good },
        ScaledClip { share: 0.0, ..good },
        ScaledClip { share: f64::NAN, ..good },
        ScaledClip { clip: f64::INFINITY, ..good },
    ] {
        assert!(!asked(bad), "{bad:?}");
    }
}
