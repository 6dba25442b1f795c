//! Rows in a peer's files, which are removed with the data set; if the program is killed, they remain in
//! the folder of prepared sets, as `peer-rows-…`, readable by their owner alone.
//!
//! diffprivlib gets exactly the rows that `gd` gets. DP-EBM gets columns: each number in units of its
//! declared bounds, after its declared transform, and each category as the index of its value, an index
//! without an order. Both come from our own reader, so the rows are the same ones in the same order.
//!
//! A folder holds `train.npy`, `test.npy` (NumPy's format 1.0, 32-bit floats), `train-classes.npy`,
//! `test-classes.npy` and `facts.json`: `types` and `bounds` of each column, `radius`, and `classes`.

use super::peer::Peer;
use super::table::Table;
use crate::error::BenchError;
use crate::race::RaceError;
use privet_data::schema::{ClipDraft, ColumnKind, ColumnType, Draft, Missing, Norm, Scale, Schema};
use privet_data::{Dataset, Encoding, Target};
use serde_json::{Value, json};
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;
use tempfile::TempDir;

/// Largest number of entries of a part: peers hold all of them, zeros too.
const ENTRIES: usize = 1 << 28;
/// Prefix of the folders' names.
const PREFIX: &str = "peer-rows-";
/// A norm beyond that of every row whose entries are at most 1.
const NO_CLIP: f64 = 1e5;

/// The rows of a data set in a peer's files.
#[derive(Debug)]
pub struct PeerFiles {
    /// The files.
    pub folder: TempDir,
    /// Number of columns in the peer's files.
    pub columns: u64,
}

impl PeerFiles {
    /// Writes them below `work`; refuses a data set that the peer cannot use.
    pub fn write_files(table: &Table, peer: Peer, work: &Path) -> Result<Self, BenchError> {
        let not_for = |reason: String| RaceError::NotFor { who: peer.name(), reason };
        let schema = table.schema.linear();
        let classes = schema.classes().map_or(0, <[String]>::len);
        match (peer, classes) {
            (_, 0) => {
                return Err(not_for("it predicts classes, and this is a number".into()).into());
            }
            (Peer::DpEbm, 3..) => {
                let words = format!("it is for two classes, and this set has {classes}");
                return Err(not_for(words).into());
            }
            _ => {}
        }
        if schema.image().is_some() {
            return Err(not_for("it takes tables, and these are images".into()).into());
        }
        let wide = |data: &Dataset, columns: usize| data.rows().saturating_mul(columns) > ENTRIES;
        let too_wide = || {
            let words = "it holds zeros too, and of those this set has too many for its memory";
            not_for(words.into())
        };
        let encoding = Encoding::new(&schema);
        let (width, radius) = (encoding.width(), encoding.l2_radius());
        if wide(&table.training, width) {
            return Err(too_wide().into());
        }
        let folder = TempDir::with_prefix_in(PREFIX, work).map_err(BenchError::on_path(work))?;
        let write = |rows: &[(&str, &Dataset)], kinds: &[Kind]| {
            for (name, data) in rows {
                let path = folder.path().join(format!("{name}.npy"));
                matrix(&path, data, kinds).map_err(BenchError::on_path(&path))?;
                let path = folder.path().join(format!("{name}-classes.npy"));
                codes(&path, data).map_err(BenchError::on_path(&path))?;
            }
            let path = folder.path().join("facts.json");
            let facts = facts(kinds, radius, classes);
            std::fs::write(&path, facts.to_string()).map_err(BenchError::on_path(&path))
        };
        let kinds = match peer {
            Peer::Diffprivlib => {
                let kinds = vec![Kind::Entry([f64::NAN; 2]); width];
                write(&[("train", &table.training), ("test", &table.test)], &kinds)?;
                kinds
            }
            Peer::DpEbm => {
                let schema = columns_alone(&schema).map_err(not_for)?;
                let kinds = kinds(&schema);
                let encoded = table.files().encoded(&schema)?;
                write(&[("train", &encoded.training), ("test", &encoded.test)], &kinds)?;
                kinds
            }
        };
        Ok(Self { folder, columns: kinds.len() as u64 })
    }
}

/// The peer's kind of some encoded columns.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Kind {
    /// A number between these bounds.
    Entry([f64; 2]),
    /// Indicators of a category, of which at most one is set.
    Indicators(usize),
}

impl Kind {
    /// Encoded columns.
    fn width(self) -> usize {
        match self {
            Self::Entry(_) => 1,
            Self::Indicators(width) => width,
        }
    }
}

