//! One page about a release, for the person who signs it off: the guarantee and its audience, the public
//! facts, an attacker's gain, the release, and the gaps. Made from the file alone, with every text from
//! it escaped.

use super::svg::{self, escape, three_digits};
use super::unbroken::unbroken;
use super::{POLICY, STYLE, lines};
use crate::odds::{FALSE_RATES, best_guess, curve, true_rate};
use crate::output::number;
use crate::sentences;
use crate::verbs::inspect;
use privet_dp::account::Guarantee;
use privet_learn::linear::certainty::Certainty;
use privet_learn::{Loaded, Verdict};
use serde_json::Value;
use std::fmt::Write as _;

/// Number of weights listed for a class.
const LISTED: usize = 60;
/// Points of the curve.
const POINTS: usize = 24;

/// The page of a release, with its verification.
pub fn page(released: &Loaded, verdict: &Verdict) -> String {
    let certificate = released.certificate();
    let title = "A release from private records";
    let mut page = format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"{POLICY}\">\n\
         <title>{title}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n<main>\n<h1>{title}</h1>\n"
    );
    let _ = writeln!(page, "<p>{}</p>", lines(&inspect::purpose(released)));
    page.push_str("<h2>What it can reveal</h2>\n");
    let holds = inspect::claims(certificate) && verdict.valid;
    let class = if holds { "claim" } else { "refused" };
    let _ = writeln!(
        page,
        "<p class=\"{class}\">{}</p>",
        lines(&inspect::promise_sentence(certificate, verdict))
    );
    if let Some(line) = inspect::with_schema(released, verdict) {
        let _ = writeln!(page, "<p class=\"claim\">{}</p>", escape(&line));
    }
    if let Some((whole, events)) = inspect::total_guarantee(released, verdict) {
        let pairs = curve(events.as_ref(), (whole.epsilon, whole.delta), POINTS);
        attacker(&whole, &pairs, &mut page);
    }
    let looked_up = match released.bounds_cost() {
        None => {
            "Nothing of this was looked up in the records; whoever signs vouches that it is public."
        }
        Some(_) => {
            "Bounds and categories were looked up in the records, privately and at the price stated above (origin, below); \
             whoever signs vouches that everything else is public."
        }
    };
    let _ = writeln!(page, "<h2>On these public facts</h2>\n<p>{looked_up}</p>");
    for line in inspect::facts(released).lines() {
        let _ = writeln!(page, "<p class=\"quiet\">{}</p>", escape(line.trim()));
    }
    schema(&certificate.request["schema"], &mut page);
    let noise = inspect::noise(released, verdict);
    if !noise.is_empty() {
        page.push_str("<h2>The noise</h2>\n");
        for line in &noise {
            let _ = writeln!(page, "<p>{}</p>", escape(line));
        }
    }
    notes(verdict, &mut page);
    contents(released, &mut page);
    not_covered(verdict, &mut page);
    check_again(released, verdict, &mut page);
    page.push_str(
        "<h2>Signed off</h2>\n<p>Name, role: ______________________________</p>\n\
         <p>Date, signature: ______________________________</p>\n</main>\n</body>\n</html>\n",
    );
    unbroken(&page)
}

/// An attacker's gain, as numbers and as a picture.
fn attacker(guarantee: &Guarantee, pairs: &[(f64, f64)], page: &mut String) {
    // Numbers called "at most" are rounded up.
    let right = (1000.0 * best_guess(pairs)).ceil() / 10.0;
    let _ = write!(
        page,
        "<h2>What an attacker gains</h2>\n<p>Somebody who knows every other record and sees this file wants to \
         tell two cases about {} apart. If both are equally likely, the best guess is right in at most {right:.1} \
         of 100 cases; without the release in 50.</p>\n<table><thead><tr><th scope=\"col\">falsely accused, of \
         100</th><th scope=\"col\">rightly accused, at most</th></tr></thead><tbody>\n",
        guarantee.unit,
    );
    for rate in FALSE_RATES {
        let _ = writeln!(
            page,
            "<tr><th scope=\"row\">{}</th><td>{}</td></tr>",
            three_digits(100.0 * rate),
            three_digits(percent_up(100.0 * true_rate(pairs, rate)))
        );
    }
    page.push_str("</tbody></table>\n");
    if pairs.len() > 2 {
        page.push_str(&draw_curve(pairs));
    }
}

