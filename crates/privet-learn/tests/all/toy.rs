//! A family of releases added from outside the crate: the private mean of one column, in one file.
//! Request, plan, session, certificate, file, verification and attack are those of every other family;
//! for its files to be recognised it would need one more line in `families.rs`.

use privet_core::{Budget, Neighbours};
use privet_data::matrix::Matrix;
use privet_data::{Encoding, Schema, read};
use privet_dp::account::Event;
use privet_dp::gate::{Arithmetic, Noised, Private, Session, seal};
use privet_dp::mechanism::{ExactCounts, Laplace};
use privet_dp::noise::{FixedSeed, Source, SystemRandom};
use privet_learn::file::{Seal, released_from_json, to_json};
use privet_learn::{
    Allowance, Artefact, LearnError, Planned, Procedure, Released, Request, Shown, Task, Work,
    plan, verify,
};
use privet_optim::solver::Monitor;
use privet_optim::sum::Table;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// Unit to which entries are truncated: their sums are exact.
const UNIT: f64 = 1.0 / 1_048_576.0;

/// The mean of the first column, a number scaled to [0, 1].
///
/// **Theorem.** Entries are truncated to multiples of a power of two in [0, 1], so that their sum moves by at
/// most 1 between add-remove neighbours; Laplace noise of scale 1/ε on that grid is ε-DP. Dividing by the
/// declared number of rows is post-processing.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Mean {}

/// The noisy sum.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Sum {
    sum: f64,
}

impl Artefact for Sum {
    const KIND: &'static str = "sum";
    fn numbers(&self) -> Vec<f64> {
        vec![self.sum]
    }
}

#[derive(Debug, Clone)]
struct Adding(Laplace);

impl Task for Mean {
    const NAME: &'static str = "mean";
    type Facts = usize;
    type Artefact = Sum;

    fn facts(request: &Request<Self>) -> Result<usize, LearnError> {
        Ok(Encoding::new(&request.schema).width())
    }

    fn plan(request: &Request<Self>, _columns: &usize) -> Result<Planned<Self>, LearnError> {
        let none = || LearnError::NoBudget { what: "a mean".into() };
        let allowance = Allowance::new(request.budget.ok_or_else(none)?, &request.noise);
        let relation = request.relation();
        let law = |noise_scale| Laplace {
            neighbours: relation.neighbours,
            unit: relation.unit,
            sensitivity: relation.records(),
            noise_scale,
            step: UNIT,
            on_grid: true,
            coordinates: 1,
        };
        let floor = relation.records() / allowance.epsilon();
        let scale = allowance.least(floor, |scale| Ok(law(scale).event()))?;
        Ok(Planned {
            work: Work::Private(Arc::new(Adding(law(scale)))),
            settled: Self {},
            arithmetic: Arithmetic::Finite,
            notes: vec![],
        })
    }

    fn admit(columns: &usize, table: &dyn Table) -> Result<(), LearnError> {
        let fits = table.columns() == *columns;
        if fits { Ok(()) } else { Err(LearnError::DataShape("another number of columns")) }
    }

    fn fits(_request: &Request<Self>, found: &Sum) -> Result<(), String> {
        if found.sum.is_finite() { Ok(()) } else { Err("its sum is no number".into()) }
    }

    fn noised(&self) -> &'static str {
        "the sum"
    }

    fn summary(&self) -> String {
        "a mean".into()
    }
}

impl Procedure<Mean> for Adding {
    fn event(&self) -> Result<Event, LearnError> {
        Ok(self.0.event())
    }

    fn settings(&self) -> Shown {
        Shown::of([("sum_noise", self.0.noise_scale)])
    }

    fn refuses(&self, found: &Sum) -> Option<&'static str> {
        let off = (found.sum / UNIT).fract() != 0.0;
        off.then_some("the sum is off the grid of the noise")
    }

    fn run(
        &self,
        _columns: &usize,
        table: &dyn Table,
        session: &mut Session<'_>,
        _monitor: &dyn Monitor,
    ) -> Result<Noised<Sum>, LearnError> {
        let mut count = 0_i128;
        table.visit(&mut |rows| {
            for row in 0..rows.features.rows() {
                let entry = match &rows.features {
                    Matrix::Dense(dense) => dense.row(row)[0],
                    Matrix::Csr(csr) => csr.row(row).1.first().copied().unwrap_or(0.0),
                };
                count += (f64::from(entry).clamp(0.0, 1.0) / UNIT) as i128;
            }
            Ok(())
        })?;
        let sum = Private::new(ExactCounts { unit: UNIT, counts: vec![count] });
        let noised = self.0.run_units(sum, session)?;
        Ok(noised.map(|sums| Sum { sum: sums.first().copied().unwrap_or(0.0) }))
    }
}

const SCHEMA: &str = "[clip]\nnorm = \"linf\"\nradius = 1.0\n[target]\ncolumn = \"y\"\nbounds = [0, 1]\n\
                      [[columns]]\nname = \"age\"\ntype = \"number\"\nbounds = [0, 100]\n";

fn released(source: &mut dyn Source) -> Released<Mean> {
    let schema = Schema::from_toml(SCHEMA).unwrap();
    let text: String = (0..1000).map(|row| format!("{},0.5\n", row % 100)).collect();
    let data = read::csv_bytes(format!("age,y\n{text}").as_bytes(), &schema).unwrap();
    let asked = Request::new(schema, 1000, Neighbours::AddRemove, Mean {});
    let planned = plan(&asked.within(Budget::new(1.0, 0.0).unwrap())).unwrap();
    let again = plan(planned.request()).unwrap();
    assert_eq!((again.request(), again.events()), (planned.request(), planned.events()));
    let release = planned.run(&data, source, &AtomicBool::new(false)).unwrap();
    let text = to_json(&Released::<Mean>::from_release(release).unwrap(), None).unwrap();
    released_from_json(text.as_bytes(), Seal::Required).unwrap()
}

#[test]
fn a_new_family_goes_the_one_way() {
    let mean = released(&mut FixedSeed::new(1)).artefact().sum / 1000.0;
    assert!((mean - 0.495).abs() < 0.02, "{mean}");

    let found = released(&mut SystemRandom::new().unwrap());
    let verdict = verify(&found);
    assert!(verdict.valid, "{:?}", verdict.checks);
    assert_eq!(verdict.guarantee.unwrap().epsilon, 1.0);
    let document: Value = serde_json::from_str(&to_json(&found, None).unwrap()).unwrap();
    assert_eq!(
        (&document["kind"], &document["certificate"]["request"]["task"]),
        (&json!("sum"), &json!("mean"))
    );
    let lies: [&dyn Fn(&mut Value); 3] = [
        &|file| file["body"]["sum"] = json!(0.1),
        &|file| file["certificate"]["request"]["noise"][0] = json!(0.5),
        &|file| file["certificate"]["guarantee"]["epsilon"] = json!(0.5),
    ];
    for (number, lie) in lies.iter().enumerate() {
        let mut forged = document.clone();
        lie(&mut forged);
        let text = seal::sealed(forged, None).unwrap().to_string();
        let forged: Released<Mean> = released_from_json(text.as_bytes(), Seal::Required).unwrap();
        assert!(!verify(&forged).valid, "lie {number}");
    }
}
