//! Teachers of any kind: a program that reads rows and writes classes, run once for each chunk.
//!
//! The program is started by `sh -c` in a folder of its own, accessible to its user alone, which holds
//! `train.csv` (encoded columns `x0`, `x1`, …, then `label`, the number of the class) and `queries.csv`
//! (the columns alone), and must write `predictions.csv` there: a class number a line, one for each line
//! of `queries.csv` after its header.
//!
//! - **Isolated**: its environment is empty but for a standard `PATH`, `HOME` and `TMPDIR` (its folder)
//!   and variables that limit numerical libraries to one thread; its input and outputs are closed, so
//!   that neither another chunk's teacher nor a terminal receives its output; it has no network, and a
//!   process space of its own, where the machine lets a user have that (`unshare`, tried once; `privet
//!   vote` refuses to run it elsewhere unless that is allowed, and then the certificate says so). That
//!   separates honest programs; it does not confine one that tries to send records away, or to leave
//!   notes for the next in a folder that both may write: run only programs that you trust.
//! - **Limits of its own**: seconds of processor time, address space and size of a file, for each of its
//!   processes (`ulimit`; lower limits that the machine sets stay). Teachers run side by side, and a
//!   limit that one could make another reach would let one record move many votes. So the wall clock is
//!   a far backstop ([`BACKSTOP`] times as long). **Assumption**: no program reaches it for want of a
//!   processor, memory and disk have room for all that run at a time, and limits are ample: a second of
//!   processor time does a little less on a busy machine.
//! - **Ended**: in the end the program and the processes it started are killed: its process space, or at
//!   least its group. The running time is observable; nothing else is.
//! - **Failures are votes** ([`super::teacher`]): an exit code, a missing file, a wrong number of lines.
//! - **Wiped**: files are truncated and removed, however it ended (the disk's copies are not
//!   overwritten); by [`wipe_all`] if the whole program is interrupted.
//!
//! [`Program::rehearse`] runs it once on synthetic rows before any record is read, so that a program
//! that cannot work is an error, and one that fails on records is not.

use super::teacher::{Ballot, Teach, TrainingData, catch_panic, filled_rows};
use crate::LearnError;
use privet_dp::noise::{Source, SystemRandom};
use rayon::prelude::*;
use std::fmt::Write as _;
use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// A program that trains a teacher.
#[derive(Debug, Clone)]
pub struct Program {
    command: String,
    limit: Duration,
    /// Arguments of `unshare` that separate it from the network and other processes, as far as the
    /// machine allows.
    apart: &'static [&'static str],
}

/// Arguments of `unshare`, the strictest first: with the first, all processes it started end with it,
/// and none survives this program.
const WAYS: [&[&str]; 2] = [&["-rnp", "--fork", "--kill-child"], &["-rn"]];
/// Limit on wall-clock time as a multiple of the limit on processor time.
pub const BACKSTOP: u32 = 20;
/// Limit on the address space of each process of a program, in KiB.
const MEMORY: u64 = 8 << 20;
/// Limit on the size of each file of a program, in blocks of 512 bytes.
const FILE: u64 = 2 << 20;
/// Variables that limit libraries to one thread.
const THREADS: [&str; 6] = [
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "NUMEXPR_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
    "RAYON_NUM_THREADS",
];

/// Search path for programs.
const PROGRAMS: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

impl Program {
    /// Takes a command and its processor time for each chunk, rounded up to whole seconds and at least
    /// one.
    pub fn new(command: &str, limit: Duration) -> Self {
        let works =
            |way: &&&[&str]| ends_with_success(Command::new("unshare").args(**way).arg("true"));
        let apart = WAYS.iter().find(works).copied().unwrap_or_default();
        Self { command: command.into(), limit, apart }
    }

    /// True if it will run without a network.
    pub fn is_apart(&self) -> bool {
        !self.apart.is_empty()
    }

    /// Limit on processor time, in seconds.
    fn seconds(&self) -> u64 {
        self.limit.as_secs() + u64::from(self.limit.subsec_nanos() > 0 || self.limit.is_zero())
    }

