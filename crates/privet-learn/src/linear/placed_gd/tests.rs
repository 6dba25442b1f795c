//! The sensitivities of all four stages on random and extreme neighbours; storage; what is learnt.

use super::*;
use crate::{Plan, Request, plan};
use privet_core::{Budget, Neighbours, Unit};
use privet_data::{Dataset, Schema, read};
use privet_dp::noise::FixedSeed;
use privet_optim::sum::{InMemory, LinearImage, Sums};
use proptest::prelude::*;
use std::sync::atomic::AtomicBool;

/// Two open numbers, a category and a number that may be missing.
fn schema() -> Schema {
    let number = |name: &str, bounds: &str, more: &str| {
        format!("[[columns]]\nname = \"{name}\"\ntype = \"number\"\nbounds = {bounds}\n{more}")
    };
    let text = format!(
        "[file]\nmissing_values = [\"?\"]\n[clip]\nnorm = \"l2\"\nradius = 1.0\n[target]\ncolumn = \"y\"\n\
         classes = [\"no\", \"yes\"]\n{}{}[[columns]]\nname = \"ward\"\ntype = \"category\"\n\
         categories = [\"a\", \"b\", \"c\"]\n",
        number("income", "[0, 1000]", ""),
        number("age", "[0, 100]", "missing = \"category\"\n"),
    );
    Schema::from_toml(&text).unwrap()
}

fn table(rows: &[(f64, Option<f64>, usize, bool)]) -> Dataset {
    let mut text = "income,age,ward,y\n".to_string();
    for (income, age, ward, yes) in rows {
        let age = age.map_or("?".into(), |age| age.to_string());
        let (ward, y) = (["a", "b", "c"][*ward], if *yes { "yes" } else { "no" });
        text += &format!("{income},{age},{ward},{y}\n");
    }
    read::csv_bytes(text.as_bytes(), &super::super::auto::levels(&schema())).unwrap()
}

fn request(rows: u64, neighbours: Neighbours) -> Request {
    let task = crate::Erm { loss: Loss::Logistic, method: Method::PlacedGd(PlacedGd::default()) };
    let request = Request::new(schema(), rows, neighbours, task);
    Request { budget: Some(Budget::new(1.0, 1e-6).unwrap()), ..request }
}

/// Skewed incomes that decide, in the lowest hundredth of their bounds.
fn skewed(rows: usize, seed: u64) -> Vec<(f64, Option<f64>, usize, bool)> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut uniform = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 11) as f64 / (1_u64 << 53) as f64
    };
    (0..rows)
        .map(|_| {
            let income = 60.0 * uniform() * uniform();
            let age = (uniform() > 0.1).then(|| 100.0 * uniform());
            let (ward, luck) = ((3.0 * uniform()) as usize, uniform());
            let likely = if (6.0..20.0).contains(&income) { 0.9 } else { 0.1 };
            (income, age, ward, luck < likely)
        })
        .collect()
}

fn any_row() -> impl Strategy<Value = (f64, Option<f64>, usize, bool)> {
    let income = prop_oneof![Just(0.0), Just(1000.0), Just(1e300), -10.0..2000.0_f64];
    (income, prop::option::of(-1.0..101.0_f64), 0..3_usize, any::<bool>())
}

fn any_knots(hats: usize) -> impl Strategy<Value = Vec<u16>> {
    prop::collection::btree_set(1..240_u16, hats - 2)
        .prop_map(|inner| [0].into_iter().chain(inner).chain([240]).collect())
}

/// The image of a sum over a table, in its own unit.
fn image_of(data: &Dataset, query: &Exact, unit: f64, image: &LinearImage) -> Vec<f64> {
    let labels = Labels::Signed { weights: vec![] }.of(&data.target).unwrap();
    let rows = InMemory::new(&data.features, &labels).unwrap();
    let sum = match query {
        Exact::LevelCounts(counts) => rows.sum(counts).unwrap(),
        Exact::LevelGradient(gradient) => rows.sum(gradient).unwrap(),
        _ => unreachable!("no other sum is asked for"),
    };
    let unit = unit / f64::powi(2.0, image.bits as i32);
    image.of(sum.units().unwrap()).unwrap().iter().map(|x| *x as f64 * unit).collect()
}

