//! Model files: the contents that are read are those that are verified and written again, in any format.

use crate::common::{Case, forged};
use privet_core::Neighbours;
use privet_dp::gate::{public_key, seal};
use privet_learn::Erm;
use privet_learn::file::{Seal, from_json, to_json};
use privet_learn::linear::model::Model;
use privet_learn::verify;
use serde_json::{Value, json};

fn case() -> Case {
    Case::of("output").rows(200).neighbours(Neighbours::AddRemove)
}

/// A model that was not read from a file.
fn fresh() -> Model {
    case().seeded(&case().data(5))
}

fn read(text: &str) -> Result<Model, String> {
    from_json::<Erm>(text.as_bytes(), Seal::Required)
}

/// One of each format.
fn texts() -> [String; 2] {
    let golden = "tests/golden/0.1.0/output-logistic-add-remove-2-pure.json";
    let golden = format!("{}/{golden}", env!("CARGO_MANIFEST_DIR"));
    [std::fs::read_to_string(golden).unwrap(), to_json(&fresh(), None).unwrap()]
}

#[test]
fn new_files_are_of_format_2_and_format_1_stays_what_it_is() {
    let [one, two] = texts();
    let document: Value = serde_json::from_str(&two).unwrap();
    assert_eq!(document["format"], seal::FORMAT);
    assert_eq!(document["kind"], "linear");
    assert_eq!(document["certificate"]["format"], "privet-certificate-2");
    for text in [one, two] {
        assert_eq!(to_json(&read(&text).unwrap(), None).unwrap(), text, "byte by byte");
    }
}

#[test]
fn a_signature_keeps_the_format_and_is_kept() {
    for (text, format) in texts().into_iter().zip([seal::FORMAT_1, seal::FORMAT]) {
        let signed = to_json(&read(&text).unwrap(), Some(&[7; 32])).unwrap();
        let model = read(&signed).unwrap();
        assert_eq!(model.check_seal().unwrap().unwrap().public_key(), public_key(&[7; 32]));
        assert_eq!(to_json(&model, None).unwrap(), signed);
        let document: Value = serde_json::from_str(&signed).unwrap();
        assert_eq!(document["format"], format);
    }
    let signed = read(&to_json(&fresh(), Some(&[7; 32])).unwrap()).unwrap();
    assert!(signed.check_seal().unwrap().is_some());
}

/// Reading, verifying and writing agree on the contents of a file, fields without effect included.
#[test]
fn a_broken_seal_is_found_by_all_and_mended_by_none() {
    for text in texts() {
        let document: Value = serde_json::from_str(&text).unwrap();
        for place in ["filter", "notes", "digest"] {
            let mut edited = document.clone();
            edited["certificate"][place] = Value::Null;
            if place == "notes" {
                edited["certificate"][place] = json!(["trust me"]);
            }
            let edited = edited.to_string();
            assert!(read(&edited).unwrap_err().contains("digest"), "{place}");
            let model = from_json::<Erm>(edited.as_bytes(), Seal::Unchecked).unwrap();
            let verdict = verify(&model);
            let belong = verdict.checks.iter().find(|check| check.what.contains("belong together"));
            assert!(!belong.unwrap().holds, "{place}");
            for secret in [None, Some(&[7; 32])] {
                assert!(to_json(&model, secret).is_err(), "{place}");
            }
        }
    }
}

#[test]
fn what_is_not_written_together_is_not_read() {
    let [one, two] = texts().map(|text| serde_json::from_str::<Value>(&text).unwrap());
    let refused = |document: Value, words: &str| {
        let document = seal::seal_document(document.clone(), None).unwrap_or(document);
        let why = from_json::<Erm>(document.to_string().as_bytes(), Seal::Unchecked).unwrap_err();
        assert!(why.contains(words), "{why}");
        assert!(from_json::<Erm>(document.to_string().as_bytes(), Seal::Required).is_err());
    };
    let with = |document: &Value, field: &str, value: Value| {
        let mut document = document.clone();
        document[field] = value;
        document
    };
    refused(with(&two, "kind", json!("tensor\u{7}")), "'linear' is wanted");
    refused(with(&two, "kind", json!(1)), "string");
    refused(with(&two, "model", one["model"].clone()), "format, kind, body and certificate");
    refused(with(&one, "kind", json!("linear")), "format, model and certificate");
    refused(with(&two, "format", json!("privet-3")), "privet-2 and privet-model-1");
    refused(with(&two, "more", json!(1)), "more");
}

/// The largest counts that a request can declare have a canonical form.
#[test]
fn the_most_rows_can_be_sealed() {
    let mut largest: Value = serde_json::from_str(&texts()[1]).unwrap();
    let most = (1_u64 << 53) - 1;
    assert!(privet_learn::ROWS.check(most as f64).is_ok());
    assert!(privet_learn::ROWS.check((most + 1) as f64).is_err());
    largest["certificate"]["request"]["rows"] = json!(most);
    let sealed = seal::seal_document(largest.clone(), None).unwrap();
    assert_eq!(seal::check(&sealed), Ok(None));
    largest["certificate"]["request"]["rows"] = json!(most + 2);
    assert!(seal::seal_document(largest, None).is_err());
}

#[test]
fn what_was_trained_verifies_in_format_2() {
    let model = case().model(&case().data(5));
    assert!(verify(&model).valid);
    let same = forged(&model, |certificate| certificate["notes"] = certificate["notes"].clone());
    assert!(verify(&same).valid);
}

/// A claim for the view of one unit alone is no model for everyone, whatever its seal is.
#[test]
fn a_claim_towards_all_but_the_unit_is_not_the_plans() {
    let model = case().model(&case().data(5));
    let weak = |certificate: &mut Value| {
        certificate["guarantee"]["seen_by"] = json!("all-but-the-unit");
    };
    let verdict = verify(&forged(&model, weak));
    assert!(!verdict.valid && verdict.guarantee.is_none());
    let failed: Vec<_> = verdict.checks.iter().filter(|check| !check.holds).collect();
    assert!(failed.iter().any(|check| check.detail.contains("another guarantee")), "{failed:?}");
    // Fields that every file omits may not be written out: one reading, one form.
    let mut spelt: Value = serde_json::from_str(&to_json(&model, None).unwrap()).unwrap();
    spelt["certificate"]["guarantee"]["seen_by"] = json!("everyone");
    let spelt = seal::seal_document(spelt, None).unwrap().to_string();
    assert!(read(&spelt).unwrap_err().contains("certificate.guarantee.seen_by"));
}
