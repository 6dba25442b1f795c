//! Suites: measured, interrupted, resumed, refused.

use crate::world::{Ended, World, table};
use serde_json::Value;
use std::collections::BTreeMap;
use std::process::Stdio;
use std::time::Duration;

/// Two learners, a grid and a learner without printed constants on the small table.
const SUITE: &str = r#"
name = "mine"
title = "Mine"
loss = "logistic"
epsilons = [1, 5]
delta = 1e-6
runs = 3
[[datasets]]
name = "ours"
schema = "schema.toml"
train = "table.csv"
test = "test.csv"
[[methods]]
name = "plain"
method = "non-private"
[[methods]]
name = "amp-tuned"
method = "amp"
calibrations = ["sound", "printed"]
grid = { split = [0.01, 0.1, 0.5], row-norm = [0.5, 1] }
keep = 2
[[methods]]
name = "gd"
method = "gd"
calibrations = ["sound", "printed"]
"#;

const RUN: &str = "run mine.toml --out results";

fn world() -> World {
    let world = World::new();
    world.write("mine.toml", SUITE);
    world.write("test.csv", table(100));
    world
}

fn lines(world: &World) -> Vec<Value> {
    let text = world.read("results/results.jsonl");
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// The number of lines of each cell, stage and run, with scores and times left out.
fn runs(world: &World) -> BTreeMap<String, u32> {
    let mut counted = BTreeMap::new();
    for mut line in lines(world).into_iter().filter(|line| line["kind"] != "head") {
        for varying in ["score", "seconds", "peak_memory"] {
            line.as_object_mut().unwrap().remove(varying);
        }
        *counted.entry(line.to_string()).or_default() += 1;
    }
    counted
}

/// 1 plain; 6 points × 2 constants × 2 budgets to screen, 2 of each kept for 3; 2 budgets of gd, and its
/// refusal of printed constants.
fn check_whole(world: &World) {
    let runs = runs(world);
    assert!(runs.values().all(|times| *times == 1), "something was measured twice");
    let count = |words: &[&str]| {
        runs.keys().filter(|line| words.iter().all(|word| line.contains(word))).count()
    };
    assert_eq!(count(&["\"kind\":\"run\"", "\"plain\""]), 1);
    assert_eq!(count(&["\"stage\":\"screen\"", "amp-tuned"]), 24);
    assert_eq!(count(&["\"stage\":\"final\"", "amp-tuned"]), 2 * 2 * 2 * 3);
    assert_eq!(count(&["\"kind\":\"run\"", "\"gd\""]), 2 * 3);
    assert_eq!(count(&["\"kind\":\"refused\""]), 2);
    assert_eq!(runs.len(), 1 + 24 + 24 + 6 + 2);
}

#[test]
fn a_suite_from_end_to_end() {
    let world = world();
    assert!(world.ok(&format!("{RUN} --dry-run")).contains("61 models, 24 of them to screen"));
    assert!(!world.path("results").exists(), "a dry run leaves nothing");
    world.ok(RUN);
    check_whole(&world);
    let lines = lines(&world);
    assert_eq!(lines[0]["kind"], "head");
    assert!(lines[0]["commit"].is_string() && lines[0]["suite"] == "mine");
    assert_eq!(world.read("results/suite.toml"), SUITE);
    let plain = lines.iter().find(|line| line["entry"] == "plain").unwrap();
    assert!(plain["score"].as_f64().unwrap() > 80.0 && plain["epsilon"].is_null(), "{plain}");
    assert!(plain["measure"] == "accuracy" && plain["rows"] == 400, "{plain}");
    world.refused(2, RUN, &["--resume", "holds results already"]);
    let before = world.read("results/results.jsonl");
    world.ok(&format!("{RUN} --resume"));
    let after = world.read("results/results.jsonl");
    assert!(after.starts_with(&before) && after.lines().count() == before.lines().count() + 1);
    world.ok(&format!("{RUN} --resume --methods gd --calibration sound --epsilons 5 --runs 5"));
    assert_eq!(runs(&world).len(), 57 + 2);
    world.write("mine.toml", SUITE.replace("runs = 3", "runs = 4"));
    world.refused(2, &format!("{RUN} --resume"), &["no longer the one", "suite.toml"]);
}

/// Killed in the middle, and the file also cut within a line: nothing else is lost, nothing is made
/// twice.
#[test]
fn a_killed_run_goes_on() {
    let world = world();
    for resume in ["", " --resume", " --resume"] {
        let before = lines_so_far(&world);
        let mut child = world
            .command(&format!("{RUN} --threads 2{resume}"))
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        while lines_so_far(&world) < before + 12 && child.try_wait().unwrap().is_none() {
            std::thread::sleep(Duration::from_millis(1));
        }
        child.kill().unwrap();
        child.wait().unwrap();
        let bytes = std::fs::read(world.path("results/results.jsonl")).unwrap();
        world.write("results/results.jsonl", &bytes[..bytes.len() - 7]);
    }
    let ended = world.run(&format!("{RUN} --resume"));
    assert!(ended.code == 0 && ended.stderr.contains("was cut"), "{}", ended.stderr);
    check_whole(&world);
}

fn lines_so_far(world: &World) -> usize {
    let bytes = std::fs::read(world.path("results/results.jsonl")).unwrap_or_default();
    bytes.iter().filter(|byte| **byte == b'\n').count()
}

#[test]
fn an_interrupt_keeps_what_was_measured() {
    let world = world();
    let line = format!("{RUN} --methods gd --runs 10000");
    let child = world.command(&line).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    while lines_so_far(&world) < 5 {
        std::thread::sleep(Duration::from_millis(1));
    }
    let stopped =
        std::process::Command::new("kill").args(["-INT", &child.id().to_string()]).status();
    assert!(stopped.unwrap().success());
    let ended = Ended::of(&line, child.wait_with_output().unwrap());
    assert!(ended.code == 130 && ended.stderr.contains("--resume"), "{}", ended.stderr);
    assert!(world.read("results/results.jsonl").ends_with('\n') && lines(&world).len() >= 5);
}

#[test]
fn two_at_once() {
    let world = world();
    std::fs::create_dir(world.path("results")).unwrap();
    let file = std::fs::File::create(world.path("results/results.jsonl")).unwrap();
    file.lock().unwrap();
    world.refused(2, RUN, &["another run is writing", "results.jsonl"]);
    world.refused(2, &format!("{RUN} --resume"), &["another run is writing"]);
    // Explicitly: a program that another test is starting may hold a copy of the descriptor.
    file.unlock().unwrap();
    world.ok(&format!("{RUN} --methods plain"));
}

#[test]
fn bad_input() {
    let world = world();
    world.refused(2, "run nothing", &["'nothing'", "smoke", "iyengar-logistic"]);
    world.refused(2, &format!("{RUN} --datasets adult"), &["'adult'", "ours"]);
    world.refused(2, &format!("{RUN} --methods amp"), &["'amp'", "amp-tuned"]);
    world.refused(2, &format!("{RUN} --epsilons 0"), &["--epsilons"]);
    world.refused(2, &format!("{RUN} --runs 0"), &["--runs"]);
    world.refused(2, &format!("{RUN} --calibration exact"), &["sound, printed"]);
    world.write("odd.toml", SUITE.replace("runs = 3", "runs = -3"));
    world.refused(2, "run odd.toml", &["odd.toml, line 7"]);
    world.write("file", "");
    let ended = world.run(&RUN.replace("results", "file"));
    assert!(ended.code == 2 || ended.code == 3, "{}", ended.stderr);
}

/// The others continue; with none left it is an error. Either way the message names the source.
#[test]
fn a_data_set_that_is_not_there() {
    let world = world();
    let adult = "[[datasets]]\nname = \"adult\"\n[[datasets]]";
    world.write("both.toml", SUITE.replacen("[[datasets]]", adult, 1));
    let line = "run both.toml --out both --methods plain --data nowhere";
    let ended = world.run(line);
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    for words in ["left out adult", "adult.data not found", "https://archive.ics.uci.edu"] {
        assert!(ended.stderr.contains(words), "{}", ended.stderr);
    }
    let ended = world.run(&format!("{line} --resume --datasets adult"));
    assert!(ended.code == 2 && ended.stderr.contains("no data set could be used"));
    assert!(ended.stderr.contains("https://archive.ics.uci.edu"), "{}", ended.stderr);
}

/// One target met, one missed, one never measured; then only the first.
#[test]
fn targets_are_checked() {
    let world = world();
    let target = |method: &str, epsilon: &str, rest: &str| {
        let cell = format!("dataset = \"ours\"\nmethod = \"{method}\"\n{epsilon}");
        format!("[[targets]]\n{cell}\nmeasure = \"accuracy\"\n{rest}\n")
    };
    let met = target("plain", "", "at-least = 50\nnote = \"a coin\"");
    let missed = target("gd", "epsilon = 5", "at-least = 101");
    let never = target("amp-tuned", "epsilon = 1", "at-most = 100");
    let check = "check mine.toml --out results";
    world.refused(2, check, &["no targets", "[[targets]]"]);
    world.write("mine.toml", format!("{SUITE}{met}"));
    world.refused(2, check, &["results: no such folder", "privet-bench run"]);
    world.refused(2, "check mine.toml", &["privet-bench-mine: no such folder"]);
    world.ok(&format!("{RUN} --methods plain,gd --calibration sound"));
    let table = world.ok(check);
    let line = table.lines().find(|line| line.starts_with("ours, plain, accuracy")).unwrap();
    assert!(line.contains("≥ 50") && line.contains(" met ") && line.ends_with("a coin"), "{line}");
    // Targets may change after measuring, and the results can still be continued.
    world.write("mine.toml", format!("{SUITE}{met}{missed}{never}"));
    world.ok(&format!("{RUN} --resume --methods plain"));
    let ended = world.run(check);
    assert_eq!(ended.code, 1, "{}", ended.stderr);
    for words in [
        "2 of 3 targets not met",
        "ours, gd, ε = 5, accuracy: asked at least 101, measured ",
        "ours, amp-tuned, ε = 1, accuracy: asked at most 100, not measured: no run of it",
    ] {
        assert!(ended.stderr.contains(words), "{}", ended.stderr);
    }
    assert!(!ended.stderr.contains("plain, accuracy"), "{}", ended.stderr);
    assert!(ended.stdout.contains("MISSED") && ended.stdout.contains("NOT MEASURED"));
    let ended = world.run(&format!("{check} --json"));
    let found: Value = serde_json::from_str(&ended.stdout).unwrap();
    assert!(ended.code == 1 && found["met"] == false && found["suite"] == "mine", "{found}");
    let verdicts: Vec<&Value> =
        found["targets"].as_array().unwrap().iter().map(|target| &target["verdict"]).collect();
    assert_eq!(verdicts, ["met", "missed", "not-measured"]);
    let missed = &found["targets"][1];
    assert!(missed["mean"].is_f64() && missed["standard_error"].is_f64(), "{missed}");
    assert!(missed["runs"] == 3 && missed["delta"] == 1e-6 && missed["asked"] == 101.0, "{missed}");
    // Of another suite, or of a set that the suite does not have.
    world.write("mine.toml", format!("{}{met}", SUITE.replace("runs = 3", "runs = 4")));
    world.refused(2, check, &["no longer the one"]);
    world.write("mine.toml", format!("{SUITE}{}", met.replace("ours", "adult")));
    world.refused(2, check, &["mine.toml, line", "'adult'", "ours"]);
    world.refused(2, "check race", &["privet-bench-race: no such folder"]);
    assert_eq!(world.ok_json("list default --json")[0]["targets"], 6);
}

#[test]
fn suites_are_listed() {
    let world = World::new();
    let text = world.ok("list");
    assert!(text.contains("smoke: ") && text.contains("iyengar-huber: "), "{text}");
    let list = world.ok_json("list iyengar-logistic --json");
    let methods = list[0]["methods"].as_array().unwrap();
    assert!(methods.iter().any(|method| method["published"] == "AMP" && method["points"] == 48));
    assert!(world.ok("list iyengar-logistic").contains("amp-tuned"));
}

/// Only errors are printed, and requested output is still there; paths that take no file are the
/// machine's fault.
#[test]
fn quiet_is_quiet_and_what_cannot_be_written_ends_with_3() {
    let world = world();
    for (line, leaves) in [
        ("list", true),
        (RUN, false),
        ("report results --csv", true),
        ("report results --csv --out results.csv", false),
    ] {
        let ended = world.run(&format!("--quiet {line}"));
        assert_eq!((ended.code, ended.stderr.as_str()), (0, ""), "{line}");
        assert_eq!(!ended.stdout.is_empty(), leaves, "{line}");
    }
    for line in [
        "run mine.toml --methods plain --out /proc/privet",
        "run mine.toml --methods plain --out again --cache /proc/privet",
        "report results --csv --out /proc/privet",
    ] {
        let ended = world.run(line);
        let flag = if line.contains("--cache") { "--cache" } else { "--out" };
        assert!(ended.code == 3 && ended.stderr.contains(flag), "{line}: {}", ended.stderr);
    }
    world.write("model.json", "{}");
    world.refused(2, "report results --csv --out model.json", &["exists already", "--force"]);
    for verb in ["", "run", "list", "report", "check"] {
        assert!(world.ok(&format!("{verb} --help")).contains("Usage: privet-bench"), "{verb}");
    }
    for told in world.ok("list").lines() {
        assert!(told.chars().count() <= 80, "{told}");
    }
}

/// A suite that times `privet` itself uses the copy inside this program.
#[test]
fn the_command_that_is_timed_is_privet() {
    let world = World::new();
    let train = "as-privet train table.csv --schema schema.toml --epsilon 5 --out model.json -q";
    assert_eq!(world.ok(train), "");
    assert!(world.ok("as-privet verify model.json").contains("VALID: ε = 5"));
    world.refused(2, train, &["exists already"]);
    world.refused(2, "train table.csv", &["unrecognized subcommand"]);
}
