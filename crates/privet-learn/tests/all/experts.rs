//! Experts: sensitivity of the sums, charge of a draw, releases, and regret.

use privet_core::Budget;
use privet_data::matrix::{DenseMatrix, Matrix};
use privet_data::read::Report;
use privet_data::{Dataset, Schema, Target};
use privet_dp::account::{Cost, Event};
use privet_dp::noise::SystemRandom;
use privet_learn::streams::experts::{UNITS, agreement};
use privet_learn::streams::{Method, Online};
use privet_learn::{Plan, Request, RequestOptions, plan};
use proptest::prelude::*;
use std::fmt::Write as _;
use std::sync::atomic::AtomicBool;

fn schema(columns: usize) -> Schema {
    let mut text = String::from(
        "invalid = \"drop\"\nbias = false\n[clip]\nnorm = \"linf\"\nradius = 1.0\n[target]\ncolumn = \"y\"\n\
         classes = [\"no\", \"yes\"]\n",
    );
    for column in 0..columns {
        let _ = write!(
            text,
            "[[columns]]\nname = \"x{column}\"\ntype = \"number\"\nbounds = [-1, 1]\nscale = \"symmetric\"\n"
        );
    }
    Schema::from_toml(&text).unwrap()
}

fn planned(
    columns: usize,
    rows: u64,
    epsilon: f64,
    change: impl Fn(Method) -> Method,
) -> Plan<Online> {
    let words = RequestOptions {
        epsilon: Some(epsilon),
        delta: Some(1e-6),
        ..RequestOptions::of("gd".parse().unwrap())
    };
    let method = change("experts".parse().unwrap());
    let request = Online::request(&schema(columns), rows, method, &words).unwrap();
    let task = request.task.clone().keeping_models(10_000);
    plan(&Request { task, ..request }).unwrap()
}

proptest! {
    /// No record costs a column more than a whole, so that exchanging one moves a sum by two at most.
    #[test]
    fn a_record_costs_at_most_a_whole(x in any::<f64>(), y in any::<f64>(), clip in 1e-6..1e6_f64) {
        prop_assert!(agreement(x, y, clip).abs() <= UNITS);
    }
}

/// The range of a draw is four over λ, and all draws together prove the budget; the draws are as many as
/// steps.
#[test]
fn a_draw_is_charged_for_a_record_that_turns_from_one_end_to_the_other() {
    let plan = planned(5, 400, 1.0, |method| method);
    let Event::Repeat { count, event } = plan.events().unwrap() else { panic!() };
    let Some(Cost::BoundedRange { range }) = event.single_cost() else { panic!() };
    let lambda = plan.settings().get("entropy").unwrap();
    assert!((range * lambda / 4.0 - 1.0).abs() < 1e-9, "{range} {lambda}");
    let batch = plan.facts().batch;
    assert!(*count == 400_u32.div_ceil(batch) && batch > 1, "{count} {batch}");
    // ρ = range²/8 a draw: the classic conversion of all of them is no better than what is claimed.
    let rho = f64::from(*count) * range * range / 8.0;
    assert!(rho + 2.0 * (rho * 1e6_f64.ln()).sqrt() < 1.3, "{rho}");
    let words = RequestOptions {
        epsilon: Some(1.0),
        delta: Some(0.0),
        ..RequestOptions::of("output".parse().unwrap())
    };
    let request = Online::request(&schema(5), 400, "experts".parse().unwrap(), &words).unwrap();
    let request = Request { budget: Some(Budget::new(1.0, 0.0).unwrap()), ..request };
    let pure = privet_learn::plan(&request).unwrap();
    assert_eq!(pure.guarantee().unwrap().delta, 0.0);
    let small = |method: Method| method.with("entropy", "0.5").unwrap();
    let task = Online { method: small(request.task.method.clone()), ..request.task.clone() };
    let words = privet_learn::plan(&Request { task, ..request }).unwrap_err().to_string();
    assert!(words.contains("larger entropy"), "{words}");
}

/// Column 0 always agrees: with a large budget it is drawn, and with a negative sign where it always
/// disagrees.
#[test]
fn the_column_that_agrees_is_followed() {
    let rows = 3_000;
    for (sign, both) in [(1.0_f32, false), (-1.0, true)] {
        let change =
            |method: Method| if both { method.with("signs", "both").unwrap() } else { method };
        let plan = planned(4, rows, 8.0, change);
        let (values, codes): (Vec<[f32; 4]>, Vec<u32>) = (0..rows)
            .map(|row| {
                let y = if row % 3 == 0 { 1.0 } else { -1.0 };
                let noise = if row % 2 == 0 { 0.5 } else { -0.5 };
                ([sign * y, noise, -noise, 0.0], u32::from(y > 0.0))
            })
            .unzip();
        let features = Matrix::Dense(DenseMatrix::new(
            values.into_iter().flatten().collect(),
            rows as usize,
            4,
        ));
        let target = Target::Class { codes, count: 2 };
        let data = Dataset { features, target, units: None, report: Report::default() };
        let release =
            plan.run(&data, &mut SystemRandom::new().unwrap(), &AtomicBool::new(false)).unwrap();
        // e^(−3000/λ) of another: λ is below 100, so that 10⁻¹² is far above it.
        let lambda = plan.settings().get("entropy").unwrap();
        assert!(lambda < 100.0, "{lambda}");
        assert_eq!(release.value().last().unwrap(), [f64::from(sign), 0.0, 0.0, 0.0]);
        for model in &release.value().values {
            assert_eq!(model.iter().filter(|weight| **weight != 0.0).count(), 1);
        }
    }
}
