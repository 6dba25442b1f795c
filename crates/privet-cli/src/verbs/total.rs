//! `privet total`: the joint guarantee of several releases.

use crate::failure::Failure;
use crate::output::{self, number};
use crate::progress::Meter;
use crate::sentences;
use crate::settings::range_parser;
use clap::Args;
use privet_core::{DELTA, UnitDefinition, printable};
use privet_dp::account::{self, Cost, Event, Guarantee};
use privet_dp::gate::Arithmetic;
use privet_learn::file::{self, Seal};
use serde_json::json;
use std::path::{Path, PathBuf};

/// Add up what several releases from the same records reveal together
#[derive(Args, Debug)]
#[command(
    long_about = "\
Composes the certificates of several releases: what can be learnt of one record (or user) by somebody
who sees all of them. Every file is verified first; one whose claim does not hold is refused, and so
are claims about different neighbours or units, which do not add up. A user is whoever a column of the
table says: files of different columns are refused, and so are files that do not say it (Python writes
it where the groups have a name, since 0.2.1), unless you state with --same-unit that it is the same.

Each release keeps its conditions (the notes of `privet verify`) and its arithmetic: both are repeated,
and the total holds under all of them.

What is stated is the better of two proofs: the sums of all ε and all δ, and the accountant's own
composition of all events at --delta. The second holds if budgets and number of the releases were
fixed without looking at earlier ones. If they were not (try, look, try again), only a limit set
beforehand covers them: that is what a ledger keeps (`privet budget`).

A file made under a schema whose bounds were bought (`privet schema narrow`, `schema new --epsilon`)
shows those bounds: what they cost is counted too, once for all files. The total holds for these
files. That nothing else was released from the records only a ledger can say.",
    after_help = "\
Examples:
  privet total model.json counts.json worth.json
  privet total *.json --delta 1e-6 --json"
)]
pub struct Total {
    /// Files of any kind with certificates
    #[arg(required = true)]
    files: Vec<PathBuf>,
    #[arg(
        long, value_name = "D", value_parser = range_parser(DELTA), allow_hyphen_values = true,
        help = format!("State ε at this δ: {DELTA} [default: the sum of all]"),
    )]
    delta: Option<f64>,
    /// State that a user is the same in all files, though they name different columns or none. It is
    /// repeated as yours
    #[arg(long)]
    same_unit: bool,
    /// As JSON
    #[arg(long)]
    json: bool,
}

/// The condition that `--same-unit` states, where it was needed.
const SAME_UNIT: &str = "that a user is the same in all of them is the word of whoever ran this (--same-unit): the files do \
                         not say so";

/// One release.
struct Part {
    /// Its file, or the file whose schema it paid for.
    name: String,
    /// The digest that identifies it.
    digest: String,
    claim: Guarantee,
    /// The arithmetic of its proof; unknown for a schema's cost.
    arithmetic: Option<Arithmetic>,
    /// Its conditions and other notes of its verification.
    notes: Vec<String>,
    /// The definition of a unit under which its claim holds.
    whose: UnitDefinition,
    event: Event,
    /// The planned events, by which a schema made from it identifies it.
    planned: Option<Event>,
}

impl Part {
    /// True if a schema's cost is that of this release, or of another file's schema. The digest alone
    /// would not do: it is a text in a schema, and nothing ties it to the events beside it.
    fn is(&self, schema: &Self) -> bool {
        let claim = |part: &Self| (part.claim.epsilon, part.claim.delta);
        self.digest == schema.digest
            && claim(self) == claim(schema)
            && self.planned == schema.planned
    }
}

