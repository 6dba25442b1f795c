//! The name of an identifier under the declared spelling, from its own cell alone ([`Spelling`]).
//!
//! **Numbers** are read digit by digit, of any length and never through a double: an optional sign,
//! digits, and after a point nothing but zeros, as a program writes an integer that it holds as a
//! fraction because another row of its column is missing. The digits without leading zeros are the
//! name, the same as that of an integer of any type. From 2⁵³ on a number with a point is refused, as a
//! double is: the program that wrote it may have held two integers as one. Exponents are refused:
//! programs write them where digits are already lost.
//!
//! **Normal form C** of Unicode is the same in every version for the characters that a version knows;
//! other characters are kept as they are.
//!
//! **The protected unit** is everyone who shares a name. If several people share one, each person's
//! rows influence which of the others' are among the `max_records` that are kept: without hers, up to
//! that many leave and as many others enter. That is a replacement of the unit, and what replace-one
//! charges; under add-remove these spellings are refused when a plan is made. Under replace-one, one
//! step of the guarantee covers that she leaves, that she comes, and that her rows become any others
//! under the same name; an exchange with somebody of another name changes two units where both are
//! shared, and is two steps. Where nobody shares a name it is one, as under [`Spelling::Text`].

use crate::error::Problem;
use privet_core::Spelling;
use std::borrow::Cow;
use unicode_normalization::{IsNormalized, UnicodeNormalization, is_nfc_quick};

/// From here on, two integers may be one double: 2⁵³.
const INEXACT_FROM: &[u8] = b"9007199254740992";

/// The accepted identifiers of a spelling, in words for a refusal.
pub(super) fn accepted_spellings(spelling: Spelling) -> &'static str {
    match spelling {
        Spelling::Text => {
            "a text that is neither empty nor NaN, or a whole number (as a double: below 2^53)"
        }
        Spelling::Number => {
            "a whole number such as 2, 02, +2 or 2.0 (as a double, or with a point: below 2^53)"
        }
        Spelling::Nfc => {
            "a text in UTF-8 that is neither empty nor NaN, or a whole number (as a double: below 2^53)"
        }
    }
}

/// The name of a text.
pub(super) fn spell_identifier(text: &[u8], spelling: Spelling) -> Result<Cow<'_, [u8]>, Problem> {
    match spelling {
        Spelling::Text => Ok(Cow::Borrowed(text)),
        Spelling::Number => digits(text.trim_ascii()),
        Spelling::Nfc => {
            let text = std::str::from_utf8(text).map_err(|_| Problem::NotText)?;
            Ok(match is_nfc_quick(text.chars()) {
                IsNormalized::Yes => Cow::Borrowed(text.as_bytes()),
                _ => Cow::Owned(text.nfc().collect::<String>().into_bytes()),
            })
        }
    }
}

