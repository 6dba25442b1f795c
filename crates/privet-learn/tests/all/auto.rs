//! The default rule: its choices, their smoothness, and verification of its certificates.

use crate::common::Case;
use privet_data::Schema;
use privet_data::schema::{Basis, ColumnKind};
use privet_learn::{Calibration, LearnError, Plan, Request, plan};
use privet_optim::loss::Loss;

/// p numbers, and a target of `classes` classes (0 for a number).
fn schema(columns: usize, classes: usize) -> Schema {
    let target = match classes {
        0 => "bounds = [-1, 1]".to_string(),
        count => {
            let names: Vec<String> = (0..count).map(|class| format!("\"c{class}\"")).collect();
            format!("classes = [{}]", names.join(", "))
        }
    };
    let mut text = format!(
        "bias = true\n[clip]\nnorm = \"l2\"\nradius = 1.0\n[target]\ncolumn = \"y\"\n{target}\n"
    );
    for column in 1..columns {
        text.push_str(&format!(
            "[[columns]]\nname = \"x{column}\"\ntype = \"number\"\nbounds = [-1, 1]\n"
        ));
    }
    Schema::from_toml(&text).unwrap()
}

/// The same, with nothing left open.
fn plain(columns: usize, classes: usize) -> Schema {
    schema(columns, classes).linear()
}

fn auto(rows: u64, columns: usize, classes: usize, epsilon: f64, delta: f64) -> Plan {
    let loss = if classes == 0 { Loss::SQUARED } else { Loss::Logistic };
    let case = Case::of("auto").schema(schema(columns, classes)).rows(rows);
    case.loss(loss).budget(epsilon, delta).plan()
}

fn chosen(plan: &Plan) -> &'static str {
    plan.request().task.method.name()
}

/// (n, p, K, ε) of typical tables.
const SHAPES: [(u64, usize, usize, f64); 8] = [
    (8_000, 40, 2, 0.1),
    (36_177, 140, 2, 0.1),
    (36_177, 104, 2, 1.0),
    (56_000, 200, 2, 0.1),
    (464_809, 54, 7, 1.0),
    (52_000, 785, 10, 1.0),
    (1_600, 2_000, 2, 0.1),
    (5_000, 20, 0, 1.0),
];

#[test]
fn it_chooses_by_what_can_be_learnt() {
    let square = |rows: u64| (rows as f64).powi(-2);
    assert_eq!(chosen(&auto(36_177, 20, 2, 0.1, square(36_177))), "placed-gd");
    assert_eq!(
        chosen(&auto(36_177, 104, 2, 0.1, square(36_177))),
        "centred-gd",
        "too little for placed knots in each of so many columns"
    );
    assert_eq!(
        chosen(&auto(4_000, 40, 2, 0.1, square(4_000))),
        "gd",
        "a mean is not worth its price"
    );
    assert_eq!(chosen(&auto(52_000, 785, 10, 1.0, square(52_000))), "centred-gd");
    assert_eq!(chosen(&auto(52_000, 785, 10, 0.01, square(52_000))), "gd");
    assert_eq!(chosen(&auto(1_600, 2_000, 2, 0.1, square(1_600))), "frank-wolfe");
    assert_eq!(chosen(&auto(36_177, 104, 2, 1.0, 0.0)), "amp");
    assert_eq!(chosen(&auto(5_000, 20, 0, 1.0, square(5_000))), "ssp");
}

/// Above 2²⁰ rows the learner of few passes, if it loses as little; up to them everything is unchanged.
#[test]
fn large_tables_are_read_a_few_times() {
    let at = |rows: u64, columns: usize, classes: usize, epsilon: f64, delta: f64| {
        let case = Case::of("auto").schema(plain(columns, classes)).rows(rows);
        chosen(&case.budget(epsilon, delta).plan())
    };
    for epsilon in [0.01, 0.1, 1.0] {
        assert_eq!(at(19_000_000, 70, 2, epsilon, 1e-15), "amp", "{epsilon}");
        assert_eq!(at(18_000_000, 294, 2, epsilon, 1e-15), "amp", "{epsilon}");
        assert_ne!(at(1 << 20, 70, 2, epsilon, 1e-13), "amp", "{epsilon}");
        assert_ne!(at(19_000_000, 70, 5, epsilon, 1e-15), "amp", "several problems");
        assert_ne!(at(19_000_000, 600, 2, epsilon, 1e-15), "amp", "too wide");
    }
    assert_ne!(at(19_000_000, 70, 2, 1e-5, 1e-15), "amp", "too much noise");
}

/// γ is declared, and charged: 1/n² up to 2²⁰ rows, then more, but never so much that output noise would
/// be noticeable.
#[test]
fn tolerances_of_large_tables_are_declared() {
    let gamma = |rows: u64| {
        let case = Case::of("amp").schema(plain(20, 2)).rows(rows).budget(1.0, 1e-15);
        let planned = case.plan();
        assert!(plan(planned.request()).is_ok(), "certified as it is");
        let settings = planned.settings();
        (settings.get("gamma").unwrap(), settings.get("output_noise").unwrap())
    };
    for rows in [1_000_u64, 1_000_000, 1 << 20] {
        assert_eq!(gamma(rows).0, (rows as f64).recip() / rows as f64);
    }
    for rows in [10_000_000_u64, 100_000_000, 1_000_000_000] {
        let (gamma, noise) = gamma(rows);
        assert!(gamma > (rows as f64).powi(-2), "{rows}: {gamma:e}");
        // Change of a weight by sampling, for rows spread evenly over 20 columns.
        let sampling = (20.0 / (0.25 * rows as f64)).sqrt();
        assert!(noise <= 0.26 * sampling, "{rows}: {noise:e} beside {sampling:e}");
    }
}

