//! Tables in memory read like the same tables in files.

use privet_data::encode::{Cell, NumberRows, UnknownIn};
use privet_data::read::memory::{self, Cells, Labels};
use privet_data::read::{ReadOptions, csv_bytes};
use privet_data::{DataError, Dataset, Problem, Schema};

const SCHEMA: &str = r#"
    bias = true
    [file]
    missing_values = ["?"]
    [clip]
    norm = "l2"
    radius = 1.5
    [target]
    column = "y"
    classes = ["a", "b"]
    [unit]
    column = "who"
    max_records = 1
    [[columns]]
    name = "age"
    type = "number"
    bounds = [0, 100]
    missing = 50
    [[columns]]
    name = "work"
    type = "category"
    categories = ["x", "z"]
    unknown = "other"
"#;

struct Texts(Vec<&'static str>);

impl Cells for Texts {
    fn cell(&self, row: usize) -> Cell<'_> {
        Cell::Text(self.0[row].as_bytes())
    }
}

struct Numbers(Vec<f64>);

impl Cells for Numbers {
    fn cell(&self, row: usize) -> Cell<'_> {
        Cell::Number(self.0[row])
    }
}

impl NumberRows for Numbers {
    fn rows(&self) -> usize {
        self.0.len()
    }
    fn columns(&self) -> usize {
        1
    }
    fn write(&self, row: usize, entries: &mut [f64]) {
        entries[0] = self.0[row];
    }
}

fn rows(data: &Dataset) -> Vec<Vec<f32>> {
    (0..data.rows()).map(|row| data.features.dense_row(row)).collect()
}

#[test]
fn named_columns_read_as_a_file_does() {
    let schema = Schema::from_toml(SCHEMA).unwrap();
    let file = csv_bytes(b"who,work,age,y\np,x,30,a\nq,moon,?,b\np,z,1e9,b\n", &schema).unwrap();
    let (work, age) = (Texts(vec!["x", "moon", "z"]), Texts(vec!["30", "?", "1e9"]));
    let who = Texts(vec!["p", "q", "p"]);
    let table: [(&str, &dyn Cells); 3] = [("who", &who), ("work", &work), ("age", &age)];
    let options = ReadOptions::default();
    let features = memory::columns(&table, 3, &schema, &options).unwrap();
    assert_eq!(features.report.unknown.len(), 1);
    let labels = Labels::Codes(&[0, 1, 1]);
    let held = memory::labelled(features, labels, Some(&who), &schema, &options).unwrap();
    assert_eq!((rows(&held), held.target, held.units), (rows(&file), file.target, file.units));
    assert_eq!(held.report.surplus_rows, 1);
}

/// Target and unit by name, as in a file.
#[test]
fn a_whole_table_reads_as_a_file_does() {
    let schema = Schema::from_toml(SCHEMA).unwrap();
    let file = csv_bytes(b"who,work,age,y\np,x,30,a\nq,moon,?,b\np,z,1e9,b\n", &schema).unwrap();
    let (work, age) = (Texts(vec!["x", "moon", "z"]), Texts(vec!["30", "?", "1e9"]));
    let (who, y) = (Texts(vec!["p", "q", "p"]), Texts(vec!["a", "b", "b"]));
    let all: [(&str, &dyn Cells); 4] = [("who", &who), ("work", &work), ("age", &age), ("y", &y)];
    let options = ReadOptions::default();
    let held = memory::table(&all, 3, &schema, &options).unwrap();
    assert_eq!((rows(&held), held.target, held.units), (rows(&file), file.target, file.units));
    assert_eq!(held.report.surplus_rows, 1);
    for missing in ["who", "y"] {
        let some: Vec<_> = all.iter().copied().filter(|(name, _)| *name != missing).collect();
        let refused = memory::table(&some, 3, &schema, &options).unwrap_err();
        assert!(matches!(&refused, DataError::MissingColumn { column, .. } if column == missing));
    }
    // Identifiers are compared by exact digits, which a double may have lost.
    let lost = Numbers(vec![9_007_199_254_740_992.0; 3]);
    let all: [(&str, &dyn Cells); 4] = [("who", &lost), ("work", &work), ("age", &age), ("y", &y)];
    assert!(memory::table(&all, 3, &schema, &options).is_err());
}

#[test]
fn refusals_name_the_row_from_zero_and_never_a_value() {
    let schema = Schema::from_toml(SCHEMA).unwrap();
    let (work, age) = (Texts(vec!["x", "x"]), Numbers(vec![1.0, f64::INFINITY]));
    let table: [(&str, &dyn Cells); 2] = [("work", &work), ("age", &age)];
    let refused = memory::columns(&table, 2, &schema, &ReadOptions::default()).unwrap_err();
    assert!(matches!(&refused, DataError::Cell { row: 1, problem: Problem::NotFinite, .. }));
    let refused = memory::columns(&table[..1], 2, &schema, &ReadOptions::default()).unwrap_err();
    assert!(matches!(&refused, DataError::MissingColumn { column, .. } if column == "age"));
    assert!(
        memory::numbers(&Numbers(vec![1.0]), &schema, true, UnknownIn::Training).is_err(),
        "it has categories"
    );
    let pair = || std::iter::once((std::iter::once(0_u64), std::iter::once(1.0)));
    assert!(memory::sparse(pair(), &schema, UnknownIn::Training).is_err(), "it has categories");
}

