//! Labels by a noisy plurality, through the gate, and the cost of published settings. False
//! failure ≤ 1e-10 a test.

use crate::noise_common::{allowed_count_error, fresh};
use privet_core::{Neighbours, Unit};
use privet_dp::account::agreement::{Agreement, Gaps};
use privet_dp::account::{self, Cost, Event, concentrated};
use privet_dp::gate::{Arithmetic, GateError, Private, Session, Spend, Statement};
use privet_dp::mechanism::{AgreedLabels, ConfidentArgmax, NoisyArgmax, Stability};
use privet_dp::noise::Source;
use serde_json::json;

fn argmax(noise_scale: f64, classes: usize) -> NoisyArgmax {
    NoisyArgmax { neighbours: Neighbours::AddRemove, unit: Unit::Record, noise_scale, classes }
}

fn confident(classes: usize) -> ConfidentArgmax {
    ConfidentArgmax { argmax: argmax(40.0, classes), threshold: 200.0, test_scale: 150.0 }
}

fn statement(event: &Event) -> Statement {
    Statement::new(account::guarantee(event, 1e-5).unwrap(), Arithmetic::Finite, json!({}))
}

fn label(mechanism: &NoisyArgmax, votes: &[u32], source: &mut dyn Source) -> usize {
    let event = mechanism.event().unwrap();
    let mut session = Session::start(event.clone(), source);
    let noisy = mechanism.run(Private::new(votes.to_vec()), &mut session).unwrap();
    session.settle(noisy, statement(&event)).unwrap().into_parts().0
}

/// One moved vote changes the histogram by √2; the largest count changes by 1.
#[test]
fn the_charge_is_that_of_one_vote_that_moves() {
    let mechanism = confident(10);
    for (event, wanted) in
        [(mechanism.answer_event().unwrap(), 2_f64.sqrt()), (mechanism.test_event().unwrap(), 1.0)]
    {
        let Some(Cost::Gaussian { sensitivity, .. }) = event.single_cost() else { panic!() };
        assert!(*sensitivity >= wanted && *sensitivity < wanted * (1.0 + 1e-9), "{sensitivity}");
    }
    assert!(argmax(0.0, 3).event().is_err() && argmax(f64::NAN, 3).event().is_err());
}

/// Two classes: the second wins with probability Φ(−gap/(√2σ)); ties go either way alike.
#[test]
fn labels_come_out_as_often_as_the_law_says() {
    let (draws, scale) = (4_000, 5.0);
    let (mut source, seed) = fresh();
    for gap in [0_u32, 3, 10] {
        let votes = [20 + gap, 20];
        let expected = 0.5 * libm::erfc(f64::from(gap) / (2.0 * scale));
        let wins =
            (0..draws).filter(|_| label(&argmax(scale, 2), &votes, &mut source) == 1).count();
        let off = (wins as f64 - draws as f64 * expected).abs();
        assert!(off <= allowed_count_error(draws, expected, 3), "{gap}: {wins}, seed {seed}");
    }
}

/// A session of many queries under the filter: answers come only where many agree, the charge fits
/// exactly, and one query more is refused.
#[test]
fn a_session_of_confident_answers_ends_where_its_limit_does() {
    let (mut source, _) = fresh();
    let mechanism = ConfidentArgmax { argmax: argmax(4.0, 3), threshold: 200.0, test_scale: 4.0 };
    let filter = mechanism.filter(20, 10).unwrap();
    let mut nobody = ();
    let mut session = Session::open(Spend::Within(filter), &mut source, &mut nobody).unwrap();
    let mut parts = Vec::new();
    for question in 0..20_usize {
        // 50 σ away from the threshold on either side.
        let votes = if question.is_multiple_of(2) { vec![0, 400, 0] } else { vec![0, 0, 0] };
        parts.push(mechanism.run(Private::new(votes), &mut session).unwrap());
    }
    let more = mechanism.run(Private::new(vec![0, 400, 0]), &mut session);
    assert!(matches!(more.err(), Some(GateError::Account(account::AccountError::Exhausted))));
    let all = session.gather(parts).unwrap();
    let claim = filter.guarantee(1e-5).unwrap();
    let release = session.emit(all, Statement::new(claim, Arithmetic::Finite, json!({}))).unwrap();
    for (question, label) in release.value().iter().enumerate() {
        assert_eq!(*label, (question % 2 == 0).then_some(1), "{question}");
    }
    let listed = account::epsilon(&mechanism.events(20, 10).unwrap(), 1e-5).unwrap();
    assert!((claim.epsilon / listed - 1.0).abs() < 1e-6, "{} {listed}", claim.epsilon);
}

