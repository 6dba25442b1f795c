//! Iterative gradient hard thresholding under noise: a model of few columns out of many.
//!
//! **Theorem** (after Wang & Gu 2019; Wang 2021, Theorem 2.5.2). T steps on all columns, each from the
//! sum of all gradients under N(0, σ²I), and T′ on the chosen columns, their rows clipped anew to R′,
//! under N(0, σ′²I), have the curve of a Gaussian mechanism of multiplier **√(T·(Δ/σ)² + T′·(Δ′/σ′)²)**,
//! Δ = 2kG under replace-one and kG under add-remove, G = S·R·√K for derivatives clipped to S and K
//! problems, Δ′ with R′ for R.
//!
//! *Proof.* Step for step that of [`super::gd`]: at a given point a sum over records of terms of norm at
//! most G; a step's query depends on noisy answers alone; thresholding, step sizes and averaging are
//! post-processing of them. The rows of the second stage are functions of a record and of the answers,
//! of norm at most R′ (`chosen_columns.rs`). A product of Gaussian pairs is one of the root of the sum of
//! squares (Dong, Roth & Su 2022, Corollary 2). ∎
//!
//! *Derivatives clipped to S/2^h.* Such a sum has a 2^h-th of the norm: it is answered in units 2^h as
//! large, exactly (a power of two), so that every step has the sensitivity Δ and the event is one.
//!
//! *In finite arithmetic.* As in [`super::gd`]: sums are exact integers, the noise is discrete and
//! charged as such.
//!
//! - **Departs from print.** There σ² = TG²/(n²ρ) for the mean gradient, half of what ρ-zCDP needs under
//!   replace-one (erratum DP-IGHT: 2TG²/(n²ρ)); here the exact Gaussian curve. G is enforced by clipping
//!   every record's derivative. The last point of a descent is noisy: here the last stage fits the
//!   chosen columns, whose rows have √(s/p) of the norm, and its last points are averaged.
//! - **Two ways to choose.** This file is `choice` `gradient`: noise on all coordinates. Where
//!   s·ln(2p) ≤ p the rule is `peeled` (in `peeled.rs`): columns are chosen by the exponential
//!   mechanism, which is far cheaper.
//! - **Rules.** Columns s: √(nε)/4, from 1 to 500. `share` of μ² for the first stage: 0.85. Derivatives:
//!   S = |ℓ′(0; ±1)| for classes (⅜ for the logistic loss, as in `gd`); for numbers a quarter of it at
//!   first and a 16th at last, since residuals are a fraction of the target's bounds and get smaller.
//!   η = 1/(c·x²), c the curvature and x the usual size of an entry: right for columns that are hardly
//!   correlated, for which the method is meant; steps that surely overshoot are shortened
//!   (`thresholding.rs`). Chosen on generated tables of Wang 2021, §2.6.
//! - Probabilities are those of a model with clipped derivatives and are not calibrated.
//! - δ = 0 is refused. Tested by `tests/all/sparse.rs`.

use super::Decision;
use super::chosen_columns::{FIT_RADIUS, NarrowTable};
use super::gd::{BALL_TIMES_RADIUS, Query as Gradient, SAFE_RADII, separate_slope};
use super::thresholding::{Query, Start, Thresholding};
use crate::LearnError;
use crate::linear::facts::Facts;
use crate::linear::learners::{LearnerFacts, Method, Scores};
use crate::linear::model::LinearWeights;
use crate::release::admit;
use crate::release::allowance::Allowance;
use crate::release::answers::{Answers, Queries, SumNoise};
use crate::release::ask::ask_by_steps;
use crate::release::covers::{Coverage, MethodCoverage, TableAccess};
use crate::release::registry::{FINITE_ARITHMETIC, Info};
use crate::release::request::{Calibration, STEPS};
use crate::release::settings::{PlanNumbers, settings};
use crate::release::support::Support;
use crate::release::task::Procedure;
use crate::release::watch::StepWatch;
use privet_core::Range;
use privet_data::Dataset;
use privet_dp::account::{self, Event};
use privet_dp::gate::{Arithmetic, GateError, Noisy, Session};
use privet_dp::mechanism::Gaussian;
use privet_optim::solver::Monitor;
use privet_optim::sum::Table;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

