//! Examples per second of the papers' network for handwritten digits: plain, clipped, exact, a clipped
//! difference.
//!
//! `cargo run --release -p privet-nn --example race [-- BATCH STEPS]`

use privet_nn::{Batch, Description, Net, Targets, Workspace};
use std::time::Instant;

const DIGITS: &str = include_str!("digits.toml");

fn main() {
    let mut arguments = std::env::args().skip(1).map(|text| text.parse().expect("a whole number"));
    let batch: usize = arguments.next().unwrap_or(256);
    let steps: usize = arguments.next().unwrap_or(100);
    for activation in ["relu", "tanh"] {
        let written = DIGITS.replace("\"relu\"", &format!("{activation:?}"));
        let description: Description = toml::from_str(&written).expect("a description");
        race(&Net::new(&description).expect("a net"), activation, batch, steps);
    }
}

fn race(net: &Net, activation: &str, batch: usize, steps: usize) {
    // Synthetic digits: the time does not depend on their values.
    let inputs: Vec<f32> =
        (0..batch * net.inputs()).map(|i| ((i * 7919) % 1009) as f32 / 1009.0).collect();
    let classes: Vec<u32> = (0..batch).map(|i| (i % net.outputs()) as u32).collect();
    let examples = Batch::all(&inputs, Targets::Classes(&classes));
    let weights = net.initial(1);
    let old = net.initial(2);
    let mut work = Workspace::new();
    let mut measure = |name: &str, step: &mut dyn FnMut(&mut Workspace)| {
        (0..5).for_each(|_| step(&mut work));
        let mut times: Vec<f64> = (0..steps)
            .map(|_| {
                let start = Instant::now();
                step(&mut work);
                start.elapsed().as_secs_f64()
            })
            .collect();
        times.sort_by(f64::total_cmp);
        let (middle, best) = (times[steps / 2], times[steps / 20]);
        println!(
            "{activation} {name}: {:.0} examples/s (median), {:.0} (best twentieth)",
            batch as f64 / middle,
            batch as f64 / best
        );
    };
    measure("forward", &mut |work| {
        net.predict(&weights, &inputs, work).expect("a batch");
    });
    measure("plain", &mut |work| {
        net.plain_sum(&weights, &examples, work).expect("a batch");
    });
    measure("clipped", &mut |work| {
        net.clipped_sum(&weights, &examples, 1.0, work).expect("a batch");
    });
    measure("exact", &mut |work| {
        net.clipped_sum_exact(&weights, &examples, 1.0, work).expect("a batch");
    });
    measure("difference", &mut |work| {
        net.clipped_difference_sum(&weights, &old, &examples, 0.1, work).expect("a batch");
    });
}
