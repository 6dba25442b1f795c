//! Votes of black boxes: releases, sensitivity to one unit, streams, and refusals.

use crate::common::{RELATIONS, uniform};
use privet_core::Neighbours;
use privet_data::matrix::Matrix;
use privet_data::{Dataset, Schema, read};
use privet_dp::account::{self, ThresholdNoise};
use privet_dp::gate::{Arithmetic, Session, Statement};
use privet_dp::mechanism::{QueryAnswer, StableAnswers};
use privet_dp::noise::{FixedSeed, SystemRandom};
use privet_learn::file::{Seal, from_json, to_json};
use privet_learn::votes::public::check_stated_rows;
use privet_learn::votes::student::{Student, Study};
use privet_learn::votes::subsample_aggregate::AnswerStream;
use privet_learn::votes::{
    Aggregator, Ballot, Labels, TEACHERS, Teach, Teacher, TrainingData, Vote, stream::Answers,
    with_rows_and_teachers,
};
use privet_learn::{LearnError, Plan, Released, Request, RequestOptions, Task, plan, verify};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

fn schema(more: &str) -> Schema {
    let column = |name: &str| {
        format!(
            "[[columns]]\nname = \"{name}\"\ntype = \"number\"\nbounds = [-1, 1]\nscale = \"symmetric\"\n"
        )
    };
    Schema::from_toml(&format!(
        "bias = true\n{more}[clip]\nnorm = \"l2\"\nradius = 1.0\n[target]\ncolumn = \"y\"\n\
         classes = [\"left\", \"right\", \"up\"]\n{}{}",
        column("a"),
        column("b")
    ))
    .unwrap()
}

/// Three linearly separable classes, except near the borders.
fn text(rows: usize, seed: u64, units: bool) -> String {
    let mut source = FixedSeed::new(seed);
    let mut text = format!("a,b,y{}\n", if units { ",who" } else { "" });
    for row in 0..rows {
        let (a, b) = (uniform(&mut source), uniform(&mut source));
        let label = match (b > 0.3, a > 0.0) {
            (true, _) => "up",
            (_, true) => "right",
            _ => "left",
        };
        let who = if units { format!(",{}", row / 2) } else { String::new() };
        text += &format!("{a},{b},{label}{who}\n");
    }
    text
}

fn table(rows: usize, seed: u64) -> Dataset {
    read::csv_bytes(text(rows, seed, false).as_bytes(), &schema("")).unwrap()
}

fn public(rows: usize) -> Matrix {
    table(rows, 99).features
}

fn truth(rows: usize) -> Vec<u32> {
    match table(rows, 99).target {
        privet_data::Target::Class { codes, .. } => codes,
        privet_data::Target::Number(_) => panic!(),
    }
}

fn asked(task: Vote, rows: u64, epsilon: f64) -> Request<Vote> {
    task.request(&schema(""), rows, Neighbours::ReplaceOne, (epsilon, Some(1e-6))).unwrap()
}

fn labels(plan: &Plan<Vote>, data: &Dataset) -> Released<Vote> {
    let mut source = SystemRandom::new().unwrap();
    let release = plan.run(data, &mut source, &AtomicBool::new(false)).unwrap();
    read_again(&Released::from_release(release).unwrap())
}

/// Written, read and verified.
fn read_again(released: &Released<Vote>) -> Released<Vote> {
    let text = to_json(released, None).unwrap();
    let read = from_json(text.as_bytes(), Seal::Required).unwrap();
    let verdict = verify(&read);
    assert!(verdict.valid, "{:?}", verdict.checks);
    read
}

fn share_right(found: &Labels, truth: &[u32]) -> f64 {
    let right =
        found.classes().iter().zip(truth).filter(|(one, other)| **one == Some(**other)).count();
    right as f64 / truth.len() as f64
}

