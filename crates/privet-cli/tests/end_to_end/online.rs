//! Streams: one output line per step, malformed lines included, suspended and resumed, and never beyond
//! the horizon.

use crate::world::{Ended, World, table};
use std::io::Write;
use std::process::Stdio;

const TRAIN: &str = "online train --schema stream.toml --epsilon 2 --out last.json";

fn world() -> World {
    let world = World::new();
    let schema = world.read("schema.toml");
    world.write("stream.toml", format!("invalid = \"drop\"\n{schema}"));
    world
}

/// Runs with this text on standard input.
fn fed(world: &World, line: &str, rows: &str) -> Ended {
    let mut command = world.command(line);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let rows = rows.to_string();
    // A reader that stops is no failure of the test.
    let writer = std::thread::spawn(move || drop(stdin.write_all(rows.as_bytes())));
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap();
    Ended::of(line, output)
}

fn ok(world: &World, line: &str, rows: &str) -> Ended {
    let ended = fed(world, line, rows);
    assert_eq!(ended.code, 0, "{line}\n{}\n{}", ended.stdout, ended.stderr);
    ended
}

#[test]
fn every_line_takes_a_step_and_what_is_left_verifies() {
    let world = world();
    let rows = format!("{}\nwhat,is,this\n\n", table(30).trim_end());
    let ended = ok(&world, &format!("{TRAIN} --horizon 40"), &rows);
    let lines: Vec<serde_json::Value> =
        ended.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines.len(), 32, "malformed lines take their slots");
    assert_eq!(lines[31]["step"], 32);
    assert!(ended.stderr.contains("before its horizon"), "{}", ended.stderr);
    assert_eq!(world.json("last.json")["body"]["values"][0], lines[31]["weights"]);
    world.ok("verify last.json");
    assert!(world.ok("inspect last.json").contains("after step 32"));
    // Batches, predictions, counts.
    let batches = ok(&world, &format!("{TRAIN} --horizon 40 --batch 8 --force"), &rows);
    assert_eq!(batches.stdout.lines().count(), 4);
    let line = format!("{TRAIN} --horizon 40 --lines predictions --force");
    let predictions = ok(&world, &line, &rows);
    assert_eq!(predictions.stdout.lines().count(), 32);
    assert!(predictions.stdout.lines().all(|line| line.contains("prediction")));
    assert!(predictions.stderr.contains("whoever sent the row"), "{}", predictions.stderr);
    let count = "online count --schema stream.toml --by ill --epsilon 2 --horizon 40 --out c.json";
    let counted = ok(&world, count, &rows);
    assert_eq!(counted.stdout.lines().count(), 32);
    world.ok("verify c.json");
    assert!(world.ok("inspect c.json").contains("after step 32"));
}

#[test]
fn nothing_is_released_beyond_the_horizon() {
    let world = world();
    let ended = ok(&world, &format!("{TRAIN} --horizon 10"), &table(30));
    assert_eq!(ended.stdout.lines().count(), 10);
    assert!(ended.stderr.contains("the horizon is reached"), "{}", ended.stderr);
}

#[test]
fn what_cannot_be_a_stream_is_refused_before_a_row_is_read() {
    let world = world();
    let line = format!("{TRAIN} --horizon 10 --neighbours add-remove");
    world.refused(1, &line, &["moves every later one", "replace-one"]);
    world.refused(2, TRAIN, &["--horizon is missing"]);
    let refusing = TRAIN.replace("stream.toml", "schema.toml");
    world.refused(2, &format!("{refusing} --horizon 10"), &["invalid = \"drop\""]);
    world.refused(2, &format!("{TRAIN} --horizon 10 --method non-private"), &["not for streams"]);
}

#[test]
fn a_stream_goes_on_in_a_later_call() {
    let world = world();
    world.ok("keygen --out state.key");
    let (first, second) = (table(20), table(15));
    let state = "--state s.state --state-key state.key";
    ok(&world, &format!("{TRAIN} --horizon 30 {state}"), &first);
    let held = world.read("s.state");
    assert!(held.contains("sealed"));
    let again = format!("online train --out last.json --force {state}");
    let ended = ok(&world, &again, &second);
    assert_eq!(ended.stdout.lines().count(), 10, "20 of 30 were taken");
    assert!(ended.stdout.lines().next().unwrap().contains("\"step\":21"), "{}", ended.stdout);
    assert!(ended.stderr.contains("the horizon is reached"), "{}", ended.stderr);
    world.ok("verify last.json");
    // An older state is not resumed.
    world.write("s.state", held);
    let stale = fed(&world, &again, &second);
    assert_ne!(stale.code, 0);
    assert!(stale.stdout.is_empty(), "{}", stale.stdout);
    // Arguments that the state settles are not repeated.
    let twice = fed(&world, &format!("{TRAIN} --horizon 30 --force {state}"), &first);
    assert!(twice.code == 2 && twice.stderr.contains("says it already"), "{}", twice.stderr);
}

/// The first prediction of a later call is by the last model of the one before: with no model every
/// score is 0.
#[test]
fn predictions_go_on_from_the_last_model() {
    let world = world();
    world.ok("keygen --out state.key");
    let state = "--state s.state --state-key state.key --lines predictions";
    let first = ok(&world, &format!("{TRAIN} --horizon 30 {state}"), &table(20));
    let score = |line: &str| {
        serde_json::from_str::<serde_json::Value>(line).unwrap()["score"].as_f64().unwrap()
    };
    assert_eq!(score(first.stdout.lines().next().unwrap()), 0.0);
    let again = format!("online train --out last.json --force {state}");
    let second = ok(&world, &again, &table(5));
    assert_ne!(score(second.stdout.lines().next().unwrap()), 0.0);
}

#[test]
fn experts_and_the_leader_are_streams_too() {
    let world = world();
    for method in ["experts", "leader"] {
        let line = format!("{TRAIN} --horizon 40 --batch 1 --method {method} --force");
        let ended = ok(&world, &line, &table(40));
        assert_eq!(ended.stdout.lines().count(), 40, "{method}");
        world.ok("verify last.json");
        assert!(world.ok("inspect last.json").contains("after step 40"), "{method}");
    }
    let audit = "audit --online experts --epsilon 4 --runs 2000";
    assert!(world.ok(audit).contains("all its releases together"));
    world.refused(2, "audit --online nonsense --epsilon 1", &["ftrl-tree"]);
}

/// Line lengths decide where a stream is cut into pieces; the release must not depend on them.
#[test]
fn how_long_a_line_is_changes_nothing() {
    let rows = table(24_000);
    let mut lines: Vec<String> = rows.lines().map(String::from).collect();
    let (first, rest) = lines[1].split_once(',').unwrap();
    let whole = if first.contains('.') { "" } else { "." };
    lines[1] = format!("{first}{whole}{},{rest}", "0".repeat(300));
    let padded = lines.join("\n") + "\n";
    assert!(rows.len() > 300_000, "more than a piece: {}", rows.len());
    let released = |rows: &str, key: &str| {
        let world = world();
        world.ok("keygen --out state.key");
        let line = format!("{TRAIN} --horizon 24000 --batch 50 --state s.state --seed 7 {key}");
        ok(&world, &line, rows).stdout
    };
    for key in ["", "--state-key state.key"] {
        assert_eq!(released(&rows, key), released(&padded, key), "{key}");
    }
}
