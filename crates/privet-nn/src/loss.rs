//! The losses of one example, and their derivatives at the outputs.

use crate::batch::{Batch, Targets};
use crate::description::Loss;

/// Returns the loss of example `index` with these outputs; writes its derivatives at the outputs if a
/// buffer is given. An example whose class the network does not have has loss 0 and derivatives 0.
pub(crate) fn loss_and_slopes(
    loss: Loss,
    batch: &Batch,
    index: usize,
    outputs: &[f32],
    slopes: Option<&mut [f32]>,
) -> f64 {
    let row = batch.row(index);
    match (loss, batch.targets()) {
        (Loss::CrossEntropy, Targets::Classes(classes)) => {
            cross_entropy(classes[row] as usize, outputs, slopes)
        }
        (_, Targets::Values(values)) => {
            let wanted = &values[row * outputs.len()..(row + 1) * outputs.len()];
            let one = if loss == Loss::Squared { squared } else { logistic };
            each(outputs, wanted, slopes, one)
        }
        (_, Targets::Classes(_)) => unreachable!("the batch was checked"),
    }
}

fn cross_entropy(class: usize, outputs: &[f32], slopes: Option<&mut [f32]>) -> f64 {
    if class >= outputs.len() {
        if let Some(slopes) = slopes {
            slopes.fill(0.0);
        }
        return 0.0;
    }
    let largest = outputs.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let share = |output: f32| (f64::from(output) - f64::from(largest)).exp();
    let total: f64 = outputs.iter().map(|&output| share(output)).sum();
    if let Some(slopes) = slopes {
        for (slope, &output) in slopes.iter_mut().zip(outputs) {
            *slope = (share(output) / total) as f32;
        }
        slopes[class] -= 1.0;
    }
    total.ln() + f64::from(largest) - f64::from(outputs[class])
}

fn each(
    outputs: &[f32],
    wanted: &[f32],
    slopes: Option<&mut [f32]>,
    one: fn(f64, f64) -> (f64, f64),
) -> f64 {
    let pairs =
        || outputs.iter().zip(wanted).map(|(&output, &value)| one(output.into(), value.into()));
    if let Some(slopes) = slopes {
        for (slope, (_, derivative)) in slopes.iter_mut().zip(pairs()) {
            *slope = derivative as f32;
        }
    }
    pairs().map(|(loss, _)| loss).sum()
}

fn squared(output: f64, target: f64) -> (f64, f64) {
    let gap = output - target;
    (0.5 * gap * gap, gap)
}

fn logistic(output: f64, target: f64) -> (f64, f64) {
    let small = (-output.abs()).exp();
    let chance = if output >= 0.0 { 1.0 / (1.0 + small) } else { small / (1.0 + small) };
    (output.max(0.0) + small.ln_1p() - target * output, chance - target)
}
