//! Sample and aggregate: a model for each of m blocks of records, their mean under noise.
//!
//! **Theorem.** Let f be any map from tables to ℝᵈ, clipped to a ball of radius B or to a box of half
//! width c. Every unit draws one of m blocks independently. Between neighbours, under either relation
//! and for any number of records per unit, the mean of the m values of f moves by at most
//!
//! - **2B/m** in the Euclidean norm (ball),
//! - **2cd/m** in ℓ1 (box).
//!
//! *Proof.* Let common units, and a unit with the one that replaces it, draw the same block
//! ([`privet_dp::mechanism::independent_blocks`] says why that may be assumed). Then one block's table
//! differs, and its clipped value is anywhere in the ball or box, of diameter 2B and ℓ1 diameter 2cd. ∎
//! An empty block, or one whose solver gives up, counts as 0: the theorem assumes nothing of f, not even
//! that it finds a minimum.
//!
//! *In finite arithmetic.* The mean of m numbers of size at most B errs by at most (m + 1)·2⁻⁵³·B a
//! coordinate, the clipping by a relative (d + 4)·2⁻⁵³; both are charged. δ > 0 takes the ball and
//! Gaussian noise, δ = 0 the box and Laplace noise on a grid.
//!
//! **Choices**, from public facts alone. Relative to B, noise moves the mean by about √d·2/(mμ), and the
//! bias of a fit to n/m records is about pm/(4n), the 4 a round number (chosen with Adult and California
//! in view): balanced at **m = √(8nK/(μ√d))**, between 1 and n/2, d = Kp for K problems. B = 4√K/R.
//! Sampling error averages out over the blocks and bias does not, so that a block is regularised no more
//! than its share of all records would be: **λ = LR√n·√K/(B·m)**, the scale of the whole gradient's
//! sampling error over the norm that may be reached, divided by m.
//!
//! - d: all problems' weights together, one vector and one event
//! - m `blocks`, B `bound` (of all problems together; box: c = B/√d)
//! - Departs from print (Thakurta 2013, §3.2.1, after Smith 2011): there blocks of equal size by a
//!   random partition, which is not defined for add/remove; the range ζ = 2c is left to a "widened
//!   winsorised mean" that is not specified. Noise Lap(ζp/(mε)) is the same as here for δ = 0.
//! - Tested by `tests/all/sample_aggregate.rs`.

use super::Decision;
use super::{calibrated, predicted};
use crate::LearnError;
use crate::linear::facts::Facts;
use crate::linear::learners::{LearnerFacts, Method, RIDGE_SETTING, Scores};
use crate::linear::model::LinearWeights;
use crate::linear::problems;
use crate::release::admit;
use crate::release::allowance::Allowance;
use crate::release::covers::{Coverage, MethodCoverage, TableAccess};
use crate::release::registry::Info;
use crate::release::request::{Calibration, RIDGE};
use crate::release::settings::PlanNumbers;
use crate::release::settings::settings;
use crate::release::support::Support;
use crate::release::task::Procedure;
use privet_core::Range;
use privet_data::Dataset;
use privet_dp::account::{self, Event};
use privet_dp::gate::{Arithmetic, Noisy, Private, Session};
use privet_dp::mechanism::{Gaussian, Laplace, independent_blocks};
use privet_optim::solver::{Monitor, Problem, SolveError, SolverOptions as Solver, minimise};
use privet_optim::sum::{InMemory, Table};
use std::sync::Arc;

/// The registry entry.
pub const INFO: Info<LearnerFacts> = Info {
    name: "sample-aggregate",
    summary: "fits a model to each of many blocks of records and releases the mean under noise",
    source: "Nissim, Raskhodnikova & Smith 2007; Smith 2011; Thakurta 2013, §3.2.1",
    guarantee: "(ε, δ) and pure ε in finite arithmetic, whatever the solver does",
    settings: SampleAggregate::SETTINGS,
    noisy: "the mean of the blocks' weights",
    private: true,
    covers: MethodCoverage {
        printed: Coverage::unprinted("has neither its number of blocks nor its range in print"),
        needs: TableAccess::Memory,
        ..MethodCoverage::ALL
    },
    more: LearnerFacts { scores: Scores::Separate, any_storage: false },
};

/// Limits on the number of blocks.
pub const BLOCKS: Range = Range::from("blocks", 1.0, 1_000_001.0);
/// Limits on the norm of a block's model: the sum over all blocks must not overflow, since that would be
/// visible.
pub const BOUND: Range = Range::open("bound", 0.0, 1e100);

/// The product B·R of the rule, for one problem.
const EXPECTED_NORM: f64 = 4.0;
/// The precision of a block's minimum, relative to its norm.
const PRECISION: f64 = 1e-6;

settings! {
    /// Settings of `sample-aggregate`.
    #[derive(Copy)]
    pub struct SampleAggregate {
        blocks: u32 [BLOCKS] "blocks of records; chosen from public facts unless given";
        bound: f64 [BOUND]
            "length that a block's model is clipped to; 4√problems / clipping radius unless given";
        /// The ridge λ of a block's sum form.
        ridge: f64 = RIDGE_SETTING.meaning( "strength of λ/2·‖θ‖² beside the sum of losses of one block; chosen from public facts unless given", );
    }
}

