//! The common end of every reader: encodes, clips, stores and counts records.

use super::{
    Purpose, ReadOptions, Report, UnknownCells, clone_place, identifier::Identifier,
    problems::Notes, unit::UnitCap,
};
use crate::{
    dataset::{Dataset, Features, NULL_CLASS, NULL_NUMBER, Target},
    encode::{Cell, EncodeError, Encoding, RowEncoder, UnknownIn},
    error::{DataError, Place},
    matrix::MatrixBuilder,
    schema::{ColumnKind, OtherColumns, Schema, TargetKind, Unknown},
};

use std::collections::{HashMap, HashSet};

/// Positions of the schema's columns in the file.
#[derive(Debug, PartialEq)]
pub(super) struct Layout {
    /// For each of the schema's columns, its position in the file.
    pub(super) columns: Vec<Option<usize>>,
    pub(super) target: Option<usize>,
    pub(super) unit: Option<usize>,
}

/// One record's cells, by position in the file.
pub(super) trait Record {
    fn cell(&self, position: usize) -> Cell<'_>;

    /// The same cell, as the identifier of the record's unit.
    fn identifier(&self, position: usize) -> Identifier<'_> {
        self.cell(position).into()
    }
}

/// Collects records.
pub(super) struct Collector<'a> {
    pub(super) schema: &'a Schema,
    pub(super) place: &'a Place,
    encoding: &'a Encoding,
    rows: RowEncoder<'a>,
    matrix: MatrixBuilder,
    /// True if labels are read.
    pub(super) labels: bool,
    /// True if columns beyond the schema's are an error.
    strict: bool,
    /// True if a table without records is an error.
    refuse_empty: bool,
    codes: Vec<u32>,
    numbers: Vec<f64>,
    cap: Option<UnitCap>,
    /// Indices of null records.
    null_rows: Vec<usize>,
    /// The receiver of rows before all are read.
    sink: Option<Sink<'a>>,
    /// The number of rows passed to the sink.
    handed_over: usize,
    /// Collects problems instead of ending the reading at the first.
    pub(super) notes: Option<Notes>,
    /// The name of a column whose cells are kept, and its position once known.
    pub(super) keep: Option<(&'a str, Option<usize>)>,
    kept: Vec<String>,
}

/// A receiver of rows, `rows` at a time.
struct Sink<'a> {
    rows: usize,
    take: &'a mut (dyn FnMut(Dataset) -> Result<(), DataError> + Send),
}

/// An encoded label.
pub(super) enum Label {
    Class(u32),
    Number(f64),
}

impl<'a> Collector<'a> {
    pub(super) fn labelled(
        schema: &'a Schema,
        encoding: &'a Encoding,
        place: &'a Place,
        options: &ReadOptions<'_>,
    ) -> Self {
        let strict = options.purpose == Purpose::Train;
        Self {
            cap: UnitCap::new(schema, options.unit_key).filter(|_| strict),
            refuse_empty: !options.allow_empty,
            ..Self::new(schema, encoding, place, true, strict)
        }
    }

    /// Features alone, without labels in the table; for training or prediction.
    pub(super) fn features(
        schema: &'a Schema,
        encoding: &'a Encoding,
        place: &'a Place,
        options: &ReadOptions<'_>,
    ) -> Self {
        let strict = options.purpose == Purpose::Train;
        let refuse_empty = !options.allow_empty;
        Self { refuse_empty, ..Self::new(schema, encoding, place, false, strict) }
    }

    pub(super) fn for_prediction(
        schema: &'a Schema,
        encoding: &'a Encoding,
        place: &'a Place,
    ) -> Self {
        Self::new(schema, encoding, place, false, false)
    }

    fn new(
        schema: &'a Schema,
        encoding: &'a Encoding,
        place: &'a Place,
        labels: bool,
        strict: bool,
    ) -> Self {
        let unknown = if strict { UnknownIn::Training } else { UnknownIn::Prediction };
        Self {
            schema,
            place,
            encoding,
            rows: encoding.rows(unknown),
            matrix: MatrixBuilder::new(encoding.storage(), encoding.width()),
            labels,
            strict,
            refuse_empty: true,
            codes: Vec::new(),
            numbers: Vec::new(),
            cap: None,
            null_rows: Vec::new(),
            sink: None,
            handed_over: 0,
            notes: None,
            keep: None,
            kept: Vec::new(),
        }
    }

    /// Passes rows to `take`, about `rows` at a time, instead of keeping all. Not with a cap on users'
    /// rows.
    pub(super) fn hand_over_every(
        &mut self,
        rows: usize,
        take: &'a mut (dyn FnMut(Dataset) -> Result<(), DataError> + Send),
    ) {
        debug_assert!(self.cap.is_none(), "users' rows are chosen at the end");
        self.sink = Some(Sink { rows: rows.max(1), take });
    }

