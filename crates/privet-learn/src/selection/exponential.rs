//! A set of columns by how well it fits, among all sets of its size: the exponential mechanism.
//!
//! **Theorem** (after Kifer, Smith & Thakurta 2012; Thakurta 2013, Theorem 6.41). q(Γ; D) is the least
//! sum of ½(y − ⟨x, θ⟩)² over θ supported on Γ with ‖θ‖₂ ≤ B. A record adds between 0 and α = ½(1 + Bρ)²
//! to every q(Γ; ·), ρ ≥ ‖x_Γ‖₂, |y| ≤ 1: adding a record adds its loss, at most α, at any θ of the
//! ball; taking it away takes at most that. So between neighbours all q move within an interval of
//! length **kα** (add-remove: all the same way) or **2kα** (replace-one), k the records of a unit, and Γ
//! with probability ∝ e^(−rate·q(Γ)) has bounded range rate times that
//! ([`privet_dp::mechanism::Choice`]).
//!
//! *In finite arithmetic.* The computed q is within τ = α/64 of it (`squares.rs`: a gap of α/1024, and
//! 2.6·10⁻³·M with M = 2α, for fewer than 2³² records), and is truncated to an integer multiple of
//! α/2¹⁶: the interval grows by 4τ and two units, which the charge counts. Every set has a probability
//! above 0.
//!
//! **Cost.** Up to [`ALL`] sets all are fitted, each s³ operations a few dozen times. Beyond, sets with
//! a common prefix are bounded together (`supports.rs`), and only those that a draw needs are fitted:
//! the same distribution, exactly ([`privet_dp::noise::choose_lazily`]). At worst all are still fitted;
//! so beyond [`MOST_SETS`] sets the request is refused with an estimate from public numbers, before a record
//! is read.
//!
//! - ρ: √s·τ with τ the bound that entries are clamped to, at most the radius of the rows; B: 1/ρ unless
//!   given, so that predictions reach ±1.
//! - Classes are encoded as −1 and 1: a target of two classes, or a number.
//! - A set whose fit is within `fit_noise` (in sums of squares) of the best is distinguished by chance
//!   alone.
//! - Tested by `tests/all/select.rs`.

use super::noisy_answer::{NoisyAnswer, SelectionSizes, sets, unranked};

use super::squares::{LARGEST_SIZE, Moments};
use super::supports::Supports;
use super::{Decision, PlanInput, Selector, SingleQuery, Support, open};
use crate::LearnError;
use crate::linear::facts::Facts;
use crate::linear::frank_wolfe::CLIP;
use crate::linear::problems;
use crate::release::admit;
use crate::release::covers::{Coverage, MethodCoverage, NOT_PRINTED, TableAccess};
use crate::release::registry::Info;
use crate::release::settings::{PlanNumbers, settings};
use crate::release::watch::StepWatch;
use privet_core::{Neighbours, Range};
use privet_data::Dataset;
use privet_dp::account::Event;
use privet_dp::gate::{Noisy, Private, Session};
use privet_dp::mechanism::Choice;
use privet_optim::solver::{Monitor, SolveError};
use privet_optim::sum::Table;
use privet_optim::vertex::FeatureGrid;
use rayon::prelude::*;
use std::sync::Arc;

/// Limits on B, the norm of a fit's weights.
pub const BALL: Range = Range::from("ball", 1e-9, 1e9);
/// Number of sets up to which all are fitted.
pub const ALL: usize = 200_000;
/// Upper limit on the number of sets.
pub const MOST_SETS: usize = 50_000_000;
/// Upper limit on the number of columns: their second moments are held in memory whole.
const MOST_COLUMNS: usize = 4_096;
/// Approximate seconds to fit a set of a few columns.
const SECONDS_A_SET: f64 = 2e-6;

/// Registry entry of `exponential`.
pub const INFO: Info = Info {
    name: "exponential",
    summary: "a set of columns by how well it fits, among all sets of its size; for few columns",
    source: "Kifer, Smith & Thakurta 2012; Thakurta 2013, Algorithm 6.3",
    guarantee: "(ε, δ) and pure ε in finite arithmetic",
    settings: Exponential::SETTINGS,
    noisy: "the choice of a set of columns by its fit",
    private: true,
    covers: MethodCoverage {
        several: Coverage::one_problem(
            "give a number or two classes as target, or method correlation",
        ),
        needs: TableAccess::Memory,
        printed: Coverage::unprinted(NOT_PRINTED),
        ..MethodCoverage::ALL
    },
    more: (),
};

