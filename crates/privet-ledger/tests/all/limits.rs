//! A release that fits is admitted, another is refused with its price, and the sum never exceeds the
//! limit.

use crate::world::{RELATION, asked, gaussian, ledger, limit, note, spend, used};
use privet_core::{Budget, Neighbours, Unit, UnitDefinition};
use privet_dp::account::{self, Cost, Event, Guarantee};
use privet_dp::gate::Purse;
use privet_ledger::{Kind, Ledger, LedgerError, Limit, State};

/// Draws a release, or returns the refusal.
fn release(ledger: &mut Ledger, event: &Event) -> Result<(), LedgerError> {
    let mut paying = ledger.purse_for(asked("riders", event));
    paying.set_aside(&spend(event))?;
    paying.drawn(0).unwrap();
    Ok(())
}

/// As many equal releases as the limit admits: composed by the accountant they are within the limit, and
/// if the filter is as tight as the accountant almost nothing is left.
#[test]
fn what_is_admitted_is_within_the_limit() {
    for (kind, least) in
        [(Kind::Renyi, 0.8), (Kind::Zcdp, 0.8), (Kind::Gaussian, 0.9), (Kind::Sum, 0.0)]
    {
        let (_folder, _, mut ledger) = ledger(kind);
        let event = gaussian(0.02);
        let mut admitted = 0;
        let refused = loop {
            match release(&mut ledger, &event) {
                Ok(()) => admitted += 1,
                Err(error) => break error.to_string(),
            }
        };
        assert!(refused.contains("it would exceed the budget of 'riders'"), "{refused}");
        assert!(refused.contains("is left"), "{refused}");
        let all = Event::Repeat { count: admitted, event: Box::new(event) };
        let whole = account::epsilon(&all, 1e-6).unwrap();
        assert!(whole <= 1.0, "{kind}: {whole}");
        assert!(whole >= least, "{kind}: {admitted} give {whole}");
        let account = &ledger.books().accounts()["riders"];
        let proved = account.proved_epsilon();
        assert!(proved <= 1.0 + 1e-9 && proved >= whole - 1e-9, "{kind}: {proved} for {whole}");
        assert_eq!(account.releases, u64::from(admitted));
    }
}

/// Every kind of event has a price under every filter documented to admit it, and none is admitted
/// without one.
#[test]
fn kinds_are_admitted_as_the_table_says() {
    let kinds = [
        ("gaussian", gaussian(0.05), [true, true, true, true]),
        ("pure", used(Cost::Pure { epsilon: 0.01 }), [true, true, false, true]),
        (
            "sampled",
            used(Cost::WithoutReplacementGaussian {
                population: 1000,
                batch: 10,
                sensitivity: 2.0,
                noise_scale: 20.0,
                grid: None,
            }),
            [true, true, false, true],
        ),
        (
            "approximate",
            used(Cost::Approximate { epsilon: 0.01, delta: 1e-8 }),
            [true, true, false, true],
        ),
    ];
    for (at, kind) in [Kind::Renyi, Kind::Zcdp, Kind::Gaussian, Kind::Sum].into_iter().enumerate() {
        for (name, event, admitted) in &kinds {
            let (_folder, _, mut ledger) = ledger(kind);
            let outcome = release(&mut ledger, event);
            assert_eq!(outcome.is_ok(), admitted[at], "{name} under {kind}: {outcome:?}");
        }
    }
}

/// A few releases of pure ε are charged by their sum under any filter; one Gaussian release leaves the
/// law alone.
#[test]
fn pure_releases_are_never_worse_than_their_sum() {
    let quarter = used(Cost::Pure { epsilon: 0.25 });
    for kind in [Kind::Renyi, Kind::Zcdp, Kind::Sum] {
        let (_folder, _, mut ledger) = ledger(kind);
        for _ in 0..4 {
            release(&mut ledger, &quarter).unwrap();
        }
        assert!(release(&mut ledger, &quarter).is_err(), "{kind}");
        let account = &ledger.books().accounts()["riders"];
        let proved = account.proved_epsilon();
        assert!(proved > 0.999 && proved < 1.0 + 1e-9, "{kind}: {proved}");
        if kind == Kind::Renyi {
            assert!(release(&mut ledger, &gaussian(1e-3)).is_err());
        }
        // Many small ones are charged by the law.
        if kind != Kind::Sum {
            let (_folder, _, mut ledger) = crate::world::ledger(kind);
            let small = used(Cost::Pure { epsilon: 0.002 });
            let many = Event::Repeat { count: 1000, event: Box::new(small) };
            release(&mut ledger, &many).unwrap();
        }
    }
}

