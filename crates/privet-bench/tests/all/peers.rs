//! Peers in a suite, with interpreters that are missing, or only imitations.

use privet_bench::line::{Line, Run};
use privet_bench::suite::{Filter, Outcome, RunObserver, RunOptions, parse, run};
use privet_core::Neighbours;
use std::fs;
use std::path::Path;

const SUITE: &str = r#"
name = "mine"
title = "Mine"
loss = "logistic"
epsilons = [1]
delta = 1e-5
runs = 2
[[datasets]]
name = "two"
schema = "two.toml"
train = "two.csv"
test = "two.csv"
[[datasets]]
name = "three"
schema = "three.toml"
train = "three.csv"
test = "three.csv"
[[methods]]
name = "gd"
method = "gd"
[[methods]]
name = "dp-ebm"
peer = "dp-ebm"
[[methods]]
name = "diffprivlib"
peer = "diffprivlib"
"#;

struct Silent;

impl RunObserver for Silent {
    fn say(&self, _: &str) {}
    fn progress(&self, _: u64, _: u64, _: f64) {}
    fn writing(&self, write: &mut dyn FnMut()) {
        write();
    }
}

/// Two tables of 90 rows: the class of two or three follows x.
fn tables(folder: &Path) {
    for (name, classes) in [("two", "\"a\", \"b\""), ("three", "\"a\", \"b\", \"c\"")] {
        let count = classes.split(',').count();
        let schema = format!(
            "[clip]\nnorm = \"l2\"\nradius = 1\n[target]\ncolumn = \"y\"\nclasses = [{classes}]\n\
             [[columns]]\nname = \"x\"\ntype = \"number\"\nbounds = [0, 10]\n\
             [[columns]]\nname = \"c\"\ntype = \"category\"\ncategories = [\"p\", \"q\"]\n"
        );
        fs::write(folder.join(format!("{name}.toml")), schema).unwrap();
        let rows = (0..90).map(|row| {
            let (class, category) = (["a", "b", "c"][row % count], ["p", "q"][row % 2]);
            format!("{},{category},{class}\n", row % count * 3)
        });
        let text = format!("x,c,y\n{}", rows.collect::<String>());
        fs::write(folder.join(format!("{name}.csv")), text).unwrap();
    }
}

fn ran(folder: &Path, python: &Path, resume: bool) -> (Outcome, Vec<Line>) {
    let suite = parse(SUITE, "mine.toml", folder).unwrap();
    let options = RunOptions {
        out: folder.join("out"),
        resume,
        originals: folder.into(),
        cache: folder.into(),
        filter: Filter::default(),
        threads: 2,
        python: python.into(),
    };
    let outcome = run(&suite, &options, &Silent).unwrap();
    let text = fs::read_to_string(folder.join("out/results.jsonl")).unwrap();
    let lines = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    (outcome, lines)
}

fn of<'a>(lines: &'a [Line], dataset: &str, entry: &str) -> Vec<&'a Run> {
    let runs = lines.iter().filter_map(|line| match line {
        Line::Run(run) => Some(run),
        _ => None,
    });
    runs.filter(|run| run.cell.dataset == dataset && run.cell.entry == entry).collect()
}

#[test]
fn a_peer_that_cannot_be_had_is_left_out_in_words() {
    let folder = tempfile::tempdir().unwrap();
    tables(folder.path());
    let (outcome, lines) = ran(folder.path(), Path::new("no-such-python"), false);
    assert_eq!((outcome.made, outcome.refused), (4, 0));
    assert_eq!(outcome.missing.len(), 2, "{:?}", outcome.missing);
    let words = &outcome.missing[0];
    assert!(words.starts_with("dp-ebm: interpret-core cannot be had"), "{words}");
    assert!(words.contains("no-such-python") && words.contains("venv module"), "{words}");
    assert!(of(&lines, "two", "dp-ebm").is_empty() && of(&lines, "two", "gd").len() == 2);
    // Nothing is recorded against it, so that a later run makes it.
    assert!(lines.iter().all(|line| !matches!(line, Line::Refused(_))));
}

