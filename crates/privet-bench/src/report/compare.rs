//! A group's results beside the published ones.
//!
//! A result *differs* where it is further than two of its standard errors from the published number, and
//! further than that number was rounded. Published tables give no error of their own.

use super::aggregate::{Group, Series, Summary};
use super::document::{Block, Cell, Document, Table, Tone};
use super::published::{Column, Difference, Published};
use super::words::{Measure, short};
use privet_learn::Calibration;

/// Numbers are published with one digit after the point.
const ROUNDED: f64 = 0.05;
/// In the order of the columns.
const CALIBRATIONS: [Calibration; 2] = [Calibration::Printed, Calibration::Sound];

/// Ours less theirs, with its size in standard errors where that is known.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Gap {
    /// Ours less theirs.
    pub points: f64,
    /// In standard errors of ours.
    pub errors: Option<f64>,
}

impl Gap {
    /// Ours beside theirs.
    pub fn new(ours: &Summary, theirs: f64) -> Self {
        let points = ours.mean - theirs;
        // Without noise every run is the same.
        let error = if ours.cell.epsilon.is_none() { Some(0.0) } else { ours.standard_error };
        Self { points, errors: error.map(|error| points.abs() / error) }
    }

    /// Whether it calls for a reason.
    pub fn differs(self) -> bool {
        self.points.abs() > ROUNDED && self.errors.is_some_and(|errors| errors > 2.0)
    }

    fn cells(self, measure: Measure<'_>) -> [Cell; 2] {
        let tone = if self.differs() { Tone::Strong } else { Tone::Plain };
        let errors = self.errors.filter(|errors| errors.is_finite());
        let errors = errors.map_or_else(
            || "–".into(),
            |errors| match errors {
                errors if errors >= 100.0 => short(errors.round()),
                errors => super::words::fixed(errors, 1),
            },
        );
        [Cell::new(measure.difference(self.points), tone), errors.into()]
    }
}

/// A mean with its standard error.
pub fn score(summary: &Summary) -> String {
    let measure = Measure(&summary.measure);
    match summary.standard_error {
        Some(error) => format!("{} ± {}", measure.score(summary.mean), measure.score(error)),
        None => measure.score(summary.mean),
    }
}

/// The best of several results.
pub fn best<'a>(found: impl Iterator<Item = &'a Summary>) -> Option<&'a Summary> {
    found.max_by(|a, b| a.mean.total_cmp(&b.mean))
}

/// Our result to be set beside a column: of its learner, tuned as it is. Where only an untuned result is
/// at hand, and it has no column of its own, that one.
fn beside<'a>(
    group: &'a Group,
    published: &Published,
    column: &Column,
    calibration: Calibration,
    epsilon: f64,
) -> Option<&'a Summary> {
    if column.method == "non-private" {
        let shown = calibration == Calibration::Sound;
        return best(group.plain.iter().filter(|_| shown));
    }
    let of = |tuned: bool| {
        let wanted = move |series: &&Series| {
            series.method == column.method
                && series.calibration == calibration
                && series.tuned() == tuned
        };
        best(group.series.iter().filter(wanted).filter_map(|series| series.at(Some(epsilon))))
    };
    let claimed = |tuned: bool| {
        published.column.iter().any(|other| other.method == column.method && other.tuned == tuned)
    };
    of(column.tuned).or_else(|| of(!column.tuned).filter(|_| !claimed(!column.tuned)))
}

/// The default's result.
fn auto(group: &Group, epsilon: f64) -> Option<&Summary> {
    let series = group.series.iter().filter(|series| series.method == "auto");
    best(series.filter_map(|series| series.at(Some(epsilon))))
}

/// Sentences, each once, by letter.
#[derive(Default)]
struct Notes(Vec<String>);

impl Notes {
    fn letter(&mut self, text: &str) -> char {
        let place = self.0.iter().position(|known| known == text).unwrap_or_else(|| {
            self.0.push(text.into());
            self.0.len() - 1
        });
        ('a'..='z').nth(place).unwrap_or('z')
    }
}

