//! Known public data sets: where the originals are, and how they become a learning task.
//!
//! [`prepare`] turns the published files into `train.*`, `test.*` and `schema.toml`. Bounds are
//! round numbers in place of the data's own maxima: from the documentation where it gives a range
//! (pixels, hillshade, angles, rates, connection windows, Adult's top codes), and otherwise chosen
//! with the published values in view (Covertype's elevation and distances, Cod-RNA's energy and
//! length, Adult's weight and capital loss, KDD Cup 99's counts, bytes and list of services). The
//! latter is in order here only because these sets are public; a private table's bounds must not
//! be chosen that way. The
//! rows are shuffled and split 80 : 20 by one fixed keyed hash. Originals are recognised by their
//! sha256, compressed or not; an altered file is refused. Files are written beside their final
//! place and renamed when all are complete.

mod files;
mod images;
mod sparse;
mod synthetic;
mod tables;

use crate::{error::DataError, keyed, schema::Schema};
use std::path::{Path, PathBuf};

/// A known set.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Entry {
    /// The name that [`prepare`] takes.
    pub name: &'static str,
    /// In words.
    pub title: &'static str,
    /// What is predicted from what.
    pub task: &'static str,
    /// Rows of train and test together.
    pub rows: usize,
    /// Encoded columns.
    pub columns: usize,
    /// Classes.
    pub classes: usize,
    /// Where the public gets the originals; empty for sets that are made up.
    pub origin: &'static str,
    /// On which terms.
    pub licence: &'static str,
    /// The originals.
    pub files: &'static [Original],
}

/// A published file.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Original {
    /// Its name without `.gz` or `.zst`.
    pub name: &'static str,
    /// sha256 of the uncompressed bytes: what is checked.
    pub sha256: &'static str,
    /// sha256 of the publisher's own `.gz`, where that is how it is published.
    pub gzip_sha256: Option<&'static str>,
}

/// What [`prepare`] left.
#[derive(Debug, Clone, PartialEq)]
pub struct Prepared {
    /// Records to learn from.
    pub train: PathBuf,
    /// Records to evaluate with.
    pub test: PathBuf,
    /// The schema's file.
    pub schema_file: PathBuf,
    /// The schema.
    pub schema: Schema,
    /// Number of records to learn from.
    pub train_rows: usize,
    /// Number of records to evaluate with.
    pub test_rows: usize,
}

const fn plain(name: &'static str, sha256: &'static str) -> Original {
    Original { name, sha256, gzip_sha256: None }
}

const fn gzipped(name: &'static str, sha256: &'static str, gzip: &'static str) -> Original {
    Original { name, sha256, gzip_sha256: Some(gzip) }
}

const CC_BY: &str = "CC BY 4.0 (cite)";