/// Hats of the first number in a plan's schema, and whether numbers are paired.
fn unfolded(plan: &Plan) -> (u32, bool) {
    let hats = plan.schema().columns().iter().find_map(|column| match &column.kind {
        ColumnKind::Number { basis: Basis::Hats(hats), .. } => Some(hats.count),
        _ => None,
    });
    (hats.unwrap_or(0), !plan.schema().pairs().is_empty())
}

#[test]
fn numbers_bend_as_far_as_the_budget_can_tell() {
    let at = |rows: u64, columns: usize, classes: usize, epsilon: f64| {
        unfolded(&auto(rows, columns, classes, epsilon, (rows as f64).powi(-2)))
    };
    assert_eq!(at(36_177, 7, 2, 1.0), (241, false), "the grid of placed knots");
    assert_eq!(at(9_000, 7, 2, 0.1), (3, false), "too little for placed knots");
    assert_eq!(at(36_177, 7, 3, 1.0), (5, false), "three classes");
    assert_eq!(at(500, 7, 2, 0.1), (0, false), "too little to tell a bend from noise");
    assert_eq!(at(464_809, 11, 2, 1.0), (9, true));
    assert_eq!(at(464_809, 40, 2, 1.0), (241, false), "too many pairs");
    assert_eq!(at(2_000, 400, 2, 0.5), (0, false), "more hats than the budget is worth");
    assert_eq!(at(20_000, 17, 26, 0.1), (0, false), "shared among many classes");
    assert_eq!(at(20_000, 9, 0, 1.0), (0, false), "a number");
    assert_eq!(unfolded(&auto(36_177, 7, 2, 1.0, 0.0)), (0, false), "no δ");
    let mut last = 0;
    for epsilon in [0.03, 0.1, 0.3, 1.0, 3.0, 10.0] {
        let (hats, _) = at(36_177, 7, 3, epsilon);
        assert!(hats >= last, "more budget, no fewer bends");
        last = hats;
    }
}

/// With a named method, and for every certificate before there were bases, numbers are not expanded.
#[test]
fn only_the_default_unfolds() {
    let case = Case::of("gd").schema(schema(7, 2)).rows(36_177).budget(1.0, 1e-9);
    assert_eq!(unfolded(&case.plan()), (0, false));
    assert!(!case.plan().schema().is_open());
}

#[test]
fn a_wide_table_of_numbers_gets_few_columns_at_every_budget() {
    for epsilon in [0.1, 0.3, 1.0, 3.0, 10.0] {
        assert_eq!(chosen(&auto(1_600, 2_000, 2, epsilon, 1e-7)), "frank-wolfe", "{epsilon}");
    }
    for rows in [20, 100, 2_000] {
        assert_eq!(chosen(&auto(rows, 9, 0, 0.1, 1e-7)), "ssp", "for numbers never");
    }
}

/// A fifth more or fewer rows and columns, each and both: the same learner, and no parameter moves by
/// more than three tenths.
#[test]
fn it_is_smooth_in_rows_and_columns() {
    for (rows, columns, classes, epsilon) in SHAPES {
        // δ stays: it is requested, not chosen.
        let delta = (rows as f64).powi(-2);
        let base = auto(rows, columns, classes, epsilon, delta);
        for (more_rows, more_columns) in
            [(1.2, 1.0), (0.8, 1.0), (1.0, 1.2), (1.0, 0.8), (1.2, 0.8), (0.8, 1.2)]
        {
            let moved = auto(
                (rows as f64 * more_rows) as u64,
                (columns as f64 * more_columns) as usize,
                classes,
                epsilon,
                delta,
            );
            assert_eq!(chosen(&moved), chosen(&base), "{rows} × {columns}");
            for (name, value) in base.settings().iter() {
                let other = moved.settings().get(name).unwrap();
                let near = (value - other).abs() <= 0.3 * value.abs();
                assert!(
                    near,
                    "{rows} × {columns}, {more_rows}, {more_columns}: {name} {value} {other}"
                );
            }
        }
    }
}

/// The certificate names the method that was chosen, and is planned again as that.
#[test]
fn what_was_chosen_is_written_down() {
    let planned = auto(1_000, 5, 2, 1.0, 1e-6);
    let again = plan(planned.request()).unwrap();
    assert_eq!(chosen(&again), "placed-gd");
    assert_eq!(again.events(), planned.events());
    assert_eq!(again.request(), planned.request());
}

#[test]
fn no_paper_prints_it() {
    let planned = auto(1_000, 5, 2, 1.0, 1e-6);
    let request = Request { calibration: Calibration::Printed, ..planned.request().clone() }
        .with_method("auto".parse().unwrap());
    assert!(matches!(plan(&request), Err(LearnError::NotCovered { .. })));
}
