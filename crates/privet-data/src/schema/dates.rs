//! Dates: a cell such as `2024-03-05 14:30`, split into year, month, weekday and hour.
//!
//! ```toml
//! [[columns]]
//! name = "admitted"
//! type = "date"
//! range = ["2010-01-01", "2025-12-31"]       # public; years outside are moved to the nearest one
//! parts = ["year", "month", "weekday"]       # and "hour"
//! order = "ymd"                              # or "dmy", "mdy"
//! ```
//!
//! Such an entry stands for several columns, one per part, each of which reads the same column of the
//! file: `admitted.year` (a number), `admitted.month` and `admitted.weekday` (categories) and
//! `admitted.hour` (a number on a circle). A checked schema writes each as a column with
//! `date = { column, part }`. A part's value depends on its own cell alone, and its bounds and
//! categories on the schema alone.
//!
//! In a Parquet file a date is an integer counted from 1970, in days, milli-, micro- or nanoseconds as
//! the type of its column declares. A column of plain integers declares no unit: below a million they
//! are days, then milliseconds up to 10¹⁴, microseconds up to 10¹⁷ and nanoseconds from there on (so
//! that each is read as the year from about 1973 to 5138 that it can be; store times near 1970 as dates
//! or texts).

use super::check::{Checked, refuse};
use super::*;
use crate::encode::Cell;

/// A part of a date.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DatePart {
    /// The year, a number within the range.
    Year,
    /// The month, 1 to 12.
    Month,
    /// The day of the week, `monday` to `sunday`.
    Weekday,
    /// The hour of the day with its fraction, 0 to 24, on a circle.
    Hour,
}

/// The order in which a date is written.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DateOrder {
    /// Year, month, day: 2024-03-05.
    #[default]
    Ymd,
    /// Day, month, year: 05.03.2024.
    Dmy,
    /// Month, day, year: 03/05/2024.
    Mdy,
}

/// The table `date = { column = …, part = … }`: this column is a part of a date.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DateReading {
    /// The file's column.
    pub column: String,
    /// The part to read from it.
    pub part: DatePart,
    /// The order in which it is written.
    #[serde(default, skip_serializing_if = "is_usual")]
    pub order: DateOrder,
}

fn is_usual(order: &DateOrder) -> bool {
    *order == DateOrder::Ymd
}

/// Names of the weekdays, from Monday (as 1970-01-05 was).
const WEEKDAYS: [&str; 7] =
    ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"];
/// The parts used if none are declared.
const USUAL_PARTS: [DatePart; 3] = [DatePart::Year, DatePart::Month, DatePart::Weekday];
/// Knots of the hours' circle.
const HOURS: u32 = 8;

/// A date and time of day.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Moment {
    year: i64,
    month: i64,
    /// Days since 1970-01-01.
    days: i64,
    /// Hours since midnight.
    hours: f64,
}

impl DateReading {
    /// The part of a cell that this column holds; `None` if the cell is not a date.
    pub(crate) fn of<'c>(&self, cell: Cell<'c>) -> Option<Cell<'c>> {
        let moment = match cell {
            Cell::Missing | Cell::Unsupported => return Some(cell),
            Cell::Text(text) => moment(std::str::from_utf8(text).ok()?, self.order)?,
            Cell::Integer(value) => moment_of_integer(value),
            Cell::Moment { ticks, per_day } => moment_of_ticks(ticks, per_day),
            Cell::Number(value) if value.fract() == 0.0 && value.abs() < 9e18 => {
                moment_of_integer(value as i64)
            }
            Cell::Number(_) => return None,
        };
        Some(match self.part {
            DatePart::Year => Cell::Number(moment.year as f64),
            DatePart::Month => Cell::Integer(moment.month),
            DatePart::Weekday => {
                Cell::Text(WEEKDAYS[(moment.days - 4).rem_euclid(7) as usize].as_bytes())
            }
            DatePart::Hour => Cell::Number(moment.hours),
        })
    }
}

/// True if a text is a date in this order.
pub fn is_date(text: &str, order: DateOrder) -> bool {
    moment(text, order).is_some()
}

