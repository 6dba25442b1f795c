//! The files of a table: one file, those of a folder, or those that match a pattern.
//!
//! - A **folder**: every file in it with an extension of a table ([`ENDINGS`], compressed or not),
//!   except hidden ones and those that begin with `_`, as engines leave them beside their parts.
//!   Subfolders are ignored.
//! - A **pattern**: `*` matches any letters and `?` one, in the last part of the path; hidden files
//!   never match.
//! - Files are read in the order of their names, so that a record's index is the same for every reader.

use crate::error::{DataError, Place};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Extensions of a table's files.
const ENDINGS: [&str; 6] = ["csv", "tsv", "txt", "parquet", "svm", "libsvm"];

/// The files of a table, in order; the path itself where it is neither a folder nor a pattern.
pub fn files_of(path: &Path) -> Result<Vec<PathBuf>, DataError> {
    let failed = |source| DataError::File { file: Place::Path(path.into()), source };
    let nothing = |words: String| failed(io::Error::new(io::ErrorKind::NotFound, words));
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let (folder, found): (&Path, Vec<PathBuf>) = match fs::metadata(path) {
        Ok(found) if found.is_dir() => (path, files_named(path, &is_table).map_err(failed)?),
        Err(error) if error.kind() == io::ErrorKind::NotFound && is_pattern(&name) => {
            let folder = match path.parent() {
                Some(folder) if !folder.as_os_str().is_empty() => folder,
                _ => Path::new("."),
            };
            let fits = |other: &str| matches(name.as_bytes(), other.as_bytes());
            (folder, files_named(folder, &fits).map_err(failed)?)
        }
        // Any other error is reported when the file is opened.
        _ => return Ok(vec![path.into()]),
    };
    if found.is_empty() {
        return Err(match folder == path {
            true => nothing(format!(
                "no file in this folder ends as a table does; accepted: .{}, also with .gz or .zst after that",
                ENDINGS.join(", .")
            )),
            false => nothing("no file has a name of this pattern".into()),
        });
    }
    Ok(found)
}

/// True if the table is several files, or may be.
pub fn is_several(path: &Path) -> bool {
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    match fs::metadata(path) {
        Ok(found) => found.is_dir(),
        Err(_) => is_pattern(&name),
    }
}

fn is_pattern(name: &str) -> bool {
    name.contains(['*', '?'])
}

/// The files of a folder whose names satisfy `wanted`, in order.
fn files_named(folder: &Path, wanted: &dyn Fn(&str) -> bool) -> io::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let name = entry.file_name();
        let name = name.to_string_lossy();
        // Links are followed.
        let file = || fs::metadata(entry.path()).map(|found| !found.is_dir());
        if !name.starts_with(['.', '_']) && wanted(&name) && file()? {
            found.push(entry.path());
        }
    }
    found.sort();
    Ok(found)
}

fn is_table(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    let plain = name.strip_suffix(".gz").or_else(|| name.strip_suffix(".zst")).unwrap_or(&name);
    plain.rsplit_once('.').is_some_and(|(_, ending)| ENDINGS.contains(&ending))
}

/// True if a name matches a pattern; every `*` is tried with the shortest match first.
fn matches(pattern: &[u8], name: &[u8]) -> bool {
    let (mut at, mut place) = (0, 0);
    let mut last: Option<(usize, usize)> = None;
    while place < name.len() {
        match pattern.get(at) {
            Some(b'*') => {
                last = Some((at, place));
                at += 1;
            }
            Some(letter) if *letter == b'?' || *letter == name[place] => {
                at += 1;
                place += 1;
            }
            _ => match &mut last {
                Some((star, from)) => {
                    *from += 1;
                    (at, place) = (*star + 1, *from);
                }
                None => return false,
            },
        }
    }
    pattern[at..].iter().all(|letter| *letter == b'*')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_are_those_of_a_shell() {
        for (pattern, name, fits) in [
            ("*", "", true),
            ("part-*.csv", "part-1.csv", true),
            ("part-*.csv", "part-1.csv.gz", false),
            ("*a*b*", "xxaxxbxbx", true),
            ("*a*b", "ab-a", false),
            ("p?rt", "part", true),
            ("p?rt", "prt", false),
            ("", "x", false),
        ] {
            assert_eq!(matches(pattern.as_bytes(), name.as_bytes()), fits, "{pattern} {name}");
        }
    }

    #[test]
    fn a_folder_holds_its_tables_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let names = ["b.csv.gz", "a.parquet", ".hidden.csv", "_SUCCESS", "notes.md", "c.CSV"];
        for name in names {
            fs::write(folder.path().join(name), "").unwrap();
        }
        fs::create_dir(folder.path().join("d.csv")).unwrap();
        let found = |path: &Path| -> Vec<String> {
            let files = files_of(path).unwrap();
            files.iter().map(|f| f.file_name().unwrap().to_string_lossy().into_owned()).collect()
        };
        assert_eq!(found(folder.path()), ["a.parquet", "b.csv.gz", "c.CSV"]);
        assert_eq!(found(&folder.path().join("*.csv*")), ["b.csv.gz"]);
        assert_eq!(found(&folder.path().join("nothing.csv")), ["nothing.csv"]);
        for nothing in ["*.svm", "?"] {
            let refused = files_of(&folder.path().join(nothing)).unwrap_err().to_string();
            assert!(refused.contains(nothing) && refused.contains("pattern"), "{refused}");
        }
        let refused = files_of(&folder.path().join("d.csv")).unwrap_err().to_string();
        assert!(refused.contains(".parquet"), "{refused}");
    }
}
