//! The public originals, prepared and read. Skipped where they are absent (see
//! `privet_data::testing::real_data`).

use privet_data::{
    Encoding,
    catalog::{self, ENTRIES},
    read,
    testing::real_data,
};
use std::{fs, path::Path};

/// Every set comes out with the rows, columns and classes that the catalog announces.
#[test]
fn every_set_has_its_announced_shape() {
    let originals = real_data("every_set_has_its_announced_shape");
    for entry in ENTRIES {
        let folder = match &originals {
            Some(folder) => folder.as_path(),
            None if entry.files.is_empty() => Path::new("."),
            None => continue,
        };
        let out = tempfile::tempdir().unwrap();
        let prepared = catalog::prepare(entry.name, folder, out.path(), None).unwrap();
        assert_eq!(prepared.train_rows + prepared.test_rows, entry.rows, "{}", entry.name);
        let encoding = Encoding::new(&prepared.schema);
        assert_eq!(encoding.width(), entry.columns, "{}", entry.name);
        assert_eq!(encoding.classes(), Some(entry.classes), "{}", entry.name);
        let written = privet_data::Schema::load(&prepared.schema_file).unwrap();
        assert_eq!(written, prepared.schema, "{}", entry.name);
        let train = read::read(&prepared.train, &written, &Default::default()).unwrap();
        let test = read::read(&prepared.test, &written, &Default::default()).unwrap();
        assert_eq!((train.rows(), test.rows()), (prepared.train_rows, prepared.test_rows));
        let mut names: Vec<_> = fs::read_dir(out.path())
            .unwrap()
            .map(|file| file.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        assert_eq!(names.len(), 3, "{names:?}");
        if entry.name == "adult" {
            assert_eq!(prepared.train_rows, 36_177);
            let codes = train.target.signed().unwrap();
            let share = codes.iter().filter(|y| **y > 0.0).count() as f64 / codes.len() as f64;
            assert!((share - 0.2478).abs() < 0.01, "{share}");
        }
    }
}

#[test]
fn an_altered_or_absent_original_is_refused_and_nothing_is_written() {
    let folder = tempfile::tempdir().unwrap();
    let (from, out) = (folder.path().join("from"), folder.path().join("out"));
    fs::create_dir_all(from.join("a9a")).unwrap();
    let error = catalog::prepare("a9a", &from, &out, None).unwrap_err();
    assert_eq!(error.code(), "original-missing");
    assert!(error.to_string().contains("libsvmtools"), "{error}");
    fs::write(from.join("a9a/a9a"), "+1 1:1\n").unwrap();
    let error = catalog::prepare("a9a", &from, &out, None).unwrap_err();
    assert_eq!(error.code(), "original-altered");
    let message = error.to_string();
    assert!(message.contains("a9a/a9a") && message.contains("f5d5ffd8"), "{message}");
    assert!(!out.exists());
    let message = catalog::prepare("iris", &from, &out, None).unwrap_err().to_string();
    assert!(message.contains("iris") && message.contains("adult"), "{message}");
}
