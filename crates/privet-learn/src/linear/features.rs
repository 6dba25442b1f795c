//! Features of a row of levels: for each number its place between its bounds and its place among placed
//! knots, hats at even knots and hats at placed ones; for each category its indicators.
//!
//! Every feature is a function of one run's code ([`privet_optim::sum::Runs`]), a multiple of 2⁻²⁰. The
//! two places are within ±1, and the hats of either kind are not negative and add up to at most 1: so the
//! features of a number have a squared norm of at most 4, those of any other run of at most 1. The
//! constant column is no feature.

use privet_data::encode::Levels;
use privet_optim::sum::{LinearImage, Run, Runs};
use serde::{Deserialize, Serialize};
use std::collections::HashMap;

/// Knots of a number's levels: 16 blocks of 15 and the last one, so that with a missing value a code
/// fits a byte.
pub(crate) const GRID: u32 = 241;

/// The least number of columns of a run whose codes do not fit two bytes.
const LARGEST_CODE: u32 = u16::MAX as u32;

/// Fractional bits of features.
const BITS: u32 = 20;
/// The unit of features.
const UNIT: f64 = 1.0 / (1_u64 << BITS) as f64;

/// The runs of a table, and the number of hats of either kind of each number: public.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Layout {
    /// First column, columns, and for a number its knots.
    pub runs: Vec<(u32, u32, u32)>,
    /// Hats of each number, of either kind.
    pub hats: u32,
}

/// The features of each code.
#[derive(Debug, Clone)]
pub(crate) struct Features {
    /// For each place of the runs' tables, the features that are not 0, in units.
    of_codes: Vec<Vec<(u32, i64)>>,
    /// The encoded column of each place; those of code 0 have none.
    columns: Vec<Option<u32>>,
    /// The place of each encoded column of a code.
    places: HashMap<u32, usize>,
    /// The number of features.
    pub count: usize,
}

impl Layout {
    /// The layout of these levels; `None` if a number has other knots than [`GRID`], or a column more values
    /// than codes.
    pub fn of(levels: &[Levels], hats: u32) -> Option<Self> {
        let fits = |level: &Levels| {
            (level.knots == 0 || level.knots == GRID) && level.count < LARGEST_CODE
        };
        let runs = levels.iter().map(|level| (level.first, level.count, level.knots)).collect();
        (!levels.is_empty() && levels.iter().all(fits)).then_some(Self { runs, hats })
    }

    /// The runs of all columns but the constant one.
    fn columns(&self) -> &[(u32, u32, u32)] {
        self.runs.split_last().map_or(&[], |(_, columns)| columns)
    }

    /// The number of numbers.
    pub fn numbers(&self) -> usize {
        self.runs.iter().filter(|(.., knots)| *knots > 0).count()
    }

    /// The number of features.
    pub fn features(&self) -> usize {
        let of = |(_, count, knots): &(u32, u32, u32)| match knots {
            0 => *count as usize,
            _ => 2 + 2 * self.hats as usize + (count - knots) as usize,
        };
        self.columns().iter().map(of).sum()
    }

    /// Upper bound on the norm of a row's features.
    pub fn radius(&self) -> f64 {
        let numbers = self.numbers() as f64;
        let others = self.columns().len() as f64 - numbers;
        (4.0 * numbers + others).max(1.0).sqrt() * (1.0 + 1e-9)
    }

    /// The runs as they are asked for; the constant column, the last one, marks a record as present.
    pub fn runs(&self) -> Runs {
        let runs = self.runs.iter().map(|(first, count, _)| Run { first: *first, count: *count });
        Runs { runs: runs.collect(), present: self.runs.len() - 1 }
    }

    /// The range of each feature.
    pub fn ranges(&self) -> Vec<(f64, f64)> {
        let mut ranges = Vec::with_capacity(self.features());
        for (_, count, knots) in self.columns() {
            if *knots > 0 {
                ranges.extend([(-1.0, 1.0); 2]);
            }
            let hats = if *knots > 0 { 2 * self.hats } else { 0 };
            ranges.extend((0..hats + count - knots).map(|_| (0.0, 1.0)));
        }
        ranges
    }

    /// The noisy histogram's cells: for each number its bins, then its blocks.
    pub fn cells(&self, block: impl Fn(usize, usize) -> usize, blocks: usize) -> LinearImage {
        let (starts, _) = self.runs().starts();
        let mut rows = Vec::new();
        for ((_, _, knots), start) in
            self.runs.iter().zip(starts).filter(|((.., knots), _)| *knots > 0)
        {
            let bins = *knots as usize;
            let code = |bin: usize| start + 1 + bin as u32;
            rows.extend((0..bins).map(|bin| vec![(code(bin), 1)]));
            let own =
                |at: usize| (0..bins).filter(|bin| block(*bin, bins) == at).collect::<Vec<_>>();
            rows.extend(
                (0..blocks).map(|at| own(at).into_iter().map(|bin| (code(bin), 1)).collect()),
            );
        }
        LinearImage { rows, bits: 0 }
    }

