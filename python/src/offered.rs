//! Families that are offered, as they declare themselves: planned by their words, with nothing written for any of them here.

use crate::error::{Failure, Outcome};
use crate::plan::Plan;
use crate::schema::Schema;
use crate::watched::run_watched;
use privet_learn::{
    AnyPlan, BudgetOptions, FamilyVisitor, LearnError, OfferedFamily, RegisteredMethod,
    declaration, each_offered,
};
use pyo3::prelude::*;
use serde_json::{Map, Value};

/// What every family that is offered declares, as JSON: its verb, its words and its methods.
#[pyfunction]
pub fn offered() -> String {
    struct Declared(Vec<Value>);
    impl FamilyVisitor for Declared {
        fn family<F: OfferedFamily>(&mut self) {
            self.0.push(declaration::<F>());
        }
    }
    let mut declared = Declared(Vec::new());
    each_offered(&mut declared);
    Value::from(declared.0).to_string()
}

/// What is asked of the family with a verb.
struct PythonRequest<'a> {
    verb: &'a str,
    schema: &'a privet_data::Schema,
    rows: u64,
    budget: BudgetOptions,
    words: &'a [(String, String)],
    method: Option<&'a str>,
    settings: &'a [(String, String)],
    found: Option<Outcome<Value>>,
}

impl FamilyVisitor for PythonRequest<'_> {
    fn family<F: OfferedFamily>(&mut self) {
        if F::VERB == self.verb {
            self.found = Some(self.request::<F>());
        }
    }
}

impl PythonRequest<'_> {
    /// The request, as certificates carry it.
    fn request<F: OfferedFamily>(&self) -> Outcome<Value> {
        let mut words = Map::new();
        for (name, text) in self.words {
            let word =
                F::REQUEST_FIELDS.iter().find(|word| word.name == name).ok_or_else(|| {
                    let known: Vec<_> = F::REQUEST_FIELDS.iter().map(|word| word.name).collect();
                    Failure::value(format!(
                        "{name} is no word of {}; accepted: {}",
                        F::VERB,
                        known.join(", ")
                    ))
                })?;
            words.insert(name.clone(), word.read(text)?);
        }
        if let Some(word) =
            F::REQUEST_FIELDS.iter().find(|word| word.is_needed() && !words.contains_key(word.name))
        {
            return Err(Failure::value(format!("{} is missing: {}", word.name, word.meaning)));
        }
        let request =
            F::of_words(words, self.learner::<F>()?, &self.budget, (self.schema, self.rows))?;
        Ok(serde_json::to_value(request)?)
    }

    fn learner<F: OfferedFamily>(&self) -> Outcome<Option<F::Learner>> {
        if F::Learner::ALL.is_empty() {
            return Ok(None);
        }
        let unknown = |name: &str| {
            Failure::value(format!(
                "'{name}' is not a method of {}; accepted: {}",
                F::VERB,
                F::Learner::accepted()
            ))
        };
        let learner = match self.method {
            None => F::Learner::default(),
            Some(name) => F::Learner::by_name(name).ok_or_else(|| unknown(name))?,
        };
        let with =
            |learner: F::Learner, (name, value): &(String, String)| learner.with(name, value);
        let learner: Result<F::Learner, LearnError> = self.settings.iter().try_fold(learner, with);
        Ok(Some(learner?))
    }
}

/// Makes the plan of a family that is offered, from its words as they are written and other public facts.
#[pyfunction]
#[pyo3(signature = (verb, schema, rows, *, epsilon, delta, neighbours, words, method, settings, prior_fits = Vec::new()))]
pub fn plan_offered(
    py: Python<'_>,
    verb: &str,
    schema: &Bound<'_, Schema>,
    rows: u64,
    epsilon: f64,
    delta: Option<f64>,
    neighbours: &str,
    words: Vec<(String, String)>,
    method: Option<&str>,
    settings: Vec<(String, String)>,
    prior_fits: Vec<String>,
) -> Outcome<Plan> {
    let budget = BudgetOptions { epsilon, delta, neighbours: neighbours.parse()? };
    let (words, settings) = (words.as_slice(), settings.as_slice());
    let schema = &schema.get().0;
    let mut wanted =
        PythonRequest { verb, schema, rows, budget, words, method, settings, found: None };
    each_offered(&mut wanted);
    let unknown = || {
        Failure::value(format!(
            "'{verb}' is no family that is offered; _privet.offered() lists them"
        ))
    };
    let mut request = wanted.found.ok_or_else(unknown)??;
    if !prior_fits.is_empty() {
        request["prior_fits"] = prior_fits.into();
    }
    Ok(Plan(run_watched(py, |_| AnyPlan::of(request))??))
}
