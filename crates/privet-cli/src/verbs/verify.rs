//! `privet verify`: verifies a certificate.

use crate::failure::Failure;
use crate::keys;
use crate::output::{self, json_number};
use crate::progress::Meter;
use crate::releasing::read_table;
use crate::sentences;
use clap::Args;
use privet_core::{Neighbours, Relation, Unit};
use privet_learn::file::{self, Seal};
use privet_learn::linear::dpsl_kt;
use privet_learn::votes;
use privet_learn::{Check, Fact, Loaded, UNSIGNED, Verdict};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// Check the certificate of any release, without the data
#[derive(Args, Debug)]
#[command(
    long_about = "\
Checks what was released, without its data:
  1. the guarantee is recomputed from the events that the certificate lists;
  2. the plan is made again from the certificate's public facts: request, events and claim must be
     ones that the planner writes together, so that noise below the theorem is found;
  3. the digest that binds model and certificate must match, and the signature if there is one;
  4. what was released must be what such a plan can release: on the grid of its noise, in its ball,
     sums of its columns;
  5. the certificate must state every condition of that plan;
  6. the certificate must not be on the list of void ones (SECURITY.md).

A model by --method dpsl-kt rests on how long its public rows are: name their file with --public, and
it is checked that they are as many and no longer than the certificate states. Labels by privet vote
are of public rows: with --public it is checked that they are of those of the file, in its order.

Printed besides: the facts that the claim takes for granted and nothing checks (how many records there
were, that the schema is public, that nothing was fitted on the records before), and, apart, words of
whoever made the file.

It cannot prove that the holder ran this program on the data: whoever makes up a request and numbers
that fit it has a file on which all of this holds. A signature lets an organisation vouch: name the
key you trust with --signer.

Exit code 0 if everything holds, 1 if not.",
    after_help = "\
Examples:
  privet verify model.json
  privet verify model.json --json
  privet verify model.json --public public.csv
  privet verify model.json --signer 3b6a27bcceb6a42d62a3a8d02a6f0d73653215771de243a63ac048a18b59da29"
)]
pub struct Verify {
    /// The file
    model: PathBuf,
    /// Public key that must have signed it, 64 hexadecimal digits
    #[arg(long, value_name = "PUBKEY", value_parser = keys::public_key)]
    signer: Option<String>,
    /// The public rows that a model by dpsl-kt was learned from, or that labels are of: checked
    /// against what the certificate states
    #[arg(long, value_name = "FILE")]
    public: Option<PathBuf>,
    /// As JSON
    #[arg(long)]
    json: bool,
}

impl Verify {
    /// Loads, verifies, prints the verdict.
    pub fn run(self) -> Result<(), Failure> {
        let released = file::load_any(&self.model, Seal::Unchecked)?;
        let meter = Meter::spinner("verifying");
        let mut verdict = released.verify();
        drop(meter);
        if let Some(expected) = &self.signer {
            let check = signed_by(expected, verdict.signer.as_deref());
            verdict.valid &= check.holds;
            verdict.checks.push(check);
        }
        if let Some(path) = &self.public {
            let check = public_rows(&released, path)?;
            verdict.unchecked.retain(|one| one.fact != Fact::PublicRows);
            verdict.valid &= check.holds;
            verdict.checks.push(check);
        }
        if !verdict.valid {
            verdict.guarantee = None;
            verdict.unchecked.clear();
        }
        if self.json {
            output::print_json(&as_json(&verdict))?;
        } else if verdict.valid {
            output::report(&in_words(&verdict))?;
        } else {
            output::print(&in_words(&verdict))?;
        }
        if verdict.valid { Ok(()) } else { Err(Failure::Told) }
    }
}

/// Checks that the rows of a public file are those that a model states.
fn public_rows(released: &Loaded, path: &Path) -> Result<Check, Failure> {
    if let Loaded::Labels(labels) = released {
        let request = labels.request();
        let rows = super::vote::public_rows(path, &request.schema)?;
        return votes::public::check_stated_rows(&request.task, &rows).ok_or_else(|| {
            Failure::input(
                "--public: the certificate states no public rows, so that these cannot be checked (batches of a stream \
                 state none); leave it out to verify everything else",
            )
        });
    }
    let Loaded::Model(model) = released else {
        return Err(Failure::input(
            "--public: only models by --method dpsl-kt and labels by privet vote rest on public rows",
        ));
    };
    let request = model.request();
    let public = Relation::new(Neighbours::ReplaceOne, Unit::Record);
    let rows = read_table(path, &request.schema, public)?.features;
    Ok(dpsl_kt::check_public_rows(&request.task.method, &rows))
}

fn signed_by(expected: &str, found: Option<&str>) -> Check {
    let (holds, detail) = match found {
        Some(key) if key.eq_ignore_ascii_case(expected) => (true, format!("signed by {key}")),
        Some(key) => (false, format!("signed by another key: {key}")),
        None => (false, "there is no valid signature".into()),
    };
    Check { what: "the expected signer vouches for it", holds, detail }
}

fn as_json(verdict: &Verdict) -> Value {
    let guarantee = verdict.guarantee.as_ref();
    json!({
        "valid": verdict.valid,
        "epsilon": guarantee.map(|g| json_number(g.epsilon)),
        "delta": guarantee.map(|g| g.delta),
        "neighbours": guarantee.map(|g| g.neighbours),
        "unit": guarantee.map(|g| g.unit),
        "whose": guarantee.map(|_| &verdict.whose),
        "arithmetic": verdict.arithmetic,
        "signer": verdict.signer,
        "made": verdict.made,
        "notes": verdict.notes,
        "stated": verdict.stated,
        "unchecked": verdict.unchecked,
        "checks": verdict.checks,
    })
}

fn in_words(verdict: &Verdict) -> String {
    let mut text = String::new();
    for check in &verdict.checks {
        let mark = if check.holds { "ok " } else { "NOT" };
        let message = format!("{}: {}", check.what, check.detail);
        text.push_str(&sentences::wrap_after_margin(&format!("{mark}  "), &message));
    }
    let Some(guarantee) = &verdict.guarantee else {
        text.push_str("NOT VALID: rely on no guarantee for this file\n");
        return text;
    };
    let head = sentences::budget(guarantee.epsilon, guarantee.delta);
    text.push_str(&format!("VALID: {head}, {} neighbours\n", guarantee.neighbours));
    let mut say =
        |line: &str| text.push_str(&sentences::wrap_lines(&sentences::sentence(line), "  "));
    say(&format!("{}.", sentences::guarantee(guarantee)));
    if let Some(whose) = sentences::unit_sentence(guarantee.unit, &verdict.whose) {
        say(&format!("{whose}."));
    }
    if let Some(arithmetic) = verdict.arithmetic {
        say(&format!("arithmetic: {}.", sentences::arithmetic(arithmetic)));
    }
    verdict.notes.iter().for_each(|note| say(&format!("note: {note}.")));
    say(&sentences::assumptions_sentence(&verdict.unchecked));
    say(&sentences::provenance_sentence(verdict.made.as_ref()));
    match &verdict.signer {
        Some(key) => say(&format!("signed by {key}.")),
        None => say(&format!("{UNSIGNED}.")),
    }
    text.push_str(&sentences::quote_notes(&verdict.stated));
    text
}
