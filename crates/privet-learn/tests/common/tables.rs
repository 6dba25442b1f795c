//! The small table, other storages of it, and its neighbours.

use super::SCHEMA;
use privet_core::Neighbours;
use privet_data::block::BlockWriter;
use privet_data::matrix::{CsrMatrix, DenseMatrix, Matrix};
use privet_data::{Dataset, Schema, Target, read};
use privet_dp::noise::{FixedSeed, Source};
use privet_optim::sum::OnDisk;

/// The small schema: 1 is a number, otherwise the number of classes; units of at most `users` rows, or
/// records.
pub fn schema(classes: u32, users: Option<u32>) -> Schema {
    let mut text = match classes {
        1 => SCHEMA.replace(r#"classes = ["no", "yes"]"#, "bounds = [-2, 2]"),
        2 => SCHEMA.into(),
        _ => SCHEMA.replace(r#"["no", "yes"]"#, r#"["no", "yes", "perhaps"]"#),
    };
    if let Some(most) = users {
        text.push_str(&format!("[unit]\ncolumn = \"who\"\nmax_records = {most}\n"));
    }
    Schema::from_toml(&text).unwrap()
}

/// The same with numbers at levels, as `placed-gd` needs them.
pub fn levelled(schema: Schema) -> Schema {
    let mut document: serde_json::Value = serde_json::to_value(schema).unwrap();
    document["clip"]["radius"] = 3.into();
    document["storage"] = "dense".into();
    for column in document["columns"].as_array_mut().unwrap() {
        if column["type"] == "number" {
            column["basis"] = serde_json::json!({ "hats": 241 });
        }
    }
    serde_json::from_value(document).unwrap()
}

/// Rows whose label is mostly the sign of 2a − b; with three classes, "perhaps" where b is large; as a
/// number, half of 2a − b with noise.
pub fn data(rows: usize, classes: u32, seed: u64) -> Dataset {
    table(rows, classes, None, seed)
}

/// The same, with as many rows a unit as allowed.
pub fn table(rows: usize, classes: u32, users: Option<u32>, seed: u64) -> Dataset {
    let text = csv(rows, classes, users, seed);
    read::csv_bytes(text.as_bytes(), &schema(classes, users)).unwrap()
}

/// The same as a file.
pub fn csv(rows: usize, classes: u32, users: Option<u32>, seed: u64) -> String {
    let mut source = FixedSeed::new(seed);
    let mut text = String::from(if users.is_some() { "a,b,y,who\n" } else { "a,b,y\n" });
    for row in 0..rows {
        let (a, b, e) = (uniform(&mut source), uniform(&mut source), uniform(&mut source));
        let score = 2.0 * a - b + 0.3 * e;
        let label = match score > 0.0 {
            _ if classes == 1 => (score / 2.0).to_string(),
            _ if classes > 2 && b > 0.4 => "perhaps".into(),
            true => "yes".into(),
            false => "no".into(),
        };
        let who = users.map_or(String::new(), |most| format!(",u{}", row / most as usize));
        text.push_str(&format!("{a},{b},{label}{who}\n"));
    }
    text
}

/// The same rows, compressed.
pub fn sparse(data: &Dataset) -> Dataset {
    let matrix = &data.features;
    let (mut starts, mut indices, mut values) = (vec![0], vec![], vec![]);
    for row in 0..matrix.rows() {
        for (j, x) in matrix.dense_row(row).into_iter().enumerate().filter(|(_, x)| *x != 0.0) {
            indices.push(j as u32);
            values.push(x);
        }
        starts.push(indices.len());
    }
    let csr = CsrMatrix::new(starts, indices, values, matrix.columns());
    Dataset { features: Matrix::Csr(csr), ..data.clone() }
}

/// With the entries of a dense table changed.
pub fn with_values(data: &Dataset, change: impl FnOnce(&mut [f32], usize)) -> Dataset {
    let Matrix::Dense(dense) = &data.features else { panic!("not dense") };
    let (mut values, columns) = (dense.values().to_vec(), dense.columns());
    change(&mut values, columns);
    let features = Matrix::Dense(DenseMatrix::new(values, data.rows(), columns));
    Dataset { features, ..data.clone() }
}

/// With an entry that is no multiple of the declared unit, so that exact sums are impossible.
pub fn off_grid(data: &Dataset) -> Dataset {
    with_values(data, |values, _| values[5] = 1e-9)
}

/// Change of the records by which neighbours differ. Their labels change in any case.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change {
    Removed,
    Fresh,
    Opposite,
    /// A copy of another record.
    Duplicate,
    Zero,
    /// The whole norm in one column.
    Axis,
    /// The label alone.
    Label,
}

impl Change {
    pub const ALL: [Self; 7] = [
        Self::Removed,
        Self::Fresh,
        Self::Opposite,
        Self::Duplicate,
        Self::Zero,
        Self::Axis,
        Self::Label,
    ];

    pub fn neighbours(self) -> Neighbours {
        if self == Self::Removed { Neighbours::AddRemove } else { Neighbours::ReplaceOne }
    }

    /// Of the records from `first` on, `count` of them; `fresh` is another table of that size.
    pub fn of(self, whole: &Dataset, first: usize, count: usize, fresh: &Dataset) -> Dataset {
        let rows = whole.rows();
        let moved = first..first + count;
        if self == Self::Removed {
            let kept: Vec<_> = (0..rows).filter(|row| !moved.contains(row)).collect();
            return whole.select(&kept);
        }
        let mut changed = with_values(whole, |values, columns| {
            for record in moved.clone() {
                let place = record * columns..(record + 1) * columns;
                let other = (first + count) % rows * columns;
                match self {
                    Self::Fresh => {
                        let row = fresh.features.dense_row(record);
                        values[place].copy_from_slice(&row);
                    }
                    Self::Opposite => values[place].iter_mut().for_each(|x| *x = -*x),
                    Self::Duplicate => values.copy_within(other..other + columns, place.start),
                    Self::Zero => values[place].fill(0.0),
                    Self::Axis => {
                        let row = fresh.features.dense_row(record);
                        let largest = (0..columns).max_by(|a, b| row[*a].total_cmp(&row[*b]));
                        values[place.clone()].fill(0.0);
                        values[place.start + largest.unwrap()] = 1.0;
                    }
                    Self::Label | Self::Removed => {}
                }
            }
        });
        match &mut changed.target {
            Target::Class { codes, count } => {
                moved.for_each(|row| codes[row] = (codes[row] + 1) % *count as u32);
            }
            // To the ends of the range.
            Target::Number(values) => moved.for_each(|row| values[row] = -values[row].signum()),
        }
        changed
    }
}

pub fn uniform(source: &mut FixedSeed) -> f64 {
    source.next_u64() as f64 / u64::MAX as f64 * 2.0 - 1.0
}

/// The file of a table, cut into pieces of this many rows.
pub fn on_disk(data: &Dataset, pieces: usize) -> (tempfile::TempDir, OnDisk) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("table.rows");
    let mut writer = BlockWriter::create(&path).unwrap();
    for start in (0..data.rows()).step_by(pieces) {
        let end = data.rows().min(start + pieces);
        writer.push(&data.select(&(start..end).collect::<Vec<_>>())).unwrap();
    }
    writer.finish().unwrap();
    let table = OnDisk::open(&path).unwrap();
    (folder, table)
}
