//! Sparse text: `label index:value index:value …`, indices from 1 and increasing.
//!
//! Labels match a class by their text or, when both are numbers, by value (`+1`, `1`, `1.0`).
//! Text after `#` is a comment. Rows are numbered as lines.

use super::{
    clone_place,
    collect::{Collector, refuse},
    lines::{LONGEST_RECORD, Line, next_line},
    open::Stream,
};
use crate::{
    encode::{Cell, EncodeError},
    error::{DataError, Problem},
};

pub(super) fn read(mut stream: Stream<'_>, collector: &mut Collector<'_>) -> Result<(), DataError> {
    let (schema, place) = (collector.schema, collector.place);
    let Some(facts) = schema.libsvm() else {
        return Err(crate::schema::SchemaError::Invalid {
            key: "file.format".into(),
            problem: "the data are LIBSVM text".into(),
            accepted: "\"libsvm\", with [libsvm]".into(),
        }
        .into());
    };
    let classes = schema.classes().unwrap_or_default();
    let class_values: Vec<Option<f64>> = classes.iter().map(|text| text.parse().ok()).collect();
    let total = schema.invalid().is_total();
    let mut line = Vec::new();
    let mut pairs: Vec<(u32, f64)> = Vec::new();
    for row in 1_u64.. {
        let found = next_line(&mut stream.bytes, &mut line, LONGEST_RECORD, total);
        match found.map_err(|error| stream.origin.failed(error))? {
            Line::End => break,
            Line::Whole => {}
            Line::TooLong => {
                let (file, longest) = (clone_place(place), LONGEST_RECORD);
                collector.unreadable(|| DataError::TooLong { file, row, longest })?;
                continue;
            }
        }
        let text = line.split(|byte| *byte == b'#').next().unwrap_or_default();
        let mut tokens =
            text.split(u8::is_ascii_whitespace).filter(|token| !token.is_empty()).peekable();
        let Some(&first) = tokens.peek() else {
            // With a policy for bad records every line is a record; without one, empty lines and
            // comments are not.
            if total {
                collector.unreadable(|| DataError::Damaged {
                    file: clone_place(place),
                    format: "libsvm",
                })?;
            }
            continue;
        };
        if collector.labels || !first.contains(&b':') {
            tokens.next();
        }
        let read = read_pairs(tokens, facts.features, &mut pairs)
            .map_err(|error| refuse(place, row, &format!("entry {}", pairs.len() + 1), error));
        let label = if collector.labels {
            let cell = match class_of(first, classes, &class_values) {
                Some(class) => Cell::Text(class.as_bytes()),
                None => Cell::Text(first),
            };
            collector.label(row, cell).map(Some)
        } else {
            Ok(None)
        };
        match read.and(label) {
            Ok(label) => collector.sparse_record(pairs.iter().copied(), label)?,
            Err(error) => collector.unreadable(|| error)?,
        }
    }
    Ok(())
}

/// Fills in the entries of a row, up to the first invalid one.
fn read_pairs<'a>(
    tokens: impl Iterator<Item = &'a [u8]>,
    features: u32,
    pairs: &mut Vec<(u32, f64)>,
) -> Result<(), EncodeError> {
    pairs.clear();
    for token in tokens {
        let previous = pairs.last().map(|(index, _)| *index);
        pairs.push(pair(token, previous, features).map_err(|problem| EncodeError {
            problem,
            accepted: format!(
                "index:value with indices from 1 to {features}, increasing, and finite values"
            ),
        })?);
    }
    Ok(())
}

/// The class whose text or value the label is.
fn class_of<'a>(label: &[u8], classes: &'a [String], values: &[Option<f64>]) -> Option<&'a String> {
    let by_text = classes.iter().find(|class| class.as_bytes() == label);
    by_text.or_else(|| {
        let value: f64 = std::str::from_utf8(label).ok()?.parse().ok()?;
        classes.iter().zip(values).find(|(_, v)| **v == Some(value)).map(|(class, _)| class)
    })
}

fn pair(token: &[u8], previous: Option<u32>, features: u32) -> Result<(u32, f64), Problem> {
    let token = std::str::from_utf8(token).map_err(|_| Problem::NotAPair)?;
    let (index, value) = token.split_once(':').ok_or(Problem::NotAPair)?;
    if index.is_empty() || !index.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(Problem::NotAPair);
    }
    let index = index.parse::<u32>().map_err(|_| Problem::IndexOutOfRange)?;
    if index < 1 || index > features {
        return Err(Problem::IndexOutOfRange);
    }
    if previous.is_some_and(|previous| index - 1 <= previous) {
        return Err(Problem::IndexNotIncreasing);
    }
    let value: f64 = value.parse().map_err(|_| Problem::NotANumber)?;
    if !value.is_finite() {
        return Err(Problem::NotFinite);
    }
    Ok((index - 1, value))
}
