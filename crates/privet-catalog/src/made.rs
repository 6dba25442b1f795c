//! Generated tables of many shapes ([`GeneratedTable`]): `made-0001` to `made-9999`, the number being
//! the seed.

use super::{
    CatalogError, Entry, Lines, Task,
    columns::{category, draft, number, task},
};
use crate::synth::GeneratedTable;
use std::io::Write;
use std::sync::OnceLock;

/// The largest table number.
const LAST: u64 = 9_999;
/// The prefix of their names.
const PREFIX: &str = "made-";
/// The range of their names, for people.
pub(super) const NAMES: &str = "made-0001 to made-9999";

/// An entry for each, made on first use. Names live as long as the program.
static ENTRIES: [OnceLock<Entry>; LAST as usize] = [const { OnceLock::new() }; LAST as usize];

fn entry(number: u64) -> Entry {
    let generated = GeneratedTable::new(number);
    Entry {
        name: String::leak(format!("{PREFIX}{number:04}")),
        title: String::leak(format!("Made up, number {number}: {}", generated.description())),
        task: "one of two classes, by a model of many shapes",
        rows: generated.rows,
        columns: generated.width(),
        classes: 2,
        folder: "",
        origin: "",
        licence: "none needed",
        files: &[],
    }
}

/// The number in a name.
fn numbered(name: &str) -> Option<u64> {
    let digits = name.strip_prefix(PREFIX).filter(|digits| digits.len() == 4)?;
    let all_digits = digits.bytes().all(|byte| byte.is_ascii_digit());
    digits.parse().ok().filter(|number| all_digits && (1..=LAST).contains(number))
}

/// The entry of that name, if it is a generated table.
pub(super) fn find(name: &str) -> Option<&'static Entry> {
    let number = numbered(name)?;
    let place = ENTRIES.get(number as usize - 1)?;
    Some(place.get_or_init(|| entry(number)))
}

/// The rows of a table; another seed gives another table.
pub(super) fn table(entry: &Entry, seed: Option<u64>) -> Result<Task, CatalogError> {
    let generated = GeneratedTable::new(seed.or_else(|| numbered(entry.name)).unwrap_or(1));
    let numbers = generated.numbers.iter().enumerate().map(|(place, column)| {
        let [low, high] = column.bounds;
        number(&format!("x{}", place + 1), low, high)
    });
    let categories = generated.categories.iter().enumerate().map(|(place, column)| {
        let values = (1..=column.values).map(|value| format!("v{value}")).collect::<Vec<_>>();
        category(&format!("c{}", place + 1), &values.join(" "))
    });
    let columns = numbers.chain(categories).collect();
    let schema = draft("y", &["0", "1"], columns).of_file().check()?;
    // About five significant digits of every number.
    let digits =
        |[low, high]: [f64; 2]| (5.0 - libm::log10(high - low).floor()).clamp(0.0, 6.0) as usize;
    let digits: Vec<usize> = generated.numbers.iter().map(|column| digits(column.bounds)).collect();
    let (mut records, mut lines, mut line) = (generated.records(), Lines::default(), Vec::new());
    for _ in 0..generated.rows {
        let (numbers, categories, label) = records.next_record();
        line.clear();
        // Writing to memory cannot fail.
        for (value, digits) in numbers.iter().zip(&digits) {
            let _ = if value.fract() == 0.0 {
                write!(line, "{value},")
            } else {
                write!(line, "{value:.digits$},")
            };
        }
        for place in categories {
            let _ = write!(line, "v{},", place + 1);
        }
        line.push(if label { b'1' } else { b'0' });
        lines.push(&line);
    }
    Ok(task(schema, lines))
}

#[cfg(test)]
mod tests {
    use super::*;
    use privet_data::{Encoding, Target, read::csv_bytes};

    #[test]
    fn names_are_four_digits() {
        for name in ["made-0000", "made-1", "made-10000", "made-00+1", "made-", "made"] {
            assert!(find(name).is_none(), "{name}");
        }
        assert_eq!(find("made-0007").unwrap().name, "made-0007");
        assert_eq!(find("made-9999").unwrap().name, "made-9999");
    }

    #[test]
    fn tables_read_by_their_own_schemas() {
        let small = (1..=60).map(|number| find(&format!("made-{number:04}")).unwrap());
        let small: Vec<_> = small.filter(|entry| entry.rows * entry.columns < 100_000).collect();
        assert!(small.len() >= 3, "{}", small.len());
        for entry in small {
            let task = table(entry, None).unwrap();
            assert_eq!(
                Encoding::new(&task.schema.linear()).width(),
                entry.columns,
                "{}",
                entry.name
            );
            let text = [task.header.as_bytes(), b"\n", &task.rows.text].concat();
            let read = csv_bytes(&text, &task.schema.linear()).unwrap();
            assert_eq!(read.rows(), entry.rows, "{}", entry.name);
            let Target::Class { codes, .. } = &read.target else { panic!("no classes") };
            assert!(codes.contains(&0) && codes.contains(&1), "{}", entry.name);
        }
    }
}
