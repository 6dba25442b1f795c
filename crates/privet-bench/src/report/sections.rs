//! What a report says of a suite: circumstances, an overview, and for each data set a plot, ours beside
//! the published numbers, all numbers, certified ε of printed constants, and refusals.

use super::aggregate::{Group, Summary, groups, summaries};
use super::compare::{self, heading, score};
use super::document::{Block, Document, Table};
use super::plot::{Axis, Figure, Panel, PlotLine, PlotPoint, Style};
use super::published::Published;
use super::race;
use super::read::Results;
use super::tables;
use super::words::{Measure, bytes, short, thousands};
use crate::line::Head;
use privet_learn::Calibration;

/// Everything about several results files.
pub fn document(results: &[Results]) -> Document {
    let mut document = Document::default();
    document.text(
        "Made by privet bench report from results files; nothing here is typed by hand but the published \
         numbers and the sentences on why results differ from them, which are part of the program.",
    );
    for one in results {
        for notice in &one.notices {
            document.blocks.push(Block::Notice(notice.clone()));
        }
    }
    document.table(circumstances(results));
    for one in results {
        suite(one, &mut document);
    }
    document
}

/// A line a head.
fn circumstances(results: &[Results]) -> Table {
    let mut table = Table::new(
        "Circumstances; a suite that was taken up again has several lines",
        &[
            "suite",
            "started (UTC)",
            "commit",
            "privet",
            "compiler",
            "processor",
            "#cores",
            "#memory",
            "system",
        ],
    );
    for head in results.iter().flat_map(|one| &one.heads) {
        let Head { suite, started, version, commit, compiler, machine } = head;
        table.rows.push(vec![
            suite.as_str().into(),
            started.replace('T', " ").trim_end_matches('Z').into(),
            commit.chars().take(12).collect::<String>().into(),
            version.as_str().into(),
            compiler.as_str().into(),
            machine.processor.as_str().into(),
            machine.cores.to_string().into(),
            machine.memory.map_or_else(|| "–".into(), |memory| bytes(memory as f64)).into(),
            machine.system.as_str().into(),
        ]);
    }
    table
}

fn suite(results: &Results, document: &mut Document) {
    document.heading(2, format!("Suite {}", results.suite));
    let summaries = summaries(&results.runs);
    let groups = groups(&summaries, &results.refused);
    if !groups.is_empty() {
        let published = Published::of(&results.suite);
        document.text(method(&summaries, published));
        if let Some(published) = published {
            document.table(compare::overview(&groups, published));
        }
        document.table(tables::costs(&groups));
        let palette = Palette::new(&groups);
        for group in &groups {
            document.heading(3, heading(group, &groups));
            set(group, published, &palette, document);
        }
    }
    race::sections(&results.races, document);
}

/// How the numbers came about.
fn method(summaries: &[Summary], published: Option<&Published>) -> String {
    let private = summaries.iter().filter(|one| one.counts && one.cell.epsilon.is_some());
    let runs = private.map(|one| one.runs);
    let (least, most) = (runs.clone().min().unwrap_or(0), runs.max().unwrap_or(0));
    let runs = if least == most { most.to_string() } else { format!("{least} to {most}") };
    let tuned = if summaries.iter().any(|one| !one.cell.settings.is_empty()) {
        " Of a tuned entry the point of the grid with the best mean over the runs that count is shown, \
         chosen for each data set, calibration and ε on the held-out records, as the paper did: it is \
         optimistic, and choosing is not covered by ε. Untuned entries choose nothing from records."
    } else {
        ""
    };
    let published = published.map_or_else(String::new, |published| {
        format!(
            " Published numbers are those of {}: the best of a grid, chosen on the test records. They come \
             without an error; a result is said to differ where it is more than two of its own standard \
             errors, and more than their rounding, away.",
            published.source
        )
    });
    format!(
        "Means over {runs} runs with fresh noise, ± the standard error of the mean. Sound: constants that are \
         proved here. Printed: the papers' own constants, whose certificates state the ε that is proved for \
         them.{tuned}{published}"
    )
}

/// Which line looks how, in all plots of a suite alike: colour by learner, dashes where it has several
/// entries and where it is tuned.
struct Palette {
    methods: Vec<String>,
    /// Learner and entry, with its variant.
    entries: Vec<(String, String, usize)>,
}

impl Palette {
    fn new(groups: &[Group]) -> Self {
        let mut palette = Self { methods: vec![], entries: vec![] };
        for series in groups.iter().flat_map(|group| &group.series) {
            let known = |(_, entry, _): &(String, String, usize)| *entry == series.entry;
            if series.method == "auto" || palette.entries.iter().any(known) {
                continue;
            }
            if !palette.methods.contains(&series.method) {
                palette.methods.push(series.method.clone());
            }
            let before = palette.entries.iter().filter(|(method, ..)| *method == series.method);
            let variant = before.count().max(usize::from(series.tuned()));
            palette.entries.push((series.method.clone(), series.entry.clone(), variant));
        }
        palette
    }

    fn entry(&self, entry: &str) -> Style {
        let found = self.entries.iter().find(|(_, known, _)| known == entry);
        found.and_then(|(method, _, variant)| self.colour(method, *variant)).unwrap_or(Style::Ink)
    }

    fn colour(&self, method: &str, variant: usize) -> Option<Style> {
        let place = self.methods.iter().position(|known| known == method)?;
        Some(Style::Series(place, variant))
    }
}

