//! Our side of the accountant race: how long it takes to say what an event costs.
//!
//! Each question is an event and a budget, printed with its answer as one JSON line, so that the peer
//! (`peers/accountant.py`) is asked the very same thing.

use privet_core::{Budget, Neighbours, Unit};
use privet_dp::account::{self, Cost, Event};
use serde_json::json;
use std::error::Error;
use std::time::Instant;

/// Answers timed for each question; the fastest and the median are printed.
const ROUNDS: usize = 9;
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

/// Answers every question several times and prints a line each.
pub fn run() -> Result<(), Box<dyn Error>> {
    for (name, question) in questions() {
        let mut seconds = Vec::new();
        let mut answer = f64::NAN;
        for _ in 0..ROUNDS {
            let started = Instant::now();
            answer = match &question {
                Question::Epsilon(event) => account::epsilon(event, DELTA)?,
                Question::Noise(epsilon, event_for) => {
                    account::calibrate(&Budget::new(*epsilon, DELTA)?, 0.1..=100.0, event_for)?
                }
            };
            seconds.push(started.elapsed().as_secs_f64());
        }
        seconds.sort_by(f64::total_cmp);
        let (event, epsilon) = match &question {
            Question::Epsilon(event) => (event.clone(), None),
            Question::Noise(epsilon, event_for) => (event_for(answer), Some(*epsilon)),
        };
        let line = json!({
            "race": "accountant",
            "who": "privet",
            "question": name,
            "event": event,
            "epsilon": epsilon,
            "delta": DELTA,
            "answer": answer,
            "seconds": seconds[0],
            "median_seconds": seconds[ROUNDS / 2],
        });
        println!("{line}");
    }
    Ok(())
}
