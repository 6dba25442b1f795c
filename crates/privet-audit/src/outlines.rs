//! Audit of outlines (`privet schema new --epsilon`): counts of keys that were not listed beforehand.
//!
//! Two columns of keys that enough others hold; in a column a unit counts for c keys, c the smaller of 2
//! and its records. Under add-remove its texts are present or absent: 2c counts move by one, and two
//! totals by c. Under replace-one there are c texts or c years: 4c counts move by one, and four totals
//! by c. That is the whole sensitivity. A second kind of setting has texts that the unit alone holds,
//! and a δ so large that they are visibly released now and then. The counts by a table's reader are
//! taken as given here (`privet_data`, `one_unit_moves_as_many_counts_as_it_may_hold`).

use crate::AuditError;
use crate::attack::Finding;
use crate::audited::{TargetAttack, audited, plan_and_claim};
use crate::runs::{Neighbour, Target};
use privet_core::{Budget, Neighbours};
use privet_data::read::{CellKey, HeldKeys};
use privet_data::schema::{FileFacts, UnitDraft};
use privet_dp::noise::Source;
use privet_learn::statistics::outline::{LineCount, MOST_KEYS, Outline, holding, totals};
use privet_learn::{Plan, plan};
use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;

/// Setting of an audit: an outline and its claim.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Setting {
    /// Budget requested.
    pub budget: Budget,
    /// Neighbour relation.
    pub neighbours: Neighbours,
    /// Maximum records of a user; `None` if the unit is a record.
    pub max_records: Option<u32>,
    /// True if the unit holds texts that no other unit holds.
    pub alone: bool,
}

/// The number of others that hold each text.
const OTHER_HOLDERS: u64 = 60;
const COLUMNS: [&str; 2] = ["a", "b"];

impl Setting {
    /// Settings of both relations and units; and for records under add-remove, texts that no other unit
    /// holds, with a separate budget.
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

    /// The plan, as a caller of the learner gets it.
    fn make_plan(&self, budget: Budget) -> Result<Plan<Outline>, AuditError> {
        let task = Outline::of(COLUMNS.map(String::from).to_vec(), Vec::new());
        let request = task.request(
            &FileFacts::by_name("t.csv".as_ref()),
            self.max_records.map(|max_records| UnitDraft {
                column: "who".into(),
                max_records,
                ..UnitDraft::default()
            }),
            self.rows(Neighbour::Second),
            self.neighbours,
            (budget.epsilon(), Some(budget.delta())),
        );
        Ok(plan(&request?)?)
    }

    /// The number of keys of a column that a unit counts for.
    fn keys_of_unit(&self) -> u32 {
        self.max_records.unwrap_or(1).min(MOST_KEYS)
    }

    /// The number of lines.
    fn rows(&self, neighbour: Neighbour) -> u64 {
        let own = match (self.neighbours, neighbour) {
            (Neighbours::AddRemove, Neighbour::First) => 0,
            _ => u64::from(self.keys_of_unit()),
        };
        2 * OTHER_HOLDERS * u64::from(self.keys_of_unit()) + own
    }

    /// Keys of a column on one side: years or texts that others hold as well, or texts of the unit
    /// alone.
    fn keys_of(&self, side: usize) -> impl Iterator<Item = CellKey> {
        let alone = self.alone;
        (0..self.keys_of_unit()).map(move |at| match (alone, side) {
            (true, _) => CellKey::Text(format!("nobody else's {side} {at}")),
            (false, 0) => CellKey::Year(1900 + at as i32),
            (false, _) => CellKey::Text(format!("text {at}")),
        })
    }

    /// Every key that either table may show.
    fn keys(&self) -> Vec<(u32, CellKey)> {
        let both = || [0, 1].into_iter().flat_map(|side| self.keys_of(side));
        (0..COLUMNS.len() as u32)
            .flat_map(|column| both().map(move |text| (column, text)))
            .collect()
    }

    /// The number of units that hold each key.
    fn units_by_key(&self, neighbour: Neighbour) -> HeldKeys {
        let mut counts = BTreeMap::new();
        if !self.alone {
            counts.extend(self.keys().into_iter().map(|key| (key, OTHER_HOLDERS)));
        }
        let own = match (self.neighbours, neighbour) {
            (Neighbours::AddRemove, Neighbour::First) => None,
            (_, Neighbour::First) => Some(0),
            (_, Neighbour::Second) => Some(1),
        };
        for column in 0..COLUMNS.len() as u32 {
            for text in own.into_iter().flat_map(|side| self.keys_of(side)) {
                *counts.entry((column, text)).or_insert(0) += 1;
            }
        }
        HeldKeys { rows: self.rows(neighbour), counts }
    }
}