/// Teachers that agree label most rows, by every built-in learner and every aggregator; a student of the
/// labels is about as good.
#[test]
fn rows_are_labelled_and_a_student_learns_from_them() {
    let (data, queries) = (table(12_000, 1), 300);
    let others =
        ["gnmax", "confident-gnmax", "agreed-gnmax", "estimated-sparse-vector"].into_iter();
    for (teacher, aggregator) in TEACHERS
        .iter()
        .map(|info| (info.name, "sparse-vector"))
        .chain(others.map(|aggregator| ("tree", aggregator)))
    {
        let mut aggregator: Aggregator = aggregator.parse().unwrap();
        if aggregator.name() == "sparse-vector" {
            aggregator = aggregator.with("cutoff", "60").unwrap();
        }
        let confident = aggregator.name() == "confident-gnmax";
        if confident {
            aggregator = aggregator.with("answers", "300").unwrap();
        }
        let teacher = Teacher::by_name(teacher).unwrap();
        let task = Vote { teachers: Some(200), teacher, aggregator, ..Vote::on(queries) };
        let name = format!("{} {}", task.teacher.name(), task.aggregator);
        let agreed = task.aggregator.name() == "agreed-gnmax";
        let epsilon = if agreed { 10.0 } else { 400.0 };
        let plan = plan(&asked(task, 12_000, epsilon)).unwrap().with_public(&public(300)).unwrap();
        let actual = labels(&plan, &data);
        if agreed && actual.artefact().answered() == 0 {
            // All or nothing; that it is certified either way was seen.
            continue;
        }
        let right = share_right(actual.artefact(), &truth(300));
        assert!(right > if confident { 0.6 } else { 0.75 }, "{name}: {right}");
        let study =
            Study { spread: name.starts_with("propagation"), ..Study::by_name("forest").unwrap() };
        let classes = actual.artefact().classes();
        let student = Student::fit(&study, &public(300), &classes, 3).unwrap().unwrap();
        let predicted = student.predict(&data.features).unwrap();
        let privet_data::Target::Class { codes, .. } = &data.target else { panic!() };
        let right = predicted.iter().zip(codes).filter(|(one, other)| one == other).count();
        assert!(right > 10_000, "{name}: {right} of 12000");
    }
}

/// The notes state the end of a run, and rules that choose teachers and cutoff give a plan that stays
/// settled.
#[test]
fn sizes_are_chosen_from_public_facts_and_settle() {
    for (rows, epsilon) in [(2_000, 0.5), (500_000, 1.0), (40_000_000, 1.0)] {
        let planned = plan(&asked(Vote::on(100), rows, epsilon)).unwrap();
        let again = plan(planned.request()).unwrap();
        assert_eq!(planned.request(), again.request());
        let small =
            planned.notes().iter().any(|note| note.contains("small") || note.contains("too few"));
        assert_eq!(small, rows < 100_000, "{rows}: {:?}", planned.notes());
        let shown = planned.settings();
        assert!(shown.get("teachers").unwrap() <= rows as f64);
        assert!(planned.notes().iter().any(|note| note.contains("taken for public")));
    }
}

/// Facts of private rows are votes: no rows at all, one class, fewer rows than teachers.
#[test]
fn private_rows_cause_no_error() {
    let all = table(400, 3);
    let one_class: Vec<usize> = (0..400)
        .filter(|row| matches!(&all.target, privet_data::Target::Class { codes, .. } if codes[*row] == 1))
        .collect();
    let task = Vote { teachers: Some(20), ..Vote::on(20) };
    let request =
        task.request(&schema(""), 400, Neighbours::AddRemove, (200.0, Some(1e-6))).unwrap();
    let plan = plan(&request).unwrap().with_public(&public(20)).unwrap();
    for (rows, expected) in [(vec![], 0), (one_class, 1), (vec![5], 0)] {
        let actual = labels(&plan, &all.select(&rows));
        let told: Vec<_> = actual.artefact().classes().into_iter().flatten().collect();
        assert!(told.iter().all(|class| *class == expected), "{told:?}");
        assert!(!told.is_empty());
    }
}

