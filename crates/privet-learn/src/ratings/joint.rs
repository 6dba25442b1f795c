//! Predictions for each user, each with a certificate of its own.
//!
//! Everyone reads the release; a user's part is computed from it and their own ratings alone (the
//! billboard lemma, [`privet_dp::gate::Parts`]), and its certificate states the view of everyone but
//! that user ([`privet_dp::account::SeenBy::AllButTheUnit`]). [`learn_jointly`] has all users' ratings;
//! [`recommend_for_user`] has a file and one user's own.

use super::Complete;
use super::factors::{Factors, Recommended};
use super::local::LocalState;
use super::shape::Shape;
use crate::release::task::{Task, Work};
use crate::{LearnError, Plan, Released};
use privet_data::Dataset;
use privet_dp::gate::{CertificateError, GateError, Part, Parts, Private, Release, Session};
use privet_dp::noise::Source;
use privet_optim::solver::Monitor;

/// One user's own ratings, with public facts.
struct LocalUser {
    user: LocalState,
    shape: Shape,
    most: usize,
}

/// A user's part: a function of the release and of their own ratings alone.
fn predict_locally(factors: &Factors, own: LocalUser) -> Vec<Recommended> {
    factors.recommend(&own.user, &own.shape, own.most)
}

/// Learns from all users, and makes `most` recommendations for each of them: the release for everyone,
/// and a part for each user, in the order of the rows.
pub fn learn_jointly(
    plan: &Plan<Complete>,
    data: &Dataset,
    most: usize,
    source: &mut dyn Source,
    monitor: &dyn Monitor,
) -> Result<(Release<Factors>, Parts<Vec<Recommended>>), LearnError> {
    if plan.request().among.is_some() {
        return Err(LearnError::NotCovered {
            what: "the plan is for several parties, and nobody leads to the others".into(),
            instead: "learn among them first; each party's predictions are then its own",
        });
    }
    Complete::admit(plan.facts(), data)?;
    let (Work::Private(procedure), Some(events), Some(guarantee)) =
        (plan.work(), plan.events(), plan.guarantee())
    else {
        return Err(LearnError::NotCovered {
            what: "joint privacy of a method without any".into(),
            instead: "give a budget and a private method",
        });
    };
    let start = procedure.walk().ok_or(GateError::NotAsPlanned)?;
    let session = Session::start_walking(events.clone(), start, source);
    let mut session = session.entered_in(plan.ledger_entry().cloned());
    let noisy = procedure.run(plan.facts(), data, &mut session, monitor)?;
    let own = |row: usize| {
        let user = LocalState::of(&data.features, row);
        Private::new(LocalUser { user, shape: plan.facts().clone(), most })
    };
    let users = (0..data.features.rows()).map(own).collect();
    Ok(session.settle_jointly(noisy, users, predict_locally, plan.statement(*guarantee)?)?)
}

/// Makes `most` recommendations for one user, from an earlier release and their own ratings. The
/// statement is that of the release: a caller that reads it from a file verifies the file first, as
/// `privet recommend` does.
pub fn recommend_for_user(
    released: &Released<Complete>,
    user: LocalState,
    most: usize,
) -> Result<Part<Vec<Recommended>>, LearnError> {
    let own = LocalUser { user, shape: Complete::facts(released.request())?, most };
    Part::of(released.artefact(), released.certificate(), Private::new(own), predict_locally)
        .map_err(|error: CertificateError| LearnError::NotAModel {
            path: "the model".into(),
            why: error.to_string(),
        })
}
