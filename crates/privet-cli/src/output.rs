//! Output: results on standard output, prose on standard error, files whole or not at all.

use crate::failure::Failure;
use crate::interrupt;
use privet_core::{printable, printable_lines};
use privet_data::write::{Destination, Existing, WriteError, Written};
use serde_json::Value;
use std::borrow::Cow;
use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

/// True if only errors are printed.
static QUIET: AtomicBool = AtomicBool::new(false);

/// Restricts printing to errors from now on.
pub fn set_quiet(quiet: bool) {
    QUIET.store(quiet, Ordering::Relaxed);
}

/// True if this text is printed at all.
pub fn is_said(words: &str) -> bool {
    !QUIET.load(Ordering::Relaxed) || words.starts_with("error")
}

/// Prints a report on standard output about work whose result is in a file or in the exit code:
/// `--quiet` omits it.
pub fn report(text: &str) -> Result<(), Failure> {
    if is_said("") { print(text) } else { Ok(()) }
}

/// Prints prose on standard error. A closed standard error is no reason to fail.
#[macro_export]
macro_rules! say {
    ($($words:tt)*) => {{
        use std::io::Write as _;
        let words = format!($($words)*);
        if $crate::shared::is_said(&words) {
            let _ = writeln!(std::io::stderr(), "{}", privet_core::printable_lines(&words));
        }
    }};
}

/// Prints a result on standard output, without terminal control characters. A text from elsewhere goes
/// through [`privet_core::printable`] before it is put into a line, so that it stays in that line.
pub fn print(text: &str) -> Result<(), Failure> {
    write_out(&printable_lines(text))
}

/// Prints a result for a program to read, byte for byte; on a terminal as [`print()`] shows it.
pub fn print_exact(text: &str) -> Result<(), Failure> {
    if io::stdout().is_terminal() { print(text) } else { write_out(text) }
}

/// Prints a result as indented JSON, with terminal control characters escaped as JSON does.
pub fn print_json(value: &Value) -> Result<(), Failure> {
    write_out(&format!("{}\n", escaped_json(&format!("{value:#}"))))
}

fn write_out(text: &str) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes()).and_then(|()| out.flush()).map_err(Failure::stdout)
}

/// JSON strings may contain C1 control characters and changes of direction unescaped.
fn escaped_json(text: &str) -> String {
    let escaped = |letter: char| {
        let mut units = [0; 2];
        let units = letter.encode_utf16(&mut units).iter();
        units.map(|unit| format!("\\u{unit:04x}")).collect::<String>()
    };
    let mut shown = String::with_capacity(text.len());
    for letter in text.chars() {
        match printable(letter.encode_utf8(&mut [0; 4])) {
            Cow::Owned(_) if letter != '\n' => shown.push_str(&escaped(letter)),
            _ => shown.push(letter),
        }
    }
    shown
}

/// A number for JSON, which has no infinity of its own.
pub fn json_number(value: f64) -> Value {
    if value.is_finite() { Value::from(value) } else { Value::from("infinity") }
}

pub use privet_learn::report::number;

/// Largest width of a table, in characters.
const WIDTH: usize = 80;
/// Smallest width of its last column.
const NARROWEST: usize = 24;

/// Columns padded to a common width; the first row is a header. Where that is wider than a terminal the
/// last column is wrapped.
pub fn table(rows: &[Vec<String>]) -> String {
    let shown = |cell: &String| printable(cell).into_owned();
    let rows: Vec<Vec<String>> = rows.iter().map(|row| row.iter().map(shown).collect()).collect();
    let rows = wrap_last_column(rows);
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width = |column: usize| {
        rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count()).max()
    };
    let widths: Vec<usize> = (0..columns).map(|column| width(column).unwrap_or(0)).collect();
    let mut text = String::new();
    for (place, row) in rows.iter().enumerate() {
        let mut line = String::new();
        for (cell, width) in row.iter().zip(&widths) {
            let gap = width - cell.chars().count() + 2;
            line.push_str(cell);
            line.extend(std::iter::repeat_n(' ', gap));
        }
        text.push_str(line.trim_end());
        text.push('\n');
        if place == 0 {
            let total = widths.iter().sum::<usize>() + 2 * columns.saturating_sub(1);
            text.extend(std::iter::repeat_n('─', total));
            text.push('\n');
        }
    }
    text
}

