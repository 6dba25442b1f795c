//! `privet explain`: the meaning of a budget, for a person who has to choose one.

use crate::failure::Failure;
use crate::odds::{
    FALSE_RATES, GROWTH_SLACK, best_guess, growth_probability, suspicion, true_rate,
};
use crate::output::{self, number};
use crate::sentences;
use crate::settings::{self, range_parser};
use clap::Args;
use privet_core::{Budget, DELTA, EPSILON};
use serde_json::json;

/// The priors whose growth is reported.
const PRIORS: [f64; 3] = [0.01, 0.1, 0.5];

/// Say what ε and δ mean as what an attacker gains; no data are read
#[derive(Args, Debug)]
#[command(
    long_about = "\
Says what a privacy budget means: how much surer an attacker who knows all other records can become
about one person, how often the best possible accusation is right, and what δ adds to that for a
table of so many rows. These are bounds for the best attack there can be, on any release with that
guarantee, rounded up. δ is not the probability with which the factor e^ε fails: it is what the
probabilities may differ by beyond that factor, and a suspicion may grow by 1.1 times the factor and
more with a probability of up to 11 δ. docs/choosing.md says which budget, method and accuracy go together.",
    after_help = "\
Examples:
  privet explain --epsilon 1 --delta 1e-6 --rows 20000
  privet explain --epsilon 0.5 --json"
)]
pub struct Explain {
    #[arg(
        long, value_name = "E", value_parser = range_parser(EPSILON), allow_hyphen_values = true,
        help = format!("ε: {EPSILON}"),
    )]
    epsilon: f64,
    #[arg(
        long, value_name = "D", value_parser = range_parser(DELTA), allow_hyphen_values = true,
        help = format!("δ: {DELTA} [default: 1/N² where --rows gives N, otherwise 0]"),
    )]
    delta: Option<f64>,
    /// How many rows the table has
    #[arg(long, value_name = "N", value_parser = settings::rows)]
    rows: Option<u64>,
    /// As JSON
    #[arg(long)]
    json: bool,
}

impl Explain {
    /// Prints the explanation.
    pub fn run(self) -> Result<(), Failure> {
        let usual = self.rows.map_or(0.0, Budget::usual_delta);
        let budget = Budget::new(self.epsilon, self.delta.unwrap_or(usual))?;
        let (epsilon, delta) = (budget.epsilon(), budget.delta());
        let pairs = [(epsilon, delta)];
        if self.json {
            let rates =
                FALSE_RATES.map(|rate| json!({"false": rate, "true": true_rate(&pairs, rate)}));
            let grown =
                PRIORS.map(|prior| json!({"before": prior, "after": suspicion(pairs[0], prior)}));
            return output::print_json(&json!({
                "epsilon": epsilon,
                "delta": delta,
                "factor": output::json_number(epsilon.exp()),
                "best_guess": best_guess(&pairs),
                "accusations": rates,
                "suspicions": grown,
                "suspicions_beyond": growth_probability(delta),
                "rows": self.rows,
            }));
        }
        output::print(&fold_lines(&in_words(epsilon, delta, self.rows)))
    }
}

/// The text with no line wider than a terminal.
fn fold_lines(text: &str) -> String {
    let fold = |line: &str| match line.chars().count() > 80 {
        false => format!("{line}\n"),
        true => sentences::wrap_lines(
            line.trim_start(),
            &" ".repeat(line.len() - line.trim_start().len()),
        ),
    };
    text.lines().map(fold).collect()
}

/// A share as a percentage.
fn per_cent(share: f64) -> String {
    format!("{} %", number(100.0 * share))
}

/// An upper bound on a share as a short percentage, rounded up.
fn at_most(share: f64) -> String {
    let shown = 100.0 * share;
    // Rounding errors of a number with few digits are not rounded up once more.
    let up = |digits: f64| (shown * digits * (1.0 - 1e-12)).ceil() / digits;
    match shown {
        shown if shown > 99.9 => "nearly 100 %".into(),
        shown if shown >= 10.0 => format!("{} %", number(up(10.0))),
        shown if shown >= 1.0 => format!("{} %", number(up(100.0))),
        _ => format!("{} %", number(up(1000.0))),
    }
}

fn in_words(epsilon: f64, delta: f64, rows: Option<u64>) -> String {
    let pairs = [(epsilon, delta)];
    let mut text = format!(
        "ε = {}, δ = {}\n\n\
         Whether a person's record is in the table or another in its place changes the probability\n\
         of anything that is published at most by the factor e^ε = {}{}.\n\n\
         What that allows somebody who knows every other record:\n",
        number(epsilon),
        number(delta),
        number(epsilon.exp()),
        if delta == 0.0 { "" } else { ", plus δ" }
    );
    text.push_str(&format!(
        "  of two equally likely cases the best guess is right at most {} of the time\n",
        at_most(best_guess(&pairs))
    ));
    for prior in PRIORS {
        text.push_str(&format!(
            "  a suspicion of {} can grow to {}\n",
            per_cent(prior),
            at_most(suspicion(pairs[0], prior))
        ));
    }
    if delta > 0.0 {
        text.push_str(&format!(
            "  (by {GROWTH_SLACK} times the factor; beyond with a probability of at most 11 δ = {})\n",
            number(growth_probability(delta))
        ));
    }
    let mut table =
        vec![vec!["accused falsely".to_string(), "accused rightly, at most".to_string()]];
    for rate in FALSE_RATES {
        table.push(vec![per_cent(rate), at_most(true_rate(&pairs, rate))]);
    }
    text.push_str(&format!("\n{}", output::table(&table)));
    text.push_str(&format!("\n{}", of_delta(delta, rows)));
    text.push_str(&format!(
        "\n{}\n\nWhat it buys: privet plan --schema S.toml --rows {} --epsilon {}\n\
         Several releases from the same records add up: privet budget, privet total.\n\
         Which method and what accuracy to expect: docs/choosing.md\n",
        assess_epsilon(epsilon),
        rows.map_or("N".into(), |rows| rows.to_string()),
        number(epsilon)
    ));
    text
}

fn of_delta(delta: f64, rows: Option<u64>) -> String {
    let chance = match delta {
        0.0 => return "δ = 0: the factor holds always.\n".into(),
        delta => format!(
            "δ = {}: beyond the factor, probabilities may differ by that much",
            number(delta)
        ),
    };
    match rows {
        None => format!("{chance}. It should be far below 1 over the number of rows.\n"),
        Some(rows) => {
            let expected = delta * rows as f64;
            let verdict = match expected {
                expected if expected > 1.0 => {
                    "A mechanism that publishes a random record whole would have this δ: take a smaller one"
                }
                expected if expected > 0.01 => "That is on the large side: 1/N² is usual",
                _ => "That is small enough to leave out of account",
            };
            format!(
                "{chance}.\n  Over {rows} rows that adds up to {}. {verdict}.\n",
                number(expected)
            )
        }
    }
}

/// A usual assessment of ε.
fn assess_epsilon(epsilon: f64) -> &'static str {
    match epsilon {
        epsilon if epsilon <= 0.5 => {
            "Strong: hardly anything is learnt of one person. It takes many rows to learn from them."
        }
        epsilon if epsilon <= 2.0 => {
            "Usual for sensitive records: a person can plausibly deny what a guess says."
        }
        epsilon if epsilon <= 8.0 => {
            "Weak as a proof, though attacks in practice find far less than these bounds allow."
        }
        _ => "Next to no proved protection: it shows little more than that noise was added.",
    }
}