impl Total {
    /// Loads, verifies, composes.
    pub fn run(self) -> Result<(), Failure> {
        let (mut parts, mut schemas): (Vec<Part>, Vec<Part>) = (Vec::new(), Vec::new());
        let mut again: Vec<&Path> = Vec::new();
        for path in &self.files {
            let (part, schema) = read(path)?;
            if parts.iter().any(|known| known.digest == part.digest) {
                again.push(path);
                continue;
            }
            parts.push(part);
            schemas.extend(schema);
        }
        // The cost of a schema's bounds counts once, whether its release is among the files or not.
        for schema in schemas {
            if !parts.iter().any(|known| known.is(&schema)) {
                parts.push(schema);
            }
        }
        let stated = self.same_unit(&parts)?;
        let whole = composed(&parts, self.delta)?;
        if self.json {
            let each = parts.iter().map(|part| {
                json!({
                    "file": part.name,
                    "epsilon": part.claim.epsilon,
                    "delta": part.claim.delta,
                    "whose": part.whose,
                    "arithmetic": part.arithmetic,
                    "notes": part.notes,
                })
            });
            return output::print_json(&json!({
                "releases": each.collect::<Vec<_>>(),
                "epsilon": output::json_number(whole.epsilon),
                "delta": whole.delta,
                "neighbours": whole.neighbours,
                "unit": whole.unit,
                "arithmetic": arithmetic(&parts),
                "stated": stated,
                "counted_once": again.iter().map(|path| path.display().to_string()).collect::<Vec<_>>(),
            }));
        }
        let mut rows = vec![vec!["release".to_string(), "ε".into(), "δ".into()]];
        for part in &parts {
            let claim = &part.claim;
            rows.push(vec![
                printable(&part.name).into_owned(),
                number(claim.epsilon),
                number(claim.delta),
            ]);
        }
        rows.push(vec!["together".into(), number(whole.epsilon), number(whole.delta)]);
        let mut text = output::table(&rows);
        for path in again {
            let shown = path.display().to_string();
            text.push_str(&format!(
                "{} is one of the others once more, and counts once\n",
                printable(&shown)
            ));
        }
        let promise = format!("Together: {}.", sentences::guarantee(&whole));
        text.push_str(&sentences::wrap_lines(&promise, ""));
        let mut said: Vec<&UnitDefinition> = parts.iter().map(|part| &part.whose).collect();
        said.dedup();
        for whose in
            said.into_iter().filter_map(|whose| sentences::unit_sentence(whole.unit, whose))
        {
            text.push_str(&sentences::wrap_lines(&sentences::sentence(&format!("{whose}.")), ""));
        }
        if let Some(stated) = stated {
            text.push_str(&sentences::wrap_lines(&sentences::sentence(&format!("{stated}.")), ""));
        }
        text.push_str(&conditions(&parts));
        let closing = "This is about these files; what else was released from the records is not in it. It holds \
                          if no budget, and not the number of releases, was chosen after looking at one of them; \
                          otherwise set a limit beforehand and let a ledger keep it (privet budget).";
        text.push_str(&sentences::wrap_lines(closing, ""));
        output::print(&text)
    }

    /// Refuses releases whose units may differ, unless the user declares them the same; returns that
    /// declaration.
    fn same_unit(&self, parts: &[Part]) -> Result<Option<&'static str>, Failure> {
        let Some(first) = parts.first() else { return Ok(None) };
        // The relations are compared where the claims are added up.
        let apart = |part: &&Part| {
            part.claim.unit == first.claim.unit
                && (part.whose != first.whose || !part.whose.is_said())
        };
        let Some(other) = parts.iter().skip(1).find(apart) else { return Ok(None) };
        if self.same_unit {
            return Ok(Some(SAME_UNIT));
        }
        let shown = |part: &Part| format!("{} ({})", printable(&part.name), part.whose);
        Err(Failure::Refused(format!(
            "whose records are one user's is not known to be the same in {} and {}: such claims do not add up; accepted are \
             releases whose schemas name the same [unit], or --same-unit if you know that it is the same",
            shown(first),
            shown(other)
        )))
    }
}

/// The arithmetic for which the total is proved.
fn arithmetic(parts: &[Part]) -> Arithmetic {
    match parts.iter().any(|part| part.arithmetic == Some(Arithmetic::Real)) {
        true => Arithmetic::Real,
        false => Arithmetic::Finite,
    }
}

