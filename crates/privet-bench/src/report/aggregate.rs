//! From single runs to the numbers of a table.
//!
//! Runs of one cell are averaged; screening runs never are. Of a tuned entry, the point of the grid with
//! the best mean counts, as in the papers, chosen anew for each data set, calibration and ε. A point
//! with fewer runs than another one of its grid is not considered: an interrupted suite would otherwise
//! prefer the luck of a single run.

use crate::line::{Cell, Questions, Refused, Run, Stage, lower_is_better};
use crate::suite::Peer;
use privet_core::Neighbours;
use privet_learn::Calibration;
use std::cmp::Ordering::Equal;
use std::collections::BTreeMap;

/// The runs of one cell.
#[derive(Debug, Clone, PartialEq)]
pub struct Summary {
    /// Their cell.
    pub cell: Cell,
    /// Number of training records.
    pub rows: u64,
    /// Encoded columns.
    pub columns: u64,
    /// Classes; 0 for a target of numbers.
    pub classes: u64,
    /// The kind of the score.
    pub measure: String,
    /// Number of runs.
    pub runs: usize,
    /// Mean score.
    pub mean: f64,
    /// Standard error of the mean over these runs; unknown for a single one.
    pub standard_error: Option<f64>,
    /// Mean area under the ROC curve in per cent, where all of them have one, and its standard error.
    pub ranking: Option<(f64, Option<f64>)>,
    /// Mean distance to the true weights of a generated set, where all of them have one, and its
    /// standard error.
    pub distance: Option<(f64, Option<f64>)>,
    /// Mean recall of 20 recommended items, likewise.
    pub recall: Option<(f64, Option<f64>)>,
    /// Mean NDCG of those items, likewise.
    pub ndcg: Option<(f64, Option<f64>)>,
    /// Mean loss of networks on held-out records, likewise.
    pub loss: Option<(f64, Option<f64>)>,
    /// Mean norm of their mean gradient on the training records, likewise.
    pub gradient: Option<(f64, Option<f64>)>,
    /// Mean number of passes of their training over the records, likewise.
    pub passes: Option<(f64, Option<f64>)>,
    /// Mean number of queries that voters answered, likewise.
    pub answered: Option<(f64, Option<f64>)>,
    /// The queries of one of them.
    pub questions: Option<Questions>,
    /// Learners chosen where the entry left it open, with the number of times.
    pub chosen: BTreeMap<String, usize>,
    /// Largest ε that a certificate proves.
    pub certified: Option<f64>,
    /// Mean seconds of training.
    pub seconds: f64,
    /// Their standard error, like that of the score.
    pub seconds_error: Option<f64>,
    /// Largest peak memory.
    pub peak_memory: Option<u64>,
    /// True if this is the point of its grid that counts.
    pub counts: bool,
    /// Number of points of its grid with final runs, itself included.
    pub points: usize,
}

impl Summary {
    fn new(runs: &[&Run]) -> Option<Self> {
        let first = *runs.first()?;
        let scores: Vec<f64> = runs.iter().map(|run| run.score).collect();
        let all = |said: fn(&Run) -> Option<f64>| {
            let found: Option<Vec<f64>> = runs.iter().map(|run| said(run)).collect();
            found.map(|found| (mean(&found), standard_error(&found)))
        };
        let mut chosen = BTreeMap::new();
        for name in runs.iter().filter_map(|run| run.chosen.clone()) {
            *chosen.entry(name).or_insert(0) += 1;
        }
        let seconds: Vec<f64> = runs.iter().map(|run| run.seconds).collect();
        Some(Self {
            cell: first.cell.clone(),
            rows: first.rows,
            columns: first.columns,
            classes: first.classes,
            measure: first.measure.clone(),
            runs: runs.len(),
            mean: mean(&scores),
            standard_error: standard_error(&scores),
            ranking: all(|run| run.ranking),
            distance: all(|run| run.distance),
            recall: all(|run| run.recall),
            ndcg: all(|run| run.ndcg),
            loss: all(|run| run.loss),
            gradient: all(|run| run.gradient),
            passes: all(|run| run.passes),
            answered: all(|run| Some(run.questions?.answered as f64)),
            questions: first.questions,
            chosen,
            certified: runs.iter().filter_map(|run| run.certified).reduce(f64::max),
            seconds: mean(&seconds),
            seconds_error: standard_error(&seconds),
            peak_memory: runs.iter().filter_map(|run| run.peak_memory).max(),
            counts: false,
            points: 1,
        })
    }