/// The set to which a block's model is clipped.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Clip {
    /// The ball ‖θ‖₂ ≤ radius.
    Ball(f64),
    /// The box |θⱼ| ≤ half width for every j.
    Box(f64),
}

impl Clip {
    /// The nearest point of the ball (along the ray) or box; 0 if any entry is not finite.
    pub fn apply(self, theta: &mut [f64]) {
        if !theta.iter().all(|t| t.is_finite()) {
            theta.fill(0.0);
            return;
        }
        match self {
            Self::Box(half) => theta.iter_mut().for_each(|t| *t = t.clamp(-half, half)),
            Self::Ball(radius) => {
                // Scaled first, so that no square overflows.
                let largest = theta.iter().fold(0.0, |a: f64, t| a.max(t.abs()));
                if largest == 0.0 {
                    return;
                }
                let norm = theta.iter().map(|t| (t / largest).powi(2)).sum::<f64>().sqrt();
                if largest * norm > radius {
                    theta.iter_mut().for_each(|t| *t = *t / largest * (radius / norm));
                }
            }
        }
    }

    /// The sensitivity of the theorem for d coordinates and m blocks: Euclidean for the ball, ℓ1 for
    /// the box. Roundings included.
    pub fn sensitivity(self, coordinates: usize, blocks: u32) -> f64 {
        let (d, m) = (coordinates as f64, f64::from(blocks));
        let (diameter, rounding) = match self {
            Self::Ball(radius) => (2.0 * radius, 2.0 * radius * d.sqrt()),
            Self::Box(half) => (2.0 * half * d, 2.0 * half * d),
        };
        let clipping = 1.0 + (d + 32.0) * f64::EPSILON;
        (diameter / m + rounding * (m + 4.0) * f64::EPSILON) * clipping
    }
}

/// Decides everything from public facts.
pub(crate) fn plan(
    facts: &Facts,
    budget: &Allowance<'_>,
    _calibration: Calibration,
    options: &SampleAggregate,
) -> Result<Decision, LearnError> {
    let (problems, rows) = (f64::from(facts.problems), facts.rows as f64);
    let coordinates = facts.columns * facts.problems as usize;
    let (d, pure) = (coordinates as f64, budget.is_pure());
    let bound =
        BOUND.check(options.bound.unwrap_or(EXPECTED_NORM * problems.sqrt() / facts.radius))?;
    // The noise's norm per sensitivity, over √d.
    let per_sensitivity = if pure {
        (2.0 * d).sqrt() / budget.epsilon()
    } else {
        1.0 / account::gaussian::mu(budget.epsilon(), budget.delta())
    };
    let balanced = (8.0 * rows * per_sensitivity * problems / d.sqrt()).sqrt();
    let most = (rows / 2.0).clamp(1.0, 1e6);
    let blocks = options.blocks.unwrap_or(balanced.round().clamp(1.0, most) as u32);
    BLOCKS.check(f64::from(blocks))?;
    let whole = facts.gradient_bound() * rows.sqrt() * problems.sqrt() / bound;
    let default = whole / f64::from(blocks);
    let ridge = RIDGE.check(options.ridge.unwrap_or(default))?;
    let clip = if pure { Clip::Box(bound / d.sqrt()) } else { Clip::Ball(bound) };
    let aggregate = Aggregate {
        facts: facts.clone(),
        blocks,
        bound,
        clip,
        ridge,
        tolerance: PRECISION * ridge * bound,
        noise_scale: 0.0,
    };
    let sensitivity = clip.sensitivity(coordinates, blocks);
    let floor = if pure {
        sensitivity / budget.epsilon()
    } else {
        sensitivity / account::gaussian::mu(budget.epsilon(), budget.delta())
    };
    // All problems are in one vector, so that nothing is repeated.
    let single = Facts { problems: 1, ..facts.clone() };
    let noise_scale = calibrated(&single, budget, floor, |noise_scale| {
        Aggregate { noise_scale, ..aggregate.clone() }.law().event()
    })?;
    Ok(Decision {
        procedure: Arc::new(Aggregate { noise_scale, ..aggregate }),
        settled: Method::SampleAggregate(SampleAggregate {
            blocks: Some(blocks),
            bound: Some(bound),
            ridge: Some(ridge),
        }),
        arithmetic: Arithmetic::Finite,
        notes: vec![],
    })
}

/// The procedure: fits, clips, averages.
#[derive(Debug, Clone)]
struct Aggregate {
    facts: Facts,
    blocks: u32,
    bound: f64,
    clip: Clip,
    ridge: f64,
    tolerance: f64,
    noise_scale: f64,
}

/// The mechanism on the mean.
enum Law {
    Gaussian(Gaussian),
    Laplace(Laplace),
}

