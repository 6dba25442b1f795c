//! The index of each column's sums, and their sensitivity.

use super::{BINS, CORRELATED, Describe, MOST_SUMS, USUAL_BINS};
use crate::release::request::ROWS;
use crate::statistics::sums;
use crate::{LearnError, Request};
use privet_core::Relation;
use privet_data::encode::Encoding;
use privet_data::schema::{Categories, ColumnKind, Invalid, Missing, TargetKind, Unknown};
use privet_optim::sum::{Described, Labels, Slot};
use std::collections::HashSet;

/// The public facts of a description.
#[derive(Debug, Clone, PartialEq)]
pub struct Layout {
    /// The declared number of rows n.
    pub rows: u64,
    /// The number of encoded columns of the table.
    pub encoded_columns: usize,
    /// Neighbours and unit.
    pub relation: Relation,
    /// The columns described, in the order of their sums.
    pub columns: Vec<Field>,
    /// Bins of each histogram.
    pub bins: u32,
    /// The sums to compute.
    pub query: Described,
    /// The encoding of the records' targets.
    pub labels: Labels,
}

/// A described column.
#[derive(Debug, Clone, PartialEq)]
pub struct Field {
    /// Its name.
    pub name: String,
    /// Its content: categories or a number.
    pub holds: ColumnContent,
}

/// The content of a column.
#[derive(Debug, Clone, PartialEq)]
pub enum ColumnContent {
    /// The categories, one cell each.
    Cells(Vec<String>),
    /// A number within bounds.
    Number {
        /// The lower bound.
        low: f64,
        /// The upper bound.
        high: f64,
        /// True if it can be missing.
        missing: bool,
    },
}

impl Layout {
    pub(super) fn of(request: &Request<Describe>) -> Result<Self, LearnError> {
        ROWS.check(request.rows as f64)?;
        let Describe { columns, bins, correlations } = &request.task;
        let schema = &request.schema;
        let names = columns.clone().unwrap_or_else(|| schema.describable());
        // The theorem is about rows of exactly this schema.
        let part = schema.describing(&names);
        if part.map_err(|error| LearnError::Schema(error.to_string()))? != *schema {
            return Err(LearnError::NotCovered {
                what: "a description is made of a table of the columns that it describes".into(),
                instead: "make the request with Describe::request, or give the schema of Schema::describing",
            });
        }
        let bins = BINS.check(f64::from(bins.unwrap_or(USUAL_BINS)))? as u32;
        let mut found = Vec::new();
        let mut slots = Vec::new();
        let mut at = 0;
        for column in schema.columns() {
            let Some((holds, slot, width)) = place(&column.kind, at, bins) else { continue };
            at += width;
            slots.push(slot);
            found.push(Field { name: column.name.clone(), holds });
        }
        let target = schema.target();
        if names.contains(&target.column) {
            let (holds, slot) = match &target.kind {
                TargetKind::Classes(classes) => {
                    (ColumnContent::Cells(classes.clone()), Slot::Classes { count: classes.len() })
                }
                TargetKind::Number { low, high } => (
                    ColumnContent::Number { low: *low, high: *high, missing: false },
                    Slot::Number { column: None, missing: None, bins: bins as usize },
                ),
            };
            slots.push(slot);
            found.push(Field { name: target.column.clone(), holds });
        }
        told_apart(&found)?;
        let relation = request.relation();
        let counted = relation.count_is_public() && schema.invalid() == Invalid::Refuse;
        let marker = Encoding::new(schema).width() - 1;
        let mut query = Described { marker, rows: !counted, slots, products: false };
        let numbers = query.numbers();
        query.products = correlations.unwrap_or((2..=CORRELATED).contains(&numbers));
        if query.products && numbers < 2 {
            return Err(LearnError::NotCovered {
                what: format!(
                    "correlations were asked for, and {numbers} of the columns are numbers"
                ),
                instead: "leave out the correlations, or describe at least two numbers",
            });
        }
        if query.length() > MOST_SUMS {
            return Err(LearnError::NotCovered {
                what: format!("{} sums would be released at once", query.length()),
                instead: "describe fewer columns, with fewer bins, or leave out the correlations",
            });
        }
        let labels = match schema.classes() {
            Some(classes) => Labels::Joint { classes: classes.len() },
            None => Labels::Signed { weights: Vec::new() },
        };
        Ok(Self {
            rows: request.rows,
            encoded_columns: marker + 1,
            relation,
            columns: found,
            bins,
            query,
            labels,
        })
    }

    /// The names of the columns, in order.
    pub fn names(&self) -> Vec<String> {
        self.columns.iter().map(|column| column.name.clone()).collect()
    }

    /// The ℓ1 sensitivity Δ₁: see `sums`.
    pub fn absolute_shift(&self) -> f64 {
        sums::absolute_shift(&self.query, self.relation)
    }

    /// The ℓ2 sensitivity Δ₂: see `sums`.
    pub fn shift(&self) -> f64 {
        sums::shift(&self.query, self.relation)
    }
}

