//! Noise drawn by servers together: planned, charged, stated and verified.

use crate::common::{all_together, names, request, schema, verified};
use privet_core::Budget;
use privet_dp::account::{self, Cost, Event};
use privet_dp::mechanism::joint;
use privet_dp::mechanism::shares::{NoiseMode, Participants};
use privet_learn::statistics::count::Count;
use privet_learn::{LearnError, Plan, Request, Task, plan};
use privet_optim::loss::Loss;
use privet_parties::{Agreement, authority};

fn together<T: Task>(request: Request<T>) -> Request<T> {
    let among = request.among.unwrap();
    request.shared_among(Participants { noise: NoiseMode::Joint, ..among })
}

/// The same events as for one trusted server.
fn alone(event: &Event) -> Event {
    match event {
        Event::Use {
            neighbours,
            unit,
            cost: Cost::JointGaussian { sensitivity, noise_scale, grid, .. },
        } => {
            let (neighbours, unit) = (*neighbours, *unit);
            let (sensitivity, noise_scale, grid) = (*sensitivity, *noise_scale, Some(*grid));
            Event::Use { neighbours, unit, cost: Cost::Gaussian { sensitivity, noise_scale, grid } }
        }
        Event::All(all) => Event::All(all.iter().map(alone).collect()),
        Event::Repeat { count, event } => {
            Event::Repeat { count: *count, event: Box::new(alone(event)) }
        }
        other => panic!("not drawn together: {other:?}"),
    }
}

/// The δ of the Gaussian events and of drawing them together stays within the claimed δ, and uses almost
/// all of it.
fn within<T: Task>(planned: &Plan<T>, budget: Budget, what: &str) {
    let events = planned.events().unwrap();
    let claim = planned.guarantee().unwrap();
    assert_eq!((claim.epsilon, claim.delta), (budget.epsilon(), budget.delta()), "{what}");
    let gaussian = account::delta(&alone(events), budget.epsilon()).unwrap();
    let taken = (1.0 + budget.epsilon().exp()) * joint::total_distance(events);
    assert!(taken > 0.0 && gaussian + taken <= budget.delta(), "{what}: {gaussian} {taken}");
    assert!(gaussian + taken >= budget.delta() * (1.0 - 1e-3), "{what}: {gaussian} {taken}");
    assert!(account::delta(events, budget.epsilon()).unwrap() <= budget.delta(), "{what}");
    // Planned again from the settled request it is identical.
    let again = plan(planned.request()).unwrap();
    assert_eq!(again.events(), planned.events(), "{what}");
    assert_eq!(again.request(), planned.request(), "{what}");
    assert!(planned.notes().iter().any(|note| note.contains("draw the noise together")), "{what}");
}

#[test]
fn what_joint_noise_costs_is_inside_the_claim() {
    let names = names(2);
    for (epsilon, delta) in [(0.1, 1e-5), (1.0, 1e-6), (3.0, 1e-7)] {
        let budget = Budget::new(epsilon, delta).unwrap();
        for (method, loss) in [
            ("gd", Loss::Logistic),
            ("centred-gd", Loss::Logistic),
            ("auto", Loss::Logistic),
            ("output", Loss::Logistic),
        ] {
            let asked = together(request(method, loss, &names, 1)).with_budget(budget);
            let asked = if method == "gd" { asked.with("steps", "9").unwrap() } else { asked };
            match plan(&asked) {
                Ok(planned) => within(&planned, budget, &format!("{method} at {epsilon}, {delta}")),
                // Many rounds under a small δ: refused with a message, and only for a method of many
                // rounds.
                Err(LearnError::NotCovered { what, .. }) => {
                    assert!(
                        what.contains("of delta") && delta < 1e-6 && method != "output",
                        "{what}"
                    );
                }
                Err(error) => panic!("{method}: {error}"),
            }
        }
        let count = Count { by: "y".into(), times: None, law: None };
        let asked = count.request(&schema(), 4000, privet_core::Neighbours::ReplaceOne).unwrap();
        let among = authority::among_with(&names, 1, NoiseMode::Joint).unwrap();
        within(&plan(&asked.with_budget(budget).shared_among(among)).unwrap(), budget, "count");
    }
}

