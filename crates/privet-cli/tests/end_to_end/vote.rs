//! Labels by votes: released, verified, shown; external teachers; batches; and refusals.

use crate::world::World;

const VOTE: &str = "vote table.csv --schema schema.toml --public table.csv --epsilon 400 --delta 1e-6 --teachers 40";

#[test]
fn public_rows_are_labelled_verified_and_shown() {
    let world = World::new();
    let shown = world.ok(&format!(
        "{VOTE} --out labels.json --labels labels.csv --student tree --apply table.csv --predictions p.csv"
    ));
    assert!(shown.contains("no label") && shown.contains("taken for public"), "{shown}");
    let verdict = world.ok_json("verify labels.json --json");
    assert_eq!((&verdict["valid"], &verdict["epsilon"]), (&true.into(), &400.0.into()));
    let inspected = world.ok("inspect labels.json");
    assert!(inspected.contains("by the votes of 40 logistic models"), "{inspected}");
    assert!(inspected.contains("a threshold that stays secret"), "{inspected}");
    let lines = |name: &str| world.read(name).lines().count();
    assert_eq!(lines("labels.csv"), lines("table.csv"));
    assert_eq!(lines("p.csv"), lines("table.csv"));
    for aggregator in ["gnmax", "confident-gnmax", "estimated-sparse-vector"] {
        let output = world
            .ok_json(&format!("{VOTE} --aggregator {aggregator} --out {aggregator}.json --json"));
        assert_eq!(output["aggregator"]["name"], aggregator);
        assert_eq!(world.ok_json(&format!("verify {aggregator}.json --json"))["valid"], true);
    }
    assert!(world.ok("methods --vote").contains("confident-gnmax"));
    let labels = world.ok(&format!("{VOTE} --neighbours replace-label --out own.json"));
    assert!(labels.contains("labels alone are protected"), "{labels}");
    // A verb that needs a model names the kind of file it got.
    world.refused(2, "predict labels.json table.csv --out q.csv", &["labels.json", "labels"]);
}

/// Some of the public rows are queried, all of them are read and stated; only those queried get labels.
#[test]
fn public_rows_are_seen_beside_those_asked_about_and_stated() {
    let world = World::new();
    world.ok(&format!(
        "{VOTE} --aggregator gnmax --teacher propagation --ask 25 --out labels.json --labels labels.csv \
         --student least-squares --spread --apply table.csv --predictions p.csv"
    ));
    assert_eq!(world.read("labels.csv").lines().count(), 26);
    assert_eq!(world.read("p.csv").lines().count(), world.read("table.csv").lines().count());
    let verdict = world.ok_json("verify labels.json --public table.csv --json");
    assert_eq!(verdict["valid"], true, "{verdict}");
    let table = world.read("table.csv");
    let mut lines: Vec<&str> = table.lines().collect();
    lines.swap(1, 2);
    world.write("swapped.csv", &(lines.join("\n") + "\n"));
    let other = world.run("verify labels.json --public swapped.csv");
    assert!(other.code == 1 && other.stdout.contains("another order"), "{}", other.stdout);
    world.refused(
        2,
        &format!("{VOTE} --student propagation --apply table.csv --predictions q.csv --out o.json"),
        &["logistic, least-squares, tree"],
    );
}

/// Rows are chosen among all public ones, and the table of labels has a line for each of them.
#[test]
fn rows_to_ask_about_are_chosen_in_rounds() {
    let world = World::new();
    let output = world.ok_json(&format!(
        "{VOTE} --aggregator gnmax --ask 24 --choose 3 --out labels.json --labels labels.csv --student logistic \
         --apply table.csv --predictions p.csv --json"
    ));
    let places = output["places"].as_array().unwrap();
    assert_eq!(places.len(), 24);
    assert!(places[..8].iter().enumerate().all(|(at, place)| *place == at), "{places:?}");
    let lines = world.read("labels.csv");
    assert_eq!(lines.lines().count(), world.read("table.csv").lines().count());
    assert_eq!(
        lines.lines().skip(1).filter(|line| !line.is_empty() && *line != "\"\"").count(),
        24
    );
    assert_eq!(world.ok_json("verify labels.json --public table.csv --json")["valid"], true);
    world.refused(2, &format!("{VOTE} --choose 3 --out o.json"), &["--ask"]);
    let other = format!("{VOTE} --aggregator confident-gnmax --ask 24 --choose 3 --out o.json");
    world.refused(1, &other, &["gnmax or sparse-vector"]);
}

