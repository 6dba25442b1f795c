//! The one order of every release: a release that cannot be paid is refused before a record is read, one
//! that a verb cannot make before anything is reserved, and a drawn result is written before its entry
//! is closed.

use crate::world::{Ended, World, table};
use serde_json::Value;

/// A network with so many weights that its file does not fit into a pipe.
const NET: &str = "input = { features = 5 }\n[[layers]]\nkind = \"linear\"\nout = 2000\n[[layers]]\nkind = \"tanh\"\n\
     [[layers]]\nkind = \"linear\"\nout = 2\n";

/// A table of 400 rows, and in `bad.csv` the same with a record that every schema here refuses.
fn world() -> World {
    let world = World::new();
    let schema = world.read("schema.toml");
    world.write("drop.toml", format!("invalid = \"drop\"\n{schema}"));
    let (good, last) = (table(399), "SECRET,SECRET,SECRET,SECRET\n");
    world.write("bad.csv", format!("{good}{last}"));
    world.write("questions.csv", "age,dose,ward\n30,2,a\n60,8,b\n");
    world.write("net.toml", NET);
    world.write("user.toml", schema + "[unit]\ncolumn = \"age\"\nmax_records = 9\n");
    let ratings: String = (0..60).map(|user| format!("u{user},{},5\n", user % 12 + 1)).collect();
    world.write("rated.csv", format!("user,item,rating\n{ratings}u1,SECRET,SECRET\n"));
    world.ok("train table.csv --schema schema.toml --epsilon 5 --ledger none --out model.json");
    world.ok(
        "party init study --schema schema.toml --epsilon 1 --delta 1e-6 --party clinic=400 --party ward=9 \
         --server a=127.0.0.1:1 --server b=127.0.0.1:2",
    );
    world
}

/// Opens the ledger that pays for every verb below.
fn open(world: &World, epsilon: &str) {
    let limit = format!("--epsilon {epsilon} --delta 1e-4");
    world.ok(&format!("budget open bad.csv --schema schema.toml {limit} --name bad"));
    world.ok(&format!("budget open --name lines --ledger privet.ledger {limit}"));
    world.ok(&format!(
        "budget open rated.csv --name rated --unit user:12 --unit-column user {limit}"
    ));
}

/// Command lines of every verb that releases something from a table.
fn verbs() -> Vec<String> {
    let mut lines = Vec::new();
    let of = |verb: &str| format!("{verb} bad.csv --schema schema.toml --epsilon 1 --delta 1e-6");
    for method in ["auto", "amp", "gd", "output", "objective", "frank-wolfe"] {
        lines.push(format!("{} --method {method}", of("train")));
    }
    lines.push(format!("{} --memory 1KB --method amp", of("train")));
    lines.push(format!("{} --model net.toml --steps 5", of("train")));
    lines.push(format!("{} --model net.toml --steps 5 --checkpoint aside", of("train")));
    lines.push(format!("{} --size 1", of("select")));
    lines.push(of("describe"));
    lines.push(format!("{} --by ward", of("count")));
    lines.push(format!("{} --public questions.csv --teachers 20", of("vote")));
    lines.push(format!("{} --questions questions.csv --neighbours replace-one", of("neighbours")));
    lines.push(format!("{} --method gd --set steps=5,9", of("tune")));
    lines.push("evaluate model.json bad.csv --epsilon 1 --delta 1e-6".into());
    let declared: Vec<String> = lines.iter().map(|line| format!("{line} --rows 400")).collect();
    lines.extend(declared);
    lines.push(format!("{} --by ward --rows 400 --times 3 --stream s", of("count")));
    lines.push(format!(
        "{} --public questions.csv --teachers 20 --rows 400 --queries 9 --stream s",
        of("answer")
    ));
    lines.push(format!(
        "{} --questions questions.csv --neighbours replace-one --rows 400 --queries 9 --stream s",
        of("neighbours")
    ));
    lines.push("party train study/clinic --data bad.csv".into());
    lines
        .push("complete rated.csv --items 12 --most 12 --users 60 --epsilon 1 --delta 1e-6".into());
    lines.iter().map(|line| format!("{line} --out out.json")).collect()
}

