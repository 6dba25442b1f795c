//! The commands in README and guide are run: every block without a language, one after the other in one
//! shell and a folder of its own. Blocks of `sh` are not run here; those of the guide's walk with real
//! patients are by scripts/walk.sh.

use std::path::Path;
use std::process::Command;

const README: &str = include_str!("../../../../README.md");
const GUIDE: &str = include_str!("../../../../docs/guide.md");

/// The lines of all blocks without a language.
fn typed(page: &str) -> String {
    let (mut lines, mut within) = (String::new(), None);
    for line in page.lines() {
        match (within, line.strip_prefix("```")) {
            (None, Some(language)) => within = Some(language.trim().is_empty()),
            (Some(_), Some(_)) => within = None,
            (Some(true), None) => lines.push_str(&format!("{line}\n")),
            _ => {}
        }
    }
    lines
}

fn runs(page: &str, least: usize) {
    // An attack of fewer runs says the same in less time. And a description of a small ε may suggest
    // nothing to narrow, which is refused (at 0.2 three times in ten, at 1 in none of 250): at 20 its
    // noise is a hundredth of that at 0.2.
    let lines = typed(page)
        .replace("--runs 50000", "--runs 300")
        .replace("--epsilon 1 --out first.json", "--epsilon 20 --out first.json");
    let commands = lines.lines().filter(|line| line.starts_with("privet ")).count();
    assert!(commands >= least, "{commands} commands found in {lines}");
    let folder = tempfile::tempdir().unwrap();
    let own = Path::new(env!("CARGO_BIN_EXE_privet")).parent().unwrap().display().to_string();
    let path = std::env::var("PATH").unwrap_or_default();
    let told = Command::new("bash")
        .args(["-euxo", "pipefail", "-c", &lines])
        .current_dir(folder.path())
        .env("PATH", format!("{own}:{path}"))
        .output()
        .unwrap();
    let message = String::from_utf8_lossy(&told.stderr);
    let last: Vec<&str> = message.lines().rev().take(20).collect();
    assert!(told.status.success(), "last lines first: {last:#?}");
}

#[test]
fn every_command_of_the_readme_runs_as_written() {
    runs(README, 15);
}

#[test]
fn every_command_of_the_guide_runs_as_written() {
    runs(GUIDE, 30);
}
