//! Certificates of every released version stay verifiable, except those that were found wanting.
//!
//! `golden/VERSION/*.json` are model files as that version wrote them; each must load for ever, and verify
//! unless the list of void certificates names it. A new version adds its own with
//! `cargo test -p privet-learn --test all golden:: -- --ignored`.

use crate::common::Case;
use privet_core::Neighbours;
use privet_data::write::Existing;
use privet_data::{Schema, read};
use privet_dp::gate::{VERSION, Version};
use privet_dp::noise::SystemRandom;
use privet_learn::file::{Seal, load, save};
use privet_learn::linear::model::Model;
use privet_learn::{Erm, METHODS, Task, verify};
use privet_optim::loss::Loss;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

fn folder(version: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(version)
}

/// Every golden file with the version that wrote it.
fn files() -> Vec<(Version, PathBuf)> {
    let mut files = Vec::new();
    for version in std::fs::read_dir(folder("")).unwrap() {
        let version = version.unwrap();
        let of = Version::of(version.file_name().to_str().unwrap()).expect("a folder a version");
        for entry in std::fs::read_dir(version.path()).unwrap() {
            files.push((of, entry.unwrap().path()));
        }
    }
    files
}

#[test]
fn every_released_certificate_verifies_or_is_void() {
    let (mut valid, mut void) = (0, 0);
    for (version, path) in files() {
        let model = load::<Erm>(&path, Seal::Required).unwrap();
        assert_eq!(model.certificate().version(), Some(version), "{}", path.display());
        let verdict = verify(&model);
        let actual = Erm::VOID
            .iter()
            .find(|known| known.concerns(version, &model))
            .map(|known| known.finding);
        let failed: Vec<_> = verdict.checks.iter().filter(|check| !check.holds).collect();
        match actual {
            None => {
                assert!(verdict.valid, "{}: {failed:?}", path.display());
                valid += 1;
            }
            Some(finding) => {
                let told = failed.iter().any(|check| check.detail.contains(finding.name));
                assert!(told && verdict.guarantee.is_none(), "{}: {failed:?}", path.display());
                void += 1;
            }
        }
    }
    assert!(valid >= 8 && void >= 3, "{valid} valid and {void} void golden files were found");
}

/// Methods with the first version that has them.
const LATER: [(&str, &str); 7] = [
    ("averaged", "0.3.0"),
    ("centred-gd", "0.2.0"),
    ("chosen-amp", "0.2.0"),
    ("placed-gd", "0.3.0"),
    ("two-stage", "0.3.0"),
    ("dp-ight", "0.3.0"),
    ("dpsl-kt", "0.3.0"),
];

/// `auto` settles on one of the others; the baseline has nothing to verify.
#[test]
fn every_learner_has_a_golden_file_of_every_version() {
    let mut seen: BTreeSet<(String, String)> = BTreeSet::new();
    let mut versions = BTreeSet::new();
    for (version, path) in files() {
        let model = load::<Erm>(&path, Seal::Required).unwrap();
        versions.insert(version.to_string());
        seen.insert((version.to_string(), model.request().task.method.name().into()));
    }
    assert!(versions.contains(VERSION), "this version, {VERSION}, has no golden files");
    for version in versions {
        for method in METHODS.iter().filter(|info| !["auto", "non-private"].contains(&info.name)) {
            let later = LATER.iter().find(|(name, _)| *name == method.name);
            let later = later.is_some_and(|(_, from)| Version::of(&version) < Version::of(from));
            let known = seen.contains(&(version.clone(), method.name.into()));
            assert!(known || later, "{version} has no golden file of method {}", method.name);
        }
    }
}

