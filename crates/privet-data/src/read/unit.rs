//! At most `max_records` rows of each user.
//!
//! The rows kept of a user are those with the smallest keyed hash of (user, ordinal), where the ordinal
//! counts that user's own rows in the file's order. So the choice depends on the key and on the user's
//! own rows alone: adding, removing or changing another user's rows changes nothing, and replacing all
//! rows of one user changes at most `max_records` kept rows on either side. The key is public; secrecy
//! is not needed, since the bound holds for every key.
//!
//! - Users are distinguished by the names of their identifiers ([`super::identifier`]); the numbers in
//!   [`Dataset::units`] are given in the order of appearance and mean nothing but equal or different.
//! - Tested by `the_rows_kept_do_not_depend_on_other_users`.

use super::identifier::{Identifier, Names};
use crate::{
    dataset::Dataset,
    encode::EncodeError,
    keyed::{self, Key},
    schema::Schema,
};
use std::collections::{BinaryHeap, HashMap};

/// The key used unless another is given.
pub const UNIT_KEY: Key = *b"privet: unit cap";

/// Counts users' rows and chooses those to keep.
pub(super) struct UnitCap {
    names: Names,
    max_records: usize,
    key: Key,
    users: HashMap<Vec<u8>, User>,
    units: Vec<u64>,
    nobodys: u64,
}

struct User {
    number: u64,
    rows: u64,
    /// The smallest hashes so far, largest on top, with their row.
    kept: BinaryHeap<(u64, usize)>,
}

impl UnitCap {
    /// Returns `None` where the schema has no unit.
    pub(super) fn new(schema: &Schema, key: Key) -> Option<Self> {
        let unit = schema.unit_column()?;
        let max_records = unit.max_records as usize;
        let names = Names::new(schema.file(), unit.spelling);
        let (users, units) = (HashMap::new(), Vec::new());
        Some(Self { names, max_records, key, users, units, nobodys: 0 })
    }

    /// Counts the next row for its user.
    pub(super) fn row(&mut self, identifier: Identifier<'_>) -> Result<(), EncodeError> {
        let name = self.names.name(identifier)?;
        let row = self.units.len();
        let number = self.users.len() as u64;
        if !self.users.contains_key(&*name) {
            let user = User { number, rows: 0, kept: BinaryHeap::new() };
            self.users.insert(name.to_vec(), user);
        }
        let Some(user) = self.users.get_mut(&*name) else { return Ok(()) };
        let hash = keyed::hash("unit", &self.key, &[&name, &user.rows.to_le_bytes()]);
        user.rows += 1;
        user.kept.push((hash, row));
        if user.kept.len() > self.max_records {
            user.kept.pop();
        }
        self.units.push(user.number);
        Ok(())
    }

    /// Counts a row without an identifier; it is left out.
    pub(super) fn count_unidentified(&mut self) {
        self.units.push(u64::MAX);
        self.nobodys += 1;
    }

    /// Drops surplus rows and rows without an identifier; the rest keep their order.
    pub(super) fn apply(self, mut dataset: Dataset) -> Dataset {
        let mut kept: Vec<usize> =
            self.users.into_values().flat_map(|user| user.kept).map(|(_, row)| row).collect();
        let surplus = self.units.len() - kept.len();
        dataset.units = Some(self.units);
        if surplus == 0 {
            return dataset;
        }
        kept.sort_unstable();
        let mut dataset = dataset.select(&kept);
        dataset.report.surplus_rows = surplus as u64 - self.nobodys;
        dataset.report.nobodys_rows = self.nobodys;
        dataset
    }
}

#[cfg(test)]
mod tests {
    use crate::{Dataset, Schema, read::csv_bytes};
    use proptest::prelude::*;
    use std::collections::HashMap;

    const SCHEMA: &str = r#"
        [clip]
        norm = "linf"
        radius = 1.0
        [target]
        column = "y"
        classes = ["a", "b"]
        [unit]
        column = "user"
        max_records = 3
        [[columns]]
        name = "x"
        type = "number"
        bounds = [0, 1024]
    "#;

    /// Rows (user, serial number within the user), read with a cap of three.
    fn read(rows: &[(u8, u32)]) -> Dataset {
        let lines = rows.iter().map(|(user, serial)| format!("u{user},{serial},a\n"));
        let text = format!("user,x,y\n{}", lines.collect::<String>());
        csv_bytes(text.as_bytes(), &Schema::from_toml(SCHEMA).unwrap()).unwrap()
    }

    /// The serial numbers kept of each user.
    fn kept(users: &[u8]) -> HashMap<u8, Vec<u32>> {
        let mut counts = [0_u32; 256];
        let rows: Vec<(u8, u32)> = users
            .iter()
            .map(|&user| {
                counts[user as usize] += 1;
                (user, counts[user as usize])
            })
            .collect();
        let dataset = read(&rows);
        let mut names = HashMap::new();
        users.iter().for_each(|&user| {
            let next = names.len() as u64;
            names.entry(user).or_insert(next);
        });
        let back: HashMap<u64, u8> =
            names.into_iter().map(|(user, number)| (number, user)).collect();
        let mut kept: HashMap<u8, Vec<u32>> = HashMap::new();
        for (row, unit) in dataset.units.as_ref().unwrap().iter().enumerate() {
            let serial = (dataset.features.dense_row(row)[0] * 1024.0).round() as u32;
            kept.entry(back[unit]).or_default().push(serial);
        }
        assert_eq!(dataset.report.surplus_rows as usize, users.len() - dataset.rows());
        kept
    }

    proptest! {
        #[test]
        fn the_rows_kept_do_not_depend_on_other_users(
            users in prop::collection::vec(0..6_u8, 1..60),
        ) {
            let all = kept(&users);
            for user in 0..6 {
                let count = users.iter().filter(|u| **u == user).count();
                if count == 0 { continue }
                prop_assert_eq!(all[&user].len(), count.min(3));
                let without: Vec<u8> = users.iter().copied().filter(|u| *u == user).collect();
                prop_assert_eq!(&kept(&without)[&user], &all[&user]);
            }
        }
    }

    #[test]
    fn a_missing_user_is_refused() {
        let text = SCHEMA.replacen("[clip]", "[file]\nmissing_values = [\"\"]\n[clip]", 1);
        let schema = Schema::from_toml(&text).unwrap();
        let message = csv_bytes(b"user,x,y\n,1,a\n", &schema).unwrap_err().to_string();
        assert!(message.contains("row 2") && message.contains("\"user\""), "{message}");
    }
}
