//! The parts of every plot: a scale with round ticks, escaped texts.

use crate::output::number;
use privet_core::printable;
use std::fmt::Write as _;

/// Text escaped for an element or an attribute.
pub fn entities(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => shown.push_str("&amp;"),
            '<' => shown.push_str("&lt;"),
            '>' => shown.push_str("&gt;"),
            '"' => shown.push_str("&quot;"),
            '\'' => shown.push_str("&#39;"),
            // Not allowed in a page, even as a reference.
            letter if letter.is_control() && !letter.is_whitespace() => shown.push('\u{fffd}'),
            letter => shown.push(letter),
        }
    }
    shown
}

/// Text from elsewhere, escaped, with control characters made visible.
pub(super) fn escape(text: &str) -> String {
    entities(&printable(text))
}

/// As [`escape`], cut to so many characters.
pub(super) fn escape_cut(text: &str, most: usize) -> String {
    match text.chars().count() > most {
        true => escape(&format!("{}…", text.chars().take(most - 1).collect::<String>())),
        false => escape(text),
    }
}

/// A number for people: three digits, a true minus.
pub(super) fn three_digits(value: f64) -> String {
    if value == 0.0 || !value.is_finite() {
        return number(value);
    }
    let digits = (2 - value.abs().log10().floor() as i32).clamp(-300, 300);
    let power = 10_f64.powi(digits);
    number((value * power).round() / power).replace('-', "−")
}

/// As [`three_digits`], with its sign.
pub(super) fn signed_number(value: f64) -> String {
    if value > 0.0 { format!("+{}", three_digits(value)) } else { three_digits(value) }
}

/// A scale from values to coordinates.
pub(super) struct Scale {
    pub low: f64,
    pub high: f64,
    /// Coordinates of `low` and `high`.
    pub from: f64,
    pub to: f64,
}

impl Scale {
    /// Over these values and 0, with room around.
    pub(super) fn around_zero(values: impl Iterator<Item = f64>, from: f64, to: f64) -> Self {
        let finite = values.filter(|value| value.is_finite());
        let (low, high) =
            finite.fold((0.0_f64, 0.0_f64), |(low, high), x| (low.min(x), high.max(x)));
        let pad = if high > low { 0.06 * (high - low) } else { 1.0 };
        Self { low: low - pad, high: high + pad, from, to }
    }

    pub(super) fn at(&self, value: f64) -> f64 {
        let share = (value - self.low) / (self.high - self.low);
        self.from + share.clamp(-0.05, 1.05) * (self.to - self.from)
    }

    /// About so many round values within.
    pub(super) fn ticks(&self, about: f64) -> Vec<f64> {
        let step = round_step((self.high - self.low) / about);
        let (first, last) = ((self.low / step).ceil(), (self.high / step).floor());
        if !(last - first).is_finite() || last - first > 40.0 {
            return vec![self.low, self.high];
        }
        (0..=(last - first) as i32).map(|count| (first + f64::from(count)) * step).collect()
    }
}

/// The smallest of 1, 2, 5 times a power of ten that is at least `rough`.
pub(super) fn round_step(rough: f64) -> f64 {
    let power = 10_f64.powf(rough.log10().floor());
    let factor = [1.0, 2.0, 5.0].into_iter().find(|factor| factor * power >= rough * (1.0 - 1e-9));
    factor.unwrap_or(10.0) * power
}

/// The opening tag of a picture, with a label for screen readers.
pub(super) fn open(width: f64, height: f64, label: &str) -> String {
    format!(
        "<svg role=\"img\" width=\"{width:.0}\" height=\"{height:.0}\" viewBox=\"0 0 {width:.0} {height:.0}\" \
         aria-label=\"{}\">",
        escape(label)
    )
}

/// A text at a position; `end` is `start`, `middle` or `end`, and the text is escaped already.
pub(super) fn text(svg: &mut String, (x, y): (f64, f64), end: &str, class: &str, words: &str) {
    let _ = write!(
        svg,
        "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{end}\"{}>{words}</text>",
        if class.is_empty() { String::new() } else { format!(" class=\"{class}\"") }
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_from_elsewhere_stay_texts() {
        let hostile = "<script>\"x\" & 'y'\u{202e}\u{1b}";
        let shown = escape(hostile);
        assert!(!shown.contains(['<', '>', '"', '\'', '\u{202e}', '\u{1b}']), "{shown}");
        assert_eq!(escape_cut("abcdef", 4), "abc…");
    }

    #[test]
    fn ticks_are_round_and_within() {
        let scale = Scale { low: -0.13, high: 0.52, from: 0.0, to: 1.0 };
        assert_eq!(
            scale.ticks(5.0).iter().map(|t| three_digits(*t)).collect::<Vec<_>>(),
            ["0", "0.2", "0.4"]
        );
        for (low, high) in [(0.0, 1e-300), (-1e300, 1e300), (5.0, 5.0000001)] {
            let scale = Scale { low, high, from: 0.0, to: 1.0 };
            assert!(scale.ticks(5.0).len() < 50);
        }
    }
}
