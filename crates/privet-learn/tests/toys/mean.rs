//! A family of releases in one file: the private mean of one column. Request, plan, session,
//! certificate, file, verification and attack are those of every other family; with this file beside
//! the others and a line in `families.rs` it has a verb, help, a plan and reports besides
//! (`scripts/toy.sh`).

use privet_core::{Budget, Relation};
use privet_data::matrix::Matrix;
use privet_data::{Encoding, Schema};
use privet_dp::account::Event;
use privet_dp::gate::{Arithmetic, Noisy, Private, Session};
use privet_dp::mechanism::{ExactCounts, Laplace};
use privet_learn::report::{Part, Report, Section, number};
use privet_learn::{
    Allowance, Artefact, BudgetOptions, Family, FamilyPlan, LearnError, NoLearner, OfferedFamily,
    PlanNumbers, Procedure, ROWS, Released, Request, SettingInfo, Task, Work, admit_shape,
};
use privet_optim::solver::Monitor;
use privet_optim::sum::Table;
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::sync::Arc;

/// Entries are truncated to multiples of it, so that their sums are exact.
pub const UNIT: f64 = 1.0 / 1_048_576.0;

/// The mean of the first column, a number scaled to [0, 1].
///
/// **Theorem.** Entries are truncated to multiples of a power of two in [0, 1], so that their sum moves by at
/// most 1 between add-remove neighbours; Laplace noise of scale 1/ε on that grid is ε-DP. Dividing by the
/// declared number of rows is post-processing.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Mean {}

/// The noisy sum.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sum {
    /// One number, in units of the column's bounds.
    pub sums: Vec<f64>,
}

impl Sum {
    /// The sum itself.
    pub fn sum(&self) -> f64 {
        self.sums.first().copied().unwrap_or(0.0)
    }
}

/// The public facts that the plan reads.
#[derive(Debug, Clone)]
pub struct Shape {
    columns: usize,
    rows: u64,
    relation: Relation,
}

impl Artefact for Sum {
    const KIND: &'static str = "sum";
    fn numbers(&self) -> Vec<f64> {
        self.sums.clone()
    }
}

#[derive(Debug, Clone)]
pub struct Adding(Laplace);

impl Task for Mean {
    const NAME: &'static str = "mean";
    type Facts = Shape;
    type Artefact = Sum;

    fn facts(request: &Request<Self>) -> Result<Shape, LearnError> {
        ROWS.check(request.rows as f64)?;
        let columns = Encoding::new(&request.schema).width();
        Ok(Shape { columns, rows: request.rows, relation: request.relation() })
    }

    fn plan(request: &Request<Self>, shape: &Shape) -> Result<FamilyPlan<Self>, LearnError> {
        let none = || LearnError::NoBudget { what: "a mean".into() };
        let allowance = Allowance::new(request.budget.ok_or_else(none)?, &request.noise);
        let relation = shape.relation;
        let law = |noise_scale| Laplace {
            neighbours: relation.neighbours,
            unit: relation.unit,
            sensitivity: relation.records(),
            noise_scale,
            step: UNIT,
            on_grid: true,
            coordinates: 1,
        };
        let floor = relation.records() / allowance.epsilon();
        let scale = allowance.least_scale(floor, |scale| Ok(law(scale).event()))?;
        Ok(FamilyPlan {
            work: Work::Private(Arc::new(Adding(law(scale)))),
            settled: Self {},
            arithmetic: Arithmetic::Finite,
            notes: vec![],
        })
    }

    fn admit(shape: &Shape, table: &dyn Table) -> Result<(), LearnError> {
        admit_shape(shape.relation, shape.rows, shape.columns, table, |_| Ok(()))
    }

    fn fits(_request: &Request<Self>, found: &Sum) -> Result<(), String> {
        let one = matches!(found.sums[..], [sum] if sum.is_finite());
        if one { Ok(()) } else { Err("its sum is not one number".into()) }
    }

    fn noise_on(&self) -> &'static str {
        "the sum"
    }

    fn summary(&self) -> String {
        "a mean".into()
    }
}

impl Procedure<Mean> for Adding {
    fn event(&self) -> Result<Event, LearnError> {
        Ok(self.0.event())
    }

    fn settings(&self) -> PlanNumbers {
        PlanNumbers::of([("sum_noise", self.0.noise_scale)])
    }

    fn refuses(&self, found: &Sum) -> Option<&'static str> {
        let off = (found.sum() / UNIT).fract() != 0.0;
        off.then_some("the sum is off the grid of the noise")
    }

    fn run(
        &self,
        _shape: &Shape,
        table: &dyn Table,
        session: &mut Session<'_>,
        _monitor: &dyn Monitor,
    ) -> Result<Noisy<Sum>, LearnError> {
        let mut count = 0_i128;
        table.visit(&mut |rows| {
            for row in 0..rows.features.rows() {
                let entry = match &rows.features {
                    Matrix::Dense(dense) => dense.row(row)[0],
                    Matrix::Csr(csr) => match csr.row(row) {
                        ([0, ..], [entry, ..]) => *entry,
                        _ => 0.0,
                    },
                };
                count += (f64::from(entry).clamp(0.0, 1.0) / UNIT) as i128;
            }
            Ok(())
        })?;
        let sum = Private::new(ExactCounts { unit: UNIT, counts: vec![count] });
        let noisy = self.0.run_units(sum, session)?;
        Ok(noisy.map(|sums| Sum { sums }))
    }
}

impl Family for Mean {
    const VERB: &'static str = "mean";
    const NOUN: &'static str = "mean";

    fn report(released: &Released<Self>) -> Report {
        let mean = released.artefact().sum() / released.request().rows as f64;
        let line = format!("  {}\n", number(mean));
        Report::new(
            "The mean of the first column, as a share of its bounds.",
            vec![Section::new("Mean", [Part::Lines(line)])],
            json!({ "mean": mean }),
        )
        .showing("mean", &mean)
    }
}

impl OfferedFamily for Mean {
    const HELP_LINE: &'static str = "Release the mean of the first column, privately";
    const HELP_TEXT: &'static str =
        "Adds the first column up, adds noise, and divides by the declared number of rows.";
    const EXAMPLES: &'static str =
        "Examples:\n  privet mean table.csv --schema s.toml --epsilon 1 --delta 0 --out mean.json";
    const OF_DELTA: &'static str = " [default: 0]";
    type Learner = NoLearner;
    const REQUEST_FIELDS: &'static [SettingInfo] = &[];

    fn build_request(
        self,
        budget: &BudgetOptions,
        schema: &Schema,
        rows: u64,
    ) -> Result<Request<Self>, LearnError> {
        let spent = Budget::new(budget.epsilon, budget.delta.unwrap_or(0.0))?;
        Ok(Request::new(schema.clone(), rows, budget.neighbours, self).with_budget(spent))
    }
}
