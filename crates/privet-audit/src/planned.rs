//! A plan of any family on two neighbouring tables: what is attacked is what anybody would run.

use crate::AuditError;
use crate::claim::Claim;
use crate::runs::{Target, World};
use privet_data::Dataset;
use privet_dp::noise::Source;
use privet_learn::{Artefact, Erm, Plan, Task};
use std::sync::atomic::AtomicBool;

/// A plan on two neighbouring tables.
pub struct Planned<'a, T: Task = Erm> {
    plan: &'a Plan<T>,
    worlds: [Dataset; 2],
    direction: Vec<f64>,
    stop: AtomicBool,
}

impl<'a, T: Task> Planned<'a, T> {
    /// On tables that its relation makes neighbours, of which releases differ in this direction.
    pub fn on(plan: &'a Plan<T>, worlds: [Dataset; 2], direction: Vec<f64>) -> Self {
        Self { plan, worlds, direction, stop: AtomicBool::new(false) }
    }

    /// The plan.
    pub(crate) fn plan(&self) -> &'a Plan<T> {
        self.plan
    }

    /// The two tables.
    pub(crate) fn worlds(&self) -> &[Dataset; 2] {
        &self.worlds
    }
}

impl<T: Task> Target for Planned<'_, T> {
    fn release(&self, world: World, source: &mut dyn Source) -> Result<Vec<f64>, AuditError> {
        let data = &self.worlds[usize::from(world == World::Second)];
        let (artefact, _) = self.plan.run(data, source, &self.stop)?.into_parts();
        Ok(artefact.numbers())
    }

    fn direction(&self) -> Option<Vec<f64>> {
        Some(self.direction.clone())
    }
}

/// What a plan claims, if it claims anything.
pub(crate) fn claimed<T: Task>(plan: &Plan<T>) -> Result<Option<Claim>, AuditError> {
    let claim = plan.guarantee().zip(plan.events());
    claim.map(|(guarantee, events)| Claim::certified(guarantee, events)).transpose()
}
