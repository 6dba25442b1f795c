//! The records of a generated table.

use super::{GeneratedTable, PILOT, STREAM};
use crate::synth::draw::Draw;

/// An endless sequence of records with their labels.
pub struct GeneratedRecords<'a> {
    drawn: Drawn<'a>,
    slope: f64,
    offset: f64,
}

impl GeneratedRecords<'_> {
    /// The next record's numbers, the indices of its categories, and its label.
    pub fn next_record(&mut self) -> (&[f64], &[usize], bool) {
        let log_odds = self.slope * self.drawn.next() + self.offset;
        let label = self.drawn.draw.uniform() < logistic(log_odds);
        (&self.drawn.numbers, &self.drawn.categories, label)
    }
}

impl GeneratedTable {
    /// The records of the table.
    pub fn records(&self) -> GeneratedRecords<'_> {
        // The pilot and the rows are drawn apart, so that a row does not depend on their number.
        let mut pilot = Drawn::new(self, 1);
        let raw: Vec<f64> = (0..PILOT).map(|_| pilot.next()).collect();
        let count = raw.len() as f64;
        let mean = raw.iter().sum::<f64>() / count;
        let variance = raw.iter().map(|f| (f - mean) * (f - mean)).sum::<f64>() / count;
        let slope = self.signal / variance.sqrt().max(1e-9);
        let share = |offset: f64| {
            raw.iter().map(|f| logistic(slope * (f - mean) + offset)).sum::<f64>() / count
        };
        let (mut low, mut high) = (-40.0, 40.0);
        for _ in 0..60 {
            let middle = 0.5 * (low + high);
            *(if share(middle) > self.ones { &mut high } else { &mut low }) = middle;
        }
        GeneratedRecords { drawn: Drawn::new(self, 2), slope, offset: low - slope * mean }
    }
}

/// Draws records.
struct Drawn<'a> {
    made: &'a GeneratedTable,
    draw: Draw,
    factors: Vec<f64>,
    shares: Vec<f64>,
    numbers: Vec<f64>,
    categories: Vec<usize>,
}

impl<'a> Drawn<'a> {
    fn new(made: &'a GeneratedTable, part: u64) -> Self {
        let draw = Draw::new((STREAM + (part << 24)) ^ made.seed);
        let (factors, shares, numbers, categories) = Default::default();
        Self { made, draw, factors, shares, numbers, categories }
    }

    /// The next record, and its f.
    fn next(&mut self) -> f64 {
        let (made, draw) = (self.made, &mut self.draw);
        self.factors.clear();
        self.factors.extend(made.loadings.iter().map(|_| draw.normal()));
        self.shares.clear();
        self.numbers.clear();
        self.categories.clear();
        let (common, own) = (made.common.sqrt(), (1.0 - made.common).sqrt());
        let mut sum = 0.0;
        for (column, number) in made.numbers.iter().enumerate() {
            let parts = self.factors.iter().zip(&made.loadings);
            let shared: f64 = parts.map(|(factor, loading)| factor * loading[column]).sum();
            let z = common * shared + own * draw.normal();
            let q = 0.5 * libm::erfc(-z * std::f64::consts::FRAC_1_SQRT_2);
            sum += number.effect.of(z, q);
            self.shares.push(q);
            self.numbers.push(number.value(draw, z, q));
        }
        for column in &made.categories {
            let at = draw.uniform();
            let place = column.below.partition_point(|below| *below <= at).min(column.values - 1);
            sum += column.effects[place];
            self.categories.push(place);
        }
        for (first, second, size) in &made.products {
            sum += size * (self.shares[*first] - 0.5) * (self.shares[*second] - 0.5);
        }
        sum
    }
}

fn logistic(log_odds: f64) -> f64 {
    1.0 / (1.0 + libm::exp(-log_odds))
}
