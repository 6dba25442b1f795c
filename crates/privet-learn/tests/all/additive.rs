//! Shape functions: their sum is the model's score, whatever the columns; their averages are 0; bands.

use crate::common::Case;
use privet_data::encode::{Axis, AxisKind, Cell, Encoding, Level, UnknownIn};
use privet_data::{Schema, read};
use privet_dp::noise::FixedSeed;
use privet_learn::linear::additive::{Scale, Shape, Shapes};
use privet_learn::linear::model::LinearWeights;
use privet_learn::{Request, plan};
use privet_optim::loss::Loss;
use proptest::prelude::*;

/// Columns of every kind.
const COLUMNS: &str = r#"
[file]
missing_values = ["?"]
[[columns]]
name = "plain"
type = "number"
bounds = [-3, 5]
[[columns]]
name = "bent"
type = "number"
bounds = [0, 100]
basis = { hats = 6 }
missing = "category"
[[columns]]
name = "log"
type = "number"
bounds = [0, 1000]
basis = { hats = 4, knots = "log", weight = 1.5 }
[[columns]]
name = "tail"
type = "number"
bounds = [2, 500]
transform = "log1p"
scale = "unit"
missing = 7
[[columns]]
name = "listed"
type = "number"
bounds = [0, 120]
basis = { knots = [10, 18, 65] }
[[columns]]
name = "hour"
type = "number"
bounds = [0, 24]
basis = { hats = 5, cyclic = true }
[[columns]]
name = "raw"
type = "number"
bounds = [-400, 0.5]
scale = "none"
[[columns]]
name = "work"
type = "category"
categories = ["office", "farm", "none"]
unknown = "other"
missing = "category"
[[columns]]
name = "colour"
type = "category"
categories = ["red", "green"]
[[columns]]
name = "town"
type = "category"
hash_buckets = 4
[[columns]]
name = "smokes"
type = "binary"
values = ["no", "yes"]
missing = "category"
[[pairs]]
columns = ["bent", "plain"]
hats = 3
[[pairs]]
columns = ["tail", "listed"]
hats = 4
weight = 0.5
[[pairs]]
columns = ["work", "bent"]
[[pairs]]
columns = ["colour", "log"]
"#;

/// Additive for every row: filled, clipped entry by entry, or longer than any row is.
const EXACT: [&str; 3] = [
    "norm = \"l2\"\nradius = 1.0\nrows = \"fill\"",
    "norm = \"linf\"\nradius = 0.75",
    "norm = \"l2\"\nradius = 1000.0",
];

const TARGETS: [&str; 3] =
    ["classes = [\"a\", \"b\"]", "classes = [\"a\", \"b\", \"c\"]", "bounds = [10, 30]"];

fn request(clip: &str, target: &str, bias: &str) -> Request {
    let head = format!("bias = {bias}\n[clip]\n{clip}\n[target]\ncolumn = \"y\"\n{target}\n");
    let schema = Schema::from_toml(&format!("{head}{COLUMNS}")).unwrap();
    let loss = if target.starts_with("bounds") { Loss::SQUARED } else { Loss::Logistic };
    Case::of("gd").schema(schema.linear()).rows(10_000).loss(loss).budget(1.0, 1e-6).request()
}

fn weights(request: &Request, seed: u64) -> LinearWeights {
    let encoding = Encoding::new(&request.schema);
    let problems = encoding.classes().filter(|count| *count > 2).unwrap_or(1);
    let mut source = FixedSeed::new(seed);
    let row =
        |_| (0..encoding.width()).map(|_| 4.0 * crate::common::uniform(&mut source)).collect();
    LinearWeights::of((0..problems).map(row).collect())
}

/// Position of a cell: a level, or a number.
#[derive(Debug, Clone)]
enum At {
    Level(Level),
    Number(f64),
}

