//! Noise on sums of samples and after a secret order, through the gate.

use privet_core::{Neighbours, Unit};
use privet_dp::account::{self, Cost, Event};
use privet_dp::gate::{Arithmetic, GateError, Noisy, Private, Session, Statement};
use privet_dp::mechanism::{Draw, ExactCounts, Gaussian, SampledGaussian, ShuffledGaussian};
use privet_dp::noise::{FixedSeed, SystemRandom};
use serde_json::json;
use std::sync::Mutex;

const RECORDS: usize = 1000;
const POISSON: Draw = Draw::Poisson { rate: 0.1 };
const FIXED: Draw = Draw::WithoutReplacement { population: 1000, batch: 100 };

fn sampled(draw: Draw, noise_scale: f64) -> SampledGaussian {
    SampledGaussian {
        neighbours: Neighbours::ReplaceOne,
        unit: Unit::Record,
        draw,
        contribution: 2.0,
        noise_scale,
        coordinates: 1,
    }
}

fn times(count: u32, mechanism: &SampledGaussian) -> Event {
    Event::Repeat { count, event: Box::new(mechanism.event().unwrap()) }
}

/// The sample size, counted twice.
fn counted(sample: &[usize]) -> Option<Private<ExactCounts>> {
    Some(Private::new(ExactCounts { counts: vec![2 * sample.len() as i128], unit: 1.0 }))
}

fn settle<T>(session: Session<'_>, planned: &Event, noisy: Noisy<T>) -> Result<T, GateError> {
    let claim = account::guarantee(planned, 1e-6).unwrap();
    let released = session.settle(noisy, Statement::new(claim, Arithmetic::Finite, json!({})));
    Ok(released?.into_parts().0)
}

/// Both samplers settle. A size of mean 100 and deviation 9.5 counted twice, under noise of deviation 10: a
/// mean of 50 answers strays from 200 by a scale of 3; ten of those, below 1e-22.
#[test]
fn both_samplers_settle() {
    for draw in [POISSON, FIXED] {
        let mechanism = sampled(draw, 10.0);
        let planned = times(50, &mechanism);
        let mut source = SystemRandom::new().unwrap();
        let mut session = Session::start(planned.clone(), &mut source);
        let answers: Vec<_> = (0..50)
            .map(|_| mechanism.run(Private::new(RECORDS), &mut session, counted).unwrap())
            .collect();
        let answers = session.gather(answers).unwrap();
        let actual = settle(session, &planned, answers).unwrap();
        let mean = actual.iter().map(|answer| answer[0]).sum::<f64>() / 50.0;
        assert!((mean - 200.0).abs() < 30.0, "{mean}");
    }
}

/// Each sampler is charged as itself, its contribution once (Poisson) or twice (difference of two).
#[test]
fn the_event_is_that_of_the_sampler() {
    let cost = |draw| sampled(draw, 8.0).event().unwrap().single_cost().unwrap().clone();
    let Cost::PoissonGaussian { rate, sensitivity, .. } = cost(POISSON) else { panic!() };
    assert!(rate == 0.1 && (2.0..2.0 + 1e-9).contains(&sensitivity));
    let Cost::WithoutReplacementGaussian { population, batch, sensitivity, .. } = cost(FIXED)
    else {
        panic!()
    };
    assert!((population, batch) == (1000, 100) && (4.0..4.0 + 1e-9).contains(&sensitivity));
    // And the accountant amplifies: a tenth of the records costs far less than all of them.
    let epsilon = |draw| account::epsilon(&times(100, &sampled(draw, 8.0)), 1e-6).unwrap();
    let whole = Gaussian {
        neighbours: Neighbours::ReplaceOne,
        unit: Unit::Record,
        sensitivity: 4.0,
        noise_scale: 8.0,
        coordinates: 1,
    };
    let event = Event::Repeat { count: 100, event: Box::new(whole.event().unwrap()) };
    let unsampled = account::epsilon(&event, 1e-6).unwrap();
    assert!(epsilon(POISSON) < epsilon(FIXED) && epsilon(FIXED) < 0.3 * unsampled);
}

/// A plan for one sampler is refused, before anything is drawn, if another is executed; and batches cut
/// from a shuffled table, one use of the noise for each, cannot be charged as samples.
#[test]
fn another_sampler_or_a_shuffled_epoch_opens_nothing() {
    let planned = times(10, &sampled(POISSON, 4.0));
    let others =
        [sampled(FIXED, 4.0), sampled(Draw::Poisson { rate: 0.2 }, 4.0), sampled(POISSON, 3.9)];
    for other in others {
        let mut source = FixedSeed::new(1);
        let mut session = Session::start(planned.clone(), &mut source);
        let refused = other.run(Private::new(RECORDS), &mut session, counted);
        assert_eq!(refused.err(), Some(GateError::NotAsPlanned));
        assert!(!session.has_spent());
    }
    // One use too few, and one too many.
    let mut source = FixedSeed::new(1);
    let mut session = Session::start(planned.clone(), &mut source);
    let mut last = None;
    for _ in 0..9 {
        last =
            Some(sampled(POISSON, 4.0).run(Private::new(RECORDS), &mut session, counted).unwrap());
    }
    assert_eq!(settle(session, &planned, last.unwrap()).err(), Some(GateError::NotAsPlanned));
    let mut source = FixedSeed::new(1);
    let mut session = Session::start(planned.clone(), &mut source);
    let compute =
        |slots: &[usize]| Some(Private::new(vec![(slots.iter().sum::<usize>() % 2) as f64]));
    let refused = shuffled(RECORDS, 4.0).run(Private::new(RECORDS), &mut session, compute);
    assert_eq!(refused.err(), Some(GateError::NotAsPlanned));
    // Nor is there an event that a certificate could name for it.
    let mut written = serde_json::to_value(&planned).unwrap();
    let kind = &mut written["repeat"]["event"]["use"]["cost"]["kind"];
    assert_eq!(*kind, "poisson-gaussian");
    *kind = json!("shuffled-gaussian");
    assert!(serde_json::from_value::<Event>(written).is_err());
}

