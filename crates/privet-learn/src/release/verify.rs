//! Checking a model without its data.
//!
//! 1. The guarantee is recomputed from the certificate's events.
//! 2. The plan is made again from the certificate's public facts: request, events and claim must be ones
//!    that the planner writes together (`again`).
//! 3. The digest that binds model and certificate must match, and the signature if there is one.
//! 4. The weights must be ones that such a plan can release (`support`).
//! 5. The certificate must state every condition of that plan (`conditions`).
//! 6. The certificate must not be of a kind that was found wanting ([`crate::VOID`]).
//!
//! What a file says in words of its own is shown apart, and what of its public facts nothing checks is listed
//! ([`Unchecked`]).
//!
//! None of this proves that the holder ran this code on the data: whoever makes up a request, plans it and
//! makes up weights that fit has a file on which every check holds. A signature lets an organisation vouch
//! for that, and [`UNSIGNED`] says where none does.

use crate::release::again::again;
use crate::release::conditions::{Told, told};
use crate::release::plan::Plan;
use crate::release::released::Released;
use crate::release::task::{Task, Work};
use crate::release::unchecked::{self, Unchecked};
use crate::release::void::{DOUBTFUL, VOID};
use privet_core::{Whose, printable};
use privet_dp::account::Guarantee;
use privet_dp::gate::{Arithmetic, Made, Version};
use serde::Serialize;

/// What a file that nobody signed leaves open.
pub const UNSIGNED: &str = "unsigned: nobody vouches for it. The checks show that the file agrees with \
     itself, not that its holder ran this program on the records, or ran it once";

/// The check that a file states its conditions.
const CONDITIONS: &str = "the conditions of the plan are stated";

/// Above this ε a note is due.
const LARGE_EPSILON: f64 = 10.0;
/// Above this δ a note is due, whatever the number of rows.
const LARGE_DELTA: f64 = 1e-3;

/// The outcome of verification.
#[derive(Debug, Clone, Serialize)]
pub struct Verdict {
    /// Whether there is a finite guarantee and every check holds.
    pub valid: bool,
    /// What may be relied on; absent when nothing is.
    pub guarantee: Option<Guarantee>,
    /// Who a unit is of whom the claim speaks, as far as the file says.
    pub whose: Whose,
    /// In which arithmetic it is proved; absent when nothing is.
    pub arithmetic: Option<Arithmetic>,
    /// Each check in words, with what was found.
    pub checks: Vec<Check>,
    /// Conditions and gaps: those of the plan made again, those that the program writes when it runs, and
    /// what else there is to say of the claim.
    pub notes: Vec<String>,
    /// Words of whoever made the file, with nothing in them that acts on a terminal. Its maker may have known
    /// more than the plan does, or have made it up: nothing shows that it is so.
    pub stated: Vec<String>,
    /// Public facts that the claim rests on and nothing checks; empty where nothing may be relied on.
    pub unchecked: Vec<Unchecked>,
    /// Public key of the signer, if the file is signed and the signature holds.
    pub signer: Option<String>,
    /// By which version of the program it says that it was made, when, and which one it is.
    pub made: Option<Made>,
}

/// One check.
#[derive(Debug, Clone, Serialize)]
pub struct Check {
    /// What was checked.
    pub what: &'static str,
    /// Whether it holds.
    pub holds: bool,
    /// What is wrong, or what was found.
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
    // Events that no plan charges are not accounted for: whoever made them up could make that take long.
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
        plausible(model, again.as_ref().ok()),
    );
    let Told { missing, written, stated } = told(certificate, again.as_ref().ok());
    let later = certificate.version().filter(|version| *version > Version::this());
    check(CONDITIONS, states_all(again.is_ok(), &missing, later));
    check("no such certificate was found wanting", not_void(model));

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
        whose: model.whose(),
        arithmetic: guarantee.map(|_| certificate.arithmetic),
        checks,
        notes,
        stated,
        unchecked,
        signer: signer.map(|signer| signer.public_key().into()),
        made: certificate.made.clone().filter(Made::well_formed),
    }
}

/// Whether every condition of the plan is stated; otherwise the first that is not.
fn states_all(planned: bool, missing: &[String], later: Option<Version>) -> Result<String, String> {
    match (missing, later) {
        _ if !planned => Err("there is no such plan".into()),
        ([], _) => Ok("none is missing".into()),
        ([first, ..], None) => Err(format!("it leaves out: {first}")),
        ([first, ..], Some(version)) => Err(format!(
            "it leaves out, unless version {version}, by which it was made, has other words for it: {first}"
        )),
    }
}

/// Whether what was released can come of the plan made again.
fn plausible<T: Task>(model: &Released<T>, plan: Option<&Plan<T>>) -> Result<String, String> {
    let refused = match &plan.ok_or("there is no such plan")?.work {
        Work::Private(procedure) => procedure.refuses(model.artefact()),
        Work::Plain(_) => None,
    };
    match refused {
        Some(why) => Err(why.into()),
        None => Ok("nothing speaks against it".into()),
    }
}

/// Whether the certificate is on no list.
fn not_void<T: Task>(model: &Released<T>) -> Result<String, String> {
    let version = model.certificate().version().ok_or("it states no version")?;
    match VOID.iter().find(|finding| finding.concerns(version, model)) {
        Some(found) => Err(format!(
            "{} (SECURITY.md): {} before {}: {}",
            found.name, found.which, found.before, found.why
        )),
        None => Ok(format!("made by version {version}")),
    }
}

/// What a reader of the claim should know besides.
fn remarks<T: Task>(model: &Released<T>) -> Vec<String> {
    let certificate = model.certificate();
    let mut remarks = Vec::new();
    if let Some(version) = certificate.version() {
        let doubts = DOUBTFUL.iter().filter(|doubt| doubt.concerns(version, model));
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
