//! Joint privacy: something public, and a part for each unit that it alone is told.
//!
//! **Theorem** (billboard lemma: Hsu, Huang, Roth, Roughgarden & Wu, "Private matchings and allocations", STOC
//! 2014). Let s be an (ε, δ)-differentially private function of all records, and let the part of
//! unit i be fᵢ = f(s, xᵢ), a function of s and of i's own records xᵢ alone. Then all that is
//! seen by everyone but i, namely s and the parts of the others, is (ε, δ)-indistinguishable when the
//! records of i change: (ε, δ)-*joint* differential privacy.
//!
//! *Proof.* The parts of the others are a fixed function of s and of records that did not change:
//! post-processing of s. ∎
//!
//! What the theorem needs, and how it is kept:
//! - f sees s and one unit's own records, nothing else: it is a plain `fn` that cannot capture, called for
//!   each unit with that unit's [`Private`] records. That those are the unit's own is for whoever groups
//!   records to see to, as with every [`Private`] value.
//! - part i is seen by unit i alone: [`Parts`] hands out one [`Part`] at a time, each with a certificate of its
//!   own that says [`SeenBy::AllButTheUnit`](crate::account::SeenBy), and has no form in which all of them
//!   can be written down. Whoever publishes a part publishes that unit's records; to bring each part to its
//!   unit and nobody else is for the operator.
//! - such a certificate never stands for a release that everyone sees: every other way to settle refuses
//!   the claim.
//!
//! The parts cannot be written, printed or walked through together:
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
//! use privet_dp::gate::{GateError, Noised, Private, Session, Statement};
//! fn leak(
//!     session: Session<'_>, noised: Noised<f64>, other: f64, statement: Statement,
//! ) -> Result<(), GateError> {
//!     let own = vec![Private::new(1.0)];
//!     session.settle_jointly(noised, own, |public, own: f64| public + own + other, statement)?;
//!     Ok(())
//! }
//! ```

use super::{
    Certificate, CertificateError, GateError, Noised, Private, Release, Session, Statement,
};
use std::fmt;

/// The parts of all units, in the order in which their records were given.
pub struct Parts<U> {
    parts: Vec<Option<U>>,
    certificate: Certificate,
}

/// What one unit is told, with the certificate of what it reveals to the others: of this unit, nothing
/// beyond what was published, as long as the unit alone sees it.
pub struct Part<U> {
    value: U,
    certificate: Certificate,
}

impl<U> Parts<U> {
    /// How many units there are. Under add/remove that is not for the public.
    pub fn units(&self) -> usize {
        self.parts.len()
    }

    /// The part of the unit at this place; once.
    pub fn take(&mut self, place: usize) -> Option<Part<U>> {
        let value = self.parts.get_mut(place)?.take()?;
        Some(Part { value, certificate: self.certificate.for_the_unit() })
    }
}

impl<U> Part<U> {
    /// The part of one unit from what was released before, with its certificate, and from that unit's own records: the
    /// same theorem, since what is public needs not be known in the same session. The certificate must prove what it
    /// claims, and towards everyone; one that claims nothing gives a part that claims nothing.
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
        // Those are of the file, not of what the unit is told.
        (told.digest, told.signature) = (None, None);
        Ok(Self { value: part(public, own.open()), certificate: told })
    }

    /// What the unit is told.
    pub fn value(&self) -> &U {
        &self.value
    }

    /// What it reveals, and to whom.
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
    /// Settles as [`Session::settle`] does, and makes a part for each unit from what is then public and from that
    /// unit's own records. What is public is shared between parts, so it may have no cell inside:
    /// ```compile_fail,E0277
    /// # use privet_dp::gate::{Noised, Private, Session, Statement};
    /// # use std::cell::RefCell;
    /// fn write(session: Session<'_>, public: Noised<RefCell<Vec<f64>>>, own: Vec<Private<f64>>, says: Statement) {
    ///     let _ = session.settle_jointly(public, own, |public, own: f64| public.borrow_mut().push(own), says);
    /// }
    /// ```
    /// (A lock inside it would still pass: do not make one.)
    pub fn settle_jointly<T: Sync, R, U>(
        self,
        public: Noised<T>,
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