/// The verbs whose records cannot be refused.
fn verbs_of_anything() -> Vec<String> {
    let online = "--schema drop.toml --epsilon 1 --delta 1e-6 --horizon 400 --rows bad.csv \
                  --ledger privet.ledger --dataset lines --out out.json";
    vec![
        format!("online train {online}"),
        format!("online count --by ward {online}"),
        format!("online train {online} --state s"),
        format!("online count --by ward {online} --state s"),
        "schema new bad.csv --epsilon 1 --delta 1e-6 --out new.toml".into(),
        "schema new bad.csv --epsilon 1 --delta 1e-6 --rows 400 --out new.toml".into(),
    ]
}

fn entries(world: &World) -> Vec<Value> {
    let export: Value = serde_json::from_str(&world.ok("budget export privet.ledger")).unwrap();
    export["entries"].as_array().unwrap().clone()
}

fn states(world: &World) -> Vec<String> {
    let history = world.ok_json("budget history privet.ledger --json");
    let state = |entry: &Value| entry["state"].as_str().unwrap().to_string();
    history.as_array().unwrap().iter().map(state).collect()
}

#[test]
fn every_verb_keeps_to_the_order() {
    // A release that no budget pays for is refused before a record is read.
    let poor = world();
    open(&poor, "0.001");
    let before = (entries(&poor), poor.names());
    for line in verbs().iter().chain(&verbs_of_anything()) {
        let ended = poor.run(line);
        assert_eq!(ended.code, 1, "privet {line}\n{}\n{}", ended.stdout, ended.stderr);
        let told = ended.stderr.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(told.contains("it would exceed the budget of"), "privet {line}\n{told}");
        for word in ["SECRET", "row 4", "line 4", "accepted: a", "bad.csv:"] {
            assert!(!told.contains(word), "privet {line}\n{word}: {told}");
        }
        assert_eq!((entries(&poor), poor.names()), before, "privet {line}");
    }
    // Paid for, it reports the record and spends nothing.
    let rich = world();
    open(&rich, "90");
    let names = rich.names();
    for (count, line) in verbs().iter().enumerate() {
        let ended = rich.run(line);
        assert_eq!(ended.code, 2, "privet {line}\n{}\n{}", ended.stdout, ended.stderr);
        assert!(ended.stderr.contains("bad.csv") || ended.stderr.contains("rated.csv"), "{line}");
        assert!(!ended.stderr.contains("SECRET"), "privet {line}\n{}", ended.stderr);
        assert_eq!(states(&rich), vec!["void"; count + 1], "privet {line}");
        assert_eq!(rich.names(), names, "privet {line}");
    }
    // An impossible request is refused before anything is reserved.
    let before = entries(&rich);
    let refused = |code: i32, line: &str, words: &[&str]| {
        rich.refused(code, line, words);
        assert_eq!(entries(&rich), before, "privet {line}");
    };
    let of = |verb: &str| format!("{verb} bad.csv --schema schema.toml --epsilon 1 --delta 1e-6");
    let online = "--epsilon 1 --delta 1e-6 --horizon 400 --ledger privet.ledger --dataset lines";
    for state in ["", "--state s"] {
        for verb in ["online train", "online count --by ward"] {
            let line = format!("{verb} {online} {state}");
            let (refusing, fitting) = ("--schema schema.toml", "--schema drop.toml");
            let rows = "--rows table.csv";
            refused(2, &format!("{line} {refusing} {rows} --out o.json"), &["invalid = \"drop\""]);
            refused(2, &format!("{line} {fitting} {rows} --out -"), &["--out -"]);
            refused(2, &format!("{line} {fitting} --rows gone.csv --out o.json"), &["gone.csv"]);
            let other = "--rows questions.csv";
            refused(2, &format!("{line} {fitting} {other} --out o.json"), &["ill"]);
        }
    }
    let online = format!("online train {online} --schema drop.toml --rows table.csv --out o.json");
    refused(2, &format!("{online} --state nowhere/s"), &["--state", "nowhere"]);
    refused(1, &format!("{online} --state s --method leader"), &["can be put aside", "ftrl"]);
    for (line, code, words) in [
        (format!("{} --by ward --rows 400 --times 3 --stream no/s", of("count")), 2, "--stream"),
        (format!("{} --by nothing", of("count")), 2, "nothing"),
        (format!("{} --by age", of("count")), 2, "age"),
        (
            format!(
                "{} --public questions.csv --teachers 20 --rows 400 --queries 1 --stream s",
                of("answer")
            ),
            2,
            "--queries",
        ),
        (
            format!(
                "{} --public questions.csv --teachers 20 --rows 400 --queries 9 --stream no/s",
                of("answer")
            ),
            2,
            "--stream",
        ),
        (
            format!(
                "{} --questions questions.csv --rows 400 --queries 9 --stream no/s \
                 --neighbours replace-one",
                of("neighbours")
            ),
            2,
            "--stream",
        ),
        (format!("{} --questions gone.csv --rows 400", of("neighbours")), 2, "gone.csv"),
        (format!("{} --public questions.csv --teachers 999", of("vote")), 1, "teachers"),
        (format!("{} --memory 1KB --method frank-wolfe", of("train")), 2, "--memory"),
        (format!("{} --memory 1KB --method amp --cache no", of("train")), 2, "--cache"),
        (
            format!("{} --model net.toml --method dp-agd --checkpoint aside", of("train")),
            1,
            "put aside",
        ),
        (format!("{} --model net.toml --checkpoint no/aside", of("train")), 2, "--checkpoint"),
        (format!("{} --size 99", of("select")), 1, "size"),
        (format!("{} --columns nothing", of("describe")), 2, "nothing"),
        (format!("{} --method gd --set steps=0", of("tune")), 2, "steps"),
        ("evaluate model.json bad.csv --epsilon 1 --share 2".into(), 2, "--share"),
        ("complete rated.csv --schema schema.toml --users 60 --epsilon 1".into(), 2, "ratings"),
    ] {
        refused(code, &format!("{line} --out o.json"), &[words]);
    }
}

