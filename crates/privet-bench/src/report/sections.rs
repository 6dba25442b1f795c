//! What a report says of a suite: circumstances, an overview, and for each data set a plot, ours beside
//! the published numbers, all numbers, certified ε of printed constants, and refusals.

use super::aggregate::{Group, Summary, grouped, groups, summaries};
use super::compare::{self, heading, score};
use super::document::{Block, Cell, Document, Table, Tone};
use super::plot::{Axis, Figure, Panel, PlotLine, PlotPoint, Style};
use super::published::Published;
use super::race;
use super::read::Results;
use super::words::{Measure, bytes, fixed, seconds, short, thousands};
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
        document.table(costs(&groups));
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
    document.folded(numbers(group));
    document.table(certified(group));
    document.folded(refusals(group));
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

/// Every mean that is plotted.
fn numbers(group: &Group) -> Table {
    let mut table = Table::new(
        format!("All numbers of {}: {} by ε", group.dataset, Measure(&group.measure).axis()),
        &["entry", "constants"],
    );
    let epsilons = group.epsilons();
    for epsilon in &epsilons {
        table.column(short(*epsilon), true);
    }
    for series in &group.series {
        let mut row: Vec<Cell> =
            vec![series.entry.as_str().into(), series.calibration.to_string().into()];
        row.extend(epsilons.iter().map(|epsilon| {
            series.at(Some(*epsilon)).map_or_else(Cell::default, |point| score(point).into())
        }));
        table.rows.push(row);
    }
    for plain in &group.plain {
        let mut row: Vec<Cell> = vec![plain.cell.entry.as_str().into(), "not private".into()];
        row.extend(epsilons.iter().map(|_| Cell::default()));
        if let Some(last) = row.last_mut() {
            *last = score(plain).into();
        }
        table.rows.push(row);
    }
    table
}

/// The ε that certificates prove for printed constants, beside the ε that the papers claim.
fn certified(group: &Group) -> Table {
    let mut table = Table::new(
        "Certified ε of printed constants, by the ε that is claimed (marked where the claim is not proved)",
        &["entry"],
    );
    let epsilons = group.epsilons();
    for epsilon in &epsilons {
        table.column(format!("claimed {}", short(*epsilon)), true);
    }
    for series in group.series.iter().filter(|series| series.calibration == Calibration::Printed) {
        let cells = epsilons.iter().map(|epsilon| match series.at(Some(*epsilon)) {
            Some(point) => {
                let tone = if point.exceeds_claim() { Tone::Warning } else { Tone::Plain };
                Cell::new(point.certified.map_or_else(|| "none".into(), short), tone)
            }
            None => Cell::default(),
        });
        table.rows.push(std::iter::once(series.entry.as_str().into()).chain(cells).collect());
    }
    table
}

/// What learners would not take, in their own words.
fn refusals(group: &Group) -> Table {
    let mut table = Table::new(
        format!("Refused on {}: {} cells", group.dataset, group.refused.len()),
        &["entry", "constants", "ε", "#cells", "reason"],
    );
    let alike = grouped(&group.refused, |one| {
        (one.cell.entry.clone(), one.cell.calibration.to_string(), one.reason.clone())
    });
    for ((entry, calibration, reason), cells) in alike {
        let mut epsilons: Vec<f64> = cells.iter().filter_map(|one| one.cell.epsilon).collect();
        epsilons.sort_by(f64::total_cmp);
        epsilons.dedup();
        let words: Vec<String> = epsilons.iter().map(|epsilon| short(*epsilon)).collect();
        table.rows.push(vec![
            entry.into(),
            calibration.into(),
            words.join(", ").into(),
            cells.len().to_string().into(),
            reason.into(),
        ]);
    }
    table
}

/// Seconds of training by data set and entry, and the largest memory.
fn costs(groups: &[Group]) -> Table {
    let mut table = Table::new(
        "Mean seconds of training (planning apart; all ε, the points that count), and the largest peak \
         memory of the process",
        &["data set", "#records", "#columns"],
    );
    let mut names: Vec<(String, Calibration)> = Vec::new();
    let series = groups.iter().flat_map(|group| &group.series);
    for one in series.map(|series| (series.entry.clone(), series.calibration)) {
        if !names.contains(&one) {
            names.push(one);
        }
    }
    let both = names.iter().any(|(_, one)| *one == Calibration::Printed);
    names.sort_by_key(|(_, calibration)| *calibration == Calibration::Printed);
    for (name, calibration) in &names {
        let printed = both && *calibration == Calibration::Printed;
        table.column(if printed { format!("{name}, printed") } else { name.clone() }, true);
    }
    table.column("without privacy", true);
    table.column("memory", true);
    for group in groups {
        let Some(any) = group.any() else { continue };
        let mean = |points: &[Summary]| {
            let total: f64 = points.iter().map(|point| point.seconds * point.runs as f64).sum();
            let runs: usize = points.iter().map(|point| point.runs).sum();
            if runs > 0 { seconds(total / runs as f64) } else { String::new() }
        };
        let mut row: Vec<Cell> = vec![
            heading(group, groups).into(),
            thousands(any.rows).into(),
            thousands(any.columns).into(),
        ];
        for (name, calibration) in &names {
            let found = group
                .series
                .iter()
                .find(|series| series.entry == *name && series.calibration == *calibration);
            row.push(found.map_or_else(Cell::default, |series| mean(&series.points).into()));
        }
        row.push(mean(&group.plain).into());
        let points = group.series.iter().flat_map(|series| &series.points).chain(&group.plain);
        let memory = points.filter_map(|point| point.peak_memory).max();
        row.push(memory.map_or_else(|| fixed(f64::NAN, 0), |memory| bytes(memory as f64)).into());
        table.rows.push(row);
    }
    table
}
