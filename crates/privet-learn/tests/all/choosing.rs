//! Public rows chosen in rounds of one run: releases, verification and refusals.

use privet_core::Neighbours;
use privet_data::matrix::Matrix;
use privet_data::{Dataset, Schema, Target, read};
use privet_dp::gate::seal::seal_document;
use privet_dp::noise::{FixedSeed, Source, SystemRandom};
use privet_learn::file::{Seal, from_json, to_json};
use privet_learn::votes::{Aggregator, Vote};
use privet_learn::{LearnError, Released, Request, Task, plan, verify};
use std::sync::atomic::AtomicBool;

const SCHEMA: &str = "bias = true\n[clip]\nnorm = \"l2\"\nradius = 1.0\n\
     [target]\ncolumn = \"y\"\nclasses = [\"left\", \"right\"]\n\
     [[columns]]\nname = \"a\"\ntype = \"number\"\nbounds = [-1, 1]\nscale = \"symmetric\"\n\
     [[columns]]\nname = \"b\"\ntype = \"number\"\nbounds = [-1, 1]\nscale = \"symmetric\"\n";

/// Two classes by the sign of a.
fn table(rows: usize, seed: u64) -> Dataset {
    let mut source = FixedSeed::new(seed);
    let mut number = || (source.next_u64() >> 11) as f64 / (1_u64 << 52) as f64 - 1.0;
    let row = |_| {
        let (a, b) = (number(), number());
        format!("{a},{b},{}\n", if a > 0.0 { "right" } else { "left" })
    };
    let text = format!("a,b,y\n{}", (0..rows).map(row).collect::<String>());
    read::csv_bytes(text.as_bytes(), &Schema::from_toml(SCHEMA).unwrap()).unwrap()
}

fn asked(task: Vote, epsilon: f64) -> Request<Vote> {
    let schema = Schema::from_toml(SCHEMA).unwrap();
    task.request(&schema, 3_000, Neighbours::ReplaceOne, (epsilon, Some(1e-6))).unwrap()
}

fn chosen(aggregator: &str, rows: &Matrix) -> Vote {
    let aggregator: Aggregator = aggregator.parse().unwrap();
    Vote { teachers: Some(100), choose: Some(4), aggregator, ..Vote::of_first(40, rows) }
}

fn released(task: Vote, rows: &Matrix, epsilon: f64) -> Released<Vote> {
    let plan = plan(&asked(task, epsilon)).unwrap().with_public(rows).unwrap();
    let mut source = SystemRandom::new().unwrap();
    let release = plan.run(&table(3_000, 1), &mut source, &AtomicBool::new(false)).unwrap();
    let released: Released<Vote> = Released::from_release(release).unwrap();
    let text = to_json(&released, None).unwrap();
    let read = from_json(text.as_bytes(), Seal::Required).unwrap();
    let verdict = verify(&read);
    assert!(verdict.valid, "{:?}", verdict.checks);
    read
}

/// Forty of 400 rows in four rounds, under so little noise that labels are the teachers' majority: the
/// first ten in order, then rows of which half lie nearer to the border than average; all of them
/// charged as planned, and certified.
#[test]
fn rows_are_chosen_by_labels_so_far() {
    let public = table(400, 2);
    let Target::Class { codes, .. } = &public.target else { panic!() };
    for aggregator in ["gnmax", "sparse-vector"] {
        let released = released(chosen(aggregator, &public.features), &public.features, 300.0);
        let labels = released.artefact();
        assert_eq!((labels.places.len(), labels.labels.len()), (40, 40));
        assert_eq!(labels.places[..10], (0..10).collect::<Vec<u64>>());
        let far = |place: &u64| f64::from(public.features.dense_row(*place as usize)[0].abs());
        let mean = |places: &[u64]| places.iter().map(far).sum::<f64>() / places.len() as f64;
        if aggregator == "gnmax" {
            for round in labels.places[10..].chunks(10) {
                assert!(mean(&round[5..]) < mean(&round[..5]), "{aggregator}: {round:?}");
            }
        }
        let by_row = labels.by_row(400);
        let told: Vec<(u32, u32)> =
            by_row.iter().zip(codes).filter_map(|(class, code)| Some(((*class)?, *code))).collect();
        assert_eq!(told.len(), labels.answered());
        let right = told.iter().filter(|(class, code)| class == code).count();
        assert!(10 * right >= 8 * told.len(), "{aggregator}: {right} of {}", told.len());
    }
}

