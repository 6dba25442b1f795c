//! Values computed from records.

use std::fmt;

/// A value that depends on records. It has no `Serialize`, no `Deref`, no comparison, and its `Debug`
/// reveals nothing. Computation continues inside through [`Private::map`]; only the mechanisms of this
/// crate take the value out, to add noise to it.
pub struct Private<T>(T);

impl<T> Private<T> {
    /// Marks a value as private. It leaves only through a mechanism.
    pub fn new(value: T) -> Self {
        Self(value)
    }

    /// Computes with the value. The result of `function` is private again; `function` must not store the
    /// value elsewhere (only review can ensure that).
    pub fn map<U>(self, function: impl FnOnce(T) -> U) -> Private<U> {
        Private(function(self.0))
    }

    /// Returns the value itself, inside this crate alone.
    pub(crate) fn open(self) -> T {
        self.0
    }
}

impl<T> fmt::Debug for Private<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Private(withheld)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn debug_withholds_the_value() {
        assert_eq!(format!("{:?}", Private::new("diagnosis").map(str::len)), "Private(withheld)");
    }
}
