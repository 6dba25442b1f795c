//! Public facts of ratings, and checks of the tables that a plan admits.

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

/// Public facts of ratings.
#[derive(Debug, Clone, PartialEq)]
pub struct Shape {
    /// Declared number of users.
    pub users: u64,
    /// Number of listed items.
    pub items: usize,
    /// Lower bound of a rating.
    pub low: f64,
    /// Upper bound of a rating.
    pub high: f64,
    /// Upper bound on the number of ratings of a user.
    pub most: u32,
    /// Neighbours and unit: users.
    pub relation: Relation,
    /// Public features of every item; empty if there are none.
    pub features: Arc<Vec<Vec<f64>>>,
    /// Factor by which the released noise is wider than the charged noise: 1, or more among parties.
    pub widening: f64,
}

impl Shape {
    /// Shape of a request's schema and declared number of users.
    pub(super) fn of(schema: &Schema, users: u64, relation: Relation) -> Result<Self, LearnError> {
        ROWS.check(users as f64)?;
        let rated = Rated::of(schema).map_err(|error| LearnError::Schema(error.to_string()))?;
        let Rated { items, low, high, most } = rated;
        let features = Arc::default();
        let (items, widening) = (items.len(), 1.0);
        Ok(Self { users, items, low, high, most, relation, features, widening })
    }

    /// Rating of a scaled rating in [−2, 2].
    pub fn rating(&self, place: f64) -> f64 {
        0.5 * (self.low + self.high) + 0.25 * (self.high - self.low) * place.clamp(-2.0, 2.0)
    }

    /// Checks that every row is a different user's, has at most `most` ratings, and all of them within
    /// the bounds.
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

/// Visits every rating of a row, in the order of the items.
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