/// The schema without clipping, constant column and basis expansions, numbers in units of their bounds.
fn columns_alone(schema: &Schema) -> Result<Schema, String> {
    if schema.libsvm().is_some_and(|facts| facts.bounds.is_none()) {
        return Err("it needs bounds of every number, and this schema declares none".into());
    }
    let mut draft = Draft::from(schema.clone());
    (draft.bias, draft.pairs, draft.fourier) = (None, vec![], None);
    draft.clip = ClipDraft { norm: Norm::L2, radius: NO_CLIP, rows: None };
    for column in draft.columns.iter_mut().filter(|column| column.kind == ColumnType::Number) {
        (column.scale, column.basis) = (Some(Scale::Unit), None);
    }
    draft.check().map_err(|error| error.to_string())
}

/// The kinds of the encoded columns of such a schema.
fn kinds(schema: &Schema) -> Vec<Kind> {
    if let Some(facts) = schema.libsvm() {
        let (low, high) = facts.bounds.unwrap_or((-1.0, 1.0));
        let largest = low.abs().max(high.abs());
        // Absent entries are 0 whatever the bounds.
        let bounds = [(low / largest).min(0.0), (high / largest).max(0.0)];
        return vec![Kind::Entry(bounds); facts.features as usize];
    }
    let widths = Encoding::new(schema).groups();
    let known = |kind: &&ColumnKind| {
        use ColumnKind::{Binary, Category, Number};
        matches!(kind, Binary { .. } | Category { .. } | Number { .. })
    };
    let columns = schema.columns().iter().map(|column| &column.kind).filter(known);
    let mut kinds = Vec::new();
    for (column, width) in columns.zip(widths) {
        match column {
            ColumnKind::Number { missing, .. } => {
                kinds.push(Kind::Entry([0.0, 1.0]));
                kinds.extend(matches!(missing, Missing::Category).then_some(Kind::Indicators(1)));
            }
            _ => kinds.push(Kind::Indicators(width as usize)),
        }
    }
    kinds
}

fn facts(kinds: &[Kind], radius: f64, classes: usize) -> Value {
    let types = kinds.iter().map(|kind| match kind {
        Kind::Entry(_) => "continuous",
        Kind::Indicators(_) => "nominal",
    });
    let bounds = kinds.iter().map(|kind| match kind {
        Kind::Entry(bounds) => json!(bounds),
        Kind::Indicators(_) => Value::Null,
    });
    json!({
        "types": types.collect::<Vec<_>>(),
        "bounds": bounds.collect::<Vec<_>>(),
        "radius": radius,
        "classes": classes,
    })
}

/// A row in the peer's columns: numbers unchanged; for indicators the index of the one that is set, or
/// their number if none is.
fn peer_row(row: &[f32], kinds: &[Kind], into: &mut Vec<f32>) {
    into.clear();
    let mut rest = row;
    for kind in kinds {
        let (own, after) = rest.split_at(kind.width().min(rest.len()));
        rest = after;
        into.push(match kind {
            Kind::Entry(_) => own.first().copied().unwrap_or_default(),
            Kind::Indicators(width) => {
                own.iter().position(|entry| *entry != 0.0).unwrap_or(*width) as f32
            }
        });
    }
}

/// Writes the encoded rows of a stream and their classes, as `STEM.npy` and `STEM-classes.npy`.
pub(crate) fn write_stream(folder: &Path, stem: &str, data: &Dataset) -> Result<(), BenchError> {
    let path = folder.join(format!("{stem}.npy"));
    let written = || {
        let mut file = BufWriter::new(File::create(&path)?);
        header(&mut file, "<f4", &format!("({}, {})", data.rows(), data.features.columns()))?;
        for place in 0..data.rows() {
            let row = data.features.dense_row(place);
            row.iter().try_for_each(|value| file.write_all(&value.to_le_bytes()))?;
        }
        file.flush()
    };
    written().map_err(BenchError::on_path(&path))?;
    let path = folder.join(format!("{stem}-classes.npy"));
    codes(&path, data).map_err(BenchError::on_path(&path))
}

fn matrix(path: &Path, data: &Dataset, kinds: &[Kind]) -> std::io::Result<()> {
    let columns = kinds.len();
    let mut file = BufWriter::new(File::create(path)?);
    header(&mut file, "<f4", &format!("({}, {columns})", data.rows()))?;
    let mut row = Vec::with_capacity(columns);
    for place in 0..data.rows() {
        peer_row(&data.features.dense_row(place), kinds, &mut row);
        row.iter().try_for_each(|value| file.write_all(&value.to_le_bytes()))?;
    }
    file.flush()
}