use super::chosen_amp::{COLUMNS, SHARE};
use super::frank_wolfe::CLIP;

/// Limits on the steps of the second stage.
pub const FIT_STEPS: Range = Range::from("fit_steps", 1.0, 1_000_001.0);
/// Limits on the rounds of choices.
pub const ROUNDS: Range = Range::from("rounds", 1.0, 1_001.0);
/// Limits on the step size, as a multiple of the rule's.
pub const PACE: Range = Range::open("pace", 0.0, 1e6);

/// The registry entry.
pub const INFO: Info<LearnerFacts> = Info {
    name: "dp-ight",
    summary: "lets a few columns join in each round, by their gradients under noise, and fits those that \
              joined by descent; for many columns of which few matter",
    source: "Wang & Gu 2019; Wang 2021, Algorithm 1; Cai, Wang & Zhang 2021 (peeling)",
    guarantee: FINITE_ARITHMETIC,
    settings: DpIght::SETTINGS,
    noisy: "the choice of a column by its score, and the sum of all gradients at each step",
    private: true,
    covers: MethodCoverage {
        printed: Coverage::No {
            why: "has printed constants that are half of what its claim needs",
            instead: "leave out the calibration, or give sound; `docs/errata.md` says more",
        },
        pure: Coverage::gaussian("give a delta above 0, or method two-stage, frank-wolfe or amp"),
        needs: TableAccess::Memory,
        ..MethodCoverage::ALL
    },
    more: LearnerFacts { scores: Scores::Separate, any_storage: true },
};

/// The way of choosing columns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Choice {
    /// One by one, by the exponential mechanism (`peeled`).
    Peeled,
    /// The largest after a noisy step on all.
    Gradient,
}

settings! {
    /// Settings of `dp-ight`.
    #[derive(Copy)]
    pub struct DpIght {
        columns: u32 [COLUMNS]
            "columns kept; chosen from public facts unless given",
            also "at most the columns of the table";
        choice: Choice ["peeled or gradient"]
            "how columns are chosen: one by one by their scores, or by noise on all of them; peeled \
             unless given, where few are kept of many";
        rounds: u32 [ROUNDS] "rounds in which columns join, for peeled; 4 unless given";
        steps: u32 [STEPS] "noised steps on all columns, for gradient; 6 unless given";
        fit_steps: u32 [FIT_STEPS]
            "noised steps on the columns kept; 8 a round, or 12 for gradient, unless given";
        share: f64 [SHARE]
            "share of the budget for choosing; 0.5, or 0.85 for gradient, unless given";
        clip: f64 [CLIP]
            "what entries are clamped to for scores, for peeled; from the schema unless given";
        fit_radius: f64 [FIT_RADIUS]
            "length that rows of the columns kept are clipped to; chosen from the schema unless given";
        pace: f64 [PACE] "length of a step, as a multiple of the rule's; 1 unless given";
    }
}

const DEFAULT_SHARE: f64 = 0.85;
const DEFAULT_STEPS: u32 = 6;
const DEFAULT_FIT_STEPS: u32 = 12;
/// Largest number of columns that the rule keeps.
const MOST_COLUMNS: f64 = 500.0;

/// The number of times that the clipping bound is halved, at the first step and at the last.
fn halved(facts: &Facts) -> (u32, u32) {
    if facts.loss.needs_classes() { (0, 0) } else { (2, 4) }
}

/// The sensitivity Δ of a stage.
pub fn sensitivity(facts: &Facts) -> f64 {
    let together = f64::from(facts.problems).sqrt();
    // The factor covers the rounding of these few operations.
    let one = separate_slope(facts) * facts.radius * together * (1.0 + 16.0 * f64::EPSILON);
    facts.relation().shift(one)
}

