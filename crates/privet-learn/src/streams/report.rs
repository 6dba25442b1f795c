//! What is said of the newest release of a stream.

use super::tally::Tally;
use super::{Online, Stream};
use crate::release::family::Family;
use crate::release::released::Released;
use crate::release::report::{Part, Report, Section, number};
use crate::release::task::Task;
use privet_core::printable;
use privet_data::Encoding;
use serde_json::json;

impl Family for Online {
    const VERB: &'static str = "online";
    const NOUN: &'static str = "model";

    fn report(stream: &Released<Self>) -> Report {
        let request = stream.request();
        let columns = Encoding::new(&request.schema).column_names();
        let names: Vec<String> = match request.schema.classes() {
            Some(classes) if classes.len() > 2 => {
                let of = |class: &String| {
                    let class = printable(class).to_string();
                    columns.iter().map(move |name| format!("{class}: {name}")).collect::<Vec<_>>()
                };
                classes.iter().flat_map(of).collect()
            }
            _ => columns,
        };
        Report::new(
            format!(
                "The newest of the models that were learnt from a stream of up to {} records, all of which may be \
                 known.",
                request.rows
            ),
            vec![Section::new("Newest model", [newest(stream.artefact(), &names)])],
            json!({}),
        )
    }
}

impl Family for Tally {
    const VERB: &'static str = "online";
    const NOUN: &'static str = "counts";

    fn report(tally: &Released<Self>) -> Report {
        let request = tally.request();
        let names = Self::facts(request).map(|facts| facts.cells.names).unwrap_or_default();
        Report::new(
            format!(
                "How many records of each category of \"{}\" had come, of a stream of up to {}; all its counts may be \
                 known.",
                printable(&request.task.by),
                request.rows
            ),
            vec![Section::new("Newest counts", [newest(tally.artefact(), &names)])],
            json!({}),
        )
    }
}

/// The newest release of a stream, a line a number.
fn newest(stream: &Stream, names: &[String]) -> Part {
    let (Some(after), Some(values)) = (stream.after.last(), stream.last()) else {
        return Part::Lines("  nothing was released yet\n".into());
    };
    let mut rows = vec![vec![format!("after step {after}"), String::new()]];
    rows.extend(names.iter().zip(values).map(|(name, value)| vec![name.clone(), number(*value)]));
    Part::Table(rows)
}
