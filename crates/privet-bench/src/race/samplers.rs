//! Exact draws a second on one core, beside OpenDP's.
//!
//! Vector interface, 65,536 draws a call (ℓ2-Laplace: vectors of 100), the best of some rounds; the
//! peer draws 256 at a time, since its calls take longer ([`environment`](super::environment)).

use super::environment::{Environment, Rival};
use super::turns::{self, Entrant, Opponent};
use super::{Emit, Settings, number};
use crate::error::BenchError;
use privet_dp::noise::{DiscreteGaussian, DiscreteLaplace, L2Laplace, Source, SystemRandom};
use serde_json::{Value, json};
use std::hint::black_box;
use std::time::{Duration, Instant};

const RACE: &str = "samplers";
const DRAWS: usize = 1 << 16;
/// Scales are powers of two with these exponents.
const POWERS: [i32; 5] = [0, 4, 10, 20, 40];
const LIMIT: Duration = Duration::from_secs(60);

/// Makes [`DRAWS`] draws.
type Fill = Box<dyn FnMut(&mut SystemRandom)>;

/// A law's name and scale, and its sampler.
type Sampler = (&'static str, f64, Fill);

fn fill_draws<T: Default + Clone + 'static>(
    law: impl Fn(&mut [T], &mut SystemRandom) + 'static,
) -> Fill {
    let mut out = vec![T::default(); DRAWS];
    Box::new(move |source| law(black_box(&mut out), source))
}

fn samplers() -> Result<Vec<Sampler>, BenchError> {
    let mut all: Vec<Sampler> = vec![(
        "chacha20-words",
        1.0,
        fill_draws(|out: &mut [u64], source: &mut SystemRandom| source.fill_words(out)),
    )];
    for scale in POWERS.map(|power| 2_f64.powi(power)) {
        let law = DiscreteGaussian::new(scale)?;
        all.push((
            "discrete-gaussian",
            scale,
            fill_draws(move |out, source| law.fill(out, source)),
        ));
    }
    for scale in POWERS.map(|power| 2_f64.powi(power)) {
        let law = DiscreteLaplace::new(scale)?;
        all.push(("discrete-laplace", scale, fill_draws(move |out, source| law.fill(out, source))));
    }
    let law = L2Laplace::new(1.0)?;
    let vectors = move |out: &mut [f64], source: &mut SystemRandom| {
        out.chunks_mut(100).for_each(|vector| law.fill(vector, source));
    };
    all.push(("l2-laplace-100", 1.0, fill_draws(vectors)));
    Ok(all)
}

/// Runs the race.
pub fn run(
    settings: &Settings,
    environment: &Environment,
    emit: Emit<'_>,
) -> Result<(), BenchError> {
    let (rounds, calls) = if settings.quick { (1, 1) } else { (4, 16) };
    let mut source = SystemRandom::new()?;
    let script = (Rival::OpenDp, "samplers.py");
    let opponent = Opponent::start(RACE, environment, script, vec![], LIMIT, emit)?;
    for (name, scale, mut fill) in samplers()? {
        let asked = json!({ "sampler": name, "scale": scale });
        let mut entrants = vec![Entrant::new("privet", rounds, asked.clone(), || {
            let start = Instant::now();
            (0..calls).for_each(|_| fill(&mut source));
            let rate = (DRAWS * calls) as f64 / start.elapsed().as_secs_f64();
            Ok(json!({ "draws_per_second": rate }))
        })];
        if let Some(peer) = opponent.as_ref().filter(|_| name.starts_with("discrete")) {
            let mut known = asked.clone();
            known["peer"] = json!(peer.name());
            entrants.push(Entrant::new(peer.name(), rounds, known, || peer.ask(&asked)));
        }
        let best = |answers: &[Value]| {
            let rates = answers.iter().map(|answer| number(answer, "draws_per_second"));
            json!({ "draws_per_second": rates.fold(0.0, f64::max).round() })
        };
        turns::take(RACE, entrants, best, emit)?;
    }
    Ok(())
}
