//! `privet split`: splits a table in two, with each person in only one part.

use crate::failure::Failure;
use crate::{output, say};
use clap::Args;
use privet_data::keyed::{self, Key};
use privet_data::read::Header;
use privet_dp::noise::{Source, SystemRandom};
use std::path::{Path, PathBuf};

/// Split a table into a part to learn from and a part to test with
#[derive(Args, Debug)]
#[command(
    long_about = "\
Splits a CSV table into two files with the same header. Which part a row goes to is drawn by lot, by a key
that is forgotten. With --unit all rows of one person go to the same part: otherwise a model is tested on
people it has learnt from.

Both parts are private records, like the table; nothing is released. Each has a budget of its own: what is
learnt spends that of the part to learn from, `evaluate --epsilon` that of the test part.",
    after_help = "\
Examples:
  privet split visits.csv --test 0.2 --out-train train.csv --out-test test.csv
  privet split visits.csv --test 0.2 --unit patient --out-train train.csv --out-test test.csv"
)]
pub struct Split {
    /// The table (CSV with a header)
    table: PathBuf,
    /// The share of rows, or of people, that goes to the test part
    #[arg(long, value_name = "SHARE", default_value_t = 0.2)]
    test: f64,
    /// The column that says whose a row is
    #[arg(long, value_name = "COLUMN")]
    unit: Option<String>,
    /// Where to write the part to learn from
    #[arg(long, value_name = "CSV")]
    out_train: PathBuf,
    /// Where to write the part to test with
    #[arg(long, value_name = "CSV")]
    out_test: PathBuf,
    /// Overwrite files that are there
    #[arg(long)]
    force: bool,
}

impl Split {
    /// Reads, splits, writes.
    pub fn run(self) -> Result<(), Failure> {
        if !(self.test > 0.0 && self.test < 1.0) {
            return Err(Failure::input(format!(
                "--test {}: a share between 0 and 1 is accepted",
                self.test
            )));
        }
        if self.out_train == self.out_test {
            return Err(Failure::input(
                "--out-train and --out-test: two different files are accepted",
            ));
        }
        let header = Header::read(&self.table)?;
        let place = self.unit.as_ref().map(|unit| {
            header.names.iter().position(|name| name == unit).ok_or_else(|| {
                Failure::input(format!("--unit {unit}: the header does not name such a column"))
            })
        });
        let place = place.transpose()?;
        let mut train =
            output::open_for("--out-train", &self.out_train, self.force, &[&self.table])?;
        let mut test = output::open_for("--out-test", &self.out_test, self.force, &[&self.table])?;
        let mut key: Key = [0; 16];
        let mut random =
            SystemRandom::new().map_err(|error| Failure::Environment(error.to_string()))?;
        random.fill_bytes(&mut key);
        let (to_learn, to_test) =
            parts(&self.table, header.file.separator, place, self.test, &key)?;
        output::write_for("--out-train", &mut train, &self.out_train, &to_learn)?;
        output::write_for("--out-test", &mut test, &self.out_test, &to_test)?;
        say!("written to {} and {}", self.out_train.display(), self.out_test.display());
        Ok(())
    }
}

/// Both parts, each with the header. The hash of a row's unit, or of its index, decides its part.
fn parts(
    table: &Path,
    separator: u8,
    unit: Option<usize>,
    share: f64,
    key: &Key,
) -> Result<(Vec<u8>, Vec<u8>), Failure> {
    let bytes = privet_data::read::decompressed(table)?;
    let failed = |_| {
        let words = "no CSV file; a table with as many cells in each row is accepted";
        Failure::input(format!("{}: {words}", table.display()))
    };
    let mut reader = csv::ReaderBuilder::new()
        .delimiter(separator)
        .has_headers(false)
        .from_reader(bytes.as_slice());
    let writer = || csv::WriterBuilder::new().delimiter(separator).from_writer(Vec::new());
    let (mut train, mut test) = (writer(), writer());
    let limit = (share * u64::MAX as f64) as u64;
    for (row, record) in reader.byte_records().enumerate() {
        let record = record.map_err(failed)?;
        if row == 0 {
            train.write_byte_record(&record).map_err(failed)?;
            test.write_byte_record(&record).map_err(failed)?;
            continue;
        }
        let number = (row as u64).to_le_bytes();
        let whose = match unit {
            Some(place) => record.get(place).unwrap_or_default().trim_ascii(),
            None => &number,
        };
        let part = if keyed::hash("split", key, &[whose]) < limit { &mut test } else { &mut train };
        part.write_byte_record(&record).map_err(failed)?;
    }
    let whole = |writer: csv::Writer<Vec<u8>>| {
        writer.into_inner().map_err(|error| Failure::Environment(error.to_string()))
    };
    Ok((whole(train)?, whole(test)?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn a_persons_rows_stay_together() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t.csv");
        let rows: String = (0..3000).map(|row| format!("p{},{row}\n", row % 700)).collect();
        std::fs::write(&path, format!("who,x\n{rows}")).unwrap();
        let (train, test) = parts(&path, b',', Some(0), 0.3, &[7; 16]).unwrap();
        let people = |bytes: &[u8]| -> HashSet<String> {
            let text = String::from_utf8(bytes.to_vec()).unwrap();
            text.lines().skip(1).map(|line| line.split(',').next().unwrap().into()).collect()
        };
        let (learnt, tested) = (people(&train), people(&test));
        assert!(learnt.is_disjoint(&tested));
        assert_eq!(learnt.len() + tested.len(), 700);
        // Binomial(700, 0.3) with a fixed key: 210 ± 8 standard deviations.
        assert!((112..308).contains(&tested.len()), "{}", tested.len());
    }
}
