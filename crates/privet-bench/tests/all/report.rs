//! Reports of results files, from outside: numbers by hand, bad files, hostile names.

use crate::fixture::{EPSILONS, HOSTILE, cell, head, races, run, suite, text};
use privet_bench::line::{Line, Refused, Run, Stage};
use privet_bench::report::aggregate::{groups, standard_error, summaries};
use privet_bench::report::race::slope;
use privet_bench::report::{Format, ReportError, Results, report, write_report};
use privet_core::Neighbours;
use privet_learn::Calibration;
use std::path::Path;

fn parsed(lines: &[Line]) -> Results {
    Results::parse(text(lines).as_bytes(), Path::new("results.jsonl")).unwrap()
}

fn page(lines: &[Line], format: Format) -> String {
    write_report(&[parsed(lines)], format).unwrap()
}

/// Scores 80, 82, 84: mean 82, variance 4, standard error √(4/3).
#[test]
fn means_and_errors_are_those_computed_by_hand() {
    let place = cell("adult", "amp", "amp", Calibration::Sound, Some(0.1));
    let runs: Vec<Run> = [80.0, 82.0, 84.0]
        .into_iter()
        .zip(0..)
        .map(|(score, number)| Run {
            certified: Some(0.1 + score / 1e3),
            ..run(place.clone(), number, score)
        })
        .collect();
    let actual = summaries(&runs);
    assert_eq!(actual.len(), 1);
    assert_eq!((actual[0].runs, actual[0].mean), (3, 82.0));
    assert!((actual[0].standard_error.unwrap() - (4.0_f64 / 3.0).sqrt()).abs() < 1e-12);
    assert_eq!(actual[0].certified, Some(0.184));
    assert!(actual[0].counts && actual[0].exceeds_claim());
    assert_eq!(standard_error(&[1.0]), None);
}

/// A peer's numbers stand beside ours, and not as ours.
#[test]
fn a_peer_is_named_with_its_version_and_its_promise() {
    let place = |method: &str| cell("adult", method, method, Calibration::Sound, Some(1.0));
    let peer = Run {
        chosen: Some("diffprivlib 0.6.6".into()),
        certified: None,
        peak_memory: None,
        columns: 7,
        ..run(place("diffprivlib"), 0, 77.0)
    };
    let refused = Refused { cell: place("dp-ebm"), reason: "it is for two classes".into() };
    let lines = [
        head("mine"),
        Line::Run(peer),
        Line::Run(run(place("gd"), 0, 83.0)),
        Line::Refused(refused),
    ];
    let text = page(&lines, Format::Markdown);
    assert!(text.contains("nothing here checks them"), "{text}");
    assert!(
        text.contains("diffprivlib (diffprivlib 0.6.6) is that package's")
            && text.contains("a record that is replaced"),
        "{text}"
    );
    assert!(text.contains("| diffprivlib | the peer's own | 77.0 |"), "{text}");
    assert!(text.contains("| gd | sound | 83.0 |"), "{text}");
    assert!(text.contains("| dp-ebm | the peer's own | 1 | 1 | it is for two classes |"), "{text}");
    // Facts shared by all of them are stated for ours.
    assert!(text.contains("104 columns") && !text.contains(", 7 columns"), "{text}");
    let alone = page(&[head("mine"), Line::Run(run(place("gd"), 0, 83.0))], Format::Markdown);
    assert!(!alone.contains("Peers"), "{alone}");
}

/// The main results come first: ours, the best peer, no privacy. Machine and circumstances come last,
/// collapsed on the page.
#[test]
fn the_headline_comes_first_and_circumstances_last() {
    let place = |method: &str, epsilon| cell("adult", method, method, Calibration::Sound, epsilon);
    let lines = [
        head("mine"),
        Line::Run(run(place("diffprivlib", Some(1.0)), 0, 77.0)),
        Line::Run(run(place("amp", Some(1.0)), 0, 80.0)),
        Line::Run(run(place("gd", Some(1.0)), 0, 83.0)),
        Line::Run(run(place("non-private", None), 0, 85.0)),
        // A teacher's chunk of the table is not the table, however good its score.
        Line::Run(run(place("one-chunk", None), 0, 99.0)),
    ];
    let text = page(&lines, Format::Markdown);
    let (first, _) = text.split_once("## ").unwrap();
    assert!(first.contains("| **83.0 (gd)** | 77.0 (diffprivlib) | 85.0 |"), "{first}");
    let html = page(&lines, Format::Html);
    let at = |words: &str| html.find(words).unwrap_or_else(|| panic!("no {words} in {html}"));
    assert!(at("without privacy") < at("<h2") && at("<h2") < at("Circumstances"), "{html}");
    let end = &html[at("How these numbers came about")..];
    assert!(end.find("<details") < end.find("Circumstances") && end.contains("<details"), "folded");
    assert!(!end.contains("<h2"), "the end of the page");
}