/// Decides everything from public facts.
pub(crate) fn plan(
    facts: &Facts,
    budget: &Allowance<'_>,
    _calibration: Calibration,
    options: &DpIght,
) -> Result<Decision, LearnError> {
    let refused = |what: String, instead| Err(LearnError::NotCovered { what, instead });
    if !SAFE_RADII.contains(&facts.radius) {
        return refused(
            format!("method dp-ight cannot sum rows of length {:e} exactly", facts.radius),
            "give a clipping radius from 1e-60 to 1e60",
        );
    }
    let open = facts.columns - usize::from(facts.bias);
    let usual =
        (0.25 * (facts.rows as f64 * budget.epsilon()).sqrt()).clamp(1.0, MOST_COLUMNS).round();
    let count = options.columns.unwrap_or((usual as u32).min(open as u32));
    COLUMNS.check(f64::from(count))?;
    if count as usize > open {
        return refused(
            format!("{count} columns are to be kept of {open}"),
            "give at most as many as there are, or method gd",
        );
    }
    options.rounds.map(|rounds| ROUNDS.check(rounds.into())).transpose()?;
    options.steps.map(|steps| STEPS.check(steps.into())).transpose()?;
    options.clip.map(|clip| CLIP.check(clip)).transpose()?;
    // If few columns are kept of many, they are chosen one by one.
    let few = f64::from(count) * (2.0 * facts.columns as f64).ln() <= open as f64;
    let usual = if few && options.steps.is_none() { Choice::Peeled } else { Choice::Gradient };
    let choice = options.choice.unwrap_or(usual);
    let foreign = match choice {
        Choice::Peeled => options.steps.is_some().then_some("steps on all columns"),
        Choice::Gradient if options.rounds.is_some() => Some("rounds of choices"),
        Choice::Gradient => options.clip.is_some().then_some("a clip of scores"),
    };
    if let Some(what) = foreign {
        return refused(
            format!("{what}: not where columns are chosen that way"),
            "leave it out, or give the other choice: peeled or gradient",
        );
    }
    if choice == Choice::Peeled {
        let share = SHARE.check(options.share.unwrap_or(super::peeled::DEFAULT_SHARE))?;
        return super::peeled::plan(facts, budget, options, count, share);
    }
    let steps = STEPS.check(options.steps.unwrap_or(DEFAULT_STEPS).into())? as u32;
    let fit_steps = FIT_STEPS.check(options.fit_steps.unwrap_or(DEFAULT_FIT_STEPS).into())? as u32;
    let share = SHARE.check(options.share.unwrap_or(DEFAULT_SHARE))?;
    let pace = PACE.check(options.pace.unwrap_or(1.0))?;
    let narrow = NarrowTable::new(facts, count as usize, options.fit_radius)?;
    let (first, second) = (sensitivity(facts), sensitivity(&narrow.fewer));
    // The noise that each stage needs within its own share, relative to the other.
    let parts = [(first, steps, share), (second, fit_steps, 1.0 - share)]
        .map(|(shift, steps, share)| shift * (f64::from(steps) / share).sqrt());
    let gaussian = |facts: &Facts, sensitivity, noise_scale| Gaussian {
        neighbours: facts.neighbours,
        unit: facts.unit,
        sensitivity,
        noise_scale,
        coordinates: facts.columns * facts.problems as usize,
    };
    let square = facts.entry_scale.powi(2).min(facts.radius.powi(2));
    let start = |noise: [f64; 2]| Start {
        columns: facts.columns,
        problems: facts.problems as usize,
        bias: facts.bias,
        size: count as usize,
        steps,
        fit_steps,
        rate: pace / (facts.rows as f64 * facts.shape.curvature * square),
        ball: BALL_TIMES_RADIUS / facts.radius,
        halved: halved(facts),
        noise,
    };
    let at = |scale: f64| {
        let fit_scale = scale * (parts[1] / parts[0]);
        Descending {
            first: gaussian(facts, first, scale),
            second: gaussian(&narrow.fewer, second, fit_scale),
            start: start([scale, fit_scale]),
            narrow: narrow.clone(),
        }
    };
    let floor = parts[0] / account::gaussian::mu(budget.epsilon(), budget.delta());
    let scale = budget.least_scale(floor, |scale| at(scale).event())?;
    Ok(Decision {
        procedure: Arc::new(at(scale)),
        settled: Method::DpIght(DpIght {
            columns: Some(count),
            choice: Some(Choice::Gradient),
            rounds: None,
            clip: None,
            steps: Some(steps),
            fit_steps: Some(fit_steps),
            share: Some(share),
            fit_radius: Some(narrow.radius()),
            pace: Some(pace),
        }),
        arithmetic: Arithmetic::Finite,
        notes: vec![],
    })
}