/// Forms of expanded rows: their names, the neighbours in the file, and the schema's settings of rows,
/// of x, of z and of columns together.
const UNFOLDED: [(&str, Neighbours, [&str; 4]); 3] = [
    (
        "hats",
        Neighbours::ReplaceOne,
        ["rows = \"fill\"", "{ hats = 4 }", "{ hats = 4, knots = \"log\" }", ""],
    ),
    (
        "pair",
        Neighbours::AddRemove,
        [
            "rows = \"fill\"",
            "\"linear\"",
            "\"linear\"",
            "[[pairs]]\ncolumns = [\"x\", \"z\"]\nhats = 3\n[[pairs]]\ncolumns = [\"c\", \"x\"]",
        ],
    ),
    (
        "fourier",
        Neighbours::ReplaceOne,
        ["", "\"linear\"", "\"linear\"", "[fourier]\ncount = 20\nwidth = 0.5"],
    ),
];

fn unfolded([rows, x, z, together]: [&str; 4]) -> Schema {
    let text = format!(
        "bias = true\n[clip]\nnorm = \"l2\"\nradius = 1.0\n{rows}\n[target]\ncolumn = \"y\"\n\
         classes = [\"a\", \"b\"]\n[[columns]]\nname = \"x\"\ntype = \"number\"\nbounds = [0, 10]\n\
         basis = {x}\n[[columns]]\nname = \"z\"\ntype = \"number\"\nbounds = [0, 100]\nbasis = {z}\n\
         [[columns]]\nname = \"c\"\ntype = \"category\"\ncategories = [\"p\", \"q\"]\n\
         unknown = \"other\"\n{together}\n"
    );
    Schema::from_toml(&text).unwrap()
}

fn unfolded_name(form: &str, neighbours: Neighbours) -> String {
    format!("gd-{form}-logistic-{neighbours}-2-approximate.json")
}

