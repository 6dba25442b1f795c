//! The certificate that travels with every release.
//!
//! A certificate states neighbours, unit, (ε, δ), the executed events, and the public request from which
//! anyone can derive the same plan. Verification has three parts: the guarantee is recomputed from the
//! events ([`Certificate::recheck`]); the plan is derived again from the request (by the crate that owns
//! the learners); the seal ([`super::seal`]) binds model and certificate. It cannot show that its holder
//! ran this code; a [`Signature`] lets an organisation vouch for it.

use super::canonical::TooWide;
use super::ledger_entry::LedgerEntry;
use super::provenance::{LAST_WITHOUT_PROVENANCE, Provenance, Version};
use super::seal::{self, Signature};
use super::statement::Statement;
use crate::account::{self, AccountError, Event, Filter, Guarantee, SeenBy, Tally};
use crate::noise::Origin;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;

/// The certificate format that this version writes.
pub const FORMAT: &str = "privet-certificate-2";
/// The certificate format of versions before 0.2, which is still verified.
pub const FORMAT_1: &str = "privet-certificate-1";

/// Note of a certificate whose noise is reproducible.
pub const FIXED_SEED: &str = "NOT PRIVATE: the noise was made from a fixed seed";

/// Note of a certificate of a part that only one unit receives.
pub const FOR_THE_UNIT: &str = "for the eyes of the person concerned alone: it is made from what was published \
     and that person's own records, and whoever else sees it may learn those records";

/// Note of a certificate without noise.
pub const NOT_PRIVATE: &str = "NOT PRIVATE: trained without noise, for comparison only";

/// Note of a certificate of a session that ended early.
pub const ENDED_EARLY: &str = "ended early: what was planned is spent all the same";

/// The arithmetic in which the guarantee is proved.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Arithmetic {
    /// For the program as executed: noise on a grid, rounding and solver error charged.
    Finite,
    /// For real numbers; the notes name the gaps to the floating-point program.
    Real,
}

/// A condition under which a claim holds. Sentences may be worded better by a later version; code and
/// parameters stay.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Condition {
    /// Its name.
    pub code: String,
    /// The public parameters of its sentence, as they are written in it.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub parameters: BTreeMap<String, String>,
}

/// The privacy guarantee of a release, with its evidence.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Certificate {
    /// Version of this format.
    pub format: String,
    /// The claimed guarantee; absent if nothing is claimed.
    pub guarantee: Option<Guarantee>,
    /// The arithmetic in which it is proved.
    pub arithmetic: Arithmetic,
    /// Origin of the noise; a fixed seed voids the guarantee.
    pub randomness: Option<Origin>,
    /// The executed events.
    pub events: Option<Event>,
    /// The filter under which the events were chosen adaptively; absent if they were planned. The claim
    /// is the filter's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub filter: Option<Filter>,
    /// Conditions and known gaps, in words.
    pub notes: Vec<String>,
    /// The conditions of the plan among them, by code; absent before 0.2.1, and where there are none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub conditions: Vec<Condition>,
    /// The public facts and settings from which the plan can be derived again.
    pub request: Value,
    /// Version of the program, date and identifier; absent in certificates of 0.1.0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub made: Option<Provenance>,
    /// The ledger entry of this spending; absent if no ledger is kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ledger: Option<LedgerEntry>,
    /// SHA-256 that binds the released model and this certificate, once written to a file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digest: Option<String>,
    /// The signer's key and signature.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signature: Option<Signature>,
}

impl Certificate {
    /// The certificate of planned events. The claim is recomputed here, at the gate: a learner cannot
    /// overstate it.
    pub(super) fn new(
        events: Event,
        origin: Origin,
        statement: Statement,
    ) -> Result<Self, AccountError> {
        let mut guarantee = statement.claim;
        // A fixed seed claims nothing, so there is nothing to recompute: an audit makes many of these.
        if origin != Origin::FixedSeed && !events_prove(&events, &guarantee)? {
            guarantee = account::guarantee(&events, guarantee.delta)?;
        }
        Ok(Self::of(events, None, guarantee, origin, statement))
    }

