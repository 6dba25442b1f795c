//! Attacks that the gate refuses: forged or edited states, exchanged sessions, reproducible noise,
//! events out of turn, sums finer than their grid.

use privet_core::{Neighbours, Unit};
use privet_dp::account::{self, Event, Filter, filter::Law};
use privet_dp::gate::{
    Arithmetic, GateError, Journal, Next, Noisy, Private, PurseError, Session, Spend, Statement,
    Suspended, Walk,
};
use privet_dp::mechanism::{ExactCounts, Gaussian, Laplace};
use privet_dp::noise::{FixedSeed, Source, SystemRandom};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

fn gaussian() -> Gaussian {
    Gaussian {
        neighbours: Neighbours::AddRemove,
        unit: Unit::Record,
        sensitivity: 1.0,
        noise_scale: 4.0,
        coordinates: 1,
    }
}

fn event() -> Event {
    gaussian().event().unwrap()
}

fn statement(event: &Event) -> Statement {
    Statement::new(account::guarantee(event, 1e-6).unwrap(), Arithmetic::Finite, json!({}))
}

/// Queries, and releases the answers; or releases its initial data, if it has any.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Parrot {
    secret: Option<f64>,
}

impl Walk for Parrot {
    type Start = Option<f64>;
    type Query = ();
    type Answer = Vec<f64>;
    type Artefact = f64;
    fn begin(secret: Option<f64>) -> Self {
        Self { secret }
    }
    fn next(&mut self, answer: Option<Vec<f64>>) -> Next<(), f64> {
        match (self.secret, answer) {
            (Some(secret), _) => Next::Release(secret),
            (None, Some(answer)) => Next::Release(answer[0]),
            (None, None) => Next::Ask(()),
        }
    }
}

fn respond(_: &(), session: &mut Session<'_>) -> Result<Noisy<Vec<f64>>, GateError> {
    gaussian().run(Private::new(vec![100.0]), session)
}

/// A state is read from a file, so it can be forged; only a suspended one is resumed.
#[test]
fn a_state_that_was_made_up_is_not_taken_up() {
    let made_up = |draws: u64| -> Suspended<Parrot> {
        let state = json!({
            "id": "0", "generation": 0, "spend": {"exactly": event()}, "draws": draws,
            "walk": {"secret": 123.456},
        });
        serde_json::from_value(state).unwrap()
    };
    let mut source = SystemRandom::new().unwrap();
    let refused = made_up(1).resume(&mut source, &mut (), |_| Ok(())).err();
    assert!(matches!(refused, Some(GateError::Purse(PurseError::Refused(_)))), "{refused:?}");
    let folder = tempfile::tempdir().unwrap();
    let mut journal = Journal::create(&folder.path().join("j")).unwrap();
    drop(Session::open(Spend::Exactly(event()), &mut source, &mut journal).unwrap());
    let refused = made_up(0).resume(&mut source, &mut journal, |_| Ok(())).err();
    assert!(matches!(refused, Some(GateError::Purse(PurseError::Refused(_)))), "{refused:?}");
    // Nor can a session be suspended without a purse.
    let mut session = Session::start_walking(event(), json!(null), &mut source);
    let walk = session.begin::<Parrot>().unwrap();
    assert!(session.suspend(walk, 0).is_err());
}

/// Code that borrows a session cannot leave another one in its place.
#[test]
fn a_session_that_was_exchanged_releases_nothing() {
    let mut source = SystemRandom::new().unwrap();
    let session = Session::start(event(), &mut source);
    let outcome = session.carry_out(statement(&event()), |session| {
        let own: &mut dyn Source = Box::leak(Box::new(FixedSeed::new(1)));
        *session = Session::start_walking(event(), json!(123.456), own);
        let mut walk = session.begin::<Parrot>()?;
        gaussian().run(Private::new(vec![0.0]), session)?;
        Ok::<_, GateError>(session.walk(&mut walk, respond)?.unwrap())
    });
    assert_eq!(outcome.err(), Some(GateError::Foreign));
}

/// A session of several releases, suspended after each; `sources` make the noise of each.
fn releases(
    sources: &mut [Box<dyn Source>],
    edit: impl Fn(&mut Value),
) -> Vec<Result<bool, GateError>> {
    let folder = tempfile::tempdir().unwrap();
    let mut journal = Journal::create(&folder.path().join("j")).unwrap();
    let planned = Event::UpTo { count: 3, event: Box::new(event()) };
    let mut first = SystemRandom::new().unwrap();
    let spend = Spend::Exactly(planned.clone());
    let mut session = Session::open_walking(spend, json!(null), &mut first, &mut journal).unwrap();
    let walk = session.begin::<Parrot>().unwrap();
    let mut state = session.suspend(walk, 0).unwrap();
    let mut claims = Vec::new();
    for source in sources {
        let mut written = serde_json::to_value(&state).unwrap();
        edit(&mut written);
        state = serde_json::from_value(written).unwrap();
        let generation = state.generation().saturating_add(1);
        let mut go_on = || {
            let (mut session, mut walk) =
                state.clone().resume(source.as_mut(), &mut journal, |_| Ok(()))?;
            let noisy = session.walk(&mut walk, respond)?.unwrap();
            let release = session.emit(noisy, statement(&planned))?;
            state = session.suspend(walk, generation)?;
            Ok(release.certificate().recheck().unwrap().is_some())
        };
        claims.push(go_on());
    }
    claims
}