/// A certificate is of the rows that it states, in their order, and a plan for them takes no others.
#[test]
fn public_rows_are_stated() {
    let rows = public(60);
    let task = Vote { teachers: Some(50), aggregator: "gnmax".parse().unwrap(), ..Vote::of(&rows) };
    let planned = plan(&asked(task, 1_000, 20.0)).unwrap();
    let swapped = rows.select(&(0..60).rev().collect::<Vec<_>>());
    let error = planned.clone().with_public(&swapped).unwrap_err().to_string();
    assert!(error.contains("other public rows"), "{error}");
    let actual = labels(&planned.with_public(&rows).unwrap(), &table(1_000, 5));
    assert!(check_stated_rows(&actual.request().task, &rows).unwrap().holds);
    assert!(!check_stated_rows(&actual.request().task, &swapped).unwrap().holds);
    assert!(check_stated_rows(&Vote::on(60), &rows).is_none());
    let odd = Vote { public: Some("abc".into()), ..Vote::on(5) };
    assert!(plan(&asked(odd, 100, 1.0)).is_err());
}

/// Rows that are not to be labelled have no label, and still help.
#[test]
fn rows_beside_those_asked_about_are_seen() {
    let rows = public(600);
    let propagation = Teacher::by_name("propagation").unwrap();
    let task = Vote {
        teachers: Some(200),
        teacher: propagation,
        aggregator: "gnmax".parse().unwrap(),
        ..Vote::of_first(100, &rows)
    };
    let data = table(6_000, 6);
    let planned = plan(&asked(task, 6_000, 20.0)).unwrap();
    assert!(planned.clone().with_public(&public(100)).is_err());
    let actual = labels(&planned.with_public(&rows).unwrap(), &data);
    let right = share_right(actual.artefact(), &truth(600)[..100]);
    assert!(actual.artefact().labels.len() == 100 && right > 0.8, "{right}");
    let study = Study { spread: true, rounds: 0, ..Study::by_name("nearest").unwrap() };
    let student = Student::fit(&study, &rows, &actual.artefact().classes(), 3).unwrap().unwrap();
    let predicted = student.predict(&rows).unwrap();
    let right = predicted.iter().zip(&truth(600)).filter(|(one, other)| one == other).count();
    assert!(right > 480, "{right} of 600");
}

/// T is one of those planned, and an answer after the end of it is refused.
#[test]
fn an_estimated_end_is_stated_and_kept() {
    let task = Vote {
        teachers: Some(200),
        aggregator: "estimated-sparse-vector".parse().unwrap(),
        ..Vote::of(&public(100))
    };
    let planned = plan(&asked(task, 6_000, 20.0)).unwrap().with_public(&public(100)).unwrap();
    // One record moves one vote of each of the 100 queries: the estimate by 100, for a fifth of ε.
    let noise = planned.settings().get("estimate_noise").unwrap();
    assert!((noise / (100.0 / (0.2 * 20.0)) - 1.0).abs() < 1e-9, "{noise}");
    // The alternatives of the estimate are settled: made again, the plan is the same, and alternatives
    // that cost more are refused.
    let settled = planned.request();
    assert_eq!(plan(settled).unwrap().request(), settled);
    let mut cheaper = settled.clone();
    let Aggregator::EstimatedSparseVector(options) = &mut cheaper.task.aggregator else { panic!() };
    options.alternatives[0].noise_scale *= 0.9;
    assert!(plan(&cheaper).is_err());
    let actual = labels(&planned, &table(6_000, 7));
    let cutoff = actual.artefact().cutoff.unwrap();
    assert!(cutoff.is_power_of_two() && planned.settings().get("largest_cutoff").is_some());
    for (cutoff, labels) in [
        (None, actual.artefact().labels.clone()),
        (Some(3), actual.artefact().labels.clone()),
        (Some(1), [vec![-1], vec![0; 99]].concat()),
    ] {
        let mut document: serde_json::Value =
            serde_json::from_str(&to_json(&actual, None).unwrap()).unwrap();
        let artefact =
            serde_json::to_value(Labels { first: 0, labels, cutoff, places: vec![] }).unwrap();
        document["body"] = artefact;
        let read = from_json::<Vote>(document.to_string().as_bytes(), Seal::Unchecked);
        let checks = verify(&read.unwrap()).checks;
        let kept = checks.iter().filter(|check| !check.holds).count();
        assert!(kept >= 2, "the digest and what such a plan can release: {checks:?}");
    }
}

#[derive(Debug)]
struct Odd(fn(usize) -> Ballot);

