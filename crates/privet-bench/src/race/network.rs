//! Training steps of the papers' net for handwritten digits, beside Opacus in each of its modes and
//! torch alone.
//!
//! All entrants have the same net, batch, clip and number of threads, and generated digits. A step is
//! gradient, clipping, noise, update; privet's noise is a draw of the exact discrete Gaussian for each
//! weight, the peer's one of torch's.

use super::environment::{Environment, Rival};
use super::turns::{self, Entrant, Opponent, RoundSeconds};
use super::{Emit, Settings};
use crate::error::BenchError;
use privet_dp::noise::{DiscreteGaussian, SystemRandom};
use privet_nn::{Batch, DIGITS, Description, Net, Targets, Workspace};
use serde_json::{Value, json};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

const RACE: &str = "network";
const BATCH: usize = 256;
const THREADS: usize = 2;
const CLIP: f64 = 1.0;
const STEP: f64 = 0.05;
/// A turn of ours, and of the peer.
const TURN_TIME: Duration = Duration::from_secs(2);
const LIMIT: Duration = Duration::from_secs(120);

/// The kinds of our step.
const OURS: [&str; 5] =
    ["plain", "clipped", "clipped, noise", "clipped, exact", "clipped, exact, noise"];
/// The kinds of the peer's step: its name, mode, and noise.
const PEER: [(&str, &str, f64); 5] = [
    ("plain", "plain", 0.0),
    ("hooks, noise", "hooks", 1.0),
    ("ghost, noise", "ghost", 1.0),
    ("ew, noise", "ew", 1.0),
    ("functorch, noise", "functorch", 1.0),
];

/// Our side: weights, workspace and noise.
struct Training {
    net: Net,
    inputs: Vec<f32>,
    classes: Vec<u32>,
    weights: Vec<f32>,
    work: Workspace,
    noise: Vec<i64>,
    law: DiscreteGaussian,
    source: SystemRandom,
}

impl Training {
    fn new() -> Result<Self, BenchError> {
        let description: Description = toml::from_str(DIGITS).expect("part of the program");
        let net = Net::new(&description).expect("part of the program");
        let inputs = (0..BATCH * net.inputs()).map(|place| (place * 7919 % 1009) as f32 / 1009.0);
        Ok(Self {
            inputs: inputs.collect(),
            classes: (0..BATCH).map(|place| (place % net.outputs()) as u32).collect(),
            weights: net.initial(1),
            work: Workspace::new(),
            noise: vec![0; net.trainable()],
            // In steps of the exact sum's grid.
            law: DiscreteGaussian::new(CLIP / privet_nn::grid(CLIP))?,
            source: SystemRandom::new()?,
            net,
        })
    }

    fn step(&mut self, mode: &str) {
        let batch = Batch::all(&self.inputs, Targets::Classes(&self.classes));
        let (net, work) = (&self.net, &mut self.work);
        let grid = privet_nn::grid(CLIP);
        let mut sum = match mode {
            "plain" => net.plain_sum(&self.weights, &batch, work),
            mode if mode.contains("exact") => net
                .clipped_sum_exact(&self.weights, &batch, CLIP, work)
                .map(|sum| sum.steps.iter().map(|&steps| steps as f64 * grid).collect()),
            _ => net.clipped_sum(&self.weights, &batch, CLIP, work).map(|sum| sum.sum),
        }
        .expect("the batch fits the net");
        if mode.contains("noise") {
            self.law.fill(&mut self.noise, &mut self.source);
            for (value, &noise) in sum.iter_mut().zip(&self.noise) {
                *value += noise as f64 * grid;
            }
        }
        for (weight, slope) in self.weights.iter_mut().zip(&sum) {
            *weight -= (STEP / BATCH as f64 * slope) as f32;
        }
    }

    /// The fastest step of a turn.
    fn turn(&mut self, mode: &str, turn: Duration) -> Value {
        self.step(mode);
        let (begin, mut fastest) = (Instant::now(), f64::INFINITY);
        while fastest.is_infinite() || begin.elapsed() < turn {
            let start = Instant::now();
            self.step(mode);
            fastest = fastest.min(start.elapsed().as_secs_f64());
        }
        json!({ "seconds": fastest })
    }
}

/// Runs the race.
pub fn run(
    settings: &Settings,
    environment: &Environment,
    emit: Emit<'_>,
) -> Result<(), BenchError> {
    let (rounds, turn) = if settings.quick { (1, Duration::ZERO) } else { (4, TURN_TIME) };
    let pool = rayon::ThreadPoolBuilder::new().num_threads(THREADS).build();
    let pool = pool.map_err(|error| {
        BenchError::on_path(std::path::Path::new("threads"))(std::io::Error::other(error))
    })?;
    let script = (Rival::Opacus, "network.py");
    let opponent = Opponent::start(RACE, environment, script, vec![], LIMIT, emit)?;
    let training = Mutex::new(Training::new()?);
    let known = |mode: &str| json!({ "mode": mode, "batch": BATCH, "threads": THREADS });
    let mut entrants = Vec::new();
    for mode in OURS {
        let work = || {
            Ok(pool.install(|| {
                training.lock().unwrap_or_else(PoisonError::into_inner).turn(mode, turn)
            }))
        };
        entrants.push(Entrant::new("privet", rounds, known(mode), work));
    }
    for (mode, asked, noise) in PEER.into_iter().filter(|_| opponent.is_some()) {
        let Some(peer) = &opponent else { continue };
        let who =
            if mode == "plain" { format!("torch {}", peer.version("torch")) } else { peer.name() };
        let question = json!({ "mode": asked, "batch": BATCH, "threads": THREADS, "noise": noise });
        entrants.push(Entrant::new(who, rounds, known(mode), move || peer.ask(&question)));
    }
    let measured = |answers: &[Value]| {
        let seconds = RoundSeconds::of(answers).fastest();
        json!({ "seconds": seconds, "examples_per_second": (BATCH as f64 / seconds).round() })
    };
    turns::take(RACE, entrants, measured, emit)
}
