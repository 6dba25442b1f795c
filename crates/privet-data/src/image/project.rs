//! A public random projection: signs, a Hadamard transform, and some of its entries.
//!
//! For a row z of length d padded to D = 2ᵐ: the first `features` entries of a fixed random choice out
//! of H·diag(±1)·z, H the D × D Hadamard matrix (Ailon & Chazelle 2009; Tropp 2011). It preserves norms
//! and angles about as well as a Gaussian matrix would, at D·m additions per row. Signs and choice come
//! from a keyed hash under a constant: choosing among constants would be tuning, so there is one, and
//! it never changes.

use crate::keyed::{self, Key};

/// The fixed key of signs and choice. Stored models depend on it: it must never change.
const KEY: Key = *b"privet: pictures";

/// The projection of rows of one length.
#[derive(Debug, Clone)]
pub(super) struct Projection {
    signs: Vec<f32>,
    /// Indices of the entries that are kept, ascending.
    places: Vec<u32>,
    /// The padded length D.
    padded: usize,
}

impl Projection {
    /// Projects `length` numbers to `features`, at most the power of two at or above `length`.
    pub(super) fn new(length: usize, features: usize) -> Self {
        let padded = length.next_power_of_two();
        let hash =
            |purpose: &str, at: usize| keyed::hash(purpose, &KEY, &[&(at as u64).to_le_bytes()]);
        let sign = |at| if hash("sign", at) & 1 == 0 { 1.0 } else { -1.0 };
        let mut order: Vec<(u64, u32)> =
            (0..padded).map(|at| (hash("place", at), at as u32)).collect();
        order.sort_unstable();
        let mut places: Vec<u32> = order.iter().take(features).map(|(_, at)| *at).collect();
        places.sort_unstable();
        Self { signs: (0..length).map(sign).collect(), places, padded }
    }

    /// Writes the projection of `row`, up to a factor, into `features`; `room` is overwritten.
    pub(super) fn apply(&self, row: &[f32], room: &mut Vec<f32>, features: &mut [f64]) {
        room.clear();
        room.extend(row.iter().zip(&self.signs).map(|(x, sign)| x * sign));
        room.resize(self.padded, 0.0);
        let mut half = 1;
        while half < self.padded {
            for block in room.chunks_exact_mut(2 * half) {
                let (low, high) = block.split_at_mut(half);
                for (a, b) in low.iter_mut().zip(high) {
                    (*a, *b) = (*a + *b, *a - *b);
                }
            }
            half *= 2;
        }
        for (feature, place) in features.iter_mut().zip(&self.places) {
            *feature = f64::from(room[*place as usize]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_of_it_keeps_lengths_and_a_part_is_a_part() {
        let row: Vec<f32> = (0..13).map(|at| (at % 5) as f32 - 1.5).collect();
        let squares = |row: &[f64]| row.iter().map(|x| x * x).sum::<f64>();
        let (mut room, mut whole, mut part) = (Vec::new(), [0.0; 16], [0.0; 6]);
        Projection::new(13, 16).apply(&row, &mut room, &mut whole);
        Projection::new(13, 6).apply(&row, &mut room, &mut part);
        let before: f64 = row.iter().map(|x| f64::from(*x).powi(2)).sum();
        assert!((squares(&whole) / 16.0 - before).abs() < 1e-9);
        let mut rest = whole.iter();
        assert!(part.iter().all(|x| rest.any(|y| x == y)), "{part:?} of {whole:?}");
    }

    /// Stored models depend on these.
    #[test]
    fn signs_and_places_never_change() {
        let projection = Projection::new(3969, 1200);
        let negative = projection.signs.iter().filter(|sign| **sign < 0.0).count();
        let first = &projection.places[..6];
        assert_eq!((negative, first), (1997, &[1, 3, 4, 14, 15, 16][..]));
    }
}