    /// Runs it on synthetic rows with this number of columns and classes, four of each class; returns an
    /// error if it fails.
    pub fn rehearse(&self, columns: usize, classes: usize) -> Result<(), LearnError> {
        let rows = 4 * classes;
        let value = |row: usize, column: usize| ((row * 7 + column * 3) % 11) as f32 / 11.0;
        let values: Vec<f32> =
            (0..rows * columns).map(|at| value(at / columns.max(1), at % columns.max(1))).collect();
        let labels: Vec<u32> = (0..rows).map(|row| (row % classes) as u32).collect();
        let questions = text(&values, columns, None);
        let ballot =
            self.ballot(&text(&values, columns, Some(&labels)), &questions, rows).filter(|votes| {
                votes.len() == rows && votes.iter().all(|class| (*class as usize) < classes)
            });
        ballot.map(|_| ()).ok_or_else(|| LearnError::InvalidRequest {
            name: "teacher-cmd",
            what: format!(
                "did not do on made-up rows what a teacher does: read train.csv and queries.csv in the folder it is \
                 started in, and write predictions.csv with a class number from 0 to {} for each of {rows} rows, \
                 within {} seconds of processor time, {} GiB of address space and {} GiB a file",
                classes - 1,
                self.seconds(),
                MEMORY >> 20,
                FILE >> 21
            ),
        })
    }

    /// Returns the classes that it writes; `None` for any failure.
    fn ballot(&self, train: &str, queries: &str, questions: usize) -> Ballot {
        let folder = Folder::new()?;
        folder.write("train.csv", train)?;
        folder.write("queries.csv", queries)?;
        // A limit that cannot be set is lower already, or the machine has none of its kind: the same for
        // all teachers. The shell stays: the first process of a process space would ignore most signals.
        let limits = format!(
            "ulimit -c 0; ulimit -t {}; ulimit -f {FILE}; ulimit -v {MEMORY}; /bin/sh -c \"$1\"; exit $?",
            self.seconds()
        );
        let mut program = match self.apart {
            [] => Command::new("/bin/sh"),
            way => {
                let mut apart = Command::new("unshare");
                apart.args(way).args(["--", "/bin/sh"]);
                apart
            }
        };
        program.args(["-c", &limits, "sh", &self.command]).current_dir(&folder.0).env_clear();
        program.env("PATH", PROGRAMS).env("HOME", &folder.0).env("TMPDIR", &folder.0);
        program.envs(THREADS.map(|name| (name, "1")));
        program.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        if !ends_in_time(program, self.limit * BACKSTOP) {
            return None;
        }
        let told = read_short_file(&folder.0.join("predictions.csv"), questions)?;
        told.lines().map(|line| line.trim().parse::<u32>().ok()).collect()
    }
}

/// Contents of a plain file, unless it is longer than `questions` class numbers can be.
fn read_short_file(path: &Path, questions: usize) -> Option<String> {
    // A link may lead to another program's file, a pipe has no end.
    if !std::fs::symlink_metadata(path).ok()?.is_file() {
        return None;
    }
    let most = 32 * questions as u64 + 1024;
    let mut text = String::new();
    let read = std::fs::File::open(path).ok()?.take(most + 1).read_to_string(&mut text).ok()?;
    (read as u64 <= most).then_some(text)
}

/// Folders and process groups of the running programs.
#[derive(Debug)]
struct RunningPrograms {
    folders: Vec<PathBuf>,
    groups: Vec<u32>,
}

static LIVE: Mutex<RunningPrograms> =
    Mutex::new(RunningPrograms { folders: Vec::new(), groups: Vec::new() });

fn live() -> MutexGuard<'static, RunningPrograms> {
    LIVE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Kills all running teachers' programs and wipes their folders, which hold records. For a process about
/// to end: threads that wait for a program, or would start one, never continue.
pub fn wipe_all() {
    let live = live();
    live.groups.iter().for_each(|group| end(*group));
    for folder in &live.folders {
        // A file may be created while the folder is wiped.
        for _ in 0..10 {
            wipe(folder);
            if !folder.exists() {
                break;
            }
        }
    }
    std::mem::forget(live);
}

/// Kills all processes of a group. A group that has ended is not a failure; other failures are ignored.
#[cfg(unix)]
fn end(group: u32) {
    use rustix::process::{Pid, Signal, kill_process_group};
    if let Some(group) = i32::try_from(group).ok().and_then(Pid::from_raw) {
        let _ = kill_process_group(group, Signal::KILL);
    }
}

#[cfg(not(unix))]
fn end(_group: u32) {}