/// Days from 1970-01-01 to a calendar day (H. Hinnant, "days from civil").
fn days_of(year: i64, month: i64, day: i64) -> i64 {
    let year = if month > 2 { year } else { year - 1 };
    let (era, of_era) = (year.div_euclid(400), year.rem_euclid(400));
    let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468
}

/// Year and month of a day counted from 1970-01-01.
fn calendar_of(days: i64) -> (i64, i64) {
    let shifted = days + 719_468;
    let (era, of_era) = (shifted.div_euclid(146_097), shifted.rem_euclid(146_097));
    let year = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    let (month, next) = if month < 10 { (month + 3, 0) } else { (month - 9, 1) };
    (era * 400 + year + next, month)
}

/// The moment of an integer whose column declares no unit, guessed from its magnitude.
fn moment_of_integer(value: i64) -> Moment {
    let per_day = match value.unsigned_abs() {
        0..1_000_000 => 1,
        1_000_000..100_000_000_000_000 => 86_400_000,
        100_000_000_000_000..100_000_000_000_000_000 => 86_400_000_000,
        _ => 86_400_000_000_000,
    };
    moment_of_ticks(value, per_day)
}

/// The moment `ticks` units after 1970-01-01, with `per_day` units in a day.
fn moment_of_ticks(ticks: i64, per_day: i64) -> Moment {
    let days = ticks.div_euclid(per_day);
    let hours = 24.0 * (ticks.rem_euclid(per_day) as f64 / per_day as f64);
    let (year, month) = calendar_of(days);
    Moment { year, month, days, hours }
}

/// Parses a date, with or without a time of day; a time zone is ignored.
fn moment(text: &str, order: DateOrder) -> Option<Moment> {
    let text = text.trim_ascii();
    let (date, time) = match text.find(['T', ' ']) {
        Some(at) => (&text[..at], Some(text[at + 1..].trim_ascii())),
        None => (text, None),
    };
    let mut numbers = date.split(['-', '/', '.']).map(|part| {
        let digits =
            !part.is_empty() && part.len() <= 4 && part.bytes().all(|b| b.is_ascii_digit());
        digits.then(|| part.parse::<i64>().ok()).flatten()
    });
    let (a, b, c) = (numbers.next()??, numbers.next()??, numbers.next()??);
    if numbers.next().is_some() {
        return None;
    }
    let (year, month, day) = match order {
        DateOrder::Ymd => (a, b, c),
        DateOrder::Dmy => (c, b, a),
        DateOrder::Mdy => (c, a, b),
    };
    if !(1..=12).contains(&month) || !(1..=31).contains(&day) {
        return None;
    }
    let days = days_of(year, month, day);
    // The 31st of a month of 30 days is not a date.
    if calendar_of(days) != (year, month) {
        return None;
    }
    let hours = time.map_or(Some(0.0), hours)?;
    Some(Moment { year, month, days, hours })
}

/// Parses `14`, `14:30` or `14:30:05.25`, with or without a zone (`Z`, `+01:00`), as hours since
/// midnight.
fn hours(time: &str) -> Option<f64> {
    let end = time.find(['Z', 'z', '+', '-']).unwrap_or(time.len());
    let mut parts = time[..end].trim_ascii().split(':');
    let hour: f64 = whole(parts.next()?)?;
    let minute = parts.next().map_or(Some(0.0), whole)?;
    let second = parts.next().map_or(Some(0.0), |text| text.parse::<f64>().ok())?;
    let fits = hour < 24.0 && minute < 60.0 && (0.0..61.0).contains(&second);
    (fits && parts.next().is_none()).then(|| hour + minute / 60.0 + second / 3_600.0)
}

fn whole(text: &str) -> Option<f64> {
    let digits = !text.is_empty() && text.len() <= 2 && text.bytes().all(|b| b.is_ascii_digit());
    digits.then(|| text.parse().ok()).flatten()
}

