//! Private counts: planned, released, written, verified; from any back end, once or as a stream.

use privet_core::{Budget, Neighbours, Unit};
use privet_data::{Dataset, Schema, read};
use privet_dp::account::Event;
use privet_dp::gate::{GateError, PurseError};
use privet_dp::noise::{FixedSeed, Source, SystemRandom};
use privet_learn::file::{Seal, any_from_json, from_json, to_json};
use privet_learn::statistics::count::{Count, Counts, Law};
use privet_learn::statistics::stream::Stream;
use privet_learn::{Artefact, Erm, LearnError, Loaded, Plan, Released, Request, plan, verify};
use privet_optim::sum::Sums;
use proptest::prelude::*;
use serde_json::{Value, json};
use std::sync::atomic::AtomicBool;

const SCHEMA: &str = r#"
invalid = "drop"
[file]
missing_values = ["?"]
[clip]
norm = "l2"
radius = 0.001
[target]
column = "ill"
classes = ["no", "yes"]
[[columns]]
name = "work"
type = "category"
categories = ["farm", "shop", "none"]
unknown = "other"
missing = "category"
[[columns]]
name = "smokes"
type = "binary"
values = ["n", "y"]
[[columns]]
name = "age"
type = "number"
bounds = [0, 100]
"#;

const TABLE: &str = "work,smokes,age,ill\nfarm,y,40,no\nfarm,n,50,yes\nmine,y,60,no\n?,n,70,no\n\
                     shop,n,30,yes\nfarm,n,20,no\nshop,sometimes,33,yes\n";

fn schema() -> Schema {
    Schema::from_toml(SCHEMA).unwrap()
}

fn count(by: &str) -> Count {
    Count { by: by.into(), times: None, law: None }
}

fn request(task: Count, rows: u64, epsilon: f64, delta: f64) -> Request<Count> {
    let request = task.request(&schema(), rows, Neighbours::AddRemove).unwrap();
    request.with_budget(Budget::new(epsilon, delta).unwrap())
}

fn table(plan: &Plan<Count>, text: &str) -> Dataset {
    read::csv_bytes(text.as_bytes(), &plan.request().schema).unwrap()
}

fn released(plan: &Plan<Count>, data: &Dataset, source: &mut dyn Source) -> Released<Count> {
    let release = plan.run(data, source, &AtomicBool::new(false)).unwrap();
    let text = to_json(&Released::<Count>::from_release(release).unwrap(), None).unwrap();
    from_json(text.as_bytes(), Seal::Required).unwrap()
}

fn cells(counts: &Counts) -> Vec<(&str, f64)> {
    counts.cells.iter().map(|cell| (cell.category.as_str(), cell.count)).collect()
}

/// At a huge ε the noise is 0 nearly always: the counts are right. A fixed seed, so never by chance.
#[test]
fn every_declared_category_is_counted() {
    for (by, expected) in [
        (
            "work",
            vec![("farm", 3.0), ("shop", 2.0), ("none", 0.0), ("(other)", 1.0), ("(missing)", 1.0)],
        ),
        // The record with neither value is the null record there, and in no cell.
        ("smokes", vec![("n", 4.0), ("y", 2.0)]),
        ("ill", vec![("no", 4.0), ("yes", 3.0)]),
    ] {
        let planned = plan(&request(count(by), 7, 100.0, 0.0)).unwrap();
        let released = released(&planned, &table(&planned, TABLE), &mut FixedSeed::new(1));
        assert_eq!(cells(released.artefact()), expected, "{by}");
    }
}

#[test]
fn counts_are_certified_and_verified_and_lies_are_found() {
    for (law, delta) in [(Law::Laplace, 0.0), (Law::Gaussian, 1e-6)] {
        let task = Count { law: Some(law), ..count("work") };
        let planned = plan(&request(task, 7, 1.0, delta)).unwrap();
        assert_eq!(planned.guarantee().unwrap().epsilon, 1.0);
        let mut source = SystemRandom::new().unwrap();
        let released = released(&planned, &table(&planned, TABLE), &mut source);
        let verdict = verify(&released);
        assert!(verdict.valid, "{law:?}: {:?}", verdict.checks);
        assert_eq!(verdict.guarantee, planned.guarantee().copied());

        let text = to_json(&released, None).unwrap();
        assert!(matches!(any_from_json(text.as_bytes(), Seal::Required), Ok(Loaded::Counts(_))));
        assert!(from_json::<Erm>(text.as_bytes(), Seal::Required).unwrap_err().contains("table"));
        let document: Value = serde_json::from_str(&text).unwrap();
        let accepted = |change: &dyn Fn(&mut Value)| {
            let mut forged = document.clone();
            change(&mut forged);
            let sealed = privet_dp::gate::seal::seal_document(forged, None).unwrap().to_string();
            any_from_json(sealed.as_bytes(), Seal::Required).is_ok_and(|read| read.verify().valid)
        };
        assert!(accepted(&|_| {}), "sealed anew it is as it was");
        let lies: [&dyn Fn(&mut Value); 8] = [
            &|file| file["body"]["cells"][0]["count"] = json!(0.3333),
            &|file| file["body"]["cells"][0]["category"] = json!("mine"),
            &|file| file["body"]["noise"] = json!(0.001),
            &|file| file["body"]["by"] = json!("age"),
            &|file| file["certificate"]["request"]["noise"][0] = json!(0.001),
            &|file| file["certificate"]["request"]["by"] = json!("smokes"),
            &|file| file["certificate"]["guarantee"]["epsilon"] = json!(0.5),
            &|file| file["kind"] = json!("linear"),
        ];
        for (number, lie) in lies.iter().enumerate() {
            assert!(!accepted(lie), "{law:?}: lie {number}");
        }
    }
}

