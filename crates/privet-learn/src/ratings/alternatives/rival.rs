//! The public walk of both methods: computes vectors of items from noisy answers.

use super::procedure::{AlternativeMethod, Sizes};
use super::query::{GRAM_WEIGHT, Query, triangle};
use crate::ratings::factors::Factors;
use crate::ratings::local::solve;
use crate::ratings::moments::{FirstLook, GlobalState, LARGEST_ENTRY};
use crate::ratings::spectral::Triangle;
use privet_dp::gate::{Next, Walk};
use serde::{Deserialize, Serialize};

/// Ridge of an item's vector: the variance of a rating around its fit, over that of a vector's entry.
const RIDGE: f64 = 25.0;
/// Upper bound on the absolute value of the initial vectors' entries.
const START: f64 = 0.2;

/// Walk with its current model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct AlternativeWalk {
    sizes: Sizes,
    state: GlobalState,
    answered: u32,
}

impl Walk for AlternativeWalk {
    type Start = Sizes;
    type Query = Query;
    type Answer = Vec<f64>;
    type Artefact = Factors;

    fn begin(sizes: Sizes) -> Self {
        Self { sizes, state: GlobalState::default(), answered: 0 }
    }

    fn next(&mut self, answer: Option<Vec<f64>>) -> Next<Query, Factors> {
        if let Some(answer) = answer {
            match (self.answered, self.sizes.way) {
                (0, _) => self.start_model(&answer),
                (_, AlternativeMethod::Als { .. }) => self.turn(&answer),
                (_, AlternativeMethod::CleansedSvd { beta }) => self.clean_directions(answer, beta),
            }
            self.answered += 1;
        }
        let Sizes { items, spread, .. } = self.sizes;
        let state = self.state.clone();
        Next::Ask(match (self.answered, self.sizes.way) {
            (0, _) => Query::Offsets { items, spread },
            (done, AlternativeMethod::Als { rounds }) if done <= rounds => {
                Query::Turn { state, spread }
            }
            (1, AlternativeMethod::CleansedSvd { .. }) => {
                Query::Covariance { offsets: state.offsets }
            }
            _ => return Next::Release(Factors::Moments(state)),
        })
    }
}

impl AlternativeWalk {
    /// Sets offsets, and generic initial vectors.
    fn start_model(&mut self, answer: &[f64]) {
        let look = FirstLook::of(answer, self.sizes.users, self.sizes.noise()[0], &[]);
        let number = |item: usize, place: usize| {
            START * ((place + 1) as f64 * (item as f64 + 0.5) * 0.618_034 * 7.0).sin()
        };
        let rank = self.sizes.rank;
        let vector = |item: usize| (0..rank).map(|place| number(item, place)).collect();
        self.state = look.state;
        self.state.vectors = (0..self.sizes.items).map(vector).collect();
    }

    /// Regresses every item on the users' fits.
    fn turn(&mut self, answer: &[f64]) {
        let (rank, noise) = (self.sizes.rank, self.sizes.noise()[1]);
        // Keeps a noisy Gram matrix positive.
        let edge = 2.0 * noise / (1.5 * GRAM_WEIGHT) * (rank as f64).sqrt();
        for (vector, told) in
            self.state.vectors.iter_mut().zip(answer.chunks(rank + triangle(rank)))
        {
            let (right, entries) = told.split_at(rank);
            let (mut gram, mut entries) = (vec![0.0; rank * rank], entries.iter());
            for i in 0..rank {
                for j in 0..=i {
                    let off = if i == j { 1.0 } else { 1.5 };
                    gram[i * rank + j] = entries.next().map_or(0.0, |x| x / (off * GRAM_WEIGHT));
                }
            }
            let minimiser = solve(gram, &vec![RIDGE + edge; rank], right.to_vec());
            vector
                .iter_mut()
                .zip(minimiser)
                .for_each(|(v, x)| *v = x.clamp(-LARGEST_ENTRY, LARGEST_ENTRY));
        }
    }

    /// Covariances over weights, shrunk towards their mean, then their largest directions.
    fn clean_directions(&mut self, answer: Vec<f64>, beta: f64) {
        let (items, noise) = (self.sizes.items, self.sizes.noise()[1]);
        let (sums, weights) = answer.split_at(triangle(items));
        let means = |told: &[f64]| told.iter().sum::<f64>() / told.len().max(1) as f64;
        // The mean weight is above 0 except for noise, which is small in a mean.
        let (sum, weight) = (means(sums), means(weights).max(noise / triangle(items) as f64));
        let shrunk =
            |(told, over): (&f64, &f64)| (told + beta * sum) / (over.max(0.0) + beta * weight);
        let entries: Vec<f64> = sums.iter().zip(weights).map(shrunk).collect();
        let shift = noise / (beta * weight) * (items as f64).sqrt();
        let found = Triangle::new(entries, items).largest(self.sizes.rank, shift);
        for (place, (value, vector)) in found.into_iter().enumerate() {
            let length = value.max(0.0).sqrt();
            for (own, entry) in self.state.vectors.iter_mut().zip(vector) {
                own[place] = (length * entry).clamp(-LARGEST_ENTRY, LARGEST_ENTRY);
            }
        }
    }
}
