//! Sparse text: `label index:value index:value …`, indices from 1 and increasing.
//!
//! Labels match a class by their text or, when both are numbers, by value (`+1`, `1`, `1.0`).
//! What follows `#` is a comment. Rows are numbered as lines.

use super::{
    collect::{Collector, refuse},
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
    let mut line = Vec::new();
    let mut pairs: Vec<(u32, f64)> = Vec::new();
    for row in 1_u64.. {
        line.clear();
        match std::io::BufRead::read_until(&mut stream.bytes, b'\n', &mut line) {
            Ok(0) => break,
            Ok(_) => {}
            Err(error) => return Err(stream.failed(error)),
        }
        let text = line.split(|byte| *byte == b'#').next().unwrap_or_default();
        let mut tokens =
            text.split(u8::is_ascii_whitespace).filter(|token| !token.is_empty()).peekable();
        let Some(&first) = tokens.peek() else { continue };
        if collector.labels || !first.contains(&b':') {
            tokens.next();
        }
        pairs.clear();
        for token in tokens {
            let previous = pairs.last().map(|(index, _)| *index);
            pairs.push(pair(token, previous, facts.features).map_err(|problem| {
                let accepted = format!(
                    "index:value with indices from 1 to {}, increasing, and finite values",
                    facts.features
                );
                let entry = format!("entry {}", pairs.len() + 1);
                refuse(place, row, &entry, EncodeError { problem, accepted })
            })?);
        }
        collector.sparse_record(pairs.iter().copied());
        if collector.labels {
            let cell = match class_of(first, classes, &class_values) {
                Some(class) => Cell::Text(class.as_bytes()),
                None => Cell::Text(first),
            };
            collector.label(row, cell)?;
        }
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