/// Outlines of two neighbouring tables: the noisy count of every key, 0 if it is not released, and the
/// totals.
struct Outlines {
    worlds: [(Plan<Outline>, LineCount); 2],
    keys: Vec<(u32, CellKey)>,
    direction: Vec<f64>,
    stop: AtomicBool,
}

impl Outlines {
    fn of(setting: &Setting, plan: &Plan<Outline>) -> Result<Self, AuditError> {
        let held =
            [Neighbour::First, Neighbour::Second].map(|neighbour| setting.units_by_key(neighbour));
        let keys = setting.keys();
        let noise = |name| plan.settings().get(name).unwrap_or(1.0);
        // Along the direction that best distinguishes the two: each number's shift divided by its
        // variance.
        let weight = (noise("count_noise") / noise("total_noise")).powi(2);
        let [counts, totals] = count_differences(&held, &keys);
        let direction =
            counts.into_iter().chain(totals.into_iter().map(|by| by * weight)).collect();
        let [first, second] = held;
        let worlds = [holding(plan.clone(), first)?, holding(plan.clone(), second)?];
        Ok(Self { worlds, keys, direction, stop: AtomicBool::new(false) })
    }
}

/// Differences of the counts of keys, and of the totals of kinds.
fn count_differences(held: &[HeldKeys; 2], keys: &[(u32, CellKey)]) -> [Vec<f64>; 2] {
    let count = |held: &HeldKeys, key| held.counts.get(key).copied().unwrap_or(0) as f64;
    let counts = keys.iter().map(|key| count(&held[1], key) - count(&held[0], key));
    let totals = held.each_ref().map(|held| totals(held, COLUMNS.len() as u32));
    let [first, second] = totals;
    let totals = second.iter().zip(first).map(|(second, first)| (second - first) as f64);
    [counts.collect(), totals.collect()]
}

impl Target for Outlines {
    fn release(
        &self,
        neighbour: Neighbour,
        source: &mut dyn Source,
    ) -> Result<Vec<f64>, AuditError> {
        let (plan, lines) = &self.worlds[usize::from(neighbour == Neighbour::Second)];
        let (found, _) = plan.run(lines, source, &self.stop)?.into_parts();
        let named: BTreeMap<(u32, &CellKey), f64> =
            found.keys.iter().map(|found| ((found.column, &found.key), found.count)).collect();
        let count = |(column, key): &(u32, CellKey)| named.get(&(*column, key)).copied();
        let counts = self.keys.iter().map(|key| count(key).unwrap_or(0.0));
        Ok(counts.chain(found.kinds.iter().flatten().copied()).collect())
    }

    fn direction(&self) -> Option<Vec<f64>> {
        Some(self.direction.clone())
    }
}

audited!(Setting);

fn attack_setting(
    setting: &Setting,
    stated: Budget,
    judge: &TargetAttack<'_>,
) -> Result<Finding, AuditError> {
    let (plan, claim) = plan_and_claim(|budget| setting.make_plan(budget), setting.budget, stated)?;
    judge.attack(&Outlines::of(setting, &plan)?, &claim)
}

#[cfg(test)]
mod tests {
    use super::*;
    use privet_learn::statistics::outline::KINDS;

    /// The pairs are as far apart as the theorem allows.
    #[test]
    fn the_worlds_differ_by_all_that_is_charged() {
        for setting in Setting::all(4.0, 1e-5, (1.0, 0.4)).unwrap().iter().filter(|one| !one.alone)
        {
            let held = [Neighbour::First, Neighbour::Second]
                .map(|neighbour| setting.units_by_key(neighbour));
            let [counts, totals] = count_differences(&held, &setting.keys());
            let squares = |all: &[f64]| all.iter().map(|x| x * x).sum::<f64>();
            let (sides, most) = (setting.neighbours.sides(), f64::from(setting.keys_of_unit()));
            let columns = COLUMNS.len() as f64;
            assert_eq!(squares(&counts), sides * columns * most, "{setting:?}");
            assert_eq!(squares(&totals), sides * columns * most * most, "{setting:?}");
            assert_eq!(totals.len(), COLUMNS.len() * KINDS);
        }
    }
}
