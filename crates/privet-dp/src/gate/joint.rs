//! Joint privacy: a public release, and a part for each unit that only this unit receives.
//!
//! **Theorem** (billboard lemma: Hsu, Huang, Roth, Roughgarden & Wu, "Private matchings and
//! allocations", STOC 2014). Let s be an (ε, δ)-differentially private function of all records, and let
//! the part of unit i be fᵢ = f(s, xᵢ), a function of s and of i's own records xᵢ alone. Then everything
//! seen by everyone but i, namely s and the parts of the others, is (ε, δ)-indistinguishable when the
//! records of i change: (ε, δ)-*joint* differential privacy.
//!
//! *Proof.* The parts of the others are a fixed function of s and of records that did not change:
//! post-processing of s. ∎
//!
//! Assumptions of the theorem, and how they are met:
//! - f sees s and one unit's own records, nothing else: it is a plain `fn` that cannot capture, called
//!   for each unit with that unit's [`Private`] records. The caller that groups records must ensure that
//!   those are the unit's own, as with every [`Private`] value.
//! - part i is seen by unit i alone: [`Parts`] returns one [`Part`] at a time, each with a certificate
//!   of its own for [`SeenBy::AllButTheUnit`](crate::account::SeenBy), and has no form in which all of
//!   them can be written down. Publishing a part publishes that unit's records; the operator must
//!   deliver each part to its unit alone.
//! - such a certificate never stands for a release that everyone sees: every other way to settle refuses
//!   the claim.
//!
//! The parts cannot be written, printed or iterated over together:
//! ```compile_fail,E0277
//! fn all(parts: privet_dp::gate::Parts<f64>) -> String { serde_json::to_string(&parts).unwrap() }
//! ```
//! ```compile_fail,E0599
//! fn all(parts: privet_dp::gate::Parts<f64>) -> Vec<f64> {
//!     parts.into_iter().map(|part| *part.value()).collect()
//! }
//! ```
//! ```compile_fail,E0599
//! fn two(parts: privet_dp::gate::Parts<f64>) { let _ = parts.clone(); }
//! ```
//! nor be made by hand:
//! ```compile_fail
//! let forged = privet_dp::gate::Parts::<f64> { parts: vec![] };
//! ```
//! and the function that makes one cannot capture another unit's records:
//! ```compile_fail,E0308
//! use privet_dp::gate::{GateError, Noisy, Private, Session, Statement};
//! fn leak(
//!     session: Session<'_>, noised: Noisy<f64>, other: f64, statement: Statement,
//! ) -> Result<(), GateError> {
//!     let own = vec![Private::new(1.0)];
//!     session.settle_jointly(noised, own, |public, own: f64| public + own + other, statement)?;
//!     Ok(())
//! }
//! ```

use super::{
    Certificate, CertificateError, GateError, Noisy, Private, Release, Session, Statement,
};
use std::fmt;

/// The parts of all units, in the order of their records.
pub struct Parts<U> {
    parts: Vec<Option<U>>,
    certificate: Certificate,
}

/// The part of one unit, with its certificate: it reveals nothing about this unit to the others beyond
/// the public release, as long as the unit alone sees it.
pub struct Part<U> {
    value: U,
    certificate: Certificate,
}

impl<U> Parts<U> {
    /// The number of units. Under add/remove it is not public.
    pub fn units(&self) -> usize {
        self.parts.len()
    }

    /// Returns the part of the unit with this index; once.
    pub fn take(&mut self, place: usize) -> Option<Part<U>> {
        let value = self.parts.get_mut(place)?.take()?;
        Some(Part { value, certificate: self.certificate.for_the_unit() })
    }
}

impl<U> Part<U> {
    /// The part of one unit from an earlier release, with its certificate, and from that unit's own
    /// records: the same theorem, since the public value may come from another session. The certificate
    /// must prove its claim, and towards everyone; one that claims nothing gives a part that claims
    /// nothing.
    pub fn of<T: Sync, R>(
        public: &T,
        certificate: &Certificate,
        own: Private<R>,
        part: fn(&T, R) -> U,
    ) -> Result<Self, CertificateError> {
        if let Some(proved) = certificate.recheck()? {
            proved.for_everyone().map_err(CertificateError::Account)?;
        }
        let mut told = certificate.for_the_unit();
        // Digest and signature are the file's, not the part's.
        (told.digest, told.signature) = (None, None);
        Ok(Self { value: part(public, own.open()), certificate: told })
    }

    /// The unit's value.
    pub fn value(&self) -> &U {
        &self.value
    }

    /// The certificate: the guarantee and its audience.
    pub fn certificate(&self) -> &Certificate {
        &self.certificate
    }

    /// The value and its certificate.
    pub fn into_parts(self) -> (U, Certificate) {
        (self.value, self.certificate)
    }
}

impl<U> fmt::Debug for Parts<U> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Parts(withheld)")
    }
}

impl<U> fmt::Debug for Part<U> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Part(withheld)")
    }
}

impl Session<'_> {
    /// Settles as [`Session::settle`] does, and makes a part for each unit from the public release and
    /// from that unit's own records. The public value is shared between parts, so it may have no
    /// interior mutability:
    /// ```compile_fail,E0277
    /// # use privet_dp::gate::{Noisy, Private, Session, Statement};
    /// # use std::cell::RefCell;
    /// fn write(session: Session<'_>, public: Noisy<RefCell<Vec<f64>>>, own: Vec<Private<f64>>, says: Statement) {
    ///     let _ = session.settle_jointly(public, own, |public, own: f64| public.borrow_mut().push(own), says);
    /// }
    /// ```
    /// (A lock inside it would still pass: do not make one.)
    pub fn settle_jointly<T: Sync, R, U>(
        self,
        public: Noisy<T>,
        units: Vec<Private<R>>,
        part: fn(&T, R) -> U,
        statement: Statement,
    ) -> Result<(Release<T>, Parts<U>), GateError> {
        let release = self.settle(public, statement)?;
        let certificate = release.certificate().clone();
        let made = |own: Private<R>| Some(part(release.value(), own.open()));
        let parts = units.into_iter().map(made).collect();
        Ok((release, Parts { parts, certificate }))
    }
}
