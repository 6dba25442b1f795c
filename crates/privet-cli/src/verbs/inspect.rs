//! `privet inspect`: describes a release in words.

use crate::failure::Failure;
use crate::output::{self, number};
use crate::{page, say, sentences};
use clap::Args;
use privet_core::printable;
use privet_data::Encoding;
use privet_data::schema::Rows;
use privet_dp::account::{self, Cost, Event, Guarantee};
use privet_dp::gate::Certificate;
use privet_dp::noise::Origin;
use privet_learn::file::{self, Seal};
use privet_learn::linear::certainty::WeightInterval;
use privet_learn::linear::model::Model;
use privet_learn::report::Section;
use privet_learn::weight_noise::Confidence;
use privet_learn::{Loaded, PublicFacts, Scores, UNSIGNED, Verdict};
use privet_optim::loss::Loss;
use serde_json::{Value, json};
use std::path::PathBuf;

/// Weights shown for each class.
const SHOWN_WEIGHTS: usize = 8;

/// Say in words what a file releases, and with which noise
#[derive(Args, Debug)]
#[command(
    long_about = "\
Says in words what was released: the guarantee, the noise and what it is on, what it was derived
from, the conditions under which it holds, and what was released: of a model the weights that stand
out most from the noise of privacy, each with where it lies without that noise. A file that was cut
or edited is refused. A guarantee is stated only if `privet verify` finds that it holds; where it does not, the exit
code is 1.

With --html a model is drawn, on one page that needs nothing else: what it can reveal, then for each
column what it adds to the score (a curve for a number, bars for categories, a heat map for a pair),
with bands for the noise of privacy where a bound on it is known. The page is made of the model file
alone, so it may be published where the model may.",
    after_help = "\
Examples:
  privet inspect model.json
  privet inspect model.json --json
  privet inspect model.json --html model.html"
)]
pub struct Inspect {
    /// The file: a model, a tuned one, counts, a description, chosen columns, or factors of ratings
    model: PathBuf,
    /// Draw a model's shape functions on this page instead; - is standard output
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    /// Overwrite a page that is there
    #[arg(long, requires = "html")]
    force: bool,
    /// As JSON, with every weight and its interval
    #[arg(long, conflicts_with = "html")]
    json: bool,
}

impl Inspect {
    /// Loads the file and describes it.
    pub fn run(self) -> Result<(), Failure> {
        let released = file::load_any(&self.model, Seal::Required)?;
        let place = match (&self.html, &released) {
            (Some(path), Loaded::Model(model)) => {
                Some((path, model, output::open_for("--html", path, self.force, &[&self.model])?))
            }
            (Some(_), _) => {
                return Err(Failure::input(
                    "--html: counts have no shapes; a model file is accepted",
                ));
            }
            (None, _) => None,
        };
        let verdict = released.verify();
        match place {
            None if self.json => output::print_json(&as_json(&released, &verdict))?,
            None => output::print(&describe(&released, &verdict))?,
            Some((path, model, mut page)) => {
                let text = page::page(model, &verdict);
                output::write_for("--html", &mut page, path, text.as_bytes())?;
                if !page.is_standard() {
                    let mode = output::mode(page.file().is_some());
                    say!("page written to {}{mode}", path.display());
                }
            }
        }
        let refused = claims(released.certificate()) && !verdict.valid;
        if refused && self.html.is_some() {
            say!(
                "error: its claim does NOT hold: see privet verify {}",
                output::quote_for_shell(&self.model)
            );
        }
        if refused { Err(Failure::Told) } else { Ok(()) }
    }
}

/// True if it claims a finite guarantee with secret randomness.
pub(crate) fn claims(certificate: &Certificate) -> bool {
    let finite = certificate.guarantee.as_ref().is_some_and(|claim| claim.epsilon.is_finite());
    finite && certificate.randomness == Some(Origin::OperatingSystem)
}

fn describe(released: &Loaded, verdict: &Verdict) -> String {
    let certificate = released.certificate();
    let mut text = String::new();
    let mut section = |title: &str, body: String| {
        if !body.is_empty() {
            // A part that continues the previous section has no title.
            let title = if title.is_empty() { String::new() } else { format!("{title}\n") };
            text.push_str(&format!("{title}{body}"));
        }
    };
    section("What it is", purpose(released));
    section("What it can reveal", promise_sentence(certificate, verdict));
    let spent = with_schema(released, verdict);
    section("", spent.map_or(String::new(), |line| sentences::wrap_lines(&line, "  ")));
    let noise = noise(released, verdict);
    section("Noise", noise.iter().map(|line| sentences::wrap_lines(line, "  ")).collect());
    section("From these public facts", facts(released));
    // First the notes of the plan made again, whatever the file leaves out; then its other notes.
    let granted = (!verdict.unchecked.is_empty())
        .then(|| sentences::assumptions_sentence(&verdict.unchecked));
    let notes = verdict.notes.iter().cloned().chain(granted);
    let notes: String = notes.map(|note| sentences::wrap_lines(&note, "  ")).collect();
    section("Conditions and notes", notes + &sentences::quote_notes(&verdict.stated));
    let (signed, made) = signer_and_origin(verdict);
    let vouched =
        format!("{}{}", sentences::wrap_lines(&signed, "  "), sentences::wrap_lines(&made, "  "));
    section("Who vouches", vouched);
    for (title, body) in artefact_sections(released) {
        section(title, body);
    }
    text
}

