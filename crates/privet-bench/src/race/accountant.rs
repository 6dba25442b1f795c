//! How long it takes to say what an event costs, beside dp-accounting.
//!
//! Each question is an event and a budget; the peer is sent the event as privet writes it.

use super::environment::{Environment, Rival};
use super::{RaceError, Settings, Times, line, notice, number};
use crate::error::BenchError;
use crate::line::Line;
use privet_core::{Budget, Neighbours, Unit};
use privet_dp::account::{self, Cost, Event};
use serde_json::json;
use std::time::{Duration, Instant};

/// Answers of ours for each question; the fastest and the median count.
const ROUNDS: usize = 9;
/// Answers of the peer, which takes its turn in the first rounds.
const PEER_ROUNDS: usize = 3;
/// Beyond so many seconds on one question, the peer has no further turn.
const PEER_SECONDS: f64 = 20.0;
/// The peer's discretisations: its default, and a finer one.
const STEPS: [f64; 2] = [1e-4, 1e-5];
const LIMIT: Duration = Duration::from_secs(600);
const SCRIPT: &str = "accountant.py";
/// δ of every question.
const DELTA: f64 = 1e-5;

/// What is asked.
enum Question {
    /// The ε of an event.
    Epsilon(Event),
    /// The noise scale at which an event meets this ε.
    Noise(f64, fn(f64) -> Event),
}

/// A name, and what is asked.
fn questions() -> Vec<(&'static str, Question)> {
    let (added, replaced) = (Neighbours::AddRemove, Neighbours::ReplaceOne);
    let sampled = |neighbours, rate, scale, count| {
        Question::Epsilon(repeated(neighbours, count, poisson(rate, scale)))
    };
    vec![
        ("sampled Gaussian, q = 0.01, σ = 1, 10³ uses", sampled(added, 0.01, 1.0, 1_000)),
        ("sampled Gaussian, q = 0.01, σ = 1, 10⁴ uses", sampled(added, 0.01, 1.0, 10_000)),
        ("sampled Gaussian, q = 0.001, σ = 1, 10⁵ uses", sampled(added, 0.001, 1.0, 100_000)),
        (
            "sampled Gaussian, q = 0.01, σ = 1, 10⁴ uses, replaced",
            sampled(replaced, 0.01, 1.0, 10_000),
        ),
        ("Laplace 0.1, 100 uses", Question::Epsilon(repeated(added, 100, laplace(0.1)))),
        (
            "20 × Gaussian 0.1, 20 × Laplace 0.1, Laplace 0.5",
            Question::Epsilon(Event::All(vec![
                repeated(added, 20, gaussian(0.1)),
                repeated(added, 20, laplace(0.1)),
                repeated(added, 1, laplace(0.5)),
            ])),
        ),
        (
            "σ for ε = 2: q = 0.01, 10³ uses",
            Question::Noise(2.0, |scale| {
                repeated(Neighbours::AddRemove, 1_000, poisson(0.01, scale))
            }),
        ),
        (
            "σ for ε = 1: q = 0.001, 10⁴ uses",
            Question::Noise(1.0, |scale| {
                repeated(Neighbours::AddRemove, 10_000, poisson(0.001, scale))
            }),
        ),
    ]
}

fn repeated(neighbours: Neighbours, count: u32, cost: Cost) -> Event {
    let event = Event::Use { neighbours, unit: Unit::Record, cost };
    Event::Repeat { count, event: Box::new(event) }
}

fn poisson(rate: f64, noise_scale: f64) -> Cost {
    Cost::PoissonGaussian { rate, sensitivity: 1.0, noise_scale, grid: None }
}

fn gaussian(sensitivity: f64) -> Cost {
    Cost::Gaussian { sensitivity, noise_scale: 1.0, grid: None }
}

fn laplace(sensitivity: f64) -> Cost {
    Cost::Laplace { sensitivity, noise_scale: 1.0, step: None }
}

/// Our answer.
fn answer(question: &Question) -> Result<f64, RaceError> {
    Ok(match question {
        Question::Epsilon(event) => account::epsilon(event, DELTA)?,
        Question::Noise(epsilon, event_for) => {
            account::calibrate(&Budget::new(*epsilon, DELTA)?, 0.1..=100.0, event_for)?
        }
    })
}

/// Runs the race.
pub fn run(
    settings: &Settings,
    environment: &Environment,
    emit: &mut dyn FnMut(Line) -> Result<(), BenchError>,
) -> Result<(), BenchError> {
    let rounds = if settings.quick { 1 } else { ROUNDS };
    let mut peer = environment.start(Rival::DpAccounting, SCRIPT, &[])?;
    for (name, question) in questions() {
        // Ours once beforehand: the peer is asked about the noise scale that was found.
        let value = answer(&question)?;
        let (event, epsilon) = match &question {
            Question::Epsilon(event) => (event.clone(), None),
            Question::Noise(epsilon, event_for) => (event_for(value), Some(*epsilon)),
        };
        let mut ours = Times::default();
        let mut theirs = STEPS.map(|step| (step, Times::default(), f64::NAN));
        let mut failed = None;
        for round in 0..rounds {
            let started = Instant::now();
            answer(&question)?;
            ours.push(started.elapsed().as_secs_f64());
            for (step, times, found) in theirs.iter_mut().filter(|_| round < PEER_ROUNDS) {
                let Some(peer) = peer.as_mut().filter(|_| times.total() < PEER_SECONDS) else {
                    continue;
                };
                let asked = json!({
                    "event": event, "epsilon": epsilon, "delta": DELTA, "step": *step,
                });
                match peer.ask(&asked, LIMIT) {
                    Ok(answer) => {
                        times.push(number(&answer, "seconds"));
                        *found = number(&answer, "answer");
                    }
                    Err(error) => failed = failed.or(Some(error)),
                }
            }
        }
        emit(line(
            "accountant",
            "privet",
            json!({
                "question": name, "event": event, "epsilon": epsilon, "delta": DELTA, "answer": value,
                "seconds": ours.fastest(), "median_seconds": ours.median(),
            }),
        ))?;
        for (step, times, found) in theirs.iter().filter(|(.., found)| found.is_finite()) {
            let version = peer.as_ref().map_or("unknown", |peer| peer.version("dp-accounting"));
            emit(line(
                "accountant",
                &format!("dp-accounting {version}, step {step:e}"),
                json!({
                    "question": name, "answer": found,
                    "seconds": times.fastest(), "median_seconds": times.median(),
                }),
            ))?;
            eprintln!("race: {name}: {:.0} times as long", times.fastest() / ours.fastest());
        }
        if let Some(error) = failed {
            emit(notice("accountant", Rival::DpAccounting.name(), &error.to_string()))?;
            peer = environment.start(Rival::DpAccounting, SCRIPT, &[])?;
        }
    }
    Ok(())
}
