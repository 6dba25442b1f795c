//! A canonical form of JSON, so that a digest covers its content.
//!
//! [`canonical`] is RFC 8785 (JCS): no white space, keys sorted by their UTF-16 code units, texts
//! without unnecessary escapes, every number read as a double and written as ECMAScript writes it. Any
//! implementation of the standard in any language makes the same bytes, whatever the document's layout.
//! Two integers beyond 2⁵³ can have the same double, while a reader of integers tells them apart: those
//! are refused, and must be written as texts.
//!
//! [`sorted`] is the older form of the files of format 1: keys sorted by their bytes, numbers as they
//! stand.

use serde_json::{Number, Value};

/// Integers up to this absolute value are exact doubles.
const LARGEST_EXACT_INTEGER: u64 = 1 << 53;

/// A document that has no canonical form.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the whole number {0} is beyond 2^53, where readers differ: it is to be written as a text")]
pub struct TooWide(String);

/// The canonical form of RFC 8785.
pub fn canonical(value: &Value) -> Result<String, TooWide> {
    let mut text = String::new();
    write(value, &mut text, &Form::RFC_8785)?;
    Ok(text)
}

/// JSON with sorted keys and no white space, whatever features `serde_json` was built with: the form of
/// format 1.
pub fn sorted(value: &Value) -> String {
    let mut text = String::new();
    // Writing cannot fail: this form accepts every number.
    let _ = write(value, &mut text, &Form::SORTED);
    text
}

/// The differences between the two forms.
struct Form {
    sort: fn(&mut Vec<(&String, &Value)>),
    number: fn(&Number) -> Result<String, TooWide>,
}

impl Form {
    const RFC_8785: Self = Self {
        sort: |entries| entries.sort_by(|(a, _), (b, _)| a.encode_utf16().cmp(b.encode_utf16())),
        number,
    };
    const SORTED: Self = Self {
        sort: |entries| entries.sort_by_key(|(key, _)| key.as_str()),
        number: |number| Ok(number.to_string()),
    };
}

fn write(value: &Value, text: &mut String, form: &Form) -> Result<(), TooWide> {
    match value {
        Value::Object(map) => {
            let mut entries: Vec<_> = map.iter().collect();
            (form.sort)(&mut entries);
            text.push('{');
            for (place, (key, inner)) in entries.into_iter().enumerate() {
                if place > 0 {
                    text.push(',');
                }
                text.push_str(&Value::from(key.as_str()).to_string());
                text.push(':');
                write(inner, text, form)?;
            }
            text.push('}');
        }
        Value::Array(items) => {
            text.push('[');
            for (place, inner) in items.iter().enumerate() {
                if place > 0 {
                    text.push(',');
                }
                write(inner, text, form)?;
            }
            text.push(']');
        }
        Value::Number(number) => text.push_str(&(form.number)(number)?),
        // Escapes are those that the standard has: \b \t \n \f \r \" \\ and \u00xx for other controls.
        plain => text.push_str(&plain.to_string()),
    }
    Ok(())
}

fn number(number: &Number) -> Result<String, TooWide> {
    let refused = || TooWide(number.to_string());
    if let Some(whole) = number.as_i64() {
        return if whole.unsigned_abs() <= LARGEST_EXACT_INTEGER {
            Ok(whole.to_string())
        } else {
            Err(refused())
        };
    }
    match number.as_f64() {
        Some(double) if number.is_f64() => Ok(ecmascript(double)),
        _ => Err(refused()),
    }
}

