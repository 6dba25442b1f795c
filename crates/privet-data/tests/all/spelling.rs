//! Identifiers under a declared spelling: every reader gives a cell the same name, independently of
//! other cells.

use crate::identifiers::{Held, People, Places, units};
use privet_core::{Spelling, UnitDefinition};
use privet_data::ratings;
use privet_data::read::memory::{self, Cells, Labels};
use privet_data::read::{CellKey, ReadOptions, SurveyedColumns, csv_bytes, held_keys};
use privet_data::schema::{FileFacts, UnitFacts};
use privet_data::{Dataset, Schema};
use proptest::prelude::*;

const ALL: [Spelling; 3] = [Spelling::Text, Spelling::Number, Spelling::Nfc];

fn schema(spelling: Spelling, invalid: &str) -> Schema {
    Schema::from_toml(&format!(
        "invalid = \"{invalid}\"\n[file]\nmissing_values = [\"?\", \"-999.0\"]\n[clip]\nnorm = \"linf\"\nradius = 1.0\n\
         [target]\ncolumn = \"y\"\nclasses = [\"a\", \"b\"]\n\
         [unit]\ncolumn = \"who\"\nmax_records = 100\nspelling = \"{spelling}\"\n\
         [[columns]]\nname = \"x\"\ntype = \"number\"\nbounds = [0, 1024]\n"
    ))
    .unwrap()
}

fn in_text(people: &[&str], schema: &Schema) -> Dataset {
    let lines = people.iter().map(|who| format!("\"{who}\",1,a\n"));
    csv_bytes(format!("who,x,y\n{}", lines.collect::<String>()).as_bytes(), schema).unwrap()
}

fn in_memory(people: Vec<Held>, schema: &Schema) -> Dataset {
    let (options, rows) = (ReadOptions::default(), people.len());
    let places = Places(1024);
    let features = memory::columns(&[("x", &places as &dyn Cells)], rows, schema, &options);
    let (labels, people) = (vec![0; rows], People(people));
    let labels = Labels::Codes(&labels);
    memory::labelled(features.unwrap(), labels, Some(&people), schema, &options).unwrap()
}

fn texts(people: &[&str]) -> Vec<Held> {
    people.iter().map(|text| Held::Text((*text).into())).collect()
}

/// For each row, the index of the first one of the same person; none for a row without a unit.
fn first_places(people: &[&str], schema: &Schema) -> Vec<Option<usize>> {
    let numbers = memory::unit_numbers(&People(texts(people)), people.len(), schema);
    let first = |number: &u64| numbers.iter().position(|other| other == number);
    numbers.iter().map(|number| first(number).filter(|_| *number != 0)).collect()
}

const CELLS: [&str; 14] = [
    "2", "2.0", "02", "+2", " 2", "2.5", "two", "e\u{301}", "\u{e9}", "?", "-999", "-999.00",
    "nan", "3",
];

/// No other reader or column type assigns a cell to another person.
#[test]
fn every_door_gives_a_cell_the_same_name() {
    for spelling in ALL {
        let schema = schema(spelling, "drop");
        let expected = first_places(&CELLS, &schema);
        let kept: Vec<usize> = (0..CELLS.len()).filter(|row| expected[*row].is_some()).collect();
        let numbers = |units: &[u64]| -> Vec<usize> {
            units.iter().map(|unit| units.iter().position(|other| other == unit).unwrap()).collect()
        };
        let rows: Vec<usize> = kept
            .iter()
            .map(|row| kept.iter().position(|other| Some(*other) == expected[*row]).unwrap())
            .collect();
        for data in [in_text(&CELLS, &schema), in_memory(texts(&CELLS), &schema)] {
            assert_eq!(numbers(units(&data)), rows, "{spelling}");
            assert_eq!(data.report.nobodys_rows as usize, CELLS.len() - kept.len(), "{spelling}");
        }
        #[cfg(feature = "parquet")]
        {
            use ::parquet::data_type::{ByteArray, ByteArrayType};
            let cells: Vec<ByteArray> = CELLS.iter().map(|cell| ByteArray::from(*cell)).collect();
            let column = "required binary who (UTF8)";
            let bytes = crate::identifiers::in_parquet::file::<ByteArrayType>(column, &cells);
            let data = privet_data::read::parquet_bytes(&bytes, &schema).unwrap();
            assert_eq!(numbers(units(&data)), rows, "{spelling}");
        }
        // Keys of a table without a schema: each cell beside a text of its own, counted once per
        // distinct person.
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t.csv");
        let lines = CELLS.iter().map(|who| format!("{who},same\n"));
        std::fs::write(&path, format!("who,x\n{}", lines.collect::<String>())).unwrap();
        let unit = UnitFacts { column: "who".into(), max_records: 100, spelling };
        let columns = vec!["x"];
        let sought = SurveyedColumns { columns, unit: Some(&unit), ..SurveyedColumns::default() };
        let missing_values = schema.file().missing_values.clone();
        let facts = FileFacts { missing_values, ..FileFacts::by_name(&path) };
        let held = held_keys(&path, &facts, &sought).unwrap();
        let people: std::collections::HashSet<_> = rows.iter().collect();
        assert_eq!(held.counts[&(0, CellKey::Text("same".into()))], people.len() as u64);
    }
}

