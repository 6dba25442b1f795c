//! Outlines of tables without a schema: certified, verified, and nothing that a single unit holds.

use privet_core::{Neighbours, Spelling};
use privet_data::read::{CellKey, HeldKeys, KeyCap, SurveyedColumns, held_keys};
use privet_data::schema::{FileFacts, UnitDraft, UnitFacts};
use privet_dp::noise::{FixedSeed, Source, SystemRandom};
use privet_learn::file::{Seal, any_from_json, from_json, to_json};
use privet_learn::private_estimates::price;
use privet_learn::statistics::outline::{Outline, Suggestion, holding, suggest_columns};
use privet_learn::{Loaded, Plan, Released, plan, verify};
use serde_json::{Value, json};
use std::sync::atomic::AtomicBool;

fn task() -> Outline {
    Outline::of(vec!["age".into(), "ward".into()], Vec::new())
}

fn planned(rows: u64, neighbours: Neighbours, unit: Option<(&str, u32)>) -> Plan<Outline> {
    planned_of(task(), rows, neighbours, unit)
}

fn planned_of(
    task: Outline,
    rows: u64,
    neighbours: Neighbours,
    unit: Option<(&str, u32)>,
) -> Plan<Outline> {
    let facts = FileFacts::by_name("t.csv".as_ref());
    let unit = unit.map(|(column, max_records)| UnitDraft {
        column: column.into(),
        max_records,
        ..UnitDraft::default()
    });
    plan(&task.request(&facts, unit, rows, neighbours, (2.0, Some(1e-10))).unwrap()).unwrap()
}

fn held(text: &str, unit: Option<(&str, u32)>) -> HeldKeys {
    capped(text, unit, Some(2))
}

fn capped(text: &str, unit: Option<(&str, u32)>, most: Option<u32>) -> HeldKeys {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.csv");
    std::fs::write(&path, text).unwrap();
    let unit = unit.map(|(column, max_records)| UnitFacts {
        column: column.into(),
        max_records,
        spelling: Spelling::Text,
    });
    let most_keys = most.map(|most| KeyCap::new(most, *b"a fixed secret.."));
    let columns = vec!["age", "ward"];
    let sought =
        SurveyedColumns { columns, unit: unit.as_ref(), most_keys, ..SurveyedColumns::default() };
    held_keys(&path, &FileFacts::by_name(&path), &sought).unwrap()
}

fn released(plan: Plan<Outline>, held: HeldKeys, source: &mut dyn Source) -> Released<Outline> {
    let (plan, lines) = holding(plan, held).unwrap();
    let release = plan.run(&lines, source, &AtomicBool::new(false)).unwrap();
    let text = to_json(&Released::<Outline>::from_release(release).unwrap(), None).unwrap();
    assert!(matches!(any_from_json(text.as_bytes(), Seal::Required).unwrap(), Loaded::Outlined(_)));
    from_json(text.as_bytes(), Seal::Required).unwrap()
}

fn table(rows: usize) -> String {
    let ward = |row: usize| ["north", "south", "NA"][row % 3];
    let line = |row: usize| format!("p{},{},{}\n", row / 2, 20 + row % 60, ward(row));
    format!("who,age,ward\n{}p0,1e9,nobody else\n", (0..rows - 1).map(line).collect::<String>())
}

#[test]
fn what_many_hold_is_found_and_what_one_holds_is_not() {
    let mut source = SystemRandom::new().unwrap();
    for (neighbours, unit) in [
        (Neighbours::ReplaceOne, None),
        (Neighbours::AddRemove, None),
        (Neighbours::ReplaceOne, Some(("who", 2))),
    ] {
        let released =
            released(planned(6000, neighbours, unit), held(&table(6000), unit), &mut source);
        assert!(verify(&released).valid, "{:?}", verify(&released).checks);
        let columns = suggest_columns(&released);
        let Suggestion::Number(low, high) = columns[0].what else { panic!("{columns:?}") };
        assert!((16.0..=20.0).contains(&low) && (79.0..=96.0).contains(&high), "{low} {high}");
        let words = Suggestion::Category(vec!["north".into(), "south".into()]);
        assert_eq!((&columns[1].what, &columns[1].missing[..]), (&words, &["NA".to_string()][..]));
        let alone = CellKey::Text("nobody else".into());
        assert!(released.artefact().keys.iter().all(|known| known.key != alone));
        assert_eq!(price(&released).unwrap().epsilon, 2.0);
    }
}