/// The columns that a `type = "date"` entry expands into.
pub(super) fn parts_of(key: &str, draft: &ColumnDraft) -> Checked<Vec<ColumnDraft>> {
    let stray = [
        ("bounds", draft.bounds.is_some()),
        ("scale", draft.scale.is_some()),
        ("transform", draft.transform.is_some()),
        ("basis", draft.basis.is_some()),
        ("categories", draft.categories.is_some()),
        ("hash_buckets", draft.hash_buckets.is_some()),
        ("unknown", draft.unknown.is_some()),
        ("values", draft.values.is_some()),
        ("invalid", draft.invalid.is_some()),
        ("date", draft.date.is_some()),
    ];
    if let Some((name, _)) = stray.iter().find(|(_, given)| *given) {
        let accepted = "`name`, `type`, `range`, `parts`, `order`, `missing`";
        return refuse(key, format!("`{name}` does not belong to its type"), accepted);
    }
    match &draft.missing {
        None => {}
        Some(MissingDraft::Word(word)) if word == "error" || word == "category" => {}
        Some(_) => {
            let accepted = "\"category\" or \"error\"";
            return refuse(format!("{key}.missing"), "not one for a date", accepted);
        }
    }
    let parts = draft.parts.clone().unwrap_or_else(|| USUAL_PARTS.to_vec());
    if parts.is_empty() {
        return refuse(format!("{key}.parts"), "empty", "some of year, month, weekday, hour");
    }
    let mut columns = Vec::with_capacity(parts.len());
    for (place, part) in parts.iter().enumerate() {
        if parts[..place].contains(part) {
            return refuse(format!("{key}.parts"), "one of them twice", "each part once");
        }
        columns.push(part_of(key, draft, *part)?);
    }
    Ok(columns)
}

fn part_of(key: &str, draft: &ColumnDraft, part: DatePart) -> Checked<ColumnDraft> {
    let (word, order) = (word(part), draft.order.unwrap_or_default());
    let column = ColumnDraft {
        name: format!("{}.{word}", draft.name),
        date: Some(DateReading { column: draft.name.clone(), part, order }),
        missing: draft.missing.clone(),
        ..ColumnDraft::default()
    };
    let list = |texts: Vec<String>| ColumnDraft {
        kind: ColumnType::Category,
        categories: Some(texts),
        ..column.clone()
    };
    Ok(match part {
        DatePart::Month => list((1..=12).map(|month| month.to_string()).collect()),
        DatePart::Weekday => list(WEEKDAYS.map(String::from).to_vec()),
        DatePart::Hour => ColumnDraft {
            kind: ColumnType::Number,
            bounds: Some([0.0, 24.0]),
            scale: Some(Scale::Symmetric),
            basis: Some(BasisDraft::Hats(HatsDraft {
                hats: Some(HOURS),
                cyclic: Some(true),
                ..HatsDraft::default()
            })),
            ..column
        },
        DatePart::Year => ColumnDraft {
            kind: ColumnType::Number,
            bounds: Some(years(key, draft.range.as_ref())?),
            scale: Some(Scale::Symmetric),
            ..column
        },
    })
}

fn word(part: DatePart) -> &'static str {
    match part {
        DatePart::Year => "year",
        DatePart::Month => "month",
        DatePart::Weekday => "weekday",
        DatePart::Hour => "hour",
    }
}

