//! `chosen-amp`: a few columns chosen privately, then [`super::amp`] on them alone.
//!
//! **Theorem.** Stage one makes k choices among signed columns by their scores at θ = 0,
//! scoreⱼ = ∓Σᵢ ℓ′(0; yᵢ)·xᵢⱼ for its two signs, in integers, a chosen column scoring 0 from then on: k
//! mechanisms of bounded range 2Δ·rate ([`privet_dp::mechanism::Selection`]), Δ that of
//! [`super::frank_wolfe::ScoreTerms`]. The choice is charged in full, so that stage two may depend on it: AMP
//! on the chosen columns, whose rows have at most the norm they had (leaving out entries increases no
//! norm), and the constant one. Its event depends on **how many** columns are chosen, which the plan
//! fixes, never on which. Both are charged together, as one list, which composition allows for any
//! adaptive choice.
//!
//! *Choices that repeat.* Choosing a column twice is possible (its score is 0, not −∞) and costs no privacy;
//! the columns are filled up to k by the first ones that were not chosen, a fixed rule.
//!
//! **Settings.** `columns` k; `share` of ε and δ for stage one, the rest is for stage two as far as the
//! accountant, which composes both, allows. Where columns are few, or all matter, `amp` and `gd` are
//! better: this is for wide tables with few relevant columns.
//!
//! **Conditions.** One linear problem (two classes or a number); δ > 0; rows in memory.
//! Tested by `tests/all/chosen_amp.rs`.

use super::amp::DEFAULT_SPLIT;
use super::chosen_columns::{fill_columns, spread};
use super::frank_wolfe::{CLIP, ScoreTerms, floor, slope};
use super::minimum::{Minimum, Step};
use super::objective::{expected_noise, with_shared_noise};
use super::ridge as rule;
use super::{Decision, Erm};
use crate::LearnError;
use crate::linear::facts::Facts;
use crate::linear::learners::{LearnerFacts, Method, RIDGE_SETTING, Scores as ClassScores};
use crate::linear::model::LinearWeights;
use crate::linear::problems;
use crate::release::admit;
use crate::release::allowance::{Allowance, scales};
use crate::release::ask::ask;
use crate::release::covers::{Coverage, MethodCoverage, NOT_PRINTED, TableAccess};
use crate::release::registry::{FINITE_ARITHMETIC, Info};
use crate::release::request::{Calibration, GAMMA, RIDGE, SPLIT};
use crate::release::settings::{PlanNumbers, settings};
use crate::release::task::Procedure;
use crate::release::watch::StepWatch;
use privet_core::{Budget, Range};
use privet_data::Dataset;
use privet_dp::account::Event;
use privet_dp::gate::{Arithmetic, GateError, Next, Noisy, Private, Session, Walk};
use privet_dp::mechanism::{Scores, Selection, SelectionLaw, Vertex};
use privet_optim::solver::{Monitor, Penalty};
use privet_optim::sum::Table;
use privet_optim::vertex::{ColumnScores, GridMatrix};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Limits on the columns chosen.
pub const COLUMNS: Range = Range::from("columns", 1.0, 100_001.0);
/// Limits on the share of the choice.
pub const SHARE: Range = Range::open("share", 0.0, 1.0);

/// The registry entry.
pub const INFO: Info<LearnerFacts> = Info {
    name: "chosen-amp",
    summary: "chooses a few columns privately by their scores, then fits them alone by amp; for wide \
              tables of which little matters",
    source: "Smith & Thakurta 2013 (two stages); Iyengar et al. 2019 (amp)",
    guarantee: FINITE_ARITHMETIC,
    settings: ChosenAmp::SETTINGS,
    noisy: "the choice of a column by its score",
    private: true,
    covers: MethodCoverage {
        printed: Coverage::unprinted(NOT_PRINTED),
        pure: Coverage::gaussian("give a delta above 0, or method amp or frank-wolfe"),
        several: Coverage::one_problem(
            "give a number or two classes as target, or method gd or amp",
        ),
        needs: TableAccess::Memory,
        ..MethodCoverage::ALL
    },
    more: LearnerFacts { scores: ClassScores::Separate, any_storage: true },
};