/// The content of a column of a describing schema, its slot, and the number of encoded columns it takes.
fn place(kind: &ColumnKind, at: usize, bins: u32) -> Option<(ColumnContent, Slot, usize)> {
    Some(match kind {
        ColumnKind::Number { low, high, missing, .. } => {
            let can_miss = *missing == Missing::Category;
            let indicator = can_miss.then_some(at + 1);
            let slot = Slot::Number { column: Some(at), missing: indicator, bins: bins as usize };
            let holds = ColumnContent::Number { low: *low, high: *high, missing: can_miss };
            (holds, slot, 1 + usize::from(can_miss))
        }
        ColumnKind::Category { categories: Categories::Listed(listed), unknown, missing } => {
            let mut cells = listed.clone();
            cells.extend((*unknown == Unknown::Other).then(|| OTHER_CELL.to_string()));
            cells.extend((*missing == Missing::Category).then(|| MISSING.to_string()));
            let count = cells.len();
            (ColumnContent::Cells(cells), Slot::Cells { first: at, count }, count)
        }
        _ => return None,
    })
}

/// The cell of categories that are not listed.
const OTHER_CELL: &str = "(other)";
/// The cell of records whose value is missing.
const MISSING: &str = "(missing)";

/// Refuses cells of the same name.
fn told_apart(columns: &[Field]) -> Result<(), LearnError> {
    for column in columns {
        let ColumnContent::Cells(cells) = &column.holds else { continue };
        if cells.iter().collect::<HashSet<_>>().len() < cells.len() {
            let name = privet_core::printable(&column.name).into_owned();
            return Err(LearnError::NotCovered {
                what: format!("two cells of '{name}' have the same name"),
                instead: "name no category (other) or (missing): cells of these names are made",
            });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::statistics::describe::Describe;
    use privet_core::Neighbours;
    use privet_data::{Schema, read};

    const TABLE: &str = "[file]\nmissing_values = [\"\"]\n[clip]\nnorm = \"l2\"\nradius = 1.0\n\
         [target]\ncolumn = \"ill\"\nclasses = [\"no\", \"yes\"]\n\
         [[columns]]\nname = \"age\"\ntype = \"number\"\nbounds = [0, 100]\nmissing = 40\n\
         [[columns]]\nname = \"work\"\ntype = \"category\"\ncategories = [\"farm\", \"shop\"]\n\
         unknown = \"other\"\nmissing = \"category\"\n\
         [[columns]]\nname = \"hours\"\ntype = \"number\"\nbounds = [0, 80]\n";

    /// Names of cells and indices of encoded columns are those of the encoder.
    #[test]
    fn slots_are_where_the_encoder_puts_columns() {
        let schema = Schema::from_toml(TABLE).unwrap();
        let request = Describe::default()
            .request(&schema, 10, Neighbours::ReplaceOne, (1.0, Some(1e-6)))
            .unwrap();
        let layout = Layout::of(&request).unwrap();
        let names = Encoding::new(&request.schema).column_names();
        assert_eq!(layout.encoded_columns, names.len());
        for (column, slot) in layout.columns.iter().zip(&layout.query.slots) {
            match (slot, &column.holds) {
                (Slot::Cells { first, count }, ColumnContent::Cells(cells)) => {
                    assert_eq!(*count, cells.len());
                    for (place, cell) in cells.iter().enumerate() {
                        assert_eq!(names[first + place], format!("{}={cell}", column.name));
                    }
                }
                (Slot::Number { column: Some(at), missing, .. }, ColumnContent::Number { .. }) => {
                    assert_eq!(names[*at], column.name);
                    assert_eq!(missing.is_some(), column.name == "age");
                    assert!(missing.is_none_or(|place| names[place].contains("(missing)")));
                }
                (Slot::Classes { count: 2 }, ColumnContent::Cells(_)) => {
                    assert_eq!(column.name, "ill")
                }
                other => panic!("{other:?}"),
            }
        }
        let data = read::csv_bytes(b"age,work,hours,ill\n,mine,80,yes\n", &request.schema).unwrap();
        assert_eq!(data.features.columns(), layout.encoded_columns);
    }

    /// Adds up the table of the theorem.
    #[test]
    fn shifts_by_hand() {
        let schema = Schema::from_toml(TABLE).unwrap();
        let layout = |neighbours| {
            let request = Describe::default();
            Layout::of(&request.request(&schema, 10, neighbours, (1.0, None)).unwrap()).unwrap()
        };
        // Cells of age, work, hours, ill; z and z² of two; of whole records a count, two z and two z²; a
        // product.
        let replaced = layout(Neighbours::ReplaceOne);
        assert_eq!(replaced.absolute_shift(), 4.0 * 2.0 + 2.0 * 3.0 + 1.0 + 2.0 * 3.0 + 2.0);
        let squares: f64 = 4.0 * 2.0 + 2.0 * 5.0 + 1.0 + 2.0 * 5.0 + 4.0;
        assert!((replaced.shift() - squares.sqrt()).abs() < 1e-12);
        // One more: the number of records.
        let added = layout(Neighbours::AddRemove);
        assert_eq!(added.absolute_shift(), 15.0);
        assert!((added.shift() - 15_f64.sqrt()).abs() < 1e-12);
    }
}
