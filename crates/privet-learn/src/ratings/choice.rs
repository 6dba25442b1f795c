//! The most rated items, paid for: of a public list those with the largest noised counts are kept, and all that
//! follows is about them alone.
//!
//! **Question.** Every user adds w = min(1, √(ξ/n)) at each of her n items: a vector with entries ≥ 0 of norm w√n ≤ √ξ.
//! **Theorem.** The sum moves in ℓ2 by at most √ξ where a user is added or removed, and by √(2ξ) where one is replaced:
//! two vectors with entries ≥ 0 have a scalar product ≥ 0. Which items are kept is read off the noised sum
//! (post-processing), and whatever is asked of them later holds that list as something that everyone knows. ∎
//!
//! A tenth of μ² goes to the choice, the rest to the method, which is planned as if the list had so many items from the
//! beginning. Of other items a user is told her own mean, and none of them is recommended.
//!
//! Tested by `choosing_items_moves_no_further_than_is_charged` and `tests/all/completion.rs`.

use super::asking::Asking;
use super::factors::Factors;
use super::local::{LocalState, Question, Tally};
use super::moments;
use super::shape::Shape;
use crate::LearnError;
use privet_core::{Neighbours, Relation};
use privet_dp::gate::{Next, Walk};
use privet_dp::mechanism::Gaussian;
use serde::{Deserialize, Serialize};

/// The share of μ² that it gets.
pub(super) const SHARE: f64 = 0.1;
/// ξ of the counts: users with more ratings count less at each.
const SPREAD: f64 = 80.0;
/// What counts are told in.
const UNIT: f64 = 1.0 / 16_777_216.0;

/// How items are chosen.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Choosing {
    pub items: usize,
    pub keep: usize,
    pub relation: Relation,
    pub noise: f64,
}

impl Choosing {
    /// So many of the listed items, within that part of a budget's multiplier.
    pub(super) fn of(shape: &Shape, keep: u32, mu: f64) -> Result<Self, LearnError> {
        if keep < 2 || keep as usize >= shape.items {
            return Err(LearnError::NotCovered {
                what: format!("{keep} items chosen of {}", shape.items),
                instead: "choose at least 2, and fewer than are listed",
            });
        }
        let open =
            Self { items: shape.items, keep: keep as usize, relation: shape.relation, noise: 1.0 };
        // A little more: what finite arithmetic is charged for is paid out of it.
        Ok(Self { noise: open.shift() / (mu * SHARE.sqrt()), ..open })
    }

    fn shift(&self) -> f64 {
        let square = match self.relation.neighbours {
            Neighbours::AddRemove => SPREAD,
            Neighbours::ReplaceOne | Neighbours::ReplaceLabel => 2.0 * SPREAD,
        };
        square.sqrt() * (1.0 + 8.0 * f64::EPSILON)
    }

    /// The noise of the counts.
    pub(super) fn mechanism(&self) -> Gaussian {
        Gaussian {
            neighbours: self.relation.neighbours,
            unit: self.relation.unit,
            sensitivity: self.shift(),
            noise_scale: self.noise,
            coordinates: self.items,
        }
    }
}

/// A question about all items, or about those chosen.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Narrow<Q> {
    /// How often each is rated.
    Counts {
        /// How many there are.
        items: usize,
    },
    /// The method's own.
    Of {
        /// Places in the list, ascending.
        chosen: Vec<u32>,
        /// About them.
        question: Q,
    },
}

impl<Q: Question> Question for Narrow<Q> {
    fn coordinates(&self) -> usize {
        match self {
            Self::Counts { items } => *items,
            Self::Of { question, .. } => question.coordinates(),
        }
    }

    fn unit(&self) -> f64 {
        match self {
            Self::Counts { .. } => UNIT,
            Self::Of { question, .. } => question.unit(),
        }
    }

    fn add(&self, user: &LocalState, into: &mut Tally) {
        match self {
            Self::Counts { .. } => {
                let weight = moments::weight(SPREAD, user.items().len());
                user.items().iter().for_each(|item| into.add(*item as usize, weight));
            }
            Self::Of { chosen, question } => question.add(&user.only(chosen), into),
        }
    }
}

/// Chooses, then does what the method does.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(bound = "S: Asking")]
pub(crate) struct Narrowing<S: Asking> {
    choosing: Choosing,
    sizes: S,
    chosen: Vec<u32>,
    of: Option<S::Walk>,
}

