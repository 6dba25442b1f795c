//! Sensitivity of the sums to one record, and agreement of charges with mechanisms.

use super::sampled::on_grid;
use super::srm::{contribution, exact_terms};
use super::update::Query;
use super::{
    Examples, InitialSource, Method, NetFacts, Network, PublicFile, Settings, Sums, Tensors, digest,
};
use crate::release::file::{Seal, from_json, to_json};
use crate::release::task::{Artefact, Task};
use crate::{LearnError, Plan, Released, Request, plan, verify};
use privet_core::{Budget, Neighbours};
use privet_data::matrix::{DenseMatrix, Matrix};
use privet_data::{Dataset, Schema, read};
use privet_dp::account::{Cost, Event};
use privet_dp::gate::Arithmetic;
use privet_dp::mechanism::ExactCounts;
use privet_dp::noise::{FixedSeed, SystemRandom};
use privet_nn::{Description, ScaledClip};
use proptest::prelude::*;
use std::sync::atomic::AtomicBool;

const SCHEMA: &str = "bias = true\n[clip]\nnorm = \"l2\"\nradius = 2.0\n\
     [target]\ncolumn = \"y\"\nclasses = [\"no\", \"yes\"]\n\
     [[columns]]\nname = \"a\"\ntype = \"number\"\nbounds = [-1, 1]\nscale = \"symmetric\"\n\
     [[columns]]\nname = \"b\"\ntype = \"number\"\nbounds = [-1, 1]\nscale = \"symmetric\"\n";

pub(super) const NET: &str = "{\"input\": {\"features\": 2}, \"layers\": [{\"kind\": \"linear\", \"out\": 3}, \
     {\"kind\": \"tanh\"}, {\"kind\": \"group-norm\", \"groups\": 1}, {\"kind\": \"linear\", \"out\": 2}]}";

fn described(text: &str) -> Description {
    serde_json::from_str(text).unwrap()
}

pub(super) fn table(rows: &[(f64, f64, bool)]) -> Dataset {
    let line =
        |(a, b, y): &(f64, f64, bool)| format!("{a},{b},{}\n", if *y { "yes" } else { "no" });
    let text = format!("a,b,y\n{}", rows.iter().map(line).collect::<String>());
    read::csv_bytes(text.as_bytes(), &Schema::from_toml(SCHEMA).unwrap()).unwrap()
}

pub(super) fn request(
    method: &str,
    net: &str,
    rows: u64,
    neighbours: Neighbours,
) -> Request<Network> {
    let task = Network::new(described(net), method.parse().unwrap());
    let schema = Schema::from_toml(SCHEMA).unwrap();
    Request::new(schema, rows, neighbours, task).with_budget(Budget::new(1.0, 1e-6).unwrap())
}

pub(super) fn with(request: Request<Network>, settings: &[(&str, &str)]) -> Request<Network> {
    let method = settings
        .iter()
        .try_fold(request.task.method.clone(), |method, (name, value)| method.with(name, value));
    let task = Network { method: method.unwrap(), ..request.task.clone() };
    Request { task, ..request }
}

pub(super) fn facts() -> NetFacts {
    Network::facts(&request("dp-sgd", NET, 40, Neighbours::ReplaceOne)).unwrap()
}

fn norm(values: impl Iterator<Item = f64>) -> f64 {
    values.map(|x| x * x).sum::<f64>().sqrt()
}

/// Records of all kinds, with the corners of their domain.
pub(super) fn any_record() -> impl Strategy<Value = (f64, f64, bool)> {
    let entry = prop_oneof![Just(-1.0), Just(0.0), Just(1.0), -1.0..1.0_f64];
    (entry.clone(), entry, any::<bool>())
}

/// Weights of ordinary and extreme sizes.
pub(super) fn any_weights(count: usize) -> impl Strategy<Value = Vec<f32>> {
    let scale = prop::sample::select(vec![0.1_f32, 1.0, 30.0, 1e6, 1e30]);
    (prop::collection::vec(-1.0..1.0_f32, count), scale)
        .prop_map(|(weights, scale)| weights.into_iter().map(|weight| weight * scale).collect())
}

