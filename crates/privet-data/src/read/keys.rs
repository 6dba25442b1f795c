//! Counts, for a table without a schema, the units that hold each key of each column.
//!
//! Every cell is one key, whatever it holds: for a number the bin of a public grid ([`bin_of`]), for a
//! date its year, for anything else its text. So a row holds at most one key per column, and a unit of
//! k rows at most k per column. A unit counts once for each key that it holds, however many of its rows
//! hold it. A [`KeyCap`] limits the keys of a column that it counts for to those whose hash of (unit,
//! column, key) under a secret key is smallest. Given that secret, the keys that a unit counts for are
//! a function of its own name and keys: neither other units nor the order of its rows matter.
//!
//! A record is a physical line, and every line contributes its own keys alone: one that cannot be read,
//! is ragged, or has no identifier of a unit contributes none. No line is refused for its content. The
//! rows of a user that are used are those that training would keep ([`super::unit`]). Tested by
//! `each_unit_holds_its_own_keys_once`.

use super::{
    clone_place,
    csv::skip_byte_order_mark,
    identifier::{Identifier, Names},
    open::{Input, KnownBy},
    split::{PerLine, RecordEnd, Records},
    unit::UNIT_KEY,
};
use crate::{
    error::DataError,
    keyed,
    schema::{DateOrder, FileFacts, Format, UnitFacts, is_date},
};
use csv::ByteRecord;
use serde::{Deserialize, Serialize};
use std::{
    collections::{BTreeMap, BTreeSet, BinaryHeap, HashMap},
    fmt,
    path::Path,
};

/// The longest text that is a key, in bytes.
pub const LONGEST_KEY: usize = 100;
/// Texts that count as missing; as an identifier, they name no user.
pub const MISSING: [&str; 7] = ["", "?", "NA", "N/A", "NaN", "nan", "null"];
/// Bins per doubling of a number.
const PER_DOUBLING: f64 = 4.0;
/// Magnitudes below 2 to the power of −40 are 0.
const SMALLEST_BIN_EXPONENT: f64 = -40.0;
/// Magnitudes from 2 to the power of 100 on share a bin.
const LARGEST_BIN_EXPONENT: f64 = 100.0;

/// The key of a cell.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CellKey {
    /// A number, by its bin.
    Bin(i32),
    /// A date, by its year.
    Year(i32),
    /// Anything else, and every cell of a column read as text.
    Text(String),
}

/// The bin of a number: 0 for magnitudes near 0; positive numbers have bins from 1 on, four per
/// doubling, and negative ones the same bins with a minus.
pub fn bin_of(value: f64) -> i32 {
    if value.is_nan() || value.abs() < SMALLEST_BIN_EXPONENT.exp2() {
        return 0;
    }
    let place = (PER_DOUBLING
        * (value.abs().log2().min(LARGEST_BIN_EXPONENT) - SMALLEST_BIN_EXPONENT))
        .floor() as i32
        + 1;
    if value < 0.0 { -place } else { place }
}

/// The interval of the numbers in a bin.
pub fn bin_edges(bin: i32) -> (f64, f64) {
    let edge = |place: i32| (SMALLEST_BIN_EXPONENT + f64::from(place - 1) / PER_DOUBLING).exp2();
    match bin {
        0 => (0.0, 0.0),
        bin if bin > 0 => (edge(bin), edge(bin + 1)),
        bin => (-edge(-bin + 1), -edge(-bin)),
    }
}

/// The number of units that hold each key of each column. Private: its `Debug` shows nothing.
#[derive(Clone, PartialEq)]
pub struct HeldKeys {
    /// The number of lines.
    pub rows: u64,
    /// Counts by key; the column is given by its position in the request.
    pub counts: BTreeMap<(u32, CellKey), u64>,
}

impl fmt::Debug for HeldKeys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("HeldKeys(withheld)")
    }
}

/// The largest number of keys of a column that a unit counts for, and the secret that chooses them,
/// drawn afresh for each table.
#[derive(Clone, PartialEq)]
pub struct KeyCap {
    most: u32,
    secret: keyed::Key,
}

impl KeyCap {
    /// A limit of `most` keys.
    pub fn new(most: u32, secret: [u8; 16]) -> Self {
        Self { most, secret }
    }

