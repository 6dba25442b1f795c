//! All sets of s columns, in parts with a common prefix, with a bound on how well any set of a part can
//! fit.
//!
//! **Bound.** For sets Γ = P ∪ Q with a common prefix P, and r = y − X_Pθ for *any* θ, weak duality
//! gives
//!
//! q(Γ) = min over ‖φ‖ ≤ B of ½‖y − X_Γφ‖² ≥ ⟨r, y⟩ − ½‖r‖² − B‖X_Γᵀr‖
//! = ½(‖y‖² − ‖X_Pθ‖²) − B√(Σ over P of ⟨xⱼ, r⟩² + Σ over Q of ⟨xⱼ, r⟩²),
//!
//! and the last sum is at most that of the s − |P| largest ⟨xⱼ, r⟩² among the columns available to Q.
//! *Proof.* For every φ in the ball ½‖y − Xφ‖² ≥ ⟨r, y − Xφ⟩ − ½‖r‖², and ⟨r, Xφ⟩ ≤ B‖Xᵀr‖. ∎ With θ the
//! fit of P it is near q(P) if the remaining columns have little correlation with the residual.
//!
//! A part is a range of ranks ([`super::noisy_answer::unranked`]) with the same first columns; their
//! number is its depth. A part is divided by its next column; sets one column longer than the prefix
//! are all fitted.

use super::exponential::SetScores;
use super::noisy_answer::{sets, unranked};
use super::squares::Moments;
use privet_dp::noise::{Part, Parts};
use rayon::prelude::*;

/// Sets of columns, divided lazily into parts.
pub(super) struct Supports<G> {
    moments: Moments,
    fits: SetScores,
    open: usize,
    size: usize,
    go_on: G,
}

impl<G: Fn() -> bool> Supports<G> {
    /// Parts of all sets of `size` of `open` columns; polls `go_on` whenever a part is divided.
    pub fn new(moments: Moments, fits: SetScores, (open, size): (usize, usize), go_on: G) -> Self {
        Self { moments, fits, open, size, go_on }
    }

    /// Score bound of ½(‖y‖² − ‖X_Pθ‖²) − B√(squares), in units of score.
    fn bound(&self, energy: f64, squares: f64) -> i64 {
        self.fits.bound(energy - self.fits.ball * squares.sqrt())
    }

    fn part(&self, first: u64, size: u64, bound: i64, depth: u8) -> Part {
        // A single set is bounded by its fit.
        let bound = if size == 1 { self.score(first).min(bound) } else { bound };
        Part { first, size, bound, depth }
    }
}

/// The `most` largest squares, inserted one by one.
struct LargestSquares {
    kept: Vec<f64>,
    most: usize,
}

impl LargestSquares {
    fn add(&mut self, square: f64) {
        let place = self.kept.partition_point(|kept| *kept >= square);
        self.kept.insert(place, square);
        self.kept.truncate(self.most);
    }

    fn sum(&self) -> f64 {
        self.kept.iter().sum()
    }
}

impl<G: Fn() -> bool> Parts for Supports<G> {
    fn whole(&self) -> Part {
        let (left, energy) = self.moments.residual_products(&[], self.fits.ball);
        let mut largest = LargestSquares { kept: vec![], most: self.size };
        left.iter().for_each(|product| largest.add(product * product));
        let count = sets(self.open, self.size).unwrap_or(0) as u64;
        self.part(0, count, self.bound(energy, largest.sum()), 0)
    }

    fn score(&self, candidate: u64) -> i64 {
        self.fits.score(&self.moments, &unranked(candidate as usize, self.open, self.size))
    }