/// The same rows with the last column wrapped, if they are too wide.
fn wrap_last_column(rows: Vec<Vec<String>>) -> Vec<Vec<String>> {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width = |column: usize| {
        let cells = rows.iter().filter_map(|row| row.get(column));
        cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
    };
    let Some(last) = columns.checked_sub(1).filter(|last| *last > 0) else { return rows };
    let before: usize = (0..last).map(|column| width(column) + 2).sum();
    let room = WIDTH.saturating_sub(before).max(NARROWEST);
    if before + width(last) <= WIDTH || width(last) <= room {
        return rows;
    }
    let mut whole = Vec::with_capacity(rows.len());
    for mut row in rows {
        let Some(cell) = row.get_mut(last) else {
            whole.push(row);
            continue;
        };
        let mut lines: Vec<String> = Vec::new();
        for word in cell.split(' ') {
            match lines.last_mut() {
                Some(line) if line.chars().count() + 1 + word.chars().count() <= room => {
                    line.push(' ');
                    line.push_str(word);
                }
                _ => lines.push(word.to_string()),
            }
        }
        let mut lines = lines.into_iter();
        *cell = lines.next().unwrap_or_default();
        whole.push(row);
        for line in lines {
            let mut row = vec![String::new(); last];
            row.push(line);
            whole.push(row);
        }
    }
    whole
}

/// Opens the destination of `--out`, before any work is done: `-` is standard output, an existing file
/// is kept unless `force`, and `read` are files that this command reads or, with a journal beside them,
/// keeps.
pub fn open(path: &Path, force: bool, read: &[&Path]) -> Result<Destination, Failure> {
    open_for("--out", path, force, read)
}

/// As [`open`], for another flag than `--out`.
pub fn open_for(
    flag: &str,
    path: &Path,
    force: bool,
    read: &[&Path],
) -> Result<Destination, Failure> {
    if path == Path::new("-") || path == Path::new("/dev/stdout") {
        return Ok(Destination::standard());
    }
    if let Some(other) =
        read.iter().find(|other| is_same(path, other) || is_same(path, &journal_of(other)))
    {
        return Err(Failure::input(format!(
            "{flag} {}: would overwrite {}, which this command reads or keeps; another name is accepted",
            path.display(),
            other.display()
        )));
    }
    // A pipe waits for its reader, possibly for ever, and must be open to interruption.
    let pipe = path.metadata().is_ok_and(|found| !found.is_file());
    let _guard = (!pipe).then(interrupt::writing);
    let existing = if force { Existing::Replace } else { Existing::Keep };
    let opened =
        Destination::open(path, existing).map_err(|error| output_refused(flag, path, error))?;
    report_leftovers(opened.removed_leftovers());
    Ok(opened)
}

/// True if both paths lead to one file, by whatever links, or will once it is created.
fn is_same(one: &Path, other: &Path) -> bool {
    match (identity(one), identity(other)) {
        (Some(one), Some(other)) => one == other,
        (None, None) => match (to_be(one), to_be(other)) {
            (Some(one), Some(other)) => one == other,
            _ => false,
        },
        _ => false,
    }
}

/// The identity of a file, whatever its names.
#[cfg(unix)]
fn identity(path: &Path) -> Option<(u64, u64)> {
    use std::os::unix::fs::MetadataExt;
    path.metadata().ok().map(|found| (found.dev(), found.ino()))
}

#[cfg(not(unix))]
fn identity(path: &Path) -> Option<PathBuf> {
    path.canonicalize().ok()
}