impl Teach for Odd {
    fn ballots(
        &self,
        training_data: &TrainingData<'_>,
        _: &(dyn Fn() -> bool + Sync),
    ) -> Option<Vec<Ballot>> {
        let each = |number: usize| {
            let ballot = std::panic::catch_unwind(|| (self.0)(number));
            ballot.unwrap_or(None)
        };
        Some((0..training_data.chunks.len()).map(each).collect())
    }
}

/// Teachers from outside: one that votes nonsense, too little or nothing at all votes for the first
/// class.
#[test]
fn odd_teachers_vote_for_the_first_class() {
    let data = table(400, 4);
    let task = Vote {
        teachers: Some(100),
        teacher: Teacher::Outside { what: "a test".into() },
        ..Vote::on(5)
    };
    let plan = plan(&asked(task, 400, 200.0)).unwrap();
    let missing = plan.clone().with_public(&public(5)).unwrap();
    let mut source = FixedSeed::new(1);
    let error = missing.run(&data, &mut source, &AtomicBool::new(false)).unwrap_err();
    assert!(error.to_string().contains("teachers"), "{error}");
    for (odd, expected) in [
        (Odd(|_| None), 0),
        (Odd(|_| Some(vec![2; 4])), 0),
        (Odd(|_| Some(vec![7; 5])), 0),
        (Odd(|_| Some(vec![2; 5])), 2),
        (Odd(|number| Some(vec![if number < 3 { 1 } else { 2 }; 5])), 2),
    ] {
        let ready = with_rows_and_teachers(plan.clone(), &public(5), Some(Arc::new(odd))).unwrap();
        assert_eq!(labels(&ready, &data).artefact().labels, [expected; 5]);
    }
}

#[test]
fn what_no_plan_covers_is_refused_in_words() {
    let refused = |task: Vote, rows: u64| plan(&asked(task, rows, 1.0)).unwrap_err().to_string();
    let many = Vote { teachers: Some(101), ..Vote::on(5) };
    assert!(refused(many, 100).contains("101 teachers of 100 declared rows"));
    assert!(refused(Vote::on(0), 100).contains("queries"));
    let odd = Vote { teacher: Teacher::Tree { depth: Some(0) }, ..Vote::on(5) };
    assert!(refused(odd, 100).contains("depth"));
    let unnamed = Vote { teacher: Teacher::Outside { what: "a\nb".into() }, ..Vote::on(5) };
    assert!(refused(unnamed, 100).contains("what"));
    let streamed = Vote { aggregator: "gnmax".parse().unwrap(), stream: true, ..Vote::on(5) };
    assert!(refused(streamed, 100).contains("one batch"));
    let pure =
        Vote::on(5).request(&schema(""), 100, Neighbours::AddRemove, (1.0, Some(0.0))).unwrap();
    assert!(plan(&pure).unwrap_err().to_string().contains("delta"));
    let number = Schema::from_toml(
        "[clip]\nnorm = \"l2\"\nradius = 1.0\n[target]\ncolumn = \"y\"\nbounds = [0, 1]\n[[columns]]\n\
         name = \"a\"\ntype = \"number\"\nbounds = [0, 1]\n",
    );
    let number =
        Vote::on(5).request(&number.unwrap(), 100, Neighbours::AddRemove, (1.0, None)).unwrap();
    assert!(plan(&number).unwrap_err().to_string().contains("classes"));
    // More questions than planned, other columns.
    let planned = plan(&asked(Vote::on(5), 400, 1.0)).unwrap();
    assert!(planned.clone().with_public(&public(6)).is_err());
    let narrow = public(5).only(&[0]);
    assert!(matches!(
        with_rows_and_teachers(planned, &narrow, None),
        Err(LearnError::DataShape(_))
    ));
}

