//! Stable answers with a cutoff from a private estimate.

use crate::noise_common::{allowed_count_error, fresh};
use privet_core::{Neighbours, Unit};
use privet_dp::account::{self, Cost, Event, ThresholdNoise};
use privet_dp::gate::{Arithmetic, Private, Session, Statement};
use privet_dp::mechanism::{EstimatedAnswers, QueryAnswer, StableAnswers, WithDistance};
use privet_dp::noise::Source;
use serde_json::json;

fn alternative(cutoff: u32, noise_scale: f64) -> StableAnswers {
    StableAnswers {
        neighbours: Neighbours::AddRemove,
        unit: Unit::Record,
        law: ThresholdNoise::Exponential,
        noise_scale,
        query_ratio: 2.0,
        cutoff,
        questions: 200,
        delta: 5e-7,
    }
}

/// ε₂ = 2 by basic composition: 2/s₁ a run.
fn mechanism() -> EstimatedAnswers {
    EstimatedAnswers {
        alternatives: [(100, 1), (400, 2), (1_600, 4)]
            .map(|(limit, cutoff)| (limit, alternative(cutoff, f64::from(cutoff))))
            .to_vec(),
        sensitivity: 200,
        noise_scale: 20.0,
        answers_epsilon: 2.0,
        delta: 1e-6,
    }
}

fn heard(
    of: &EstimatedAnswers,
    estimated: i64,
    distances: &[i64],
    source: &mut dyn Source,
) -> (u32, Vec<QueryAnswer<usize>>) {
    let planned = of.event().unwrap();
    let claim = account::guarantee(&planned, 1e-6).unwrap();
    let mut session = Session::start(planned, source);
    let actual = distances
        .iter()
        .enumerate()
        .map(|(answer, distance)| WithDistance { answer, distance: *distance });
    let actual = Private::new(actual.collect());
    let noisy = of.run(Private::new(estimated), actual, &mut session).unwrap();
    let statement = Statement::new(claim, Arithmetic::Finite, json!({}));
    session.settle(noisy, statement).unwrap().into_parts().0
}

#[test]
fn the_whole_is_charged_and_an_alternative_that_costs_more_is_refused() {
    let of = mechanism();
    let Event::Use { cost: Cost::Approximate { epsilon, delta }, .. } = of.event().unwrap() else {
        panic!()
    };
    assert!((12.0..12.000_001).contains(&epsilon) && delta == 1e-6, "{epsilon} {delta}");
    let with = |answers| {
        let mut other = of.clone();
        other.alternatives.push((9_999, answers));
        other
    };
    let dear = alternative(4, 2.0);
    assert!(account::delta(&dear.event().unwrap(), 2.0).unwrap() > 1e-6);
    assert!(with(dear).event().is_err());
    let foreign = StableAnswers { neighbours: Neighbours::ReplaceOne, ..alternative(1, 4.0) };
    assert!(with(foreign).event().is_err());
    for odd in [
        EstimatedAnswers { alternatives: vec![], ..of.clone() },
        EstimatedAnswers { noise_scale: 0.0, ..of.clone() },
        EstimatedAnswers { delta: f64::NAN, ..of.clone() },
        EstimatedAnswers { answers_epsilon: f64::NAN, ..of.clone() },
    ] {
        assert!(odd.event().is_err(), "{odd:?}");
    }
}

/// The noise of scale 20 is beyond ±800 with probability below 1e-17.
#[test]
fn the_estimate_decides_and_so_many_are_unstable() {
    let of = mechanism();
    let (mut source, seed) = fresh();
    for (estimated, cutoff) in [(-900, 1), (2_600, 4), (i64::MAX, 4)] {
        let (taken, said) = heard(&of, estimated, &[0; 40], &mut source);
        assert_eq!(taken, cutoff, "seed {seed}");
        let unstable = said.iter().filter(|heard| **heard == QueryAnswer::Unstable).count();
        assert_eq!(unstable, cutoff as usize, "seed {seed}");
        let (_, said) = heard(&of, estimated, &[1_000_000; 40], &mut source);
        assert!(said.iter().all(|heard| matches!(heard, QueryAnswer::Answer(_))), "seed {seed}");
    }
}

/// The noise on the estimate has its law: at a limit of 100 the first alternative is chosen with
/// Pr[N ≤ 100 − q]. Without noise it would be chosen with certainty, or never; at half of the scale with
/// 0.07 in place of 0.19. False failure ≤ 1e-9.
#[test]
fn the_estimate_has_the_noise_that_is_charged() {
    let (mut source, seed) = fresh();
    let (of, draws) = (mechanism(), 1_500);
    let q = (-1.0 / of.noise_scale).exp();
    for (estimated, expected) in [(100, 1.0 / (1.0 + q)), (120, q.powi(20) / (1.0 + q))] {
        let taken = (0..draws).filter(|_| heard(&of, estimated, &[], &mut source).0 == 1).count();
        let off = (taken as f64 - draws as f64 * expected).abs();
        assert!(
            off <= allowed_count_error(draws, expected, 2),
            "{estimated}: {taken}, seed {seed}"
        );
        assert!(allowed_count_error(draws, expected, 2) < 0.12 * draws as f64, "no power");
    }
}
