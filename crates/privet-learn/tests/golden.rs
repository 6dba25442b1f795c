//! Certificates of every released version stay verifiable.
//!
//! `golden/VERSION-*.json` are model files as that version wrote them; each must load and verify for
//! ever. A new version adds its own with `cargo test -p privet-learn --test golden -- --ignored`.

use privet_core::{Budget, Neighbours};
use privet_data::write::Existing;
use privet_data::{Schema, read};
use privet_dp::noise::SystemRandom;
use privet_learn::model::Model;
use privet_learn::model::file::{Seal, load, save};
use privet_learn::{Calibration, Request, plan, verify};
use privet_optim::loss::Loss;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden")
}

#[test]
fn every_released_certificate_verifies() {
    let mut seen = 0;
    for entry in std::fs::read_dir(folder()).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|extension| extension != "json") {
            continue;
        }
        let model = load(&path, Seal::Required).unwrap();
        let verdict = verify(&model);
        assert!(verdict.valid, "{}: {:?}", path.display(), verdict.checks);
        seen += 1;
    }
    assert!(seen >= 8, "only {seen} golden files were found");
}

/// Writes this version's files; existing ones are never replaced.
#[test]
#[ignore = "writes files; run once for each release"]
fn write_the_files_of_this_version() {
    let text = |classes: &str| {
        format!(
            "bias = true\n[clip]\nnorm = \"l2\"\nradius = 1.0\n[target]\ncolumn = \"y\"\n\
             classes = [{classes}]\n[[columns]]\nname = \"x\"\ntype = \"number\"\n\
             bounds = [0, 10]\n[[columns]]\nname = \"c\"\ntype = \"category\"\n\
             categories = [\"p\", \"q\"]\nunknown = \"other\"\n"
        )
    };
    let two = Schema::from_toml(&text("\"a\", \"b\"")).unwrap();
    let three = Schema::from_toml(&text("\"a\", \"b\", \"c\"")).unwrap();
    let rows: String = (0..300)
        .map(|i| {
            format!("{},{},{}\n", i % 10, ["p", "q"][i % 2], ["a", "b"][usize::from(i % 10 > 4)])
        })
        .collect();
    let table = format!("x,c,y\n{rows}");
    for (method, loss, neighbours, delta, schema) in [
        ("amp", Loss::Logistic, Neighbours::ReplaceOne, 1e-6, &two),
        ("amp", Loss::Logistic, Neighbours::AddRemove, 1e-6, &two),
        ("amp", Loss::HuberSvm { h: 0.1 }, Neighbours::ReplaceOne, 1e-6, &two),
        ("amp", Loss::SQUARED, Neighbours::AddRemove, 1e-6, &two),
        ("amp", Loss::Logistic, Neighbours::ReplaceOne, 1e-6, &three),
        ("amp", Loss::Logistic, Neighbours::ReplaceOne, 0.0, &two),
        ("objective", Loss::Logistic, Neighbours::ReplaceOne, 1e-6, &two),
        ("output", Loss::Logistic, Neighbours::ReplaceOne, 1e-6, &two),
        ("output", Loss::Logistic, Neighbours::AddRemove, 0.0, &two),
        ("gd", Loss::Logistic, Neighbours::ReplaceOne, 1e-6, &two),
        ("gd", Loss::Logistic, Neighbours::AddRemove, 1e-6, &three),
        ("sgd", Loss::Logistic, Neighbours::ReplaceOne, 1e-6, &two),
        ("sgd", Loss::Logistic, Neighbours::AddRemove, 1e-6, &three),
        ("psgd", Loss::Logistic, Neighbours::ReplaceOne, 1e-6, &two),
        ("psgd-strong", Loss::Logistic, Neighbours::AddRemove, 1e-6, &three),
        ("ssp", Loss::SQUARED, Neighbours::ReplaceOne, 1e-6, &two),
        ("ssp", Loss::SQUARED, Neighbours::AddRemove, 1e-6, &three),
        ("ssp", Loss::SQUARED, Neighbours::ReplaceOne, 0.0, &two),
        ("linear", Loss::SQUARED, Neighbours::ReplaceOne, 1e-6, &two),
        ("linear-rotated", Loss::SQUARED, Neighbours::ReplaceOne, 1e-6, &two),
        ("sample-aggregate", Loss::Logistic, Neighbours::ReplaceOne, 1e-6, &two),
        ("sample-aggregate", Loss::Logistic, Neighbours::AddRemove, 0.0, &three),
    ] {
        let request = Request {
            schema: schema.clone(),
            rows: 300,
            budget: Some(Budget::new(1.0, delta).unwrap()),
            neighbours,
            loss,
            method: method.parse().unwrap(),
            calibration: Calibration::Sound,
        };
        let data = read::csv_bytes(table.as_bytes(), schema).unwrap();
        let mut source = SystemRandom::new().unwrap();
        let planned = plan(&request).unwrap();
        let release = planned.run(&data, &mut source, &AtomicBool::new(false)).unwrap();
        let classes = planned.facts().problems.max(2);
        let name = format!(
            "{}-{method}-{}-{neighbours}-{classes}-{}.json",
            env!("CARGO_PKG_VERSION"),
            loss.name(),
            if delta == 0.0 { "pure" } else { "approximate" },
        );
        let path = folder().join(name);
        if !path.exists() {
            let model = Model::from_release(release).unwrap();
            assert!(save(&model, &path, None, Existing::Keep).unwrap().instead.is_none());
        }
    }
}
