//! Answers by the records near a question: what they are worth, what one unit can move, what is refused.

use privet_core::{Budget, Neighbours, Unit};
use privet_data::{Dataset, Schema, read};
use privet_dp::account::{Cost, Event};
use privet_dp::noise::{FixedSeed, SystemRandom};
use privet_learn::file::{Seal, any_from_json, released_from_json, to_json};
use privet_learn::model::Predictions;
use privet_learn::transfer::neighbours::{Answered, Nearby};
use privet_learn::{LearnError, Loaded, Plan, Released, Request, plan, verify};
use proptest::prelude::*;
use std::sync::atomic::AtomicBool;

const HEAD: &str = "bias = false\n[clip]\nnorm = \"l2\"\nradius = 2.0\n\
     [[columns]]\nname = \"a\"\ntype = \"number\"\nbounds = [-1, 1]\nscale = \"symmetric\"\n\
     [[columns]]\nname = \"b\"\ntype = \"number\"\nbounds = [-1, 1]\nscale = \"symmetric\"\n";
const CLASSES: &str = "[target]\ncolumn = \"y\"\nclasses = [\"no\", \"yes\"]\n";
const NUMBER: &str = "[target]\ncolumn = \"y\"\nbounds = [0, 10]\n";
const PERSONS: &str = "[unit]\ncolumn = \"who\"\nmax_records = 3\n";

fn schema(parts: &[&str]) -> Schema {
    Schema::from_toml(&format!("{HEAD}{}", parts.concat())).unwrap()
}

fn table(text: &str, schema: &Schema) -> Dataset {
    read::csv_bytes(text.as_bytes(), schema).unwrap()
}

/// Questions of two numbers each.
fn asking(questions: &[[f64; 2]]) -> Nearby {
    let questions = questions.iter().map(|question| question.to_vec()).collect();
    Nearby { questions, within: Some(0.3), votes: Some(2) }
}

fn planned(task: Nearby, schema: &Schema, rows: u64, neighbours: Neighbours) -> Plan<Nearby> {
    let request = task.request(schema, rows, neighbours, (1.0, Some(1e-6))).unwrap();
    plan(&request).unwrap()
}

fn seeded(plan: &Plan<Nearby>, data: &Dataset, seed: u64) -> Answered {
    let release = plan.run(data, &mut FixedSeed::new(seed), &AtomicBool::new(false)).unwrap();
    release.into_parts().0
}

/// Rows on a grid of the square, classes by the sign of a.
fn square(rows: usize) -> String {
    let row = |place: usize| {
        let (a, b) = ((place % 40) as f64 / 20.0 - 0.975, (place / 40 % 40) as f64 / 20.0 - 0.975);
        format!("{a},{b},{}\n", if a > 0.0 { "yes" } else { "no" })
    };
    format!("a,b,y\n{}", (0..rows).map(row).collect::<String>())
}

/// Many records near: the classes are told, and about how many voted. Noise of 2 votes at ε = 1 has a standard deviation
/// of about 7.6; 100 votes more are 9 of them on the difference of two counts. False failure ≤ 1e-9.
#[test]
fn questions_with_many_records_near_are_answered() {
    let schema = schema(&[CLASSES]);
    let data = table(&square(6_400), &schema);
    let task = asking(&[[0.6, 0.0], [-0.6, 0.5], [0.6, -0.6]]);
    let plan = planned(task, &schema, 6_400, Neighbours::AddRemove);
    let noise = plan.settings().get("vote_noise").unwrap();
    assert!((5.0..7.0).contains(&noise), "{noise}");
    let release =
        plan.run(&data, &mut SystemRandom::new().unwrap(), &AtomicBool::new(false)).unwrap();
    let released: Released<Nearby> = Released::from_release(release).unwrap();
    let found = released.artefact().predictions(&schema);
    assert!(matches!(found, Predictions::Classes(ref codes) if *codes == [1, 0, 1]), "{found:?}");
    for count in released.artefact().counts() {
        assert!((300.0..650.0).contains(&count), "{count}");
    }
    let text = to_json(&released, None).unwrap();
    let again: Released<Nearby> = released_from_json(text.as_bytes(), Seal::Required).unwrap();
    let verdict = verify(&again);
    assert!(verdict.valid, "{verdict:?}");
    assert_eq!(verdict.guarantee.unwrap().epsilon, 1.0);
    assert!(verdict.notes.iter().any(|note| note.contains("at most 2 of the 3 answers")));
    assert!(matches!(any_from_json(text.as_bytes(), Seal::Required), Ok(Loaded::Answers(_))));
}

