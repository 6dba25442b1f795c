//! Rows as they are in a file, in one canonical form for all formats: for recognising a table.
//!
//! No schema decides a row's form here, except for the layout of the file: the same table has the same
//! rows for every training task. A row is its cells by the names of their columns, whatever the order
//! of the columns. A cell is missing, a number (to the 24 bits of an f32, so that the width in which a
//! file stores it does not matter; a text that reads as a number is one), or a text without blanks
//! around it and in lower case. Timestamps are the numbers that a file stores.

use super::{
    csv::skip_byte_order_mark,
    files_of,
    lines::{LONGEST_RECORD, Line, next_line},
    open::{Input, KnownBy},
    split::{QuotedRecords, RecordEnd, Records},
};
use crate::{
    encode::Cell,
    error::DataError,
    schema::{FileFacts, Format, Schema},
};
use csv::ByteRecord;
use std::path::Path;

/// Texts that count as missing.
const MISSING: [&[u8]; 8] = [b"", b"na", b"nan", b"n/a", b"null", b"none", b"?", b"-"];

/// The canonical form of rows with certain columns.
#[derive(Debug, Clone)]
pub struct RowForm {
    names: Vec<Vec<u8>>,
    /// Positions, sorted by the names of their columns.
    order: Vec<usize>,
}

impl RowForm {
    /// The form of rows with columns of these names.
    pub fn new<N: AsRef<[u8]>>(names: impl IntoIterator<Item = N>) -> Self {
        let names: Vec<Vec<u8>> =
            names.into_iter().map(|name| name.as_ref().trim_ascii().to_vec()).collect();
        let mut order: Vec<usize> = (0..names.len()).collect();
        order.sort_by(|a, b| names[*a].cmp(&names[*b]));
        Self { names, order }
    }

    /// Writes one row, replacing the content of `row`.
    pub fn write<'a>(&self, row: &mut Vec<u8>, cell: impl Fn(usize) -> Cell<'a>) {
        row.clear();
        for place in &self.order {
            part(row, &self.names[*place]);
            write_cell(row, cell(*place));
        }
    }
}

/// Appends a piece of text, prefixed by its length so that pieces cannot run into each other.
fn part(row: &mut Vec<u8>, bytes: &[u8]) {
    row.extend_from_slice(&(bytes.len() as u32).to_le_bytes());
    row.extend_from_slice(bytes);
}

fn write_cell(row: &mut Vec<u8>, cell: Cell<'_>) {
    let number = |row: &mut Vec<u8>, value: f64| match value.is_nan() {
        true => row.push(0),
        false => {
            row.push(1);
            // Both zeros are one.
            row.extend_from_slice(&(value as f32 + 0.0).to_le_bytes());
        }
    };
    match cell {
        Cell::Missing => row.push(0),
        Cell::Unsupported => row.push(3),
        Cell::Number(value) => number(row, value),
        Cell::Integer(value) | Cell::Moment { ticks: value, .. } => number(row, value as f64),
        Cell::Text(text) => {
            let text = text.trim_ascii().to_ascii_lowercase();
            if MISSING.contains(&&text[..]) {
                row.push(0);
            } else if let Some(value) = std::str::from_utf8(&text).ok().and_then(|t| t.parse().ok())
            {
                number(row, value);
            } else {
                row.push(2);
                part(row, &text);
            }
        }
    }
}

impl FileFacts {
    /// The layout that a file's name alone implies: Parquet, LIBSVM, or CSV with a header.
    pub fn by_name(path: &Path) -> Self {
        let name = path.file_name().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
        let name = name.trim_end_matches(".gz").trim_end_matches(".zst");
        let format = match name.rsplit('.').next() {
            Some("parquet") => Format::Parquet,
            Some("svm" | "libsvm") => Format::Libsvm,
            _ => Format::Csv,
        };
        let separator = if name.ends_with(".tsv") { b'\t' } else { b',' };
        let (quote, header, trim) = (Some(b'"'), true, true);
        Self { format, separator, quote, header, trim, missing_values: Vec::new() }
    }
}

