//! `chosen-amp`: two stages in one session.

use crate::common::{accuracy, forged, scale, seeded, train, uniform};
use privet_core::{Budget, Neighbours};
use privet_data::{Dataset, Schema, read};
use privet_dp::account::Event;
use privet_dp::noise::FixedSeed;
use privet_learn::linear::chosen_amp::ChosenAmp;
use privet_learn::{Calibration, Erm, LearnError, Method, Request, plan, verify};
use privet_optim::loss::Loss;

const COLUMNS: usize = 40;

fn schema(classes: &str) -> Schema {
    let mut text = format!(
        "bias = true\n[clip]\nnorm = \"l2\"\nradius = 1.0\n[target]\ncolumn = \"y\"\nclasses = {classes}\n"
    );
    for column in 0..COLUMNS {
        text += &format!(
            "[[columns]]\nname = \"x{column}\"\ntype = \"number\"\nbounds = [-1, 1]\nscale = \
             \"symmetric\"\n"
        );
    }
    Schema::from_toml(&text).unwrap()
}

/// Rows whose label is the sign of x7 − x23, mostly.
fn data(rows: usize, seed: u64) -> Dataset {
    let mut source = FixedSeed::new(seed);
    let names: Vec<_> = (0..COLUMNS).map(|column| format!("x{column}")).collect();
    let mut text = format!("{},y\n", names.join(","));
    for _ in 0..rows {
        let row: Vec<f64> = (0..COLUMNS).map(|_| uniform(&mut source)).collect();
        let cells: Vec<_> = row.iter().map(f64::to_string).collect();
        let label = if row[7] - row[23] + 0.2 * uniform(&mut source) > 0.0 { "yes" } else { "no" };
        text += &format!("{},{label}\n", cells.join(","));
    }
    read::csv_bytes(text.as_bytes(), &schema("[\"no\", \"yes\"]")).unwrap()
}

fn request(rows: usize, epsilon: f64, options: ChosenAmp) -> Request {
    let task = Erm { loss: Loss::Logistic, method: Method::ChosenAmp(options) };
    Request::new(schema("[\"no\", \"yes\"]"), rows as u64, Neighbours::ReplaceOne, task)
        .with_budget(Budget::new(epsilon, 1e-6).unwrap())
}

#[test]
fn the_columns_that_matter_are_found_and_fitted() {
    let (training, test) = (data(6000, 1), data(2000, 2));
    let options = ChosenAmp { columns: Some(2), ..ChosenAmp::default() };
    let model = seeded(&request(6000, 2.0, options), &training);
    let used: Vec<_> = model.weights().weights[0].iter().enumerate().collect();
    let used: Vec<_> = used.into_iter().filter(|(_, weight)| **weight != 0.0).collect();
    let columns: Vec<_> = used.iter().map(|(column, _)| *column).collect();
    assert_eq!(columns, [7, 23, COLUMNS], "two columns and the constant one");
    assert!(accuracy(&model, &test) > 0.9, "{}", accuracy(&model, &test));
}

#[test]
fn it_trains_verifies_and_claims_what_was_asked_for() {
    let training = data(1000, 3);
    for neighbours in crate::common::RELATIONS {
        let request = Request { neighbours, ..request(1000, 1.0, ChosenAmp::default()) };
        let model = train(&request, &training);
        let verdict = verify(&model);
        assert!(verdict.valid, "{neighbours}: {:?}", verdict.checks);
        assert_eq!(verdict.guarantee.unwrap().epsilon, 1.0);
        // Less noise in either stage is refused, in the events alone and with the request.
        for noise in 0..2 {
            let less = forged(&model, |certificate| {
                scale(certificate, &format!("/request/noise/{noise}"), 0.9);
            });
            assert!(!verify(&less).valid);
        }
        let less = forged(&model, |certificate| {
            scale(certificate, "/events/all/0/repeat/event/use/cost/range", 0.5);
        });
        assert!(!verify(&less).valid);
    }
}

/// The charge of stage two depends on the number of chosen columns, never on the columns.
#[test]
fn the_charge_follows_from_the_number_of_columns() {
    let options = ChosenAmp { columns: Some(5), ..ChosenAmp::default() };
    let planned = plan(&request(1000, 1.0, options)).unwrap();
    let Some(Event::All(stages)) = planned.events() else { panic!("two stages") };
    assert!(matches!(&stages[0], Event::Repeat { count: 5, .. }));
    assert!(matches!(&stages[1], Event::Use { .. }));
    // The same plan for any tables: it is made before them.
    let (one, two) = (data(1000, 4), data(1000, 5));
    for table in [&one, &two] {
        let model = train(&request(1000, 1.0, options), table);
        assert_eq!(model.certificate().events.as_ref(), planned.events());
        let used = model.weights().weights[0].iter().filter(|weight| **weight != 0.0).count();
        assert!(used <= 6, "{used} columns");
    }
    let again = plan(planned.request()).unwrap();
    assert_eq!(again.request(), planned.request());
}

#[test]
fn what_is_not_covered_is_refused_in_words() {
    let words = |request: &Request| plan(request).unwrap_err().to_string();
    let base = request(1000, 1.0, ChosenAmp::default());
    let pure = Request { budget: Some(Budget::new(1.0, 0.0).unwrap()), ..base.clone() };
    assert!(words(&pure).contains("delta above 0"));
    let printed = Request { calibration: Calibration::Printed, ..base.clone() };
    assert!(words(&printed).contains("sound"));
    let three = Request { schema: schema("[\"a\", \"b\", \"c\"]"), ..base.clone() };
    assert!(words(&three).contains("two classes"));
    assert!(words(&base.clone().with("columns", "41").unwrap()).contains("41 columns"));
    for bad in ["0", "1000000"] {
        let bad = base.clone().with("columns", bad).unwrap();
        assert!(matches!(plan(&bad), Err(LearnError::Setting(_))));
    }
    assert!(matches!(plan(&base.with("share", "1").unwrap()), Err(LearnError::Setting(_))));
}