    /// The features of each code, with one list of placed knots for each number.
    pub fn map(&self, placed: &[Vec<u16>]) -> Features {
        let mut placed = placed.iter();
        let (mut of_codes, mut columns, mut next) = (Vec::new(), Vec::new(), 0_u32);
        let total = self.runs().codes();
        for (first, count, knots) in &self.runs {
            of_codes.push(Vec::new());
            columns.push(None);
            columns.extend((0..*count).map(|place| Some(first + place)));
            if *knots > 0 {
                let even = super::placement::even(*knots as usize, self.hats as usize);
                let own = placed.next().unwrap_or(&even);
                for bin in 0..*knots {
                    let place = |at: f64, last: u32| 2.0 * at / f64::from(last) - 1.0;
                    let among = hats(own, bin as u16).map(|(at, x)| f64::from(at) * x).sum();
                    let mut features = vec![
                        (next, units(place(f64::from(bin), knots - 1))),
                        (next + 1, units(place(among, self.hats - 1))),
                    ];
                    for (kind, knots) in [&even, own].into_iter().enumerate() {
                        let first = next + 2 + kind as u32 * self.hats;
                        let hats = hats(knots, bin as u16);
                        features.extend(hats.map(|(at, x)| (first + at, units(x))));
                    }
                    features.retain(|(_, units)| *units != 0);
                    of_codes.push(features);
                }
                next += 2 + 2 * self.hats;
            }
            // The constant column, the last run, has no feature.
            for _ in *knots..*count {
                let constant = columns.len() == total;
                of_codes.push(if constant { Vec::new() } else { vec![(next, units(1.0))] });
                next += u32::from(!constant);
            }
        }
        let coded = columns
            .iter()
            .enumerate()
            .filter_map(|(place, at): (_, &Option<u32>)| Some(((*at)?, place)));
        let places = coded.collect();
        Features { of_codes, columns, places, count: next as usize }
    }
}

/// A feature in units, truncated toward 0.
fn units(x: f64) -> i64 {
    (x / UNIT).trunc() as i64
}

/// The hats that are not 0 at a bin.
fn hats(knots: &[u16], bin: u16) -> impl Iterator<Item = (u32, f64)> + use<> {
    let after = knots.partition_point(|knot| *knot <= bin).clamp(1, knots.len() - 1);
    let (left, right) = (f64::from(knots[after - 1]), f64::from(knots[after]));
    let share = ((f64::from(bin) - left) / (right - left)).clamp(0.0, 1.0);
    [(after as u32 - 1, 1.0 - share), (after as u32, share)].into_iter()
}

impl Features {
    /// The sum of a vector's entries at each code's features, times those.
    pub fn scores(&self, theta: &[f64]) -> Vec<f64> {
        let score = |features: &Vec<(u32, i64)>| {
            features.iter().map(|(at, units)| theta[*at as usize] * *units as f64 * UNIT).sum()
        };
        self.of_codes.iter().map(score).collect()
    }

    /// The features of a place in the runs' tables that are not 0.
    pub fn at_code(&self, place: usize) -> impl Iterator<Item = (usize, f64)> {
        self.of_codes[place].iter().map(|(at, units)| (*at as usize, *units as f64 * UNIT))
    }

    /// A vector on the features' grid, truncated toward 0.
    pub fn on_grid(vector: &[f64]) -> Vec<f64> {
        vector.iter().map(|x| units(*x) as f64 * UNIT).collect()
    }

    /// The part of each code in ‖F − m‖² less ‖m‖²: ‖f‖² − 2⟨f, m⟩, for m on the grid.
    pub fn lengths(&self, mean: &[f64]) -> Vec<f64> {
        let length = |features: &Vec<(u32, i64)>| {
            let each = features.iter().map(|(at, units)| {
                let x = *units as f64 * UNIT;
                x * x - 2.0 * x * mean[*at as usize]
            });
            each.sum()
        };
        self.of_codes.iter().map(length).collect()
    }

    /// The image of counts: the sum of the features.
    pub fn sums(&self) -> LinearImage {
        let mut rows = vec![Vec::new(); self.count];
        for (code, features) in self.of_codes.iter().enumerate() {
            for (at, units) in features {
                rows[*at as usize].push((code as u32, *units));
            }
        }
        LinearImage { rows, bits: BITS }
    }

