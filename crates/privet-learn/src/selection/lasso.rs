//! `lasso-stability`: the support of the LASSO, released if a proof shows that no unit's records can
//! change it.
//!
//! **Theorem.** d(D), the least margin of the LASSO's conditions of optimality at its support Γ in units
//! of one record's largest effect, moves by at most 1 with a record, and d > 0 implies the same Γ;
//! max(0, d − 1) is known for every D after a number of steps that is fixed beforehand (`margins.rs`,
//! with both proofs). So between neighbours that differ in r records d̂ = ⌊max(0, d − 1)/r⌋ moves by at
//! most 1, and d̂ ≥ 1 implies that all tables on the way have the same Γ: a proxy for the test of
//! [`privet_dp::mechanism::Stability`], (ε, δ), whatever the records are. Where the search finds no Γ
//! with d > 1, d̂ is 0 and ⊥ is released except with probability δ: no record can cause an error.
//!
//! *In finite arithmetic* the computed d is within 2⁻¹⁰ of it: twice that is subtracted, and the divisor
//! is r(1 + 2⁻⁹), so that two computed distances that differ by r + 2⁻⁹ still differ by at most 1.
//!
//! **Rows needed.** The plan estimates how many rows independent columns of weight ½ would need
//! (`rows_needed`): at s = 2, ε = 1, δ = 10⁻⁶ some tens of thousands.
//!
//! - No intercept: the constant column is left out. The huberized variant has no proved steps
//!   ([`privet_optim::lasso::huberized`]).
//! - ⊥ is the answer for records that do not pass, and costs as much.
//! - Λ by default: the needed margins plus the noise of an eighth of the target's bounds. m: half the
//!   curvature of independent columns, spread as the schema declares.
//! - Tested by `margins/tests.rs`, `tests/all/select.rs`.

use super::distance::{NO_ANSWER_NOTE, UNSTABLE, test};
use super::margins::{ScaledMoments, Steps, Stopped};
use super::noisy_answer::{NoisyAnswer, SelectionSizes};

use super::squares::LARGEST_SIZE;
use super::{Decision, PlanInput, Selector, SingleQuery, open};
use crate::LearnError;
use crate::linear::facts::Facts;
use crate::linear::problems;
use crate::release::admit;
use crate::release::covers::{Coverage, MethodCoverage};
use crate::release::registry::{FINITE_ARITHMETIC, Info};
use crate::release::settings::{PlanNumbers, settings};
use crate::release::watch::StepWatch;
use privet_core::Range;
use privet_data::Dataset;
use privet_dp::account::Event;
use privet_dp::gate::{Noisy, Private, Session};
use privet_dp::mechanism::{Stability, WithDistance};
use privet_optim::solver::{Monitor, SolveError};
use privet_optim::sum::Table;
use privet_optim::vertex::FeatureGrid;
use std::sync::Arc;

/// Limits on the penalty Λ.
pub const LAMBDA: Range = Range::open("lambda", 0.0, 1e12);
/// Limits on the curvature m per record.
pub const CURVATURE: Range = Range::from("curvature", 1e-3, 1.0);

/// Upper bound on the rounding error of a quotient.
const ROUNDING: f64 = 1.0 / 512.0;
/// Upper limit on the number of columns whose second moments are held.
const MOST_COLUMNS: usize = 2_048;

/// The reason for refusing classes, of which there may be two or more.
const FOR_NUMBERS: &str = "is for a target that is a number";
const OF_CLASSES: &str = "give a number as target, or method correlation, distance or subsample";

/// Registry entry of `lasso-stability`.
pub const INFO: Info = Info {
    name: "lasso-stability",
    summary: "the columns that the LASSO keeps, released if a test proves that no one's records can change \
              them, and otherwise nothing; needs very many rows",
    source: "Smith & Thakurta 2013; Thakurta 2013, §6.4.2, with other margins",
    guarantee: FINITE_ARITHMETIC,
    settings: LassoStability::SETTINGS,
    noisy: "the distance to another answer",
    private: true,
    covers: MethodCoverage {
        several: Coverage::No { why: FOR_NUMBERS, instead: OF_CLASSES },
        ..UNSTABLE
    },
    more: (),
};

settings! {
    /// Settings of `lasso-stability`.
    #[derive(Copy)]
    pub struct LassoStability {
        lambda: f64 [LAMBDA]
            "strength of the penalty beside the sum of squares; chosen from public facts unless given";
        curvature: f64 [CURVATURE]
            "least mean curvature, a record, of the columns kept; chosen from the schema unless given";
    }
}

/// Default Λ: the margin of `quotient` steps plus the noise of an eighth of the target's bounds.
fn usual_lambda(steps: &Steps, quotient: f64, rows: f64, columns: usize) -> f64 {
    let noise = steps.size as f64 / 8.0 * (2.0 * rows * (2.0 * columns as f64).ln()).sqrt();
    (quotient + 1.0) * steps.outside() + noise
}