/// Upper bound on the rounding of 32-bit sums of so few records, in units of the clip.
const FLOAT: f64 = 1e-4;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// Adding a record moves the sum of clipped gradients by at most C, replacing one by at most 2C;
    /// exactly so in integers, up to rounding in floats.
    #[test]
    fn one_record_moves_a_sum_by_no_more_than_the_clip(
        others in prop::collection::vec(any_record(), 0..12), one in any_record(), other in any_record(),
        weights in any_weights(facts().net.parameters()),
        clip in prop::sample::select(vec![1e-3, 0.5, 1.0, 100.0]),
    ) {
        let facts = facts();
        let rows = |last: Option<(f64, f64, bool)>| {
            let all: Vec<_> = others.iter().copied().chain(last).collect();
            let examples = Examples::of(&facts, &table(&all)).unwrap();
            let everyone: Vec<u32> = (0..all.len() as u32).collect();
            let float = examples.clipped_sum(&weights, &everyone, clip).unwrap();
            let exact = examples.exact_sum(&weights, &everyone, clip).unwrap();
            let exact: Vec<f64> = exact.counts.iter().map(|c| *c as f64 * exact.unit).collect();
            [float, exact]
        };
        prop_assume!(!others.is_empty());
        let (without, with, instead) = (rows(None), rows(Some(one)), rows(Some(other)));
        for (kind, slack) in [(0, 1.0 + FLOAT), (1, 1.0)] {
            let apart = |x: &[Vec<f64>; 2], y: &[Vec<f64>; 2]| {
                norm(x[kind].iter().zip(&y[kind]).map(|(x, y)| x - y))
            };
            prop_assert!(apart(&with, &without) <= clip * slack, "{}", apart(&with, &without));
            prop_assert!(apart(&with, &instead) <= 2.0 * clip * slack);
            prop_assert!(with[kind].iter().all(|x| x.is_finite()));
        }
    }

    /// One record's term of the recursion has norm at most γC₁ + (1 − γ)C₂, for any two points.
    #[test]
    fn one_record_moves_the_recursion_by_no_more_than_both_clips(
        record in any_record(), new in any_weights(facts().net.parameters()),
        old in any_weights(facts().net.parameters()), close in any::<bool>(),
        gamma in 0.01..0.99_f64, clip in 0.1..2.0_f64, share in 0.01..1.0_f64,
    ) {
        let facts = facts();
        let examples = Examples::of(&facts, &table(&[record])).unwrap();
        let old: Vec<f32> = match close {
            true => new.iter().zip(&old).map(|(new, old)| new + 1e-3 * old).collect(),
            false => old,
        };
        let difference = clip * share;
        let gradient = examples.clipped_sum(&new, &[0], clip).unwrap();
        let moved = examples.difference_sum([&new, &old], &[0], difference).unwrap();
        let term = norm(gradient.iter().zip(&moved).map(|(g, h)| gamma * g + (1.0 - gamma) * h));
        prop_assert!(norm(moved.iter().copied()) <= difference * (1.0 + FLOAT));
        prop_assert!(term <= contribution(gamma, clip, difference) * (1.0 + FLOAT), "{term}");
        // Exactly so in integers.
        let query = Query { step: 1, at: new, before: Some(old) };
        let exact = exact_terms(&examples, &query, &[0], (gamma, clip, difference)).unwrap();
        let squares: f64 = exact.counts.iter().map(|count| (*count as f64).powi(2)).sum();
        let most = contribution(gamma, clip, difference) / exact.unit;
        prop_assert!(squares <= most * most, "{squares} beyond {most}²");
    }

    /// The sum is that of the terms of all records, bit for bit: adding a record adds its term and
    /// changes no other.
    #[test]
    fn a_recursion_in_whole_numbers_is_the_sum_of_its_records_alone(
        records in prop::collection::vec(any_record(), 1..20),
        new in any_weights(facts().net.parameters()), old in any_weights(facts().net.parameters()),
    ) {
        let examples = Examples::of(&facts(), &table(&records)).unwrap();
        let query = Query { step: 1, at: new, before: Some(old) };
        let terms = |rows: &[u32]| {
            exact_terms(&examples, &query, rows, (0.3, 1.0, 0.2)).unwrap().counts
        };
        let everyone: Vec<u32> = (0..records.len() as u32).collect();
        let mut alone = vec![0; facts().net.trainable()];
        for row in &everyone {
            alone.iter_mut().zip(terms(&[*row])).for_each(|(sum, term)| *sum += term);
        }
        prop_assert_eq!(terms(&everyone), alone);
    }
}

/// The bound is attained: the test above would detect a clip half as large.
#[test]
fn the_clip_is_reached() {
    let facts = facts();
    let examples = Examples::of(&facts, &table(&[(1.0, -1.0, true)])).unwrap();
    let weights = facts.net.initial(1);
    let sum = examples.clipped_sum(&weights, &[0], 1e-3).unwrap();
    let length = norm(sum.into_iter());
    assert!(length > 0.999e-3 && length <= 1e-3, "{length}");
    let far = facts.net.initial(2);
    let moved = examples.difference_sum([&weights, &far], &[0], 1e-4).unwrap();
    let length = norm(moved.into_iter());
    assert!(length > 0.999e-4 && length <= 1e-4, "{length}");
    // In integers too: truncation takes at most a step for each weight.
    let steps = |sum: ExactCounts| norm(sum.counts.iter().map(|count| *count as f64 * sum.unit));
    let length = steps(examples.exact_sum(&weights, &[0], 1e-3).unwrap());
    assert!(length > 0.999e-3 && length <= 1e-3, "{length}");
    let grid = privet_nn::grid(1e-4);
    let own = ScaledClip { clip: 1e-5, share: 0.3, grid };
    let moved = ScaledClip { clip: 1e-4, share: 0.7, grid };
    let mut both = examples.exact_terms([&weights, &far], &[0], [own, moved]).unwrap();
    let alone = examples.exact_share(&weights, &[0], own).unwrap();
    both.counts.iter_mut().zip(&alone.counts).for_each(|(both, own)| *both -= own);
    let length = steps(both);
    assert!(length > 0.7 * 0.999e-4 && length <= 0.7e-4, "{length}");
}