/// One release takes Laplace noise, many take Gaussian where there is a δ; and noise grows with √times.
#[test]
fn the_law_follows_from_public_facts() {
    let noise = |times, delta| {
        let task = Count { times: Some(times), ..count("work") };
        let planned = plan(&request(task, 7, 1.0, delta)).unwrap();
        (planned.request().task.law.unwrap(), planned.settings().get("count_noise").unwrap())
    };
    assert_eq!(noise(1, 1e-6).0, Law::Laplace);
    assert_eq!(noise(1000, 1e-6).0, Law::Gaussian);
    let (law, pure) = noise(100, 0.0);
    assert_eq!(law, Law::Laplace);
    assert!((pure / (100.0 * 2_f64.sqrt()) - 1.0).abs() < 1e-3, "{pure}");
    assert!(noise(1000, 1e-6).1 < pure * 10.0 / 4.0);
}

#[test]
fn what_cannot_be_counted_is_refused_in_words() {
    for (by, word) in [("age", "declared categories"), ("nothing", "no such column")] {
        let refused = count(by).request(&schema(), 7, Neighbours::AddRemove).unwrap_err();
        assert!(refused.to_string().contains(word), "{refused}");
    }
    let base = request(count("work"), 7, 1.0, 0.0);
    let words = |request: &Request<Count>| plan(request).unwrap_err().to_string();
    assert!(words(&Request { budget: None, ..base.clone() }).contains("budget"));
    assert!(words(&Request { schema: schema(), ..base.clone() }).contains("counting"));
    let gaussian = Count { law: Some(Law::Gaussian), ..count("work") };
    assert!(words(&request(gaussian, 7, 1.0, 0.0)).contains("delta"));
    let never = Count { times: Some(0), ..count("work") };
    assert!(matches!(plan(&request(never, 7, 1.0, 0.0)), Err(LearnError::Setting(_))));
    // Under replace-one the number of rows is public, and must be right.
    let exact = Request { neighbours: Neighbours::ReplaceOne, rows: 8, ..base };
    let planned = plan(&exact).unwrap();
    let data = table(&planned, TABLE);
    let outcome = planned.run(&data, &mut FixedSeed::new(1), &AtomicBool::new(false));
    assert!(matches!(outcome, Err(LearnError::RowCount { declared: 8, found: 7 })));
}

/// The exact counts of a table.
fn exact(planned: &Plan<Count>, text: &str) -> Vec<i128> {
    let cells = planned.facts();
    let data = table(planned, text);
    let records = privet_optim::sum::Table::problem(&data, &cells.labels).unwrap();
    records.sum(&cells.query).unwrap().into_units().unwrap()
}

const CELLS: [&str; 6] = ["farm", "shop", "none", "mine", "?", "what,ever"];

proptest! {
    /// The theorem's Δ₁ and Δ₂ on neighbours: one unit's records exchanged, added or taken away.
    #[test]
    fn counts_move_no_further_than_charged(
        others in prop::collection::vec(0..CELLS.len(), 1..12),
        own in prop::collection::vec(0..CELLS.len(), 0..=3),
        instead in prop::collection::vec(0..CELLS.len(), 0..=3),
        by in prop::sample::select(vec!["work", "smokes", "ill"]),
    ) {
        let unit = "[unit]\ncolumn = \"who\"\nmax_records = 3\n";
        let schema = Schema::from_toml(&SCHEMA.replace("[[columns]]\nname = \"work\"",
            &format!("{unit}[[columns]]\nname = \"work\""))).unwrap();
        let text = |mine: &[usize]| {
            let row = |who: usize, cell: &usize| {
                let smokes = ["n", "y", "sometimes"][cell % 3];
                let ill = ["no", "yes"][cell % 2];
                format!("{who},{},{smokes},5,{ill}\n", CELLS[*cell])
            };
            let rows = others.iter().enumerate().map(|(who, cell)| row(who + 2, cell));
            let mine = mine.iter().map(|cell| row(1, cell));
            format!("who,work,smokes,age,ill\n{}", rows.chain(mine).collect::<String>())
        };
        for neighbours in crate::common::RELATIONS {
            let asked = count(by).request(&schema, 20, neighbours).unwrap();
            let planned = plan(&asked.with_budget(Budget::new(1.0, 0.0).unwrap())).unwrap();
            let facts = planned.facts();
            prop_assert_eq!(facts.relation.unit, Unit::User { max_records: 3 });
            let other = if neighbours == Neighbours::AddRemove { &[][..] } else { &instead };
            let (one, two) = (exact(&planned, &text(&own)), exact(&planned, &text(other)));
            let moves = one.iter().zip(&two).map(|(a, b)| (a - b) as f64);
            let (absolute, square) = moves.fold((0.0, 0.0), |(a, s), d| (a + d.abs(), s + d * d));
            prop_assert!(absolute <= facts.absolute_shift(), "{absolute}");
            prop_assert!(square.sqrt() <= facts.shift(), "{}", square.sqrt());
        }
    }
}

