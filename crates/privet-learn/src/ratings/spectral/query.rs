//! Queries of the four methods, and a user's contribution to each.

use super::path::{Descent, Path, centred};
use crate::ratings::local::{self, LocalState, Tally, into_ball};
use serde::Serialize;

/// Definition of the users' residuals a: plain data, all of it public.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "of", rename_all = "kebab-case")]
pub(crate) enum Residuals {
    /// Rows, of norm at most `clip`.
    Rows {
        /// Clip of a row, Δ.
        clip: f64,
    },
    /// Predictions along a path minus rows, of norm at most twice the path's clip.
    Path(Path),
    /// Whole rows during a descent, of norm at most its clip.
    Descent(Descent),
}

/// A query: plain data, all of it public.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "ask", rename_all = "kebab-case")]
pub(crate) enum Query {
    /// The triangle of aaᵀ, with entries off its diagonal times 3/2.
    Covariance {
        /// Residuals a.
        residuals: Residuals,
        /// Number of items.
        items: usize,
    },
    /// The vector a⟨a, v⟩.
    Power {
        /// Residuals a.
        residuals: Residuals,
        /// Unit vector v.
        vector: Vec<f64>,
    },
    /// The number ⟨a, v⟩².
    Energy {
        /// Residuals a.
        residuals: Residuals,
        /// Unit vector v.
        vector: Vec<f64>,
    },
}

impl Residuals {
    /// Norm bound of residuals, R.
    pub(super) fn radius(&self) -> f64 {
        match self {
            Self::Rows { clip } => *clip,
            Self::Path(path) => 2.0 * path.clip,
            Self::Descent(descent) => descent.clip,
        }
    }

    /// Residuals of a user: item indices, ascending, and values.
    fn of(&self, user: &LocalState) -> (Vec<u32>, Vec<f64>) {
        let (items, mut found) = match self {
            Self::Rows { clip } => (user.items().to_vec(), centred(user, *clip, &[]).1),
            Self::Path(path) => (user.items().to_vec(), path.follow(user).residuals()),
            Self::Descent(descent) => {
                let row = descent.follow(user, true).1;
                ((0..row.len() as u32).collect(), row)
            }
        };
        // Within the bound already, up to rounding.
        let factor = into_ball(&found, self.radius());
        found.iter_mut().for_each(|entry| *entry *= factor);
        (items, found)
    }

    /// Unit of entries of a: a power of two between R/2²⁰ and R/2¹⁹.
    pub(super) fn unit(&self) -> f64 {
        (self.radius().log2().floor() - 19.0).exp2()
    }
}

impl local::Query for Query {
    fn coordinates(&self) -> usize {
        match self {
            Self::Covariance { items, .. } => items * (items + 1) / 2,
            Self::Power { vector, .. } => vector.len(),
            Self::Energy { .. } => 1,
        }
    }

    fn unit(&self) -> f64 {
        match self {
            // Half the square of the unit: entries off the diagonal count 3/2.
            Self::Covariance { residuals, .. } => 0.5 * residuals.unit() * residuals.unit(),
            Self::Power { residuals, .. } | Self::Energy { residuals, .. } => {
                residuals.unit() * residuals.unit()
            }
        }
    }

    fn add(&self, user: &LocalState, into: &mut Tally) {
        match self {
            Self::Covariance { residuals, .. } => {
                let unit = residuals.unit();
                let (items, own) = residuals.of(user);
                let whole: Vec<i64> = own.iter().map(|entry| (entry / unit) as i64).collect();
                // Items ascend, so that i is never below j.
                for (place, (i, x)) in items.iter().zip(&whole).enumerate() {
                    let first = (*i as usize) * (*i as usize + 1) / 2;
                    for (j, y) in items[..place].iter().zip(&whole) {
                        into.add_units(first + *j as usize, 3 * x * y);
                    }
                    into.add_units(first + *i as usize, 2 * x * x);
                }
            }
            Self::Power { residuals, vector } => {
                let (items, own) = residuals.of(user);
                let along = along(&items, &own, vector);
                for (item, entry) in items.iter().zip(&own) {
                    into.add(*item as usize, entry * along);
                }
            }
            Self::Energy { residuals, vector } => {
                let (items, own) = residuals.of(user);
                let along = along(&items, &own, vector);
                into.add(0, along * along);
            }
        }
    }
}

fn along(items: &[u32], own: &[f64], vector: &[f64]) -> f64 {
    items.iter().zip(own).map(|(item, x)| x * vector[*item as usize]).sum()
}
