//! Small decision trees and forests of them, for teachers and students.
//!
//! Trees are grown by Gini impurity on the raw values, to a depth and down to leaves of a few rows; a
//! leaf weights the classes by its rows. A forest grows each tree on as many rows drawn with
//! replacement, at each node by the best of about √p columns, and averages the weights. Its coins are a
//! function of the teacher's number alone: a teacher is a function of its own rows.
//!
//! Written here because it is short: crates with trees depend on a second matrix library, draw coins
//! that cannot be fixed, and return an error on rows of one class, where a teacher has to vote.

use super::teacher::{Classifier, LabelledRows};

/// Limits on the growth of a tree.
#[derive(Debug, Clone, Copy)]
pub(super) struct Growth {
    /// Upper limit on the depth.
    pub depth: u32,
    /// Number of columns considered at each split; 0 is all of them.
    pub columns: usize,
    /// Lower limit on the rows of a leaf.
    pub leaf: usize,
}

/// Splits and leaves; children follow their node.
#[derive(Debug)]
enum Node {
    /// Left if the value of the column is at most the cut.
    Ask { column: u32, cut: f32, left: u32, right: u32 },
    /// Fractions of the classes.
    Leaf(Vec<f32>),
}

/// A decision tree.
#[derive(Debug)]
pub(super) struct Tree(Vec<Node>);

/// An average of trees.
#[derive(Debug)]
pub(super) struct Forest(Vec<Tree>);

/// Public coins: SplitMix64.
struct PublicCoins(u64);

impl PublicCoins {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, bound: usize) -> usize {
        ((u128::from(self.next()) * bound as u128) >> 64) as usize
    }
}

struct TreeGrower<'a> {
    labelled: &'a LabelledRows<'a>,
    growth: Growth,
    coins: PublicCoins,
    nodes: Vec<Node>,
    /// Values of one column with their classes: a buffer reused at all nodes.
    sorted: Vec<(f32, u32)>,
}

/// The best split of a node.
struct TreeSplit {
    impurity: f64,
    column: usize,
    cut: f32,
}

impl TreeGrower<'_> {
    fn counts(&self, rows: &[usize]) -> Vec<f64> {
        let mut counts = vec![0.0; self.labelled.classes];
        rows.iter().for_each(|row| counts[self.labelled.labels[*row] as usize] += 1.0);
        counts
    }

    fn grow(&mut self, rows: &mut [usize], depth: u32) -> u32 {
        let counts = self.counts(rows);
        let place = self.nodes.len() as u32;
        let total = rows.len().max(1) as f64;
        self.nodes.push(Node::Leaf(counts.iter().map(|count| (count / total) as f32).collect()));
        let pure = counts.iter().filter(|count| **count > 0.0).count() < 2;
        if pure || depth == 0 || rows.len() < 2 * self.growth.leaf {
            return place;
        }
        let Some(best) = self.best(rows, &counts) else { return place };
        let value = |row: usize| self.labelled.row(row)[best.column];
        let mut middle = 0;
        for at in 0..rows.len() {
            if value(rows[at]) <= best.cut {
                rows.swap(at, middle);
                middle += 1;
            }
        }
        let (below, above) = rows.split_at_mut(middle);
        let left = self.grow(below, depth - 1);
        let right = self.grow(above, depth - 1);
        self.nodes[place as usize] =
            Node::Ask { column: best.column as u32, cut: best.cut, left, right };
        place
    }

    /// The split that leaves the classes least mixed, if one reduces the impurity.
    fn best(&mut self, rows: &[usize], counts: &[f64]) -> Option<TreeSplit> {
        let columns = self.labelled.columns;
        let looked = if self.growth.columns == 0 { columns } else { self.growth.columns };
        let total = rows.len() as f64;
        let squares = |counts: &[f64]| counts.iter().map(|count| count * count).sum::<f64>();
        let before = total - squares(counts) / total;
        let mut best: Option<TreeSplit> = None;
        // Constant columns are uninformative: where coins fall on them, further ones are tried.
        let (mut useful, mut tries) = (0, 0);
        while useful < looked && tries < 4 * looked.max(8) {
            let column = if self.growth.columns == 0 { tries } else { self.coins.below(columns) };
            tries += 1;
            if column >= columns {
                break;
            }
            let mut sorted = std::mem::take(&mut self.sorted);
            sorted.clear();
            let pair = |row: &usize| (self.labelled.row(*row)[column], self.labelled.labels[*row]);
            sorted.extend(rows.iter().map(pair));
            sorted
                .sort_unstable_by(|one, other| one.0.total_cmp(&other.0).then(one.1.cmp(&other.1)));
            useful += usize::from(sorted[0].0 < sorted[sorted.len() - 1].0);
            let mut left = vec![0.0; counts.len()];
            for at in 1..sorted.len() {
                left[sorted[at - 1].1 as usize] += 1.0;
                let (low, high) = (sorted[at - 1].0, sorted[at].0);
                if low == high || at < self.growth.leaf || sorted.len() - at < self.growth.leaf {
                    continue;
                }
                let (below, above) = (at as f64, total - at as f64);
                let rest: f64 =
                    counts.iter().zip(&left).map(|(all, one)| (all - one).powi(2)).sum();
                let impurity = total - squares(&left) / below - rest / above;
                if impurity < best.as_ref().map_or(before * (1.0 - 1e-9), |best| best.impurity) {
                    best = Some(TreeSplit { impurity, column, cut: low });
                }
            }
            self.sorted = sorted;
        }
        best
    }
}

