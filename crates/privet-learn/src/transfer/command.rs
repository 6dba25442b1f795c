//! Teachers of any kind: a program that reads rows and writes classes, run once for each chunk.
//!
//! The program is started by `sh -c` in a folder of its own that nobody else may enter, which holds `train.csv` (encoded columns
//! `x0`, `x1`, …, then `label`, the number of the class) and `queries.csv` (the columns alone), and must write
//! `predictions.csv` there: a class number a line, one for each line of `queries.csv` after its header.
//!
//! - **Isolated**: its environment is empty but for a standard `PATH` and `HOME`, its input and outputs are closed, so that
//!   neither another chunk's teacher nor a terminal hears of it; it has no network where the machine lets a user
//!   cut it off (`unshare -rn`, tried once). That keeps honest programs apart; it is no prison for one that is out to
//!   send records away, or to leave notes for the next in a folder that both may write: run only programs that you trust.
//! - **In time**: after the limit the program and what it started are ended. That it took long is seen by whoever
//!   watches the clock; nothing else is.
//! - **Failures are votes** ([`super::teacher`]): an exit code, a missing file, a wrong number of lines.
//! - **Wiped**: files are overwritten with nothing and removed, however it ended.
//!
//! [`Program::rehearse`] runs it once on made-up rows before any record is read, so that a program that cannot work is
//! an error, and one that fails on records is not.

use super::teacher::{Ballot, School, Teach, filled_rows};
use crate::LearnError;
use privet_dp::noise::{Source, SystemRandom};
use rayon::prelude::*;
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// A program that teaches.
#[derive(Debug, Clone)]
pub struct Program {
    command: String,
    limit: Duration,
    /// Whether the network is cut off.
    apart: bool,
}

/// Folders on this machine where programs are.
const PROGRAMS: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

impl Program {
    /// This command, with so long for each chunk.
    pub fn new(command: &str, limit: Duration) -> Self {
        let apart = started(Command::new("unshare").args(["-rn", "true"]));
        Self { command: command.into(), limit, apart }
    }

    /// Whether it will run without a network.
    pub fn is_apart(&self) -> bool {
        self.apart
    }

    /// Runs it on made-up rows of so many columns and classes, a few of each class; what is wrong with it, if anything is.
    pub fn rehearse(&self, columns: usize, classes: usize) -> Result<(), LearnError> {
        let rows = 4 * classes;
        let value = |row: usize, column: usize| ((row * 7 + column * 3) % 11) as f32 / 11.0;
        let values: Vec<f32> =
            (0..rows * columns).map(|at| value(at / columns.max(1), at % columns.max(1))).collect();
        let labels: Vec<u32> = (0..rows).map(|row| (row % classes) as u32).collect();
        let questions = text(&values, columns, None);
        let ballot =
            self.ballot(&text(&values, columns, Some(&labels)), &questions).filter(|votes| {
                votes.len() == rows && votes.iter().all(|class| (*class as usize) < classes)
            });
        ballot.map(|_| ()).ok_or_else(|| LearnError::Asked {
            name: "teacher-cmd",
            what: format!(
                "did not do on made-up rows what a teacher does: read train.csv and queries.csv in the folder it is \
                 started in, and write predictions.csv with a class number from 0 to {} for each of {rows} rows, \
                 within {} seconds",
                classes - 1,
                self.limit.as_secs()
            ),
        })
    }

    /// The classes that it writes; `None` for any failure.
    fn ballot(&self, train: &str, queries: &str) -> Ballot {
        let folder = Folder::new()?;
        folder.write("train.csv", train)?;
        folder.write("queries.csv", queries)?;
        let mut program = match self.apart {
            true => {
                let mut apart = Command::new("unshare");
                apart.args(["-rn", "--", "/bin/sh", "-c", &self.command]);
                apart
            }
            false => {
                let mut shell = Command::new("/bin/sh");
                shell.args(["-c", &self.command]);
                shell
            }
        };
        program.current_dir(&folder.0).env_clear().env("PATH", PROGRAMS).env("HOME", &folder.0);
        program.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        if !within(program, self.limit) {
            return None;
        }
        let told = std::fs::read_to_string(folder.0.join("predictions.csv")).ok()?;
        told.lines().map(|line| line.trim().parse::<u32>().ok()).collect()
    }
}

/// Whether a command ends well.
fn started(command: &mut Command) -> bool {
    let quiet = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    quiet.status().is_ok_and(|status| status.success())
}

/// Runs a program to its end, or ends it and what it started after so long; whether it ended well by itself.
fn within(mut program: Command, limit: Duration) -> bool {
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(&mut program, 0);
    let Ok(mut child) = program.spawn() else { return false };
    let start = Instant::now();
    let mut wait = Duration::from_millis(2);
    let ended = loop {
        match child.try_wait() {
            Ok(Some(status)) => break status.success(),
            Ok(None) if start.elapsed() < limit => std::thread::sleep(wait),
            _ => break false,
        }
        wait = (wait * 2).min(Duration::from_millis(50));
    };
    // What it left running goes as well.
    started(Command::new("/bin/kill").args(["-KILL", "--", &format!("-{}", child.id())]));
    let _ = child.kill();
    let _ = child.wait();
    ended
}