settings! {
    /// Settings of `chosen-amp`.
    #[derive(Copy)]
    pub struct ChosenAmp {
        columns: u32 [COLUMNS]
            "columns chosen; chosen from public facts unless given",
            also "at most the columns of the table";
        share: f64 [SHARE] "share of the budget for choosing; 0.3 unless given";
        /// λ of the sum form.
        ridge: f64 = RIDGE_SETTING;
        gamma: f64 [GAMMA]
            "gradient norm of the mean objective at which to stop; 1/N² unless given";
        split: f64 [SPLIT] "share of the noise budget for the output noise; 0.01 unless given";
    }
}

/// Default share of the budget for the choice.
const DEFAULT_SHARE: f64 = 0.3;
/// Largest number of columns that the rule takes.
const MOST_COLUMNS: f64 = 64.0;

/// The number of columns k of the rule: the square root of rows × ε/100, more than which cannot be
/// distinguished.
fn usual_columns(facts: &Facts, budget: &Allowance<'_>) -> u32 {
    let told_apart = facts.rows as f64 * budget.epsilon().min(1.0) / 100.0;
    told_apart.sqrt().ceil().clamp(1.0, MOST_COLUMNS) as u32
}

/// Decides everything from public facts.
pub(crate) fn plan(
    facts: &Facts,
    budget: &Allowance<'_>,
    _calibration: Calibration,
    options: &ChosenAmp,
) -> Result<Decision, LearnError> {
    let refused = |what: String, instead| Err(LearnError::NotCovered { what, instead });
    let open = facts.columns - usize::from(facts.bias);
    let count = options.columns.unwrap_or(usual_columns(facts, budget).min(open as u32));
    COLUMNS.check(f64::from(count))?;
    if count as usize > open {
        return refused(
            format!("{count} columns are to be chosen of {open}"),
            "give at most as many as there are, or method amp",
        );
    }
    let share = SHARE.check(options.share.unwrap_or(DEFAULT_SHARE))?;
    let first = choice(facts, budget, count, share)?;
    // The facts of stage two, the same for any columns chosen.
    let fewer = Facts { columns: count as usize + usize::from(facts.bias), ..facts.clone() };
    let split = SPLIT.check(options.split.unwrap_or(DEFAULT_SPLIT))?;
    let tolerance = match options.gamma {
        Some(gamma) => GAMMA.check(gamma)? * facts.rows as f64,
        None => facts.default_tolerance(),
    };
    let (expected, norm) = expected_noise(&fewer, budget)?;
    let default = rule::for_objective(&fewer, budget.epsilon(), expected, norm);
    let ridge = RIDGE.check(options.ridge.unwrap_or(default))?;
    let fit = |scale| {
        let perturbed = with_shared_noise(&fewer, budget, ridge, tolerance, split, scale);
        Minimum::new(&fewer, Step::Perturbed(perturbed), Penalty::None)
    };
    let both = |scale: f64| -> Result<Event, GateError> {
        let second = fit(scale).event().map_err(|_| GateError::Malformed)?;
        Ok(Event::All(vec![first.event()?, second]))
    };
    let scale = budget.after(1).least_scale(expected, both)?;
    let (fit, bias) = (fit(scale), facts.bias);
    let chosen =
        Chosen { terms: terms(facts)?, selection: first.clone(), fit, bias, fewer: fewer.clone() };
    Ok(Decision {
        procedure: Arc::new(chosen),
        settled: Method::ChosenAmp(ChosenAmp {
            columns: Some(count),
            share: Some(share),
            ridge: Some(ridge),
            gamma: Some(tolerance / facts.rows as f64),
            split: Some(split),
        }),
        arithmetic: Arithmetic::Finite,
        notes: vec![],
    })
}

