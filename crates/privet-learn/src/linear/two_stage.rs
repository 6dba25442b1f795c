//! `two-stage`: columns chosen by any selector, then a private fit on them alone.
//!
//! **Theorem** (after Kifer, Smith & Thakurta 2012; Thakurta 2013, Algorithm 6.2). Stage one is a
//! selector of [`crate::selection`], which is charged in full, so that stage two may depend on the
//! chosen columns: a fit (`second_stage.rs`) on rows of these columns clipped anew to R′
//! (`chosen_columns.rs`), whose events depend on **how many** columns there are, never on which. Both
//! are composed by the accountant as one list, which holds for any adaptive choice.
//!
//! *No answer.* If a selector finds none stable enough, the first s columns are fitted: a fixed default,
//! which the certificate states. (The thesis says FAIL, after the budget is spent.)
//!
//! Unlike [`super::chosen_amp`] a column is chosen once, by pairs of records if their number is public,
//! and the rows of the second stage have the small norm of a few columns.
//!
//! **Settings.** `columns` s, by rule √(nε)/4, from 1 to 50; `share` of ε and δ for stage one, 0.3;
//! `selector`, by rule `correlation`, whose `association` and `clip` can be given (the settings of
//! others are chosen by their rules, and written down); `fit`; `fit_radius` R′; `ridge` of stage two.
//!
//! **Conditions.** One linear problem; rows in memory; δ > 0 except for `correlation` or `exponential`
//! before `ssp`, which have a pure ε. Finite arithmetic. Tested by `tests/all/sparse.rs`.

use super::chosen_amp::{COLUMNS, Query, SHARE, Start};
use super::chosen_columns::{FIT_RADIUS, NarrowTable, spread};
use super::frank_wolfe::CLIP;
use super::second_stage::{Fit, second};
use super::{Decision, Erm, ssp};
use crate::LearnError;
use crate::linear::facts::Facts;
use crate::linear::learners::{LearnerFacts, Method, RIDGE_SETTING, Scores};
use crate::linear::model::LinearWeights;
use crate::release::admit;
use crate::release::allowance::Allowance;
use crate::release::ask::ask;
use crate::release::covers::{Coverage, MethodCoverage, TableAccess};
use crate::release::note::Condition;
use crate::release::registry::Info;
use crate::release::request::{Calibration, RIDGE};
use crate::release::settings::{PlanNumbers, settings};
use crate::release::task::Procedure;
use crate::release::watch::StepWatch;
use crate::selection::correlation::{Association, Correlation};
use crate::selection::{NoisyAnswer, PlanInput, SelectionSizes, Selector, SingleQuery};
use privet_core::Budget;
use privet_dp::account::Event;
use privet_dp::gate::{Arithmetic, GateError, Next, Noisy, Session, Walk};
use privet_optim::loss::Loss;
use privet_optim::solver::Monitor;
use privet_optim::sum::Table;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// The registry entry.
pub const INFO: Info<LearnerFacts> = Info {
    name: "two-stage",
    summary: "chooses a few columns by any selector, then fits them alone, by ssp, amp or linear, their rows \
              clipped anew; for wide tables of which little matters",
    source: "Kifer, Smith & Thakurta 2012; Thakurta 2013, Algorithm 6.2; Dick et al. 2023 (choice)",
    guarantee: "(ε, δ), and pure ε for squared loss, in finite arithmetic",
    settings: TwoStage::SETTINGS,
    noisy: "the choice of columns, then what is fitted",
    private: true,
    covers: MethodCoverage {
        printed: Coverage::unprinted(
            "has no printed constants for the two stages as they are here",
        ),
        several: Coverage::one_problem(
            "give a number or two classes as target, or method gd or dp-ight",
        ),
        needs: TableAccess::Memory,
        ..MethodCoverage::ALL
    },
    more: LearnerFacts { scores: Scores::Separate, any_storage: true },
};

settings! {
    /// Settings of `two-stage`.
    #[derive(Copy)]
    pub struct TwoStage {
        columns: u32 [COLUMNS]
            "columns chosen; chosen from public facts unless given",
            also "at most the columns of the table";
        share: f64 [SHARE] "share of the budget for choosing; 0.3 unless given";
        selector: Chooser ["correlation, exponential, distance, subsample or lasso-stability"]
            "what chooses the columns; correlation unless given";
        fit: Fit ["ssp, amp or linear"]
            "what fits them; ssp for loss squared and amp for others unless given";
        association: Association ["kendall or products"]
            "what columns are chosen by; kendall unless given, where the number of rows is public";
        clip: f64 [CLIP] "what entries are clamped to for products; from the schema unless given";
        fit_radius: f64 [FIT_RADIUS]
            "length that rows of the columns chosen are clipped to; from the schema unless given";
        /// The ridge of stage two.
        ridge: f64 = RIDGE_SETTING;
    }
}

