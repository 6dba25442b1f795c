//! Accepted values of `--out`, and the treatment of existing files.

use crate::world::{Ended, TRAIN, World, table};
use std::fs;
use std::io::{Read as _, Write as _};
use std::os::unix::fs::{FileTypeExt, PermissionsExt, symlink};
use std::process::{Child, Command, Stdio};

/// The usual command without permission to overwrite.
fn train() -> String {
    TRAIN.replace(" --force", "")
}

fn pipe(world: &World, name: &str) {
    assert!(Command::new("mkfifo").arg(world.path(name)).status().unwrap().success());
}

fn started(world: &World, line: &str) -> Child {
    world.command(line).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

/// Passes the table through a pipe: once it is open, `--out` is decided and no record is read. Then
/// `meanwhile` runs, and the table is sent.
fn train_while(world: &World, line: &str, meanwhile: impl FnOnce()) -> Ended {
    pipe(world, "slow.csv");
    let line = line.replace("table.csv", "slow.csv") + " --rows 400";
    let child = started(world, &line);
    let mut rows = fs::OpenOptions::new().write(true).open(world.path("slow.csv")).unwrap();
    meanwhile();
    rows.write_all(table(400).as_bytes()).unwrap();
    drop(rows);
    Ended::of(&line, child.wait_with_output().unwrap())
}

/// The default counts rows before it encodes them, and a pipe cannot be read twice.
#[test]
fn a_pipe_must_say_how_many_rows_it_holds() {
    let world = World::new();
    pipe(&world, "slow.csv");
    let line = train().replace("table.csv", "slow.csv");
    world.refused(2, &line, &["slow.csv", "read only once", "--rows"]);
}

/// Nothing is read and nothing is charged: the table does not even exist.
#[test]
fn a_model_that_is_there_is_kept_before_anything_is_read() {
    let world = World::new();
    world.ok(&train());
    let before = world.read("model.json");
    let line = train().replace("table.csv", "none.csv");
    world.refused(2, &line, &["--out model.json", "exists already", "--force"]);
    assert_eq!(world.read("model.json"), before);
    world.ok(&format!("{} --force", train()));
    assert_ne!(world.read("model.json"), before);
    assert_eq!(world.names(), ["model.json", "schema.toml", "table.csv"]);
}

#[test]
fn no_verb_overwrites_without_leave() {
    let world = World::new();
    world.ok(&train());
    let before = world.read("model.json");
    fs::copy(world.path("model.json"), world.path("other.json")).unwrap();
    let predict = "predict other.json table.csv --out model.json";
    world.refused(2, predict, &["exists already", "--force"]);
    world.refused(2, "keygen --out model.json", &["exists already"]);
    world.refused(2, "demo --out .", &["schema.toml", "exists already", "--force"]);
    if cfg!(feature = "data") {
        world.refused(2, "data prepare synthetic-l --out .", &["schema.toml", "--force"]);
    }
    assert_eq!(world.read("model.json"), before);
    world.ok(&format!("{predict} --force"));
    assert!(world.read("model.json").starts_with("prediction\n"));
}

#[test]
fn a_link_stays_and_its_target_is_exchanged() {
    let world = World::new();
    fs::create_dir(world.path("far")).unwrap();
    symlink("far/model.json", world.path("model.json")).unwrap();
    world.ok(&train());
    assert_eq!(world.ok_json("verify far/model.json --json")["valid"], true);
    let before = world.read("far/model.json");
    world.refused(2, &train(), &["exists already"]);
    world.ok(TRAIN);
    assert_ne!(world.read("far/model.json"), before);
    assert!(fs::symlink_metadata(world.path("model.json")).unwrap().is_symlink());
    let mode = fs::metadata(world.path("far/model.json")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    assert_eq!(fs::read_dir(world.path("far")).unwrap().count(), 1);
}

#[test]
fn devices_and_pipes_are_written_through() {
    let world = World::new();
    for line in [train(), TRAIN.into()] {
        world.ok(&line.replace("model.json", "/dev/null"));
    }
    assert!(fs::symlink_metadata("/dev/null").unwrap().file_type().is_char_device());
    pipe(&world, "pipe");
    let child = started(&world, &train().replace("model.json", "pipe"));
    let model = fs::read(world.path("pipe")).unwrap();
    let ended = Ended::of("train", child.wait_with_output().unwrap());
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    assert!(fs::symlink_metadata(world.path("pipe")).unwrap().file_type().is_fifo());
    world.write("model.json", model);
    assert_eq!(world.ok_json("verify model.json --json")["valid"], true);
}

/// A stream closed before the program began is the null device for it. The table does not even exist.
#[test]
fn a_standard_output_that_keeps_nothing_is_refused_before_anything_is_read() {
    let world = World::new();
    let line = train().replace("model.json", "-").replace("table.csv", "none.csv");
    for redirected in [">&-", ">/dev/null"] {
        let mut shell = Command::new("sh");
        shell
            .current_dir(world.path("."))
            .args(["-c", &format!("exec \"$0\" {line} {redirected}")]);
        let ended = Ended::of(&line, shell.arg(env!("CARGO_BIN_EXE_privet")).output().unwrap());
        assert_eq!(ended.code, 2, "{redirected}: {}", ended.stderr);
        assert!(ended.stderr.contains("would be lost"), "{redirected}: {}", ended.stderr);
    }
}

/// A file written through keeps its mode.
#[test]
fn a_mode_is_told_only_of_a_file_that_was_made() {
    let world = World::new();
    assert!(world.ok(&train()).contains("(0600)"));
    let line = train().replace("model.json", "/dev/fd/3");
    let mut shell = Command::new("sh");
    shell.current_dir(world.path(".")).args(["-c", &format!("exec \"$0\" {line} 3>open.json")]);
    let ended = Ended::of(&line, shell.arg(env!("CARGO_BIN_EXE_privet")).output().unwrap());
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    assert!(ended.stdout.contains("written to /dev/fd/3\n"), "{}", ended.stdout);
    assert_eq!(world.ok_json("verify open.json --json")["valid"], true);
}

#[test]
fn a_dash_is_standard_output() {
    let world = World::new();
    for place in ["-", "/dev/stdout"] {
        let ended = world.run(&train().replace("model.json", place));
        assert_eq!(ended.code, 0, "{}", ended.stderr);
        assert!(ended.stderr.contains("guarantee"), "the words go elsewhere: {}", ended.stderr);
        world.write("model.json", ended.stdout);
        assert_eq!(world.ok_json("verify model.json --json")["valid"], true);
    }
    let both = format!("{} --json", train().replace("model.json", "-"));
    world.refused(2, &both, &["--json", "standard output"]);
    world.refused(2, "keygen --out -", &["--out -", "file"]);
    let (plain, dashed) = ("predict model.json table.csv", "predict model.json table.csv --out -");
    assert_eq!(world.ok(plain), world.ok(dashed));
    assert!(!world.names().contains(&"-".to_string()));
}

/// Both are paid for: neither is lost.
#[test]
fn a_file_that_appeared_meanwhile_is_kept_and_so_is_the_model() {
    let world = World::new();
    let ended = train_while(&world, &format!("{} --json", train()), || {
        world.write("model.json", "another's");
    });
    assert_eq!(ended.code, 3, "{}", ended.stderr);
    assert!(ended.stderr.contains("model-2.json") && ended.stderr.contains("exists already"));
    assert!(ended.stdout.contains("model-2.json"), "{}", ended.stdout);
    assert_eq!(world.read("model.json"), "another's");
    assert_eq!(world.ok_json("verify model-2.json --json")["valid"], true);
    let mode = fs::metadata(world.path("model-2.json")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
}

#[test]
fn a_folder_that_vanished_meanwhile_does_not_lose_the_model() {
    let world = World::new();
    fs::create_dir(world.path("gone")).unwrap();
    let ended = train_while(&world, &train().replace("model.json", "gone/model.json"), || {
        fs::remove_dir(world.path("gone")).unwrap();
    });
    assert_eq!(ended.code, 3, "{}", ended.stderr);
    assert!(ended.stderr.contains("model-2.json"), "{}", ended.stderr);
    assert_eq!(world.ok_json("verify model-2.json --json")["valid"], true);
}

#[test]
fn a_full_disk_does_not_lose_the_model() {
    let world = World::new();
    let ended = world.run(&train().replace("model.json", "/dev/full"));
    assert_eq!(ended.code, 3, "{}", ended.stderr);
    assert!(ended.stderr.contains("/dev/full") && ended.stderr.contains("privet-model-2.json"));
    assert_eq!(world.ok_json("verify privet-model-2.json --json")["valid"], true);
}

#[test]
fn a_reader_of_the_model_that_left_does_not_lose_it() {
    let world = World::new();
    pipe(&world, "slow.csv");
    let line = train().replace("table.csv", "slow.csv").replace("model.json", "-") + " --rows 400";
    let mut child = started(&world, &line);
    let mut rows = fs::OpenOptions::new().write(true).open(world.path("slow.csv")).unwrap();
    drop(child.stdout.take());
    rows.write_all(table(400).as_bytes()).unwrap();
    drop(rows);
    let ended = Ended::of(&line, child.wait_with_output().unwrap());
    assert!(ended.code == 3 && ended.stderr.contains("privet-model-2.json"), "{}", ended.stderr);
    assert_eq!(world.ok_json("verify privet-model-2.json --json")["valid"], true);
}

/// Killed at various moments while it trains and writes: the model is absent or whole.
#[test]
fn killed_in_the_middle_there_is_no_half_model() {
    let world = World::new();
    for round in 0..12_u32 {
        let _ = fs::remove_file(world.path("model.json"));
        let mut child = started(&world, &train());
        let mut words = child.stderr.take().unwrap();
        // Another moment each time; any will do.
        for _ in 0..round * 400_000 {
            std::hint::spin_loop();
        }
        child.kill().unwrap();
        child.wait().unwrap();
        let mut message = String::new();
        words.read_to_string(&mut message).unwrap();
        assert!(!message.contains("panicked"), "{message}");
        if world.path("model.json").exists() {
            assert_eq!(world.ok_json("verify model.json --json")["valid"], true);
        }
    }
}

/// The number of rows is the table's, not that of a stand-in.
#[test]
fn a_sample_may_be_as_large_as_the_table_allows() {
    let world = World::new();
    world.write("table.csv", table(12_000));
    let line = train();
    world.ok(&format!("{line} --method sgd --set batch=11000 --set steps=2"));
    assert_eq!(world.json("model.json")["certificate"]["request"]["rows"], 12_000);
    let more = line.replace("model.json", "more.json");
    let more = format!("{more} --method sgd --set batch=12000 --set steps=2");
    world.refused(1, &more, &["12000 of 12000 rows"]);
    // A request that no number of rows would allow is still refused before a record is read.
    let never = line.replace("table.csv", "none.csv").replace("model.json", "never.json");
    world.refused(1, &format!("{never} --method gd --delta 0"), &["delta above 0"]);
    world.refused(1, &format!("{never} --method sgd --delta 0"), &["delta above 0"]);
}
