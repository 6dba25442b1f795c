//! Public features of items, such as genres and years.
//!
//! They are declared, like the list of items, and never taken from ratings. Three kinds of files are
//! read:
//!
//! | file | lines | features |
//! |---|---|---|
//! | MovieLens `movies.dat` | `1::Toy Story (1995)::Animation\|Comedy` | a genre each, and the year |
//! | MovieLens `u.item` | `1\|Toy Story (1995)\|01-Jan-1995\|\|url\|0\|…` | its 19 genres, and the year |
//! | any other | `item,NAME,NAME,…` under that header, then numbers | as they are, from −4 to 4 |
//!
//! A year is encoded as (year − 1980)/20 within [−2, 2]; all features of an item without a line are 0,
//! and so is a missing year.

use super::RatingsError;
use crate::read::decompressed;
use crate::{DataError, Place};
use std::collections::{BTreeSet, HashMap};
use std::path::Path;

/// Public features of every item.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ItemFeatures {
    /// The name of each feature.
    pub names: Vec<String>,
    /// The features of each item of the list, in the order of the names.
    pub rows: Vec<Vec<f64>>,
}

/// The largest magnitude of a feature.
pub const FURTHEST: f64 = 4.0;

/// Reads the features, in the order of the list of items.
pub fn features(path: &Path, items: &[String]) -> Result<ItemFeatures, RatingsError> {
    // Titles of films are in Latin 1; only their digits are used.
    let bytes = decompressed(path)?;
    let text: String = bytes.iter().map(|byte| char::from(*byte)).collect();
    let lines: Vec<&str> =
        text.lines().map(str::trim_end).filter(|line| !line.is_empty()).collect();
    let damaged =
        || DataError::Damaged { file: Place::Path(path.into()), format: "features of items" };
    let first = *lines.first().ok_or_else(damaged)?;
    let found = if first.contains("::") {
        films(&lines)
    } else if first.split('|').count() == 24 {
        items_of_100k(&lines)
    } else {
        numbers(&lines)
    };
    let (names, known) = found.ok_or_else(damaged)?;
    let none = vec![0.0; names.len()];
    let row = |item: &String| known.get(item.as_str()).unwrap_or(&none).clone();
    Ok(ItemFeatures { rows: items.iter().map(row).collect(), names })
}

/// Names of the features, and the features of each item.
type Found<'a> = Option<(Vec<String>, HashMap<&'a str, Vec<f64>>)>;

fn year(text: &str) -> f64 {
    let year: Option<f64> = text.get(..4).and_then(|digits| digits.parse().ok());
    year.map_or(0.0, |year| ((year - 1980.0) / 20.0).clamp(-2.0, 2.0))
}

fn films<'a>(lines: &[&'a str]) -> Found<'a> {
    let read = |line: &&'a str| {
        let (item, rest) = line.split_once("::")?;
        let (title, genres) = rest.rsplit_once("::")?;
        let digits = title.rfind('(').map_or("", |place| &title[place + 1..]);
        Some((item, year(digits), genres))
    };
    let films: Vec<(&str, f64, &str)> = lines.iter().map(read).collect::<Option<_>>()?;
    let genres: BTreeSet<&str> =
        films.iter().flat_map(|(_, _, genres)| genres.split('|')).collect();
    let mut names: Vec<String> = genres.iter().map(|genre| (*genre).to_owned()).collect();
    names.push("year".into());
    let row = |(item, year, own): (&'a str, f64, &str)| {
        let own: BTreeSet<&str> = own.split('|').collect();
        let mut row: Vec<f64> =
            genres.iter().map(|genre| f64::from(u8::from(own.contains(genre)))).collect();
        row.push(year);
        (item, row)
    };
    Some((names, films.into_iter().map(row).collect()))
}

fn items_of_100k<'a>(lines: &[&'a str]) -> Found<'a> {
    let mut known = HashMap::new();
    for line in lines {
        let cells: Vec<&str> = line.split('|').collect();
        let genres = cells.get(5..24)?.iter();
        let mut row: Vec<f64> = genres.map(|cell| cell.parse().ok()).collect::<Option<_>>()?;
        row.push(year(cells[2].rsplit('-').next().unwrap_or_default()));
        known.insert(cells[0], row);
    }
    let mut names: Vec<String> = (0..19).map(|genre| format!("genre {genre}")).collect();
    names.push("year".into());
    Some((names, known))
}

fn numbers<'a>(lines: &[&'a str]) -> Found<'a> {
    let names: Vec<String> = lines[0].split(',').skip(1).map(|name| name.trim().into()).collect();
    let mut known = HashMap::new();
    for line in &lines[1..] {
        let mut cells = line.split(',');
        let item = cells.next()?.trim();
        let row: Vec<f64> = cells.map(|cell| cell.trim().parse().ok()).collect::<Option<_>>()?;
        let inside = row.iter().all(|number: &f64| number.abs() <= FURTHEST);
        if row.len() != names.len() || !inside {
            return None;
        }
        known.insert(item, row);
    }
    Some((names, known))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<ItemFeatures, RatingsError> {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), text).unwrap();
        features(file.path(), &["1".into(), "2".into(), "9".into()])
    }

    #[test]
    fn films_and_plain_numbers_are_read() {
        let found = read("1::A (x) (1990)::Drama|War\n2::B (2000)::Comedy\n").unwrap();
        assert_eq!(found.names, ["Comedy", "Drama", "War", "year"]);
        assert_eq!(found.rows[0], [0.0, 1.0, 1.0, 0.5]);
        assert_eq!(found.rows[2], [0.0; 4], "an item without a line");
        let line = |item: u32| format!("{item}|A|01-Jan-1960||url|{}\n", ["0"; 19].join("|"));
        let found = read(&(line(1) + &line(2))).unwrap();
        assert_eq!((found.names.len(), found.rows[1][19]), (20, -1.0));
        let found = read("item,length,colour\n2,0.5,-1\n").unwrap();
        assert_eq!(found.rows, [[0.0, 0.0], [0.5, -1.0], [0.0, 0.0]]);
        for bad in ["", "item,a\n1,x\n", "item,a\n1,nan\n", "item,a\n1,5\n", "item,a\n1,1,1\n"] {
            assert!(read(bad).is_err(), "{bad}");
        }
    }
}
