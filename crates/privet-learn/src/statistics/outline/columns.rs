//! Schema suggestions from an outline: a function of the release alone.
//!
//! The kind of a column is the one with the largest total: numbers, dates or texts. Bounds and years are
//! suggested if the keys released are *most* of the column: if the sum of their counts is more than half
//! of the sum of those three totals (none below 0) plus two standard deviations of the noise on one.
//! Texts for missing values do not count. All of these numbers are released. Otherwise the keys are too
//! few: a few bins of many have bounds, but not those of the column.

use super::kinds::kind;
use super::{KINDS, Outline, Outlined};
use crate::Released;
pub use privet_data::read::MISSING;
use privet_data::read::{CellKey, bin_edges};

/// The share of a column's numbers that may lie outside each bound.
const BEYOND: f64 = 0.005;
/// The keys released are most of a column if they hold more than this share of its cells' total.
const MAJORITY_SHARE: f64 = 0.5;
/// Allowance for the noise of a total, in standard deviations.
const DEVIATIONS: f64 = 2.0;

/// The probable content of a column.
#[derive(Debug, Clone, PartialEq)]
pub enum Suggestion {
    /// Numbers between these bounds, but for a few.
    Number(f64, f64),
    /// Dates from the first to the last of these years.
    Dates(i32, i32),
    /// One of these texts, or others that few units hold.
    Category(Vec<String>),
    /// Unknown: nothing, or not enough, stands out from the noise.
    Nothing,
}

/// The suggestion for one column.
#[derive(Debug, Clone, PartialEq)]
pub struct ColumnSuggestion {
    /// Its name.
    pub name: String,
    /// Its probable content.
    pub what: Suggestion,
    /// Texts of the column that stand for a missing value.
    pub missing: Vec<String>,
    /// True if the keys released of this kind are most of the column; always true for files of 0.2.0,
    /// which have no totals.
    pub most: bool,
}

/// The probable content of each column of an outline, by what most of its units hold. Bounds of a number
/// leave half a per cent of the *released* counts outside each (bins that few units hold are not
/// released: some per cent more), and are rounded outwards to the grid of the release and to two digits.
pub fn suggest_columns(released: &Released<Outline>) -> Vec<ColumnSuggestion> {
    let columns = &released.request().task.columns;
    let names = (0_u32..).zip(columns);
    // The noise scales of a settled request: of counts, then of totals.
    let room = DEVIATIONS * released.request().noise.get(1).copied().unwrap_or(0.0);
    names.map(|(column, name)| suggest_column(name, released.artefact(), column, room)).collect()
}

/// The suggestion for one column, whose totals may be too small by `room`.
fn suggest_column(name: &str, found: &Outlined, column: u32, room: f64) -> ColumnSuggestion {
    let (mut bins, mut years, mut texts, mut missing) = (vec![], vec![], vec![], vec![]);
    let mut held = [0.0; KINDS];
    for known in found.keys.iter().filter(|known| known.column == column) {
        held[kind(&known.key)] += known.count;
        match &known.key {
            CellKey::Bin(bin) => bins.push((*bin, known.count)),
            CellKey::Year(year) => years.push(*year),
            CellKey::Text(text) if MISSING.contains(&text.as_str()) => missing.push(text.clone()),
            CellKey::Text(text) => texts.push(text.clone()),
        }
    }
    let totals = found.kinds.get(column as usize).copied();
    let [numbers, dates, words, _] = totals.unwrap_or(held).map(|total| total.max(0.0));
    let all = numbers + dates + words + room;
    let most = |kind: usize| totals.is_none() || held[kind] > MAJORITY_SHARE * all;
    let (what, most) = if numbers > dates.max(words) {
        let bounds = bounds(&bins).filter(|_| most(0));
        (bounds.map(|(low, high)| Suggestion::Number(low, high)), most(0))
    } else if dates > words {
        let range = years.iter().min().zip(years.iter().max()).filter(|_| most(1));
        (range.map(|(first, last)| Suggestion::Dates(*first, *last)), most(1))
    } else {
        ((!texts.is_empty()).then_some(Suggestion::Category(texts)), most(2))
    };
    ColumnSuggestion { name: name.into(), what: what.unwrap_or(Suggestion::Nothing), missing, most }
}

