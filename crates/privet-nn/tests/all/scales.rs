//! Frozen weights of extreme sizes: a file of public weights may hold any finite number, and terms still
//! stay within the clipping norm. Inputs of a layer may be as small as 1e-37 while its derivatives are
//! as large as 1e38, and the other way round.

use crate::gradients::{Examples, length, singles};
use crate::nets::{Numbers, conv, image, linear, net};
use privet_nn::{Input, Layer, Loss, Net, ScaledClip, Workspace};

/// Sizes of the weights below and above the trained layer in the middle.
const PAIRS: [(f32, f32); 12] = [
    (1e-33, 1e33),
    (1e33, 1e-33),
    (1e-37, 1e37),
    (1e37, 1e-37),
    (1e-36, 3e38),
    (1e-20, 1e25),
    (1e38, 1e-38),
    (1e38, 1e-42),
    (1e35, 1e-44),
    (1e30, 1e-40),
    (1e-38, 1e-38),
    (1e19, 1e19),
];

fn frozen(out: usize) -> Layer {
    Layer::Linear { out, frozen: true }
}

/// A trained layer between frozen ones: alone, as one of several, and a convolution in factors.
fn between() -> Vec<(&'static str, Net)> {
    let entropy = Loss::CrossEntropy;
    let one = vec![linear(1), frozen(1), linear(1), frozen(2)];
    let row = vec![linear(3), frozen(4), linear(3), Layer::Tanh, frozen(2)];
    let below = Layer::Conv { out: 3, kernel: 3, stride: 1, padding: 1, frozen: true };
    let picture = vec![below, conv(40, 4, 4, 1), Layer::Flatten, frozen(3)];
    vec![
        ("one", net(Input::Features { features: 1 }, one, entropy)),
        ("a row", net(Input::Features { features: 2 }, row, entropy)),
        ("by factors", net(image(2, 6, 5), picture, entropy)),
    ]
}

/// Weights with frozen tensors of ± these sizes, in the order of the layers, and frozen biases of 0.
fn scaled(net: &Net, seed: u64, (low, high): (f32, f32)) -> Vec<f32> {
    let mut weights = net.initial(seed);
    let mut sizes = [low, high].into_iter();
    for tensor in net.tensors().iter().filter(|tensor| tensor.frozen) {
        let place = &mut weights[tensor.range.clone()];
        if tensor.name.ends_with("bias") {
            place.fill(0.0);
            continue;
        }
        let size = sizes.next().expect("two frozen layers");
        for (place, weight) in place.iter_mut().enumerate() {
            *weight = if place % 2 == 0 { size } else { -size };
        }
    }
    weights
}

fn moved(net: &Net, from: &[f32], seed: u64, step: f32) -> Vec<f32> {
    let mut old = from.to_vec();
    let moves = Numbers(seed).vector(net.trainable(), step);
    old.iter_mut().zip(moves).for_each(|(weight, by)| *weight += by);
    old
}

/// No term exceeds its factor times the clipping norm, and the sum is that of the examples alone, with
/// several such records in a piece. Floating-point sums keep the bound up to their own rounding.
#[test]
fn frozen_weights_of_any_size_keep_the_clip() {
    let count = 13;
    let mut counted = 0;
    for (name, net) in between() {
        let mut work = Workspace::new();
        for ((seed, pair), step) in
            (0..).zip(PAIRS).flat_map(|at| [0.3_f32, 1e-3, 1e-6].map(|step| (at, step)))
        {
            let new = scaled(&net, seed, pair);
            let old = moved(&net, &new, seed + 40, step);
            let examples = Examples::new(&net, count, seed, 1.0);
            for clip in [1e-6, 0.1, 10.0] {
                let share = ScaledClip { clip, share: 0.9, grid: privet_nn::grid(0.95 * clip) };
                let most = share.share * clip / share.grid;
                let mut expected = vec![0_i64; net.trainable()];
                for index in 0..count {
                    let batch = examples.one(&net, index);
                    let about = format!("{name}, {pair:?}, step {step}, clip {clip}");
                    let alone = net
                        .clipped_difference_share_exact(&new, &old, &batch, share, &mut work)
                        .unwrap();
                    let squares: u128 =
                        alone.steps.iter().map(|x| u128::from(x.unsigned_abs()).pow(2)).sum();
                    assert!(squares as f64 <= most * most, "{about}: {squares} beyond {most}²");
                    counted += usize::from(squares > 0);
                    expected.iter_mut().zip(&alone.steps).for_each(|(sum, one)| *sum += one);
                    for sum in [
                        net.clipped_difference_sum(&new, &old, &batch, clip, &mut work).unwrap(),
                        net.clipped_sum(&new, &batch, clip, &mut work).unwrap(),
                    ] {
                        let long = length(&sum.sum);
                        assert!(long <= clip * (1.0 + 1e-5), "{about}, float: {long}");
                    }
                }
                let batch = examples.all(&net);
                let whole = net
                    .clipped_difference_share_exact(&new, &old, &batch, share, &mut work)
                    .unwrap();
                assert_eq!(whole.steps, expected, "{name}, {pair:?}, step {step}, clip {clip}");
            }
        }
    }
    assert!(counted > 1000, "{counted} terms are not 0");
}

/// Inputs of 1e-33 and derivatives of 1e33, whose product with the steps per 1 is beyond `f32`: the sum
/// is the difference of the gradients.
#[test]
fn what_is_beyond_f32_on_the_way_is_the_difference_all_the_same() {
    let (_, net) = between().remove(0);
    let mut beyond = 0;
    for seed in 0..20 {
        let new = scaled(&net, seed, (1e-33, 1e33));
        let old = moved(&net, &new, seed + 40, 1e-3);
        let examples = Examples::new(&net, 6, seed, 1.0);
        let share = ScaledClip { clip: 0.1, share: 0.9, grid: privet_nn::grid(0.19) };
        let pairs = singles(&net, &new, &examples).into_iter().zip(singles(&net, &old, &examples));
        for (index, (now, then)) in pairs.enumerate() {
            let wanted: Vec<f64> = now.iter().zip(then).map(|(x, y)| x - y).collect();
            let size = length(&wanted);
            let batch = examples.one(&net, index);
            let actual = net
                .clipped_difference_share_exact(&new, &old, &batch, share, &mut Workspace::new())
                .unwrap();
            let clipped = 0.9 * (share.clip / size).min(1.0);
            // Gradients for either sign of the output are 0: a softmax of 1e33 has derivative 0 where it
            // is right.
            let derivative = now.iter().fold(0.0_f64, |most, x| most.max(x.abs()));
            beyond += usize::from(derivative > 1e30 && size > 0.0);
            for (&steps, wanted) in actual.steps.iter().zip(&wanted) {
                let gap = (steps as f64 * share.grid - clipped * wanted).abs();
                // Rounding of subtracted `f32` gradients of equal size, and one grid step.
                let room = 1e-3 * share.clip + 2.0 * share.grid;
                assert!(gap <= room, "seed {seed}, example {index}: {steps} steps for {wanted}");
            }
        }
    }
    assert!(beyond > 10, "{beyond} such records");
}