fn set(group: &Group, published: Option<&Published>, palette: &Palette, document: &mut Document) {
    if let Some(any) = group.any() {
        let task = match any.classes {
            0 => "a number".into(),
            classes => format!("{classes} classes"),
        };
        let points = group.series.iter().flat_map(|one| &one.points);
        let mut deltas: Vec<String> = points.filter_map(|one| one.cell.delta).map(short).collect();
        deltas.sort();
        deltas.dedup();
        let delta = match deltas.join(" or ") {
            words if words.is_empty() => words,
            words => format!(", δ = {words}"),
        };
        document.text(format!(
            "{} training records, {} columns, {task}, {} neighbours{delta}. {}",
            thousands(any.rows),
            thousands(any.columns),
            group.neighbours,
            published.and_then(|published| published.data(&group.dataset)).unwrap_or_default()
        ));
    }
    let beside = published.filter(|published| published.comparable(group));
    if !group.series.is_empty() {
        document.blocks.push(Block::Figure(figure(group, beside, palette)));
    }
    if let Some(published) = beside {
        compare::set(group, published, document);
    }
    document.folded(tables::numbers(group));
    document.table(tables::certified(group));
    document.folded(tables::refusals(group));
}

fn figure(group: &Group, published: Option<&Published>, palette: &Palette) -> Figure {
    let measure = Measure(&group.measure);
    let epsilons = group.epsilons();
    let plain = compare::best(group.plain.iter());
    let marks: Vec<(f64, String, f64, Style)> = published
        .into_iter()
        .flat_map(|published| published.of_set(&group.dataset).map(move |row| (published, row)))
        .flat_map(|(published, (epsilon, row))| {
            published.column.iter().filter(|column| published.private(&column.name)).filter_map(
                move |column| {
                    let value = *row.get(&column.name)?;
                    let style = palette.colour(&column.method, 0).unwrap_or(Style::Published);
                    Some((epsilon, column.name.clone(), value, style))
                },
            )
        })
        .collect();
    let mut heights: Vec<f64> = plain.iter().map(|plain| plain.mean).collect();
    for point in group.series.iter().flat_map(|series| &series.points) {
        let error = point.standard_error.unwrap_or(0.0);
        heights.extend([point.mean - error, point.mean + error]);
    }
    heights.extend(marks.iter().map(|mark| mark.2));
    let mut places = epsilons.clone();
    places.extend(marks.iter().map(|mark| mark.0));
    let panels = group.calibrations().into_iter().map(|calibration| Panel {
        title: format!("{calibration} constants"),
        label: format!(
            "{}: {} against ε with {calibration} constants, one line an entry, error bars of one \
             standard error; the numbers are in the table that follows",
            group.dataset,
            measure.axis()
        ),
        x: Axis::logarithmic("ε", &places),
        y: Axis::linear(measure.axis(), &heights),
        lines: lines(group, calibration, palette),
        level: plain.map(|one| (one.mean, format!("without privacy: {}", measure.score(one.mean)))),
        bars: marks
            .iter()
            .map(|(epsilon, name, value, style)| {
                let source = published.map_or("", |published| published.source.as_str());
                let title = format!(
                    "published {name}: {} at ε = {} ({source})",
                    measure.score(*value),
                    short(*epsilon)
                );
                (*epsilon, *value, *style, title)
            })
            .collect(),
    });
    let panels: Vec<Panel> = panels.collect();
    let mut legend: Vec<(Style, String)> = Vec::new();
    for series in &group.series {
        let style = palette.entry(&series.entry);
        if !legend.iter().any(|(known, _)| *known == style) {
            legend.push((style, series.entry.clone()));
        }
    }
    legend.sort_by_key(|(style, _)| match style {
        Style::Ink => (0, 0),
        Style::Series(colour, variant) => (1 + colour, *variant),
        _ => (usize::MAX, 0),
    });
    if plain.is_some() {
        legend.push((Style::Level, "without privacy".into()));
    }
    if !marks.is_empty() {
        legend.push((Style::Published, "published, in its method's colour".into()));
    }
    let caption = format!(
        "{}: {} against ε (logarithmic axis). Bars: one standard error. Hover a mark for its numbers.",
        group.dataset,
        measure.axis()
    );
    Figure { caption, panels, legend }
}

fn lines(group: &Group, calibration: Calibration, palette: &Palette) -> Vec<PlotLine> {
    let drawn = group.series.iter().filter(|series| series.calibration == calibration);
    let mut lines: Vec<PlotLine> = drawn
        .map(|series| PlotLine {
            style: palette.entry(&series.entry),
            points: series
                .points
                .iter()
                .filter_map(|point| {
                    let x = point.cell.epsilon?;
                    Some(PlotPoint {
                        x,
                        y: point.mean,
                        error: point.standard_error,
                        title: format!(
                            "{}, ε = {}: {}{}",
                            series.entry,
                            short(x),
                            score(point),
                            setting(point)
                        ),
                    })
                })
                .collect(),
        })
        .collect();
    // What is looked at first is drawn last, on top.
    lines.sort_by_key(|line| line.style == Style::Ink);
    lines
}

/// The point of the grid, or what `auto` chose.
fn setting(point: &Summary) -> String {
    let settings = point.cell.settings.iter().map(|(name, value)| format!("{name} = {value}"));
    let chosen = point.chosen.keys().cloned();
    let words: Vec<String> = chosen.chain(settings).collect();
    if words.is_empty() { String::new() } else { format!(" ({})", words.join(", ")) }
}
