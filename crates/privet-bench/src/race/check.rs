//! Compares races with their targets: a network's private step beside its plain one, and beside the
//! peer's.

use crate::error::BenchError;
use crate::line::Race;
use crate::parts::target::{Finding, Target};
use crate::report::Results;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::Path;

/// The default step of a training: clipped per example, added up in integers, with noise.
const USUAL: &str = "clipped, exact, noise";
/// Target ratio of our examples a second to those of the peer's better mode.
const OVER_PEER: f64 = 1.5;
/// Target ratio of the private step's time to the plain one's.
const OVER_PLAIN: f64 = 1.3;

/// Compares the results in a folder with the targets.
pub fn check(folder: &Path) -> Result<Vec<Finding>, BenchError> {
    Ok(findings(&Results::read(folder)?.races))
}

fn findings(lines: &[Race]) -> Vec<Finding> {
    let lines: Vec<&Race> = lines.iter().filter(|line| line.race == "network").collect();
    let speeds = |wanted: &dyn Fn(bool, &str) -> bool| {
        let wanted = |line: &&&Race| {
            let mode = line.measured.get("mode").and_then(Value::as_str).unwrap_or_default();
            wanted(line.who.starts_with("privet"), mode)
        };
        let speed = |line: &&Race| line.measured.get("examples_per_second")?.as_f64();
        lines.iter().filter(wanted).filter_map(speed).reduce(f64::max)
    };
    let private = speeds(&|ours, mode| ours && mode == USUAL);
    let plain = speeds(&|ours, mode| ours && mode == "plain");
    let peer = speeds(&|ours, mode| !ours && mode.contains("noise"));
    let finding =
        |beside: &str, measure: &str, asked: [Option<f64>; 2], mean: Option<f64>| Finding {
            target: Target {
                part: "network".into(),
                of: BTreeMap::from([("beside".into(), json!(beside))]),
                measure: measure.into(),
                at_least: asked[0],
                at_most: asked[1],
                note: Some(format!("the step \"{USUAL}\"")),
                missed: None,
            },
            mean,
            lines: usize::from(mean.is_some()),
        };
    let ratio =
        |one: Option<f64>, other: Option<f64>| one.zip(other).map(|(one, other)| one / other);
    vec![
        finding(
            "Opacus in its better mode",
            "examples a second, as a multiple",
            [Some(OVER_PEER), None],
            ratio(private, peer),
        ),
        finding(
            "the plain step",
            "time, as a multiple",
            [None, Some(OVER_PLAIN)],
            ratio(plain, private),
        ),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::Verdict;

    fn line(who: &str, mode: &str, speed: f64) -> Race {
        let measured = json!({ "mode": mode, "examples_per_second": speed });
        let Value::Object(measured) = measured else { panic!() };
        Race { race: "network".into(), who: who.into(), measured }
    }

    /// The better of the peer's private modes counts, its plain step does not, and a missing mode is not
    /// met.
    #[test]
    fn ratios_are_of_the_usual_step_and_the_better_mode() {
        let mut lines = vec![
            line("privet", "plain", 1300.0),
            line("privet", "clipped, noise", 9000.0),
            line("privet", USUAL, 1000.0),
            line("torch 2", "plain", 5000.0),
            line("opacus 1", "hooks, noise", 500.0),
            line("opacus 1", "ghost, noise", 640.0),
        ];
        let found = findings(&lines);
        assert_eq!((found[0].mean, found[1].mean), (Some(1000.0 / 640.0), Some(1.3)));
        assert!(found.iter().all(|one| one.verdict() == Verdict::Met));
        lines.push(line("opacus 1", "ew, noise", 700.0));
        lines[0] = line("privet", "plain", 1400.0);
        assert!(findings(&lines).iter().all(|one| one.verdict() == Verdict::Missed));
        assert!(findings(&lines[..2]).iter().all(|one| one.verdict() == Verdict::NotMeasured));
    }
}