#[test]
fn the_best_point_counts_and_screening_does_not() {
    let at = |point: &str, scores: &[f64], stage: Stage| -> Vec<Run> {
        let mut place = cell("adult", "amp", "amp-tuned", Calibration::Sound, Some(0.1));
        place.settings.insert("split".into(), point.into());
        let numbers = scores.iter().zip(0..);
        numbers.map(|(score, number)| Run { stage, ..run(place.clone(), number, *score) }).collect()
    };
    let mut runs = at("screened", &[99.0], Stage::Screen);
    runs.extend(at("good", &[80.0, 81.0], Stage::Final));
    runs.extend(at("better", &[82.0, 83.0], Stage::Final));
    runs.extend(at("lucky once", &[90.0], Stage::Final));
    let actual = summaries(&runs);
    assert_eq!(actual.len(), 3, "screening makes no result");
    let counted: Vec<_> = actual.iter().filter(|one| one.counts).collect();
    assert_eq!(counted.len(), 1);
    assert_eq!((counted[0].mean, counted[0].points), (82.5, 3));
    assert_eq!(counted[0].cell.settings["split"], "better");
}

#[test]
fn relations_are_kept_apart_and_share_the_baseline() {
    let private = cell("adult", "gd", "gd", Calibration::Sound, Some(1.0));
    let mut added = private.clone();
    added.neighbours = Neighbours::AddRemove;
    let plain = cell("adult", "non-private", "non-private", Calibration::Sound, None);
    let runs = [run(plain, 0, 84.0), run(private, 0, 80.0), run(added, 0, 82.0)];
    let groups = groups(&summaries(&runs), &[]);
    assert_eq!(groups.len(), 2);
    assert!(groups.iter().all(|group| group.series.len() == 1 && group.plain.len() == 1));
}

#[test]
fn slopes_are_exponents() {
    let power: Vec<(f64, f64)> = [10.0, 100.0, 1e4].map(|x: f64| (x, 3.0 * x.powf(1.5))).into();
    assert!((slope(&power).unwrap() - 1.5).abs() < 1e-12);
    // (1, 1), (10, 10), (100, 10) in logarithms: (0, 0), (1, 1), (2, 1) has slope ½.
    assert!((slope(&[(1.0, 1.0), (10.0, 10.0), (100.0, 10.0)]).unwrap() - 0.5).abs() < 1e-12);
    let square: Vec<(f64, f64)> = [1.0, 3.0, 10.0].map(|x| (x, 7.0 * x * x)).into();
    assert!((slope(&square).unwrap() - 2.0).abs() < 1e-12);
    assert_eq!(slope(&square[..1]), None);
    assert_eq!(slope(&[]), None);
    assert_eq!(slope(&[(1.0, 0.0), (2.0, 1.0)]), None);
    assert_eq!(slope(&[(5.0, 1.0), (5.0, 2.0)]), None);
    assert_eq!(slope(&[(0.0, 1.0), (f64::NAN, 2.0)]), None);
}