/// The conditions of the total: the arithmetic, and each condition with the releases that have it.
fn conditions(parts: &[Part]) -> String {
    let of = |has: &dyn Fn(&Part) -> bool| {
        let names = parts.iter().filter(|part| has(part)).map(|part| printable(&part.name));
        names.collect::<Vec<_>>().join(", ")
    };
    let mut all = Vec::new();
    if arithmetic(parts) == Arithmetic::Real {
        let real = of(&|part| part.arithmetic == Some(Arithmetic::Real));
        all.push(format!("{real}: {}", sentences::arithmetic(Arithmetic::Real)));
    }
    let mut told: Vec<&String> = Vec::new();
    for note in parts.iter().flat_map(|part| &part.notes) {
        if !told.contains(&note) {
            told.push(note);
            all.push(format!("{}: {note}", of(&|part| part.notes.contains(note))));
        }
    }
    let lines = all.iter().map(|line| sentences::wrap_lines(&format!("- {line}."), "  "));
    match all.is_empty() {
        true => String::new(),
        false => format!("It holds on the conditions of each:\n{}", lines.collect::<String>()),
    }
}

/// A release whose claim holds, and the cost of its schema's bounds.
fn read(path: &Path) -> Result<(Part, Option<Part>), Failure> {
    let released = file::load_any(path, Seal::Required)?;
    let meter = Meter::spinner(&format!("verifying {}", path.display()));
    let verdict = released.verify();
    drop(meter);
    let (arithmetic, notes) = (verdict.arithmetic, verdict.notes);
    let refused = |why: &str| {
        Failure::Refused(format!(
            "{}: {why}; see privet verify {}",
            path.display(),
            output::quote_for_shell(path)
        ))
    };
    let claim = verdict.guarantee.ok_or_else(|| refused("it has no guarantee that holds"))?;
    let claim = claim
        .for_everyone()
        .map_err(|_| refused("its claim does not hold towards the person concerned"))?;
    let certificate = released.certificate();
    let planned = certificate.events.clone().filter(|_| certificate.filter.is_none());
    let bought = released.bounds_cost();
    // Under a privately estimated schema a plan's events depend on the estimate: its claim alone was
    // fixed before.
    let event = planned.clone().filter(|_| bought.is_none()).unwrap_or(Event::Use {
        neighbours: claim.neighbours,
        unit: claim.unit,
        cost: Cost::Approximate { epsilon: claim.epsilon, delta: claim.delta },
    });
    let name = path.display().to_string();
    let schema = bought.map(|bought| Part {
        name: format!("bounds of the schema of {name}, bought"),
        digest: bought.certificate,
        claim: bought.guarantee,
        arithmetic: None,
        notes: Vec::new(),
        whose: bought.whose,
        planned: Some(bought.events.clone()),
        event: bought.events,
    });
    let digest = certificate.digest.clone().unwrap_or_default();
    let whose = released.unit_definition();
    Ok((Part { name, digest, claim, arithmetic, notes, whose, event, planned }, schema))
}

/// The better of two proofs.
fn composed(parts: &[Part], delta: Option<f64>) -> Result<Guarantee, Failure> {
    let first = parts.first().ok_or_else(|| Failure::input("no file is given"))?;
    let (neighbours, unit) = (first.claim.neighbours, first.claim.unit);
    if let Some(other) =
        parts.iter().find(|part| (part.claim.neighbours, part.claim.unit) != (neighbours, unit))
    {
        return Err(Failure::Refused(format!(
            "{} is about {} neighbours of unit {}, {} about {} of unit {}: such claims do not add up; \
             accepted are releases with the same of both",
            first.name, neighbours, unit, other.name, other.claim.neighbours, other.claim.unit
        )));
    }
    let sum = |of: fn(&Guarantee) -> f64| parts.iter().map(|part| of(&part.claim)).sum::<f64>();
    // Each sum is rounded a few times; the factor covers that.
    let up = 1.0 + 4.0 * f64::EPSILON * parts.len() as f64;
    let (epsilons, deltas) = (sum(|claim| claim.epsilon) * up, sum(|claim| claim.delta) * up);
    let delta = delta.unwrap_or(deltas).min(1.0);
    let _meter = Meter::spinner("composing");
    let events = Event::All(parts.iter().map(|part| part.event.clone()).collect());
    let proved = account::epsilon(&events, delta).unwrap_or(f64::INFINITY);
    let simple = if delta >= deltas { epsilons } else { f64::INFINITY };
    Ok(Guarantee::new(neighbours, unit, proved.min(simple), delta))
}