/// Passes every row of a table to `each` in its canonical form, over all files of a table of several.
/// Lines that are not rows, or longer than any record, are skipped, and cells that cannot be decoded
/// are marked: refusing them is left to the reader of records, under its schema. The schema, if there
/// is one, gives the layout of the file.
pub fn raw_rows(
    path: &Path,
    schema: Option<&Schema>,
    each: &mut dyn FnMut(&[u8]),
) -> Result<(), DataError> {
    files_of(path)?.iter().try_for_each(|file| rows_of_file(file, schema, each))
}

fn rows_of_file(
    path: &Path,
    schema: Option<&Schema>,
    each: &mut dyn FnMut(&[u8]),
) -> Result<(), DataError> {
    let by_name;
    let facts = match schema {
        Some(schema) => schema.file(),
        None => {
            by_name = FileFacts::by_name(path);
            &by_name
        }
    };
    let input = Input::Path(path);
    match facts.format {
        Format::Csv => csv_rows(input, facts, schema, each),
        Format::Libsvm => libsvm_rows(input, each),
        #[cfg(feature = "parquet")]
        Format::Parquet => super::parquet::raw_rows(input, each),
        #[cfg(not(feature = "parquet"))]
        Format::Parquet => Err(DataError::NotBuilt { file: input.place(), format: "parquet" }),
    }
}

fn csv_rows(
    input: Input<'_>,
    facts: &FileFacts,
    schema: Option<&Schema>,
    each: &mut dyn FnMut(&[u8]),
) -> Result<(), DataError> {
    let mut stream = input.open(KnownBy::Content, None)?;
    if facts.header {
        skip_byte_order_mark(&mut stream)?;
    }
    let mut records = QuotedRecords::new(stream, facts);
    let (mut record, mut row) = (ByteRecord::new(), Vec::new());
    // Without a header, columns have the schema's names.
    let mut form = match (facts.header, schema) {
        (false, Some(schema)) => {
            Some(RowForm::new(schema.columns().iter().map(|column| column.name.as_bytes())))
        }
        _ => None,
    };
    loop {
        match records.next(&mut record)? {
            RecordEnd::End => return Ok(()),
            RecordEnd::Record => {}
            RecordEnd::Blank | RecordEnd::TooLong | RecordEnd::Open => continue,
        }
        let known = match &form {
            Some(form) if form.names.len() == record.len() => form,
            // A ragged line is a row too, by position.
            Some(_) => &by_place(record.len()),
            None if facts.header => {
                form = Some(RowForm::new(record.iter()));
                continue;
            }
            None => form.insert(by_place(record.len())),
        };
        known.write(&mut row, |place| record.get(place).map_or(Cell::Missing, Cell::Text));
        each(&row);
    }
}

fn by_place(columns: usize) -> RowForm {
    RowForm::new((0..columns).map(|place| place.to_string()))
}

