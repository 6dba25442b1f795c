//! Whole runs in one process: every learner that needs sums alone, and all parties end with the same
//! model.

use crate::common::{
    ROWS, SCHEMA, accuracy, agreed, all_together, all_with, names, request, schema, tables,
    verified,
};
use privet_core::{Budget, Neighbours};
use privet_data::ratings::{self, Layout, RatingFacts};
use privet_data::read::ReadOptions;
use privet_dp::mechanism::shares::Participants;
use privet_dp::noise::{FixedSeed, SystemRandom};
use privet_learn::ratings::{Complete, Factors};
use privet_learn::statistics::count::Count;
use privet_learn::{LearnError, plan};
use privet_optim::loss::Loss;
use privet_optim::solver::{Problem, SolverOptions, minimise};
use privet_optim::sum::InMemory;
use privet_parties::{InProcessServers, Party, authority};
use std::sync::atomic::AtomicBool;

#[test]
fn every_sum_based_learner_runs_unchanged() {
    let methods = [
        ("gd", Loss::Logistic, 2, 1),
        ("gd", Loss::HuberSvm { h: 0.1 }, 3, 2),
        ("centred-gd", Loss::Logistic, 3, 1),
        ("ssp", Loss::SQUARED, 2, 1),
        ("output", Loss::Logistic, 2, 1),
        ("output", Loss::HuberSvm { h: 0.1 }, 3, 2),
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
        assert_eq!(
            first.request().among,
            Some(Participants { parties: 3, servers, honest, noise: Default::default() })
        );
        let notes = first.certificate().notes.join(" ");
        assert!(notes.contains("among 3 parties and"), "{notes}");
        // At ε = 2 and 4,000 rows a model of two columns is nearly perfect; guessing has 0.5.
        let right: f64 =
            tables(&planned).iter().map(|table| accuracy(first, table)).sum::<f64>() / 3.0;
        assert!(right > 0.8, "{method}: {right}");
    }
}

#[test]
fn counts_are_added_up_too_and_say_how_wide_their_noise_is() {
    let names = names(2);
    let among = authority::count_members(&names, 1).unwrap();
    let count = Count { by: "y".into(), times: None, law: None };
    let alone = count.clone().request(&schema(), 4000, Neighbours::ReplaceOne).unwrap();
    let alone = alone.with_budget(Budget::new(1.0, 1e-6).unwrap());
    let planned = plan(&alone.shared_among(among)).unwrap();
    let agreement = authority::without_certificates((&planned, &schema()), &names, 60).unwrap();
    let counts = all_together(&planned, &agreement);
    assert!(verified(&counts[0]));
    let actual = counts[0].artefact();
    let truth: usize = tables(&planned)
        .iter()
        .map(|table| {
            let privet_data::Target::Class { codes, .. } = &table.target else { panic!() };
            codes.iter().filter(|code| **code == 1).count()
        })
        .sum();
    // Twenty standard deviations.
    assert!((actual.cells[1].count - truth as f64).abs() < 20.0 * actual.noise, "{actual:?}");
    let scale = planned.request().noise[0];
    assert!((actual.noise / scale - 2_f64.sqrt()).abs() < 1e-9, "two draws");
}