fn distance(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    /// Under any knots, mean and point, those that no run could reach included.
    #[test]
    fn neighbours_move_every_sum_within_its_bound(
        rows in prop::collection::vec(any_row(), 3..12), own in prop::collection::vec(any_row(), 3),
        others in prop::collection::vec(any_row(), 3), records in 1..=3_usize, exchanged in any::<bool>(),
        knots in (any_knots(4), any_knots(4)), size in prop::sample::select(vec![0.0, 1.0, 40.0, 1e6]),
        near in any::<bool>(), seed in any::<u64>(),
    ) {
        let neighbours = if exchanged { Neighbours::ReplaceOne } else { Neighbours::AddRemove };
        let unit = Unit::User { max_records: records as u32 };
        let facts = Facts { unit, ..Facts::of(&settled(&request(1000, neighbours))).unwrap() };
        let layout = Layout::of(&facts.levels, 4).unwrap();
        let with = [&rows[..], &own[..records]].concat();
        let without = if exchanged { [&rows[..], &others[..records]].concat() } else { rows };
        let (with, without) = (table(&with), table(&without));
        let moved = |query: &Exact, unit: f64, image: &LinearImage| {
            distance(&image_of(&with, query, unit, image), &image_of(&without, query, unit, image))
        };
        let [of_cells, of_sum, of_sizes, of_step] = sensitivities(&facts);
        let counts = Exact::LevelCounts(LevelCounts { runs: layout.runs() });
        let cells = moved(&counts, 1.0, &layout.cells(placement::block, BLOCKS));
        prop_assert!(cells <= of_cells, "{cells}");
        let sizes = distance(&sizes(&with), &sizes(&without));
        prop_assert!(sizes <= of_sizes, "{sizes}");
        let features = layout.map(&[knots.0, knots.1]);
        let sum = moved(&counts, 1.0, &features.sums());
        prop_assert!(sum <= of_sum, "{sum}");
        let mut state = seed;
        let mut next = || {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (state >> 33) as f64 / (1_u64 << 30) as f64 - 1.0
        };
        let mean: Vec<f64> = match near {
            // A mean on a row makes that row's direction a matter of its last bits.
            true => image_of(&with, &counts, 1.0, &features.sums()).iter().map(|x| x / with.rows() as f64).collect(),
            false => (0..features.count).map(|_| next()).collect(),
        };
        let mean = Features::on_grid(&mean);
        let theta: Vec<f64> = (0..features.count).map(|_| size * next()).collect();
        let gradient = LevelGradient {
            runs: layout.runs(),
            loss: Loss::Logistic,
            scores: features.scores(&theta),
            taken: mean.iter().zip(&theta).map(|(m, t)| m * t).sum(),
            constant: size * next(),
            lengths: features.lengths(&mean),
            centre: squares(&mean),
            reach: layout.radius(),
            slope: SLOPE,
        };
        let (unit, image) = (gradient.unit(), features.gradients(&mean, beside(&layout)));
        let step = moved(&Exact::LevelGradient(gradient), unit, &image);
        prop_assert!(step <= of_step, "{step}");
    }
}

/// The sensitivities that a plan charges, stage by stage.
fn sensitivities(facts: &Facts) -> [f64; 4] {
    let budget = Budget::new(8.0, 1e-6).unwrap();
    let options = PlacedGd { knots: Some(4), ..PlacedGd::default() };
    let facts = Facts { rows: 10_000, ..facts.clone() };
    let decision = super::plan(&facts, &Allowance::new(budget, &[]), Calibration::Sound, &options);
    let Event::All(stages) = decision.unwrap().procedure.event().unwrap() else { panic!("stages") };
    let of = |event: &Event| match event {
        Event::Use { cost: account::Cost::Gaussian { sensitivity, .. }, .. } => *sensitivity,
        _ => panic!("a Gaussian"),
    };
    let each = stages.iter().map(|stage| match stage {
        Event::Repeat { event, .. } => of(event),
        one => of(one),
    });
    each.collect::<Vec<_>>().try_into().expect("four stages")
}

/// The records of each class.
fn sizes(data: &Dataset) -> Vec<f64> {
    let labels = Labels::Joint { classes: 2 }.of(&data.target).unwrap();
    let marker = data.features.columns() - 1;
    let rows = InMemory::new(&data.features, &labels).unwrap();
    let sum = rows.sum(&Occupied::Classes { count: 2, marker }).unwrap();
    sum.units().unwrap().iter().map(|count| *count as f64).collect()
}