/// Batches from one budget: each is certified, each costs a run of the sparse vector, queries beyond the
/// plan and copies of a state are refused.
#[test]
fn a_stream_of_questions_goes_on_until_its_budget_ends() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("answers.stream");
    let data = table(2_000, 7);
    let aggregator = Aggregator::default().with("cutoff", "3").unwrap();
    let task = Vote { teachers: Some(100), stream: true, aggregator, ..Vote::on(40) };
    let planned = plan(&asked(task, 2_000, 500.0)).unwrap();
    let mut source = SystemRandom::new().unwrap();
    let quiet = AtomicBool::new(false);
    Answers::begin(&planned, &path, &mut source).unwrap();
    assert!(Answers::begin(&planned, &path, &mut source).is_err());
    // Rows with an unambiguous class.
    let row = |row: usize| ["0.9,-0.9,right\n", "-0.9,-0.9,left\n", "0.1,0.95,up\n"][row % 3];
    let text = format!("a,b,y\n{}", (0..15).map(row).collect::<String>());
    let sure = read::csv_bytes(text.as_bytes(), &schema("")).unwrap().features;
    let copy = std::fs::read(&path).unwrap();
    for round in 0..2_u64 {
        let stream = Answers::read(&path).unwrap();
        assert_eq!((stream.queries_left(), stream.unstable_left()), (40 - 15 * round, 3 - round));
        let (found, left) = stream.next(&data, &sure, None, &mut source, &quiet).unwrap();
        assert_eq!((found.artefact().first, left), (15 * round, 2 - round));
        assert_eq!(found.artefact().answered(), 15);
        read_again(&found);
    }
    let stream = Answers::read(&path).unwrap();
    let many = stream.next(&data, &sure, None, &mut source, &quiet).unwrap_err();
    assert!(many.to_string().contains("1 to 10 are left"), "{many}");
    // An earlier state cannot be resumed.
    let now = std::fs::read(&path).unwrap();
    std::fs::write(&path, copy).unwrap();
    let few = sure.select(&[0, 1]);
    assert!(Answers::read(&path).unwrap().next(&data, &few, None, &mut source, &quiet).is_err());
    std::fs::write(&path, now).unwrap();
    let last = Answers::read(&path).unwrap().next(&data, &few, None, &mut source, &quiet).unwrap();
    assert_eq!(last.1, 0);
    let ended =
        Answers::read(&path).unwrap().next(&data, &few, None, &mut source, &quiet).unwrap_err();
    assert!(ended.to_string().contains("another budget"), "{ended}");
}

/// More answers than a run can give are detected.
#[test]
fn answers_after_the_end_are_refused() {
    let aggregator = Aggregator::default().with("cutoff", "1").unwrap();
    let task = Vote { teachers: Some(100), aggregator, ..Vote::on(20) };
    let plan = plan(&asked(task, 400, 0.1)).unwrap().with_public(&public(20)).unwrap();
    let actual = labels(&plan, &table(400, 5));
    assert!(actual.artefact().labels.contains(&-1), "so little budget answers hardly anything");
    let text = to_json(&actual, None).unwrap();
    let mut document: serde_json::Value = serde_json::from_str(&text).unwrap();
    document["body"]["labels"] = serde_json::json!([[-1; 10], [1; 10]].concat());
    let forged = privet_dp::gate::seal::seal_document(document, None).unwrap().to_string();
    let read = from_json::<Vote>(forged.as_bytes(), Seal::Required).unwrap();
    assert!(!verify(&read).valid);
}

/// Units of several rows are in one chunk each, and both relations are covered.
#[test]
fn units_and_relations_are_covered() {
    let schema = schema("[unit]\ncolumn = \"who\"\nmax_records = 2\n");
    let data = read::csv_bytes(text(600, 2, true).as_bytes(), &schema).unwrap();
    for neighbours in RELATIONS {
        let task = Vote { teachers: Some(50), ..Vote::on(10) };
        let request = task.request(&schema, 600, neighbours, (100.0, Some(1e-6))).unwrap();
        let plan = plan(&request).unwrap().with_public(&public(10)).unwrap();
        let actual = labels(&plan, &data);
        assert_eq!(Vote::fits(&request, actual.artefact()), Ok(()));
    }
}

