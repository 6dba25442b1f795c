//! Tables of many shapes, for choosing constants and for judging defaults on data not used to choose
//! them.
//!
//! **Law.** A number fixes a table: its size, its columns and how the class depends on them.
//! - 300 to 10⁶ rows and 3 to 500 columns, both log-uniform, at most [`ENTRIES`] entries.
//! - Behind the numbers stand normal variables z with up to five common factors; q = Φ(z). A number is
//!   uniform, normal and cut off, log-normal, a count, of a few levels, or mostly zero ([`Law`]); its bounds
//!   are part of the law, and often wider than what occurs.
//! - The log-odds are a·f + b. f is a sum over some columns of a line in z or a bend in q (a step, a
//!   corner, a wave), of effects of categories, and sometimes of products of two columns. a is drawn; f
//!   has mean 0 and deviation 1, and b makes the share of ones 1 to 50 %, both over a pilot of [`PILOT`]
//!   records that are drawn apart.
//! - Tested by `shares_of_ones_are_those_of_the_law` and `the_same_number_is_the_same_table`.

mod column;
mod records;

pub use column::{Category, Law, Number};
pub use records::GeneratedRecords;

use super::draw::Draw;
use column::{between, power};

/// Upper bound on rows times columns.
const ENTRIES: f64 = 2e7;
/// Number of records by which the log-odds are calibrated.
const PILOT: usize = 4_000;
/// Separates these draws from every other use of a seed.
const STREAM: u64 = 0x6d61_6465_0000_0000;

/// A table, before its rows are drawn.
#[derive(Debug, Clone, PartialEq)]
pub struct GeneratedTable {
    /// Rows.
    pub rows: usize,
    /// Columns of numbers.
    pub numbers: Vec<Number>,
    /// Columns of categories.
    pub categories: Vec<Category>,
    /// The kind of dependence of the class on the columns.
    pub kind: Kind,
    /// Products of two numbers in the log-odds, with their coefficients.
    pub products: Vec<(usize, usize, f64)>,
    /// The fraction of ones.
    pub ones: f64,
    /// Loadings of each factor on each number.
    loadings: Vec<Vec<f64>>,
    /// The factors' fraction of the variance.
    common: f64,
    /// Standard deviation of the log-odds.
    signal: f64,
    seed: u64,
}

/// The form of the effects of numbers on the log-odds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Linear.
    Linear,
    /// Nonlinear: steps, corners and waves.
    Bent,
    /// Each linear or nonlinear.
    Mixed,
    /// Each linear or nonlinear, with about five active columns.
    Sparse,
}

impl GeneratedTable {
    /// The table of that number.
    pub fn new(seed: u64) -> Self {
        let mut draw = Draw::new(STREAM ^ seed);
        let columns = power(&mut draw, libm::log10(3.0), libm::log10(500.0)).round() as usize;
        let rows = power(&mut draw, libm::log10(300.0), 6.0).min(ENTRIES / columns as f64) as usize;
        let most = (columns - 1).min(12) as u64;
        let categories = if draw.uniform() < 0.7 { draw.below(most + 1) as usize } else { 0 };
        let numbers = columns - categories;
        let kind = [Kind::Linear, Kind::Bent, Kind::Mixed, Kind::Sparse][draw.below(4) as usize];
        let ones = [0.5, 0.3, 0.15, 0.05, 0.02, 0.01][draw.below(6) as usize];
        // A table with too few ones to learn from gets more.
        let ones = if (rows as f64) * ones < 40.0 { 0.3 } else { ones };
        let active = match kind {
            Kind::Sparse => 5.0 / columns as f64,
            _ => between(&mut draw, 0.2, 1.0),
        };
        let factors = (numbers / 3).clamp(1, 5);
        let loadings = (0..factors).map(|_| (0..numbers).map(|_| draw.normal()).collect());
        let mut made = Self {
            rows,
            loadings: loadings.collect(),
            common: between(&mut draw, 0.0, 0.8),
            signal: between(&mut draw, 0.8, 4.0),
            numbers: (0..numbers).map(|_| Number::new(&mut draw, kind, active)).collect(),
            categories: (0..categories).map(|_| Category::new(&mut draw, active)).collect(),
            products: Vec::new(),
            kind,
            ones,
            seed,
        };
        made.scale_loadings();
        if numbers > 1 && draw.uniform() < 0.35 {
            for _ in 0..=draw.below(3) {
                let first = draw.below(numbers as u64) as usize;
                let other = draw.below(numbers as u64 - 1) as usize;
                let second = other + usize::from(other >= first);
                made.products.push((first, second, 18.0 * draw.normal()));
            }
        }
        made
    }

