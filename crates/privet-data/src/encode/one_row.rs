//! One row of plain numbers: each through its column's map, then the clip.

use super::column::{Number, UnknownIn};
use super::pair::PairValue;
use super::{Encoding, NumberRows};

/// The maps of the numbers of a row.
pub(super) enum Maps {
    /// A map for each column, with its first encoded column.
    Each(Vec<(u32, Number)>),
    /// The same, where each column has one encoded column and maps 0 to 0.
    KeepingZero(Vec<(u32, Number)>),
    /// Every non-zero entry of a LIBSVM file is clamped to the bounds, if there are any.
    Alike { features: usize, bounds: Option<(f64, f64)> },
}

impl Maps {
    pub(super) fn features(&self) -> usize {
        match self {
            Self::Each(numbers) | Self::KeepingZero(numbers) => numbers.len(),
            Self::Alike { features, .. } => *features,
        }
    }

    /// Replaces entries that are not finite by their columns' substitutes, or returns the first column
    /// without one.
    fn replace_missing(&self, entries: &mut [f64]) -> Result<(), usize> {
        for (column, entry) in entries.iter_mut().enumerate().filter(|(_, x)| !x.is_finite()) {
            *entry = match self {
                Self::Each(numbers) | Self::KeepingZero(numbers) => numbers[column].1.stand_in,
                Self::Alike { .. } => None,
            }
            .ok_or(column)?;
        }
        Ok(())
    }
}

/// Encodes one row after the other.
pub(super) struct OneRow<'a> {
    encoding: &'a Encoding,
    maps: &'a Maps,
    entries: Vec<f64>,
    /// Scratch for the indices of non-zero entries, with room for eight more.
    places: Vec<u32>,
    pairs: Vec<(u32, f64)>,
    spots: Vec<PairValue>,
    unknown_in: UnknownIn,
}

impl<'a> OneRow<'a> {
    pub(super) fn new(encoding: &'a Encoding, maps: &'a Maps, unknown_in: UnknownIn) -> Self {
        let features = maps.features();
        Self {
            encoding,
            maps,
            entries: vec![0.0; features],
            places: vec![0; features + 8],
            pairs: Vec::with_capacity(features + 1),
            spots: Vec::new(),
            unknown_in,
        }
    }

    /// The clipped entries that were not zero before, or the first column that is not finite and has no
    /// substitute.
    pub(super) fn encode(
        &mut self,
        table: &impl NumberRows,
        row: usize,
    ) -> Result<&[(u32, f64)], usize> {
        let Self { encoding, maps, entries, places, pairs, spots, unknown_in } = self;
        table.write(row, entries);
        // All entries, without an early exit, so that the loop is vectorised.
        if entries.iter().fold(false, |odd, x| odd | !x.is_finite()) {
            maps.replace_missing(entries)?;
        }
        pairs.clear();
        match maps {
            Maps::Each(numbers) => {
                for (x, (start, number)) in entries.iter().zip(numbers) {
                    number.append_entries(*x, *start, pairs);
                }
                if !encoding.pairs.is_empty() || encoding.fourier.is_some() {
                    spots.clear();
                    spots.extend(entries.iter().map(|x| PairValue::At(*x)));
                    encoding.encode_together(spots, pairs);
                }
                pairs.retain(|(_, value)| *value != 0.0);
            }
            Maps::KeepingZero(numbers) => {
                let not_zero = not_zero(entries, places).iter();
                let encode = |at: u32| numbers[at as usize].1.encode(entries[at as usize]);
                pairs.extend(not_zero.map(|at| (*at, encode(*at))).filter(|(_, v)| *v != 0.0));
            }
            Maps::Alike { bounds, .. } => {
                let not_zero = not_zero(entries, places).iter();
                pairs.extend(
                    not_zero.map(|at| (*at, clamp_and_scale(*bounds, entries[*at as usize]))),
                );
            }
        }
        pairs.extend(encoding.bias.map(|value| (encoding.width as u32 - 1, value)));
        match unknown_in {
            UnknownIn::Training => encoding.clip.apply(pairs),
            UnknownIn::Prediction => encoding.place_for_scores(pairs),
        }
        Ok(pairs)
    }
}

/// The indices of non-zero entries. Eight zeros are skipped at once; the rest is branch-free, since
/// branches on mixed entries would be mispredicted. `places` is eight longer than `entries`.
fn not_zero<'p>(entries: &[f64], places: &'p mut [u32]) -> &'p [u32] {
    let (eights, rest) = entries.as_chunks::<8>();
    let mut count = 0;
    for (eight, first) in eights.iter().zip((0_u32..).step_by(8)) {
        // The sign bit is dropped: −0 is zero.
        if eight.iter().fold(0, |bits, x| bits | (x.to_bits() << 1)) == 0 {
            continue;
        }
        let Some(room) = places[count..].first_chunk_mut::<8>() else { break };
        let mut found = 0;
        for (x, at) in eight.iter().zip(first..) {
            room[found & 7] = at;
            found += usize::from(*x != 0.0);
        }
        count += found;
    }
    for (x, at) in rest.iter().zip(8 * eights.len() as u32..) {
        places[count] = at;
        count += usize::from(*x != 0.0);
    }
    &places[..count]
}

/// An entry of a LIBSVM row, clamped to the bounds and divided by the larger magnitude of them.
#[inline]
pub(super) fn clamp_and_scale(bounds: Option<(f64, f64)>, value: f64) -> f64 {
    match bounds {
        Some((low, high)) => value.clamp(low, high) / low.abs().max(high.abs()),
        None => value,
    }
}