fn terms(facts: &Facts) -> Result<ScoreTerms, LearnError> {
    let clip = CLIP.check(facts.entry_scale.min(facts.entry_bound))?;
    Ok(ScoreTerms::new(facts, clip, slope(facts)))
}

/// Stage one, within its share of the budget.
fn choice(
    facts: &Facts,
    budget: &Allowance<'_>,
    count: u32,
    share: f64,
) -> Result<Selection, LearnError> {
    let terms = terms(facts)?;
    let selection = Selection {
        neighbours: facts.neighbours,
        unit: facts.unit,
        sensitivity: terms.sensitivity,
        law: SelectionLaw::Exponential(1.0),
        columns: facts.columns,
        coefficients: vec![1.0; count as usize],
        peeled: None,
    };
    let own = Budget::new(share * budget.epsilon(), share * budget.delta())?;
    let settled = budget.settled_scale();
    let own = Allowance::new(own, settled.as_slice());
    let least = floor(facts, &own, &terms, count) / selection.range_of_rate(1.0);
    let scale = own.least_scale(least, |scale| selection.with_range(1.0 / scale).event())?;
    Ok(selection.with_range(1.0 / scale))
}

/// The procedure: a choice of columns, then a fit.
#[derive(Debug, Clone)]
struct Chosen {
    selection: Selection,
    terms: ScoreTerms,
    /// The facts of stage two.
    fewer: Facts,
    fit: Minimum,
    bias: bool,
}

impl Procedure<Erm> for Chosen {
    fn event(&self) -> Result<Event, LearnError> {
        Ok(Event::All(vec![self.selection.event()?, self.fit.event()?]))
    }

    fn settings(&self) -> PlanNumbers {
        let choice = self.selection.choice().map(|event| scales(&event)).unwrap_or_default();
        let noise = choice.first().map(|scale| scale * self.terms.sensitivity as f64);
        let own = [("columns", self.selection.coefficients.len() as f64)];
        let own =
            PlanNumbers::of(own).and("score_noise", noise.map(|noise| noise * self.terms.unit()));
        self.fit.settings().iter().fold(own, |all, (name, value)| all.and(name, Some(value)))
    }

    fn refuses(&self, found: &LinearWeights) -> Option<&'static str> {
        let used = |row: &Vec<f64>| row.iter().filter(|weight| **weight != 0.0).count();
        if found.weights.iter().any(|row| used(row) > self.fewer.columns) {
            return Some("more weights are not 0 than columns were chosen");
        }
        self.fit.refuses(found)
    }

    fn predicted_excess(&self, _facts: &Facts) -> Option<f64> {
        self.fit.predicted_excess(&self.fewer)
    }

    fn check(&self, _facts: &Facts) -> Result<(), LearnError> {
        self.fit.check(&self.fewer)
    }

    fn walk(&self) -> Option<serde_json::Value> {
        let start = Start {
            count: self.selection.coefficients.len(),
            columns: self.selection.columns,
            bias: self.bias,
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
        let features = GridMatrix::new(&data.features, self.terms.features)
            .ok_or(LearnError::DataShape("there are 2^32 rows or more"))?;
        let labels = problems::labels(facts, data, 0)?;
        let watch = StepWatch::new(monitor);
        ask::<Stages>(session, &watch, |query, session| match query {
            Query::Choose => {
                let scores =
                    ColumnScores::new(&features, &labels, facts.loss, self.terms.slopes)
                        .ok_or(LearnError::DataShape("there is not one target for each row"))?;
                let bias = self.bias.then(|| facts.columns - 1);
                let once = AtZero { scores: scores.scores().to_vec(), bias, watch: &watch };
                let chosen = self.selection.run(Private::new(once), session);
                Ok(chosen?.map(|point| vec![point]))
            }
            Query::Fit(columns) => {
                let part = Dataset { features: data.features.only(columns), ..data.clone() };
                let fitted = self.fit.run(&self.fewer, &part, session, monitor)?;
                Ok(fitted.map(|fitted| fitted.weights))
            }
        })
    }
}