/// A percentage rounded up to three digits.
fn percent_up(share: f64) -> f64 {
    let unit = 10_f64.powf(share.max(1e-12).log10().floor() - 2.0);
    ((share / unit).ceil() * unit).min(100.0)
}

/// δ(ε) on a logarithmic scale.
fn draw_curve(pairs: &[(f64, f64)]) -> String {
    const WIDTH: f64 = 520.0;
    const HEIGHT: f64 = 240.0;
    const LEFT: f64 = 60.0;
    const BOTTOM: f64 = 204.0;
    // A bound at one ε holds for every larger ε: a claim looser than the events' curve does not raise
    // the line.
    let mut least = 1.0_f64;
    let falling = pairs.iter().map(|(epsilon, delta)| {
        least = least.min(*delta);
        (*epsilon, least)
    });
    let shown: Vec<(f64, f64)> =
        falling.filter(|(_, delta)| *delta > 1e-30).map(|(e, d)| (e, d.log10())).collect();
    if shown.len() < 2 {
        return String::new();
    }
    let most = shown.iter().fold(0.0_f64, |most, (epsilon, _)| most.max(*epsilon));
    let least = shown.iter().fold(0.0_f64, |least, (_, delta)| least.min(*delta)).floor();
    let across = svg::Scale { low: 0.0, high: most.max(1e-9), from: LEFT, to: WIDTH - 14.0 };
    let up = svg::Scale { low: least.min(-1.0), high: 0.0, from: BOTTOM, to: 10.0 };
    let mut picture = svg::open(WIDTH, HEIGHT, "How delta falls as epsilon grows");
    for tick in up.ticks(6.0) {
        let y = up.at(tick);
        let _ = write!(picture, "<path class=\"rule\" d=\"M{LEFT} {y:.1}H{:.1}\"/>", WIDTH - 14.0);
        let label = if tick == 0.0 { "1".into() } else { format!("1e{}", three_digits(tick)) };
        svg::text(&mut picture, (LEFT - 6.0, y + 4.0), "end", "", &label);
    }
    for tick in across.ticks(6.0) {
        svg::text(
            &mut picture,
            (across.at(tick), BOTTOM + 16.0),
            "middle",
            "",
            &three_digits(tick),
        );
    }
    let mut path = String::new();
    for (place, (epsilon, delta)) in shown.iter().enumerate() {
        // δ falls as ε grows: to the right of a point its δ still holds, so that every point of the
        // steps does.
        let (x, y) = (across.at(*epsilon), up.at(*delta));
        let _ = match place {
            0 => write!(path, "M{x:.1} {y:.1}"),
            _ => write!(path, "H{x:.1}V{y:.1}"),
        };
    }
    let _ = write!(picture, "<path class=\"line\" d=\"{path}\"/>");
    svg::text(&mut picture, (WIDTH - 14.0, BOTTOM + 32.0), "end", "name", "ε");
    svg::text(&mut picture, (LEFT - 40.0, 8.0 + 4.0), "start", "name", "δ");
    picture.push_str("</svg>");
    format!(
        "<figure>\n<figcaption>The same guarantee at other ε: it holds at every point (ε, δ) of the line.</figcaption>\n\
         {picture}\n</figure>\n"
    )
}

