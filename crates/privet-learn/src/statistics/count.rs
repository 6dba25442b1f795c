//! Private counts of declared categories.
//!
//! **Theorem.** Records are counted by one column under a schema of [`Schema::counting`], and a record
//! is in at most one cell ([`Occupied`]). A unit with at most k records adds an integer vector c ≥ 0
//! with ‖c‖₁ ≤ k to the counts. Between neighbours they move by c or −c (add or remove), or by c′ − c
//! (replace one): ℓ1 by at most k or 2k, ℓ2 by at most k or √(‖c‖² + ‖c′‖²) ≤ √2·k.
//! - **Laplace**: discrete Laplace noise of scale s on integers is (Δ₁/s)-DP, exactly, for the program
//!   as executed ([`privet_dp::mechanism::Laplace`]).
//! - **Gaussian**: discrete Gaussian noise on a fine grid ([`privet_dp::mechanism::Gaussian`]).
//!
//! The choice is a rule on public facts: the noise with the smaller standard deviation at the budget,
//! Laplace if δ = 0. For one release that is nearly always Laplace; for many (`times`) it is Gaussian.
//!
//! **Conditions.** Categories are declared in the schema, not read from the records, so that an empty
//! category has a (noisy) count as well. The number of rows is public under replace-one neighbours with
//! records as units, and private otherwise. Tested by `tests/all/count.rs`.

use crate::release::admit;
use crate::release::allowance::Allowance;
use crate::release::answers::{Answers, LocalRecords, Queries, SumNoise};
use crate::release::ask::ask;
use crate::release::family::Family;
use crate::release::note::Condition;
use crate::release::plan::no_budget;
use crate::release::report::{Part, Report, Section, number, release_json};
use crate::release::request::{Calibration, ROWS};
use crate::release::rounding::nearly_equal;
use crate::release::settings::PlanNumbers;
use crate::release::support::Support;
use crate::release::task::{Artefact, FamilyPlan, Procedure, Task, Work};
use crate::release::watch::StepWatch;
use crate::{LearnError, Released, Request};
use privet_core::{Range, Relation};
use privet_data::Schema;
use privet_data::encode::Encoding;
use privet_dp::account::{Event, gaussian};
use privet_dp::gate::{Arithmetic, GateError, Next, Noisy, Session, Walk};
use privet_dp::mechanism::{Gaussian, Laplace};
use privet_optim::solver::Monitor;
use privet_optim::sum::{Exact, Labels, Occupied, Table};
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::collections::HashSet;
use std::sync::Arc;

/// Counts by one column.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Count {
    /// The column to count by.
    pub by: String,
    /// Upper bound on the number of releases; 1 unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub times: Option<u32>,
    /// The distribution of the noise; chosen from public facts unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub law: Option<Law>,
}

/// The distribution of the noise.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Law {
    /// Discrete Laplace, on the integers.
    Laplace,
    /// Discrete Gaussian, on a fine grid.
    Gaussian,
}

/// Limits on the number of releases.
pub const TIMES: Range = Range::from("times", 1.0, 1_000_001.0);

/// The public facts of the counts.
#[derive(Debug, Clone, PartialEq)]
pub struct Cells {
    /// The declared number of rows n.
    pub rows: u64,
    /// The number of encoded columns of the table.
    pub columns: usize,
    /// Neighbours and unit.
    pub relation: Relation,
    /// The categories, in order.
    pub names: Vec<String>,
    /// The exact sum that counts the records.
    pub query: Occupied,
    /// The encoding of targets in that sum.
    pub labels: Labels,
    /// The factor of the released noise over the noise charged: 1, or √(k/t) among parties.
    pub widening: f64,
}

/// Noisy counts. They may be below 0 where few or no records are.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Counts {
    /// The column counted by.
    pub by: String,
    /// Each category with its count.
    pub cells: Vec<Cell>,
    /// The standard deviation of the noise on each count.
    pub noise: f64,
}

/// A category with its count.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cell {
    /// The category.
    pub category: String,
    /// Noisy number of records in it.
    pub count: f64,
}

impl Artefact for Counts {
    const KIND: &'static str = "table";

    fn numbers(&self) -> Vec<f64> {
        self.cells.iter().map(|cell| cell.count).collect()
    }
}

