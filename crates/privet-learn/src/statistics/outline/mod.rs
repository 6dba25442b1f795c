//! Private discovery of a table's columns before it has a schema: numbers by the bins of a public grid,
//! dates by their years, everything else by its text; each key that enough units hold, with its noisy
//! count.
//!
//! **Theorem.** A row holds at most one key a column ([`privet_data::read::held_keys`]), a unit of at
//! most k rows at most k. It contributes to at most c = min(k, `most_keys`) of them: those whose hash of
//! (unit, column, key) under a secret key, drawn afresh and independent of the records, is smallest. For
//! d columns the release holds (s = 1 if neighbours differ by adding or removing a unit, s = 2 by
//! replacing one):
//! - each key that enough units contribute to, with its count, by [`StableHistogram`] for m = c·d keys
//!   of a unit: between neighbours s·c·d counts differ, each by 1, so that the sensitivity is at most
//!   √(s·c·d) in ℓ2, under noise σ; and all keys that one unit alone contributes to are released with
//!   probability at most δ/2 together;
//! - for each column the number of contributions, by kind (numbers, dates, texts, nothing: `kinds`),
//!   under Gaussian noise of scale 3·c·σ: between neighbours they move by at most c·√(s·d) in ℓ2.
//!
//! Both together are (ε, δ)-differentially private for the σ that the accountant finds for those two
//! Gaussian mechanisms and the leak: Δ/σ is √(s·d·(c + 1/9))/σ. Without the cap it would be √(s·d·k)/σ.
//!
//! *Proof.* Given the secret, the keys that a unit contributes to are a function of its own name and
//! rows: neighbours differ in no other unit's contribution. A unit adds 1 to at most c counts of a
//! column. Removing it moves those; its replacement moves as many more, at worst others. To the totals
//! of a column it adds n₁ + … + n₄ ≤ c: Σnᵢ² ≤ c² if it is added or removed,
//! Σ(nᵢ − nᵢ′)² ≤ Σnᵢ² + Σnᵢ′² ≤ 2c² if it is replaced, and d columns add up. So for every value of the
//! secret the release is private; so is the mixture over values independent of the records, whether or
//! not the secret is known. The rest is [`StableHistogram`]'s theorem,
//! [`privet_dp::mechanism::Gaussian`]'s and their composition. ∎
//!
//! **Conditions.** Names of columns, the choice of those read as text, unit and cap come from the header
//! and the request. δ > 0: without it no unlisted text can be released. A schema with bounds and
//! categories made from the release ([`suggest_columns`]) is post-processing. A request of 0.2.0 has no
//! `most_keys`: c = k, and no totals. Tested by `tests/all/outline.rs`, neighbours by `privet_data`'s
//! `one_unit_moves_as_many_counts_as_it_may_hold` and here by
//! `the_farthest_neighbours_move_all_that_is_charged`.

mod columns;
mod kinds;
mod report;

pub use columns::{ColumnSuggestion, MISSING, Suggestion, suggest_columns};
pub use kinds::{KINDS, totals};

use crate::release::allowance::Allowance;
use crate::release::plan::no_budget;
use crate::release::request::Calibration;
use crate::release::settings::PlanNumbers;
use crate::release::support::Support;
use crate::release::task::{Artefact, FamilyPlan, Procedure, Task, Work};
use crate::{LearnError, Plan, Request};
use privet_core::{Budget, Neighbours, Relation};
use privet_data::Dataset;
use privet_data::read::{CellKey, HeldKeys};
use privet_data::schema::{
    ClipDraft, ColumnDraft, Draft, FileDraft, FileFacts, Norm, TargetDraft, UnitDraft,
};
use privet_dp::account::{Event, gaussian};
use privet_dp::gate::{Arithmetic, GateError, Noisy, Private, Session};
use privet_dp::mechanism::{ExactCounts, Gaussian, StableHistogram};
use privet_optim::solver::Monitor;
use privet_optim::sum::{Labels, Records, RecordsError, Table};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::sync::Arc;

