//! Results as comma-separated values, full digits: a line a cell, or a line a number of a race.

use super::aggregate::{Summary, summaries};
use super::published::Published;
use super::read::{ReportError, Results};
use crate::line::Cell;
use serde_json::Value;

const CELLS: [&str; 26] = [
    "suite",
    "dataset",
    "rows",
    "columns",
    "classes",
    "entry",
    "method",
    "chosen",
    "calibration",
    "neighbours",
    "epsilon",
    "delta",
    "settings",
    "counts",
    "grid_points",
    "runs",
    "measure",
    "mean",
    "standard_error",
    "certified_epsilon",
    "published_best",
    "seconds",
    "peak_memory_bytes",
    "commit",
    "started",
    "refused",
];

/// The table: of cells, and of races where there are no cells.
pub fn page(results: &[Results]) -> Result<String, ReportError> {
    let cells = results.iter().any(|one| !one.runs.is_empty() || !one.refused.is_empty());
    let mut writer = csv::Writer::from_writer(Vec::new());
    let written =
        if cells { write_cells(results, &mut writer) } else { write_races(results, &mut writer) };
    written.map_err(ReportError::from)?;
    let bytes = writer.into_inner().map_err(|error| ReportError::Write(error.to_string()))?;
    String::from_utf8(bytes).map_err(|error| ReportError::Write(error.to_string()))
}

impl From<csv::Error> for ReportError {
    fn from(error: csv::Error) -> Self {
        Self::Write(error.to_string())
    }
}

type Writer = csv::Writer<Vec<u8>>;

fn write_cells(results: &[Results], writer: &mut Writer) -> Result<(), csv::Error> {
    writer.write_record(CELLS)?;
    for one in results {
        let published = Published::of(&one.suite);
        for summary in summaries(&one.runs) {
            writer.write_record(measured(one, &summary, published))?;
        }
        for refused in &one.refused {
            let mut record = vec![String::new(); CELLS.len()];
            record[0].clone_from(&one.suite);
            place(&refused.cell, &mut record);
            record[13] = "no".into();
            record[15] = "0".into();
            circumstances(one, &mut record);
            record[25].clone_from(&refused.reason);
            writer.write_record(record)?;
        }
    }
    Ok(())
}

fn text<T: ToString>(value: Option<T>) -> String {
    value.map_or_else(String::new, |value| value.to_string())
}

fn place(cell: &Cell, record: &mut [String]) {
    let settings: Vec<String> =
        cell.settings.iter().map(|(name, value)| format!("{name}={value}")).collect();
    record[1].clone_from(&cell.dataset);
    record[5].clone_from(&cell.entry);
    record[6].clone_from(&cell.method);
    record[8] = cell.calibration.to_string();
    record[9] = cell.neighbours.to_string();
    record[10] = text(cell.epsilon);
    record[11] = text(cell.delta);
    record[12] = settings.join(";");
}

fn circumstances(results: &Results, record: &mut [String]) {
    let all = |value: fn(&crate::line::Head) -> &str| {
        let mut found: Vec<&str> = results.heads.iter().map(value).collect();
        found.dedup();
        found.join(";")
    };
    record[23] = all(|head| &head.commit);
    record[24] = all(|head| &head.started);
}

fn measured(results: &Results, summary: &Summary, published: Option<&Published>) -> Vec<String> {
    let mut record = vec![String::new(); CELLS.len()];
    record[0].clone_from(&results.suite);
    place(&summary.cell, &mut record);
    record[2] = summary.rows.to_string();
    record[3] = summary.columns.to_string();
    record[4] = summary.classes.to_string();
    let chosen: Vec<&str> = summary.chosen.keys().map(String::as_str).collect();
    record[7] = chosen.join(";");
    record[13] = if summary.counts { "yes" } else { "no" }.into();
    record[14] = summary.points.to_string();
    record[15] = summary.runs.to_string();
    record[16].clone_from(&summary.measure);
    record[17] = summary.mean.to_string();
    record[18] = text(summary.standard_error);
    record[19] = text(summary.certified);
    let best = published.zip(summary.cell.epsilon).and_then(|(published, epsilon)| {
        published.best(published.at(&summary.cell.dataset, epsilon)?).map(|(_, value)| value)
    });
    record[20] = text(best);
    record[21] = summary.seconds.to_string();
    record[22] = text(summary.peak_memory);
    circumstances(results, &mut record);
    record
}

fn write_races(results: &[Results], writer: &mut Writer) -> Result<(), csv::Error> {
    writer.write_record(["suite", "race", "entrant", "who", "key", "value"])?;
    for one in results {
        for (entrant, race) in one.races.iter().enumerate() {
            for (key, value) in &race.measured {
                let value = match value {
                    Value::String(text) => text.clone(),
                    other => other.to_string(),
                };
                writer.write_record([
                    &one.suite,
                    &race.race,
                    &entrant.to_string(),
                    &race.who,
                    key,
                    &value,
                ])?;
            }
        }
    }
    Ok(())
}
