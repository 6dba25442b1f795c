//! Answers by the records near a query: accuracy, sensitivity to one unit, refusals.

use privet_core::{Budget, Neighbours, Unit};
use privet_data::matrix::{DenseMatrix, Matrix};
use privet_data::{Dataset, Schema, read};
use privet_dp::account::{Cost, Event};
use privet_dp::noise::{FixedSeed, SystemRandom};
use privet_learn::file::{Seal, any_from_json, from_json, to_json};
use privet_learn::linear::model::Predictions;
use privet_learn::neighbours::stream::Answers;
use privet_learn::neighbours::{Nearby, NoisyVotes};
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

/// Queries of two numbers each.
fn asking(questions: &[[f64; 2]]) -> Nearby {
    let questions = questions.iter().map(|question| question.to_vec()).collect();
    Nearby { questions, within: Some(0.3), votes: Some(2), stream: None }
}

fn planned(task: Nearby, schema: &Schema, rows: u64, neighbours: Neighbours) -> Plan<Nearby> {
    let request = task.request(schema, rows, neighbours, (1.0, Some(1e-6))).unwrap();
    plan(&request).unwrap()
}

fn seeded(plan: &Plan<Nearby>, data: &Dataset, seed: u64) -> NoisyVotes {
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

/// With many records nearby the classes are right, and the approximate number of votes. Noise of 2 votes
/// at ε = 1 has a standard deviation of about 7.6; 100 votes more are 9 of them on the difference of two
/// counts. False failure ≤ 1e-9.
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
    let actual = released.artefact().predictions(&schema, Nearby::noise(released.request()));
    assert!(matches!(actual, Predictions::Classes(ref codes) if *codes == [1, 0, 1]), "{actual:?}");
    for count in released.artefact().counts() {
        assert!((300.0..650.0).contains(&count), "{count}");
    }
    let text = to_json(&released, None).unwrap();
    let again: Released<Nearby> = from_json(text.as_bytes(), Seal::Required).unwrap();
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
    assert!(
        plan.notes().iter().any(|note| note.contains("in the middle in up to 3")),
        "{:?}",
        plan.notes()
    );
    let answered = seeded(&plan, &data, 5);
    let Predictions::Numbers(found) = answered.predictions(&schema, Nearby::noise(plan.request()))
    else {
        panic!()
    };
    assert!((found[0] - 7.0).abs() < 0.2 && (found[1] - 2.0).abs() < 0.2, "{found:?}");
    assert!((0.0..=10.0).contains(&found[2]) && answered.counts()[2] < 100.0);
}

/// Distance between the votes of all answers together, of two tables under the same noise.
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
    /// One record, or all of a unit's, added, removed or exchanged: all answers together move by at most
    /// the charge, for any queries; and some pairs attain it.
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

/// The charge is attained: a record near every query votes K times, and no more.
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

/// Removing a unit leaves the votes of all others unchanged, used up or not.
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
        let expected = if step < 2 { 1.0 } else { 0.0 };
        assert!((with[0] - less[0] - expected).abs() < 1e-9, "{step}");
    }
}

