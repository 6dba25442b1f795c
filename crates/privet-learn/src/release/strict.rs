//! Strict JSON: no key twice, nothing after the end, and no unread field.
//!
//! A file that two readers understand differently can show one of them a guarantee that the other does
//! not check.

use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};
use std::fmt;

/// Reads a document and refuses an object with the same key twice.
pub(crate) fn read(bytes: &[u8]) -> Result<Value, String> {
    let Strict(value) = serde_json::from_slice(bytes).map_err(|error| error.to_string())?;
    Ok(value)
}

/// The path, as `a.b.c`, of a field of `given` that is not in `known`, so that no reader used it, or
/// that is of another type there: an array for an object, an object for a word.
pub(crate) fn unknown_field(given: &Value, known: &Value) -> Option<String> {
    let below = |place: &str, given: &Value, known: Option<&Value>| {
        let found = match known {
            None => Some(String::new()),
            Some(known) => unknown_field(given, known),
        };
        found.map(|rest| match rest.as_str() {
            "" => place.to_string(),
            rest => format!("{place}.{rest}"),
        })
    };
    match (given, known) {
        (Value::Object(given), Value::Object(known)) => {
            // A null field counts as left out.
            let said = given.iter().filter(|(_, value)| !value.is_null());
            said.into_iter().find_map(|(key, value)| below(key, value, known.get(key)))
        }
        (Value::Array(given), Value::Array(known)) => given
            .iter()
            .enumerate()
            .find_map(|(place, value)| below(&place.to_string(), value, known.get(place))),
        (Value::Null, _)
        | (Value::Bool(_), Value::Bool(_))
        | (Value::Number(_), Value::Number(_))
        | (Value::String(_), Value::String(_)) => None,
        _ => Some(String::new()),
    }
}

/// A value whose objects have every key once.
struct Strict(Value);

impl<'de> Deserialize<'de> for Strict {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Reading).map(Self)
    }
}

struct Reading;

impl<'de> Visitor<'de> for Reading {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Value, E> {
        Number::from_f64(value)
            .map(Value::Number)
            .ok_or_else(|| E::custom("a number is not finite"))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut all = Vec::new();
        while let Some(Strict(item)) = items.next_element()? {
            all.push(item);
        }
        Ok(Value::Array(all))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Value, A::Error> {
        let mut map = Map::new();
        while let Some(key) = entries.next_key::<String>()? {
            let Strict(value) = entries.next_value()?;
            if map.contains_key(&key) {
                let key = privet_core::printable(&key);
                return Err(A::Error::custom(format!(
                    "the key '{key}' stands twice in one object"
                )));
            }
            map.insert(key, value);
        }
        Ok(Value::Object(map))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_plain_document_is_read_as_it_stands() {
        let text = r#"{"a": [1, -2, 0.1, 1e300, null, true, "x\n"], "b": {"c": {}}}"#;
        let expected: Value = serde_json::from_str(text).unwrap();
        assert_eq!(read(text.as_bytes()), Ok(expected));
    }

    #[test]
    fn a_key_twice_is_refused_at_every_depth() {
        for text in [
            r#"{"a": 1, "a": 1}"#,
            r#"{"a": {"b": 1, "c": 2, "b": 3}}"#,
            r#"[[{"a": 1, "\u0061": 2}]]"#,
        ] {
            assert!(read(text.as_bytes()).unwrap_err().contains("twice"), "{text}");
        }
        assert!(read(b"{} {}").is_err());
        assert!(read("[".repeat(100_000).as_bytes()).is_err());
    }

    /// The derived readers take an array for an object, and `{"word": null}` for `"word"`.
    #[test]
    fn another_spelling_of_the_same_is_found() {
        let known = json!({"a": {"b": "replace-one", "n": [1.0]}, "t": true});
        for (given, place) in [
            (json!({"a": ["replace-one", [1.0]]}), "a"),
            (json!({"a": {"b": {"replace-one": null}}}), "a.b"),
            (json!({"a": {"n": {"0": 1.0}}}), "a.n"),
            (json!({"a": {"n": ["1.0"]}}), "a.n.0"),
            (json!({"t": 1}), "t"),
        ] {
            assert_eq!(unknown_field(&given, &known).as_deref(), Some(place));
        }
    }

    #[test]
    fn a_field_that_nobody_reads_is_found_at_every_depth() {
        let known = json!({"a": {"b": [{"c": 1.0}]}, "n": null});
        let same = json!({"a": {"b": [{"c": 1}]}, "n": null, "m": null});
        assert_eq!(unknown_field(&same, &known), None);
        for (given, place) in [
            (json!({"a": {"b": [{"c": 1.0, "d": 2}]}}), "a.b.0.d"),
            (json!({"x": 1}), "x"),
            (json!({"a": {"b": [{"c": 1.0}, {}]}}), "a.b.1"),
        ] {
            assert_eq!(unknown_field(&given, &known).as_deref(), Some(place));
        }
    }
}
