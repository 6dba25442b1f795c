//! Where knots are placed: even in the cube root of a noisy density.
//!
//! A piecewise-linear fit to n points of density f errs least where its knots are even in f^⅖ or so; the
//! cube root is flatter, so that tails keep knots. The density is read off one noisy histogram of two
//! levels ([`BLOCKS`] coarse blocks and the fine bins within them). A count is seen if it stands out of
//! its noise by [`CLEAR`] deviations. A block that is seen holds its count: in proportion to those of its
//! bins that are seen, or evenly if these are less than half of it. A [`EVEN`]th of the knots' measure is even, and all of it where
//! most records drowned. All of it is post-processing of noisy counts.

/// Coarse blocks of a number's bins.
pub(crate) const BLOCKS: usize = 16;
/// The share of the measure that is even.
const EVEN: f64 = 0.1;
/// Standard deviations of noise above which a count is taken for one.
const CLEAR: f64 = 2.0;

/// The block of a bin.
pub(crate) fn block(bin: usize, bins: usize) -> usize {
    (bin * BLOCKS / bins).min(BLOCKS - 1)
}

/// The density over the bins that noisy counts of bins and of blocks show, both under noise of this
/// deviation; not negative.
pub(crate) fn density(fine: &[f64], coarse: &[f64], noise: f64) -> Vec<f64> {
    let bins = fine.len();
    let clear = |count: f64| if count > CLEAR * noise { count } else { 0.0 };
    let mut found: Vec<f64> = fine.iter().map(|count| clear(*count)).collect();
    for (at, total) in coarse.iter().enumerate() {
        let own: Vec<usize> = (0..bins).filter(|bin| block(*bin, bins) == at).collect();
        let (total, seen) = (clear(*total), own.iter().map(|bin| found[*bin]).sum::<f64>());
        let spread = total / own.len().max(1) as f64;
        for bin in own {
            found[bin] =
                if 2.0 * seen < total { spread } else { found[bin] * total / seen.max(1.0) };
        }
    }
    found
}

/// Places `knots` knots on `bins` bins, rising from the first to the last: evenly in the cube root of a
/// density if it shows at least half of `records`, else evenly.
pub(crate) fn place(density: &[f64], knots: usize, records: f64) -> Vec<u16> {
    let bins = density.len();
    let seen: f64 = density.iter().sum();
    let roots: Vec<f64> = density.iter().map(|f| f.max(0.0).cbrt()).collect();
    let all: f64 = roots.iter().sum();
    if !(seen >= records / 2.0 && all > 0.0 && all.is_finite()) {
        return even(bins, knots);
    }
    // The measure up to the middle of each bin, from 0 to 1.
    let each = |root: &f64| (1.0 - EVEN) * root / all + EVEN / bins as f64;
    let mut before = 0.0;
    let middles: Vec<f64> = roots
        .iter()
        .map(|root| {
            let middle = before + each(root) / 2.0;
            before += each(root);
            middle
        })
        .collect();
    let (first, last) = (middles[0], middles[bins - 1]);
    let mut placed: Vec<u16> = (0..knots)
        .map(|knot| {
            let at = first + (last - first) * knot as f64 / (knots - 1) as f64;
            let above = middles.partition_point(|middle| *middle < at).clamp(1, bins - 1);
            let (low, high) = (middles[above - 1], middles[above]);
            let share = if high > low { (at - low) / (high - low) } else { 0.0 };
            (above as f64 - 1.0 + share).round() as u16
        })
        .collect();
    apart(&mut placed, bins);
    placed
}

/// Knots that are evenly spaced over the bins.
pub(crate) fn even(bins: usize, knots: usize) -> Vec<u16> {
    let step = (bins - 1) as f64 / (knots - 1) as f64;
    (0..knots).map(|knot| (knot as f64 * step).round() as u16).collect()
}

/// Moves knots by as little as it takes that they rise from the first bin to the last.
fn apart(knots: &mut [u16], bins: usize) {
    let last = knots.len() - 1;
    (knots[0], knots[last]) = (0, (bins - 1) as u16);
    for at in 1..last {
        knots[at] = knots[at].max(knots[at - 1] + 1);
    }
    for at in (1..last).rev() {
        knots[at] = knots[at].min(knots[at + 1] - 1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn knots_rise_from_end_to_end(
            density in prop::collection::vec(prop_oneof![Just(0.0), 0.0..1e6_f64, Just(1e300)], 241),
            knots in 3..16_usize, records in 0.0..1e7_f64,
        ) {
            let placed = place(&density, knots, records);
            prop_assert_eq!((placed[0], placed[knots - 1]), (0, 240));
            prop_assert!(placed.windows(2).all(|pair| pair[0] < pair[1]), "{:?}", placed);
        }

        #[test]
        fn a_density_is_not_negative(
            fine in prop::collection::vec(-1e4..1e4_f64, 241), coarse in prop::collection::vec(-1e5..1e5_f64, BLOCKS),
        ) {
            prop_assert!(density(&fine, &coarse, 50.0).iter().all(|f| *f >= 0.0 && f.is_finite()));
        }
    }

    #[test]
    fn knots_are_where_records_are() {
        let mut fine = vec![0.0; 241];
        fine[..24].fill(1000.0);
        let placed = place(&fine, 12, 24_000.0);
        assert!(placed.iter().filter(|knot| **knot < 24).count() >= 9, "{placed:?}");
        assert_eq!(place(&fine, 12, 50_000.0), even(241, 12), "most records drowned");
    }

    #[test]
    fn what_drowns_in_bins_is_seen_in_blocks() {
        let mut coarse = vec![0.0; BLOCKS];
        coarse[3] = 900.0;
        let found = density(&[10.0; 241], &coarse, 30.0);
        let own: Vec<usize> = (0..241).filter(|bin| block(*bin, 241) == 3).collect();
        assert!(own.iter().all(|bin| (found[*bin] - 900.0 / own.len() as f64).abs() < 1e-9));
        assert!((found.iter().sum::<f64>() - 900.0).abs() < 1e-6);
        // Bins that are seen share their block's count.
        let mut fine = vec![10.0; 241];
        fine[own[0]] = 800.0;
        assert!((density(&fine, &coarse, 30.0)[own[0]] - 900.0).abs() < 1e-9);
        assert!(density(&fine, &[0.0; BLOCKS], 30.0).iter().all(|f| *f == 0.0), "a block not seen");
    }
}
