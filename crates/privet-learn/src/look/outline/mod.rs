//! What stands in the columns of a table that has no schema yet: numbers by the bins of a public grid, dates by their years,
//! everything else by its text, each key that enough units hold with its noised count.
//!
//! **Theorem.** A row holds at most one key a column ([`privet_data::read::held_keys`]), so that a unit of at most k rows
//! holds at most m = k·d keys of d columns, and counts once for each. What follows from that is
//! [`StableHistogram`]'s: (ε, δ) with half of δ for keys that one unit alone holds, and Gaussian noise for the rest.
//!
//! **Conditions.** Names of columns, which of them are read as text, unit and cap come from the header and the request.
//! δ > 0: without it no text that nobody listed can be named. Everything that is made of it, a schema with bounds and
//! categories ([`suggested`]), is post-processing. Tested by `tests/all/outline.rs`, neighbours by
//! `privet_data`'s `one_unit_moves_as_many_counts_as_it_may_hold`.

mod columns;

pub use columns::{MISSING, Suggested, Suggestion, suggested};

use crate::LearnError;
use crate::allowance::Allowance;
use crate::plan::{Plan, no_budget};
use crate::request::{Calibration, Request};
use crate::settings::Shown;
use crate::support::Support;
use crate::task::{Artefact, Planned, Procedure, Task, Work};
use privet_core::{Budget, Neighbours, Relation};
use privet_data::Dataset;
use privet_data::read::{CellKey, HeldKeys};
use privet_data::schema::{
    ClipDraft, ColumnDraft, Draft, FileDraft, FileFacts, Norm, TargetDraft, UnitDraft,
};
use privet_dp::account::{Event, gaussian};
use privet_dp::gate::{Arithmetic, Noised, Private, Session};
use privet_dp::mechanism::StableHistogram;
use privet_optim::solver::Monitor;
use privet_optim::sum::{Labels, Records, RecordsError, Table};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::sync::Arc;

/// An outline of a table's columns.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Outline {
    /// Their names.
    pub columns: Vec<String>,
    /// Those whose cells are read as text, also where they are numbers or dates.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub texts: Vec<String>,
}

/// One key that enough units hold.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FoundKey {
    /// The place of its column in the request.
    pub column: u32,
    /// What it is.
    pub key: CellKey,
    /// By about how many units it is held.
    pub count: f64,
}

/// Keys with their noised counts, by column.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Outlined {
    /// In order.
    pub keys: Vec<FoundKey>,
}

impl Artefact for Outlined {
    const KIND: &'static str = "outline";

    fn numbers(&self) -> Vec<f64> {
        self.keys.iter().map(|key| key.count).collect()
    }
}

/// The public facts.
#[derive(Debug, Clone, PartialEq)]
pub struct OutlineFacts {
    relation: Relation,
    rows: u64,
    /// m.
    keys: u32,
}

impl Outline {
    /// Of a file that is laid out so, whose rows belong to the people that `unit` names; δ is 1/rows² unless given.
    pub fn request(
        self,
        file: &FileFacts,
        unit: Option<UnitDraft>,
        rows: u64,
        neighbours: Neighbours,
        (epsilon, delta): (f64, Option<f64>),
    ) -> Result<Request<Self>, LearnError> {
        let separator = char::from(file.separator).to_string();
        let ignored = |name: &String| ColumnDraft { name: name.clone(), ..ColumnDraft::default() };
        // The head of a request has a schema; of this one only the unit and the names count.
        let draft = Draft {
            file: FileDraft { separator: Some(separator), ..FileDraft::default() },
            clip: ClipDraft { norm: Norm::Linf, radius: 1.0, rows: None },
            target: TargetDraft {
                column: Some(NO_TARGET.into()),
                bounds: Some([0.0, 1.0]),
                ..TargetDraft::default()
            },
            unit,
            columns: self.columns.iter().map(ignored).collect(),
            bias: Some(privet_data::schema::BiasDraft::Switch(true)),
            ..Draft::default()
        };
        let schema = draft.check().map_err(|error| LearnError::Schema(error.to_string()))?;
        let budget = Budget::new(epsilon, delta.unwrap_or_else(|| Budget::usual_delta(rows)))?;
        Ok(Request::new(schema, rows, neighbours, self).within(budget))
    }
}

/// Stands where a schema names its target; an outline has none.
const NO_TARGET: &str = "(no target)";