impl Tree {
    /// A tree of these rows of a lesson.
    fn of(labelled: &LabelledRows<'_>, mut rows: Vec<usize>, growth: Growth, seed: u64) -> Self {
        let (nodes, sorted) = (Vec::new(), Vec::with_capacity(rows.len()));
        let mut grower = TreeGrower { labelled, growth, coins: PublicCoins(seed), nodes, sorted };
        grower.grow(&mut rows, growth.depth);
        Self(grower.nodes)
    }

    /// A tree of all rows.
    pub fn grow(labelled: &LabelledRows<'_>, growth: Growth) -> Self {
        Self::of(labelled, (0..labelled.labels.len()).collect(), growth, 0)
    }

    fn leaf(&self, row: &[f32]) -> &[f32] {
        let mut place = 0;
        loop {
            match &self.0[place] {
                Node::Leaf(shares) => return shares,
                Node::Ask { column, cut, left, right } => {
                    place = if row[*column as usize] <= *cut { *left } else { *right } as usize;
                }
            }
        }
    }
}

impl Forest {
    /// A forest of `trees` trees.
    pub fn grow(labelled: &LabelledRows<'_>, trees: u32, growth: Growth) -> Self {
        let rows = labelled.labels.len();
        let columns = ((labelled.columns as f64).sqrt().ceil() as usize).max(1);
        let growth = Growth { columns, ..growth };
        let tree = |number: u32| {
            let mut coins = PublicCoins((u64::from(labelled.number) << 32) | u64::from(number));
            let drawn = (0..rows).map(|_| coins.below(rows)).collect();
            Tree::of(labelled, drawn, growth, coins.next())
        };
        Self((0..trees).map(tree).collect())
    }
}

impl Classifier for Tree {
    fn class_weights(&self, row: &[f32]) -> Vec<f32> {
        self.leaf(row).to_vec()
    }
}

impl Classifier for Forest {
    fn class_weights(&self, row: &[f32]) -> Vec<f32> {
        let mut sums: Vec<f32> = Vec::new();
        for tree in &self.0 {
            let shares = tree.leaf(row);
            sums.resize(shares.len(), 0.0);
            sums.iter_mut().zip(shares).for_each(|(sum, share)| *sum += share);
        }
        let trees = self.0.len().max(1) as f32;
        sums.iter_mut().for_each(|sum| *sum /= trees);
        sums
    }
}

