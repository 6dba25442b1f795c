//! Released models of the spectral methods, and a user's predictions from them and their own row.

use crate::ratings::local::{LocalState, into_ball};
use serde::{Deserialize, Serialize};

/// A direction over the items.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Direction {
    /// λ′: the root of the residuals' energy along v plus an allowance for noise.
    pub size: f64,
    /// Unit vector v.
    pub vector: Vec<f64>,
}

/// Directions, one for each round, with the two norm bounds of their steps.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Path {
    /// Clip of a row, Δ.
    pub clip: f64,
    /// Bound on the nuclear norm, k.
    pub nuclear: f64,
    /// v and λ′ of each round.
    pub directions: Vec<Direction>,
    /// Offsets of the items, subtracted from ratings first; empty if none were learnt.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub offsets: Vec<f64>,
}

/// A subspace over the items.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Subspace {
    /// Clip of a row, Δ.
    pub clip: f64,
    /// Orthonormal vectors.
    pub vectors: Vec<Vec<f64>>,
}

/// One projection: a row y becomes Σ f·⟨y, v⟩·v.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Projection {
    /// Factors f, each from 0 to 1.
    pub factors: Vec<f64>,
    /// Orthonormal vectors v.
    pub vectors: Vec<Vec<f64>>,
}

/// Steps of projected gradient descent.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Descent {
    /// Clip of a row, Δ.
    pub clip: f64,
    /// Step size η.
    pub rate: f64,
    /// Number of items.
    pub items: usize,
    /// Projection of each round.
    pub steps: Vec<Projection>,
    /// Offsets of the items, subtracted from ratings first; empty if none were learnt.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub offsets: Vec<f64>,
}

/// A user's mean, clipped row and fit after the path's steps; it stays with that user.
pub(super) struct UserFit {
    pub mean: f64,
    row: Vec<f64>,
    fit: Vec<f64>,
    /// Coefficient of each direction.
    pub coefficients: Vec<f64>,
}

/// A user's ratings minus the items' offsets, centred (as if there were one further rating in the
/// middle), and clipped to norm `clip`; returns the mean and the row.
pub(super) fn centred(user: &LocalState, clip: f64, offsets: &[f64]) -> (f64, Vec<f64>) {
    let offset = |item: usize| offsets.get(item).copied().unwrap_or(0.0);
    let mut row: Vec<f64> = user.ratings().map(|(item, place)| place - offset(item)).collect();
    let mean = row.iter().sum::<f64>() / (row.len() + 1) as f64;
    row.iter_mut().for_each(|entry| *entry -= mean);
    let factor = into_ball(&row, clip);
    row.iter_mut().for_each(|entry| *entry *= factor);
    (mean, row)
}

impl Path {
    /// Follows every step.
    pub(super) fn follow(&self, user: &LocalState) -> UserFit {
        let (mean, row) = centred(user, self.clip, &self.offsets);
        let mut fit = vec![0.0; row.len()];
        let mut coefficients: Vec<f64> = Vec::with_capacity(self.directions.len());
        for (round, Direction { size, vector }) in self.directions.iter().enumerate() {
            let step = 2.0 / (round as f64 + 2.0);
            let along: f64 = user
                .items()
                .iter()
                .zip(fit.iter().zip(&row))
                .map(|(item, (fit, row))| (fit - row) * vector[*item as usize])
                .sum();
            let far = -step * self.nuclear * along / size;
            coefficients.iter_mut().for_each(|coefficient| *coefficient *= 1.0 - step);
            coefficients.push(far);
            for (item, fit) in user.items().iter().zip(&mut fit) {
                *fit = (1.0 - step) * *fit + far * vector[*item as usize];
            }
            let factor = into_ball(&fit, self.clip);
            fit.iter_mut().chain(&mut coefficients).for_each(|number| *number *= factor);
        }
        UserFit { mean, row, fit, coefficients }
    }

    /// Scaled predictions for all items.
    pub(crate) fn scaled_predictions(&self, user: &LocalState) -> Vec<f64> {
        let followed = self.follow(user);
        let items = self.directions.first().map_or(0, |direction| direction.vector.len());
        let mut places = vec![followed.mean; items];
        for (Direction { vector, .. }, far) in self.directions.iter().zip(&followed.coefficients) {
            places.iter_mut().zip(vector).for_each(|(place, v)| *place += far * v);
        }
        places.iter_mut().zip(&self.offsets).for_each(|(place, offset)| *place += offset);
        places
    }

    /// All numbers of the model.
    pub(crate) fn numbers(&self) -> Vec<f64> {
        let each = |direction: &Direction| {
            std::iter::once(direction.size).chain(direction.vector.clone()).collect::<Vec<_>>()
        };
        self.directions.iter().flat_map(each).collect()
    }

