//! `dp-ight` with columns chosen by the exponential mechanism, cheaper than noise on all coordinates.
//!
//! **Theorem** (after Cai, Wang & Zhang 2021; Dwork, Su & Zhang 2021). Rounds r, each of
//! - sᵣ choices among the columns that are left, by scores Σᵢ mᵢxᵢⱼ in integers, entries clamped to ±τ
//!   and derivatives mᵢ at the current point to S/2^h: sᵣ mechanisms of **bounded range 2Δ·rate** each,
//!   Δ = 2kMK (replace-one) or kMK (add-remove) in units ([`super::frank_wolfe::ScoreTerms`], [`Selection`]);
//! - T′ gradients on the columns chosen so far, rows clipped anew to R′ᵣ: Gaussian mechanisms as in
//!   [`super::dp_ight`], Δ′ᵣ = 2kSR′ᵣ√K or half of it;
//!
//! are charged as one list, which adaptive composition allows: the **number** of columns that join in a
//! round is public, and the columns are known to both worlds from the answers.
//!
//! *Proof.* A derivative mᵢ is a function of record i (its entries in the columns chosen, clipped anew
//! by themselves, and its label) and of the answers before it, of size at most M; so one record changes
//! a score by at most MK, and both worlds choose among the same columns. The rest is the theorem of
//! [`Selection`], that of `dp_ight.rs`, and composition of dominating pairs (Zhu, Dong & Wang 2022,
//! Theorem 10). ∎
//!
//! **Motivation.** To find the s largest of p coordinates, noise on all of them must cover a row of norm
//! R = τ√p; s choices cost as if the row had norm √s·τ·ln(2p). With s·ln(2p) ≤ p this way is the rule.
//!
//! *Rules.* Four rounds, of about s/4 columns; before them one for the constant column alone. Half of
//! the budget (as μ², a choice of range r counting r²/4) for the choices; of the rest half for the last
//! round. T′ = 8. Derivatives of numbers are clipped to S/4, S/8, S/16, S/16: residuals are a fraction
//! of the target's bounds, and a derivative clipped too much keeps its sign. Those of the logistic loss
//! are clipped to ½, in the last round to 1, which is no clipping: its weights are then about those of
//! the records' distribution. τ: the usual size of an entry. Chosen on generated tables; the logistic
//! clipping with the bench's `sparse-logistic` in view, so that figures on that one table are no
//! held-out check (`docs/tuning-log.md`).

use super::Decision;
use super::chosen_columns::NarrowTable;
use super::dp_ight::{DpIght, FIT_STEPS, INFO, PACE, ROUNDS};
use super::frank_wolfe::{CLIP, ScoreTerms, usual_range};
use super::gd::{BALL_TIMES_RADIUS, Query as Gradient, separate_slope};
use super::pursuit::{Pursuit, Round, Start, other_columns};
use crate::LearnError;
use crate::linear::facts::Facts;
use crate::linear::learners::Method;
use crate::linear::model::LinearWeights;
use crate::linear::problems;
use crate::release::admit;
use crate::release::allowance::Allowance;
use crate::release::answers::{Answers, Queries, SumNoise};
use crate::release::ask::ask_by_steps;
use crate::release::settings::PlanNumbers;
use crate::release::support::Support;
use crate::release::task::Procedure;
use crate::release::watch::StepWatch;
use privet_data::Dataset;
use privet_dp::account::Event;
use privet_dp::gate::{Arithmetic, GateError, Noisy, Private, Session};
use privet_dp::mechanism::{Gaussian, Scores, Selection, SelectionLaw, Vertex};
use privet_optim::loss::Loss;
use privet_optim::solver::Monitor;
use privet_optim::sum::Table;
use privet_optim::vertex::GridMatrix;
use std::sync::Arc;

/// Default share of μ² for the choices.
pub(super) const DEFAULT_SHARE: f64 = 0.5;
/// Default number of rounds of choices.
const DEFAULT_ROUNDS: u32 = 4;
const DEFAULT_FIT_STEPS: u32 = 8;
/// Shares of the remaining budget for the round of the constant column, and for the last round.
const FIRST_ROUND_SHARE: f64 = 0.04;
const LAST_ROUND_SHARE: f64 = 0.5;

/// The clipping bound S.
fn slope(facts: &Facts) -> f64 {
    if facts.loss == Loss::Logistic { facts.shape.lipschitz } else { separate_slope(facts) }
}