/// The canonical path of a file that does not exist yet.
fn to_be(path: &Path) -> Option<PathBuf> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    Some(folder.unwrap_or(".".as_ref()).canonicalize().ok()?.join(path.file_name()?))
}

/// The path of the journal of a stream, or of a suspended training.
pub fn journal_of(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".journal");
    name.into()
}

/// Refuses a file in which a stream could not begin, before the stream is paid for.
pub fn refuse_existing(flag: &str, path: &Path) -> Result<(), Failure> {
    let journal = journal_of(path);
    if journal.exists() {
        return Err(Failure::input(format!(
            "{flag} {}: its journal is there already, without it; name another, or remove the journal if nothing was ever \
             released from it",
            path.display()
        )));
    }
    [path, &journal].into_iter().try_for_each(|path| open_for(flag, path, false, &[]).map(drop))
}

/// Reports leftovers of killed runs that were removed.
pub fn report_leftovers(left: &[PathBuf]) {
    for path in left {
        say!("removed {}, which a run that was killed had left", path.display());
    }
}

/// Writes a file that can be made again.
pub fn write(destination: &mut Destination, path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    write_for("--out", destination, path, bytes)
}

/// As [`write()`], for another flag than `--out`.
pub fn write_for(
    flag: &str,
    destination: &mut Destination,
    path: &Path,
    bytes: &[u8],
) -> Result<(), Failure> {
    if destination.is_standard() && io::stdout().is_terminal() {
        return print(&String::from_utf8_lossy(bytes));
    }
    if destination.is_standard() {
        return destination.write(bytes).map_err(|error| Failure::stdout(error.into()));
    }
    // Writing through a pipe may block for ever.
    let _guard = destination.file().is_some().then(interrupt::writing);
    destination.write(bytes).map_err(|error| output_refused(flag, path, error))
}

/// The location of a written release.
pub struct WrittenPlace {
    pub path: PathBuf,
    /// True for a file created here.
    pub whole: bool,
    /// True if standard output has it, or was to have it: nothing else is printed there.
    pub standard: bool,
    /// The failure to end with, if it is not where it should be.
    pub misplaced: Option<Failure>,
}

/// Writes a release, which has spent its budget and cannot be made again; elsewhere if it must be, and
/// on standard output as a last resort. An error means that the release is lost.
pub fn keep(destination: Destination, text: &str) -> Result<WrittenPlace, Failure> {
    let (standard, whole) = (destination.is_standard(), destination.file().is_some());
    let _guard = whole.then(interrupt::writing);
    let lost = |why: WriteError| {
        Failure::Environment(format!("{why}: what was released is lost, and what it cost is spent"))
    };
    let misplaced = |why: WriteError, to: &str| {
        let words = format!("{why}: what was released, and paid for, {to}");
        Some(Failure::Environment(words))
    };
    match destination.keep(text.as_bytes()) {
        Ok(Written { path, instead: None, .. }) => {
            Ok(WrittenPlace { path, whole, standard, misplaced: None })
        }
        Ok(Written { path, instead: Some(why), .. }) => {
            let misplaced = misplaced(why, &format!("is in {}", path.display()));
            Ok(WrittenPlace { path, whole: true, standard, misplaced })
        }
        // Standard output has failed already, or fails too.
        Err(why) if standard || print_exact(text).is_err() => Err(lost(why)),
        Err(why) => {
            let (path, misplaced) =
                ("standard output".into(), misplaced(why, "went to standard output"));
            Ok(WrittenPlace { path, whole: false, standard: true, misplaced })
        }
    }
}

