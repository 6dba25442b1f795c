//! Time to compute the cost of an event, beside dp-accounting.
//!
//! Each question is an event and a budget; the peer receives the event as privet writes it.

use super::environment::{Environment, Rival};
use super::turns::{self, Entrant, Opponent, RoundSeconds};
use super::{Emit, Settings, number};
use crate::error::BenchError;
use privet_core::{Budget, Neighbours, Unit};
use privet_dp::account::{self, Cost, Event};
use serde_json::{Value, json};
use std::time::{Duration, Instant};

/// Answers of ours for each question; the fastest and the median count.
const ROUNDS: usize = 9;
/// Answers of the peer, which takes its turn in the first rounds.
const PEER_ROUNDS: usize = 3;
/// The peer's discretisations: its default, and a finer one.
const STEPS: [f64; 2] = [1e-4, 1e-5];
const LIMIT: Duration = Duration::from_secs(600);
const RACE: &str = "accountant";
/// δ of every question.
const DELTA: f64 = 1e-5;

/// A question.
enum Query {
    /// The ε of an event.
    Epsilon(Event),
    /// The noise scale at which an event meets this ε.
    Noise(f64, fn(f64) -> Event),
}

/// The questions by name.
fn questions() -> Vec<(&'static str, Query)> {
    let (added, replaced) = (Neighbours::AddRemove, Neighbours::ReplaceOne);
    let sampled = |neighbours, rate, scale, count| {
        Query::Epsilon(repeated(neighbours, count, poisson(rate, scale)))
    };
    vec![
        ("sampled Gaussian, q = 0.01, σ = 1, 10³ uses", sampled(added, 0.01, 1.0, 1_000)),
        ("sampled Gaussian, q = 0.01, σ = 1, 10⁴ uses", sampled(added, 0.01, 1.0, 10_000)),
        ("sampled Gaussian, q = 0.001, σ = 1, 10⁵ uses", sampled(added, 0.001, 1.0, 100_000)),
        (
            "sampled Gaussian, q = 0.01, σ = 1, 10⁴ uses, replaced",
            sampled(replaced, 0.01, 1.0, 10_000),
        ),
        ("Laplace 0.1, 100 uses", Query::Epsilon(repeated(added, 100, laplace(0.1)))),
        (
            "20 × Gaussian 0.1, 20 × Laplace 0.1, Laplace 0.5",
            Query::Epsilon(Event::All(vec![
                repeated(added, 20, gaussian(0.1)),
                repeated(added, 20, laplace(0.1)),
                repeated(added, 1, laplace(0.5)),
            ])),
        ),
        (
            "σ for ε = 2: q = 0.01, 10³ uses",
            Query::Noise(2.0, |scale| repeated(Neighbours::AddRemove, 1_000, poisson(0.01, scale))),
        ),
        (
            "σ for ε = 1: q = 0.001, 10⁴ uses",
            Query::Noise(1.0, |scale| {
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
fn answer(question: &Query) -> Result<f64, BenchError> {
    Ok(match question {
        Query::Epsilon(event) => account::epsilon(event, DELTA)?,
        Query::Noise(epsilon, event_for) => {
            account::calibrate(&Budget::new(*epsilon, DELTA)?, 0.1..=100.0, event_for)?
        }
    })
}

/// Runs the race.
pub fn run(
    settings: &Settings,
    environment: &Environment,
    emit: Emit<'_>,
) -> Result<(), BenchError> {
    let [rounds, peer_rounds] = if settings.quick { [1, 1] } else { [ROUNDS, PEER_ROUNDS] };
    let script = (Rival::DpAccounting, "accountant.py");
    let opponent = Opponent::start(RACE, environment, script, vec![], LIMIT, emit)?;
    for (name, question) in questions() {
        // Ours once beforehand: the peer's question contains the noise scale found.
        let (event, epsilon) = match &question {
            Query::Epsilon(event) => (event.clone(), None),
            Query::Noise(epsilon, event_for) => (event_for(answer(&question)?), Some(*epsilon)),
        };
        let asked = json!({ "event": event, "epsilon": epsilon, "delta": DELTA });
        let mut known = asked.clone();
        known["question"] = json!(name);
        let mut entrants = vec![Entrant::new("privet", rounds, known, || {
            let started = Instant::now();
            let answer = answer(&question)?;
            Ok(json!({ "answer": answer, "seconds": started.elapsed().as_secs_f64() }))
        })];
        for (peer, step) in opponent.iter().flat_map(|peer| STEPS.map(|step| (peer, step))) {
            let mut asked = asked.clone();
            asked["step"] = json!(step);
            let who = format!("{}, step {step:e}", peer.name());
            let known = json!({ "question": name });
            entrants.push(Entrant::new(who, peer_rounds, known, move || peer.ask(&asked)));
        }
        let measured = |answers: &[Value]| {
            let times = RoundSeconds::of(answers);
            json!({
                "answer": answers.last().map(|last| number(last, "answer")),
                "seconds": times.fastest(), "median_seconds": times.median(),
            })
        };
        turns::take(RACE, entrants, measured, emit)?;
    }
    Ok(())
}