    /// The certificate of adaptively chosen events: the claim is the guarantee of the filter.
    pub(super) fn within(
        filter: Filter,
        events: Event,
        origin: Origin,
        statement: Statement,
    ) -> Result<Self, AccountError> {
        let proved = filter.guarantee(statement.claim.delta)?;
        // Relation and unit are the filter's, whatever the statement claims.
        let epsilon = proved.epsilon.max(statement.claim.epsilon);
        let guarantee = Guarantee { epsilon, ..proved };
        Ok(Self::of(events, Some(filter), guarantee, origin, statement))
    }

    fn of(
        events: Event,
        filter: Option<Filter>,
        mut guarantee: Guarantee,
        origin: Origin,
        statement: Statement,
    ) -> Self {
        let Statement { arithmetic, mut notes, conditions, request, .. } = statement;
        if origin == Origin::FixedSeed {
            guarantee.epsilon = f64::INFINITY;
            notes.insert(0, FIXED_SEED.into());
        }
        Self {
            guarantee: Some(guarantee),
            arithmetic,
            randomness: Some(origin),
            events: Some(events),
            filter,
            notes,
            conditions,
            made: Some(Provenance::now(Some(origin))),
            ..Self::without_privacy(request)
        }
    }

    /// The certificate of one unit's part ([`super::joint`]): the same, towards everyone but that unit.
    pub(super) fn for_the_unit(&self) -> Self {
        let mut part = self.clone();
        if let Some(guarantee) = &mut part.guarantee {
            guarantee.seen_by = SeenBy::AllButTheUnit;
        }
        part.notes.push(FOR_THE_UNIT.into());
        part.made = Some(Provenance::now(self.randomness));
        part
    }

    pub(super) fn without_privacy(request: Value) -> Self {
        Self {
            format: FORMAT.into(),
            guarantee: None,
            arithmetic: Arithmetic::Real,
            randomness: None,
            events: None,
            filter: None,
            notes: vec![NOT_PRIVATE.into()],
            conditions: Vec::new(),
            request,
            made: Some(Provenance::now(None)),
            ledger: None,
            digest: None,
            signature: None,
        }
    }

    /// The version of the program that made it; `None` if the entry is malformed.
    pub fn version(&self) -> Option<Version> {
        match &self.made {
            // Only the first version left this out, and it wrote the first format.
            None => self.is_format_1().then_some(LAST_WITHOUT_PROVENANCE),
            // Where noise is not repeatable, date and id are drawn with it.
            Some(made) => {
                let dated = made.id.is_some() || self.randomness != Some(Origin::OperatingSystem);
                Version::of(&made.version).filter(|_| made.well_formed() && dated)
            }
        }
    }

    /// True for the first format, whose requests do not state the noise that a plan settled.
    pub fn is_format_1(&self) -> bool {
        self.format == FORMAT_1
    }

    /// Recomputes the guarantee from the events. `Ok(None)` means that the certificate claims nothing
    /// (no noise, a fixed seed, or ε = ∞).
    pub fn recheck(&self) -> Result<Option<Guarantee>, CertificateError> {
        if self.format != FORMAT && self.format != FORMAT_1 {
            return Err(CertificateError::Format(self.format.clone()));
        }
        if self.version().is_none() {
            return Err(CertificateError::Made);
        }
        // Format 1 has no ledger entries.
        let fits = |entered: &LedgerEntry| entered.well_formed() && !self.is_format_1();
        if !self.ledger.as_ref().is_none_or(fits) {
            return Err(CertificateError::Ledger);
        }
        // Format 1 has no other audience, so such a certificate is forged.
        let seen_by = self.guarantee.map_or(SeenBy::Everyone, |claim| claim.seen_by);
        if self.format == FORMAT_1 && !seen_by.is_everyone() {
            return Err(CertificateError::Account(AccountError::NotForEveryone));
        }
        let (Some(claimed), Some(events)) = (&self.guarantee, &self.events) else {
            return Ok(None);
        };
        if self.randomness != Some(Origin::OperatingSystem) || claimed.epsilon.is_infinite() {
            return Ok(None);
        }
        // Another platform's arithmetic may differ in the last digits.
        let rounded = Guarantee { epsilon: claimed.epsilon * (1.0 + 1e-9), ..*claimed };
        if let Some(filter) = &self.filter {
            return recheck_filter(filter, events, &rounded).map(|()| Some(*claimed));
        }
        if !events_prove(events, &rounded)? {
            let proved = account::guarantee(events, claimed.delta)?;
            if proved.neighbours != claimed.neighbours || proved.unit != claimed.unit {
                return Err(CertificateError::OtherNeighbours);
            }
            return Err(CertificateError::TooStrong {
                claimed: claimed.epsilon,
                proved: proved.epsilon,
            });
        }
        Ok(Some(*claimed))
    }
}

