//! A folder with tables and schemas, and the binary run in it.

use serde_json::Value;
use std::fmt::Write as _;
use std::path::PathBuf;
use std::process::{Command, Output};

/// A small table's schema: two numbers, a category, two classes.
pub const SCHEMA: &str = r#"
bias = true
[clip]
norm = "l2"
radius = 1.0
[target]
column = "ill"
classes = ["no", "yes"]
[[columns]]
name = "age"
type = "number"
bounds = [0, 100]
[[columns]]
name = "dose"
type = "number"
bounds = [0, 10]
scale = "symmetric"
[[columns]]
name = "ward"
type = "category"
categories = ["a", "b", "c"]
"#;

/// A folder of its own for each test, removed afterwards.
pub struct World {
    folder: tempfile::TempDir,
}

/// The outcome of the binary.
pub struct Ended {
    pub code: i32,
    pub stdout: String,
    pub stderr: String,
}

impl World {
    pub fn new() -> Self {
        let world = Self { folder: tempfile::tempdir().unwrap() };
        world.write("schema.toml", SCHEMA);
        world.write("table.csv", table(400));
        world
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub fn write(&self, name: &str, bytes: impl AsRef<[u8]>) {
        std::fs::write(self.path(name), bytes).unwrap();
    }

    pub fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).unwrap()
    }

    pub fn json(&self, name: &str) -> Value {
        serde_json::from_str(&self.read(name)).unwrap()
    }

    /// The names in the folder, sorted, to detect half-written files.
    pub fn names(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.folder.path()).unwrap();
        let mut names: Vec<String> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    pub fn command(&self, line: &str) -> Command {
        let mut command = Command::new(crate::PROGRAM);
        command.current_dir(self.folder.path()).args(line.split_whitespace());
        command
    }

    /// Runs a command line (words split at blanks) in the folder.
    pub fn run(&self, line: &str) -> Ended {
        Ended::of(line, self.command(line).output().unwrap())
    }

    /// Runs a command line and expects success; returns standard output.
    pub fn ok(&self, line: &str) -> String {
        let ended = self.run(line);
        assert_eq!(ended.code, 0, "privet {line}\n{}\n{}", ended.stdout, ended.stderr);
        ended.stdout
    }

    /// Runs a command line and expects JSON.
    pub fn ok_json(&self, line: &str) -> Value {
        serde_json::from_str(&self.ok(line)).unwrap()
    }

    /// Runs a command line and expects a refusal with this code, these words on standard error, and no
    /// change in the folder.
    pub fn refused(&self, code: i32, line: &str, words: &[&str]) {
        let before = self.names();
        let ended = self.run(line);
        assert_eq!(ended.code, code, "privet {line}\n{}\n{}", ended.stdout, ended.stderr);
        for word in words {
            assert!(ended.stderr.contains(word), "privet {line}\nno '{word}' in: {}", ended.stderr);
        }
        assert!(!ended.stderr.contains("panicked"), "privet {line}\n{}", ended.stderr);
        assert_eq!(self.names(), before, "privet {line} left something behind");
    }
}

impl Ended {
    pub fn of(line: &str, output: Output) -> Self {
        let code = output.status.code();
        let text = |bytes| String::from_utf8(bytes).unwrap();
        let (stdout, stderr) = (text(output.stdout), text(output.stderr));
        Self {
            code: code.unwrap_or_else(|| panic!("privet {line}: killed\n{stderr}")),
            stdout,
            stderr,
        }
    }
}

/// Rows of the small table: ill when age and dose are high, with some disorder.
pub fn rows(count: usize) -> impl Iterator<Item = (usize, f64, char, bool)> {
    (0..count).map(|i| {
        let age = (i * 37) % 100;
        let dose = ((i * 53) % 101) as f64 / 10.1;
        let ward = ['a', 'b', 'c'][(i * 7) % 3];
        let ill = (age as f64 / 10.0 + dose > 10.0) != (i % 23 == 0);
        (age, dose, ward, ill)
    })
}

/// The small table as CSV.
pub fn table(count: usize) -> String {
    let mut text = String::from("age,dose,ward,ill\n");
    for (age, dose, ward, ill) in rows(count) {
        writeln!(text, "{age},{dose:.2},{ward},{}", if ill { "yes" } else { "no" }).unwrap();
    }
    text
}

/// The usual training command, which may be given again.
pub const TRAIN: &str = "train table.csv --schema schema.toml --epsilon 5 --out model.json --force";
