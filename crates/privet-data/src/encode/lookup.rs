//! Index of a text in a list.

use super::Cell;
use std::collections::HashMap;

/// A map from texts to their indices. A short list is searched from the front, which is faster than
/// hashing.
#[derive(Debug, Clone)]
pub(super) struct Lookup {
    pub(super) texts: Vec<String>,
    /// The integer that prints as each text, if there is one.
    integers: Vec<Option<i64>>,
    places: Option<HashMap<Vec<u8>, u32>>,
}

impl Lookup {
    pub(super) fn new(texts: &[String]) -> Self {
        let place = |(place, text): (u32, &String)| (text.as_bytes().to_vec(), place);
        let places = (texts.len() > 8).then(|| (0..).zip(texts).map(place).collect());
        let integer = |text: &String| text.parse().ok().filter(|n: &i64| n.to_string() == *text);
        Self { texts: texts.to_vec(), integers: texts.iter().map(integer).collect(), places }
    }

    fn get(&self, text: &[u8]) -> Option<u32> {
        match &self.places {
            Some(places) => places.get(text).copied(),
            None => (0..).zip(&self.texts).find(|(_, t)| t.as_bytes() == text).map(|(at, _)| at),
        }
    }

    /// The cell's index. A stored number matches the text that Rust prints for it (`1`, `0.5`).
    pub(super) fn find(&self, cell: Cell<'_>) -> Option<u32> {
        match cell {
            Cell::Text(text) => self.get(text),
            Cell::Number(value) => self.get(value.to_string().as_bytes()),
            Cell::Integer(value) if self.places.is_none() => {
                (0..).zip(&self.integers).find(|(_, n)| **n == Some(value)).map(|(at, _)| at)
            }
            Cell::Integer(value) => self.get(value.to_string().as_bytes()),
            Cell::Missing | Cell::Unsupported | Cell::Moment { .. } => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// A stored integer matches its text, by either way of lookup.
        #[test]
        fn an_integer_is_found_as_its_text(count in 1..20_i64, value in -3..25_i64) {
            let mut texts: Vec<String> = (0..count).map(|n| n.to_string()).collect();
            texts.push("-1".into());
            texts.push("+2x".into());
            let lookup = Lookup::new(&texts);
            let text = value.to_string();
            prop_assert_eq!(lookup.find(Cell::Integer(value)), lookup.find(Cell::Text(text.as_bytes())));
        }
    }
}
