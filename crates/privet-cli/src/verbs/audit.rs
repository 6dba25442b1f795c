//! `privet audit`: try to refute a claim.

use super::predict::{fitting_schema, tell_unknown};
use crate::failure::Failure;
use crate::output::{self, json_number, number};
use crate::progress::Meter;
use crate::say;
use crate::settings::{range_parser, rows};
use clap::Args;
use privet_audit::attack::{Finding, Grounds, RUNS};
use privet_audit::claim::CONFIDENCE;
use privet_audit::declared;
use privet_audit::learner::{self, Setting};
use privet_audit::membership::{self, Membership};
use privet_audit::one_run::{self, CANARIES, OneRun};
use privet_audit::ratings;
use privet_audit::streams::{self, ReleaseKind};
use privet_audit::{AttackOptions, AttackWatch, AuditError};
use privet_core::{Budget, DELTA, EPSILON, Neighbours};
use privet_data::Dataset;
use privet_data::read::{self, Purpose, read};
use privet_learn::file::{self, Seal};
use privet_learn::ratings::Method as Completion;
use privet_learn::{Calibration, Erm, Method};
use serde_json::Value;
use std::path::{Path, PathBuf};

/// Try to refute a learner's guarantee, or to tell who a model was trained on
#[derive(Args, Debug)]
#[command(
    long_about = "\
With --method: runs a learner many times on two neighbouring tables that are built to be told apart,
attacks its releases, and gives a lower bound on its true ε with a stated confidence. If that lies
above what its certificate claims, the certificate is refuted and the exit code is 1. No data are
needed: the tables are built in. --one-run trains once, with many canary rows, instead.

With --model and --data: membership inference against a finished model. Rows on which its loss is
small are guessed to have been trained on. Give rows that were not with --holdout; without, stand-ins
are made by shuffling columns within each class, which is rough.

A claim that is not refuted was not refuted by these attacks; proofs are another matter. What is
measured on your own rows is itself not private.",
    after_help = "\
Examples:
  privet audit --method output --epsilon 1 --delta 1e-5
  privet audit --method amp --epsilon 1 --delta 1e-5 --neighbours add-remove --runs 50000 --json
  privet audit --method gd --epsilon 4 --delta 1e-5 --one-run
  privet audit --complete moments --epsilon 4 --runs 2000
  privet audit --online ftrl --epsilon 4
  privet audit --of select:exponential --epsilon 4 --delta 0
  privet audit --model model.json --data train.csv --holdout test.csv"
)]
pub struct Audit {
    /// The learner to attack; `privet methods` lists them
    #[arg(
        long,
        value_name = "METHOD",
        required_unless_present_any = ["model", "complete", "online", "of"],
        conflicts_with = "model"
    )]
    method: Option<Method>,
    /// The way to complete ratings to attack, by a planted user; `privet methods --complete` lists them
    #[arg(long, value_name = "METHOD", conflicts_with_all = ["method", "model", "rows", "one_run"])]
    complete: Option<Completion>,
    /// The stream to attack, all of its releases together: ftrl, ftrl-tree, ftrl-square-root, implicit,
    /// giga, leader, experts, count
    #[arg(
        long, value_name = "STREAM",
        conflicts_with_all = ["method", "complete", "model", "rows", "one_run", "set", "neighbours"]
    )]
    online: Option<ReleaseKind>,
    /// What a verb releases, of those that are made of their families' declarations, with the default
    /// method or another: describe, select:exponential
    #[arg(
        long, value_name = "VERB[:METHOD]", value_parser = parse_verb,
        conflicts_with_all = ["method", "complete", "online", "model", "rows", "one_run", "set"]
    )]
    of: Option<VerbAndMethod>,
    #[arg(
        long, value_name = "E", value_parser = range_parser(EPSILON), allow_hyphen_values = true,
        help = format!("The ε it is asked for: {EPSILON}"),
    )]
    epsilon: Option<f64>,
    #[arg(
        long, value_name = "D", value_parser = range_parser(DELTA), allow_hyphen_values = true,
        help = format!("The δ it is asked for: {DELTA} [default: 1e-5]"),
    )]
    delta: Option<f64>,
    /// Under which relation [default: replace-one]
    #[arg(long, value_name = "RELATION")]
    neighbours: Option<Neighbours>,
    /// A setting of the method, by name; may be given several times. Descents take 16 steps unless told
    /// otherwise
    #[arg(long = "set", value_name = "NAME=VALUE", value_parser = crate::settings::assignment)]
    set: Vec<(String, String)>,
    /// Rows of the built-in tables [default: 64]
    #[arg(long, value_name = "N", value_parser = rows, requires = "method")]
    rows: Option<u64>,
    #[arg(
        long, value_name = "N", value_parser = runs,
        help = format!("Runs on each of the two tables, a whole number: {RUNS} [default: 10000]"),
    )]
    runs: Option<u64>,
    #[arg(
        long, value_name = "C", value_parser = range_parser(CONFIDENCE), allow_hyphen_values = true,
        default_value_t = 0.999, help = format!("Confidence of the bounds: {CONFIDENCE}"),
    )]
    confidence: f64,
    /// Where all randomness comes from: the same seed, the same finding
    #[arg(long, value_name = "S", default_value_t = 1)]
    seed: u64,
    /// Train once with many canaries, instead of many times with one
    #[arg(long, requires = "method", conflicts_with = "runs")]
    one_run: bool,
    #[arg(
        long, value_name = "N", value_parser = canaries, requires = "one_run",
        help = format!("Canaries of --one-run, a whole number: {CANARIES} [default: 400]"),
    )]
    canaries: Option<u64>,
    /// A model file, for membership inference
    #[arg(long, value_name = "MODEL", requires = "data")]
    model: Option<PathBuf>,
    /// The rows it was trained on
    #[arg(long, value_name = "DATA", requires = "model")]
    data: Option<PathBuf>,
    /// Rows that it was not trained on
    #[arg(long, value_name = "DATA", requires = "model")]
    holdout: Option<PathBuf>,
    /// As JSON
    #[arg(long)]
    json: bool,
}

