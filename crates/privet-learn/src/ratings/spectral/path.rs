//! What everyone is told, and how a user follows it with her own row.

use crate::ratings::local::{LocalState, into_ball};
use serde::{Deserialize, Serialize};

/// A direction over the items.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Direction {
    /// λ′: how much of it there is in all residuals together, and a little more.
    pub size: f64,
    /// v, of length 1.
    pub vector: Vec<f64>,
}

/// Directions, one a round, and the two radii that steps along them are taken with.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Path {
    /// Δ, of rows.
    pub clip: f64,
    /// k, of the nuclear norm.
    pub nuclear: f64,
    /// v and λ′ of each round.
    pub directions: Vec<Direction>,
    /// Offsets of the items, taken off ratings first; none where nobody learnt any.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub offsets: Vec<f64>,
}

/// A subspace over the items.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Subspace {
    /// Δ, of rows.
    pub clip: f64,
    /// Orthonormal vectors.
    pub vectors: Vec<Vec<f64>>,
}

/// One projection: a row y becomes Σ f·⟨y, v⟩·v.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Projection {
    /// f, each from 0 to 1.
    pub factors: Vec<f64>,
    /// v, orthonormal.
    pub vectors: Vec<Vec<f64>>,
}

/// Steps of projected gradient descent.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Descent {
    /// Δ, of rows.
    pub clip: f64,
    /// η.
    pub rate: f64,
    /// How many items there are.
    pub items: usize,
    /// A projection a round.
    pub steps: Vec<Projection>,
    /// Offsets of the items, taken off ratings first; none where nobody learnt any.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub offsets: Vec<f64>,
}

/// A user's mean, her clipped row, and where she is; it stays with her.
pub(super) struct Followed {
    pub mean: f64,
    row: Vec<f64>,
    fit: Vec<f64>,
    /// Of each direction.
    pub coefficients: Vec<f64>,
}

/// Her ratings less the items' offsets, around their mean (as if there were one more in the middle), in the ball of
/// radius `clip`.
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
    /// Takes every step.
    pub(super) fn follow(&self, user: &LocalState) -> Followed {
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
        Followed { mean, row, fit, coefficients }
    }

    /// The places predicted for all items.
    pub(crate) fn places(&self, user: &LocalState) -> Vec<f64> {
        let followed = self.follow(user);
        let items = self.directions.first().map_or(0, |direction| direction.vector.len());
        let mut places = vec![followed.mean; items];
        for (Direction { vector, .. }, far) in self.directions.iter().zip(&followed.coefficients) {
            places.iter_mut().zip(vector).for_each(|(place, v)| *place += far * v);
        }
        places.iter_mut().zip(&self.offsets).for_each(|(place, offset)| *place += offset);
        places
    }

    /// All numbers.
    pub(crate) fn numbers(&self) -> Vec<f64> {
        let each = |direction: &Direction| {
            std::iter::once(direction.size).chain(direction.vector.clone()).collect::<Vec<_>>()
        };
        self.directions.iter().flat_map(each).collect()
    }

    /// Whether it is of so many items, and its vectors of length 1.
    pub(crate) fn fits(&self, items: usize) -> bool {
        let sized = |direction: &Direction| direction.size > 0.0 && direction.size.is_finite();
        [self.clip, self.nuclear].iter().all(|radius| *radius > 0.0 && radius.is_finite())
            && !self.directions.is_empty()
            && offsets_fit(&self.offsets, items)
            && self.directions.iter().all(sized)
            && self.directions.iter().all(|direction| is_unit(&direction.vector, items))
    }
}

impl Followed {
    /// What is left of her row on the items that she rated.
    pub(super) fn residuals(&self) -> Vec<f64> {
        self.fit.iter().zip(&self.row).map(|(fit, row)| fit - row).collect()
    }
}

impl Descent {
    /// Her mean, and her whole row after every projection; with `towards` one step further towards her
    /// ratings.
    pub(super) fn follow(&self, user: &LocalState, towards: bool) -> (f64, Vec<f64>) {
        let (mean, row) = centred(user, self.clip, &self.offsets);
        let mut place = vec![0.0; self.items];
        let step = |place: &mut Vec<f64>| {
            for (item, wanted) in user.items().iter().zip(&row) {
                let entry = &mut place[*item as usize];
                *entry += self.rate * (wanted - *entry);
            }
            // PRIV-28: nothing else bounds it.
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

    /// The places predicted for all items.
    pub(crate) fn places(&self, user: &LocalState) -> Vec<f64> {
        let (mean, row) = self.follow(user, false);
        let mut places: Vec<f64> = row.into_iter().map(|entry| mean + entry).collect();
        places.iter_mut().zip(&self.offsets).for_each(|(place, offset)| *place += offset);
        places
    }

    /// All numbers.
    pub(crate) fn numbers(&self) -> Vec<f64> {
        let each = |step: &Projection| [step.factors.clone(), step.vectors.concat()].concat();
        self.steps.iter().flat_map(each).collect()
    }

    /// Whether it is of so many items, and its vectors of length 1.
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
    /// The places predicted for all items.
    pub(crate) fn places(&self, user: &LocalState) -> Vec<f64> {
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

    /// Whether it is of so many items, and its vectors of length 1.
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