    /// A second collector for some rows of the same table, to be merged by [`Self::absorb`]; `None`
    /// where rows cannot be collected independently (a cap on users' rows) or more than rows is kept.
    #[cfg(feature = "parquet")]
    pub(super) fn beside(&self) -> Option<Self> {
        let more = self.cap.is_some() || self.notes.is_some() || self.keep.is_some();
        let Self { schema, encoding, place, labels, strict, .. } = self;
        (!more).then(|| Self::new(schema, encoding, place, *labels, *strict))
    }

    /// Appends the rows of another collector to its own and leaves that one empty.
    #[cfg(feature = "parquet")]
    pub(super) fn absorb(&mut self, other: &mut Self) -> Result<(), DataError> {
        let before = self.handed_over + self.matrix.rows();
        self.null_rows.extend(other.null_rows.drain(..).map(|row| before + row));
        self.matrix.append(&mut other.matrix);
        self.codes.append(&mut other.codes);
        self.numbers.append(&mut other.numbers);
        self.rows.absorb(&mut other.rows);
        self.hand_over()
    }

    /// Passes the collected rows to the sink, if there are enough.
    pub(super) fn hand_over(&mut self) -> Result<(), DataError> {
        match &self.sink {
            Some(sink) if self.matrix.rows() >= sink.rows => self.flush(),
            _ => Ok(()),
        }
    }

    fn flush(&mut self) -> Result<(), DataError> {
        let empty = MatrixBuilder::new(self.encoding.storage(), self.encoding.width());
        let features = std::mem::replace(&mut self.matrix, empty).finish();
        self.handed_over += features.rows();
        let target = self.target();
        let Some(sink) = &mut self.sink else { return Ok(()) };
        (sink.take)(Dataset { features, target, units: None, report: Report::default() })
    }

    /// Takes out the labels so far.
    fn target(&mut self) -> Target {
        match &self.schema.target().kind {
            TargetKind::Classes(classes) => {
                Target::Class { codes: std::mem::take(&mut self.codes), count: classes.len() }
            }
            TargetKind::Number { .. } => Target::Number(std::mem::take(&mut self.numbers)),
        }
    }

    /// Passes the remaining rows to the sink and returns the report.
    pub(super) fn into_report(mut self) -> Result<Report, DataError> {
        if self.refuse_empty && self.handed_over + self.matrix.rows() == 0 {
            return Err(DataError::Empty { file: clone_place(self.place) });
        }
        // A table without rows is passed on as well: the receiver then knows its types.
        if self.matrix.rows() > 0 || self.handed_over == 0 {
            self.flush()?;
        }
        Ok(self.report())
    }

    /// Finds the schema's columns among the file's names.
    pub(super) fn layout(&mut self, names: &[&[u8]]) -> Result<Layout, DataError> {
        self.note_header(names);
        let file = || clone_place(self.place);
        let mut places: HashMap<&[u8], (usize, bool)> = HashMap::with_capacity(names.len());
        for (place, name) in names.iter().enumerate() {
            places
                .entry(name)
                .and_modify(|(_, repeated)| *repeated = true)
                .or_insert((place, false));
        }
        let find = |name: &str| match places.get(name.as_bytes()) {
            Some((place, false)) => Ok(*place),
            Some(_) => Err(DataError::RepeatedColumn { file: file(), column: name.into() }),
            None => Err(DataError::MissingColumn { file: file(), column: name.into() }),
        };
        let mut columns = Vec::with_capacity(self.schema.columns().len());
        for column in self.schema.columns() {
            let feature = column.kind.width() > 0;
            columns.push(if feature { Some(find(column.source())?) } else { None });
        }
        let keep = self.keep.map(|(name, _)| find(name)).transpose()?;
        let target = if self.labels { Some(find(&self.schema.target().column)?) } else { None };
        let unit = match self.schema.unit_column() {
            Some(unit) if self.cap.is_some() => Some(find(&unit.column)?),
            _ => None,
        };
        let unit_name = self.schema.unit_column().map(|unit| unit.column.as_str());
        let named = self.schema.columns().iter().map(|column| column.source());
        let known: HashSet<&[u8]> = named
            .chain([self.schema.target().column.as_str()])
            .chain(unit_name)
            .map(|n| n.as_bytes())
            .collect();
        let strict = self.strict && self.schema.other_columns() == OtherColumns::Refuse;
        match names.iter().position(|name| strict && !known.contains(name)) {
            Some(place) => {
                // A quote left open, or another line ending, makes records part of a file's header, so
                // its words are not repeated. Those of a table in memory are the caller's.
                let column = match self.place {
                    Place::Table => format!("column \"{}\"", String::from_utf8_lossy(names[place])),
                    _ => format!("column {} of the header", place + 1),
                };
                Err(DataError::UnknownColumn { file: file(), column })
            }
            None => {
                if let (Some((_, place)), found) = (&mut self.keep, keep) {
                    *place = found;
                }
                Ok(Layout { columns, target, unit })
            }
        }
    }

