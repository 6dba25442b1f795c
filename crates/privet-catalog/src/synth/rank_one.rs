//! Ratings of rank one: each is the product of a number of the user and one of the item.
//!
//! After Thakkar's thesis (§6.4): Y* = uvᵀ with the largest entry 1. The thesis does not state how u and
//! v were drawn; here all their entries are uniform on [−1, 1], and each user rates so many items drawn
//! without replacement.

use super::draw::Draw;

/// Settings of generated ratings.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RankOne {
    /// Users.
    pub users: usize,
    /// Items.
    pub items: usize,
    /// Items that each user rates.
    pub each: usize,
    /// Seed of every draw.
    pub seed: u64,
}

impl RankOne {
    /// The ratings of each user in turn, items ascending.
    pub fn rows(self) -> impl Iterator<Item = Vec<(u32, f64)>> {
        let mut draw = Draw::new(self.seed);
        let items: Vec<f64> = (0..self.items).map(|_| draw.symmetric()).collect();
        let mut order: Vec<u32> = (0..self.items as u32).collect();
        let each = self.each.min(self.items);
        (0..self.users).map(move |_| {
            let own = draw.symmetric();
            for place in 0..each {
                order.swap(place, place + draw.below((self.items - place) as u64) as usize);
            }
            let mut row: Vec<(u32, f64)> =
                order[..each].iter().map(|item| (*item, own * items[*item as usize])).collect();
            row.sort_unstable_by_key(|(item, _)| *item);
            row
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_users_are_multiples_of_each_other() {
        let shape = RankOne { users: 3, items: 20, each: 20, seed: 5 };
        let rows: Vec<Vec<(u32, f64)>> = shape.rows().collect();
        assert_eq!(rows.len(), 3);
        for (a, b) in rows[0].iter().zip(&rows[1]) {
            assert_eq!(a.0, b.0);
            assert!((a.1 * rows[1][0].1 - b.1 * rows[0][0].1).abs() < 1e-12);
            assert!(a.1.abs() <= 1.0);
        }
        let few = RankOne { each: 5, ..shape }.rows().next().unwrap();
        assert!(few.len() == 5 && few.windows(2).all(|pair| pair[0].0 < pair[1].0));
    }
}