/// An imitation of an interpreter: it makes an environment of itself, installs nothing, and as a peer
/// predicts the first class for every record, or on a set of three classes ends with an error.
#[cfg(unix)]
const STAND_IN: &str = r#"#!/bin/sh
case "$2" in
venv) mkdir -p "$3/bin" && cp "$0" "$3/bin/python" ;;
pip) exit 0 ;;
*)
    size=$(wc -c < "$2/test-classes.npy")
    count=$(( (size - 128) / 4 ))
    echo '{"ready": {"interpret-core": "9.9", "diffprivlib": "8.8"}}'
    if grep -q '"classes":3' "$2/facts.json"; then
        read -r question
        echo "no, thank you" >&2
        exit 1
    fi
    zeros=$(yes 0 | head -n "$count" | tr '\n' ',' | sed 's/,$//')
    while read -r question; do
        echo "$question" >> "$(dirname "$0")/asked"
        echo "{\"seconds\": 0.5, \"classes\": [$zeros], \"scores\": [$zeros]}"
    done
    ;;
esac
"#;

#[cfg(unix)]
#[test]
fn peers_are_asked_judged_and_written_down_like_ours() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    tables(folder.path());
    let python = folder.path().join("stand-in");
    fs::write(&python, STAND_IN).unwrap();
    fs::set_permissions(&python, fs::Permissions::from_mode(0o755)).unwrap();
    let (outcome, lines) = ran(folder.path(), &python, false);
    // Two of gd on each set, two of either peer on the first.
    assert_eq!((outcome.made, outcome.refused), (8, 2), "{:?}", outcome.missing);
    let runs = of(&lines, "two", "dp-ebm");
    assert_eq!(runs.len(), 2);
    for run in runs {
        // All of the first class, of which there are as many as of the second, and every score a tie.
        assert_eq!((run.score, run.ranking, run.seconds), (50.0, Some(50.0), 0.5));
        assert_eq!((run.rows, run.columns, run.classes), (90, 2, 2));
        assert_eq!(run.chosen.as_deref(), Some("interpret-core 9.9"));
        assert_eq!(run.cell.neighbours, Neighbours::AddRemove);
        assert_eq!((run.cell.epsilon, run.cell.delta), (Some(1.0), Some(1e-5)));
        assert_eq!((run.certified, run.peak_memory), (None, None));
    }
    let pure = of(&lines, "two", "diffprivlib");
    // It gets the rows of gd: a number and two categories, and its guarantee has no δ.
    assert_eq!((pure[0].columns, pure[0].cell.delta), (3, Some(0.0)));
    assert_eq!(pure[0].cell.neighbours, Neighbours::ReplaceOne);
    let asked = fs::read_to_string(folder.path().join("peers/venv/bin/asked")).unwrap();
    let question: serde_json::Value = serde_json::from_str(asked.lines().next().unwrap()).unwrap();
    assert_eq!(question, serde_json::json!({ "epsilon": 1.0, "delta": 1e-5, "settings": {} }));
    let reasons = lines.iter().filter_map(|line| match line {
        Line::Refused(refused) => Some((refused.cell.entry.as_str(), refused.reason.as_str())),
        _ => None,
    });
    let mut reasons: Vec<(&str, &str)> = reasons.collect();
    reasons.sort_unstable();
    assert_eq!(reasons[0].0, "diffprivlib");
    assert!(reasons[0].1.contains("no, thank you"), "{reasons:?}");
    assert!(reasons[1].1.contains("two classes, and this set has 3"), "{reasons:?}");
    // The peer's rows are removed, and refusals are recorded: there is nothing left to do.
    let left = fs::read_dir(folder.path()).unwrap().filter_map(Result::ok);
    let left: Vec<String> =
        left.map(|one| one.file_name().to_string_lossy().into_owned()).collect();
    assert!(!left.iter().any(|name| name.starts_with("peer-rows-")), "{left:?}");
    assert_eq!(ran(folder.path(), &python, true).0.made, 0);
}
