//! The position of a run within the planned events.
//!
//! A plan is a tree whose leaves are charged one after the other. A [`PlanPosition`] decides before each draw
//! whether its leaf is the next one. [`Event::UpTo`] may stop early, between two of its repetitions;
//! everything else must be completed.

use crate::account::Event;
use std::collections::VecDeque;

/// A sequence of leaves, run-length encoded, repeated as a whole.
#[derive(Debug, Clone, PartialEq)]
struct LeafSequence {
    /// Each leaf, with its number of consecutive repetitions.
    leaves: Vec<(u64, Event)>,
    /// The largest number of repetitions of the whole sequence.
    most: u64,
    /// True if it may stop after fewer repetitions.
    optional: bool,
}

/// The remaining planned leaves.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct PlanPosition {
    stretches: VecDeque<LeafSequence>,
    /// Position in the first stretch: completed repetitions, index of the next leaf, charged draws of
    /// that leaf.
    walked: u64,
    leaf: usize,
    charged: u64,
}

impl PlanPosition {
    /// The course of a whole plan.
    pub fn of(planned: &Event) -> Self {
        let mut stretches = VecDeque::new();
        append(planned, 1, &mut stretches);
        stretches.retain(|stretch| stretch.most > 0 && !stretch.leaves.is_empty());
        Self { stretches, walked: 0, leaf: 0, charged: 0 }
    }

    /// Advances by one leaf; `false`, and nothing changes, if the next leaf is another one.
    pub fn advance(&mut self, leaf: &Event) -> bool {
        let mut ahead = self.clone_if_optional();
        let here = ahead.as_mut().unwrap_or(self);
        loop {
            let Some(stretch) = here.stretches.front() else { return false };
            let (times, next) = &stretch.leaves[here.leaf];
            if next == leaf {
                here.charged += 1;
                if here.charged == *times {
                    (here.charged, here.leaf) = (0, here.leaf + 1);
                }
                if here.leaf == stretch.leaves.len() {
                    (here.leaf, here.walked) = (0, here.walked + 1);
                }
                if here.walked == stretch.most {
                    here.next_stretch();
                }
                break;
            }
            let between = here.leaf == 0 && here.charged == 0;
            if !(stretch.optional && between) {
                return false;
            }
            here.next_stretch();
        }
        if let Some(ahead) = ahead {
            *self = ahead;
        }
        true
    }

    /// The next leaf, if any is left.
    pub fn next(&self) -> Option<&Event> {
        self.stretches.front().map(|stretch| &stretch.leaves[self.leaf].1)
    }

    /// The number of completed draws of the next leaf's mechanism, if it takes several
    /// ([`crate::account::Cost::draws`]).
    pub fn draws_completed(&self) -> u64 {
        match self.next() {
            Some(Event::Use { cost, .. }) => self.charged % u64::from(cost.draws().max(1)),
            _ => 0,
        }
    }

    /// True if nothing is left that must still be charged.
    pub fn complete(&self) -> bool {
        let between = self.leaf == 0 && self.charged == 0;
        between && self.stretches.iter().all(|stretch| stretch.optional)
    }

    /// A copy to advance tentatively, where a wrong leaf would otherwise lose the position: only
    /// optional stretches can be skipped.
    fn clone_if_optional(&self) -> Option<Self> {
        self.stretches.front().filter(|stretch| stretch.optional).map(|_| self.clone())
    }

    fn next_stretch(&mut self) {
        self.stretches.pop_front();
        (self.walked, self.leaf, self.charged) = (0, 0, 0);
    }
}

/// The stretches of a tree, in order of execution.
fn append(event: &Event, times: u64, into: &mut VecDeque<LeafSequence>) {
    match event {
        // A stream is one event, of as many draws as it has steps.
        Event::Use { cost, .. } => {
            push(into, times.saturating_mul(u64::from(cost.draws())), event);
        }
        Event::Selected { .. } | Event::BestOf { .. } => push(into, times, event),
        Event::All(parts) => {
            for _ in 0..times {
                parts.iter().for_each(|part| append(part, 1, into));
            }
        }
        Event::Repeat { count, event } => {
            append(event, times.saturating_mul(u64::from(*count)), into)
        }
        Event::UpTo { count, event } => {
            let mut inner = VecDeque::new();
            append(event, 1, &mut inner);
            // Inside, an optional part must be completed or skipped as a whole.
            let leaves = inner.into_iter().flat_map(LeafSequence::unrolled).collect();
            for _ in 0..times {
                let most = u64::from(*count);
                into.push_back(LeafSequence { leaves: Vec::clone(&leaves), most, optional: true });
            }
        }
    }
}

