//! What is public of ratings, and which tables of them a plan admits.

use crate::LearnError;
use crate::release::request::ROWS;
use privet_core::Relation;
use privet_data::Dataset;
use privet_data::matrix::Matrix;
use privet_data::ratings::Rated;
use privet_data::schema::Schema;
use privet_optim::sum::{RecordsError, Table};
use std::collections::HashSet;
use std::sync::Arc;

/// What is public of ratings.
#[derive(Debug, Clone, PartialEq)]
pub struct Shape {
    /// The declared number of users.
    pub users: u64,
    /// How many items are listed.
    pub items: usize,
    /// The least rating.
    pub low: f64,
    /// The largest.
    pub high: f64,
    /// The most ratings of a user.
    pub most: u32,
    /// Neighbours and unit: users.
    pub relation: Relation,
    /// Public features of every item; empty if there are none.
    pub features: Arc<Vec<Vec<f64>>>,
    /// How much wider the released noise is than what is charged: 1, or more among parties.
    pub widening: f64,
}

impl Shape {
    /// Of a request's schema and declared number of users.
    pub(super) fn of(schema: &Schema, users: u64, relation: Relation) -> Result<Self, LearnError> {
        ROWS.check(users as f64)?;
        let rated = Rated::of(schema).map_err(|error| LearnError::Schema(error.to_string()))?;
        let Rated { items, low, high, most } = rated;
        let features = Arc::default();
        let (items, widening) = (items.len(), 1.0);
        Ok(Self { users, items, low, high, most, relation, features, widening })
    }

    /// The rating at a place in [−2, 2].
    pub fn rating(&self, place: f64) -> f64 {
        0.5 * (self.low + self.high) + 0.25 * (self.high - self.low) * place.clamp(-2.0, 2.0)
    }

    /// Every row is another user's, holds at most `most` ratings, and each of them is in its bounds.
    pub(super) fn admit(&self, table: &dyn Table) -> Result<(), LearnError> {
        if table.columns() != self.items {
            return Err(LearnError::DataShape("there is not one column for each item"));
        }
        let mut seen = HashSet::new();
        let mut refused = Ok(());
        let visited = table.visit(&mut |rows| {
            refused = self.admit_rows(rows, &mut seen);
            refused.as_ref().map(|_| ()).map_err(|_| RecordsError::BackEnd("refused".into()))
        });
        refused?;
        visited.map_err(LearnError::Records)
    }

    fn admit_rows(&self, data: &Dataset, seen: &mut HashSet<u64>) -> Result<(), LearnError> {
        let rows = data.features.rows();
        if data.target.len() != rows {
            return Err(LearnError::DataShape("there is not one target for each row"));
        }
        let units = data.units.as_ref().ok_or(LearnError::DataShape("rows name no unit"))?;
        if units.len() != rows {
            return Err(LearnError::DataShape("there is not one unit for each row"));
        }
        if !units.iter().all(|unit| seen.insert(*unit)) {
            return Err(LearnError::DataShape("a user has more than one row"));
        }
        for row in 0..rows {
            let (mut count, mut inside) = (0, true);
            each_rating(&data.features, row, |_, cell| {
                count += 1;
                inside &= (1.0..=2.0).contains(&cell);
            });
            if !inside {
                return Err(LearnError::DataShape("a rating is not within its bounds"));
            }
            if count > self.most as usize {
                return Err(LearnError::DataShape("a user has more ratings than the cap"));
            }
        }
        Ok(())
    }
}

/// Every rating of a row, in the order of the items.
pub(super) fn each_rating(matrix: &Matrix, row: usize, mut see: impl FnMut(u32, f32)) {
    match matrix {
        Matrix::Csr(rows) => {
            let (items, cells) = rows.row(row);
            items.iter().zip(cells).for_each(|(item, cell)| see(*item, *cell));
        }
        Matrix::Dense(rows) => {
            let cells = rows.row(row).iter().enumerate().filter(|(_, cell)| **cell != 0.0);
            cells.for_each(|(item, cell)| see(item as u32, *cell));
        }
    }
}
