//! The public walk of `moments`: the model of the items after each noisy answer.

use super::query::Query;
use super::{COUNT_WEIGHT, OFFSET_WEIGHT, Sizes};
use crate::ratings::factors::Factors;
use crate::ratings::local::{LocalState, solve};
use privet_dp::gate::{Next, Walk};
use privet_optim::spectrum::Spectrum;
use serde::{Deserialize, Serialize};

/// Released model of the items, computed from noisy answers alone.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GlobalState {
    /// Offset bⱼ of each item: its ratings minus its users' means, in quarters of the distance between
    /// the bounds.
    pub offsets: Vec<f64>,
    /// Popularity Lⱼ of each item: the centred logarithm of its noisy number of ratings.
    pub popularity: Vec<f64>,
    /// Vector vⱼ of each item.
    pub vectors: Vec<Vec<f64>>,
    /// Declared public features fⱼ of each item; empty if none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub features: Vec<Vec<f64>>,
}

/// One user's fit; it stays with that user.
pub(crate) struct FittedUser {
    weights: Vec<f64>,
    /// Number of features.
    features: usize,
}

impl FittedUser {
    /// Weights a₀, a₁ and a₂ of 1, offset and popularity.
    pub(crate) fn fixed(&self) -> [f64; FIXED_COLUMNS] {
        [self.weights[0], self.weights[1], self.weights[2]]
    }

    /// Weights g of the features.
    pub(crate) fn feature_weights(&self) -> &[f64] {
        &self.weights[FIXED_COLUMNS..FIXED_COLUMNS + self.features]
    }

    /// Weights z of the item's vector.
    pub(crate) fn taste(&self) -> &[f64] {
        &self.weights[FIXED_COLUMNS + self.features..]
    }
}

/// Number of columns beside features and vⱼ: 1, bⱼ and Lⱼ.
const FIXED_COLUMNS: usize = 3;
/// Variances of a₀, a₁ and a₂ among users; that of z is 1 in each direction.
const PRIORS: [f64; FIXED_COLUMNS] = [0.3, 0.15, 0.01];
/// Variance among users of the weight of a feature.
const FEATURE_PRIOR: f64 = 0.06;
/// Variance of a rating around its user's fit.
const RESIDUAL_VARIANCE: f64 = 0.75;
/// Variance of a rating around its user's mean.
const ROW_VARIANCE: f64 = 0.85;
/// Variance of offsets around their prediction from popularity.
const OFFSET_VARIANCE: f64 = 0.2;
/// Variance of each entry of vⱼ.
const VECTOR_VARIANCE: f64 = 0.03;
/// Fraction of a rating's weight that informs z: fits are shrunk and clipped.
const TASTE_SHARE: f64 = 0.4;
/// Floor of a count, in standard deviations of its noise.
const COUNT_FLOOR: f64 = 0.7;
/// Upper bound on the absolute value of an offset or an entry of a vector.
pub(in crate::ratings) const LARGEST_ENTRY: f64 = 4.0;
/// Number of passes that fill the diagonal of the core.
const FILLS: u32 = 10;

impl GlobalState {
    /// Rank k.
    pub(crate) fn rank(&self) -> usize {
        self.vectors.first().map_or(0, Vec::len)
    }

