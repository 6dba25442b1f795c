//! From single runs to the numbers of a table.
//!
//! Runs of one cell are averaged; screening runs never are. Of an entry that was tuned, the point of
//! the grid with the best mean counts, as the papers did it, chosen anew for each data set, calibration
//! and ε. A point with fewer runs than another one of its grid is not considered: an interrupted
//! suite would otherwise prefer the luck of a single run.

use crate::line::{self, Cell, Refused, Run, Stage};
use privet_core::Neighbours;
use privet_learn::Calibration;
use std::collections::BTreeMap;

/// The runs of one cell.
#[derive(Debug, Clone, PartialEq)]
pub struct Summary {
    /// Where they belong.
    pub cell: Cell,
    /// Records they were trained on.
    pub rows: u64,
    /// Encoded columns.
    pub columns: u64,
    /// Classes; 0 for a target of numbers.
    pub classes: u64,
    /// What the score is.
    pub measure: String,
    /// How many.
    pub runs: usize,
    /// Mean score.
    pub mean: f64,
    /// Its standard error: that of the mean over these runs, unknown for a single one.
    pub standard_error: Option<f64>,
    /// Learners that did it where the entry left that open, and how often.
    pub chosen: BTreeMap<String, usize>,
    /// Largest ε that a certificate proves.
    pub certified: Option<f64>,
    /// Mean seconds of training.
    pub seconds: f64,
    /// Their standard error, like that of the score.
    pub seconds_error: Option<f64>,
    /// Largest peak memory.
    pub peak_memory: Option<u64>,
    /// Whether this is the point of its grid that counts.
    pub counts: bool,
    /// Points of its grid with runs that count, itself included.
    pub points: usize,
}