/// The classes of the `count` nearest rows, of equal distance the first.
#[derive(Debug)]
pub(super) struct Nearest {
    columns: usize,
    classes: usize,
    rows: Vec<f32>,
    labels: Vec<u32>,
    count: usize,
}

impl Nearest {
    /// Keeps the rows.
    pub fn of(labelled: &LabelledRows<'_>, count: u32) -> Self {
        let (rows, labels) = (labelled.rows.to_vec(), labelled.labels.to_vec());
        Self {
            columns: labelled.columns,
            classes: labelled.classes,
            rows,
            labels,
            count: count as usize,
        }
    }
}

impl Classifier for Nearest {
    fn class_weights(&self, row: &[f32]) -> Vec<f32> {
        let distance =
            |other: &[f32]| -> f32 { row.iter().zip(other).map(|(a, b)| (a - b) * (a - b)).sum() };
        let rows = self.rows.chunks_exact(self.columns.max(1));
        let mut near: Vec<(f32, usize)> =
            rows.enumerate().map(|(at, other)| (distance(other), at)).collect();
        near.sort_unstable_by(|one, other| one.0.total_cmp(&other.0).then(one.1.cmp(&other.1)));
        near.truncate(self.count);
        let mut shares = vec![0.0; self.classes];
        let each = 1.0 / near.len().max(1) as f32;
        near.iter().for_each(|(_, at)| shares[self.labels[*at] as usize] += each);
        shares
    }
}

#[cfg(test)]
mod tests {
    use super::super::teacher::ranked_first;
    use super::*;

    /// Two columns; the class is 1 if both have the same sign.
    fn crossed(rows: usize, number: u32) -> (Vec<f32>, Vec<u32>, u32) {
        let mut coins = PublicCoins(5);
        let mut one = || coins.below(2_001) as f32 / 1_000.0 - 1.0;
        let values: Vec<f32> = (0..2 * rows).map(|_| one()).collect();
        let labels = values.chunks(2).map(|x| u32::from(x[0] * x[1] > 0.0)).collect();
        (values, labels, number)
    }

    #[test]
    fn trees_learn_what_no_line_can_and_their_coins_are_fixed() {
        let (rows, labels, number) = crossed(400, 3);
        let labelled =
            LabelledRows { columns: 2, classes: 2, rows: &rows, labels: &labels, number };
        let growth = Growth { depth: 8, columns: 0, leaf: 2 };
        let right = |model: &dyn Classifier| {
            let told = rows.chunks(2).map(|row| ranked_first(&model.class_weights(row)));
            told.zip(&labels).filter(|(told, label)| told == *label).count()
        };
        let forest = Forest::grow(&labelled, 20, growth);
        assert!(right(&Tree::grow(&labelled, growth)) > 380);
        assert!(right(&forest) > 380);
        assert_eq!(right(&Nearest::of(&labelled, 1)), 400);
        let again = Forest::grow(&labelled, 20, growth);
        assert!(rows.chunks(2).all(|row| forest.class_weights(row) == again.class_weights(row)));
    }

    #[test]
    fn one_class_one_row_and_equal_rows_make_a_tree() {
        for (rows, labels) in [(vec![0.5, 0.5], vec![2]), (vec![1.0; 8], vec![1, 0, 1, 1])] {
            let labelled =
                LabelledRows { columns: 2, classes: 3, rows: &rows, labels: &labels, number: 0 };
            let growth = Growth { depth: 4, columns: 0, leaf: 1 };
            let told = ranked_first(&Tree::grow(&labelled, growth).class_weights(&[0.0, 0.0]));
            assert_eq!(told, if labels.len() == 1 { 2 } else { 1 });
            assert_eq!(Forest::grow(&labelled, 3, growth).class_weights(&[0.0, 0.0]).len(), 3);
        }
    }
}