/// Plans from public facts alone.
pub(crate) fn plan(
    input: &PlanInput<'_>,
    options: &LassoStability,
) -> Result<Decision, LearnError> {
    let facts = input.facts;
    let refused = |what: String, instead| Err(LearnError::NotCovered { what, instead });
    if facts.loss.needs_classes() {
        return refused(format!("method {} {FOR_NUMBERS}", INFO.name), OF_CLASSES);
    }
    let size = input.size as usize;
    if size > LARGEST_SIZE || open(facts) > MOST_COLUMNS || facts.rows > 1 << 21 {
        return refused(
            format!(
                "{size} columns of {}, and {} rows: the test is made for at most {LARGEST_SIZE} of \
                 {MOST_COLUMNS}, and 2^21 rows",
                open(facts),
                facts.rows
            ),
            "give fewer, or method correlation",
        );
    }
    let test = test(input)?;
    let records = facts.relation().records();
    let rows = facts.rows as f64;
    // One more, since the search may miss a distance of at most 1.
    let needed = release_distance(&test) * records + 1.0;
    // Half the curvature of independent columns whose entries are no larger than if spread evenly.
    let usual = 0.5 * (facts.entry_scale / facts.entry_bound).powi(2).min(1.0 / 3.0);
    let curvature = CURVATURE.check(options.curvature.unwrap_or(usual))?;
    let at = |rows: f64, lambda: f64| Steps {
        size,
        lambda,
        curvature: curvature * rows,
        cap: 2.0 * rows,
    };
    if at(rows, 1.0).curvature <= 2.0 * size as f64 {
        return refused(
            format!("{} rows are too few for {size} columns of that curvature", facts.rows),
            "give more rows, a smaller size, or method correlation",
        );
    }
    let rule = |rows: f64| usual_lambda(&at(rows, 1.0), needed, rows, open(facts));
    let lambda = LAMBDA.check(options.lambda.unwrap_or(rule(rows)))?;
    let steps = at(rows, lambda);
    if !steps.rounded(open(facts)) {
        return refused(
            format!(
                "rounding over {} columns and {} rows is too coarse for the test",
                open(facts),
                facts.rows
            ),
            "give fewer columns, or method correlation",
        );
    }
    Ok(Decision {
        procedure: Arc::new(Testing {
            test,
            steps,
            records,
            rows_needed: rows_needed(&|rows| Steps { lambda: rule(rows), ..at(rows, 1.0) }, needed),
            sizes: SelectionSizes::of(facts, input.size),
        }),
        settled: Selector::LassoStability(LassoStability {
            lambda: Some(lambda),
            curvature: Some(curvature),
        }),
        notes: vec![NO_ANSWER_NOTE.into()],
    })
}

/// The distance at which an answer is released in 98 of 100 runs.
fn release_distance(test: &Stability) -> f64 {
    test.threshold() as f64 + 1.0 + (test.noise_scale * 25_f64.ln()).ceil()
}

/// Approximate number of rows with which independent columns of weight ½ would pass with that quotient,
/// their curvature twice m.
fn rows_needed(at: &dyn Fn(f64) -> Steps, quotient: f64) -> f64 {
    let mut rows = 16.0;
    while rows < 1e15 {
        let steps = at(rows);
        let shrunk = 0.5 - steps.lambda / (2.0 * steps.curvature);
        let curved = steps.curvature > (quotient + 1.0) * steps.size as f64;
        if curved && shrunk > (quotient + 1.0) * steps.weight() {
            return rows;
        }
        rows *= 1.1;
    }
    rows
}

/// The LASSO and the test of its support.
#[derive(Debug, Clone)]
struct Testing {
    test: Stability,
    steps: Steps,
    /// Number of records by which neighbours differ, r.
    records: f64,
    rows_needed: f64,
    sizes: SelectionSizes,
}

impl Testing {
    /// The integer distance d̂ = ⌊max(0, d − 1)/r⌋, with rounding debited.
    fn integer_distance(&self, distance: f64) -> i64 {
        let quotient = (distance - 1.0 - ROUNDING) / (self.records * (1.0 + ROUNDING));
        quotient.floor().clamp(0.0, 1e15) as i64
    }
}

impl SingleQuery for Testing {
    fn event(&self) -> Result<Event, LearnError> {
        Ok(self.test.event()?)
    }

    fn settings(&self) -> PlanNumbers {
        PlanNumbers::of([
            ("size", self.sizes.size as f64),
            ("distance_noise", self.test.noise_scale),
            ("threshold", self.test.threshold() as f64),
            ("lambda", self.steps.lambda),
            ("rows_needed", self.rows_needed.ceil()),
            ("most_steps", self.steps.most_steps(self.sizes.open)),
        ])
    }

    fn sizes(&self) -> SelectionSizes {
        self.sizes
    }

    fn rows<'a>(&self, table: &'a dyn Table) -> Result<&'a Dataset, LearnError> {
        admit::in_memory(table, INFO.name, "products of columns")
    }

    fn ask(
        &self,
        facts: &Facts,
        data: &Dataset,
        session: &mut Session<'_>,
        monitor: &dyn Monitor,
    ) -> Result<Noisy<NoisyAnswer>, LearnError> {
        let watch = StepWatch::new(monitor);
        let grid = FeatureGrid::new(facts.entry_bound);
        let labels = problems::labels(facts, data, 0)?;
        let SelectionSizes { open, size } = self.sizes;
        let scaled = ScaledMoments::new(&data.features, &labels, open, grid, size)
            .ok_or(LearnError::DataShape("there are 2^32 rows or more"))?;
        let searched = scaled.search_stable_set(&self.steps, || watch.goes_on());
        let searched = searched.map_err(|Stopped| LearnError::Solve(SolveError::Stopped))?;
        let otherwise: Vec<u32> = (0..size as u32).collect();
        let found = searched.map(|(set, distance)| (set, self.integer_distance(distance)));
        let (answer, distance) = found.unwrap_or((otherwise, 0));
        let found = WithDistance { answer, distance };
        Ok(self.test.run(Private::new(found), session)?.map(NoisyAnswer::Places))
    }
}