#[test]
fn differences_are_judged_and_explained() {
    let scores = |method: &str, entry: &str, calibration, base: f64| -> Vec<Line> {
        let place = cell("adult", method, entry, calibration, Some(0.1));
        let runs = (0..10).map(|number| {
            let score = base + if number % 2 == 0 { 0.3 } else { -0.3 };
            Line::Run(run(place.clone(), number, score))
        });
        runs.collect()
    };
    let mut lines = vec![head("iyengar-logistic")];
    lines.extend(scores("amp", "amp", Calibration::Sound, 81.0));
    lines.extend(scores("amp", "amp", Calibration::Printed, 78.74));
    lines.extend(scores("auto", "auto", Calibration::Sound, 82.0));
    let page = page(&lines, Format::Markdown);
    // Standard error: √(10·0.09/9/10) = 0.1. 81.0 − 78.7 = 2.3; 78.74 − 78.7 is within rounding.
    assert!(
        page.contains(
            "| H-F AMP (amp) | 78.7 | 78.7 ± 0.1 | ±0.0 | 0.4 | 81.0 ± 0.1 | **+2.3** | 23.0 | a |"
        ),
        "{page}"
    );
    assert!(page.contains("- (a) Our bound: the noise follows from one curve"));
    assert!(page.contains(
        "| auto (gd), beside their best | 79.1 (AMP) |  |  |  | 82.0 ± 0.1 | **+2.9** | 29.0 | b |"
    ));
    assert!(
        page.contains("| AMP (amp) | **79.1** |  |  |  |  |  |  |  |"),
        "nothing tuned was run"
    );
}

#[test]
fn broken_promises_are_marked() {
    let lines = suite("iyengar-logistic", &[("adult", 84.0)], "accuracy");
    let page = page(&lines, Format::Markdown);
    assert!(page.contains("| sgd-tuned | **0.36** ⚠ | **1.14** ⚠ | **3.6** ⚠ |"), "{page}");
    assert!(page.contains("| amp-tuned | 0.00999 |"));
}

#[test]
fn a_file_cut_in_a_line_is_used_as_far_as_it_is_whole() {
    let lines = suite("iyengar-logistic", &[("adult", 84.0)], "accuracy");
    let whole = text(&lines);
    let cut = &whole.as_bytes()[..whole.len() - 40];
    let results = Results::parse(cut, Path::new("results.jsonl")).unwrap();
    assert_eq!(results.notices.len(), 1);
    assert!(results.notices[0].contains("1 line of the results file is not whole"));
    for format in [Format::Html, Format::Markdown] {
        assert!(
            write_report(std::slice::from_ref(&results), format).unwrap().contains("not whole")
        );
    }
    let twice = format!("{whole}{whole}");
    let results = Results::parse(twice.as_bytes(), Path::new("results.jsonl")).unwrap();
    assert_eq!(results.runs.len(), parsed(&lines).runs.len());
    assert_eq!(results.heads.len(), 2, "a suite that was taken up again");
    assert!(results.notices[0].contains("twice"));
}

#[test]
fn what_cannot_be_reported_says_why() {
    let folder = tempfile::tempdir().unwrap();
    let missing = folder.path().join("nowhere");
    let html = Format::Html;
    assert!(
        matches!(report(&[&missing], html), Err(ReportError::NoFolder(path)) if path == missing)
    );
    assert!(matches!(report(&[folder.path()], html), Err(ReportError::NoFile(_))));
    assert!(matches!(report::<&Path>(&[], html), Err(ReportError::Nothing)));
    let file = folder.path().join("results.jsonl");
    for (text, words) in [
        (String::new(), "no measurement"),
        ("\u{0}\u{1}\n{]".into(), "2 unreadable lines"),
        (text(&[head("x")]), "no measurement"),
        (text(&races()[1..]), "begins with a measurement"),
    ] {
        std::fs::write(&file, text).unwrap();
        let error = report(&[folder.path()], html).unwrap_err().to_string();
        assert!(error.contains(words), "{error}");
    }
}

#[test]
fn hostile_names_do_no_harm() {
    let mut lines = suite(HOSTILE, &[(HOSTILE, 84.0)], "accuracy");
    let place = cell(HOSTILE, HOSTILE, HOSTILE, Calibration::Printed, Some(0.1));
    lines.push(Line::Run(run(place.clone(), 0, 70.0)));
    lines.push(Line::Refused(Refused { cell: place, reason: HOSTILE.into() }));
    let html = page(&lines, Format::Html);
    assert!(!html.contains("<script") && html.contains("&lt;script&gt;"));
    let markdown = page(&lines, Format::Markdown);
    let bare = markdown.replace("\\<", "").replace("\\|", "");
    assert!(!bare.contains('<') && !bare.contains("\"|"));
    let csv = page(&lines, Format::Csv);
    assert!(csv.contains(&format!("\"{}\"", HOSTILE.replace('"', "\"\""))), "{csv}");
    let mut reader = csv::Reader::from_reader(csv.as_bytes());
    let records: Vec<csv::StringRecord> = reader.records().collect::<Result<_, _>>().unwrap();
    assert!(records.iter().all(|record| &record[1] == HOSTILE));
}

