//! Proximal maps: the z that minimises penalty(z)/M + ½‖z − v‖². For a set it is the projection.
//!
//! - ℓ1: each coordinate moves towards zero by w/M and stops there.
//! - group: each group shrinks by the factor (1 − w_g/(M‖v_g‖))₊.
//! - box: each coordinate is held between the ends.
//! - ball: v·min(1, r/‖v‖).
//! - simplex: max(v_j − t, 0) with the one t that makes the sum s. With v sorted downwards, the
//!   coordinates that stay are the first k for the largest k with v_k > (Σ_{i≤k} v_i − s)/k, and t is
//!   that quotient (Held, Wolfe & Crowder 1974).
//!
//! In double-double throughout: an error in the map would be one in the point that a solver
//! converges to. Tested by `maps_satisfy_their_optimality_conditions` and `no_point_is_nearer`.

use super::{Penalty, groups, precise_norm};
use crate::double_double::DoubleDouble;

impl Penalty {
    /// Replaces `values` by the proximal map of penalty/M at them, with `inverse_m` = 1/M. The elastic
    /// net's square is part of the ridge and not of the map.
    pub(in crate::solver) fn map(&self, values: &mut [DoubleDouble], inverse_m: f64) {
        match self {
            Self::None => {}
            Self::L1 { weight } | Self::ElasticNet { l1: weight, .. } => {
                let cut = DoubleDouble::from(*weight).times(inverse_m);
                for v in values {
                    let shrunk = if v.high > 0.0 { *v - cut } else { *v + cut };
                    let stays = if v.high > 0.0 { shrunk } else { -shrunk }.is_positive();
                    *v = if stays { shrunk } else { DoubleDouble::ZERO };
                }
            }
            Self::Group { weight, sizes } => {
                for (w, range) in groups(*weight, sizes) {
                    shrink(&mut values[range], DoubleDouble::from(w).times(inverse_m));
                }
            }
            Self::Box { low, high } => {
                for v in values {
                    if v.high < *low || (v.high == *low && v.low < 0.0) {
                        *v = DoubleDouble::from(*low);
                    } else if v.high > *high || (v.high == *high && v.low > 0.0) {
                        *v = DoubleDouble::from(*high);
                    }
                }
            }
            Self::Ball { radius } => {
                let radius = DoubleDouble::from(*radius);
                let size = precise_norm(values);
                if (size - radius).is_positive() {
                    let factor = radius * size.reciprocal();
                    values.iter_mut().for_each(|v| *v = *v * factor);
                }
            }
            Self::Simplex { total } => onto_simplex(values, *total),
        }
    }
}

fn shrink(group: &mut [DoubleDouble], cut: DoubleDouble) {
    let size = precise_norm(group);
    let left = size - cut;
    if left.is_positive() && size.high > 0.0 {
        let factor = left * size.reciprocal();
        group.iter_mut().for_each(|v| *v = *v * factor);
    } else {
        group.fill(DoubleDouble::ZERO);
    }
}

fn onto_simplex(values: &mut [DoubleDouble], total: f64) {
    let total = DoubleDouble::from(total);
    let mut sorted = values.to_vec();
    sorted.sort_by(|a, b| b.high.total_cmp(&a.high).then(b.low.total_cmp(&a.low)));
    // Relative to the largest, so that values of large magnitude lose nothing of the sum.
    let Some(&top) = sorted.first() else { return };
    let (mut sum, mut threshold) = (DoubleDouble::ZERO, DoubleDouble::ZERO);
    for (k, v) in (1_u32..).zip(&sorted) {
        let v = *v - top;
        sum = sum + v;
        let candidate = (sum - total) * DoubleDouble::from(f64::from(k)).reciprocal();
        if !(v - candidate).is_positive() {
            break;
        }
        threshold = candidate;
    }
    for v in values {
        let kept = (*v - top) - threshold;
        *v = if kept.is_positive() { kept } else { DoubleDouble::ZERO };
    }
}