#[test]
fn numbers_of_every_type_are_the_integers_that_texts_write() {
    let schema = schema(Spelling::Number, "refuse");
    let same = vec![
        Held::Text("7".into()),
        Held::Text("7.0".into()),
        Held::Text("007".into()),
        Held::Text("+7".into()),
        Held::Whole(7),
        Held::Double(7.0),
    ];
    assert_eq!(units(&in_memory(same, &schema)), [0; 6]);
    // From 2^53 on, digits decide and a point is refused, where a program may have lost digits.
    let long = ["9007199254740992", "9007199254740993", "09007199254740993"];
    assert_eq!(units(&in_text(&long, &schema)), [0, 1, 1]);
    let refused = csv_bytes(b"who,x,y\n9007199254740992.0,1,a\n", &schema).unwrap_err().to_string();
    assert!(refused.contains("row 2") && refused.contains("accepted: "), "{refused}");
    assert!(!refused.contains("900719"), "{refused}");
}

#[test]
fn a_spelling_is_declared_and_old_files_keep_theirs() {
    let number = schema(Spelling::Number, "refuse");
    assert_eq!(Schema::from_toml(&number.to_toml()).unwrap(), number);
    let column = |spelling| UnitDefinition::Column { column: "who".into(), trim: true, spelling };
    assert_eq!(number.unit_definition(), column(Spelling::Number));
    let text = schema(Spelling::Text, "refuse");
    let unsaid = number.to_toml().replace("spelling = \"number\"\n", "");
    assert_eq!(Schema::from_toml(&unsaid).unwrap(), text);
    assert!(!text.to_toml().contains("spelling"), "the digest of a schema that says nothing stays");
    let json = serde_json::to_string(&number).unwrap();
    assert!(json.contains("\"spelling\":\"number\""), "{json}");
    let wrong = number.to_toml().replace("spelling = \"number\"", "spelling = \"Number\"");
    let words = Schema::from_toml(&wrong).unwrap_err().to_string();
    assert!(words.contains("text") && words.contains("nfc"), "{words}");
}

/// Users of ratings are units like any others.
#[test]
fn users_of_ratings_are_spelt_too() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("r.csv");
    std::fs::write(&path, "user,item,rating\n2,a,1\n2.0,b,5\n02,a,5\n3,a,1\n").unwrap();
    let facts = ratings::RatingFacts {
        layout: ratings::Layout::Triples,
        items: vec!["a".into(), "b".into()],
        bounds: [1.0, 5.0],
        most: 9,
    };
    let users = |spelling: &str| {
        let said = format!("invalid = \"drop\"\n{}", ratings::schema(&facts).unwrap().to_toml());
        let said = said.replace("[unit]\n", &format!("[unit]\nspelling = \"{spelling}\"\n"));
        let (schema, options) = (Schema::from_toml(&said).unwrap(), ReadOptions::default());
        ratings::read(&path, ratings::Layout::Triples, &schema, &options).unwrap().rows()
    };
    assert_eq!((users("text"), users("number")), (4, 2));
}

proptest! {
    /// A row's unit follows from its own cell: other cells of the table change nothing.
    #[test]
    fn no_other_cell_decides_whose_a_row_is(
        people in prop::collection::vec("[-+ ]?[0-3]{0,3}[.]?0{0,2}|[eé\u{301}x]{1,3}", 2..12),
        other in "\\PC{0,6}", place in 0..12_usize,
    ) {
        for spelling in ALL {
            let schema = schema(spelling, "drop");
            let cells: Vec<&str> = people.iter().map(String::as_str).collect();
            let place = place % cells.len();
            let mut changed = cells.clone();
            changed[place] = &other;
            let numbers = |cells: &[&str]| memory::unit_numbers(&People(texts(cells)), cells.len(), &schema);
            let (before, after) = (numbers(&cells), numbers(&changed));
            prop_assert!((0..cells.len()).all(|row| row == place || before[row] == after[row]));
        }
    }
}

/// The rows kept of people who share a name, recognised by their first column.
fn kept(rows: &[(&str, u16)]) -> std::collections::HashSet<u16> {
    let text = schema(Spelling::Number, "refuse").to_toml().replace("= 100", "= 2");
    let schema = Schema::from_toml(&text).unwrap();
    let lines = rows.iter().map(|(who, x)| format!("{who},{x},a\n"));
    let table = format!("who,x,y\n3,999,a\n{}", lines.collect::<String>());
    let data = csv_bytes(table.as_bytes(), &schema).unwrap();
    let place = |row| (data.features.dense_row(row)[0] * 1024.0).round() as u16;
    (0..data.rows()).map(place).collect()
}

proptest! {
    /// All rows of one person who shares her name change at most `max_records` kept rows on either
    /// side: the charge of replace-one.
    #[test]
    fn one_of_those_who_share_a_name_is_at_most_a_replacement(hers in prop::collection::vec(any::<bool>(), 1..40)) {
        let all: Vec<(&str, u16)> =
            hers.iter().zip(0..).map(|(hers, x)| (if *hers { "2.0" } else { "2" }, x)).collect();
        let without: Vec<(&str, u16)> = all.iter().copied().filter(|row| row.0 == "2").collect();
        let (all, without) = (kept(&all), kept(&without));
        prop_assert!(all.difference(&without).count() <= 2 && without.difference(&all).count() <= 2);
    }
}

/// The reason add-remove, which charges for one side only, is refused: rows of others enter when a
/// person leaves.
#[test]
fn when_one_of_those_who_share_a_name_leaves_rows_of_others_come_in() {
    let hers = |rows: u16| (0..rows).map(|x| ("2.0", x));
    let others = (100..110).map(|x| ("2", x));
    let all: Vec<(&str, u16)> = hers(30).chain(others.clone()).collect();
    let (all, without) = (kept(&all), kept(&others.collect::<Vec<_>>()));
    assert_eq!((all.difference(&without).count(), without.difference(&all).count()), (2, 2));
}
