//! Many sums under one noise: the common part of descriptions and evaluations.
//!
//! **Theorem.** A record adds to the vector of sums ([`Described`]) in *parts* ([`Part`]): 1 to one cell
//! of several, or to none; a number in [0, 1]; a number in [−1, 1]. A unit has at most k records.
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
//! *Proof.* Cells: the unit's counts c ≥ 0 have ‖c‖₁ ≤ k, so ‖c‖₂ ≤ k, and
//! ‖c′ − c‖₂² ≤ ‖c‖² + ‖c′‖² ≤ 2k² since no entry is negative; ‖c′ − c‖₁ ≤ 2k. A sum of at most k
//! numbers of [0, 1] lies in [0, k], and so two of them are at most k apart; of [−1, 1] likewise 2k.
//! Parts occupy different coordinates, so their squares add. The bounds hold for any rows: numbers are
//! clamped and truncated inside the sum, which is exact. ∎ Tested by `tests/all/describe.rs` and
//! `tests/all/evaluate.rs` on random and extreme neighbours.

use super::count::Law;
use super::describe::estimate::Noise;
use crate::release::admit;
use crate::release::allowance::Allowance;
use crate::release::answers::{Answers, LocalRecords, Queries, SumNoise};
use crate::release::plan::no_budget;
use crate::release::request::Calibration;
use crate::release::support::Support;
use crate::release::task::Task;
use crate::{LearnError, Request};
use privet_core::{Neighbours, Relation};
use privet_dp::account::{Event, gaussian};
use privet_dp::gate::{GateError, Noisy, Session};
use privet_dp::mechanism::{Gaussian, Laplace};
use privet_optim::sum::{Described, Exact, Labels, Part, Table};

/// The grid of Laplace noise: multiples of 2⁻²⁰.
const STEP: f64 = 1.0 / 1_048_576.0;

/// The ℓ1 sensitivity Δ₁ by the theorem.
pub(super) fn absolute_shift(query: &Described, relation: Relation) -> f64 {
    let each = |part: &Part| match (part, relation.neighbours) {
        (_, Neighbours::AddRemove) | (Part::Share, _) => 1.0,
        (Part::OneOf(_) | Part::Signed, _) => 2.0,
    };
    let parts: f64 = query.parts().iter().map(each).sum();
    f64::from(relation.unit.records()) * parts
}

/// The ℓ2 sensitivity Δ₂ by the theorem.
pub(super) fn shift(query: &Described, relation: Relation) -> f64 {
    let squares = |part: &Part| match (part, relation.neighbours) {
        (_, Neighbours::AddRemove) | (Part::Share, _) => 1.0,
        (Part::OneOf(_), _) => 2.0,
        (Part::Signed, _) => 4.0,
    };
    let squares: f64 = query.parts().iter().map(squares).sum();
    // The sum is an integer; the factor covers the rounding of root and product.
    f64::from(relation.unit.records()) * squares.sqrt() * (1.0 + 4.0 * f64::EPSILON)
}

/// The mechanism that releases all sums with noise.
#[derive(Debug, Clone)]
pub(super) struct NoisySums {
    query: Described,
    labels: Labels,
    relation: Relation,
    law: Law,
    noise_scale: f64,
}

impl NoisySums {
    /// Plans the least noise that the budget of a request allows. `what` names the sums' purpose in
    /// errors.
    pub fn plan_sums<T: Task>(
        request: &Request<T>,
        query: &Described,
        labels: &Labels,
        what: &str,
    ) -> Result<Self, LearnError> {
        let budget = request.budget.ok_or_else(|| no_budget(request))?;
        if request.calibration == Calibration::Printed {
            return Err(LearnError::NotCovered {
                what: format!("no paper prints constants for {what}"),
                instead: "leave out the calibration, or give sound",
            });
        }
        let (law, relation) = (law(budget.is_pure()), request.relation());
        let summing = |noise_scale| Self {
            query: query.clone(),
            labels: labels.clone(),
            relation,
            law,
            noise_scale,
        };
        // The rounding to the grid is charged as well.
        let absolute = absolute_shift(query, relation) + STEP * query.length() as f64;
        let floor = match law {
            Law::Laplace => absolute / budget.epsilon(),
            Law::Gaussian => {
                shift(query, relation) / gaussian::mu(budget.epsilon(), budget.delta())
            }
        };
        let allowance = Allowance::new(budget, &request.noise);
        Ok(summing(allowance.least_scale(floor, |scale| summing(scale).events())?))
    }

    fn laplace(&self) -> Laplace {
        Laplace {
            neighbours: self.relation.neighbours,
            unit: self.relation.unit,
            sensitivity: absolute_shift(&self.query, self.relation),
            noise_scale: self.noise_scale,
            step: STEP,
            on_grid: false,
            coordinates: self.query.length(),
        }
    }

    fn gaussian(&self) -> Gaussian {
        Gaussian {
            neighbours: self.relation.neighbours,
            unit: self.relation.unit,
            sensitivity: shift(&self.query, self.relation),
            noise_scale: self.noise_scale,
            coordinates: self.query.length(),
        }
    }

    /// The event charged.
    pub fn events(&self) -> Result<Event, GateError> {
        match self.law {
            Law::Laplace => Ok(self.laplace().event()),
            Law::Gaussian => self.gaussian().event(),
        }
    }

    /// The standard deviation of the noise on a sum.
    pub fn deviation(&self) -> f64 {
        Noise { law: self.law, scale: self.noise_scale }.deviation()
    }

    /// The number of sums.
    pub fn sums(&self) -> usize {
        self.query.length()
    }

    /// True if a sum is not on the grid of this noise.
    pub fn off_grid(&self, sums: &[f64]) -> bool {
        let support = match self.law {
            Law::Laplace => Support::Grid(STEP),
            Law::Gaussian => Support::gaussian(self.noise_scale),
        };
        support.refuses(&[sums.to_vec()]).is_some()
    }

    /// The noisy sums of a table.
    pub fn of(
        &self,
        table: &dyn Table,
        session: &mut Session<'_>,
    ) -> Result<Noisy<Vec<f64>>, LearnError> {
        let here = LocalRecords(vec![admit::records(table, &self.labels)?]);
        let query = Exact::Described(self.query.clone());
        let questions = Queries::of(vec![query], Described::UNIT);
        let noise = match self.law {
            Law::Laplace => SumNoise::Laplace(self.laplace()),
            Law::Gaussian => SumNoise::Gaussian(self.gaussian()),
        };
        here.answer(&questions, &noise, session)
    }
}

/// Gaussian if δ > 0, else Laplace.
fn law(pure: bool) -> Law {
    if pure { Law::Laplace } else { Law::Gaussian }
}

/// The noise on every sum of a settled request.
pub(super) fn noise_of<T>(request: &Request<T>) -> Option<Noise> {
    Some(Noise { law: law(request.budget?.is_pure()), scale: *request.noise.first()? })
}
