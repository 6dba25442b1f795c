//! Verifies a release without its data.
//!
//! 1. The guarantee is recomputed from the certificate's events.
//! 2. The plan is made again from the certificate's public facts: request, events and claim must be ones
//!    that the planner writes together (`again`).
//! 3. The digest that binds model and certificate must match, and the signature if there is one.
//! 4. The weights must be ones that such a plan can release (`support`).
//! 5. The certificate must state every condition of that plan (`conditions`).
//! 6. The certificate must not be of a kind that was found unreliable ([`Task::VOID`]).
//!
//! Notes in the file maker's own words are shown apart, and unchecked public facts are listed
//! ([`Unchecked`]).
//!
//! None of this proves that the holder ran this code on the data: a forger who invents a request, plans
//! it and invents weights that fit has a file that passes every check. A signature lets an organisation
//! vouch for that, and [`UNSIGNED`] marks files without one.

use crate::release::again::again;
use crate::release::conditions::Notes;
use crate::release::plan::Plan;
use crate::release::released::Released;
use crate::release::task::{Task, Work};
use crate::release::unchecked::{self, Unchecked};
use crate::release::void::DOUBTFUL_SCHEMAS;
use privet_core::{UnitDefinition, printable};
use privet_dp::account::Guarantee;
use privet_dp::gate::{Arithmetic, Provenance, Version};
use serde::Serialize;

/// The limits of verification for an unsigned file.
pub const UNSIGNED: &str = "unsigned: nobody vouches for it. The checks show that the file agrees with \
     itself, not that its holder ran this program on the records, or ran it once";

/// The check that a file states its conditions.
const CONDITIONS: &str = "the conditions of the plan are stated";

/// ε above which a note is given.
const LARGE_EPSILON: f64 = 10.0;
/// δ above which a note is given, whatever the number of rows.
const LARGE_DELTA: f64 = 1e-3;

/// The outcome of verification.
#[derive(Debug, Clone, Serialize)]
pub struct Verdict {
    /// True if there is a finite guarantee and every check holds.
    pub valid: bool,
    /// The guarantee to rely on; `None` if there is none.
    pub guarantee: Option<Guarantee>,
    /// The definition of a unit under which the claim holds, as far as the file states it.
    pub whose: UnitDefinition,
    /// The arithmetic for which it is proved; `None` without a guarantee.
    pub arithmetic: Option<Arithmetic>,
    /// Each check, with its result.
    pub checks: Vec<Check>,
    /// Conditions and known gaps: those of the plan made again, those that the program writes when it
    /// runs, and remarks on the claim.
    pub notes: Vec<String>,
    /// Words of the file's maker, without terminal control characters. They may know more than the plan
    /// does, or be invented: nothing proves them.
    pub stated: Vec<String>,
    /// Unchecked public facts on which the claim rests; empty without a guarantee.
    pub unchecked: Vec<Unchecked>,
    /// Public key of the signer, if the file is signed and the signature holds.
    pub signer: Option<String>,
    /// The version, date and identifier that the file states.
    pub made: Option<Provenance>,
}

/// One check.
#[derive(Debug, Clone, Serialize)]
pub struct Check {
    /// The property checked.
    pub what: &'static str,
    /// True if it holds.
    pub holds: bool,
    /// The fault, or the evidence.
    pub detail: String,
}