/// True if a child has ended. It is not reaped yet, so that its number, which is that of its group, is
/// not reused.
#[cfg(unix)]
fn has_ended(child: &mut Child) -> bool {
    use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};
    let look = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT | WaitIdOptions::NOHANG;
    !matches!(waitid(WaitId::Pid(Pid::from_child(child)), look), Ok(None))
}

#[cfg(not(unix))]
fn has_ended(child: &mut Child) -> bool {
    !matches!(child.try_wait(), Ok(None))
}

/// True if a command ends with success.
fn ends_with_success(command: &mut Command) -> bool {
    let quiet = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    quiet.status().is_ok_and(|status| status.success())
}

/// Runs a program to its end, or kills it and its processes after the limit; returns true if it ended
/// with success in time.
fn ends_in_time(mut program: Command, limit: Duration) -> bool {
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(&mut program, 0);
    let mut child = {
        let mut live = live();
        let Ok(child) = program.spawn() else { return false };
        live.groups.push(child.id());
        child
    };
    let start = Instant::now();
    let mut wait = Duration::from_millis(2);
    let in_time = loop {
        if has_ended(&mut child) {
            break true;
        }
        if start.elapsed() >= limit {
            break false;
        }
        std::thread::sleep(wait);
        wait = (wait * 2).min(Duration::from_millis(50));
    };
    let mut live = live();
    // Kills processes that it left running.
    end(child.id());
    live.groups.retain(|group| *group != child.id());
    drop(live);
    let _ = child.kill();
    let ended = child.wait();
    in_time && ended.is_ok_and(|status| status.success())
}

/// A folder accessible to its user alone, wiped when dropped.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Option<Self> {
        let number = SystemRandom::new().ok()?.next_u64();
        let path = std::env::temp_dir().join(format!("privet-teacher-{number:016x}"));
        let mut builder = std::fs::DirBuilder::new();
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        let mut live = live();
        builder.create(&path).ok()?;
        live.folders.push(path.clone());
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
        live().folders.retain(|folder| *folder != self.0);
    }
}

/// Truncates every file below, then removes everything.
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

