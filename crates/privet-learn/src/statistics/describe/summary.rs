//! The statistics of a description: a function of noisy sums and public facts alone.

use super::estimate::{Moments, Noise, Sum};
use super::histogram::{consistent, quantile};
use super::layout::{ColumnContent, Field, Layout};
use super::{Describe, Description};
use crate::Request;
use crate::release::task::Task;
use crate::statistics::sums::noise_of;
use privet_optim::sum::Slot;
use serde::Serialize;

/// The quantiles of every number.
pub const QUANTILES: [f64; 5] = [0.05, 0.25, 0.5, 0.75, 0.95];

/// A noisy number with an interval that contains the number without noise in 95 of 100 releases.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Estimate {
    /// The noisy number.
    pub value: f64,
    /// The lower end of the interval.
    pub low: f64,
    /// The upper end of the interval.
    pub high: f64,
}

/// The statistics of a described table.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Summary {
    /// The number of records; exact if it is public.
    pub rows: Estimate,
    /// The standard deviation of the noise on every sum.
    pub noise: f64,
    /// Margin of error of a count in 95 of 100 releases.
    pub margin: f64,
    /// The statistics of each column.
    pub columns: Vec<ColumnSummary>,
    /// The correlation of each pair of numbers, over records in which no number is missing.
    pub correlations: Vec<Correlation>,
}

/// The statistics of a column.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ColumnSummary {
    /// Its name.
    pub name: String,
    /// Its content: categories or a number.
    #[serde(flatten)]
    pub kind: Kind,
}

/// The content of a column.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Kind {
    /// Categories.
    Category {
        /// Each category with its noisy count.
        cells: Vec<CellCount>,
    },
    /// A number.
    Number {
        /// Its declared bounds.
        bounds: [f64; 2],
        /// The number of records in which it is missing; `None` if it cannot be.
        missing: Option<Estimate>,
        /// The mean of values clamped to the bounds.
        mean: Estimate,
        /// Their standard deviation.
        deviation: Estimate,
        /// The quantiles at the levels [`QUANTILES`].
        quantiles: Vec<Quantile>,
        /// Bins of equal width over the bounds, each with its noisy count.
        histogram: Vec<Bin>,
    },
}

/// A category with its count.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CellCount {
    /// The category.
    pub category: String,
    /// Noisy number of records in it; may be below 0 where few or no records are.
    pub count: f64,
}

/// A bin of a histogram.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Bin {
    /// The lower edge.
    pub from: f64,
    /// The upper edge; it belongs to the next bin, except in the last.
    pub to: f64,
    /// Noisy number of records in it.
    pub count: f64,
}

/// A quantile.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Quantile {
    /// The level, from 0 to 1.
    pub level: f64,
    /// The estimated quantile.
    pub value: f64,
    /// The lower edge of the first bin that it may lie in.
    pub low: f64,
    /// The upper edge of the last bin that it may lie in.
    pub high: f64,
}

/// A correlation.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Correlation {
    /// The name of one number.
    pub first: String,
    /// The name of the other.
    pub second: String,
    /// The correlation of the two.
    #[serde(flatten)]
    pub estimate: Estimate,
}

impl Summary {
    /// Computes the statistics; `None` if the request is not settled or the sums do not fit it.
    pub fn of(request: &Request<Describe>, found: &Description) -> Option<Self> {
        let layout = Describe::facts(request).ok()?;
        Describe::fits(request, found).ok()?;
        let noise = noise_of(request)?;
        Some(SumCursor { layout: &layout, noise, sums: &found.sums, at: 0 }.summary())
    }
}

/// A cursor through the sums.
struct SumCursor<'a> {
    layout: &'a Layout,
    noise: Noise,
    sums: &'a [f64],
    at: usize,
}