/// Without --rows, rows are counted first, and a pipe can be read only once: it is refused.
#[test]
fn a_pipe_says_how_many_rows_it_has() {
    let world = world();
    let made = std::process::Command::new("mkfifo").arg(world.path("pipe.csv")).status();
    if !made.is_ok_and(|status| status.success()) {
        eprintln!("SKIPPED: no mkfifo");
        return;
    }
    let names = world.names();
    for line in
        ["count --by ward", "describe", "select --size 1", "train --method amp", "tune --method gd"]
    {
        let (verb, rest) = line.split_once(' ').unwrap_or((line, ""));
        let line = format!("{verb} pipe.csv --schema schema.toml --epsilon 1 {rest} --out o.json");
        world.refused(2, &line, &["read only once", "--rows"]);
    }
    assert_eq!(world.names(), names);
}

/// A table that is replaced while it is read is refused, and its reservation is void.
#[test]
fn a_table_that_changes_between_two_passes_is_refused() {
    let world = world();
    let big = table(150_000);
    world.write("big.csv", &big);
    world.write("other.csv", big.replacen(",yes", ",no", 1));
    world.ok("budget open big.csv --schema schema.toml --epsilon 90 --delta 1e-4");
    let line = "count big.csv --schema schema.toml --by ward --epsilon 1 --out o.json";
    let child = world.command(line).stderr(std::process::Stdio::piped()).spawn().unwrap();
    // Once it is reserved the table is being read, or is about to be; it is recognised after that.
    while states(&world).is_empty() {
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
    std::fs::rename(world.path("other.csv"), world.path("big.csv")).unwrap();
    let output = child.wait_with_output().unwrap();
    let told = String::from_utf8(output.stderr).unwrap();
    match states(&world)[0].as_str() {
        "void" => assert!(told.contains("it changed while it was read"), "{told}"),
        // It was read and recognised before it was replaced.
        state => assert_eq!((state, output.status.code()), ("settled", Some(0)), "{told}"),
    }
}

/// Files that cannot be made again are never overwritten, under any name and through any link.
#[test]
fn ledgers_keys_and_journals_are_never_written_over() {
    let world = world();
    world.ok("budget open table.csv --schema schema.toml --epsilon 50 --delta 1e-4");
    world.ok("keygen --out own.key");
    let count = "count table.csv --schema schema.toml --by ward --epsilon 1 --force --rows 400";
    world.ok(&format!("{count} --times 3 --stream s --out a.json"));
    let train = "train table.csv --schema schema.toml --model net.toml --steps 3 --epsilon 1 --delta 1e-6 --force";
    world.ok(&format!("{train} --checkpoint aside --out net.json"));
    let online = "online train --schema drop.toml --epsilon 1 --horizon 9 --rows questions.csv --ledger none";
    world.write("questions.csv", table(3));
    world.ok(&format!("{online} --state o --out last.json"));
    std::os::unix::fs::symlink("privet.ledger", world.path("soft.json")).unwrap();
    std::fs::hard_link(world.path("privet.ledger"), world.path("hard.json")).unwrap();
    std::fs::hard_link(world.path("own.key"), world.path("key.json")).unwrap();
    std::os::unix::fs::symlink("privet.ledger-wal", world.path("wal.json")).unwrap();
    let names = world.names();
    let bytes = |name: &str| std::fs::read(world.path(name)).unwrap();
    let kept =
        ["privet.ledger", "own.key", "s", "s.journal", "aside", "aside.journal", "o", "o.journal"];
    let before = kept.map(bytes);
    let precious = [
        "privet.ledger",
        "privet.ledger-wal",
        "privet.ledger-shm",
        "privet.ledger-journal",
        "soft.json",
        "hard.json",
        "wal.json",
        "own.key",
        "key.json",
        "s",
        "s.journal",
        "aside",
        "aside.journal",
        "o",
        "o.journal",
    ];
    let entries_before = entries(&world);
    for name in precious {
        for line in [
            count.to_string(),
            format!("{count} --sign own.key"),
            "train table.csv --schema schema.toml --epsilon 1 --force".into(),
            "predict model.json table.csv --force".into(),
            "export model.json --to sql --force".into(),
            "schema new table.csv --force".into(),
            "schema new table.csv --epsilon 1 --out schema2.toml --force --certificate".into(),
            "budget report privet.ledger --force --html".into(),
            "inspect model.json --force --html".into(),
            "split table.csv --test 0.5 --force --out-test x.csv --out-train".into(),
        ] {
            let flag = if line.ends_with("--certificate")
                || line.ends_with("--html")
                || line.ends_with("--out-train")
            {
                ""
            } else {
                " --out"
            };
            world.refused(2, &format!("{line}{flag} {name}"), &[name]);
        }
    }
    // The files of a new stream are its own.
    let new = format!("{count} --times 3 --stream new --out");
    for out in ["new", "new.journal", "./new.journal"] {
        world.refused(2, &format!("{new} {out}"), &["overwrite"]);
    }
    assert_eq!((entries(&world), world.names()), (entries_before, names));
    for (name, before) in kept.iter().zip(before) {
        assert!(bytes(name) == before, "{name}");
    }
    world.ok(&format!("{count} --out a.json"));
    world.ok("count table.csv --stream s --out b.json");
}

/// The disk becomes full at some write: every draw is on record, and no message claims that nothing was
/// spent.
#[test]
fn a_disk_that_is_full_after_the_draw_loses_nothing() {
    let world = world();
    world.ok("budget open table.csv --schema schema.toml --epsilon 50 --delta 1e-4");
    let ledger = std::fs::read(world.path("privet.ledger")).unwrap();
    // No file may grow beyond so many KiB. The purpose in an entry fills them.
    let run = |line: &str, blocks: usize| {
        for beside in ["-wal", "-shm"] {
            let _ = std::fs::remove_file(world.path(&format!("privet.ledger{beside}")));
        }
        let _ = std::fs::remove_file(world.path("o.json"));
        world.write("privet.ledger", &ledger);
        let privet = env!("CARGO_BIN_EXE_privet");
        let script = format!("trap '' XFSZ; ulimit -f {blocks}; exec {privet} {line}");
        let mut command = std::process::Command::new("bash");
        command.arg("-c").arg(&script).current_dir(world.path(".")).env("TMPDIR", world.path("."));
        let ended = Ended::of(&script, command.output().unwrap());
        let printed = ended.stdout.contains("\"certificate\"");
        (ended, printed, world.path("o.json").exists())
    };
    let (mut before, mut open, mut closed) = (0, 0, 0);
    for out in ["-", "o.json"] {
        let count = "count table.csv --schema schema.toml --by ward --epsilon 0.5";
        let line = format!("{count} --purpose {} --out {out}", "x".repeat(24_000));
        for blocks in (28..76).step_by(4) {
            let (ended, printed, in_file) = run(&line, blocks);
            let (told, released) = (&ended.stderr, printed || in_file);
            match states(&world).last().map(String::as_str) {
                None | Some("void" | "reserved") => {
                    assert!(!released && ended.code == 3, "{blocks}: {told}");
                    before += 1;
                }
                Some("drawn") => {
                    assert!(released && ended.code == 3, "{blocks}: {told}");
                    assert!(told.contains("counts as spent"), "{blocks}: {told}");
                    assert!(!told.contains("othing was spent"), "{blocks}: {told}");
                    open += 1;
                }
                _ => {
                    assert!(released && ended.code == 0, "{blocks}: {told}");
                    closed += 1;
                }
            }
        }
    }
    assert!(before > 0 && open > 0 && closed > 0, "{before}, {open}, {closed}");
    // The release itself fits nowhere.
    let train =
        "train table.csv --schema schema.toml --model net.toml --steps 3 --epsilon 1 --delta 1e-6";
    let (ended, printed, in_file) = run(&format!("{train} --out o.json"), 64);
    assert!(ended.code == 3 && printed && !in_file, "{}", ended.stderr);
    assert!(ended.stderr.contains("went to standard output"), "{}", ended.stderr);
    assert_eq!(states(&world), ["settled"]);
}

/// Killed while its file is being written, a suspended training is resumed, and its network is written.
#[test]
fn a_training_that_was_killed_before_its_file_was_there_is_written_by_the_next_run() {
    use std::io::Read;
    let world = world();
    world.ok("budget open table.csv --schema schema.toml --epsilon 50 --delta 1e-4");
    let made = std::process::Command::new("mkfifo").arg(world.path("pipe")).status();
    if !made.is_ok_and(|status| status.success()) {
        eprintln!("SKIPPED: no mkfifo");
        return;
    }
    let line = "train table.csv --schema schema.toml --model net.toml --steps 3 --epsilon 1 --delta 1e-6 \
                --checkpoint aside --out";
    let mut child = world.command(&format!("{line} pipe")).spawn().unwrap();
    // With the first byte its last step is taken, and the pipe holds less than the whole.
    let mut pipe = std::fs::File::open(world.path("pipe")).unwrap();
    pipe.read_exact(&mut [0]).unwrap();
    child.kill().unwrap();
    child.wait().unwrap();
    drop(pipe);
    let paid = states(&world);
    assert_eq!(paid, ["settled"]);
    world.ok(&format!("{line} net.json"));
    assert_eq!(states(&world), paid, "paid for once");
    world.ok("verify net.json");
    assert_ne!(world.json("net.json")["body"]["tensors"], Value::Null);
    // It is there: that is the end.
    assert_ne!(world.run(&format!("{line} again.json")).code, 0);
}
