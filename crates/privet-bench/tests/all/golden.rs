//! Whole pages, word for word: changes of the report's code that alter them must not pass unseen.
//!
//! `PRIVET_BLESS=1` rewrites the files in `golden/`, for review of the difference.

use crate::fixture::{HOSTILE, cell, head, races, run, suite, text};
use privet_bench::line::{Line, Race};
use privet_bench::report::{Format, Results, write_report};
use privet_core::Neighbours;
use privet_learn::Calibration;
use serde_json::json;
use sha2::{Digest, Sha256};
use std::path::Path;

fn parsed(lines: &[Line]) -> Results {
    Results::parse(text(lines).as_bytes(), Path::new("results.jsonl")).unwrap()
}

/// A suite with published numbers, one without and with two relations, and every kind of race.
fn results() -> Vec<Results> {
    let mut own = suite("own", &[("california", 0.61)], "r-squared");
    let mut added = cell("california", "gd", "gd", Calibration::Sound, Some(1.0));
    added.neighbours = Neighbours::AddRemove;
    own.push(Line::Run(run(added, 0, 0.5)));
    own.push(head("another"));
    let mut raced = races();
    let measured = json!({ "laps": 3, "flag": "green", "note": HOSTILE, "none": null });
    raced.push(Line::Race(Race {
        race: "relay".into(),
        who: "privet".into(),
        measured: measured.as_object().cloned().unwrap(),
    }));
    let logistic = suite("iyengar-logistic", &[("adult", 84.0), ("covtype", 72.0)], "accuracy");
    vec![parsed(&logistic), parsed(&own), parsed(&raced)]
}

/// sha256 of the page in HTML, whose words are those of the Markdown and whose plots are not readable as
/// text.
const HTML: &str = "dac3cd81e1088e2c96b42cf4cf140fe7bfa284f54198201d3f0e3dce90584c93";

#[test]
fn pages_are_the_golden_ones() {
    let all = results();
    let races = &all[2..];
    for (name, results, format) in [
        ("report.md", &all[..], Format::Markdown),
        ("summary.md", &all[..], Format::Summary),
        ("races.csv", races, Format::Csv),
    ] {
        let page = write_report(results, format).unwrap();
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(name);
        if std::env::var_os("PRIVET_BLESS").is_some() {
            std::fs::write(&path, &page).unwrap();
        }
        let golden = std::fs::read_to_string(&path).unwrap();
        let differs = page.lines().zip(golden.lines()).position(|(made, kept)| made != kept);
        assert!(page == golden, "{name} differs, first in line {:?}", differs.map(|line| line + 1));
    }
    let page = write_report(&all, Format::Html).unwrap();
    let digest = Sha256::digest(&page).iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    if digest != HTML {
        let path = std::env::temp_dir().join("privet-report.html");
        std::fs::write(&path, page).unwrap();
        panic!("the page in HTML, now with sha256 {digest}, is in {}", path.display());
    }
}
