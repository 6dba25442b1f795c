//! The best of a secret number of runs: its law, and that nothing else is released.

use crate::noise_common::{allowed_gap, fresh, largest_gap_integers};
use privet_core::{Neighbours, Unit};
use privet_dp::account::{self, Event, Runs};
use privet_dp::gate::{
    Arithmetic, Candidate, GateError, Noisy, Private, Session, Statement, Trial,
};
use privet_dp::mechanism::Laplace;
use privet_dp::noise::{FixedSeed, SystemRandom, runs};
use serde_json::json;

const LAWS: [Runs; 7] = [
    Runs::NegativeBinomial { eta: 1.0, gamma: 0.25 },
    Runs::NegativeBinomial { eta: 0.0, gamma: 0.1 },
    Runs::NegativeBinomial { eta: 0.3, gamma: 0.2 },
    Runs::NegativeBinomial { eta: -0.5, gamma: 0.05 },
    Runs::NegativeBinomial { eta: -0.9, gamma: 0.02 },
    Runs::Poisson { mean: 1.0 },
    Runs::Poisson { mean: 3.625 },
];
/// The answer if there is no run: below all results of a run.
const NOTHING: f64 = -1e9;

/// The generating function E xᴷ.
fn generating(law: Runs, x: f64) -> f64 {
    match law {
        Runs::NegativeBinomial { eta: 0.0, gamma } => (1.0 - (1.0 - gamma) * x).ln() / gamma.ln(),
        Runs::NegativeBinomial { eta, gamma } => {
            let at = |x: f64| (1.0 - (1.0 - gamma) * x).powf(-eta) - 1.0;
            at(x) / at(1.0)
        }
        Runs::Poisson { mean } => (mean * (x - 1.0)).exp(),
    }
}

/// The probabilities Pr[K = k], from the definition, summed until nothing is left.
fn probabilities(law: Runs) -> Vec<f64> {
    let mut weights = vec![0.0];
    match law {
        Runs::NegativeBinomial { eta, gamma } => {
            let mut weight = 1.0 - gamma;
            for k in 1..20_000 {
                weights.push(weight);
                weight *= (1.0 - gamma) * (f64::from(k) + eta) / (f64::from(k) + 1.0);
            }
        }
        Runs::Poisson { mean } => {
            let mut weight = (-mean).exp();
            for k in 1..200 {
                *weights.last_mut().unwrap() = weight;
                weight *= mean / f64::from(k);
                weights.push(0.0);
            }
        }
    }
    let total: f64 = weights.iter().sum();
    weights.iter().map(|weight| weight / total).collect()
}

/// A toy: 0 with noise of law ∝ e^{−|k|} on the integers; its score is itself.
fn toy() -> Laplace {
    Laplace {
        neighbours: Neighbours::AddRemove,
        unit: Unit::Record,
        sensitivity: 1.0,
        noise_scale: 1.0,
        step: 1.0,
        on_grid: true,
        coordinates: 1,
    }
}

fn run(record: &f64, session: &mut Session<'_>) -> Result<Noisy<(f64, f64)>, GateError> {
    let noisy = toy().run(Private::new(vec![*record]), session)?;
    Ok(noisy.map(|answer| (answer[0], answer[0])))
}

/// Pr[one run ≤ k].
fn toy_cdf(k: i64) -> f64 {
    let e = (-1.0_f64).exp();
    if k >= 0 { 1.0 - e.powi(k as i32 + 1) / (1.0 + e) } else { e.powi(-k as i32) / (1.0 + e) }
}

fn planned(law: Runs) -> Event {
    Event::Selected { law, event: Box::new(toy().event()) }
}

fn statement(law: Runs) -> Statement {
    let claim = account::guarantee(&planned(law), 1e-6).unwrap();
    Statement::new(claim, Arithmetic::Finite, json!({}))
}