impl Summary {
    fn new(runs: &[&Run]) -> Option<Self> {
        let first = *runs.first()?;
        let scores: Vec<f64> = runs.iter().map(|run| run.score).collect();
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
            chosen,
            certified: runs.iter().filter_map(|run| run.certified).reduce(f64::max),
            seconds: mean(&seconds),
            seconds_error: standard_error(&seconds),
            peak_memory: runs.iter().filter_map(|run| run.peak_memory).max(),
            counts: false,
            points: 1,
        })
    }

    /// Whether a certificate proves less than the cell's ε.
    pub fn exceeds_claim(&self) -> bool {
        self.cell.epsilon.zip(self.certified).is_some_and(|(claimed, certified)| {
            // Calibration ends on the safe side within this.
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

/// Groups values by a key, in the order in which keys first come.
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

/// A summary of every cell with runs that count, and which of them count.
pub fn summaries(runs: &[Run]) -> Vec<Summary> {
    let finals = runs.iter().filter(|run| run.stage == Stage::Final && run.score.is_finite());
    let cells = grouped(finals, |run| {
        let point: Vec<_> = run.cell.settings.clone().into_iter().collect();
        (grid(&run.cell), run.measure.clone(), point)
    });
    let mut found: Vec<Summary> = cells.iter().filter_map(|(_, runs)| Summary::new(runs)).collect();
    choose(&mut found);
    found
}

/// What a grid is of: every part of a cell but the point.
fn grid(cell: &Cell) -> (String, String, String, String, Option<u64>, Option<u64>) {
    let bits = |value: Option<f64>| value.map(f64::to_bits);
    (
        cell.dataset.clone(),
        cell.entry.clone(),
        cell.method.clone(),
        format!("{} {}", cell.calibration, cell.neighbours),
        bits(cell.epsilon),
        bits(cell.delta),
    )
}

fn choose(found: &mut [Summary]) {
    let mut best: BTreeMap<_, usize> = BTreeMap::new();
    let mut sizes: BTreeMap<_, usize> = BTreeMap::new();
    for (place, summary) in found.iter().enumerate() {
        let key = (grid(&summary.cell), summary.measure.clone());
        *sizes.entry(key.clone()).or_default() += 1;
        best.entry(key)
            .and_modify(|known| {
                let rank = |summary: &Summary| (summary.runs, summary.mean);
                if rank(summary) > rank(&found[*known]) {
                    *known = place;
                }
            })
            .or_insert(place);
    }
    for place in best.values() {
        found[*place].counts = true;
    }
    for summary in found {
        let key = (grid(&summary.cell), summary.measure.clone());
        summary.points = sizes.get(&key).copied().unwrap_or(1);
    }
}

/// One line of a plot: an entry under a calibration, over ε.
#[derive(Debug, Clone)]
pub struct Series {
    /// Name of the entry.
    pub entry: String,
    /// Its learner.
    pub method: String,
    /// Whose constants.
    pub calibration: Calibration,
    /// By ε.
    pub points: Vec<Summary>,
}

impl Series {
    /// Whether it was tuned.
    pub fn tuned(&self) -> bool {
        self.points.iter().any(|point| !point.cell.settings.is_empty())
    }

    /// Its result at an ε.
    pub fn at(&self, epsilon: Option<f64>) -> Option<&Summary> {
        self.points.iter().find(|point| same(point.cell.epsilon, epsilon))
    }
}

/// Whether two ε are the same number but for rounding.
pub fn same(a: Option<f64>, b: Option<f64>) -> bool {
    match (a, b) {
        (Some(a), Some(b)) => (a / b - 1.0).abs() < 1e-6,
        (a, b) => a.is_none() && b.is_none(),
    }
}

/// Everything about a data set that may be compared: one measure, one relation.
#[derive(Debug, Clone)]
pub struct Group {
    /// Name of the set.
    pub dataset: String,
    /// What the scores are.
    pub measure: String,
    /// Which data sets are neighbours.
    pub neighbours: Neighbours,
    /// The learners with a budget.
    pub series: Vec<Series>,
    /// The learners without.
    pub plain: Vec<Summary>,
    /// Cells that a learner would not take.
    pub refused: Vec<Refused>,
}

impl Group {
    /// Every ε, ascending.
    pub fn epsilons(&self) -> Vec<f64> {
        let points = self.series.iter().flat_map(|series| &series.points);
        let mut all: Vec<f64> = points.filter_map(|point| point.cell.epsilon).collect();
        all.sort_by(f64::total_cmp);
        all.dedup_by(|a, b| same(Some(*a), Some(*b)));
        all
    }

    /// The calibrations used.
    pub fn calibrations(&self) -> Vec<Calibration> {
        [Calibration::Sound, Calibration::Printed]
            .into_iter()
            .filter(|one| self.series.iter().any(|series| series.calibration == *one))
            .collect()
    }

    /// Any result, for what all of them share.
    pub fn any(&self) -> Option<&Summary> {
        self.series.iter().flat_map(|series| &series.points).chain(&self.plain).next()
    }
}

/// The groups of a results file, in its order.
pub fn groups(summaries: &[Summary], refused: &[Refused]) -> Vec<Group> {
    let counted = summaries.iter().filter(|summary| summary.counts);
    let mut groups: Vec<Group> = Vec::new();
    let private = |cell: &Cell| cell.epsilon.is_some();
    for ((dataset, measure, _), members) in grouped(counted, |summary| {
        let Summary { cell, measure, .. } = summary;
        (cell.dataset.clone(), measure.clone(), cell.neighbours.to_string())
    }) {
        let Some(neighbours) = members.first().map(|member| member.cell.neighbours) else {
            continue;
        };
        let (private, plain): (Vec<&Summary>, Vec<&Summary>) =
            members.into_iter().partition(|member| private(&member.cell));
        let entries = grouped(private.iter().copied(), |summary: &Summary| {
            let Cell { entry, method, calibration, .. } = &summary.cell;
            (entry.clone(), method.clone(), calibration.to_string())
        });
        let series = entries.into_iter().filter_map(|((entry, method, _), points)| {
            let calibration = points.first()?.cell.calibration;
            let mut points: Vec<Summary> = points.into_iter().cloned().collect();
            points.sort_by(|a, b| by_epsilon(&a.cell, &b.cell));
            Some(Series { entry, method, calibration, points })
        });
        groups.push(Group {
            series: series.collect(),
            plain: plain.into_iter().cloned().collect(),
            refused: vec![],
            dataset,
            measure,
            neighbours,
        });
    }
    share_baselines(&mut groups);
    for one in refused {
        let home = groups.iter_mut().find(|group| {
            group.dataset == one.cell.dataset && group.neighbours == one.cell.neighbours
        });
        match home {
            Some(group) => group.refused.push(one.clone()),
            None => groups.push(Group {
                dataset: one.cell.dataset.clone(),
                measure: String::new(),
                neighbours: one.cell.neighbours,
                series: vec![],
                plain: vec![],
                refused: vec![one.clone()],
            }),
        }
    }
    groups
}

fn by_epsilon(a: &Cell, b: &Cell) -> std::cmp::Ordering {
    let value = |cell: &line::Cell| cell.epsilon.unwrap_or(f64::INFINITY);
    value(a).total_cmp(&value(b))
}

/// A learner without privacy has no neighbours: its result serves every relation, and makes no group of
/// its own where there is another of its set.
fn share_baselines(groups: &mut Vec<Group>) {
    let plain: Vec<(String, String, Vec<Summary>)> = groups
        .iter()
        .map(|group| (group.dataset.clone(), group.measure.clone(), group.plain.clone()))
        .collect();
    for group in groups.iter_mut().filter(|group| group.plain.is_empty()) {
        let known = plain.iter().find(|(dataset, measure, plain)| {
            *dataset == group.dataset && *measure == group.measure && !plain.is_empty()
        });
        if let Some((.., plain)) = known {
            group.plain = plain.clone();
        }
    }
    let with_series: Vec<(String, String)> = groups
        .iter()
        .filter(|group| !group.series.is_empty())
        .map(|group| (group.dataset.clone(), group.measure.clone()))
        .collect();
    groups.retain(|group| {
        let place = (group.dataset.clone(), group.measure.clone());
        !group.series.is_empty() || !with_series.contains(&place)
    });
}
