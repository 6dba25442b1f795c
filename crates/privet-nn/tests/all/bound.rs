//! No example changes a sum by more than the clipping norm, whatever its values.

use crate::gradients::{Examples, length};
use crate::nets::{digits, every_kind};
use privet_nn::{Batch, Layer, Net, Targets, Workspace};

/// Input scales that a record may have: ordinary, tiny, huge, not finite.
const SCALES: [f32; 7] = [1.0, 1e-3, 1e-20, 1e-38, 1e6, 1e20, 3e38];

fn check(name: &str, net: &Net, examples: &Examples, count: usize, weights: &[f32]) {
    let mut work = Workspace::new();
    for clip in [1e-12, 1e-3, 0.7, 1.0, 3.0, 1e12] {
        for index in 0..count {
            let batch = examples.one(net, index);
            let sum = net.clipped_sum(weights, &batch, clip, &mut work).unwrap().sum;
            // For convolutions in factors, the sum is rounded while the norm is exact.
            let slack = if name.contains("factors") { 1e-5 } else { 0.0 };
            let long = length(&sum);
            assert!(long <= clip * (1.0 + slack), "{name}: {long} beyond {clip}");
            let exact = net.clipped_sum_exact(weights, &batch, clip, &mut work).unwrap();
            let squares: u128 =
                exact.steps.iter().map(|&steps| u128::from(steps.unsigned_abs()).pow(2)).sum();
            let steps = clip / exact.grid;
            assert!(((1 << 20) as f64..(1 << 21) as f64).contains(&steps));
            // Both sides are integers or exact: below 2⁵³, and the clipping norm times a power of two.
            assert!(squares as f64 <= steps * steps, "{name}: {squares} beyond {steps}²");
        }
    }
}

#[test]
fn one_example_is_no_longer_than_the_clip() {
    for (name, net) in every_kind() {
        for (seed, scale) in (0..).zip(SCALES) {
            let examples = Examples::new(&net, 12, seed, scale);
            check(name, &net, &examples, 12, &net.initial(seed));
            let loud: Vec<f32> = net.initial(seed).iter().map(|weight| weight * 1e4).collect();
            check(name, &net, &examples, 3, &loud);
        }
    }
}

/// With a clipping norm below the gradient's the result has that norm: bounds are loose by at most 1e-6.
#[test]
fn norms_are_tight() {
    for (name, net) in every_kind() {
        let examples = Examples::new(&net, 20, 3, 1.0);
        let weights = net.initial(4);
        let mut work = Workspace::new();
        for index in 0..20 {
            let sum =
                net.clipped_sum(&weights, &examples.one(&net, index), 1e-6, &mut work).unwrap().sum;
            let long = length(&sum) / 1e-6;
            assert!((long - 1.0).abs() < 1e-6, "{name}: {long}");
        }
    }
}

/// An example that is not finite contributes nothing, and leaves the others as they are, bit for bit.
#[test]
fn an_example_that_is_not_finite_contributes_nothing() {
    for (name, net) in every_kind() {
        let weights = net.initial(6);
        let mut work = Workspace::new();
        for poison in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
            let mut examples = Examples::new(&net, 20, 8, 1.0);
            let rest: Vec<u32> = (0..20).filter(|&row| row != 7).collect();
            let expected = {
                let (inputs, targets) = (&examples.inputs, examples.targets(&net, 0..20));
                net.clipped_sum_exact(
                    &weights,
                    &Batch::chosen(inputs, targets, &rest),
                    0.5,
                    &mut work,
                )
                .unwrap()
            };
            examples.inputs[7 * net.inputs()..8 * net.inputs()].fill(poison);
            let batch = examples.all(&net);
            let sum = net.clipped_sum(&weights, &batch, 0.5, &mut work).unwrap().sum;
            assert!(sum.iter().all(|value| value.is_finite()), "{name}");
            let exact = net.clipped_sum_exact(&weights, &batch, 0.5, &mut work).unwrap();
            assert_eq!(exact.steps, expected.steps, "{name}, {poison}");
            let moved: Vec<f32> = weights.iter().map(|weight| weight + 0.01).collect();
            let sum =
                net.clipped_difference_sum(&moved, &weights, &batch, 0.5, &mut work).unwrap().sum;
            assert!(sum.iter().all(|value| value.is_finite()), "{name}");
        }
    }
}

/// A class that the network does not have is no error: a record could cause it.
#[test]
fn an_unknown_class_contributes_nothing() {
    let net = digits(Layer::Relu);
    let inputs = vec![0.5; net.inputs()];
    let batch = Batch::all(&inputs, Targets::Classes(&[10]));
    let mut work = Workspace::new();
    let sum = net.clipped_sum(&net.initial(1), &batch, 1.0, &mut work).unwrap().sum;
    assert!(sum.iter().all(|&value| value == 0.0));
}

#[test]
fn no_examples_sum_to_nothing() {
    let net = digits(Layer::Tanh);
    let batch = Batch::all(&[], Targets::Classes(&[]));
    let sum = net.clipped_sum(&net.initial(1), &batch, 1.0, &mut Workspace::new()).unwrap();
    assert!(sum.examples == 0 && sum.sum.iter().all(|&value| value == 0.0));
}

/// Memory grows with the network, not with the batch; `memory.rs` counts allocations.
#[test]
fn room_does_not_grow_with_the_batch() {
    let net = digits(Layer::Relu);
    let bytes = |count: usize| {
        let examples = Examples::new(&net, count, 1, 1.0);
        let mut work = Workspace::new();
        net.clipped_sum(&net.initial(1), &examples.all(&net), 1.0, &mut work).unwrap();
        work.bytes()
    };
    assert_eq!(bytes(40), bytes(400));
}