/// Scores at θ = 0; a chosen column scores 0.
struct AtZero<'a> {
    scores: Vec<i64>,
    bias: Option<usize>,
    watch: &'a StepWatch<'a>,
}

impl Scores for AtZero<'_> {
    fn advance(&mut self, chosen: Option<Vertex>, report: &mut dyn FnMut(usize, i64)) -> bool {
        match chosen {
            Some(vertex) => report(vertex.column, 0),
            None => {
                let others = self.scores.iter().enumerate();
                let others = others.filter(|(column, _)| Some(*column) != self.bias);
                others.for_each(|(column, score)| report(column, *score));
            }
        }
        self.watch.step()
    }
}

/// The public numbers that both stages start from.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Start {
    /// The number of columns to choose, k.
    pub count: usize,
    /// The number of columns p, the constant one included.
    pub columns: usize,
    /// True if the last column is the constant one.
    pub bias: bool,
}

/// The state of both stages, with the chosen columns once they are known.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Stages {
    start: Start,
    chosen: Option<Vec<usize>>,
}

/// The walk's queries.
#[derive(Debug, Clone, Serialize)]
pub(super) enum Query {
    /// A choice of columns.
    Choose,
    /// A fit of the weights of these columns.
    Fit(Vec<usize>),
}

impl Walk for Stages {
    type Start = Start;
    type Query = Query;
    type Answer = Vec<Vec<f64>>;
    type Artefact = LinearWeights;

    fn begin(start: Start) -> Self {
        Self { start, chosen: None }
    }

    fn next(&mut self, answer: Option<Vec<Vec<f64>>>) -> Next<Query, LinearWeights> {
        let Some(answer) = answer else { return Next::Ask(Query::Choose) };
        match &self.chosen {
            None => {
                let point = answer.into_iter().next().unwrap_or_default();
                let columns = self.start.columns_of(&point);
                self.chosen = Some(columns.clone());
                Next::Ask(Query::Fit(columns))
            }
            Some(columns) => {
                Next::Release(LinearWeights::of(spread(answer, columns, self.start.columns)))
            }
        }
    }
}

impl Start {
    /// The columns of a sum of choices, filled up to `count`, in order; the constant one last.
    pub(super) fn columns_of(&self, point: &[f64]) -> Vec<usize> {
        let open = self.columns - usize::from(self.bias);
        let was_chosen = |column: usize| point.get(column).is_some_and(|times| *times != 0.0);
        fill_columns(was_chosen, open, self.count, self.bias)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn so_many_columns_are_fitted_whatever_was_chosen() {
        let start = Start { count: 3, columns: 6, bias: true };
        assert_eq!(start.columns_of(&[0.0, 1.0, 0.0, -1.0, 1.0, 0.0]), [1, 3, 4, 5]);
        assert_eq!(start.columns_of(&[0.0, 0.0, 0.0, 2.0, 0.0, 1.0]), [0, 1, 3, 5]);
        let mut walk = Stages::begin(start);
        assert!(matches!(walk.next(None), Next::Ask(Query::Choose)));
        let query = walk.next(Some(vec![vec![0.0, 1.0, 0.0, 1.0, 1.0, 0.0]]));
        assert!(matches!(query, Next::Ask(Query::Fit(columns)) if columns == [1, 3, 4, 5]));
        let released = walk.next(Some(vec![vec![1.0, 2.0, 3.0, 4.0]]));
        let expected = LinearWeights::of(vec![vec![0.0, 1.0, 0.0, 2.0, 3.0, 4.0]]);
        assert!(matches!(released, Next::Release(found) if found == expected));
    }
}