/// An outline of a table's columns.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Outline {
    /// The names of the columns.
    pub columns: Vec<String>,
    /// Columns whose cells are read as text, even if they are numbers or dates.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub texts: Vec<String>,
    /// Upper bound on the keys of a column that a unit contributes to. `None` in files of 0.2.0: all
    /// that its rows hold.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub most_keys: Option<u32>,
}

/// The default number of keys of a column that a unit contributes to.
pub const MOST_KEYS: u32 = 2;

/// One key that enough units hold.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FoundKey {
    /// The index of its column in the request.
    pub column: u32,
    /// The key: a bin, a year or a text.
    pub key: CellKey,
    /// Noisy number of units that hold it.
    pub count: f64,
}

/// Keys with their noisy counts, by column.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Outlined {
    /// The keys, sorted by column and key.
    pub keys: Vec<FoundKey>,
    /// For each column the noisy number of contributions by kind: numbers, dates, texts, missing. Empty
    /// in files of 0.2.0.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub kinds: Vec<[f64; KINDS]>,
}

impl Artefact for Outlined {
    const KIND: &'static str = "outline";

    fn numbers(&self) -> Vec<f64> {
        let counts = self.keys.iter().map(|key| key.count);
        counts.chain(self.kinds.iter().flatten().copied()).collect()
    }
}

/// The public facts of an outline.
#[derive(Debug, Clone, PartialEq)]
pub struct OutlineFacts {
    relation: Relation,
    rows: u64,
    /// The number of columns d.
    columns: u32,
    /// The keys c of a column that a unit contributes to.
    keys_a_column: u32,
    /// True if totals of kinds are released.
    kinds: bool,
}

impl OutlineFacts {
    /// The keys m = c·d that a unit contributes to.
    fn keys(&self) -> u32 {
        self.columns * self.keys_a_column
    }
}

impl Outline {
    /// An outline of these columns, those of `texts` read as text.
    pub fn of(columns: Vec<String>, texts: Vec<String>) -> Self {
        Self { columns, texts, most_keys: Some(MOST_KEYS) }
    }

    /// A request for an outline of a file with this layout, whose rows belong to the people that `unit`
    /// names; δ is 1/rows² unless given.
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
        // A request holds a schema; of this one only the unit and the names count.
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
        Ok(Request::new(schema, rows, neighbours, self).with_budget(budget))
    }
}

/// Placeholder for the target's name; an outline has no target.
const NO_TARGET: &str = "(no target)";

impl Task for Outline {
    const NAME: &'static str = "outline";
    type Facts = OutlineFacts;
    type Artefact = Outlined;

    fn facts(request: &Request<Self>) -> Result<OutlineFacts, LearnError> {
        let invalid =
            |name, what: &str| Err(LearnError::InvalidRequest { name, what: what.into() });
        let names: BTreeSet<&String> = request.task.columns.iter().collect();
        if names.is_empty() || names.len() < request.task.columns.len() {
            return invalid(
                "columns",
                "are none, or one stands there twice; some names are accepted, each once",
            );
        }
        if request.task.texts.iter().any(|name| !names.contains(name)) {
            return invalid(
                "texts",
                "name a column that is not outlined; some of the columns are accepted",
            );
        }
        let relation = request.relation();
        let (records, most_keys) = (relation.unit.records(), request.task.most_keys);
        if most_keys == Some(0) {
            return invalid("most_keys", "is 0; at least 1 is accepted");
        }
        let keys_a_column = records.min(most_keys.unwrap_or(records));
        let columns = u32::try_from(names.len()).unwrap_or(u32::MAX);
        if columns.checked_mul(keys_a_column.max(KINDS as u32)).is_none() {
            return invalid("columns", "times keys of a unit are too many; fewer are accepted");
        }
        let kinds = most_keys.is_some();
        Ok(OutlineFacts { relation, rows: request.rows, columns, keys_a_column, kinds })
    }

