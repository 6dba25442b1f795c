//! The audit of outlines (`privet schema new --epsilon`): counts by keys that nobody listed.
//!
//! Two columns of texts that enough others hold. Under add-remove a unit's k records, each with other texts than the rest of them, are there
//! or not: 2k counts move by one, all that is charged. Under replace-one they hold these or those texts: 4k counts move, all that is charged as
//! well. A second kind of subject has texts that the unit alone holds, and a δ so large that they are seen to be let out now and then.
//! What a table's reader counts is taken as given here (`privet_data`, `one_unit_moves_as_many_counts_as_it_may_hold`).

use crate::AuditError;
use crate::attack::{self, AttackOptions, Finding};
use crate::planned::claimed;
use crate::runs::{Target, Watch, World};
use privet_core::{Budget, Neighbours};
use privet_data::read::{CellKey, HeldKeys};
use privet_data::schema::{FileFacts, UnitDraft};
use privet_dp::noise::Source;
use privet_learn::look::outline::{LineCount, Outline, holding};
use privet_learn::{Plan, plan};
use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;

/// Which outline, and what it is to claim.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Subject {
    /// What is asked for.
    pub budget: Budget,
    /// Under which relation.
    pub neighbours: Neighbours,
    /// The most records of a user; `None` where the unit is a record.
    pub max_records: Option<u32>,
    /// Whether the unit holds texts that nobody else does.
    pub alone: bool,
}

/// By how many others each text is held.
const OTHERS: u64 = 60;
const COLUMNS: [&str; 2] = ["a", "b"];

impl Subject {
    /// Both relations and units; and of records under add-remove, texts that nobody else holds, with a budget of their own.
    pub fn all(epsilon: f64, delta: f64, own: (f64, f64)) -> Result<Vec<Self>, AuditError> {
        let budget = Budget::new(epsilon, delta)?;
        let mut all = Vec::new();
        for neighbours in [Neighbours::ReplaceOne, Neighbours::AddRemove] {
            for max_records in [None, Some(3)] {
                all.push(Self { budget, neighbours, max_records, alone: false });
            }
        }
        let (budget, neighbours) = (Budget::new(own.0, own.1)?, Neighbours::AddRemove);
        all.push(Self { budget, neighbours, max_records: None, alone: true });
        Ok(all)
    }

    /// The plan that anybody would get.
    fn planned(&self, budget: Budget) -> Result<Plan<Outline>, AuditError> {
        let texts: Vec<String> = COLUMNS.map(String::from).to_vec();
        let task = Outline { columns: texts.clone(), texts };
        let request = task.request(
            &FileFacts::by_name("t.csv".as_ref()),
            self.max_records.map(|max_records| UnitDraft {
                column: "who".into(),
                max_records,
                ..UnitDraft::default()
            }),
            self.rows(World::Second),
            self.neighbours,
            (budget.epsilon(), Some(budget.delta())),
        );
        Ok(plan(&request?)?)
    }

    /// How many texts of a column a unit holds.
    fn most(&self) -> u32 {
        self.max_records.unwrap_or(1)
    }

    /// How many lines there are.
    fn rows(&self, world: World) -> u64 {
        let own = match (self.neighbours, world) {
            (Neighbours::AddRemove, World::First) => 0,
            _ => u64::from(self.most()),
        };
        2 * OTHERS * u64::from(self.most()) + own
    }

    /// Texts of a column: the unit's in the first world, or nobody's, and those in the second.
    fn texts(&self, side: usize) -> impl Iterator<Item = CellKey> {
        let (alone, name) = (self.alone, ["these", "those"][side]);
        (0..self.most()).map(move |at| match alone {
            true => CellKey::Text(format!("nobody else's {name} {at}")),
            false => CellKey::Text(format!("{name} {at}")),
        })
    }

    /// Every key that either world may show.
    fn keys(&self) -> Vec<(u32, CellKey)> {
        let both = || [0, 1].into_iter().flat_map(|side| self.texts(side));
        (0..COLUMNS.len() as u32)
            .flat_map(|column| both().map(move |text| (column, text)))
            .collect()
    }

