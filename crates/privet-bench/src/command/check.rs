//! `privet-bench check`: compares results with the suite's targets.

use crate::check::{self, Checked, Finding, Measured, Verdict};
use crate::ledger;
use crate::parts::{self, target};
use crate::report::formatting::three_digits;
use crate::suite::target::{Bound, Target};
use crate::suite::{self, Suite};
use clap::Args;
use privet_cli::say;
use privet_cli::shared::{self, Failure, number};
use privet_core::printable;
use privet_learn::Calibration;
use serde_json::{Value, json};
use std::path::PathBuf;

/// Hold what was measured against the suite's targets
#[derive(Args, Debug)]
#[command(
    long_about = "\
Reads the results that `privet-bench run SUITE` wrote, measures nothing, and holds them against the
suite's targets: for each the number that is asked, the measured mean ± its standard error, and whether
it is met. The mean alone decides; of a tuned method, that of the point of its grid which the report shows.

Targets stand in the suite's file, and may be changed after measuring:

  [[targets]]
  dataset = \"adult\"
  method = \"auto\"         # a name of [[methods]], which decides δ and neighbours
  epsilon = 0.1           # left out for a learner without privacy
  measure = \"accuracy\"    # in per cent; or auc, r-squared, relative-error, rmse, recall, ndcg, loss, answered,
                            # seconds
  at-least = 79.1         # or at-most; or within = 2 and of = \"another\" method, no worse by more
  note = \"why this number\"
  missed = \"why it is not reached\"   # a miss that is known: named, and no failure

Exit code 0 if every target is met, or missed as its `missed` says, each such miss named; 1 if another is
missed, or one was never measured; 2 if there is nothing to check: no targets, no results, or results of
another suite.",
    after_help = "\
Examples:
  privet-bench check default
  privet-bench check default --out bench/default
  privet-bench check mine.toml --out results --json"
)]
pub struct Check {
    /// A suite's name, or a TOML file
    suite: String,
    /// Folder with the results [default: privet-bench-SUITE]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// As JSON
    #[arg(long)]
    json: bool,
}

impl Check {
    /// Checks the targets and prints the table.
    pub fn run(self) -> Result<(), Failure> {
        if let Some(known) = parts::find(&self.suite) {
            let out = self.out.clone().unwrap_or_else(|| super::results_of(known.name));
            return self.lines(known.name, (known.check)(&out)?);
        }
        if self.suite == ledger::NAME {
            return self.ledger();
        }
        let suite = suite::find(&self.suite)?;
        let out = self.out.unwrap_or_else(|| super::results_of(&suite.name));
        let checked = check::check(&suite, &out)?;
        for notice in &checked.notices {
            say!("note: {notice}");
        }
        if self.json {
            shared::print_json(&as_json(&suite, &checked))?;
        } else {
            shared::report(&in_words(&checked.findings))?;
        }
        let misses = checked.findings.iter().map(|finding| (finding.verdict(), miss(finding)));
        named(misses.collect())
    }
}

/// Prints the missed targets; fails unless every miss is known.
fn named(findings: Vec<(Verdict, String)>) -> Result<(), Failure> {
    let all = findings.len();
    let of = |verdict: fn(Verdict) -> bool| -> Vec<&str> {
        findings.iter().filter(|finding| verdict(finding.0)).map(|one| one.1.as_str()).collect()
    };
    let known = of(|verdict| verdict == Verdict::MissedAsKnown);
    if !known.is_empty() {
        say!("{} of {all} targets not met, as is known:\n{}", known.len(), known.join("\n"));
    }
    let misses = of(Verdict::fails);
    if misses.is_empty() {
        return Ok(());
    }
    Err(Failure::Refused(format!(
        "{} of {all} targets not met:\n{}",
        misses.len(),
        misses.join("\n")
    )))
}

impl Check {
    /// Prints the findings of a suite in parts, which have a form of their own.
    fn lines(self, suite: &str, findings: Vec<target::Finding>) -> Result<(), Failure> {
        let shown = |mean: Option<f64>| mean.map_or("–".into(), number);
        if self.json {
            let targets: Vec<Value> = findings
                .iter()
                .map(|finding| {
                    json!({
                        "target": finding.target.target_words(),
                        "asked": finding.target.bound_words(),
                        "mean": finding.mean,
                        "lines": finding.lines,
                        "verdict": finding.verdict(),
                        "note": finding.target.note,
                        "missed": finding.target.missed,
                    })
                })
                .collect();
            shared::print_json(&json!({ "suite": suite, "targets": targets }))?;
        } else {
            let line = |finding: &target::Finding| {
                let verdict = finding.verdict().verdict_words();
                let (target, mean) = (&finding.target, shown(finding.mean));
                format!(
                    "{verdict}: {} {}, measured {mean}\n",
                    target.target_words(),
                    target.bound_words()
                )
            };
            shared::report(&findings.iter().map(line).collect::<String>())?;
        }
        let misses = findings.iter().map(|finding| {
            let (target, mean) = (&finding.target, shown(finding.mean));
            let words =
                format!("  {} {}, measured {mean}", target.target_words(), target.bound_words());
            (finding.verdict(), because(words, &target.missed))
        });
        named(misses.collect())
    }

