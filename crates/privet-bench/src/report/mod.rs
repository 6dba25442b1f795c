//! From results files to a page: HTML to read, Markdown for `docs/`, comma-separated values for
//! computation.
//!
//! [`read`] takes the valid lines of the files, [`aggregate`] averages them, [`sections`] presents them
//! as a [`document::Document`] (with [`tables`]), with [`compare`] setting [`published`] numbers beside
//! ours and [`race`] the peers; [`html`] and [`markdown`] render it, [`csv`] writes the means alone.

pub mod aggregate;
pub mod compare;
pub mod csv;
pub mod document;
pub mod formatting;
pub mod html;
pub mod markdown;
mod networks;
pub mod published;
pub mod race;
pub mod read;
pub mod sections;
pub mod tables;

pub use read::{ReportError, Results};
pub use sections::Length;
use std::path::Path;

/// The format of a report.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// One self-contained page.
    Html,
    /// All tables.
    Markdown,
    /// Headlines and overviews, for `docs/`.
    Summary,
    /// A line per cell, full digits.
    Csv,
}

/// A report of the results in several folders.
pub fn report<P: AsRef<Path>>(folders: &[P], format: Format) -> Result<Report, ReportError> {
    let results: Vec<Results> =
        folders.iter().map(|folder| Results::read(folder.as_ref())).collect::<Result<_, _>>()?;
    if results.is_empty() {
        return Err(ReportError::Nothing);
    }
    Ok(Report { text: write_report(&results, format)?, notices: notices(&results, format) })
}

/// A report, with warnings for its reader.
#[derive(Debug, Clone)]
pub struct Report {
    /// The text of the report.
    pub text: String,
    /// Faults of the results files, and omissions of the report.
    pub notices: Vec<String>,
}

/// A report of results.
pub fn write_report(results: &[Results], format: Format) -> Result<String, ReportError> {
    match format {
        Format::Html => {
            Ok(html::page(&title(results), &sections::document(results, Length::Whole)))
        }
        Format::Markdown => {
            Ok(markdown::page("Results", &sections::document(results, Length::Whole)))
        }
        Format::Summary => {
            Ok(markdown::page("Results", &sections::document(results, Length::Short)))
        }
        Format::Csv => csv::page(results),
    }
}

fn title(results: &[Results]) -> String {
    let names: Vec<&str> = results.iter().map(|result| result.suite.as_str()).collect();
    format!("privet benchmark: {}", names.join(", "))
}

fn notices(results: &[Results], format: Format) -> Vec<String> {
    let mut notices: Vec<String> =
        results.iter().flat_map(|result| result.notices.clone()).collect();
    let cells = results.iter().any(Results::has_cells);
    if format == Format::Csv && cells && results.iter().any(|result| !result.races.is_empty()) {
        notices.push(
            "races are left out of a table of cells; give their folder alone to have them".into(),
        );
    }
    notices
}
