//! Dates as text.

use std::time::{SystemTime, UNIX_EPOCH};

/// The current time, in the format of [`timestamp`].
pub fn now() -> String {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    timestamp(since.as_secs())
}

/// Seconds since 1970 as `2026-11-15T18:30:00Z`.
pub fn timestamp(seconds: u64) -> String {
    let (days, rest) = (seconds / 86_400, seconds % 86_400);
    // Years begin in March, so that the leap day is the last (H. Hinnant, "days from civil").
    let shifted = days + 719_468;
    let (era, of_era) = (shifted / 146_097, shifted % 146_097);
    let year = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month + 2) / 5 + 1;
    let (month, next) = if month < 10 { (month + 3, 0) } else { (month - 9, 1) };
    format!(
        "{:04}-{month:02}-{day:02}T{:02}:{:02}:{:02}Z",
        era * 400 + year + next,
        rest / 3_600,
        rest / 60 % 60,
        rest % 60
    )
}

/// True if `text` is in the format of [`timestamp`] and names an existing day and time from 1970 on.
pub fn is_timestamp(text: &str) -> bool {
    let part = |from, to| text.get(from..to)?.parse::<u64>().ok();
    let seconds = || {
        let (year, month, day) = (part(0, 4)?, part(5, 7)?, part(8, 10)?);
        if year < 1970 || !(1..=12).contains(&month) || day < 1 {
            return None;
        }
        let year = if month > 2 { year } else { year - 1 };
        let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
        let of_era = year % 400 * 365 + year % 400 / 4 - year % 400 / 100 + of_year;
        let days = year / 400 * 146_097 + of_era - 719_468;
        Some(days * 86_400 + part(11, 13)? * 3_600 + part(14, 16)? * 60 + part(17, 19)?)
    };
    seconds().is_some_and(|seconds| timestamp(seconds) == text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_are_counted_as_the_calendar_does() {
        for (seconds, words) in [
            (0, "1970-01-01T00:00:00Z"),
            (951_782_399, "2000-02-28T23:59:59Z"),
            (951_782_400, "2000-02-29T00:00:00Z"),
            (4_107_542_400, "2100-03-01T00:00:00Z"),
            (1_794_767_400, "2026-11-15T18:30:00Z"),
        ] {
            assert_eq!(timestamp(seconds), words);
            assert!(is_timestamp(words), "{words}");
        }
    }

    #[test]
    fn what_no_calendar_has_is_no_moment() {
        for odd in [
            "",
            "yesterday",
            "2026-00-01T00:00:00Z",
            "2026-13-01T00:00:00Z",
            "2026-02-29T00:00:00Z",
            "2100-02-29T00:00:00Z",
            "2026-04-31T00:00:00Z",
            "2026-04-00T00:00:00Z",
            "2026-04-01T24:00:00Z",
            "2026-04-01T23:60:00Z",
            "2026-04-01T23:59:60Z",
            "2026-04-01T23:59:59",
            "2026-04-01 23:59:59Z",
            "2026-04-01T+3:59:59Z",
            "1969-12-31T23:59:59Z",
            "0000-00-00T00:00:00Z",
        ] {
            assert!(!is_timestamp(odd), "{odd}");
        }
    }
}
