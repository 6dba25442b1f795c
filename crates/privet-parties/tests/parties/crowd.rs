//! Very many parties in one process.

use crate::common::{accuracy, csv, schema, verified};
use privet_core::{Budget, Neighbours};
use privet_data::read;
use privet_dp::mechanism::shares::{Among, InProcess};
use privet_dp::noise::SystemRandom;
use privet_learn::{Erm, Released, Request, plan};
use privet_optim::loss::Loss;
use privet_optim::sum::{Exact, ExactAnswer, ExactGradient, Labels, Table};
use privet_parties::Crowd;
use std::sync::atomic::AtomicBool;

fn system() -> Box<SystemRandom> {
    Box::new(SystemRandom::new().unwrap())
}

/// However rows are dealt out, sums are the same to the last bit.
#[test]
fn sums_do_not_depend_on_the_cut() {
    let table = read::csv_bytes(csv(997, 3).as_bytes(), &schema().linear()).unwrap();
    let question = Exact::Gradient(ExactGradient {
        loss: Loss::Logistic,
        theta: vec![0.3, -0.7, 0.1],
        radius: 1.0,
        slope: 0.375,
    });
    let units = |table: &dyn Table| {
        let labels = Labels::Signed { weights: vec![] };
        match table.problem(&labels).unwrap().exact(&question).unwrap() {
            ExactAnswer::Units(sum) => sum.into_units().unwrap(),
            ExactAnswer::Count(_) => panic!("no vector"),
        }
    };
    let whole = units(&table);
    for parties in [1, 2, 10, 996, 997, 2000] {
        for servers in [2, 3] {
            let among = Among { parties, servers, honest: 1, noise: Default::default() };
            let crowd = Crowd::new(table.clone(), among, system());
            assert_eq!(crowd.parts().len(), parties as usize);
            assert_eq!(units(&crowd), whole, "{parties} parties");
        }
    }
}

#[test]
fn a_thousand_parties_train_one_model() {
    let among = Among { parties: 1000, servers: 2, honest: 1, noise: Default::default() };
    let task = Erm { loss: Loss::Logistic, method: "gd".parse().unwrap() };
    let request = Request::new(schema(), 4000, Neighbours::ReplaceOne, task)
        .within(Budget::new(2.0, 1e-6).unwrap())
        .shared(among);
    let planned = plan(&request).unwrap();
    let table = read::csv_bytes(csv(4000, 3).as_bytes(), planned.schema()).unwrap();
    let crowd = Crowd::new(table.clone(), among, system());
    let (mut servers, mut own) = (SystemRandom::new().unwrap(), SystemRandom::new().unwrap());
    let together = InProcess::new(among, &mut servers);
    let never = AtomicBool::new(false);
    let release = planned.run_among(&crowd, &together, &mut own, &never, None).unwrap();
    let model = Released::from_release(release).unwrap();
    assert!(verified(&model));
    assert!(accuracy(&model, &table) > 0.8);
}