/// A number between its bounds.
#[test]
fn numbers_are_answered_between_their_bounds() {
    let schema = schema(&[NUMBER]);
    let rows: String = (0..3_000).map(|_| "0.5,0.5,7\n-0.5,-0.5,2\n").collect();
    let data = table(&format!("a,b,y\n{rows}"), &schema);
    let plan = planned(
        asking(&[[0.5, 0.5], [-0.5, -0.5], [0.9, -0.9]]),
        &schema,
        6_000,
        Neighbours::AddRemove,
    );
    let answered = seeded(&plan, &data, 5);
    let Predictions::Numbers(found) = answered.predictions(&schema) else { panic!() };
    assert!((found[0] - 7.0).abs() < 0.2 && (found[1] - 2.0).abs() < 0.2, "{found:?}");
    assert!((0.0..=10.0).contains(&found[2]) && answered.counts()[2] < 100.0);
}

/// How far the votes of all answers together are apart, of two tables under the same noise.
fn moved(plan: &Plan<Nearby>, one: &Dataset, other: &Dataset, seed: u64) -> f64 {
    let (first, second) = (seeded(plan, one, seed), seeded(plan, other, seed));
    let both = first.votes.iter().flatten().zip(second.votes.iter().flatten());
    both.map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt()
}

fn charged(plan: &Plan<Nearby>) -> f64 {
    let Some(Event::Use { cost: Cost::IndividualGaussian { sensitivity, .. }, .. }) = plan.events()
    else {
        panic!("another event")
    };
    *sensitivity
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    /// One record, or all of a person's, added, removed or exchanged: all answers together move by at most what is
    /// charged, however the questions lie; and some pairs reach it.
    #[test]
    fn one_unit_moves_all_answers_by_at_most_the_charge(
        rows in proptest::collection::vec((-1.0_f64..1.0, -1.0_f64..1.0, any::<bool>(), 0_u8..6), 3..25),
        questions in proptest::collection::vec([-1.0_f64..1.0, -1.0_f64..1.0], 1..9),
        within in prop_oneof![Just(9.0), 0.1_f64..1.5], votes in 1_u32..4, seed in 0_u64..1000,
        numbers in any::<bool>(),
    ) {
        let target = if numbers { NUMBER } else { CLASSES };
        for persons in [false, true] {
            let schema = if persons { schema(&[target, PERSONS]) } else { schema(&[target]) };
            let line = |(a, b, yes, who): &(f64, f64, bool, u8)| {
                let y = match (numbers, yes) {
                    (true, true) => "9.5", (true, false) => "3", (false, true) => "yes", (false, false) => "no",
                };
                if persons { format!("{a},{b},{y},p{}\n", who / 2) } else { format!("{a},{b},{y}\n") }
            };
            let text = |rows: &[(f64, f64, bool, u8)]| {
                let head = if persons { "a,b,y,who" } else { "a,b,y" };
                format!("{head}\n{}", rows.iter().map(line).collect::<String>())
            };
            let all = table(&text(&rows), &schema);
            // The last unit leaves: the last row, or all of its person's.
            let leaves = |row: usize| match &all.units {
                Some(units) => units[row] == units[all.rows() - 1],
                None => row + 1 == all.rows(),
            };
            let kept: Vec<usize> = (0..all.rows()).filter(|row| !leaves(*row)).collect();
            let fewer = all.select(&kept);
            let task = Nearby { within: Some(within), votes: Some(votes), ..asking(&questions) };
            let plan = planned(task.clone(), &schema, 20, Neighbours::AddRemove);
            let gap = moved(&plan, &all, &fewer, seed);
            prop_assert!(gap <= charged(&plan), "{gap} {}", charged(&plan));
            prop_assert!((charged(&plan) / f64::from(votes.min(questions.len() as u32)).sqrt() - 1.0).abs() < 1e-6);
            if !persons {
                let mut other = rows.clone();
                let last = other.last_mut().unwrap();
                *last = (-last.1, last.0, !last.2, last.3);
                let plan = planned(task, &schema, rows.len() as u64, Neighbours::ReplaceOne);
                let gap = moved(&plan, &all, &table(&text(&other), &schema), seed);
                prop_assert!(gap <= charged(&plan), "{gap} {}", charged(&plan));
            }
        }
    }
}