/// A selector by its name, or with its settings.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Chooser {
    /// By its name.
    Named(SelectorName),
    /// With its settings.
    Settled(Selector),
}

/// The name of a selector.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SelectorName {
    /// By association with the target.
    Correlation,
    /// By the fit of sets of columns.
    Exponential,
    /// By the votes of chunks of the records.
    Distance,
    /// By the votes of random parts of the records.
    Subsample,
    /// By the support of the LASSO, if it is proved stable.
    LassoStability,
}

impl TwoStage {
    /// The selector of stage one.
    fn chooser(&self) -> Result<Selector, LearnError> {
        let Self { association, clip, .. } = *self;
        let selector = match self.selector {
            None | Some(Chooser::Named(SelectorName::Correlation)) => {
                return Ok(Selector::Correlation(Correlation { association, clip, cap: None }));
            }
            Some(Chooser::Named(SelectorName::Exponential)) => {
                Selector::Exponential(Default::default())
            }
            Some(Chooser::Named(SelectorName::Distance)) => Selector::Distance(Default::default()),
            Some(Chooser::Named(SelectorName::Subsample)) => {
                Selector::Subsample(Default::default())
            }
            Some(Chooser::Named(SelectorName::LassoStability)) => {
                Selector::LassoStability(Default::default())
            }
            Some(Chooser::Settled(selector)) => selector,
        };
        if self.association.is_some() || self.clip.is_some() {
            return Err(LearnError::NotCovered {
                what: format!("association and clip are for selector correlation, not {selector}"),
                instead: "leave them out",
            });
        }
        Ok(selector)
    }
}

/// Default share of the budget for the choice.
const DEFAULT_SHARE: f64 = 0.3;
/// Largest number of columns that the rule takes.
const MOST_COLUMNS: f64 = 50.0;

/// Decides everything from public facts.
pub(crate) fn plan(
    facts: &Facts,
    budget: &Allowance<'_>,
    _calibration: Calibration,
    options: &TwoStage,
) -> Result<Decision, LearnError> {
    let refused = |what: String, instead| Err(LearnError::NotCovered { what, instead });
    let squares = matches!(facts.loss, Loss::Squared { .. });
    let fit = options.fit.unwrap_or(if squares { Fit::Ssp } else { Fit::Amp });
    if budget.is_pure() && fit != Fit::Ssp {
        return refused(
            "method two-stage has no pure epsilon in finite arithmetic but for fit ssp".into(),
            "give a delta above 0, loss squared with fit ssp, or method frank-wolfe",
        );
    }
    if !squares && fit != Fit::Amp {
        return refused(
            format!("{fit} fits least squares, not loss {}", facts.loss.name()),
            "give loss squared (classes are fitted as -1 and 1), or fit amp",
        );
    }
    let open = facts.columns - usize::from(facts.bias);
    let usual =
        (0.25 * (facts.rows as f64 * budget.epsilon()).sqrt()).clamp(1.0, MOST_COLUMNS).round();
    let count = options.columns.unwrap_or((usual as u32).min(open as u32));
    COLUMNS.check(f64::from(count))?;
    if count as usize > open {
        return refused(
            format!("{count} columns are to be chosen of {open}"),
            "give at most as many as there are, or method ssp or amp",
        );
    }
    if fit == Fit::Ssp && count as usize >= ssp::MOST_COLUMNS {
        return refused(
            format!("the second stage keeps a matrix of {count} by {count} moments"),
            "give fewer than 4096 columns",
        );
    }
    let share = SHARE.check(options.share.unwrap_or(DEFAULT_SHARE))?;
    let own = Budget::new(share * budget.epsilon(), share * budget.delta())?;
    let settled = budget.settled_scale();
    let chosen = options.chooser()?.plan(&PlanInput {
        facts,
        budget: Allowance::new(own, settled.as_slice()),
        calibration: Calibration::Sound,
        size: count,
    })?;
    let first = chosen.procedure;
    let narrow = NarrowTable::new(facts, count as usize, options.fit_radius)?;
    let given = options.ridge.map(|ridge| RIDGE.check(ridge)).transpose()?;
    let (floor, fitting) = second(fit, &narrow.fewer, budget, given)?;
    let both = |scale: f64| -> Result<Event, GateError> {
        let malformed = |_| GateError::Malformed;
        let second = fitting(scale).0.event().map_err(malformed)?;
        Ok(Event::All(vec![first.event().map_err(malformed)?, second]))
    };
    let scale = budget.after(1).least_scale(floor, both)?;
    let (fitting, ridge) = fitting(scale);
    let (selector, association, clip) = match chosen.settled {
        Selector::Correlation(Correlation { association, clip, .. }) => (None, association, clip),
        selector => (Some(Chooser::Settled(selector)), None, None),
    };
    let notes = if chosen.notes.is_empty() { vec![] } else { vec![OTHERWISE.into()] };
    let start = Start { count: count as usize, columns: facts.columns, bias: facts.bias };
    Ok(Decision {
        settled: Method::TwoStage(TwoStage {
            columns: Some(count),
            share: Some(share),
            selector,
            fit: options.fit,
            association,
            clip,
            fit_radius: Some(narrow.radius()),
            ridge: Some(ridge),
        }),
        procedure: Arc::new(Staged { first, fit: fitting, narrow: narrow.clone(), start }),
        arithmetic: Arithmetic::Finite,
        notes,
    })
}

