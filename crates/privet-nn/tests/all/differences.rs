//! Clipped differences of gradients against the gradients themselves.

use crate::gradients::{Examples, distance, length, singles};
use crate::nets::{Numbers, every_kind};
use privet_nn::Workspace;

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