/// A number in the middle of its bounds votes with half a square: in twice as many answers, as the note says.
#[test]
fn a_number_in_the_middle_votes_twice_as_often() {
    let schema = schema(&[NUMBER]);
    let all = table("a,b,y\n0,0,0\n0.1,0,5\n", &schema);
    let fewer = table("a,b,y\n0,0,0\n", &schema);
    let task = Nearby { votes: Some(3), ..asking(&[[0.0, 0.0]; 8]) };
    let plan = planned(task, &schema, 2, Neighbours::AddRemove);
    assert!(plan.notes()[0].contains("in the middle in up to 6"), "{:?}", plan.notes());
    let (one, other) = (seeded(&plan, &all, 4), seeded(&plan, &fewer, 4));
    let moved =
        one.votes.iter().zip(&other.votes).filter(|(a, b)| (a[1] - b[1]).abs() > 0.1).count();
    assert_eq!(moved, 6);
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
        plan(&request.with_budget(Budget::new(1.0, delta).unwrap())).unwrap_err()
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

/// A stream in a folder of its own.
fn begun(plan: &Plan<Nearby>, seed: u64) -> (tempfile::TempDir, std::path::PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("questions.stream");
    Answers::begin(plan, &path, &mut FixedSeed::new(seed)).unwrap();
    (folder, path)
}

fn matrix(questions: &[[f64; 2]]) -> Matrix {
    let values = questions.iter().flatten().map(|entry| *entry as f32).collect();
    Matrix::Dense(DenseMatrix::new(values, questions.len(), 2))
}

fn streamed(plan: &Plan<Nearby>, batches: &[(&Dataset, &[[f64; 2]])], seed: u64) -> Vec<f64> {
    let (_folder, path) = begun(plan, seed);
    let quiet = AtomicBool::new(false);
    let mut all = Vec::new();
    for (place, (data, questions)) in (1..).zip(batches) {
        let stream = Answers::read(&path).unwrap();
        let mut source = FixedSeed::new(1_000 * place + seed);
        let (found, _) = stream.next(*data, &matrix(questions), &mut source, &quiet).unwrap();
        all.extend(found.artefact().votes.iter().flatten());
    }
    all
}

fn apart(one: &[f64], other: &[f64]) -> f64 {
    one.iter().zip(other).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(10))]
    /// A record that is in some of the batches or in all of them moves all answers of the stream
    /// together by at most the charge.
    #[test]
    fn one_record_moves_all_batches_by_at_most_the_charge(
        rows in proptest::collection::vec((-1.0_f64..1.0, -1.0_f64..1.0, any::<bool>()), 2..12),
        questions in proptest::collection::vec([-1.0_f64..1.0, -1.0_f64..1.0], 6),
        within in prop_oneof![Just(9.0), 0.3_f64..1.5], votes in 1_u32..4, seed in 0_u64..1000,
        there in [any::<bool>(), any::<bool>(), any::<bool>()],
    ) {
        let schema = schema(&[CLASSES]);
        let text = |rows: &[(f64, f64, bool)]| {
            let line = |(a, b, yes): &(f64, f64, bool)| format!("{a},{b},{}\n", if *yes { "yes" } else { "no" });
            format!("a,b,y\n{}", rows.iter().map(line).collect::<String>())
        };
        let (all, fewer) = (table(&text(&rows), &schema), table(&text(&rows[1..]), &schema));
        let task = Nearby { within: Some(within), votes: Some(votes), stream: Some(6), ..asking(&questions[..2]) };
        let plan = planned(task, &schema, 20, Neighbours::AddRemove);
        let parts: Vec<&[[f64; 2]]> = questions.chunks(2).collect();
        // The record is in these tables, in the other world in none.
        let with: Vec<(&Dataset, &[[f64; 2]])> =
            there.iter().zip(&parts).map(|(there, part)| (if *there { &all } else { &fewer }, *part)).collect();
        let without: Vec<(&Dataset, &[[f64; 2]])> = parts.iter().map(|part| (&fewer, *part)).collect();
        let gap = apart(&streamed(&plan, &with, seed), &streamed(&plan, &without, seed));
        prop_assert!(gap <= charged(&plan), "{gap} {}", charged(&plan));
    }
}

/// Votes used up in a batch stay used up in the next, though this is not stored; files are verified, a
/// state is resumed once, and queries beyond the plan are refused.
#[test]
fn votes_that_were_used_up_stay_used_up() {
    let schema = schema(&[CLASSES]);
    let all = table("a,b,y\n0,0,yes\n0.1,0,no\n", &schema);
    let fewer = table("a,b,y\n0,0,yes\n", &schema);
    let task = Nearby { votes: Some(3), stream: Some(8), ..asking(&[[0.0, 0.0]]) };
    let plan = planned(task, &schema, 2, Neighbours::AddRemove);
    let batch: &[[f64; 2]] = &[[0.0, 0.0]; 2];
    let of = |data| streamed(&plan, &[(data, batch); 4], 9);
    let gap = apart(&of(&all), &of(&fewer));
    assert!((gap - 3_f64.sqrt()).abs() < 1e-9, "{gap}");
    let (_folder, path) = begun(&plan, 1);
    let (mut source, quiet) = (SystemRandom::new().unwrap(), AtomicBool::new(false));
    let copy = std::fs::read(&path).unwrap();
    let next = |questions: &[[f64; 2]], source: &mut SystemRandom| {
        Answers::read(&path).unwrap().next(&all, &matrix(questions), source, &quiet)
    };
    let (found, left) = next(&[[0.5, 0.0]; 3], &mut source).unwrap();
    assert_eq!((found.artefact().first, left, found.artefact().questions.len()), (0, 5, 3));
    let (found, left) = next(&[[0.5, 0.1]; 2], &mut source).unwrap();
    assert_eq!((found.artefact().first, left), (3, 3));
    let text = to_json(&found, None).unwrap();
    let again: Released<Nearby> = from_json(text.as_bytes(), Seal::Required).unwrap();
    let verdict = verify(&again);
    assert!(
        verdict.valid && verdict.notes.iter().any(|note| note.contains("batches")),
        "{verdict:?}"
    );
    // More queries than were made, or none of them, are no such answers.
    for (key, value) in [("first", serde_json::json!(7)), ("questions", serde_json::json!([]))] {
        let mut document: serde_json::Value = serde_json::from_str(&text).unwrap();
        document["body"][key] = value;
        let forged = privet_dp::gate::seal::seal_document(document, None).unwrap().to_string();
        let read = from_json::<Nearby>(forged.as_bytes(), Seal::Required);
        assert!(read.map_or(true, |read| !verify(&read).valid), "{key}");
    }
    let many = next(&[[0.0, 0.0]; 4], &mut source).unwrap_err().to_string();
    assert!(many.contains("1 to 3 are left"), "{many}");
    let now = std::fs::read(&path).unwrap();
    std::fs::write(&path, copy).unwrap();
    assert!(next(batch, &mut source).is_err(), "a state of before");
    // A shorter distance, under which no record would have voted before: the request is that of the
    // beginning.
    let text = String::from_utf8(now.clone()).unwrap();
    let at = text.find("\"within\"").unwrap();
    let end = at + text[at..].find([',', '}']).unwrap();
    let edited = format!("{}\"within\": 0.0625{}", &text[..at], &text[end..]);
    std::fs::write(&path, edited).unwrap();
    let refused = Answers::read(&path).unwrap_err().to_string();
    assert!(refused.contains("begun with"), "{refused}");
    std::fs::write(&path, now).unwrap();
    assert!(next(&[[0.0, 0.0]; 3], &mut source).is_ok());
    let ended = next(batch, &mut source).unwrap_err().to_string();
    assert!(ended.contains("another budget"), "{ended}");
}

