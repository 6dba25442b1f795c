//! Released factors of the items, and a user's predictions from them.

use super::choice::ChosenFactors;
use super::local::LocalState;
use super::moments::GlobalState;
use super::shape::Shape;
use super::spectral::{Descent, Path, Subspace};
use crate::release::task::Artefact;
use serde::{Deserialize, Serialize};

/// Released model of the items: the same for every user.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "form", rename_all = "kebab-case")]
pub enum Factors {
    /// Model of [`super::moments`].
    Moments(GlobalState),
    /// Model of `frank-wolfe` and `oja` ([`super::spectral`]).
    Directions(Path),
    /// Model of `svd`.
    Subspace(Subspace),
    /// Model of `pgd`.
    Descent(Descent),
    /// Model of any method, for privately chosen items.
    Chosen(ChosenFactors),
}

impl Artefact for Factors {
    const KIND: &'static str = "factors";

    fn numbers(&self) -> Vec<f64> {
        match self {
            Self::Moments(state) => state.numbers(),
            Self::Directions(path) => path.numbers(),
            Self::Subspace(subspace) => subspace.vectors.concat(),
            Self::Descent(descent) => descent.numbers(),
            Self::Chosen(chosen) => {
                let items = chosen.items.iter().map(|item| f64::from(*item));
                items.chain(chosen.of.numbers()).collect()
            }
        }
    }
}

/// An item with a user's predicted rating.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Recommended {
    /// Index in the list of items.
    pub item: usize,
    /// Predicted rating.
    pub rating: f64,
}

impl Factors {
    /// True if it has the form of a model of `items` items.
    pub(super) fn fits(&self, items: usize) -> bool {
        match self {
            Self::Moments(state) => state.fits(items),
            Self::Directions(path) => path.fits(items),
            Self::Subspace(subspace) => subspace.fits(items),
            Self::Descent(descent) => descent.fits(items),
            Self::Chosen(chosen) => chosen.fits(items),
        }
    }

    /// Predicted ratings of every item; they reveal the user's own ratings, and are for that user alone.
    pub fn predictions(&self, user: &LocalState, shape: &Shape) -> Vec<f64> {
        let places = self.scaled_predictions(user, shape.items);
        places.into_iter().map(|place| shape.rating(place)).collect()
    }

    /// Predictions scaled to [−2, 2] between the bounds, not clamped.
    pub(super) fn scaled_predictions(&self, user: &LocalState, items: usize) -> Vec<f64> {
        match self {
            Self::Moments(state) => {
                let own = state.fit_user(user);
                (0..items).map(|item| state.scaled_prediction(item, &own)).collect()
            }
            Self::Directions(path) => path.scaled_predictions(user),
            Self::Subspace(subspace) => subspace.scaled_predictions(user),
            Self::Descent(descent) => descent.scaled_predictions(user),
            Self::Chosen(chosen) => chosen.scaled_predictions(user, items),
        }
    }

    /// The `most` unrated items with the largest predictions, best first; for that user alone.
    pub fn recommend(&self, user: &LocalState, shape: &Shape, most: usize) -> Vec<Recommended> {
        self.ranked(user, &self.predictions(user, shape), most)
    }

    /// The same from predictions; unchosen items are not recommended.
    pub(super) fn ranked(
        &self,
        user: &LocalState,
        predictions: &[f64],
        most: usize,
    ) -> Vec<Recommended> {
        let known = |item: &usize| match self {
            Self::Chosen(chosen) => chosen.items.binary_search(&(*item as u32)).is_ok(),
            _ => true,
        };
        best_items((0..predictions.len()).filter(known), user, predictions, most)
    }
}

/// The `most` items that a user has not rated with the largest predictions, best first.
fn best_items(
    items: impl Iterator<Item = usize>,
    user: &LocalState,
    predictions: &[f64],
    most: usize,
) -> Vec<Recommended> {
    let unrated = |item: &usize| user.items().binary_search(&(*item as u32)).is_err();
    let mut all: Vec<Recommended> =
        items.filter(unrated).map(|item| Recommended { item, rating: predictions[item] }).collect();
    let better =
        |a: &Recommended, b: &Recommended| b.rating.total_cmp(&a.rating).then(a.item.cmp(&b.item));
    if most < all.len() && most > 0 {
        all.select_nth_unstable_by(most - 1, better);
    }
    all.truncate(most);
    all.sort_by(better);
    all
}