/// The samples passed in have the sampler's law. Fixed seed: sizes of 2,000 Poisson samples of mean 100
/// and variance 90 have a mean within 100 ± 1.5 except with a probability of 2e-12, had the seed been
/// fresh.
#[test]
fn samples_are_fresh_and_of_their_law() {
    for draw in [POISSON, FIXED] {
        let mechanism = sampled(draw, 1.0);
        let mut seen = Vec::<Vec<usize>>::new();
        let mut source = FixedSeed::new(5);
        let mut session = Session::start(times(2000, &mechanism), &mut source);
        for _ in 0..2000 {
            let keep = |sample: &[usize]| {
                seen.push(sample.to_vec());
                Some(Private::new(ExactCounts { counts: vec![0], unit: 1.0 }))
            };
            mechanism.run(Private::new(RECORDS), &mut session, keep).unwrap();
        }
        assert_eq!(seen.len(), 2000);
        assert!(seen.windows(2).all(|pair| pair[0] != pair[1]));
        let total: usize = seen.iter().map(Vec::len).sum();
        match draw {
            Draw::Poisson { .. } => assert!((total as f64 / 2000.0 - 100.0).abs() < 1.5),
            Draw::WithoutReplacement { .. } => assert!(seen.iter().all(|s| s.len() == 100)),
        }
        for sample in &seen {
            assert!(sample.windows(2).all(|pair| pair[0] < pair[1]));
            assert!(sample.iter().all(|place| *place < RECORDS));
        }
    }
}

/// A wrong number of records, a refusal and impossible samplers end the run before any noise.
#[test]
fn what_cannot_be_drawn_is_refused_before_any_noise() {
    let tries = [
        (sampled(FIXED, 4.0), RECORDS - 1),
        (sampled(Draw::WithoutReplacement { population: 50, batch: 100 }, 4.0), 50),
        (sampled(Draw::Poisson { rate: 1.0 }, 4.0), RECORDS),
        (sampled(Draw::Poisson { rate: f64::NAN }, 4.0), RECORDS),
    ];
    for (mechanism, records) in tries {
        let mut source = FixedSeed::new(1);
        let mut session = Session::start(mechanism.event().unwrap(), &mut source);
        assert!(mechanism.run(Private::new(records), &mut session, counted).is_err());
        assert!(!session.has_spent());
    }
    let refusing = sampled(POISSON, 4.0);
    let mut source = FixedSeed::new(1);
    let mut session = Session::start(refusing.event().unwrap(), &mut source);
    let outcome = refusing.run(Private::new(RECORDS), &mut session, |_| None);
    assert_eq!(outcome.err(), Some(GateError::Unanswered));
    assert!(!session.has_spent());
}

fn shuffled(slots: usize, noise_scale: f64) -> ShuffledGaussian {
    let gaussian = Gaussian {
        neighbours: Neighbours::AddRemove,
        unit: Unit::Record,
        sensitivity: 1.0,
        noise_scale,
        coordinates: 1,
    };
    ShuffledGaussian { gaussian, slots }
}

/// Fewer records than slots: each has one, the others are empty. More: some have none. For any number of
/// records, `compute` gets the same number of slots, and the event is the same.
#[test]
fn slots_hold_each_record_once_and_their_number_is_public() {
    for records in [0, 1, 7, 40, 41, 100] {
        let shuffled = shuffled(40, 1.0);
        let mut source = FixedSeed::new(records as u64);
        let planned = shuffled.event().unwrap();
        let mut session = Session::start(planned.clone(), &mut source);
        let check = |slots: &[usize]| {
            assert_eq!(slots.len(), 40);
            let mut filled: Vec<usize> = slots.iter().copied().filter(|s| *s < records).collect();
            assert_eq!(filled.len(), records.min(40));
            filled.sort_unstable();
            assert!(filled.windows(2).all(|pair| pair[0] < pair[1]));
            Some(Private::new(vec![1.0]))
        };
        let noisy = shuffled.run(Private::new(records), &mut session, check).unwrap();
        assert!(settle(session, &planned, noisy).is_ok());
    }
}

/// With 3 records and 2 slots each of the six ordered pairs comes with probability 1/6 (fixed seed).
#[test]
fn every_filling_of_the_slots_is_equally_likely() {
    let mut counts = std::collections::BTreeMap::new();
    let mut source = FixedSeed::new(2);
    for _ in 0..6000 {
        let shuffled = shuffled(2, 1.0);
        let mut session = Session::start(shuffled.event().unwrap(), &mut source);
        let seen = Mutex::new((0, 0));
        let compute = |slots: &[usize]| {
            *seen.lock().unwrap() = (slots[0], slots[1]);
            Some(Private::new(vec![0.0]))
        };
        shuffled.run(Private::new(3), &mut session, compute).unwrap();
        *counts.entry(seen.into_inner().unwrap()).or_insert(0) += 1;
    }
    assert_eq!(counts.len(), 6);
    assert!(counts.values().all(|count| (800..=1200).contains(count)), "{counts:?}");
}
