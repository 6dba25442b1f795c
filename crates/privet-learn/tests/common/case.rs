//! A request on the small table, with defaults for every choice that a test does not care for.

use super::accuracy;
use super::tables::{csv, levelled, schema};
use privet_core::{Budget, Neighbours};
use privet_data::{Dataset, Schema, read};
use privet_dp::gate::Release;
use privet_dp::noise::{FixedSeed, Source, SystemRandom};
use privet_learn::file::{Seal, from_json, to_json};
use privet_learn::linear::model::LinearWeights;
use privet_learn::linear::model::Model;
use privet_learn::{Calibration, Erm, LearnError, Method, Plan, Request, plan, verify};
use privet_optim::loss::Loss;
use std::ops::Deref;
use std::sync::atomic::AtomicBool;

/// The learners of least squares alone.
const SQUARES: [&str; 3] = ["ssp", "linear", "linear-rotated"];

/// A builder of requests that reads as the request itself.
#[derive(Debug, Clone)]
pub struct Case {
    request: Request,
    classes: u32,
    users: Option<u32>,
}

impl Deref for Case {
    type Target = Request;
    fn deref(&self) -> &Request {
        &self.request
    }
}

impl From<Request> for Case {
    fn from(request: Request) -> Self {
        Self { request, classes: 2, users: None }
    }
}

impl Case {
    /// Two classes, 4,000 rows, ε = 1 and δ = 1e-6, replace-one, sound; and a loss that the method covers.
    pub fn of(method: &str) -> Self {
        let method: Method = method.parse().unwrap();
        let loss = if SQUARES.contains(&method.name()) { Loss::SQUARED } else { Loss::Logistic };
        let budget = Budget::new(1.0, 1e-6).unwrap();
        let budget = Some(budget).filter(|_| method.is_private());
        let task = Erm { loss, method };
        let request = Request::new(schema(2, None), 4000, Neighbours::ReplaceOne, task);
        Self::from(Request { budget, ..request }).classes(2)
    }

    /// The small schema, as the method needs it.
    fn own_schema(&self, classes: u32, users: Option<u32>) -> Schema {
        let schema = schema(classes, users);
        if self.task.method.name() == "placed-gd" { levelled(schema) } else { schema }
    }

    /// Sets the number of classes of the target; 1 is a number.
    pub fn classes(self, classes: u32) -> Self {
        let schema = self.own_schema(classes, self.users);
        Self { classes, ..self }.schema(schema)
    }

    /// Sets units of at most `most` rows.
    pub fn users(self, most: u32) -> Self {
        let schema = self.own_schema(self.classes, Some(most));
        Self { users: Some(most), ..self }.schema(schema)
    }

    /// Sets another schema; the case's own tables do not have it.
    pub fn schema(mut self, schema: Schema) -> Self {
        self.request.schema = schema;
        self
    }

    pub fn rows(mut self, rows: u64) -> Self {
        self.request.rows = rows;
        self
    }

    pub fn budget(mut self, epsilon: f64, delta: f64) -> Self {
        self.request.budget = Some(Budget::new(epsilon, delta).unwrap());
        self
    }

    /// Removes the budget.
    pub fn free(mut self) -> Self {
        self.request.budget = None;
        self
    }

    pub fn delta(self, delta: f64) -> Self {
        let epsilon = self.budget.unwrap().epsilon();
        self.budget(epsilon, delta)
    }

    pub fn neighbours(mut self, neighbours: Neighbours) -> Self {
        self.request.neighbours = neighbours;
        self
    }

    pub fn printed(mut self) -> Self {
        self.request.calibration = Calibration::Printed;
        self
    }

    pub fn loss(mut self, loss: Loss) -> Self {
        self.request.task.loss = loss;
        self
    }

    /// Sets a method with its settings as a type.
    pub fn method(mut self, method: Method) -> Self {
        self.request.task.method = method;
        self
    }

    pub fn set(mut self, setting: &str, value: &str) -> Self {
        self.request = self.request.with(setting, value).unwrap();
        self
    }

    pub fn request(&self) -> Request {
        self.request.clone()
    }

    /// A table with the declared number of rows.
    pub fn data(&self, seed: u64) -> Dataset {
        self.table(self.rows as usize, seed)
    }

    /// A table with `rows` rows.
    pub fn table(&self, rows: usize, seed: u64) -> Dataset {
        let text = csv(rows, self.classes, self.users, seed);
        let schema = self.own_schema(self.classes, self.users);
        read::csv_bytes(text.as_bytes(), &schema).unwrap()
    }

    pub fn plan(&self) -> Plan {
        plan(self).unwrap_or_else(|error| panic!("{}: {error}", self.task.method))
    }

    /// The error of a refused plan.
    pub fn refusal(&self) -> LearnError {
        plan(self).err().unwrap_or_else(|| panic!("{:?} is planned", self.task.method))
    }

    pub fn run(&self, data: &Dataset, source: &mut dyn Source) -> Release<LinearWeights> {
        self.plan().run(data, source, &AtomicBool::new(false)).unwrap()
    }

    /// Trains a model and reads it back from its file.
    pub fn model(&self, data: &Dataset) -> Model {
        let release = self.run(data, &mut SystemRandom::new().unwrap());
        let text = to_json(&Model::from_release(release).unwrap(), None).unwrap();
        from_json::<Erm>(text.as_bytes(), Seal::Required).unwrap()
    }

    /// The same; it verifies and claims the request's budget.
    pub fn verified(&self, data: &Dataset) -> Model {
        let model = self.model(data);
        let (verdict, asked) = (verify(&model), self.budget.unwrap());
        let what = format!("{:?} {} {}", self.task, self.neighbours, self.classes);
        assert!(verdict.valid, "{what}: {:?}", verdict.checks);
        let claimed = verdict.guarantee.unwrap();
        let (epsilon, delta) = (asked.epsilon(), asked.delta());
        assert_eq!((claimed.epsilon, claimed.delta), (epsilon, delta), "{what}");
        assert_eq!(claimed.neighbours, self.neighbours, "{what}");
        model
    }

    /// The same; with a fixed seed, predicts more than a fraction `least` of the test's labels. For a
    /// bound above that of a fair coin a failure means an error of sign or scale.
    pub fn learns(&self, data: &Dataset, test: &Dataset, least: f64) -> Model {
        let actual = accuracy(&self.seeded(data), test);
        assert!(actual > least, "{:?} {} {}: {actual}", self.task, self.neighbours, self.classes);
        self.verified(data)
    }

    /// With a fixed seed, for tests that depend on the noise drawn, so that none fails by chance.
    pub fn seeded(&self, data: &Dataset) -> Model {
        Model::from_release(self.run(data, &mut FixedSeed::new(11))).unwrap()
    }
}
