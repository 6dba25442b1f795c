//! What an outline suggests for a schema: a function of the release alone.

use super::{Outline, Outlined};
use crate::released::Released;
pub use privet_data::read::MISSING;
use privet_data::read::{CellKey, bin_edges};

/// The share of a column's numbers that may lie beyond each bound.
const BEYOND: f64 = 0.005;

/// What a column seems to hold.
#[derive(Debug, Clone, PartialEq)]
pub enum Suggestion {
    /// Numbers between these, but for a few.
    Number(f64, f64),
    /// Dates of these years.
    Dates(i32, i32),
    /// One of these texts, or others that few hold.
    Category(Vec<String>),
    /// Nothing that stands out of the noise.
    Nothing,
}

/// One column.
#[derive(Debug, Clone, PartialEq)]
pub struct Suggested {
    /// Its name.
    pub name: String,
    /// What it seems to hold.
    pub what: Suggestion,
    /// Texts of it that say that there is nothing.
    pub missing: Vec<String>,
}

/// What each column of an outline seems to hold: what most of its units hold. Bounds of a number leave half a per cent of
/// the *released* counts beyond each (those of bins that few units hold are not released: some per cent more), and are rounded outwards to the grid of the release and to two digits.
pub fn suggested(released: &Released<Outline>) -> Vec<Suggested> {
    let columns = &released.request().task.columns;
    let names = (0_u32..).zip(columns);
    names.map(|(column, name)| one(name, released.artefact(), column)).collect()
}

fn one(name: &str, found: &Outlined, column: u32) -> Suggested {
    let (mut bins, mut years, mut texts, mut missing) = (vec![], vec![], vec![], vec![]);
    for known in found.keys.iter().filter(|known| known.column == column) {
        match &known.key {
            CellKey::Bin(bin) => bins.push((*bin, known.count)),
            CellKey::Year(year) => years.push((*year, known.count)),
            CellKey::Text(text) if MISSING.contains(&text.as_str()) => missing.push(text.clone()),
            CellKey::Text(text) => texts.push((text.clone(), known.count)),
        }
    }
    let numbers: f64 = bins.iter().map(|bin: &(i32, f64)| bin.1).sum();
    let dates: f64 = years.iter().map(|year: &(i32, f64)| year.1).sum();
    let words: f64 = texts.iter().map(|text: &(String, f64)| text.1).sum();
    let what = if numbers > dates.max(words) {
        bounds(&bins).map_or(Suggestion::Nothing, |(low, high)| Suggestion::Number(low, high))
    } else if dates > words {
        let (first, last) = (years.iter().map(|y| y.0).min(), years.iter().map(|y| y.0).max());
        first.zip(last).map_or(Suggestion::Nothing, |(first, last)| Suggestion::Dates(first, last))
    } else if words > 0.0 {
        Suggestion::Category(texts.into_iter().map(|text| text.0).collect())
    } else {
        Suggestion::Nothing
    };
    Suggested { name: name.into(), what, missing }
}

/// The outer quantiles of noised counts of bins, in their order.
fn bounds(bins: &[(i32, f64)]) -> Option<(f64, f64)> {
    let room = BEYOND * bins.iter().map(|bin| bin.1).sum::<f64>();
    let low = bin_edges(outer(bins.iter(), room)?).0;
    let high = bin_edges(outer(bins.iter().rev(), room)?).1;
    let (low, high) = (outwards(low, false), outwards(high, true));
    (low < high).then_some((low, high))
}

/// The first bin at which more than this has been passed.
fn outer<'a>(mut bins: impl Iterator<Item = &'a (i32, f64)>, room: f64) -> Option<i32> {
    let mut passed = 0.0;
    let found = bins.find(|bin| {
        passed += bin.1;
        passed > room
    });
    found.map(|bin| bin.0)
}

/// Two digits, rounded up or down.
fn outwards(value: f64, up: bool) -> f64 {
    if value == 0.0 {
        return 0.0;
    }
    let digits = 1 - value.abs().log10().floor() as i32;
    let power = 10_f64.powi(digits.abs());
    let scaled = if digits >= 0 { value * power } else { value / power };
    // What rounding left of a round number is no reason to go on to the next.
    let near = (scaled.round() - scaled).abs() < 1e-9;
    let whole = match (near, up) {
        (true, _) => scaled.round(),
        (false, true) => scaled.ceil(),
        (false, false) => scaled.floor(),
    };
    if digits >= 0 { whole / power } else { whole * power }
}

#[cfg(test)]
mod tests {
    use super::*;
    use privet_data::read::bin_of;

    #[test]
    fn bounds_are_outer_quantiles_rounded_outwards() {
        assert_eq!((outwards(19.03, false), outwards(90.5, true)), (19.0, 91.0));
        assert_eq!((outwards(-0.0123, false), outwards(123_456.0, true)), (-0.013, 130_000.0));
        assert_eq!(outwards(2.0, true), 2.0);
        let bins: Vec<(i32, f64)> = [(-3.0, 500.0), (0.0, 100.0), (8.0, 400.0), (1e9, 1.0)]
            .map(|(x, n)| (bin_of(x), n))
            .to_vec();
        let (low, high) = bounds(&bins).unwrap();
        assert!((-3.5..=-3.0).contains(&low) && (8.0..=9.6).contains(&high), "{low} {high}");
        assert_eq!(bounds(&[(0, 50.0)]), None);
        assert_eq!(bounds(&[]), None);
    }
}