/// Adds a leaf to the last mandatory stretch, or begins one.
fn push(into: &mut VecDeque<LeafSequence>, times: u64, leaf: &Event) {
    if times == 0 {
        return;
    }
    let begun = into.back_mut().filter(|stretch| !stretch.optional);
    let leaves = match begun {
        Some(stretch) => &mut stretch.leaves,
        None => {
            into.push_back(LeafSequence { leaves: Vec::new(), most: 1, optional: false });
            match into.back_mut() {
                Some(stretch) => &mut stretch.leaves,
                None => return,
            }
        }
    };
    match leaves.last_mut() {
        Some((total, last)) if last == leaf => *total += times,
        _ => leaves.push((times, leaf.clone())),
    }
}

impl LeafSequence {
    fn unrolled(self) -> Vec<(u64, Event)> {
        if let [(times, leaf)] = &self.leaves[..] {
            return vec![(times.saturating_mul(self.most), leaf.clone())];
        }
        (0..self.most).flat_map(|_| self.leaves.clone()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::account::Cost;
    use privet_core::{Neighbours, Unit};

    fn leaf(epsilon: f64) -> Event {
        let (neighbours, unit) = (Neighbours::AddRemove, Unit::Record);
        Event::Use { neighbours, unit, cost: Cost::Pure { epsilon } }
    }

    fn up_to(count: u32, event: Event) -> Event {
        Event::UpTo { count, event: Box::new(event) }
    }

    fn walks(planned: &Event, leaves: &[f64]) -> Option<bool> {
        let mut course = PlanPosition::of(planned);
        let all = leaves.iter().all(|epsilon| course.advance(&leaf(*epsilon)));
        all.then(|| course.complete())
    }

    #[test]
    fn leaves_come_in_order_and_none_is_left_out() {
        let pair = Event::All(vec![leaf(1.0), leaf(2.0)]);
        let planned = Event::Repeat { count: 2, event: Box::new(pair) };
        assert_eq!(walks(&planned, &[1.0, 2.0, 1.0, 2.0]), Some(true));
        assert_eq!(walks(&planned, &[1.0, 2.0, 1.0]), Some(false));
        assert_eq!(walks(&planned, &[1.0, 1.0]), None);
        assert_eq!(walks(&planned, &[1.0, 2.0, 1.0, 2.0, 1.0]), None);
    }

    #[test]
    fn what_may_stop_early_stops_between_repetitions_only() {
        let pair = up_to(3, Event::All(vec![leaf(1.0), leaf(2.0)]));
        let planned = Event::All(vec![leaf(5.0), pair, leaf(7.0)]);
        for times in 0..=3 {
            let mut leaves = vec![5.0];
            (0..times).for_each(|_| leaves.extend([1.0, 2.0]));
            assert_eq!(walks(&planned, &leaves), Some(false));
            leaves.push(7.0);
            assert_eq!(walks(&planned, &leaves), Some(true), "{times} times");
        }
        assert_eq!(walks(&planned, &[5.0, 1.0, 7.0]), None);
        assert_eq!(walks(&planned, &[5.0, 1.0, 2.0, 1.0, 2.0, 1.0, 2.0, 1.0]), None);
        assert_eq!(walks(&up_to(2, leaf(1.0)), &[]), Some(true));
    }

    /// A refused leaf leaves the position unchanged.
    #[test]
    fn a_wrong_leaf_changes_nothing() {
        let planned = Event::All(vec![up_to(2, leaf(1.0)), leaf(7.0)]);
        let mut course = PlanPosition::of(&planned);
        assert!(course.advance(&leaf(1.0)));
        let before = course.clone();
        assert!(!course.advance(&leaf(3.0)));
        assert_eq!(course, before);
        assert!(course.advance(&leaf(1.0)) && course.advance(&leaf(7.0)));
        assert!(course.complete() && course.next().is_none());
    }
}