    /// Notes everything wrong with a header, where problems are noted.
    fn note_header(&mut self, names: &[&[u8]]) {
        let Some(notes) = &mut self.notes else { return };
        let file = || clone_place(self.place);
        let times = |name: &str| names.iter().filter(|found| **found == name.as_bytes()).count();
        let target = Some(self.schema.target().column.as_str()).filter(|_| self.labels);
        let unit = self.schema.unit_column().map(|unit| unit.column.as_str());
        let read = self.schema.columns().iter().filter(|column| column.kind.width() > 0);
        let mut wanted: Vec<&str> = Vec::new();
        for name in read.map(|column| column.source()).chain(target).chain(unit) {
            if !wanted.contains(&name) {
                wanted.push(name);
            }
        }
        for name in &wanted {
            let column = (*name).to_string();
            match times(name) {
                0 => notes.note(&DataError::MissingColumn { file: file(), column }),
                1 => {}
                _ => notes.note(&DataError::RepeatedColumn { file: file(), column }),
            }
        }
        if self.schema.other_columns() == OtherColumns::Ignore {
            return;
        }
        let listed = |name: &[u8]| {
            let named = self.schema.columns().iter().map(|column| column.source());
            named.chain(wanted.iter().copied()).any(|known| known.as_bytes() == name)
        };
        for (place, _) in names.iter().enumerate().filter(|(_, name)| !listed(name)) {
            let column = format!("column {} of the header", place + 1);
            notes.note(&DataError::UnknownColumn { file: file(), column });
        }
    }

    /// Notes every invalid cell of a record.
    fn note_cells(&mut self, row: u64, layout: &Layout, record: &impl Record) {
        let label = layout.target.and_then(|position| self.label(row, record.cell(position)).err());
        let cell = |source: usize| {
            layout.columns.get(source).copied().flatten().map_or(Cell::Missing, |p| record.cell(p))
        };
        let columns = self.schema.columns();
        let cells = self.rows.problems(cell).into_iter().map(|(source, error)| {
            refuse(self.place, row, &format!("column \"{}\"", columns[source].source()), error)
        });
        let found: Vec<DataError> = cells.chain(label).collect();
        if let Some(notes) = &mut self.notes {
            found.iter().for_each(|error| notes.note(error));
        }
    }

    /// The schema's own order, for files without a header. `cells` is the length of the first row: in
    /// prediction, the target may be left out.
    pub(super) fn positions(&self, cells: usize) -> Layout {
        let columns = self.schema.columns();
        let without_target = !self.labels && cells + 1 == self.schema.places();
        let mut layout = Layout { columns: Vec::new(), target: None, unit: None };
        let mut position = 0;
        for (at, column) in columns.iter().enumerate() {
            if self.schema.shares_place(at) {
                position -= 1;
            }
            let place = Some(position);
            layout.columns.push(place.filter(|_| column.kind.width() > 0));
            match column.kind {
                ColumnKind::Target if without_target => continue,
                ColumnKind::Target if self.labels => layout.target = place,
                ColumnKind::Unit if self.cap.is_some() => layout.unit = place,
                _ => {}
            }
            position += 1;
        }
        layout
    }

    /// Collects one record. `row` counts from 1, header included.
    pub(super) fn record(
        &mut self,
        row: u64,
        layout: &Layout,
        record: &impl Record,
    ) -> Result<(), DataError> {
        if let Some((_, Some(position))) = self.keep {
            self.kept.push(record.cell(position).to_text());
        }
        if let (Some(cap), Some(position)) = (&mut self.cap, layout.unit)
            && let Err(error) = cap.row(record.identifier(position))
        {
            let name = self.schema.unit_column().map_or("", |unit| &unit.column);
            let (place, column) = (self.place, format!("column \"{name}\""));
            return self.unreadable(|| refuse(place, row, &column, error));
        }
        match self.encode(row, layout, record) {
            Err(_) if self.schema.invalid().is_total() => {
                self.push_null();
                self.hand_over()
            }
            Err(_) if self.notes.is_some() => {
                self.note_cells(row, layout, record);
                self.push_null();
                Ok(())
            }
            outcome => outcome.and_then(|()| self.hand_over()),
        }
    }

