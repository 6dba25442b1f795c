//! A private choice of the most rated items: of a public list those with the largest noisy counts are
//! kept, and all later queries are about them alone.
//!
//! **Query.** Every user adds w = min(1, √(ξ/n)) at each of their n items: a vector with entries ≥ 0 of
//! norm w√n ≤ √ξ. **Theorem.** The sum moves in ℓ2 by at most √ξ if a user is added or removed, and by
//! √(2ξ) if one is replaced: two vectors with entries ≥ 0 have a scalar product ≥ 0. The kept items are
//! a function of the noisy sum (post-processing), and later queries hold that list as a public fact. ∎
//!
//! A tenth of μ² goes to the choice, the rest to the method, which is planned as if the list had `top`
//! items from the beginning. For other items a user's prediction is their own mean, and none of them is
//! recommended.
//!
//! Tested by `choosing_items_moves_no_further_than_is_charged` and `tests/all/completion.rs`.

use super::execution::MethodPlan;
use super::factors::Factors;
use super::local::{LocalState, Query, Tally};
use super::moments;
use super::shape::Shape;
use crate::LearnError;
use privet_core::{Neighbours, Relation};
use privet_dp::gate::{Next, Walk};
use privet_dp::mechanism::Gaussian;
use serde::{Deserialize, Serialize};

/// Fraction of μ² for the choice.
pub(super) const CHOICE_SHARE: f64 = 0.1;
/// ξ of the counts: users with more than ξ ratings have a smaller weight at each item.
const SPREAD: f64 = 80.0;
/// Unit of the counts.
const UNIT: f64 = 1.0 / 16_777_216.0;

/// Settings of a choice of items.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ItemChoice {
    pub items: usize,
    pub keep: usize,
    pub relation: Relation,
    pub noise: f64,
}

impl ItemChoice {
    /// Plans the choice of `keep` listed items with its fraction of the budget's multiplier μ.
    pub(super) fn of(shape: &Shape, keep: u32, mu: f64) -> Result<Self, LearnError> {
        if keep < 2 || keep as usize >= shape.items {
            return Err(LearnError::NotCovered {
                what: format!("{keep} items chosen of {}", shape.items),
                instead: "choose at least 2, and fewer than are listed",
            });
        }
        let open =
            Self { items: shape.items, keep: keep as usize, relation: shape.relation, noise: 1.0 };
        // Slightly more noise: the charge for finite arithmetic is paid out of it.
        Ok(Self { noise: open.shift() / (mu * CHOICE_SHARE.sqrt()), ..open })
    }

    fn shift(&self) -> f64 {
        let square = match self.relation.neighbours {
            Neighbours::AddRemove => SPREAD,
            Neighbours::ReplaceOne | Neighbours::ReplaceLabel => 2.0 * SPREAD,
        };
        square.sqrt() * (1.0 + 8.0 * f64::EPSILON)
    }

    /// Gaussian mechanism of the counts.
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

/// A query about all items, or about the chosen ones.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum ItemQuery<Q> {
    /// Number of ratings of each item.
    Counts {
        /// Number of items.
        items: usize,
    },
    /// A query of the method.
    Of {
        /// Indices in the list, ascending.
        chosen: Vec<u32>,
        /// Query about these items.
        #[serde(rename = "question")]
        query: Q,
    },
}

impl<Q: Query> Query for ItemQuery<Q> {
    fn coordinates(&self) -> usize {
        match self {
            Self::Counts { items } => *items,
            Self::Of { query, .. } => query.coordinates(),
        }
    }

    fn unit(&self) -> f64 {
        match self {
            Self::Counts { .. } => UNIT,
            Self::Of { query, .. } => query.unit(),
        }
    }

    fn add(&self, user: &LocalState, into: &mut Tally) {
        match self {
            Self::Counts { .. } => {
                let weight = moments::weight(SPREAD, user.items().len());
                user.items().iter().for_each(|item| into.add(*item as usize, weight));
            }
            Self::Of { chosen, query } => query.add(&user.restricted_to(chosen), into),
        }
    }
}

/// Walk that chooses items and then runs the method's walk on them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(bound = "S: MethodPlan")]
pub(crate) struct ChosenItemsWalk<S: MethodPlan> {
    choosing: ItemChoice,
    sizes: S,
    chosen: Vec<u32>,
    of: Option<S::Walk>,
}