    /// Its mean, negated for an error: more is better.
    pub fn goodness(&self) -> f64 {
        if lower_is_better(&self.measure) { -self.mean } else { self.mean }
    }

    /// True if the certified ε exceeds the cell's.
    pub fn exceeds_claim(&self) -> bool {
        self.cell.epsilon.zip(self.certified).is_some_and(|(claimed, certified)| {
            // Tolerance of the calibration, which ends on the safe side.
            certified > claimed * (1.0 + 1e-6)
        })
    }
}

/// The mean.
pub fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// The standard error of the mean; none for fewer than two values.
pub fn standard_error(values: &[f64]) -> Option<f64> {
    if values.len() < 2 {
        return None;
    }
    let centre = mean(values);
    let squares: f64 = values.iter().map(|value| (value - centre).powi(2)).sum();
    let count = values.len() as f64;
    Some((squares / (count - 1.0) / count).sqrt())
}

/// Groups values by a key, in the order of first appearance.
pub fn grouped<'a, T, K: Ord + Clone>(
    values: impl IntoIterator<Item = &'a T>,
    key: impl Fn(&T) -> K,
) -> Vec<(K, Vec<&'a T>)> {
    let mut places = BTreeMap::new();
    let mut groups: Vec<(K, Vec<&'a T>)> = Vec::new();
    for value in values {
        let key = key(value);
        let place = *places.entry(key.clone()).or_insert_with(|| {
            groups.push((key, Vec::new()));
            groups.len() - 1
        });
        groups[place].1.push(value);
    }
    groups
}

/// Numbers in order, without duplicates up to rounding.
pub fn ascending(values: impl Iterator<Item = f64>) -> Vec<f64> {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    values.dedup_by(|a, b| same_epsilon(Some(*a), Some(*b)));
    values
}

/// A summary of every cell with final runs, with the points that count marked.
pub fn summaries(runs: &[Run]) -> Vec<Summary> {
    let finals = runs.iter().filter(|run| run.stage == Stage::Final && run.score.is_finite());
    let cells = grouped(finals, |run| (grid(&run.cell, &run.measure), run.cell.settings.clone()));
    let mut found: Vec<Summary> = cells.iter().filter_map(|(_, runs)| Summary::new(runs)).collect();
    let places: Vec<usize> = (0..found.len()).collect();
    for (_, points) in grouped(&places, |place| grid(&found[*place].cell, &found[*place].measure)) {
        // The first of equally good ones.
        let rank = |place: &usize| (found[*place].runs, found[*place].goodness());
        let best = points
            .iter()
            .copied()
            .copied()
            .reduce(|best, place| if rank(&place) > rank(&best) { place } else { best });
        for place in &points {
            found[**place].points = points.len();
            found[**place].counts = Some(**place) == best;
        }
    }
    found
}

/// The key of a grid: every part of a cell but the point, and the measure.
fn grid(cell: &Cell, measure: &str) -> impl Ord + Clone + use<> {
    let bits = |value: Option<f64>| value.map(f64::to_bits);
    let words = [&cell.dataset, &cell.entry, &cell.method, measure].map(str::to_owned);
    let relation = format!("{} {}", cell.calibration, cell.neighbours);
    (words, relation, bits(cell.epsilon), bits(cell.delta))
}

/// One line of a plot: an entry under a calibration, over ε.
#[derive(Debug, Clone)]
pub struct Series {
    /// Name of the entry.
    pub entry: String,
    /// Its learner.
    pub method: String,
    /// The constants: proved or a paper's.
    pub calibration: Calibration,
    /// The points by ε.
    pub points: Vec<Summary>,
}

impl Series {
    /// True if it was tuned.
    pub fn tuned(&self) -> bool {
        self.points.iter().any(|point| !point.cell.settings.is_empty())
    }

    /// Its result at an ε.
    pub fn at(&self, epsilon: Option<f64>) -> Option<&Summary> {
        self.points.iter().find(|point| same_epsilon(point.cell.epsilon, epsilon))
    }
}

/// True if two ε are equal up to rounding.
pub fn same_epsilon(a: Option<f64>, b: Option<f64>) -> bool {
    match (a, b) {
        (Some(a), Some(b)) => (a / b - 1.0).abs() < 1e-6,
        (a, b) => a.is_none() && b.is_none(),
    }
}

/// All comparable results on a data set: one measure, one relation.
#[derive(Debug, Clone)]
pub struct Group {
    /// Name of the set.
    pub dataset: String,
    /// The kind of the scores.
    pub measure: String,
    /// The neighbouring relation.
    pub neighbours: Neighbours,
    /// The learners with a budget.
    pub series: Vec<Series>,
    /// The learners without.
    pub plain: Vec<Summary>,
    /// Cells that a learner refused.
    pub refused: Vec<Refused>,
}

impl Group {
    /// Every result.
    pub fn points(&self) -> impl Iterator<Item = &Summary> {
        self.series.iter().flat_map(|series| &series.points).chain(&self.plain)
    }

    /// Every ε, ascending.
    pub fn epsilons(&self) -> Vec<f64> {
        ascending(self.points().filter_map(|point| point.cell.epsilon))
    }

    /// The calibrations used.
    pub fn calibrations(&self) -> Vec<Calibration> {
        [Calibration::Sound, Calibration::Printed]
            .into_iter()
            .filter(|one| self.series.iter().any(|series| series.calibration == *one))
            .collect()
    }

    /// Any result, for facts shared by all of them; ours before a peer's, which has other columns.
    pub fn any(&self) -> Option<&Summary> {
        let ours = self.points().find(|point| Peer::by_name(&point.cell.method).is_none());
        ours.or_else(|| self.points().next())
    }
}

/// The groups of a results file, in its order.
pub fn groups(summaries: &[Summary], refused: &[Refused]) -> Vec<Group> {
    let counted = summaries.iter().filter(|summary| summary.counts);
    let mut groups: Vec<Group> = Vec::new();
    for ((dataset, measure, _), members) in grouped(counted, |summary| {
        let Summary { cell, measure, .. } = summary;
        (cell.dataset.clone(), measure.clone(), cell.neighbours.to_string())
    }) {
        let neighbours = members[0].cell.neighbours;
        let (private, plain): (Vec<&Summary>, Vec<&Summary>) =
            members.into_iter().partition(|member| member.cell.epsilon.is_some());
        let entries = grouped(private, |summary| {
            let Cell { entry, method, calibration, .. } = &summary.cell;
            (entry.clone(), method.clone(), calibration.to_string())
        });
        let series = entries.into_iter().map(|((entry, method, _), points)| {
            let calibration = points[0].cell.calibration;
            let mut points: Vec<Summary> = points.into_iter().cloned().collect();
            points.sort_by(|a, b| a.cell.epsilon.partial_cmp(&b.cell.epsilon).unwrap_or(Equal));
            Series { entry, method, calibration, points }
        });
        let (series, plain) = (series.collect(), plain.into_iter().cloned().collect());
        groups.push(Group { dataset, measure, neighbours, series, plain, refused: vec![] });
    }
    share_baselines(&mut groups);
    for one in refused {
        let Cell { dataset, neighbours, .. } = &one.cell;
        let home = groups
            .iter()
            .position(|group| group.dataset == *dataset && group.neighbours == *neighbours);
        let home = home.unwrap_or_else(|| {
            let (dataset, neighbours, measure) = (dataset.clone(), *neighbours, String::new());
            let (series, plain, refused) = (vec![], vec![], vec![]);
            groups.push(Group { dataset, measure, neighbours, series, plain, refused });
            groups.len() - 1
        });
        groups[home].refused.push(one.clone());
    }
    groups
}

/// A learner without privacy has no neighbours: its result serves every relation, and makes no group of
/// its own where there is another of its set.
fn share_baselines(groups: &mut Vec<Group>) {
    let before = groups.clone();
    let alike = |group: &Group| {
        let (dataset, measure) = (group.dataset.clone(), group.measure.clone());
        before.iter().filter(move |one| one.dataset == dataset && one.measure == measure)
    };
    groups.retain(|group| {
        !group.series.is_empty() || alike(group).all(|other| other.series.is_empty())
    });
    for group in groups.iter_mut().filter(|group| group.plain.is_empty()) {
        let known = alike(group).find(|other| !other.plain.is_empty());
        group.plain = known.map(|other| other.plain.clone()).unwrap_or_default();
    }
}