/// The charge is reached: a record near every question votes K times, and no more.
#[test]
fn a_record_near_every_question_votes_as_often_as_it_may() {
    let schema = schema(&[CLASSES]);
    let all = table("a,b,y\n0,0,yes\n0.1,0,no\n", &schema);
    let fewer = table("a,b,y\n0,0,yes\n", &schema);
    let task = Nearby { votes: Some(3), ..asking(&[[0.0, 0.0]; 8]) };
    let plan = planned(task, &schema, 2, Neighbours::AddRemove);
    let gap = moved(&plan, &all, &fewer, 9);
    assert!((gap - 3_f64.sqrt()).abs() < 1e-9, "{gap}");
}

/// A person's going leaves the votes of all others as they were, used up or not.
#[test]
fn whoever_leaves_leaves_the_others_as_they_were() {
    let schema = schema(&[CLASSES, PERSONS]);
    let all = table("a,b,y,who\n0,0,yes,u\n0,0,no,v\n0.1,0,no,v\n0.9,0.9,no,w\n", &schema);
    let without = table("a,b,y,who\n0,0,yes,u\n0.9,0.9,no,w\n", &schema);
    let plan = planned(asking(&[[0.0, 0.0]; 6]), &schema, 4, Neighbours::AddRemove);
    let (one, other) = (seeded(&plan, &all, 2), seeded(&plan, &without, 2));
    for (step, (with, less)) in one.votes.iter().zip(&other.votes).enumerate() {
        // v votes "no" twice, as one vote, and is out; "yes" of u does not change.
        assert!((with[1] - less[1]).abs() < 1e-9, "{step}");
        let wanted = if step < 2 { 1.0 } else { 0.0 };
        assert!((with[0] - less[0] - wanted).abs() < 1e-9, "{step}");
    }
}

#[test]
fn what_is_left_open_is_settled_from_the_questions() {
    let schema = schema(&[CLASSES]);
    let open =
        Nearby { within: None, votes: None, ..asking(&[[0.0, 0.0], [0.0, 0.5], [0.5, 0.0]]) };
    let plan = planned(open, &schema, 100, Neighbours::AddRemove);
    let settled = &plan.request().task;
    assert_eq!((settled.within, settled.votes), (Some(0.5), Some(3)));
}

#[test]
fn what_no_theorem_covers_is_refused() {
    let schema = schema(&[CLASSES]);
    let ask = |task: Nearby, delta| {
        let request = Request::new(schema.clone(), 100, Neighbours::AddRemove, task);
        plan(&request.within(Budget::new(1.0, delta).unwrap())).unwrap_err()
    };
    let good = asking(&[[0.0, 0.0]]);
    assert!(matches!(ask(good.clone(), 0.0), LearnError::NotCovered { .. }));
    for bad in [
        Nearby { questions: vec![], ..good.clone() },
        Nearby { within: Some(0.0), ..good.clone() },
        Nearby { within: Some(f64::NAN), ..good.clone() },
        Nearby { votes: Some(0), ..good.clone() },
    ] {
        assert!(matches!(ask(bad, 1e-6), LearnError::Setting(_)));
    }
    for bad in [vec![vec![0.0]], vec![vec![0.0, f64::INFINITY]]] {
        let error = ask(Nearby { questions: bad, ..good.clone() }, 1e-6).to_string();
        assert!(error.contains("question"), "{error}");
    }
    assert!(matches!(schema.unit(), Unit::Record));
}
