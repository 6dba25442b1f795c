//! The schema under which a table is described: numbers in their own bounds, each category in a cell of
//! its own.
//!
//! Declarations for training are left out: transforms, bases, pairs, the clipping of whole rows. A
//! number becomes 2t − 1 in [−1, 1] and nothing else; a binary column becomes a category. Substitutes
//! for *missing* cells and unlisted categories are left out as well: both get a cell of their own,
//! since a description should show them. What was refused stays refused.

use super::check::{Checked, refuse};
use super::*;

impl Schema {
    /// The names of the columns that can be described, in order; the target last.
    pub fn describable(&self) -> Vec<String> {
        let own = self.columns.iter().filter(|column| describe_kind(&column.kind).is_some());
        let names = own.map(|column| column.name.clone());
        let target = Some(self.target.column.clone()).filter(|name| !name.is_empty());
        names.chain(target).collect()
    }

    /// The schema under which these columns are described; besides them only the target is read.
    pub fn describing(&self, names: &[String]) -> Checked<Self> {
        let known = self.describable();
        let accepted = || match known.as_slice() {
            [] => "a schema with columns of its own: numbers with bounds, listed categories".into(),
            known => format!("some of: {}", known.join(", ")),
        };
        if self.libsvm.is_some() || self.image.is_some() {
            let accepted = "a schema with [[columns]]: numbers with bounds, listed categories";
            return refuse("format", "rows without named columns cannot be described", accepted);
        }
        if names.is_empty() {
            return refuse("columns", "no column is to be described", accepted());
        }
        for (place, name) in names.iter().enumerate() {
            if names[..place].contains(name) {
                return refuse(name.as_str(), "named twice", "each column once");
            }
            if !known.contains(name) {
                let problem = match self.columns.iter().any(|column| column.name == *name) {
                    true => "neither bounds nor a list of categories are declared for it",
                    false => "the schema has no such column",
                };
                return refuse(name.as_str(), problem, accepted());
            }
        }
        let mut columns = self.columns.clone();
        for column in &mut columns {
            match describe_kind(&column.kind).filter(|_| names.contains(&column.name)) {
                Some(kind) => column.kind = kind,
                None if column.kind.width() > 0 => {
                    *column = Column { kind: ColumnKind::Ignore, invalid: None, ..column.clone() };
                }
                None => {}
            }
        }
        let target = TargetFacts { weights: None, ..self.target.clone() };
        Ok(Self { target, ..self.unclipped(columns) })
    }
}

/// The column's kind in a description, if it can be described.
fn describe_kind(kind: &ColumnKind) -> Option<ColumnKind> {
    Some(match kind {
        ColumnKind::Number { low, high, missing, .. } => ColumnKind::Number {
            low: *low,
            high: *high,
            scale: Scale::Symmetric,
            transform: None,
            basis: Basis::Linear,
            missing: apart(missing),
        },
        ColumnKind::Category { categories: Categories::Listed(listed), unknown, missing } => {
            let unknown = match unknown {
                Unknown::Error => Unknown::Error,
                Unknown::Other | Unknown::None | Unknown::As(_) => Unknown::Other,
            };
            let categories = Categories::Listed(listed.clone());
            ColumnKind::Category { categories, unknown, missing: apart(missing) }
        }
        ColumnKind::Binary { values, missing } => ColumnKind::Category {
            categories: Categories::Listed(values.to_vec()),
            unknown: Unknown::Error,
            missing: apart(missing),
        },
        _ => return None,
    })
}

fn apart<T: Clone>(missing: &Missing<T>) -> Missing<T> {
    match missing {
        Missing::Error => Missing::Error,
        Missing::Category | Missing::As(_) => Missing::Category,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::encode::Encoding;
    use crate::testing::SMALL_SCHEMA;

    #[test]
    fn columns_are_described_as_they_are_declared() {
        let schema = Schema::from_toml(SMALL_SCHEMA).unwrap();
        let all = schema.describable();
        assert_eq!(all[..3], ["age", "work", "smokes"].map(String::from), "hashed ones are not");
        let describing = schema.describing(&all).unwrap();
        let again = Schema::from_toml(&describing.to_toml()).unwrap();
        assert_eq!(again, describing, "it can be written down");
        assert_eq!(describing.describing(&all).unwrap(), describing);
        let names = Encoding::new(&describing).column_names();
        assert!(names[0] == "age" && names.contains(&"smokes=yes".to_string()), "{names:?}");
        let one = schema.describing(&["age".into()]).unwrap();
        assert!(Encoding::new(&one).column_names().iter().all(|name| !name.starts_with("work")));
        for bad in [vec!["town".into()], vec!["nothing".into()], vec![], vec!["age".into(); 2]] {
            assert!(schema.describing(&bad).is_err(), "{bad:?}");
        }
    }
}
