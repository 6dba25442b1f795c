//! The cells of one data set, their remaining runs, and the points of a grid that are run again.

use super::file::{Entry, Source, Suite};
use super::grid::Point;
use super::learner::Family;
use super::select::Selection;
use crate::line::{Cell, Line, Stage, lower_is_better};
use std::collections::{BTreeMap, BTreeSet};

/// A cell and the entry that it belongs to.
#[derive(Debug, Clone)]
pub struct GridCell<'a> {
    /// The cell of its results.
    pub cell: Cell,
    /// The entry of the suite.
    pub entry: &'a Entry,
}

/// The cells among which tuning chooses: everything but the point is the same.
#[derive(Debug)]
pub struct Group<'a> {
    /// One for each point of the grid.
    pub places: Vec<GridCell<'a>>,
    /// Number of final models for each chosen cell.
    pub runs: u32,
}

/// Every group of a data set with this many rows, in the order of the suite.
pub fn groups<'a>(
    suite: &'a Suite,
    wanted: &Selection,
    source: &Source,
    rows: u64,
) -> Vec<Group<'a>> {
    let mut groups = Vec::new();
    for entry in suite.entries.iter().filter(|entry| wanted.entry(entry, source)) {
        let private = entry.learner.is_private();
        let epsilons: Vec<Option<f64>> = match private {
            true => wanted.epsilons(entry, source).into_iter().map(Some).collect(),
            false => vec![None],
        };
        for calibration in wanted.calibrations(entry) {
            for epsilon in &epsilons {
                let place = |point: &Point| GridCell {
                    cell: Cell {
                        dataset: source.name.clone(),
                        entry: entry.name.clone(),
                        method: entry.learner.name().into(),
                        calibration,
                        neighbours: entry.neighbours,
                        epsilon: *epsilon,
                        delta: epsilon.map(|_| delta(entry, source, rows)),
                        settings: point.clone(),
                    },
                    entry,
                };
                let places = entry.points.iter().map(place).collect();
                // Without noise every run is the same, unless each holds out other ratings.
                let runs =
                    if private || suite.family == Family::Complete { wanted.runs } else { 1 };
                groups.push(Group { places, runs });
            }
        }
    }
    groups
}

/// The δ of an entry's guarantee on so many rows.
fn delta(entry: &Entry, source: &Source, rows: u64) -> f64 {
    let asked = source.delta.unwrap_or(entry.delta).of(rows);
    entry.learner.peer().map_or(asked, |peer| peer.delta(asked))
}

/// A cell as a key.
pub fn key(cell: &Cell) -> String {
    serde_json::to_string(cell).unwrap_or_default()
}

/// The results so far.
#[derive(Debug, Default)]
pub struct KnownResults {
    scores: BTreeMap<(String, Stage, u32), f64>,
    refused: BTreeSet<String>,
}

impl KnownResults {
    /// From the lines of a results file.
    pub fn of(lines: &[Line]) -> Self {
        let mut known = Self::default();
        lines.iter().for_each(|line| known.add(line));
        known
    }

    /// Adds one line.
    pub fn add(&mut self, line: &Line) {
        match line {
            Line::Run(run) => {
                let score = if lower_is_better(&run.measure) { -run.score } else { run.score };
                self.scores.insert((key(&run.cell), run.stage, run.run), score);
            }
            Line::Refused(refused) => {
                self.refused.insert(key(&refused.cell));
            }
            Line::Head(_) | Line::Race(_) => {}
        }
    }

    /// The missing runs of a cell, of `count`; none of a refused cell.
    pub fn missing(&self, cell: &Cell, stage: Stage, count: u32) -> Vec<u32> {
        let key = key(cell);
        if self.refused.contains(&key) {
            return Vec::new();
        }
        (0..count).filter(|run| !self.scores.contains_key(&(key.clone(), stage, *run))).collect()
    }

    /// True if a learner refused it.
    pub fn is_refused(&self, cell: &Cell) -> bool {
        self.refused.contains(&key(cell))
    }

    /// The mean of the screening runs; `None` if there is none.
    fn screening_mean(&self, place: &GridCell<'_>) -> Option<f64> {
        let key = key(&place.cell);
        let scores: Vec<f64> = (0..place.entry.screen)
            .filter_map(|run| self.scores.get(&(key.clone(), Stage::Screen, run)).copied())
            .collect();
        let mean = scores.iter().sum::<f64>() / scores.len() as f64;
        mean.is_finite().then_some(mean)
    }

