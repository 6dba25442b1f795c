//! The report of a suite: circumstances, an overview, and for each data set a plot, ours beside the
//! published numbers, all numbers, certified ε of printed constants, and refusals.

use super::aggregate::{Group, Summary, grouped, groups, summaries};
use super::compare::{self, heading, score};
use super::document::{Block, Document, Rows, Table};
use super::formatting::{Measure, bytes, thousands, three_digits};
use super::networks;
use super::published::Published;
use super::race;
use super::read::Results;
use super::tables;
use crate::line::Head;
use crate::suite::Peer;
use privet_cli::page::panel::{Axis, Figure, Panel, PlotLine, PlotPoint, Style};
use privet_learn::Calibration;
use std::collections::{BTreeMap, BTreeSet};

/// The extent of the report.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Length {
    /// Every data set with all its numbers.
    Whole,
    /// Headlines and overviews; all numbers are in a file of comma-separated values.
    Short,
}

/// The report of several results files: the main results first, the circumstances last.
pub fn document(results: &[Results], length: Length) -> Document {
    let mut document = Document::default();
    let found: Vec<Vec<Group>> = results.iter().map(groups_of).collect();
    document.table(headline(results, &found));
    let palette = Palette::new(found.iter().flatten());
    for (one, groups) in results.iter().zip(&found) {
        suite(one, groups, &palette, length, &mut document);
    }
    if length == Length::Short {
        document.text("All numbers, with full digits: privet-bench report --csv, in results.csv beside this page.");
    }
    document.heading(2, "How these numbers came about");
    document.text(
        "Made by privet-bench report from results files; nothing here is typed by hand but the published \
         numbers and the sentences on why results differ from them, which are part of the program.",
    );
    results.iter().flat_map(|result| &result.notices).for_each(|notice| document.notice(notice));
    match length {
        Length::Whole => document.collapsed_table(circumstances(results, false)),
        Length::Short => document.table(circumstances(results, true)),
    }
    document
}

fn groups_of(results: &Results) -> Vec<Group> {
    groups(&summaries(&results.runs), &results.refused)
}

/// The ε of the headlines: the measured one that is nearest to this.
const HEADLINE: f64 = 1.0;

/// One data set: ours, the best of others, and without privacy.
struct Line<'a> {
    suite: &'a str,
    group: &'a Group,
    epsilon: f64,
    other: Option<String>,
}

/// Ours beside the best peer and no privacy, a line per data set.
fn headline<'a>(results: &'a [Results], found: &'a [Vec<Group>]) -> Rows<Line<'a>> {
    let lines = results.iter().zip(found).flat_map(|(one, groups)| {
        let published = Published::of(&one.suite);
        groups.iter().filter_map(move |group| {
            let far = |epsilon: &f64| (epsilon / HEADLINE).ln().abs();
            let epsilons = group.epsilons();
            let epsilon = *epsilons.iter().min_by(|a, b| far(a).total_cmp(&far(b)))?;
            let measure = Measure(&group.measure);
            let at = |point: &&Summary| point.cell.epsilon == Some(epsilon);
            let peers = group.points().filter(at);
            let peers = peers.filter(|point| Peer::by_name(&point.cell.method).is_some());
            let peer = compare::best_result(peers)
                .map(|best| format!("{} ({})", score(best), best.cell.entry));
            let printed = published
                .filter(|published| published.comparable(group))
                .and_then(|published| published.best(published.at(&group.dataset, epsilon)?))
                .map(|(name, value)| format!("{} (published {name})", measure.score(value)));
            Some(Line { suite: &one.suite, group, epsilon, other: peer.or(printed) })
        })
    });
    Table::of(
        "In short: privet with proved constants, the best of others, and without privacy",
        lines,
    )
    .text_column("data set", |line| line.group.dataset.as_str())
    .text_column("suite", |line| line.suite)
    .text_column("measure", |line| Measure(&line.group.measure).axis())
    .numbers("ε", |line| three_digits(line.epsilon))
    .numbers("privet", |line| {
        let ours = line.group.series.iter().filter(|series| {
            series.calibration == Calibration::Sound && Peer::by_name(&series.method).is_none()
        });
        let points = ours.flat_map(|series| &series.points);
        let best =
            compare::best_result(points.filter(|point| point.cell.epsilon == Some(line.epsilon)));
        let told =
            best.map_or("–".into(), |best| format!("{} ({})", score(best), best.cell.entry));
        super::document::Cell::new(told, super::document::Tone::Strong)
    })
    .numbers("best of others", |line| line.other.clone().unwrap_or_else(|| "–".into()))
    .numbers("without privacy", |line| {
        compare::without_privacy(line.group).map_or("–".into(), score)
    })
}

