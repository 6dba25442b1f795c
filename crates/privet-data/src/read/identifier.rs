//! Identifiers of units: one rule for every reader.
//!
//! Two rows belong to one user exactly when their identifiers have one name:
//! - a text is its bytes (`7`, `07` and `7.0` are three users), without the blanks around it where the
//!   schema trims cells; under another declared spelling, its name by [`super::spelled::spell_identifier`];
//! - an integer of any type is its decimal digits, so that 7 is the user of the text `7`;
//! - a double is the integer that it holds. From 2⁵³ on neighbouring integers are one double, so that
//!   two users may have become one before the file was written: refused, as are fractions.
//!
//! NaN, the empty text and the schema's missing values identify no user. Types whose values are rounded
//! (single precision, times), have more than one spelling (dates, universal identifiers) or cannot
//! distinguish people (booleans, nested data) are refused whatever they hold.
//!
//! If two users were merged into one, adding a row of the one could drop a row of the other, and
//! neither would have a guarantee for one user. Tested by `tests/all/identifiers.rs`.

use super::spelled::{self, spell_identifier};
use crate::{
    encode::{Cell, EncodeError},
    error::Problem,
    schema::FileFacts,
};
use privet_core::Spelling;
use std::borrow::Cow;

/// From here on, two integers may be one double.
const INEXACT_FROM: f64 = 9_007_199_254_740_992.0;

/// Spellings of NaN by common programs. `Nan` is a name.
const NOT_A_NUMBER: [&[u8]; 3] = [b"NaN", b"nan", b"NAN"];

/// An identifier as read.
#[derive(Clone, Copy)]
pub(super) enum Identifier<'a> {
    Missing,
    Text(&'a [u8]),
    Whole(i128),
    Double(f64),
    /// An identifier that the reader cannot accept.
    Refused(Problem),
}

impl<'a> From<Cell<'a>> for Identifier<'a> {
    fn from(cell: Cell<'a>) -> Self {
        match cell {
            Cell::Missing => Self::Missing,
            Cell::Text(text) => Self::Text(text),
            Cell::Number(value) => Self::Double(value),
            Cell::Integer(value) => Self::Whole(value.into()),
            Cell::Unsupported | Cell::Moment { .. } => Self::Refused(Problem::UnsupportedType),
        }
    }
}

/// Maps identifiers to names; equal names are one user.
pub(super) struct Names {
    spelling: Spelling,
    trim: bool,
    /// The missing values as the schema writes them, and their names.
    missing_texts: Vec<Vec<u8>>,
    missing_numbers: Vec<i128>,
    /// The missing numbers as decimal digits.
    missing_digits: Vec<String>,
}

impl Names {
    /// By the schema's spelling, trimming and missing values. A number counts as missing if a missing
    /// value writes it in any way (`-999`, `-999.0`), and so do its digits as a text: a user's name
    /// must not depend on the type that a column happens to have.
    pub(super) fn new(file: &FileFacts, spelling: Spelling) -> Self {
        let missing_values = &file.missing_values;
        let number = |text: &String| {
            let double = || text.parse().ok().and_then(|value| whole(value).ok());
            text.parse::<i128>().ok().or_else(double)
        };
        let missing_numbers: Vec<i128> = missing_values.iter().filter_map(number).collect();
        let missing_digits = missing_numbers.iter().map(i128::to_string).collect();
        let name =
            |text: &String| spell_identifier(text.as_bytes(), spelling).ok().map(Cow::into_owned);
        let written = missing_values.iter().map(|text| text.clone().into_bytes());
        let missing_texts = written.chain(missing_values.iter().filter_map(name)).collect();
        Self { spelling, trim: file.trim, missing_texts, missing_numbers, missing_digits }
    }

    /// The user's name.
    pub(super) fn name<'a>(
        &self,
        identifier: Identifier<'a>,
    ) -> Result<Cow<'a, [u8]>, EncodeError> {
        let accepted = || spelled::accepted_spellings(self.spelling).into();
        self.checked(identifier).map_err(|problem| EncodeError { problem, accepted: accepted() })
    }

    fn checked<'a>(&self, identifier: Identifier<'a>) -> Result<Cow<'a, [u8]>, Problem> {
        let number = match identifier {
            Identifier::Missing => return Err(Problem::Missing),
            Identifier::Refused(problem) => return Err(problem),
            Identifier::Text(text) => return self.text(text),
            Identifier::Whole(value) => value,
            Identifier::Double(value) => whole(value)?,
        };
        match self.missing_numbers.contains(&number) {
            true => Err(Problem::Missing),
            false => Ok(Cow::Owned(number.to_string().into_bytes())),
        }
    }

    fn text<'a>(&self, text: &'a [u8]) -> Result<Cow<'a, [u8]>, Problem> {
        let bare = text.trim_ascii();
        let text = if self.trim { bare } else { text };
        if bare.is_empty() || self.is_missing(text) {
            return Err(Problem::Missing);
        }
        if NOT_A_NUMBER.contains(&bare) {
            return Err(Problem::NotFinite);
        }
        let name = spell_identifier(text, self.spelling)?;
        if self.is_missing(&name) { Err(Problem::Missing) } else { Ok(name) }
    }

    /// True if a text counts as missing, or is the digits of a number that does.
    fn is_missing(&self, text: &[u8]) -> bool {
        self.missing_texts.iter().any(|missing| missing == text)
            || self.missing_digits.iter().any(|digits| digits.as_bytes() == text)
    }
}

/// The integer that a double holds, if no other integer is the same double.
fn whole(value: f64) -> Result<i128, Problem> {
    if !value.is_finite() {
        return Err(Problem::NotFinite);
    }
    match value.fract() == 0.0 && value.abs() < INEXACT_FROM {
        true => Ok(value as i128),
        false => Err(Problem::Inexact),
    }
}
