//! `two-stage`: columns chosen by their association with the target, then least squares or [`super::amp`] on them.
//!
//! **Theorem** (after Kifer, Smith & Thakurta 2012; Thakurta 2013, Algorithm 6.2). Stage one is
//! [`crate::select::correlation`]: s choices of bounded range. It is charged in full, so that stage two may read which
//! columns were chosen: [`super::ssp`] for squared loss, [`super::amp`] for others, on rows of these columns clipped anew
//! to R′ (`narrow.rs`), whose events depend on **how many** columns there are, never on which. Both are composed by the
//! accountant as one list, which holds for any adaptive choice.
//!
//! Unlike [`super::chosen_amp`] a column is chosen once, by pairs of records where their number is public, and the rows
//! of the second stage are as short as a few columns are.
//!
//! **Settings.** `columns` s, by rule √(nε)/4, from 1 to 50; `share` of ε and δ for stage one, 0.3; `association` and
//! `clip` as in `correlation`; `fit_radius` R′; `ridge` of stage two.
//!
//! **Conditions.** One linear problem; rows in memory; δ > 0 except for squared loss, whose two stages both have a pure
//! ε. Finite arithmetic. Tested by `tests/all/sparse.rs`.

use super::amp::DEFAULT_SPLIT;
use super::chosen_amp::{COLUMNS, Question, SHARE, Stages, Start};
use super::frank_wolfe::CLIP;
use super::minimum::{Minimum, Step};
use super::narrow::{FIT_RADIUS, Narrow};
use super::objective::{expected_noise, shared};
use super::{Decision, Erm, ridge as rule, ssp};
use crate::allowance::Allowance;
use crate::facts::Facts;
use crate::method::{Method, MethodInfo, RIDGE_SETTING, Scores};
use crate::model::LinearWeights;
use crate::request::{Calibration, RIDGE};
use crate::select::correlation::{Association, Choosing, Way};
use crate::settings::{SettingInfo, Shown};
use crate::task::Procedure;
use crate::{LearnError, admit};
use privet_core::Budget;
use privet_dp::account::Event;
use privet_dp::gate::{Arithmetic, GateError, Noised, Session};
use privet_optim::loss::Loss;
use privet_optim::solver::{Monitor, Penalty};
use privet_optim::sum::Table;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// A line about it.
pub const INFO: MethodInfo = MethodInfo {
    name: "two-stage",
    summary: "chooses the columns most associated with the target, then fits them alone, by ssp or amp, \
              their rows clipped anew; for wide tables of which little matters",
    source: "Kifer, Smith & Thakurta 2012; Thakurta 2013, Algorithm 6.2; Dick et al. 2023 (choice)",
    guarantee: "(ε, δ), and pure ε for squared loss, in finite arithmetic",
    settings: &[
        SettingInfo::whole(COLUMNS, "columns chosen; chosen from public facts unless given")
            .also("at most the columns of the table"),
        SettingInfo::number(SHARE, "share of the budget for choosing; 0.3 unless given"),
        SettingInfo::words(
            "association",
            "kendall or products",
            "what columns are chosen by; kendall unless given, where the number of rows is public",
        ),
        SettingInfo::number(
            CLIP,
            "what entries are clamped to for products; from the schema unless given",
        ),
        SettingInfo::number(
            FIT_RADIUS,
            "length that rows of the columns chosen are clipped to; from the schema unless given",
        ),
        RIDGE_SETTING,
    ],
    scores: Scores::Separate,
    noised: "the choice of a column by its association, then what is fitted",
    any_storage: true,
};

/// Its settings.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TwoStage {
    /// s.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub columns: Option<u32>,
    /// Of ε and δ, for the choice.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub share: Option<f64>,
    /// What columns are chosen by.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub association: Option<Association>,
    /// τ.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clip: Option<f64>,
    /// R′.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fit_radius: Option<f64>,
    /// Of stage two.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ridge: Option<f64>,
}

/// Share of the budget for the choice.
const DEFAULT_SHARE: f64 = 0.3;
/// Columns that the rule takes at most.
const MOST: f64 = 50.0;

