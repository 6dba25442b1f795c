//! Bases of numbers and pairs of columns: their entries in a row, alone and among other rows.

use privet_data::encode::{Cell, Encoding, UnknownIn};
use privet_data::schema::{Basis, BasisChoice, ColumnKind, Draft, Rows};
use privet_data::{Schema, read::memory};
use proptest::prelude::*;

const OPEN: &str = r#"
[clip]
norm = "l2"
radius = 1.0
[target]
column = "y"
classes = ["no", "yes"]
[[columns]]
name = "age"
type = "number"
bounds = [0, 100]
[[columns]]
name = "hour"
type = "number"
bounds = [0, 24]
basis = { hats = 6, cyclic = true }
[[columns]]
name = "ward"
type = "category"
categories = ["a", "b", "c"]
unknown = "other"
[[columns]]
name = "income"
type = "number"
bounds = [0, 1000]
transform = "log1p"
"#;

const CHOICE: BasisChoice =
    BasisChoice { hats: 5, pair_hats: 3, bias: 1.0, rows: Rows::Fill, whole: false };

fn open() -> Schema {
    Schema::from_toml(OPEN).unwrap()
}

fn row(encoding: &Encoding, cells: [f64; 3], ward: &str, purpose: UnknownIn) -> Vec<(u32, f64)> {
    let cell = |source: usize| match source {
        0 => Cell::Number(cells[0]),
        1 => Cell::Number(cells[1]),
        2 => Cell::Text(ward.as_bytes()),
        _ => Cell::Number(cells[2]),
    };
    encoding.rows(purpose).encode(cell).unwrap().to_vec()
}

#[test]
fn a_file_leaves_open_what_it_does_not_say_and_a_request_nothing() {
    let schema = open();
    assert!(schema.is_open() && schema.open_count() == 2, "age and income; hour has a basis");
    assert_eq!(schema.bias(), None);
    let said = OPEN.replace("bounds = [0, 100]", "bounds = [0, 100]\nscale = \"unit\"");
    assert_eq!(Schema::from_toml(&said).unwrap().open_count(), 1, "a declared scale is a choice");
    let draft: Draft = toml_of(OPEN);
    let closed = draft.check().unwrap();
    assert!(!closed.is_open(), "as JSON without bases is read");
    let mut all_linear = closed.columns().iter().filter(|column| column.name != "hour");
    assert!(all_linear.all(|column| match &column.kind {
        ColumnKind::Number { basis, .. } => *basis == Basis::Linear,
        _ => true,
    }));
    for schema in [schema.clone(), schema.linear(), schema.with_bases(&CHOICE), closed] {
        assert_eq!(Schema::from_toml(&schema.to_toml()).unwrap(), schema, "it can be written down");
        let json = serde_json::to_string(&schema).unwrap();
        assert_eq!(serde_json::from_str::<Schema>(&json).unwrap(), schema);
    }
}

fn toml_of(text: &str) -> Draft {
    let json: serde_json::Value = toml::from_str(text).unwrap();
    serde_json::from_value(json).unwrap()
}

#[test]
fn what_was_left_open_is_decided_and_what_was_said_stays() {
    let schema = open().with_bases(&CHOICE);
    assert!(!schema.is_open());
    assert_eq!(schema.bias(), Some(1.0));
    assert_eq!(schema.clip().rows, Rows::Fill);
    assert_eq!(schema.pairs().len(), 1, "the two open numbers");
    let names = Encoding::new(&schema).column_names();
    let own: Vec<&str> = names.iter().map(String::as_str).take(6).collect();
    assert_eq!(own, ["age", "age@0", "age@25", "age@50", "age@75", "age@100"]);
    assert!(names.contains(&"hour@4".into()) && !names.contains(&"hour".into()), "on a circle");
    assert!(names.contains(&"age@50×income@30.64".into()), "{names:?}");
    assert_eq!(names.iter().collect::<std::collections::BTreeSet<_>>().len(), names.len());
    assert_eq!(names.len(), 6 + 6 + 4 + 6 + 9 + 1);
    let again = schema.with_bases(&BasisChoice { hats: 9, ..CHOICE });
    assert_eq!(again, schema, "nothing is open any more");
}

/// A radius that no row exceeds is written, and reads back unchanged; rows declared as filled stay so.
#[test]
fn whole_rows_are_not_clipped() {
    let whole = BasisChoice { whole: true, rows: Rows::Clip, ..CHOICE };
    let schema = open().with_bases(&whole);
    let encoding = Encoding::new(&schema);
    assert!(encoding.is_whole() && schema.clip().rows == Rows::Clip);
    assert!(encoding.l2_radius() <= schema.clip().radius);
    let json = serde_json::to_string(&schema).unwrap();
    assert_eq!(serde_json::from_str::<Schema>(&json).unwrap(), schema);
    let filled = OPEN.replace("norm = \"l2\"", "norm = \"l2\"\nrows = \"fill\"");
    let filled = Schema::from_toml(&filled).unwrap().with_bases(&whole);
    assert!(filled.clip().rows == Rows::Fill && !Encoding::new(&filled).is_whole());
}

