//! Subtracts a public multiple of an exact sum's last entry from its other entries.
//!
//! For rows minus a public vector m ([`privet_data::centre`]): in each sum over (x̃, d) the last entry
//! times m is subtracted from the others, in integers, and dropped. The rest is the sum over x̃ − d·m:
//! the map is linear and exact, so it maps each record's part to its own image. With |sums| ≤ 2⁹⁰
//! units, which holds 2⁴⁶ rows, and |m| ≤ 2²³ in units of 2⁻²³ nothing exceeds 128 bits.

use serde::{Deserialize, Serialize};

/// The multiples of a sum's last entry that are subtracted from the entries before it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Recentring {
    /// The multiples in units of 2^−`bits`, one per column.
    pub units: Vec<i64>,
    /// The number of fractional bits of the multiples.
    pub bits: u32,
}

impl Recentring {
    /// Applies the map to sums, one after the other. `None` if their length does not fit, or on
    /// overflow of 128 bits.
    pub fn taken_from(&self, sums: &[i128]) -> Option<Vec<i128>> {
        let length = self.units.len() + 1;
        let mut left = Vec::with_capacity(sums.len());
        let exact = sums.len().is_multiple_of(length);
        for sum in sums.chunks_exact(length).filter(|_| exact) {
            let (last, own) = sum.split_last()?;
            for (own, unit) in own.iter().zip(&self.units) {
                let own = own.checked_mul(1_i128.checked_shl(self.bits)?)?;
                left.push(own.checked_sub(last.checked_mul(i128::from(*unit))?)?);
            }
        }
        exact.then_some(left)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_sums_by_hand() {
        let recentring = Recentring { units: vec![3, -1], bits: 1 };
        // 2·5 − 7·3, 2·0 + 7; 2·1 − 0, 2·(−4) + 0.
        assert_eq!(recentring.taken_from(&[5, 0, 7, 1, -4, 0]), Some(vec![-11, 7, 2, -8]));
        assert_eq!(recentring.taken_from(&[5, 0, 7, 1]), None, "two sums of three");
        assert_eq!(recentring.taken_from(&[i128::MAX, 0, 1]), None, "beyond 128 bits");
    }
}
