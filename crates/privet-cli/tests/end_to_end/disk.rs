//! Tables of several files, and tables that are encoded on disk: the same model, and nothing left behind.

use crate::as_parquet::parquet_table;
use crate::world::{World, table};
use std::path::Path;

const ROWS: usize = 9000;

/// The table in this many files of a folder.
fn parts(world: &World, folder: &str, count: usize) {
    std::fs::create_dir(world.path(folder)).unwrap();
    let text = table(ROWS);
    let (header, rows) = text.split_once('\n').unwrap();
    let rows: Vec<&str> = rows.lines().collect();
    for part in 0..count {
        let some = &rows[part * ROWS / count..(part + 1) * ROWS / count];
        world.write(
            &format!("{folder}/part-{part}.csv"),
            format!("{header}\n{}\n", some.join("\n")),
        );
    }
}

fn world() -> World {
    let world = World::new();
    world.write("table.csv", table(ROWS));
    world
}

fn weights(world: &World, what: &str) -> serde_json::Value {
    let line =
        format!("train {what} --schema schema.toml --epsilon 1 --seed 7 --out m.json --force");
    world.ok(&line);
    world.json("m.json")["body"].clone()
}

fn hidden(folder: &Path) -> usize {
    let entries = std::fs::read_dir(folder).unwrap().flatten();
    entries.filter(|entry| entry.file_name().to_string_lossy().starts_with(".privet")).count()
}

#[test]
fn memory_disk_and_any_number_of_files_give_the_same_model() {
    let world = world();
    [1, 2, 7].iter().for_each(|count| parts(&world, &format!("in-{count}"), *count));
    std::fs::create_dir(world.path("cache")).unwrap();
    for method in ["auto", "amp", "gd"] {
        let from_memory = weights(&world, &format!("table.csv --method {method}"));
        assert!(from_memory["weights"].is_array(), "{from_memory}");
        for what in [
            "table.csv --memory 50KB".to_string(),
            format!("table.csv --rows {ROWS} --memory 50KB"),
            "in-1 --memory 50KB".into(),
            "in-2".into(),
            "in-7 --memory 50KB --cache cache".into(),
            "in-7/part-?.csv --memory 1B".into(),
        ] {
            assert_eq!(
                weights(&world, &format!("{what} --method {method}")),
                from_memory,
                "{what}"
            );
        }
    }
    for folder in ["", "in-1", "in-7", "cache"] {
        assert_eq!(hidden(&world.path(folder)), 0, "encoded rows are left in '{folder}'");
    }
}

#[test]
fn a_cache_is_kept_where_asked_and_taken_up_again() {
    let world = world();
    parts(&world, "visits", 3);
    std::fs::create_dir(world.path("cache")).unwrap();
    let line = "train visits --schema schema.toml --epsilon 1 --memory 1KB --cache cache --keep-cache --out";
    let output = world.run(&format!("{line} a.json"));
    assert_eq!((output.code, hidden(&world.path("cache"))), (0, 1), "{}", output.stderr);
    assert!(output.stderr.contains("as private as the table"), "{}", output.stderr);
    // One of the files of rows was cut short, as by a crash: it alone is made again.
    let cache = std::fs::read_dir(world.path("cache")).unwrap().next().unwrap().unwrap().path();
    use std::os::unix::fs::PermissionsExt;
    assert_eq!(cache.metadata().unwrap().permissions().mode() & 0o777, 0o700);
    let mut files: Vec<_> = std::fs::read_dir(&cache).unwrap().map(|e| e.unwrap().path()).collect();
    files.sort();
    assert!(
        files.iter().all(|file| file.metadata().unwrap().permissions().mode() & 0o077 == 0
            || file.ends_with("lock"))
    );
    std::fs::write(&files[0], "half").unwrap();
    let output = world.run(&format!("{line} b.json"));
    assert!(output.code == 0 && output.stderr.contains("2 of 3 files"), "{}", output.stderr);
    world.ok(
        "train visits --schema schema.toml --epsilon 1 --memory 1KB --cache cache --out c.json",
    );
    assert_eq!(hidden(&world.path("cache")), 0);
}

