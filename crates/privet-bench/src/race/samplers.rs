//! Exact draws a second on one core, beside OpenDP's.
//!
//! Vector interface, 65,536 draws a call (ℓ2-Laplace: vectors of 100), the best of some rounds; the
//! peer draws 256 at a time, since its calls take longer ([`environment`](super::environment)).

use super::environment::{Environment, Rival};
use super::{RaceError, Settings, line, notice, number};
use crate::error::BenchError;
use crate::line::Line;
use privet_dp::noise::{DiscreteGaussian, DiscreteLaplace, L2Laplace, Source, SystemRandom};
use serde_json::json;
use std::hint::black_box;
use std::time::{Duration, Instant};

const DRAWS: usize = 1 << 16;
/// Scales are powers of two with these exponents.
const POWERS: [i32; 5] = [0, 4, 10, 20, 40];
const LIMIT: Duration = Duration::from_secs(60);

/// A sampler, ready to fill.
struct Sampler {
    name: &'static str,
    scale: f64,
    /// Makes [`DRAWS`] draws.
    fill: Box<dyn FnMut(&mut SystemRandom)>,
}

impl Sampler {
    fn integers(
        name: &'static str,
        scale: f64,
        law: impl Fn(&mut [i64], &mut SystemRandom) + 'static,
    ) -> Self {
        let mut out = vec![0_i64; DRAWS];
        Self { name, scale, fill: Box::new(move |source| law(black_box(&mut out), source)) }
    }
}

fn samplers() -> Result<Vec<Sampler>, RaceError> {
    let mut words = vec![0_u64; DRAWS];
    let mut all = vec![Sampler {
        name: "chacha20-words",
        scale: 1.0,
        fill: Box::new(move |source| source.fill_words(black_box(&mut words))),
    }];
    for scale in POWERS.map(|power| 2_f64.powi(power)) {
        let law = DiscreteGaussian::new(scale)?;
        let fill = move |out: &mut [i64], source: &mut SystemRandom| law.fill(out, source);
        all.push(Sampler::integers("discrete-gaussian", scale, fill));
    }
    for scale in POWERS.map(|power| 2_f64.powi(power)) {
        let law = DiscreteLaplace::new(scale)?;
        let fill = move |out: &mut [i64], source: &mut SystemRandom| law.fill(out, source);
        all.push(Sampler::integers("discrete-laplace", scale, fill));
    }
    let (law, mut reals) = (L2Laplace::new(1.0)?, vec![0.0; DRAWS]);
    all.push(Sampler {
        name: "l2-laplace-100",
        scale: 1.0,
        fill: Box::new(move |source| {
            black_box(&mut reals).chunks_mut(100).for_each(|vector| law.fill(vector, source));
        }),
    });
    Ok(all)
}

/// Runs the race.
pub fn run(
    settings: &Settings,
    environment: &Environment,
    emit: &mut dyn FnMut(Line) -> Result<(), BenchError>,
) -> Result<(), BenchError> {
    let (rounds, calls) = if settings.quick { (1, 1) } else { (4, 16) };
    let mut source = SystemRandom::new().map_err(RaceError::from)?;
    let mut peer = environment.start(Rival::OpenDp, "samplers.py", &[])?;
    let who = peer.as_ref().map(|peer| format!("opendp {}", peer.version("opendp")));
    for mut sampler in samplers()? {
        let (name, scale) = (sampler.name, sampler.scale);
        let (mut ours, mut theirs) = (0.0_f64, 0.0_f64);
        let mut failed = None;
        for _ in 0..rounds {
            let start = Instant::now();
            (0..calls).for_each(|_| (sampler.fill)(&mut source));
            ours = ours.max((DRAWS * calls) as f64 / start.elapsed().as_secs_f64());
            let Some(peer) = peer.as_mut().filter(|_| name.starts_with("discrete")) else {
                continue;
            };
            match peer.ask(&json!({ "sampler": name, "scale": scale }), LIMIT) {
                Ok(answer) => theirs = theirs.max(number(&answer, "draws_per_second")),
                Err(error) => failed = failed.or(Some(error)),
            }
        }
        let rate = |rate: f64| json!({ "sampler": name, "scale": scale, "draws_per_second": rate.round() });
        emit(line("samplers", "privet", rate(ours)))?;
        if let Some(who) = &who
            && theirs > 0.0
        {
            let mut measured = rate(theirs);
            measured["peer"] = json!(who);
            emit(line("samplers", who, measured))?;
        }
        eprintln!(
            "race: {name}, scale {scale}: {:.1} and {:.3} million a second",
            ours / 1e6,
            theirs / 1e6
        );
        if let Some(error) = failed {
            emit(notice("samplers", Rival::OpenDp.name(), &error.to_string()))?;
            peer = None;
        }
    }
    Ok(())
}