/// The number of times that the clipping bound is halved in this round.
fn halved(facts: &Facts, round: u32, rounds: u32) -> u32 {
    match facts.loss.needs_classes() {
        true => u32::from(facts.loss == Loss::Logistic && round + 1 < rounds),
        false => 2 + (3 * round / rounds.max(1)).min(2),
    }
}

/// The sensitivity Δ′ of gradients.
fn sensitivity(facts: &Facts) -> f64 {
    let together = f64::from(facts.problems).sqrt();
    // The factor covers the rounding of these few operations.
    facts.relation().shift(slope(facts) * facts.radius * together * (1.0 + 16.0 * f64::EPSILON))
}

/// The number of columns that join in each round of choices: as even as possible, the first ones more.
fn sizes(count: u32, rounds: u32) -> Vec<usize> {
    (0..rounds).map(|round| (count / rounds + u32::from(round < count % rounds)) as usize).collect()
}

/// Decides everything from public facts; `count` and the calibration are checked already.
pub(super) fn plan(
    facts: &Facts,
    budget: &Allowance<'_>,
    options: &DpIght,
    count: u32,
    share: f64,
) -> Result<Decision, LearnError> {
    let rounds = ROUNDS.check(options.rounds.unwrap_or(DEFAULT_ROUNDS.min(count)).into())? as u32;
    if rounds > count {
        return Err(LearnError::NotCovered {
            what: format!("{count} columns cannot join in {rounds} rounds"),
            instead: "give at most as many rounds as columns",
        });
    }
    let fit_steps = FIT_STEPS.check(options.fit_steps.unwrap_or(DEFAULT_FIT_STEPS).into())? as u32;
    let pace = PACE.check(options.pace.unwrap_or(1.0))?;
    let clip = CLIP.check(options.clip.unwrap_or(facts.entry_scale.min(facts.entry_bound)))?;
    let mut stages = Vec::new();
    let mut width = 0;
    let mut stage = |size: usize, halved: u32, part: f64| -> Result<(), LearnError> {
        width += size;
        let narrow = NarrowTable::new(facts, width, options.fit_radius)?;
        stages.push(Stage { before: width - size, size, halved, part, narrow });
        Ok(())
    };
    let first = if facts.bias { FIRST_ROUND_SHARE } else { 0.0 };
    if facts.bias {
        stage(0, halved(facts, 0, rounds), first)?;
    }
    for (round, size) in (0..).zip(sizes(count, rounds)) {
        let part = match rounds {
            1 => 1.0 - first,
            _ if round + 1 == rounds => LAST_ROUND_SHARE,
            _ => (1.0 - first - LAST_ROUND_SHARE) / f64::from(rounds - 1),
        };
        stage(size, halved(facts, round, rounds), part)?;
    }
    let square = facts.entry_scale.powi(2).min(facts.radius.powi(2));
    let at = |scale: f64| Rising {
        clip,
        range: 1.0 / scale,
        // μ² of all is count·range²/(4·share); each gradient has its part of the rest.
        spread: scale * (4.0 * share * f64::from(fit_steps) / f64::from(count)).sqrt()
            / (1.0 - share).sqrt(),
        facts: facts.clone(),
        stages: stages.clone(),
        fit_steps,
        rate: pace / (facts.rows as f64 * facts.shape.curvature * square),
    };
    // The noise is one over the range; ranges above four times the usual one are not searched.
    let floor = 0.25 / usual_range(budget, f64::from(count));
    let scale = budget.least_scale(floor, |scale| at(scale).event())?;
    Ok(Decision {
        procedure: Arc::new(at(scale)),
        settled: Method::DpIght(DpIght {
            columns: Some(count),
            choice: Some(super::dp_ight::Choice::Peeled),
            rounds: Some(rounds),
            steps: None,
            fit_steps: Some(fit_steps),
            share: Some(share),
            clip: Some(clip),
            fit_radius: options.fit_radius,
            pace: Some(pace),
        }),
        arithmetic: Arithmetic::Finite,
        notes: vec![],
    })
}

/// A round: choices, then gradients.
#[derive(Debug, Clone)]
struct Stage {
    /// The number of columns chosen before it.
    before: usize,
    size: usize,
    halved: u32,
    /// Its share of the budget for gradients.
    part: f64,
    narrow: NarrowTable,
}