/// Algorithm 4's step size: a step has norm at most C₂/L, over which no record's gradient moves by more
/// than C₂ if L is right, and the step size is at most 1/(2n₀L). Here L = ¼·(‖x‖² + 1) for rows of at
/// most √2.
#[test]
fn theory_mode_has_both_caps() {
    const ONE: &str = "{\"input\": {\"features\": 2}, \"layers\": [{\"kind\": \"linear\", \"out\": 1}], \
         \"loss\": \"logistic\"}";
    let (smooth, moved) = (0.75, 0.03);
    let given = [("smoothness", "0.75"), ("clip_difference", "0.03"), ("n0", "4"), ("rate", "50")];
    let asked = with(request("dp-srm", ONE, 40, Neighbours::ReplaceOne), &given);
    let planned: Plan<Network> = plan(&asked).unwrap();
    assert_eq!(planned.settings().get("rate"), Some(1.0 / (2.0 * 4.0 * smooth)));
    // Planning the settled request again changes nothing.
    assert_eq!(plan(planned.request()).unwrap().request(), planned.request());
    let slower = with(asked.clone(), &[("rate", "0.01")]);
    assert_eq!(plan(&slower).unwrap().settings().get("rate"), Some(0.01));
    let facts = Network::facts(&asked).unwrap();
    let method = &asked.task.method;
    let mut settled = Settings::default();
    let mut sizes = super::schedule::sizes(&facts, method, &mut settled).unwrap();
    super::srm::recursion(method, &mut sizes, &mut settled).unwrap();
    let longest = sizes.schedule.longest.unwrap();
    assert_eq!(longest, moved / smooth);
    let corner = Examples::of(&facts, &table(&[(1.0, 1.0, true)])).unwrap();
    // Along the row, near the steepest point of the sigmoid: nearly all of C₂, and no more.
    let by = (longest / 3.0_f64.sqrt()) as f32 / 2.0;
    let points = [vec![by; 3], vec![-by; 3]];
    let difference = corner.difference_sum([&points[0], &points[1]], &[0], 1e3).unwrap();
    let length = norm(difference.into_iter());
    assert!(length > 0.99 * moved && length <= moved * (1.0 + FLOAT), "{length}");
    let alone = with(request("dp-srm", ONE, 40, Neighbours::ReplaceOne), &[("n0", "4")]);
    let refused = plan(&alone).unwrap_err().to_string();
    assert!(refused.contains("smoothness"), "{refused}");
}

/// A unit with up to three records: the sum over all of theirs moves by at most the charge, nearly all
/// of it if they are equal, and so do the scores of a choice. Methods that sample records refuse it.
#[test]
fn units_of_several_records_are_charged_whole() {
    let schema =
        Schema::from_toml(&format!("{SCHEMA}[unit]\ncolumn = \"who\"\nmax_records = 3\n")).unwrap();
    let table = |last: bool| {
        let line = |(row, (a, b, y)): (usize, (f64, f64, bool))| {
            let (a, b, y, who) = match row {
                0..57 => (a, b, y, row / 3),
                _ => (1.0, -1.0, last, 19),
            };
            format!("{a},{b},{},{who}\n", if y { "yes" } else { "no" })
        };
        let text: String = rows(60).into_iter().enumerate().map(line).collect();
        read::csv_bytes(format!("a,b,y,who\n{text}").as_bytes(), &schema).unwrap()
    };
    let (one, other) = (table(false), table(true));
    for neighbours in [Neighbours::ReplaceOne, Neighbours::AddRemove] {
        // Three records are added or removed; under replace-one three are removed and three added.
        let times = if neighbours == Neighbours::ReplaceOne { 6.0 } else { 3.0 };
        for method in ["dp-gd", "dp-agd"] {
            let task = Network::new(described(NET), method.parse().unwrap());
            let request = Request::new(schema.clone(), 60, neighbours, task);
            let request = with(
                request.with_budget(Budget::new(1.0, 1e-6).unwrap()),
                &[("steps", "4"), ("clip", "0.01")],
            );
            let planned = plan(&request).unwrap();
            assert_eq!(planned.guarantee().unwrap().unit.records(), 3);
            let release = planned
                .run(&one, &mut SystemRandom::new().unwrap(), &AtomicBool::new(false))
                .unwrap();
            let released = Released::<Network>::from_release(release).unwrap();
            let text = to_json(&released, None).unwrap();
            let read = from_json::<Network>(text.as_bytes(), Seal::Required).unwrap();
            assert!(verify(&read).valid, "{method}");
            let mut leaves = Vec::new();
            collect(released.certificate().events.as_ref().unwrap(), 1, &mut leaves);
            let gradients: Vec<f64> = leaves
                .iter()
                .filter_map(|(_, cost)| match cost {
                    Cost::Gaussian { sensitivity, .. } => Some(*sensitivity),
                    _ => None,
                })
                .collect();
            assert!(!gradients.is_empty(), "{method}: {leaves:?}");
            let bound = times * 0.01;
            assert!(
                gradients.iter().all(|s| *s >= bound && *s < bound * 1.001),
                "{method}: {gradients:?}"
            );
        }
        for method in ["dp-sgd", "dp-adam", "dp-lssgd", "dp-lsadam", "dp-srm", "dp-ftrl", "rrpsgd"]
        {
            let task = Network::new(described(NET), method.parse().unwrap());
            let request = Request::new(schema.clone(), 60, neighbours, task);
            let refused = plan(&request.with_budget(Budget::new(1.0, 1e-6).unwrap())).unwrap_err();
            assert!(matches!(refused, LearnError::NotCovered { .. }), "{method}: {refused}");
        }
    }
    // The move by three records, against six clips.
    let facts = facts();
    let weights = facts.net.initial(1);
    let everyone: Vec<u32> = (0..60).collect();
    let sum = |data: &Dataset| {
        let sum = Examples::of(&facts, data).unwrap().exact_sum(&weights, &everyone, 0.01).unwrap();
        sum.counts.iter().map(|count| *count as f64 * sum.unit).collect::<Vec<_>>()
    };
    let moved = norm(sum(&one).iter().zip(sum(&other)).map(|(x, y)| x - y));
    assert!(moved <= 0.06 && moved > 0.059, "{moved}");
    let score = |data: &Dataset| {
        Examples::of(&facts, data).unwrap().loss_steps(&weights, &everyone, 1e-3).unwrap()
    };
    assert!((score(&one) - score(&other)).unsigned_abs() <= 3 * privet_nn::LOSS_STEPS);
}

