//! Words of a file by their source: conditions of the plan, text that the program writes when it runs,
//! words of the file's maker; and unchecked statements.

use crate::common::Case;
use privet_data::Schema;
use privet_dp::account::{Cost, Event};
use privet_dp::gate::{ENDED_EARLY, FIXED_SEED, FOR_THE_UNIT, NOT_PRIVATE, Version, seal};
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

/// The conditions of a file, changed; the first check that fails, or nothing.
fn refused(document: &Value, edit: &dyn Fn(&mut Value)) -> String {
    let mut document = document.clone();
    edit(&mut document["certificate"]);
    let failed = verdict(document).checks.into_iter().find(|check| !check.holds);
    failed.map_or(String::new(), |check| check.detail)
}

fn later(certificate: &mut Value) {
    certificate["made"]["version"] = json!("9.0.0");
}

fn uncoded(certificate: &mut Value) {
    certificate.as_object_mut().unwrap().remove("conditions");
}

fn reworded(certificate: &mut Value) {
    certificate["notes"] = json!(["a scaler saw them"]);
}

fn otherwise(certificate: &mut Value) {
    certificate["conditions"][0]["parameters"]["fits"] = json!("nothing");
}

fn invented(certificate: &mut Value) {
    let conditions = certificate["conditions"].as_array_mut().unwrap();
    conditions.push(json!({ "code": "safe\u{1b}[2J", "parameters": { "to": "pub\"lish" } }));
}

fn doubled(certificate: &mut Value) {
    let conditions = certificate["conditions"].as_array_mut().unwrap();
    conditions.push(conditions[0].clone());
}

/// A file states its conditions by code and in words, each once; words alone, codes alone, and codes of
/// no plan are refused.
#[test]
fn conditions_are_stated_by_code_and_in_words() {
    let case = Case::of("gd").rows(200);
    let document = document(&planned(&case), &case);
    let stated = json!([{ "code": "prior-fits", "parameters": { "fits": "StandardScaler" } }]);
    assert_eq!(document["certificate"]["conditions"], stated);
    let refused = |edit: &dyn Fn(&mut Value)| refused(&document, edit);
    let left_out = |certificate: &mut Value| {
        certificate["conditions"] = json!([{ "code": "float-sums" }]);
    };
    assert!(refused(&left_out).contains("StandardScaler"));
    assert!(refused(&uncoded).contains("StandardScaler"));
    assert!(refused(&otherwise).contains("StandardScaler"));
    assert!(refused(&invented).contains("'safe\\u{1b}[2J', which is no condition of its plan"));
    assert!(refused(&doubled).contains("'prior-fits' more often"));
    assert!(refused(&reworded).contains("StandardScaler"));
}

/// No file before 0.2.1 has codes.
#[test]
fn earlier_files_state_no_codes() {
    let path = "tests/golden/0.2.0/objective-logistic-add-remove-3-pure.json";
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
    let file: Value = serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
    assert_eq!(refused(&file, &|_| ()), "");
    let coded = |certificate: &mut Value| {
        certificate["conditions"] = json!([{ "code": "continuous-noise" }]);
    };
    assert!(refused(&file, &coded).contains("'continuous-noise'"));
}

/// A later version may have other words: the code says which condition it is, and ours are shown. What
/// this version does not know is shown as the words of the file's maker.
#[test]
fn codes_of_later_versions_are_compared_or_shown() {
    let case = Case::of("gd").rows(200);
    let document = document(&planned(&case), &case);
    let refused = |edit: fn(&mut Value)| {
        refused(&document, &|certificate: &mut Value| {
            later(certificate);
            edit(certificate);
        })
    };
    assert_eq!(refused(reworded), "");
    for edit in [uncoded, otherwise] {
        assert!(refused(edit).contains("StandardScaler"));
    }
    assert!(refused(doubled).contains("'prior-fits' more often"));
    let more = |certificate: &mut Value| {
        let conditions = certificate["conditions"].as_array_mut().unwrap();
        conditions.push(json!({ "code": "prior-fits", "parameters": { "fits": "PCA" } }));
    };
    assert!(refused(more).contains("'prior-fits' more often, or with other parameters"));
    let mut document = document.clone();
    later(&mut document["certificate"]);
    invented(&mut document["certificate"]);
    let verdict = verdict(document);
    assert!(verdict.valid, "{:?}", verdict.checks);
    assert_eq!(verdict.stated, ["condition \"safe\\u{1b}[2J\" (\"to\" = \"pub'lish\")"]);
    assert!(verdict.notes.iter().any(|note| note.contains("StandardScaler")));
}