    fn columns(&self, item: usize) -> impl Iterator<Item = f64> + '_ {
        let fixed = [1.0, self.offsets[item], self.popularity[item]];
        let features = self.features.get(item).into_iter().flatten();
        fixed.into_iter().chain(features.copied()).chain(self.vectors[item].iter().copied())
    }

    /// Fits a user by ridge regression on their own ratings.
    pub(crate) fn fit_user(&self, user: &LocalState) -> FittedUser {
        let features = self.features.first().map_or(0, Vec::len);
        let size = FIXED_COLUMNS + features + self.rank();
        let (mut gram, mut right) = (vec![0.0; size * size], vec![0.0; size]);
        let mut columns = Vec::with_capacity(size);
        for (item, place) in user.ratings() {
            columns.clear();
            columns.extend(self.columns(item));
            let wanted = place - self.offsets[item];
            for (i, x) in columns.iter().enumerate() {
                right[i] += x * wanted;
                let row = &mut gram[i * size..][..=i];
                row.iter_mut().zip(&columns).for_each(|(entry, y)| *entry += x * y);
            }
        }
        let ridge: Vec<f64> = (0..size)
            .map(|place| match place {
                fixed if fixed < FIXED_COLUMNS => RESIDUAL_VARIANCE / PRIORS[fixed],
                feature if feature < FIXED_COLUMNS + features => RESIDUAL_VARIANCE / FEATURE_PRIOR,
                _ => RESIDUAL_VARIANCE,
            })
            .collect();
        FittedUser { weights: solve(gram, &ridge, right), features }
    }

    /// Scaled prediction for an item.
    pub(crate) fn scaled_prediction(&self, item: usize, own: &FittedUser) -> f64 {
        let fitted: f64 = self.columns(item).zip(&own.weights).map(|(x, w)| x * w).sum();
        self.offsets[item] + fitted
    }

    /// Residuals: scaled ratings minus predictions, item by item.
    pub(crate) fn residuals(&self, user: &LocalState, own: &FittedUser) -> Vec<f64> {
        user.ratings().map(|(item, place)| place - self.scaled_prediction(item, own)).collect()
    }

    /// True if it has the form of a model of `items` items.
    pub(crate) fn fits(&self, items: usize) -> bool {
        let rank = self.rank();
        self.offsets.len() == items
            && self.popularity.len() == items
            && self.vectors.len() == items
            && self.vectors.iter().all(|vector| vector.len() == rank)
            && (self.features.is_empty() || features_fit(&self.features, items))
            && self.numbers().iter().all(|number| number.is_finite())
    }

    /// All numbers of the model.
    pub(crate) fn numbers(&self) -> Vec<f64> {
        let vectors = self.vectors.iter().flatten();
        self.offsets.iter().chain(&self.popularity).chain(vectors).copied().collect()
    }

    /// Reason why no run of the plan gives it; `None` if one may.
    pub(in crate::ratings) fn refuses(
        &self,
        rank: usize,
        users: u64,
        features: &[Vec<f64>],
    ) -> Option<&'static str> {
        if self.rank() != rank {
            return Some("its items have another number of numbers than the plan's");
        }
        if self.features != features {
            return Some("its features are not those that were declared");
        }
        let far = |number: &f64| number.abs() > LARGEST_ENTRY;
        if self.offsets.iter().chain(self.vectors.iter().flatten()).any(far) {
            return Some("a number of an item is further from 0 than any is kept");
        }
        // Logarithms of noisy counts: no count exceeds what its noise can make it.
        let most = (users as f64 + 1e9).ln() + 40.0;
        let far = self.popularity.iter().any(|number| number.abs() > most);
        far.then_some("an item is rated more often than there are users")
    }
}

/// Walk with its current model, the model's error variances, and the number of answers so far.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Learning {
    sizes: Sizes,
    state: GlobalState,
    /// Noisy counts, none below its floor.
    counts: Vec<f64>,
    /// Posterior variance of each offset.
    variance: Vec<f64>,
    core: Vec<u32>,
    answered: u32,
}

impl Walk for Learning {
    type Start = Sizes;
    type Query = Query;
    type Answer = Vec<f64>;
    type Artefact = Factors;

    fn begin(sizes: Sizes) -> Self {
        let (state, none) = (GlobalState::default(), Vec::new());
        Self { sizes, state, counts: none.clone(), variance: none, core: Vec::new(), answered: 0 }
    }

    fn next(&mut self, answer: Option<Vec<f64>>) -> Next<Query, Factors> {
        let before_rounds = if self.sizes.rank > 0 { 2 } else { 1 };
        if let Some(answer) = answer {
            match self.answered {
                0 => self.offsets(&answer),
                1 if before_rounds == 2 => self.start(&answer),
                _ => self.round(&answer),
            }
            self.answered += 1;
        }
        let spread = self.sizes.spread;
        Next::Ask(match self.answered {
            0 => Query::Offsets { items: self.sizes.items, spread },
            1 if before_rounds == 2 => {
                Query::Core { state: self.state.clone(), core: self.core.clone() }
            }
            done if done < before_rounds + self.sizes.rounds => {
                Query::Round { state: self.state.clone(), spread }
            }
            _ => return Next::Release(Factors::Moments(self.state.clone())),
        })
    }
}