/// The first and the last year of a declared range.
fn years(key: &str, range: Option<&[String; 2]>) -> Checked<[f64; 2]> {
    let key = format!("{key}.range");
    let accepted = "two public days, the earlier first: range = [\"2010-01-01\", \"2025-12-31\"]";
    let Some(range) = range else { return refuse(key, "missing", accepted) };
    let [first, last] = range.each_ref().map(|text| moment(text, DateOrder::Ymd));
    match (first, last) {
        (Some(first), Some(last)) if first.days < last.days => {
            // Bounds must differ: a range within one year ends with the next year.
            Ok([first.year as f64, last.year.max(first.year + 1) as f64])
        }
        _ => refuse(key, format!("[{:?}, {:?}]", range[0], range[1]), accepted),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn taken(text: &str, part: DatePart, order: DateOrder) -> Option<String> {
        let reading = DateReading { column: "d".into(), part, order };
        Some(match reading.of(Cell::Text(text.as_bytes()))? {
            Cell::Number(value) => value.to_string(),
            Cell::Integer(value) => value.to_string(),
            Cell::Text(text) => String::from_utf8_lossy(text).into_owned(),
            _ => "none".into(),
        })
    }

    #[test]
    fn dates_come_apart_as_the_calendar_has_them() {
        use DateOrder::{Dmy, Mdy, Ymd};
        use DatePart::{Hour, Month, Weekday, Year};
        for (text, part, order, found) in [
            ("2024-03-05", Year, Ymd, Some("2024")),
            ("2024-03-05", Weekday, Ymd, Some("tuesday")),
            ("1970-01-01", Weekday, Ymd, Some("thursday")),
            ("1969-12-31", Weekday, Ymd, Some("wednesday")),
            ("2000-02-29", Month, Ymd, Some("2")),
            ("1900-02-29", Month, Ymd, None),
            ("05.03.2024", Month, Dmy, Some("3")),
            ("03/05/2024", Month, Mdy, Some("3")),
            ("2024-03-05T14:30:00Z", Hour, Ymd, Some("14.5")),
            ("2024-03-05 06:15:00.0+02:00", Hour, Ymd, Some("6.25")),
            ("2024-03-05", Hour, Ymd, Some("0")),
            ("2024-04-31", Month, Ymd, None),
            ("2024-13-01", Month, Ymd, None),
            ("yesterday", Month, Ymd, None),
            ("2024-03-05 25:00", Hour, Ymd, None),
            ("", Year, Ymd, None),
        ] {
            assert_eq!(taken(text, part, order).as_deref(), found, "{text}");
        }
    }

    #[test]
    fn stored_numbers_are_days_milliseconds_or_microseconds() {
        let year = DateReading { column: "d".into(), part: DatePart::Year, order: DateOrder::Ymd };
        for value in [19_787, 1_709_596_800_000, 1_709_596_800_000_000] {
            assert!(matches!(year.of(Cell::Integer(value)), Some(Cell::Number(y)) if y == 2024.0));
        }
    }

    #[test]
    fn a_date_column_stands_for_its_parts_and_is_read_back() {
        let text = "[clip]\nnorm = \"l2\"\nradius = 1.0\n[target]\ncolumn = \"y\"\nclasses = [\"a\", \"b\"]\n\
                    [[columns]]\nname = \"when\"\ntype = \"date\"\nrange = [\"2010-01-01\", \"2025-12-31\"]\n\
                    parts = [\"year\", \"month\", \"weekday\", \"hour\"]\norder = \"dmy\"\n";
        let schema = Schema::from_toml(text).unwrap();
        let names: Vec<&str> = schema.columns().iter().map(|c| c.name.as_str()).collect();
        assert_eq!(names, ["when.year", "when.month", "when.weekday", "when.hour"]);
        assert!(schema.columns().iter().all(|column| column.source() == "when"));
        assert_eq!(Schema::from_toml(&schema.to_toml()).unwrap(), schema);
        let table = b"when,y\n05.03.2024 14:30,a\n31.12.1999,b\n";
        let read = crate::read::csv_bytes(table, &schema).unwrap();
        assert_eq!(read.rows(), 2);
        let bad = crate::read::csv_bytes(b"when,y\n2024-03-05,a\n", &schema).err().unwrap();
        assert!(bad.to_string().contains("not a date"), "{bad}");
        for (from, to, word) in [
            ("range = [\"2010-01-01\", \"2025-12-31\"]\n", "", "range"),
            ("2010-01-01", "2026-01-01", "range"),
            ("\"month\"", "\"year\"", "twice"),
            ("order = \"dmy\"", "bounds = [0, 1]", "bounds"),
        ] {
            let refused = Schema::from_toml(&text.replacen(from, to, 1)).unwrap_err().to_string();
            assert!(refused.contains(word), "{refused}");
        }
    }
}