/// Notes of a run are ours only in files in which a run writes them.
#[test]
fn notes_of_a_run_are_ours_where_a_run_writes_them() {
    let case = Case::of("gd").rows(200);
    let document = document(&planned(&case), &case);
    let simulated = "simulated: one process was all parties and all servers, so that of these nobody was kept from \
                     anything; the guarantee holds towards whoever sees what was released";
    let hopeless = "the budget is too small for this many rows and columns: the noise is predicted to drown what \
                    could be learnt. Give more rows, fewer columns or a larger epsilon";
    for note in [simulated, hopeless, FIXED_SEED, FOR_THE_UNIT, NOT_PRIVATE, ENDED_EARLY] {
        let mut document = document.clone();
        document["certificate"]["notes"].as_array_mut().unwrap().push(json!(note));
        let verdict = verdict(document);
        assert!(verdict.valid, "{:?}", verdict.checks);
        assert_eq!(verdict.stated, [note]);
        assert!(!verdict.notes.contains(&note.into()), "{note}");
    }
    // A list of classes can be read off labels only where there are classes.
    let numbers = Case::of("ssp").classes(1).rows(200);
    let noted = planned(&numbers).noting(CLASSES_FROM_RECORDS);
    let numbers = verdict(self::document(&noted, &numbers));
    assert!(numbers.valid && numbers.stated == [CLASSES_FROM_RECORDS], "{numbers:?}");
    let seeded = verify(&case.seeded(&case.data(5)));
    assert!(seeded.notes.contains(&FIXED_SEED.into()) && seeded.stated.is_empty());
    let plain = Case::of("non-private").rows(200);
    let plain = verify(&plain.model(&plain.data(5)));
    assert!(plain.notes.contains(&NOT_PRIVATE.into()) && plain.stated.is_empty());
}

/// Under printed constants the claim is what an accountant proves, which another platform or version
/// computes to other last digits: the note of the total is that of the file's own claim.
#[test]
fn a_total_is_of_the_claim_that_the_file_states() {
    let case = Case::of("amp").rows(200).printed();
    let (neighbours, unit) = (case.neighbours, case.schema.unit());
    let cost = Cost::Approximate { epsilon: 1.0, delta: 1e-6 };
    let events = serde_json::to_string(&Event::Use { neighbours, unit, cost }).unwrap();
    let paid = format!(
        "[origin.paid]\nepsilon = 1.0\ndelta = 2e-6\nneighbours = \"{neighbours}\"\nunit = {{ kind = \"record\" }}\n\
         certificate = \"{}\"\nevents = '{events}'\n",
        "0".repeat(64)
    );
    let bought = format!("{}\n{paid}", case.schema.to_toml());
    let case = case.schema(Schema::from_toml(&bought).unwrap());
    let document = document(&case.plan(), &case);
    let own = document["certificate"]["guarantee"]["epsilon"].as_f64().unwrap();
    // The claim and its note, in other last digits.
    let claiming = |claimed: f64, noted: f64| {
        let total: f64 = format!("{:.11e}", 1.0 + noted).parse().unwrap();
        let mut document = document.clone();
        let certificate = &mut document["certificate"];
        certificate["guarantee"]["epsilon"] = json!(claimed);
        let conditions = certificate["conditions"].as_array_mut().unwrap();
        let bought = conditions.iter_mut().find(|own| own["code"] == "schema-estimated-privately");
        let parameters = &mut bought.unwrap()["parameters"];
        let before =
            ["own_epsilon", "epsilon"].map(|name| parameters[name].as_str().unwrap().to_string());
        parameters["own_epsilon"] = json!(noted.to_string());
        parameters["epsilon"] = json!(total.to_string());
        for note in certificate["notes"].as_array_mut().unwrap() {
            let text = note.as_str().unwrap();
            let text = text.replace(&format!("ε = {},", before[0]), &format!("ε = {noted},"));
            *note = json!(text.replace(&format!("ε = {},", before[1]), &format!("ε = {total},")));
        }
        verdict(document)
    };
    for claimed in [own, (own * 1e6).ceil() / 1e6] {
        let verdict = claiming(claimed, claimed);
        assert!(verdict.valid, "{claimed}: {:?}", verdict.checks);
        assert_eq!(verdict.guarantee.unwrap().epsilon, claimed);
        let told = format!("this release ε = {claimed},");
        assert!(verdict.notes.iter().any(|note| note.contains(&told)), "{:?}", verdict.notes);
        assert!(verdict.stated.is_empty(), "{:?}", verdict.stated);
        // A note of another claim is none of this file.
        assert!(!claiming(claimed, claimed * 0.999_999_9).valid);
    }
}
