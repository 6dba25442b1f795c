//! A private description of a table: counts, means, spreads, quantiles, histograms and correlations, in one
//! release.
//!
//! **Theorem.** A record adds to the vector of sums ([`Described`]) in *parts* ([`privet_optim::sum::Part`]): 1
//! to one cell of several, or to none; a number in [0, 1]; a number in [−1, 1]. A unit has at most k records.
//! Between neighbours the sums move
//!
//! | part | add or remove, ℓ1 and ℓ2 | replace one, ℓ1 | replace one, ℓ2 |
//! |---|---|---|---|
//! | one of several cells | k | 2k | √2·k |
//! | in [0, 1] | k | k | k |
//! | in [−1, 1] | k | 2k | 2k |
//!
//! and all parts together in ℓ1 by their sum, in ℓ2 by the root of the sum of their squares.
//! - **Gaussian** (δ > 0): one discrete Gaussian vector on a fine grid ([`privet_dp::mechanism::Gaussian`])
//!   at Δ₂;
//! - **Laplace** (δ = 0): one discrete Laplace vector on multiples of 2⁻²⁰
//!   ([`privet_dp::mechanism::Laplace`]) at Δ₁ and the rounding to that grid.
//!
//! *Proof.* Cells: the unit's counts c ≥ 0 have ‖c‖₁ ≤ k, so ‖c‖₂ ≤ k, and ‖c′ − c‖₂² ≤ ‖c‖² + ‖c′‖² ≤ 2k²
//! since no entry is negative; ‖c′ − c‖₁ ≤ 2k. A sum of at most k numbers of [0, 1] lies in [0, k], and so
//! two of them are at most k apart; of [−1, 1] likewise 2k. Parts stand in different coordinates, so their
//! squares add. The parts hold for whatever stands in the rows: numbers are clamped and truncated inside the
//! sum, which is exact. ∎ Tested by `tests/all/describe.rs` on random and extreme neighbours.
//!
//! **Split of the budget.** All sums get the same noise. Under add-remove that is the split with the least
//! sum of variances, since every part costs the same there. What is not asked for costs nothing: leave out
//! columns or correlations and the rest gets less noise.
//!
//! **Everything shown is made of those sums and the schema alone** ([`Summary`]): means, spreads and
//! correlations are ratios of them; quantiles are read off the histogram's cumulative sums, made consistent
//! (no cell below 0). Quantiles by the exponential mechanism would be closer for one quantile of one column,
//! but each would cost its own part of the budget; those of a histogram that is released anyway cost nothing.
//!
//! **Conditions.** Bounds, categories and bins come from the schema and the request, never from the records.
//! The number of rows is public under replace-one neighbours with records as units, where no record can be
//! left out as unreadable; otherwise it is one of the sums.

mod estimate;
mod histogram;
mod layout;
mod summary;

pub use layout::{Field, Holds, Layout};
pub use summary::{
    Bin, CellCount, ColumnSummary, Correlation, Estimate, Kind, QUANTILES, Quantile, Summary,
};

use super::count::Law;
use crate::allowance::Allowance;
use crate::answers::{Answers, Here, Questions, SumNoise};
use crate::plan::no_budget;
use crate::request::{Calibration, Request};
use crate::settings::Shown;
use crate::support::Support;
use crate::task::{Artefact, Planned, Procedure, Task, Work};
use crate::{LearnError, admit};
use privet_core::{Budget, Neighbours, Range};
use privet_data::Schema;
use privet_dp::account::{Event, gaussian};
use privet_dp::gate::{Arithmetic, GateError, Noised, Session};
use privet_dp::mechanism::{Gaussian, Laplace};
use privet_optim::solver::Monitor;
use privet_optim::sum::{Described, Exact, Table};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// A description of a table's columns.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Describe {
    /// Which columns, the target among them if it is named; all that can be, unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub columns: Option<Vec<String>>,
    /// Bins of each number's histogram, evenly over its bounds; 32 unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bins: Option<u32>,
    /// Whether numbers are correlated with each other; unless given, if there are from 2 to 24 of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub correlations: Option<bool>,
}

/// Limits on the bins of a histogram.
pub const BINS: Range = Range::from("bins", 2.0, 1025.0);
/// Bins unless given: a quantile is known to about 3 % of the bounds, and at most as many noises add up in
/// it.
const USUAL_BINS: u32 = 32;
/// Up to so many numbers are correlated unless told: the noise grows like their number.
const CORRELATED: usize = 24;
/// Up to so many sums are released at once.
const LARGEST: usize = 1 << 20;
/// Laplace noise is on multiples of this.
const STEP: f64 = 1.0 / 1_048_576.0;

/// Noised sums of a table's columns; [`Summary::of`] says what they mean.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Description {
    /// In the order of [`Layout`].
    pub sums: Vec<f64>,
}