/// Labels alone: the records' own rows may be voted on; the certificate states what is protected, and no
/// other family offers it.
#[test]
fn labels_alone_are_protected_where_that_is_asked_for() {
    let data = table(2_000, 8);
    let task = Vote { teachers: Some(100), ..Vote::on(100) };
    let request =
        task.request(&schema(""), 2_000, Neighbours::ReplaceLabel, (100.0, Some(1e-6))).unwrap();
    let own = data.features.select(&(0..100).collect::<Vec<_>>());
    let planned = plan(&request).unwrap().with_public(&own).unwrap();
    let actual = labels(&planned, &data);
    let certificate = actual.certificate();
    assert_eq!(certificate.guarantee.as_ref().unwrap().neighbours, Neighbours::ReplaceLabel);
    assert!(certificate.notes.iter().any(|note| note.contains("labels alone")), "{certificate:?}");
    let words = RequestOptions {
        epsilon: Some(1.0),
        neighbours: Neighbours::ReplaceLabel,
        ..RequestOptions::of("gd".parse().unwrap())
    };
    let erm = Request::build(&schema(""), 2_000, &words);
    let refused = plan(&erm.unwrap()).unwrap_err().to_string();
    assert!(refused.contains("labels alone"), "{refused}");
}

/// Any discrete function of records: the answer of most chunks, in one stream; a panic gives the fixed
/// answer.
#[test]
fn functions_of_records_are_answered_by_most_chunks() {
    let (data, planned) = (table(1_000, 6), plan(&asked(Vote::on(5), 1_000, 1.0)).unwrap());
    let answers = StableAnswers {
        neighbours: Neighbours::ReplaceOne,
        unit: privet_core::Unit::Record,
        law: ThresholdNoise::Exponential,
        noise_scale: 0.05,
        query_ratio: 1.0,
        cutoff: 1,
        questions: 10,
        delta: 1e-9,
    };
    let events = answers.event().unwrap();
    let claim = account::guarantee(&events, 1e-6).unwrap();
    let mut source = SystemRandom::new().unwrap();
    let mut session = Session::start(events, &mut source);
    let mut asked =
        AnswerStream::begin((planned.facts(), &data), 50, &answers, &mut session).unwrap();
    let rows = asked.ask(|part| part.rows(), 0, &mut session).unwrap();
    let odd = asked.ask(|_| panic!("never seen"), 7, &mut session).unwrap();
    // Every chunk gives another answer: ⊥, and the end.
    let place = std::sync::atomic::AtomicUsize::new(0);
    let each = |_: &Dataset| place.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
    let none = asked.ask(each, 0, &mut session).unwrap();
    let ended = asked.ask(|part| part.rows(), 0, &mut session).unwrap();
    let all = session.gather(vec![rows, odd, none, ended]).unwrap();
    let statement = Statement::new(claim, Arithmetic::Finite, serde_json::json!({}));
    let heard = session.settle(all, statement).unwrap().into_parts().0;
    assert_eq!(
        heard,
        [
            QueryAnswer::Answer(20),
            QueryAnswer::Answer(7),
            QueryAnswer::Unstable,
            QueryAnswer::Ended
        ]
    );
    let other = StableAnswers { neighbours: Neighbours::AddRemove, ..answers };
    let mut session = Session::start(other.event().unwrap(), &mut source);
    assert!(AnswerStream::begin((planned.facts(), &data), 50, &other, &mut session).is_err());
}

// ---- Errata of Thakkar 2019, chapter 5 ----

fn printed(cutoff: u32, questions: u64) -> StableAnswers {
    // λ = √(32 T ln(2/δ))/ε at ε = 1, δ = 1e-6; answers have twice the noise of thresholds.
    let scale = (32.0 * f64::from(cutoff) * (2e6_f64).ln()).sqrt();
    StableAnswers {
        neighbours: Neighbours::AddRemove,
        unit: privet_core::Unit::Record,
        law: ThresholdNoise::Laplace,
        noise_scale: scale,
        query_ratio: 2.0,
        cutoff,
        questions,
        delta: 5e-7,
    }
}

