//! A selector in one file: the column whose sign agrees with the target's in most records. With this
//! file beside the others and a line in `learners.rs` it is a `--method` of the command and of Python
//! (`scripts/toy.sh`).
//!
//! **Theorem.** A record adds 0 or 1 to the score of every column. So between neighbours all scores
//! move within an interval of length k·w (add-remove: all the same way) or 2k·w (replace-one), k the
//! records of a unit and w the weight; the exponential mechanism over columns has bounded range rate
//! times that ([`privet_dp::mechanism::Choice`]). Scores are integers: finite arithmetic.

use super::{
    Decision, NoisyAnswer, PlanInput, SelectionSizes, Selector, SingleQuery, Support, open,
};
use crate::LearnError;
use crate::linear::facts::Facts;
use crate::linear::problems;
use crate::release::admit;
use crate::release::covers::{Coverage, MethodCoverage, NOT_PRINTED, TableAccess};
use crate::release::registry::Info;
use crate::release::settings::{PlanNumbers, settings};
use privet_core::{Neighbours, Range};
use privet_data::Dataset;
use privet_data::matrix::Matrix;
use privet_dp::account::Event;
use privet_dp::gate::{Noisy, Private, Session};
use privet_dp::mechanism::Choice;
use privet_optim::solver::Monitor;
use privet_optim::sum::Table;
use std::sync::Arc;

/// Limits on the weight.
pub const WEIGHT: Range = Range::from("weight", 1.0, 1000.0);

/// Registry entry of `agreement`.
pub const INFO: Info = Info {
    name: "agreement",
    summary: "the column whose sign agrees with the target's in most records; a toy",
    source: "none",
    guarantee: "(ε, δ) and pure ε in finite arithmetic",
    settings: Agreement::SETTINGS,
    noisy: "the choice of a column by its agreement",
    private: true,
    covers: MethodCoverage {
        several: Coverage::one_problem("give two classes as target, or method correlation"),
        needs: TableAccess::Memory,
        printed: Coverage::unprinted(NOT_PRINTED),
        ..MethodCoverage::ALL
    },
    more: (),
};

settings! {
    /// Settings of `agreement`.
    #[derive(Copy)]
    pub struct Agreement {
        weight: u32 [WEIGHT] "what a record that agrees counts; 1 unless given";
    }
}

/// Plans from public facts alone.
pub(crate) fn plan(wanted: &PlanInput<'_>, options: &Agreement) -> Result<Decision, LearnError> {
    let facts = wanted.facts;
    if wanted.size != 1 {
        return Err(LearnError::NotCovered {
            what: format!("method agreement chooses one column, not {}", wanted.size),
            instead: "give size 1, or method correlation",
        });
    }
    let weight = options.weight.unwrap_or(1);
    WEIGHT.check(f64::from(weight))?;
    let sides = if facts.neighbours == Neighbours::AddRemove { 1 } else { 2 };
    let choice = Choice {
        neighbours: facts.neighbours,
        unit: facts.unit,
        spread: sides * u64::from(facts.unit.records()) * u64::from(weight),
        rate: 1.0,
        candidates: open(facts),
    };
    let floor = 0.25 / wanted.budget.epsilon();
    let scale = wanted.budget.least_scale(floor, |scale| choice.with_range(1.0 / scale).event())?;
    let choice = choice.with_range(1.0 / scale);
    Ok(Decision {
        procedure: Arc::new(Agreeing { choice, weight, naming: SelectionSizes::of(facts, 1) }),
        settled: Selector::Agreement(Agreement { weight: Some(weight) }),
        notes: vec![],
    })
}

/// The exponential mechanism over columns.
#[derive(Debug, Clone)]
struct Agreeing {
    choice: Choice,
    weight: u32,
    naming: SelectionSizes,
}

impl SingleQuery for Agreeing {
    fn event(&self) -> Result<Event, LearnError> {
        Ok(self.choice.event()?)
    }

    fn settings(&self) -> PlanNumbers {
        PlanNumbers::of([("weight", f64::from(self.weight)), ("rate", self.choice.rate)])
    }

    fn refuses(&self, found: &Support) -> Option<&'static str> {
        found.columns.is_none().then_some("such a choice always names a column")
    }

    fn sizes(&self) -> SelectionSizes {
        self.naming
    }

    fn rows<'a>(&self, table: &'a dyn Table) -> Result<&'a Dataset, LearnError> {
        admit::in_memory(table, INFO.name, "signs of columns")
    }

    fn ask(
        &self,
        facts: &Facts,
        data: &Dataset,
        session: &mut Session<'_>,
        _monitor: &dyn Monitor,
    ) -> Result<Noisy<NoisyAnswer>, LearnError> {
        let labels = problems::labels(facts, data, 0)?;
        let mut scores = vec![0; self.naming.open];
        for (row, label) in labels.iter().enumerate() {
            let mut agrees = |column: usize, entry: f64| {
                if column < scores.len() && entry * label > 0.0 {
                    scores[column] += i64::from(self.weight);
                }
            };
            match &data.features {
                Matrix::Dense(dense) => {
                    let row = dense.row(row).iter().enumerate();
                    row.for_each(|(column, entry)| agrees(column, f64::from(*entry)));
                }
                Matrix::Csr(csr) => {
                    let (columns, entries) = csr.row(row);
                    let row = columns.iter().zip(entries);
                    row.for_each(|(column, entry)| agrees(*column as usize, f64::from(*entry)));
                }
            }
        }
        Ok(self.choice.run(Private::new(scores), session)?.map(NoisyAnswer::Set))
    }
}