/// Checks that files can be created in a folder, which may have to be created first.
pub fn room(flag: &str, folder: &Path) -> Result<(), Failure> {
    let named = |at: &&Path| !at.as_os_str().is_empty();
    let there = folder.ancestors().filter(named).find(|at| at.symlink_metadata().is_ok());
    let there = there.unwrap_or(Path::new("."));
    if there.is_file() {
        let (folder, there) = (folder.display(), there.display());
        return Err(Failure::input(format!(
            "{flag} {folder}: {there} is a file; the name of a folder is accepted"
        )));
    }
    let probed = Destination::open(&there.join("privet-room"), Existing::Replace);
    report_leftovers(
        probed.map_err(|error| output_refused(flag, folder, error))?.removed_leftovers(),
    );
    Ok(())
}

/// Creates a folder for files, with its parents.
pub fn folder(flag: &str, path: &Path) -> Result<(), Failure> {
    room(flag, path)?;
    std::fs::create_dir_all(path).map_err(|error| {
        let path = path.display();
        Failure::Environment(format!("{flag} {path}: cannot make the folder: {error}"))
    })
}

fn output_refused(flag: &str, path: &Path, error: WriteError) -> Failure {
    let path = path.display();
    match error {
        WriteError::Exists { .. } => Failure::input(format!(
            "{flag} {path}: exists already, and is kept; another name is accepted, and --force \
             overwrites it"
        )),
        WriteError::Precious { what, .. } => Failure::input(format!(
            "{flag} {path}: {what}; nothing is written over it, --force or not, and another name is accepted"
        )),
        WriteError::Folder { .. } => {
            Failure::input(format!("{flag} {path}: a folder; the name of a file is accepted"))
        }
        WriteError::File { path: at, source } => {
            let words = format!("{flag} {path}: cannot write: {}: {source}", at.display());
            // Where the folder exists and takes no file, the name is not at fault. The kind of error
            // does not show that: a kernel file system reports the new file as not found.
            match at.is_dir() || at.is_file() {
                true => Failure::Environment(words),
                false => Failure::file_in_words(words, &source),
            }
        }
        error => Failure::Environment(format!("{flag} {path}: cannot write: {error}")),
    }
}

/// The file mode, for people: known for a file created here, `whole`, and unknown for a pipe or device.
pub fn mode(whole: bool) -> &'static str {
    if whole { " (0600)" } else { "" }
}

/// A path quoted for a shell.
pub fn quote_for_shell(path: &Path) -> String {
    let text = path.display().to_string();
    let plain = |c: char| c.is_alphanumeric() || "/._-+=:@%,~".contains(c);
    if !text.is_empty() && text.chars().all(plain) {
        text
    } else {
        format!("'{}'", text.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_stays_json_and_acts_on_no_terminal() {
        let value = serde_json::json!({"a\u{9b}": "x\n\u{1b}\u{202e}é"});
        let text = escaped_json(&format!("{value:#}"));
        assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), value);
        assert!(text.contains(r"\u009b") && text.contains(r"\u202e") && text.contains('é'));
    }

    #[test]
    fn numbers_are_short_and_keep_their_size() {
        for (value, text) in [
            (0.0, "0"),
            (1.0, "1"),
            (2.5e-9, "2.5e-9"),
            (123_456.7, "123457"),
            (0.012_345_678, "0.0123457"),
            (1e20, "1e20"),
            (100.0, "100"),
            (f64::INFINITY, "∞"),
        ] {
            assert_eq!(number(value), text);
        }
    }

    #[test]
    fn tables_fit_a_terminal() {
        let long = "many words about a thing that go on and on ".repeat(4);
        let row = |cells: [&str; 3]| cells.map(String::from).to_vec();
        let text = table(&[row(["method", "noise", "notes"]), row(["amp", "1.5", long.trim()])]);
        assert!(text.lines().all(|line| line.chars().count() <= WIDTH), "{text}");
        assert_eq!(text.split_whitespace().filter(|word| *word == "thing").count(), 4);
    }

    #[test]
    fn a_path_with_blanks_is_quoted() {
        assert_eq!(quote_for_shell(Path::new("demo/train.csv")), "demo/train.csv");
        assert_eq!(quote_for_shell(Path::new("my demo/it's")), r"'my demo/it'\''s'");
    }
}