/// The note in a release whose selector may find nothing stable enough.
const OTHERWISE: Condition = Condition::new(
    "first-columns-otherwise",
    "where no choice of columns is stable enough the first ones are fitted, which spends the \
                         budget as well",
);

/// The procedure: a choice of columns, then a fit.
#[derive(Debug, Clone)]
struct Staged {
    first: Arc<dyn SingleQuery>,
    fit: Arc<dyn Procedure<Erm>>,
    narrow: NarrowTable,
    start: Start,
}

impl Procedure<Erm> for Staged {
    fn event(&self) -> Result<Event, LearnError> {
        Ok(Event::All(vec![self.first.event()?, self.fit.event()?]))
    }

    fn settings(&self) -> PlanNumbers {
        let chosen = self.first.settings();
        let chosen = chosen.iter().filter(|(name, _)| *name != "size");
        let own = PlanNumbers::of([("columns", self.start.count as f64)]);
        let own = chosen.fold(own, |all, (name, value)| all.and(name, Some(value)));
        let own = own.and("fit_radius", Some(self.narrow.radius()));
        self.fit.settings().iter().fold(own, |all, (name, value)| all.and(name, Some(value)))
    }

    fn refuses(&self, found: &LinearWeights) -> Option<&'static str> {
        let used = |row: &Vec<f64>| row.iter().filter(|weight| **weight != 0.0).count();
        if found.weights.iter().any(|row| used(row) > self.narrow.fewer.columns) {
            return Some("more weights are not 0 than columns were chosen");
        }
        self.fit.refuses(found)
    }

    fn predicted_excess(&self, _facts: &Facts) -> Option<f64> {
        self.fit.predicted_excess(&self.narrow.fewer)
    }

    fn check(&self, _facts: &Facts) -> Result<(), LearnError> {
        self.fit.check(&self.narrow.fewer)
    }

    fn walk(&self) -> Option<serde_json::Value> {
        serde_json::to_value(StageStart { start: self.start, sizes: self.first.sizes() }).ok()
    }

    fn run(
        &self,
        facts: &Facts,
        table: &dyn Table,
        session: &mut Session<'_>,
        monitor: &dyn Monitor,
    ) -> Result<Noisy<LinearWeights>, LearnError> {
        let data = admit::in_memory(table, INFO.name, "single columns")?;
        let watch = StepWatch::new(monitor);
        ask::<Stages>(session, &watch, |query, session| match query {
            Query::Choose => {
                let heard = self.first.ask(facts, data, session, monitor)?;
                Ok(heard.map(Reply::Chosen))
            }
            Query::Fit(columns) => {
                let part = self.narrow.table(data, columns);
                let fitted = self.fit.run(&self.narrow.fewer, &part, session, monitor)?;
                Ok(fitted.map(|fitted| Reply::Fitted(fitted.weights)))
            }
        })
    }
}

/// The public numbers that both stages start from.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct StageStart {
    start: Start,
    #[serde(rename = "naming")]
    sizes: SelectionSizes,
}

/// The answer to a query.
enum Reply {
    /// The selector's answer.
    Chosen(NoisyAnswer),
    /// The weights fitted.
    Fitted(Vec<Vec<f64>>),
}

/// The state of both stages, with the chosen columns once they are known.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Stages {
    begin: StageStart,
    chosen: Vec<usize>,
}

impl Walk for Stages {
    type Start = StageStart;
    type Query = Query;
    type Answer = Reply;
    type Artefact = LinearWeights;

    fn begin(begin: StageStart) -> Self {
        Self { begin, chosen: vec![] }
    }

    fn next(&mut self, answer: Option<Reply>) -> Next<Query, LinearWeights> {
        let StageStart { start, sizes } = self.begin;
        match answer {
            None => Next::Ask(Query::Choose),
            Some(Reply::Chosen(heard)) => {
                self.chosen = start.columns_of(&sizes.point(heard));
                Next::Ask(Query::Fit(self.chosen.clone()))
            }
            Some(Reply::Fitted(weights)) => {
                Next::Release(LinearWeights::of(spread(weights, &self.chosen, start.columns)))
            }
        }
    }
}
