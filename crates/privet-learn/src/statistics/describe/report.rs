//! What is said of a described table.

use super::{BINS, Bin, ColumnSummary, Describe, Kind, Summary};
use crate::LearnError;
use crate::release::family::{BudgetOptions, Family, OfferedFamily};
use crate::release::registry::NoLearner;
use crate::release::released::Released;
use crate::release::report::{Part, Report, Section, cut_text, number, release_json};
use crate::release::request::Request;
use crate::release::settings::SettingInfo;
use privet_data::Schema;
use serde_json::json;

impl Family for Describe {
    const VERB: &'static str = "describe";
    const NOUN: &'static str = "description";
    const ENCODED: bool = false;

    fn report(described: &Released<Self>) -> Report {
        let request = described.request();
        let summary = Summary::of(request, described.artefact());
        let columns = request.task.columns.as_ref().map_or(0, Vec::len);
        Report::new(
            format!(
                "What {columns} columns of a table look like: counts, means, quantiles, histograms, correlations."
            ),
            vec![Section::new("Columns", summary.as_ref().map_or(Vec::new(), parts))],
            release_json(request, json!({ "summary": summary, "bins": request.task.bins })),
        )
        .showing("description", &summary)
    }
}

impl OfferedFamily for Describe {
    const HELP_LINE: &'static str = "Describe a table privately: counts, means, quantiles, histograms, correlations, in one release";
    const HELP_TEXT: &'static str = "\
Describes the columns that the schema declares: how many records are in each category, and of
each number its mean, spread, quantiles and histogram within the declared bounds, how often it
is missing, and how numbers are correlated. All of it is one release with one certificate:
every sum that it is made of gets the same noise, and every number is shown with what the
noise alone may have done to it. Bounds and categories come from the schema, never from the
records; values beyond the bounds count as the nearest bound.

What is left out costs nothing: with fewer --columns, or without correlations, the same budget
buys less noise. Stand-ins that the schema declares for missing cells are not used here: those
cells are counted.

Everything spent on the same records adds up: a description of ε = 0.2 and a model of ε = 1
reveal as much as ε = 1.2. `privet verify` and `privet inspect` take the file as they take a
model's.";
    const EXAMPLES: &'static str = "\
Examples:
  privet describe table.csv --schema s.toml --epsilon 0.2 --out table.json
  privet describe table.csv --schema s.toml --epsilon 0.2 --columns age,work --out two.json
  privet describe table.csv --schema s.toml --epsilon 0.5 --delta 0 --correlations no \\
      --out pure.json --json";
    const OF_EPSILON: &'static str = " of the whole description";
    const OF_DELTA: &'static str =
        "; 0 needs far more noise where there are many columns [default: 1/rows²]";
    type Learner = NoLearner;
    const REQUEST_FIELDS: &'static [SettingInfo] = &[
        SettingInfo::texts("columns", "Only these columns, the target among them if it is named"),
        SettingInfo::integer(
            BINS,
            "Bins of each histogram, evenly over the bounds; 32 unless given",
        ),
        SettingInfo::yes_or_no(
            "correlations",
            "Whether numbers are correlated with each other: yes or no [default: yes for 2 to 24 numbers]",
        ),
    ];

    fn build_request(
        self,
        budget: &BudgetOptions,
        schema: &Schema,
        rows: u64,
    ) -> Result<Request<Self>, LearnError> {
        self.request(schema, rows, budget.neighbours, (budget.epsilon, budget.delta))
    }
}

/// How wide a name may be.
const NAME: usize = 12;
/// How wide a number may be.
const CELL: usize = 7;
/// How wide a histogram is drawn.
const DRAWN: usize = 16;
/// Categories shown of a column.
const CATEGORIES: usize = 12;
/// Pairs of numbers shown.
const PAIRS: usize = 15;

/// The description for people, in 80 columns.
fn parts(summary: &Summary) -> Vec<Part> {
    let mut parts = vec![Part::Lines(rows_in_words(summary))];
    let numbers = summary.columns.iter().filter_map(number_rows).flatten();
    let numbers: Vec<Vec<String>> = numbers.collect();
    if !numbers.is_empty() {
        let head = ["number", "mean", "spread", "25 %", "median", "75 %", "histogram"];
        let rows: Vec<Vec<String>> =
            std::iter::once(head.map(String::from).to_vec()).chain(numbers).collect();
        parts.extend([gap(), Part::Table(rows)]);
    }
    for column in &summary.columns {
        parts.extend(category_rows(column, summary.margin));
        parts.extend(missing_row(column, summary.margin));
    }
    parts.extend(correlation_rows(summary));
    parts
}

/// An empty line.
fn gap() -> Part {
    Part::Lines("\n".into())
}

fn rows_in_words(summary: &Summary) -> String {
    let within = number(summary.margin.ceil());
    let rows = &summary.rows;
    let first = match rows.low == rows.high {
        true => format!("{} rows (public).", rows.value),
        false => format!("{} rows, ± {within}.", number(rows.value.round())),
    };
    format!(
        "{first}\n\
         Every count is within ± {within} of the truth in 95 of 100 releases, and under each\n\
         number stands how far the noise alone may have moved it. A quantile is known\n\
         to a bin at best; a count below 0 is noise around next to nobody.\n"
    )
}

