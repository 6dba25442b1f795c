//! `centred-gd`: a noised mean, then descent on centred rows, in one session.

use crate::common::{Case, Change, LOSSES, RELATIONS, data, distance, forged, scale, uniform};
use privet_core::Unit;
use privet_data::centre::Centre;
use privet_data::matrix::{DenseMatrix, Matrix};
use privet_data::{Dataset, Schema, Target, read};
use privet_dp::account::{Cost, Event};
use privet_dp::noise::FixedSeed;
use privet_learn::file::{Seal, from_json, to_json};
use privet_learn::linear::centred_gd::CentredGd;
use privet_learn::{Erm, Facts, LearnError, Method, plan, verify};
use privet_optim::loss::Loss;
use privet_optim::sum::{ExactGradient, InMemory, Recentring, SoftmaxGradient, Sums};
use proptest::prelude::*;

fn case() -> Case {
    Case::of("centred-gd")
}

/// Every loss, relation and number of classes trains, verifies and claims what was asked for.
#[test]
fn every_combination_trains_and_verifies() {
    for classes in [2, 3] {
        let (training, test) = (data(4000, classes, 1), data(2000, classes, 2));
        for loss in LOSSES {
            for neighbours in RELATIONS {
                let case = case().budget(4.0, 1e-6).classes(classes).neighbours(neighbours);
                case.loss(loss).learns(&training, &test, 0.8 - 0.1 * f64::from(classes - 2));
            }
        }
    }
}

/// σ₀ and σ together have the curve of one Gaussian mechanism, and no more noise is added than that needs.
#[test]
fn both_stages_together_are_the_gaussian_floor() {
    for (share, steps) in [(0.03, 60), (0.5, 1), (0.001, 300)] {
        let request = case().budget(1.0, 1e-5).classes(3);
        let request = request.set("share", &share.to_string()).set("steps", &steps.to_string());
        let request = request.set("slope", "0.4");
        let planned = request.plan();
        let Some(Event::All(stages)) = planned.events() else { panic!("two stages") };
        let Event::Use { cost: Cost::Gaussian { noise_scale: of_sum, .. }, .. } = stages[0] else {
            panic!("a sum")
        };
        let Event::Repeat { count, event } = &stages[1] else { panic!("steps") };
        let Event::Use { cost: Cost::Gaussian { noise_scale: of_step, .. }, .. } = **event else {
            panic!("a gradient")
        };
        assert_eq!(*count, steps);
        // Replace-one: Δ₀ = 2R and Δ = 2·0.4·R; μ at ε = 1, δ = 1e-5 is 1/3.730631635.
        let (first, each) = ((2.0 / of_sum).powi(2), (0.8 / of_step).powi(2));
        let whole = (first + f64::from(steps) * each).sqrt() * 3.730631635;
        assert!((1.0 - 1e-6..1.0 + 1e-9).contains(&whole), "{whole}");
        assert!((first / (first + f64::from(steps) * each) - share).abs() < 1e-9);
    }
}

/// Less noise in either stage, another share or another slope is refused, and so is a centre that no run
/// can have.
#[test]
fn forgeries_are_refused() {
    for neighbours in RELATIONS {
        let request = case().classes(3).neighbours(neighbours);
        let model = request.model(&request.data(3));
        assert!(verify(&model).valid, "{:?}", verify(&model).checks);
        let numbers = [
            "/request/noise/0",
            "/request/noise/1",
            "/request/method/share",
            "/request/method/slope",
            "/events/all/0/use/cost/noise_scale",
            "/events/all/0/use/cost/sensitivity",
            "/events/all/1/repeat/event/use/cost/sensitivity",
        ];
        for number in numbers {
            let recentring = forged(&model, |certificate| scale(certificate, number, 0.9));
            assert!(!verify(&recentring).valid, "{number}");
        }
        let mut document: serde_json::Value =
            serde_json::from_str(&to_json(&model, None).unwrap()).unwrap();
        let place = leaf(&document, "centre").expect("the centre is in the file");
        let again = |document: &serde_json::Value| {
            let sealed = privet_dp::gate::seal::seal_document(document.clone(), None).unwrap();
            from_json::<Erm>(sealed.to_string().as_bytes(), Seal::Required)
        };
        for odd in
            [serde_json::json!([5.0, 0.0, 0.0]), serde_json::json!([0.0]), serde_json::json!(null)]
        {
            *document.pointer_mut(&place).unwrap() = odd.clone();
            assert!(!again(&document).is_ok_and(|model| verify(&model).valid), "{odd}");
        }
    }
}

/// The text of a document's value under a key.
fn leaf(value: &serde_json::Value, key: &str) -> Option<String> {
    value.as_object()?.iter().find_map(|(name, value)| match name == key {
        true => Some(format!("/{name}")),
        false => leaf(value, key).map(|rest| format!("/{name}{rest}")),
    })
}

