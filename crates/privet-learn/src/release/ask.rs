//! Runs the queries of a walk: each is answered with noise, until there is something to release.
//!
//! A walk ([`privet_dp::gate::Walk`]) is made from a settled plan alone and sees only noisy answers; the
//! session holds the records. If the user stopped the run, its error is that stop, whatever the
//! interrupted answer reports.

use crate::LearnError;
use crate::release::watch::StepWatch;
use privet_dp::gate::{GateError, Noisy, Session, Walk};

/// Runs a walk from its start to its release. `answer` answers one query from the records.
pub(crate) fn ask<W: Walk>(
    session: &mut Session<'_>,
    watch: &StepWatch<'_>,
    answer: impl FnMut(&W::Query, &mut Session<'_>) -> Result<Noisy<W::Answer>, LearnError>,
) -> Result<Noisy<W::Artefact>, LearnError> {
    let mut walk = session.begin::<W>()?;
    let released = session.walk(&mut walk, answer);
    watch.went_on()?;
    Ok(released?.ok_or(GateError::NotAsPlanned)?)
}

/// The same, with each query a step of the watch: refused where the run should stop.
pub(crate) fn ask_by_steps<W: Walk>(
    session: &mut Session<'_>,
    watch: &StepWatch<'_>,
    mut answer: impl FnMut(&W::Query, &mut Session<'_>) -> Result<Noisy<W::Answer>, LearnError>,
) -> Result<Noisy<W::Artefact>, LearnError> {
    ask::<W>(session, watch, |query, session| match watch.step() {
        true => answer(query, session),
        false => Err(GateError::Unanswered.into()),
    })
}
