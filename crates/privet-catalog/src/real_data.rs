//! The public originals, prepared and read. Skipped where they are absent (see
//! `privet_data::testing::real_data`).

use crate::{Prepared, entries, find, prepare};
use privet_data::{Dataset, Encoding, Schema, Target, read, testing::real_data};
use std::{collections::HashSet, fs, path::Path};
use tempfile::TempDir;

/// Sets with more numbers than this are too large to generate in a test: the stand-ins, whose own module
/// tests them at a smaller size.
const LARGE: usize = 5_000_000;

/// A prepared set, in a folder that lives as long.
struct Set {
    prepared: Prepared,
    train: Dataset,
    test: Dataset,
    out: TempDir,
}

fn set(name: &str, originals: &Path) -> Set {
    let out = tempfile::tempdir().unwrap();
    let prepared = prepare(name, originals, out.path(), None).unwrap();
    let read = |path: &Path| read::read(path, &prepared.schema, &Default::default()).unwrap();
    let (train, test) = (read(&prepared.train), read(&prepared.test));
    Set { prepared, train, test, out }
}

/// The number of rows of each class in train and test together.
fn classes(set: &Set) -> Vec<usize> {
    let mut counts = Vec::new();
    for part in [&set.train, &set.test] {
        let Target::Class { codes, .. } = &part.target else { panic!("the target is a number") };
        for code in codes {
            let code = *code as usize;
            counts.resize(counts.len().max(code + 1), 0);
            counts[code] += 1;
        }
    }
    counts
}

/// Every set has the rows, columns and classes that the catalog announces.
#[test]
fn every_set_has_its_announced_shape() {
    let originals = real_data("every_set_has_its_announced_shape");
    for entry in entries() {
        let made_up = entry.files.is_empty();
        let folder = match &originals {
            _ if made_up && entry.rows * entry.columns > LARGE => continue,
            Some(folder) => folder.as_path(),
            None if made_up => Path::new("."),
            None => continue,
        };
        let name = entry.name;
        let set = set(name, folder);
        let Set { prepared, train, test, out } = &set;
        assert_eq!(prepared.train_rows + prepared.test_rows, entry.rows, "{name}");
        let encoding = Encoding::new(&prepared.schema);
        assert_eq!(encoding.width(), entry.columns, "{name}");
        assert_eq!(encoding.classes().unwrap_or(0), entry.classes, "{name}");
        assert_eq!(Schema::load(&prepared.schema_file).unwrap(), prepared.schema, "{name}");
        for (part, rows) in [(train, prepared.train_rows), (test, prepared.test_rows)] {
            assert_eq!(part.rows() + part.report.surplus_rows as usize, rows, "{name}");
        }
        assert_eq!(fs::read_dir(out.path()).unwrap().count(), 3, "{name}");
        let published: &[usize] = match name {
            "adult" => &[34_014, 11_208],
            "cod-rna" | "cod-rna-100000" | "cod-rna-1000000" => &[39_690, 19_845],
            "bank-marketing" => &[39_922, 5_289],
            "20newsgroups" => &[6_003 + 3_997, 5_290 + 3_531],
            "reuters" => &[7_232 + 3_120, 538 + 179],
            "fashion-mnist" => &[7_000; 10],
            _ => continue,
        };
        assert_eq!(classes(&set), published, "{name}");
        match name {
            "adult" => assert_eq!(prepared.train_rows, 36_177),
            "20newsgroups" => assert_eq!(prepared.train_rows, 11_293),
            "reuters" => assert_eq!(prepared.train_rows, 7_770),
            _ => {}
        }
    }
}

