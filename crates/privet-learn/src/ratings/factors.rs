//! What is released of the items, and what a user makes of it.

use super::choice::Chosen;
use super::local::LocalState;
use super::moments::GlobalState;
use super::shape::Shape;
use super::spectral::{Descent, Path, Subspace};
use crate::release::task::Artefact;
use serde::{Deserialize, Serialize};

/// What is learnt of the items: the same for every user.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "form", rename_all = "kebab-case")]
pub enum Factors {
    /// Of [`super::moments`].
    Moments(GlobalState),
    /// Of `frank-wolfe` and `oja` ([`super::spectral`]).
    Directions(Path),
    /// Of `svd`.
    Subspace(Subspace),
    /// Of `pgd`.
    Descent(Descent),
    /// Of any, about items that were chosen first.
    Chosen(Chosen),
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

/// An item with what a user is predicted to say of it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Recommended {
    /// Its place in the list of items.
    pub item: usize,
    /// The predicted rating.
    pub rating: f64,
}

impl Factors {
    /// Whether it has the form of so many items.
    pub(super) fn fits(&self, items: usize) -> bool {
        match self {
            Self::Moments(state) => state.fits(items),
            Self::Directions(path) => path.fits(items),
            Self::Subspace(subspace) => subspace.fits(items),
            Self::Descent(descent) => descent.fits(items),
            Self::Chosen(chosen) => chosen.fits(items),
        }
    }

    /// What a user is predicted to say of every item. For her eyes alone.
    pub fn predictions(&self, user: &LocalState, shape: &Shape) -> Vec<f64> {
        let places = self.places(user, shape.items);
        places.into_iter().map(|place| shape.rating(place)).collect()
    }

    /// The same as places in [−2, 2] between the bounds, and beyond.
    pub(super) fn places(&self, user: &LocalState, items: usize) -> Vec<f64> {
        match self {
            Self::Moments(state) => {
                let own = state.fitted(user);
                (0..items).map(|item| state.place(item, &own)).collect()
            }
            Self::Directions(path) => path.places(user),
            Self::Subspace(subspace) => subspace.places(user),
            Self::Descent(descent) => descent.places(user),
            Self::Chosen(chosen) => chosen.places(user, items),
        }
    }

    /// The items that she has not rated with the largest predictions, best first. For her eyes alone.
    pub fn recommend(&self, user: &LocalState, shape: &Shape, most: usize) -> Vec<Recommended> {
        self.ranked(user, &self.predictions(user, shape), most)
    }

    /// The same from predictions; of items that were not chosen none is recommended.
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
        best((0..predictions.len()).filter(known), user, predictions, most)
    }
}

/// The items that a user has not rated with the largest predictions, best first.
fn best(
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