/// PRIV-16: a loop that runs while c ≤ T makes T + 1 runs. At the printed constants that costs less than
/// is claimed; by the accountant's own constants, which leave nothing over, it would cost more.
#[test]
fn priv_16_one_run_more_costs_more() {
    for cutoff in [1, 5, 60] {
        let more = StableAnswers { cutoff: cutoff + 1, ..printed(cutoff, 1_000) };
        let epsilon = account::epsilon(&more.event().unwrap(), 1e-6).unwrap();
        assert!(epsilon < 1.0, "{cutoff}: {epsilon}");
    }
    let planned = plan(&asked(Vote { teachers: Some(50), ..Vote::on(10) }, 1_000, 1.0)).unwrap();
    let mut events = serde_json::to_value(planned.events()).unwrap();
    let count = events["all"][1]["up-to"]["count"].as_u64().unwrap();
    events["all"][1]["up-to"]["count"] = (count + 1).into();
    let events: account::Event = serde_json::from_value(events).unwrap();
    assert!(!account::meets(&events, planned.request().budget.unwrap()).unwrap());
}

/// PRIV-17: the printed threshold bounds Pr[Lap(2λ) > w + Lap(λ)] by δ/2m̃ for a fresh threshold. Under
/// the lowest of T thresholds, for which an analyst may wait, the bound is false; at the threshold used
/// here it holds.
#[test]
fn priv_17_whoever_waits_for_a_low_threshold_exceeds_the_printed_bound() {
    let (cutoff, questions) = (100, 1_000_u64);
    let of = printed(cutoff, questions);
    let (s1, s2) = (of.noise_scale, 2.0 * of.noise_scale);
    let allowed = 5e-7 / questions as f64;
    // Continuous laws, by the density of the smallest of T draws.
    let leak = |w: f64, draws: f64| {
        let (steps, far) = (200_000, 60.0 * s1);
        (0..steps)
            .map(|step| {
                let z = -far + (step as f64 + 0.5) * (2.0 * far / steps as f64);
                let above =
                    if z > 0.0 { 0.5 * (-z / s1).exp() } else { 1.0 - 0.5 * (z / s1).exp() };
                let density =
                    draws * above.powf(draws - 1.0) * (-(z.abs()) / s1).exp() / (2.0 * s1);
                let x = w + z;
                let beyond =
                    if x > 0.0 { 0.5 * (-x / s2).exp() } else { 1.0 - 0.5 * (x / s2).exp() };
                density * beyond * 2.0 * far / steps as f64
            })
            .sum::<f64>()
    };
    let printed = s2 * (2.0 * questions as f64 / 1e-6).ln();
    assert!(leak(printed, 1.0) < allowed);
    assert!(leak(printed, f64::from(cutoff)) > 2.0 * allowed);
    assert!(leak(of.threshold().unwrap() as f64, f64::from(cutoff)) <= allowed);
}

/// PRIV-18: with d = lead − 1 one vote moves d by 2, and changes the winner of votes at d = 1.
#[test]
fn priv_18_the_printed_distance_moves_by_two() {
    let printed = |votes: [i64; 2]| ((votes[0] - votes[1]).abs() - 1).max(0);
    let (one, other) = ([60, 40], [59, 41]);
    assert_eq!(printed(one) - printed(other), 2);
    let (one, other) = ([51, 49], [50, 50]);
    assert_eq!((printed(one), one[0] > one[1], other[0] > other[1]), (1, true, false));
}

/// PRIV-19: chunks by position; a row that leaves from the top changes every chunk but perhaps the last.
#[test]
fn priv_19_chunks_by_position_all_change_when_one_row_leaves() {
    let by_position = |rows: &[u32]| rows.chunks(10).map(<[u32]>::to_vec).collect::<Vec<_>>();
    let rows: Vec<u32> = (0..100).collect();
    let (whole, fewer) = (by_position(&rows), by_position(&rows[1..]));
    assert!(whole.iter().zip(&fewer).all(|(one, other)| one != other));
}

/// PRIV-20: an oracle that is begun anew for each query spends as many times.
#[test]
fn priv_20_a_run_for_each_question_spends_as_many_times() {
    let planned = plan(&asked(Vote { teachers: Some(50), ..Vote::on(10) }, 1_000, 1.0)).unwrap();
    let event = planned.events().unwrap().clone();
    let each = account::Event::Repeat { count: 100, event: Box::new(event) };
    assert!(account::epsilon(&each, 1e-4).unwrap() > 5.0);
}
