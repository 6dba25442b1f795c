//! Draws per second on one core, one JSON object a line:
//! `{"sampler": …, "scale": …, "draws_per_second": …}`. The race script
//! `privet-bench/peers/samplers_opendp.py` prints the same lines for OpenDP.
//!
//! Run with `cargo bench --profile dev -p privet-dp --bench samplers` (the workspace's one profile).
//! Vector interface, 65,536 draws a call (ℓ2-Laplace: vectors of 100), best of seven rounds.

use privet_dp::noise::{DiscreteGaussian, DiscreteLaplace, L2Laplace, Source, SystemRandom};
use std::{hint::black_box, time::Instant};

const DRAWS: usize = 1 << 16;
const CALLS: usize = 16;

/// Best rate of seven rounds, `DRAWS` numbers a call.
fn measure(sampler: &str, scale: f64, mut call: impl FnMut()) {
    let rate = (0..7)
        .map(|_| {
            let start = Instant::now();
            (0..CALLS).for_each(|_| call());
            (DRAWS * CALLS) as f64 / start.elapsed().as_secs_f64()
        })
        .fold(0.0, f64::max);
    println!(r#"{{"sampler":"{sampler}","scale":{scale},"draws_per_second":{rate:.0}}}"#);
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut source = SystemRandom::new()?;
    let mut words = vec![0_u64; DRAWS];
    measure("chacha20-words", 1.0, || source.fill_words(black_box(&mut words)));
    let mut integers = vec![0_i64; DRAWS];
    for power in [0, 4, 10, 20, 40] {
        let scale = 2_f64.powi(power);
        let law = DiscreteGaussian::new(scale)?;
        measure("discrete-gaussian", scale, || law.fill(black_box(&mut integers), &mut source));
    }
    for power in [0, 4, 10, 20, 40] {
        let scale = 2_f64.powi(power);
        let law = DiscreteLaplace::new(scale)?;
        measure("discrete-laplace", scale, || law.fill(black_box(&mut integers), &mut source));
    }
    let mut reals = vec![0.0; DRAWS];
    let law = L2Laplace::new(1.0)?;
    measure("l2-laplace-100", 1.0, || {
        black_box(&mut reals).chunks_mut(100).for_each(|vector| law.fill(vector, &mut source));
    });
    Ok(())
}
