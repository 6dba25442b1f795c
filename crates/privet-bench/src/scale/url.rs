//! Sparse rows of very many columns, like the URL set of Jain & Thakurta (ICML 2014): 100,000 rows of
//! about 20 million columns, most of which no row has.
//!
//! Rows follow [`Text`]: column j about in proportion to 1/(j + 10). Of the set itself the shape alone
//! is published, so accuracies are not comparable with the paper's. The part shows that such a table can
//! be trained on, and in how much memory: a model is p numbers, the solver holds some more vectors of as
//! many, and noise is added in place as it is drawn.

use super::fit::{FitSettings, fit};
use super::shards::Shards;
use super::{Scale, SizeSelection, line};
use crate::error::BenchError;
use crate::parts::{Emit, Settings};
use privet_catalog::synth::Text;
use privet_data::block::{BLOCK_ROWS, BlockWriter};
use privet_data::encode::{Encoding, UnknownIn};
use privet_data::matrix::MatrixBuilder;
use privet_data::schema::Schema;
use privet_data::{Dataset, Target};
use privet_optim::loss::Loss;
use privet_optim::sum::OnDisk;
use serde_json::json;
use std::path::Path;

/// Memory of passes over files.
const MEMORY: u64 = 750_000_000;
/// The width h of the rounded hinge in the suites of the paper.
const WIDTH: f64 = 0.1;

/// The loss of the paper.
fn loss() -> Loss {
    Loss::HuberSvm { h: WIDTH }
}

/// Its rows and columns; a fraction divides both.
pub(super) fn run(
    suite: &Scale,
    settings: &Settings,
    size: &SizeSelection,
    emit: Emit<'_>,
) -> Result<(), BenchError> {
    let wide = &suite.url;
    let (rows, columns) = (size.rows(wide.rows), size.rows(wide.columns));
    let law = Text {
        features: columns,
        informative: columns / 5,
        entries: wide.entries.min(columns / 10),
        noise: 0.25,
        seed: 20_140_621,
    };
    let schema = Schema::from_toml(&format!(
        "[file]\nformat = \"libsvm\"\n[clip]\nnorm = \"l2\"\nradius = 1.0\n[target]\nclasses = [\"-1\", \"1\"]\n\
         [libsvm]\nfeatures = {columns}\nbounds = [0, 1]\n"
    ))?;
    let (shards, held_out) =
        write_rows(&law, &schema, &settings.work.join("rows"), (rows, wide.held_out))?;
    let table = OnDisk::open_all(&shards.files, MEMORY)?;
    let private = wide
        .epsilons
        .iter()
        .flat_map(|epsilon| wide.methods.iter().map(move |method| (method.as_str(), *epsilon)));
    let mut plain = f64::NAN;
    for (method, epsilon) in [("non-private", 0.0)].into_iter().chain(private) {
        let before = table.passes();
        let ridge = (epsilon == 0.0).then_some(wide.ridge);
        let asked = FitSettings { method, epsilon, delta: Some(wide.delta), loss: loss(), ridge };
        let fitted = fit(&schema, &table, asked, &held_out)?;
        if epsilon == 0.0 {
            plain = fitted.accuracy;
        }
        let facts = json!({
            "size": size.label(), "rows": rows, "columns": columns, "entries": rows * law.entries,
            "method": method, "settled": fitted.settled, "epsilon": epsilon, "delta": wide.delta, "storage": "files",
            "seconds": fitted.seconds, "passes": table.passes() - before, "accuracy": fitted.accuracy,
            "behind": plain - fitted.accuracy, "peak_gigabytes": fitted.peak.map(|peak| peak as f64 / 1e9),
        });
        emit(line("url", &format!("privet {method}"), facts))?;
    }
    Ok(())
}

/// Writes training rows to a file, and keeps test rows in memory.
fn write_rows(
    law: &Text,
    schema: &Schema,
    folder: &Path,
    (rows, held_out): (usize, usize),
) -> Result<(Shards, Vec<Dataset>), BenchError> {
    let mut shards = Shards::empty(folder)?;
    let path = folder.join("000000.rows");
    let mut writer = BlockWriter::create(&path)?;
    let encoding = Encoding::new(schema);
    let mut encoder = encoding.rows(UnknownIn::Training);
    let (mut records, mut record) = (law.records(), Vec::new());
    let mut some = |count: usize| {
        let mut matrix = MatrixBuilder::new(encoding.storage(), encoding.width());
        let mut codes = Vec::with_capacity(count);
        for _ in 0..count {
            codes.push(u32::from(records.next_into(&mut record) > 0.0));
            let pairs = record.iter().map(|(column, x)| (*column as u32, *x));
            matrix.push(encoder.encode_sparse(pairs));
        }
        let (features, target) = (matrix.finish(), Target::Class { codes, count: 2 });
        Dataset { features, target, units: None, report: Default::default() }
    };
    for start in (0..rows).step_by(BLOCK_ROWS) {
        writer.push(&some(BLOCK_ROWS.min(rows - start)))?;
    }
    writer.finish()?;
    shards.files.push(path);
    Ok((shards, vec![some(held_out)]))
}