impl Learning {
    /// Processes the answer to the offsets query.
    fn offsets(&mut self, answer: &[f64]) {
        let look =
            FirstLook::of(answer, self.sizes.users, self.sizes.released()[0], &self.sizes.features);
        self.state = look.state;
        self.counts = look.counts;
        self.variance = look.variance;
        if self.sizes.rank > 0 {
            let raw = look.raw;
            let mut order: Vec<u32> = (0..self.sizes.items as u32).collect();
            order.sort_by(|a, b| raw[*b as usize].total_cmp(&raw[*a as usize]).then(a.cmp(b)));
            order.truncate(self.sizes.core);
            self.core = order;
        }
    }

    /// Sets vectors from the noisy covariance of the core: its largest eigenvalues, minus the bias of
    /// noise.
    fn start(&mut self, answer: &[f64]) {
        let (size, rank) = (self.core.len(), self.sizes.rank);
        let mut matrix = vec![0.0; size * size];
        for i in 0..size {
            for j in 0..i {
                matrix[i * size + j] = answer[i * (i - 1) / 2 + j];
                matrix[j * size + i] = matrix[i * size + j];
            }
        }
        self.state.vectors = vec![vec![0.0; rank]; self.sizes.items];
        let edge = 2.0 * self.sizes.released()[1] * (size as f64).sqrt();
        let Some(found) = largest_eigenpairs(&mut matrix, size, rank) else { return };
        for (place, (value, vector)) in found.into_iter().enumerate() {
            if value <= edge {
                continue;
            }
            // value = t + s²K/t for a true t under noise of scale s; the vector's squared cosine with
            // the true one is 1 − s²K/t².
            let truth = 0.5 * (value + (value * value - edge * edge).max(0.0).sqrt());
            let kept = (1.0 - (0.5 * edge / truth).powi(2)).max(0.0);
            let length = (truth * kept).sqrt();
            for (item, entry) in self.core.iter().zip(vector) {
                let item = *item as usize;
                let weight = self.counts[item] / (self.sizes.users as f64).sqrt();
                let number = (length * entry / weight).clamp(-LARGEST_ENTRY, LARGEST_ENTRY);
                self.state.vectors[item][place] = number;
            }
        }
    }

    /// Moves offsets and vectors by residuals, with step sizes by their noise.
    fn round(&mut self, answer: &[f64]) {
        let (rank, noise) = (self.sizes.rank, self.sizes.released()[2]);
        let own = if rank > 0 { OFFSET_WEIGHT } else { 1.0 };
        for (item, told) in answer.chunks(1 + rank).enumerate() {
            let (count, variance) = (self.counts[item], self.variance[item].max(1e-6));
            let spread = count * RESIDUAL_VARIANCE + (noise / own).powi(2);
            let step = count * variance / (count * count * variance + spread);
            let offset = &mut self.state.offsets[item];
            *offset = (*offset + step * told[0] / own).clamp(-LARGEST_ENTRY, LARGEST_ENTRY);
            self.variance[item] *= 1.0 - step * count;
            let count = count * TASTE_SHARE;
            let spread = count * RESIDUAL_VARIANCE + noise * noise;
            let step = count * VECTOR_VARIANCE / (count * count * VECTOR_VARIANCE + spread);
            for (number, told) in self.state.vectors[item].iter_mut().zip(&told[1..]) {
                *number = (*number + step * told).clamp(-LARGEST_ENTRY, LARGEST_ENTRY);
            }
        }
    }
}

/// First estimates of every item from the answer to the offsets query.
pub(in crate::ratings) struct FirstLook {
    /// Offsets and popularity, without vectors.
    pub state: GlobalState,
    /// Noisy counts, none below its floor.
    pub counts: Vec<f64>,
    /// Posterior variance of each offset.
    pub variance: Vec<f64>,
    /// Noisy counts, unmodified.
    pub raw: Vec<f64>,
}

