//! Lines of a suite in parts held against its targets.

use crate::check::Verdict;
use crate::error::BenchError;
use crate::line::Race;
use crate::report::Results;
use crate::suite::{SUITE, measure_the_same};
use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;

/// What the mean of some lines must reach.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Target {
    /// Of which part.
    pub part: String,
    /// What the lines say of themselves.
    pub of: BTreeMap<String, Value>,
    /// Which of their numbers.
    pub measure: String,
    /// This or more.
    pub at_least: Option<f64>,
    /// This or less.
    pub at_most: Option<f64>,
    /// Why this number.
    pub note: Option<String>,
    /// Why it is not reached, where that is known.
    pub missed: Option<String>,
}

/// A target and the mean of its lines.
#[derive(Debug, Clone)]
pub struct Finding {
    /// What was asked.
    pub target: Target,
    /// The mean, if there are lines.
    pub mean: Option<f64>,
    /// How many lines.
    pub lines: usize,
}

fn same(one: &Value, other: &Value) -> bool {
    match (one.as_f64(), other.as_f64()) {
        (Some(one), Some(other)) => one == other,
        _ => one == other,
    }
}

impl Target {
    fn is_of(&self, line: &Race, prefix: &str) -> bool {
        let says = |(key, value): (&String, &Value)| {
            line.measured.get(key).is_some_and(|found| same(found, value))
        };
        line.race == format!("{prefix}-{}", self.part) && self.of.iter().all(says)
    }

    /// In words.
    pub fn words(&self) -> String {
        let facts = self.of.iter().map(|(key, value)| match value {
            Value::String(text) => text.clone(),
            value => format!("{key} {value}"),
        });
        format!("{}, {}: {}", self.part, facts.collect::<Vec<_>>().join(", "), self.measure)
    }

    /// What is asked, in words.
    pub fn asked(&self) -> String {
        match (self.at_least, self.at_most) {
            (Some(least), _) => format!("≥ {least}"),
            (None, Some(most)) => format!("≤ {most}"),
            (None, None) => "–".into(),
        }
    }
}

impl Finding {
    /// Whether it is met.
    pub fn verdict(&self) -> Verdict {
        let Target { at_least, at_most, missed, .. } = &self.target;
        let met = self.mean.map(|mean| {
            at_least.is_none_or(|least| mean >= least) && at_most.is_none_or(|most| mean <= most)
        });
        Verdict::of(met, missed.is_some())
    }
}

/// Holds the results in a folder against the targets of a suite of this name and text, whose lines begin so.
pub(crate) fn held_against(
    folder: &Path,
    (name, text, prefix): (&str, &str, &str),
    targets: Vec<Target>,
) -> Result<Vec<Finding>, BenchError> {
    let results = Results::read(folder)?;
    let kept = folder.join(SUITE);
    let before = std::fs::read_to_string(&kept).map_err(BenchError::at(&kept))?;
    let path = folder.join(name);
    if before != text && !measure_the_same(&before, text) {
        return Err(BenchError::SuiteChanged { path, kept });
    }
    let finding = |target: Target| {
        let lines = results.races.iter().filter(|line| target.is_of(line, prefix));
        let numbers: Vec<f64> =
            lines.filter_map(|line| line.measured.get(&target.measure)?.as_f64()).collect();
        let mean =
            (!numbers.is_empty()).then(|| numbers.iter().sum::<f64>() / numbers.len() as f64);
        Finding { target, mean, lines: numbers.len() }
    };
    Ok(targets.into_iter().map(finding).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::streams::{NAME, PARTS, suite};
    use serde_json::json;

    #[test]
    fn every_target_is_of_a_part_and_asks_for_one_number() {
        let suite = suite().unwrap();
        assert_eq!(suite.name, NAME);
        assert!(suite.targets.len() > 10);
        for target in suite.targets {
            assert!(PARTS.contains(&target.part.as_str()), "{target:?}");
            assert!(target.at_least.is_some() != target.at_most.is_some(), "{target:?}");
        }
    }

    #[test]
    fn a_mean_on_the_wrong_side_is_a_miss() {
        let target = suite().unwrap().targets.remove(0);
        let line = |epsilon: f64| {
            let measured = json!({
                "dataset": "covtype-2", "order": "filed", "batch": 1, "epsilon": epsilon, "behind": 3.0
            });
            let Value::Object(measured) = measured else { panic!() };
            Race { race: "stream-accuracy".into(), who: "privet ftrl".into(), measured }
        };
        assert!(target.is_of(&line(1.0), "stream") && !target.is_of(&line(0.1), "stream"));
        let finding = |mean| Finding { target: target.clone(), mean, lines: 1 };
        assert_eq!(finding(Some(3.0)).verdict(), Verdict::Missed);
        assert_eq!(finding(Some(1.0)).verdict(), Verdict::Met);
        assert_eq!(finding(None).verdict(), Verdict::NotMeasured);
    }

    #[test]
    fn a_known_miss_is_named_and_does_not_fail() {
        let target = Target { missed: Some("why".into()), ..suite().unwrap().targets.remove(0) };
        let finding = |mean| Finding { target: target.clone(), mean, lines: 1 };
        assert_eq!(finding(Some(3.0)).verdict(), Verdict::MissedAsKnown);
        assert!(!finding(Some(3.0)).verdict().fails());
        // Met all the same, it is met; not measured, it is not known to be missed.
        assert_eq!(finding(Some(1.0)).verdict(), Verdict::Met);
        assert!(finding(None).verdict().fails());
    }
}
