//! Tuning: planned, released, verified; its cost, and its choice of the better candidate.

use privet_data::{Dataset, Schema, read};
use privet_dp::account::{self, Event};
use privet_dp::noise::{FixedSeed, Source, SystemRandom};
use privet_learn::file::{Seal, any_from_json, from_json, to_json};
use privet_learn::tuning::{Law, Tune, Tuned, grid};
use privet_learn::{
    LearnError, Loaded, Method, Plan, Released, Request, RequestOptions, plan, verify,
};
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::sync::atomic::AtomicBool;

const SCHEMA: &str = "bias = true\n[clip]\nnorm = \"l2\"\nradius = 1.0\n\
     [target]\ncolumn = \"y\"\nclasses = [\"no\", \"yes\"]\n\
     [[columns]]\nname = \"a\"\ntype = \"number\"\nbounds = [-1, 1]\nscale = \"symmetric\"\n\
     [[columns]]\nname = \"b\"\ntype = \"number\"\nbounds = [-1, 1]\nscale = \"symmetric\"\n";

/// Rows whose class is the sign of b, but for every tenth.
fn table(rows: usize) -> String {
    let mut text = String::from("a,b,y\n");
    for row in 0..rows {
        let b = ((row * 37) % 200) as f64 / 100.0 - 1.0;
        let a = ((row * 91) % 200) as f64 / 100.0 - 1.0;
        let yes = (b > 0.0) != (row % 10 == 0);
        let _ = writeln!(text, "{a},{b},{}", if yes { "yes" } else { "no" });
    }
    text
}

fn schema() -> Schema {
    Schema::from_toml(SCHEMA).unwrap()
}

fn gd(steps: &[&str]) -> Vec<Method> {
    let values = steps.iter().map(|steps| steps.to_string()).collect();
    grid(&"gd".parse().unwrap(), &[("steps".into(), values)]).unwrap()
}

fn request(candidates: Vec<Method>, rows: u64, epsilon: f64) -> Request<Tune> {
    let words = RequestOptions {
        epsilon: Some(epsilon),
        delta: Some(1e-6),
        ..RequestOptions::of("gd".parse().unwrap())
    };
    Tune::request(&schema(), rows, &words, candidates).unwrap()
}

fn data(plan: &Plan<Tune>, rows: usize) -> Dataset {
    read::csv_bytes(table(rows).as_bytes(), plan.schema()).unwrap()
}

fn released(plan: &Plan<Tune>, data: &Dataset, source: &mut dyn Source) -> Released<Tune> {
    let release = plan.run(data, source, &AtomicBool::new(false)).unwrap();
    let text = to_json(&Released::<Tune>::from_release(release).unwrap(), None).unwrap();
    from_json(text.as_bytes(), Seal::Required).unwrap()
}

/// The whole meets its budget, a trial's is a part of it, and one trial alone would cost a third of it
/// or more.
#[test]
fn a_trial_has_a_fair_part_of_the_budget() {
    for (law, most) in [(Law::Logarithmic, 3.0), (Law::Geometric, 3.0), (Law::Poisson, 4.0)] {
        let asked = request(gd(&["5", "10", "20"]), 20_000, 1.0);
        let task = Tune { law: Some(law), trials: Some(30.0), ..asked.task.clone() };
        let plan = plan(&Request { task, ..asked }).unwrap();
        let Some(Event::BestOf { candidates, .. }) = plan.events() else { panic!("best of") };
        let once = account::epsilon(&candidates[0], 1e-6).unwrap();
        let all = account::epsilon(plan.events().unwrap(), 1e-6).unwrap();
        assert!(all <= 1.0 && all > 0.97, "{law:?}: {all}");
        println!("{law:?}: 30 trials cost {:.2} times one", all / once);
        assert!(all / once <= most, "{law:?}: {} times", all / once);
    }
    // Unless a law is given: few trials have the one, many the other.
    for (trials, law) in [(10.0, Law::Poisson), (30.0, Law::Geometric)] {
        let asked = request(gd(&["5", "10", "20"]), 20_000, 1.0);
        let task = Tune { trials: Some(trials), ..asked.task.clone() };
        let plan = plan(&Request { task, ..asked }).unwrap();
        assert_eq!(plan.request().task.law, Some(law), "{trials} trials");
    }
}