    /// The keys, of a unit's keys of one column, that it counts for.
    fn keys_counted(&self, unit: &[u8], mut keys: Vec<(u32, &(u32, CellKey))>) -> Vec<u32> {
        if keys.len() > self.most as usize {
            keys.sort_by_cached_key(|(_, key)| (self.hash(unit, key), *key));
            keys.truncate(self.most as usize);
        }
        keys.into_iter().map(|(number, _)| number).collect()
    }

    fn hash(&self, unit: &[u8], (column, key): &(u32, CellKey)) -> u64 {
        let hash = |kind: &[u8], key: &[u8]| {
            let column = column.to_le_bytes();
            keyed::hash("keys of a unit", &self.secret, &[unit, &column, kind, key])
        };
        match key {
            CellKey::Bin(bin) => hash(b"bin", &bin.to_le_bytes()),
            CellKey::Year(year) => hash(b"year", &year.to_le_bytes()),
            CellKey::Text(text) => hash(b"text", text.as_bytes()),
        }
    }
}

impl fmt::Debug for KeyCap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "KeyCap({}, hidden)", self.most)
    }
}

/// The columns to be read, and how.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SurveyedColumns<'a> {
    /// Their names.
    pub columns: Vec<&'a str>,
    /// Columns whose cells are texts, even where they read as numbers or dates.
    pub texts: Vec<&'a str>,
    /// The column of identifiers, and the number of rows of each user that are used.
    pub unit: Option<&'a UnitFacts>,
    /// The limit on the keys of a column that a unit counts for; none: all that its rows hold.
    pub most_keys: Option<KeyCap>,
}

/// Counts the units that hold each key, in a table with a header.
pub fn held_keys(
    path: &Path,
    facts: &FileFacts,
    sought: &SurveyedColumns<'_>,
) -> Result<HeldKeys, DataError> {
    let input = Input::Path(path);
    let place = input.place();
    if facts.format != Format::Csv {
        return Err(DataError::Unsupported {
            file: place,
            what: "another format than CSV",
            accepted: "a CSV file with a header",
        });
    }
    let mut stream = input.open(KnownBy::Content, None)?;
    skip_byte_order_mark(&mut stream)?;
    let mut records = PerLine::new(stream, facts);
    let mut record = ByteRecord::new();
    let header = loop {
        match records.next(&mut record)? {
            RecordEnd::End => return Err(DataError::Empty { file: clone_place(&place) }),
            RecordEnd::Record => break record.clone(),
            RecordEnd::Blank => continue,
            // Otherwise records would be taken for the names, and decide how all other lines are read.
            RecordEnd::Open | RecordEnd::TooLong => {
                return Err(DataError::Damaged { file: clone_place(&place), format: "csv" });
            }
        }
    };
    let at = |name: &str| header.iter().position(|cell| cell.trim_ascii() == name.as_bytes());
    let known = |name: &str| {
        at(name).ok_or_else(|| DataError::MissingColumn {
            file: clone_place(&place),
            column: name.into(),
        })
    };
    let wanted: Vec<usize> =
        sought.columns.iter().map(|name| known(name)).collect::<Result<_, _>>()?;
    let as_text: Vec<bool> =
        sought.columns.iter().map(|name| sought.texts.contains(name)).collect();
    let owner = match sought.unit {
        Some(unit) => Some((known(&unit.column)?, unit.max_records)),
        None => None,
    };
    let spelling = sought.unit.map(|unit| unit.spelling).unwrap_or_default();
    let missing_values = facts.missing_values.iter().cloned().chain(MISSING.map(String::from));
    let missing_values = missing_values.collect();
    let names = Names::new(&FileFacts { trim: true, missing_values, ..facts.clone() }, spelling);
    let mut holding = Holding { cap: sought.most_keys.clone(), ..Holding::default() };
    let mut rows = 0;
    loop {
        let found = records.next(&mut record)?;
        match found {
            RecordEnd::End => break,
            // A blank line is a record too, though unreadable: the number of records must not depend on
            // their content.
            RecordEnd::Blank | RecordEnd::Record | RecordEnd::Open | RecordEnd::TooLong => {
                rows += 1
            }
        }
        if found != RecordEnd::Record || record.len() != header.len() {
            continue;
        }
        let mut keys = Vec::with_capacity(wanted.len());
        for (column, place) in wanted.iter().enumerate() {
            let cell = record.get(*place).unwrap_or_default();
            if let Some(key) = key_of(cell.trim_ascii(), as_text[column]) {
                keys.push(holding.number((column as u32, key)));
            }
        }
        match owner {
            None => holding.add(keys),
            Some((place, most)) => {
                let name = Identifier::Text(record.get(place).unwrap_or_default());
                if let Ok(name) = names.name(name) {
                    holding.row_of(&name, most as usize, keys);
                }
            }
        }
    }
    Ok(HeldKeys { rows, counts: holding.counts() })
}