    /// Scales loadings so that the common part of every number has variance 1.
    fn scale_loadings(&mut self) {
        for column in 0..self.numbers.len() {
            let squares: f64 =
                self.loadings.iter().map(|factor| factor[column] * factor[column]).sum();
            self.loadings.iter_mut().for_each(|factor| factor[column] /= squares.sqrt().max(1e-9));
        }
    }

    /// Encoded columns, with one per number and one per category value.
    pub fn width(&self) -> usize {
        self.numbers.len() + self.categories.iter().map(|column| column.values).sum::<usize>()
    }

    /// A description in words.
    pub fn description(&self) -> String {
        let kind = match self.kind {
            Kind::Linear => "linear",
            Kind::Bent => "bent",
            Kind::Mixed => "partly bent",
            Kind::Sparse => "of few columns",
        };
        let products = if self.products.is_empty() { "" } else { ", with products" };
        format!(
            "{} of numbers and {} of categories, {kind}{products}, {} % ones",
            columns(self.numbers.len()),
            columns(self.categories.len()),
            100.0 * self.ones
        )
    }
}

fn columns(count: usize) -> String {
    format!("{count} column{}", if count == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shapes_are_many_and_within_their_limits() {
        let made: Vec<GeneratedTable> = (1..=300).map(GeneratedTable::new).collect();
        for one in &made {
            let columns = one.numbers.len() + one.categories.len();
            assert!((3..=500).contains(&columns) && (300..=1_000_000).contains(&one.rows));
            assert!((one.rows * columns) as f64 <= ENTRIES);
            assert!(one.rows as f64 * one.ones >= 40.0, "{}", one.description());
        }
        for kind in [Kind::Linear, Kind::Bent, Kind::Mixed, Kind::Sparse] {
            assert!(made.iter().filter(|one| one.kind == kind).count() > 30, "{kind:?}");
        }
        let wide = |one: &&GeneratedTable| one.numbers.len() > 100;
        assert!(made.iter().filter(wide).count() > 30);
        assert!(made.iter().filter(|one| !one.products.is_empty()).count() > 50);
        assert!(made.iter().any(|one| one.rows > 500_000) && made.iter().any(|one| one.rows < 500));
    }

    /// Seeds are fixed, so the outcome is deterministic.
    #[test]
    fn shares_of_ones_are_those_of_the_law() {
        for seed in 1..=20 {
            let made = GeneratedTable::new(seed);
            let mut records = made.records();
            let mut ones = 0.0;
            for _ in 0..PILOT {
                let (numbers, categories, label) = records.next_record();
                ones += f64::from(u8::from(label)) / PILOT as f64;
                for (value, number) in numbers.iter().zip(&made.numbers) {
                    let [low, high] = number.bounds;
                    assert!((low..=high).contains(value), "{seed}: {value}");
                }
                let known = categories.iter().zip(&made.categories);
                assert!(known.into_iter().all(|(place, column)| *place < column.values));
            }
            assert!((ones - made.ones).abs() < 0.03, "{seed}: {ones} for {}", made.ones);
        }
    }

    #[test]
    fn the_same_number_is_the_same_table() {
        let first = |seed: u64| {
            let made = GeneratedTable::new(seed);
            let mut records = made.records();
            let (numbers, categories, label) = records.next_record();
            (numbers.to_vec(), categories.to_vec(), label)
        };
        assert_eq!(first(7), first(7));
        assert_ne!(first(7).0, first(8).0);
        // Reference values: the same on every machine.
        let made = GeneratedTable::new(1);
        let known = (made.rows, made.numbers.len(), made.categories.len(), made.ones);
        assert_eq!(known, (814_560, 4, 0, 0.5));
    }
}