impl Task for Outline {
    const NAME: &'static str = "outline";
    type Facts = OutlineFacts;
    type Artefact = Outlined;

    fn facts(request: &Request<Self>) -> Result<OutlineFacts, LearnError> {
        let asked = |name, what: &str| Err(LearnError::Asked { name, what: what.into() });
        let names: BTreeSet<&String> = request.task.columns.iter().collect();
        if names.is_empty() || names.len() < request.task.columns.len() {
            return asked(
                "columns",
                "are none, or one stands there twice; some names are accepted, each once",
            );
        }
        if request.task.texts.iter().any(|name| !names.contains(name)) {
            return asked(
                "texts",
                "name a column that is not outlined; some of the columns are accepted",
            );
        }
        let relation = request.relation();
        let keys = u32::try_from(names.len()).ok();
        let keys = keys.and_then(|columns| columns.checked_mul(relation.unit.records()));
        let Some(keys) = keys else {
            return asked("columns", "times rows of a unit are too many; fewer are accepted");
        };
        Ok(OutlineFacts { relation, rows: request.rows, keys })
    }

    fn plan(request: &Request<Self>, facts: &OutlineFacts) -> Result<Planned<Self>, LearnError> {
        let budget = request.budget.ok_or_else(|| no_budget(request))?;
        if request.calibration == Calibration::Printed {
            return Err(LearnError::NotCovered {
                what: "no paper prints constants for outlines".into(),
                instead: "leave out the calibration, or give sound",
            });
        }
        if budget.is_pure() {
            return Err(LearnError::NotCovered {
                what: "texts that nobody listed cannot be named under delta = 0".into(),
                instead: "give a delta above 0, or list categories and bounds in a schema",
            });
        }
        let histogram = |noise_scale| histogram(facts, budget, noise_scale);
        let differing = match facts.relation.neighbours {
            Neighbours::AddRemove => f64::from(facts.keys),
            Neighbours::ReplaceOne | Neighbours::ReplaceLabel => 2.0 * f64::from(facts.keys),
        };
        let floor = differing.sqrt() / gaussian::mu(budget.epsilon(), budget.delta());
        let allowance = Allowance::new(budget, &request.noise);
        let noise_scale = allowance.least(floor, |scale| histogram(scale).event())?;
        Ok(Planned {
            work: Work::Private(Arc::new(Outlining {
                histogram: histogram(noise_scale),
                held: None,
            })),
            settled: request.task.clone(),
            arithmetic: Arithmetic::Finite,
            notes: Vec::new(),
        })
    }

    fn admit(facts: &OutlineFacts, table: &dyn Table) -> Result<(), LearnError> {
        let found = table.rows() as u64;
        match facts.relation.count_is_public() && found != facts.rows {
            true => Err(LearnError::RowCount { declared: facts.rows, found }),
            false => Ok(()),
        }
    }

    fn fits(request: &Request<Self>, found: &Outlined) -> Result<(), String> {
        let columns = request.task.columns.len() as u32;
        let ordered = found
            .keys
            .windows(2)
            .all(|pair| (pair[0].column, &pair[0].key) < (pair[1].column, &pair[1].key));
        let known = found.keys.iter().all(|key| key.column < columns && key.count.is_finite());
        if ordered && known { Ok(()) } else { Err("its keys do not fit its columns".into()) }
    }

    fn noised(&self) -> &'static str {
        "the number of units that hold a key"
    }

    fn summary(&self) -> String {
        format!("outline of {} columns", self.columns.len())
    }
}

/// The keys that enough units hold.
#[derive(Debug, Clone)]
struct Outlining {
    histogram: StableHistogram,
    /// Handed over before it is carried out.
    held: Option<Arc<HeldKeys>>,
}

impl Procedure<Outline> for Outlining {
    fn event(&self) -> Result<Event, LearnError> {
        Ok(self.histogram.event()?)
    }

    fn settings(&self) -> Shown {
        Shown::of([
            ("count_noise", self.histogram.noise_scale),
            ("least_count", self.histogram.threshold().unwrap_or(f64::INFINITY)),
            ("keys_of_a_unit", f64::from(self.histogram.keys)),
        ])
    }