fn libsvm_rows(input: Input<'_>, each: &mut dyn FnMut(&[u8])) -> Result<(), DataError> {
    let mut stream = input.open(KnownBy::Content, None)?;
    let (mut line, mut row) = (Vec::new(), Vec::new());
    loop {
        let found = next_line(&mut stream.bytes, &mut line, LONGEST_RECORD, true);
        match found.map_err(|error| stream.origin.failed(error))? {
            Line::End => return Ok(()),
            Line::Whole => {}
            // As in CSV: refusing such a line is left to the reader of records.
            Line::TooLong => continue,
        }
        let text = line.split(|byte| *byte == b'#').next().unwrap_or_default();
        let mut tokens = text.split(u8::is_ascii_whitespace).filter(|token| !token.is_empty());
        let Some(label) = tokens.next() else { continue };
        row.clear();
        part(&mut row, b"label");
        write_cell(&mut row, Cell::Text(label));
        for token in tokens {
            let cut = token.iter().position(|byte| *byte == b':').unwrap_or(token.len());
            part(&mut row, &token[..cut]);
            write_cell(&mut row, Cell::Text(token.get(cut + 1..).unwrap_or_default()));
        }
        each(&row);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(name: &str, text: &str) -> Vec<Vec<u8>> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        let mut rows = Vec::new();
        raw_rows(&path, None, &mut |row| rows.push(row.to_vec())).unwrap();
        rows.sort();
        rows
    }

    #[test]
    fn layout_does_not_matter_and_content_does() {
        let one = rows("a.csv", "age,job,pay\n41,Nurse,1.50\n7, clerk ,NA\n");
        assert_eq!(one.len(), 2);
        assert_eq!(one, rows("b.csv", "pay,age,job\n,7,\"CLERK\"\n1.5,41.0,nurse\n"));
        assert_eq!(one, rows("c.tsv", "pay\tage\tjob\nnull\t7\tclerk\n1.5\t41\tnurse\n"));
        for other in [
            "age,job,pay\n41,Nurse,1.51\n7,clerk,NA\n",
            "age,job,wage\n41,Nurse,1.50\n7,clerk,NA\n",
            "age,job,pay\n41,Nurse,1.50\n",
            "age,job,pay\n1.5,Nurse,41\n7,clerk,NA\n",
        ] {
            assert_ne!(one, rows("d.csv", other), "{other}");
        }
        let sparse = rows("a.svm", "+1 1:0.5 3:2\n-1 2:1 # note\n");
        assert_eq!(sparse, rows("b.svm", "-1 2:1.0\n1 1:.5 3:2.0\n"));
        assert_eq!(sparse.len(), 2);
    }

    /// Refusing a line that is too long is left to the reader of records: other lines are still
    /// recognised.
    #[test]
    fn lines_that_are_too_long_are_passed_over() {
        let long = "1:0 ".repeat(LONGEST_RECORD / 4 + 1);
        let kept = rows("a.svm", "1 1:0.5\n-1 2:1\n");
        assert_eq!(kept, rows("b.svm", &format!("1 1:0.5\n1 {long}\n-1 2:1\n")));
    }

    /// A column that cannot be decoded does not affect the others.
    #[cfg(feature = "parquet")]
    #[test]
    fn columns_that_cannot_be_decoded_are_marked() {
        use parquet::data_type::Int64Type;
        use parquet::file::reader::{FileReader, SerializedFileReader};
        use parquet::file::writer::SerializedFileWriter;
        use parquet::schema::parser::parse_message_type;
        use std::sync::Arc;

        let message = "message table { required int64 a; required int64 b; }";
        let message = Arc::new(parse_message_type(message).unwrap());
        let mut bytes = Vec::new();
        let mut writer = SerializedFileWriter::new(&mut bytes, message, Arc::default()).unwrap();
        let mut group = writer.next_row_group().unwrap();
        for _ in 0..2 {
            let mut column = group.next_column().unwrap().unwrap();
            column.typed::<Int64Type>().write_batch(&[1, 2, 3], None, None).unwrap();
            column.close().unwrap();
        }
        group.close().unwrap();
        writer.close().unwrap();
        let reader = SerializedFileReader::new(bytes::Bytes::from(bytes.clone())).unwrap();
        let start = |column| reader.metadata().row_group(0).column(column).byte_range().0 as usize;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t.parquet");
        let read = |bytes: &[u8]| {
            std::fs::write(&path, bytes).unwrap();
            let mut rows = Vec::new();
            raw_rows(&path, None, &mut |row| rows.push(row.to_vec())).map(|()| rows)
        };
        let whole = read(&bytes).unwrap();
        bytes[start(1)..start(1) + 8].fill(0xff);
        let marked = read(&bytes).unwrap();
        assert_eq!((whole.len(), marked.len()), (3, 3));
        let form = RowForm::new(["a", "b"]);
        for (place, row) in marked.iter().enumerate() {
            let cells = [Cell::Integer(place as i64 + 1), Cell::Unsupported];
            let mut expected = Vec::new();
            form.write(&mut expected, |place| cells[place]);
            assert_eq!(*row, expected);
        }
        bytes[start(0)..start(0) + 8].fill(0xff);
        assert!(matches!(read(&bytes), Err(DataError::Damaged { .. })));
    }
}