/// Clipping two gradients separately does not bound their difference by C₂: this is why it is not done.
#[test]
fn clipping_apart_would_not_bound_a_difference() {
    let facts = facts();
    let examples = Examples::of(&facts, &table(&[(1.0, -1.0, true)])).unwrap();
    let (clip, difference) = (1e-3, 1e-5);
    let [new, old] =
        [1, 2].map(|seed| examples.clipped_sum(&facts.net.initial(seed), &[0], clip).unwrap());
    let apart = norm(new.iter().zip(&old).map(|(new, old)| new - old));
    assert!(apart > 10.0 * difference, "{apart}");
}

/// The charge of each step is for the sampler that draws: its rate, or its sizes, and the clip.
#[test]
fn sampling_and_the_charged_event_agree() {
    for (method, sampling) in [
        ("dp-sgd", "poisson"),
        ("dp-sgd", "without-replacement"),
        ("dp-lsadam", "poisson"),
        ("dp-srm", "without-replacement"),
    ] {
        let request = with(
            request(method, NET, 500, Neighbours::ReplaceOne),
            &[("batch", "50"), ("steps", "9"), ("clip", "0.7"), ("sampling", sampling)],
        );
        let planned = plan(&request).unwrap();
        let mut leaves = Vec::new();
        collect(planned.events().unwrap(), 1, &mut leaves);
        assert_eq!(leaves.iter().map(|(count, _)| count).sum::<u32>(), 9, "{method}");
        let later = match method {
            // C₂ is a tenth of C₁ unless given, and γ is C₂/C₁.
            "dp-srm" => contribution(0.1, 0.7, 0.07),
            _ => 0.7,
        };
        for (place, (_, cost)) in leaves.iter().enumerate() {
            let bound = if place == 0 && method == "dp-srm" { 0.7 } else { later };
            match cost {
                Cost::PoissonGaussian { rate, sensitivity, .. } => {
                    assert_eq!((*rate, sampling), (0.1, "poisson"));
                    assert!(*sensitivity >= bound && *sensitivity < bound * 1.001, "{method}");
                }
                Cost::WithoutReplacementGaussian { population, batch, sensitivity, .. } => {
                    assert_eq!((*population, *batch), (500, 50));
                    assert!(
                        *sensitivity >= 2.0 * bound && *sensitivity < 2.002 * bound,
                        "{method}"
                    );
                    assert_eq!(sampling, "without-replacement");
                }
                other => panic!("{method}: {other:?}"),
            }
        }
    }
}

/// Defaults are as the help states, for clips other than 1.
#[test]
fn gamma_is_the_share_of_the_clips_unless_given() {
    for (given, gamma) in [
        (&[("clip", "2")][..], 0.1),
        (&[("clip", "0.05")][..], 0.1),
        (&[("clip_difference", "0.3")][..], 0.3),
        (&[("clip", "2"), ("clip_difference", "0.5")][..], 0.25),
        (&[("clip", "0.5"), ("clip_difference", "0.7")][..], 0.99),
        (&[("clip", "2"), ("gamma", "0.4")][..], 0.4),
    ] {
        let request = with(request("dp-srm", NET, 500, Neighbours::ReplaceOne), given);
        let planned = plan(&with(request, &[("steps", "3")])).unwrap();
        let settled = planned.request().task.method.settings().gamma.unwrap();
        assert!((settled - gamma).abs() < 1e-12, "{given:?}: {settled}");
        // Planning the settled request again changes nothing.
        assert_eq!(plan(planned.request()).unwrap().request(), planned.request());
    }
}

/// Correlated noise: one event, each row once a pass, and integers; add/remove is refused.
#[test]
fn correlated_noise_is_one_event_of_every_pass() {
    let settings = [("batch", "60"), ("steps", "20")];
    let asked = with(request("dp-ftrl", NET, 200, Neighbours::ReplaceOne), &settings);
    let planned = plan(&asked).unwrap();
    assert_eq!(planned.arithmetic(), Arithmetic::Finite);
    let Some(Event::Use {
        cost: Cost::ContinualGaussian { steps, participation, sensitivity, .. },
        ..
    }) = planned.events()
    else {
        panic!("{:?}", planned.events())
    };
    // Four steps a pass, five passes.
    assert_eq!((*steps, participation.times, participation.separation), (20, 5, 4));
    assert!(*sensitivity >= 2.0, "{sensitivity}");
    run(&planned, &table(&rows(200)), 1);
    let other = with(request("dp-ftrl", NET, 200, Neighbours::AddRemove), &settings);
    assert!(plan(&other).unwrap_err().to_string().contains("replace-one"));
}

