//! A plan of any family on two neighbouring tables: the target is the plan that any caller gets.

use crate::AuditError;
use crate::claim::Claim;
use crate::runs::{Neighbour, Target};
use privet_data::Dataset;
use privet_dp::noise::Source;
use privet_learn::{Artefact, Erm, Plan, Task};
use std::sync::atomic::AtomicBool;

/// A plan on two neighbouring tables.
pub struct PlannedTarget<'a, T: Task = Erm> {
    plan: &'a Plan<T>,
    worlds: [Dataset; 2],
    direction: Vec<f64>,
    stop: AtomicBool,
}

impl<'a, T: Task> PlannedTarget<'a, T> {
    /// Builds the target for tables that are neighbours under the plan's relation, with the direction in
    /// which their releases differ.
    pub fn on_tables(plan: &'a Plan<T>, worlds: [Dataset; 2], direction: Vec<f64>) -> Self {
        Self { plan, worlds, direction, stop: AtomicBool::new(false) }
    }

    /// The plan.
    pub(crate) fn plan(&self) -> &'a Plan<T> {
        self.plan
    }

    /// The two neighbouring tables.
    pub(crate) fn worlds(&self) -> &[Dataset; 2] {
        &self.worlds
    }
}

impl<T: Task> Target for PlannedTarget<'_, T> {
    fn release(
        &self,
        neighbour: Neighbour,
        source: &mut dyn Source,
    ) -> Result<Vec<f64>, AuditError> {
        let data = &self.worlds[usize::from(neighbour == Neighbour::Second)];
        let (artefact, _) = self.plan.run(data, source, &self.stop)?.into_parts();
        Ok(artefact.numbers())
    }

    fn direction(&self) -> Option<Vec<f64>> {
        Some(self.direction.clone())
    }
}

/// The claim of a plan, if it makes one.
pub(crate) fn claim_of_plan<T: Task>(plan: &Plan<T>) -> Result<Option<Claim>, AuditError> {
    let claim = plan.guarantee().zip(plan.events());
    claim.map(|(guarantee, events)| Claim::certified(guarantee, events)).transpose()
}
