//! Published values.

use super::Certificate;

/// A publishable value with its certificate. Made by [`super::Session::settle`] alone (or, marked as
/// having no privacy at all, by [`Release::without_privacy`]).
#[derive(Debug, Clone)]
pub struct Release<T> {
    value: T,
    certificate: Certificate,
}

impl<T> Release<T> {
    pub(super) fn new(value: T, certificate: Certificate) -> Self {
        Self { value, certificate }
    }

    /// Releases a value with no protection, for baselines on data that are public anyway. The
    /// certificate claims ε = ∞ and `verify` refuses it.
    pub fn without_privacy(value: super::Private<T>, request: serde_json::Value) -> Self {
        Self { value: value.open(), certificate: Certificate::without_privacy(request) }
    }

    /// The published value.
    pub fn value(&self) -> &T {
        &self.value
    }

    /// The certificate of the release.
    pub fn certificate(&self) -> &Certificate {
        &self.certificate
    }

    /// Post-processing: costs nothing because a plain function cannot capture records.
    pub fn map<U>(self, function: fn(T) -> U) -> Release<U> {
        Release { value: function(self.value), certificate: self.certificate }
    }

    /// The value and its certificate.
    pub fn into_parts(self) -> (T, Certificate) {
        (self.value, self.certificate)
    }
}
