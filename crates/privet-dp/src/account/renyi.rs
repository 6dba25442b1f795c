//! Placeholder
use super::parts::Part;
pub fn delta(_rest: &[(Part, u64)], _nu: f64, _e: f64) -> f64 {
    1.0
}
