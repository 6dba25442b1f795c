//! A group's results beside the published ones.
//!
//! A result *differs* where it is further than two of its standard errors from the published number, and
//! further than that number was rounded. Published tables give no error of their own.

use super::aggregate::{Group, Series, Summary};
use super::document::{Block, Cell, Document, Rows, Table, Tone};
use super::formatting::{Measure, fixed, three_digits};
use super::published::{Column, Difference, Published};
use crate::suite::Voter;
use privet_learn::Calibration;

/// Numbers are published with one digit after the point.
const PUBLISHED_ROUNDING: f64 = 0.05;
/// The order of the columns.
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

    /// True if the gap needs a reason.
    pub fn differs(self) -> bool {
        self.points.abs() > PUBLISHED_ROUNDING && self.errors.is_some_and(|errors| errors > 2.0)
    }

    fn cell(self, measure: Measure<'_>) -> Cell {
        let tone = if self.differs() { Tone::Strong } else { Tone::Plain };
        Cell::new(measure.difference(self.points), tone)
    }

    /// Its size in standard errors, in words.
    fn in_errors(self) -> String {
        match self.errors {
            Some(errors) if errors >= 100.0 && errors.is_finite() => three_digits(errors.round()),
            Some(errors) if errors.is_finite() => fixed(errors, 1),
            _ => "–".into(),
        }
    }
}

/// A mean with its standard error.
pub fn score(summary: &Summary) -> String {
    let measure = Measure(&summary.measure);
    let score = match summary.standard_error {
        Some(error) => format!("{} ± {}", measure.score(summary.mean), measure.score(error)),
        None => measure.score(summary.mean),
    };
    // The other measures of a network are in a table of their own.
    if summary.loss.is_some() {
        return score;
    }
    match (summary.distance, summary.ranking, summary.recall, summary.ndcg) {
        (Some((apart, _)), ..) => format!("{score} (error {})", fixed(apart, 3)),
        (None, Some((area, _)), ..) => format!("{score} (AUC {})", measure.score(area)),
        (None, None, Some((recall, _)), Some((gain, _))) => {
            format!("{score} ({} · {})", measure.score(recall), measure.score(gain))
        }
        _ => score,
    }
}

/// The best of several results.
pub fn best_result<'a>(found: impl Iterator<Item = &'a Summary>) -> Option<&'a Summary> {
    found.max_by(|a, b| a.goodness().total_cmp(&b.goodness()))
}

/// The best result without privacy, of learners that read the whole table: a teacher has only one chunk
/// of it.
pub fn without_privacy(group: &Group) -> Option<&Summary> {
    best_result(group.plain.iter().filter(|plain| Voter::by_name(&plain.cell.method).is_none()))
}

/// Our result beside a published column: of its learner, tuned as it is. Where only an untuned result
/// exists, and it has no column of its own, that one.
fn our_result<'a>(
    group: &'a Group,
    published: &Published,
    column: &Column,
    calibration: Calibration,
    epsilon: f64,
) -> Option<&'a Summary> {
    if column.method == "non-private" {
        let shown = calibration == Calibration::Sound;
        return without_privacy(group).filter(|_| shown);
    }
    let of = |tuned: bool| {
        best_at(group, epsilon, |series| {
            series.method == column.method
                && series.calibration == calibration
                && series.tuned() == tuned
        })
    };
    let claimed = |tuned: bool| {
        published.column.iter().any(|other| other.method == column.method && other.tuned == tuned)
    };
    of(column.tuned).or_else(|| of(!column.tuned).filter(|_| !claimed(!column.tuned)))
}

/// The best result at an ε among these series.
fn best_at(group: &Group, epsilon: f64, wanted: impl Fn(&Series) -> bool) -> Option<&Summary> {
    let series = group.series.iter().filter(|series| wanted(series));
    best_result(series.filter_map(|series| series.at(Some(epsilon))))
}

/// The default's result.
fn auto(group: &Group, epsilon: f64) -> Option<&Summary> {
    best_at(group, epsilon, |series| series.method == "auto")
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

/// A line of the comparison: a name, the published number and its notation, ours under each calibration
/// shown, and the reason why they differ.
pub struct ComparisonLine<'a> {
    name: String,
    theirs: f64,
    written: Cell,
    ours: Vec<Option<&'a Summary>>,
    why: String,
}

impl<'a> ComparisonLine<'a> {
    fn new(
        name: String,
        (theirs, written): (f64, Cell),
        ours: Vec<Option<&'a Summary>>,
        published: &Published,
        notes: &mut Notes,
    ) -> Self {
        let reasons = ours.iter().flatten().filter_map(|summary| {
            let gap = Gap::new(summary, theirs);
            let asked = Difference {
                dataset: &summary.cell.dataset,
                method: &summary.cell.method,
                calibration: summary.cell.calibration,
                tuned: !summary.cell.settings.is_empty(),
                points: gap.points,
            };
            published.reason_of(asked).filter(|_| gap.differs())
        });
        let mut letters: Vec<String> = reasons.map(|text| notes.letter(text).to_string()).collect();
        letters.dedup();
        Self { name, theirs, written, ours, why: letters.join(", ") }
    }

