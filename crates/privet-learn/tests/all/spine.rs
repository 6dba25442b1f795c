//! The path that every release goes through names no family: who adds one adds a folder and a line in
//! `families.rs`.

use std::fs;
use std::path::{Path, PathBuf};

/// Names of other rooms that happen to be those of a family's type.
const OTHERS: [&str; 1] = ["account::Tally"];

fn source() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src")
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The files of the spine.
fn spine() -> Vec<PathBuf> {
    let entries = fs::read_dir(source().join("release")).unwrap();
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    files.sort();
    assert!(files.iter().all(|file| file.extension().is_some_and(|end| end == "rs")), "{files:?}");
    files
}

/// The folders beside it.
fn folders() -> Vec<String> {
    let entries = fs::read_dir(source()).unwrap().map(|entry| entry.unwrap().path());
    let folders = entries.filter(|path| path.is_dir() && !path.ends_with("release"));
    folders.map(|path| path.file_name().unwrap().to_string_lossy().into_owned()).collect()
}

/// The types in the list of families: `Variant(Type);` or `Variant(Type), offered;`.
fn types() -> Vec<String> {
    let text = read(&source().join("families.rs"));
    let (_, list) = text.split_once("\nfamilies! { $\n").expect("the list of families");
    let lines = list.lines().take_while(|line| *line != "}").map(str::trim);
    let types = lines.filter(|line| !line.starts_with("//")).filter_map(|line| {
        let (_, rest) = line.split_once('(')?;
        Some(rest.split_once(')')?.0.to_string())
    });
    types.collect()
}

/// What the crate's root takes from a family's folder: `pub use linear::{Erm, …};`.
fn at_the_root(folders: &[String]) -> Vec<String> {
    let text = read(&source().join("lib.rs"));
    let uses = text.lines().filter_map(|line| line.strip_prefix("pub use "));
    let of_families = uses.filter_map(|path| {
        let (folder, names) = path.strip_suffix(';')?.split_once("::")?;
        folders.iter().any(|known| known == folder).then_some(names)
    });
    let words = of_families.flat_map(|names| names.split(['{', '}', ',', ':']));
    let words = words.map(str::trim).filter(|word| word.starts_with(char::is_uppercase));
    words.map(String::from).collect()
}

/// Places of a word that are no part of another one.
fn places<'a>(line: &'a str, word: &'a str) -> impl Iterator<Item = (&'a str, &'a str)> {
    let joins = |letter: char| letter.is_alphanumeric() || letter == '_';
    let cut = move |(at, _): (usize, &str)| (&line[..at], &line[at + word.len()..]);
    line.match_indices(word)
        .map(cut)
        .filter(move |(before, after)| !before.ends_with(joins) && !after.starts_with(joins))
}

#[test]
fn the_spine_names_no_family() {
    let (folders, types) = (folders(), types());
    let roots = at_the_root(&folders);
    assert!(folders.len() >= 10 && types.len() >= 13, "{folders:?} {types:?}");
    assert!(roots.iter().any(|name| name == "Method"), "{roots:?}");
    let mut actual = Vec::new();
    for file in spine() {
        for (number, line) in read(&file).lines().enumerate() {
            let plain = OTHERS.iter().fold(line.to_string(), |line, other| line.replace(other, ""));
            let folder = folders.iter().filter(|folder| {
                places(&plain, folder).any(|(before, after)| {
                    let grouped = before.contains("use crate::{");
                    before.ends_with("crate::") || after.starts_with("::") || grouped
                })
            });
            let named = types.iter().filter(|name| places(&plain, name).next().is_some());
            let root = roots.iter().filter(|name| {
                places(&plain, name).any(|(before, _)| {
                    before.ends_with("crate::") || before.contains("use crate::{")
                })
            });
            for name in folder.chain(named).chain(root) {
                actual.push(format!("{}:{}: {name}: {}", file.display(), number + 1, line.trim()));
            }
        }
    }
    assert!(
        actual.is_empty(),
        "what every release goes through names a family. Let `Task` ask the family for it, with a default, or ask \
         `families.rs` for it:\n{}",
        actual.join("\n")
    );
}
