//! A private description of a table: counts, means, spreads, quantiles, histograms and correlations, in one
//! release.
//!
//! The sums, their sensitivity and their noise: `sums`. Tested by `tests/all/describe.rs` on random and
//! extreme neighbours.
//!
//! **Split of the budget.** All sums get the same noise. Under add-remove that is the split with the
//! least sum of variances, since every part costs the same there. Columns or correlations left out cost
//! nothing, and the rest gets less noise.
//!
//! **Everything shown is post-processing of those sums and the schema** ([`Summary`]): means, spreads
//! and correlations are ratios of them; quantiles are read off the histogram's cumulative sums, made
//! consistent (no cell below 0). Quantiles by the exponential mechanism would be closer for one quantile
//! of one column, but each would cost its own part of the budget; those of a histogram that is released
//! anyway cost nothing.
//!
//! **Conditions.** Bounds, categories and bins come from the schema and the request, never from the
//! records. The number of rows is public under replace-one neighbours with records as units, if no
//! record can be left out as unreadable; otherwise it is one of the sums.

pub(super) mod estimate;
pub(super) mod histogram;
mod layout;
mod narrowed;
mod report;
mod summary;

pub use layout::{ColumnContent, Field, Layout};
pub use narrowed::narrow_bounds;
pub use summary::{
    Bin, CellCount, ColumnSummary, Correlation, Estimate, Kind, QUANTILES, Quantile, Summary,
};

use super::sums::NoisySums;
use crate::release::admit;
use crate::release::settings::PlanNumbers;
use crate::release::task::{Artefact, FamilyPlan, Procedure, Task, Work};
use crate::{LearnError, Request};
use privet_core::{Budget, Neighbours, Range};
use privet_data::Schema;
use privet_dp::account::Event;
use privet_dp::gate::{Arithmetic, Noisy, Session};
use privet_optim::solver::Monitor;
use privet_optim::sum::Table;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// A description of a table's columns.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Describe {
    /// The columns to describe, the target among them if it is named; all that can be described unless
    /// given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub columns: Option<Vec<String>>,
    /// Bins of each number's histogram, evenly over its bounds; 32 unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bins: Option<u32>,
    /// True to correlate numbers with each other; unless given, true if there are from 2 to 24 of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub correlations: Option<bool>,
}

/// Limits on the bins of a histogram.
pub const BINS: Range = Range::from("bins", 2.0, 1025.0);
/// Default number of bins: a quantile is known to about 3 % of the bounds, and at most as many noises
/// add up in it.
const USUAL_BINS: u32 = 32;
/// Largest number of numeric columns that are correlated by default: the noise grows like their number.
const CORRELATED: usize = 24;
/// Upper bound on the number of sums released at once.
const MOST_SUMS: usize = 1 << 20;

/// Noisy sums of a table's columns; [`Summary::of`] interprets them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Description {
    /// The sums, in the order of [`Layout`].
    pub sums: Vec<f64>,
}

impl Artefact for Description {
    const KIND: &'static str = "description";

    fn numbers(&self) -> Vec<f64> {
        self.sums.clone()
    }
}

impl Describe {
    /// A request for a description of a table; takes the part of its schema that is described. δ is
    /// 1/rows² unless given.
    pub fn request(
        self,
        schema: &Schema,
        rows: u64,
        neighbours: Neighbours,
        (epsilon, delta): (f64, Option<f64>),
    ) -> Result<Request<Self>, LearnError> {
        let columns = self.columns.clone().unwrap_or_else(|| schema.describable());
        let part = schema.describing(&columns);
        let part = part.map_err(|error| LearnError::Schema(error.to_string()))?;
        let budget = Budget::new(epsilon, delta.unwrap_or_else(|| Budget::usual_delta(rows)))?;
        let task = Self { columns: Some(columns), ..self };
        Ok(Request::new(part, rows, neighbours, task).with_budget(budget))
    }
}

impl Task for Describe {
    const NAME: &'static str = "describe";
    type Facts = Layout;
    type Artefact = Description;

    fn facts(request: &Request<Self>) -> Result<Layout, LearnError> {
        Layout::of(request)
    }

    fn plan(request: &Request<Self>, layout: &Layout) -> Result<FamilyPlan<Self>, LearnError> {
        let sums = NoisySums::plan_sums(request, &layout.query, &layout.labels, "descriptions")?;
        let describing = Describing { layout: layout.clone(), sums };
        let settled = Self {
            columns: Some(layout.names()),
            bins: Some(layout.bins),
            correlations: Some(layout.query.products),
        };
        Ok(FamilyPlan {
            work: Work::Private(Arc::new(describing)),
            settled,
            arithmetic: Arithmetic::Finite,
            notes: Vec::new(),
        })
    }

    fn admit(layout: &Layout, table: &dyn Table) -> Result<(), LearnError> {
        let columns = layout.encoded_columns;
        admit::shape(layout.relation, layout.rows, columns, table, |_| Ok(()))
    }

    fn fits(request: &Request<Self>, found: &Description) -> Result<(), String> {
        let layout = Self::facts(request).map_err(|error| error.to_string())?;
        let fits = found.sums.len() == layout.query.length()
            && found.sums.iter().all(|sum| sum.is_finite());
        if fits { Ok(()) } else { Err("its sums do not fit its schema".into()) }
    }

    fn noise_on(&self) -> &'static str {
        "all sums that it is made of"
    }

    fn summary(&self) -> String {
        match &self.columns {
            Some(columns) => format!("description of {} columns", columns.len()),
            None => "description".into(),
        }
    }
}

/// The mechanism that releases all sums with noise.
#[derive(Debug, Clone)]
struct Describing {
    layout: Layout,
    sums: NoisySums,
}

impl Procedure<Describe> for Describing {
    fn event(&self) -> Result<Event, LearnError> {
        Ok(self.sums.events()?)
    }

    fn settings(&self) -> PlanNumbers {
        PlanNumbers::of([
            ("sum_noise", self.sums.deviation()),
            ("sums", self.sums.sums() as f64),
            ("columns", self.layout.columns.len() as f64),
            ("bins", f64::from(self.layout.bins)),
        ])
    }

    fn refuses(&self, found: &Description) -> Option<&'static str> {
        self.sums.off_grid(&found.sums).then_some("a sum is off the grid of the noise")
    }

    fn run(
        &self,
        _layout: &Layout,
        table: &dyn Table,
        session: &mut Session<'_>,
        _monitor: &dyn Monitor,
    ) -> Result<Noisy<Description>, LearnError> {
        Ok(self.sums.of(table, session)?.map(|sums| Description { sums }))
    }
}
