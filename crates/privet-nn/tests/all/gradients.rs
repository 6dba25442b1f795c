//! Gradients against finite differences, clipped sums against gradients of single examples.

use crate::nets::{Numbers, every_kind};
use privet_nn::{Batch, Loss, Net, Targets, Workspace};

/// Inputs and targets of a network.
pub struct Examples {
    pub inputs: Vec<f32>,
    classes: Vec<u32>,
    values: Vec<f32>,
    count: usize,
}

impl Examples {
    pub fn new(net: &Net, count: usize, seed: u64, scale: f32) -> Self {
        let mut numbers = Numbers(seed);
        let inputs = numbers.vector(net.inputs() * count, scale);
        let classes = numbers.classes(count, net.outputs());
        let values =
            numbers.vector(net.outputs() * count, 0.5).iter().map(|value| value + 0.5).collect();
        Self { inputs, classes, values, count }
    }

    pub fn targets(&self, net: &Net, range: std::ops::Range<usize>) -> Targets<'_> {
        match net.loss_kind() {
            Loss::CrossEntropy => Targets::Classes(&self.classes[range]),
            _ => Targets::Values(
                &self.values[range.start * net.outputs()..range.end * net.outputs()],
            ),
        }
    }

    pub fn all(&self, net: &Net) -> Batch<'_> {
        Batch::all(&self.inputs, self.targets(net, 0..self.count))
    }

    pub fn one(&self, net: &Net, index: usize) -> Batch<'_> {
        let width = net.inputs();
        Batch::all(
            &self.inputs[index * width..(index + 1) * width],
            self.targets(net, index..index + 1),
        )
    }
}

/// The unclipped gradient of each example.
pub fn singles(net: &Net, weights: &[f32], examples: &Examples) -> Vec<Vec<f64>> {
    let mut work = Workspace::new();
    (0..examples.count)
        .map(|index| net.plain_sum(weights, &examples.one(net, index), &mut work).unwrap())
        .collect()
}

pub fn length(vector: &[f64]) -> f64 {
    vector.iter().map(|value| value * value).sum::<f64>().sqrt()
}

pub fn distance(left: &[f64], right: &[f64]) -> f64 {
    length(&left.iter().zip(right).map(|(x, y)| x - y).collect::<Vec<_>>())
}

/// Central differences along random directions: `f32` outputs, so steps of 2⁻¹¹ and an accuracy of 1 %.
#[test]
fn gradients_are_finite_differences() {
    for (name, net) in every_kind() {
        let examples = Examples::new(&net, 3, 11, 1.0);
        let batch = examples.all(&net);
        let weights = net.initial(5);
        let mut work = Workspace::new();
        let gradient = net.plain_sum(&weights, &batch, &mut work).unwrap();
        let mut numbers = Numbers(17);
        for tensor in net.tensors().iter().filter(|tensor| !tensor.frozen) {
            for trial in 0..4 {
                let direction = numbers.vector(tensor.range.len(), 1.0);
                let along: f64 = direction
                    .iter()
                    .zip(&gradient[tensor.range.clone()])
                    .map(|(&step, &derivative)| f64::from(step) * derivative)
                    .sum();
                let scale = 1.0 / 2048.0 / (tensor.range.len() as f32).sqrt();
                let mut at = |sign: f32| {
                    let mut moved = weights.clone();
                    for (weight, step) in moved[tensor.range.clone()].iter_mut().zip(&direction) {
                        *weight += sign * scale * step;
                    }
                    net.loss(&moved, &batch, &mut work).unwrap()
                };
                let measured = (at(1.0) - at(-1.0)) / (2.0 * f64::from(scale));
                let size = length(&gradient[tensor.range.clone()]);
                assert!(
                    (measured - along).abs() <= 0.01 * size + 1e-3,
                    "{name}, {}, trial {trial}: {along} against {measured}, of {size}",
                    tensor.name
                );
            }
        }
    }
}

/// Ghost norms against the gradients themselves: every clipped term is correct, and within the clipping
/// norm.
#[test]
fn clipped_sums_are_sums_of_clipped_gradients() {
    for (name, net) in every_kind() {
        let examples = Examples::new(&net, 37, 23, 1.5);
        let weights = net.initial(9);
        let gradients = singles(&net, &weights, &examples);
        let mut lengths: Vec<f64> = gradients.iter().map(|gradient| length(gradient)).collect();
        lengths.sort_by(f64::total_cmp);
        let mut work = Workspace::new();
        for clip in [lengths[0] * 0.5, lengths[18], lengths[36] * 2.0] {
            let mut expected = vec![0.0; net.trainable()];
            for gradient in &gradients {
                let factor = (clip / length(gradient)).min(1.0);
                for (total, value) in expected.iter_mut().zip(gradient) {
                    *total += factor * value;
                }
            }
            let actual =
                net.clipped_sum(&weights, &examples.all(&net), clip, &mut work).unwrap().sum;
            let gap = distance(&actual, &expected);
            assert!(gap <= 3e-6 * 37.0 * clip.min(lengths[36]), "{name}, clip {clip}: {gap}");
            let exact =
                net.clipped_sum_exact(&weights, &examples.all(&net), clip, &mut work).unwrap();
            let steps: Vec<f64> =
                exact.steps.iter().map(|&steps| steps as f64 * exact.grid).collect();
            let room = 37.0 * (net.trainable() as f64).sqrt() * exact.grid;
            let gap = distance(&steps, &expected);
            assert!(gap <= 3e-6 * 37.0 * clip + room, "{name}, exact, clip {clip}: {gap}");
        }
    }
}