/// Keys off the grid, below the threshold, out of order or of no column cannot be released by the plan.
#[test]
fn made_up_outlines_are_refused() {
    let mut source = SystemRandom::new().unwrap();
    let released = released(
        planned(6000, Neighbours::ReplaceOne, None),
        held(&table(6000), None),
        &mut source,
    );
    let document: Value = serde_json::from_str(&to_json(&released, None).unwrap()).unwrap();
    let accepted = |change: &dyn Fn(&mut Value)| {
        let mut forged = document.clone();
        change(&mut forged);
        let sealed = privet_dp::gate::seal::seal_document(forged, None).unwrap().to_string();
        any_from_json(sealed.as_bytes(), Seal::Required).is_ok_and(|read| read.verify().valid)
    };
    assert!(accepted(&|_| {}), "sealed anew it is as it was");
    let lies: [&dyn Fn(&mut Value); 14] = [
        &|file| file["body"]["keys"][0]["count"] = json!(5000.0 / 3.0),
        &|file| file["body"]["keys"][0]["count"] = json!(1.0),
        &|file| file["body"]["keys"].as_array_mut().unwrap().reverse(),
        &|file| file["body"]["keys"][0]["column"] = json!(7),
        &|file| file["certificate"]["request"]["noise"][0] = json!(0.001),
        &|file| file["certificate"]["request"]["columns"] = json!(["age"]),
        &|file| file["certificate"]["guarantee"]["epsilon"] = json!(0.5),
        &|file| file["kind"] = json!("description"),
        &|file| file["body"]["kinds"][0][0] = json!(5000.0 / 3.0),
        &|file| file["body"]["kinds"] = json!([[1.0, 0.0, 0.0, 0.0]]),
        &|file| file["body"]["kinds"].as_array_mut().unwrap().clear(),
        &|file| file["certificate"]["request"]["most_keys"] = json!(7),
        &|file| file["certificate"]["request"]["most_keys"] = Value::Null,
        &|file| file["certificate"]["request"]["noise"][1] = json!(0.001),
    ];
    for (number, lie) in lies.iter().enumerate() {
        assert!(!accepted(lie), "lie {number}");
    }
    // A plan is not carried out without what the table holds.
    let plan = planned(6000, Neighbours::AddRemove, None);
    let (_, lines) = holding(plan.clone(), held(&table(10), None)).unwrap();
    assert!(plan.run(&lines, &mut source, &AtomicBool::new(false)).is_err());
    // The number of lines is public there, and declared wrongly.
    let (plan, lines) =
        holding(planned(6000, Neighbours::ReplaceOne, None), held(&table(10), None)).unwrap();
    assert!(plan.run(&lines, &mut source, &AtomicBool::new(false)).is_err());
}

/// A person with ten rows costs no more than one with two: σ falls by √(k/2), and totals of kinds take
/// less than 2 %.
#[test]
fn people_with_many_rows_cost_no_more_than_two_keys_a_column() {
    for neighbours in [Neighbours::ReplaceOne, Neighbours::AddRemove] {
        let noise = |most_keys, records| {
            let plan = planned_of(
                Outline { most_keys, ..task() },
                6000,
                neighbours,
                Some(("who", records)),
            );
            plan.settings().get("count_noise").unwrap()
        };
        assert_eq!(noise(Some(2), 10), noise(Some(2), 2));
        let fell = noise(None, 10) / noise(Some(2), 10);
        let expected = (10.0 / (2.0 + 1.0 / 9.0_f64)).sqrt();
        // Half of delta goes elsewhere in both.
        assert!((fell / expected - 1.0).abs() < 1e-6, "{fell} {expected}");
        // A record has one key a column: there the cap saves nothing, and totals are what is paid for.
        assert!((noise(Some(2), 1) / noise(None, 1) - (10.0 / 9.0_f64).sqrt()).abs() < 1e-6);
    }
}

/// 100 students with ten grades from 1 to 10 each: how often a schema says nothing of the grades, bounds
/// of most of them, or bounds of a part of them, in runs of many budgets. Fixed seeds.
fn bounds_of_grades(most_keys: Option<u32>) -> [usize; 3] {
    let line = |row: usize| format!("s{},{},w\n", row / 10, 1 + (row * 7 + row / 10) % 10);
    let table = format!("who,age,ward\n{}", (0..1000).map(line).collect::<String>());
    let held = capped(&table, Some(("who", 10)), most_keys);
    let mut seen = [0; 3];
    for (at, epsilon) in [0.5, 1.0, 2.0, 3.0, 4.0, 6.0, 8.0, 12.0].into_iter().enumerate() {
        let facts = FileFacts::by_name("t.csv".as_ref());
        let unit = UnitDraft { column: "who".into(), max_records: 10, ..UnitDraft::default() };
        let (task, budget) = (Outline { most_keys, ..task() }, (epsilon, Some(1e-6)));
        let request = task.request(&facts, Some(unit), 1000, Neighbours::ReplaceOne, budget);
        let plan = plan(&request.unwrap()).unwrap();
        for seed in 0..20 {
            let source = &mut FixedSeed::new(100 * at as u64 + seed);
            let released = released(plan.clone(), held.clone(), source);
            seen[match suggest_columns(&released)[0].what {
                Suggestion::Nothing => 0,
                Suggestion::Number(low, high) if high / low >= 2.0 => 1,
                _ => 2,
            }] += 1;
        }
    }
    seen
}

/// Either their bounds or nothing, whatever the noise; where nothing was known of the whole, a bin or
/// two passed for it.
#[test]
fn few_people_get_no_bounds_of_a_part() {
    let [nothing, most, part] = bounds_of_grades(Some(2));
    assert!(nothing >= 20 && most >= 20 && part == 0, "{nothing} {most} {part}");
    let [_, _, part] = bounds_of_grades(None);
    assert!(part > 0, "0.2.0: {part}");
}

/// `golden-outlines` was written by 0.2.0, which capped nothing and released no totals: it verifies as
/// it did, and is planned again without either.
#[test]
fn outlines_of_earlier_versions_verify() {
    let text = include_str!("../golden-outlines/0.2.0.json");
    let released: Released<Outline> = from_json(text.as_bytes(), Seal::Required).unwrap();
    let verdict = verify(&released);
    assert!(verdict.valid, "{:?}", verdict.checks);
    assert_eq!((released.request().task.most_keys, released.artefact().kinds.len()), (None, 0));
    assert_eq!(verdict.guarantee.unwrap().epsilon, 2.0);
    assert!(matches!(suggest_columns(&released)[0].what, Suggestion::Number(..)));
    assert_eq!(price(&released).unwrap().epsilon, 2.0);
}