/// The schema as a table: every column with all its declarations.
fn schema(schema: &Value, page: &mut String) {
    let named = |what: &str, value: &Value| {
        let mut rest = value.clone();
        let fields = rest.as_object_mut();
        let name = fields.and_then(|fields| fields.remove("name").or(fields.remove("column")));
        let name = name.as_ref().and_then(Value::as_str).unwrap_or_default().to_string();
        (format!("{what} {name}").trim().to_string(), rest)
    };
    let part = |name: &str| schema.get(name).filter(|value| !value.is_null());
    let mut rows: Vec<(String, Value)> = Vec::new();
    rows.extend(part("target").map(|value| named("target", value)));
    rows.extend(part("unit").map(|value| named("unit", value)));
    let columns = part("columns").and_then(Value::as_array).into_iter().flatten();
    rows.extend(columns.map(|column| named("", column)));
    // The events serve `verify`; they are not for readers.
    let told = |name: &str, value: &Value| {
        let mut value = value.clone();
        if let Some(paid) = value.get_mut("paid").and_then(Value::as_object_mut) {
            paid.remove("events");
        }
        (name.to_string(), value)
    };
    const APART: [&str; 3] = ["target", "unit", "columns"];
    let rest = schema.as_object().into_iter().flatten();
    let rest = rest.filter(|(name, value)| !APART.contains(&name.as_str()) && !value.is_null());
    rows.extend(rest.map(|(name, value)| told(name, value)));
    if rows.is_empty() {
        return;
    }
    page.push_str("<div class=\"scrolled\"><table><tbody>\n");
    for (name, what) in &rows {
        let _ = writeln!(
            page,
            "<tr><th scope=\"row\">{}</th><td>{}</td></tr>",
            escape(name),
            declared(what)
        );
    }
    page.push_str("</tbody></table></div>\n");
}

/// Plain words for a JSON value.
fn declared(value: &Value) -> String {
    match value {
        Value::Object(fields) => {
            // The type of a column comes first, then its values.
            let kind = fields.get("type").filter(|kind| kind.is_string());
            let bounds =
                fields.get("bounds").and_then(Value::as_array).filter(|ends| ends.len() == 2);
            let within =
                bounds.map(|ends| format!("from {} to {}", declared(&ends[0]), declared(&ends[1])));
            let rest = fields.iter().filter(|(name, _)| match name.as_str() {
                "type" => kind.is_none(),
                "bounds" => bounds.is_none(),
                _ => true,
            });
            let rest = rest.map(|(name, value)| match value {
                Value::Object(_) => format!("{}: ({})", escape(name), declared(value)),
                value => format!("{}: {}", escape(name), declared(value)),
            });
            kind.map(declared).into_iter().chain(within).chain(rest).collect::<Vec<_>>().join("; ")
        }
        Value::Array(items) => items.iter().map(declared).collect::<Vec<_>>().join(", "),
        Value::String(text) => escape(text),
        Value::Number(value) => value.as_f64().map_or(String::new(), number),
        Value::Bool(flag) => flag.to_string(),
        Value::Null => "–".into(),
    }
}

fn notes(verdict: &Verdict, page: &mut String) {
    if verdict.notes.is_empty() && verdict.stated.is_empty() {
        return;
    }
    page.push_str("<h2>Conditions and notes</h2>\n");
    for note in &verdict.notes {
        let _ = writeln!(page, "<p>{}</p>", escape(&sentences::sentence(note)));
    }
    super::write_notes(&verdict.stated, page);
}

/// The artefact: the weights of a model, for any other release the sections of `inspect`.
fn contents(released: &Loaded, page: &mut String) {
    if let Some(model) = released.model() {
        let classes = model.request().schema.classes().unwrap_or_default().to_vec();
        return weights(&model.certainty(), &classes, page);
    }
    for (title, body) in inspect::artefact_sections(released) {
        let _ = writeln!(
            page,
            "<h2>{}</h2>\n<div class=\"scrolled\"><pre>{}</pre></div>",
            escape(title),
            body.lines().map(escape).collect::<Vec<_>>().join("\n")
        );
    }
}