fn collect(event: &Event, times: u32, into: &mut Vec<(u32, Cost)>) {
    match event {
        Event::Use { cost, .. } => into.push((times, cost.clone())),
        Event::All(parts) => parts.iter().for_each(|part| collect(part, times, into)),
        Event::Repeat { count, event } => collect(event, times * count, into),
        other => panic!("{other:?}"),
    }
}

pub(super) fn rows(count: usize) -> Vec<(f64, f64, bool)> {
    let entry = |row: usize, by: usize| ((row * by) % 21) as f64 / 10.0 - 1.0;
    (0..count).map(|row| (entry(row, 5), entry(row, 13), entry(row, 5) > 0.0)).collect()
}

fn run(planned: &Plan<Network>, data: &Dataset, seed: u64) -> Tensors {
    let release = planned.run(data, &mut FixedSeed::new(seed), &AtomicBool::new(false)).unwrap();
    release.into_parts().0
}

/// Exact sums claim finite arithmetic, and give the same bits in any order of the records.
#[test]
fn exact_sums_have_the_same_bits_in_any_order() {
    let request = with(
        request("dp-gd", NET, 60, Neighbours::ReplaceOne),
        &[("sums", "exact"), ("steps", "7")],
    );
    let planned = plan(&request).unwrap();
    assert_eq!(planned.arithmetic(), Arithmetic::Finite);
    let mut all = rows(60);
    let one = run(&planned, &table(&all), 3);
    all.reverse();
    assert_eq!(one, run(&planned, &table(&all), 3));
    let float = plan(&with(request, &[("sums", "float")])).unwrap();
    assert_eq!(float.arithmetic(), Arithmetic::Real);
    let near = run(&float, &table(&all), 3).numbers();
    let far = one.numbers().iter().zip(&near).map(|(x, y)| (x - y).abs()).fold(0.0, f64::max);
    assert!(far < 1e-3, "{far}");
}

/// Frozen layers keep the weights of a public file; weights other than the plan names are refused, and a
/// forged file does not verify.
#[test]
fn frozen_layers_keep_public_weights() {
    let frozen = NET.replacen("\"out\": 3", "\"out\": 3, \"frozen\": true", 1);
    let asked = with(
        request("dp-sgd", &frozen, 200, Neighbours::AddRemove),
        &[("steps", "5"), ("batch", "20")],
    );
    let net = Network::facts(&asked).unwrap().net;
    let public: Vec<f32> = net.initial(9);
    let named = PublicFile { claims: Some([2.0, 1e-6]), ..PublicFile::of(&net, &public) };
    let from = |named: PublicFile| {
        let begin = Some(InitialSource::File(named));
        Request { task: Network { begin, ..asked.task.clone() }, ..asked.clone() }
    };
    let none = PublicFile { claims: None, ..named.clone() };
    let plain = plan(&from(none)).unwrap();
    assert!(plain.notes().iter().any(|note| note.contains("carry no guarantee")));
    let frozen = net.trainable()..;
    for (bad, words) in [
        (PublicFile { sha256: named.sha256[1..].into(), ..named.clone() }, "64 digits"),
        (
            PublicFile { sha256: named.sha256.replacen(|_| true, "g", 1), ..named.clone() },
            "64 digits",
        ),
        (PublicFile { frozen: Some("é".repeat(32)), ..named.clone() }, "64 digits"),
        (PublicFile { frozen: None, ..named.clone() }, "frozen in part"),
        (PublicFile { claims: Some([-1.0, 0.0]), ..named.clone() }, "numbers from 0"),
    ] {
        let refused = plan(&from(bad)).unwrap_err();
        assert!(matches!(refused, LearnError::InvalidRequest { .. }), "{refused}");
        assert!(refused.to_string().contains(words), "{refused}");
    }
    let asked = from(named.clone());
    let planned = plan(&asked).unwrap();
    assert!(planned.notes().iter().any(|note| note.contains("released under ε = 2")));
    assert!(planned.notes().iter().any(|note| note.contains(&digest(&public))));
    let data = table(&rows(200));
    let mut source = FixedSeed::new(1);
    let missing = planned.run(&data, &mut source, &AtomicBool::new(false)).unwrap_err();
    assert!(missing.to_string().contains("are missing"), "{missing}");
    let row = |weights: &[f32]| Matrix::Dense(DenseMatrix::new(weights.to_vec(), 1, weights.len()));
    for (bad, words) in [(net.initial(8), "SHA-256"), (vec![0.0; 3], "3 numbers")] {
        let refused = planned.clone().with_public(&row(&bad)).unwrap_err();
        assert!(matches!(refused, LearnError::InvalidRequest { .. }), "{refused}");
        assert!(refused.to_string().contains(words), "{refused}");
    }
    let planned = planned.with_public(&row(&public)).unwrap();
    let release =
        planned.run(&data, &mut SystemRandom::new().unwrap(), &AtomicBool::new(false)).unwrap();
    let released = Released::<Network>::from_release(release).unwrap();
    let flat = released.artefact().flat(&net).unwrap();
    assert_eq!(flat[net.trainable()..], public[net.trainable()..]);
    assert_ne!(flat[..net.trainable()], public[..net.trainable()]);
    let text = to_json(&released, None).unwrap();
    let read = from_json::<Network>(text.as_bytes(), Seal::Required).unwrap();
    assert!(verify(&read).valid);
    assert_eq!(read.artefact(), released.artefact());
    // Frozen weights are those of the file: their digest is recomputed.
    assert_eq!(named.refuses(&net, released.artefact()), None);
    assert_eq!(named.frozen, Some(digest(&public[frozen])));
    let mut other = released.artefact().clone();
    other.tensors[0].values[0] += 1.0;
    assert!(named.refuses(&net, &other).unwrap().contains("a frozen weight"));
}