/// The procedure: two descents, one after the other.
#[derive(Debug, Clone)]
struct Descending {
    first: Gaussian,
    second: Gaussian,
    start: Start,
    narrow: NarrowTable,
}

impl Descending {
    fn event(&self) -> Result<Event, GateError> {
        let stage = |count, gaussian: &Gaussian| -> Result<Event, GateError> {
            Ok(Event::Repeat { count, event: Box::new(gaussian.event()?) })
        };
        let Start { steps, fit_steps, .. } = self.start;
        Ok(Event::All(vec![stage(steps, &self.first)?, stage(fit_steps, &self.second)?]))
    }
}

impl Procedure<super::Erm> for Descending {
    fn event(&self) -> Result<Event, LearnError> {
        Ok(Self::event(self)?)
    }

    fn refuses(&self, found: &LinearWeights) -> Option<&'static str> {
        let width = self.narrow.fewer.columns;
        let used = |column: &usize| found.weights.iter().any(|row| row.get(*column) != Some(&0.0));
        if (0..self.start.columns).filter(used).count() > width {
            return Some("more weights are not 0 than columns were kept");
        }
        Support::Ball(self.start.ball).refuses(&found.weights)
    }

    fn settings(&self) -> PlanNumbers {
        PlanNumbers::of([
            ("columns", self.start.size as f64),
            ("gradient_noise", self.first.noise_scale),
            ("fit_noise", self.second.noise_scale),
            ("steps", f64::from(self.start.steps)),
            ("fit_steps", f64::from(self.start.fit_steps)),
            ("fit_radius", self.narrow.radius()),
        ])
    }

    fn walk(&self) -> Option<serde_json::Value> {
        serde_json::to_value(self.start).ok()
    }

    fn run(
        &self,
        facts: &Facts,
        table: &dyn Table,
        session: &mut Session<'_>,
        monitor: &dyn Monitor,
    ) -> Result<Noisy<LinearWeights>, LearnError> {
        let data = admit::in_memory(table, INFO.name, "single columns")?;
        let slope = separate_slope(facts);
        let ask = |facts: &Facts, query: &Query| -> (Gradient, Queries) {
            let unit = Gradient::of(facts, false, slope).at(&query.theta).unit;
            let gradient = Gradient::of(facts, false, slope * 2_f64.powi(-(query.halved as i32)));
            // In units of the full clipping bound, a power of two as large: so the sum counts as that
            // much longer.
            let questions = Queries { unit, ..gradient.at(&query.theta) };
            (gradient, questions)
        };
        let whole = Gradient::of(facts, false, slope).looked_at(table)?;
        let watch = StepWatch::new(monitor);
        let mut part: Option<Dataset> = None;
        ask_by_steps::<Thresholding>(session, &watch, |query, session| match &query.columns {
            None => {
                let noise = SumNoise::Gaussian(self.first.clone());
                whole.answer(&ask(facts, query).1, &noise, session)
            }
            Some(columns) => {
                let part = part.get_or_insert_with(|| self.narrow.table(data, columns));
                let (gradient, questions) = ask(&self.narrow.fewer, query);
                let noise = SumNoise::Gaussian(self.second.clone());
                gradient.records(part)?.answer(&questions, &noise, session)
            }
        })
    }
}

#[cfg(test)]
mod tests;
