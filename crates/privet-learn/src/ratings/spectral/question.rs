//! What is asked of all users, and what each tells.

use super::path::{Descent, Path, centred};
use crate::ratings::local::{self, LocalState, Tally, into_ball};
use serde::Serialize;

/// Whose residuals: plain data that everyone knows.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "of", rename_all = "kebab-case")]
pub(crate) enum Residuals {
    /// Of rows as they are, in the ball of radius `clip`.
    Rows {
        /// Δ.
        clip: f64,
    },
    /// Of rows less what was followed so far, in the ball of twice that radius.
    Path(Path),
    /// Whole rows on the way of a descent, in the ball of its radius.
    Descent(Descent),
}

/// A question, plain data.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "ask", rename_all = "kebab-case")]
pub(crate) enum Question {
    /// The triangle of aaᵀ.
    Covariance {
        /// a.
        residuals: Residuals,
        /// How many items there are.
        items: usize,
    },
    /// a⟨a, v⟩.
    Power {
        /// a.
        residuals: Residuals,
        /// v, of length 1.
        vector: Vec<f64>,
    },
    /// ⟨a, v⟩².
    Energy {
        /// a.
        residuals: Residuals,
        /// v, of length 1.
        vector: Vec<f64>,
    },
}

impl Residuals {
    /// R.
    pub(super) fn radius(&self) -> f64 {
        match self {
            Self::Rows { clip } => *clip,
            Self::Path(path) => 2.0 * path.clip,
            Self::Descent(descent) => descent.clip,
        }
    }

    /// On which items, ascending, and a.
    fn of(&self, user: &LocalState) -> (Vec<u32>, Vec<f64>) {
        let (items, mut found) = match self {
            Self::Rows { clip } => (user.items().to_vec(), centred(user, *clip, &[]).1),
            Self::Path(path) => (user.items().to_vec(), path.follow(user).residuals()),
            Self::Descent(descent) => {
                let row = descent.follow(user, true).1;
                ((0..row.len() as u32).collect(), row)
            }
        };
        // They are inside already, but for rounding.
        let factor = into_ball(&found, self.radius());
        found.iter_mut().for_each(|entry| *entry *= factor);
        (items, found)
    }

    /// What entries of a count in: a power of two between R/2²⁰ and R/2¹⁹.
    pub(super) fn unit(&self) -> f64 {
        (self.radius().log2().floor() - 19.0).exp2()
    }
}

impl local::Question for Question {
    fn coordinates(&self) -> usize {
        match self {
            Self::Covariance { items, .. } => items * (items + 1) / 2,
            Self::Power { vector, .. } => vector.len(),
            Self::Energy { .. } => 1,
        }
    }

    fn unit(&self) -> f64 {
        match self {
            // Halves of squares of units: entries off the diagonal count 3/2.
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