impl<S: MethodPlan> Walk for ChosenItemsWalk<S> {
    type Start = (ItemChoice, S);
    type Query = ItemQuery<S::Query>;
    type Answer = Vec<f64>;
    type Artefact = Factors;

    fn begin((choosing, sizes): Self::Start) -> Self {
        Self { choosing, sizes, chosen: Vec::new(), of: None }
    }

    fn next(&mut self, answer: Option<Vec<f64>>) -> Next<Self::Query, Factors> {
        let next = match (&mut self.of, answer) {
            (None, None) => return Next::Ask(ItemQuery::Counts { items: self.choosing.items }),
            (None, Some(counts)) => {
                self.chosen = largest(&counts, self.choosing.keep);
                self.of.insert(S::Walk::begin(self.sizes.clone())).next(None)
            }
            (Some(of), answer) => of.next(answer),
        };
        match next {
            Next::Ask(query) => Next::Ask(ItemQuery::Of { chosen: self.chosen.clone(), query }),
            Next::Release(of) => {
                let items = self.chosen.clone();
                Next::Release(Factors::Chosen(ChosenFactors { items, of: Box::new(of) }))
            }
            Next::End => Next::End,
        }
    }
}

/// Indices of the `keep` largest counts, ascending; the earlier among equals.
fn largest(counts: &[f64], keep: usize) -> Vec<u32> {
    let mut order: Vec<u32> = (0..counts.len() as u32).collect();
    order.sort_by(|a, b| counts[*b as usize].total_cmp(&counts[*a as usize]).then(a.cmp(b)));
    order.truncate(keep);
    order.sort_unstable();
    order
}

/// Factors of the chosen items.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ChosenFactors {
    /// Indices of the chosen items in the list, ascending.
    pub items: Vec<u32>,
    /// Factors of these items.
    pub of: Box<Factors>,
}

impl ChosenFactors {
    /// True if these are valid factors of a list of `items` items.
    pub(super) fn fits(&self, items: usize) -> bool {
        self.items.windows(2).all(|pair| pair[0] < pair[1])
            && self.items.last().is_some_and(|last| (*last as usize) < items)
            && !matches!(*self.of, Factors::Chosen(_))
            && self.of.fits(self.items.len())
    }

    /// Scaled predictions for all items: for unchosen ones the user's own mean.
    pub(super) fn scaled_predictions(&self, user: &LocalState, items: usize) -> Vec<f64> {
        let mean =
            user.scaled_ratings().iter().sum::<f64>() / (user.scaled_ratings().len() + 1) as f64;
        let mut places = vec![mean; items];
        let found = self.of.scaled_predictions(&user.restricted_to(&self.items), self.items.len());
        self.items.iter().zip(found).for_each(|(item, place)| places[*item as usize] = place);
        places
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ratings::local::user_vector;
    use crate::ratings::spectral::Query as Inner;
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
        /// One user added, removed or exchanged for any other.
        #[test]
        fn choosing_items_moves_no_further_than_is_charged(one in user(), other in user()) {
            let query: ItemQuery<Inner> = ItemQuery::Counts { items: 200 };
            let [mine, hers] = [&one, &other].map(|user| user_vector(&query, user));
            let square = |a: &[f64], b: &[f64]| {
                a.iter().zip(b).map(|(a, b)| (a - b).powi(2)).sum::<f64>()
            };
            for (neighbours, moved) in [
                (Neighbours::AddRemove, square(&mine, &vec![0.0; 200])),
                (Neighbours::ReplaceOne, square(&mine, &hers)),
            ] {
                let relation = Relation::new(neighbours, Unit::User { max_records: 200 });
                let most = ItemChoice { items: 200, keep: 10, relation, noise: 1.0 }.shift();
                prop_assert!(moved.sqrt() <= most, "{} of {most}", moved.sqrt());
            }
        }
    }

    #[test]
    fn the_largest_are_chosen_in_the_order_of_the_list() {
        assert_eq!(largest(&[3.0, 9.0, -1.0, 9.0, 4.0], 3), [1, 3, 4]);
    }
}