    /// True if it has the form of a model of `items` items with unit vectors.
    pub(crate) fn fits(&self, items: usize) -> bool {
        let sized = |direction: &Direction| direction.size > 0.0 && direction.size.is_finite();
        [self.clip, self.nuclear].iter().all(|radius| *radius > 0.0 && radius.is_finite())
            && !self.directions.is_empty()
            && offsets_fit(&self.offsets, items)
            && self.directions.iter().all(sized)
            && self.directions.iter().all(|direction| is_unit(&direction.vector, items))
    }
}

impl UserFit {
    /// Fit minus row on the items that the user rated.
    pub(super) fn residuals(&self) -> Vec<f64> {
        self.fit.iter().zip(&self.row).map(|(fit, row)| fit - row).collect()
    }
}

impl Descent {
    /// A user's mean, and whole row after every projection; with `towards` after one further step
    /// towards their ratings.
    pub(super) fn follow(&self, user: &LocalState, towards: bool) -> (f64, Vec<f64>) {
        let (mean, row) = centred(user, self.clip, &self.offsets);
        let mut place = vec![0.0; self.items];
        let step = |place: &mut Vec<f64>| {
            for (item, wanted) in user.items().iter().zip(&row) {
                let entry = &mut place[*item as usize];
                *entry += self.rate * (wanted - *entry);
            }
            // PRIV-28: no other step bounds it.
            let factor = into_ball(place, self.clip);
            place.iter_mut().for_each(|entry| *entry *= factor);
        };
        for Projection { factors, vectors } in &self.steps {
            step(&mut place);
            let mut projected = vec![0.0; self.items];
            for (factor, vector) in factors.iter().zip(vectors) {
                let along: f64 = place.iter().zip(vector).map(|(a, b)| a * b).sum();
                projected.iter_mut().zip(vector).for_each(|(y, v)| *y += factor * along * v);
            }
            place = projected;
        }
        if towards {
            step(&mut place);
        }
        (mean, place)
    }

    /// Scaled predictions for all items.
    pub(crate) fn scaled_predictions(&self, user: &LocalState) -> Vec<f64> {
        let (mean, row) = self.follow(user, false);
        let mut places: Vec<f64> = row.into_iter().map(|entry| mean + entry).collect();
        places.iter_mut().zip(&self.offsets).for_each(|(place, offset)| *place += offset);
        places
    }

    /// All numbers of the model.
    pub(crate) fn numbers(&self) -> Vec<f64> {
        let each = |step: &Projection| [step.factors.clone(), step.vectors.concat()].concat();
        self.steps.iter().flat_map(each).collect()
    }

    /// True if it has the form of a model of `items` items with unit vectors.
    pub(crate) fn fits(&self, items: usize) -> bool {
        let sound = |step: &Projection| {
            step.factors.len() == step.vectors.len()
                && step.factors.iter().all(|factor| (0.0..=1.0).contains(factor))
                && step.vectors.iter().all(|vector| is_unit(vector, items))
        };
        self.items == items
            && !self.steps.is_empty()
            && self.steps.iter().all(sound)
            && offsets_fit(&self.offsets, items)
    }
}

impl Subspace {
    /// Scaled predictions for all items.
    pub(crate) fn scaled_predictions(&self, user: &LocalState) -> Vec<f64> {
        let (mean, row) = centred(user, self.clip, &[]);
        let items = self.vectors.first().map_or(0, Vec::len);
        let scale = items as f64 / row.len().max(1) as f64;
        let mut places = vec![mean; items];
        for vector in &self.vectors {
            let along: f64 =
                user.items().iter().zip(&row).map(|(item, x)| x * vector[*item as usize]).sum();
            places.iter_mut().zip(vector).for_each(|(place, v)| *place += scale * along * v);
        }
        places
    }

    /// True if it has the form of a model of `items` items with unit vectors.
    pub(crate) fn fits(&self, items: usize) -> bool {
        self.clip > 0.0
            && self.clip.is_finite()
            && !self.vectors.is_empty()
            && self.vectors.iter().all(|vector| is_unit(vector, items))
    }
}

fn offsets_fit(offsets: &[f64], items: usize) -> bool {
    (offsets.is_empty() || offsets.len() == items)
        && offsets.iter().all(|offset| offset.is_finite())
}

fn is_unit(vector: &[f64], items: usize) -> bool {
    let square: f64 = vector.iter().map(|x| x * x).sum();
    vector.len() == items && (square - 1.0).abs() < 1e-9
}