#[test]
fn what_is_not_covered_is_refused_in_words() {
    let words = |case: Case| case.refusal().to_string();
    assert!(words(case().delta(0.0)).contains("delta above 0"));
    assert!(words(case().printed()).contains("sound"));
    assert!(words(case().set("slope", "0.3")).contains("more than two classes"));
    let three = || case().classes(3);
    for (setting, bad) in [("share", "0"), ("share", "1"), ("slope", "2"), ("steps", "0")] {
        let refused = three().set(setting, bad).refusal();
        assert!(matches!(refused, LearnError::Setting(_)), "{setting} = {bad}: {refused}");
    }
    let settled = three().plan();
    let Method::CentredGd(CentredGd { steps, share, slope, ridge, .. }) =
        settled.request().task.method
    else {
        panic!("another method")
    };
    assert_eq!((share, ridge), (Some(0.03), None));
    assert!((slope.unwrap() - 0.75 * (2.0_f64 / 3.0).sqrt()).abs() < 1e-12, "as gd's");
    assert!(steps.is_some());
    let again = plan(settled.request()).unwrap();
    assert_eq!(again.request(), settled.request());
}

/// Models without a centre are written as before, and predict as before.
#[test]
fn only_centred_models_have_a_centre() {
    let text = to_json(&Case::of("gd").model(&data(4000, 2, 1)), None).unwrap();
    assert!(!text.contains("centre"));
}

/// Rows far from 0: rows that gd cannot distinguish under the noise, this can.
#[test]
fn centring_helps_where_rows_point_the_same_way() {
    let mut text = "[clip]\nnorm = \"l2\"\nradius = 1.0\n[target]\ncolumn = \"y\"\n\
                    classes = [\"a\", \"b\", \"c\"]\n"
        .to_string();
    for column in 0..20 {
        text += &format!(
            "[[columns]]\nname = \"x{column}\"\ntype = \"number\"\nbounds = [0, 10]\nscale = \"none\"\n"
        );
    }
    let schema = Schema::from_toml(&text).unwrap();
    let table = |rows: usize, seed: u64| {
        let mut source = FixedSeed::new(seed);
        let names: Vec<_> = (0..20).map(|column| format!("x{column}")).collect();
        let mut text = format!("{},y\n", names.join(","));
        for row in 0..rows {
            let class = row % 3;
            for column in 0..20 {
                let shift = if column % 3 == class { 0.3 } else { 0.0 };
                text += &format!("{},", 5.0 + shift + 0.3 * uniform(&mut source));
            }
            text += &format!("{}\n", ["a", "b", "c"][class]);
        }
        read::csv_bytes(text.as_bytes(), &schema).unwrap()
    };
    let (training, test) = (table(3000, 1), table(1000, 2));
    let accuracy = |method: &str| {
        let case = Case::of(method).schema(schema.clone()).rows(3000).budget(0.3, 1e-6);
        crate::common::accuracy(&case.seeded(&training), &test)
    };
    let (plain, moved) = (accuracy("gd"), accuracy("centred-gd"));
    assert!(moved > 0.8 && moved > plain + 0.05, "gd {plain}, centred-gd {moved}");
}

/// The sum −Σx, as stage one queries it.
fn sum_of_rows(facts: &Facts, data: &Dataset) -> Vec<f64> {
    let labels = vec![1.0; data.rows()];
    let theta = vec![0.0; facts.columns];
    let statistic = ExactGradient {
        loss: Loss::Squared { clip: 1.0 },
        theta,
        radius: facts.radius,
        slope: 1.0,
    };
    let sum = InMemory::new(&data.features, &labels).unwrap().sum(&statistic).unwrap();
    sum.to_f64(statistic.unit()).unwrap()
}