impl Law {
    fn event(&self) -> Result<Event, privet_dp::gate::GateError> {
        match self {
            Self::Gaussian(gaussian) => gaussian.event(),
            Self::Laplace(laplace) => Ok(laplace.event()),
        }
    }
}

impl Aggregate {
    fn law(&self) -> Law {
        let (neighbours, unit, noise_scale) =
            (self.facts.neighbours, self.facts.unit, self.noise_scale);
        let coordinates = self.facts.columns * self.facts.problems as usize;
        let sensitivity = self.clip.sensitivity(coordinates, self.blocks);
        match self.clip {
            Clip::Ball(_) => {
                Law::Gaussian(Gaussian { neighbours, unit, sensitivity, noise_scale, coordinates })
            }
            Clip::Box(_) => {
                let step = 2_f64.powi(noise_scale.log2().floor() as i32 - 40);
                let on_grid = false;
                Law::Laplace(Laplace {
                    neighbours,
                    unit,
                    sensitivity,
                    noise_scale,
                    step,
                    on_grid,
                    coordinates,
                })
            }
        }
    }

    /// A block's clipped model, all problems in one vector; `None` if the user stopped the run.
    fn fit(&self, block: &Dataset, monitor: &dyn Monitor) -> Option<Vec<f64>> {
        let columns = self.facts.columns;
        let mut all = Vec::with_capacity(columns * self.facts.problems as usize);
        for problem in 0..self.facts.problems {
            match self.minimum(block, problem, monitor) {
                Ok(theta) if theta.len() == columns => all.extend(theta),
                Err(SolveError::Stopped) => return None,
                // A failure depends on the records, so it is not disclosed.
                _ => all.extend(vec![0.0; columns]),
            }
        }
        self.clip.apply(&mut all);
        Some(all)
    }

    fn minimum(
        &self,
        block: &Dataset,
        problem: u32,
        monitor: &dyn Monitor,
    ) -> Result<Vec<f64>, SolveError> {
        if block.rows() == 0 {
            return Ok(vec![0.0; self.facts.columns]);
        }
        let labels = problems::labels(&self.facts, block, problem).unwrap_or_default();
        let records = InMemory::new(&block.features, &labels)?;
        let problem = Problem::new(&records, self.facts.loss, self.ridge);
        let options = Solver { monitor: Some(monitor), ..Solver::default() };
        Ok(minimise(&problem, self.tolerance, &options)?.into_theta())
    }

    /// The rows of each block.
    fn partition(&self, data: &Dataset, session: &mut Session<'_>) -> Vec<Vec<usize>> {
        let mut rows_of = vec![Vec::new(); self.blocks as usize];
        let owners = admit::owners(self.facts.unit, data);
        let units = owners.iter().max().map_or(0, |last| last + 1);
        let drawn = independent_blocks(units, self.blocks, session);
        for (row, owner) in owners.into_iter().enumerate() {
            rows_of[drawn[owner] as usize].push(row);
        }
        rows_of
    }
}

impl Procedure<super::Erm> for Aggregate {
    fn event(&self) -> Result<Event, LearnError> {
        Ok(self.law().event()?)
    }

    fn refuses(&self, found: &LinearWeights) -> Option<&'static str> {
        let support = match self.law() {
            Law::Gaussian(gaussian) => Support::gaussian(gaussian.noise_scale),
            Law::Laplace(laplace) => Support::Grid(laplace.step),
        };
        support.refuses(&found.weights)
    }

    fn settings(&self) -> PlanNumbers {
        PlanNumbers::of([
            ("ridge", self.ridge),
            ("blocks", f64::from(self.blocks)),
            ("bound", self.bound),
            ("output_noise", self.noise_scale),
        ])
    }

    fn predicted_excess(&self, facts: &Facts) -> Option<f64> {
        let noise = match self.clip {
            Clip::Ball(_) => self.noise_scale,
            Clip::Box(_) => self.noise_scale * std::f64::consts::SQRT_2,
        };
        // λ beside n/m rows is mλ beside n.
        Some(predicted::output(facts, noise, self.ridge * f64::from(self.blocks)))
    }

    fn run(
        &self,
        facts: &Facts,
        table: &dyn Table,
        session: &mut Session<'_>,
        monitor: &dyn Monitor,
    ) -> Result<Noisy<LinearWeights>, LearnError> {
        let data = admit::in_memory(table, INFO.name, "subsets of the rows")?;
        let mut mean = vec![0.0; facts.columns * facts.problems as usize];
        for rows in self.partition(data, session) {
            let fitted = self.fit(&data.select(&rows), monitor);
            let fitted = fitted.ok_or(LearnError::Solve(SolveError::Stopped))?;
            mean.iter_mut().zip(fitted).for_each(|(sum, t)| *sum += t);
        }
        mean.iter_mut().for_each(|sum| *sum /= f64::from(self.blocks));
        let noisy = match self.law() {
            Law::Gaussian(gaussian) => gaussian.run(Private::new(mean), session)?,
            Law::Laplace(laplace) => laplace.run(Private::new(mean), session)?,
        };
        Ok(noisy.rows_of(facts.columns).map(LinearWeights::of))
    }
}