#[test]
fn a_category_has_a_slope_of_its_own() {
    let text = format!("{OPEN}[[pairs]]\ncolumns = [\"age\", \"ward\"]\nweight = 0.5\n");
    let encoding = Encoding::new(&Schema::from_toml(&text).unwrap().linear());
    let names = encoding.column_names();
    let at = names.iter().position(|name| name == "ward=b×age").unwrap() as u32;
    for (age, share) in [(0.0, -1.0), (50.0, 0.0), (100.0, 1.0), (80.0, 0.6)] {
        let row = row(&encoding, [age, 0.0, 0.0], "b", UnknownIn::Training);
        let own = row.iter().find(|(column, _)| *column == at).map_or(0.0, |(_, value)| *value);
        let ward = row.iter().find(|(c, _)| names[*c as usize] == "ward=b").unwrap().1;
        assert!((own - 0.5 * share * ward).abs() < 1e-6, "{age}: {own} {ward}");
    }
}

proptest! {
    /// The learners' bound R holds for filled rows too, and they attain it.
    #[test]
    fn a_filled_row_has_the_radius(
        age in any::<f64>(), hour in -5.0..30.0_f64, income in any::<f64>(),
        ward in prop::sample::select(vec!["a", "b", "c", "mars"]),
    ) {
        prop_assume!(age.is_finite() && income.is_finite());
        let encoding = Encoding::new(&open().with_bases(&CHOICE));
        let row = row(&encoding, [age, hour, income], ward, UnknownIn::Training);
        let squared: f64 = row.iter().map(|(_, x)| x * x).sum();
        prop_assert!(squared <= encoding.l2_radius().powi(2) * (1.0 + 1e-15));
        prop_assert!(squared > 1.0 - 1e-5, "{squared}");
    }

    /// A score is a sum over columns: the contribution of one column and its pairs does not depend on
    /// the others.
    #[test]
    fn a_scored_row_is_additive(
        ages in prop::array::uniform2(0.0..100.0_f64), hours in prop::array::uniform2(0.0..24.0_f64),
        incomes in prop::array::uniform2(0.0..1000.0_f64),
    ) {
        let encoding = Encoding::new(&open().with_bases(&CHOICE));
        let at = |age: usize, hour: usize, income: usize| {
            let cells = [ages[age], hours[hour], incomes[income]];
            row(&encoding, cells, "b", UnknownIn::Prediction)
        };
        let names = encoding.column_names();
        let only = |row: Vec<(u32, f64)>, of: &dyn Fn(&str) -> bool| -> Vec<(u32, f64)> {
            row.into_iter().filter(|(column, _)| of(&names[*column as usize])).collect()
        };
        let hour = |name: &str| name.starts_with("hour");
        prop_assert_eq!(only(at(0, 0, 0), &hour), only(at(1, 0, 1), &hour));
        let others = |name: &str| !name.starts_with("hour");
        prop_assert_eq!(only(at(1, 0, 1), &others), only(at(1, 1, 1), &others));
    }
}

/// One table, row by row and whole, in any order: one record never changes another's bits.
#[test]
fn a_row_has_the_same_bits_wherever_it_stands() {
    let text = OPEN.replace(
        "[[columns]]\nname = \"ward\"\ntype = \"category\"\ncategories = [\"a\", \"b\", \"c\"]\nunknown = \"other\"\n",
        "",
    );
    let schema = Schema::from_toml(&text).unwrap().with_bases(&CHOICE);
    struct Table(Vec<[f64; 3]>);
    impl privet_data::encode::NumberRows for Table {
        fn rows(&self) -> usize {
            self.0.len()
        }
        fn columns(&self) -> usize {
            3
        }
        fn write(&self, row: usize, entries: &mut [f64]) {
            entries.copy_from_slice(&self.0[row]);
        }
    }
    let value = |row: usize, scale: f64| (row as f64 * 0.754_877_666).fract() * scale;
    let rows: Vec<[f64; 3]> =
        (0..1500).map(|r| [value(r, 100.0), value(3 * r, 24.0), value(7 * r, 1000.0)]).collect();
    let encode = |rows: Vec<[f64; 3]>| {
        memory::numbers(&Table(rows), &schema, false, UnknownIn::Training).unwrap().matrix
    };
    let whole = encode(rows.clone());
    let mut turned = rows.clone();
    turned.reverse();
    let turned = encode(turned);
    for (at, row) in rows.iter().enumerate() {
        assert_eq!(whole.dense_row(at), turned.dense_row(rows.len() - 1 - at));
        if at % 97 == 0 {
            assert_eq!(whole.dense_row(at), encode(vec![*row]).dense_row(0));
        }
    }
}
