//! Numbers in the notation of plots and reports.

/// A number with so many digits after the point; a dash for NaN and −∞.
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
pub fn three_digits(value: f64) -> String {
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

/// A number in scientific notation.
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
            assert_eq!(three_digits(value), text);
        }
    }
}
