//! Audit of completed ratings: their certificate against a planted user.
//!
//! A few users with ratings in the middle, and one who rates every item at the ends of the bounds: the
//! vector of the largest norm that a user can add to each sum ([`privet_learn::ratings`]). Under
//! replace-one she is replaced by one who rates the other way round; under add-remove she is present or
//! absent. The target is the numbers of the file, computed from all noisy answers.

use crate::AuditError;
use crate::attack::Finding;
use crate::audited::{TargetAttack, audited, plan_and_claim};
use crate::planned_target::PlannedTarget;
use privet_core::{Budget, Neighbours};
use privet_data::ratings::{self, Layout, OwnRatings, Rated, RatingFacts};
use privet_data::{Dataset, Schema};
use privet_dp::noise::FixedSeed;
use privet_learn::ratings::{Complete, METHODS, Method};
use privet_learn::{Artefact, Plan, plan};
use std::sync::atomic::AtomicBool;

/// The number of items, all of which the planted user rates.
const ITEMS: usize = 48;
/// The number of other users.
const OTHER_USERS: usize = 8;
/// Runs from which the direction of the attack is estimated.
const DIRECTION_RUNS: u64 = 200;

/// Setting of an audit: a method of completion and its claim.
#[derive(Debug, Clone, PartialEq)]
pub struct Setting {
    /// Method of completing ratings.
    pub method: Method,
    /// Budget requested.
    pub budget: Budget,
    /// Neighbour relation.
    pub neighbours: Neighbours,
}

impl Setting {
    /// Settings of every method under both relations.
    pub fn all(epsilon: f64, delta: f64) -> Result<Vec<Self>, AuditError> {
        let budget = Budget::new(epsilon, delta)?;
        let mut all = Vec::new();
        for info in METHODS.iter().filter(|info| info.private) {
            for neighbours in [Neighbours::ReplaceOne, Neighbours::AddRemove] {
                let mut method: Method = info.name.parse()?;
                if ["frank-wolfe", "oja", "pgd"].contains(&info.name) {
                    // A setting available to any user: fewer releases, each with less noise.
                    method = method.with("rounds", "2")?;
                }
                all.push(Self { method, budget, neighbours });
            }
        }
        Ok(all)
    }

    /// The plan, as a caller of the learner gets it.
    fn make_plan(&self, budget: Budget) -> Result<Plan<Complete>, AuditError> {
        let items = (1..=ITEMS).map(|item| item.to_string()).collect();
        let facts =
            RatingFacts { layout: Layout::Triples, items, bounds: [1.0, 5.0], most: ITEMS as u32 };
        let schema =
            ratings::schema(&facts).map_err(|error| AuditError::Table(error.to_string()))?;
        let task = Complete::by(self.method.clone());
        let users = OTHER_USERS as u64 + 1;
        Ok(plan(&task.request(schema, users, self.neighbours).with_budget(budget))?)
    }

    fn tables(&self, schema: &Schema) -> Result<[Dataset; 2], AuditError> {
        let rated = Rated::of(schema).map_err(|error| AuditError::Table(error.to_string()))?;
        let user = |rating: &dyn Fn(usize) -> f64| {
            let mut own = OwnRatings::default();
            (0..ITEMS).for_each(|item| own.and(item, rating(item), &rated));
            own
        };
        let mut others: Vec<OwnRatings> = (0..OTHER_USERS)
            .map(|number| user(&|item| 3.0 + 0.5 * ((item / 2 + number) % 3) as f64 - 0.5))
            .collect();
        let planted = |sign: usize| user(&|item| if item % 2 == sign { 5.0 } else { 1.0 });
        let first = match self.neighbours {
            Neighbours::ReplaceOne | Neighbours::ReplaceLabel => {
                [others.clone(), vec![planted(1)]].concat()
            }
            Neighbours::AddRemove => others.clone(),
        };
        others.push(planted(0));
        Ok([ratings::table(first, &rated), ratings::table(others, &rated)])
    }
}

/// Mean difference of the two inputs' releases.
fn direction(
    plan: &Plan<Complete>,
    worlds: &[Dataset; 2],
    seed: u64,
) -> Result<Vec<f64>, AuditError> {
    let mut sums: [Vec<f64>; 2] = [Vec::new(), Vec::new()];
    for (neighbour, sum) in worlds.iter().zip(&mut sums) {
        for run in 0..DIRECTION_RUNS {
            let mut source = FixedSeed::new(seed.wrapping_mul(1_000_003).wrapping_add(run));
            let release = plan.run(neighbour, &mut source, &AtomicBool::new(false))?;
            let numbers = release.value().numbers();
            sum.resize(numbers.len(), 0.0);
            sum.iter_mut().zip(numbers).for_each(|(sum, number)| *sum += number);
        }
    }
    let [first, second] = sums;
    Ok(second.iter().zip(&first).map(|(b, a)| b - a).collect())
}

audited!(Setting);

fn attack_setting(
    setting: &Setting,
    stated: Budget,
    judge: &TargetAttack<'_>,
) -> Result<Finding, AuditError> {
    let (plan, claim) = plan_and_claim(|budget| setting.make_plan(budget), setting.budget, stated)?;
    let worlds = setting.tables(&plan.request().schema)?;
    let direction = direction(&plan, &worlds, judge.options.seed)?;
    judge.attack(&PlannedTarget::on_tables(&plan, worlds, direction), &claim)
}