    fn plan(request: &Request<Self>, facts: &OutlineFacts) -> Result<FamilyPlan<Self>, LearnError> {
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
        let outlining = |noise_scale| OutlineMechanism::of(facts, budget, noise_scale);
        let differing = facts.relation.sides() * f64::from(facts.keys());
        let kinds = if facts.kinds { kinds::square(facts) } else { 0.0 };
        let floor = (differing + kinds).sqrt() / gaussian::mu(budget.epsilon(), budget.delta());
        let allowance = Allowance::new(budget, &request.noise);
        let noise_scale = allowance.least_scale(floor, |scale| outlining(scale).events())?;
        Ok(FamilyPlan {
            work: Work::Private(Arc::new(outlining(noise_scale))),
            // No more than a unit's rows can hold: every larger number settles to the same request.
            settled: Outline {
                most_keys: request.task.most_keys.map(|_| facts.keys_a_column),
                ..request.task.clone()
            },
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
        let known = found.keys.iter().all(|key| key.column < columns);
        let totals = if request.task.most_keys.is_some() { columns as usize } else { 0 };
        let finite = found.numbers().iter().all(|number| number.is_finite());
        match ordered && known && finite && found.kinds.len() == totals {
            true => Ok(()),
            false => Err("its keys do not fit its columns".into()),
        }
    }

    fn noise_on(&self) -> &'static str {
        "the number of units that hold a key"
    }

    fn summary(&self) -> String {
        format!("outline of {} columns", self.columns.len())
    }
}

/// The mechanism that releases the keys that enough units hold, and the totals of kinds.
#[derive(Debug, Clone)]
struct OutlineMechanism {
    histogram: StableHistogram,
    kinds: Option<Gaussian>,
    /// The keys held, set by [`holding`] before the plan runs.
    held: Option<Arc<HeldKeys>>,
}

impl OutlineMechanism {
    /// Half of δ covers keys that one unit alone holds.
    fn of(facts: &OutlineFacts, budget: Budget, noise_scale: f64) -> Self {
        let histogram = StableHistogram {
            neighbours: facts.relation.neighbours,
            unit: facts.relation.unit,
            keys: facts.keys(),
            noise_scale,
            delta: budget.delta() / 2.0,
        };
        let kinds = facts.kinds.then(|| kinds::mechanism(facts, noise_scale));
        Self { histogram, kinds, held: None }
    }

    fn events(&self) -> Result<Event, GateError> {
        let (histogram, kinds) = (self.histogram.event()?, &self.kinds);
        Ok(match (histogram, kinds) {
            (Event::All(mut parts), Some(kinds)) => {
                parts.push(kinds.event()?);
                Event::All(parts)
            }
            (event, _) => event,
        })
    }
}

/// A part of the release.
enum Part {
    Keys(Vec<FoundKey>),
    Kinds(Vec<f64>),
}

/// Merges the parts.
fn merge_parts(parts: Vec<Part>) -> Outlined {
    let mut found = Outlined { keys: Vec::new(), kinds: Vec::new() };
    for part in parts {
        match part {
            Part::Keys(keys) => found.keys = keys,
            Part::Kinds(all) => found.kinds = all.as_chunks().0.to_vec(),
        }
    }
    found
}

impl Procedure<Outline> for OutlineMechanism {
    fn event(&self) -> Result<Event, LearnError> {
        Ok(self.events()?)
    }

    fn settings(&self) -> PlanNumbers {
        let shown = PlanNumbers::of([
            ("count_noise", self.histogram.noise_scale),
            ("least_count", self.histogram.threshold().unwrap_or(f64::INFINITY)),
            ("keys_of_a_unit", f64::from(self.histogram.keys)),
        ]);
        shown.and("total_noise", self.kinds.as_ref().map(|kinds| kinds.noise_scale))
    }

    fn refuses(&self, found: &Outlined) -> Option<&'static str> {
        let least = self.histogram.threshold().unwrap_or(f64::INFINITY);
        if found.keys.iter().any(|key| key.count < least) {
            return Some("a key is held by fewer units than may be named");
        }
        let off = |noise_scale: f64, numbers: Vec<f64>| {
            Support::gaussian(noise_scale).refuses(&[numbers]).is_some()
        };
        let counts = found.keys.iter().map(|key| key.count).collect();
        let totals = || found.kinds.iter().flatten().copied().collect();
        let off_grid = off(self.histogram.noise_scale, counts)
            || self.kinds.as_ref().is_some_and(|kinds| off(kinds.noise_scale, totals()));
        off_grid.then_some("a count is off the grid of the noise")
    }

