//! Forecasts of plans: the right order, by construction; the right size, on generated tables; and notes
//! that are given exactly where a model has no accuracy.

use crate::common::Case;
use crate::common::generated::{GeneratedTable, within_two};
use privet_core::{Budget, Neighbours};
use privet_data::Schema;
use privet_learn::linear::forecast::Forecast;
use privet_learn::{LearnError, METHODS, plan};
use privet_optim::loss::Loss;
use proptest::prelude::*;

fn schema(columns: usize, target: &str) -> Schema {
    let mut text = format!(
        "bias = true\n[clip]\nnorm = \"l2\"\nradius = 1.0\n[target]\ncolumn = \"y\"\n{target}\n"
    );
    for column in 0..columns {
        text.push_str(&format!(
            "[[columns]]\nname = \"x{column}\"\ntype = \"number\"\nbounds = [0, 1]\n"
        ));
    }
    Schema::from_toml(&text).unwrap()
}

/// Models of each table of notes.
const TOSSES: u64 = 60;

const TWO: &str = "classes = [\"a\", \"b\"]";
const NUMBER: &str = "bounds = [-1, 1]";
const TEN: &str =
    "classes = [\"0\", \"1\", \"2\", \"3\", \"4\", \"5\", \"6\", \"7\", \"8\", \"9\"]";

/// A plan's forecast; `None` if the method has no plan, or no forecast.
fn told(
    method: &str,
    (columns, target): (usize, &str),
    (rows, epsilon, delta): (u64, f64, Option<f64>),
    neighbours: Neighbours,
    base: Option<f64>,
) -> Option<Forecast> {
    let squares = target == NUMBER || ["ssp", "linear", "linear-rotated"].contains(&method);
    let loss = if squares { Loss::SQUARED } else { Loss::Logistic };
    let case = Case::of(method).schema(schema(columns, target)).loss(loss).rows(rows);
    let case =
        case.budget(epsilon, delta.unwrap_or(Budget::usual_delta(rows))).neighbours(neighbours);
    plan(&case).ok()?.forecast(base).unwrap()
}