/// The decimal digits of the integer that a text writes, with a minus where it is negative.
fn digits(text: &[u8]) -> Result<Cow<'_, [u8]>, Problem> {
    let (below, unsigned) = match text {
        [b'-', rest @ ..] => (true, rest),
        [b'+', rest @ ..] => (false, rest),
        _ => (false, text),
    };
    let end = unsigned.iter().position(|byte| !byte.is_ascii_digit()).unwrap_or(unsigned.len());
    let (whole, rest) = unsigned.split_at(end);
    let fraction = match rest {
        [] => None,
        [b'.', fraction @ ..] => Some(fraction),
        _ => return Err(Problem::NotANumber),
    };
    if whole.is_empty() || fraction.is_some_and(|rest| !rest.iter().all(u8::is_ascii_digit)) {
        return Err(Problem::NotANumber);
    }
    let zeros = whole.iter().take_while(|digit| **digit == b'0').count();
    let whole = &whole[zeros.min(whole.len() - 1)..];
    let inexact = |fraction: &[u8]| {
        fraction.iter().any(|digit| *digit != b'0')
            || (whole.len(), whole) >= (INEXACT_FROM.len(), INEXACT_FROM)
    };
    if fraction.is_some_and(inexact) {
        return Err(Problem::Inexact);
    }
    Ok(match below && whole != b"0" {
        true => Cow::Owned([b"-", whole].concat()),
        false => Cow::Borrowed(whole),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn number(text: &str) -> Result<String, Problem> {
        let name = spell_identifier(text.as_bytes(), Spelling::Number)?;
        Ok(String::from_utf8(name.into_owned()).unwrap())
    }

    #[test]
    fn an_integer_has_one_name_however_it_is_written() {
        for two in ["2", "2.0", "2.", "2.000", "02", "+2", "+002.00", " 2 "] {
            assert_eq!(number(two).as_deref(), Ok("2"), "{two:?}");
        }
        for nought in ["0", "-0", "+0", "000", "-0.0", "0."] {
            assert_eq!(number(nought).as_deref(), Ok("0"), "{nought:?}");
        }
        assert_eq!(number("-07.0").as_deref(), Ok("-7"));
        // Beyond the range of any type of number.
        let long = "123456789".repeat(30);
        assert_eq!(number(&format!("+00{long}")), Ok(long));
        for none in [
            "", " ", ".", ".0", "-", "+-2", "2e0", "1e16", "0x2", "2,0", "1 2", "2.0.0", "2.x", "٢",
        ] {
            assert_eq!(number(none), Err(Problem::NotANumber), "{none:?}");
        }
        for lost in ["2.5", "-0.1", "2.0001", "9007199254740992.0", "-10000000000000000.0"] {
            assert_eq!(number(lost), Err(Problem::Inexact), "{lost:?}");
        }
        assert_eq!(number("9007199254740991.0").as_deref(), Ok("9007199254740991"));
        assert_eq!(number("9007199254740993").as_deref(), Ok("9007199254740993"));
    }

    #[test]
    fn a_text_has_one_name_however_it_is_composed() {
        let nfc =
            |text: &str| spell_identifier(text.as_bytes(), Spelling::Nfc).map(Cow::into_owned);
        assert_eq!(nfc("e\u{301}lan"), nfc("élan"));
        assert_eq!(nfc("\u{1100}\u{1161}"), nfc("가"));
        assert_eq!(nfc("a\u{323}\u{307}"), nfc("a\u{307}\u{323}"));
        assert_ne!(nfc("elan"), nfc("élan"));
        assert_ne!(nfc("ﬁn"), nfc("fin"), "compatibility is not identity");
        assert_eq!(spell_identifier(b"\xe9lan", Spelling::Nfc), Err(Problem::NotText));
        let text = |text: &'static str| spell_identifier(text.as_bytes(), Spelling::Text);
        assert_ne!(text("e\u{301}lan"), text("élan"));
    }

    proptest! {
        /// Two texts have one name exactly if they write one integer, by an independent parser of
        /// integers.
        #[test]
        fn names_are_those_of_integers(
            value in any::<i64>(), zeros in 0..4_usize, plus in any::<bool>(), fraction in 0..4_usize,
        ) {
            let sign = if value < 0 { "-" } else if plus { "+" } else { "" };
            let point = if fraction > 0 { "." } else { "" };
            let text = format!(
                "{sign}{}{}{point}{}", "0".repeat(zeros), value.unsigned_abs(), "0".repeat(fraction.saturating_sub(1))
            );
            let exact = fraction == 0 || value.unsigned_abs() < 1 << 53;
            prop_assert_eq!(number(&text), if exact { Ok(value.to_string()) } else { Err(Problem::Inexact) });
        }

        /// A name is its own name, and no cell makes the parser panic.
        #[test]
        fn a_name_is_its_own_name(
            cell in prop_oneof![
                prop::collection::vec(any::<u8>(), 0..20),
                "[-+ ]?[0-9]{0,20}[.]?[0-9]{0,3}".prop_map(String::into_bytes),
                "[a-c\u{300}-\u{303}\u{e9}\u{1100}-\u{1112}\u{1161}-\u{1175}]{0,8}".prop_map(String::into_bytes),
            ],
        ) {
            for spelling in [Spelling::Text, Spelling::Number, Spelling::Nfc] {
                if let Ok(name) = spell_identifier(&cell, spelling) {
                    prop_assert_eq!(spell_identifier(&name, spelling), Ok(Cow::Borrowed(&*name)));
                }
            }
        }
    }
}