/// True if the events prove the claim, relation and unit included.
fn events_prove(events: &Event, claim: &Guarantee) -> Result<bool, AccountError> {
    let found = account::relation(events)?;
    // ε = ∞ always holds, and is kept out of the computation.
    let met = if claim.epsilon == f64::INFINITY {
        true
    } else if claim.delta == 0.0 {
        account::epsilon(events, 0.0)? <= claim.epsilon
    } else {
        account::delta(events, claim.epsilon)? <= claim.delta
    };
    Ok(met && found == (claim.neighbours, claim.unit))
}

/// Checks that a filter proves the claim, and admits the events one after the other.
fn recheck_filter(
    filter: &Filter,
    events: &Event,
    claim: &Guarantee,
) -> Result<(), CertificateError> {
    let proved = filter.guarantee(claim.delta)?;
    if (proved.neighbours, proved.unit) != (claim.neighbours, claim.unit) {
        return Err(CertificateError::OtherNeighbours);
    }
    // The test is "enough?", so that a claim of NaN is refused.
    let met = proved.epsilon <= claim.epsilon;
    if !met {
        return Err(CertificateError::TooStrong { claimed: claim.epsilon, proved: proved.epsilon });
    }
    let whole = std::slice::from_ref(events);
    let list = if let Event::All(list) = events { &list[..] } else { whole };
    let mut tally = Tally::default();
    for event in list {
        tally = filter.admit(&tally, event)?;
    }
    Ok(())
}

/// Reason for refusing a certificate.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum CertificateError {
    /// A certificate format that this version does not know.
    #[error(
        "certificate format '{}' is not known here: {FORMAT} is in a document of format {}, {FORMAT_1} in \
         one of {}", privet_core::printable(.0), seal::FORMAT, seal::FORMAT_1
    )]
    Format(String),
    /// A document format that this version does not know.
    #[error(
        "format '{}' is not known; {} and {} are", privet_core::printable(.0), seal::FORMAT, seal::FORMAT_1
    )]
    Document(String),
    /// A document without one of its parts.
    #[error("it has no field '{0}'")]
    Missing(&'static str),
    /// The document has no canonical form.
    #[error(transparent)]
    TooWide(#[from] TooWide),
    /// Version, date or id is malformed.
    #[error("its version, date or id are not of the form that the program writes")]
    Made,
    /// The ledger entry is malformed.
    #[error("what it says of a ledger is not of the form that the program writes")]
    Ledger,
    /// The events do not support the claim.
    #[error("the certificate claims ε = {claimed}, but its events prove only ε = {proved}")]
    TooStrong {
        /// The claimed ε.
        claimed: f64,
        /// The ε that the events prove.
        proved: f64,
    },
    /// The claim names other neighbours or another unit than the events.
    #[error("the claim's neighbours or unit are not those of the events")]
    OtherNeighbours,
    /// Model or certificate was changed after sealing.
    #[error("model and certificate do not belong together: the digest differs")]
    Edited,
    /// The signature is not by that key over this digest.
    #[error("the signature does not match the digest and public key")]
    Signature,
    /// The accountant refused the events.
    #[error(transparent)]
    Account(#[from] AccountError),
}
