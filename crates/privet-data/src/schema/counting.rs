//! The schema under which records are counted by one column.
//!
//! Only that column, the target and the unit are read. A record is a row of ones: one for its category
//! and one for its presence, unclipped; the null record is zero everywhere, and is not counted.

use super::check::{Checked, refuse};
use super::*;

impl Schema {
    /// The schema under which records are only counted: besides the target and the unit no column is
    /// read.
    pub fn of_rows(&self) -> Self {
        let columns = self.columns.iter().map(|column| match column.kind.width() {
            0 => column.clone(),
            _ => Column { kind: ColumnKind::Ignore, invalid: None, ..column.clone() },
        });
        let invalid = match self.invalid {
            Invalid::StandIn => Invalid::Drop,
            other => other,
        };
        Self { image: None, invalid, ..self.unclipped(columns.collect()) }
    }

    /// The schema under which records are counted by `column`: one of declared categories, of two
    /// values, or a target of classes.
    pub fn counting(&self, column: &str) -> Checked<Self> {
        let accepted = || {
            let names = self.columns.iter().filter(|column| as_listed(&column.kind).is_some());
            let target = self.classes().map(|_| self.target.column.as_str());
            let names = names.map(|column| column.name.as_str()).chain(target);
            format!("a column of declared categories: {}", names.collect::<Vec<_>>().join(", "))
        };
        let by_target = self.classes().is_some() && self.target.column == column;
        if !by_target {
            match self.columns.iter().find(|known| known.name == column) {
                None => return refuse(column, "the schema has no such column", accepted()),
                Some(found) if as_listed(&found.kind).is_none() => {
                    return refuse(column, "its categories are not declared", accepted());
                }
                Some(_) => {}
            }
        }
        let mut columns = self.columns.clone();
        for other in &mut columns {
            if other.name != column && other.kind.width() > 0 {
                *other = Column { kind: ColumnKind::Ignore, invalid: None, ..other.clone() };
            } else if let Some(kind) = as_listed(&other.kind) {
                other.kind = kind;
            }
        }
        Ok(Self { image: None, ..self.unclipped(columns) })
    }

    /// These columns of it, in rows of numbers up to 1 that are neither clipped nor paired.
    pub(super) fn unclipped(&self, columns: Vec<Column>) -> Self {
        let invalid = match self.invalid {
            Invalid::StandIn if columns.iter().all(|column| column.invalid.is_none()) => {
                Invalid::Drop
            }
            other => other,
        };
        Self {
            clip: ClipFacts { norm: Norm::Linf, radius: 1.0, rows: Rows::Clip },
            bias: Some(1.0),
            open_bias: false,
            pairs: Vec::new(),
            fourier: None,
            invalid,
            storage: None,
            columns,
            ..self.clone()
        }
    }
}

/// The kind as a listed category, if it is one or binary.
fn as_listed(kind: &ColumnKind) -> Option<ColumnKind> {
    match kind {
        ColumnKind::Category { categories: Categories::Listed(_), .. } => Some(kind.clone()),
        ColumnKind::Binary { values, missing } => Some(ColumnKind::Category {
            categories: Categories::Listed(values.to_vec()),
            unknown: Unknown::Error,
            missing: missing.clone(),
        }),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::encode::Encoding;
    use crate::testing::SMALL_SCHEMA;

    #[test]
    fn only_the_column_counted_is_read() {
        let schema = Schema::from_toml(SMALL_SCHEMA).unwrap();
        let counting = schema.counting("work").unwrap();
        let names = Encoding::new(&counting).column_names();
        let cells = ["work=private", "work=public", "work=(other)", "work=(missing)"];
        assert_eq!(
            (&names[..4], &names[4..]),
            (&cells.map(String::from)[..], &["(bias)".into()][..])
        );
        let again = Schema::from_toml(&counting.to_toml()).unwrap();
        assert_eq!(again, counting, "it can be written down");
        assert_eq!(counting.counting("work").unwrap(), counting);
        for bad in ["age", "nothing"] {
            let refused = schema.counting(bad).unwrap_err().to_string();
            assert!(refused.contains(bad) && refused.contains("work"), "{refused}");
        }
        let classes = schema.counting(&schema.target().column).unwrap();
        assert_eq!(Encoding::new(&classes).column_names(), ["(bias)"], "no other column is read");
    }
}