/// False failure ≤ 10⁻¹⁰ in all (Massart).
#[test]
fn the_number_of_runs_has_its_law() {
    let draws = 100_000;
    let (mut source, seed) = fresh();
    for law in LAWS {
        let mut counts: Vec<i64> = (0..draws)
            .map(|_| match law {
                Runs::NegativeBinomial { eta, gamma } => {
                    runs::negative_binomial(eta, gamma, &mut source).unwrap() as i64
                }
                Runs::Poisson { mean } => runs::poisson(mean, &mut source).unwrap() as i64,
            })
            .collect();
        let law_of = probabilities(law);
        let cdf = |k: i64| law_of.iter().take((k + 1).max(0) as usize).sum::<f64>();
        let gap = largest_gap_integers(&mut counts, cdf);
        let allowed = allowed_gap(draws, LAWS.len());
        assert!(gap <= allowed, "{law:?}: {gap} above {allowed}, seed {seed}");
        // The two forms of each law agree.
        let series: f64 = law_of.iter().rev().fold(0.0, |sum, p| sum * 0.7 + p);
        assert!((series - generating(law, 0.7)).abs() < 1e-9, "{law:?}");
    }
}

/// Pr[best ≤ k] = E F(k)ᴷ, F the law of one run. False failure ≤ 10⁻¹⁰ in all (Massart). The law of the best
/// of a fixed number of runs, as large on average, would be found.
#[test]
fn the_winner_has_its_law() {
    let draws = 20_000;
    let (mut source, seed) = fresh();
    for law in LAWS {
        let mut winners: Vec<i64> = (0..draws)
            .map(|_| {
                let mut session = Session::start(planned(law), &mut source);
                let best = session.select(law, toy().event(), &0.0, run, || NOTHING).unwrap();
                // A fixed seed claims nothing, so that nothing is accounted here.
                *session.settle(best, claimless()).unwrap().value() as i64
            })
            .collect();
        let cdf = |k: i64| {
            let none = generating(law, 0.0);
            let below = if k < NOTHING as i64 { 0.0 } else { none };
            if k < -1000 { below } else { generating(law, toy_cdf(k)) }
        };
        let allowed = allowed_gap(draws, LAWS.len());
        let gap = largest_gap_integers(&mut winners, cdf);
        assert!(gap <= allowed, "{law:?}: {gap} above {allowed}, seed {seed}");
        let fixed = |k: i64| toy_cdf(k).powi(4);
        assert!(largest_gap_integers(&mut winners, fixed) > allowed, "{law:?}: no power");
    }
}

fn claimless() -> Statement {
    let (neighbours, unit) = (Neighbours::AddRemove, Unit::Record);
    let claim = account::Guarantee::new(neighbours, unit, 1.0, 0.5);
    Statement::new(claim, Arithmetic::Finite, json!({}))
}

#[test]
fn what_is_charged_is_the_whole_selection_once() {
    let law = LAWS[0];
    let mut source = SystemRandom::new().unwrap();
    let mut session = Session::start(planned(law), &mut source);
    let best = session.select(law, toy().event(), &0.0, run, || NOTHING).unwrap();
    assert_eq!(session.draws(), 1, "the number of runs is not told");
    assert_eq!(format!("{best:?}"), "Noisy(withheld until settled)");
    let release = session.settle(best, statement(law)).unwrap();
    let certificate = release.certificate();
    assert_eq!(certificate.events, Some(planned(law)));
    assert_eq!(certificate.recheck().unwrap(), Some(statement(law).claim));
    let once = account::epsilon(&toy().event(), 1e-6).unwrap();
    assert!(statement(law).claim.epsilon > once);
}

#[test]
fn another_law_or_another_run_is_refused_before_anything_is_drawn() {
    let mut source = FixedSeed::new(1);
    let mut session = Session::start(planned(LAWS[0]), &mut source);
    let less = Laplace { noise_scale: 0.5, ..toy() };
    for (law, event) in [(LAWS[1], toy().event()), (LAWS[0], less.event())] {
        let refused = session.select(law, event, &0.0, run, || NOTHING);
        assert_eq!(refused.err(), Some(GateError::NotAsPlanned));
    }
    assert!(!session.has_spent());
}

