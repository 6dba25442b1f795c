//! Numbers as a report writes them.

/// What a score is measured in.
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

/// A number with so many digits after the point; a dash for what is none.
pub fn fixed(value: f64, digits: usize) -> String {
    if value.is_finite() {
        format!("{value:.digits$}").replace('-', "−")
    } else if value == f64::INFINITY {
        "∞".into()
    } else {
        "–".into()
    }
}

/// A number with three significant digits at most.
pub fn short(value: f64) -> String {
    if !value.is_finite() || value == 0.0 {
        return fixed(value, 0);
    }
    let magnitude = value.abs().log10().floor();
    if !(-4.0..6.0).contains(&magnitude) {
        return power(value);
    }
    let digits = (2.0 - magnitude).max(0.0) as usize;
    let text = fixed(value, digits);
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').into() } else { text }
}

/// A number as a multiple of a power of ten.
pub fn power(value: f64) -> String {
    let text = format!("{value:.2e}");
    let Some((mantissa, exponent)) = text.split_once('e') else { return text };
    let mantissa = mantissa.trim_end_matches('0').trim_end_matches('.').replace('-', "−");
    let raised = exponent.chars().map(|digit| match digit {
        '-' => '⁻',
        digit => {
            "⁰¹²³⁴⁵⁶⁷⁸⁹".chars().nth(digit.to_digit(10).unwrap_or(0) as usize).unwrap_or(digit)
        }
    });
    let raised: String = raised.collect();
    if mantissa == "1" { format!("10{raised}") } else { format!("{mantissa}·10{raised}") }
}

/// A whole number with thousands apart.
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

/// Bytes, in the unit in which they are easiest read.
pub fn bytes(value: f64) -> String {
    const UNITS: [&str; 4] = ["KiB", "MiB", "GiB", "TiB"];
    let mut size = value / 1024.0;
    let mut unit = 0;
    while size >= 1000.0 && unit + 1 < UNITS.len() {
        size /= 1024.0;
        unit += 1;
    }
    if size.is_finite() { format!("{} {}", short(size), UNITS[unit]) } else { "–".into() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short() {
        for (value, text) in [
            (10_f64.powf(-1.5), "0.0316"),
            (0.1, "0.1"),
            (10.0, "10"),
            (1234.0, "1234"),
            (1e-9, "10⁻⁹"),
            (-2.5e7, "−2.5·10⁷"),
            (f64::INFINITY, "∞"),
            (f64::NAN, "–"),
            (0.0, "0"),
        ] {
            assert_eq!(short(value), text);
        }
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