/// The weight of each level at a cell: one level, or the two neighbours of a number.
fn shares(axis: &Axis, at: &At) -> Vec<(usize, f64)> {
    let value = match at {
        At::Level(level) => {
            let actual = axis.levels.iter().position(|own| own == level);
            return vec![(actual.unwrap_or_else(|| panic!("{level:?} in {axis:?}")), 1.0)];
        }
        At::Number(value) => *value,
    };
    let number = |level: &Level| match level {
        Level::At(value) => Some(*value),
        _ => None,
    };
    let grid: Vec<f64> = axis.levels.iter().filter_map(number).collect();
    let value = value.clamp(grid[0], grid[grid.len() - 1]);
    let right = grid.partition_point(|knot| *knot < value).max(1);
    let share = (value - grid[right - 1]) / (grid[right] - grid[right - 1]);
    vec![(right - 1, 1.0 - share), (right, share)]
}

/// Value of a shape at cells, by its points alone.
fn said(shape: &Shape, problem: usize, cells: &[(String, At)]) -> f64 {
    let at = |axis: &Axis| {
        let cell = cells.iter().find(|(name, _)| *name == axis.column).unwrap();
        shares(axis, &cell.1)
    };
    let width = shape.axes.last().unwrap().levels.len();
    let effects = &shape.effects[problem];
    match &shape.axes[..] {
        [axis] => at(axis).iter().map(|(place, share)| share * effects[*place]).sum(),
        [first, second] => at(first)
            .iter()
            .flat_map(|(i, a)| at(second).into_iter().map(move |(j, b)| (i * width + j, a * b)))
            .map(|(place, share)| share * effects[place])
            .sum(),
        _ => panic!("one or two axes"),
    }
}

/// A row: for each column a level that all its shapes know, or where they are straight any number.
fn row(shapes: &Shapes, picks: &[(f64, f64)]) -> Vec<(String, At)> {
    let own =
        shapes.shapes.iter().filter(|shape| shape.axes.len() == 1).map(|shape| &shape.axes[0]);
    own.zip(picks)
        .map(|(axis, (pick, between))| {
            let known = |level: &&Level| {
                let axes = shapes.shapes.iter().flat_map(|shape| &shape.axes);
                let mut same = axes.filter(|other| other.column == axis.column);
                same.all(|other| other.levels.contains(level))
            };
            // A level without a point in a pair is no level of its axis there.
            let levels: Vec<&Level> = axis.levels.iter().filter(known).collect();
            let level = levels[(pick * levels.len() as f64) as usize].clone();
            let at = match level {
                Level::At(value) if axis.kind == AxisKind::Straight => {
                    let Level::At(low) = axis.levels[0] else { panic!("a number") };
                    At::Number(value + between * (low - value))
                }
                level => At::Level(level),
            };
            (axis.column.clone(), at)
        })
        .collect()
}

/// The cell of a row's place, as text.
fn text(at: &At) -> String {
    match at {
        At::Number(value) | At::Level(Level::At(value)) => value.to_string(),
        At::Level(Level::Text(text)) => text.clone(),
        At::Level(Level::Missing) => "?".into(),
        At::Level(Level::Other | Level::Unlisted) => "elsewhere".into(),
        At::Level(Level::Bucket(bucket)) => format!("town {bucket}"),
    }
}