/// All known sets.
pub const ENTRIES: &[Entry] = &[
    Entry {
        name: "adult",
        title: "Adult (Census Income)",
        task: "income above 50K from 14 attributes; rows with unknown values left out",
        rows: 45_222,
        columns: 104,
        classes: 2,
        origin: "https://archive.ics.uci.edu/dataset/2/adult",
        licence: CC_BY,
        files: &[
            plain("adult.data", "5b00264637dbfec36bdeaab5676b0b309ff9eb788d63554ca0a249491c86603d"),
            plain("adult.test", "a2a9044bc167a35b2361efbabec64e89d69ce82d9790d2980119aac5fd7e9c05"),
        ],
    },
    Entry {
        name: "kddcup99",
        title: "KDD Cup 1999, 70,000 records of the 10 % file",
        task: "normal connection or attack from 41 attributes",
        rows: 70_000,
        columns: 114,
        classes: 2,
        origin: "https://archive.ics.uci.edu/dataset/130/kdd+cup+1999+data",
        licence: CC_BY,
        files: &[gzipped(
            "kddcup.data_10_percent",
            "f8c8267ebcd9c0ed1fd7d6277fe5bfff8732e9b7db8e61b873542b2a534b6f9a",
            "8045aca0d84e70e622d1148d7df782496f6333bf6eb979a1b0837c42a9fd9561",
        )],
    },
    Entry {
        name: "covtype",
        title: "Forest Covertype",
        task: "one of seven kinds of forest from ten measurements, wilderness area and soil type",
        rows: 581_012,
        columns: 54,
        classes: 7,
        origin: "https://archive.ics.uci.edu/dataset/31/covertype",
        licence: CC_BY,
        files: &[plain(
            "covtype.data",
            "0a9371cef7c964b5475d6053cc3e0894a5aa6f65ad1ed3ecb01c45aa96217945",
        )],
    },
    Entry {
        name: "mnist",
        title: "MNIST handwritten digits (first 55,000 training and all 10,000 test images)",
        task: "one of ten digits from 784 pixels",
        rows: 65_000,
        columns: 784,
        classes: 10,
        origin: "http://yann.lecun.com/exdb/mnist/",
        licence: "CC BY-SA 3.0",
        files: &[
            gzipped(
                "train-images-idx3-ubyte",
                "ba891046e6505d7aadcbbe25680a0738ad16aec93bde7f9b65e87a2fc25776db",
                "440fcabf73cc546fa21475e81ea370265605f56be210a4024d2ca8f203523609",
            ),
            gzipped(
                "train-labels-idx1-ubyte",
                "65a50cbbf4e906d70832878ad85ccda5333a97f0f4c3dd2ef09a8a9eef7101c5",
                "3552534a0a558bbed6aed32b30c495cca23d567ec52cac8be1a0730e8010255c",
            ),
            gzipped(
                "t10k-images-idx3-ubyte",
                "0fa7898d509279e482958e8ce81c8e77db3f2f8254e26661ceb7762c4d494ce7",
                "8d422c7b0a1c1c79245a5bcf07fe86e33eeafee792b84584aec276f5a2dbc4e6",
            ),
            gzipped(
                "t10k-labels-idx1-ubyte",
                "ff7bcfd416de33731a308c3f266cc351222c34898ecbeaf847f06e48f7ec33f2",
                "f7ae60f92e00ec6debd23a6088c31dbd2371eca3ffa0defaefb259924204aec6",
            ),
        ],
    },
    Entry {
        name: "cod-rna",
        title: "Cod-RNA (the LIBSVM training file, each row as \"label, v1, …, v8\")",
        task: "coding or non-coding RNA from eight measurements",
        rows: 59_535,
        columns: 8,
        classes: 2,
        origin: "https://www.csie.ntu.edu.tw/~cjlin/libsvmtools/datasets/binary.html#cod-rna",
        licence: "none stated (cite Uzilov, Keegan and Mathews 2006)",
        files: &[plain(
            "cod-rna.csv",
            "3e06433182ea21578952c790b09279d43b958d973875d01caccf55b69a4ec631",
        )],
    },
    Entry {
        name: "a9a",
        title: "a9a (Adult in 123 binary features), with its published split",
        task: "income above 50K from 123 indicators",
        rows: 48_842,
        columns: 123,
        classes: 2,
        origin: "https://www.csie.ntu.edu.tw/~cjlin/libsvmtools/datasets/binary.html#a9a",
        licence: "derived from Adult, CC BY 4.0 (cite)",
        files: &[
            plain("a9a", "f5d5ffd8d865ff41328e7ee043e4b020816914ff6843ff15b98905ddbedce906"),
            plain("a9a.t", "1f448a153f0320399a7e40836eb207655b0bde0f21fc941cc472193daa9f5de9"),
        ],
    },
    Entry {
        name: "synthetic-l",
        title: "Synthetic-L, made up: 30 informative features of 40",
        task: "one of two classes of two clusters each",
        rows: 10_000,
        columns: 40,
        classes: 2,
        origin: "",
        licence: "none needed",
        files: &[],
    },
    Entry {
        name: "synthetic-h",
        title: "Synthetic-H, made up: 10 informative features of 2,000",
        task: "one of two classes of two clusters each",
        rows: 2_000,
        columns: 2_000,
        classes: 2,
        origin: "",
        licence: "none needed",
        files: &[],
    },
];

/// The share of rows to learn from.
const TRAIN_SHARE: f64 = 0.8;
/// Fixes the shuffle of every set.
pub(crate) const SPLIT_SEED: u64 = 20_240_101;

/// The entry of that name.
pub fn find(name: &str) -> Result<&'static Entry, DataError> {
    ENTRIES.iter().find(|entry| entry.name == name).ok_or_else(|| DataError::UnknownSet {
        name: name.into(),
        accepted: ENTRIES.iter().map(|entry| entry.name).collect::<Vec<_>>().join(", "),
    })
}

/// Prepares a set: originals from `from` (or its sub-folder of that name), results into `out`.
/// `seed` replaces the seed of a set that is made up, or the shuffle's of one that is not.
pub fn prepare(
    name: &str,
    from: &Path,
    out: &Path,
    seed: Option<u64>,
) -> Result<Prepared, DataError> {
    let entry = find(name)?;
    let made_up = entry.files.is_empty();
    let split_key = keyed::key(seed.filter(|_| !made_up).unwrap_or(SPLIT_SEED));
    let task = match name {
        "adult" => tables::adult(entry, from)?,
        "kddcup99" => tables::kddcup99(entry, from, &split_key)?,
        "covtype" => tables::covtype(entry, from)?,
        "cod-rna" => tables::cod_rna(entry, from)?,
        "mnist" => images::mnist(entry, from)?,
        "a9a" => sparse::a9a(entry, from)?,
        "synthetic-h" => synthetic::high(seed)?,
        _ => synthetic::low(seed)?,
    };
    files::write(entry, &task, out, &split_key)
}

/// A task ready to be split and written.
struct Task {
    schema: Schema,
    /// The first line of each file, if any.
    header: String,
    rows: Lines,
    /// The published split: so many rows at the front are for training. Otherwise 80 : 20.
    published_train: Option<usize>,
}

/// Many lines in one buffer.
#[derive(Default)]
struct Lines {
    text: Vec<u8>,
    ends: Vec<usize>,
}

impl Lines {
    /// Adds a line; the line feed is added here.
    fn push(&mut self, line: &[u8]) {
        self.text.extend_from_slice(line);
        self.text.push(b'\n');
        self.ends.push(self.text.len());
    }

    fn len(&self) -> usize {
        self.ends.len()
    }

    fn get(&self, line: usize) -> &[u8] {
        let start = if line == 0 { 0 } else { self.ends[line - 1] };
        &self.text[start..self.ends[line]]
    }
}
