//! Numbers in a report's notation.

pub use privet_cli::page::numbers::{fixed, power, three_digits};

/// The kind of a score.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Measure<'a>(pub &'a str);

impl Measure<'_> {
    /// The name of an axis.
    pub fn axis(self) -> String {
        match self.0 {
            "accuracy" => "accuracy, % of held-out records".into(),
            "r-squared" => "R² on held-out records".into(),
            "rmse" => {
                "root mean squared error of held-out ratings (recall and NDCG of 20 recommended)"
                    .into()
            }
            other => other.into(),
        }
    }

    /// Digits after the point.
    pub fn digits(self) -> usize {
        if self.0 == "accuracy" { 1 } else { 3 }
    }

    /// A score.
    pub fn score(self, value: f64) -> String {
        fixed(value, self.digits())
    }

    /// A difference of two scores.
    pub fn difference(self, value: f64) -> String {
        let digits = self.digits();
        let size = fixed(value.abs(), digits);
        let zero = fixed(0.0, digits);
        match value {
            _ if size == zero => format!("±{zero}"),
            value if value < 0.0 => format!("−{size}"),
            _ => format!("+{size}"),
        }
    }
}

/// An integer with its thousands separated.
pub fn thousands(value: u64) -> String {
    let digits = value.to_string();
    let mut text = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Bytes, in the most readable unit.
pub fn bytes(value: f64) -> String {
    const UNITS: [&str; 4] = ["KiB", "MiB", "GiB", "TiB"];
    let mut size = value / 1024.0;
    let mut unit = 0;
    while size >= 1000.0 && unit + 1 < UNITS.len() {
        size /= 1024.0;
        unit += 1;
    }
    if size.is_finite() { format!("{} {}", three_digits(size), UNITS[unit]) } else { "–".into() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_and_sizes_are_read_at_a_glance() {
        assert_eq!(thousands(1_234_567), "1,234,567");
        assert_eq!(thousands(104), "104");
        assert_eq!(bytes(3.0 * 1024.0 * 1024.0), "3 MiB");
        assert_eq!(bytes(f64::NAN), "–");
    }

    #[test]
    fn differences_carry_their_sign() {
        let accuracy = Measure("accuracy");
        assert_eq!(accuracy.difference(2.04), "+2.0");
        assert_eq!(accuracy.difference(-0.36), "−0.4");
        assert_eq!(accuracy.difference(-0.01), "±0.0");
        assert_eq!(Measure("r-squared").difference(0.0312), "+0.031");
    }
}