/// A line per head; in short, a line per commit of a suite.
fn circumstances(results: &[Results], short: bool) -> Rows<&Head> {
    let mut heads: Vec<&Head> = results.iter().flat_map(|result| &result.heads).collect();
    if short {
        heads.dedup_by(|next, kept| next.suite == kept.suite && next.commit == kept.commit);
    }
    Table::of("Circumstances; a suite that was taken up again has several lines", heads)
        .text_column("suite", |head| head.suite.as_str())
        .text_column("started (UTC)", |head| {
            head.started.replace('T', " ").trim_end_matches('Z').to_owned()
        })
        .text_column("commit", |head| head.commit.chars().take(12).collect::<String>())
        .text_column("privet", |head| head.version.as_str())
        .text_column("compiler", |head| head.compiler.as_str())
        .text_column("processor", |head| head.machine.processor.as_str())
        .numbers("cores", |head| head.machine.cores.to_string())
        .numbers("memory", |head| bytes(head.machine.memory.map_or(f64::NAN, |size| size as f64)))
        .text_column("system", |head| head.machine.system.as_str())
}

fn suite(
    results: &Results,
    groups: &[Group],
    palette: &Palette,
    length: Length,
    document: &mut Document,
) {
    document.heading(2, format!("Suite {}", results.suite));
    let summaries = summaries(&results.runs);
    if !groups.is_empty() {
        let published = Published::of(&results.suite);
        document.text(method(&summaries, published));
        if let Some(published) = published {
            document.table(compare::overview(groups, published));
        }
        document.table(tables::answered_table(groups));
        networks::sections(groups, document);
        document.table(tables::costs(groups));
        if length == Length::Whole {
            for group in groups {
                document.heading(3, heading(group, groups));
                set(group, published, palette, document);
            }
        }
    }
    race::sections(&results.races, document);
}

/// The method of the measurements.
fn method(summaries: &[Summary], published: Option<&Published>) -> String {
    let private =
        summaries.iter().filter(|summary| summary.counts && summary.cell.epsilon.is_some());
    let runs = private.map(|one| one.runs);
    let (least, most) = (runs.clone().min().unwrap_or(0), runs.max().unwrap_or(0));
    let runs = if least == most { most.to_string() } else { format!("{least} to {most}") };
    let tuned = if summaries.iter().any(|summary| !summary.cell.settings.is_empty()) {
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
         them.{tuned}{published}{}",
        peers(summaries)
    )
}

/// The peers, and the scope of their guarantees.
fn peers(summaries: &[Summary]) -> String {
    let named = grouped(summaries, |one| Peer::by_name(&one.cell.method));
    let words = named.into_iter().filter_map(|(peer, found)| {
        let versions: BTreeSet<&str> =
            found.iter().flat_map(|one| one.chosen.keys().map(String::as_str)).collect();
        let versions = versions.into_iter().collect::<Vec<_>>().join(", ");
        let peer = peer?;
        Some(format!(" {} ({versions}) {}", peer.name(), peer.remark()))
    });
    let words: Vec<String> = words.collect();
    match words[..] {
        [] => String::new(),
        _ => format!(
            " Peers fit and predict in their own packages on the same records; their promises are theirs, \
             and nothing here checks them.{}",
            words.concat()
        ),
    }
}

/// The style of each line, the same in all plots of a page: colour by learner, dashes where it has
/// several entries and where it is tuned. By learner its entries, each with its variant.
struct Palette(Vec<(String, Vec<(String, usize)>)>);

impl Palette {
    fn new<'a>(groups: impl Iterator<Item = &'a Group>) -> Self {
        let series = groups.flat_map(|group| &group.series);
        let learners = grouped(series.filter(|series| series.method != "auto"), |series| {
            series.method.clone()
        });
        let entries = learners.into_iter().map(|(method, series)| {
            let entries = grouped(series, |series| series.entry.clone()).into_iter().enumerate();
            let variant = entries
                .map(|(place, (entry, series))| (entry, place.max(usize::from(series[0].tuned()))));
            (method, variant.collect())
        });
        Self(entries.collect())
    }

    fn entry(&self, entry: &str) -> Style {
        let entries = self.0.iter().enumerate().flat_map(|(place, (_, entries))| {
            entries.iter().map(move |(known, variant)| (known, Style::Series(place, *variant)))
        });
        let mut found = entries.filter(|(known, _)| *known == entry);
        found.next().map_or(Style::Ink, |(_, style)| style)
    }

    fn learner(&self, method: &str) -> Style {
        let place = self.0.iter().position(|(known, _)| known == method);
        place.map_or(Style::Published, |place| Style::Series(place, 0))
    }
}