/// The row as it is scored, with the bucket that its town fell into put right.
fn encoded(request: &Request, cells: &mut [(String, At)]) -> Vec<(u32, f64)> {
    let encoding = Encoding::new(&request.schema);
    let names: Vec<&str> = request.schema.columns().iter().map(|c| c.name.as_str()).collect();
    let texts: Vec<String> = names
        .iter()
        .map(|name| text(&cells.iter().find(|(own, _)| own == name).unwrap().1))
        .collect();
    let mut rows = encoding.rows(UnknownIn::Prediction);
    let cell = |at: usize| match texts[at].as_str() {
        "?" => Cell::Missing,
        text => Cell::Text(text.as_bytes()),
    };
    let row = rows.encode(cell).unwrap().to_vec();
    let town = row.iter().find_map(|(column, _)| {
        encoding.column_name(*column as usize)?.strip_prefix("town#")?.parse().ok()
    });
    let town = At::Level(Level::Bucket(town.unwrap()));
    cells.iter_mut().filter(|(name, _)| name == "town").for_each(|cell| cell.1 = town.clone());
    row
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]
    /// The sum over columns and pairs, read off the released points, is the score; for a number the
    /// prediction; for classes fitted jointly the score less the mean of all.
    #[test]
    fn the_sum_is_the_score(
        clip in 0..3_usize,
        target in 0..3_usize,
        bias in prop::sample::select(vec!["true", "false", "0.5"]),
        seed in any::<u64>(),
        picks in prop::collection::vec((0.0..1.0_f64, 0.0..1.0_f64), 11),
    ) {
        let request = request(EXACT[clip], TARGETS[target], bias);
        let weights = weights(&request, seed);
        let noise = vec![0.1; weights.weights[0].len()];
        let shapes = Shapes::of(&request, &weights, Some(&noise));
        prop_assert!(shapes.exact);
        let mut cells = row(&shapes, &picks);
        let entries = encoded(&request, &mut cells);
        let of = |row: &Vec<f64>| entries.iter().map(|(at, x)| x * row[*at as usize]).sum::<f64>();
        let scores: Vec<f64> = weights.weights.iter().map(of).collect();
        // For classes fitted jointly the common part is left out.
        prop_assert_eq!(shapes.relative, target == 1);
        let common = if shapes.relative { scores.iter().sum::<f64>() / 3.0 } else { 0.0 };
        for (problem, score) in scores.iter().enumerate() {
            let score = score - common;
            // The target's bounds are 10 and 30.
            let expected = if target == 2 { 20.0 + 10.0 * score } else { score };
            let each = shapes.shapes.iter().map(|shape| said(shape, problem, &cells));
            let sum = shapes.intercept[problem] + each.sum::<f64>();
            // Some 30 entries, each times a weight below 4, are truncated to a grid of at most 2.4e-7
            // radii; where rows are filled they are single precision.
            let radius = request.schema.clip().radius;
            let unit = if target == 2 { 10.0 } else { 1.0 };
            let near = unit * (1e-5 + 3e-5 * radius);
            prop_assert!((sum - expected).abs() < near, "{sum} {expected} {cells:?}");
        }
    }
}

/// Averages over the levels, with the weights of the axes.
#[test]
fn every_shape_is_0_on_average() {
    for (clip, target) in EXACT.iter().zip(TARGETS) {
        let request = request(clip, target, "true");
        let shapes = Shapes::of(&request, &weights(&request, 3), None);
        for shape in &shapes.shapes {
            for effects in &shape.effects {
                let near = |sum: f64| assert!(sum.abs() < 1e-9, "{}: {sum}", shape.name());
                let Some(second) = shape.axes.get(1) else {
                    near(effects.iter().zip(&shape.axes[0].weights).map(|(e, w)| e * w).sum());
                    continue;
                };
                let width = second.levels.len();
                for row in effects.chunks(width) {
                    near(row.iter().zip(&second.weights).map(|(e, w)| e * w).sum());
                }
                for place in 0..width {
                    let column = effects.iter().skip(place).step_by(width);
                    near(column.zip(&shape.axes[0].weights).map(|(e, w)| e * w).sum());
                }
            }
        }
    }
}

/// For clipped rows the sum is that of the unclipped row.
#[test]
fn a_clipped_row_is_scaled_down() {
    let request = request("norm = \"l2\"\nradius = 1.0", TARGETS[0], "true");
    let weights = weights(&request, 5);
    let shapes = Shapes::of(&request, &weights, None);
    assert!(!shapes.exact);
    let mut cells = row(&shapes, &[(0.3, 0.4); 11]);
    let entries = encoded(&request, &mut cells);
    let score: f64 = entries.iter().map(|(at, x)| x * weights.weights[0][*at as usize]).sum();
    let each = shapes.shapes.iter().map(|shape| said(shape, 0, &cells));
    let sum = shapes.intercept[0] + each.sum::<f64>();
    assert!(score.abs() < sum.abs() && score * sum > 0.0, "{score} {sum}");
}

/// A model of the default rule, by its file's own request, against its own scores: the sum itself if
/// requested, otherwise its sign.
#[test]
fn a_model_of_the_default_is_additive() {
    for sums in [true, false] {
        the_default_is_additive(sums);
    }
}

