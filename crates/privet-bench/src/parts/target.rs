//! Compares lines of a suite in parts with its targets.

use crate::check::Verdict;
use crate::error::BenchError;
use crate::line::Race;
use crate::report::Results;
use crate::suite::{SUITE_FILE, measure_the_same};
use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;

/// A bound on the mean of some lines.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Target {
    /// The part.
    pub part: String,
    /// Fields that select the lines.
    pub of: BTreeMap<String, Value>,
    /// The measured field.
    pub measure: String,
    /// Lower bound.
    pub at_least: Option<f64>,
    /// Upper bound.
    pub at_most: Option<f64>,
    /// The reason for the bound.
    pub note: Option<String>,
    /// The reason for a known miss.
    pub missed: Option<String>,
}

/// A target and the mean of its lines.
#[derive(Debug, Clone)]
pub struct Finding {
    /// The target.
    pub target: Target,
    /// The mean, if there are lines.
    pub mean: Option<f64>,
    /// Number of lines.
    pub lines: usize,
}

fn same_value(one: &Value, other: &Value) -> bool {
    match (one.as_f64(), other.as_f64()) {
        (Some(one), Some(other)) => one == other,
        _ => one == other,
    }
}

impl Target {
    fn is_of(&self, line: &Race, prefix: &str) -> bool {
        let says = |(key, value): (&String, &Value)| {
            line.measured.get(key).is_some_and(|found| same_value(found, value))
        };
        line.race == format!("{prefix}-{}", self.part) && self.of.iter().all(says)
    }

    /// The target in words, without its bound.
    pub fn target_words(&self) -> String {
        let facts = self.of.iter().map(|(key, value)| match value {
            Value::String(text) => text.clone(),
            value => format!("{key} {value}"),
        });
        format!("{}, {}: {}", self.part, facts.collect::<Vec<_>>().join(", "), self.measure)
    }

    /// The bound in words.
    pub fn bound_words(&self) -> String {
        match (self.at_least, self.at_most) {
            (Some(least), _) => format!("≥ {least}"),
            (None, Some(most)) => format!("≤ {most}"),
            (None, None) => "–".into(),
        }
    }
}

impl Finding {
    /// The verdict.
    pub fn verdict(&self) -> Verdict {
        let Target { at_least, at_most, missed, .. } = &self.target;
        let met = self.mean.map(|mean| {
            at_least.is_none_or(|least| mean >= least) && at_most.is_none_or(|most| mean <= most)
        });
        Verdict::of(met, missed.is_some())
    }
}

/// Compares the results in a folder with the targets of a suite of this name and text, whose lines have
/// this prefix.
pub(crate) fn held_against(
    folder: &Path,
    (name, text, prefix): (&str, &str, &str),
    targets: Vec<Target>,
) -> Result<Vec<Finding>, BenchError> {
    let results = Results::read(folder)?;
    let kept = folder.join(SUITE_FILE);
    let before = std::fs::read_to_string(&kept).map_err(BenchError::on_path(&kept))?;
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
        // A known miss that is met counts as met; unmeasured, it is not a known miss.
        assert_eq!(finding(Some(1.0)).verdict(), Verdict::Met);
        assert!(finding(None).verdict().fails());
    }
}