/// A sentence for each noise; none where the claim does not hold.
pub(crate) fn noise(released: &Loaded, verdict: &Verdict) -> Vec<String> {
    let (certificate, noisy) = (released.certificate(), released.noise_on());
    let stated = certificate.events.as_ref().filter(|_| verdict.valid || !claims(certificate));
    stated.map_or(Vec::new(), |events| {
        let lines = match &certificate.filter {
            Some(filter) => sentences::events_within(filter, events, noisy),
            None => sentences::events(events, noisy),
        };
        lines
            .into_iter()
            .chain(events.hides().map(|what| format!("kept secret, and in no file: {what}.")))
            .map(|line| sentences::sentence(&line))
            .collect()
    })
}

/// A sentence on its purpose.
pub(crate) fn purpose(released: &Loaded) -> String {
    sentences::wrap_lines(&released.report().purpose, "  ")
}

/// The released artefact, in sections.
pub(crate) fn artefact_sections(released: &Loaded) -> Vec<(&'static str, String)> {
    let section = |section: &Section| (section.title, sentences::parts(&section.parts, "  "));
    let own = released.report().sections.iter().map(section).collect::<Vec<_>>();
    let weights = released.model().map(|model| ("Weights", weights(&model)));
    own.into_iter().chain(weights).collect()
}

pub(crate) fn promise_sentence(certificate: &Certificate, verdict: &Verdict) -> String {
    if certificate.guarantee.is_none() {
        return sentences::wrap_lines(
            "NOT PRIVATE: no noise was added. It may reveal its records.",
            "  ",
        );
    }
    if certificate.randomness == Some(Origin::FixedSeed) {
        return sentences::wrap_lines(
            "NOT PRIVATE: the noise comes from a fixed seed that anyone can repeat.",
            "  ",
        );
    }
    let mut text = String::new();
    let mut say =
        |line: &str| text.push_str(&sentences::wrap_lines(&sentences::sentence(line), "  "));
    match &verdict.guarantee {
        Some(guarantee) => {
            say(&format!("{}.", sentences::guarantee(guarantee)));
            if let Some(whose) = sentences::unit_sentence(guarantee.unit, &verdict.whose) {
                say(&format!("{whose}."));
            }
            say(&format!("arithmetic: {}", sentences::arithmetic(certificate.arithmetic)));
        }
        None => {
            say("NOT VALID: rely on no guarantee for this file.");
            let failed = verdict.checks.iter().filter(|check| !check.holds);
            failed
                .for_each(|check| say(&format!("does not hold: {}: {}", check.what, check.detail)));
        }
    }
    text
}

/// The total guarantee of a file whose bounds were estimated privately from the records, in words.
pub(crate) fn with_schema(released: &Loaded, verdict: &Verdict) -> Option<String> {
    let (whole, _) = total_guarantee(released, verdict)?;
    let bought = released.bounds_cost()?.guarantee;
    Some(format!(
        "The file also holds its schema, whose bounds were bought from the records at {}: whoever sees it has seen both, \
         {} together.",
        sentences::budget(bought.epsilon, bought.delta),
        sentences::budget(whole.epsilon, whole.delta)
    ))
}

/// The guarantee of a valid release together with the cost of its schema's bounds, and the events that
/// prove it where they were planned.
pub(crate) fn total_guarantee(
    released: &Loaded,
    verdict: &Verdict,
) -> Option<(Guarantee, Option<Event>)> {
    let certificate = released.certificate();
    let claim = verdict.guarantee.filter(|_| claims(certificate) && verdict.valid)?;
    let planned = certificate.events.clone().filter(|_| certificate.filter.is_none());
    let Some(bought) = released.bounds_cost() else { return Some((claim, planned)) };
    let prices = [claim, bought.guarantee].map(|one| (one.epsilon, one.delta));
    let (epsilon, delta) = account::compose::basic(&prices);
    // The plan's events depend on the estimated bounds: its claim alone was fixed before.
    let after = Event::Use {
        neighbours: claim.neighbours,
        unit: claim.unit,
        cost: Cost::Approximate { epsilon: claim.epsilon, delta: claim.delta },
    };
    let events = planned.map(|_| Event::All(vec![bought.events, after]));
    Some((Guarantee { epsilon, delta, ..claim }, events))
}

