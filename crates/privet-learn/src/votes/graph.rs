//! Label propagation on a nearest-neighbour graph of public rows.
//!
//! **Construction** from the public rows alone: distances are those of their leading directions, each
//! weighted by its variance to the power −¼ (between the rows' own metric and a whitened one); a row has
//! an edge to each of its k nearest, and an edge has weight exp(−d²/(rᵢrⱼ)), r the distance to the
//! seventh nearest (Zelnik-Manor & Perona 2004). With S = D^(−½)WD^(−½), labels Y propagate by F ←
//! αSF + (1 − α)Y (Zhou, Bousquet, Lal, Weston & Schölkopf 2004).
//!
//! **Privacy.** The graph is a function of public rows. The edges of a private row to public ones are a
//! function of it and of them, so that a teacher's propagated labels are a function of its own chunk and
//! of public facts, as privacy requires ([`super::teacher`]). A student that propagates released labels
//! reads nothing else ([`super::student`]).
//!
//! **Purpose.** A teacher of few rows has little information, but need not learn which public rows are
//! similar. So there can be many teachers of few rows each, whose votes exceed noise that would dominate
//! the votes of a few teachers of many rows (suite `thakkar-transfer`).

use super::logistic::dot;
use super::teacher::filled_rows;
use crate::LearnError;
use privet_data::matrix::Matrix;
use privet_optim::spectrum::Spectrum;
use rayon::prelude::*;

/// Upper limit on the columns of public rows: their directions come from a square matrix of that size.
pub const COLUMNS: usize = 3_000;
/// Upper limit on the number of public rows: all pairs of them are compared.
pub const ROWS: u64 = 50_000;
/// Number of directions in which distances are measured.
const DIRECTIONS: usize = 100;
/// Variance relative to the largest below which a direction is left out.
const LEAST_RELATIVE_VARIANCE: f64 = 1e-6;
/// Rank of the neighbour whose distance is the scale of a row's edges.
const SCALE_NEIGHBOUR: usize = 7;
/// Number of public rows to which a row from outside is connected.
const LINKS: usize = 5;
/// Propagation weight α.
const PROPAGATION_WEIGHT: f32 = 0.95;
/// Number of propagation steps.
const PROPAGATION_STEPS: usize = 40;

/// Metric of public rows.
#[derive(Debug)]
struct Metric {
    means: Vec<f32>,
    /// Weighted directions, one after the other.
    directions: Vec<f32>,
    /// Number of directions.
    count: usize,
}

/// ⟨aᵢ, aⱼ⟩ for all pairs of vectors of this length, row-major.
pub(super) fn products(vectors: &[f32], length: usize) -> Vec<f64> {
    let all: Vec<&[f32]> = vectors.chunks_exact(length.max(1)).collect();
    let count = all.len();
    let long = |a: &[f32], b: &[f32]| -> f64 {
        a.chunks(512).zip(b.chunks(512)).map(|(a, b)| f64::from(dot(a, b))).sum()
    };
    let mut table = vec![0.0; count * count];
    table.par_chunks_exact_mut(count.max(1)).enumerate().for_each(|(i, row)| {
        row.iter_mut()
            .zip(&all)
            .take(i + 1)
            .for_each(|(entry, other)| *entry = long(all[i], other));
    });
    table
}

/// Rows minus their means, and the means.
pub(super) fn centred(rows: &[f32], columns: usize) -> (Vec<f32>, Vec<f32>) {
    let mut sums = vec![0.0_f64; columns];
    for row in rows.chunks_exact(columns.max(1)) {
        sums.iter_mut().zip(row).for_each(|(sum, x)| *sum += f64::from(*x));
    }
    let count = (rows.len() / columns.max(1)).max(1) as f64;
    let means: Vec<f32> = sums.iter().map(|sum| (sum / count) as f32).collect();
    let apart = |row: &[f32]| row.iter().zip(&means).map(|(x, mean)| x - mean).collect::<Vec<_>>();
    (rows.chunks_exact(columns.max(1)).flat_map(apart).collect(), means)
}

/// Columns one after the other: the transpose.
pub(super) fn transpose(rows: &[f32], columns: usize) -> Vec<f32> {
    (0..columns)
        .flat_map(|column| rows.iter().skip(column).step_by(columns.max(1)).copied())
        .collect()
}

impl Metric {
    fn of(rows: &[f32], columns: usize) -> Self {
        let (apart, means) = centred(rows, columns);
        let count = (rows.len() / columns.max(1)).max(1);
        let spectrum = Spectrum::of(&products(&transpose(&apart, columns), count), columns);
        let found = spectrum.map(|spectrum| spectrum.largest(DIRECTIONS)).unwrap_or_default();
        let largest = found.first().map_or(0.0, |(value, _)| *value);
        let kept =
            found.into_iter().filter(|(value, _)| *value > LEAST_RELATIVE_VARIANCE * largest);
        let mut directions = Vec::new();
        for (value, vector) in kept {
            let weight = (value / count as f64).powf(-0.25);
            directions.extend(vector.iter().map(|entry| (entry * weight) as f32));
        }
        Self { means, count: directions.len() / columns.max(1), directions }
    }