    /// Encodes and stores features and label, or neither.
    fn encode(&mut self, row: u64, layout: &Layout, record: &impl Record) -> Result<(), DataError> {
        let columns = self.schema.columns();
        let label = layout.target.map(|position| self.label(row, record.cell(position)));
        let label = label.transpose()?;
        let cell = |source: usize| {
            layout.columns.get(source).copied().flatten().map_or(Cell::Missing, |p| record.cell(p))
        };
        let encoded = self.rows.encode(cell).map_err(|(source, error)| {
            refuse(self.place, row, &format!("column \"{}\"", columns[source].name), error)
        })?;
        self.matrix.push(encoded);
        self.push_label(label);
        Ok(())
    }

    /// Collects a record that cannot be read, not even its unit's identifier: refused, or the null
    /// record. With a unit it is then left out like a surplus row (the number of rows is private
    /// there): it must neither be counted as some user's row nor stay as a row of its own, since one
    /// person could add any number of those.
    pub(super) fn unreadable(&mut self, why: impl FnOnce() -> DataError) -> Result<(), DataError> {
        if !self.schema.invalid().is_total() {
            let Some(notes) = &mut self.notes else { return Err(why()) };
            notes.note(&why());
        }
        if let Some(cap) = &mut self.cap {
            cap.count_unidentified();
        }
        self.push_null();
        // A line that could not be read has no cell to keep.
        if self.keep.is_some() {
            self.kept.resize(self.matrix.rows(), String::new());
        }
        self.hand_over()
    }

    fn push_null(&mut self) {
        self.null_rows.push(self.handed_over + self.matrix.rows());
        self.matrix.push(&[]);
        if self.labels {
            self.push_label(Some(match self.schema.target().kind {
                TargetKind::Classes(_) => Label::Class(NULL_CLASS),
                TargetKind::Number { .. } => Label::Number(NULL_NUMBER),
            }));
        }
    }

    /// Collects one sparse record, already checked.
    pub(super) fn sparse_record(
        &mut self,
        pairs: impl Iterator<Item = (u32, f64)>,
        label: Option<Label>,
    ) -> Result<(), DataError> {
        self.matrix.push(self.rows.encode_sparse(pairs));
        self.push_label(label);
        self.hand_over()
    }

    /// Encodes one label.
    pub(super) fn label(&self, row: u64, cell: Cell<'_>) -> Result<Label, DataError> {
        let refused = |error| match self.schema.target().column.as_str() {
            "" => refuse(self.place, row, "label", error),
            name => refuse(self.place, row, &format!("column \"{name}\""), error),
        };
        match self.schema.target().kind {
            TargetKind::Classes(_) => self.rows.class(cell).map(Label::Class).map_err(refused),
            TargetKind::Number { .. } => {
                self.rows.number_target(cell).map(Label::Number).map_err(refused)
            }
        }
    }

    fn push_label(&mut self, label: Option<Label>) {
        match label {
            Some(Label::Class(code)) => self.codes.push(code),
            Some(Label::Number(value)) => self.numbers.push(value),
            None => {}
        }
    }

    fn report(&self) -> Report {
        let unknown = self.rows.unknown().iter().zip(self.schema.columns());
        let unknown = unknown.filter(|(cells, _)| **cells > 0).map(|(&cells, column)| {
            let counted_as = match &column.kind {
                ColumnKind::Category { unknown: Unknown::Other, .. } => "\"other\"".into(),
                ColumnKind::Category { unknown: Unknown::As(to), .. } => format!("\"{to}\""),
                ColumnKind::Binary { values, .. } => format!("\"{}\"", values[0]),
                _ => "none of its categories".to_string(),
            };
            UnknownCells { column: column.name.clone(), cells, counted_as }
        });
        Report {
            unknown: unknown.collect(),
            stand_ins: self.rows.stand_ins(),
            null_rows: self.null_rows.clone(),
            kept: self.kept.clone(),
            ..Report::default()
        }
    }

    fn check_not_empty(&self) -> Result<(), DataError> {
        match self.matrix.rows() {
            0 if self.refuse_empty => Err(DataError::Empty { file: clone_place(self.place) }),
            _ => Ok(()),
        }
    }

    pub(super) fn into_features(self) -> Result<Features, DataError> {
        self.check_not_empty()?;
        let report = self.report();
        Ok(Features { matrix: self.matrix.finish(), report })
    }

    pub(super) fn into_dataset(mut self) -> Result<Dataset, DataError> {
        self.check_not_empty()?;
        let report = self.report();
        let target = self.target();
        let features = self.matrix.finish();
        let dataset = Dataset { features, target, units: None, report };
        Ok(match self.cap {
            None => dataset,
            Some(cap) => cap.apply(dataset),
        })
    }
}

pub(super) fn refuse(place: &Place, row: u64, column: &str, error: EncodeError) -> DataError {
    let EncodeError { problem, accepted } = error;
    DataError::Cell { file: clone_place(place), row, column: column.into(), problem, accepted }
}