    fn run(
        &self,
        facts: &OutlineFacts,
        _table: &dyn Table,
        session: &mut Session<'_>,
        _monitor: &dyn Monitor,
    ) -> Result<Noisy<Outlined>, LearnError> {
        let held = self.held.as_ref().ok_or_else(|| LearnError::InvalidRequest {
            name: "keys",
            what: "are missing: hand over what the table holds before the plan is carried out"
                .into(),
        })?;
        let keys = self.histogram.run(Private::new(held.counts.clone()), session)?;
        let mut parts = vec![keys.map(|keys| {
            let found =
                keys.into_iter().map(|((column, key), count)| FoundKey { column, key, count });
            Part::Keys(found.collect())
        })];
        if let Some(by) = &self.kinds {
            let counts = kinds::totals(held, facts.columns);
            let totals = Private::new(ExactCounts { counts, unit: 1.0 });
            parts.push(by.run_units(totals, session)?.map(Part::Kinds));
        }
        Ok(session.gather(parts)?.map(merge_parts))
    }
}

/// Adds the keys that a table holds to a plan; also returns a table with its number of lines, to run the
/// plan on. The keys must be those of the plan's columns and unit, in its order, for each unit no more
/// than [`Plan::keys_a_column`].
pub fn holding(
    plan: Plan<Outline>,
    held: HeldKeys,
) -> Result<(Plan<Outline>, LineCount), LearnError> {
    let lines = LineCount(held.rows as usize);
    let request = plan.request();
    let budget = request.budget.ok_or_else(|| no_budget(request))?;
    let noise_scale = request.noise.first().copied();
    let noise_scale = noise_scale.ok_or(LearnError::DataShape("the plan is not settled"))?;
    let outlining = OutlineMechanism::of(plan.facts(), budget, noise_scale);
    let holding = OutlineMechanism { held: Some(Arc::new(held)), ..outlining };
    Ok((plan.with_procedure(Arc::new(holding)), lines))
}

impl Plan<Outline> {
    /// Upper bound on the keys of a column that a unit contributes to; `None` for as many as its rows
    /// hold.
    pub fn keys_a_column(&self) -> Option<u32> {
        self.request().task.most_keys.map(|_| self.facts().keys_a_column)
    }
}

/// A table with a number of lines and nothing else, all that an outline reads.
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
        let task = Outline::of(vec!["a".into(), "b".into()], vec!["b".into()]);
        let facts = FileFacts::by_name("t.csv".as_ref());
        let unit = UnitDraft { column: "who".into(), max_records: 3, ..UnitDraft::default() };
        let request =
            task.clone().request(&facts, Some(unit), 1000, Neighbours::AddRemove, (1.0, None));
        let planned = plan(&request.unwrap()).unwrap();
        assert_eq!((planned.facts().keys(), planned.keys_a_column()), (4, Some(2)));
        let again = plan(planned.request()).unwrap();
        assert_eq!(again.request(), planned.request());
        assert_eq!(again.events(), planned.events());
        let pure =
            task.clone().request(&facts, None, 1000, Neighbours::ReplaceOne, (1.0, Some(0.0)));
        assert!(plan(&pure.unwrap()).unwrap_err().to_string().contains("delta"));
        let none = Outline { most_keys: Some(0), ..task.clone() };
        let refused = none.request(&facts, None, 1000, Neighbours::ReplaceOne, (1.0, None));
        assert!(plan(&refused.unwrap()).unwrap_err().to_string().contains("most_keys"));
        let strange = Outline { texts: vec!["c".into()], ..task };
        let refused = strange.request(&facts, None, 1000, Neighbours::ReplaceOne, (1.0, None));
        assert!(plan(&refused.unwrap()).unwrap_err().to_string().contains("texts"));
    }
}