    /// Coordinates of rows in the metric's directions.
    fn places(&self, rows: &[f32]) -> Vec<f32> {
        let columns = self.means.len();
        let place = |row: &[f32]| {
            let apart: Vec<f32> = row.iter().zip(&self.means).map(|(x, mean)| x - mean).collect();
            let along = self.directions.chunks_exact(columns.max(1));
            along.map(|direction| dot(direction, &apart)).collect::<Vec<_>>()
        };
        rows.par_chunks_exact(columns.max(1)).flat_map_iter(place).collect()
    }
}

/// Public rows and the edges between them.
#[derive(Debug)]
pub struct Graph {
    metric: Metric,
    places: Vec<f32>,
    rows: usize,
    /// Index of each row's first edge, and the number of edges.
    starts: Vec<usize>,
    /// Other end of each edge, with its weight in S.
    ties: Vec<(u32, f32)>,
}

/// The `count` nearest of `places` to a place, nearest first, of equal ones the first, with squared
/// distances.
fn nearest(places: &[f32], place: &[f32], count: usize, but: Option<usize>) -> Vec<(f32, u32)> {
    let length = place.len().max(1);
    let mut near: Vec<(f32, u32)> = Vec::with_capacity(count + 1);
    for (at, other) in places.chunks_exact(length).enumerate() {
        let limit = if near.len() < count { f32::INFINITY } else { near[near.len() - 1].0 };
        let distance = squared(place, other);
        if but == Some(at) || distance >= limit {
            continue;
        }
        let before = near.partition_point(|(other, _)| *other <= distance);
        near.insert(before, (distance, at as u32));
        near.truncate(count);
    }
    near
}

/// ‖a − b‖² in eight partial sums.
fn squared(a: &[f32], b: &[f32]) -> f32 {
    let mut sums = [0.0_f32; 8];
    let (a, b) = (a.chunks_exact(8), b.chunks_exact(8));
    let rest: f32 = a.remainder().iter().zip(b.remainder()).map(|(a, b)| (a - b) * (a - b)).sum();
    for (a, b) in a.zip(b) {
        for lane in 0..8 {
            sums[lane] += (a[lane] - b[lane]) * (a[lane] - b[lane]);
        }
    }
    sums.iter().sum::<f32>() + rest
}

/// Refusal of a table of this size; `None` if it is accepted.
pub(super) fn too_large(rows: u64, columns: usize) -> Option<LearnError> {
    let large = rows > ROWS || columns > COLUMNS;
    large.then(|| LearnError::NotCovered {
        what: format!("labels that spread among {rows} public rows of {columns} encoded columns"),
        instead: "give at most 50,000 public rows of 3,000 columns, or another teacher",
    })
}

impl Graph {
    /// Graph of public rows, each connected to its `neighbours` nearest.
    pub fn of(rows: &Matrix, neighbours: u32) -> Result<Self, LearnError> {
        if let Some(error) = too_large(rows.rows() as u64, rows.columns()) {
            return Err(error);
        }
        let count = rows.rows();
        let values = filled_rows(rows, 0..count);
        let metric = Metric::of(&values, rows.columns());
        let places = metric.places(&values);
        let length = metric.count.max(1);
        if metric.count == 0 {
            // All rows are equal, or there is one: no edges.
            return Ok(Self {
                metric,
                places,
                rows: count,
                starts: vec![0; count + 1],
                ties: vec![],
            });
        }
        let near: Vec<Vec<(f32, u32)>> = places
            .par_chunks_exact(length)
            .enumerate()
            .map(|(at, place)| nearest(&places, place, neighbours as usize, Some(at)))
            .collect();
        // Squares of r.
        let scale: Vec<f32> = near
            .iter()
            .map(|near| {
                near.get(SCALE_NEIGHBOUR - 1).or(near.last()).map_or(0.0, |(distance, _)| *distance)
            })
            .collect();
        let mut ties: Vec<(u32, u32, f32)> = Vec::new();
        for (at, near) in near.iter().enumerate() {
            for (distance, other) in near {
                let across = (scale[at] * scale[*other as usize]).sqrt().max(f32::MIN_POSITIVE);
                let weight = (-distance / across).exp();
                ties.push((at as u32, *other, weight));
                ties.push((*other, at as u32, weight));
            }
        }
        // An edge found from both ends is one edge.
        ties.sort_unstable_by_key(|(from, to, _)| (*from, *to));
        ties.dedup_by_key(|(from, to, _)| (*from, *to));
        let mut degrees = vec![0.0_f32; count];
        ties.iter().for_each(|(from, _, weight)| degrees[*from as usize] += weight);
        let root = |row: u32| degrees[row as usize].max(f32::MIN_POSITIVE).sqrt();
        let mut starts = vec![0; count + 1];
        ties.iter().for_each(|(from, ..)| starts[*from as usize + 1] += 1);
        (0..count).for_each(|row| starts[row + 1] += starts[row]);
        let ties =
            ties.iter().map(|(from, to, weight)| (*to, weight / root(*from) / root(*to))).collect();
        Ok(Self { metric, places, rows: count, starts, ties })
    }