/// The procedure: all rounds.
#[derive(Debug, Clone)]
struct Rising {
    clip: f64,
    /// The range of each choice.
    range: f64,
    /// The multiplier σ/Δ of a gradient if its round had the whole budget for gradients.
    spread: f64,
    facts: Facts,
    stages: Vec<Stage>,
    fit_steps: u32,
    rate: f64,
}

impl Rising {
    fn terms(&self, stage: &Stage) -> ScoreTerms {
        let slope = slope(&self.facts) * 2_f64.powi(-(stage.halved as i32));
        ScoreTerms::new(&self.facts, self.clip, slope)
    }

    /// The mechanism of a round's choices among the columns that are left.
    fn selection(&self, stage: &Stage) -> Selection {
        let facts = &self.facts;
        let left = facts.columns - usize::from(facts.bias) - stage.before;
        let selection = Selection {
            neighbours: facts.neighbours,
            unit: facts.unit,
            sensitivity: self.terms(stage).sensitivity,
            law: SelectionLaw::Exponential(1.0),
            columns: left * facts.problems as usize,
            coefficients: vec![1.0; stage.size],
            peeled: Some(left),
        };
        selection.with_range(self.range)
    }

    fn gaussian(&self, stage: &Stage) -> Gaussian {
        let fewer = &stage.narrow.fewer;
        let sensitivity = sensitivity(fewer);
        Gaussian {
            neighbours: fewer.neighbours,
            unit: fewer.unit,
            sensitivity,
            noise_scale: sensitivity * self.spread / stage.part.sqrt(),
            coordinates: fewer.columns * fewer.problems as usize,
        }
    }

    fn event(&self) -> Result<Event, GateError> {
        let mut all = Vec::new();
        for stage in &self.stages {
            if stage.size > 0 {
                all.push(self.selection(stage).event()?);
            }
            let event = Box::new(self.gaussian(stage).event()?);
            all.push(Event::Repeat { count: self.fit_steps, event });
        }
        Ok(Event::All(all))
    }

    fn width(&self) -> usize {
        self.stages.last().map_or(0, |stage| stage.narrow.fewer.columns)
    }

    /// The derivatives mᵢ of every record in the direction of a step, problem after problem.
    fn slopes(
        &self,
        facts: &Facts,
        part: &Dataset,
        theta: &[f64],
        terms: &ScoreTerms,
    ) -> Result<Vec<Vec<i32>>, LearnError> {
        let width = part.features.columns();
        let one = |problem: u32| -> Result<Vec<i32>, LearnError> {
            let labels = problems::labels(facts, part, problem)?;
            let weights = theta.chunks(width.max(1)).nth(problem as usize).unwrap_or_default();
            let margin = |row: usize| -> f64 {
                let entries = part.features.dense_row(row).into_iter();
                entries.zip(weights).map(|(x, w)| f64::from(x) * w).sum()
            };
            let along = |(row, label): (usize, &f64)| {
                -terms.slopes.units(facts.loss.derivative(margin(row), *label))
            };
            Ok(labels.iter().enumerate().map(along).collect())
        };
        (0..facts.problems).map(one).collect()
    }
}

impl Procedure<super::Erm> for Rising {
    fn event(&self) -> Result<Event, LearnError> {
        Ok(Self::event(self)?)
    }