/// Verifies a model. Load it with [`crate::file::Seal::Unchecked`] so that a broken seal is
/// reported rather than refused.
pub fn verify<T: Task>(model: &Released<T>) -> Verdict {
    let certificate = model.certificate();
    let mut checks = Vec::new();
    let mut check = |what, outcome: Result<String, String>| {
        let holds = outcome.is_ok();
        let detail = printable(&outcome.unwrap_or_else(|why| why)).into_owned();
        checks.push(Check { what, holds, detail });
    };

    let again = again(model);
    // Events that no plan charges are not accounted for: forged ones could take very long.
    let planned = again.as_ref().map_or_else(|differs| differs.same_events, |_| true);
    let recomputed = planned.then(|| certificate.recheck());
    check(
        "the events prove the claim",
        match recomputed.as_ref().unwrap_or(&Ok(None)) {
            _ if !planned => Err("they are not the events of a plan for these public facts".into()),
            Ok(Some(found)) if found.delta == 0.0 => Ok(format!("ε = {}, δ = 0", found.epsilon)),
            Ok(Some(found)) => Ok(format!("ε = {}, δ = {:e}", found.epsilon, found.delta)),
            Ok(None) => Err("no guarantee is claimed: it is not private".into()),
            Err(error) => Err(error.to_string()),
        },
    );
    check(
        "the public facts give the same plan",
        again.as_ref().map_err(|differs| differs.why.clone()).map(|plan| {
            let request = plan.request();
            format!("{}, {} rows declared", request.task.summary(), request.rows)
        }),
    );
    let sealed = model.check_seal();
    check(
        "what was released and its certificate belong together",
        sealed.as_ref().map(|_| "digest matches".into()).map_err(ToString::to_string),
    );
    check(
        "what was released is what such a plan can release",
        check_plausible(model, again.as_ref().ok()),
    );
    let Notes { missing, written, stated } = Notes::of(model, again.as_ref().ok());
    let later = certificate.version().filter(|version| *version > Version::this());
    check(CONDITIONS, states_all(again.is_ok(), &missing, later));
    check("it is on no list of void certificates", not_void(model));

    let valid = checks.iter().all(|check| check.holds);
    let guarantee = recomputed.and_then(Result::ok).flatten().filter(|_| valid);
    let signer = sealed.ok().flatten();
    let unchecked = again.as_ref().ok().filter(|_| guarantee.is_some());
    let unchecked = unchecked.map_or(Vec::new(), |plan| unchecked::of(plan, certificate));
    let planned = again.iter().flat_map(|plan| plan.notes()).map(ToString::to_string);
    let notes = planned.chain(written).chain(remarks(model)).collect();
    Verdict {
        valid,
        guarantee,
        whose: model.unit_definition(),
        arithmetic: guarantee.map(|_| certificate.arithmetic),
        checks,
        notes,
        stated,
        unchecked,
        signer: signer.map(|signer| signer.public_key().into()),
        made: certificate.made.clone().filter(Provenance::well_formed),
    }
}

/// Checks that every condition of the plan is stated; otherwise names the first missing one.
fn states_all(planned: bool, missing: &[String], later: Option<Version>) -> Result<String, String> {
    match (missing, later) {
        _ if !planned => Err("there is no such plan".into()),
        ([], _) => Ok("none is missing".into()),
        ([first, ..], None) => Err(first.clone()),
        ([first, ..], Some(version)) => Err(format!(
            "{first} (version {version}, by which it was made, may know of no such condition)"
        )),
    }
}

/// Checks that the plan made again can release this artefact.
fn check_plausible<T: Task>(model: &Released<T>, plan: Option<&Plan<T>>) -> Result<String, String> {
    let refused = match &plan.ok_or("there is no such plan")?.work {
        Work::Private(procedure) => procedure.refuses(model.artefact()),
        Work::Plain(_) => None,
    };
    match refused {
        Some(why) => Err(why.into()),
        None => Ok("nothing speaks against it".into()),
    }
}

/// Checks that the certificate is on no list of void ones.
fn not_void<T: Task>(model: &Released<T>) -> Result<String, String> {
    let version = model.certificate().version().ok_or("it states no version")?;
    match T::VOID.iter().find(|known| known.concerns(version, model)).map(|known| known.finding) {
        Some(found) => Err(format!(
            "{} (SECURITY.md): {} before {}: {}",
            found.name, found.which, found.before, found.why
        )),
        None => Ok(format!("made by version {version}")),
    }
}

/// Remarks on the claim.
fn remarks<T: Task>(model: &Released<T>) -> Vec<String> {
    let certificate = model.certificate();
    let mut remarks = Vec::new();
    if let Some(version) = certificate.version() {
        let own = T::DOUBTFUL.iter().filter(|doubt| doubt.concerns(version, model));
        let schema = &model.request().schema;
        let all = DOUBTFUL_SCHEMAS.iter().filter(|doubt| doubt.concerns(version, schema));
        let doubts = own.map(|doubt| doubt.finding).chain(all.map(|doubt| doubt.finding));
        remarks.extend(doubts.map(|doubt| format!("{} (SECURITY.md): {}", doubt.name, doubt.why)));
        if version > Version::this() {
            remarks.push(format!(
                "made by version {version}, later than this program, {}: that version may know of more",
                Version::this()
            ));
        }
    }
    if let Some(claim) = &certificate.guarantee {
        if claim.epsilon.is_finite() && claim.epsilon > LARGE_EPSILON {
            remarks.push(format!(
                "epsilon is large: the odds of a guess about one unit may rise {:.0e}-fold, which is next \
                 to no protection",
                claim.epsilon.exp()
            ));
        }
        if claim.delta > LARGE_DELTA {
            remarks.push(format!(
                "delta is large: with probability {:e} all may be told",
                claim.delta
            ));
        }
    }
    remarks
}
