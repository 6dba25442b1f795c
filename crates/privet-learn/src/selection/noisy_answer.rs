//! Reads a noisy answer as a set of columns: a walk with a single query.

use super::{Select, SingleQuery, Support, open};
use crate::LearnError;
use crate::linear::facts::Facts;
use crate::release::ask::ask;
use crate::release::settings::PlanNumbers;
use crate::release::task::Procedure;
use crate::release::watch::StepWatch;
use privet_dp::account::Event;
use privet_dp::gate::{Next, Noisy, Session, Walk};
use privet_optim::solver::Monitor;
use privet_optim::sum::Table;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// A selector's noisy answer.
pub(crate) enum NoisyAnswer {
    /// A sum of signed columns; the columns of each problem are contiguous.
    Point(Vec<f64>),
    /// Column indices, or `None` if no answer is stable enough.
    Places(Option<Vec<u32>>),
    /// Rank of a set among all sets of `size` columns, in the order of [`unranked`].
    Set(usize),
}

/// Public numbers by which an answer is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SelectionSizes {
    /// Number of columns that can be selected.
    pub open: usize,
    /// Number of columns to select.
    pub size: usize,
}

impl SelectionSizes {
    pub fn of(facts: &Facts, size: u32) -> Self {
        Self { open: open(facts), size: size as usize }
    }

    /// Returns the answer as a vector: nonzero at the selected columns, all 0 if no answer was stable
    /// enough.
    pub fn point(self, answer: NoisyAnswer) -> Vec<f64> {
        if let NoisyAnswer::Point(point) = answer {
            return point;
        }
        let mut point = vec![0.0; self.open];
        let places = self.places(answer).unwrap_or_default();
        places.into_iter().for_each(|place| point[place as usize] = 1.0);
        point
    }

    fn places(self, answer: NoisyAnswer) -> Option<Vec<u32>> {
        match answer {
            NoisyAnswer::Point(point) => {
                let used = |place: &usize| {
                    let same = (*place..point.len()).step_by(self.open.max(1));
                    same.into_iter().any(|column| point[column] != 0.0)
                };
                Some((0..self.open).filter(used).map(|place| place as u32).collect())
            }
            NoisyAnswer::Places(places) => places,
            NoisyAnswer::Set(rank) => Some(unranked(rank, self.open, self.size)),
        }
    }
}

/// Returns the set of this rank among all sets of `size` of `open` columns, in the order of {0, 1, 2},
/// {0, 1, 3}, …, {0, 2, 3}, …
pub(super) fn unranked(rank: usize, open: usize, size: usize) -> Vec<u32> {
    let (mut rank, mut set) = (rank, Vec::with_capacity(size));
    for column in 0..open {
        let left = size - set.len();
        if left == 0 {
            break;
        }
        let with = sets(open - column - 1, left - 1).unwrap_or(usize::MAX);
        if rank < with {
            set.push(column as u32);
        } else {
            rank -= with;
        }
    }
    set
}

/// Number of sets of `size` of `open` columns; `None` above 2⁶⁴.
pub(super) fn sets(open: usize, size: usize) -> Option<usize> {
    if size > open {
        return Some(0);
    }
    let mut count = 1_u128;
    for taken in 0..size.min(open - size) {
        count = count * (open - taken) as u128 / (taken + 1) as u128;
        if count > u64::MAX.into() {
            return None;
        }
    }
    usize::try_from(count).ok()
}

/// A selector's procedure: its query is made once, and the answer read.
#[derive(Debug, Clone)]
pub(super) struct Selecting(pub Arc<dyn SingleQuery>);

impl Procedure<Select> for Selecting {
    fn event(&self) -> Result<Event, LearnError> {
        self.0.event()
    }

    fn settings(&self) -> PlanNumbers {
        self.0.settings()
    }

    fn refuses(&self, found: &Support) -> Option<&'static str> {
        self.0.refuses(found)
    }

    fn walk(&self) -> Option<serde_json::Value> {
        serde_json::to_value(self.0.sizes()).ok()
    }

    fn run(
        &self,
        facts: &Facts,
        table: &dyn Table,
        session: &mut Session<'_>,
        monitor: &dyn Monitor,
    ) -> Result<Noisy<Support>, LearnError> {
        let data = self.0.rows(table)?;
        ask::<SelectionSizes>(session, &StepWatch::new(monitor), |(), session| {
            self.0.ask(facts, data, session, monitor)
        })
    }
}

impl Walk for SelectionSizes {
    type Start = Self;
    type Query = ();
    type Answer = NoisyAnswer;
    type Artefact = Support;

    fn begin(start: Self) -> Self {
        start
    }

    fn next(&mut self, answer: Option<NoisyAnswer>) -> Next<(), Support> {
        let Some(heard) = answer else { return Next::Ask(()) };
        Next::Release(Support { columns: self.places(heard) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_set_has_a_rank() {
        assert_eq!(
            (sets(5, 0), sets(5, 2), sets(5, 5), sets(4, 5)),
            (Some(1), Some(10), Some(1), Some(0))
        );
        assert_eq!(sets(50_000, 3), Some(20_832_083_350_000));
        assert_eq!(sets(50_000, 40), None);
        let all: Vec<_> = (0..10).map(|rank| unranked(rank, 5, 2)).collect();
        assert_eq!((&all[0], &all[4], &all[9]), (&vec![0, 1], &vec![1, 2], &vec![3, 4]));
        assert!(all.windows(2).all(|two| two[0] < two[1]));
    }

    #[test]
    fn answers_stand_for_columns() {
        let sizes = SelectionSizes { open: 3, size: 2 };
        let point = vec![0.0, 1.0, 0.0, -1.0, 0.0, 0.0];
        assert_eq!(sizes.places(NoisyAnswer::Point(point)), Some(vec![0, 1]));
        assert_eq!(sizes.places(NoisyAnswer::Places(None)), None);
        assert_eq!(sizes.places(NoisyAnswer::Set(2)), Some(vec![1, 2]));
        assert_eq!(sizes.point(NoisyAnswer::Set(2)), [0.0, 1.0, 1.0]);
        assert_eq!(sizes.point(NoisyAnswer::Places(None)), [0.0; 3]);
    }
}