    /// Public rows nearest to each row, with weights of at most 1.
    pub(super) fn links(&self, rows: &[f32]) -> Vec<Vec<(u32, f32)>> {
        let length = self.metric.count.max(1);
        let places = self.metric.places(rows);
        if self.metric.count == 0 {
            return Vec::new();
        }
        let link = |place: &[f32]| {
            let near = nearest(&self.places, place, LINKS, None);
            let last = near.last().map_or(0.0, |(distance, _)| *distance).max(f32::MIN_POSITIVE);
            near.into_iter().map(|(distance, at)| (at, (-distance / last).exp())).collect()
        };
        places.par_chunks_exact(length).map(link).collect()
    }

    /// Propagates labels: weights of the classes, row-major, from initial weights of each row.
    pub(super) fn spread(&self, known: &[f32], classes: usize) -> Vec<f32> {
        let width = classes.max(1);
        let mut found = known.to_vec();
        let mut next = vec![0.0_f32; known.len()];
        for _ in 0..PROPAGATION_STEPS {
            for (row, sums) in next.chunks_exact_mut(width).enumerate().take(self.rows) {
                sums.fill(0.0);
                for (other, weight) in &self.ties[self.starts[row]..self.starts[row + 1]] {
                    let from = &found[*other as usize * width..(*other as usize + 1) * width];
                    sums.iter_mut().zip(from).for_each(|(sum, x)| *sum += weight * x);
                }
                let own = &known[row * width..(row + 1) * width];
                sums.iter_mut().zip(own).for_each(|(sum, x)| {
                    *sum = PROPAGATION_WEIGHT * *sum + (1.0 - PROPAGATION_WEIGHT) * x
                });
            }
            std::mem::swap(&mut found, &mut next);
        }
        found
    }

    /// A class for each public row from labels of some of them; `None` if no label reaches it.
    pub(super) fn propagate_labels(
        &self,
        labels: &[Option<u32>],
        classes: usize,
    ) -> Vec<Option<u32>> {
        let mut known = vec![0.0; labels.len() * classes];
        for (row, label) in labels.iter().enumerate() {
            if let Some(class) = label {
                known[row * classes + *class as usize] = 1.0;
            }
        }
        let found = self.spread(&known, classes);
        let reached = |row: &[f32]| row.iter().any(|x| *x > 0.0);
        let class = |row: &[f32]| reached(row).then(|| super::teacher::ranked_first(row));
        found.chunks_exact(classes.max(1)).map(class).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use privet_data::matrix::DenseMatrix;

    /// Two moons of points, with three labels in each.
    fn moons() -> (Matrix, Vec<u32>) {
        let point = |at: usize| {
            let turn = (at / 2) as f32 / 100.0 * std::f32::consts::PI;
            match at % 2 {
                0 => [turn.cos(), turn.sin(), 0.0],
                _ => [1.0 - turn.cos(), 0.5 - turn.sin() - 0.2, 0.0],
            }
        };
        let values: Vec<f32> = (0..200).flat_map(point).collect();
        let labels = (0..200).map(|at| (at % 2) as u32).collect();
        (Matrix::Dense(DenseMatrix::new(values, 200, 3)), labels)
    }

    #[test]
    fn labels_spread_along_what_belongs_together() {
        let (rows, truth) = moons();
        let graph = Graph::of(&rows, 5).unwrap();
        let mut labels = vec![None; 200];
        for at in [0, 1, 100, 101, 198, 199] {
            labels[at] = Some(truth[at]);
        }
        let found = graph.propagate_labels(&labels, 2);
        let right = found.iter().zip(&truth).filter(|(one, other)| **one == Some(**other)).count();
        assert!(right >= 195, "{right}");
        assert!(graph.propagate_labels(&[None; 200], 2).iter().all(Option::is_none));
    }

    #[test]
    fn odd_tables_have_a_graph() {
        for (values, rows, columns) in [
            (vec![1.0; 6], 2, 3),
            (vec![0.5; 3], 1, 3),
            (vec![], 0, 3),
            (vec![0.0, 1.0, 0.0, 1.0, 1.0, 0.0], 3, 2),
        ] {
            let graph = Graph::of(&Matrix::Dense(DenseMatrix::new(values, rows, columns)), 10);
            let graph = graph.unwrap();
            let known = vec![Some(1); rows];
            assert_eq!(graph.propagate_labels(&known, 3), known);
            assert!(graph.links(&[0.25; 6][..2 * columns]).len() <= 2);
        }
        let wide = Matrix::Dense(DenseMatrix::new(vec![0.0; COLUMNS + 1], 1, COLUMNS + 1));
        assert!(matches!(Graph::of(&wide, 10), Err(LearnError::NotCovered { .. })));
    }
}