/// The noise is that of one draw, where two servers' own would be √2 times as wide; the δ for drawing
/// together costs almost nothing.
#[test]
fn a_single_draws_noise_is_planned() {
    let names = names(2);
    let shares = request("gd", Loss::Logistic, &names, 1).with("steps", "9").unwrap();
    let (own, joint) = (plan(&shares).unwrap(), plan(&together(shares)).unwrap());
    assert_eq!((own.facts().widening, joint.facts().widening), (2_f64.sqrt(), 1.0));
    let ratio = joint.request().noise[0] / own.request().noise[0];
    assert!(ratio > 1.0 && ratio < 1.001, "{ratio}");
    // The planner chooses no method that is not proved among parties, though the noise is that of one
    // draw.
    assert!(own.facts().shared && joint.facts().shared);
    assert!(plan(&together(request("amp", Loss::Logistic, &names, 1))).is_err());
}

#[test]
fn a_model_under_joint_noise_says_so_and_is_verified() {
    let names = names(2);
    let asked = together(request("gd", Loss::Logistic, &names, 1)).with("steps", "3").unwrap();
    let planned = plan(&asked).unwrap();
    let agreement = authority::without_certificates((&planned, &schema()), &names, 20).unwrap();
    let models = all_together(&planned, &agreement);
    assert!(models.iter().all(|model| model.artefact() == models[0].artefact()));
    assert!(verified(&models[0]));
    let text = privet_learn::file::to_json(&models[0], None).unwrap();
    let verdict = |text: &str| {
        let read =
            privet_learn::file::any_from_json(text.as_bytes(), privet_learn::file::Seal::Unchecked);
        read.unwrap().verify()
    };
    assert!(verdict(&text).notes.iter().any(|note| note.contains("polytune")));
    let mut file: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(file["certificate"]["request"]["among"]["noise"], "joint");
    // The same events under another noise mode, or charged for less, belong to no plan.
    file["certificate"]["request"]["among"].as_object_mut().unwrap().remove("noise");
    let verdict_of = verdict(&file.to_string());
    assert!(!verdict_of.valid && !verdict_of.checks[1].holds, "{:?}", verdict_of.checks);
    let mut file: serde_json::Value = serde_json::from_str(&text).unwrap();
    fn cheapened(value: &mut serde_json::Value) {
        match value {
            serde_json::Value::Object(all) => {
                for (name, value) in all.iter_mut() {
                    match name.as_str() {
                        "distance" => *value = serde_json::json!(1e-30),
                        _ => cheapened(value),
                    }
                }
            }
            serde_json::Value::Array(all) => all.iter_mut().for_each(cheapened),
            _ => {}
        }
    }
    cheapened(&mut file["certificate"]["events"]);
    assert!(!verdict(&file.to_string()).checks[1].holds);
}

/// Earlier agreements parse as before and are written the same: the default noise mode is not written.
#[test]
fn agreements_where_every_server_draws_its_own_are_as_they_were() {
    let (_, agreement) = crate::common::agreed(20);
    let text = serde_json::to_string(&agreement).unwrap();
    assert_eq!(agreement.request["among"].to_string(), r#"{"honest":1,"parties":3,"servers":2}"#);
    let read = Agreement::read(text.as_bytes(), "here").unwrap();
    assert_eq!(
        (read.digest(), read.participants().unwrap().noise),
        (agreement.digest(), NoiseMode::Shares)
    );
    // Written explicitly it is another file: an agreement has one form.
    let said = text.replace(r#""servers":2}"#, r#""servers":2,"noise":"shares"}"#);
    assert_ne!(said, text);
    let other = Agreement::read(said.as_bytes(), "here");
    assert!(other.map_or(true, |other| other.digest() != agreement.digest()));
    // An agreement without a canonical form is refused.
    let wide = text.replace(&(1_u64 << 53).to_string(), &(1_u64 << 60).to_string());
    assert_ne!(wide, text);
    let refused = Agreement::read(wide.as_bytes(), "here").unwrap_err().to_string();
    assert!(refused.contains("cannot be compared"), "{refused}");
}

#[test]
fn what_is_not_offered_together_is_refused() {
    let names = names(2);
    let among =
        |servers, honest| Participants { parties: 3, servers, honest, noise: NoiseMode::Joint };
    let request = request("gd", Loss::Logistic, &names, 1);
    for (among, word) in [(among(5, 1), "servers"), (among(3, 2), "honest")] {
        let refused = plan(&request.clone().shared_among(among)).unwrap_err().to_string();
        assert!(refused.contains(word), "{refused}");
    }
    // A δ too small for the rounds.
    let tiny = together(request).with_budget(Budget::new(1.0, 1e-10).unwrap());
    let refused = plan(&tiny).unwrap_err().to_string();
    assert!(refused.contains("draw together") && refused.contains("larger delta"), "{refused}");
}
