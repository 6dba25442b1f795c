//! Cases that no theorem covers are refused, before anything is drawn.

use crate::common::{Case, off_grid, with_values};
use crate::subject::{ROWS, Subject};
use crate::verify::charges_what_was_planned;
use privet_core::Neighbours;
use privet_data::{Dataset, Target};
use privet_dp::noise::{FixedSeed, Source};
use privet_learn::{LearnError, METHODS, Plan, Request, Task, plan};
use privet_optim::sum::Table;
use std::sync::atomic::AtomicBool;

/// The error of a run that drew nothing.
fn undrawn<T: Task>(name: &str, plan: &Plan<T>, table: &dyn Table) -> LearnError {
    let mut source = FixedSeed::new(7);
    let outcome = plan.run(table, &mut source, &AtomicBool::new(false));
    let error = outcome.err().unwrap_or_else(|| panic!("{name}: released"));
    assert_eq!(source.next_u64(), FixedSeed::new(7).next_u64(), "{name}: noise was drawn");
    error
}

/// No rows, or no budget.
pub fn public_facts<T: Task>(subject: &Subject<T>) {
    let nobody = Request { rows: 0, ..subject.asked.clone() };
    assert!(matches!(plan(&nobody), Err(LearnError::Setting(_))), "{}", subject.name);
    let free = Request { budget: None, ..subject.asked.clone() };
    assert!(matches!(plan(&free), Err(LearnError::NoBudget { .. })), "{}", subject.name);
}

/// Another number of rows where it is public; columns or targets missing.
pub fn tables<T: Task>(subject: &Subject<T>) {
    let (name, plan, data) = (&subject.name, &subject.plan, &subject.data);
    let fewer = data.select(&(1..ROWS).collect::<Vec<_>>());
    if subject.counts_rows() {
        let error = undrawn(name, plan, &fewer);
        assert!(matches!(error, LearnError::RowCount { declared: 150, found: 149 }), "{name}");
    } else {
        // The number of rows is private: nothing visible depends on it.
        let mut notes = Vec::new();
        for rows in [ROWS, ROWS - 1, 17, 0] {
            let fewer = data.select(&(0..rows).collect::<Vec<_>>());
            let release = plan.run(&fewer, &mut FixedSeed::new(7), &AtomicBool::new(false));
            let release = release.unwrap_or_else(|error| panic!("{name}, {rows} rows: {error}"));
            let certificate = release.certificate();
            charges_what_was_planned(name, plan, certificate);
            assert_eq!(certificate.request, serde_json::to_value(plan.request()).unwrap());
            notes.push(certificate.notes.clone());
        }
        assert!(notes.iter().all(|other| *other == notes[0]), "{name}: {notes:?}");
    }
    let fewer = if data.features.columns() > 1 { &[0][..] } else { &[] };
    let narrow = Dataset { features: data.features.only(fewer), ..data.clone() };
    let error = undrawn(name, plan, &narrow);
    assert!(matches!(error, LearnError::DataShape(_)), "{name}: {error}");
    let target = data.select(&(1..ROWS).collect::<Vec<_>>()).target;
    let error = undrawn(name, plan, &Dataset { target, ..data.clone() });
    assert!(matches!(error, LearnError::DataShape(_)), "{name}: {error}");
}

/// Cases of every method that learns a linear model.
fn cases() -> impl Iterator<Item = Case> {
    METHODS.iter().map(|info| Case::of(info.name).rows(ROWS as u64))
}

/// A row beyond the radius, and targets that the planned problem does not know.
#[test]
fn rows_and_targets_that_the_theorem_excludes_are_refused_before_noise() {
    for case in cases() {
        let (name, plan, good) = (case.task.method.name(), case.plan(), case.data(5));
        let radius = plan.facts().radius as f32;
        let long = with_values(&good, |values, _| values[0] = 1.5 * radius);
        let classes = |code: u32, count| {
            let mut codes = vec![0; ROWS];
            codes[17] = code;
            Dataset { target: Target::Class { codes, count }, ..good.clone() }
        };
        let number = if case.task.loss.needs_classes() { 0.5 } else { 1.5 };
        let numbers = Dataset { target: Target::Number(vec![number; ROWS]), ..good.clone() };
        for bad in [long, classes(2, 2), classes(1, 3), numbers] {
            let error = undrawn(name, &plan, &bad);
            assert!(matches!(error, LearnError::DataShape(_)), "{name}: {error}");
        }
    }
}

/// Features that are no multiples of the promised unit cannot be summed exactly.
#[test]
fn features_off_their_grid_are_refused_before_noise() {
    // Independently of the sample that is drawn.
    let rare = Case::of("sgd").set("batch", "1").set("steps", "1");
    for case in [Case::of("gd"), rare, Case::of("ssp")] {
        let (case, method) = (case.clone().rows(ROWS as u64), case.task.method.name());
        let error = undrawn(method, &case.plan(), &off_grid(&case.data(5)));
        let told = matches!(error, LearnError::Gate(_) | LearnError::DataShape(_));
        assert!(told, "{method}: {error}");
    }
}

/// A unit with more rows than its cap, or rows of no unit; where a method covers units at all.
#[test]
fn units_above_their_cap_are_refused_before_noise() {
    let mut covered = 0;
    for case in cases() {
        let name = case.task.method.name();
        let case = case.users(3).neighbours(Neighbours::AddRemove);
        let planned = match plan(&case) {
            Ok(planned) => planned,
            Err(LearnError::NotCovered { .. }) => continue,
            Err(error) => panic!("{name}: {error}"),
        };
        covered += 1;
        let mut data = case.data(5);
        let nameless = Dataset { units: None, ..data.clone() };
        let units = data.units.as_mut().unwrap();
        units[ROWS - 1] = units[0];
        for bad in [&data, &nameless] {
            let error = undrawn(name, &planned, bad);
            assert!(matches!(error, LearnError::DataShape(_)), "{name}: {error}");
        }
    }
    assert!(covered >= 8, "{covered} methods cover units");
}

/// Every setting of every method: a word, a NaN, and a number outside its range.
#[test]
fn settings_outside_of_their_limits_are_refused() {
    for info in METHODS {
        let method: privet_learn::Method = info.name.parse().unwrap();
        for setting in info.settings {
            let what = |value: &str| format!("{} {} = {value}", info.name, setting.name);
            for word in ["many", "nan", "inf", ""] {
                let refused = method.with(setting.name, word).unwrap_err();
                assert!(matches!(refused, LearnError::SettingValue { .. }), "{}", what(word));
                let words = refused.to_string();
                assert!(words.contains(&setting.accepted()), "{words}");
            }
            for number in ["-1", "0", "-1e300"] {
                let refused = match method.with(setting.name, number) {
                    Ok(method) => Case::of(info.name).rows(ROWS as u64).method(method).refusal(),
                    Err(error) => error,
                };
                let told =
                    matches!(refused, LearnError::SettingValue { .. } | LearnError::Setting(_));
                assert!(told, "{}: {refused}", what(number));
            }
        }
        let unknown = method.with("no-such-setting", "1").unwrap_err();
        assert!(matches!(unknown, LearnError::NotASetting { .. }), "{}", info.name);
    }
}