#[test]
fn the_noise_that_is_charged_does_not_depend_on_the_number_of_parties() {
    let names = names(2);
    let request = request("ssp", Loss::SQUARED, &names, 1);
    let alone = plan(&privet_learn::Request { among: None, ..request.clone() }).unwrap();
    let planned = plan(&request).unwrap();
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
    for method in
        ["amp", "objective", "sgd", "psgd", "frank-wolfe", "non-private", "sample-aggregate"]
    {
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
    for (method, loss) in [("ssp", Loss::SQUARED), ("output", Loss::Logistic)] {
        let pure = request(method, loss, &names, 1).with_budget(Budget::new(1.0, 0.0).unwrap());
        assert!(plan(&pure).is_err(), "Laplace noise is not shared");
    }
    // A plan for parties cannot be run alone, nor the other way round.
    let (planned, _) = agreed(60);
    let table = &tables(&planned)[0];
    let mut source = FixedSeed::new(1);
    assert!(planned.run(table, &mut source, &AtomicBool::new(false)).is_err());
    let alone =
        plan(&privet_learn::Request { among: None, ..request("gd", Loss::Logistic, &names, 1) });
    let mut servers = SystemRandom::new().unwrap();
    let among = Participants { parties: 3, servers: 2, honest: 1, noise: Default::default() };
    let together = privet_dp::mechanism::shares::InProcess::new(among, &mut servers);
    let ran =
        alone.unwrap().run_among(table, &together, &mut source, &AtomicBool::new(false), None);
    assert!(ran.is_err());
}

/// `output` among parties is the mean of their minimisers, weighted by their rows: with almost no noise
/// it is what the parties' own solvers find at their part of the ridge.
#[test]
fn output_averages_the_parties_own_minimisers() {
    let names = names(2);
    let request = request("output", Loss::Logistic, &names, 1).with("ridge", "40").unwrap();
    let planned = plan(&request.with_budget(Budget::new(1e5, 1e-6).unwrap())).unwrap();
    let agreement = authority::without_certificates((&planned, &schema()), &names, 60).unwrap();
    let model = all_together(&planned, &agreement).remove(0);
    let (all, mut mean) = (ROWS.iter().sum::<usize>() as f64, vec![0.0; 3]);
    for (table, rows) in tables(&planned).iter().zip(ROWS) {
        let share = rows as f64 / all;
        let labels = table.target.signed().unwrap();
        let records = InMemory::new(&table.features, &labels).unwrap();
        let problem = Problem::new(&records, Loss::Logistic, 40.0 * share);
        let own = minimise(&problem, 1e-7, &SolverOptions::default()).unwrap().into_theta();
        mean.iter_mut().zip(own).for_each(|(sum, x)| *sum += share * x);
    }
    // Twenty standard deviations of the release.
    let noise = 20.0 * planned.weight_noise().unwrap();
    assert!(noise < 0.05, "{noise}");
    for (found, mean) in model.artefact().weights[0].iter().zip(&mean) {
        assert!((found - mean).abs() < noise, "{found} {mean}");
    }
}

/// Under replace-one a party's own number of rows is public and must be the declared one; otherwise
/// nothing is sent.
#[test]
fn another_number_of_rows_than_was_declared_is_refused() {
    let (planned, agreement) = agreed(60);
    let room = InProcessServers::new(&agreement).unwrap();
    let table = &tables(&planned)[1];
    let fewer = table.select(&(1..table.rows()).collect::<Vec<_>>());
    let party = Party::new(agreement.clone(), "hospital", SCHEMA, room.line(1)).unwrap();
    party.join().unwrap();
    let mut source = SystemRandom::new().unwrap();
    let ran = planned.run_among(&fewer, &party, &mut source, &AtomicBool::new(false), None);
    assert!(matches!(ran, Err(LearnError::RowCount { .. })), "{ran:?}");
    let standing = party.standing();
    assert!(standing.iter().all(|(_, it)| it.as_ref().unwrap().missing.is_empty()));
}

/// Ratings, each person's at one party: the items' factors are the same for all parties, and nearly
/// those of one joint table.
#[test]
fn ratings_are_completed_among_parties() {
    let facts = RatingFacts {
        layout: Layout::Triples,
        items: (1..=12).map(|item| item.to_string()).collect(),
        bounds: [1.0, 5.0],
        most: 12,
    };
    let schema = ratings::schema(&facts).unwrap();
    let names = names(2);
    let among = authority::count_members(&names, 1).unwrap();
    let people = ROWS.iter().sum::<usize>() as u64;
    let request = Complete::default().request(schema.clone(), people, Neighbours::ReplaceOne);
    let request = request.with_budget(Budget::new(2.0, 1e-6).unwrap());
    let planned = plan(&request.clone().shared_among(among)).unwrap();
    let alone = plan(&request).unwrap();
    assert_eq!(planned.request().task.method.info().name, "moments");
    assert!(planned.notes().iter().any(|note| note.contains("held by one party")));
    assert!(alone.notes().iter().all(|note| !note.contains("party")));
    let place = tempfile::tempdir().unwrap();
    // Items with odd numbers are liked by all persons, the others by none; tastes differ by one.
    let table = |party: usize| {
        let mut text = String::from("user,item,rating\n");
        for person in 0..ROWS[party] {
            for item in (1..=12).filter(|item| (item + person) % 3 != 0) {
                let rating = if item % 2 == 1 { 5 } else { 2 } - usize::from(person % 5 == 0);
                text.push_str(&format!("{party}-{person},{item},{rating}\n"));
            }
        }
        let file = place.path().join(format!("{party}.csv"));
        std::fs::write(&file, text).unwrap();
        let options = ReadOptions::default();
        ratings::read(&file, Layout::Triples, planned.schema(), &options).unwrap()
    };
    let agreement = authority::without_certificates((&planned, &schema), &names, 60).unwrap();
    let tables: Vec<_> = (0..3).map(table).collect();
    let models = all_with(&planned, &agreement, &tables);
    assert!(models.iter().all(|model| model.artefact() == models[0].artefact()));
    assert!(verified(&models[0]));
    let Factors::Moments(found) = models[0].artefact() else { panic!("of another method") };
    let (odd, even): (Vec<_>, Vec<_>) =
        found.offsets.iter().enumerate().partition(|(place, _)| place % 2 == 0);
    let least = |side: &[(usize, &f64)]| side.iter().map(|(_, x)| **x).fold(9.0, f64::min);
    let most = |side: &[(usize, &f64)]| side.iter().map(|(_, x)| **x).fold(-9.0, f64::max);
    assert!(least(&odd) > most(&even) + 0.5, "{found:?}");
    // Other methods do not account for wider noise.
    let other = Complete::by("svd".parse().unwrap());
    let other = other.request(schema, people, Neighbours::ReplaceOne);
    let other = other.with_budget(Budget::new(2.0, 1e-6).unwrap()).shared_among(among);
    assert!(matches!(plan(&other), Err(LearnError::NotCovered { .. })));
}

/// The numbers of parties and servers are covered by the seal. (Sealed again with other numbers, a
/// consistently forged file passes, as any does: only a signature binds it to a signer.)
#[test]
fn the_number_of_servers_cannot_be_edited() {
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