impl<'a> SumCursor<'a> {
    fn take(&mut self, count: usize) -> &'a [f64] {
        let taken = &self.sums[self.at..self.at + count];
        self.at += count;
        taken
    }

    fn summary(mut self) -> Summary {
        let layout = self.layout;
        let rows = match layout.query.rows {
            true => Sum::noisy(self.take(1)[0]),
            false => Sum::known(layout.rows as f64),
        };
        let mut moments = Vec::new();
        let mut columns = Vec::new();
        for (field, slot) in layout.columns.iter().zip(&layout.query.slots) {
            let sums = self.take(slot.entries());
            columns.push(self.column(field, slot, sums, rows, &mut moments));
        }
        let whole = self.take(layout.query.of_whole_records());
        if let Some((count, own)) = whole.split_first() {
            let count = Sum::noisy(*count);
            moments = own
                .chunks_exact(2)
                .map(|two| Moments { count, sum: two[0], squares: two[1] })
                .collect();
        }
        let correlations = match layout.query.products {
            true => self.correlations(&moments),
            false => Vec::new(),
        };
        let (noise, margin) = (self.noise.deviation(), self.noise.margin(1.0));
        Summary { rows: self.noise.count(rows), noise, margin, columns, correlations }
    }

    fn column(
        &self,
        field: &Field,
        slot: &Slot,
        sums: &[f64],
        rows: Sum,
        moments: &mut Vec<Moments>,
    ) -> ColumnSummary {
        let kind = match (&field.holds, slot) {
            (ColumnContent::Number { low, high, missing }, Slot::Number { bins, .. }) => {
                let (histogram, rest) = sums.split_at(*bins);
                let absent = missing.then(|| Sum::noisy(rest[0]));
                let count = absent.map_or(rows, |absent| rows.minus(absent));
                let own = &rest[usize::from(*missing)..];
                let of = Moments { count, sum: own[0], squares: own[1] };
                moments.push(of);
                self.number(histogram, &of, absent, (*low, *high))
            }
            (ColumnContent::Cells(cells), _) => {
                let cell = |(name, count): (&String, &f64)| CellCount {
                    category: name.clone(),
                    count: *count,
                };
                Kind::Category { cells: cells.iter().zip(sums).map(cell).collect() }
            }
            (ColumnContent::Number { .. }, _) => Kind::Category { cells: Vec::new() },
        };
        ColumnSummary { name: field.name.clone(), kind }
    }

    fn number(
        &self,
        noisy: &[f64],
        moments: &Moments,
        absent: Option<Sum>,
        (low, high): (f64, f64),
    ) -> Kind {
        let noise = self.noise;
        let (middle, half) = (low + (high - low) / 2.0, (high - low) / 2.0);
        let back = |z: f64| (middle + half * z).clamp(low, high);
        let mean = noise.mean(moments);
        let deviation = noise.spread(moments);
        let counts = consistent(noisy);
        let edge = |place: usize| low + (high - low) * place as f64 / noisy.len() as f64;
        let bin = |(place, count): (usize, &f64)| Bin {
            from: edge(place),
            to: edge(place + 1),
            count: *count,
        };
        Kind::Number {
            bounds: [low, high],
            missing: absent.map(|absent| noise.count(absent)),
            mean: Estimate { value: back(mean.value), low: back(mean.low), high: back(mean.high) },
            deviation: Estimate {
                value: half * deviation.value,
                low: half * deviation.low,
                high: half * deviation.high,
            },
            quantiles: QUANTILES
                .map(|level| quantile(level, noisy, &counts, (low, high), noise))
                .into(),
            histogram: noisy.iter().enumerate().map(bin).collect(),
        }
    }

    fn correlations(&mut self, moments: &[Moments]) -> Vec<Correlation> {
        let fields = self.layout.columns.iter();
        let numbers: Vec<&String> = fields
            .filter(|field| matches!(field.holds, ColumnContent::Number { .. }))
            .map(|field| &field.name)
            .collect();
        let mut all = Vec::new();
        for (place, (first, own)) in numbers.iter().zip(moments).enumerate() {
            for (second, other) in numbers.iter().zip(moments).skip(place + 1) {
                let products = self.take(1)[0];
                let estimate = self.noise.correlation(own, other, products);
                let (first, second) = (first.to_string(), second.to_string());
                all.push(Correlation { first, second, estimate });
            }
        }
        all
    }
}
