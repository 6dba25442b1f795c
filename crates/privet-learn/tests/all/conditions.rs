//! Words of a file by their source: conditions of the plan, text that the program writes when it runs,
//! words of the file's maker; and unchecked statements.

use crate::common::Case;
use privet_dp::gate::{Version, seal};
use privet_dp::noise::SystemRandom;
use privet_learn::file::{Seal, from_json, load, to_json};
use privet_learn::linear::model::Model;
use privet_learn::{CLASSES_FROM_RECORDS, Erm, Fact, Plan, Verdict, plan, verify};
use serde_json::{Value, json};
use std::path::Path;
use std::sync::atomic::AtomicBool;

/// A plan that has a condition of its own.
fn planned(case: &Case) -> Plan {
    plan(&case.request().after_fits(vec!["StandardScaler".into()])).unwrap()
}

fn document(planned: &Plan, case: &Case) -> Value {
    let mut source = SystemRandom::new().unwrap();
    let release = planned.run(&case.data(5), &mut source, &AtomicBool::new(false)).unwrap();
    let text = to_json(&Model::from_release(release).unwrap(), None).unwrap();
    serde_json::from_str(&text).unwrap()
}

fn verdict(document: Value) -> Verdict {
    let text = seal::seal_document(document, None).unwrap().to_string();
    verify(&from_json::<Erm>(text.as_bytes(), Seal::Required).unwrap())
}

#[test]
fn what_callers_note_is_ours_only_in_our_words() {
    let case = Case::of("gd").rows(200);
    let noted = planned(&case).noting(CLASSES_FROM_RECORDS).noting("safe to publish\u{1b}[2J");
    let verdict = verdict(document(&noted, &case));
    assert!(verdict.valid, "{:?}", verdict.checks);
    assert!(verdict.notes.contains(&CLASSES_FROM_RECORDS.into()));
    assert_eq!(verdict.stated, ["safe to publish\\u{1b}[2J"]);
    let told = |word: &str| verdict.notes.iter().any(|note| note.contains(word));
    assert!(told("StandardScaler") && !told("safe to publish"), "{:?}", verdict.notes);
}

#[test]
fn what_nothing_checks_is_listed() {
    let case = Case::of("gd").rows(200);
    let mut document = document(&planned(&case), &case);
    let granted = |document: &Value| {
        let actual = verdict(document.clone()).unchecked;
        let of = |fact| actual.iter().find(|one| one.fact == fact).map(|one| one.what.clone());
        (of(Fact::Rows).unwrap(), of(Fact::PriorFits).unwrap(), actual.len())
    };
    let (rows, fits, count) = granted(&document);
    assert!(
        rows.contains("200 records") && fits.contains("nothing else was fitted"),
        "{rows} {fits}"
    );
    // This cannot be detected: the same model, of ten times the rows.
    document["certificate"]["request"]["rows"] = json!(2000);
    assert_eq!(granted(&document), ("that there were 2000 records".into(), fits, count));
    // Nothing in a file that is not valid is to be relied on.
    document["certificate"]["notes"] = json!([]);
    let verdict = verdict(document);
    assert!(!verdict.valid && verdict.unchecked.is_empty());
    let failed: Vec<_> = verdict.checks.iter().filter(|check| !check.holds).collect();
    assert!(failed.len() == 1 && failed[0].detail.contains("StandardScaler"), "{failed:?}");
}

/// Wordings of earlier versions are known, but only of those versions.
#[test]
fn conditions_of_earlier_versions_are_known_in_their_words() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden");
    let conditions = |model: &Model| {
        let actual = verify(model);
        let check = actual.checks.iter().find(|check| check.what.contains("conditions")).unwrap();
        (check.holds, check.detail.clone())
    };
    let mut files = 0;
    for version in std::fs::read_dir(&folder).unwrap() {
        for entry in std::fs::read_dir(version.unwrap().path()).unwrap() {
            let path = entry.unwrap().path();
            let model = load::<Erm>(&path, Seal::Required).unwrap();
            let (holds, detail) = conditions(&model);
            assert!(holds || detail == "there is no such plan", "{}: {detail}", path.display());
            let own = model.certificate().version() == Some(Version::this());
            assert!(verify(&model).stated.is_empty() || !own, "{}", path.display());
            files += 1;
        }
    }
    assert!(files > 80, "{files}");
    let path = folder.join("0.1.0/linear-squared-add-remove-3-pure.json");
    let mut file: Value = serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
    file["certificate"]["notes"] = json!(["nothing"]);
    let text = seal::seal_document(file, None).unwrap().to_string();
    let forged = from_json::<Erm>(text.as_bytes(), Seal::Required).unwrap();
    assert!(!conditions(&forged).0);
}

/// A file states its conditions by code and in words; words alone, codes alone, and codes of no plan
/// are refused.
#[test]
fn conditions_are_stated_by_code_and_in_words() {
    let case = Case::of("gd").rows(200);
    let document = document(&planned(&case), &case);
    let stated = json!([{ "code": "prior-fits", "parameters": { "fits": "StandardScaler" } }]);
    assert_eq!(document["certificate"]["conditions"], stated);
    let refused = |edit: &dyn Fn(&mut Value)| {
        let mut document = document.clone();
        edit(&mut document["certificate"]);
        let failed = verdict(document).checks.into_iter().find(|check| !check.holds);
        failed.map_or(String::new(), |check| check.detail)
    };
    let left_out = |certificate: &mut Value| {
        certificate["conditions"] = json!([{ "code": "float-sums" }]);
    };
    assert!(refused(&left_out).contains("StandardScaler"));
    let other = |certificate: &mut Value| {
        certificate["conditions"][0]["parameters"]["fits"] = json!("nothing");
    };
    assert!(refused(&other).contains("StandardScaler"));
    let invented = |certificate: &mut Value| {
        let conditions = certificate["conditions"].as_array_mut().unwrap();
        conditions.push(json!({ "code": "safe-to-publish" }));
    };
    assert!(refused(&invented).contains("'safe-to-publish'"));
    let reworded = |certificate: &mut Value| certificate["notes"] = json!(["a scaler saw them"]);
    assert!(refused(&reworded).contains("StandardScaler"));
    // A later version may have other words: the code says which condition it is, and ours are shown.
    let later = |certificate: &mut Value| {
        certificate["made"]["version"] = json!("9.0.0");
        reworded(certificate);
    };
    assert_eq!(refused(&later), "");
    // Its first files had no codes.
    let uncoded = |certificate: &mut Value| {
        certificate.as_object_mut().unwrap().remove("conditions");
    };
    assert_eq!(refused(&uncoded), "");
}