impl Cells {
    pub(crate) fn of(
        schema: &Schema,
        by: &str,
        rows: u64,
        relation: Relation,
    ) -> Result<Self, LearnError> {
        ROWS.check(rows as f64)?;
        // The theorem counts rows of exactly this schema.
        if schema.counting(by).map_err(|error| LearnError::Schema(error.to_string()))? != *schema {
            return Err(LearnError::NotCovered {
                what: format!("counts by '{}' are taken of a table of that column", printed(by)),
                instead: "make the request with Count::request, or give the schema of Schema::counting",
            });
        }
        let encoding = Encoding::new(schema);
        let columns = encoding.width();
        let (names, query) = match schema.classes().filter(|_| schema.target().column == by) {
            Some(classes) => {
                let (count, marker) = (classes.len(), columns - 1);
                (classes.to_vec(), Occupied::Classes { count, marker })
            }
            None => {
                let prefix = format!("{by}=");
                let named = |name: String| name.strip_prefix(&prefix).unwrap_or(&name).to_string();
                let names: Vec<_> =
                    encoding.column_names().into_iter().take(columns - 1).map(named).collect();
                let count = names.len();
                (names, Occupied::Columns { first: 0, count })
            }
        };
        if names.iter().collect::<HashSet<_>>().len() < names.len() {
            return Err(LearnError::NotCovered {
                what: format!("two cells of '{}' have the same name", printed(by)),
                instead: "name no category (other) or (missing): cells of these names are made",
            });
        }
        let labels = match schema.classes() {
            Some(classes) => Labels::Joint { classes: classes.len() },
            None => Labels::Signed { weights: vec![] },
        };
        Ok(Self { rows, columns, relation, names, query, labels, widening: 1.0 })
    }

    /// The ℓ1 sensitivity Δ₁, an integer.
    pub fn absolute_shift(&self) -> f64 {
        self.relation.records()
    }

    /// The ℓ2 sensitivity Δ₂.
    pub fn shift(&self) -> f64 {
        // The factor covers the rounding of the root.
        self.relation.records() / self.relation.sides().sqrt() * (1.0 + 4.0 * f64::EPSILON)
    }
}

/// The note in the certificate of one of several releases about the others.
const ONE_OF_SEVERAL: Condition = Condition::new(
    "one-of-several",
    "one of up to {times} releases: the guarantee is that of all of them together",
);

fn printed(text: &str) -> String {
    privet_core::printable(text).into_owned()
}

impl Count {
    /// A request for counts by a column of a table; takes the part of its schema that counting needs.
    pub fn request(
        self,
        schema: &Schema,
        rows: u64,
        neighbours: privet_core::Neighbours,
    ) -> Result<Request<Self>, LearnError> {
        let part =
            schema.counting(&self.by).map_err(|error| LearnError::Schema(error.to_string()))?;
        Ok(Request::new(part, rows, neighbours, self))
    }
}

impl Family for Count {
    const VERB: &'static str = "count";
    const NOUN: &'static str = "counts";
    const ENCODED: bool = false;

    fn report(counts: &Released<Self>) -> Report {
        let (request, Counts { by, cells, noise }) = (counts.request(), counts.artefact());
        let law = request.task.law.unwrap_or(Law::Laplace);
        let within = number(law.margin(*noise).ceil());
        let mut rows = vec![vec![by.clone(), "count".into(), "±".into()]];
        for cell in cells {
            rows.push(vec![cell.category.clone(), number(cell.count.round()), within.clone()]);
        }
        let what_it_means = "(a count is within ± of the truth in 95 of 100 releases; below 0 is noise\naround next to nobody)\n";
        let own = json!({
            "by": request.task.by,
            "cells": cells,
            "noise": noise,
            "law": request.task.law,
            "times": request.task.times,
        });
        Report::new(
            format!("The number of records in each category of \"{}\".", printed(&request.task.by)),
            vec![Section::new("Counts", [Part::Table(rows), Part::Lines(what_it_means.into())])],
            release_json(request, own),
        )
        .showing("counts", counts.artefact())
    }
}

impl Task for Count {
    const NAME: &'static str = "count";
    const AMONG_PARTIES: &'static str = "give a delta above 0, law gaussian and no times: parties \
                                         add up sums under Gaussian noise alone";
    type Facts = Cells;
    type Artefact = Counts;

    fn facts(request: &Request<Self>) -> Result<Cells, LearnError> {
        let Request { schema, rows, task, .. } = request;
        let widening = request.among.map_or(1.0, |among| among.widening());
        Ok(Cells { widening, ..Cells::of(schema, &task.by, *rows, request.relation())? })
    }