/// Without privacy, too, training begins from the weights of a file; a plan without the file is refused
/// with an explanation.
#[test]
fn baselines_begin_from_public_weights() {
    for method in ["non-private", "storm"] {
        let task = Network::new(described(NET), method.parse().unwrap());
        let schema = Schema::from_toml(SCHEMA).unwrap();
        let asked = Request::new(schema, 200, Neighbours::ReplaceOne, task);
        let asked = with(asked, &[("steps", "1"), ("batch", "20"), ("rate", "1e-30")]);
        let net = Network::facts(&asked).unwrap().net;
        let public = net.initial(9);
        let begin = Some(InitialSource::File(PublicFile::of(&net, &public)));
        let asked = Request { task: Network { begin, ..asked.task.clone() }, ..asked };
        let planned = plan(&asked).unwrap();
        let data = table(&rows(200));
        let run = |planned: &Plan<Network>| {
            planned.run(&data, &mut FixedSeed::new(1), &AtomicBool::new(false))
        };
        assert!(run(&planned).unwrap_err().to_string().contains("are missing"));
        let row =
            |weights: &[f32]| Matrix::Dense(DenseMatrix::new(weights.to_vec(), 1, weights.len()));
        assert!(planned.clone().with_public(&row(&net.initial(8))).is_err(), "other weights");
        let planned = planned.with_public(&row(&public)).unwrap();
        let actual = run(&planned).unwrap().into_parts().0;
        // So short a step hardly moves the weights.
        let far = |(now, then): (f32, &f32)| (now - then).abs() > 1e-20;
        let flat = actual.flat(&net).unwrap();
        assert!(!flat.into_iter().zip(&public).any(far), "{method}");
    }
    let seeded = plan(&request("dp-sgd", NET, 200, Neighbours::ReplaceOne)).unwrap();
    let nothing = Matrix::Dense(DenseMatrix::new(vec![0.0], 1, 1));
    assert!(matches!(seeded.with_public(&nothing), Err(LearnError::NotCovered { .. })));
}

/// A seed that a file cannot hold exactly is refused before anything is paid for.
#[test]
fn seeds_beyond_what_a_file_holds_are_refused() {
    let request = request("dp-sgd", NET, 200, Neighbours::ReplaceOne);
    for (seed, fine) in [((1 << 53) - 1, true), (1 << 53, false), (u64::MAX, false)] {
        let task = Network { begin: Some(InitialSource::Seed(seed)), ..request.task.clone() };
        let planned = plan(&Request { task, ..request.clone() });
        assert_eq!(planned.is_ok(), fine, "{seed}");
    }
}

/// Integers unless floats are requested, which the plan then states.
#[test]
fn sums_are_exact_unless_floats_are_asked_for() {
    for method in ["dp-sgd", "dp-adam", "dp-lssgd", "dp-lsadam", "dp-srm", "dp-gd", "rrpsgd"] {
        let request = with(request(method, NET, 200, Neighbours::AddRemove), &[("steps", "9")]);
        let planned = plan(&request).unwrap();
        assert_eq!(planned.arithmetic(), Arithmetic::Finite, "{method}");
        assert_eq!(planned.request().task.method.settings().sums, Some(Sums::Exact), "{method}");
        let float = plan(&with(request, &[("sums", "float")])).unwrap();
        assert_eq!(float.arithmetic(), Arithmetic::Real, "{method}");
        assert!(float.notes().iter().any(|note| note.contains("grows with the number")));
    }
}

/// A null record keeps its index and contributes exactly nothing.
#[test]
fn null_records_contribute_nothing() {
    let schema = Schema::from_toml(&format!("invalid = \"drop\"\n{SCHEMA}")).unwrap();
    let read = |text: &str| read::csv_bytes(text.as_bytes(), &schema).unwrap();
    let some = read("a,b,y\n1,0.5,yes\n,x,maybe\n-1,0.2,no\n");
    assert_eq!((some.rows(), &some.report.null_rows[..]), (3, &[1][..]));
    let others = read("a,b,y\n1,0.5,yes\n-1,0.2,no\n");
    let facts = facts();
    let [with, without] = [&some, &others].map(|data| Examples::of(&facts, data).unwrap());
    let (weights, old) = (facts.net.initial(1), facts.net.initial(2));
    let exact =
        |examples: &Examples, rows: &[u32]| examples.exact_sum(&weights, rows, 1.0).unwrap().counts;
    assert_eq!(with.rows(), 3);
    assert_eq!(exact(&with, &[0, 1, 2]), exact(&without, &[0, 1]));
    assert!(exact(&with, &[1]).iter().all(|count| *count == 0));
    let sums = [
        with.clipped_sum(&weights, &[1], 1.0),
        with.difference_sum([&weights, &old], &[1], 1.0),
        with.plain_sum(&weights, &[1]),
    ];
    for sum in sums {
        assert!(sum.unwrap().iter().all(|x| *x == 0.0));
    }
}