/// The published columns of a data set, with ours beside them and sentences on what differs.
pub fn set(group: &Group, published: &Published, document: &mut Document) {
    if !published.comparable(group) {
        return;
    }
    for (epsilon, row) in published.of_set(&group.dataset) {
        let printed = group.calibrations().contains(&Calibration::Printed);
        let shown: Vec<Calibration> =
            CALIBRATIONS.into_iter().filter(|one| printed || *one == Calibration::Sound).collect();
        let measure = Measure(&group.measure);
        let mut table = Table::new(
            format!(
                "Published and ours at ε = {} (difference: ours less published)",
                short(epsilon)
            ),
            &["method", "#published"],
        );
        for calibration in &shown {
            table.column(calibration.to_string(), true);
            table.column("difference", true);
            table.column("in s.e.", true);
        }
        table.column("why", false);
        let mut notes = Notes::default();
        let mut any = false;
        let best = published.best(row);
        for column in &published.column {
            let Some(theirs) = row.get(&column.name).copied() else { continue };
            let ours: Vec<Option<&Summary>> = shown
                .iter()
                .map(|calibration| beside(group, published, column, *calibration, epsilon))
                .collect();
            any |= ours.iter().any(Option::is_some);
            let tone = match best {
                Some((name, _)) if name == column.name => Tone::Strong,
                _ => Tone::Plain,
            };
            let name = format!("{} ({})", column.name, column.method);
            let theirs_cell = Cell::new(measure.score(theirs), tone);
            table.rows.push(self::row(&name, theirs_cell, theirs, &ours, published, &mut notes));
        }
        if let (Some(ours), Some((name, theirs))) = (auto(group, epsilon), best) {
            any = true;
            let chosen: Vec<&str> = ours.chosen.keys().map(String::as_str).collect();
            let label = match chosen.join(", ") {
                chosen if chosen.is_empty() => "auto, beside their best".into(),
                chosen => format!("auto ({chosen}), beside their best"),
            };
            let theirs_cell = format!("{} ({name})", measure.score(theirs)).into();
            let place =
                |calibration: &Calibration| (*calibration == ours.cell.calibration).then_some(ours);
            let ours: Vec<Option<&Summary>> = shown.iter().map(place).collect();
            table.rows.push(self::row(&label, theirs_cell, theirs, &ours, published, &mut notes));
        }
        if any {
            document.table(table);
            if !notes.0.is_empty() {
                document.blocks.push(Block::Notes(notes.0));
            }
        }
    }
}

fn row(
    name: &str,
    theirs_cell: Cell,
    theirs: f64,
    ours: &[Option<&Summary>],
    published: &Published,
    notes: &mut Notes,
) -> Vec<Cell> {
    let mut cells = vec![name.into(), theirs_cell];
    let mut letters = Vec::new();
    for found in ours {
        let Some(summary) = found else {
            cells.extend([Cell::default(), Cell::default(), Cell::default()]);
            continue;
        };
        let gap = Gap::new(summary, theirs);
        cells.push(score(summary).into());
        cells.extend(gap.cells(Measure(&summary.measure)));
        let asked = Difference {
            dataset: &summary.cell.dataset,
            method: &summary.cell.method,
            calibration: summary.cell.calibration,
            tuned: !summary.cell.settings.is_empty(),
            points: gap.points,
        };
        if gap.differs()
            && let Some(text) = published.why(asked)
        {
            letters.push(notes.letter(text).to_string());
        }
    }
    letters.dedup();
    cells.push(letters.join(", ").into());
    cells
}

/// A line a data set: the best published number, and the best of ours under each calibration and
/// of the default.
pub fn overview(groups: &[Group], published: &Published) -> Table {
    let mut table = Table::new(
        format!("At the published ε: best of each, beside {}", published.source),
        &[
            "data set",
            "#ε",
            "#published",
            "#printed",
            "#difference",
            "#sound",
            "#difference",
            "#auto",
            "#difference",
            "#without privacy",
        ],
    );
    for group in groups.iter().filter(|group| published.comparable(group)) {
        let measure = Measure(&group.measure);
        for (epsilon, row) in published.of_set(&group.dataset) {
            let Some((name, theirs)) = published.best(row) else { continue };
            let ours = |calibration: Calibration| {
                let wanted = move |series: &&Series| {
                    series.method != "auto" && series.calibration == calibration
                };
                best(
                    group
                        .series
                        .iter()
                        .filter(wanted)
                        .filter_map(|series| series.at(Some(epsilon))),
                )
            };
            let found =
                [ours(Calibration::Printed), ours(Calibration::Sound), auto(group, epsilon)];
            if found.iter().all(Option::is_none) {
                continue;
            }
            let mut cells: Vec<Cell> = vec![
                heading(group, groups).into(),
                short(epsilon).into(),
                format!("{} ({name})", measure.score(theirs)).into(),
            ];
            for summary in found {
                match summary {
                    Some(summary) => {
                        let [difference, _] = Gap::new(summary, theirs).cells(measure);
                        cells.extend([score(summary).into(), difference]);
                    }
                    None => cells.extend([Cell::default(), Cell::default()]),
                }
            }
            let plain = best(group.plain.iter());
            cells.push(plain.map_or_else(Cell::default, |plain| measure.score(plain.mean).into()));
            table.rows.push(cells);
        }
    }
    table
}

/// What a group is called: the relation and the measure are named where they tell groups apart.
pub fn heading(group: &Group, groups: &[Group]) -> String {
    let alike = || groups.iter().filter(|other| other.dataset == group.dataset);
    let mut name = group.dataset.clone();
    if alike().any(|other| other.neighbours != group.neighbours) {
        name = format!("{name}, {} neighbours", group.neighbours);
    }
    if alike().any(|other| other.measure != group.measure) {
        name = format!("{name}, {}", group.measure);
    }
    name
}