    fn divide(&mut self, part: Part, out: &mut dyn FnMut(Part)) -> bool {
        let depth = usize::from(part.depth);
        let alike = unranked(part.first as usize, self.open, self.size);
        let (alike, next) = (&alike[..depth], depth + 1);
        if next == self.size {
            let Self { moments, fits, open, size, .. } = &*self;
            let one = |rank: u64| fits.score(moments, &unranked(rank as usize, *open, *size));
            let ranks = part.first..part.first + part.size;
            let scores: Vec<i64> = ranks.clone().into_par_iter().map(one).collect();
            let parts = ranks.zip(scores);
            parts.for_each(|(first, bound)| out(Part { first, size: 1, bound, depth: next as u8 }));
            return (self.go_on)();
        }
        let (left, energy) = self.moments.residual_products(alike, self.fits.ball);
        let own: f64 = alike.iter().map(|j| left[*j as usize].powi(2)).sum();
        let begin = alike.last().map_or(0, |last| *last as usize + 1);
        // Columns that leave enough columns after them.
        let end = self.open + next - self.size;
        let mut largest = LargestSquares { kept: vec![], most: self.size - next };
        left[end..].iter().for_each(|product| largest.add(product * product));
        let mut bounds = Vec::with_capacity(end - begin);
        for column in (begin..end).rev() {
            let square = left[column] * left[column];
            bounds.push(self.bound(energy, own + square + largest.sum()).min(part.bound));
            largest.add(square);
        }
        let mut first = part.first;
        for (column, bound) in (begin..end).zip(bounds.into_iter().rev()) {
            let count = sets(self.open - column - 1, self.size - next).unwrap_or(0) as u64;
            out(self.part(first, count, bound, next as u8));
            first += count;
        }
        (self.go_on)()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use privet_data::matrix::{DenseMatrix, Matrix};
    use privet_dp::noise::{FixedSeed, Source};
    use privet_optim::vertex::FeatureGrid;

    fn supports(open: usize, size: usize, seed: u64) -> Supports<impl Fn() -> bool> {
        let mut source = FixedSeed::new(seed);
        let rows = 40 + source.below(60) as usize;
        let mut draw = || source.below(2001) as f64 / 1000.0 - 1.0;
        let values: Vec<f32> = (0..rows * open).map(|_| draw() as f32).collect();
        let labels: Vec<f64> = values
            .chunks(open)
            .map(|row| {
                (f64::from(row[1]) - 0.5 * f64::from(row[3]) + 0.3 * draw()).clamp(-1.0, 1.0)
            })
            .collect();
        let grid = FeatureGrid::new(1.0);
        let rows = Matrix::Dense(DenseMatrix::new(values, labels.len(), open));
        let moments = Moments::new(&rows, &labels, open, grid).unwrap();
        let ball = 1.0 / (size as f64).sqrt();
        let record = 0.5 * (1.0 + ball * (size as f64).sqrt()).powi(2);
        Supports::new(moments, SetScores { features: grid, ball, record }, (open, size), || true)
    }

    /// Every part, down to single sets: its smaller parts contain each candidate once, no score exceeds
    /// a bound, and no bound exceeds that of the parent part.
    #[test]
    fn parts_have_all_sets_once_and_bounds_hold() {
        for (open, size, seed) in
            [(9, 3, 1), (9, 3, 2), (7, 4, 3), (6, 6, 4), (8, 1, 5), (12, 2, 6)]
        {
            let mut all = supports(open, size, seed);
            let whole = all.whole();
            assert_eq!(whole.size as usize, sets(open, size).unwrap());
            let (mut stack, mut single) = (vec![whole], vec![false; whole.size as usize]);
            while let Some(part) = stack.pop() {
                for rank in part.first..part.first + part.size {
                    assert!(all.score(rank) <= part.bound, "{open} {size} {seed}: {part:?} {rank}");
                }
                if part.size == 1 {
                    assert_eq!(all.score(part.first), part.bound);
                    assert!(!std::mem::replace(&mut single[part.first as usize], true));
                    continue;
                }
                let mut smaller = vec![];
                assert!(all.divide(part, &mut |one| smaller.push(one)));
                assert_eq!(smaller.iter().map(|one| one.size).sum::<u64>(), part.size);
                assert!(smaller.iter().all(
                    |one| one.bound <= part.bound && one.size < part.size || smaller.len() == 1
                ));
                stack.extend(smaller);
            }
            assert!(single.into_iter().all(|seen| seen));
        }
    }

    /// Bounds are effective: where one set stands out, the best of some 25,000 sets is found after few
    /// fits.
    #[test]
    fn few_parts_are_divided_where_a_set_stands_out() {
        let mut all = supports(55, 3, 9);
        let unit = 400.0 / (all.fits.record * 65_536.0);
        let mut source = FixedSeed::new(2);
        let chosen = privet_dp::noise::choose_lazily(&mut all, unit, &mut source).unwrap().unwrap();
        let set = unranked(chosen as usize, 55, 3);
        assert!(set.contains(&1) && set.contains(&3), "{set:?}");
    }
}
