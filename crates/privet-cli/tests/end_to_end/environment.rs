//! Disks, permissions, pipes and Ctrl-C.

use crate::world::{Ended, TRAIN, World};
use std::os::unix::fs::PermissionsExt;
use std::process::Stdio;

#[test]
fn a_model_is_for_its_owner_alone() {
    let world = World::new();
    world.ok(TRAIN);
    world.ok("predict model.json table.csv --out predictions.csv");
    for name in ["model.json", "predictions.csv"] {
        let mode = std::fs::metadata(world.path(name)).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{name}");
    }
}

#[test]
fn where_nothing_can_be_written_nothing_is_read() {
    let world = World::new();
    // The table does not exist either: the output is refused first.
    let line = TRAIN.replace("table.csv", "none.csv");
    world.refused(2, &line.replace("model.json", "no/such/folder/model.json"), &["--out"]);
    world.refused(2, &line.replace("model.json", "."), &["--out", "folder"]);
    world.refused(2, &line.replace("model.json", "schema.toml"), &["--out", "overwrite"]);
    world.refused(2, &TRAIN.replace("model.json", "table.csv"), &["--out", "overwrite"]);
    // The kernel's own folders take no files, not even from root.
    world.refused(3, &line.replace("model.json", "/sys/kernel/model.json"), &["--out", "/sys"]);
}

#[test]
fn a_folder_without_permission() {
    let world = World::new();
    std::fs::create_dir(world.path("shut")).unwrap();
    std::fs::set_permissions(world.path("shut"), std::fs::Permissions::from_mode(0o500)).unwrap();
    if std::fs::write(world.path("shut/probe"), "").is_ok() {
        eprintln!("SKIPPED: this user may write everywhere");
        return;
    }
    world.refused(3, &TRAIN.replace("model.json", "shut/model.json"), &["--out", "shut"]);
}

#[test]
fn a_refusal_keeps_the_old_model() {
    let world = World::new();
    world.ok(TRAIN);
    let before = world.read("model.json");
    world.write("table.csv", "age,dose,ward,ill\n1,1,a,yes\n1,1,a,perhaps\n");
    world.refused(2, TRAIN, &["row 3"]);
    assert_eq!(world.read("model.json"), before);
}

#[test]
fn a_full_disk_behind_standard_output() {
    let world = World::new();
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let output = world.command("methods").stdout(full).stderr(Stdio::piped()).output().unwrap();
    let ended = Ended::of("methods", output);
    assert_eq!(ended.code, 3, "{}", ended.stderr);
    assert!(ended.stderr.contains("standard output"), "{}", ended.stderr);
}

#[test]
fn a_reader_that_leaves_is_no_error() {
    let world = World::new();
    let mut child =
        world.command("methods").stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    let ended = Ended::of("methods", child.wait_with_output().unwrap());
    assert!(ended.code == 0 && !ended.stderr.contains("panicked"), "{}", ended.stderr);
}

/// A pipe that never ends keeps the reader waiting; then the interrupt comes.
#[test]
fn an_interrupt_leaves_nothing_half_written() {
    let world = World::new();
    let made = std::process::Command::new("mkfifo").arg(world.path("pipe.csv")).status();
    if !made.is_ok_and(|status| status.success()) {
        eprintln!("SKIPPED: no mkfifo");
        return;
    }
    let before = world.names();
    let line = TRAIN.replace("table.csv", "pipe.csv") + " --rows 400";
    let child = world.command(&line).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    // Opening to write returns once the reader has opened its end: the handler is then in place.
    let writer = std::fs::OpenOptions::new().write(true).open(world.path("pipe.csv")).unwrap();
    let stopped =
        std::process::Command::new("kill").args(["-INT", &child.id().to_string()]).status();
    assert!(stopped.unwrap().success());
    let ended = Ended::of(&line, child.wait_with_output().unwrap());
    drop(writer);
    assert_eq!(ended.code, 130, "{}", ended.stderr);
    assert_eq!(world.names(), before);
}

#[test]
fn nothing_but_words_on_standard_error_when_it_is_no_terminal() {
    let world = World::new();
    let ended = world.run(TRAIN);
    assert!(!ended.stderr.contains('\u{1b}') && !ended.stderr.contains('\r'), "{:?}", ended.stderr);
}