/// A verb, and a method of it where it has several.
type VerbAndMethod = (&'static str, Option<&'static str>);

/// A verb that is made of its family's declaration, and a method.
fn parse_verb(text: &str) -> Result<VerbAndMethod, String> {
    let (verb, method) = text.split_once(':').map_or((text, None), |(a, b)| (a, Some(b)));
    let all = declared::offered_families();
    let found = all.iter().find(|(name, _)| *name == verb).ok_or_else(|| {
        let names: Vec<_> = all.iter().map(|(name, _)| *name).collect();
        format!("accepted: {}", names.join(", "))
    })?;
    let Some(word) = method else { return Ok((found.0, None)) };
    let method = found.1.iter().find(|name| **name == word);
    let method = method.ok_or_else(|| format!("accepted of {verb}: {}", found.1.join(", ")))?;
    Ok((found.0, Some(*method)))
}

/// A number of runs.
fn runs(text: &str) -> Result<u64, String> {
    parse_integer(text, RUNS)
}

/// A number of canaries.
fn canaries(text: &str) -> Result<u64, String> {
    parse_integer(text, CANARIES)
}

fn parse_integer(text: &str, range: privet_core::Range) -> Result<u64, String> {
    let count: u64 = text.parse().map_err(|_| format!("accepted is a whole number, {range}"))?;
    range.check(count as f64).map_err(|error| error.to_string())?;
    Ok(count)
}

impl From<AuditError> for Failure {
    fn from(error: AuditError) -> Self {
        match error {
            AuditError::Learn(error) => error.into(),
            AuditError::Stopped => Self::Interrupted,
            error => Self::input(error.to_string()),
        }
    }
}

struct ShownProgress(Meter);

impl AttackWatch for ShownProgress {
    fn proceed(&self, done: u64, total: u64) -> bool {
        if done.is_multiple_of(64) {
            self.0.at(done, total);
        }
        true
    }
}

impl Audit {
    /// Attacks and reports the findings.
    pub fn run(self) -> Result<(), Failure> {
        self.refuse_what_would_be_ignored()?;
        if let Some(method) = &self.complete {
            return self.attack_completion(method);
        }
        if let Some(of) = self.online {
            return self.stream(of);
        }
        if let Some(of) = self.of {
            return self.declared(of);
        }
        match (&self.method, &self.model, &self.data) {
            (Some(method), ..) => self.learner(method),
            (None, Some(model), Some(data)) => self.membership(model, data),
            _ => Err(Failure::input("accepted is --method METHOD, or --model MODEL --data DATA")),
        }
    }

