//! Certificates of the first format, whose requests do not state noise.
//!
//! The scales are taken from the events that the certificate states, so that the plan made again adds
//! that noise. It must be near the noise that a plan of today calibrates for the budget: the search for
//! the least noise ends within its tolerance of where it ended on another machine ([`SAME_VERSION`]),
//! and another version may bound the same events more tightly and need less of it ([`OTHER_VERSION`]).

use crate::release::allowance::scales;
use crate::release::plan::{Plan, plan};
use crate::release::request::{Calibration, Request};
use crate::release::rounding::nearly_equal;
use crate::release::task::Task;
use privet_dp::account::Event;
use privet_dp::gate::Version;

/// Relative tolerance between noise or claims of one version.
pub(crate) const SAME_VERSION: f64 = 1e-5;
/// Relative tolerance between noise or claims of two versions.
pub(crate) const OTHER_VERSION: f64 = 1e-2;

/// The request with the noise of the stated events, if that is near the noise its plan would add.
pub(crate) fn with_stated_noise<T: Task>(
    request: &Request<T>,
    stated: &Event,
    version: Option<Version>,
) -> Result<Request<T>, String> {
    if !request.noise.is_empty() {
        return Err("its request states noise, which none of its format does".into());
    }
    if request.calibration == Calibration::Printed {
        return Ok(request.clone());
    }
    let planned: Plan<T> = plan(request).map_err(|error| error.to_string())?;
    let (planned, noise) = (&planned.request().noise, scales(stated));
    let slack = if version == Some(Version::this()) { SAME_VERSION } else { OTHER_VERSION };
    let about = planned.len() == noise.len()
        && planned
            .iter()
            .zip(&noise)
            .all(|(planned, stated)| nearly_equal(*planned, *stated, slack));
    if about {
        Ok(Request { noise, ..request.clone() })
    } else {
        Err("the plan made from the public facts charges other events".into())
    }
}
