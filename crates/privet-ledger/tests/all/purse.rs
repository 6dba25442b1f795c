//! States of a reservation, driven by sessions.

use crate::world::{asked, gaussian, ledger, spend};
use privet_dp::gate::{Arithmetic, Private, Purse, PurseError, Session, Statement};
use privet_dp::mechanism::Gaussian;
use privet_dp::noise::SystemRandom;
use privet_ledger::{BudgetRequest, Kind, Ledger, LedgerError, State};

use privet_core::{Neighbours, Unit, UnitDefinition};
use privet_dp::account::guarantee;

fn mechanism() -> Gaussian {
    let (neighbours, unit) = (Neighbours::ReplaceOne, Unit::Record);
    Gaussian { neighbours, unit, sensitivity: 1.0, noise_scale: 50.0, coordinates: 1 }
}

fn wish() -> (BudgetRequest, privet_dp::gate::Spend, Statement) {
    let event = mechanism().event().unwrap();
    let claim = guarantee(&event, 1e-7).unwrap();
    let request = serde_json::json!({});
    let statement = Statement {
        claim,
        arithmetic: Arithmetic::Finite,
        notes: vec![],
        conditions: vec![],
        request,
    };
    (asked("riders", &event), spend(&event), statement)
}

fn states(ledger: &Ledger) -> Vec<State> {
    ledger.books().reservations().values().map(|held| held.state).collect()
}

#[test]
fn a_session_reserves_draws_and_settles_and_its_certificate_says_where() {
    let (_folder, path, mut ledger) = ledger(Kind::Renyi);
    let (asked, spend, statement) = wish();
    let mut source = SystemRandom::new().unwrap();
    let mut paying = ledger.purse_for(asked);
    paying.set_aside(&spend).unwrap();
    let reader = Ledger::open_read_only(&path).unwrap();
    assert_eq!(states(&reader), [State::Reserved], "on disk before the session is opened");
    let mut session = Session::open(spend, &mut source, &mut paying).unwrap();
    let noisy = mechanism().run(Private::new(vec![1.0]), &mut session).unwrap();
    assert_eq!(
        states(&Ledger::open_read_only(&path).unwrap()),
        [State::Drawn],
        "on disk before the draw"
    );
    let release = session.settle(noisy, statement).unwrap();
    drop(paying);
    let certificate = release.certificate().clone();
    let entered = certificate.ledger.clone().unwrap();
    assert!(entered.well_formed());
    assert_eq!(states(&Ledger::open_read_only(&path).unwrap()), [State::Settled]);
    let checked = ledger.check_certificate(&certificate, &UnitDefinition::NotSaid).unwrap();
    assert_eq!((checked.dataset.as_str(), checked.state), ("riders", State::Settled));
    assert_eq!(certificate.recheck().unwrap(), certificate.guarantee);
    let kept = ledger.books().reservations()[&checked.reservation].certificate.clone().unwrap();
    let text = ledger.certificate(&kept).unwrap().unwrap();
    assert_eq!(privet_ledger::entry::hash(&text), kept);

    // As written to a file.
    let mut written = certificate.clone();
    written.digest = Some("ab".repeat(32));
    ledger.check_certificate(&written, &UnitDefinition::Records).unwrap();

    // Certificates that do not match; the last is of another run that was never paid for.
    for (edit, words) in [
        ((|c| c.ledger = None) as fn(&mut privet_dp::gate::Certificate), "not made under a ledger"),
        (|c| c.ledger.as_mut().unwrap().ledger = "00".repeat(16), "another ledger"),
        (|c| c.ledger.as_mut().unwrap().sequence = 99, "cut off"),
        (|c| c.ledger.as_mut().unwrap().hash = "00".repeat(32), "rewritten"),
        (|c| c.events = Some(gaussian(0.001)), "other events"),
        (|c| c.made = None, "another certificate"),
    ] {
        let mut edited = certificate.clone();
        edit(&mut edited);
        let refused =
            ledger.check_certificate(&edited, &UnitDefinition::NotSaid).unwrap_err().to_string();
        assert!(refused.contains(words), "{refused}");
    }
}

#[test]
fn what_is_dropped_before_the_first_draw_is_void_and_after_it_spent() {
    let (_folder, path, mut ledger) = ledger(Kind::Zcdp);
    let (asked, spend, _) = wish();
    let mut paying = ledger.purse_for(asked.clone());
    paying.set_aside(&spend).unwrap();
    drop(paying);
    assert_eq!(states(&ledger), [State::Void]);
    assert!(ledger.books().accounts()["riders"].spent.is_nothing());
    let mut source = SystemRandom::new().unwrap();
    let mut paying = ledger.purse_for(asked);
    let mut session = Session::open(spend, &mut source, &mut paying).unwrap();
    let _lost = mechanism().run(Private::new(vec![1.0]), &mut session).unwrap();
    drop(session);
    drop(paying);
    assert_eq!(states(&ledger), [State::Void, State::Drawn]);
    assert!(!ledger.books().accounts()["riders"].spent.is_nothing());
    assert_eq!(states(&Ledger::open_read_only(&path).unwrap()), [State::Void, State::Drawn]);
}

