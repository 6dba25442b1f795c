//! The growth race from end to end, with the real program as the process that fits.

use privet_bench::line::Line;
use privet_bench::race::{self, Kind, Settings};
use std::collections::BTreeMap;

#[test]
fn a_quick_growth_race_measures_time_and_memory_of_growing_sizes() {
    let folder = tempfile::tempdir().unwrap();
    let program = crate::PROGRAM.into();
    let settings = Settings {
        originals: folder.path().into(),
        work: folder.path().join("work"),
        races: vec![Kind::Growth],
        python: "no-such-python".into(),
        server: (program, vec!["serve-growth".into()]),
        quick: true,
    };
    let mut curves: BTreeMap<[String; 3], Vec<u64>> = BTreeMap::new();
    race::run(&settings, &mut |line| {
        let Line::Race(line) = line else { panic!("{line:?}") };
        let measured = &line.measured;
        assert!(measured["seconds"].as_f64().unwrap() > 0.0, "{measured:?}");
        if cfg!(target_os = "linux") {
            let matrix = measured["matrix_bytes"].as_u64().unwrap();
            assert!(measured["peak_memory"].as_u64().unwrap() > matrix, "{measured:?}");
        }
        let along = if line.race == "growth-rows" { "rows" } else { "columns" };
        let storage = measured["storage"].as_str().unwrap().to_owned();
        let size = measured[along].as_u64().unwrap();
        curves.entry([line.race, line.who, storage]).or_default().push(size);
        Ok(())
    })
    .unwrap();
    assert_eq!(curves.len(), 6, "two learners, rows and two storages of columns");
    for (curve, sizes) in curves {
        assert!(sizes.len() > 1 && sizes.is_sorted_by(|a, b| a < b), "{curve:?}: {sizes:?}");
    }
}

#[test]
fn a_fit_that_cannot_be_asked_for_ends_the_curve_and_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let settings = Settings {
        originals: folder.path().into(),
        work: folder.path().into(),
        races: vec![Kind::Growth],
        python: "no-such-python".into(),
        server: ("/no/such/program".into(), Vec::new()),
        quick: true,
    };
    let mut notices = 0;
    race::run(&settings, &mut |line| {
        let Line::Race(line) = line else { panic!("{line:?}") };
        assert!(line.measured["notice"].as_str().unwrap().contains("/no/such/program"));
        notices += 1;
        Ok(())
    })
    .unwrap();
    assert_eq!(notices, 6, "one a curve");
}