/// The key of a cell; none for one that is not text, or too long to be a category.
fn key_of(cell: &[u8], as_text: bool) -> Option<CellKey> {
    let text = std::str::from_utf8(cell).ok().filter(|text| text.len() <= LONGEST_KEY)?;
    if as_text {
        return Some(CellKey::Text(text.into()));
    }
    if let Some(value) = text.parse::<f64>().ok().filter(|value| value.is_finite()) {
        return Some(CellKey::Bin(bin_of(value)));
    }
    match is_date(text, DateOrder::Ymd) {
        true => Some(CellKey::Year(text.split(['-', '/', '.']).next()?.parse().ok()?)),
        false => Some(CellKey::Text(text.into())),
    }
}

/// Keys by number, and the units that hold them.
#[derive(Default)]
struct Holding {
    numbers: HashMap<(u32, CellKey), u32>,
    totals: Vec<u64>,
    users: HashMap<Vec<u8>, User>,
    cap: Option<KeyCap>,
}

#[derive(Default)]
struct User {
    rows: u64,
    /// The rows with the smallest hashes so far, largest on top, each with its number within the user
    /// and its keys.
    kept: BinaryHeap<(u64, u64, Vec<u32>)>,
}

impl Holding {
    fn number(&mut self, key: (u32, CellKey)) -> u32 {
        let next = self.totals.len() as u32;
        let number = *self.numbers.entry(key).or_insert(next);
        if number == next {
            self.totals.push(0);
        }
        number
    }

    /// Counts one unit with these keys.
    fn add(&mut self, keys: impl IntoIterator<Item = u32>) {
        let keys: BTreeSet<u32> = keys.into_iter().collect();
        keys.into_iter().for_each(|key| self.totals[key as usize] += 1);
    }

    fn row_of(&mut self, name: &[u8], most: usize, keys: Vec<u32>) {
        let user = self.users.entry(name.to_vec()).or_default();
        let hash = keyed::hash("unit", &UNIT_KEY, &[name, &user.rows.to_le_bytes()]);
        user.kept.push((hash, user.rows, keys));
        user.rows += 1;
        if user.kept.len() > most {
            user.kept.pop();
        }
    }