/// A released model keeps its predictions: hats, pairs and waves are the same functions for ever. A
/// certificate does not contain them, and would verify if they changed.
#[test]
fn unfolded_models_of_every_version_predict_as_they_did() {
    let probabilities = [
        [0.014271284544765563, 0.971810100541159, 0.9811129951101379],
        [0.000852486556621854, 0.9990565203679832, 0.9637343162073155],
        [0.014211773551197685, 0.9434860993837165, 0.5792955365650084],
    ];
    let rows = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(rows.path(), "x,z,c,y\n0,5,p,a\n9.5,50,q,b\n7,20,r,a\n").unwrap();
    let options =
        read::ReadOptions { purpose: read::Purpose::Evaluate, ..read::ReadOptions::default() };
    for ((form, neighbours, says), known) in UNFOLDED.into_iter().zip(probabilities) {
        let path = folder("0.2.0").join(unfolded_name(form, neighbours));
        let model = load::<Erm>(&path, Seal::Required).unwrap();
        let schema = &model.request().schema;
        assert_eq!(schema.to_toml(), unfolded(says).to_toml(), "{form}");
        let data = read::read(rows.path(), schema, &options).unwrap();
        let actual = model.probabilities(&data.features).unwrap();
        assert_eq!(actual.len(), 6, "{form}");
        for (actual, known) in actual.chunks(2).zip(known) {
            // The exponential may differ in its last digits from machine to machine.
            assert!((actual[1] - known).abs() < 1e-12, "{form}: {} and {known}", actual[1]);
        }
    }
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
    std::fs::create_dir_all(folder(VERSION)).unwrap();
    for (method, loss, neighbours, delta, schema) in [
        ("amp", Loss::Logistic, Neighbours::ReplaceOne, 1e-6, &two),
        ("amp", Loss::Logistic, Neighbours::AddRemove, 1e-6, &two),
        ("amp", Loss::HuberSvm { h: 0.1 }, Neighbours::ReplaceOne, 1e-6, &two),
        ("amp", Loss::SQUARED, Neighbours::AddRemove, 1e-6, &two),
        ("amp", Loss::Logistic, Neighbours::ReplaceOne, 1e-6, &three),
        ("amp", Loss::Logistic, Neighbours::ReplaceOne, 0.0, &two),
        ("chosen-amp", Loss::Logistic, Neighbours::ReplaceOne, 1e-6, &two),
        ("objective", Loss::Logistic, Neighbours::ReplaceOne, 1e-6, &two),
        ("objective", Loss::Logistic, Neighbours::AddRemove, 0.0, &three),
        ("output", Loss::Logistic, Neighbours::ReplaceOne, 1e-6, &two),
        ("output", Loss::Logistic, Neighbours::AddRemove, 0.0, &two),
        ("gd", Loss::Logistic, Neighbours::ReplaceOne, 1e-6, &two),
        ("gd", Loss::Logistic, Neighbours::AddRemove, 1e-6, &three),
        ("centred-gd", Loss::Logistic, Neighbours::ReplaceOne, 1e-6, &two),
        ("centred-gd", Loss::Logistic, Neighbours::AddRemove, 1e-6, &three),
        ("sgd", Loss::Logistic, Neighbours::ReplaceOne, 1e-6, &two),
        ("sgd", Loss::Logistic, Neighbours::AddRemove, 1e-6, &three),
        ("psgd", Loss::Logistic, Neighbours::ReplaceOne, 1e-6, &two),
        ("psgd-strong", Loss::Logistic, Neighbours::AddRemove, 1e-6, &three),
        ("averaged", Loss::Logistic, Neighbours::ReplaceOne, 1e-6, &three),
        ("ssp", Loss::SQUARED, Neighbours::ReplaceOne, 1e-6, &two),
        ("ssp", Loss::SQUARED, Neighbours::AddRemove, 1e-6, &three),
        ("ssp", Loss::SQUARED, Neighbours::ReplaceOne, 0.0, &two),
        ("linear", Loss::SQUARED, Neighbours::ReplaceOne, 1e-6, &two),
        ("linear", Loss::SQUARED, Neighbours::AddRemove, 0.0, &three),
        ("linear-rotated", Loss::SQUARED, Neighbours::ReplaceOne, 1e-6, &two),
        ("sample-aggregate", Loss::Logistic, Neighbours::ReplaceOne, 1e-6, &two),
        ("sample-aggregate", Loss::Logistic, Neighbours::AddRemove, 0.0, &three),
        ("frank-wolfe", Loss::Logistic, Neighbours::ReplaceOne, 1e-6, &two),
        ("frank-wolfe", Loss::Logistic, Neighbours::AddRemove, 0.0, &three),
        ("simplex", Loss::Logistic, Neighbours::ReplaceOne, 1e-6, &two),
        ("simplex", Loss::Logistic, Neighbours::ReplaceOne, 0.0, &three),
    ] {
        let case = Case::of(method).schema(schema.clone()).rows(300).delta(delta);
        let case = case.neighbours(neighbours).loss(loss);
        let classes = case.plan().facts().problems.max(2);
        let name = format!(
            "{method}-{}-{neighbours}-{classes}-{}.json",
            loss.name(),
            if delta == 0.0 { "pure" } else { "approximate" },
        );
        let path = folder(VERSION).join(name);
        if !path.exists() {
            let data = read::csv_bytes(table.as_bytes(), schema).unwrap();
            let release = case.run(&data, &mut SystemRandom::new().unwrap());
            let model = Model::from_release(release).unwrap();
            assert!(save(&model, &path, None, Existing::Keep).unwrap().instead.is_none());
        }
    }
    let rows = (0..300).map(|i| {
        let (category, class) = (["p", "q"][i % 2], ["a", "b"][usize::from(i % 10 > 4)]);
        format!("{},{},{category},{class}\n", i % 10, i * 7 % 100)
    });
    let table = format!("x,z,c,y\n{}", rows.collect::<String>());
    for (form, neighbours, says) in UNFOLDED {
        let path = folder(VERSION).join(unfolded_name(form, neighbours));
        if !path.exists() {
            let case = Case::of("gd").schema(unfolded(says)).rows(300).neighbours(neighbours);
            let data = read::csv_bytes(table.as_bytes(), &unfolded(says)).unwrap();
            let release = case.run(&data, &mut SystemRandom::new().unwrap());
            let model = Model::from_release(release).unwrap();
            assert!(save(&model, &path, None, Existing::Keep).unwrap().instead.is_none());
        }
    }
}