/// A folder that nobody else may enter, wiped in the end.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Option<Self> {
        let number = SystemRandom::new().ok()?.next_u64();
        let path = std::env::temp_dir().join(format!("privet-teacher-{number:016x}"));
        let mut builder = std::fs::DirBuilder::new();
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        builder.create(&path).ok()?;
        Some(Self(path))
    }

    fn write(&self, name: &str, text: &str) -> Option<()> {
        let mut file = std::fs::File::create_new(self.0.join(name)).ok()?;
        file.write_all(text.as_bytes()).ok()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        wipe(&self.0);
    }
}

/// Empties every file below, then removes everything.
fn wipe(folder: &Path) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        match entry.file_type() {
            Ok(kind) if kind.is_dir() => wipe(&entry.path()),
            Ok(kind) if kind.is_file() => {
                let _ = std::fs::OpenOptions::new().write(true).truncate(true).open(entry.path());
            }
            _ => {}
        }
    }
    let _ = std::fs::remove_dir_all(folder);
}

/// Rows as a table in text, with or without labels.
fn text(values: &[f32], columns: usize, labels: Option<&[u32]>) -> String {
    let mut names: Vec<String> = (0..columns).map(|column| format!("x{column}")).collect();
    names.extend(labels.map(|_| "label".to_string()));
    let mut text = names.join(",");
    text.push('\n');
    for (row, values) in values.chunks_exact(columns.max(1)).enumerate() {
        for (column, value) in values.iter().enumerate() {
            let comma = if column == 0 { "" } else { "," };
            let _ = write!(text, "{comma}{value}");
        }
        if let Some(labels) = labels {
            let _ = write!(text, ",{}", labels[row]);
        }
        text.push('\n');
    }
    text
}

impl Teach for Program {
    fn ballots(
        &self,
        school: &School<'_>,
        go_on: &(dyn Fn() -> bool + Sync),
    ) -> Option<Vec<Ballot>> {
        /// Teachers between two questions whether to go on.
        const PORTION: usize = 16;
        let columns = school.queries.columns();
        let questions = filled_rows(school.queries, 0..school.queries.rows());
        let queries = text(&questions, columns, None);
        let one = |chunk: &Vec<usize>| {
            if chunk.is_empty() {
                return None;
            }
            let rows = filled_rows(&school.data.features, chunk.iter().copied());
            let labels: Vec<u32> = chunk.iter().map(|row| school.labels()[*row]).collect();
            self.ballot(&text(&rows, columns, Some(&labels)), &queries)
        };
        let mut all = Vec::with_capacity(school.chunks.len());
        for portion in school.chunks.chunks(PORTION) {
            if !go_on() {
                return None;
            }
            all.extend(portion.par_iter().map(one).collect::<Vec<_>>());
        }
        Some(all)
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    fn program(command: &str) -> Program {
        Program::new(command, Duration::from_secs(10))
    }

    /// Every third column of a row, made up from what the program is given.
    const FIRST: &str = "awk -F, 'NR > 1 { print ($1 > 0.5) }' queries.csv > predictions.csv";

    #[test]
    fn a_program_that_does_what_a_teacher_does_votes() {
        assert!(program(FIRST).rehearse(3, 2).is_ok());
        let ballot = program(FIRST).ballot("x0,label\n0.1,0\n", "x0\n0.7\n0.2\n");
        assert_eq!(ballot, Some(vec![1, 0]));
    }

    #[test]
    fn whatever_goes_wrong_is_no_ballot() {
        for command in [
            "exit 3",
            "true",
            "no-such-program-anywhere",
            "echo five > predictions.csv",
            "echo -1 > predictions.csv",
        ] {
            assert_eq!(program(command).ballot("x0,label\n", "x0\n0\n"), None, "{command}");
        }
        let few = program("echo 0 > predictions.csv").rehearse(2, 2).unwrap_err();
        assert!(few.to_string().contains("predictions.csv"), "{few}");
        let slow = Program::new("sleep 30", Duration::from_millis(50));
        assert_eq!(slow.ballot("x0,label\n", "x0\n0\n"), None);
    }

    /// It sees an empty environment and its own folder, which is gone afterwards.
    #[test]
    fn it_is_alone_and_leaves_nothing() {
        let found = std::env::temp_dir().join(format!("privet-test-{}", std::process::id()));
        let command = format!("(pwd; env; ls -ld .) > {}; {FIRST}", found.display());
        assert!(program(&command).ballot("x0,label\n0,0\n", "x0\n1\n").is_some());
        let seen = std::fs::read_to_string(&found).unwrap();
        std::fs::remove_file(&found).unwrap();
        let folder = seen.lines().next().unwrap();
        assert!(!Path::new(folder).exists(), "{folder}");
        assert!(seen.contains("drwx------"), "{seen}");
        assert!(!seen.contains("CARGO"), "{seen}");
    }
}