/// A finite double as ECMAScript writes it (Number::toString): the shortest digits that read back as the same
/// double, the nearest of those (of two, the even one), and an exponent from 10²¹ up and below 10⁻⁶.
fn ecmascript(double: f64) -> String {
    if double == 0.0 {
        return "0".into();
    }
    let sign = if double < 0.0 { "-" } else { "" };
    let scientific = shortest(double.abs());
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let digits = mantissa.replace('.', "");
    // The number is 0.digits · 10^point.
    let point = exponent.parse::<i32>().unwrap_or(0) + 1;
    let count = digits.len() as i32;
    let body = match point {
        _ if (count..=21).contains(&point) => {
            format!("{digits}{}", "0".repeat((point - count) as usize))
        }
        1..=21 => format!("{}.{}", &digits[..point as usize], &digits[point as usize..]),
        -5..=0 => format!("0.{}{digits}", "0".repeat(-point as usize)),
        _ => {
            let (first, rest) = digits.split_at(1);
            let dot = if rest.is_empty() { "" } else { "." };
            format!("{first}{dot}{rest}e{:+}", point - 1)
        }
    };
    format!("{sign}{body}")
}

/// The shortest digits as d.ddd…e±x. Rust's own are as few, but of two equally near ones it takes the
/// larger.
fn shortest(double: f64) -> String {
    let few = format!("{double:e}");
    let digits = few.bytes().take_while(|byte| *byte != b'e').filter(u8::is_ascii_digit).count();
    let even = format!("{double:.*e}", digits - 1);
    if even.parse() == Ok(double) { even } else { few }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    /// RFC 8785, appendix B.
    #[test]
    fn doubles_are_written_as_the_standard_writes_them() {
        for (bits, text) in [
            (0x0000_0000_0000_0000, "0"),
            (0x8000_0000_0000_0000, "0"),
            (0x0000_0000_0000_0001, "5e-324"),
            (0x8000_0000_0000_0001, "-5e-324"),
            (0x7fef_ffff_ffff_ffff, "1.7976931348623157e+308"),
            (0xffef_ffff_ffff_ffff, "-1.7976931348623157e+308"),
            (0x4340_0000_0000_0000, "9007199254740992"),
            (0xc340_0000_0000_0000, "-9007199254740992"),
            (0x4430_0000_0000_0000, "295147905179352830000"),
            (0x44b5_2d02_c7e1_4af5, "9.999999999999997e+22"),
            (0x44b5_2d02_c7e1_4af6, "1e+23"),
            (0x44b5_2d02_c7e1_4af7, "1.0000000000000001e+23"),
            (0x444b_1ae4_d6e2_ef4e, "999999999999999700000"),
            (0x444b_1ae4_d6e2_ef4f, "999999999999999900000"),
            (0x444b_1ae4_d6e2_ef50, "1e+21"),
            (0x3eb0_c6f7_a0b5_ed8c, "9.999999999999997e-7"),
            (0x3eb0_c6f7_a0b5_ed8d, "0.000001"),
            (0x41b3_de43_5555_5553, "333333333.3333332"),
            (0x41b3_de43_5555_5554, "333333333.33333325"),
            (0x41b3_de43_5555_5555, "333333333.3333333"),
            (0x41b3_de43_5555_5556, "333333333.3333334"),
            (0x41b3_de43_5555_5557, "333333333.33333343"),
            (0xbecb_f647_612f_3696, "-0.0000033333333333333333"),
            (0x4314_3ff3_c1cb_0959, "1424953923781206.2"),
            // In addition: the least normal double, the greatest subnormal one, and both sides of the
            // exponents.
            (0x0010_0000_0000_0000, "2.2250738585072014e-308"),
            (0x000f_ffff_ffff_ffff, "2.225073858507201e-308"),
            (1e-7_f64.to_bits(), "1e-7"),
            (1.5e-7_f64.to_bits(), "1.5e-7"),
            (123e-8_f64.to_bits(), "0.00000123"),
            (1e20_f64.to_bits(), "100000000000000000000"),
            (1e22_f64.to_bits(), "1e+22"),
            (0.1_f64.to_bits(), "0.1"),
            (1.0_f64.to_bits(), "1"),
            (10.5_f64.to_bits(), "10.5"),
            (300.0_f64.to_bits(), "300"),
        ] {
            let double = f64::from_bits(bits);
            assert_eq!(canonical(&json!(double)), Ok(text.into()), "{bits:016x}");
        }
    }

    /// RFC 8785, section 3.2.2 and 3.2.3.
    #[test]
    fn documents_are_written_as_the_standard_writes_them() {
        let text = r#"{
            "numbers": [333333333.33333329, 1E30, 4.50, 2e-3, 0.000000000000000000000000001],
            "string": "\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/",
            "literals": [null, true, false]
        }"#;
        let expected = "{\"literals\":[null,true,false],\
            \"numbers\":[333333333.3333333,1e+30,4.5,0.002,1e-27],\
            \"string\":\"€$\\u000f\\nA'B\\\"\\\\\\\\\\\"/\"}";
        let value: Value = serde_json::from_str(text).unwrap();
        assert_eq!(canonical(&value), Ok(expected.into()));
        let keys = ["\u{20ac}", "\r", "\u{fb33}", "1", "\u{1f600}", "\u{80}", "\u{f6}"];
        let value: Value = keys.iter().map(|key| ((*key).to_string(), Value::Null)).collect();
        let expected = "{\"\\r\":null,\"1\":null,\"\u{80}\":null,\"\u{f6}\":null,\"\u{20ac}\":null,\
            \"\u{1f600}\":null,\"\u{fb33}\":null}";
        assert_eq!(canonical(&value), Ok(expected.into()));
    }

    #[test]
    fn texts_have_no_escape_that_is_not_needed() {
        let controls: String = (0..0x20_u8).map(char::from).collect();
        let expected = "\"\\u0000\\u0001\\u0002\\u0003\\u0004\\u0005\\u0006\\u0007\\b\\t\\n\\u000b\
            \\f\\r\\u000e\\u000f\\u0010\\u0011\\u0012\\u0013\\u0014\\u0015\\u0016\\u0017\\u0018\
            \\u0019\\u001a\\u001b\\u001c\\u001d\\u001e\\u001f\"";
        assert_eq!(canonical(&json!(controls)), Ok(expected.into()));
        let plain = "/'\u{7f}\u{80}\u{2028}\u{2029}\u{feff}\u{ffff}😀";
        assert_eq!(canonical(&json!(plain)), Ok(format!("\"{plain}\"")));
    }

    #[test]
    fn whole_numbers_that_a_double_cannot_hold_are_refused() {
        for whole in ["9007199254740992", "-9007199254740992", "0", "-1"] {
            let value: Value = serde_json::from_str(whole).unwrap();
            assert_eq!(canonical(&value), Ok(whole.into()));
        }
        for wide in ["9007199254740993", "-9007199254740993", "18446744073709551615"] {
            let value: Value = serde_json::from_str(&format!(r#"{{"a":[{wide}]}}"#)).unwrap();
            assert_eq!(canonical(&value), Err(TooWide(wide.into())));
            assert_eq!(sorted(&value), format!(r#"{{"a":[{wide}]}}"#));
        }
        assert_eq!(canonical(&json!(-0.0)), Ok("0".into()));
    }

    #[test]
    fn the_form_of_format_1_sorts_keys_by_bytes_and_keeps_numbers() {
        assert_eq!(
            sorted(&json!({"😀": 1.0, "\u{ffff}": -0.0, "a": [true, null]})),
            "{\"a\":[true,null],\"\u{ffff}\":-0.0,\"😀\":1.0}"
        );
    }

    proptest! {
        #[test]
        fn what_is_written_reads_back_as_the_same_double(bits in any::<u64>()) {
            let double = f64::from_bits(bits);
            prop_assume!(double.is_finite());
            let text = ecmascript(double);
            prop_assert_eq!(text.parse::<f64>().unwrap(), double, "{}", text);
            let digits = |text: &str| {
                let digits: String = text.split('e').take(1).collect();
                digits.chars().filter(char::is_ascii_digit).collect::<String>()
            };
            let trimmed = |text: &str| digits(text).trim_matches('0').len();
            prop_assert_eq!(trimmed(&text), trimmed(&format!("{double:e}")), "as few: {}", text);
        }
    }
}
