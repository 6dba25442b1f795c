//! The races that need no process of their own, quick and without peers. The fit is skipped where Adult is
//! absent (see `privet_data::testing::real_data`).

use privet_bench::line::{Line, Race};
use privet_bench::race::{Kind, Settings, run};
use privet_data::testing::real_data;
use std::path::Path;

fn raced(kind: Kind, originals: &Path) -> Vec<Race> {
    let work = tempfile::tempdir().unwrap();
    let settings = Settings {
        originals: originals.into(),
        work: work.path().into(),
        races: vec![kind],
        python: "no-python".into(),
        server: ("no-server".into(), vec![]),
        quick: true,
    };
    let mut lines = Vec::new();
    let mut emit = |line| {
        let Line::Race(line) = line else { panic!("not a race") };
        lines.push(line);
        Ok(())
    };
    run(&settings, &mut emit).unwrap();
    assert!(lines.iter().all(|line| line.race == kind.to_string()));
    assert!(lines.iter().all(|line| line.who.starts_with("privet")));
    lines
}

fn number(line: &Race, key: &str) -> f64 {
    line.measured.get(key).and_then(|value| value.as_f64()).unwrap_or(f64::NAN)
}

#[test]
fn every_question_is_answered_and_timed() {
    let lines = raced(Kind::Accountant, Path::new("."));
    assert_eq!(lines.len(), 8);
    for line in &lines {
        assert!(number(line, "answer") > 0.0 && number(line, "seconds") > 0.0, "{line:?}");
        assert!(line.measured["question"].is_string() && line.measured["event"].is_object());
    }
}

#[test]
fn every_law_is_drawn_from() {
    let lines = raced(Kind::Samplers, Path::new("."));
    assert_eq!(lines.len(), 12);
    assert!(lines.iter().all(|line| number(line, "draws_per_second") > 0.0), "{lines:?}");
}

#[test]
fn every_fit_of_ours_is_timed_and_judged() {
    let Some(originals) = real_data("every_fit_of_ours_is_timed_and_judged") else { return };
    let lines = raced(Kind::Fit, &originals);
    let names: Vec<&str> = lines.iter().map(|line| line.who.as_str()).collect();
    // `amp` and `auto` in two storages at two budgets, and `amp` once with δ = 0.
    assert_eq!(names.iter().filter(|who| **who == "privet amp").count(), 4);
    assert_eq!(names.iter().filter(|who| who.starts_with("privet auto (")).count(), 4);
    assert_eq!(names.iter().filter(|who| **who == "privet amp, δ = 0").count(), 1);
    for line in &lines {
        assert_eq!((number(line, "rows"), number(line, "columns")), (36_177.0, 104.0));
        assert_eq!(number(line, "fits"), 1.0);
        assert!(number(line, "seconds") > 0.0 && number(line, "plan_seconds") > 0.0, "{line:?}");
        assert!((0.0..=1.0).contains(&number(line, "accuracy")), "{line:?}");
        assert!(!line.measured.contains_key("notice"), "{line:?}");
    }
}