settings! {
    /// Settings of `exponential`.
    #[derive(Copy)]
    pub struct Exponential {
        ball: f64 [BALL]
            "length that a fit's weights may have; such that predictions reach ±1 unless given";
        clip: f64 [CLIP] "what every entry is clamped to; chosen from the schema unless given";
    }
}

/// Score of a set's fit, from public facts.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SetScores {
    /// Grid of the entries: their clip and its unit.
    pub features: FeatureGrid,
    /// Norm bound of a fit's weights, B.
    pub ball: f64,
    /// Largest loss of one record, α.
    pub record: f64,
}

/// Error of the computed q as a fraction of α, τ/α.
const TOLERANCE: f64 = 1.0 / 64.0;
/// Proved optimality gap as a fraction of α.
const GAP: f64 = 1.0 / 1024.0;
/// Unit of score as a fraction of α.
const UNIT: f64 = 1.0 / 65_536.0;

impl SetScores {
    /// For sets of `size` columns.
    pub fn new(facts: &Facts, size: u32, clip: f64, ball: Option<f64>) -> Result<Self, LearnError> {
        let features = FeatureGrid::new(CLIP.check(clip)?);
        let length = (f64::from(size).sqrt() * clip).min(facts.radius);
        let ball = BALL.check(ball.unwrap_or(1.0 / length))?;
        let record = 0.5 * (1.0 + ball * length).powi(2) * (1.0 + 16.0 * f64::EPSILON);
        Ok(Self { features, ball, record })
    }

    /// Upper bound on the difference between two scores' moves between neighbours, in units of score.
    pub fn spread(&self, facts: &Facts) -> u64 {
        let sides = match facts.neighbours {
            Neighbours::AddRemove => 1.0,
            Neighbours::ReplaceOne | Neighbours::ReplaceLabel => 2.0,
        };
        let moved = sides * f64::from(facts.unit.records()) + 4.0 * TOLERANCE;
        (moved / UNIT).ceil() as u64 + 2
    }

    /// The score of a set.
    pub(super) fn score(&self, moments: &Moments, set: &[u32]) -> i64 {
        let found = moments.fit(set, self.ball, GAP * self.record);
        -((found / (UNIT * self.record)).floor() as i64)
    }

    /// Upper bound on the score of every set whose q is at least `least`. Both computed values are
    /// rounded, each by less than 6·10⁻³·α (`squares.rs`), together less than α/32.
    pub(super) fn bound(&self, least: f64) -> i64 {
        1 - (((least - self.record / 32.0) / (UNIT * self.record)).floor() as i64)
    }

    /// The score of every set, in order; `None` for 2³² rows or more.
    pub fn scores(
        &self,
        data: &Dataset,
        labels: &[f64],
        shape: (usize, usize),
        go_on: impl Fn() -> bool,
    ) -> Result<Option<Vec<i64>>, SolveError> {
        let moments = Moments::new(&data.features, labels, shape.0, self.features);
        moments.map(|moments| self.score_sets(&moments, shape, go_on)).transpose()
    }

    /// The score of every set, in order. Polls `go_on` between portions.
    fn score_sets(
        &self,
        moments: &Moments,
        (open, size): (usize, usize),
        go_on: impl Fn() -> bool,
    ) -> Result<Vec<i64>, SolveError> {
        /// Sets between two polls of `go_on`.
        const SETS_PER_POLL: usize = 65_536;
        let one = |rank: usize| self.score(moments, &unranked(rank, open, size));
        let count = sets(open, size).unwrap_or(0);
        let mut all = Vec::with_capacity(count);
        for first in (0..count).step_by(SETS_PER_POLL) {
            if !go_on() {
                return Err(SolveError::Stopped);
            }
            let portion = (first..count.min(first + SETS_PER_POLL)).into_par_iter().map(one);
            all.extend(portion.collect::<Vec<i64>>());
        }
        Ok(all)
    }
}