/// Σδ of events with a δ of their own is held to its share of the limit's.
#[test]
fn leaks_add_up() {
    let (_folder, _, mut ledger) = ledger(Kind::Renyi);
    let event = used(Cost::Approximate { epsilon: 1e-4, delta: 1e-7 });
    let admitted = (0..10).filter(|_| release(&mut ledger, &event).is_ok()).count();
    assert_eq!(admitted, 2, "a quarter of 1e-6, 1e-7 at a time");
    // Events without one still fit.
    release(&mut ledger, &gaussian(0.01)).unwrap();
}

#[test]
fn another_relation_or_unit_is_refused_in_words() {
    let (_folder, _, mut ledger) = ledger(Kind::Renyi);
    for (neighbours, unit) in [
        (Neighbours::AddRemove, Unit::Record),
        (Neighbours::ReplaceOne, Unit::User { max_records: 3 }),
    ] {
        let cost = Cost::Pure { epsilon: 0.01 };
        let event = Event::Use { neighbours, unit, cost };
        let refused = release(&mut ledger, &event).unwrap_err();
        assert!(matches!(refused, LedgerError::OtherRelation { .. }), "{refused}");
        assert!(refused.to_string().contains("replace-one of one record"), "{refused}");
    }
    assert!(ledger.books().reservations().is_empty());
}

/// A release that needs the whole limit fits as the only one, and only as that.
#[test]
fn the_only_release_may_take_the_whole_limit() {
    let (_folder, path, mut ledger) = ledger(Kind::Renyi);
    // The largest μ within (1, 1e-6): more than a filter for several releases admits.
    let mu = (1..4000)
        .map(|k| f64::from(k) * 1e-4)
        .take_while(|mu| account::epsilon(&gaussian(*mu), 1e-6).unwrap() <= 1.0)
        .last()
        .unwrap();
    let event = gaussian(mu);
    let claim = Guarantee::new(RELATION.neighbours, RELATION.unit, 1.0, 1e-6);
    let mut wish = asked("riders", &event);
    wish.claim = Some(claim);
    let refused = ledger.purse_for(wish.clone()).set_aside(&spend(&event)).unwrap_err().to_string();
    assert!(refused.contains("--whole"), "{refused}");
    wish.whole = true;
    // A claim that the events do not prove is refused.
    let mut lie = wish.clone();
    lie.claim = Some(Guarantee { epsilon: 0.5, ..claim });
    assert!(ledger.purse_for(lie).set_aside(&spend(&event)).is_err());
    // A void reservation leaves the whole limit free.
    drop(ledger.purse_for(wish.clone()).set_aside(&spend(&event)));
    let mut paying = ledger.purse_for(wish.clone());
    paying.set_aside(&spend(&event)).unwrap();
    paying.drawn(0).unwrap();
    drop(paying);
    assert!(ledger.purse_for(wish.clone()).set_aside(&spend(&event)).is_err());
    assert!(release(&mut ledger, &gaussian(1e-6)).is_err());
    let account = &ledger.books().accounts()["riders"];
    assert_eq!((account.share(), account.proved_epsilon()), (1.0, 1.0));
    drop(ledger);
    let mut again = Ledger::open(&path).unwrap();
    assert!(release(&mut again, &gaussian(1e-6)).is_err());
    again.check_claims().unwrap();

    // Refused after any other release.
    let (_folder, _, mut other) = crate::world::ledger(Kind::Renyi);
    release(&mut other, &gaussian(1e-3)).unwrap();
    assert!(other.purse_for(wish).set_aside(&spend(&event)).is_err());
}

#[test]
fn bad_limits_and_names_are_refused() {
    let (_folder, _, mut ledger) = ledger(Kind::Renyi);
    let good = limit(Kind::Zcdp, 1.0, 1e-6);
    for name in ["", " riders", "a\nb", &"x".repeat(201)] {
        let refused = ledger.add(name, good, &UnitDefinition::NotSaid, &note(""), None, false);
        assert!(matches!(refused, Err(LedgerError::BadName { .. })), "{name:?}");
    }
    assert!(matches!(
        ledger.add("riders", good, &UnitDefinition::NotSaid, &note(""), None, false),
        Err(LedgerError::NameTaken { .. })
    ));
    let mut dishonest = good;
    dishonest.epsilon = 0.1;
    assert!(matches!(
        ledger.add("b", dishonest, &UnitDefinition::NotSaid, &note(""), None, false),
        Err(LedgerError::Limit(_))
    ));
    let budget = Budget::new(1.0, 1e-6).unwrap();
    for order in [1.0, 0.0, f64::NAN, 1e9] {
        assert!(Limit::new(Kind::Renyi, Some(order), budget, RELATION).is_err(), "{order}");
    }
    assert!(Limit::new(Kind::Zcdp, Some(2.0), budget, RELATION).is_err());
    let known =
        ledger.purse_for(asked("walkers", &gaussian(0.1))).set_aside(&spend(&gaussian(0.1)));
    assert!(known.unwrap_err().to_string().contains("it has: riders"));
    assert!(ledger.books().reservations().values().all(|held| held.state == State::Void));
}