/// Rows as a CSV table, with or without labels.
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
        training_data: &TrainingData<'_>,
        go_on: &(dyn Fn() -> bool + Sync),
    ) -> Option<Vec<Ballot>> {
        /// Teachers between two polls of `go_on`.
        const TEACHERS_PER_POLL: usize = 16;
        let columns = training_data.queries.columns();
        let questions = filled_rows(training_data.queries, 0..training_data.queries.rows());
        let queries = text(&questions, columns, None);
        let one = |chunk: &Vec<usize>| {
            if chunk.is_empty() {
                return None;
            }
            let rows = filled_rows(&training_data.data.features, chunk.iter().copied());
            let labels: Vec<u32> = chunk.iter().map(|row| training_data.labels()[*row]).collect();
            self.ballot(
                &text(&rows, columns, Some(&labels)),
                &queries,
                training_data.queries.rows(),
            )
        };
        let mut all = Vec::with_capacity(training_data.chunks.len());
        for portion in training_data.chunks.chunks(TEACHERS_PER_POLL) {
            if !go_on() {
                return None;
            }
            let fenced = |chunk: &Vec<usize>| catch_panic(|| one(chunk)).flatten();
            all.extend(portion.par_iter().map(fenced).collect::<Vec<_>>());
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

    /// Votes for class 1 where the first column is above 0.5.
    const FIRST: &str = "awk -F, 'NR > 1 { print ($1 > 0.5) }' queries.csv > predictions.csv";

    #[test]
    fn a_program_that_does_what_a_teacher_does_votes() {
        assert!(program(FIRST).rehearse(3, 2).is_ok());
        let ballot = program(FIRST).ballot("x0,label\n0.1,0\n", "x0\n0.7\n0.2\n", 2);
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
            "echo 0 > other; ln -s other predictions.csv",
            "mkfifo predictions.csv",
            "mkdir predictions.csv",
            "yes 0 | head -c 100000 > predictions.csv",
        ] {
            assert_eq!(program(command).ballot("x0,label\n", "x0\n0\n", 1), None, "{command}");
        }
        let few = program("echo 0 > predictions.csv").rehearse(2, 2).unwrap_err();
        assert!(few.to_string().contains("predictions.csv"), "{few}");
        let slow = Program::new("sleep 30", Duration::from_millis(50));
        assert_eq!(slow.ballot("x0,label\n", "x0\n0\n", 1), None);
    }

    /// Limits are per program: processor time, not the clock, and files.
    #[test]
    fn limits_are_its_own() {
        let short = |command: &str| {
            Program::new(command, Duration::from_secs(1)).ballot("x0,label\n", "x0\n0\n", 1)
        };
        assert_eq!(short("sleep 2; echo 0 > predictions.csv"), Some(vec![0]));
        let start = Instant::now();
        assert_eq!(short("while :; do :; done"), None);
        assert!(start.elapsed() < Duration::from_secs(15), "{:?}", start.elapsed());
        let told = "ulimit -t > predictions.csv; echo $OMP_NUM_THREADS >> predictions.csv";
        assert_eq!(short(told), Some(vec![1, 1]));
        assert_eq!(short("truncate -s 1100000000 big && echo 0 > predictions.csv"), None);
    }

    /// Processes that a program leaves running end with it.
    #[test]
    fn nothing_goes_on() {
        let mark = std::env::temp_dir().join(format!("privet-left-{}", std::process::id()));
        let left = format!("(sleep 1; echo > {}) & echo 0 > predictions.csv", mark.display());
        assert_eq!(program(&left).ballot("x0,label\n", "x0\n0\n", 1), Some(vec![0]));
        std::thread::sleep(Duration::from_millis(1_500));
        assert!(!mark.exists());
    }

    /// A program sees an empty environment and its own folder, which is gone afterwards.
    #[test]
    fn it_is_alone_and_leaves_nothing() {
        let found = std::env::temp_dir().join(format!("privet-test-{}", std::process::id()));
        let command = format!("(pwd; env; ls -ld .) > {}; {FIRST}", found.display());
        assert!(program(&command).ballot("x0,label\n0,0\n", "x0\n1\n", 1).is_some());
        let seen = std::fs::read_to_string(&found).unwrap();
        std::fs::remove_file(&found).unwrap();
        let folder = seen.lines().next().unwrap();
        assert!(!Path::new(folder).exists(), "{folder}");
        assert!(seen.contains("drwx------"), "{seen}");
        // Its whole environment: the documented variables, and those a shell sets itself.
        let own = ["PATH", "HOME", "TMPDIR"].into_iter().chain(THREADS);
        let mut own: Vec<&str> = own.collect();
        own.sort_unstable();
        let assigned = seen.lines().skip(1).filter_map(|line| line.split_once('='));
        let mut names: Vec<&str> = assigned.clone().map(|(name, _)| name).collect();
        names.retain(|name| !["PWD", "OLDPWD", "SHLVL", "_"].contains(name));
        names.sort_unstable();
        assert_eq!(names, own, "{seen}");
        for (name, value) in assigned {
            let expected = match name {
                "PATH" => PROGRAMS,
                "HOME" | "TMPDIR" => folder,
                _ if THREADS.contains(&name) => "1",
                _ => continue,
            };
            assert_eq!(value, expected, "{name}");
        }
    }

    /// A separated program has a network of its own without a way out: the loopback interface alone, and
    /// none of the ports that are open outside.
    #[cfg(target_os = "linux")]
    #[test]
    fn it_has_no_network() {
        let program = program("true");
        if !program.is_apart() {
            eprintln!(
                "SKIPPED: unshare does not work here, and programs are refused unless allowed"
            );
            return;
        }
        let outside = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let port = format!(":{:04X} ", outside.local_addr().unwrap().port());
        assert!(std::fs::read_to_string("/proc/net/tcp").unwrap().contains(&port));
        let found = std::env::temp_dir().join(format!("privet-net-{}", std::process::id()));
        let command = format!("cat /proc/net/dev /proc/net/tcp > {}; {FIRST}", found.display());
        let program = Program { command, ..program };
        assert!(program.ballot("x0,label\n0,0\n", "x0\n1\n", 1).is_some());
        let seen = std::fs::read_to_string(&found).unwrap();
        std::fs::remove_file(&found).unwrap();
        let names: Vec<&str> = seen
            .lines()
            .take_while(|line| !line.contains("local_address"))
            .filter_map(|line| line.split_once(':'))
            .map(|(name, _)| name.trim())
            .collect();
        assert_eq!(names, ["lo"], "{seen}");
        assert!(seen.contains("local_address") && !seen.contains(&port), "{seen}");
    }
}
