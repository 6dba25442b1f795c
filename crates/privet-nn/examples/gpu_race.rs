//! Examples per second on an NVIDIA device, plain and clipped, after a check against the processor.
//!
//! `cargo run --release -p privet-nn --features gpu --example gpu_race [-- STEPS]`

use privet_nn::gpu::Device;
use privet_nn::{Batch, Description, Net, Targets, Workspace};
use std::time::Instant;

const DIGITS: &str = include_str!("digits.toml");
/// A network with every kind of layer, for the check.
const OTHER: &str = r#"
    input = { channels = 3, height = 11, width = 9 }
    layers = [
        { kind = "conv", out = 8, kernel = 3, stride = 2, padding = 1, frozen = true },
        { kind = "tanh" },
        { kind = "conv", out = 12, kernel = 2 },
        { kind = "group-norm", groups = 3 },
        { kind = "relu" },
        { kind = "average-pool", size = 2, stride = 1 },
        { kind = "flatten" },
        { kind = "linear", out = 7 },
        { kind = "tanh" },
        { kind = "linear", out = 5 },
    ]
"#;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let steps: usize = std::env::args().nth(1).map_or(Ok(200), |text| text.parse())?;
    let device = Device::open(0)?;
    println!("device: {}", device.name());
    for (written, scale) in [(OTHER, 1.0), (DIGITS, 1.0), (DIGITS, 30.0)] {
        check(&device, &Net::new(&toml::from_str::<Description>(written)?)?, scale)?;
    }
    let net = Net::new(&toml::from_str::<Description>(DIGITS)?)?;
    for batch in [256, 2048, 16384] {
        race(&device, &net, batch, steps)?;
    }
    Ok(())
}

fn made_up(net: &Net, count: usize, scale: f32) -> (Vec<f32>, Vec<u32>) {
    let inputs =
        (0..count * net.inputs()).map(|i| scale * ((i * 7919 + i / 977) % 1009) as f32 / 1009.0);
    (inputs.collect(), (0..count).map(|i| (i % net.outputs()) as u32).collect())
}

/// Compares the device's sums with the processor's.
fn check(device: &Device, net: &Net, scale: f32) -> Result<(), Box<dyn std::error::Error>> {
    let (mut inputs, classes) = made_up(net, 300, scale);
    // An example that contributes nothing when clipped.
    inputs[5 * net.inputs()] = f32::NAN;
    let weights = net.initial(3);
    let table = device.table(net, &inputs, Targets::Classes(&classes))?;
    let mut trainer = device.trainer(net)?;
    let rows: Vec<u32> = (0..300).collect();
    let distance = |left: &[f64], right: &[f64]| {
        let squares =
            |pairs: &mut dyn Iterator<Item = f64>| pairs.map(|x| x * x).sum::<f64>().sqrt();
        squares(&mut left.iter().zip(right).map(|(x, y)| x - y))
            / squares(&mut right.iter().copied())
    };
    let mut work = Workspace::new();
    for clip in [1e-3, 1.0, 100.0] {
        let batch = Batch::all(&inputs, Targets::Classes(&classes));
        let expected = net.clipped_sum(&weights, &batch, clip, &mut work)?.sum;
        let actual = trainer.clipped_sum(&weights, &table, &rows, clip)?.sum;
        println!(
            "clip {clip}: the device is within {:.1e} of the processor",
            distance(&actual, &expected)
        );
        assert!(distance(&actual, &expected) < 1e-4);
    }
    let rest: Vec<u32> = (6..300).collect();
    let batch = Batch::chosen(&inputs, Targets::Classes(&classes), &rest);
    let expected = net.plain_sum(&weights, &batch, &mut work)?;
    let actual = trainer.plain_sum(&weights, &table, &rest)?;
    println!("plain: the device is within {:.1e} of the processor", distance(&actual, &expected));
    assert!(distance(&actual, &expected) < 1e-4);
    for row in 0..20 {
        let actual = trainer.clipped_sum(&weights, &table, &[row], 1e-3)?.sum;
        let long = actual.iter().map(|x| x * x).sum::<f64>().sqrt();
        assert!(long <= 1e-3 && (row == 5) == (long == 0.0), "row {row}: {long}");
    }
    Ok(())
}

fn race(
    device: &Device,
    net: &Net,
    batch: usize,
    steps: usize,
) -> Result<(), Box<dyn std::error::Error>> {
    let (inputs, classes) = made_up(net, batch, 1.0);
    let table = device.table(net, &inputs, Targets::Classes(&classes))?;
    let mut trainer = device.trainer(net)?;
    let rows: Vec<u32> = (0..batch as u32).collect();
    let mut plain = f64::NAN;
    for clipped in [false, true] {
        // Weights are copied to the device and the sum back in every step, as in training.
        let mut weights = net.initial(1);
        let mut times = Vec::new();
        for _ in 0..steps + 5 {
            let start = Instant::now();
            let sum = if clipped {
                trainer.clipped_sum(&weights, &table, &rows, 1.0)?.sum
            } else {
                trainer.plain_sum(&weights, &table, &rows)?
            };
            for (weight, derivative) in weights.iter_mut().zip(&sum) {
                *weight -= (0.05 / batch as f64 * derivative) as f32;
            }
            times.push(start.elapsed().as_secs_f64());
        }
        times.sort_by(f64::total_cmp);
        let middle = times[times.len() / 2];
        let rate = batch as f64 / middle;
        if clipped {
            println!(
                "batch {batch}, clipped: {rate:.0} examples/s, {:.2} of the plain step's time",
                plain / rate
            );
        } else {
            plain = rate;
            println!("batch {batch}, plain: {rate:.0} examples/s");
        }
    }
    Ok(())
}