#[test]
fn what_does_not_fit_is_refused_with_its_numbers() {
    let refused = |net: &str| {
        let asked = request("dp-sgd", net, 500, Neighbours::ReplaceOne);
        plan(&asked).unwrap_err().to_string()
    };
    let three = NET.replace("\"features\": 2", "\"features\": 3");
    assert!(refused(&three).contains("takes 3 numbers, and a row of this schema has 2"));
    let wide = NET.replace("\"out\": 2", "\"out\": 5");
    assert!(refused(&wide).contains("5 outputs, and the schema lists 2 classes"));
    let squared = NET.replace("]}", "], \"loss\": \"squared\"}");
    assert!(refused(&squared).contains("does not fit a target of these classes"));
    let mixing = NET.replace("{\"kind\": \"tanh\"}", "{\"kind\": \"batch-norm\"}");
    assert!(refused(&mixing).contains("layer 2 (batch-norm)"));
    let conv =
        NET.replace("{\"kind\": \"tanh\"}", "{\"kind\": \"conv\", \"out\": 2, \"kernel\": 3}");
    assert!(refused(&conv).contains("layer 2 (conv)"));
    for (settings, words) in [
        (&[("batch", "500")][..], "a sampling rate of 1 or more"),
        (&[("batch", "501")][..], "batch = 501 of 500 rows"),
        (&[("rate", "0")][..], "rate"),
        (&[("clip", "0")][..], "clip"),
    ] {
        let asked = with(request("dp-sgd", NET, 500, Neighbours::ReplaceOne), settings);
        let words_of = plan(&asked).unwrap_err().to_string();
        assert!(words_of.contains(words), "{words_of}");
    }
    let fixed = with(
        request("dp-sgd", NET, 500, Neighbours::AddRemove),
        &[("sampling", "without-replacement")],
    );
    assert!(plan(&fixed).unwrap_err().to_string().contains("public number of records"));
    let method: Method = "dp-sgd".parse().unwrap();
    assert!(matches!(method.with("gamma", "0.5"), Err(LearnError::NotASetting { .. })));
    assert!(matches!(method.with("sums", "maybe"), Err(LearnError::SettingValue { .. })));
    // A file with a setting that the method does not have is not one that the planner writes.
    let odd = Settings { gamma: Some(0.5), sums: Some(Sums::Float), ..Settings::default() };
    let asked = request("dp-sgd", NET, 500, Neighbours::ReplaceOne);
    let task = Network { method: Method::DpSgd(Box::new(odd)), ..asked.task.clone() };
    let planned = plan(&Request { task, ..asked }).unwrap();
    assert_eq!(planned.request().task.method.settings().gamma, None);
}

/// NaN sums count as 0; they never end a run.
#[test]
fn whatever_is_summed_is_put_on_the_grid() {
    let grid = on_grid(&[f64::NAN, f64::INFINITY, -0.3], 1.0).unwrap();
    assert_eq!(grid.counts[0], 0);
    assert_eq!(grid.counts[1], 1 << 100);
    assert!((grid.counts[2] as f64 * grid.unit + 0.3).abs() <= grid.unit / 2.0);
}

/// Without noise the walks learn: the class is the sign of a column.
#[test]
fn the_baselines_learn() {
    let (data, schema) = (table(&rows(400)), Schema::from_toml(SCHEMA).unwrap());
    for method in ["non-private", "storm"] {
        let smooth = NET.replace("{\"kind\": \"group-norm\", \"groups\": 1}, ", "");
        let task = Network::new(described(&smooth), method.parse().unwrap());
        let request = Request::new(schema.clone(), 400, Neighbours::ReplaceOne, task);
        let settings = [("batch", "40"), ("steps", "400"), ("rate", "0.5")];
        let planned = plan(&with(request, &settings)).unwrap();
        let mut source = FixedSeed::new(1);
        let release = planned.run(&data, &mut source, &AtomicBool::new(false)).unwrap();
        let released = Released::<Network>::from_release(release).unwrap();
        let crate::linear::model::Predictions::Classes(found) =
            released.predict(&data.features).unwrap()
        else {
            panic!("classes")
        };
        let privet_data::Target::Class { codes, .. } = &data.target else { panic!("classes") };
        let right = found.iter().zip(codes).filter(|(a, b)| a == b).count();
        assert!(right > 370, "{method}: {right} of 400");
        let loss = released.mean_loss(&data.features, &data.target).unwrap();
        assert!(loss < 0.4, "{method}: {loss}");
        let shares = released.probabilities(&data.features).unwrap().unwrap();
        assert!(shares.chunks(2).all(|row| (row[0] + row[1] - 1.0).abs() < 1e-9));
    }
}