impl<S: Asking> Walk for Narrowing<S> {
    type Start = (Choosing, S);
    type Question = Narrow<S::Question>;
    type Answer = Vec<f64>;
    type Artefact = Factors;

    fn begin((choosing, sizes): Self::Start) -> Self {
        Self { choosing, sizes, chosen: Vec::new(), of: None }
    }

    fn next(&mut self, answer: Option<Vec<f64>>) -> Next<Self::Question, Factors> {
        let next = match (&mut self.of, answer) {
            (None, None) => return Next::Ask(Narrow::Counts { items: self.choosing.items }),
            (None, Some(counts)) => {
                self.chosen = largest(&counts, self.choosing.keep);
                self.of.insert(S::Walk::begin(self.sizes.clone())).next(None)
            }
            (Some(of), answer) => of.next(answer),
        };
        match next {
            Next::Ask(question) => Next::Ask(Narrow::Of { chosen: self.chosen.clone(), question }),
            Next::Release(of) => {
                let items = self.chosen.clone();
                Next::Release(Factors::Chosen(Chosen { items, of: Box::new(of) }))
            }
            Next::End => Next::End,
        }
    }
}

/// The places of the largest, ascending; the earlier among equals.
fn largest(counts: &[f64], keep: usize) -> Vec<u32> {
    let mut order: Vec<u32> = (0..counts.len() as u32).collect();
    order.sort_by(|a, b| counts[*b as usize].total_cmp(&counts[*a as usize]).then(a.cmp(b)));
    order.truncate(keep);
    order.sort_unstable();
    order
}

/// What is released of the items that were chosen.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Chosen {
    /// Their places in the list, ascending.
    pub items: Vec<u32>,
    /// What was learnt of them.
    pub of: Box<Factors>,
}

impl Chosen {
    /// Whether they are of so many items.
    pub(super) fn fits(&self, items: usize) -> bool {
        self.items.windows(2).all(|pair| pair[0] < pair[1])
            && self.items.last().is_some_and(|last| (*last as usize) < items)
            && !matches!(*self.of, Factors::Chosen(_))
            && self.of.fits(self.items.len())
    }

    /// The places predicted for all items: of those that were not chosen the user's own mean.
    pub(super) fn places(&self, user: &LocalState, items: usize) -> Vec<f64> {
        let mean = user.places().iter().sum::<f64>() / (user.places().len() + 1) as f64;
        let mut places = vec![mean; items];
        let found = self.of.places(&user.only(&self.items), self.items.len());
        self.items.iter().zip(found).for_each(|(item, place)| places[*item as usize] = place);
        places
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ratings::local::told;
    use crate::ratings::spectral::Question as Inner;
    use privet_core::Unit;
    use proptest::prelude::*;

    fn user() -> impl Strategy<Value = LocalState> {
        prop::collection::vec((0.0..1.0, -2.0..2.0), 200).prop_flat_map(|all| {
            prop_oneof![Just(0.0), Just(1.0), 0.0..1.0].prop_map(move |share| {
                let kept = all.iter().enumerate().filter(|(_, (draw, _))| *draw < share);
                let (items, places) = kept.map(|(item, (_, place))| (item as u32, *place)).unzip();
                LocalState::from_parts(items, places)
            })
        })
    }

    proptest! {
        /// One user comes, goes or is exchanged for any other.
        #[test]
        fn choosing_items_moves_no_further_than_is_charged(one in user(), other in user()) {
            let question: Narrow<Inner> = Narrow::Counts { items: 200 };
            let [mine, hers] = [&one, &other].map(|user| told(&question, user));
            let square = |a: &[f64], b: &[f64]| {
                a.iter().zip(b).map(|(a, b)| (a - b).powi(2)).sum::<f64>()
            };
            for (neighbours, moved) in [
                (Neighbours::AddRemove, square(&mine, &vec![0.0; 200])),
                (Neighbours::ReplaceOne, square(&mine, &hers)),
            ] {
                let relation = Relation::new(neighbours, Unit::User { max_records: 200 });
                let most = Choosing { items: 200, keep: 10, relation, noise: 1.0 }.shift();
                prop_assert!(moved.sqrt() <= most, "{} of {most}", moved.sqrt());
            }
        }
    }

    #[test]
    fn the_largest_are_chosen_in_the_order_of_the_list() {
        assert_eq!(largest(&[3.0, 9.0, -1.0, 9.0, 4.0], 3), [1, 3, 4]);
    }
}
