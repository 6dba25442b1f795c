//! The nesting depth of the columns of a Parquet file, checked before they are decoded.
//!
//! The decoder builds groups inside groups recursively, and a footer of some hundred kilobytes can nest
//! them so deeply that the stack overflows, which ends the program and cannot be caught. The footer is
//! a record of Thrift's compact protocol; its list of columns gives each group with the number of
//! columns inside, the outer ones first.

/// The deepest nesting that is accepted.
const DEEPEST: usize = 64;

/// The field types of the footer, and of each of its columns; the decoder relies on these types.
const FOOTER_FIELDS: [u8; 9] = [I32, LIST, I64, LIST, LIST, BINARY, LIST, STRUCT, BINARY];
const COLUMN_FIELDS: [u8; 10] = [I32, I32, I32, BINARY, I32, I32, I32, I32, I32, STRUCT];
const COLUMNS: usize = 2;
const CHILDREN: usize = 5;

const I32: u8 = 5;
const I64: u8 = 6;
const BINARY: u8 = 8;
const LIST: u8 = 9;
const STRUCT: u8 = 12;

/// True if the footer can be read and nests no deeper than is accepted. `footer` is the record between
/// the pages and the last eight bytes of the file.
pub(super) fn is_shallow(footer: &[u8]) -> bool {
    Scan { rest: footer }.footer().is_some()
}

/// The length of the record in bytes, from the last eight bytes of the file.
pub(super) fn footer_length(end: [u8; 8]) -> u64 {
    let [a, b, c, d, ..] = end;
    u32::from_le_bytes([a, b, c, d]).into()
}

struct Scan<'a> {
    rest: &'a [u8],
}

impl Scan<'_> {
    fn footer(&mut self) -> Option<()> {
        let mut last = 0;
        while let Some((field, kind)) = self.field(&mut last, &FOOTER_FIELDS)? {
            match field {
                COLUMNS => self.columns()?,
                _ => self.skip(kind, DEEPEST)?,
            }
        }
        Some(())
    }

    fn columns(&mut self) -> Option<()> {
        let (count, kind) = self.list()?;
        // The number of columns still to come in each open group.
        let mut open: Vec<i64> = Vec::new();
        for _ in 0..count {
            if kind != STRUCT || open.len() > DEEPEST {
                return None;
            }
            let children = self.column()?;
            if let Some(left) = open.last_mut() {
                *left -= 1;
            }
            open.push(children);
            while open.pop_if(|left| *left <= 0).is_some() {}
        }
        Some(())
    }

    /// The number of columns inside this one.
    fn column(&mut self) -> Option<i64> {
        let (mut children, mut last) = (0, 0);
        while let Some((field, kind)) = self.field(&mut last, &COLUMN_FIELDS)? {
            match field {
                CHILDREN => children = self.number()?,
                _ => self.skip(kind, DEEPEST)?,
            }
        }
        Some(children)
    }

    /// The next field's number and type, which must be the type in `known` where it is listed; none at
    /// the end.
    fn field(&mut self, last: &mut i64, known: &[u8]) -> Option<Option<(usize, u8)>> {
        let head = self.byte()?;
        let kind = head & 0x0f;
        if kind == 0 {
            return Some(None);
        }
        *last = if head >> 4 == 0 { self.number()? } else { last.checked_add((head >> 4).into())? };
        let field = usize::try_from(*last).ok()?;
        match field.checked_sub(1).and_then(|place| known.get(place)) {
            Some(expected) if *expected != kind => None,
            _ => Some(Some((field, kind))),
        }
    }

    /// The length of a list and the type of its elements.
    fn list(&mut self) -> Option<(u64, u8)> {
        let head = self.byte()?;
        let count = if head >> 4 == 15 { self.whole()? } else { (head >> 4).into() };
        Some((count, head & 0x0f))
    }

    fn skip(&mut self, kind: u8, depth: usize) -> Option<()> {
        let depth = depth.checked_sub(1)?;
        match kind {
            // Booleans are encoded in the type.
            1 | 2 => Some(()),
            3 => self.take(1),
            4..=6 => self.whole().map(|_| ()),
            7 => self.take(8),
            BINARY => {
                let length = self.whole()?;
                self.take(usize::try_from(length).ok()?)
            }
            LIST | 10 => {
                let (count, kind) = self.list()?;
                (0..count).try_for_each(|_| match kind {
                    1 | 2 => self.take(1),
                    kind => self.skip(kind, depth),
                })
            }
            STRUCT => {
                let mut last = 0;
                while let Some((_, kind)) = self.field(&mut last, &[])? {
                    self.skip(kind, depth)?;
                }
                Some(())
            }
            _ => None,
        }
    }

    fn number(&mut self) -> Option<i64> {
        let value = self.whole()?;
        Some((value >> 1) as i64 ^ -((value & 1) as i64))
    }

    fn whole(&mut self) -> Option<u64> {
        let mut value = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            value |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Some(value);
            }
        }
        None
    }

    fn byte(&mut self) -> Option<u8> {
        let (first, rest) = self.rest.split_first()?;
        self.rest = rest;
        Some(*first)
    }

    fn take(&mut self, count: usize) -> Option<()> {
        self.rest = self.rest.get(count..)?;
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A footer of this many groups, each in the one before; at most 126.
    fn nested(groups: u8) -> Vec<u8> {
        let group = [0x48, 1, b'x', 0x15, 2, 0];
        let leaf = [0x15, 2, 0x38, 1, b'x', 0];
        let count = [0x19, 0xfc, groups + 1];
        [&[0x15, 2][..], &count, &group.repeat(groups.into()), &leaf, &[0]].concat()
    }

    #[test]
    fn groups_inside_groups_are_counted() {
        assert!(is_shallow(&nested(1)) && is_shallow(&nested(DEEPEST as u8)));
        assert!(!is_shallow(&nested(DEEPEST as u8 + 2)));
    }

    #[test]
    fn what_cannot_be_read_is_not_shallow() {
        assert!(!is_shallow(&[]));
        assert!(is_shallow(&[0]));
        // A list of columns declared as a number, and structs without end.
        assert!(!is_shallow(&[0x25, 2, 0]));
        assert!(!is_shallow(&[0xec; 200]));
        assert!(!is_shallow(&[
            0x15, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1, 0
        ]));
    }
}