/// With half of any stage's constant this fails: one record exchanged for another moves each sum by most of
/// its charge.
#[test]
fn a_record_can_move_every_count_by_most_of_its_bound() {
    let facts = Facts::of(&settled(&request(2, Neighbours::ReplaceOne))).unwrap();
    let [of_cells, of_sum, of_sizes, _] = sensitivities(&facts);
    let layout = Layout::of(&facts.levels, 4).unwrap();
    let features = layout.map(&[placement::even(241, 4), placement::even(241, 4)]);
    let counts = Exact::LevelCounts(LevelCounts { runs: layout.runs() });
    let [one, other] =
        [(0.0, Some(0.0), 0, false), (1000.0, Some(100.0), 1, true)].map(|row| table(&[row]));
    let moved = |image: &LinearImage| {
        distance(&image_of(&one, &counts, 1.0, image), &image_of(&other, &counts, 1.0, image))
    };
    let cells = moved(&layout.cells(placement::block, BLOCKS)) / of_cells;
    let sum = moved(&features.sums()) / of_sum;
    let sizes = distance(&sizes(&one), &sizes(&other)) / of_sizes;
    assert!((0.99..=1.0).contains(&cells), "{cells}");
    assert!((0.8..=1.0).contains(&sum), "{sum}");
    assert!((0.99..=1.0).contains(&sizes), "{sizes}");
}

/// The request with its encoding decided.
fn settled(request: &Request) -> Request {
    Request { schema: super::super::auto::levels(&request.schema), ..request.clone() }
}

fn planned(rows: u64, neighbours: Neighbours) -> Plan {
    plan(&request(rows, neighbours)).unwrap()
}

/// With half the constant this fails: two records on either side of the mean move a step by the whole
/// charge.
#[test]
fn a_record_can_move_a_step_by_nearly_its_bound() {
    let facts = Facts::of(&settled(&request(2, Neighbours::ReplaceOne))).unwrap();
    let layout = Layout::of(&facts.levels, 4).unwrap();
    let features = layout.map(&[placement::even(241, 4), placement::even(241, 4)]);
    let mean = vec![0.0; features.count];
    let gradient = LevelGradient {
        runs: layout.runs(),
        loss: Loss::Logistic,
        scores: features.scores(&vec![0.0; features.count]),
        taken: 0.0,
        constant: 0.0,
        lengths: features.lengths(&vec![0.0; features.count]),
        centre: 0.0,
        reach: layout.radius(),
        slope: SLOPE,
    };
    let (unit, image) = (gradient.unit(), features.gradients(&mean, beside(&layout)));
    let of = |yes: bool| {
        image_of(
            &table(&[(0.0, Some(0.0), 0, yes)]),
            &Exact::LevelGradient(gradient.clone()),
            unit,
            &image,
        )
    };
    let moved = distance(&of(true), &of(false))
        / facts.relation().shift(SLOPE * of_features(&facts, &layout).radius);
    assert!((0.99..=1.0).contains(&moved), "{moved}");
}

/// Everything that is charged makes one Gaussian mechanism of the budget's multiplier, and no less noise.
#[test]
fn all_stages_together_are_the_gaussian_floor() {
    for neighbours in [Neighbours::AddRemove, Neighbours::ReplaceOne] {
        let planned = planned(5000, neighbours);
        let Some(Event::All(stages)) = planned.events() else { panic!("four stages") };
        assert_eq!(stages.len(), 4);
        let square = |event: &Event| match event {
            Event::Use {
                cost: account::Cost::Gaussian { noise_scale, sensitivity, .. }, ..
            } => (sensitivity / noise_scale).powi(2),
            _ => panic!("a Gaussian"),
        };
        let shares: Vec<f64> = stages
            .iter()
            .map(|stage| match stage {
                Event::Repeat { count, event } => f64::from(*count) * square(event),
                one => square(one),
            })
            .collect();
        let all: f64 = shares.iter().sum();
        let whole = all.sqrt() / account::gaussian::mu(1.0, 1e-6);
        assert!((1.0 - 1e-6..1.0 + 1e-9).contains(&whole), "{whole}");
        for (share, expected) in shares.iter().zip(SHARES) {
            assert!((share / all - expected).abs() < 1e-6, "{share} {expected}");
        }
    }
}

/// The model of one seed, from rows in memory or behind the sums of another back end.
fn model(planned: &Plan, table: &dyn Table) -> LinearWeights {
    let release = planned.run(table, &mut FixedSeed::new(3), &AtomicBool::new(false)).unwrap();
    release.value().clone()
}

/// Rows without a memory of their own, as files and other machines offer them.
struct Elsewhere<'a>(&'a Dataset);

impl Table for Elsewhere<'_> {
    fn rows(&self) -> usize {
        self.0.rows()
    }
    fn columns(&self) -> usize {
        self.0.features.columns()
    }
    fn in_memory(&self) -> Option<&Dataset> {
        None
    }
    fn visit(
        &self,
        see: &mut dyn FnMut(&Dataset) -> Result<(), privet_optim::sum::RecordsError>,
    ) -> Result<(), privet_optim::sum::RecordsError> {
        see(self.0)
    }
    fn rows_at(&self, places: &[usize]) -> Result<Dataset, privet_optim::sum::RecordsError> {
        self.0.rows_at(places)
    }
    fn problem(
        &self,
        labels: &Labels,
    ) -> Result<Box<dyn privet_optim::sum::Records + '_>, privet_optim::sum::RecordsError> {
        self.0.problem(labels)
    }
}