    /// By how many units each key is held.
    fn held(&self, world: World) -> HeldKeys {
        let mut counts = BTreeMap::new();
        if !self.alone {
            counts.extend(self.keys().into_iter().map(|key| (key, OTHERS)));
        }
        let own = match (self.neighbours, world) {
            (Neighbours::AddRemove, World::First) => None,
            (_, World::First) => Some(0),
            (_, World::Second) => Some(1),
        };
        for column in 0..COLUMNS.len() as u32 {
            for text in own.into_iter().flat_map(|side| self.texts(side)) {
                *counts.entry((column, text)).or_insert(0) += 1;
            }
        }
        HeldKeys { rows: self.rows(world), counts }
    }
}

/// Outlines of two neighbouring tables: of every key its noised count, or 0 where it is not named.
struct Outlines {
    worlds: [(Plan<Outline>, LineCount); 2],
    keys: Vec<(u32, CellKey)>,
    direction: Vec<f64>,
    stop: AtomicBool,
}

impl Outlines {
    fn of(subject: &Subject, plan: &Plan<Outline>) -> Result<Self, AuditError> {
        let held = [World::First, World::Second].map(|world| subject.held(world));
        let keys = subject.keys();
        let count = |held: &HeldKeys, key| held.counts.get(key).copied().unwrap_or(0) as f64;
        let direction =
            keys.iter().map(|key| count(&held[1], key) - count(&held[0], key)).collect();
        let [first, second] = held;
        let worlds = [holding(plan.clone(), first)?, holding(plan.clone(), second)?];
        Ok(Self { worlds, keys, direction, stop: AtomicBool::new(false) })
    }
}

impl Target for Outlines {
    fn release(&self, world: World, source: &mut dyn Source) -> Result<Vec<f64>, AuditError> {
        let (plan, lines) = &self.worlds[usize::from(world == World::Second)];
        let (found, _) = plan.run(lines, source, &self.stop)?.into_parts();
        let named: BTreeMap<(u32, &CellKey), f64> =
            found.keys.iter().map(|found| ((found.column, &found.key), found.count)).collect();
        let count = |(column, key): &(u32, CellKey)| named.get(&(*column, key)).copied();
        Ok(self.keys.iter().map(|key| count(key).unwrap_or(0.0)).collect())
    }

    fn direction(&self) -> Option<Vec<f64>> {
        Some(self.direction.clone())
    }
}

/// Audits an outline.
pub fn audit(
    subject: &Subject,
    options: &AttackOptions,
    watch: &dyn Watch,
) -> Result<Finding, AuditError> {
    audit_against(subject, subject.budget, options, watch)
}

/// The same, judged by the certificate that it would have with another budget.
pub fn audit_against(
    subject: &Subject,
    stated: Budget,
    options: &AttackOptions,
    watch: &dyn Watch,
) -> Result<Finding, AuditError> {
    let plan = subject.planned(subject.budget)?;
    let claim = claimed(&subject.planned(stated)?)?;
    let claim = claim.ok_or(AuditError::NothingClaimed { method: "outline" })?;
    attack::audit(&Outlines::of(subject, &plan)?, &claim, options, watch)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The pairs are as far apart as the theorem allows.
    #[test]
    fn the_worlds_differ_by_all_that_is_charged() {
        for subject in Subject::all(4.0, 1e-5, (1.0, 0.4)).unwrap().iter().filter(|one| !one.alone)
        {
            let plan = subject.planned(subject.budget).unwrap();
            let moved = Outlines::of(subject, &plan).unwrap().direction;
            let squares: f64 = moved.iter().map(|x| x * x).sum();
            let held = 2 * subject.most();
            let differing = match subject.neighbours {
                Neighbours::AddRemove => held,
                Neighbours::ReplaceOne | Neighbours::ReplaceLabel => 2 * held,
            };
            assert_eq!(squares, f64::from(differing), "{subject:?}");
        }
    }
}