    fn refuses(&self, found: &Outlined) -> Option<&'static str> {
        let least = self.histogram.threshold().unwrap_or(f64::INFINITY);
        if found.keys.iter().any(|key| key.count < least) {
            return Some("a key is held by fewer units than may be named");
        }
        let support = Support::gaussian(self.histogram.noise_scale);
        support.refuses(&[found.numbers()]).map(|_| "a count is off the grid of the noise")
    }

    fn run(
        &self,
        _facts: &OutlineFacts,
        _table: &dyn Table,
        session: &mut Session<'_>,
        _monitor: &dyn Monitor,
    ) -> Result<Noised<Outlined>, LearnError> {
        let held = self.held.as_ref().ok_or_else(|| LearnError::Asked {
            name: "keys",
            what: "are missing: hand over what the table holds before the plan is carried out"
                .into(),
        })?;
        let counts = Private::new(held.counts.clone());
        let keys = self.histogram.run(counts, session)?;
        Ok(keys.map(|keys| {
            let found =
                keys.into_iter().map(|((column, key), count)| FoundKey { column, key, count });
            Outlined { keys: found.collect() }
        }))
    }
}

/// The plan with what the table holds, and the lines that it is carried out on. The keys must be those of the plan's columns
/// and unit, in its order.
pub fn holding(
    mut plan: Plan<Outline>,
    held: HeldKeys,
) -> Result<(Plan<Outline>, LineCount), LearnError> {
    let lines = LineCount(held.rows as usize);
    let request = plan.request();
    let budget = request.budget.ok_or_else(|| no_budget(request))?;
    let noise_scale = request.noise.first().copied();
    let noise_scale = noise_scale.ok_or(LearnError::DataShape("the plan is not settled"))?;
    let histogram = histogram(plan.facts(), budget, noise_scale);
    plan.work = Work::Private(Arc::new(Outlining { histogram, held: Some(Arc::new(held)) }));
    Ok((plan, lines))
}

/// Half of δ is for keys that one unit alone holds.
fn histogram(facts: &OutlineFacts, budget: Budget, noise_scale: f64) -> StableHistogram {
    StableHistogram {
        neighbours: facts.relation.neighbours,
        unit: facts.relation.unit,
        keys: facts.keys,
        noise_scale,
        delta: budget.delta() / 2.0,
    }
}

/// A table of which an outline asks nothing but how many lines it has.
#[derive(Clone, Copy)]
pub struct LineCount(usize);

impl Table for LineCount {
    fn rows(&self) -> usize {
        self.0
    }

    fn columns(&self) -> usize {
        0
    }

    fn in_memory(&self) -> Option<&Dataset> {
        None
    }

    fn visit(
        &self,
        _see: &mut dyn FnMut(&Dataset) -> Result<(), RecordsError>,
    ) -> Result<(), RecordsError> {
        Ok(())
    }

    fn rows_at(&self, _places: &[usize]) -> Result<Dataset, RecordsError> {
        Err(nothing_but_lines())
    }

    fn problem(&self, _labels: &Labels) -> Result<Box<dyn Records + '_>, RecordsError> {
        Err(nothing_but_lines())
    }
}

fn nothing_but_lines() -> RecordsError {
    RecordsError::BackEnd("an outline has nothing but lines".into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan;

    #[test]
    fn a_request_is_planned_and_planned_again() {
        let task = Outline { columns: vec!["a".into(), "b".into()], texts: vec!["b".into()] };
        let facts = FileFacts::by_name("t.csv".as_ref());
        let unit = UnitDraft { column: "who".into(), max_records: 3, ..UnitDraft::default() };
        let request =
            task.clone().request(&facts, Some(unit), 1000, Neighbours::AddRemove, (1.0, None));
        let planned = plan(&request.unwrap()).unwrap();
        assert_eq!(planned.facts().keys, 6);
        let again = plan(planned.request()).unwrap();
        assert_eq!(again.request(), planned.request());
        assert_eq!(again.events(), planned.events());
        let pure =
            task.clone().request(&facts, None, 1000, Neighbours::ReplaceOne, (1.0, Some(0.0)));
        assert!(plan(&pure.unwrap()).unwrap_err().to_string().contains("delta"));
        let strange = Outline { texts: vec!["c".into()], ..task };
        let refused = strange.request(&facts, None, 1000, Neighbours::ReplaceOne, (1.0, None));
        assert!(plan(&refused.unwrap()).unwrap_err().to_string().contains("texts"));
    }
}