#[test]
fn what_is_tuned_verifies_predicts_and_lies_are_found() {
    let plan = plan(&request(gd(&["3", "12"]), 400, 2.0)).unwrap();
    assert!(plan.notes().iter().any(|note| note.contains("better buy")), "{:?}", plan.notes());
    let data = data(&plan, 400);
    let released = released(&plan, &data, &mut SystemRandom::new().unwrap());
    let verdict = verify(&released);
    assert!(verdict.valid, "{:?}", verdict.checks);
    assert_eq!(verdict.guarantee, plan.guarantee().copied());
    // Without a trial with probability e^−10, and then there is nothing to look at.
    let Some(model) = released.model() else { return };
    let predictions = model.predict(&data.features);
    assert!(
        matches!(predictions, privet_learn::linear::model::Predictions::Classes(codes) if codes.len() == 400)
    );
    let document: Value = serde_json::from_str(&to_json(&released, None).unwrap()).unwrap();
    let accepted = |change: &dyn Fn(&mut Value)| {
        let mut forged = document.clone();
        change(&mut forged);
        let sealed = privet_dp::gate::seal::seal_document(forged, None).unwrap().to_string();
        let read = any_from_json(sealed.as_bytes(), Seal::Required);
        read.is_ok_and(|read| matches!(read, Loaded::Tuned(_)) && read.verify().valid)
    };
    assert!(accepted(&|_| {}), "sealed anew it is as it was");
    let lies: [&dyn Fn(&mut Value); 9] = [
        &|file| file["body"]["best"]["candidate"] = json!(2),
        &|file| file["body"]["best"]["model"]["weights"][0][0] = json!(1e9),
        &|file| file["certificate"]["request"]["trials"] = json!(3.0),
        &|file| file["certificate"]["request"]["law"] = json!("logarithmic"),
        &|file| file["certificate"]["request"]["trial_epsilon"] = json!(1.9),
        &|file| {
            file["certificate"]["request"]["candidates"].as_array_mut().unwrap().pop();
        },
        &|file| {
            file["certificate"]["events"]["best-of"]["candidates"].as_array_mut().unwrap().pop();
        },
        &|file| file["certificate"]["events"]["best-of"]["law"]["mean"] = json!(2.0),
        &|file| file["certificate"]["guarantee"]["epsilon"] = json!(0.7),
    ];
    for (number, lie) in lies.iter().enumerate() {
        assert!(!accepted(lie), "lie {number}");
    }
}

/// A candidate that learns almost nothing is hardly ever chosen over one that learns. A fixed seed, so
/// never by chance.
#[test]
fn the_better_candidate_wins() {
    // Noise over so small a ridge leaves nothing of the fit.
    let noise = "output".parse::<Method>().unwrap().with("ridge", "0.01").unwrap();
    let candidates = vec!["gd".parse().unwrap(), noise];
    let request = request(candidates, 4000, 3.0);
    let task = Tune { trials: Some(12.0), ..request.task.clone() };
    let plan = plan(&Request { task, ..request }).unwrap();
    let data = data(&plan, 4000);
    let mut chosen = [0; 2];
    for seed in 0..12 {
        let release = plan.run(&data, &mut FixedSeed::new(seed), &AtomicBool::new(false)).unwrap();
        if let Some(best) = &release.value().best {
            chosen[best.candidate as usize] += 1;
        }
    }
    assert!(chosen[0] >= 11, "{chosen:?}");
}

/// The least and the largest number of trials can be drawn.
#[test]
fn all_numbers_of_trials_can_be_drawn() {
    for law in [Law::Poisson, Law::Logarithmic, Law::Geometric] {
        for trials in [2.0, 1000.0] {
            let request = request(gd(&["1"]), 50, 2.0);
            let task = Tune { law: Some(law), trials: Some(trials), ..request.task.clone() };
            let plan = plan(&Request { task, ..request }).unwrap();
            let release =
                plan.run(&data(&plan, 50), &mut FixedSeed::new(3), &AtomicBool::new(false));
            release.unwrap_or_else(|error| panic!("{law:?}, {trials}: {error}"));
        }
    }
}