impl Artefact for Description {
    const KIND: &'static str = "description";

    fn numbers(&self) -> Vec<f64> {
        self.sums.clone()
    }
}

impl Describe {
    /// Of a table with this schema, of which it needs a part; δ is 1/rows² unless given.
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
        Ok(Request::new(part, rows, neighbours, task).within(budget))
    }
}

impl Task for Describe {
    const NAME: &'static str = "describe";
    type Facts = Layout;
    type Artefact = Description;

    fn facts(request: &Request<Self>) -> Result<Layout, LearnError> {
        Layout::of(request)
    }

    fn plan(request: &Request<Self>, layout: &Layout) -> Result<Planned<Self>, LearnError> {
        let budget = request.budget.ok_or_else(|| no_budget(request))?;
        if request.calibration == Calibration::Printed {
            return Err(LearnError::NotCovered {
                what: "no paper prints constants for descriptions".into(),
                instead: "leave out the calibration, or give sound",
            });
        }
        let law = if budget.is_pure() { Law::Laplace } else { Law::Gaussian };
        let describing = |noise_scale| Describing { layout: layout.clone(), law, noise_scale };
        // Rounding to the grid is charged as well.
        let absolute = layout.absolute_shift() + STEP * layout.question.length() as f64;
        let floor = match law {
            Law::Laplace => absolute / budget.epsilon(),
            Law::Gaussian => layout.shift() / gaussian::mu(budget.epsilon(), budget.delta()),
        };
        let allowance = Allowance::new(budget, &request.noise);
        let noise_scale = allowance.least(floor, |scale| describing(scale).events())?;
        let settled = Self {
            columns: Some(layout.names()),
            bins: Some(layout.bins),
            correlations: Some(layout.question.products),
        };
        Ok(Planned {
            work: Work::Private(Arc::new(describing(noise_scale))),
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
        let fits = found.sums.len() == layout.question.length()
            && found.sums.iter().all(|sum| sum.is_finite());
        if fits { Ok(()) } else { Err("its sums do not fit its schema".into()) }
    }

    fn noised(&self) -> &'static str {
        "all sums that it is made of"
    }

    fn summary(&self) -> String {
        match &self.columns {
            Some(columns) => format!("description of {} columns", columns.len()),
            None => "description".into(),
        }
    }
}

/// All sums under noise.
#[derive(Debug, Clone)]
struct Describing {
    layout: Layout,
    law: Law,
    noise_scale: f64,
}

impl Describing {
    fn laplace(&self) -> Laplace {
        Laplace {
            neighbours: self.layout.relation.neighbours,
            unit: self.layout.relation.unit,
            sensitivity: self.layout.absolute_shift(),
            noise_scale: self.noise_scale,
            step: STEP,
            on_grid: false,
            coordinates: self.layout.question.length(),
        }
    }

    fn gaussian(&self) -> Gaussian {
        Gaussian {
            neighbours: self.layout.relation.neighbours,
            unit: self.layout.relation.unit,
            sensitivity: self.layout.shift(),
            noise_scale: self.noise_scale,
            coordinates: self.layout.question.length(),
        }
    }

    fn events(&self) -> Result<Event, GateError> {
        match self.law {
            Law::Laplace => Ok(self.laplace().event()),
            Law::Gaussian => self.gaussian().event(),
        }
    }
}

impl Procedure<Describe> for Describing {
    fn event(&self) -> Result<Event, LearnError> {
        Ok(self.events()?)
    }

    fn settings(&self) -> Shown {
        let deviation = estimate::Noise { law: self.law, scale: self.noise_scale }.deviation();
        Shown::of([
            ("sum_noise", deviation),
            ("sums", self.layout.question.length() as f64),
            ("columns", self.layout.columns.len() as f64),
            ("bins", f64::from(self.layout.bins)),
        ])
    }

    fn refuses(&self, found: &Description) -> Option<&'static str> {
        let support = match self.law {
            Law::Laplace => Support::Grid(STEP),
            Law::Gaussian => Support::gaussian(self.noise_scale),
        };
        let off = support.refuses(std::slice::from_ref(&found.sums)).is_some();
        off.then_some("a sum is off the grid of the noise")
    }

    fn run(
        &self,
        layout: &Layout,
        table: &dyn Table,
        session: &mut Session<'_>,
        _monitor: &dyn Monitor,
    ) -> Result<Noised<Description>, LearnError> {
        let here = Here(vec![admit::records(table, &layout.labels)?]);
        let question = Exact::Described(layout.question.clone());
        let questions = Questions::of(vec![question], Described::UNIT);
        let noise = match self.law {
            Law::Laplace => SumNoise::Laplace(self.laplace()),
            Law::Gaussian => SumNoise::Gaussian(self.gaussian()),
        };
        Ok(here.answer(&questions, &noise, session)?.map(|sums| Description { sums }))
    }
}
