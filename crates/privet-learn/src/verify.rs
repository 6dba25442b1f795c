//! Checking a model without its data.
//!
//! 1. The guarantee is recomputed from the certificate's events.
//! 2. The plan is made again from the certificate's public facts; with the noise scales that the
//!    certificate states it must charge those same events, sensitivities and all, so that a
//!    sensitivity below the theorem is found (a noise scale below it is found by the first check).
//!    Scales themselves are not compared: a later version may calibrate more tightly, and older
//!    certificates stay valid.
//! 3. The digest that binds model and certificate must match, and the signature if there is one.
//!
//! None of this proves that the holder ran this code on the data; a signature lets an organisation
//! vouch for that.

use crate::model::Model;
use crate::plan::{Work, plan};
use privet_dp::account::Guarantee;
use serde::Serialize;
use serde_json::Value;

/// Numbers of two platforms may differ this much in relation to their size.
const TOLERANCE: f64 = 1e-9;

/// The outcome of verification.
#[derive(Debug, Clone, Serialize)]
pub struct Verdict {
    /// Whether there is a finite guarantee and every check holds.
    pub valid: bool,
    /// What may be relied on; absent when nothing is.
    pub guarantee: Option<Guarantee>,
    /// Each check in words, with what was found.
    pub checks: Vec<Check>,
    /// Public key of the signer, if the file is signed and the signature holds.
    pub signer: Option<String>,
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

/// Verifies a model. Load it with [`crate::model::file::Seal::Unchecked`] so that a broken seal is
/// reported rather than refused.
pub fn verify(model: &Model) -> Verdict {
    let certificate = model.certificate();
    let mut checks = Vec::new();
    let mut check = |what, outcome: Result<String, String>| {
        let holds = outcome.is_ok();
        checks.push(Check { what, holds, detail: outcome.unwrap_or_else(|why| why) });
    };

    let recomputed = certificate.recheck();
    check(
        "the events prove the claim",
        match &recomputed {
            Ok(Some(found)) => Ok(format!("ε = {}, δ = {:e}", found.epsilon, found.delta)),
            Ok(None) => Err("no guarantee is claimed: this model is not private".into()),
            Err(error) => Err(error.to_string()),
        },
    );
    check("the public facts give the same plan", same_plan(model));
    let weights = serde_json::to_value(model.weights()).unwrap_or(Value::Null);
    let sealed = certificate.check_seal(&weights);
    check(
        "model and certificate belong together",
        sealed.as_ref().map(|()| "digest matches".into()).map_err(ToString::to_string),
    );

    let valid = checks.iter().all(|check| check.holds);
    let guarantee = recomputed.ok().flatten().filter(|_| valid);
    let signer = certificate.signature.as_ref().filter(|_| sealed.is_ok());
    Verdict { valid, guarantee, checks, signer: signer.map(|s| s.public_key.clone()) }
}

/// Makes the plan again, puts the stated noise into it, and compares.
fn same_plan(model: &Model) -> Result<String, String> {
    let again = plan(model.request()).map_err(|error| error.to_string())?;
    let certificate = model.certificate();
    let events = match &certificate.events {
        None => None,
        Some(stated) => {
            let Work::Private(procedure) = &again.work else {
                return Err("its method is not private".into());
            };
            let same = procedure.with_noise_of(stated).ok_or("its events are of another kind")?;
            Some(same.event().map_err(|error| error.to_string())?)
        }
    };
    let json = |events| serde_json::to_value(events).map_err(|error| error.to_string());
    if !close(&json(events.as_ref())?, &json(certificate.events.as_ref())?) {
        return Err("the plan made from the public facts charges other events".into());
    }
    if again.arithmetic() != certificate.arithmetic {
        return Err("the plan is proved in another arithmetic".into());
    }
    let same_relation = match (&certificate.guarantee, again.guarantee()) {
        (Some(claimed), Some(planned)) => {
            claimed.delta == planned.delta
                && claimed.neighbours == planned.neighbours
                && claimed.unit == planned.unit
        }
        (None, None) => true,
        _ => false,
    };
    if same_relation {
        Ok(format!("method {}, {} rows declared", again.request().method, again.request().rows))
    } else {
        Err("the plan made from the public facts claims another guarantee".into())
    }
}

/// Equal up to the last digits of numbers.
fn close(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => match (a.as_f64(), b.as_f64()) {
            (Some(a), Some(b)) => a == b || (a - b).abs() <= TOLERANCE * a.abs().max(b.abs()),
            _ => false,
        },
        (Value::Array(a), Value::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| close(a, b))
        }
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len() && a.iter().all(|(key, a)| b.get(key).is_some_and(|b| close(a, b)))
        }
        (a, b) => a == b,
    }
}