#[cfg(unix)]
#[test]
fn any_program_teaches() {
    use std::os::unix::fs::PermissionsExt;
    let world = World::new();
    world.write("teach.sh", "#!/bin/sh\nawk 'NR > 1 { print 1 }' queries.csv > predictions.csv\n");
    let script = world.path("teach.sh");
    std::fs::set_permissions(&script, std::fs::Permissions::from_mode(0o755)).unwrap();
    let script = script.display();
    let output = world.ok_json(&format!("{VOTE} --teacher-cmd {script} --out o.json --json"));
    let classes = output["classes"].as_array().unwrap();
    assert!(classes.iter().all(|class| class == 1), "{output}");
    assert!(!world.read("o.json").contains("teach.sh"), "the command is the holder's own affair");
    world.refused(
        2,
        &format!("{VOTE} --teacher-cmd false --out q.json"),
        &["predictions.csv", "made-up rows"],
    );
}

#[test]
fn batches_come_from_one_budget() {
    let world = World::new();
    let table = world.read("table.csv");
    let rows = table.lines().count() - 1;
    let few: String = table.lines().take(21).map(|line| format!("{line}\n")).collect();
    world.write("few.csv", &few);
    let begin = format!(
        "answer table.csv --schema schema.toml --public few.csv --epsilon 400 --delta 1e-6 --teachers 40 \
         --rows {rows} --queries 40 --set cutoff=60 --stream s.answers --out one.json"
    );
    // An output that cannot be written is detected before the stream is begun.
    for (line, word) in [
        (begin.replace("--out one.json", "--out few.csv"), "would overwrite"),
        (begin.replace("--out one.json", "--out none/one.json"), "cannot write"),
        (format!("{begin} --labels one.json"), "would overwrite"),
    ] {
        let before = world.names();
        world.refused(2, &line, &["--out", word]);
        assert_eq!(world.names(), before, "privet {line}");
    }
    world.ok(&begin);
    assert_eq!(world.ok_json("verify one.json --json")["valid"], true);
    // It states no rows: that is no fault.
    world.refused(2, "verify one.json --public few.csv", &["states no public rows"]);
    let go_on = "answer table.csv --stream s.answers --public few.csv";
    world.ok(&format!("{go_on} --out two.json"));
    world.refused(2, &format!("{go_on} --out three.json"), &["are left"]);
    world.refused(
        2,
        &format!("{go_on} --epsilon 1 --out three.json"),
        &["--epsilon", "says it already"],
    );
    let new = "answer table.csv --public table.csv --schema schema.toml --epsilon 1 --stream t.answers --out o.json";
    world.refused(2, new, &["--queries"]);
}

#[test]
fn what_cannot_be_voted_on_is_refused_before_anything_is_written() {
    let world = World::new();
    world.write("other.csv", "nobody,knows\n1,2\n");
    let vote = "vote table.csv --schema schema.toml --epsilon 1 --delta 1e-6 --out o.json";
    world.refused(2, &format!("{vote} --public other.csv"), &["other.csv"]);
    world.refused(1, &format!("{vote} --public table.csv --teachers 900000"), &["declared rows"]);
    world.refused(
        2,
        &format!("{vote} --public table.csv --teacher oracle"),
        &["logistic, least-squares"],
    );
    world.refused(2, &format!("{vote} --public table.csv --set chunks=3"), &["chunks"]);
    let labels = format!("{vote} --public table.csv --teachers 20 --labels o.json");
    world.refused(2, &labels, &["--out", "would overwrite"]);
    world.refused(2, &format!("{vote} --public table.csv --neighbours add-remove"), &["--rows"]);
    world.refused(
        1,
        "train table.csv --schema schema.toml --epsilon 1 --neighbours replace-label --out m.json",
        &["labels alone"],
    );
}

/// Batches have the columns of the stream: others are refused, before a stream exists and after.
#[test]
fn batches_of_other_columns_are_refused() {
    let world = World::new();
    world.write("other.csv", "nobody,knows\n1,2\n");
    // So few that no batch of them can exhaust the budget.
    let few: Vec<String> = world.read("table.csv").lines().take(11).map(String::from).collect();
    world.write("few.csv", few.join("\n"));
    let begin = |public: &str| {
        format!(
            "answer table.csv --schema schema.toml --public {public} --epsilon 400 --delta 1e-6 --teachers 40 \
             --rows 400 --queries 900 --set cutoff=60 --stream s.answers --out one.json"
        )
    };
    world.refused(2, &begin("other.csv"), &["other.csv"]);
    world.ok(&begin("few.csv"));
    world.refused(
        2,
        "answer table.csv --stream s.answers --public other.csv --out two.json",
        &["other.csv"],
    );
    // Nothing of the stream was spent.
    world.ok("answer table.csv --stream s.answers --public few.csv --out two.json");
}