    /// The cell of our result in a column, if there is one.
    fn our_cell<C: Into<Cell>>(&self, place: usize, told: impl Fn(&Summary, Gap) -> C) -> Cell {
        let ours = self.ours[place];
        ours.map(|ours| told(ours, Gap::new(ours, self.theirs)).into()).unwrap_or_default()
    }
}

/// The published columns of a data set, with ours beside them and notes on the differences.
pub fn set(group: &Group, published: &Published, document: &mut Document) {
    let printed = group.calibrations().contains(&Calibration::Printed);
    let shown: Vec<Calibration> =
        CALIBRATIONS.into_iter().filter(|one| printed || *one == Calibration::Sound).collect();
    let measure = Measure(&group.measure);
    for (epsilon, row) in published.of_set(&group.dataset) {
        let mut notes = Notes::default();
        let best = published.best(row);
        let mut lines = Vec::new();
        for column in &published.column {
            let Some(theirs) = row.get(&column.name).copied() else { continue };
            let is_best = best.is_some_and(|(name, _)| name == column.name);
            let tone = if is_best { Tone::Strong } else { Tone::Plain };
            let name = format!("{} ({})", column.name, column.method);
            let ours = shown.iter().map(|one| our_result(group, published, column, *one, epsilon));
            let theirs = (theirs, Cell::new(measure.score(theirs), tone));
            lines.push(ComparisonLine::new(name, theirs, ours.collect(), published, &mut notes));
        }
        if let (Some(ours), Some((name, theirs))) = (auto(group, epsilon), best) {
            let chosen: Vec<&str> = ours.chosen.keys().map(String::as_str).collect();
            let label = match chosen.join(", ") {
                chosen if chosen.is_empty() => "auto, beside their best".into(),
                chosen => format!("auto ({chosen}), beside their best"),
            };
            let theirs = (theirs, format!("{} ({name})", measure.score(theirs)).into());
            let place = |one: &Calibration| (*one == ours.cell.calibration).then_some(ours);
            let ours = shown.iter().map(place).collect();
            lines.push(ComparisonLine::new(label, theirs, ours, published, &mut notes));
        }
        if lines.iter().all(|line| line.ours.iter().all(Option::is_none)) {
            continue;
        }
        let epsilon = three_digits(epsilon);
        let caption =
            format!("Published and ours at ε = {epsilon} (difference: ours less published)");
        let mut table = Table::of(caption, lines)
            .text_column("method", |line| line.name.clone())
            .numbers("published", |line| line.written.clone());
        for (place, calibration) in shown.iter().enumerate() {
            table = table
                .numbers(calibration.to_string(), |line| {
                    line.our_cell(place, |ours, _| score(ours))
                })
                .numbers("difference", |line| line.our_cell(place, |_, gap| gap.cell(measure)))
                .numbers("in s.e.", |line| line.our_cell(place, |_, gap| gap.in_errors()));
        }
        document.table(table.text_column("why", |line| line.why.clone()));
        if !notes.0.is_empty() {
            document.blocks.push(Block::Notes(notes.0));
        }
    }
}

/// A line of the overview: group, ε, the best published number with its column, and the best of ours with
/// printed and with sound constants and of the default.
pub type BestLine<'a> = (&'a Group, f64, (&'a str, f64), [Option<&'a Summary>; 3]);

/// A line a data set: the best published number, and the best of ours under each calibration and
/// of the default.
pub fn overview<'a>(groups: &'a [Group], published: &'a Published) -> Rows<BestLine<'a>> {
    let groups_beside = groups.iter().filter(|group| published.comparable(group));
    let lines = groups_beside.flat_map(|group| {
        published.of_set(&group.dataset).filter_map(move |(epsilon, row)| {
            let ours = |calibration: Calibration| {
                let wanted = |one: &Series| one.method != "auto" && one.calibration == calibration;
                best_at(group, epsilon, wanted)
            };
            let [printed, sound] = CALIBRATIONS.map(ours);
            let ours = [printed, sound, auto(group, epsilon)];
            let line = (group, epsilon, published.best(row)?, ours);
            ours.iter().any(Option::is_some).then_some(line)
        })
    });
    let caption = format!("At the published ε: best of each, beside {}", published.source);
    let mut table = Table::of(caption, lines)
        .text_column("data set", |(group, ..)| heading(group, groups))
        .numbers("ε", |(_, epsilon, ..)| three_digits(*epsilon))
        .numbers("published", |(group, _, (name, theirs), _)| {
            format!("{} ({name})", Measure(&group.measure).score(*theirs))
        });
    for (place, name) in ["printed", "sound", "auto"].into_iter().enumerate() {
        table = table
            .numbers(name, |(.., ours)| ours[place].map(score).unwrap_or_default())
            .numbers("difference", |(group, _, (_, theirs), ours)| {
                let gap = |ours| Gap::new(ours, *theirs).cell(Measure(&group.measure));
                ours[place].map(gap).unwrap_or_default()
            });
    }
    table.numbers("without privacy", |(group, ..)| {
        let plain = without_privacy(group);
        plain.map(|plain| Measure(&group.measure).score(plain.mean)).unwrap_or_default()
    })
}

/// The heading of a group: the relation and the measure are named where they distinguish groups.
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