    /// Refuses options without effect: the parser lets an option pass whose partner conflicts with a
    /// given one.
    fn refuse_what_would_be_ignored(&self) -> Result<(), Failure> {
        let of_learners = [
            ("--epsilon", self.epsilon.is_some()),
            ("--delta", self.delta.is_some()),
            ("--neighbours", self.neighbours.is_some()),
            ("--set", !self.set.is_empty()),
            ("--rows", self.rows.is_some()),
            ("--runs", self.runs.is_some()),
            ("--one-run", self.one_run),
            ("--canaries", self.canaries.is_some()),
        ];
        let of_models = [("--data", self.data.is_some()), ("--holdout", self.holdout.is_some())];
        let given = |options: &[(&'static str, bool)]| {
            options.iter().find(|(_, given)| *given).map(|(name, _)| *name)
        };
        let refuse = |name: &str, with: &str| {
            Err(Failure::input(format!("{name} says nothing here; it is accepted with {with}")))
        };
        if self.method.is_none()
            && self.complete.is_none()
            && self.online.is_none()
            && self.of.is_none()
        {
            return given(&of_learners).map_or(Ok(()), |name| refuse(name, "--method"));
        }
        match given(&of_models) {
            Some(name) => refuse(name, "--model"),
            None if self.canaries.is_some() && !self.one_run => refuse("--canaries", "--one-run"),
            None => Ok(()),
        }
    }

    /// The budget that is to be claimed.
    fn budget(&self) -> Result<Budget, Failure> {
        let epsilon = self.epsilon.ok_or_else(|| {
            Failure::input(format!("--epsilon is missing: what is to be claimed, {EPSILON}"))
        })?;
        Ok(Budget::new(epsilon, self.delta.unwrap_or(1e-5))?)
    }

    fn options(&self) -> AttackOptions {
        AttackOptions {
            runs: self.runs.unwrap_or(AttackOptions::default().runs),
            confidence: self.confidence,
            seed: self.seed,
        }
    }

    fn learner(&self, method: &Method) -> Result<(), Failure> {
        let budget = self.budget()?;
        let method = self
            .set
            .iter()
            .try_fold(method.clone(), |method, (name, value)| method.with(name, value))?;
        let setting = Setting {
            method,
            budget,
            neighbours: self.neighbours.unwrap_or(Neighbours::ReplaceOne),
            rows: self.rows.unwrap_or(learner::ROWS),
            calibration: Calibration::Sound,
        };
        if self.one_run {
            let canaries = self.canaries.unwrap_or(400);
            let meter = Meter::spinner("training once");
            let found = one_run::audit(&setting, canaries, self.confidence, self.seed)?;
            drop(meter);
            return self.print_finding(found.refuted, as_json(&found)?, || once_in_words(&found));
        }
        let meter = ShownProgress(Meter::bar("auditing"));
        let report = learner::audit(&setting, &self.options(), &meter)?;
        drop(meter);
        self.print_finding(report.finding.refuted, as_json(&report)?, || in_words(&report))
    }

    /// Attacks all releases of a stream.
    fn stream(&self, of: ReleaseKind) -> Result<(), Failure> {
        let budget = self.budget()?;
        let meter = ShownProgress(Meter::bar("auditing"));
        let found = streams::audit(&streams::Setting { of, budget }, &self.options(), &meter)?;
        drop(meter);
        self.print_finding(found.refuted, as_json(&found)?, || {
            format!(
                "the stream {}, all its releases together, one slot replaced, {} runs on each\n{}",
                of.name(),
                found.runs,
                claimed_and_found(&found)
            )
        })
    }

    /// Attacks what a verb releases.
    fn declared(&self, (verb, method): VerbAndMethod) -> Result<(), Failure> {
        let setting = declared::Setting {
            verb,
            method,
            budget: self.budget()?,
            neighbours: self.neighbours.unwrap_or(Neighbours::ReplaceOne),
        };
        let meter = ShownProgress(Meter::bar("auditing"));
        let found = declared::audit(&setting, &self.options(), &meter)?;
        drop(meter);
        self.print_finding(found.refuted, as_json(&found)?, || {
            format!(
                "{}, {} neighbours, {} runs on each of two tables\n{}",
                setting.name(),
                setting.neighbours,
                found.runs,
                claimed_and_found(&found)
            )
        })
    }

    /// Attacks a method of completing ratings.
    fn attack_completion(&self, method: &Completion) -> Result<(), Failure> {
        let budget = self.budget()?;
        let method = self
            .set
            .iter()
            .try_fold(method.clone(), |method, (name, value)| method.with(name, value))?;
        let setting = ratings::Setting {
            method,
            budget,
            neighbours: self.neighbours.unwrap_or(Neighbours::ReplaceOne),
        };
        let meter = ShownProgress(Meter::bar("auditing"));
        let found = ratings::audit(&setting, &self.options(), &meter)?;
        drop(meter);
        self.print_finding(found.refuted, as_json(&found)?, || {
            format!(
                "ratings completed by {}, {} neighbours, a planted user, {} runs on each\n{}",
                setting.method,
                setting.neighbours,
                found.runs,
                claimed_and_found(&found)
            )
        })
    }

    fn print_finding(
        &self,
        refuted: bool,
        json: Value,
        words: impl FnOnce() -> String,
    ) -> Result<(), Failure> {
        if self.json {
            output::print_json(&json)?;
        } else {
            output::print(&words())?;
        }
        if refuted { Err(Failure::Told) } else { Ok(()) }
    }

    fn membership(&self, model: &Path, data: &Path) -> Result<(), Failure> {
        let model = file::load::<Erm>(model, Seal::Required)?;
        let schema = fitting_schema(&model.request().schema, None)?;
        let table = |path: &Path| -> Result<Dataset, Failure> {
            let meter = Meter::bar(&format!("reading {}", path.display()));
            let tell = |done, total| meter.at(done, total);
            let options = read::ReadOptions {
                purpose: Purpose::Evaluate,
                progress: Some(&tell),
                ..read::ReadOptions::default()
            };
            let data = read(path, &schema, &options)?;
            drop(meter);
            tell_unknown(&data.report);
            Ok(data)
        };
        let members = table(data)?;
        let others = self.holdout.as_deref().map(table).transpose()?;
        if others.is_none() {
            say!(
                "no --holdout: non-members are stand-ins, made by shuffling columns within each class; \
                 their scores differ from true ones, so take the result as a hint"
            );
        }
        let found = membership::audit(&model, &members, others.as_ref(), self.seed)?;
        say!(
            "these numbers are themselves not private: they are computed from these rows without noise"
        );
        let epsilon = model.certificate().guarantee.as_ref().map(|g| g.epsilon);
        if self.json {
            let mut json = as_json(&found)?;
            json["epsilon_claimed"] = epsilon.map_or(Value::Null, json_number);
            output::print_json(&json)
        } else {
            output::print(&membership_in_words(&found))
        }
    }
}

/// The finding as JSON, which has no infinity of its own.
fn as_json(found: &impl serde::Serialize) -> Result<Value, Failure> {
    serde_json::to_value(found)
        .map_err(|error| Failure::input(format!("the finding cannot be written as JSON: {error}")))
}

fn in_words(report: &learner::Report) -> String {
    let found = &report.finding;
    let gaussian = found.epsilon_lower_gaussian.map_or_else(String::new, |epsilon| {
        format!("by the shape of Gaussian noise: ε ≥ {}\n", number(epsilon))
    });
    format!(
        "method {}, {} neighbours, loss {}, tables '{}', {} runs on each\n\
         claimed: ε = {}, δ = {}\n\
         found:   ε ≥ {} at confidence {}\n{gaussian}{}{}",
        report.method,
        report.neighbours,
        report.loss,
        report.pair,
        found.runs,
        number(found.epsilon_claimed),
        number(found.delta),
        number(found.epsilon_lower),
        found.confidence,
        refutation_words(found),
        verdict(found.refuted)
    )
}

/// What was claimed and what was found, a line each, and the verdict.
fn claimed_and_found(found: &Finding) -> String {
    format!(
        "claimed: ε = {}, δ = {}\n\
         found:   ε ≥ {} at confidence {}\n{}{}",
        number(found.epsilon_claimed),
        number(found.delta),
        number(found.epsilon_lower),
        found.confidence,
        refutation_words(found),
        verdict(found.refuted)
    )
}

/// The grounds on which a claim was refuted, or the reach of the audit.
fn refutation_words(found: &Finding) -> String {
    match found.refuted_by {
        Some(Grounds::Epsilon) => "the bound exceeds the claimed ε\n".into(),
        Some(Grounds::TradeOff) => {
            "the errors lie below the certificate's trade-off curve, which says more than its (ε, δ)\n"
                .into()
        }
        Some(Grounds::Multiplier) => {
            "the certificate's noise is Gaussian, and the releases differ by more than it allows\n"
                .into()
        }
        None if found.epsilon_reachable <= found.epsilon_claimed => format!(
            "with {} runs no attack could show more than ε ≥ {}: too few for this claim; give --runs\n",
            found.runs,
            number(found.epsilon_reachable)
        ),
        None => format!(
            "with {} runs no attack could show more than ε ≥ {}\n",
            found.runs,
            number(found.epsilon_reachable)
        ),
    }
}

fn once_in_words(found: &OneRun) -> String {
    format!(
        "method {}, one run with {} canaries: {} of {} guesses right\n\
         claimed: ε = {}, δ = {}\n\
         found:   ε ≥ {} at confidence {}\n{}",
        found.method,
        found.canaries,
        found.right,
        found.guesses,
        number(found.epsilon_claimed),
        number(found.delta),
        number(found.epsilon_lower),
        found.confidence,
        verdict(found.refuted)
    )
}

fn verdict(refuted: bool) -> &'static str {
    if refuted {
        "REFUTED: this learner does not keep what it claims; please report it\n"
    } else {
        "not refuted\n"
    }
}

fn membership_in_words(found: &Membership) -> String {
    let few = if found.too_few_non_members {
        "fewer than 1,000 non-members: a rate at 0.1 % says little\n"
    } else {
        ""
    };
    format!(
        "AUC {} ({} members, {} non-members from {})\n\
         {} % of members found at 0.1 % false positives (by chance: {} %)\n{few}",
        number(found.auc),
        found.members,
        found.non_members,
        found.non_members_from,
        number(100.0 * found.tpr_at_fpr_0_001),
        number(100.0 * found.tpr_by_chance)
    )
}
