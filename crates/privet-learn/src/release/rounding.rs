//! Comparison of numbers up to rounding.

/// True if two numbers differ by at most `tolerance` times the larger magnitude.
pub(crate) fn nearly_equal(a: f64, b: f64, tolerance: f64) -> bool {
    a == b || (a - b).abs() <= tolerance * a.abs().max(b.abs())
}
