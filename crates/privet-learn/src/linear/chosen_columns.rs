//! A table of a few chosen columns, its rows clipped anew, for a second stage.
//!
//! **Claim.** Row i of it is a function of record i and of the choice alone, of norm at most R′; so a
//! second stage with the facts of [`NarrowTable::fewer`] has the sensitivities that its own theorem states,
//! for any choice of columns, and may depend on the choice at no further cost.
//!
//! *Proof.* Leaving out entries and [`Clip`] are functions of one row at a time; `Clip` proves its bound
//! in integers. ∎
//!
//! Clipping anew makes a second stage pay: k of p columns of a row of norm R have about R√(k/p), and
//! noise grows with the bound on the norm, not with the norm.

use crate::LearnError;
use crate::linear::facts::Facts;
use privet_core::Range;
use privet_data::Dataset;
use privet_data::bound::Clip;
use privet_data::matrix::Matrix;
use privet_data::schema::{ClipFacts, Norm, RADIUS, Rows};

/// Limits on the radius R′.
pub const FIT_RADIUS: Range = Range::from("fit_radius", 1e-6, 1e6);

/// Bound on the norm of a row of the chosen columns, as a multiple of the usual one.
const NORM_MARGIN: f64 = 1.5;

/// The facts and the clip of a table of a fixed number of columns, for any choice.
#[derive(Debug, Clone)]
pub(super) struct NarrowTable {
    /// The facts of the second stage.
    pub fewer: Facts,
    clip: Clip,
}

impl NarrowTable {
    /// For `count` columns and the constant one.
    pub fn new(facts: &Facts, count: usize, radius: Option<f64>) -> Result<Self, LearnError> {
        let bias = usize::from(facts.bias);
        // The constant column may be twice as large as others.
        let usual = NORM_MARGIN * facts.entry_scale * ((count + 4 * bias) as f64).sqrt();
        let radius =
            FIT_RADIUS.check(radius.unwrap_or(usual.min(facts.radius).clamp(1e-6, 1e6)))?;
        RADIUS.check(radius)?;
        let clip = Clip::new(ClipFacts { norm: Norm::L2, radius, rows: Rows::Clip });
        let fewer = Facts {
            columns: count + bias,
            radius,
            entry_bound: facts.entry_bound.min(radius),
            entry_scale: facts.entry_scale.min(radius),
            groups: vec![1; count + bias],
            ..facts.clone()
        };
        Ok(Self { fewer, clip })
    }

    /// The radius R′.
    pub fn radius(&self) -> f64 {
        self.clip.radius()
    }

    /// The table of these columns, ascending, the constant one last if there is one.
    pub fn table(&self, data: &Dataset, columns: &[usize]) -> Dataset {
        let part = data.features.only(columns);
        let rows = part.rows();
        let values: Vec<f64> =
            (0..rows).flat_map(|row| part.dense_row(row)).map(f64::from).collect();
        let features = Matrix::Dense(self.clip.dense(&values, rows, columns.len()));
        Dataset { features, ..data.clone() }
    }
}

/// Chosen columns filled up to `count` by the first others, ascending; then the constant one.
pub(super) fn fill_columns(
    chosen: impl Fn(usize) -> bool,
    open: usize,
    count: usize,
    bias: bool,
) -> Vec<usize> {
    let mut columns: Vec<usize> = (0..open).filter(|column| chosen(*column)).take(count).collect();
    let others = (0..open).filter(|column| !chosen(*column));
    columns.extend(others.take(count.saturating_sub(columns.len())));
    columns.sort_unstable();
    columns.extend(bias.then_some(open));
    columns
}

/// Extends weights of some columns to all of them, with zeros.
pub(super) fn spread(rows: Vec<Vec<f64>>, columns: &[usize], width: usize) -> Vec<Vec<f64>> {
    let one = |row: Vec<f64>| {
        let mut all = vec![0.0; width];
        columns.iter().zip(row).for_each(|(column, weight)| all[*column] = weight);
        all
    };
    rows.into_iter().map(one).collect()
}