/// Every method that predicts: more rows, or a larger ε, never cost more nor gain less.
#[test]
fn more_rows_and_a_larger_budget_never_cost_more() {
    let mut predict = 0;
    for method in
        METHODS.iter().map(|info| info.name).filter(|name| !["auto", "non-private"].contains(name))
    {
        for target in [TWO, NUMBER, TEN] {
            for (delta, neighbours) in [
                (None, Neighbours::ReplaceOne),
                (Some(1e-9), Neighbours::AddRemove),
                (Some(0.0), Neighbours::ReplaceOne),
            ] {
                let base = (target == TWO).then_some(0.7);
                let at = |rows, epsilon| {
                    told(method, (6, target), (rows, epsilon, delta), neighbours, base)
                };
                let rows = [29_u64, 300, 4_000, 50_000].map(|rows| at(rows, 0.3));
                let budgets = [1e-3, 0.03, 0.5, 6.0].map(|epsilon| at(3000, epsilon));
                for all in [rows, budgets] {
                    let known: Vec<Forecast> = all.into_iter().flatten().collect();
                    predict += usize::from(known.len() > 1);
                    for two in known.windows(2) {
                        let what = format!("{method} {target} {delta:?} {neighbours}");
                        assert!(two[1].cost <= two[0].cost + 1e-9, "{what}: {two:?}");
                        assert!(two[1].gain >= two[0].gain - 1e-6, "{what}: {two:?}");
                        assert!((0.0..=1.0).contains(&two[0].cost) && two[0].gain <= 100.0);
                    }
                }
            }
        }
    }
    assert!(predict > 40, "{predict}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]
    #[test]
    fn the_order_is_right_at_every_size(
        rows in 20..1_000_000_u64,
        more in 1.0..50.0_f64,
        epsilon in 1e-4..5.0_f64,
        columns in 1..60_usize,
        base in prop_oneof![Just(None), (0.02..0.98_f64).prop_map(Some)],
    ) {
        for method in ["gd", "amp", "output"] {
            let at = |rows, epsilon| {
                told(method, (columns, TWO), (rows, epsilon, None), Neighbours::ReplaceOne, base)
            };
            let many = (rows as f64 * more) as u64;
            if let (Some(few), Some(many)) = (at(rows, epsilon), at(many, epsilon)) {
                prop_assert!(many.cost <= few.cost + 1e-9 && many.gain >= few.gain - 1e-6);
            }
            if let (Some(small), Some(large)) = (at(rows, epsilon), at(rows, epsilon * more)) {
                prop_assert!(large.cost <= small.cost + 1e-9 && large.gain >= small.gain - 1e-6);
            }
        }
    }
}

/// Past faults: more was expected of 29 rows at ε = 0.01 than of 1,000 at 0.1; of frank-wolfe the less,
/// the larger ε; there was no note on coin tosses; and digits were expected to be almost lost at
/// ε = 0.5, where 71 of 100 are right.
#[test]
fn faults_of_the_past() {
    let auto = |columns, target, rows, epsilon| {
        told("auto", (columns, target), (rows, epsilon, None), Neighbours::ReplaceOne, None)
            .unwrap()
    };
    let (few, many) = (auto(5, TWO, 29, 0.01), auto(5, TWO, 1000, 0.1));
    assert!(few.cost > many.cost && few.note.is_some(), "{few:?} {many:?}");
    let sparse = |epsilon| {
        told("frank-wolfe", (20, TWO), (2000, epsilon, None), Neighbours::ReplaceOne, None)
            .unwrap()
            .cost
    };
    assert!(sparse(1.0) < sparse(0.1) && sparse(0.1) < sparse(0.01));
    assert!(auto(5, TWO, 2000, 1e-4).note.is_some());
    let digits = auto(64, TEN, 1347, 0.5);
    assert!(digits.note.is_none() && digits.cost < 0.8, "{digits:?}");
}

/// Seeds are fixed: it fails always or never. The whole grid is `examples/forecast.rs`.
#[test]
fn costs_are_within_a_factor_of_two_in_nine_of_ten() {
    let (mut cells, mut within, mut off) = (0, 0, Vec::new());
    for (seed, rows, columns, base, signal) in [
        (101, 500, 4, 0.5, 0.6),
        (102, 500, 12, 0.5, 0.9),
        (103, 2000, 4, 0.8, 0.9),
        (104, 2000, 12, 0.5, 0.8),
        (105, 2000, 30, 0.5, 0.9),
        (106, 6000, 8, 0.8, 0.8),
        (107, 6000, 20, 0.5, 0.6),
    ] {
        let generated =
            GeneratedTable { rows, columns, classes: 2, base, signal, mixed: seed % 2 == 0, seed };
        let table = generated.table();
        for method in ["auto", "gd", "amp", "output"] {
            for epsilon in [0.05, 0.3, 2.0] {
                let tried = table.tried(method, epsilon, false, 4).unwrap();
                let (Some(lost), Some(predicted)) = (tried.lost, tried.predicted) else { continue };
                cells += 1;
                within += u32::from(within_two(lost, predicted));
                if !within_two(lost, predicted) {
                    off.push((method, generated, epsilon, lost, predicted));
                }
            }
        }
    }
    assert!(
        cells >= 70 && f64::from(within) >= 0.87 * f64::from(cells),
        "{within} of {cells}: {off:?}"
    );
}

/// Twelve tables, six of which give no accuracy at their budget: the note is on those, and on no other.
/// Seeds are fixed.
#[test]
fn notes_fire_where_a_model_is_worth_nothing() {
    for (seed, rows, columns, base, epsilon, nothing) in [
        (201, 2000, 5, 0.5, 1e-4, true),
        (202, 100, 8, 0.5, 0.003, true),
        (203, 1000, 30, 0.5, 0.003, true),
        (204, 300, 5, 0.9, 0.1, true),
        (205, 1000, 12, 0.8, 0.03, true),
        (206, 4000, 8, 0.9, 0.02, true),
        (207, 4000, 5, 0.5, 0.3, false),
        (208, 2000, 8, 0.5, 1.0, false),
        (209, 8000, 20, 0.5, 0.3, false),
        (210, 8000, 5, 0.8, 1.0, false),
        (211, 4000, 8, 0.7, 1.0, false),
        (212, 1000, 3, 0.5, 0.5, false),
    ] {
        let generated = GeneratedTable {
            rows,
            columns,
            classes: 2,
            base,
            signal: 0.8,
            mixed: seed % 2 == 0,
            seed,
        };
        let table = generated.table();
        let budget = Budget::new(epsilon, Budget::usual_delta(rows as u64)).unwrap();
        let plan = plan(&table.request("auto", Some(budget))).unwrap();
        let note = plan.forecast(Some(base)).unwrap().unwrap().note;
        // A coin's direction is right by chance: its luck is large, so that many are tossed.
        let gains: Vec<f64> = (0..TOSSES)
            .map(|toss| {
                100.0 * (table.fitted(&plan, 1, 1000 * seed + toss).unwrap() - table.base())
            })
            .collect();
        let gain = gains.iter().sum::<f64>() / TOSSES as f64;
        let square =
            gains.iter().map(|one| (one - gain).powi(2)).sum::<f64>() / (TOSSES - 1) as f64;
        let error = 3.0 * (square / TOSSES as f64).sqrt();
        let actual = if nothing { gain - error < 1.0 } else { gain - error > 1.0 };
        assert!(actual, "{generated:?} {epsilon}: {gain} ± {error}");
        assert_eq!(note.is_some(), nothing, "{generated:?} {epsilon}: {note:?}");
        let unsaid = plan.forecast(None).unwrap().unwrap();
        assert!(unsaid.note.is_none_or(|note| note.contains("no base rate is declared")));
    }
}

#[test]
fn notes_say_what_to_change_and_odd_base_rates_are_refused() {
    let schema = schema(8, TWO).to_toml() + "\n[unit]\ncolumn = \"who\"\nmax_records = 40\n";
    let case = Case::of("gd").schema(Schema::from_toml(&schema).unwrap()).rows(500);
    let plan = case.budget(0.05, 1e-6).plan();
    let note = plan.forecast(Some(0.6)).unwrap().unwrap().note.unwrap();
    for word in ["rows", "epsilon", "fewer columns", "max_records", "60.0 of 100"] {
        assert!(note.contains(word), "{word}: {note}");
    }
    assert!(
        plan.notes().iter().any(|note| note.contains("for classes of equal size")),
        "{:?}",
        plan.notes()
    );
    for odd in [0.0, 1.0, -0.2, f64::NAN] {
        assert!(plan.forecast(Some(odd)).is_err(), "{odd}");
    }
    let of = |target| Case::of("gd").schema(self::schema(3, target));
    let number = of(NUMBER).loss(Loss::SQUARED).plan();
    assert!(matches!(number.forecast(Some(0.5)), Err(LearnError::NotCovered { .. })));
    assert!(of(TEN).plan().forecast(Some(0.05)).is_err());
    assert!(of(TEN).plan().forecast(Some(0.3)).is_ok());
}