/// A training that is suspended and resumed gives a release like any other; a state is resumed once, one
/// of another network or cut in half is refused, and steps that a process lost stay charged.
#[test]
fn a_training_goes_on_where_it_was_put_aside() {
    use super::checkpoint::{Advanced, Checkpointed};
    let folder = tempfile::tempdir().unwrap();
    let (data, stop) = (table(&rows(200)), AtomicBool::new(false));
    for method in ["dp-sgd", "dp-adam", "dp-srm"] {
        let path = folder.path().join(method);
        let settings = [("steps", "7"), ("batch", "20")];
        let asked = with(request(method, NET, 200, Neighbours::ReplaceOne), &settings);
        let planned = plan(&asked).unwrap();
        let mut source = SystemRandom::new().unwrap();
        let ready = || Checkpointed::ready(&planned, None, &path, &data);
        // A check without a start leaves nothing behind.
        drop(ready().unwrap());
        let begun = ready().unwrap().begin(&planned, &mut source).unwrap();
        assert!(ready().is_err(), "there already");
        let Advanced::SuspendedStream(aside) = begun.advance(&data, 3, &mut source, &stop).unwrap()
        else {
            panic!("{method}: at its end")
        };
        assert_eq!(aside.steps_made(), 3);
        let kept = std::fs::read(&path).unwrap();
        let read = Checkpointed::read(&path, None).unwrap();
        read.is_of(&planned).unwrap();
        let wide = NET.replace("\"out\": 3", "\"out\": 4");
        let other =
            plan(&with(request(method, &wide, 200, Neighbours::ReplaceOne), &settings)).unwrap();
        assert!(read.is_of(&other).unwrap_err().to_string().contains("another network"));
        let Advanced::SuspendedStream(_) = read.advance(&data, 2, &mut source, &stop).unwrap()
        else {
            panic!("{method}: at its end")
        };
        // An older state is a copy that was resumed already.
        let newer = std::fs::read(&path).unwrap();
        std::fs::write(&path, &kept).unwrap();
        let copy = Checkpointed::read(&path, None).unwrap();
        assert!(
            copy.advance(&data, 1, &mut source, &stop).is_err(),
            "{method}: gone on from twice"
        );
        // Cut in half it is not a state.
        std::fs::write(&path, &newer[..newer.len() / 2]).unwrap();
        let cut = Checkpointed::read(&path, None).unwrap_err().to_string();
        assert!(cut.contains("not a checkpoint, or cut"), "{cut}");
        std::fs::write(&path, &newer).unwrap();
        // A process that ends early: its steps are drawn and lost.
        let lost = Checkpointed::read(&path, None).unwrap();
        let stops = Stops(std::sync::atomic::AtomicU32::new(1));
        assert!(lost.advance(&data, 5, &mut source, &stops).is_err());
        let left = Checkpointed::read(&path, None).unwrap();
        let unwritten = left.finish(&data, 1, &mut source, &stop).unwrap();
        // A process that ends before the file is written: the next one has the same network, without a
        // further draw.
        let first = unwritten.network().artefact().clone();
        drop(unwritten);
        let again = Checkpointed::read(&path, None).unwrap();
        assert_eq!(again.steps_made(), 7, "{method}");
        let again = again.finish(&data, 1, &mut source, &stop).unwrap();
        assert_eq!(again.network().artefact(), &first, "{method}");
        let released = again.settle().unwrap();
        let text = to_json(&released, None).unwrap();
        let read = from_json::<Network>(text.as_bytes(), Seal::Required).unwrap();
        assert!(verify(&read).valid, "{method}");
        let last = Checkpointed::read(&path, None)
            .and_then(|last| last.advance(&data, 1, &mut source, &stop).map(|_| ()));
        assert!(last.is_err(), "{method}: it is settled");
    }
}

/// A training that cannot be suspended, or has no writable place, is refused before anything is spent,
/// and leaves no file.
#[test]
fn what_cannot_be_put_aside_is_refused_before_anything_is_paid() {
    use super::checkpoint::Checkpointed;
    let folder = tempfile::tempdir().unwrap();
    let data = table(&rows(200));
    let ready = |method: &str, place: &str, data: &Dataset| {
        let request = request(method, NET, 200, Neighbours::ReplaceOne);
        let planned = plan(&with(request, &[("steps", "7")])).unwrap();
        Checkpointed::ready(&planned, None, &folder.path().join(place), data)
            .map(drop)
            .map_err(|error| error.to_string())
    };
    for method in ["dp-agd", "dp-ftrl"] {
        let why = ready(method, "aside", &data).unwrap_err();
        assert!(why.contains(&format!("method {method} cannot be put aside")), "{why}");
    }
    assert!(ready("dp-sgd", "aside", &table(&rows(199))).is_err(), "another number of rows");
    assert!(ready("dp-sgd", "nowhere/aside", &data).is_err(), "no such folder");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    std::fs::write(folder.path().join("aside.journal"), "").unwrap();
    let why = ready("dp-sgd", "aside", &data).unwrap_err();
    assert!(why.contains("its journal is there already"), "{why}");
}

/// Stops at the given step.
struct Stops(std::sync::atomic::AtomicU32);

impl privet_optim::solver::Monitor for Stops {
    fn proceed(&self, _: privet_optim::solver::Progress) -> bool {
        self.0.fetch_sub(1, std::sync::atomic::Ordering::Relaxed) > 0
    }
}
