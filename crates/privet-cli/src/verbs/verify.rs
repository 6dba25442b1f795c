//! `privet verify`: does the certificate hold?

use crate::failure::Failure;
use crate::keys;
use crate::output::{self, json_number};
use crate::progress::Meter;
use crate::words;
use clap::Args;
use privet_learn::model::file::{self, Seal};
use privet_learn::{Check, Verdict, verify};
use serde_json::{Value, json};
use std::path::PathBuf;

/// Check a model's certificate, without the data
#[derive(Args, Debug)]
#[command(
    long_about = "\
Checks a model without its data:
  1. the guarantee is recomputed from the events that the certificate lists;
  2. the plan is made again from the certificate's public facts and must give those same events, so
     that noise below the theorem is found;
  3. the digest that binds model and certificate must match, and the signature if there is one.

It cannot prove that the holder ran this program on the data. A signature lets an organisation vouch
for that: name the key you trust with --signer.

Exit code 0 if everything holds, 1 if not.",
    after_help = "\
Examples:
  privet verify model.json
  privet verify model.json --json
  privet verify model.json --signer 3b6a27bcceb6a42d62a3a8d02a6f0d73653215771de243a63ac048a18b59da29"
)]
pub struct Verify {
    /// The model file
    model: PathBuf,
    /// Public key that must have signed it, 64 hexadecimal digits
    #[arg(long, value_name = "PUBKEY", value_parser = keys::public_key)]
    signer: Option<String>,
    /// As JSON
    #[arg(long)]
    json: bool,
}

impl Verify {
    /// Loads, verifies, prints the verdict.
    pub fn run(self) -> Result<(), Failure> {
        let model = file::load(&self.model, Seal::Unchecked)?;
        let meter = Meter::spinner("verifying");
        let mut verdict = verify(&model);
        drop(meter);
        if let Some(expected) = &self.signer {
            let check = signed_by(expected, verdict.signer.as_deref());
            verdict.valid &= check.holds;
            verdict.checks.push(check);
        }
        if !verdict.valid {
            verdict.guarantee = None;
        }
        if self.json {
            output::print_json(&as_json(&verdict))?;
        } else {
            output::print(&in_words(&verdict))?;
        }
        if verdict.valid { Ok(()) } else { Err(Failure::Told) }
    }
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
        "signer": verdict.signer,
        "checks": verdict.checks,
    })
}

fn in_words(verdict: &Verdict) -> String {
    let mut text = String::new();
    for check in &verdict.checks {
        let mark = if check.holds { "ok " } else { "NOT" };
        text.push_str(&format!("{mark}  {}: {}\n", check.what, check.detail));
    }
    if let Some(signer) = &verdict.signer {
        text.push_str(&format!("     signed by {signer}\n"));
    }
    match &verdict.guarantee {
        Some(guarantee) => {
            let head = words::budget(guarantee.epsilon, guarantee.delta);
            text.push_str(&format!("VALID: {head}, {} neighbours\n", guarantee.neighbours));
            text.push_str(&words::wrapped(
                &words::sentence(&format!("{}.", words::guarantee(guarantee))),
                "  ",
            ));
        }
        None => text.push_str("NOT VALID: rely on no guarantee for this model\n"),
    }
    text
}