#[test]
fn csv_has_a_line_a_cell_with_all_digits() {
    let lines = suite("iyengar-logistic", &[("adult", 84.0)], "accuracy");
    let text = page(&lines, Format::Csv);
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let headers = reader.headers().unwrap().clone();
    let column = |name: &str| headers.iter().position(|known| known == name).unwrap();
    let records: Vec<csv::StringRecord> = reader.records().collect::<Result<_, _>>().unwrap();
    // 5 untuned and 5 tuned entries of two points; printed: amp and the tuned ones; 2 refused; baseline.
    let cells = EPSILONS.len() * (5 + 1 + 2 * 10 + 2) + 1;
    assert_eq!(records.len(), cells);
    let actual = summaries(&parsed(&lines).runs);
    let expected = actual.iter().find(|one| one.cell.entry == "amp-tuned" && one.counts).unwrap();
    let record = records
        .iter()
        .find(|record| {
            &record[column("entry")] == "amp-tuned" && &record[column("counts")] == "yes"
        })
        .unwrap();
    assert_eq!(record[column("mean")].parse::<f64>().unwrap(), expected.mean);
    assert_eq!(record[column("settings")], *"passes=5");
    let refused = records.iter().filter(|record| !record[column("refused")].is_empty());
    assert_eq!(refused.count(), 2 * EPSILONS.len());
}

#[test]
fn regression_is_shown_by_its_own_measure() {
    let lines = suite("own", &[("california", 0.61)], "r-squared");
    let html = page(&lines, Format::Html);
    assert!(
        html.contains(">R² on held-out records</text>") && html.contains("36,177 training records")
    );
    assert!(!html.contains("accuracy,"));
    assert!(page(&lines, Format::Markdown).contains("0.610"));
}

#[test]
fn ratios_of_a_race_come_from_the_same_setting() {
    let page = page(&races(), Format::Markdown);
    assert!(
        page.contains(
            "| scikit-learn 1.9.1 liblinear | csr | 0.1 | 64.62 | 0.0256 | 4.00 | 82.1 | – |"
        ),
        "{page}"
    );
    assert!(
        page.contains("| scikit-learn 1.9.1 lbfgs | dense | 0.1 | 64.62 | 9.0000 | – |"),
        "no peer of that storage"
    );
    assert!(page.contains("| what? | peer 1, step 0.0001 | 1.50000 | 30.00 | 30 |"));
    assert!(page.contains("Smallest ratio: 30.") && !page.contains("7.00000"));
    assert!(page.contains("| discrete-gaussian | 1 | other 1.0 | 0.1 | 1000 |"));
    assert!(page.contains("| **privet amp** | 10,000 | 10,000,000 | 1.00 | 1.00 |"));
    assert!(page.contains("| scikit-learn 1.9.1 lbfgs | 10,000 | 10,000,000 | 1.50 | 1.00 |"));
    assert!(page.contains("stopped: 40 GB expected"));
}

/// A page of a part of a suite does not pass for the whole of it.
#[test]
fn what_of_a_suite_was_not_measured_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let whole = privet_bench::suite::find("default").unwrap();
    std::fs::write(folder.path().join("suite.toml"), &whole.text).unwrap();
    let place = cell("adult", "auto", "auto", Calibration::Sound, Some(0.1));
    let lines = [head("default"), Line::Run(run(place, 0, 80.0))];
    crate::fixture::write(folder.path(), &lines);
    let notices = Results::read(folder.path()).unwrap().notices;
    let said = notices.iter().find(|notice| notice.contains("part of the suite")).unwrap();
    assert!(said.contains(" 1 of its "), "{said}");
    assert!(said.contains("covtype, mnist") && !said.contains("adult"), "{said}");
}