/// The public facts that the plan was derived from.
pub(crate) fn facts(released: &Loaded) -> String {
    let PublicFacts { rows, schema, neighbours, budget, encoded, settings } = released.facts();
    let encoding = Encoding::new(schema);
    let mut lines = vec![
        format!("{rows} rows declared, {} encoded columns", encoding.width()),
        format!("{neighbours} neighbours; the unit is {}", schema.unit()),
    ];
    if encoded {
        let length = number(encoding.l2_radius());
        let done = match schema.clip().rows {
            Rows::Clip => "clipped",
            Rows::Fill => "scaled",
        };
        lines.insert(1, format!("every record {done} to length {length} (ℓ2)"));
        lines.extend(sentences::features(schema));
    }
    if let Some(budget) = budget {
        lines.push(format!("asked for {}", sentences::budget(budget.epsilon(), budget.delta())));
    }
    if let Some(entered) = &released.certificate().ledger {
        let ledger = printable(&entered.ledger);
        lines.push(format!(
            "says that it was paid for by ledger {ledger}, entry {}",
            entered.sequence
        ));
    }
    if let Some(settings) = settings {
        let (noise, other) = sentences::settings(&settings);
        let line = [noise, other].into_iter().filter(|words| words != "–").collect::<Vec<_>>();
        let line = line.join(", ");
        lines.push(line);
    }
    lines.into_iter().map(|line| format!("  {line}\n")).collect()
}

/// The signer, and the program version and date.
pub(crate) fn signer_and_origin(verdict: &Verdict) -> (String, String) {
    let signed = match &verdict.signer {
        Some(key) => format!("signed by {key}"),
        None => UNSIGNED.into(),
    };
    (signed, sentences::sentence(&sentences::provenance_sentence(verdict.made.as_ref())))
}

/// The weights that stand out most from their noise, by the name of their column. They are part of the
/// release.
fn weights(model: &Model) -> String {
    let classes = model.request().schema.classes().unwrap_or_default();
    let certainty = model.certainty();
    let request = model.request();
    let joint = request.task.loss == Loss::Logistic && request.scores() == Scores::ClippedJoint;
    let others = if joint { "all others, jointly" } else { "the rest" };
    let mut text = String::new();
    for (problem, row) in certainty.weights.iter().enumerate() {
        if certainty.weights.len() > 1 {
            let class = printable(classes.get(problem).map_or("", String::as_str));
            text.push_str(&format!("  {class} against {others}\n"));
        } else if let [_, positive] = classes {
            text.push_str(&format!("  (positive speaks for {})\n", printable(positive)));
        }
        for one in row.iter().take(SHOWN_WEIGHTS) {
            text.push_str(&weight_line(one, certainty.confidence));
        }
        if row.len() > SHOWN_WEIGHTS {
            text.push_str(&format!("  ({} more: --json)\n", row.len() - SHOWN_WEIGHTS));
        }
    }
    let told = match certainty.confidence {
        Some(_) => format!("In brackets: {}", certainty.told),
        None => certainty.told.clone(),
    };
    text.push_str(&sentences::wrap_lines(&told, "  "));
    text
}

/// The remark on a weight whose interval contains 0.
pub(crate) fn may_be_noise(one: &WeightInterval, confidence: Option<Confidence>) -> &'static str {
    match (one.may_be_noise(), confidence) {
        (Some(true), Some(Confidence::Bound | Confidence::FirstOrder)) => {
            "may be noise, by this bound"
        }
        (Some(true), _) => "not distinguishable from noise",
        _ => "",
    }
}

fn weight_line(one: &WeightInterval, confidence: Option<Confidence>) -> String {
    let within = match (one.low, one.high) {
        (Some(low), Some(high)) => {
            format!("  {:>24}", format!("({} to {})", three(low), three(high)))
        }
        _ => String::new(),
    };
    let line = format!("  {:>10}{within}  {}", three(one.weight), printable(&one.name));
    match may_be_noise(one, confidence) {
        "" => format!("{line}\n"),
        // On a line below, where both are wider than a terminal.
        words if line.chars().count() + 2 + words.len() > 80 => format!("{line}\n{words:>80}\n"),
        words => format!("{line}  {words}\n"),
    }
}

/// A number of three digits.
fn three(value: f64) -> String {
    if value == 0.0 || !value.is_finite() {
        return number(value);
    }
    let power = 10_f64.powi((2 - value.abs().log10().floor() as i32).clamp(-300, 300));
    number((value * power).round() / power)
}

/// The description of a file as JSON.
fn as_json(released: &Loaded, verdict: &Verdict) -> Value {
    let certificate = released.certificate();
    let mut shown = json!({
        "valid": verdict.valid,
        "guarantee": verdict.guarantee,
        "whose": verdict.whose,
        "arithmetic": verdict.arithmetic,
        "checks": verdict.checks,
        "notes": verdict.notes,
        "stated": verdict.stated,
        "unchecked": verdict.unchecked,
        "signer": verdict.signer,
        "made": verdict.made,
        "digest": certificate.digest,
        "request": certificate.request,
    });
    if let Some(model) = released.model() {
        shown["weights"] = serde_json::to_value(model.certainty()).unwrap_or_default();
    }
    if let Some((name, value)) = released.report().shown {
        shown[name] = value;
    }
    shown
}
