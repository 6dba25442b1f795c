//! Files of ratings: their layouts, and their errors.

use privet_data::Dataset;
use privet_data::ratings::{self, Layout, OwnRatings, Rated, RatingFacts, RatingsError};
use privet_data::read::ReadOptions;
use privet_data::schema::{Draft, Invalid, Schema};

fn schema(layout: Layout, items: usize, bounds: [f64; 2], most: u32) -> Schema {
    let items = (1..=items).map(|item| item.to_string()).collect();
    ratings::schema(&RatingFacts { layout, items, bounds, most }).unwrap()
}

fn read(text: &str, layout: Layout, schema: &Schema) -> Result<Dataset, RatingsError> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("ratings");
    std::fs::write(&path, text).unwrap();
    ratings::read(&path, layout, schema, &ReadOptions::default())
}

#[test]
fn every_layout_gives_one_row_a_user() {
    let triples = "user,item,rating\nann,3,5\nbob,1,1\nann,1,2\n";
    let movielens = "userId,movieId,rating\nann,3,5\nbob,1,1\nann,1,2\n";
    let tabs = "ann\t3\t5\t881\nbob\t1\t1\t7\nann\t1\t2\t0\n";
    let expected = [vec![1.25, 0.0, 2.0], vec![1.0, 0.0, 0.0]];
    for (text, layout) in
        [(triples, Layout::Triples), (movielens, Layout::MovieLens), (tabs, Layout::MovieLens100k)]
    {
        let schema = schema(layout, 3, [1.0, 5.0], 3);
        let actual = read(text, layout, &schema).unwrap();
        assert_eq!([0, 1].map(|row| actual.features.dense_row(row)), expected, "{layout:?}");
        assert_eq!(actual.units, Some(vec![0, 1]), "{layout:?}");
        assert_eq!(Schema::from_toml(&schema.to_toml()).unwrap(), schema);
    }
    let schema = schema(Layout::Grid, 3, [-10.0, 10.0], 3);
    let actual = read("2,-5.0,99,10\n1,-10,99,99\n", Layout::Grid, &schema).unwrap();
    assert_eq!([0, 1].map(|row| actual.features.dense_row(row)), expected);
    assert_eq!("jester".parse::<Layout>().unwrap(), Layout::Grid);
    assert!("csv".parse::<Layout>().unwrap_err().to_string().contains("movielens-100k"));
}

#[test]
fn bad_ratings_are_refused_or_moved_into_their_bounds() {
    let schema = schema(Layout::Triples, 3, [1.0, 5.0], 3);
    let actual =
        read("user,item,rating\na,1,9\na,2,-9\na,7,3\n", Layout::Triples, &schema).unwrap();
    // Out of bounds: the nearest; not listed: left out.
    assert_eq!(actual.features.dense_row(0), [2.0, 1.0, 0.0]);
    let twice = "user,item,rating\na,1,2\nb,1,1\na,1,4\n";
    let error = read(twice, Layout::Triples, &schema).unwrap_err();
    assert!(error.to_string().contains("twice"), "{error}");
    let draft = Draft { invalid: Some(Invalid::Drop), ..Draft::from(schema.clone()) };
    let lenient = draft.check().unwrap();
    let actual = read(twice, Layout::Triples, &lenient).unwrap();
    assert_eq!(actual.features.dense_row(0), [1.75, 0.0, 0.0], "the last counts");
    assert!(read("user,item,rating\na,1,good\n", Layout::Triples, &schema).is_err());
    for (text, words) in [("1,2\n", "4 are accepted"), ("1,2,not-a-rating,99\n", "row 1, item 2")] {
        let error = read(text, Layout::Grid, &schema).unwrap_err().to_string();
        assert!(error.contains(words) && !error.contains("not-a-rating"), "{error}");
    }
}

/// However many lines a user has, at most the cap are kept, chosen by her own lines alone.
#[test]
fn one_user_with_very_many_ratings_is_cut_to_the_cap() {
    let items = 2_000;
    let schema = schema(Layout::Triples, items, [1.0, 5.0], 50);
    let many: String = (1..=items).map(|item| format!("many,{item},{}\n", item % 5 + 1)).collect();
    let alone = read(&format!("user,item,rating\n{many}"), Layout::Triples, &schema).unwrap();
    let beside = format!("user,item,rating\nfew,1,3\n{many}few,2,3\n");
    let beside = read(&beside, Layout::Triples, &schema).unwrap();
    let rated = |table: &Dataset, row| -> Vec<f32> {
        table.features.dense_row(row).into_iter().filter(|cell| *cell != 0.0).collect()
    };
    assert_eq!(rated(&alone, 0).len(), 50);
    assert_eq!(alone.features.dense_row(0), beside.features.dense_row(1));
    let facts = Rated::of(&schema).unwrap();
    let mut own = OwnRatings::default();
    // A million, most of them repeated.
    (0..1_000_000).for_each(|place| own.and(place % items, 3.0, &facts));
    own.and(items, 3.0, &facts);
    own.and(0, f64::NAN, &facts);
    assert_eq!(own.len(), 1_000_000);
    let table = ratings::table(vec![own], &facts);
    assert_eq!(rated(&table, 0).len(), 50);
}

#[test]
fn only_schemas_of_ratings_are_taken() {
    let good = schema(Layout::Triples, 3, [1.0, 5.0], 3);
    assert_eq!(Rated::of(&good).unwrap().items.len(), 3);
    let changed = |from: &str, to: &str| {
        let text = good.to_toml().replacen(from, to, 1);
        assert_ne!(text, good.to_toml(), "{from}");
        Schema::from_toml(&text).unwrap()
    };
    for bad in [
        changed("unknown = \"none\"", "unknown = \"other\""),
        changed("radius = 1.0", "radius = 2.0"),
        changed("[file]", "bias = true\n[file]"),
        changed("bounds = [1.0, 5.0]", "classes = [\"a\", \"b\"]"),
        changed("[unit]\ncolumn = \"user\"\nmax_records = 3\n", ""),
    ] {
        assert!(Rated::of(&bad).unwrap_err().to_string().contains("not a schema of ratings"));
    }
}

/// Without a header the user column has no name; when one is given, no other column keeps it.
#[test]
fn the_unit_of_ratings_without_a_header_is_not_named() {
    use privet_core::UnitDefinition;
    for layout in [Layout::Triples, Layout::MovieLens, Layout::MovieLens100k, Layout::Grid] {
        let schema = schema(layout, 3, [1.0, 5.0], 3);
        assert_eq!(schema.unit_definition().is_said(), layout.has_header(), "{layout:?}");
        for name in ["person", "item", "rating", "time", "movieId", "(not named)"] {
            let named = ratings::with_unit(&schema, name).unwrap();
            let expected = if name.starts_with('(') {
                UnitDefinition::NotSaid
            } else {
                UnitDefinition::column(name)
            };
            assert_eq!(named.unit_definition(), expected, "{layout:?}");
            assert_eq!(Rated::of(&named).unwrap(), Rated::of(&schema).unwrap());
        }
        let again = ratings::with_unit(&ratings::with_unit(&schema, "person").unwrap(), "user");
        assert_eq!(again.unwrap(), ratings::with_unit(&schema, "user").unwrap());
    }
}