fn weights(certainty: &Certainty, classes: &[String], page: &mut String) {
    page.push_str("<h2>The weights, with what the noise may have done</h2>\n");
    let told = match certainty.confidence {
        Some(_) => format!("From and to: {}", certainty.told),
        None => certainty.told.clone(),
    };
    let _ = writeln!(page, "<p>{}</p>", escape(&told));
    for (problem, row) in certainty.weights.iter().enumerate() {
        let speaks = match classes {
            [_, second] => second.as_str(),
            classes => classes.get(problem).map_or("", String::as_str),
        };
        if !speaks.is_empty() {
            let _ = writeln!(page, "<h3>Positive speaks for {}</h3>", escape(speaks));
        }
        page.push_str(
            "<div class=\"scrolled numbers\"><table><thead><tr><th scope=\"col\">column</th><th scope=\"col\">weight</th>\
             <th scope=\"col\">from</th><th scope=\"col\">to</th><th scope=\"col\"></th></tr></thead><tbody>\n",
        );
        for one in row.iter().take(LISTED) {
            let end = |value: Option<f64>| value.map_or("–".into(), three_digits);
            let _ = writeln!(
                page,
                "<tr><th scope=\"row\">{}</th><td>{}</td><td>{}</td><td>{}</td><td>{}</td></tr>",
                escape(&one.name),
                three_digits(one.weight),
                end(one.low),
                end(one.high),
                inspect::may_be_noise(one, certainty.confidence)
            );
        }
        page.push_str("</tbody></table></div>\n");
        if row.len() > LISTED {
            let more = row.len() - LISTED;
            let _ = writeln!(
                page,
                "<p class=\"quiet\">{more} more stand out less: <code>privet inspect --json</code>.</p>"
            );
        }
    }
}

fn not_covered(verdict: &Verdict, page: &mut String) {
    page.push_str("<h2>What is not covered</h2>\n");
    if !verdict.unchecked.is_empty() {
        let granted = sentences::sentence(&sentences::assumptions_sentence(&verdict.unchecked));
        let _ = writeln!(page, "<p>– {}</p>", escape(&granted));
    }
    for line in [
        "That the holder of the file ran this program on the records, and ran it once: a signature in the file says who \
         vouches for that.",
        "Other releases from the same records. They add up: see the ledger (privet budget), or privet total.",
        "The public facts above. Bounds or categories that were copied from the records give them away.",
        "What is true of people in general, or of a group: the promise is about what one record, or all records of one \
         user, can change.",
        "How accurate the release is.",
        "Who can read the records themselves, and the machine that they are on.",
    ] {
        let _ = writeln!(page, "<p>– {}</p>", escape(line));
    }
}

fn check_again(released: &Loaded, verdict: &Verdict, page: &mut String) {
    let (signed, made) = inspect::signer_and_origin(verdict);
    page.push_str("<h2>How to check it again</h2>\n<div class=\"scrolled\"><table><tbody>\n");
    for check in &verdict.checks {
        let _ = writeln!(
            page,
            "<tr><th scope=\"row\">{}</th><td>{}: {}</td></tr>",
            escape(check.what),
            if check.holds { "holds" } else { "DOES NOT HOLD" },
            escape(&check.detail)
        );
    }
    page.push_str("</tbody></table></div>\n");
    let digest = released.certificate().digest.as_deref().unwrap_or("none");
    let _ = writeln!(
        page,
        "<p>Without the records and without a network: <code>privet verify FILE</code> recomputes all of this from the \
         file; <code>python3 docs/check_certificate.py FILE</code> checks digest and signature without privet. The digest \
         of the file that this page is about:</p>\n<p><code>{}</code></p>\n<p class=\"quiet\">{}. {} Page written by \
         privet {} on {}.</p>",
        escape(digest),
        lines(&sentences::sentence(signed.trim())),
        lines(&made),
        privet_dp::gate::VERSION,
        privet_core::now()
    );
}