/// With one cutoff and a negligible budget everything ends at once, in any round: one threshold for all
/// rounds.
#[test]
fn rounds_share_what_ends_them() {
    let public = table(400, 2);
    let task = Vote {
        aggregator: Aggregator::default().with("cutoff", "1").unwrap(),
        ..chosen("sparse-vector", &public.features)
    };
    let found = released(task, &public.features, 0.1);
    assert!(found.artefact().labels.contains(&-1));
    // Under a budget that answers all of it four rounds need one run, where batches of a stream would
    // need four.
    let task = Vote {
        teachers: Some(3_000),
        aggregator: Aggregator::default().with("cutoff", "1").unwrap(),
        teacher: privet_learn::votes::Teacher::by_name("tree").unwrap(),
        ..chosen("sparse-vector", &public.features)
    };
    let found = released(task, &public.features, 300.0);
    let first = found.artefact().labels.iter().position(|label| *label < 0).unwrap_or(40);
    assert!(first > 10, "{:?}", found.artefact());
}

/// Indices that no run can have are detected.
#[test]
fn places_that_were_not_chosen_are_refused() {
    let public = table(400, 2);
    let released = released(chosen("gnmax", &public.features), &public.features, 300.0);
    let written: serde_json::Value =
        serde_json::from_str(&to_json(&released, None).unwrap()).unwrap();
    let all: Vec<u64> = released.artefact().places.clone();
    let with = |change: &dyn Fn(&mut Vec<u64>)| {
        let mut places = all.clone();
        change(&mut places);
        let mut document = written.clone();
        document["body"]["places"] = serde_json::json!(places);
        seal_document(document, None).unwrap().to_string()
    };
    let refused = |text: String| {
        let read = from_json::<Vote>(text.as_bytes(), Seal::Required);
        read.map_or(true, |read| !verify(&read).valid)
    };
    assert!(!refused(with(&|_| ())));
    assert!(refused(with(&|places| places.swap(0, 1))), "the first round is in order");
    assert!(refused(with(&|places| places[39] = places[20])), "a row twice");
    assert!(refused(with(&|places| places[39] = 400)), "no such row");
    assert!(refused(with(&|places| places.truncate(39))), "a label of no row");
    assert!(refused(with(&|places| places.clear())), "rows in order");
}

#[test]
fn what_cannot_be_chosen_is_refused_in_words() {
    let rows = table(400, 2).features;
    let refused = |task: Vote| match plan(&asked(task, 1.0)) {
        Err(LearnError::NotCovered { what, .. }) => what,
        Err(LearnError::Setting(error)) => error.to_string(),
        other => panic!("{other:?}"),
    };
    let good = chosen("gnmax", &rows);
    assert!(plan(&asked(good.clone(), 1.0)).is_ok());
    for other in ["confident-gnmax", "agreed-gnmax", "estimated-sparse-vector"] {
        assert!(refused(chosen(other, &rows)).contains("all questions before"), "{other}");
    }
    assert!(refused(Vote { choose: Some(1), ..good.clone() }).contains("choose"));
    assert!(refused(Vote { choose: Some(41), ..good.clone() }).contains("40 among 400"));
    assert!(refused(Vote { choose: Some(4), ..Vote::of(&rows) }).contains("among 400"));
    let stream = Vote { stream: true, beside: 0, public: None, ..chosen("sparse-vector", &rows) };
    assert!(refused(stream).contains("stream"));
    let wide = Vote { beside: 90_000_000, public: None, ..good.clone() };
    assert!(refused(wide).contains("a choice among"));
    // A release of rows in order has no places.
    let plain = released(Vote { choose: None, ..good }, &rows, 300.0);
    let mut odd = plain.artefact().clone();
    odd.places = (0..40).collect();
    assert!(Vote::fits(plain.request(), &odd).is_err());
}