/// A run that releases, passes in or omits anything ends the whole.
#[test]
fn nothing_comes_out_of_a_run_but_its_outcome() {
    fn emits(record: &f64, session: &mut Session<'_>) -> Result<Noisy<(f64, f64)>, GateError> {
        let noisy = run(record, session)?.map(|(score, _)| score);
        let release = session.emit(noisy, claimless())?;
        panic!("a loser was read: {}", release.value());
    }
    fn foreign(record: &f64, _: &mut Session<'_>) -> Result<Noisy<(f64, f64)>, GateError> {
        let mut source = FixedSeed::new(1);
        run(record, &mut Session::start(toy().event(), &mut source))
    }
    fn twice(record: &f64, session: &mut Session<'_>) -> Result<Noisy<(f64, f64)>, GateError> {
        run(record, session)?;
        run(record, session)
    }
    fn other(record: &f64, session: &mut Session<'_>) -> Result<Noisy<(f64, f64)>, GateError> {
        let less = Laplace { noise_scale: 0.5, ..toy() };
        let noisy = less.run(Private::new(vec![*record]), session)?;
        Ok(noisy.map(|answer| (answer[0], answer[0])))
    }
    type One = fn(&f64, &mut Session<'_>) -> Result<Noisy<(f64, f64)>, GateError>;
    let cases: [(One, GateError); 4] = [
        (emits, GateError::Hidden),
        (foreign, GateError::NotAsPlanned),
        (twice, GateError::NotAsPlanned),
        (other, GateError::NotAsPlanned),
    ];
    for (one, expected) in cases {
        let mut source = FixedSeed::new(7);
        let mut session = Session::start(planned(LAWS[0]), &mut source);
        let ended = session.select(LAWS[0], toy().event(), &0.0, one, || NOTHING);
        assert_eq!(ended.err(), Some(expected));
        assert!(session.has_spent(), "from the first draw on");
    }
}

/// A run that carries out the plan and returns another session's value.
#[test]
fn a_value_of_another_session_is_foreign() {
    fn swaps(record: &f64, session: &mut Session<'_>) -> Result<Noisy<(f64, f64)>, GateError> {
        run(record, session)?;
        let mut source = FixedSeed::new(1);
        run(record, &mut Session::start(toy().event(), &mut source))
    }
    let mut source = FixedSeed::new(7);
    let mut session = Session::start(planned(LAWS[0]), &mut source);
    let ended = session.select(LAWS[0], toy().event(), &0.0, swaps, || NOTHING);
    assert_eq!(ended.err(), Some(GateError::Foreign));
}

#[test]
fn laws_that_cannot_be_drawn_are_refused_in_words() {
    let mut source = FixedSeed::new(1);
    for (eta, gamma, words) in [(1.5, 0.5, "eta"), (-1.0, 0.5, "eta"), (0.0, 1e-9, "gamma")] {
        let why = runs::negative_binomial(eta, gamma, &mut source).unwrap_err().to_string();
        assert!(why.contains(words), "{why}");
    }
    assert!(runs::poisson(f64::NAN, &mut source).is_err());
    assert!(runs::poisson(0.5, &mut source).is_err());
    let law = Runs::NegativeBinomial { eta: 2.0, gamma: 0.5 };
    let mut session = Session::start(planned(law), &mut source);
    let refused = session.select(law, toy().event(), &0.0, run, || NOTHING);
    assert!(matches!(refused, Err(GateError::Noise(_))));
    assert!(!session.has_spent(), "nothing is charged for what cannot be drawn");
}

fn candidate(_: usize) -> Candidate {
    Candidate { event: Event::All(vec![toy().event(), toy().event()]), walk: None }
}

fn planned_among(law: Runs) -> Event {
    Event::BestOf { law, candidates: [0, 1].map(|place| candidate(place).event).into() }
}

fn make(record: &f64, _: usize, session: &mut Session<'_>) -> Result<Noisy<f64>, GateError> {
    Ok(toy().run(Private::new(vec![*record]), session)?.map(|answer| answer[0]))
}

/// The second candidate is better by far more than the noise can hide.
fn score(
    _: &f64,
    place: usize,
    _: &f64,
    session: &mut Session<'_>,
) -> Result<Noisy<f64>, GateError> {
    let score = Private::new(vec![1e6 * place as f64]);
    Ok(toy().run(score, session)?.map(|answer| answer[0]))
}

/// The first of two candidates wins where no run is of the second: Pr = E 2⁻ᴷ, runs or none. False
/// failure ≤ 10⁻¹⁰ in all (Hoeffding); a draw of 0.45 to 0.55 would be found.
#[test]
fn candidates_are_drawn_by_an_even_lot() {
    let draws = 40_000;
    let (mut source, seed) = fresh();
    for law in LAWS {
        let mut firsts = 0;
        for _ in 0..draws {
            let mut session = Session::start(planned_among(law), &mut source);
            let candidates = [0, 1].map(candidate);
            let best = session.select_among(law, &candidates, &0.0, Trial { make, score }).unwrap();
            let best = *session.settle(best, claimless()).unwrap().value();
            firsts += u32::from(best.is_none_or(|(place, _)| place == 0));
        }
        let share = f64::from(firsts) / f64::from(draws);
        let allowed = (f64::ln(2.0 * LAWS.len() as f64 / 1e-10) / (2.0 * f64::from(draws))).sqrt();
        let expected = generating(law, 0.5);
        assert!(
            (share - expected).abs() <= allowed,
            "{law:?}: {share}, not {expected}, seed {seed}"
        );
        assert!((generating(law, 0.6) - expected).abs() > allowed, "{law:?}: no power");
    }
}

/// A trial that releases, omits or passes in anything ends the whole; anything but the plan is refused
/// undrawn.
#[test]
fn nothing_comes_out_of_a_trial_but_what_was_made() {
    fn emits(record: &f64, at: usize, session: &mut Session<'_>) -> Result<Noisy<f64>, GateError> {
        let noisy = make(record, at, session)?;
        let release = session.emit(noisy, claimless())?;
        panic!("a loser was read: {}", release.value());
    }
    fn foreign(
        record: &f64,
        place: usize,
        made: &f64,
        session: &mut Session<'_>,
    ) -> Result<Noisy<f64>, GateError> {
        score(record, place, made, session)?;
        let mut source = FixedSeed::new(1);
        make(record, place, &mut Session::start(toy().event(), &mut source))
    }
    fn unscored(_: &f64, _: usize, _: &f64, _: &mut Session<'_>) -> Result<Noisy<f64>, GateError> {
        let mut source = FixedSeed::new(1);
        make(&0.0, 0, &mut Session::start(toy().event(), &mut source))
    }
    let law = LAWS[0];
    for (trial, expected) in [
        (Trial { make: emits, score }, GateError::Hidden),
        (Trial { make, score: foreign }, GateError::Foreign),
        (Trial { make, score: unscored }, GateError::Foreign),
    ] {
        let mut source = FixedSeed::new(7);
        let mut session = Session::start(planned_among(law), &mut source);
        let ended = session.select_among(law, &[0, 1].map(candidate), &0.0, trial);
        assert_eq!(ended.err(), Some(expected));
    }
    let mut source = FixedSeed::new(7);
    let mut session = Session::start(planned_among(law), &mut source);
    let fewer = session.select_among(law, &[candidate(0)], &0.0, Trial { make, score });
    assert_eq!(fewer.err(), Some(GateError::NotAsPlanned));
    assert!(!session.has_spent());
}