/// Only aggregators that can stream are offered.
#[test]
fn help_lists_what_may_stream() {
    let world = World::new();
    let help = world.ok("answer --help");
    assert!(help.contains("sparse-vector") && help.contains("replace-label"), "{help}");
    assert!(!help.contains("gnmax") && !help.contains("estimated-sparse-vector"), "{help}");
    assert!(world.ok("vote --help").contains("agreed-gnmax"));
    let gnmax = "answer table.csv --schema schema.toml --public table.csv --epsilon 1 --delta 1e-6 --rows 400 \
                 --queries 900 --aggregator gnmax --stream s.answers --out one.json";
    world.refused(1, gnmax, &["sparse-vector"]);
}

/// Without a way to cut the network off no program is run, unless the user allows it: then the file
/// states it.
#[cfg(unix)]
#[test]
fn a_program_with_the_network_is_refused_unless_allowed() {
    use crate::world::Ended;
    let world = World::new();
    world.write("teach.sh", "awk 'NR > 1 { print 1 }' queries.csv > predictions.csv\n");
    // A folder without unshare.
    let run = |more: &str| {
        let line = format!("{VOTE} --out o.json {more} --teacher-cmd");
        let mut command = world.command(&line);
        command.arg(format!("sh {}", world.path("teach.sh").display())).env("PATH", world.path(""));
        Ended::of(&line, command.output().unwrap())
    };
    let before = world.names();
    let refused = run("");
    assert_eq!(refused.code, 2, "{}", refused.stderr);
    assert!(refused.stderr.contains("--teacher-network"), "{}", refused.stderr);
    assert_eq!(world.names(), before);
    let allowed = run("--teacher-network --json");
    assert_eq!(allowed.code, 0, "{}", allowed.stderr);
    assert!(allowed.stderr.contains("the teacher has the network"), "{}", allowed.stderr);
    assert!(allowed.stdout.contains("which had the network"), "{}", allowed.stdout);
    assert!(world.read("o.json").contains("which had the network"));
    assert!(world.ok("inspect o.json").contains("which had the network"));
}

/// An interruption ends teacher programs, and wipes their folders, which hold records.
#[cfg(unix)]
#[test]
fn an_interrupt_wipes_the_folders_of_programs() {
    use crate::world::Ended;
    use std::process::Stdio;
    let world = World::new();
    std::fs::create_dir(world.path("tmp")).unwrap();
    // Fast on the 8 invented rows of the rehearsal, and slow on records.
    world.write(
        "teach.sh",
        "awk 'NR > 1 { print 1 }' queries.csv > predictions.csv\n[ $(wc -l < train.csv) -eq 9 ] || sleep 300\n",
    );
    let scratch = || {
        let entries = std::fs::read_dir(world.path("tmp")).unwrap();
        entries.map(|entry| entry.unwrap().path()).collect::<Vec<_>>()
    };
    let line = format!("{VOTE} --out o.json --teacher-network --teacher-cmd");
    let mut command = world.command(&line);
    command
        .arg(format!("sh {}", world.path("teach.sh").display()))
        .env("TMPDIR", world.path("tmp"));
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    // The folder holds records once a program has received other than 8 rows.
    let handed = || {
        let rows = |path: &std::path::PathBuf| {
            let text = std::fs::read_to_string(path.join("train.csv")).unwrap_or_default();
            let predicted = path.join("predictions.csv").exists();
            predicted && text.lines().count() != 9
        };
        scratch().iter().any(rows)
    };
    let start = std::time::Instant::now();
    while !handed() {
        assert!(start.elapsed().as_secs() < 120, "no program was started");
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    let stopped =
        std::process::Command::new("kill").args(["-INT", &child.id().to_string()]).status();
    assert!(stopped.unwrap().success());
    let ended = Ended::of(&line, child.wait_with_output().unwrap());
    assert_eq!(ended.code, 130, "{}", ended.stderr);
    assert_eq!(scratch(), Vec::<std::path::PathBuf>::new());
    assert!(!world.path("o.json").exists());
}
