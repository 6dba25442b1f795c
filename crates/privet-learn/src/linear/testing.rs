//! Tables and schemas for tests of learners.

use crate::{Erm, Method, Request};
use privet_core::{Budget, Neighbours};
use privet_data::{Dataset, Schema, read};
use privet_dp::noise::{FixedSeed, Source};
use privet_optim::loss::Loss;

/// The number of columns of a table, the constant one not counted.
pub const COLUMNS: usize = 6;

/// A request for six numbers within ±1, a constant column, and a target; a unit of at most `most`
/// records, or a record a unit.
pub fn request(
    target: &str,
    method: Method,
    (rows, most): (usize, Option<u32>),
    neighbours: Neighbours,
) -> Request {
    let mut text = format!(
        "bias = true\n[clip]\nnorm = \"l2\"\nradius = 1.5\n[target]\ncolumn = \"y\"\n{target}\n"
    );
    if let Some(most) = most {
        text += &format!("[unit]\ncolumn = \"who\"\nmax_records = {most}\n");
    }
    for column in 0..COLUMNS {
        text += &format!(
            "[[columns]]\nname = \"x{column}\"\ntype = \"number\"\nbounds = [-1, 1]\nscale = \"symmetric\"\n"
        );
    }
    let loss = if target.starts_with("classes") { Loss::Logistic } else { Loss::SQUARED };
    let schema = Schema::from_toml(&text).unwrap();
    Request::new(schema, rows as u64, neighbours, Erm { loss, method })
        .with_budget(Budget::new(1.0, 1e-6).unwrap())
}

/// Random rows, each a unit of its own, and the given last lines.
pub fn table(request: &Request, rows: std::ops::Range<usize>, seed: u64, last: &str) -> Dataset {
    let mut source = FixedSeed::new(seed);
    let mut cell = |low: f64, high: f64| low + (high - low) * source.below(1001) as f64 / 1000.0;
    let names: Vec<_> = (0..COLUMNS).map(|column| format!("x{column}")).collect();
    let units = request.schema.to_toml().contains("[unit]");
    let mut text = format!("{},y{}\n", names.join(","), if units { ",who" } else { "" });
    for row in rows {
        let cells: Vec<_> = (0..COLUMNS).map(|_| cell(-1.0, 1.0).to_string()).collect();
        let label = match request.schema.classes() {
            Some(classes) => classes[cell(0.0, 1000.0) as usize % classes.len()].clone(),
            None => cell(-2.0, 2.0).to_string(),
        };
        let unit = if units { format!(",{row}") } else { String::new() };
        text += &format!("{},{label}{unit}\n", cells.join(","));
    }
    read::csv_bytes(format!("{text}{last}").as_bytes(), &request.schema).unwrap()
}