#[test]
fn bytes_in_memory_and_rows_elsewhere_give_the_same_model() {
    let data = table(&skewed(3000, 1));
    let planned = planned(3000, Neighbours::ReplaceOne);
    assert_eq!(model(&planned, &data), model(&planned, &Elsewhere(&data)));
}

/// What no run can release is refused, and nothing is said of its noise.
#[test]
fn what_no_run_can_release_is_refused() {
    let data = table(&skewed(3000, 1));
    let planned = planned(3000, Neighbours::AddRemove);
    let asked = settled(&request(3000, Neighbours::AddRemove));
    let (facts, noise) = (Facts::of(&asked).unwrap(), Vec::new());
    let allowance = Allowance::new(asked.budget.unwrap(), &noise);
    let decision = super::plan(&facts, &allowance, Calibration::Sound, &PlacedGd::default());
    let procedure = decision.unwrap().procedure;
    let found = model(&planned, &data);
    assert_eq!(procedure.refuses(&found), None);
    assert!(planned.sum_noise(&found).is_some_and(|noise| noise(&[(1, 1.0)]) > 0.0));
    let changes: [fn(&mut LinearWeights); 9] = [
        |found| found.placed.as_mut().unwrap().knots[0] = vec![],
        |found| found.placed.as_mut().unwrap().knots[0].swap(0, 1),
        |found| found.placed.as_mut().unwrap().knots.push(vec![0, 240]),
        |found| found.placed.as_mut().unwrap().mean[0] += 1e-9,
        |found| found.placed.as_mut().unwrap().mean[0] = 64.0,
        |found| found.placed.as_mut().unwrap().scale = 1e-300,
        |found| found.weights[0][0] = 1.0,
        |found| found.weights[0][1] = 1e30,
        |found| *found.weights[0].last_mut().unwrap() = 1e30,
    ];
    for (place, change) in changes.into_iter().enumerate() {
        let mut other = found.clone();
        change(&mut other);
        assert!(procedure.refuses(&other).is_some(), "{place}");
        if other.weights == found.weights {
            assert!(planned.sum_noise(&other).is_none(), "{place}");
        }
    }
}

#[test]
fn it_sees_what_even_knots_do_not() {
    let (training, test) = (table(&skewed(6000, 1)), skewed(4000, 2));
    let request = request(6000, Neighbours::AddRemove);
    let planned = plan(&request).unwrap();
    let found = model(&planned, &training);
    let knots = found.placed.clone().unwrap().knots;
    assert!(knots[0].iter().filter(|knot| **knot <= 15).count() >= 3, "{knots:?}");
    let codes = table(&test);
    let model = crate::linear::model::RowScores::new(&found, 1.0);
    let right = |row: usize| (model.of(&codes.features, row)[0] > 0.0) == test[row].3;
    let share = (0..test.len()).filter(|row| right(*row)).count() as f64 / test.len() as f64;
    assert!(share > 0.85, "{share}");
}

#[test]
fn the_intercept_is_that_of_clipped_slopes() {
    assert_eq!(intercept(&[50.0, 50.0], &[]), 0.0);
    // e^u = 0.9/(½·0.1) − 1 = 17.
    assert!((intercept(&[10.0, 90.0], &[]) - 17_f64.ln()).abs() < 1e-12);
    assert!((intercept(&[90.0, 10.0], &[]) + 17_f64.ln()).abs() < 1e-12);
    assert_eq!(intercept(&[90.0, 10.0], &[1.0 / 9.0, 1.0]), 0.0);
    for odd in [f64::NAN, f64::INFINITY, -1e9] {
        assert!(intercept(&[odd, 3.0], &[]).is_finite());
    }
}

#[test]
fn what_is_not_covered_is_refused_in_words() {
    let words = |request: Request| plan(&request).unwrap_err().to_string();
    let plain = request(1000, Neighbours::AddRemove);
    assert!(words(Request { schema: schema().linear(), ..plain.clone() }).contains("left open"));
    let pure = Some(Budget::new(1.0, 0.0).unwrap());
    assert!(words(Request { budget: pure, ..plain.clone() }).contains("delta above 0"));
    let squared = crate::Erm { loss: Loss::SQUARED, ..plain.task.clone() };
    assert!(words(Request { task: squared, ..plain }).contains("logistic"));
}
