//! Completed ratings: plans, releases and recommendations.

use crate::error::{Failure, Outcome};
use crate::ledger::{KnownByName, Order, Paid};
use crate::released::Released;
use crate::watched::{Threads, run_watched};
use privet_core::{Budget, Neighbours};
use privet_data::Dataset;
use privet_data::ratings::{self, Layout, OwnRatings, Rated, RatingFacts};
use privet_data::schema::{Draft, Invalid, UNNAMED_UNIT};
use privet_learn::Task;
use privet_learn::ratings::{Complete, LocalState, Method, Shape};
use pyo3::prelude::*;
use std::collections::HashMap;

type Factors = privet_learn::Released<Complete>;

fn rated(factors: &Factors) -> Outcome<Rated<'_>> {
    Rated::of(&factors.request().schema).map_err(Failure::value)
}

/// A user's ratings by the index of their items; an item that is not listed is left out.
fn ratings_by_index(
    given: &[(String, f64)],
    rated: &Rated<'_>,
    places: &HashMap<&str, usize>,
) -> OwnRatings {
    let mut own = OwnRatings::default();
    for (item, rating) in given {
        if let Some(place) = places.get(item.as_str()) {
            own.and(*place, *rating, rated);
        }
    }
    own
}

fn item_indices<'a>(rated: &Rated<'a>) -> HashMap<&'a str, usize> {
    rated.items.iter().enumerate().map(|(place, item)| (item.as_str(), place)).collect()
}

/// Plans from public facts, and learns from users' ratings: for each a list of (item, rating).
#[pyfunction]
#[pyo3(signature = (users, items, bounds, most, n_users, *, unit, epsilon, delta, neighbours, invalid, method, settings, seed, paid = None))]
pub fn learn_ratings(
    py: Python<'_>,
    users: Vec<Vec<(String, f64)>>,
    items: Vec<String>,
    bounds: (f64, f64),
    most: u32,
    n_users: u64,
    unit: Option<&str>,
    epsilon: f64,
    delta: f64,
    neighbours: &str,
    invalid: &str,
    method: &str,
    settings: Vec<(String, String)>,
    seed: Option<u64>,
    paid: Option<Paid>,
) -> Outcome<Released> {
    let facts = RatingFacts { layout: Layout::Triples, items, bounds: [bounds.0, bounds.1], most };
    // Where users have no names, it is unknown whether those of two fits are the same.
    let schema = ratings::schema(&facts).map_err(Failure::value)?;
    let schema = ratings::with_unit(&schema, unit.unwrap_or(UNNAMED_UNIT));
    let mut draft = Draft::from(schema.map_err(Failure::value)?);
    draft.invalid = (invalid == "drop").then_some(Invalid::Drop);
    let schema = draft.check().map_err(Failure::value)?;
    let method: Method = method.parse()?;
    let method =
        settings.iter().try_fold(method, |method, (name, value)| method.with(name, value))?;
    let neighbours: Neighbours = neighbours.parse()?;
    let asked = Complete::by(method).request(schema.clone(), n_users, neighbours);
    let request = asked.with_budget(Budget::new(epsilon, delta)?);
    let plan = run_watched(py, |_| privet_learn::plan(&request))??;
    let rated = Rated::of(&schema).map_err(Failure::value)?;
    let places = item_indices(&rated);
    let read = || {
        let rows = users.iter().map(|given| ratings_by_index(given, &rated, &places)).collect();
        Ok(ratings::table(rows, &rated))
    };
    let order = Order { plan: &plan, doing: "complete", seed, by: Threads::Shared, paid };
    Ok(Released::of_run(order.release::<Dataset, _>(py, KnownByName, read)?))
}

/// The public list of items.
pub fn items(factors: &Factors) -> Outcome<Vec<String>> {
    Ok(rated(factors)?.items.to_vec())
}

/// The predicted ratings of one user for every item, in the order of the list.
pub fn predict(py: Python<'_>, factors: &Factors, given: &[(String, f64)]) -> Outcome<Vec<f64>> {
    let rated = rated(factors)?;
    let table =
        ratings::table(vec![ratings_by_index(given, &rated, &item_indices(&rated))], &rated);
    let shape: Shape = Complete::facts(factors.request())?;
    let own = || factors.artefact().predictions(&LocalState::of(&table.features, 0), &shape);
    run_watched(py, |_| own())
}
