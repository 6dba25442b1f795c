//! Half of the rows private, half public: Table 3.2 of Wang (PhD thesis, 2021) on generated rows in
//! place of E2006, which is not available. 8,044 private and 8,043 public rows of 25,000 columns, 1,000
//! of which matter, δ = 10⁻⁵.
//!
//! R² on 3,000 other rows of `dpsl-kt` by both teachers, of `dp-ight`, which ignores the public half,
//! and of a fit of the private half without noise; and ‖θ̂ − θ*‖/‖θ*‖.
//!
//! `cargo run --release -p privet-bench --example public_half [RUNS] [SHARE]`; a SHARE below 1 makes
//! everything smaller.

use privet_catalog::synth::Text;
use privet_core::{Budget, Neighbours};
use privet_data::encode::Encoding;
use privet_data::{Dataset, Schema, read};
use privet_dp::noise::FixedSeed;
use privet_learn::linear::model::{Model, Predictions};
use privet_learn::linear::public_norm::norm_bound;
use privet_learn::{Erm, Method, Request, plan};
use privet_optim::loss::Loss;
use std::error::Error;
use std::fmt::Write as _;
use std::sync::atomic::AtomicBool;

const EPSILONS: [f64; 3] = [1.0, 5.0, 10.0];

struct World {
    schema: Schema,
    truth: Vec<f64>,
    private: Dataset,
    public: Dataset,
    held_out: Dataset,
}

fn world(share: f64, seed: u64) -> Result<World, Box<dyn Error>> {
    let part = |count: f64| (count * share).round().max(50.0) as usize;
    let law = Text {
        features: part(25_000.0),
        informative: part(1_000.0),
        entries: 100.min(part(25_000.0) / 4),
        noise: 0.25,
        seed,
    };
    let schema = Schema::from_toml(&format!(
        "[file]\nformat = \"libsvm\"\n[libsvm]\nfeatures = {}\nbounds = [0, 1]\n[target]\nbounds = [-4, 4]\n",
        law.features
    ))?;
    let mut records = law.records();
    let truth = records.weights().to_vec();
    let mut record = Vec::new();
    let mut rows = |count: usize| -> Result<Dataset, Box<dyn Error>> {
        let mut text = String::new();
        for _ in 0..count {
            let value = records.next_into(&mut record).clamp(-4.0, 4.0);
            write!(text, "{value:.4}")?;
            record.iter().try_for_each(|(column, x)| write!(text, " {}:{x:.4}", column + 1))?;
            text.push('\n');
        }
        Ok(read::libsvm_bytes(text.as_bytes(), &schema.linear())?)
    };
    let (private, public, held_out) =
        (rows(part(8_044.0))?, rows(part(8_043.0))?, rows(part(3_000.0))?);
    Ok(World { schema, truth, private, public, held_out })
}

fn learned(
    world: &World,
    method: &Method,
    epsilon: f64,
    seed: u64,
) -> Result<(f64, f64), Box<dyn Error>> {
    let task = Erm { loss: Loss::SQUARED, method: method.clone() };
    let rows = world.private.rows() as u64;
    let mut request = Request::new(world.schema.linear(), rows, Neighbours::ReplaceOne, task);
    if method.is_private() {
        request = request.with_budget(Budget::new(epsilon, 1e-5)?);
    }
    let mut planned = plan(&request)?;
    if matches!(method, Method::DpslKt(_)) {
        planned = planned.with_public(&world.public.features)?;
    }
    let never = AtomicBool::new(false);
    let model =
        Model::from_release(planned.run(&world.private, &mut FixedSeed::new(seed), &never)?)?;
    let encoding = Encoding::new(&request.schema);
    let half = (encoding.decode_target(1.0) - encoding.decode_target(-1.0)) / 2.0;
    let length = world.truth.iter().map(|t| t * t).sum::<f64>();
    let gap =
        model.weights().weights[0].iter().zip(&world.truth).map(|(w, t)| (w * half - t).powi(2));
    let error = (gap.sum::<f64>() / length).sqrt();
    let Predictions::Numbers(said) = model.predict(&world.held_out.features) else {
        return Err("no numbers".into());
    };
    let privet_data::Target::Number(labels) = &world.held_out.target else {
        return Err("no numbers".into());
    };
    let true_ones: Vec<f64> = labels.iter().map(|label| encoding.decode_target(*label)).collect();
    let mean = true_ones.iter().sum::<f64>() / true_ones.len() as f64;
    let around: f64 = true_ones.iter().map(|y| (y - mean).powi(2)).sum();
    let missed: f64 = true_ones.iter().zip(&said).map(|(y, s)| (y - s).powi(2)).sum();
    Ok((1.0 - missed / around, error))
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let runs: u64 = arguments.first().map_or(Ok(1), |runs| runs.parse())?;
    let share: f64 = arguments.get(1).map_or(Ok(1.0), |share| share.parse())?;
    let world = world(share, 20_210_301)?;
    let transfer = |teacher: &str| -> Result<Method, Box<dyn Error>> {
        let method: Method = "dpsl-kt".parse()?;
        let norm = norm_bound(&world.public.features).to_string();
        Ok(method
            .with("public_rows", &world.public.rows().to_string())?
            .with("public_norm", &norm)?
            .with("teacher", teacher)?)
    };
    let methods = [
        ("dpsl-kt, noised answers", transfer("minimum")?),
        ("dpsl-kt, private teacher", transfer("private")?),
        ("dp-ight", "dp-ight".parse()?),
        ("no privacy", "non-private".parse()?),
    ];
    println!(
        "{} private and {} public rows of {} columns; R² and relative error, mean of {runs}.\n",
        world.private.rows(),
        world.public.rows(),
        world.truth.len()
    );
    let heads: Vec<String> = EPSILONS.iter().map(|epsilon| format!(" ε = {epsilon} |")).collect();
    println!("| |{}\n|---|{}", heads.concat(), "---|".repeat(EPSILONS.len()));
    for (name, method) in methods {
        let mut line = format!("| {name} |");
        for epsilon in EPSILONS {
            let (mut fit, mut gap) = (0.0, 0.0);
            for run in 0..runs {
                let (one, other) = learned(&world, &method, epsilon, run)?;
                (fit, gap) = (fit + one / runs as f64, gap + other / runs as f64);
            }
            write!(line, " {fit:.3}, {gap:.2} |")?;
        }
        println!("{line}");
    }
    Ok(())
}
