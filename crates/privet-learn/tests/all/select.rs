//! Selecting columns: accuracy, sensitivity of scores, and refusals.

use crate::common::{RELATIONS, uniform};
use privet_core::Neighbours;
use privet_data::matrix::{DenseMatrix, Matrix};
use privet_data::{Dataset, Schema, Target, read};
use privet_dp::account::{Cost, Event};
use privet_dp::gate::seal;
use privet_dp::noise::{FixedSeed, Source, SystemRandom};
use privet_learn::file::{Seal, from_json, to_json};
use privet_learn::selection::exponential::SetScores;
use privet_learn::selection::{SELECTORS, Select, Selector, Support};
use privet_learn::{Plan, Released, Request, Task, plan, verify};
use serde_json::{Value, json};
use std::sync::atomic::AtomicBool;

const COLUMNS: usize = 12;

fn schema(target: &str, more: &str) -> Schema {
    let mut text = format!(
        "bias = true\n[clip]\nnorm = \"l2\"\nradius = 1.0\n[target]\ncolumn = \"y\"\n{target}\n{more}"
    );
    for column in 0..COLUMNS {
        text += &format!(
            "[[columns]]\nname = \"x{column}\"\ntype = \"number\"\nbounds = [-1, 1]\nscale = \
             \"symmetric\"\n"
        );
    }
    Schema::from_toml(&text).unwrap()
}

const CLASSES: &str = "classes = [\"no\", \"yes\"]";
const THREE: &str = "classes = [\"no\", \"yes\", \"perhaps\"]";
const NUMBER: &str = "bounds = [-2, 2]";

/// Rows whose target is x3 − x8 with noise.
fn table(rows: usize, target: &str, seed: u64) -> Dataset {
    read::csv_bytes(&text(rows, target, seed), &schema(target, "")).unwrap()
}

fn text(rows: usize, target: &str, seed: u64) -> Vec<u8> {
    let mut source = FixedSeed::new(seed);
    let names: Vec<_> = (0..COLUMNS).map(|column| format!("x{column}")).collect();
    let mut text = format!("{},y\n", names.join(","));
    for _ in 0..rows {
        let row: Vec<f64> = (0..COLUMNS).map(|_| uniform(&mut source)).collect();
        let cells: Vec<_> = row.iter().map(f64::to_string).collect();
        let score = row[3] - row[8] + 0.2 * uniform(&mut source);
        let label = match target {
            NUMBER => score.clamp(-2.0, 2.0).to_string(),
            THREE if score.abs() < 0.3 => "perhaps".into(),
            _ if score > 0.0 => "yes".into(),
            _ => "no".into(),
        };
        text += &format!("{},{label}\n", cells.join(","));
    }
    text.into_bytes()
}

fn request(
    method: &str,
    settings: &[(&str, &str)],
    (size, rows): (u32, usize),
    target: &str,
    (epsilon, delta): (f64, f64),
) -> Request<Select> {
    let set =
        |selector: Selector, (name, value): &(&str, &str)| selector.with(name, value).unwrap();
    let method = settings.iter().fold(method.parse::<Selector>().unwrap(), set);
    let task = Select { size, method };
    let facts = (&schema(target, ""), rows as u64, Neighbours::ReplaceOne);
    task.request(facts.0, facts.1, facts.2, (epsilon, Some(delta))).unwrap()
}

fn run(plan: &Plan<Select>, data: &Dataset, source: &mut dyn Source) -> Support {
    plan.run(data, source, &AtomicBool::new(false)).unwrap().into_parts().0
}

fn refusal(request: &Request<Select>) -> String {
    plan(request).err().unwrap_or_else(|| panic!("{:?} is planned", request.task)).to_string()
}

