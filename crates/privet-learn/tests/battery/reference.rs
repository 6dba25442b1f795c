//! `docs/reference.md`: every method with its settings and its coverage, generated from the
//! declarations.
//!
//! After a change of a declaration write the page anew with `cargo test -p privet-learn --test battery
//! reference -- --ignored`.

use privet_learn::networks;
use privet_learn::ratings;
use privet_learn::selection::SELECTORS;
use privet_learn::streams;
use privet_learn::votes::{AGGREGATORS, TEACHERS};
use privet_learn::{Coverage, Info, METHODS, MethodCoverage, SettingInfo, TableAccess};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

const HEAD: &str = "\
# Methods and settings

Every method of every family, what it covers, and every setting with what is accepted. This page is made of the
declarations that the program itself reads (`privet methods` prints the same); a test holds the two together.
[learners.md](learners.md) says when to take which, [choosing.md](choosing.md) where to begin.

A setting is given with `--set NAME=VALUE` (Python: by its name), and whatever is left out is chosen by a rule that reads
public facts alone. In the tables: δ = 0, a promise without δ; *private count*, one record added or removed, or people as
units; *people*, units of more than one record; *3 classes*, targets of more than two classes; *printed*, a paper's own
constants (`--calibration printed`); *disk*, tables larger than memory.
";

fn file() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference.md")
}

fn cell(covered: bool) -> &'static str {
    if covered { "yes" } else { "" }
}

/// The columns of a table of coverage.
const COLUMNS: [&str; 6] = ["δ = 0", "private count", "people", CLASSES, "printed", "disk"];
const CLASSES: &str = "3 classes";

/// What a family's methods cover; `without` are columns that do not apply to it.
fn coverage<M>(methods: &[Info<M>], without: &[&str], text: &mut String) {
    let applies = |column: &&str| !without.contains(column);
    let columns: Vec<&str> = COLUMNS.into_iter().filter(applies).collect();
    writeln!(text, "| method | {} |\n|---{}|", columns.join(" | "), "|---".repeat(columns.len()))
        .unwrap();
    for info in methods.iter().filter(|info| info.private) {
        let MethodCoverage { pure, printed, private_count, users, several, needs } = info.covers;
        let covered = [pure, private_count, users, several, printed].map(Coverage::is_yes);
        let covered = covered.into_iter().chain([needs == TableAccess::Sums]).zip(COLUMNS);
        let cells: Vec<_> =
            covered.filter(|(_, column)| applies(column)).map(|(yes, _)| cell(yes)).collect();
        writeln!(text, "| `{}` | {} |", info.name, cells.join(" | ")).unwrap();
    }
    text.push('\n');
}

fn settings(settings: &[SettingInfo], text: &mut String) {
    for setting in settings {
        writeln!(text, "- `{}`: {}; {}", setting.name, setting.meaning, setting.accepted())
            .unwrap();
    }
    if !settings.is_empty() {
        text.push('\n');
    }
}

fn family<M>(title: &str, methods: &[Info<M>], text: &mut String) {
    family_without(title, methods, &[], text);
}

fn family_without<M>(title: &str, methods: &[Info<M>], without: &[&str], text: &mut String) {
    write!(text, "\n## {title}\n\n").unwrap();
    coverage(methods, without, text);
    for info in methods {
        write!(
            text,
            "### `{}`\n\n{}. Noise: {}. Promise: {}. Source: {}.\n\n",
            info.name, info.summary, info.noisy, info.guarantee, info.source
        )
        .unwrap();
        settings(info.settings, text);
    }
}

fn page() -> String {
    let mut text = String::from(HEAD);
    family("Linear models: `privet train`", METHODS, &mut text);
    family("Chosen columns: `privet select`", SELECTORS, &mut text);
    family("Streams: `privet online train`", streams::METHODS, &mut text);
    family_without("Ratings: `privet complete`", ratings::METHODS, &[CLASSES], &mut text);
    family("Votes: `privet vote`", AGGREGATORS, &mut text);
    text.push_str("\n## Teachers: `privet vote --teacher`\n\n");
    for info in TEACHERS {
        write!(text, "### `{}`\n\n{}.\n\n", info.name, info.summary).unwrap();
        settings(info.settings, &mut text);
    }
    family("Networks: `privet train --model`", networks::METHODS, &mut text);
    text.trim_end().to_string() + "\n"
}

#[test]
fn the_reference_is_what_is_declared() {
    let known = std::fs::read_to_string(file()).expect("docs/reference.md");
    assert!(known == page(), "docs/reference.md is not what is declared: write it anew");
}

#[test]
#[ignore = "writes a file; run when a declaration changes"]
fn write_the_reference() {
    std::fs::write(file(), page()).unwrap();
}