fn codes(path: &Path, data: &Dataset) -> std::io::Result<()> {
    let codes: &[u32] = match &data.target {
        Target::Class { codes, .. } => codes,
        Target::Number(_) => &[],
    };
    let mut file = BufWriter::new(File::create(path)?);
    header(&mut file, "<u4", &format!("({},)", codes.len()))?;
    codes.iter().try_for_each(|code| file.write_all(&code.to_le_bytes()))?;
    file.flush()
}

/// NumPy's header: magic, version 1.0, length, and a dictionary padded to a multiple of 64 bytes.
fn header(file: &mut impl Write, entry: &str, shape: &str) -> std::io::Result<()> {
    let facts = format!("{{'descr': '{entry}', 'fortran_order': False, 'shape': {shape}, }}");
    let before = 10;
    let length = (before + facts.len() + 1).next_multiple_of(64) - before;
    file.write_all(b"\x93NUMPY\x01\x00")?;
    file.write_all(&(length as u16).to_le_bytes())?;
    writeln!(file, "{facts:<width$}", width = length - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SCHEMA: &str = r#"
bias = true
[file]
missing_values = [""]
[clip]
norm = "l2"
radius = 1.0
[target]
column = "y"
classes = ["no", "yes"]
[[columns]]
name = "age"
type = "number"
bounds = [0, 100]
missing = "category"
[[columns]]
name = "income"
type = "number"
bounds = [0, 1000]
scale = "none"
basis = { hats = 4 }
[[columns]]
name = "work"
type = "category"
categories = ["a", "b", "c"]
unknown = "other"
[[columns]]
name = "old"
type = "binary"
values = ["n", "y"]
"#;

    #[test]
    fn columns_are_the_schema_s_and_not_those_of_the_encoding() {
        let schema = columns_alone(&Schema::from_toml(SCHEMA).unwrap().linear()).unwrap();
        let kinds = kinds(&schema);
        let (number, flag) = (Kind::Entry([0.0, 1.0]), Kind::Indicators(1));
        assert_eq!(kinds, [number, flag, number, Kind::Indicators(4), flag]);
        let width: usize = kinds.iter().map(|kind| kind.width()).sum();
        assert_eq!(width, Encoding::new(&schema).width());
        let table = "age,income,work,old,y\n25,500,b,y,no\n,2000,zebra,n,yes\n";
        let data = privet_data::read::csv_bytes(table.as_bytes(), &schema).unwrap();
        let rows: Vec<Vec<f32>> = (0..2)
            .map(|place| {
                let mut row = Vec::new();
                peer_row(&data.features.dense_row(place), &kinds, &mut row);
                row
            })
            .collect();
        // Nothing is clipped: 2,000 stands at its bound, and the rows' norms exceed 1.
        assert_eq!(rows[0], [0.25, 1.0, 0.5, 1.0, 0.0]);
        assert_eq!(rows[1], [0.0, 0.0, 1.0, 3.0, 1.0]);
    }

    #[test]
    fn a_header_is_numpy_s() {
        let mut bytes = Vec::new();
        header(&mut bytes, "<f4", "(2, 3)").unwrap();
        assert_eq!(bytes.len() % 64, 0);
        assert_eq!(usize::from(bytes[8]) + 256 * usize::from(bytes[9]) + 10, bytes.len());
        assert!(bytes.starts_with(b"\x93NUMPY\x01\x00") && bytes.ends_with(b" \n"));
        let words = String::from_utf8_lossy(&bytes[10..]).into_owned();
        assert!(words.contains("'descr': '<f4'") && words.contains("'shape': (2, 3)"), "{words}");
    }

    #[test]
    fn sparse_rows_without_bounds_are_not_for_dp_ebm() {
        let text = |bounds: &str| {
            format!(
                "[file]\nformat = \"libsvm\"\n[clip]\nnorm = \"l2\"\nradius = 1\n[target]\nclasses = \
                 [\"-1\", \"1\"]\n[libsvm]\nfeatures = 3\n{bounds}"
            )
        };
        let schema = |bounds| Schema::from_toml(&text(bounds)).unwrap().linear();
        assert!(columns_alone(&schema("")).unwrap_err().contains("needs bounds"));
        let bounded = columns_alone(&schema("bounds = [-1, 4]")).unwrap();
        assert_eq!(kinds(&bounded), [Kind::Entry([-0.25, 1.0]); 3]);
    }
}
