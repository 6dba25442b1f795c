//! Helpers shared by the tests.

use privet_core::{Budget, Neighbours, Relation, Unit, UnitDefinition};
use privet_dp::account::{Cost, Event, Guarantee, guarantee};
use privet_dp::gate::Spend;
use privet_ledger::{BudgetRequest, Kind, Ledger, Limit, Note};
use std::path::{Path, PathBuf};
use tempfile::TempDir;

pub const RELATION: Relation = Relation::new(Neighbours::ReplaceOne, Unit::Record);

pub fn used(cost: Cost) -> Event {
    Event::Use { neighbours: Neighbours::ReplaceOne, unit: Unit::Record, cost }
}

/// A Gaussian release of this μ.
pub fn gaussian(mu: f64) -> Event {
    used(Cost::Gaussian { sensitivity: mu, noise_scale: 1.0, grid: None })
}

pub fn spend(event: &Event) -> Spend {
    Spend::Exactly(event.clone())
}

pub fn note(purpose: &str) -> Note {
    Note { who: "tester".into(), purpose: purpose.into() }
}

pub fn limit(kind: Kind, epsilon: f64, delta: f64) -> Limit {
    Limit::new(kind, None, Budget::new(epsilon, delta).unwrap(), RELATION).unwrap()
}

/// A request that claims the (ε, δ) its events prove at δ = 1e-7.
pub fn asked(dataset: &str, event: &Event) -> BudgetRequest {
    let claim: Guarantee = guarantee(event, 1e-7).unwrap();
    BudgetRequest {
        dataset: dataset.into(),
        doing: "test".into(),
        note: note("to see"),
        claim: Some(claim),
        whole: false,
    }
}

/// A ledger with one data set, ε = 1 at δ = 1e-6.
pub fn ledger(kind: Kind) -> (TempDir, PathBuf, Ledger) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("budget.ledger");
    let mut ledger = Ledger::create(&path, "tester").unwrap();
    ledger
        .add(
            "riders",
            limit(kind, 1.0, 1e-6),
            &UnitDefinition::NotSaid,
            &note("a study"),
            None,
            false,
        )
        .unwrap();
    (folder, path, ledger)
}

/// Changes the file under the ledger, as an attacker would.
pub fn sql(path: &Path, statement: &str) {
    let connection = rusqlite::Connection::open(path).unwrap();
    connection.execute_batch(statement).unwrap();
}