/// PATE's published settings (250 teachers, T = 200, σ₁ = 150, σ₂ = 40; 286 of 640 MNIST queries
/// answered, δ = 1e-5), of which 1.97 is printed for the votes that were found: whatever the votes,
/// moments with the classic conversion give 3.17 (3.05 for the answers alone), and the exact curve 2.54.
#[test]
fn published_settings_cost_what_they_cost_whatever_the_votes() {
    let mechanism = confident(10);
    let event = mechanism.events(640, 286).unwrap();
    let exact = account::epsilon(&event, 1e-5).unwrap();
    let rho = 286.0 / 1600.0 + 640.0 / (2.0 * 22_500.0);
    let classic = concentrated::classic_epsilon(rho, 1e-5);
    let answers = concentrated::classic_epsilon(286.0 / 1600.0, 1e-5);
    assert!((exact - 2.543).abs() < 2e-3, "{exact}");
    assert!(
        (classic - 3.174).abs() < 2e-3 && (answers - 3.048).abs() < 2e-3,
        "{classic} {answers}"
    );
}

fn agreed(label_epsilon: f64, noise_scale: f64) -> AgreedLabels {
    AgreedLabels {
        argmax: argmax(noise_scale, 3),
        voters: 250,
        questions: 100,
        test_scale: 2.0,
        label_epsilon,
        delta: 1e-6,
    }
}

fn labels(
    mechanism: &AgreedLabels,
    histograms: &[Vec<u32>],
    source: &mut dyn Source,
) -> Option<Vec<usize>> {
    let event = mechanism.event().unwrap();
    let mut session = Session::start(event.clone(), source);
    let noisy = mechanism.run(Private::new(histograms.to_vec()), &mut session).unwrap();
    session.settle(noisy, statement(&event)).unwrap().into_parts().0
}

/// Where all agree, a hundred labels are released at a fifth of their general cost; a table at the limit
/// releases none except with probability δ; and the claim is the proposed budget.
#[test]
fn labels_go_out_where_voters_agree_and_only_there() {
    let (mut source, _) = fresh();
    let mechanism = agreed(0.5, 15.0);
    let event = mechanism.event().unwrap();
    let claimed = account::epsilon(&event, 1.01e-6).unwrap();
    assert!((0.999..1.001).contains(&claimed), "{claimed}");
    let argmax = Event::Repeat { count: 100, event: Box::new(mechanism.argmax.event().unwrap()) };
    let whatever = account::epsilon(&argmax, 1e-6).unwrap();
    assert!(whatever > 4.0 * claimed, "{whatever}");
    let agree = vec![vec![3, 245, 2]; 100];
    // No labels with probability 3e-9; three times in a row, with 3e-26.
    let told = (0..3).find_map(|_| labels(&mechanism, &agree, &mut source));
    assert_eq!(told, Some(vec![1; 100]));
    // Pr[N > t] ≤ 1e-6 each: ten runs fail together with probability 1e-60, any one with 1e-5.
    let divided = vec![vec![80, 90, 80]; 100];
    let passed = (0..10).filter(|_| labels(&mechanism, &divided, &mut source).is_some()).count();
    assert!(passed < 3, "{passed}");
}

/// Anything but the plan is refused with nothing drawn.
#[test]
fn batches_of_another_form_are_refused() {
    let (mut source, _) = fresh();
    let mechanism = agreed(0.5, 15.0);
    for bad in [vec![vec![1, 2]], vec![vec![1, 2, 3]; 101]] {
        let mut session = Session::start(mechanism.event().unwrap(), &mut source);
        let refused = mechanism.run(Private::new(bad), &mut session);
        assert_eq!(refused.err(), Some(GateError::Malformed));
        assert!(!session.has_spent());
    }
    for odd in [
        AgreedLabels { delta: 0.0, ..mechanism },
        AgreedLabels { test_scale: 0.0, ..mechanism },
        AgreedLabels { delta: f64::NAN, ..mechanism },
    ] {
        assert!(odd.event().is_err());
    }
    let odd = AgreedLabels { label_epsilon: f64::NAN, ..mechanism };
    assert!(odd.event().is_err() || account::epsilon(&odd.event().unwrap(), 1e-5).is_err());
}