fn set(group: &Group, published: Option<&Published>, palette: &Palette, document: &mut Document) {
    if let Some(any) = group.any() {
        let task = match any.classes {
            0 => "a number".into(),
            classes => format!("{classes} classes"),
        };
        let deltas = group.points().filter_map(|one| one.cell.delta);
        let mut deltas: Vec<String> = deltas.map(three_digits).collect();
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
    document.collapsed_table(tables::numbers(group));
    document.table(tables::certified(group));
    document.collapsed_table(tables::refusals(group));
}

/// A published number beside the marks of its learner.
struct PublishedMark {
    epsilon: f64,
    value: f64,
    style: Style,
    title: String,
}

/// The published numbers of a group with privacy.
fn marks(group: &Group, published: &Published, palette: &Palette) -> Vec<PublishedMark> {
    let columns = |(epsilon, row): (f64, &BTreeMap<String, f64>)| {
        let private =
            published.column.iter().filter(|column| published.is_private_column(&column.name));
        let marks = private.filter_map(|column| {
            let value = *row.get(&column.name)?;
            let score = Measure(&group.measure).score(value);
            let (name, source) = (&column.name, &published.source);
            let title =
                format!("published {name}: {score} at ε = {} ({source})", three_digits(epsilon));
            Some(PublishedMark { epsilon, value, style: palette.learner(&column.method), title })
        });
        marks.collect::<Vec<_>>()
    };
    published.of_set(&group.dataset).flat_map(columns).collect()
}

fn figure(group: &Group, published: Option<&Published>, palette: &Palette) -> Figure {
    let measure = Measure(&group.measure);
    let (name, axis) = (&group.dataset, measure.axis());
    let plain = compare::without_privacy(group);
    let marks = published.map_or_else(Vec::new, |published| marks(group, published, palette));
    let mut heights: Vec<f64> = plain.iter().map(|plain| plain.mean).collect();
    for point in group.series.iter().flat_map(|series| &series.points) {
        let error = point.standard_error.unwrap_or(0.0);
        heights.extend([point.mean - error, point.mean + error]);
    }
    heights.extend(marks.iter().map(|mark| mark.value));
    let mut places = group.epsilons();
    places.extend(marks.iter().map(|mark| mark.epsilon));
    let panels = group.calibrations().into_iter().map(|calibration| Panel {
        title: format!("{calibration} constants"),
        label: format!(
            "{name}: {axis} against ε with {calibration} constants, one line an entry, error bars of one \
             standard error; the numbers are in the table that follows",
        ),
        x: Axis::logarithmic("ε", &places),
        y: Axis::linear(&axis, &heights),
        lines: lines(group, calibration, palette),
        level: plain.map(|one| (one.mean, format!("without privacy: {}", measure.score(one.mean)))),
        bars: marks
            .iter()
            .map(|mark| (mark.epsilon, mark.value, mark.style, mark.title.clone()))
            .collect(),
    });
    let styles = grouped(&group.series, |series| palette.entry(&series.entry));
    let mut legend: Vec<(Style, String)> =
        styles.into_iter().map(|(style, series)| (style, series[0].entry.clone())).collect();
    legend.sort_by_key(|(style, _)| *style);
    legend.extend(plain.map(|_| (Style::Level, "without privacy".into())));
    if !marks.is_empty() {
        legend.push((Style::Published, "published, in its method's colour".into()));
    }
    let caption = format!(
        "{name}: {axis} against ε (logarithmic axis). Bars: one standard error. Hover a mark for its numbers."
    );
    Figure { caption, panels: panels.collect(), legend }
}

fn lines(group: &Group, calibration: Calibration, palette: &Palette) -> Vec<PlotLine> {
    let drawn = group.series.iter().filter(|series| series.calibration == calibration);
    let mut lines: Vec<PlotLine> = drawn
        .map(|series| {
            let points = series.points.iter().filter_map(|point| {
                let x = point.cell.epsilon?;
                let (score, setting) = (score(point), setting(point));
                let title = format!("{}, ε = {}: {score}{setting}", series.entry, three_digits(x));
                Some(PlotPoint { x, y: point.mean, error: point.standard_error, title })
            });
            PlotLine { style: palette.entry(&series.entry), points: points.collect() }
        })
        .collect();
    // The main line is drawn last, on top.
    lines.sort_by_key(|line| line.style == Style::Ink);
    lines
}

/// The point of the grid, or the choice of `auto`.
fn setting(point: &Summary) -> String {
    let settings = point.cell.settings.iter().map(|(name, value)| format!("{name} = {value}"));
    let chosen = point.chosen.keys().cloned();
    let words: Vec<String> = chosen.chain(settings).collect();
    if words.is_empty() { String::new() } else { format!(" ({})", words.join(", ")) }
}