#[test]
fn bad_tables_of_several_files_are_refused_and_nothing_is_trained() {
    let world = world();
    parts(&world, "visits", 3);
    let line = "train visits --schema schema.toml --epsilon 1 --out m.json";
    let disk = format!("{line} --memory 1KB");
    let good = world.read("visits/part-1.csv");
    world.write("visits/part-1.csv", good.replacen("yes", "perhaps", 1));
    for line in [line, disk.as_str()] {
        world.refused(2, line, &["part-1.csv", "row"]);
        assert_eq!(hidden(&world.path("visits")), 0);
    }
    world.write("visits/part-1.csv", good.replacen("dose", "amount", 1));
    for line in [line, disk.as_str()] {
        world.refused(2, line, &["part-1.csv", "part-0.csv", "dose"]);
    }
    world.write("visits/part-1.csv", &good);
    std::fs::create_dir(world.path("empty")).unwrap();
    world.refused(
        2,
        "train empty --schema schema.toml --epsilon 1 --out m.json",
        &["empty", ".parquet"],
    );
    let none = "train visits/*.svm --schema schema.toml --epsilon 1 --out m.json";
    world.refused(2, none, &["pattern"]);
    world.refused(2, &format!("{line} --memory lots"), &["--memory", "800MB"]);
    world.refused(2, &format!("{disk} --cache nowhere"), &["nowhere", "--cache"]);
    let method = format!("{disk} --method frank-wolfe");
    world.refused(2, &method, &["frank-wolfe", "amp", "in memory"]);
    // More than any disk holds.
    let many = format!(
        "{line} --neighbours add-remove --rows 900000000000000 --delta 1e-9 --method gd --memory 1KB"
    );
    world.refused(3, &many, &["full", "--cache", "visits"]);
    assert!(!world.path("m.json").exists());
}

/// One Parquet file of a folder is cut short, another's bytes are changed: the error names it, and
/// nothing is trained.
#[test]
#[cfg_attr(not(feature = "parquet"), ignore = "this build reads no Parquet")]
fn a_corrupt_parquet_file_of_a_folder_is_named_and_nothing_is_trained() {
    let world = world();
    std::fs::create_dir(world.path("visits")).unwrap();
    let good = parquet_table(3000);
    (0..3).for_each(|part| world.write(&format!("visits/part-{part}.parquet"), &good));
    let schema = world.read("schema.toml");
    world.write("parquet.toml", format!("{schema}\n[file]\nformat = \"parquet\"\n"));
    let line = "train visits --schema parquet.toml --epsilon 1 --out m.json --force";
    let disk = format!("{line} --memory 1KB");
    world.ok(&disk);
    std::fs::remove_file(world.path("m.json")).unwrap();
    let mut changed = good.clone();
    changed[60..3000].fill(0xff);
    for bad in [&good[..good.len() / 2], &good[..7], &changed] {
        world.write("visits/part-1.parquet", bad);
        for line in [line, disk.as_str()] {
            world.refused(2, line, &["part-1.parquet", "parquet"]);
            assert!(!world.path("m.json").exists());
            assert_eq!(hidden(&world.path("visits")), 0);
        }
    }
}

/// Killed in the middle of encoding (SIGKILL), it resumes with the missing files.
#[test]
fn encoding_that_was_killed_goes_on_where_it_was() {
    let world = world();
    std::fs::create_dir(world.path("visits")).unwrap();
    std::fs::create_dir(world.path("cache")).unwrap();
    world.write("visits/part-0.csv", table(1000));
    // Takes a second or more, where the first takes milliseconds.
    world.write("visits/part-1.csv", table(600_000));
    let line = "train visits --schema schema.toml --epsilon 1 --method amp --memory 1KB --cache cache --out m.json";
    let mut child = world.command(line).stderr(std::process::Stdio::null()).spawn().unwrap();
    let finished = || -> Vec<String> {
        let folder = std::fs::read_dir(world.path("cache")).unwrap().flatten().next();
        let entries =
            folder.into_iter().flat_map(|folder| std::fs::read_dir(folder.path()).unwrap());
        entries.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned()).collect()
    };
    while !finished().iter().any(|name| name.ends_with(".rows")) {
        assert!(child.try_wait().unwrap().is_none(), "it ended before a file was finished");
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    let rows = finished().iter().filter(|name| name.ends_with(".rows")).count();
    assert_eq!(rows, 1, "killed between the first file and the second");
    let output = world.run(line);
    assert!(output.code == 0 && output.stderr.contains("1 of 2 files"), "{}", output.stderr);
    world.ok("verify m.json");
    assert_eq!(hidden(&world.path("cache")), 0);
}

/// A ledger recognises a folder as its table, however it is cut, and pays once.
#[test]
fn a_folder_pays_from_its_ledger() {
    let world = world();
    parts(&world, "visits", 3);
    world.ok("budget open visits --schema schema.toml --epsilon 3 --delta 1e-6");
    assert!(world.path("visits/privet.ledger").exists());
    let line = "--schema schema.toml --epsilon 1 --delta 1e-9 --memory 1KB --force --out m.json";
    let output = world.run(&format!("train visits {line}"));
    assert!(
        output.code == 0 && output.stderr.contains("paid for by 'visits'"),
        "{}",
        output.stderr
    );
    world.ok("verify m.json");
    // The same rows in one file are the same table; others are not.
    let same = format!("train table.csv {line} --ledger visits/privet.ledger --dataset visits");
    let output = world.run(&same);
    assert!(
        output.code == 0 && output.stderr.contains("paid for by 'visits'"),
        "{}",
        output.stderr
    );
    world.write("visits/part-2.csv", table(200));
    world.refused(1, &format!("train visits {line}"), &["visits"]);
}
