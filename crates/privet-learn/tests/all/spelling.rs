//! A declared spelling of identifiers: its coverage, and its statement in a certificate.

use privet_core::{Neighbours, Spelling};
use privet_data::schema::{FileFacts, UnitDraft};
use privet_data::{Schema, read};
use privet_dp::noise::SystemRandom;
use privet_learn::file::{Seal, from_json, to_json};
use privet_learn::statistics::describe::Describe;
use privet_learn::statistics::outline::Outline;
use privet_learn::{LearnError, Released, plan, verify};
use serde_json::Value;
use std::sync::atomic::AtomicBool;

fn schema(spelling: Spelling) -> Schema {
    Schema::from_toml(&format!(
        "[clip]\nnorm = \"l2\"\nradius = 1.0\n[target]\ncolumn = \"cost\"\nbounds = [0, 1000]\n\
         [unit]\ncolumn = \"who\"\nmax_records = 2\nspelling = \"{spelling}\"\n\
         [[columns]]\nname = \"age\"\ntype = \"number\"\nbounds = [0, 100]\n"
    ))
    .unwrap()
}

/// Plans a description and an outline.
fn planned(spelling: Spelling, neighbours: Neighbours) -> [Result<(), LearnError>; 2] {
    let budget = (1.0, Some(1e-6));
    let described = Describe::default().request(&schema(spelling), 100, neighbours, budget);
    let unit = UnitDraft { column: "who".into(), max_records: 2, spelling };
    let outline = Outline::of(vec!["age".into()], Vec::new());
    let facts = FileFacts::by_name("t.csv".as_ref());
    let outlined = outline.request(&facts, Some(unit), 100, neighbours, budget);
    [plan(&described.unwrap()).map(drop), plan(&outlined.unwrap()).map(drop)]
}

#[test]
fn people_who_may_share_a_name_are_covered_under_replace_one_alone() {
    for spelling in [Spelling::Number, Spelling::Nfc] {
        for refused in planned(spelling, Neighbours::AddRemove) {
            let error = refused.unwrap_err();
            assert!(matches!(error, LearnError::NotCovered { .. }), "{error}");
            let words = error.to_string();
            assert!(words.contains("replace-one") && words.contains("spelling"), "{words}");
        }
        assert!(planned(spelling, Neighbours::ReplaceOne).iter().all(Result::is_ok));
    }
    for neighbours in [Neighbours::AddRemove, Neighbours::ReplaceOne] {
        assert!(planned(Spelling::Text, neighbours).iter().all(Result::is_ok));
    }
}

#[test]
fn a_certificate_says_how_people_were_told_apart() {
    let schema = schema(Spelling::Number);
    let request = Describe::default()
        .request(&schema, 100, Neighbours::ReplaceOne, (1.0, Some(1e-6)))
        .unwrap();
    let planned = plan(&request).unwrap();
    assert!(planned.notes().iter().any(|note| note.contains("spelling = \"number\"")));
    let data = read::csv_bytes(
        b"who,age,cost\n2,30,100\n2.0,30,200\n02,30,300\n3,50,100\n",
        planned.schema(),
    );
    let data = data.unwrap();
    assert_eq!((data.rows(), data.report.surplus_rows), (3, 1), "one person under three spellings");
    let mut source = SystemRandom::new().unwrap();
    let release = planned.run(&data, &mut source, &AtomicBool::new(false)).unwrap();
    let text = to_json(&Released::<Describe>::from_release(release).unwrap(), None).unwrap();
    let read = |text: &str, seal| from_json::<Describe>(text.as_bytes(), seal);
    let verdict = verify(&read(&text, Seal::Required).unwrap());
    assert!(verdict.valid && verdict.notes.iter().any(|note| note.contains("identifier")));
    // Another spelling, or none, is another file.
    let mut file: Value = serde_json::from_str(&text).unwrap();
    let unit = file.pointer_mut("/certificate/request/schema/unit").unwrap();
    assert_eq!(unit["spelling"], "number");
    unit.as_object_mut().unwrap().remove("spelling");
    assert!(read(&file.to_string(), Seal::Required).is_err());
}