impl FirstLook {
    /// Offsets and counts, shrunk by their noise.
    pub(in crate::ratings) fn of(
        answer: &[f64],
        users: u64,
        noise: f64,
        features: &[Vec<f64>],
    ) -> Self {
        let items = answer.len() / 2;
        let (sums, counted) = answer.split_at(items);
        let floor = (COUNT_FLOOR * noise / COUNT_WEIGHT).max(1.0);
        let most = users as f64 + 1e9;
        let raw: Vec<f64> = counted.iter().map(|count| count / COUNT_WEIGHT).collect();
        let counts: Vec<f64> = raw.iter().map(|count| count.max(floor).min(most)).collect();
        let total: f64 = counts.iter().sum();
        let logs: Vec<f64> = counts.iter().map(|count| count.ln()).collect();
        let mean = logs.iter().zip(&counts).map(|(l, n)| l * n).sum::<f64>() / total;
        let popularity: Vec<f64> = logs.iter().map(|log| log - mean).collect();
        let known: Vec<f64> = counts
            .iter()
            .map(|n| 1.0 / (OFFSET_VARIANCE + ROW_VARIANCE / n + (noise / n).powi(2)))
            .collect();
        let means: Vec<f64> = sums.iter().zip(&counts).map(|(sum, n)| sum / n).collect();
        // Regression of offsets on popularity and features.
        let size = 2 + features.first().map_or(0, Vec::len);
        let columns = |j: usize| {
            let own = features.get(j).into_iter().flatten().copied();
            [1.0, popularity[j]].into_iter().chain(own).collect::<Vec<f64>>()
        };
        let (mut gram, mut right) = (vec![0.0; size * size], vec![0.0; size]);
        for (j, (weight, y)) in known.iter().zip(&means).enumerate() {
            let columns = columns(j);
            for (i, x) in columns.iter().enumerate() {
                right[i] += weight * x * y;
                let row = &mut gram[i * size..][..=i];
                row.iter_mut().zip(&columns).for_each(|(entry, z)| *entry += weight * x * z);
            }
        }
        let ridge = 1e-3 * gram[0];
        let line = solve(gram, &vec![ridge; size], right);
        let expected = |j: usize| columns(j).iter().zip(&line).map(|(x, w)| x * w).sum::<f64>();
        let offset = |j: usize| {
            let prior = expected(j);
            let found = prior + OFFSET_VARIANCE * known[j] * (means[j] - prior);
            found.clamp(-LARGEST_ENTRY, LARGEST_ENTRY)
        };
        let offsets = (0..items).map(offset).collect();
        let left = |known: &f64| OFFSET_VARIANCE * (1.0 - OFFSET_VARIANCE * known);
        let variance = known.iter().map(left).collect();
        let (vectors, features) = (vec![Vec::new(); items], features.to_vec());
        let state = GlobalState { offsets, popularity, vectors, features };
        Self { state, counts, variance, raw }
    }
}

/// Largest eigenvalues with their vectors, with a diagonal consistent with them.
fn largest_eigenpairs(
    matrix: &mut [f64],
    size: usize,
    rank: usize,
) -> Option<Vec<(f64, Vec<f64>)>> {
    let mut found = Vec::new();
    for _ in 0..FILLS {
        let spectrum = Spectrum::of(matrix, size)?;
        found = spectrum.largest(rank);
        for (place, diagonal) in matrix.iter_mut().step_by(size + 1).enumerate() {
            *diagonal = found.iter().map(|(value, v)| value.max(0.0) * v[place] * v[place]).sum();
        }
    }
    // The sign of a direction is fixed, so that every computation gives the same.
    for (_, vector) in &mut found {
        let largest = vector.iter().copied().max_by(|a, b| a.abs().total_cmp(&b.abs()));
        if largest.is_some_and(|entry| entry < 0.0) {
            vector.iter_mut().for_each(|entry| *entry = -*entry);
        }
    }
    Some(found)
}

/// True if every item has the same number of features, all of an accepted size.
pub(in crate::ratings) fn features_fit(features: &[Vec<f64>], items: usize) -> bool {
    let count = features.first().map_or(0, Vec::len);
    features.len() == items
        && (1..=MOST_FEATURES).contains(&count)
        && features.iter().all(|row| row.len() == count)
        && features.iter().flatten().all(|number| number.abs() <= privet_data::ratings::FURTHEST)
}

/// Upper limit on the number of features of an item.
const MOST_FEATURES: usize = 64;