#[test]
fn a_reservation_that_somebody_voided_cannot_be_drawn_from() {
    let (_folder, path, mut ledger) = ledger(Kind::Renyi);
    let (asked, spend, _) = wish();
    let mut paying = ledger.purse_for(asked);
    paying.set_aside(&spend).unwrap();
    let mut other = Ledger::open(&path).unwrap();
    let sequence = other.books().sequence();
    other.void(sequence, "officer", "by hand").unwrap();
    let refused = paying.drawn(0).unwrap_err();
    assert!(matches!(&refused, PurseError::Refused(words) if words.contains("void")), "{refused}");
    drop(paying);
    // A drawn reservation cannot be freed.
    let (asked, spend, _) = wish();
    let mut paying = ledger.purse_for(asked);
    paying.set_aside(&spend).unwrap();
    paying.drawn(0).unwrap();
    other.catch_up().unwrap();
    let reservation = *other.books().reservations().keys().last().unwrap();
    let refused = other.void(reservation, "officer", "by hand").unwrap_err();
    assert!(matches!(&refused, LedgerError::State { .. }), "{refused}");
}

#[test]
fn a_purse_pays_for_one_session_and_for_what_it_was_asked() {
    let (_folder, _, mut ledger) = ledger(Kind::Renyi);
    let (asked, spend, _) = wish();
    let mut paying = ledger.purse_for(asked);
    assert!(paying.drawn(0).is_err(), "nothing is reserved");
    paying.set_aside(&spend).unwrap();
    assert!(paying.reserve(&crate::world::spend(&gaussian(0.9))).is_err(), "something else");
    paying.reserve(&spend).unwrap();
    paying.drawn(0).unwrap();
    assert!(paying.reserve(&spend).is_err(), "a second session");
    assert!(paying.put_aside(0, "").is_err());
    drop(paying);
    assert_eq!(states(&ledger), [State::Drawn]);
}

/// A stream is spent whole before its first record.
#[test]
fn a_stream_is_spent_at_the_start() {
    let (_folder, _, mut ledger) = ledger(Kind::Renyi);
    let (asked, spend, _) = wish();
    let entered = ledger.purse_for(asked).spend_whole(&spend).unwrap();
    assert_eq!(states(&ledger), [State::Settled]);
    assert!(entered.well_formed());
}

/// A release exists whatever becomes of its closing entry, which is written once the release is stored.
#[test]
fn a_release_is_not_lost_with_the_entry_that_closes_it() {
    let (_folder, path, mut ledger) = ledger(Kind::Renyi);
    let looked = || states(&Ledger::open_read_only(&path).unwrap());
    let mut run = |until_closed: bool| {
        let (asked, spend, statement) = wish();
        let mut source = SystemRandom::new().unwrap();
        let mut paying = ledger.purse_for(asked);
        if until_closed {
            paying = paying.until_closed();
        }
        let mut session = Session::open(spend, &mut source, &mut paying).unwrap();
        let noisy = mechanism().run(Private::new(vec![1.0]), &mut session).unwrap();
        let release = session.settle(noisy, statement).unwrap();
        assert_eq!(looked().last(), Some(&State::Drawn), "the release is in nobody's hands yet");
        let closed = match until_closed {
            false => paying.close(),
            true => Ok(()),
        };
        drop(paying);
        (release, closed)
    };
    let (first, closed) = run(false);
    closed.unwrap();
    run(true).1.unwrap();
    assert_eq!(looked(), [State::Settled, State::Drawn]);
    // After the draw nothing can be written any more.
    let (asked, spend, statement) = wish();
    let mut source = SystemRandom::new().unwrap();
    let mut paying = ledger.purse_for(asked);
    let mut session = Session::open(spend, &mut source, &mut paying).unwrap();
    let noisy = mechanism().run(Private::new(vec![1.0]), &mut session).unwrap();
    let planted = rusqlite::Connection::open(&path).unwrap();
    planted.execute_batch("CREATE TABLE other (a)").unwrap();
    let release = session.settle(noisy, statement).unwrap();
    let refused = paying.close().unwrap_err();
    assert!(matches!(&refused, LedgerError::NotClosed { .. }), "{refused}");
    let words = refused.to_string();
    assert!(words.contains("made and valid") && words.contains("counts as spent"), "{words}");
    paying.close().unwrap();
    drop(paying);
    planted.execute_batch("DROP TABLE other").unwrap();
    assert_eq!(looked(), [State::Settled, State::Drawn, State::Drawn]);
    for certificate in [first.certificate(), release.certificate()] {
        ledger.check_certificate(certificate, &UnitDefinition::Records).unwrap();
    }
}

#[test]
fn clocks_may_go_back() {
    let (_folder, path, ledger) = ledger(Kind::Renyi);
    let mut ledger = ledger.with_clock(|| "1999-12-31T23:59:59Z".into());
    let (asked, spend, _) = wish();
    ledger.purse_for(asked).spend_whole(&spend).unwrap();
    let again = Ledger::open(&path).unwrap();
    assert_eq!(again.books().backwards(), &[3, 4, 5]);
    assert_eq!(states(&again), [State::Settled]);
}