/// Every method beside `gd`: planned, or refused with an explanation.
#[test]
fn every_method_is_planned_or_refused() {
    for info in privet_learn::METHODS {
        let candidates = vec!["gd".parse().unwrap(), info.name.parse().unwrap()];
        let request = request(candidates, 2000, 2.0);
        let word = match info.name {
            "dpsl-kt" => "public rows",
            "non-private" => "no noise",
            "ssp" | "linear" | "linear-rotated" => "loss squared",
            "sgd" => "method sgd",
            "placed-gd" => "left open",
            _ => {
                let plan = plan(&request).unwrap_or_else(|error| panic!("{}: {error}", info.name));
                let part = plan.request().task.trial_epsilon.unwrap();
                assert!(part > 0.5 && part < 1.5, "{}: {part}", info.name);
                continue;
            }
        };
        let refused = plan(&request).unwrap_err().to_string();
        assert!(refused.contains(word), "{}: {refused}", info.name);
    }
}

/// Candidates of other kinds of noise: objective perturbation, choices of columns.
#[test]
fn candidates_of_every_kind_are_charged_at_the_worst() {
    let candidates: Vec<Method> =
        ["gd", "amp", "frank-wolfe", "output"].map(|name| name.parse().unwrap()).into();
    let plan = plan(&request(candidates, 2000, 2.0)).unwrap();
    let Some(Event::BestOf { law, candidates }) = plan.events() else { panic!("best of") };
    let whole = account::epsilon(plan.events().unwrap(), 1e-6).unwrap();
    for event in candidates {
        let alone = Event::Selected { law: *law, event: Box::new(event.clone()) };
        let alone = account::epsilon(&alone, 1e-6).unwrap();
        assert!(alone <= whole * (1.0 + 1e-9), "{alone} of {whole}");
    }
    let data = data(&plan, 2000);
    let released = released(&plan, &data, &mut SystemRandom::new().unwrap());
    assert!(verify(&released).valid, "{:?}", verify(&released).checks);
}

#[test]
fn what_cannot_be_tuned_is_refused_in_words() {
    let asked = request(gd(&["5"]), 400, 1.0);
    let refused = |request: Request<Tune>| plan(&request).unwrap_err();
    let none = Tune { candidates: vec![], ..asked.task.clone() };
    assert!(refused(Request { task: none, ..asked.clone() }).to_string().contains("candidates"));
    let plain = Tune { candidates: vec!["non-private".parse().unwrap()], ..asked.task.clone() };
    assert!(refused(Request { task: plain, ..asked.clone() }).to_string().contains("no noise"));
    let many = Tune { trials: Some(1e9), ..asked.task.clone() };
    assert!(matches!(refused(Request { task: many, ..asked.clone() }), LearnError::Setting(_)));
    let pure = privet_core::Budget::new(1.0, 0.0).unwrap();
    let pure = Request { budget: Some(pure), ..asked.clone() };
    assert!(refused(pure).to_string().contains("delta above 0"));
    let large = Tune { trial_epsilon: Some(2.0), ..asked.task.clone() };
    assert!(
        refused(Request { task: large, ..asked.clone() }).to_string().contains("trial_epsilon")
    );
}

/// Nothing released depends on the losers: the file has one model and no score, and the certificate is
/// the same for any records and draws.
#[test]
fn nothing_but_the_winner_is_written() {
    let plan = plan(&request(gd(&["2", "4"]), 100, 2.0)).unwrap();
    let mut certificates = Vec::new();
    for seed in 0..4 {
        let release = plan
            .run(&data(&plan, 100), &mut FixedSeed::new(seed), &AtomicBool::new(false))
            .unwrap();
        let Tuned { best } = release.value();
        let body = serde_json::to_value(release.value()).unwrap();
        if best.is_some() {
            let fields: Vec<&String> = body["best"].as_object().unwrap().keys().collect();
            assert_eq!(fields, ["candidate", "model"]);
        }
        let certificate = release.certificate();
        certificates.push((
            certificate.events.clone(),
            certificate.request.clone(),
            certificate.notes.clone(),
        ));
    }
    assert!(certificates.windows(2).all(|two| two[0] == two[1]));
}