/// Stops after a number of polls.
struct Impatient(std::sync::atomic::AtomicU32);

impl privet_optim::solver::Monitor for Impatient {
    fn proceed(&self, _: privet_optim::solver::Progress) -> bool {
        use std::sync::atomic::Ordering::Relaxed;
        self.0.fetch_update(Relaxed, Relaxed, |left| left.checked_sub(1)).is_ok()
    }
}

/// A batch that a process did not finish counts as answered, and records as having voted in it.
#[test]
fn a_batch_that_was_lost_is_spent() {
    let schema = schema(&[CLASSES]);
    let (all, fewer) =
        (table("a,b,y\n0,0,yes\n0.1,0,no\n", &schema), table("a,b,y\n0,0,yes\n", &schema));
    let task = Nearby { votes: Some(3), stream: Some(6), ..asking(&[[0.0, 0.0]]) };
    let plan = planned(task, &schema, 2, Neighbours::AddRemove);
    let batch = matrix(&[[0.0, 0.0]; 2]);
    let run = |data: &Dataset| {
        let (_folder, path) = begun(&plan, 1);
        let next = |seed: u64, monitor: &dyn privet_optim::solver::Monitor| {
            Answers::read(&path).unwrap().next(data, &batch, &mut FixedSeed::new(seed), monitor)
        };
        let quiet = AtomicBool::new(false);
        let one = next(1, &quiet).unwrap().0.artefact().votes.concat();
        // One poll before the session is resumed, one for each query; the last is not answered.
        assert!(next(2, &Impatient(4.into())).is_err());
        let stream = Answers::read(&path).unwrap();
        assert_eq!(stream.questions_left(), 2, "four were asked");
        let (two, left) =
            next(3, &quiet).map(|(found, left)| (found.artefact().votes.concat(), left)).unwrap();
        assert_eq!(left, 0);
        [one, two].concat()
    };
    // Two votes in the first batch and one in the lost one: none is left for the last.
    let gap = apart(&run(&all), &run(&fewer));
    assert!((gap - 2_f64.sqrt()).abs() < 1e-9, "{gap}");
}

#[test]
fn batches_of_persons_and_plans_without_batches_are_refused() {
    let persons = schema(&[CLASSES, PERSONS]);
    let task = Nearby { stream: Some(6), ..asking(&[[0.0, 0.0]]) };
    let request = task.clone().request(&persons, 10, Neighbours::AddRemove, (1.0, Some(1e-6)));
    let error = plan(&request.unwrap()).unwrap_err().to_string();
    assert!(error.contains("a person has several records"), "{error}");
    let schema = schema(&[CLASSES]);
    let data = table("a,b,y\n0,0,yes\n", &schema);
    let batches = planned(task, &schema, 1, Neighbours::AddRemove);
    let run = batches.run(&data, &mut FixedSeed::new(1), &AtomicBool::new(false));
    assert!(run.unwrap_err().to_string().contains("in batches"));
    let whole = planned(asking(&[[0.0, 0.0]]), &schema, 1, Neighbours::AddRemove);
    let folder = tempfile::tempdir().unwrap();
    let begun = Answers::begin(&whole, &folder.path().join("s"), &mut FixedSeed::new(1));
    assert!(begun.unwrap_err().to_string().contains("one batch"));
    // Open settings are settled for the number of all queries.
    let open =
        Nearby { within: None, votes: None, ..asking(&[[0.0, 0.0], [0.0, 0.5], [0.5, 0.0]]) };
    let open = planned(Nearby { stream: Some(30), ..open }, &schema, 100, Neighbours::AddRemove);
    assert_eq!(open.request().task.votes, Some(30));
}