/// Plans from public facts alone.
pub(crate) fn plan(input: &PlanInput<'_>, options: &Exponential) -> Result<Decision, LearnError> {
    let (facts, size) = (input.facts, input.size);
    if size as usize > LARGEST_SIZE {
        return Err(LearnError::NotCovered {
            what: format!(
                "method exponential fits sets of up to {LARGEST_SIZE} columns, not of {size}"
            ),
            instead: "give a smaller size, or method correlation",
        });
    }
    if open(facts) > MOST_COLUMNS {
        return Err(LearnError::NotCovered {
            what: format!("second moments of {} columns", open(facts)),
            instead: "give at most 4096 columns, or method correlation",
        });
    }
    let count = sets(open(facts), size as usize).filter(|count| *count <= MOST_SETS);
    let Some(count) = count else {
        let (columns, size) = (open(facts) as f64, f64::from(size));
        let ln: f64 =
            (0..size as u32).map(|k| ((columns - f64::from(k)) / (size - f64::from(k))).ln()).sum();
        let (sets, hours) = (ln.exp(), ln.exp() * SECONDS_A_SET / 3600.0);
        return Err(LearnError::NotCovered {
            what: format!(
                "there are about {sets:.1e} sets of {size} of {columns} columns, which at worst are all fitted: some \
                 {hours:.1e} hours, and {MOST_SETS} sets are accepted"
            ),
            instead: "give a smaller size or fewer columns, or method correlation",
        });
    };
    let clip = options.clip.unwrap_or(facts.entry_scale.min(facts.entry_bound));
    let fits = SetScores::new(facts, size, clip, options.ball)?;
    let choice = Choice {
        neighbours: facts.neighbours,
        unit: facts.unit,
        spread: fits.spread(facts),
        rate: 1.0,
        candidates: count,
    };
    let floor = 0.25 / input.budget.epsilon();
    let scale = input.budget.least_scale(floor, |scale| choice.with_range(1.0 / scale).event())?;
    let sizes = SelectionSizes::of(facts, size);
    Ok(Decision {
        procedure: Arc::new(Fitting { choice: choice.with_range(1.0 / scale), fits, sizes }),
        settled: Selector::Exponential(Exponential { ball: Some(fits.ball), clip: Some(clip) }),
        notes: vec![],
    })
}

/// The exponential mechanism over all sets.
#[derive(Debug, Clone)]
struct Fitting {
    choice: Choice,
    fits: SetScores,
    sizes: SelectionSizes,
}

impl SingleQuery for Fitting {
    fn event(&self) -> Result<Event, LearnError> {
        Ok(self.choice.event()?)
    }

    fn settings(&self) -> PlanNumbers {
        let missed =
            (self.choice.candidates as f64).ln() / self.choice.rate * UNIT * self.fits.record;
        PlanNumbers::of([
            ("size", self.sizes.size as f64),
            ("sets", self.choice.candidates as f64),
            ("fit_noise", missed),
        ])
    }

    fn refuses(&self, found: &Support) -> Option<&'static str> {
        found.columns.is_none().then_some("such a choice always names columns")
    }

    fn sizes(&self) -> SelectionSizes {
        self.sizes
    }

    fn rows<'a>(&self, table: &'a dyn Table) -> Result<&'a Dataset, LearnError> {
        admit::in_memory(table, INFO.name, "pairs of columns")
    }

    fn ask(
        &self,
        facts: &Facts,
        data: &Dataset,
        session: &mut Session<'_>,
        monitor: &dyn Monitor,
    ) -> Result<Noisy<NoisyAnswer>, LearnError> {
        let watch = StepWatch::new(monitor);
        let labels = problems::labels(facts, data, 0)?;
        let shape = (self.sizes.open, self.sizes.size);
        let moments = Moments::new(&data.features, &labels, shape.0, self.fits.features)
            .ok_or(LearnError::DataShape("there are 2^32 rows or more"))?;
        if self.choice.candidates <= ALL {
            let scores = self.fits.score_sets(&moments, shape, || watch.step())?;
            return Ok(self.choice.run(Private::new(scores), session)?.map(NoisyAnswer::Set));
        }
        let supports = Supports::new(moments, self.fits, shape, || watch.goes_on());
        let found = self.choice.run_lazily(Private::new(supports), session)?;
        watch.went_on()?;
        // No set is chosen only if the run was stopped.
        Ok(found.map(|rank| NoisyAnswer::Set(rank.unwrap_or(0))))
    }
}
