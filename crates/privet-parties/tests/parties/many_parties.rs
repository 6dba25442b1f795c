//! Very many parties in one process.

use crate::common::{accuracy, csv, schema, verified};
use privet_core::{Budget, Neighbours};
use privet_data::read;
use privet_dp::account::{Cost, Event};
use privet_dp::mechanism::shares::{InProcess, Participants};
use privet_dp::noise::SystemRandom;
use privet_learn::{Erm, Released, Request, plan};
use privet_optim::loss::Loss;
use privet_optim::sum::{Exact, ExactAnswer, ExactGradient, Labels, Table};
use privet_parties::ManyParties;
use std::sync::atomic::AtomicBool;

fn system() -> Box<SystemRandom> {
    Box::new(SystemRandom::new().unwrap())
}

/// Sums are equal to the last bit for any division of the rows.
#[test]
fn sums_do_not_depend_on_the_cut() {
    let table = read::csv_bytes(csv(997, 3).as_bytes(), &schema().linear()).unwrap();
    let query = Exact::Gradient(ExactGradient {
        loss: Loss::Logistic,
        theta: vec![0.3, -0.7, 0.1],
        radius: 1.0,
        slope: 0.375,
    });
    let units = |table: &dyn Table| {
        let labels = Labels::Signed { weights: vec![] };
        match table.problem(&labels).unwrap().exact(&query).unwrap() {
            ExactAnswer::Units(sum) => sum.into_units().unwrap(),
            ExactAnswer::Count(_) => panic!("no vector"),
        }
    };
    let whole = units(&table);
    for parties in [1, 2, 10, 996, 997, 2000] {
        for servers in [2, 3] {
            let among = Participants { parties, servers, honest: 1, noise: Default::default() };
            let many_parties = ManyParties::new(table.clone(), among, system());
            assert_eq!(many_parties.parts().len(), parties as usize);
            assert_eq!(units(&many_parties), whole, "{parties} parties");
        }
    }
}

/// The number of values in all rounds of a plan.
fn numbers(planned: &Event) -> u64 {
    match planned {
        Event::Use { cost: Cost::Gaussian { grid: Some(grid), .. }, .. } => grid.coordinates,
        Event::All(all) => all.iter().map(numbers).sum(),
        Event::Repeat { count, event } => u64::from(*count) * numbers(event),
        event => panic!("{event:?}"),
    }
}

/// Every value of every round of every party goes through shares, including a second stage's.
#[test]
fn thousands_of_parties_train_one_model() {
    for (method, parties) in [("gd", 1000), ("centred-gd", 3000), ("auto", 4000)] {
        let among = Participants { parties, servers: 2, honest: 1, noise: Default::default() };
        let task = Erm { loss: Loss::Logistic, method: method.parse().unwrap() };
        let request = Request::new(schema(), 4000, Neighbours::ReplaceOne, task)
            .with_budget(Budget::new(2.0, 1e-6).unwrap())
            .shared_among(among);
        let planned = plan(&request).unwrap();
        let table = read::csv_bytes(csv(4000, 3).as_bytes(), planned.schema()).unwrap();
        let many_parties = ManyParties::new(table.clone(), among, system());
        assert!(many_parties.in_memory().is_none());
        let (mut servers, mut own) = (SystemRandom::new().unwrap(), SystemRandom::new().unwrap());
        let together = InProcess::new(among, &mut servers);
        let never = AtomicBool::new(false);
        let release = planned.run_among(&many_parties, &together, &mut own, &never, None).unwrap();
        let model = Released::from_release(release).unwrap();
        assert!(verified(&model), "{method}");
        assert!(accuracy(&model, &table) > 0.8, "{method}");
        // Sums of rows less a vector have one value more than is released.
        let all = u64::from(parties) * numbers(planned.events().unwrap());
        let shared = many_parties.values_shared();
        assert!(shared == all || method != "gd" && shared > all, "{method}: {shared} of {all}");
    }
}
