//! Numbers that are the same but for rounding.

/// Whether two numbers differ by no more than so much of their size.
pub(crate) fn near(a: f64, b: f64, tolerance: f64) -> bool {
    a == b || (a - b).abs() <= tolerance * a.abs().max(b.abs())
}