/// Released labels have the charged noise, and so has a table's distance from the limit: labels are
/// released with Pr[N > t − d]. False failure ≤ 1e-9.
#[test]
fn labels_that_go_out_and_their_test_have_their_laws() {
    let (mut source, seed) = fresh();
    let draws = 1_500;
    // A limit so far away that the test is always passed.
    let always = AgreedLabels { questions: 1, argmax: argmax(5.0, 2), ..agreed(8.0, 5.0) };
    for gap in [0_u32, 6] {
        let expected = 0.5 * libm::erfc(f64::from(gap) / 10.0);
        let one = vec![vec![20 + gap, 20]];
        let told = (0..draws).map(|_| labels(&always, &one, &mut source));
        let wins = told.filter(|told| told.as_ref().unwrap()[0] == 1).count();
        let off = (wins as f64 - draws as f64 * expected).abs();
        assert!(off <= allowed_count_error(draws, expected, 4), "{gap}: {wins}, seed {seed}");
    }
    // A table whose distance is about the threshold, if one can be found.
    let mechanism = agreed(0.5, 15.0);
    let stability = Stability {
        neighbours: Neighbours::AddRemove,
        unit: Unit::Record,
        noise_scale: mechanism.test_scale,
        delta: mechanism.delta,
    };
    let threshold = stability.threshold();
    let agreement = Agreement::new(15.0, 250, mechanism.delta).unwrap();
    let of = |dissent: u32| vec![vec![dissent, 250 - dissent, 0]; 100];
    let distance = |dissent: u32| {
        let gaps: Vec<Gaps> = of(dissent).iter().map(|votes| Gaps::of(votes)).collect();
        agreement.distance(&gaps, mechanism.label_epsilon)
    };
    let near = (0..125).min_by_key(|dissent| distance(*dissent).abs_diff(threshold)).unwrap();
    let short = (threshold - distance(near)) as i32;
    assert!(short.abs() <= 3, "{short}");
    let q = (-1.0 / mechanism.test_scale).exp();
    // Pr[N > short].
    let beyond = |short: i32| q.powi(short + 1) / (1.0 + q);
    let expected = if short >= 0 { beyond(short) } else { 1.0 - beyond(-short - 1) };
    let votes = of(near);
    let out = (0..draws).filter(|_| labels(&mechanism, &votes, &mut source).is_some()).count();
    let off = (out as f64 - draws as f64 * expected).abs();
    assert!(off <= allowed_count_error(draws, expected, 4), "{out} {expected}, seed {seed}");
}

/// All queries are tested, and the first that pass are answered, as many as planned.
#[test]
fn a_batch_of_confident_answers_is_tested_first() {
    let (mut source, _) = fresh();
    let mechanism = ConfidentArgmax { argmax: argmax(4.0, 3), threshold: 200.0, test_scale: 4.0 };
    let event = mechanism.events(20, 6).unwrap();
    let mut session = Session::start(event.clone(), &mut source);
    // 50 σ away from the threshold on either side.
    let votes =
        |question: usize| if question.is_multiple_of(2) { vec![0, 400, 0] } else { vec![0, 0, 0] };
    let all = Private::new((0..20).map(votes).collect());
    let noisy = mechanism.run_all(all, 6, &mut session).unwrap();
    assert_eq!(session.draws(), 26);
    let told = session.settle(noisy, statement(&event)).unwrap().into_parts().0;
    let wanted: Vec<_> =
        (0..20).map(|question| (question % 2 == 0 && question < 12).then_some(1)).collect();
    assert_eq!(told, wanted);
    // The rate at which a count at the threshold passes depends on its noise alone.
    let draws = 1_500;
    let event = mechanism.events(draws, draws).unwrap();
    let mut session = Session::start(event.clone(), &mut source);
    let all = Private::new(vec![vec![196, 0, 0]; draws as usize]);
    let noisy = mechanism.run_all(all, draws, &mut session).unwrap();
    let told = session.settle(noisy, statement(&event)).unwrap().into_parts().0;
    let passed = told.iter().flatten().count() as f64;
    let expected = 0.5 * libm::erfc(1.0 / std::f64::consts::SQRT_2);
    let off = (passed - f64::from(draws) * expected).abs();
    assert!(off <= allowed_count_error(draws as usize, expected, 1), "{passed}");
}