fn the_default_is_additive(sums: bool) {
    let open = "[clip]\nnorm = \"l2\"\nradius = 1.0\n[target]\ncolumn = \"y\"\nclasses = [\"no\", \"yes\"]\n\
                [[columns]]\nname = \"a\"\ntype = \"number\"\nbounds = [-1, 1]\n\
                [[columns]]\nname = \"b\"\ntype = \"number\"\nbounds = [-1, 1]\n";
    let case =
        Case::of("auto").schema(Schema::from_toml(open).unwrap()).rows(3000).budget(2.0, 1e-6);
    let case = if sums { case.set("scores", "sum") } else { case };
    let plan = case.plan();
    let text = crate::common::csv(3000, 2, None, 4);
    let data = read::csv_bytes(text.as_bytes(), plan.schema()).unwrap();
    let model = case.model(&data);
    let shapes = model.shapes();
    assert!(shapes.exact && !shapes.divided && shapes.scale == Scale::Score);
    assert_eq!(shapes.classes, ["yes"]);
    let file = tempfile::NamedTempFile::with_suffix(".csv").unwrap();
    std::fs::write(file.path(), &text).unwrap();
    let features = read::read_features(file.path(), plan.schema(), &Default::default()).unwrap();
    let scores = model.scores(&features.matrix);
    for (line, score) in text.lines().skip(1).zip(scores) {
        let cells: Vec<&str> = line.split(',').collect();
        let number = |at: usize| At::Number(cells[at].parse().unwrap());
        let cells = [("a".to_string(), number(0)), ("b".to_string(), number(1))];
        let each = shapes.shapes.iter().map(|shape| said(shape, 0, &cells));
        let sum = shapes.intercept[0] + each.sum::<f64>();
        assert!((sum - score).abs() < 1e-4, "{sum} {score}");
    }
    // The label is the sign of 2a − b: the first column's effect exceeds its noise, and increases.
    let a = &shapes.shapes[0];
    assert!(a.beyond() > 0.0 && a.effects[0][0] < 0.0 && *a.effects[0].last().unwrap() > 0.0);
}

/// Bands are given exactly where the distribution of the noise is known.
#[test]
fn bands_are_given_where_they_are_known() {
    for (method, known) in [
        ("gd", true),
        ("sgd", true),
        ("centred-gd", true),
        ("psgd", true),
        ("output", true),
        ("amp", false),
        ("objective", false),
        ("frank-wolfe", false),
        ("sample-aggregate", false),
    ] {
        let request = Case::of(method)
            .schema(crate::common::schema(2))
            .rows(5000)
            .budget(1.0, 1e-6)
            .request();
        let noise = plan(&request).unwrap().weight_noise();
        assert_eq!(noise.is_some_and(|noise| noise > 0.0), known, "{method}: {noise:?}");
    }
    let request = Case::of("ssp").schema(crate::common::schema(1)).rows(5000).loss(Loss::SQUARED);
    assert_eq!(plan(&request.budget(1.0, 1e-6).request()).unwrap().weight_noise(), None);
}

/// The spread of the weights of 400 models on the same table, none of which has any curvature, since all
/// rows are null: what is released is the noise. A sum of 1,200 squares of standard normals is beyond
/// 1.6 times its mean, or below 0.55, with probability below 1e-15 (Laurent & Massart 2000).
#[test]
fn the_bound_is_the_spread_where_nothing_is_learnt() {
    let text = crate::common::csv(300, 2, None, 4);
    let zero =
        text.replace("yes", "nobody").replace("no,", "nobody,").replace(",no\n", ",nobody\n");
    let schema = crate::common::SCHEMA.replace("bias = true", "bias = true\ninvalid = \"drop\"");
    let schema = Schema::from_toml(&schema).unwrap().linear();
    let data = read::csv_bytes(zero.as_bytes(), &schema).unwrap();
    let case = Case::of("gd").schema(schema).rows(300).budget(1.0, 1e-6);
    let bound = case.plan().weight_noise().unwrap();
    let squares: Vec<f64> = (0..400)
        .flat_map(|_| case.model(&data).weights().weights[0].clone())
        .map(|weight| (weight / bound).powi(2))
        .collect();
    assert_eq!(squares.len(), 1200);
    let mean = squares.iter().sum::<f64>() / 1200.0;
    assert!((0.55..1.6).contains(&mean), "{mean}");
}
