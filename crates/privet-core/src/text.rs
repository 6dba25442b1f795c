//! Untrusted text, escaped for display.

use std::borrow::Cow;
use std::fmt::Write;

/// `text` with every character that would act on a terminal, or on how its line is read, written as
/// `\u{…}`: control characters (line breaks and tabs among them), line and paragraph separators, and
/// characters that change the direction of writing. All text from a file, a schema or an argument passes
/// through here before display, so that it cannot imitate the program's own messages.
///
/// ```
/// assert_eq!(privet_core::printable("two classes: ä, 表"), "two classes: ä, 表");
/// assert_eq!(privet_core::printable("x\nVALID: \u{1b}[2J"), r"x\u{a}VALID: \u{1b}[2J");
/// ```
pub fn printable(text: &str) -> Cow<'_, str> {
    if !text.chars().any(acts) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 8);
    for letter in text.chars() {
        if acts(letter) {
            // Writing to a `String` cannot fail.
            let _ = write!(shown, "\\u{{{:x}}}", u32::from(letter));
        } else {
            shown.push(letter);
        }
    }
    Cow::Owned(shown)
}

/// As [`printable`], but keeps line breaks.
pub fn printable_lines(text: &str) -> Cow<'_, str> {
    if !text.chars().any(|letter| letter != '\n' && acts(letter)) {
        return Cow::Borrowed(text);
    }
    Cow::Owned(text.split('\n').map(printable).collect::<Vec<_>>().join("\n"))
}

/// True if a character has an effect beyond its own glyph.
fn acts(letter: char) -> bool {
    letter.is_control()
        || matches!(letter,
            '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{feff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_that_acts_on_a_terminal_is_left() {
        let every: String = (0..=0x1_0000).filter_map(char::from_u32).collect();
        let shown = printable(&every);
        assert!(!shown.chars().any(|letter| letter.is_control() || acts(letter)));
        assert!(
            shown.contains("\\u{9b}") && shown.contains("\\u{7f}") && shown.contains("\\u{202e}")
        );
        assert_eq!(printable_lines("a\r\nb\n"), "a\\u{d}\nb\n");
        assert!(matches!(printable("ε = 1, ‘naïve’"), Cow::Borrowed(_)));
    }
}