/// The patient is the unit: no patient is in both parts, and at most the cap of each one's encounters is
/// read.
#[test]
fn no_patient_is_in_both_parts() {
    let Some(originals) = real_data("no_patient_is_in_both_parts") else { return };
    let set = set("diabetes-130", &originals);
    let patients = |path: &Path| -> Vec<String> {
        let text = fs::read_to_string(path).unwrap();
        assert!(text.starts_with("patient_nbr,race,gender,age,admission_type_id,"));
        text.lines().skip(1).map(|line| line.split(',').next().unwrap().to_string()).collect()
    };
    let (train, test) = (patients(&set.prepared.train), patients(&set.prepared.test));
    let distinct = |rows: &[String]| rows.iter().cloned().collect::<HashSet<_>>();
    let (in_train, in_test) = (distinct(&train), distinct(&test));
    assert!(in_train.is_disjoint(&in_test));
    assert_eq!((in_train.len(), in_test.len()), (55_992, 13_998));
    let cap = set.prepared.schema.unit_column().unwrap().max_records as usize;
    let mut records = vec![0; in_train.len()];
    for unit in set.train.units.as_ref().unwrap() {
        records[*unit as usize] += 1;
    }
    assert_eq!(records.iter().max(), Some(&cap));
    assert!(records.iter().all(|count| *count >= 1));
}

/// Columns of zeros are the only difference between the wide forms and Cod-RNA itself.
#[test]
fn cod_rna_with_zeros_holds_the_same_records() {
    let Some(originals) = real_data("cod_rna_with_zeros_holds_the_same_records") else { return };
    let narrow = set("cod-rna", &originals);
    for name in ["cod-rna-100000", "cod-rna-1000000"] {
        let wide = set(name, &originals);
        assert_eq!(wide.train.features.columns(), find(name).unwrap().columns);
        assert_eq!(wide.train.target, narrow.train.target);
        for row in (0..narrow.train.rows()).step_by(4_001) {
            let found = wide.train.features.dense_row(row);
            let expected = narrow.train.features.dense_row(row);
            for (a, b) in found.iter().zip(&expected) {
                assert!((a - b).abs() < 1e-6, "{name}, row {row}: {a} {b}");
            }
            assert!(found[8..].iter().all(|value| *value == 0.0), "{name}, row {row}");
        }
    }
}

/// A number's target is read within its bounds, on the scale [−1, 1].
#[test]
fn the_house_values_are_numbers() {
    let Some(originals) = real_data("the_house_values_are_numbers") else { return };
    let set = set("california-housing", &originals);
    let Target::Number(values) = &set.train.target else { panic!("classes") };
    assert_eq!(values.len(), 16_512);
    // 14,999 of 500,000 at the least, and the top code at the most.
    assert!(values.iter().all(|value| (-0.9401..=1.0).contains(value)));
    assert!(values.iter().filter(|value| **value == 1.0).count() > 500);
}

#[test]
fn an_absent_original_says_where_to_get_it() {
    let empty = tempfile::tempdir().unwrap();
    for entry in entries().filter(|entry| !entry.files.is_empty()) {
        let out = empty.path().join("out");
        let error = prepare(entry.name, empty.path(), &out, None).unwrap_err();
        let message = error.to_string();
        assert_eq!(error.code(), "original-missing", "{}", entry.name);
        assert!(message.contains(entry.files[0].name), "{message}");
        assert!(message.contains("http") && message.contains(entry.origin), "{message}");
        assert!(!out.exists(), "{}", entry.name);
    }
}

#[test]
fn an_altered_or_absent_original_is_refused_and_nothing_is_written() {
    let folder = tempfile::tempdir().unwrap();
    let (from, out) = (folder.path().join("from"), folder.path().join("out"));
    fs::create_dir_all(from.join("a9a")).unwrap();
    let error = prepare("a9a", &from, &out, None).unwrap_err();
    assert_eq!(error.code(), "original-missing");
    assert!(error.to_string().contains("libsvmtools"), "{error}");
    fs::write(from.join("a9a/a9a"), "+1 1:1\n").unwrap();
    let error = prepare("a9a", &from, &out, None).unwrap_err();
    assert_eq!(error.code(), "original-altered");
    let message = error.to_string();
    assert!(message.contains("a9a/a9a") && message.contains("f5d5ffd8"), "{message}");
    assert!(!out.exists());
    let message = prepare("iris", &from, &out, None).unwrap_err().to_string();
    assert!(message.contains("iris") && message.contains("adult"), "{message}");
}