    fn refuses(&self, found: &LinearWeights) -> Option<&'static str> {
        let used = |column: &usize| found.weights.iter().any(|row| row.get(*column) != Some(&0.0));
        if (0..self.facts.columns).filter(used).count() > self.width() {
            return Some("more weights are not 0 than columns were kept");
        }
        Support::Ball(BALL_TIMES_RADIUS / self.facts.radius).refuses(&found.weights)
    }

    fn settings(&self) -> PlanNumbers {
        let chosen = self.stages.iter().map(|stage| stage.size).sum::<usize>();
        let last = self.stages.last();
        let noise = |stage: &Stage| {
            let terms = self.terms(stage);
            // The scale of a score's Gumbel noise.
            2.0 * terms.sensitivity as f64 * terms.unit() / self.range
        };
        let rounds = self.stages.iter().filter(|stage| stage.size > 0).count();
        PlanNumbers::of([("columns", chosen as f64)])
            .and("score_noise", last.map(noise))
            .and("fit_noise", last.map(|stage| self.gaussian(stage).noise_scale))
            .and("rounds", Some(rounds as f64))
            .and("fit_steps", Some(f64::from(self.fit_steps)))
            .and("fit_radius", last.map(|stage| stage.narrow.radius()))
    }

    fn walk(&self) -> Option<serde_json::Value> {
        let facts = &self.facts;
        let round = |stage: &Stage| Round {
            size: stage.size,
            halved: stage.halved,
            noise: self.gaussian(stage).noise_scale,
        };
        let start = Start {
            columns: facts.columns,
            problems: facts.problems as usize,
            bias: facts.bias,
            rounds: self.stages.iter().map(round).collect(),
            fit_steps: self.fit_steps,
            rate: self.rate,
            ball: BALL_TIMES_RADIUS / facts.radius,
        };
        serde_json::to_value(start).ok()
    }

    fn run(
        &self,
        facts: &Facts,
        table: &dyn Table,
        session: &mut Session<'_>,
        monitor: &dyn Monitor,
    ) -> Result<Noisy<LinearWeights>, LearnError> {
        let data = admit::in_memory(table, INFO.name, "single columns")?;
        let whole = self.stages.first().map(|stage| self.terms(stage).features);
        let features = whole
            .and_then(|grid| GridMatrix::new(&data.features, grid))
            .ok_or(LearnError::DataShape("there are 2^32 rows or more"))?;
        let slope = slope(facts);
        let watch = StepWatch::new(monitor);
        let mut held: Option<(Vec<usize>, Dataset)> = None;
        ask_by_steps::<Pursuit>(session, &watch, |query, session| {
            let stage = self.stages.get(query.round).ok_or(GateError::NotAsPlanned)?;
            // A choice is made at the point of the round before, with the rows of that round.
            let before = query.round.checked_sub(usize::from(query.choose));
            let narrow = &before.and_then(|at| self.stages.get(at)).unwrap_or(stage).narrow;
            if held.as_ref().is_none_or(|(columns, _)| *columns != query.columns) {
                held = Some((query.columns.clone(), narrow.table(data, &query.columns)));
            }
            let (_, part) = held.as_ref().ok_or(GateError::NotAsPlanned)?;
            if query.choose {
                let terms = self.terms(stage);
                let slopes = self.slopes(facts, part, &query.theta, &terms)?;
                let left = other_columns(facts.columns - usize::from(facts.bias), &query.columns);
                let scores = AtPoint { features: &features, slopes, left, watch: &watch };
                return Ok(self.selection(stage).run(Private::new(scores), session)?);
            }
            let fewer = &stage.narrow.fewer;
            let unit = Gradient::of(fewer, false, slope).at(&query.theta).unit;
            let asked = Gradient::of(fewer, false, slope * 2_f64.powi(-(stage.halved as i32)));
            // In units of the full clipping bound, a power of two as large: so the sum counts as that
            // much longer.
            let questions = Queries { unit, ..asked.at(&query.theta) };
            let noise = SumNoise::Gaussian(self.gaussian(stage));
            asked.records(part)?.answer(&questions, &noise, session)
        })
    }
}

/// Scores of the columns that are left, problem after problem.
struct AtPoint<'a> {
    features: &'a GridMatrix,
    slopes: Vec<Vec<i32>>,
    left: Vec<usize>,
    watch: &'a StepWatch<'a>,
}

impl Scores for AtPoint<'_> {
    fn advance(&mut self, chosen: Option<Vertex>, report: &mut dyn FnMut(usize, i64)) -> bool {
        if chosen.is_none() {
            let scores = scores(self.features, &self.slopes, &self.left);
            scores.into_iter().enumerate().for_each(|(place, score)| report(place, score));
        }
        self.watch.step()
    }
}

/// The scores Σᵢ mᵢkᵢⱼ of these columns, problem after problem.
fn scores(features: &GridMatrix, slopes: &[Vec<i32>], left: &[usize]) -> Vec<i64> {
    let (mut all, mut sums) = (Vec::new(), vec![0; features.columns()]);
    for slopes in slopes {
        sums.fill(0);
        for (row, slope) in slopes.iter().enumerate() {
            features.add_row(row, i64::from(*slope), &mut sums);
        }
        all.extend(left.iter().map(|column| sums[*column]));
    }
    all
}

#[cfg(test)]
mod tests;
