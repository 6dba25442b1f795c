//! Whole runs in one process: every learner that asks for sums alone, and all parties end with the same.

use crate::common::{accuracy, agreed, all_together, names, request, schema, tables, verified};
use privet_core::{Budget, Neighbours};
use privet_dp::mechanism::shares::Among;
use privet_dp::noise::{FixedSeed, SystemRandom};
use privet_learn::look::count::Count;
use privet_learn::{LearnError, plan};
use privet_optim::loss::Loss;
use privet_parties::authority;
use std::sync::atomic::AtomicBool;

#[test]
fn every_sum_based_learner_runs_unchanged() {
    let methods = [
        ("gd", Loss::Logistic, 2, 1),
        ("gd", Loss::HuberSvm { h: 0.1 }, 3, 2),
        ("centred-gd", Loss::Logistic, 3, 1),
        ("ssp", Loss::SQUARED, 2, 1),
        ("auto", Loss::Logistic, 2, 1),
    ];
    for (method, loss, servers, honest) in methods {
        let names = names(servers);
        let planned = plan(&request(method, loss, &names, honest)).unwrap();
        let agreement = authority::without_certificates((&planned, &schema()), &names, 60).unwrap();
        let models = all_together(&planned, &agreement);
        let first = &models[0];
        assert!(models.iter().all(|model| model.artefact() == first.artefact()), "{method}");
        assert!(verified(first), "{method}");
        assert_eq!(first.request().among, Some(Among { parties: 3, servers, honest }));
        let notes = first.certificate().notes.join(" ");
        assert!(notes.contains("among 3 parties and"), "{notes}");
        // At ε = 2 and 4,000 rows a model of two columns is next to perfect; guessing has 0.5.
        let right: f64 =
            tables(&planned).iter().map(|table| accuracy(first, table)).sum::<f64>() / 3.0;
        assert!(right > 0.8, "{method}: {right}");
    }
}

#[test]
fn counts_are_added_up_too_and_say_how_wide_their_noise_is() {
    let names = names(2);
    let among = authority::among(&names, 1).unwrap();
    let count = Count { by: "y".into(), times: None, law: None };
    let alone = count.clone().request(&schema(), 4000, Neighbours::ReplaceOne).unwrap();
    let alone = alone.within(Budget::new(1.0, 1e-6).unwrap());
    let planned = plan(&alone.shared(among)).unwrap();
    let agreement = authority::without_certificates((&planned, &schema()), &names, 60).unwrap();
    let counts = all_together(&planned, &agreement);
    assert!(verified(&counts[0]));
    let found = counts[0].artefact();
    let truth: usize = tables(&planned)
        .iter()
        .map(|table| {
            let privet_data::Target::Class { codes, .. } = &table.target else { panic!() };
            codes.iter().filter(|code| **code == 1).count()
        })
        .sum();
    // Twenty standard deviations.
    assert!((found.cells[1].count - truth as f64).abs() < 20.0 * found.noise, "{found:?}");
    let scale = planned.request().noise[0];
    assert!((found.noise / scale - 2_f64.sqrt()).abs() < 1e-9, "two draws");
}

#[test]
fn the_noise_that_is_charged_does_not_depend_on_the_number_of_parties() {
    let names = names(2);
    let asked = request("ssp", Loss::SQUARED, &names, 1);
    let alone = plan(&privet_learn::Request { among: None, ..asked.clone() }).unwrap();
    let planned = plan(&asked).unwrap();
    assert_eq!(alone.events(), planned.events());
    let ridge = |planned: &privet_learn::Plan| planned.settings().get("ridge").unwrap();
    assert!(
        (ridge(&planned) / ridge(&alone) - 2_f64.sqrt()).abs() < 1e-12,
        "wider noise, more ridge"
    );
}

#[test]
fn what_is_not_proved_among_parties_is_refused() {
    let names = names(2);
    for method in [
        "amp",
        "objective",
        "output",
        "sgd",
        "psgd",
        "frank-wolfe",
        "non-private",
        "sample-aggregate",
    ] {
        let refused = plan(&request(method, Loss::Logistic, &names, 1));
        assert!(
            matches!(refused, Err(LearnError::NotCovered { .. } | LearnError::NotASetting { .. })),
            "{method}: {refused:?}"
        );
    }
    let of_people = format!("{}[unit]\ncolumn = \"who\"\nmax_records = 3\n", crate::common::SCHEMA);
    let of_people = privet_learn::Request {
        schema: privet_data::Schema::from_toml(&of_people).unwrap(),
        ..request("gd", Loss::Logistic, &names, 1)
    };
    let refused = plan(&of_people).unwrap_err().to_string();
    assert!(refused.contains("several parties"), "{refused}");
    let pure = request("ssp", Loss::SQUARED, &names, 1).within(Budget::new(1.0, 0.0).unwrap());
    assert!(plan(&pure).is_err(), "Laplace noise is not shared");
    // A plan for parties is not carried out alone, nor the other way round.
    let (planned, _) = agreed(60);
    let table = &tables(&planned)[0];
    let mut source = FixedSeed::new(1);
    assert!(planned.run(table, &mut source, &AtomicBool::new(false)).is_err());
    let alone =
        plan(&privet_learn::Request { among: None, ..request("gd", Loss::Logistic, &names, 1) });
    let mut servers = SystemRandom::new().unwrap();
    let among = Among { parties: 3, servers: 2, honest: 1 };
    let together = privet_dp::mechanism::shares::InProcess::new(among, &mut servers);
    let ran =
        alone.unwrap().run_among(table, &together, &mut source, &AtomicBool::new(false), None);
    assert!(ran.is_err());
}

/// A certificate with another number of servers, or none, is not of the plan.
#[test]
fn verify_plans_the_parties_again() {
    let (planned, agreement) = agreed(60);
    let model = all_together(&planned, &agreement).remove(0);
    let text = privet_learn::file::to_json(&model, None).unwrap();
    let honest: serde_json::Value = serde_json::from_str(&text).unwrap();
    for edit in ["servers", "honest", "parties"] {
        let mut forged = honest.clone();
        forged["certificate"]["request"]["among"][edit] = 7.into();
        let bytes = serde_json::to_vec(&forged).unwrap();
        assert!(
            privet_learn::file::any_from_json(&bytes, privet_learn::file::Seal::Required).is_err(),
            "{edit}"
        );
    }
}