    /// The image of a gradient's sum: that of the features less m times the sum of all multipliers, then
    /// that of the constant, `beside` times the sum of those that are not scaled.
    pub fn gradients(&self, mean: &[f64], beside: f64) -> LinearImage {
        let LinearImage { mut rows, bits } = self.sums();
        let all = self.of_codes.len() as u32;
        rows.iter_mut().zip(mean).for_each(|(row, m)| row.push((all, -units(*m))));
        rows.push(vec![(all + 1, units(beside))]);
        LinearImage { rows, bits }
    }

    /// A number for each encoded column, of one for each code; 0 for columns of no code.
    pub fn at_columns(&self, of_codes: &[f64], columns: usize) -> Vec<f64> {
        let mut all = vec![0.0; columns];
        for (column, value) in self.columns.iter().zip(of_codes) {
            if let Some(column) = column {
                all[*column as usize] = *value;
            }
        }
        all
    }

    /// For each encoded column, true if it is of a code.
    pub fn coded(&self, columns: usize) -> Vec<bool> {
        let ones = vec![1.0; self.columns.len()];
        self.at_columns(&ones, columns).iter().map(|one| *one > 0.0).collect()
    }

    /// The coefficients of the features in a sum of the weights of columns.
    pub fn behind(&self, columns: &[(u32, f64)]) -> Vec<f64> {
        let mut all = vec![0.0; self.count];
        for (column, factor) in columns {
            for (at, units) in
                self.places.get(column).map(|place| &self.of_codes[*place]).into_iter().flatten()
            {
                all[*at as usize] += factor * *units as f64 * UNIT;
            }
        }
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn layout() -> Layout {
        let level = |first, count, knots| Levels { first, count, knots };
        let levels =
            [level(1, 242, GRID), level(243, 3, 0), level(247, 241, GRID), level(488, 1, 0)];
        Layout::of(&levels, 5).unwrap()
    }

    proptest! {
        /// Of every row of codes and any knots: the bound that the mean's sensitivity rests on.
        #[test]
        fn no_row_is_longer_than_the_radius(
            codes in (0..243_usize, 0..4_usize, 0..242_usize, 0..2_usize),
            inner in prop::collection::btree_set(1..240_u16, 3),
        ) {
            let layout = layout();
            let placed: Vec<u16> = [0].into_iter().chain(inner).chain([240]).collect();
            let features = layout.map(&[placed.clone(), placed]);
            prop_assert_eq!(features.count, layout.features());
            let (starts, total) = layout.runs().starts();
            prop_assert_eq!(features.of_codes.len(), total);
            let mut row = vec![0.0; features.count];
            for (start, code) in starts.iter().zip([codes.0, codes.1, codes.2, codes.3]) {
                for (at, units) in &features.of_codes[*start as usize + code] {
                    row[*at as usize] += *units as f64 * UNIT;
                }
            }
            let norm = row.iter().map(|x| x * x).sum::<f64>().sqrt();
            prop_assert!(norm <= layout.radius(), "{norm}");
            let ranges = layout.ranges();
            prop_assert_eq!(ranges.len(), row.len());
            prop_assert!(row.iter().zip(ranges).all(|(x, (low, high))| (low..=high).contains(x)));
        }
    }

    #[test]
    fn hats_of_a_bin_add_up_to_one() {
        for bin in 0..=240 {
            let sum: f64 = hats(&[0, 7, 200, 240], bin).map(|(_, x)| x).sum();
            assert!((sum - 1.0).abs() < 1e-12);
        }
        assert_eq!(hats(&[0, 10, 240], 5).collect::<Vec<_>>(), [(0, 0.5), (1, 0.5)]);
    }

    #[test]
    fn other_knots_have_no_layout() {
        assert_eq!(Layout::of(&[Levels { first: 1, count: 8, knots: 8 }], 5), None);
    }

    #[test]
    fn a_sum_of_weights_is_one_of_features() {
        let layout = layout();
        let features = layout.map(&[vec![0, 10, 20, 30, 240], vec![0, 60, 120, 180, 240]]);
        let theta: Vec<f64> = (0..features.count).map(|at| at as f64).collect();
        let weights = features.at_columns(&features.scores(&theta), 489);
        let sum = [(6, 2.0), (250, -1.0), (244, 3.0)];
        let direct: f64 = sum.iter().map(|(at, a)| a * weights[*at as usize]).sum();
        let behind = features.behind(&sum);
        let own: f64 = behind.iter().zip(&theta).map(|(a, b)| a * b).sum();
        assert!((direct - own).abs() < 1e-6);
    }
}