/// The gradient at θ over rows minus `mean`, as stage two queries it.
fn gradient(facts: &Facts, data: &Dataset, mean: &[f64], theta: &[f64], slope: f64) -> Vec<f64> {
    let Target::Class { codes, count } = &data.target else { panic!("no classes") };
    let label = |code: &u32| SoftmaxGradient::label(*code, *count);
    let labels: Vec<f64> = codes.iter().map(label).collect();
    let centre = Centre::new(mean, facts.radius);
    let theta = theta.chunks(facts.columns).flat_map(|theta| centre.point(theta)).collect();
    let (classes, radius) = (*count, Centre::norm_bound(facts.radius));
    let statistic = SoftmaxGradient { classes, theta, radius, slope, weights: vec![] };
    let rows = centre.rows(&data.features);
    let sum = InMemory::new(&rows, &labels).unwrap().sum(&statistic).unwrap();
    let recentring = Recentring { units: centre.units(), bits: Centre::BITS };
    let units = recentring.taken_from(sum.units().expect("rows are on the grid")).unwrap();
    let unit = statistic.unit() / 2_f64.powi(23);
    units.iter().map(|units| *units as f64 * unit).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, failure_persistence: None, ..ProptestConfig::default() })]

    /// Both sensitivities, attacked with random and extreme neighbours, centres and points.
    #[test]
    fn neighbouring_tables_move_both_sums_within_their_bounds(
        seed in any::<u64>(), size in prop::sample::select(vec![0.0, 1.0, 30.0, 1e5]),
        change in prop::sample::select(Change::ALL.to_vec()), records in 1_u32..4,
        centre in prop::sample::select(vec![0.0, 0.3, 1.0, 1e6]), slope in 0.05..1.4_f64,
        on_a_row in any::<bool>(),
    ) {
        let (whole, fresh) = (data(12, 3, seed), data(12, 3, seed ^ 0x5555));
        let changed = change.of(&whole, 0, records as usize, &fresh);
        let mut source = FixedSeed::new(seed);
        let request = case().classes(3).neighbours(change.neighbours());
        let mut facts = Facts::of(&request).unwrap();
        facts.unit = Unit::User { max_records: records };
        let bound = |contribution: f64| {
            facts.relation().shift(contribution * facts.radius * (1.0 + 16.0 * f64::EPSILON))
        };
        let moved = distance(&sum_of_rows(&facts, &whole), &sum_of_rows(&facts, &changed));
        prop_assert!(moved <= bound(1.0), "{moved} for {change:?}");
        // A centre next to a row makes that row's direction a matter of its last bits.
        let mean: Vec<f64> = match on_a_row {
            true => whole.features.dense_row(0).iter().map(|x| f64::from(*x) + 1e-9 * centre).collect(),
            false => (0..facts.columns).map(|_| centre * uniform(&mut source)).collect(),
        };
        let theta: Vec<f64> = (0..3 * facts.columns).map(|_| size * uniform(&mut source)).collect();
        let sum = |data: &Dataset| gradient(&facts, data, &mean, &theta, slope);
        let moved = distance(&sum(&whole), &sum(&changed));
        prop_assert!(moved <= bound(slope), "{moved} for {change:?}");
    }
}

/// With half the constant this fails: a record on the other side of the centre moves the sum by the
/// whole charge.
#[test]
fn a_record_can_move_a_step_by_nearly_its_bound() {
    let facts = Facts::of(&case().classes(3)).unwrap();
    let whole = data(12, 3, 5);
    let mean = vec![0.0; facts.columns];
    let theta = vec![0.0; 3 * facts.columns];
    let mut values: Vec<f32> = (0..12).flat_map(|row| whole.features.dense_row(row)).collect();
    values[..facts.columns].iter_mut().for_each(|x| *x = -*x);
    let other = Dataset {
        features: Matrix::Dense(DenseMatrix::new(values, 12, facts.columns)),
        ..whole.clone()
    };
    let sum = |data: &Dataset| gradient(&facts, data, &mean, &theta, 0.4);
    let moved = distance(&sum(&whole), &sum(&other));
    let bound = facts.relation().shift(0.4 * facts.radius);
    assert!((0.99..=1.0).contains(&(moved / bound)), "{moved} of {bound}");
}

/// Stripes that go one of three ways, somewhere, under pixel noise; 12 × 12, as LIBSVM text.
fn stripes(rows: usize, seed: u64) -> String {
    let mut source = FixedSeed::new(seed);
    let mut text = String::new();
    for row in 0..rows {
        let (class, shift) = (row % 3, 3.0 * uniform(&mut source));
        text += &class.to_string();
        for at in 0..144 {
            let (y, x) = ((at / 12) as f64, (at % 12) as f64);
            let along = [y, x, (y + x) * 0.7][class] + shift;
            let value = 128.0 + 100.0 * (1.6 * along).sin() + 20.0 * uniform(&mut source);
            text += &format!(" {}:{}", at + 1, value.round());
        }
        text += "\n";
    }
    text
}

/// From text to a verified file and back: the encoder is part of the certificate, and what is predicted for
/// is encoded alike. `auto` takes images by this method.
#[test]
fn images_are_encoded_by_their_schema() {
    let schema = Schema::from_toml(
        "[file]\nformat = \"libsvm\"\n[clip]\nnorm = \"l2\"\nradius = 1.0\n[target]\n\
         classes = [\"0\", \"1\", \"2\"]\n[libsvm]\nfeatures = 144\nbounds = [0, 255]\n[image]\n\
         width = 12\nheight = 12\nfeatures = 150\n",
    )
    .unwrap();
    let read = |rows, seed| read::libsvm_bytes(stripes(rows, seed).as_bytes(), &schema).unwrap();
    let (training, test) = (read(1500, 1), read(300, 2));
    for neighbours in RELATIONS {
        let asked = Case::of("auto").schema(schema.clone()).rows(1500).neighbours(neighbours);
        let model = asked.seeded(&training);
        assert_eq!(model.method().name(), "centred-gd");
        let accuracy = crate::common::accuracy(&model, &test);
        assert!(accuracy > 0.95, "{neighbours}: {accuracy}");
        assert_eq!(model.request().schema, schema, "the encoder is written down");
        let text = to_json(&asked.model(&training), None).unwrap();
        let again = from_json::<Erm>(text.as_bytes(), Seal::Required).unwrap();
        assert!(verify(&again).valid);
        assert_eq!(again.weights().centre.as_ref().map(Vec::len), Some(150));
    }
}
