//! Sensitivity to one record, charges against prices, and forged certificates.

use super::super::tests::{NET, any_record, any_weights, facts, request, rows, table, with};
use super::super::{Examples, Network};
use super::budget::{GradientBudget, GradientPrices};
use super::*;
use crate::release::file::{Seal, from_json, to_json};
use crate::{Plan, Released, Request, plan, verify};
use privet_dp::gate::seal;
use privet_dp::noise::{FixedSeed, SystemRandom};
use proptest::prelude::*;
use serde_json::{Value, json};
use std::sync::atomic::AtomicBool;

fn asked(neighbours: Neighbours) -> Request<Network> {
    with(request("dp-agd", NET, 200, neighbours), &[("steps", "12")])
}

fn adaptive(steps: u32, rho: f64, coordinates: usize) -> Adaptive {
    let (neighbours, unit) = (Neighbours::ReplaceOne, Unit::Record);
    let limit = Law::Concentrated { rho };
    Adaptive {
        begins: InitialWeights::of(&facts()),
        scale: (0.5 / rho).sqrt(),
        limit: Filter { neighbours, unit, limit, distance: 1e-15, leak: 0.0 },
        prices: GradientPrices::for_steps(rho, steps),
        coordinates,
        rows: 200,
        clip: 0.5,
        clip_loss: 1.0,
        longest: 1.0,
        penalty: Penalty::default(),
        steps,
        shift: 1.0,
        spread: 2 * LOSS_STEPS,
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// An added record moves the score of every candidate by a number from 0 to S, for any weights;
    /// under replace-one two scores' moves therefore differ by at most 2S.
    #[test]
    fn one_record_moves_every_score_by_no_more_than_its_clip(
        others in prop::collection::vec(any_record(), 1..12), one in any_record(),
        weights in any_weights(facts().net.parameters()),
        clip in prop::sample::select(vec![1e-3, 0.5, 1.0, 100.0]),
    ) {
        let steps = |records: &[(f64, f64, bool)]| {
            let examples = Examples::of(&facts(), &table(records)).unwrap();
            let everyone: Vec<u32> = (0..records.len() as u32).collect();
            examples.loss_steps(&weights, &everyone, clip).unwrap()
        };
        let before = steps(&others);
        let after = steps(&others.iter().copied().chain([one]).collect::<Vec<_>>());
        prop_assert!((0..=LOSS_STEPS as i64).contains(&(after - before)));
        // A term is a function of its record alone.
        prop_assert_eq!(after - before, steps(&[one]));
    }

    /// The filter's charge is at most the price in the books.
    #[test]
    fn what_is_charged_is_what_was_priced(
        rho in 1e-8..1.0_f64, steps in 1..2000_u32, coordinates in 1..1_000_000_usize,
    ) {
        let adaptive = adaptive(steps, rho, coordinates);
        for price in [adaptive.prices.gradient, adaptive.prices.least_gradient_price(), rho] {
            let Some(gaussian) = adaptive.gradient(price) else { continue };
            let spent = adaptive.limit.price(&gaussian.event().unwrap()).unwrap().spent();
            prop_assert!(spent <= price && spent > 0.9 * price, "{spent} for {price}");
        }
        let event = adaptive.choice().event().unwrap();
        let (spent, price) = (adaptive.limit.price(&event).unwrap().spent(), adaptive.prices.choice);
        prop_assert!(spent <= price && spent > 0.99 * price);
    }

    /// For any answers, the limit admits the events, and there are no more draws than the distance was
    /// planned for.
    #[test]
    fn the_limit_has_room_for_whatever_the_books_have(
        rho in 1e-6..1.0_f64, steps in 1..40_u32, again in prop::collection::vec(any::<bool>(), 0..600),
    ) {
        let adaptive = adaptive(steps, rho, 26_010);
        let mut books = GradientBudget::new(adaptive.prices);
        let (mut tally, mut gradients) = (privet_dp::account::Tally::default(), 0.0);
        for again in [false].into_iter().chain(again).chain(std::iter::repeat(false)) {
            let Some((price, after)) = (if again { books.buy_remeasurement() } else { books.buy_gradient() }) else {
                break;
            };
            books = after;
            gradients += 1.0;
            for event in [adaptive.gradient(price).unwrap().event(), adaptive.choice().event()] {
                tally = adaptive.limit.admit(&tally, &event.unwrap()).unwrap();
            }
        }
        prop_assert!(gradients <= adaptive.prices.most_gradients());
        prop_assert!(gradients >= 1.0);
    }
}

fn trained(planned: &Plan<Network>) -> Released<Network> {
    let (data, stop) = (table(&rows(200)), AtomicBool::new(false));
    let release = planned.run(&data, &mut SystemRandom::new().unwrap(), &stop).unwrap();
    Released::from_release(release).unwrap()
}

/// The certificate states the limit and the events; read from its file it verifies.
#[test]
fn events_chosen_on_the_way_verify() {
    for neighbours in [Neighbours::ReplaceOne, Neighbours::AddRemove] {
        let planned = plan(&asked(neighbours)).unwrap();
        assert_eq!(planned.arithmetic(), Arithmetic::Finite);
        let released = trained(&planned);
        let certificate = released.certificate();
        assert_eq!(certificate.filter.as_ref(), planned.limit());
        let Some(Event::All(events)) = &certificate.events else { panic!("no list") };
        assert!(events.len() >= 4 && events.len().is_multiple_of(2), "{}", events.len());
        let text = to_json(&released, None).unwrap();
        let read = from_json::<Network>(text.as_bytes(), Seal::Required).unwrap();
        let verdict = verify(&read);
        assert!(verdict.valid, "{:?}", verdict.checks);
        assert_eq!(verdict.guarantee.unwrap().epsilon, 1.0);
    }
}

#[test]
fn another_budget_is_another_limit() {
    let most = |epsilon: f64| {
        let asked = asked(Neighbours::AddRemove).with_budget(Budget::new(epsilon, 1e-6).unwrap());
        plan(&asked).unwrap().limit().unwrap().limit.limit()
    };
    assert!(most(2.0) > 3.0 * most(1.0) && most(1.0) > 3.0 * most(0.5));
}

fn judged(document: &Value) -> (bool, String) {
    let document = seal::seal_document(document.clone(), None).unwrap();
    match from_json::<Network>(document.to_string().as_bytes(), Seal::Required) {
        Ok(read) => {
            let verdict = verify(&read);
            (verdict.valid, verdict.checks[1].detail.clone())
        }
        Err(error) => (false, error.to_string()),
    }
}

/// Events that no run has, in an order that no run has, or under another limit, are all detected.
#[test]
fn made_up_events_are_found_out() {
    let released = trained(&plan(&asked(Neighbours::ReplaceOne)).unwrap());
    let document: Value = serde_json::from_str(&to_json(&released, None).unwrap()).unwrap();
    assert!(judged(&document).0);
    type Change = fn(&mut Value);
    let changes: [(&str, Change, &str); 12] = [
        ("a step left out", |c| drop(list(c).drain(..2)), ""),
        ("an odd end", |c| drop(list(c).pop()), "does not end there"),
        ("nothing at all", |c| list(c).clear(), "does not end there"),
        ("one more", |c| repeat(c), ""),
        ("another order", |c| list(c).swap(0, 1), "could come to"),
        (
            "choices alone",
            |c| list(c).retain(|event| event.to_string().contains("range")),
            "could come to",
        ),
        ("a choice for more", |c| c["events"]["all"][1]["use"]["cost"]["range"] = json!(0.5), ""),
        ("no limit", |c| drop(c.as_object_mut().unwrap().remove("filter")), "none is stated"),
        ("another limit", |c| scale(&mut c["filter"]["limit"]["rho"], 0.5), "another limit"),
        ("a larger limit", |c| scale(&mut c["filter"]["limit"]["rho"], 2.0), "another limit"),
        ("a larger distance", |c| scale(&mut c["filter"]["distance"], 2.0), "another limit"),
        ("one event", |c| c["events"] = c["events"]["all"][0].clone(), "one by one"),
    ];
    for (what, change, words) in changes {
        let mut forged = document.clone();
        change(&mut forged["certificate"]);
        assert_ne!(forged, document, "{what} changes nothing");
        let (valid, why) = judged(&forged);
        assert!(!valid && why.contains(words), "{what}: {why}");
    }
    // A plan whose events are fixed has no limit.
    let fixed = trained(&plan(&request("dp-gd", NET, 200, Neighbours::ReplaceOne)).unwrap());
    let mut forged: Value = serde_json::from_str(&to_json(&fixed, None).unwrap()).unwrap();
    forged["certificate"]["filter"] = document["certificate"]["filter"].clone();
    let (valid, why) = judged(&forged);
    assert!(!valid && why.contains("has no limit for others"), "{why}");
}

/// An endless list is read no further than the first impossible event, nor than the books have room.
#[test]
fn a_list_without_end_is_read_no_further_than_it_can_be_true() {
    let adaptive = adaptive(12, 0.01, 100);
    let choice = adaptive.choice().event().unwrap();
    let gradient = adaptive.gradient(adaptive.prices.gradient).unwrap().event().unwrap();
    let read = |events: &[Event]| {
        let mut read = 0_usize;
        let mut endless = events.iter().cycle().inspect(|_| read += 1);
        assert!(adaptive.never_charges(&mut endless).is_some());
        read
    };
    assert_eq!(read(std::slice::from_ref(&choice)), 1);
    assert_eq!(read(std::slice::from_ref(&gradient)), 2);
    let most = 2 * (adaptive.prices.most_gradients() as usize + 1);
    let both = read(&[gradient, choice]);
    assert!(both > 20 && both <= most, "{both} of {most}");
}

/// One line that states tens of millions of events, and one that states more than are possible.
#[test]
fn a_repeat_of_millions_is_found_out_at_once() {
    let released = trained(&plan(&asked(Neighbours::ReplaceOne)).unwrap());
    let document: Value = serde_json::from_str(&to_json(&released, None).unwrap()).unwrap();
    for (count, words) in [(60_000_000_u32, "could come to"), (u32::MAX, "one by one")] {
        let mut forged = document.clone();
        let events = list(&mut forged["certificate"]);
        let choice = events[1].clone();
        events.insert(1, json!({"repeat": {"count": count, "event": choice}}));
        let (valid, why) = judged(&forged);
        assert!(!valid && why.contains(words), "{count}: {why}");
    }
}

fn list(certificate: &mut Value) -> &mut Vec<Value> {
    certificate["events"]["all"].as_array_mut().unwrap()
}

fn repeat(certificate: &mut Value) {
    let events = list(certificate);
    let two = events[..2].to_vec();
    events.extend(two);
}

fn scale(number: &mut Value, by: f64) {
    *number = json!(number.as_f64().unwrap() * by);
}

/// With a large budget it learns, and a fixed seed gives the same twice.
#[test]
fn it_learns_where_there_is_room() {
    let request = request("dp-agd", NET, 2000, Neighbours::ReplaceOne);
    let request = request.with_budget(Budget::new(8.0, 1e-6).unwrap());
    let planned = plan(&with(request, &[("steps", "40"), ("longest", "1")])).unwrap();
    let (data, stop) = (table(&rows(2000)), AtomicBool::new(false));
    let run = |seed| planned.run(&data, &mut FixedSeed::new(seed), &stop).unwrap();
    assert_eq!(run(3).into_parts().0, run(3).into_parts().0);
    let released = Released::<Network>::from_release(run(3)).unwrap();
    let loss = released.mean_loss(&data.features, &data.target).unwrap();
    assert!(loss < 0.45, "{loss}");
}

/// Noise on a grid costs (1 + e^ε) times a small number of δ, which at a large ε exceeds δ.
#[test]
fn an_epsilon_that_grids_cannot_pay_for_is_refused() {
    let asked = asked(Neighbours::ReplaceOne).with_budget(Budget::new(60.0, 1e-6).unwrap());
    let refused = plan(&asked).unwrap_err().to_string();
    assert!(refused.contains("leaves no room"), "{refused}");
}