/// Method, settings, target, rows and ε.
type Found = (&'static str, &'static [(&'static str, &'static str)], &'static str, usize, f64);

/// The two columns that matter, by every selector and for every kind of target that it takes.
#[test]
fn the_columns_that_matter_are_found() {
    let cases: [Found; 9] = [
        ("correlation", &[], CLASSES, 3000, 1.0),
        ("correlation", &[], NUMBER, 3000, 1.0),
        ("correlation", &[("association", "products")], CLASSES, 3000, 1.0),
        ("correlation", &[("association", "products")], NUMBER, 6000, 2.0),
        ("correlation", &[], THREE, 6000, 4.0),
        ("exponential", &[], CLASSES, 3000, 2.0),
        ("exponential", &[], NUMBER, 6000, 4.0),
        ("distance", &[], CLASSES, 8000, 2.0),
        ("subsample", &[("rate", "0.02")], CLASSES, 8000, 8.0),
    ];
    for (method, settings, target, rows, epsilon) in cases {
        let request = request(method, settings, (2, rows), target, (epsilon, 1e-6));
        let planned = plan(&request).unwrap();
        let actual = run(&planned, &table(rows, target, 1), &mut FixedSeed::new(11));
        assert_eq!(actual.columns, Some(vec![3, 8]), "{method} {settings:?} {target}");
        let names = actual.names(&request.schema).unwrap();
        assert_eq!(names, ["x3", "x8"]);
    }
}

/// Enough rows for the LASSO's support to be stable for sure: the number that the plan states.
#[test]
fn the_lasso_is_stable_with_the_rows_that_its_plan_asks_for() {
    let asked = |rows: usize| {
        let schema = schema("bounds = [-4, 4]", "").to_toml();
        let schema = schema.replace("norm = \"l2\"", "norm = \"linf\"");
        let method: Selector = "lasso-stability".parse().unwrap();
        let task = Select { size: 2, method };
        let schema = Schema::from_toml(&schema).unwrap();
        let facts = (rows as u64, Neighbours::ReplaceOne, (4.0, Some(1e-6)));
        task.request(&schema, facts.0, facts.1, facts.2).unwrap()
    };
    let needed = plan(&asked(500)).unwrap().settings().get("rows_needed").unwrap() as usize;
    assert!((500..20_000).contains(&needed), "{needed}");
    let asked = asked(needed);
    let data = read::csv_bytes(&text(needed, NUMBER, 1), &asked.schema).unwrap();
    let actual = run(&plan(&asked).unwrap(), &data, &mut FixedSeed::new(11));
    assert_eq!(actual.columns, Some(vec![3, 8]), "{needed}");
}

/// With a negligible budget the choice is left to chance, and the votes release nothing.
#[test]
fn without_budget_nothing_is_learned() {
    let data = table(500, CLASSES, 2);
    let asked = request("correlation", &[], (1, 500), CLASSES, (1e-4, 1e-9));
    let planned = plan(&asked).unwrap();
    let found: Vec<_> =
        (0..60).map(|seed| run(&planned, &data, &mut FixedSeed::new(seed)).columns).collect();
    let different: std::collections::BTreeSet<_> = found.into_iter().collect();
    assert!(different.len() > 5, "{different:?}");
    for (method, target) in
        [("distance", CLASSES), ("subsample", CLASSES), ("lasso-stability", NUMBER)]
    {
        let data = table(500, target, 2);
        let planned = plan(&request(method, &[], (2, 500), target, (0.1, 1e-6))).unwrap();
        let found = run(&planned, &data, &mut FixedSeed::new(1));
        assert_eq!(found, Support { columns: None }, "{method}");
    }
}

/// Nothing chosen is a release like any other: written, read and verified, and it claims what it cost.
#[test]
fn nothing_chosen_is_released_and_charged() {
    let request = request("distance", &[], (2, 300), CLASSES, (0.1, 1e-12));
    let release = plan(&request)
        .unwrap()
        .run(&table(300, CLASSES, 3), &mut SystemRandom::new().unwrap(), &AtomicBool::new(false))
        .unwrap();
    let text = to_json(&Released::<Select>::from_release(release).unwrap(), None).unwrap();
    let read: Released<Select> = from_json(text.as_bytes(), Seal::Required).unwrap();
    let verdict = verify(&read);
    assert!(verdict.valid, "{:?}", verdict.checks);
    let claimed = verdict.guarantee.unwrap();
    assert_eq!((claimed.epsilon, claimed.delta), (0.1, 1e-12));
    assert!(verdict.notes.iter().any(|note| note.contains("spends the budget")));
    assert_eq!(read.artefact().columns, None);
}

/// A choice that always names columns cannot have chosen none.
#[test]
fn none_chosen_is_found_out_where_that_cannot_be() {
    let data = table(200, CLASSES, 6);
    for method in ["correlation", "exponential"] {
        let planned = plan(&request(method, &[], (2, 200), CLASSES, (1.0, 1e-6))).unwrap();
        let release =
            planned.run(&data, &mut SystemRandom::new().unwrap(), &AtomicBool::new(false));
        let released = Released::<Select>::from_release(release.unwrap()).unwrap();
        assert!(holds(&released, |_| {}), "{method}");
        let lies: [fn(&mut Value); 4] = [
            |file| file["body"]["columns"] = Value::Null,
            |file| file["body"]["columns"] = json!([3, 3]),
            |file| file["body"]["columns"] = json!([3, 12]),
            |file| file["certificate"]["request"]["size"] = json!(3),
        ];
        for (number, lie) in lies.iter().enumerate() {
            assert!(!holds(&released, lie), "{method}, lie {number}");
        }
    }
}

/// True if it verifies, written with a change, sealed anew and read; false if it cannot be read.
fn holds(released: &Released<Select>, change: impl Fn(&mut Value)) -> bool {
    let mut document: Value = serde_json::from_str(&to_json(released, None).unwrap()).unwrap();
    change(&mut document);
    let text = seal::seal_document(document, None).unwrap().to_string();
    let read = from_json::<Select>(text.as_bytes(), Seal::Required);
    read.is_ok_and(|read| verify(&read).valid)
}

/// Both other elections: the commonest category, and the column whose sign errs least.
#[test]
fn one_column_wins_by_mode_and_by_errors() {
    let text = "[clip]\nnorm = \"l2\"\nradius = 1.0\n[target]\ncolumn = \"ill\"\nclasses = [\"no\", \"yes\"]\n\
         [[columns]]\nname = \"work\"\ntype = \"category\"\ncategories = [\"farm\", \"shop\", \"mine\"]\n";
    let schema = Schema::from_toml(text).unwrap();
    let rows: String = (0..300)
        .map(|row| {
            format!("{},{}\n", ["farm", "shop", "shop", "mine"][row % 4], ["no", "yes"][row % 2])
        })
        .collect();
    let data = read::csv_bytes(format!("work,ill\n{rows}").as_bytes(), &schema).unwrap();
    let select = |over: &str, neighbours| {
        let method = "distance".parse::<Selector>().unwrap().with("over", over).unwrap();
        let asked = Select { size: 1, method };
        plan(&asked.request(&schema, 300, neighbours, (1.0, Some(1e-6))).unwrap()).unwrap()
    };
    for neighbours in RELATIONS {
        let actual = run(&select("mode", neighbours), &data, &mut FixedSeed::new(1));
        assert_eq!(actual.columns, Some(vec![1]), "shop is the commonest");
        // A record a lead under add-remove, two under replace-one.
        let lead = select("mode", neighbours).settings().get("lead_needed").unwrap();
        let other = select("mode", Neighbours::AddRemove).settings().get("lead_needed").unwrap();
        let sides = if neighbours == Neighbours::ReplaceOne { 2.0 } else { 1.0 };
        assert_eq!(lead, sides * other);
    }
    let data = table(600, CLASSES, 9);
    let wide = request("distance", &[("over", "errors")], (1, 600), CLASSES, (2.0, 1e-6));
    let actual = run(&plan(&wide).unwrap(), &data, &mut FixedSeed::new(1));
    assert!(actual.columns.is_none_or(|columns| columns == [3] || columns == [8]));
}

/// Extreme and random rows and targets of one unit.
fn changed(data: &Dataset, rows: std::ops::Range<usize>, seed: u64) -> Dataset {
    let Matrix::Dense(dense) = &data.features else { panic!("not dense") };
    let (mut source, columns) = (FixedSeed::new(seed), dense.columns());
    let mut values = dense.values().to_vec();
    let mut target = data.target.clone();
    for row in rows {
        let place = &mut values[row * columns..(row + 1) * columns];
        match seed % 4 {
            0 => place.iter_mut().for_each(|x| *x = -*x),
            1 => place.fill(0.0),
            2 => {
                let at = source.below(columns as u64 - 1) as usize;
                place.fill(0.0);
                place[at] = 0.5;
            }
            _ => place.iter_mut().for_each(|x| *x = (0.1 * uniform(&mut source)) as f32),
        }
        match &mut target {
            Target::Class { codes, count } => codes[row] = (codes[row] + 1) % *count as u32,
            Target::Number(numbers) => numbers[row] = -numbers[row].signum(),
        }
    }
    let features = Matrix::Dense(DenseMatrix::new(values, data.rows(), columns));
    Dataset { features, target, ..data.clone() }
}

fn without(data: &Dataset, row: usize) -> Dataset {
    data.select(&(0..data.rows()).filter(|other| *other != row).collect::<Vec<_>>())
}

/// Scores of sets move within the interval that is charged, on random and extreme neighbours of both
/// relations.
#[test]
fn fits_of_sets_move_within_what_is_charged() {
    for (target, seed) in [(CLASSES, 4), (NUMBER, 5)] {
        let data = table(40, target, seed);
        for neighbours in RELATIONS {
            let mut request = request("exponential", &[], (2, 40), target, (1.0, 0.0));
            request.neighbours = neighbours;
            let facts = Select::facts(&request).unwrap();
            for ball in [0.3, 1.0, 8.0] {
                let fits = SetScores::new(&facts, 2, 0.3, Some(ball)).unwrap();
                let scores = |data: &Dataset| {
                    let labels = match &data.target {
                        Target::Number(numbers) => numbers.clone(),
                        classes => classes.signed().unwrap(),
                    };
                    fits.scores(data, &labels, (COLUMNS, 2), || true).unwrap().unwrap()
                };
                let before = scores(&data);
                let mut widest = 0;
                for change in 0..24 {
                    let other = match neighbours {
                        Neighbours::AddRemove => without(&data, change),
                        Neighbours::ReplaceOne | Neighbours::ReplaceLabel => {
                            changed(&data, change..change + 1, change as u64)
                        }
                    };
                    let moves: Vec<i64> =
                        scores(&other).iter().zip(&before).map(|(a, b)| a - b).collect();
                    let spread = moves.iter().max().unwrap() - moves.iter().min().unwrap();
                    widest = widest.max(spread);
                    assert!(spread as u64 <= fits.spread(&facts), "{neighbours} {ball} {change}");
                    if neighbours == Neighbours::AddRemove {
                        // All the same way, but for the tolerance.
                        assert!(moves.iter().all(|by| *by >= -2 * 65_536 / 64 - 2), "{moves:?}");
                    }
                }
                assert!(widest > 100, "{neighbours} {ball}: {widest}");
            }
        }
    }
}

/// Charges are those of the theorem for each relation, unit and association.
#[test]
fn charges_follow_relation_and_unit() {
    let range = |request: &Request<Select>| match plan(request).unwrap().events().unwrap() {
        Event::Repeat { count, event } => match &**event {
            Event::Use { cost: Cost::BoundedRange { range }, .. } => (*count, *range),
            other => panic!("{other:?}"),
        },
        other => panic!("{other:?}"),
    };
    let request = request("correlation", &[], (4, 1000), CLASSES, (1.0, 0.0));
    let (count, each) = range(&request);
    assert_eq!(count, 4);
    assert!((each - 0.25).abs() < 1e-6, "{each}");
    // Kendall's pairs need a public number of rows.
    let users = schema(CLASSES, "[unit]\ncolumn = \"who\"\nmax_records = 2\n");
    for (neighbours, schema) in
        [(Neighbours::AddRemove, request.schema.clone()), (Neighbours::ReplaceOne, users)]
    {
        let private = Request { neighbours, schema, ..request.clone() };
        let settled = plan(&private).unwrap().request().task.method;
        assert_eq!(serde_json::to_value(settled).unwrap()["association"], "products");
        let method = private.task.method.with("association", "kendall").unwrap();
        let refused = refusal(&Request { task: Select { size: 4, method }, ..private });
        assert!(refused.contains("association products"), "{refused}");
    }
}

/// Every refusal names accepted values, and nothing is read.
#[test]
fn what_cannot_be_asked_is_refused_in_words() {
    let ask = |method, settings: &[(&str, &str)], size, target, budget| {
        refusal(&request(method, settings, (size, 1000), target, budget))
    };
    let cases = [
        (ask("correlation", &[], 13, CLASSES, (1.0, 1e-6)), "13 columns are to be chosen of 12"),
        (ask("correlation", &[], 0, CLASSES, (1.0, 1e-6)), "size"),
        (ask("distance", &[], 2, CLASSES, (1.0, 0.0)), "give a delta above 0"),
        (ask("subsample", &[], 2, CLASSES, (1.0, 0.0)), "give a delta above 0"),
        (ask("distance", &[("over", "mode")], 2, CLASSES, (1.0, 1e-6)), "give size 1"),
        (ask("distance", &[("over", "errors")], 1, NUMBER, (1.0, 1e-6)), "two classes"),
        (ask("exponential", &[], 2, THREE, (1.0, 1e-6)), "correlation"),
        (ask("correlation", &[("clip", "0.5")], 2, CLASSES, (1.0, 1e-6)), "products"),
        (ask("subsample", &[("rate", "0.9")], 2, CLASSES, (1.0, 1e-6)), "rate"),
    ];
    for (said, words) in &cases {
        assert!(said.contains(words), "{said}");
    }
    let mut text =
        "[clip]\nnorm = \"l2\"\nradius = 1.0\n[target]\ncolumn = \"y\"\nbounds = [0, 1]\n"
            .to_string();
    for column in 0..300 {
        text +=
            &format!("[[columns]]\nname = \"x{column}\"\ntype = \"number\"\nbounds = [-1, 1]\n");
    }
    let wide = Schema::from_toml(&text).unwrap();
    let task = Select { size: 8, method: "exponential".parse().unwrap() };
    let said = refusal(&task.request(&wide, 1000, Neighbours::AddRemove, (1.0, None)).unwrap());
    assert!(said.contains("e15 sets") || said.contains("e14 sets"), "{said}");
    assert!(said.contains("hours"), "{said}");
    assert_eq!(SELECTORS.len(), 5);
}

/// No records, one class, empty chunks are facts of private rows: an answer or none, never an error.
#[test]
fn odd_tables_are_no_errors() {
    let data = table(60, CLASSES, 7);
    let mut one_class = data.clone();
    one_class.target = Target::Class { codes: vec![1; 60], count: 2 };
    let (numbers, mut constant) = (table(60, NUMBER, 7), table(60, NUMBER, 7));
    constant.target = Target::Number(vec![1.0; 60]);
    for info in SELECTORS {
        let lasso = info.name == "lasso-stability";
        let (target, rows) = if lasso { (NUMBER, 600) } else { (CLASSES, 60) };
        let (data, one_class) = if lasso { (&numbers, &constant) } else { (&data, &one_class) };
        let mut request = request(info.name, &[], (2, rows), target, (1.0, 1e-6));
        request.neighbours = Neighbours::AddRemove;
        let planned = plan(&request).unwrap();
        for data in [one_class, &data.select(&[]), &data.select(&[5]), data] {
            let actual = run(&planned, data, &mut FixedSeed::new(1));
            assert!(actual.columns.is_none_or(|columns| columns.len() == 2), "{}", info.name);
        }
    }
}

/// If the number of rows is private, pairs are counted among the first rows up to a declared cap; the
/// charge grows with the cap, and does not depend on the order or number of rows.
#[test]
fn pairs_are_counted_up_to_a_cap_where_rows_are_private() {
    let private = |settings: &[(&str, &str)]| {
        let mut asked = request("correlation", settings, (2, 6000), NUMBER, (2.0, 1e-6));
        asked.neighbours = Neighbours::AddRemove;
        asked
    };
    assert!(refusal(&private(&[("association", "kendall")])).contains("cap"));
    assert!(refusal(&private(&[("association", "products"), ("cap", "9")])).contains("cap"));
    let public = request("correlation", &[("cap", "100")], (2, 6000), NUMBER, (2.0, 1e-6));
    assert!(refusal(&public).contains("cap"));
    let planned = plan(&private(&[("cap", "6000")])).unwrap();
    let actual = run(&planned, &table(6500, NUMBER, 1), &mut FixedSeed::new(3));
    assert_eq!(actual.columns, Some(vec![3, 8]));
    let noise = |cap: &str| {
        plan(&private(&[("cap", cap)])).unwrap().settings().get("association_noise").unwrap()
    };
    assert!(noise("60000") > 5.0 * noise("6000"), "{} {}", noise("60000"), noise("6000"));
}

/// Any function of records: the answer of most parts is released, a panic is the fixed answer, and an
/// answer without agreement is not released.
#[test]
fn any_function_of_records_can_be_asked() {
    use privet_core::Unit;
    use privet_dp::gate::Session;
    use privet_dp::mechanism::Stability;
    use privet_learn::selection::black_box::{RandomParts, stable_answer};
    let data = table(2000, CLASSES, 4);
    let test = Stability {
        neighbours: Neighbours::AddRemove,
        unit: Unit::Record,
        noise_scale: 0.1,
        delta: 1e-6,
    };
    let ask = |function: &(dyn Fn(&Dataset) -> usize + Sync)| {
        let mut source = FixedSeed::new(5);
        let mut session = Session::start(test.event().unwrap(), &mut source);
        let parts = RandomParts { count: 400, rate: 0.02 };
        let actual = stable_answer((&data, Unit::Record), parts, function, 7, &mut session);
        let said = test.run(actual, &mut session).unwrap();
        let certain = privet_dp::gate::Statement {
            claim: privet_dp::account::guarantee(&test.event().unwrap(), 1e-5).unwrap(),
            arithmetic: privet_dp::gate::Arithmetic::Finite,
            notes: vec![],
            conditions: vec![],
            request: json!({}),
        };
        let said = said.map(|said: Option<usize>| said.map_or(-1.0, |said| said as f64));
        session.settle(said, certain).unwrap().into_parts().0
    };
    assert_eq!(ask(&|part| part.features.columns()), COLUMNS as f64 + 1.0);
    assert_eq!(ask(&|_| panic!("as asked")), 7.0);
    assert_eq!(ask(&|part| part.rows() % 23), -1.0);
}