/// The bounds are reached: a unit's records all in one cell, another's in another.
#[test]
fn the_bounds_are_tight() {
    let planned = plan(&request(count("ill"), 7, 1.0, 0.0)).unwrap();
    assert_eq!(planned.facts().absolute_shift(), 1.0);
    let exchanged =
        Request { neighbours: Neighbours::ReplaceOne, ..request(count("ill"), 7, 1.0, 0.0) };
    let facts = plan(&exchanged).unwrap().facts().clone();
    assert_eq!(facts.absolute_shift(), 2.0);
    assert!((facts.shift() - 2_f64.sqrt()).abs() < 1e-12);
}

#[test]
fn a_stream_goes_on_in_other_processes_and_only_from_its_last_state() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("counts.stream");
    let task = Count { times: Some(3), ..count("work") };
    let planned = plan(&request(task, 7, 1.0, 1e-6)).unwrap();
    assert!(matches!(planned.events(), Some(Event::UpTo { count: 3, .. })));
    let data = table(&planned, TABLE);
    let mut source = SystemRandom::new().unwrap();
    assert_eq!(Stream::begin(&planned, &path, &mut source).unwrap().releases_left(), 3);
    assert!(matches!(
        Stream::begin(&planned, &path, &mut source),
        Err(LearnError::NotAStream { .. })
    ));
    let first = std::fs::read(&path).unwrap();
    let go_on = || {
        let mut source = SystemRandom::new().unwrap();
        Stream::read(&path)?.next(&data, &mut source)
    };
    let (one, left) = go_on().unwrap();
    assert_eq!(left, 2);
    let verdict = verify(&sealed(&one));
    assert!(verdict.valid, "{:?}", verdict.checks);
    assert_eq!(verdict.guarantee.unwrap().epsilon, 1.0, "the claim is that of all of them");
    assert!(verdict.notes[0].contains("up to 3 releases"), "{:?}", verdict.notes);

    // An older state, or a copy of a resumed one, is refused, and nothing is drawn.
    let second = std::fs::read(&path).unwrap();
    std::fs::write(&path, &first).unwrap();
    let refused = go_on().map(|_| ()).unwrap_err();
    assert!(
        matches!(refused, LearnError::Gate(GateError::Purse(PurseError::Stale { .. }))),
        "{refused}"
    );
    std::fs::write(&path, &second).unwrap();
    assert_eq!(go_on().unwrap().1, 1);
    std::fs::write(&path, &second).unwrap();
    assert!(go_on().is_err());
    let text = std::fs::read_to_string(&path).unwrap();
    assert!(text.contains("privet-stream-1"), "the state is as it was");
}

fn sealed(released: &Released<Count>) -> Released<Count> {
    let text = to_json(released, None).unwrap();
    from_json(text.as_bytes(), Seal::Required).unwrap()
}

/// The budget of a state must be the plan of its request.
#[test]
fn a_state_that_was_edited_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s");
    let task = Count { times: Some(3), ..count("work") };
    let planned = plan(&request(task, 7, 1.0, 0.0)).unwrap();
    Stream::begin(&planned, &path, &mut SystemRandom::new().unwrap()).unwrap();
    let state: Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
    let edits: [&dyn Fn(&mut Value); 3] = [
        &|state| state["request"]["times"] = json!(30),
        &|state| state["request"]["noise"][0] = json!(0.1),
        &|state| state["format"] = json!("privet-stream-9"),
    ];
    for (number, edit) in edits.iter().enumerate() {
        let mut forged = state.clone();
        edit(&mut forged);
        std::fs::write(&path, forged.to_string()).unwrap();
        assert!(Stream::read(&path).is_err(), "edit {number}");
    }
    // Consistently edited, it reads; but the journal has the reserved budget.
    let more = Count { times: Some(30), ..count("work") };
    let more = plan(&request(more, 7, 10.0, 0.0)).unwrap();
    let other = folder.path().join("other");
    Stream::begin(&more, &other, &mut SystemRandom::new().unwrap()).unwrap();
    std::fs::copy(&other, &path).unwrap();
    let data = table(&more, TABLE);
    assert!(Stream::read(&path).unwrap().next(&data, &mut SystemRandom::new().unwrap()).is_err());
    assert_eq!(
        more.facts().names.len(),
        Artefact::numbers(
            &released(
                &plan(&request(count("work"), 7, 1.0, 0.0)).unwrap(),
                &data,
                &mut FixedSeed::new(2)
            )
            .artefact()
            .clone()
        )
        .len()
    );
}
