//! Writer of the part of protocol buffers that an ONNX file needs: fields of numbers, strings and
//! messages.
//!
//! Field numbers are those of `onnx.proto` (ONNX IR version 8).

/// A message as its bytes.
#[derive(Debug, Clone, Default)]
pub(super) struct Message(Vec<u8>);

/// An element type of a tensor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Element {
    Float = 1,
    Integer = 7,
    Text = 8,
    Double = 11,
}

impl Message {
    fn varint(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.0.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.0.push(value as u8);
    }

    /// Appends an integer field.
    pub(super) fn number(mut self, field: u32, value: i64) -> Self {
        self.varint(u64::from(field) << 3);
        self.varint(value as u64);
        self
    }

    /// Appends a field of bytes, a string or a message.
    pub(super) fn bytes(mut self, field: u32, bytes: &[u8]) -> Self {
        self.varint((u64::from(field) << 3) | 2);
        self.varint(bytes.len() as u64);
        self.0.extend_from_slice(bytes);
        self
    }

    /// Appends a string field.
    pub(super) fn text(self, field: u32, text: &str) -> Self {
        self.bytes(field, text.as_bytes())
    }

    /// Appends a message field.
    pub(super) fn message(self, field: u32, message: &Self) -> Self {
        self.bytes(field, &message.0)
    }

    /// Appends several string fields.
    pub(super) fn texts<'a>(self, field: u32, texts: impl IntoIterator<Item = &'a str>) -> Self {
        texts.into_iter().fold(self, |message, text| message.text(field, text))
    }

    /// Returns the bytes.
    pub(super) fn into_bytes(self) -> Vec<u8> {
        self.0
    }
}

/// A tensor with a name.
fn tensor(name: &str, shape: &[usize], element: Element) -> Message {
    let message = shape.iter().fold(Message::default(), |m, side| m.number(1, *side as i64));
    message.number(2, element as i64).text(8, name)
}

/// A tensor of double-precision numbers.
pub(super) fn doubles(name: &str, shape: &[usize], values: &[f64]) -> Message {
    let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
    tensor(name, shape, Element::Double).bytes(9, &bytes)
}

/// A tensor of single-precision numbers.
pub(super) fn floats(name: &str, shape: &[usize], values: &[f32]) -> Message {
    let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
    tensor(name, shape, Element::Float).bytes(9, &bytes)
}

/// A tensor of integers.
pub(super) fn integers(name: &str, shape: &[usize], values: &[i64]) -> Message {
    let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
    tensor(name, shape, Element::Integer).bytes(9, &bytes)
}

/// A tensor of strings.
pub(super) fn texts(name: &str, values: &[String]) -> Message {
    tensor(name, &[values.len()], Element::Text).texts(6, values.iter().map(String::as_str))
}

/// An input or output with `columns` columns (`None`: one dimension) and any number of rows.
pub(super) fn value(name: &str, element: Element, columns: Option<usize>) -> Message {
    let rows = Message::default().text(2, "rows");
    let mut shape = Message::default().message(1, &rows);
    if let Some(columns) = columns {
        shape = shape.message(1, &Message::default().number(1, columns as i64));
    }
    let tensor = Message::default().number(1, element as i64).message(2, &shape);
    Message::default().text(1, name).message(2, &Message::default().message(1, &tensor))
}

/// An integer attribute.
pub(super) fn attribute(name: &str, value: i64) -> Message {
    Message::default().text(1, name).number(3, value).number(20, 2)
}

/// An attribute that is a list of strings.
pub(super) fn attribute_texts(name: &str, values: &[String]) -> Message {
    Message::default().text(1, name).texts(9, values.iter().map(String::as_str)).number(20, 8)
}

/// An attribute that is a list of integers.
pub(super) fn attribute_integers(name: &str, values: &[i64]) -> Message {
    let message = Message::default().text(1, name);
    values.iter().fold(message, |message, value| message.number(8, *value)).number(20, 7)
}

/// A node of the graph.
pub(super) fn node(
    operator: &str,
    domain: &str,
    inputs: &[&str],
    output: &str,
    attributes: &[Message],
) -> Message {
    let message = Message::default().texts(1, inputs.iter().copied()).text(2, output);
    let message = message.text(3, output).text(4, operator);
    let message = attributes.iter().fold(message, |message, one| message.message(5, one));
    if domain.is_empty() { message } else { message.text(7, domain) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The examples of the format's own documentation: field 1 with 150, field 2 with "testing".
    #[test]
    fn fields_are_written_as_documented() {
        assert_eq!(Message::default().number(1, 150).into_bytes(), [0x08, 0x96, 0x01]);
        let text = Message::default().text(2, "testing").into_bytes();
        assert_eq!(text, [0x12, 7, b't', b'e', b's', b't', b'i', b'n', b'g']);
        let negative = Message::default().number(1, -1).into_bytes();
        assert_eq!(negative, [&[0x08][..], &[0xff; 9], &[0x01]].concat());
    }
}