    /// The places with final runs: all of an untuned group; of a tuned one the `keep` with the best mean
    /// in screening, the earlier point first among equals.
    pub fn final_places<'g, 'a>(&self, group: &'g Group<'a>) -> Vec<&'g GridCell<'a>> {
        let Some(entry) = group.places.first().map(|place| place.entry) else {
            return Vec::new();
        };
        if !entry.is_tuned() {
            return group.places.iter().collect();
        }
        let mut ranked: Vec<(f64, &GridCell<'a>)> = group
            .places
            .iter()
            .filter(|place| !self.is_refused(&place.cell))
            .filter_map(|place| Some((self.screening_mean(place)?, place)))
            .collect();
        ranked.sort_by(|a, b| b.0.total_cmp(&a.0));
        ranked.truncate(entry.keep);
        ranked.into_iter().map(|(_, place)| place).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::line::{Refused, Run};
    use crate::suite::parse;
    use std::path::Path;

    const SUITE: &str = r#"
name = "t"
title = "t"
loss = "logistic"
epsilons = [0.1, 1]
delta = "1/n^2"
runs = 3
[[datasets]]
name = "synthetic-l"
[[methods]]
name = "tuned"
method = "amp"
calibrations = ["sound", "printed"]
grid = { split = [0.1, 0.2, 0.3, 0.4] }
screen = 2
keep = 2
[[methods]]
name = "none"
method = "non-private"
"#;

    fn run(cell: &Cell, stage: Stage, run: u32, score: f64) -> Line {
        Line::Run(Run {
            cell: cell.clone(),
            stage,
            run,
            rows: 1,
            columns: 1,
            classes: 2,
            measure: "accuracy".into(),
            score,
            chosen: None,
            certified: None,
            seconds: 0.0,
            ranking: None,
            distance: None,
            recall: None,
            ndcg: None,
            loss: None,
            gradient: None,
            passes: None,
            questions: None,
            peak_memory: None,
        })
    }

    #[test]
    fn tuning_looks_at_the_mean_of_the_screen_and_at_nothing_else() {
        let suite = parse(SUITE, "t", Path::new("")).unwrap();
        let groups = groups(&suite, &Selection::all(&suite), &suite.datasets[0], 100);
        assert_eq!(groups.len(), 2 * 2 + 1);
        assert_eq!(groups[4].places.len(), 1);
        assert_eq!((groups[4].runs, groups[0].runs), (1, 3));
        assert_eq!(groups[0].places[0].cell.delta, Some(1e-4));
        let group = &groups[0];
        let cell = |point: usize| &group.places[point].cell;
        let mut known = KnownResults::default();
        assert!(known.final_places(group).is_empty(), "nothing was screened");
        for (point, scores) in [(0, [60.0, 60.0]), (1, [90.0, 20.0]), (2, [61.0, 61.0])] {
            for (number, score) in scores.into_iter().enumerate() {
                known.add(&run(cell(point), Stage::Screen, number as u32, score));
            }
        }
        // Final runs never change the choice, nor do those of another group.
        known.add(&run(cell(1), Stage::Final, 0, 100.0));
        known.add(&run(&groups[1].places[3].cell, Stage::Screen, 0, 100.0));
        let refused = Refused { cell: cell(3).clone(), reason: "no".into() };
        known.add(&Line::Refused(refused));
        let chosen: Vec<&Cell> =
            known.final_places(group).iter().map(|place| &place.cell).collect();
        assert_eq!(chosen, [cell(2), cell(0)]);
        assert_eq!(known.missing(cell(1), Stage::Final, 3), [1, 2]);
        assert_eq!(known.missing(cell(0), Stage::Screen, 2), [0_u32; 0]);
        assert!(known.missing(cell(3), Stage::Screen, 2).is_empty(), "refused once is enough");
    }

    #[test]
    fn a_line_read_back_is_the_same_cell() {
        let suite = parse(SUITE, "t", Path::new("")).unwrap();
        for group in groups(&suite, &Selection::all(&suite), &suite.datasets[0], 36_177) {
            for place in &group.places {
                let text = serde_json::to_string(&run(&place.cell, Stage::Final, 0, 1.0)).unwrap();
                let known = KnownResults::of(&[serde_json::from_str(&text).unwrap()]);
                assert_eq!(known.missing(&place.cell, Stage::Final, 2), [1]);
            }
        }
    }
}