#[test]
fn sparse_rows_and_numbers_read_as_columns_do() {
    let text = "bias = 0.5\n[clip]\nnorm = \"l2\"\nradius = 1.0\n[target]\ncolumn = \"y\"\n\
                bounds = [0, 10]\n[[columns]]\nname = \"x\"\ntype = \"number\"\nbounds = [-4, 2]\n";
    let schema = Schema::from_toml(text).unwrap();
    let options = ReadOptions { allow_empty: true, ..ReadOptions::default() };
    let values = vec![-5.0, 0.0, 1.25, 2.0];
    let column = Numbers(values.clone());
    let named: [(&str, &dyn Cells); 1] = [("x", &column)];
    let by_name = memory::columns(&named, 4, &schema, &options).unwrap();
    let at_once = memory::numbers(&column, &schema, true, UnknownIn::Training).unwrap();
    let pairs = values.iter().map(|value| {
        let kept = (*value != 0.0).then_some(*value);
        (kept.map(|_| 0_u64).into_iter(), kept.into_iter())
    });
    let sparse = memory::sparse(pairs, &schema, UnknownIn::Training).unwrap();
    for row in 0..4 {
        assert_eq!(at_once.matrix.dense_row(row), by_name.matrix.dense_row(row));
        assert_eq!(sparse.matrix.dense_row(row), by_name.matrix.dense_row(row));
    }
    let numbers = [0.0, 5.0, 10.0, 99.0];
    let held = memory::labelled(at_once, Labels::Numbers(&numbers), None, &schema, &options);
    let file = csv_bytes(b"x,y\n-5,0\n0,5\n1.25,10\n2,99\n", &schema).unwrap();
    assert_eq!(held.unwrap().target, file.target);
    for (labels, why) in [
        (Labels::Numbers(&numbers[..3]), "one label for each row"),
        (Labels::Codes(&[0, 0, 0, 0]), "another kind"),
        (Labels::Numbers(&[0.0, f64::NAN, 0.0, 0.0]), "NaN"),
    ] {
        let refused =
            memory::labelled(sparse.clone(), labels, None, &schema, &options).unwrap_err();
        assert!(refused.to_string().contains(why), "{refused}");
    }
    for (indices, problem) in
        [(vec![0, 0], Problem::IndexNotIncreasing), (vec![7], Problem::IndexOutOfRange)]
    {
        let values = vec![1.0; indices.len()];
        let row = std::iter::once((indices.into_iter(), values.into_iter()));
        let refused = memory::sparse(row, &schema, UnknownIn::Training).unwrap_err();
        assert!(matches!(refused, DataError::Cell { problem: found, .. } if found == problem));
    }
    let nothing: [(&str, &dyn Cells); 1] = [("x", &column)];
    assert_eq!(memory::columns(&nothing, 0, &schema, &options).unwrap().matrix.rows(), 0);
}

#[test]
fn blanks_around_texts_and_names_count_only_where_the_schema_says_so() {
    let (options, rows) = (ReadOptions::default(), 2);
    let (tidy, loose) = (Texts(vec!["x", "z"]), Texts(vec![" x", "z "]));
    let ages = Numbers(vec![1.0, 2.0]);
    let read = |schema: &Schema, name, work: &Texts, who: &Texts| {
        let table: [(&str, &dyn Cells); 2] = [("age", &ages), (name, work)];
        let features = memory::columns(&table, rows, schema, &options)?;
        memory::labelled(features, Labels::Codes(&[0, 1]), Some(who), schema, &options)
    };
    let schema = Schema::from_toml(SCHEMA).unwrap();
    let one_person = Texts(vec!["p", " p "]);
    let expected = read(&schema, "work", &tidy, &Texts(vec!["p", "p"])).unwrap();
    assert_eq!(expected.features.rows(), 1, "one row of each person");
    let actual = read(&schema, " work", &loose, &one_person).unwrap();
    assert_eq!(actual.features.rows(), 1);
    assert_eq!(actual.features.dense_row(0), expected.features.dense_row(0));
    let exact = SCHEMA.replace("[file]", "[file]\ntrim = false");
    let exact = Schema::from_toml(&exact).unwrap();
    assert!(read(&exact, " work", &loose, &one_person).is_err());
    assert_eq!(read(&exact, "work", &loose, &one_person).unwrap().features.rows(), 2);
}