    /// The targets of ledgers.
    fn ledger(self) -> Result<(), Failure> {
        let out = self.out.unwrap_or_else(|| super::results_of(ledger::NAME));
        let found = ledger::check(&out)?;
        let met = |(target, measured): &(ledger::Target, Option<f64>)| {
            measured.is_some_and(|measured| target.is_met(measured))
        };
        if self.json {
            let all: Vec<Value> = found
                .iter()
                .map(|one| {
                    json!({
                        "measure": one.0.measure, "measured": one.1, "at-least": one.0.at_least,
                        "at-most": one.0.at_most, "met": met(one), "note": one.0.note,
                    })
                })
                .collect();
            shared::print_json(&Value::from(all))?;
        } else {
            let mut rows = vec![["measure", "asked", "measured", ""].map(String::from).to_vec()];
            for one in &found {
                let (target, measured) = one;
                let asked = match (target.at_least, target.at_most) {
                    (Some(least), _) => format!("≥ {}", number(least)),
                    (_, Some(most)) => format!("≤ {}", number(most)),
                    _ => String::new(),
                };
                let measured = measured.map_or("–".into(), three_digits);
                let verdict = if met(one) { "met" } else { "MISSED" };
                rows.push(vec![target.measure.clone(), asked, measured, verdict.into()]);
            }
            shared::report(&shared::table(&rows))?;
        }
        let misses: Vec<String> = found
            .iter()
            .filter(|one| !met(one))
            .map(|(target, _)| format!("{} ({})", target.measure, target.note))
            .collect();
        if misses.is_empty() {
            return Ok(());
        }
        let (missed, all) = (misses.len(), found.len());
        Err(Failure::Refused(format!("{missed} of {all} targets not met:\n{}", misses.join("\n"))))
    }
}

fn as_json(suite: &Suite, checked: &Checked) -> Value {
    let findings = checked.findings.iter().map(|finding| {
        let Target {
            dataset,
            entry,
            calibration,
            neighbours,
            epsilon,
            measure,
            bound,
            note,
            missed,
        } = &finding.target;
        let measured = finding.measured.as_ref().ok();
        let (direction, asked) = match bound {
            Bound::AtLeast(asked) => ("at-least", asked),
            Bound::AtMost(asked) => ("at-most", asked),
            Bound::Within { points, .. } => ("within", points),
        };
        json!({
            "dataset": dataset,
            "method": entry,
            "calibration": calibration,
            "neighbours": neighbours,
            "epsilon": epsilon,
            "delta": measured.and_then(|measured| measured.delta),
            "measure": measure,
            "direction": direction,
            "asked": asked,
            "mean": measured.map(|measured| measured.mean),
            "standard_error": measured.and_then(|measured| measured.standard_error),
            "runs": measured.map_or(0, |measured| measured.runs),
            "verdict": finding.verdict(),
            "why": finding.measured.as_ref().err(),
            "note": note,
            "missed": missed,
        })
    });
    let met = checked.findings.iter().all(|finding| finding.verdict() == Verdict::Met);
    json!({"suite": suite.name, "met": met, "targets": findings.collect::<Vec<_>>()})
}

fn in_words(findings: &[Finding]) -> String {
    let header = ["target", "asked", "measured", "runs", "verdict", "note"];
    let mut rows = vec![header.map(String::from).to_vec()];
    for finding in findings {
        let (mean, runs) = match &finding.measured {
            Ok(measured) => (with_error(measured), measured.runs.to_string()),
            Err(_) => ("–".into(), "0".into()),
        };
        let asked = match &finding.target.bound {
            Bound::AtLeast(asked) => format!("≥ {}", number(*asked)),
            Bound::AtMost(asked) => format!("≤ {}", number(*asked)),
            Bound::Within { points, of, .. } => format!("within {} of {of}", number(*points)),
        };
        let verdict = finding.verdict().verdict_words();
        let note = finding.target.note.clone().unwrap_or_default();
        rows.push(vec![name(&finding.target), asked, mean, runs, verdict.into(), note]);
    }
    shared::table(&rows)
}

/// A target in words, without its bound.
fn name(target: &Target) -> String {
    let mut words = vec![target.dataset.clone(), target.entry.clone()];
    if target.calibration == Calibration::Printed {
        words.push("printed constants".into());
    }
    words.extend(target.epsilon.map(|epsilon| format!("ε = {}", number(epsilon))));
    words.push(target.measure.to_string());
    words.join(", ")
}

fn with_error(measured: &Measured) -> String {
    match measured.standard_error {
        Some(error) => format!("{} ± {}", number(measured.mean), three_digits(error)),
        None => number(measured.mean),
    }
}

/// A missed target, with its bound and its measurement.
fn miss(finding: &Finding) -> String {
    let asked = match &finding.target.bound {
        Bound::AtLeast(asked) => format!("at least {}", number(*asked)),
        Bound::AtMost(asked) => format!("at most {}", number(*asked)),
        Bound::Within { points, of, .. } => format!("within {} of {of}", number(*points)),
    };
    let found = match &finding.measured {
        Ok(measured) => format!("measured {}", with_error(measured)),
        Err(why) => format!("not measured: {why}"),
    };
    let words = format!("{}: asked {asked}, {found}", name(&finding.target));
    printable(&because(words, &finding.target.missed)).into_owned()
}

/// Appends the reason for a known miss.
fn because(words: String, missed: &Option<String>) -> String {
    match missed {
        Some(why) => format!("{words}: {why}"),
        None => words,
    }
}
