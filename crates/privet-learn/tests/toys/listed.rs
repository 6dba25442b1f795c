//! A list of selectors that holds the toy, and what a list makes of its lines. `scripts/toy.sh` has the
//! same in the command, the docs and Python.

use super::{
    NoisyAnswer, Note, PlanInput, Select, Selecting, SelectionSizes, SingleQuery, Support,
    correlation, open,
};
use crate::LearnError;
use crate::release::allowance::Allowance;
use crate::release::registry::{RegisteredMethod, registry};
use crate::release::task::Procedure;
use privet_core::{Budget, Neighbours};
use privet_data::{Schema, read};
use privet_dp::gate::Session;
use privet_dp::noise::FixedSeed;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

#[path = "agreement.rs"]
mod agreement;

/// A selector's plan, with a selector of this list.
struct Decision {
    procedure: Arc<dyn SingleQuery>,
    settled: Selector,
    notes: Vec<Note>,
}

registry! {
    /// A selector and its own settings.
    #[derive(Copy)]
    pub enum Selector: Info<()>, all LISTED, default Agreement;
    planned(self, wanted: &PlanInput<'_>) -> Result<Decision, LearnError>;
    /// The toy.
    Agreement(agreement::Agreement) = agreement::INFO, agreement::plan;
    /// The same again: a list has several.
    Other(agreement::Agreement) = OTHER, agreement::plan;
}

const OTHER: crate::release::registry::Info =
    crate::release::registry::Info { name: "other", ..agreement::INFO };

#[test]
fn a_line_makes_a_method_of_a_file() {
    assert_eq!(LISTED.iter().map(|info| info.name).collect::<Vec<_>>(), ["agreement", "other"]);
    assert_eq!(Selector::accepted(), "agreement, other");
    let toy: Selector = "agreement".parse().unwrap();
    assert_eq!((toy, toy.to_string().as_str()), (Selector::default(), "agreement"));
    assert!(toy.is_private() && toy.has("weight") && Selector::by_name("correlation").is_none());
    assert!(correlation::INFO.name != toy.name());
    let [weight] = toy.info().settings else { panic!("one setting") };
    assert_eq!((weight.name, weight.value_name()), ("weight", "N"));
    assert_eq!(weight.accepted(), "a whole number from 1 to 999");
    assert_eq!(weight.example(), Some(1.into()));
    let heavier = toy.with("weight", "3").unwrap();
    let written = serde_json::json!({ "name": "agreement", "weight": 3 });
    assert_eq!(serde_json::to_value(heavier).unwrap(), written);
    assert_eq!(serde_json::from_value::<Selector>(written).unwrap(), heavier);
    assert!(matches!(toy.with("height", "1"), Err(LearnError::NotASetting { .. })));
}

#[test]
fn a_line_makes_a_plan_of_a_file() {
    let schema = Schema::from_toml(
        "[clip]\nnorm = \"linf\"\nradius = 1.0\n[target]\ncolumn = \"y\"\nclasses = [\"no\", \"yes\"]\n\
         [[columns]]\nname = \"a\"\ntype = \"number\"\nbounds = [-1, 1]\nscale = \"symmetric\"\n\
         [[columns]]\nname = \"b\"\ntype = \"number\"\nbounds = [-1, 1]\nscale = \"symmetric\"\n",
    );
    let text: String = (0..200).map(|row| ["1,1,yes\n", "1,-1,no\n"][row % 2]).collect();
    let task = Select { size: 1, method: super::Selector::default() };
    let request =
        task.request(&schema.unwrap(), 200, Neighbours::ReplaceOne, (8.0, Some(0.0))).unwrap();
    let facts = <Select as super::Task>::facts(&request).unwrap();
    let wanted = |size| PlanInput {
        facts: &facts,
        budget: Allowance::new(Budget::new(8.0, 0.0).unwrap(), &[]),
        calibration: request.calibration,
        size,
    };
    let toy = Selector::default();
    assert!(matches!(toy.planned(&wanted(2)), Err(LearnError::NotCovered { .. })));
    let below = toy.with("weight", "0").unwrap();
    assert!(matches!(below.planned(&wanted(1)), Err(LearnError::Setting(_))), "below its range");
    let Decision { procedure, settled, notes } = toy.planned(&wanted(1)).unwrap();
    let procedure = Selecting(procedure);
    assert_eq!((settled, notes.len()), (toy.with("weight", "1").unwrap(), 0));
    let data = read::csv_bytes(format!("a,b,y\n{text}").as_bytes(), &request.schema).unwrap();
    let mut source = FixedSeed::new(1);
    let mut session =
        Session::start_walking(procedure.event().unwrap(), procedure.walk().unwrap(), &mut source);
    let found = procedure.run(&facts, &data, &mut session, &AtomicBool::new(false));
    assert!(found.is_ok(), "{:?}", found.err());
}