    fn plan(request: &Request<Self>, cells: &Cells) -> Result<FamilyPlan<Self>, LearnError> {
        let budget = request.budget.ok_or_else(|| no_budget(request))?;
        if request.calibration == Calibration::Printed {
            return Err(LearnError::NotCovered {
                what: "no paper prints constants for counts".into(),
                instead: "leave out the calibration, or give sound",
            });
        }
        let times = TIMES.check(f64::from(request.task.times.unwrap_or(1)))? as u32;
        let allowance = Allowance::new(budget, &request.noise);
        let at = |law| -> Result<NoisyCounts, LearnError> {
            let by = &request.task.by;
            let counting = |noise_scale| {
                let (by, cells) = (by.clone(), cells.clone());
                NoisyCounts { by, cells, law, noise_scale, times }
            };
            let unit = || {
                let mu = gaussian::mu(budget.epsilon(), budget.delta());
                cells.shift() * f64::from(times).sqrt() / mu
            };
            let floor = match law {
                Law::Laplace if budget.is_pure() => {
                    cells.absolute_shift() * f64::from(times) / budget.epsilon()
                }
                // The least scale for Gaussian noise; Laplace noise needs at least a fraction of it.
                Law::Gaussian => unit(),
                Law::Laplace => 0.01 * unit(),
            };
            let scale = allowance.least_scale(floor, |scale| counting(scale).events())?;
            Ok(counting(scale))
        };
        let counting = match (request.task.law, budget.is_pure()) {
            (Some(Law::Gaussian), true) => {
                return Err(LearnError::NotCovered {
                    what: "Gaussian noise has no finite epsilon at delta = 0".into(),
                    instead: "give a delta above 0, or law laplace",
                });
            }
            (Some(law), _) => at(law)?,
            (None, true) => at(Law::Laplace)?,
            (None, false) if request.among.is_some() => at(Law::Gaussian)?,
            (None, false) => {
                let gaussian = at(Law::Gaussian)?;
                match at(Law::Laplace) {
                    Ok(laplace) if laplace.deviation() <= gaussian.deviation() => laplace,
                    _ => gaussian,
                }
            }
        };
        let settled = Self { law: Some(counting.law), times: Some(times), ..request.task.clone() };
        Ok(FamilyPlan {
            work: Work::Private(Arc::new(counting)),
            settled,
            arithmetic: Arithmetic::Finite,
            notes: (times > 1)
                .then(|| ONE_OF_SEVERAL.with(&[("times", &times)]))
                .into_iter()
                .collect(),
        })
    }

    fn admit(cells: &Cells, table: &dyn Table) -> Result<(), LearnError> {
        admit::shape(cells.relation, cells.rows, cells.columns, table, |_| Ok(()))
    }

    fn fits(request: &Request<Self>, counts: &Counts) -> Result<(), String> {
        let cells = Self::facts(request).map_err(|error| error.to_string())?;
        let same = counts.by == request.task.by
            && counts.cells.len() == cells.names.len()
            && counts.cells.iter().zip(&cells.names).all(|(cell, name)| cell.category == *name)
            && counts.numbers().iter().chain([&counts.noise]).all(|number| number.is_finite());
        if same { Ok(()) } else { Err("its counts do not fit its schema".into()) }
    }

    fn noise_on(&self) -> &'static str {
        "the counts"
    }

    fn summary(&self) -> String {
        format!("counts by '{}'", printed(&self.by))
    }
}

/// The mechanism that counts with noise.
#[derive(Debug, Clone)]
pub(crate) struct NoisyCounts {
    by: String,
    cells: Cells,
    law: Law,
    noise_scale: f64,
    /// Upper bound on the number of releases.
    pub times: u32,
}

impl NoisyCounts {
    /// Rebuilds the mechanism of a settled request.
    pub(crate) fn of_settled(request: &Request<Count>, cells: &Cells) -> Option<Self> {
        let Count { by, times, law } = request.task.clone();
        let noise_scale = *request.noise.first()?;
        Some(Self { by, cells: cells.clone(), law: law?, noise_scale, times: times? })
    }