/// The outer quantiles of the noisy counts of bins, given in order.
fn bounds(bins: &[(i32, f64)]) -> Option<(f64, f64)> {
    let room = BEYOND * bins.iter().map(|bin| bin.1).sum::<f64>();
    let low = bin_edges(outer(bins.iter(), room)?).0;
    let high = bin_edges(outer(bins.iter().rev(), room)?).1;
    let (low, high) = (round_outwards(low, false), round_outwards(high, true));
    (low < high).then_some((low, high))
}

/// The first bin at which the cumulative count exceeds `room`.
fn outer<'a>(mut bins: impl Iterator<Item = &'a (i32, f64)>, room: f64) -> Option<i32> {
    let mut passed = 0.0;
    let found = bins.find(|bin| {
        passed += bin.1;
        passed > room
    });
    found.map(|bin| bin.0)
}

/// Rounds to two digits, up or down.
fn round_outwards(value: f64, up: bool) -> f64 {
    if value == 0.0 {
        return 0.0;
    }
    let digits = 1 - value.abs().log10().floor() as i32;
    let power = 10_f64.powi(digits.abs());
    let scaled = if digits >= 0 { value * power } else { value / power };
    // The rounding error of a round number does not move it to the next.
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
    use crate::statistics::outline::FoundKey;
    use privet_data::read::bin_of;

    #[test]
    fn bounds_are_outer_quantiles_rounded_outwards() {
        assert_eq!((round_outwards(19.03, false), round_outwards(90.5, true)), (19.0, 91.0));
        assert_eq!(
            (round_outwards(-0.0123, false), round_outwards(123_456.0, true)),
            (-0.013, 130_000.0)
        );
        assert_eq!(round_outwards(2.0, true), 2.0);
        let bins: Vec<(i32, f64)> = [(-3.0, 500.0), (0.0, 100.0), (8.0, 400.0), (1e9, 1.0)]
            .map(|(x, n)| (bin_of(x), n))
            .to_vec();
        let (low, high) = bounds(&bins).unwrap();
        assert!((-3.5..=-3.0).contains(&low) && (8.0..=9.6).contains(&high), "{low} {high}");
        assert_eq!(bounds(&[(0, 50.0)]), None);
        assert_eq!(bounds(&[]), None);
    }

    fn known(key: CellKey, count: f64) -> FoundKey {
        FoundKey { column: 0, key, count }
    }

    /// 100 students with ten grades from 1 to 10 each: two bins of nine stood out, and do not stand for
    /// the column.
    #[test]
    fn a_few_bins_of_many_are_no_bounds() {
        let bin = |value: f64| CellKey::Bin(bin_of(value));
        let some = vec![known(bin(4.0), 31.0), known(bin(4.1), 0.0)];
        let of = |keys: &[FoundKey], kinds: &[[f64; KINDS]]| {
            suggest_column(
                "grade",
                &Outlined { keys: keys.to_vec(), kinds: kinds.to_vec() },
                0,
                10.0,
            )
        };
        let poor = of(&some, &[[190.0, -3.0, 4.0, 9.0]]);
        assert_eq!(poor.what, Suggestion::Nothing);
        assert!(!poor.most);
        // A file of 0.2.0 has no totals to compare them with.
        assert_eq!(of(&some, &[]).what, Suggestion::Number(4.0, 4.8));
        let all: Vec<FoundKey> = (1..=10).map(|at| known(bin(f64::from(at)), 19.0)).collect();
        let rich = of(&all, &[[190.0, -3.0, 4.0, 400.0]]);
        assert!(matches!(rich.what, Suggestion::Number(low, high) if low <= 1.0 && high >= 10.0));
        // As many missing values as numbers change nothing; as many texts do.
        assert_eq!(of(&all, &[[190.0, 0.0, 191.0, 0.0]]).what, Suggestion::Nothing);
        // Years likewise; a list of texts has a category for others, and stays.
        let years = [known(CellKey::Year(2001), 40.0)];
        assert_eq!(of(&years, &[[0.0, 100.0, 2.0, 0.0]]).what, Suggestion::Nothing);
        assert_eq!(of(&years, &[[0.0, 60.0, 2.0, 0.0]]).what, Suggestion::Dates(2001, 2001));
        let text = [known(CellKey::Text("north".into()), 40.0)];
        let found = of(&text, &[[0.0, 0.0, 200.0, 0.0]]);
        assert!(matches!(&found.what, Suggestion::Category(texts) if texts == &["north"]));
        assert!(!found.most);
        // Noise alone.
        assert_eq!(of(&[], &[[-5.0, -1.0, -9.0, 3.0]]).what, Suggestion::Nothing);
    }
}
