//! Tests of the ledger on a PostgreSQL server. `scripts/ledger-postgres.sh` starts one and names it in
//! `PRIVET_POSTGRES`.
#![cfg(feature = "postgres")]

use privet_core::{Budget, Neighbours, Relation, Unit, UnitDefinition};
use privet_dp::account::{Cost, Event, guarantee};
use privet_dp::gate::{Purse, Spend};
use privet_ledger::{BudgetRequest, Kind, Ledger, LedgerError, Limit, Note, State};
use std::sync::{Mutex, MutexGuard};

static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

/// The server's address, with no ledger on it.
fn server() -> Option<(String, MutexGuard<'static, ()>)> {
    let Ok(address) = std::env::var("PRIVET_POSTGRES") else {
        eprintln!("SKIPPED: no server; scripts/ledger-postgres.sh starts one");
        return None;
    };
    let guard = ONE_AT_A_TIME.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    sql(&address, "DROP TABLE IF EXISTS privet_entry, privet_certificate");
    Some((address, guard))
}

fn sql(address: &str, statement: &str) {
    postgres::Client::connect(address, postgres::NoTls).unwrap().batch_execute(statement).unwrap();
}

fn gaussian(mu: f64) -> Event {
    let cost = Cost::Gaussian { sensitivity: mu, noise_scale: 1.0, grid: None };
    Event::Use { neighbours: Neighbours::ReplaceOne, unit: Unit::Record, cost }
}

fn note() -> Note {
    Note { who: "tester".into(), purpose: "to see".into() }
}

fn opened(address: &str) -> Ledger {
    let mut ledger = Ledger::connect(address, "tester").unwrap();
    let relation = Relation::new(Neighbours::ReplaceOne, Unit::Record);
    let limit =
        Limit::new(Kind::Gaussian, None, Budget::new(1.0, 1e-6).unwrap(), relation).unwrap();
    ledger.add("riders", limit, &UnitDefinition::NotSaid, &note(), None, false).unwrap();
    ledger
}

fn asked(event: &Event) -> BudgetRequest {
    let claim = Some(guarantee(event, 1e-7).unwrap());
    BudgetRequest {
        dataset: "riders".into(),
        doing: "test".into(),
        note: note(),
        claim,
        whole: false,
    }
}

#[test]
fn a_server_keeps_entries_and_refuses_what_exceeds() {
    let Some((address, _guard)) = server() else { return };
    let mut ledger = opened(&address);
    assert!(ledger.printer().unwrap().is_none(), "tables are known by their names alone");
    let event = gaussian(0.05);
    let spend = Spend::Exactly(event.clone());
    ledger.paying(asked(&event)).spend_whole(&spend).unwrap();
    drop(ledger.paying(asked(&event)).set_aside(&spend));
    let big = gaussian(3.0);
    let refused = ledger.paying(asked(&big)).set_aside(&Spend::Exactly(big.clone()));
    assert!(matches!(refused, Err(LedgerError::Exceeds(_))), "{refused:?}");
    let again = Ledger::connect(&address, "another").unwrap();
    let states: Vec<State> = again.books().held().values().map(|held| held.state).collect();
    assert_eq!(states, [State::Settled, State::Void]);
    assert_eq!(again.books().head(), ledger.books().head());
    sql(
        &address,
        "UPDATE privet_entry SET text = replace(text, 'to see', 'to hide') WHERE sequence = 3",
    );
    let broken = Ledger::connect(&address, "another").unwrap_err();
    assert!(matches!(broken, LedgerError::Broken { sequence: 3, .. }), "{broken}");
}

#[test]
fn eight_writers_on_a_server_never_exceed_the_limit() {
    let Some((address, _guard)) = server() else { return };
    let ledger = opened(&address);
    let limit = ledger.books().accounts()["riders"].limit;
    let (writers, each) = (8, 50);
    let event = gaussian((limit.filter.limit.most() / (writers * each / 2) as f64).sqrt());
    let granted: usize = std::thread::scope(|scope| {
        let work = |_| {
            let (address, event) = (&address, &event);
            scope.spawn(move || {
                let mut ledger = Ledger::connect(address, "writer").unwrap();
                (0..each)
                    .filter(|_| {
                        let mut paying = ledger.paying(asked(event));
                        match paying.set_aside(&Spend::Exactly(event.clone())) {
                            Ok(()) => paying.drawn(0).is_ok(),
                            Err(LedgerError::Exceeds(_)) => false,
                            Err(error) => panic!("{error}"),
                        }
                    })
                    .count()
            })
        };
        let all: Vec<_> = (0..writers).map(work).collect();
        all.into_iter().map(|writer| writer.join().unwrap()).sum()
    });
    let again = Ledger::connect(&address, "another").unwrap();
    let drawn = again.books().held().values().filter(|held| held.state == State::Drawn).count();
    assert_eq!(drawn, granted);
    let half = writers * each / 2;
    assert!((half - 1..=half).contains(&granted), "{granted}");
    assert!(again.books().accounts()["riders"].share() <= 1.0);
}

/// Anything that could remove an entry is found, when a ledger is opened and when an open one writes.
#[test]
fn a_server_whose_tables_were_changed_is_refused() {
    let Some((address, _guard)) = server() else { return };
    let vanish = "CREATE OR REPLACE FUNCTION vanish() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END'";
    let cases = [
        (
            "trigger",
            "CREATE TRIGGER gone BEFORE INSERT ON privet_entry FOR EACH ROW EXECUTE FUNCTION vanish()",
        ),
        ("rule", "CREATE RULE gone AS ON INSERT TO privet_entry DO INSTEAD NOTHING"),
        ("kind of table", "ALTER TABLE privet_entry ENABLE ROW LEVEL SECURITY"),
        ("kind of table", "CREATE TABLE heir () INHERITS (privet_entry)"),
        ("list of columns", "ALTER TABLE privet_certificate ADD COLUMN more TEXT"),
    ];
    for (what, planted) in cases {
        sql(&address, "DROP TABLE IF EXISTS heir, privet_entry, privet_certificate");
        let mut ledger = opened(&address);
        Ledger::open_read_only_at(&address).unwrap();
        sql(&address, vanish);
        sql(&address, planted);
        let event = gaussian(0.05);
        let refused =
            ledger.paying(asked(&event)).set_aside(&Spend::Exactly(event.clone())).unwrap_err();
        assert!(matches!(&refused, LedgerError::Foreign { .. }), "{planted}: {refused}");
        for refused in [Ledger::connect(&address, "another"), Ledger::open_read_only_at(&address)] {
            let refused = refused.unwrap_err().to_string();
            assert!(refused.contains(what), "{planted}: {refused}");
        }
    }
    sql(&address, "DROP TABLE IF EXISTS heir");
}

/// Reading creates no ledger.
#[test]
fn looking_at_a_server_makes_nothing() {
    let Some((address, _guard)) = server() else { return };
    assert!(matches!(Ledger::open_read_only_at(&address), Err(LedgerError::Absent { .. })));
    let mut client = postgres::Client::connect(&address, postgres::NoTls).unwrap();
    let there: bool =
        client.query_one("SELECT to_regclass('privet_entry') IS NOT NULL", &[]).unwrap().get(0);
    assert!(!there);
}