    fn laplace(&self) -> Laplace {
        Laplace {
            neighbours: self.cells.relation.neighbours,
            unit: self.cells.relation.unit,
            sensitivity: self.cells.absolute_shift(),
            noise_scale: self.noise_scale,
            step: 1.0,
            on_grid: true,
            coordinates: self.cells.names.len(),
        }
    }

    fn gaussian(&self) -> Gaussian {
        Gaussian {
            neighbours: self.cells.relation.neighbours,
            unit: self.cells.relation.unit,
            sensitivity: self.cells.shift(),
            noise_scale: self.noise_scale,
            coordinates: self.cells.names.len(),
        }
    }

    /// The event of all releases together.
    fn events(&self) -> Result<Event, GateError> {
        let one = match self.law {
            Law::Laplace => self.laplace().event(),
            Law::Gaussian => self.gaussian().event()?,
        };
        Ok(match self.times {
            1 => one,
            count => Event::UpTo { count, event: Box::new(one) },
        })
    }

    /// The standard deviation of the noise on a count.
    fn deviation(&self) -> f64 {
        match self.law {
            // Of the discrete law: Pr[k] ∝ e^(−|k|/s) has the variance 1/(2 sinh²(1/2s)).
            Law::Laplace => {
                (0.5_f64.sqrt() / (0.5 / self.noise_scale).sinh()).max(f64::MIN_POSITIVE)
            }
            Law::Gaussian => self.noise_scale * self.cells.widening,
        }
    }

    /// Draws one release.
    pub(crate) fn release_counts(
        &self,
        table: &dyn Table,
        session: &mut Session<'_>,
    ) -> Result<Noisy<Vec<f64>>, LearnError> {
        let here = LocalRecords(vec![admit::records(table, &self.cells.labels)?]);
        let questions = Queries::of(vec![Exact::Occupied(self.cells.query)], 1.0);
        let noise = match self.law {
            Law::Laplace => SumNoise::Laplace(self.laplace()),
            Law::Gaussian => SumNoise::Gaussian(self.gaussian()),
        };
        here.answer(&questions, &noise, session)
    }

    /// The post-processing of noisy counts.
    pub(crate) fn start(&self) -> Tabulating {
        let (names, noise) = (self.cells.names.clone(), self.deviation());
        Tabulating { by: self.by.clone(), names, noise }
    }
}

impl Procedure<Count> for NoisyCounts {
    fn event(&self) -> Result<Event, LearnError> {
        Ok(self.events()?)
    }

    fn settings(&self) -> PlanNumbers {
        let own = [("count_noise", self.deviation()), ("cells", self.cells.names.len() as f64)];
        PlanNumbers::of(own).and("times", (self.times > 1).then_some(f64::from(self.times)))
    }

    fn refuses(&self, found: &Counts) -> Option<&'static str> {
        if !nearly_equal(found.noise, self.deviation(), 1e-9) {
            return Some("the noise that it states is not the plan's");
        }
        let support = match self.law {
            Law::Laplace => Support::Grid(1.0),
            Law::Gaussian => Support::gaussian(self.noise_scale),
        };
        let off = support.refuses(&[found.numbers()]).is_some();
        off.then_some("a count is off the grid of the noise")
    }

    fn among_parties(&self) -> bool {
        self.law == Law::Gaussian && self.times == 1
    }

    fn walk(&self) -> Option<serde_json::Value> {
        serde_json::to_value(self.start()).ok()
    }

    fn run(
        &self,
        _cells: &Cells,
        table: &dyn Table,
        session: &mut Session<'_>,
        monitor: &dyn Monitor,
    ) -> Result<Noisy<Counts>, LearnError> {
        let watch = StepWatch::new(monitor);
        ask::<Tabulating>(session, &watch, |(), session| self.release_counts(table, session))
    }
}

/// Puts noisy counts beside the names of their cells, once per release.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Tabulating {
    by: String,
    names: Vec<String>,
    noise: f64,
}

impl Walk for Tabulating {
    type Start = Self;
    type Query = ();
    type Answer = Vec<f64>;
    type Artefact = Counts;

    fn begin(start: Self) -> Self {
        start
    }

    fn next(&mut self, answer: Option<Vec<f64>>) -> Next<(), Counts> {
        let Some(counts) = answer else { return Next::Ask(()) };
        let cell = |(name, count): (&String, f64)| Cell { category: name.clone(), count };
        let cells = self.names.iter().zip(counts).map(cell).collect();
        Next::Release(Counts { by: self.by.clone(), cells, noise: self.noise })
    }
}