/// Every certificate covers the whole session: after one draw from a fixed seed none claims anything.
#[test]
fn a_fixed_seed_is_remembered() {
    let system = || Box::new(SystemRandom::new().unwrap()) as Box<dyn Source>;
    let mut sources = [system(), Box::new(FixedSeed::new(1)), system()];
    assert_eq!(releases(&mut sources, |_| {}), [Ok(true), Ok(false), Ok(false)]);
}

#[test]
fn a_state_that_was_edited_is_refused() {
    let edits: [fn(&mut Value); 4] = [
        |state| state["walk"]["secret"] = json!(1.0),
        |state| state["id"] = json!("f".repeat(32)),
        |state| state["generation"] = json!(u64::MAX),
        |state| state["repeatable"] = json!(true),
    ];
    for edit in edits {
        let outcome = releases(&mut [Box::new(SystemRandom::new().unwrap())], edit);
        assert!(matches!(outcome[..], [Err(GateError::Purse(_))]), "{outcome:?}");
    }
}

/// Under a filter the state lists the charged events: edited to cheaper events, it is refused.
#[test]
fn a_filter_is_not_emptied_by_editing_the_state() {
    let filter = Filter {
        neighbours: Neighbours::AddRemove,
        unit: Unit::Record,
        limit: Law::Gaussian { mu: 0.5 },
        distance: 1e-9,
        leak: 0.0,
    };
    let folder = tempfile::tempdir().unwrap();
    let mut journal = Journal::create(&folder.path().join("j")).unwrap();
    let mut source = SystemRandom::new().unwrap();
    let spend = Spend::Within(filter);
    let mut session = Session::open_walking(spend, json!(null), &mut source, &mut journal).unwrap();
    let walk = session.begin::<Parrot>().unwrap();
    gaussian().run(Private::new(vec![0.0]), &mut session).unwrap();
    let state = session.suspend(walk, 0).unwrap();
    let mut edited = serde_json::to_value(&state).unwrap();
    let cheap = Gaussian { noise_scale: 1e6, ..gaussian() }.event().unwrap();
    edited["charged"] = json!([[1, cheap]]);
    let edited: Suspended<Parrot> = serde_json::from_value(edited).unwrap();
    assert!(edited.resume(&mut source, &mut journal, |_| Ok(())).is_err());
    assert!(state.resume(&mut source, &mut journal, |_| Ok(())).is_ok());
}

/// The number of draws must determine which they were.
#[test]
fn what_may_end_early_and_goes_on_differently_is_not_put_aside() {
    let some = Event::UpTo { count: 5, event: Box::new(event()) };
    let once = Event::Repeat { count: 1, event: Box::new(some.clone()) };
    let twice = Event::Repeat { count: 2, event: Box::new(some.clone()) };
    for (planned, allowed) in [
        (event(), true),
        (some.clone(), true),
        (Event::All(vec![event(), some.clone()]), true),
        (once, true),
        (Event::All(vec![some, event()]), false),
        (twice, false),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let mut journal = Journal::create(&folder.path().join("j")).unwrap();
        let mut source = SystemRandom::new().unwrap();
        let spend = Spend::Exactly(planned.clone());
        let mut session =
            Session::open_walking(spend, json!(null), &mut source, &mut journal).unwrap();
        let walk = session.begin::<Parrot>().unwrap();
        assert_eq!(session.suspend(walk, 0).is_ok(), allowed, "{planned:?}");
    }
}

/// Values declared to be on the grid are not charged for rounding.
#[test]
fn what_is_finer_than_its_grid_is_refused() {
    let laplace = Laplace {
        neighbours: Neighbours::AddRemove,
        unit: Unit::Record,
        sensitivity: 0.25,
        noise_scale: 1.0,
        step: 1.0,
        on_grid: true,
        coordinates: 1,
    };
    let mut source = SystemRandom::new().unwrap();
    let mut session = Session::start(laplace.event(), &mut source);
    let quarters = ExactCounts { counts: vec![3], unit: 0.25 };
    assert!(laplace.run_units(Private::new(quarters), &mut session).is_err());
    assert!(laplace.run(Private::new(vec![0.75]), &mut session).is_err());
    assert!(!session.has_spent());
    assert!(laplace.run(Private::new(vec![3.0]), &mut session).is_ok());
}