/// Decides everything from public facts.
pub(crate) fn plan(
    facts: &Facts,
    budget: &Allowance<'_>,
    calibration: Calibration,
    options: &TwoStage,
) -> Result<Decision, LearnError> {
    let refused = |what: String, instead| Err(LearnError::NotCovered { what, instead });
    if calibration == Calibration::Printed {
        return refused(
            "the papers print no constants for the two stages as they are here".into(),
            "leave out the calibration, or give sound",
        );
    }
    let squares = matches!(facts.loss, Loss::Squared { .. });
    if budget.is_pure() && !squares {
        return refused(
            "method two-stage has no pure epsilon in finite arithmetic but for squared loss".into(),
            "give a delta above 0, loss squared, or method frank-wolfe",
        );
    }
    if facts.problems > 1 {
        return refused(
            "method two-stage is made for one linear problem".into(),
            "give a number or two classes as target, or method gd or dp-ight",
        );
    }
    let open = facts.columns - usize::from(facts.bias);
    let usual = (0.25 * (facts.rows as f64 * budget.epsilon()).sqrt()).clamp(1.0, MOST).round();
    let count = options.columns.unwrap_or((usual as u32).min(open as u32));
    COLUMNS.check(f64::from(count))?;
    if count as usize > open {
        return refused(
            format!("{count} columns are to be chosen of {open}"),
            "give at most as many as there are, or method ssp or amp",
        );
    }
    if squares && count as usize >= ssp::WIDEST {
        return refused(
            format!("the second stage keeps a matrix of {count} by {count} moments"),
            "give fewer than 4096 columns",
        );
    }
    let share = SHARE.check(options.share.unwrap_or(DEFAULT_SHARE))?;
    let (association, clip) =
        Association::settled(facts, options.association, options.clip, false)?;
    let first = {
        let own = Budget::new(share * budget.epsilon(), share * budget.delta())?;
        let settled = budget.settled();
        let way = Way { association, clip, cap: None };
        Choosing::within(facts, &Allowance::new(own, settled.as_slice()), count, way)?
    };
    let narrow = Narrow::new(facts, count as usize, options.fit_radius)?;
    let given = options.ridge.map(|ridge| RIDGE.check(ridge)).transpose()?;
    let (floor, fit) = second(&narrow.fewer, budget, squares, given)?;
    let both = |scale: f64| -> Result<Event, GateError> {
        let second = fit(scale).0.event().map_err(|_| GateError::Malformed)?;
        Ok(Event::All(vec![first.selection.event()?, second]))
    };
    let scale = budget.after(1).least(floor, both)?;
    let (fit, ridge) = fit(scale);
    let clip = first.clip();
    let start = Start { count: count as usize, columns: facts.columns, bias: facts.bias };
    Ok(Decision {
        settled: Method::TwoStage(TwoStage {
            columns: Some(count),
            share: Some(share),
            association: Some(association),
            clip,
            fit_radius: Some(narrow.radius()),
            ridge: Some(ridge),
        }),
        procedure: Arc::new(Staged { first, fit, narrow: narrow.clone(), start }),
        arithmetic: Arithmetic::Finite,
        notes: vec![],
    })
}

/// Stage two at a noise scale, and its ridge.
type Fit<'a> = Box<dyn Fn(f64) -> (Arc<dyn Procedure<Erm>>, f64) + 'a>;

/// The least noise that stage two needs, and what it does at any.
fn second<'a>(
    fewer: &'a Facts,
    budget: &'a Allowance<'a>,
    squares: bool,
    given: Option<f64>,
) -> Result<(f64, Fit<'a>), LearnError> {
    if squares {
        let pure = budget.is_pure();
        let fit = move |scale| -> (Arc<dyn Procedure<Erm>>, f64) {
            let solving = ssp::at(fewer, pure, scale, given);
            let ridge = solving.ridge();
            (Arc::new(solving), ridge)
        };
        return Ok((ssp::floor(fewer, budget), Box::new(fit)));
    }
    let (expected, norm) = expected_noise(fewer, budget)?;
    let usual = rule::for_objective(fewer, budget.epsilon(), expected, norm);
    let ridge = RIDGE.check(given.unwrap_or(usual))?;
    let fit = move |scale| -> (Arc<dyn Procedure<Erm>>, f64) {
        let tolerance = fewer.default_tolerance();
        let perturbed = shared(fewer, budget, ridge, tolerance, DEFAULT_SPLIT, scale);
        (Arc::new(Minimum::new(fewer, Step::Perturbed(perturbed), Penalty::None)), ridge)
    };
    Ok((expected, Box::new(fit)))
}

/// A choice of columns, then a fit.
#[derive(Debug, Clone)]
struct Staged {
    first: Choosing,
    fit: Arc<dyn Procedure<Erm>>,
    narrow: Narrow,
    start: Start,
}

impl Procedure<Erm> for Staged {
    fn event(&self) -> Result<Event, LearnError> {
        Ok(Event::All(vec![self.first.selection.event()?, self.fit.event()?]))
    }

    fn settings(&self) -> Shown {
        let own = Shown::of([("columns", self.start.count as f64)])
            .and("association_noise", self.first.missed())
            .and("fit_radius", Some(self.narrow.radius()));
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
        serde_json::to_value(self.start).ok()
    }

    fn run(
        &self,
        facts: &Facts,
        table: &dyn Table,
        session: &mut Session<'_>,
        monitor: &dyn Monitor,
    ) -> Result<Noised<LinearWeights>, LearnError> {
        let data = admit::in_memory(table, INFO.name, "single columns")?;
        let mut walk = session.begin::<Stages>()?;
        let weights = session.walk(&mut walk, |question, session| match question {
            Question::Choose => {
                let chosen = self.first.choose(facts, data, session, monitor)?;
                Ok::<_, LearnError>(chosen.map(|point| vec![point]))
            }
            Question::Fit(columns) => {
                let part = self.narrow.table(data, columns);
                let fitted = self.fit.run(&self.narrow.fewer, &part, session, monitor)?;
                Ok(fitted.map(|fitted| fitted.weights))
            }
        })?;
        Ok(weights.ok_or(GateError::NotAsPlanned)?)
    }
}