    fn counts(mut self) -> BTreeMap<(u32, CellKey), u64> {
        let users = std::mem::take(&mut self.users).into_iter();
        let held = users.map(|(name, user)| {
            let keys = user.kept.into_iter().flat_map(|(_, _, keys)| keys);
            (name, keys.collect::<BTreeSet<u32>>())
        });
        match self.cap.take() {
            None => held.for_each(|(_, keys)| self.add(keys)),
            Some(cap) => {
                let mut named: Vec<_> = self.numbers.iter().map(|(key, at)| (*at, key)).collect();
                named.sort_unstable_by_key(|(at, _)| *at);
                let mut counted = vec![0; named.len()];
                for (name, keys) in held {
                    let mut columns: BTreeMap<u32, Vec<_>> = BTreeMap::new();
                    for (at, key) in keys.iter().map(|at| named[*at as usize]) {
                        columns.entry(key.0).or_default().push((at, key));
                    }
                    let kept = columns.into_values().flat_map(|keys| cap.keys_counted(&name, keys));
                    kept.for_each(|at| counted[at as usize] += 1);
                }
                self.totals.iter_mut().zip(counted).for_each(|(total, more)| *total += more);
            }
        }
        let totals = self.totals;
        let held = self.numbers.into_iter().map(|(key, number)| (key, totals[number as usize]));
        held.filter(|(_, count)| *count > 0).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn unit_of((column, max_records): (&str, u32)) -> UnitFacts {
        UnitFacts { column: column.into(), max_records, spelling: privet_core::Spelling::Text }
    }

    fn held(text: &str, unit: Option<(&str, u32)>, texts: &[&str]) -> HeldKeys {
        capped(text, unit, texts, None)
    }

    fn capped(
        text: &str,
        unit: Option<(&str, u32)>,
        texts: &[&str],
        most_keys: Option<KeyCap>,
    ) -> HeldKeys {
        let unit = unit.map(unit_of);
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t.csv");
        std::fs::write(&path, text).unwrap();
        let sought = SurveyedColumns {
            columns: vec!["a", "b"],
            texts: texts.to_vec(),
            unit: unit.as_ref(),
            most_keys,
        };
        held_keys(&path, &FileFacts::by_name(&path), &sought).unwrap()
    }

    /// No record decides the names or the number of lines, and a name that is not in the header is
    /// refused.
    #[test]
    fn headers_and_blank_lines_are_no_records_matter() {
        let blank = held("a,b\n1,2\n\n3,4\n\n", None, &[]);
        assert_eq!(blank.rows, 4);
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t.csv");
        let facts = FileFacts::by_name(&path);
        for (text, unit) in
            [("\"a,b\n1,2\n3,4\n", None), ("a,c\n1,2\n", None), ("a,b\n1,2\n", Some(("who", 1)))]
        {
            std::fs::write(&path, text).unwrap();
            let unit = unit.map(unit_of);
            let columns = vec!["a", "b"];
            let sought =
                SurveyedColumns { columns, unit: unit.as_ref(), ..SurveyedColumns::default() };
            assert!(held_keys(&path, &facts, &sought).is_err(), "{text}");
        }
    }

    fn count(held: &HeldKeys, column: u32, key: CellKey) -> u64 {
        held.counts.get(&(column, key)).copied().unwrap_or(0)
    }

    #[test]
    fn each_unit_holds_its_own_keys_once() {
        let text = "who,a,b\n1,x,5\n1,x,5\n2,x,2024-03-05\n2,y,\n,z,1\nragged\n3,\"open,1\n";
        let alone = held(text, None, &[]);
        assert_eq!(alone.rows, 7);
        assert_eq!(count(&alone, 0, CellKey::Text("x".into())), 3);
        assert_eq!(count(&alone, 1, CellKey::Bin(bin_of(5.0))), 2);
        assert_eq!(count(&alone, 1, CellKey::Year(2024)), 1);
        let together = held(text, Some(("who", 2)), &[]);
        assert_eq!(count(&together, 0, CellKey::Text("x".into())), 2);
        assert_eq!(count(&together, 0, CellKey::Text("z".into())), 0, "nobody's");
        assert_eq!(count(&together, 1, CellKey::Bin(bin_of(5.0))), 1);
        // Rows without an identifier belong to no user; they are not those of one user of that name.
        for nobody in MISSING.iter().chain(&["NAN", " nan "]) {
            let found = held(&format!("who,a,b\n1,x,5\n{nobody},z,1\n"), Some(("who", 1)), &[]);
            assert_eq!(count(&found, 0, CellKey::Text("x".into())), 1, "{nobody}");
            assert_eq!(count(&found, 0, CellKey::Text("z".into())), 0, "{nobody}");
        }
        let texts = held(text, None, &["b"]);
        assert_eq!(count(&texts, 1, CellKey::Text("5".into())), 2);
    }

    #[test]
    fn bins_hold_their_numbers() {
        for value in [1e-9, 0.3, 1.0, 1.1, 2.0, 77.0, 1e6, 3e20, -0.5, -41.0] {
            let (low, high) = bin_edges(bin_of(value));
            assert!(low * (1.0 - 1e-12) - 1e-300 <= value.max(low) && low <= high, "{value}");
            let room = 1e-9 * value.abs();
            assert!(low - room <= value && value <= high + room, "{value}: {low} to {high}");
        }
        assert_eq!((bin_of(0.0), bin_of(1e-30), bin_of(f64::NAN)), (0, 0, 0));
        let order = [-1e9, -3.0, -0.1, 0.0, 0.1, 3.0, 1e9, 1e30];
        assert!(order.windows(2).all(|pair| bin_of(pair[0]) < bin_of(pair[1])));
    }

    /// Two such tables that differ in unit 0 alone: absent, or replaced by another (also of another
    /// name). Rows stand in the order of their numbers in `order`, those of the other unit at the end.
    fn neighbours(
        rows: &[(u8, u8, i32)],
        other: &[(u8, i32)],
        replaced: bool,
        order: &[usize],
    ) -> [String; 2] {
        let mut placed: Vec<_> = rows.iter().enumerate().collect();
        placed.sort_by_key(|(at, _)| order.get(*at).copied().unwrap_or(*at));
        let table = |away: Option<u8>, more: &[(u8, i32)]| {
            let rows = placed.iter().filter(|(_, row)| Some(row.0) != away);
            let rows = rows.map(|(_, (who, a, b))| format!("u{who},t{a},{b}\n"));
            let more = more.iter().map(|(a, b)| format!("new,t{a},{b}\n"));
            format!("who,a,b\n{}", rows.chain(more).collect::<String>())
        };
        [table(None, &[]), table(Some(0), if replaced { other } else { &[] })]
    }

    /// The number of counts of each column that differ, each by 1; `None` where one differs by more.
    fn moved(first: &HeldKeys, second: &HeldKeys) -> Option<[u32; 2]> {
        let keys: BTreeSet<_> = first.counts.keys().chain(second.counts.keys()).collect();
        let of = |held: &HeldKeys, key| held.counts.get(key).copied().unwrap_or(0);
        let mut moved = [0; 2];
        for key in keys {
            let apart = of(first, key).abs_diff(of(second, key));
            moved[key.0 as usize] += u32::try_from(apart).ok().filter(|apart| *apart <= 1)?;
        }
        Some(moved)
    }

    proptest! {
        /// A unit's absence changes no more counts of a column than it has rows or may count for, by 1
        /// each; its replacement twice as many. The order of the lines changes nothing, where no unit
        /// has more rows than its limit.
        #[test]
        fn one_unit_moves_as_many_counts_as_it_may_hold(
            rows in prop::collection::vec((0..4_u8, 0..9_u8, -3..9_i32), 1..40),
            other in prop::collection::vec((0..9_u8, -3..9_i32), 0..12),
            order in prop::collection::vec(0..40_usize, 60),
            most in 1..12_u32, cap in prop::option::of(1..4_u32), replaced: bool, secret: [u8; 16],
        ) {
            let cap_of = |cap: u32| KeyCap::new(cap, secret);
            let held = |text: &str, most| capped(text, Some(("who", most)), &[], cap.map(cap_of));
            let [first, second] = neighbours(&rows, &other, replaced, &order);
            let moved = moved(&held(&first, most), &held(&second, most));
            let bound = (1 + u32::from(replaced)) * most.min(cap.unwrap_or(most));
            prop_assert!(moved.is_some_and(|moved| moved.iter().all(|moved| *moved <= bound)));
            let [in_order, _] = neighbours(&rows, &other, replaced, &[]);
            prop_assert!(held(&first, 60).counts == held(&in_order, 60).counts);
        }
    }

    /// The bound is attained: a unit whose rows all differ, replaced by one whose rows all differ from
    /// those, among people who hold every key. And every key is counted sometimes: the two kept depend
    /// on the secret and the unit.
    #[test]
    fn the_farthest_neighbours_move_all_that_is_charged() {
        let rows: Vec<_> = (0..10).map(|at| (0, at as u8, 1 << at)).collect();
        let others: Vec<_> = (1..200).map(|who| (who, who % 20, 1 << (who % 20))).collect();
        let all: Vec<_> = [rows, others].concat();
        let other: Vec<_> = (10..20).map(|at| (at as u8, 1 << at)).collect();
        for (replaced, times) in [(false, 1), (true, 2)] {
            let tables = neighbours(&all, &other, replaced, &[]);
            for (cap, most) in [(None, 10), (Some(2), 2), (Some(1), 1)] {
                let cap = cap.map(|cap| KeyCap::new(cap, *b"a secret for all"));
                let [a, b] =
                    tables.each_ref().map(|text| capped(text, Some(("who", 10)), &[], cap.clone()));
                assert_eq!(moved(&a, &b), Some([times * most; 2]));
            }
        }
        // 300 people with the same ten rows: each key is kept by a fifth of them. The secret is fixed;
        // under another one, one of 20 counts would be beyond 6 standard deviations with a probability
        // of 2e-9.
        let same =
            (0..300).flat_map(|who| (0..10).map(move |at| format!("u{who},t{at},{}\n", 1 << at)));
        let text = format!("who,a,b\n{}", same.collect::<String>());
        let cap = KeyCap::new(2, *b"a secret for all");
        let held = capped(&text, Some(("who", 10)), &[], Some(cap.clone()));
        assert_eq!(held.counts.len(), 20);
        for count in held.counts.values() {
            assert!((*count as f64 - 60.0).abs() < 6.0 * (300.0 * 0.2 * 0.8_f64).sqrt(), "{count}");
        }
        let another = capped(&text, Some(("who", 10)), &[], Some(KeyCap::new(2, [7; 16])));
        assert!(held != another && !format!("{cap:?}").contains(&format!("{:?}", cap.secret)));
    }
}