/// A number's line, and one with what the noise may have done.
fn number_rows(column: &ColumnSummary) -> Option<[Vec<String>; 2]> {
    let Kind::Number { mean, deviation, quantiles, histogram, bounds, .. } = &column.kind else {
        return None;
    };
    let span = bounds[1] - bounds[0];
    let (mut line, mut noise) = (vec![cut_text(&column.name, NAME)], vec![String::new()]);
    let quantiles = quantiles[1..4].iter().map(|one| (one.value, one.low, one.high));
    let moments = [mean, deviation].map(|one| (one.value, one.low, one.high));
    for (value, low, high) in moments.into_iter().chain(quantiles) {
        let margin = (value - low).max(high - value);
        line.push(short(value, margin));
        noise.push(format!("±{}", short(margin, margin)));
    }
    line.push(drawn(histogram));
    noise.push(format!("{} to {}", short(bounds[0], span), short(bounds[1], span)));
    Some([line, noise])
}

fn category_rows(column: &ColumnSummary, margin: f64) -> Vec<Part> {
    let Kind::Category { cells } = &column.kind else { return Vec::new() };
    let most = cells.iter().fold(1.0_f64, |most, cell| most.max(cell.count));
    let mut shown: Vec<_> = cells.iter().collect();
    if shown.len() > CATEGORIES {
        shown.sort_by(|a, b| b.count.total_cmp(&a.count));
    }
    let mut rows =
        vec![vec![cut_text(&column.name, 30), "count".into(), "±".into(), String::new()]];
    for cell in shown.iter().take(CATEGORIES) {
        let bar = "█".repeat((20.0 * (cell.count / most).clamp(0.0, 1.0)).round() as usize);
        rows.push(vec![
            cut_text(&cell.category, 30),
            number(cell.count.round()),
            number(margin.ceil()),
            bar,
        ]);
    }
    let mut parts = vec![gap(), Part::Table(rows)];
    if cells.len() > CATEGORIES {
        let more = format!("(the largest of {}; all are in the file)\n", cells.len());
        parts.push(Part::Lines(more));
    }
    parts
}

fn missing_row(column: &ColumnSummary, margin: f64) -> Option<Part> {
    let Kind::Number { missing: Some(missing), .. } = &column.kind else { return None };
    let (count, within) = (number(missing.value.round()), number(margin.ceil()));
    let name = cut_text(&column.name, 40);
    Some(Part::Lines(format!("\n{name} is missing in {count} ± {within} records\n")))
}

fn correlation_rows(summary: &Summary) -> Vec<Part> {
    let all = &summary.correlations;
    if all.is_empty() {
        return Vec::new();
    }
    let mut strongest: Vec<_> = all.iter().collect();
    strongest.sort_by(|a, b| b.estimate.value.abs().total_cmp(&a.estimate.value.abs()));
    let head = ["correlation of", "and", "is", "from", "to"].map(String::from).to_vec();
    let mut rows = vec![head];
    for pair in strongest.iter().take(PAIRS) {
        let shown = |value: f64| format!("{value:.2}");
        let e = &pair.estimate;
        rows.push(vec![
            cut_text(&pair.first, 24),
            cut_text(&pair.second, 24),
            shown(e.value),
            shown(e.low),
            shown(e.high),
        ]);
    }
    let mut parts = vec![gap(), Part::Table(rows)];
    if all.len() > PAIRS {
        let more = format!("(the largest of {} pairs; all are in the file)\n", all.len());
        parts.push(Part::Lines(more));
    }
    parts
}

/// A number with the digits that what it may be off by leaves any sense, no wider than a cell.
fn short(value: f64, margin: f64) -> String {
    let places = if margin > 0.0 { 1 - margin.log10().floor() as i32 } else { 3 };
    let digits = places.clamp(0, 6) as usize;
    let text = format!("{value:.digits$}");
    if text.chars().count() <= CELL { text } else { format!("{value:.1e}") }
}

/// A histogram as bars of eighths, bins put together until they fit.
fn drawn(histogram: &[Bin]) -> String {
    let together = histogram.len().div_ceil(DRAWN).max(1);
    let sums: Vec<f64> = histogram
        .chunks(together)
        .map(|bins| bins.iter().map(|bin| bin.count).sum::<f64>().max(0.0))
        .collect();
    let most = sums.iter().fold(0.0_f64, |most, sum| most.max(*sum));
    const BARS: [char; 9] = [' ', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
    let bar = |sum: &f64| match most > 0.0 {
        true => BARS[((8.0 * sum / most).round() as usize).min(8)],
        false => ' ',
    };
    sums.iter().map(bar).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_names_stay_within_their_cells() {
        for (value, margin, shown) in [
            (38.5817, 120.0, "39"),
            (38.5817, 0.061, "38.582"),
            (0.123456, 1.0, "0.1"),
            (-1234.5, 99_999.0, "-1234"),
            (12_345_678_901.0, 1e11, "1.2e10"),
        ] {
            assert_eq!(short(value, margin), shown);
        }
        assert_eq!(cut_text("a name that is long", 6), "a nam…");
        let bins = |counts: &[f64]| -> Vec<Bin> {
            counts.iter().map(|count| Bin { from: 0.0, to: 1.0, count: *count }).collect()
        };
        assert_eq!(drawn(&bins(&[0.0, 4.0, 8.0, -3.0])), " ▄█ ");
        assert_eq!(drawn(&bins(&[1.0; 32])).chars().count(), 16);
        assert_eq!(drawn(&bins(&[-1.0, 0.0])), "  ");
    }
}
