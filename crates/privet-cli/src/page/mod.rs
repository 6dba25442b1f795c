//! A model as one page for people: its guarantee, then the effect of each column, as pictures.
//!
//! The page is self-contained: style and pictures are inside, there is no script, and a content policy
//! forbids it to fetch anything. Everything on it is made from the model file alone
//! ([`privet_learn::linear::additive`]), so it may be published where the model may.

pub(crate) mod budget;
#[doc(hidden)]
pub mod numbers;
#[doc(hidden)]
pub mod panel;
mod plot;
pub(crate) mod signing;
#[doc(hidden)]
pub mod svg;
mod unbroken;

use crate::sentences;
use crate::verbs::inspect;
use plot::ProblemEffects;
use privet_data::encode::AxisKind;
use privet_learn::linear::additive::{BAND, Scale, Shape, Shapes};
use privet_learn::linear::model::Model;
use privet_learn::{Erm, Family, Verdict};
use privet_optim::loss::Loss;
use std::fmt::Write as _;
use svg::{escape, signed_number, three_digits};

const STYLE: &str = include_str!("style.css");
/// The page may apply its own style; it fetches and runs nothing.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'";
/// Number of shapes drawn; further ones are named.
const DRAWN: usize = 80;
/// Number of shapes in the overview.
const OVERVIEW: usize = 30;
/// Rows in a table of numbers.
const ROWS: usize = 200;

/// The page of a model, with its verification.
pub fn page(model: &Model, verdict: &Verdict) -> String {
    let shapes = model.shapes();
    let target = match model.request().schema.target().column.as_str() {
        "" => "the label".to_string(),
        name => format!("“{name}”"),
    };
    let title = escape(&format!("What a model of {target} says"));
    let mut page = format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"{POLICY}\">\n\
         <title>{title}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n<main>\n<h1>{title}</h1>\n"
    );
    claim(model, verdict, &mut page);
    reading(model, &shapes, &mut page);
    let mut order: Vec<&Shape> = shapes.shapes.iter().collect();
    order.sort_by(|a, b| b.beyond().total_cmp(&a.beyond()));
    overview(&order, &mut page);
    let (drawn, named) = order.split_at(order.len().min(DRAWN));
    page.push_str("<h2>Column by column</h2>\n<div class=\"shapes\">\n");
    for shape in drawn {
        figure(shape, &shapes, &mut page);
    }
    page.push_str("</div>\n");
    if !named.is_empty() {
        let names: Vec<String> = named.iter().map(|shape| escape(&shape.name())).collect();
        let _ = writeln!(
            page,
            "<p class=\"quiet\">Not drawn, since they say less than all of these: {}.</p>",
            names.join(", ")
        );
    }
    if shapes.left_out > 0 {
        let _ = writeln!(
            page,
            "<p class=\"quiet\">{} features with smaller weights are left out.</p>",
            shapes.left_out
        );
    }
    page.push_str("</main>\n</body>\n</html>\n");
    unbroken::unbroken(&page)
}

/// Its purpose and its guarantee, before anything else.
fn claim(model: &Model, verdict: &Verdict, page: &mut String) {
    let certificate = model.certificate();
    let _ = writeln!(
        page,
        "<p>{}</p>",
        lines(&sentences::wrap_lines(&Erm::report(model).purpose, "  "))
    );
    page.push_str("<h2>What it can reveal</h2>\n");
    let holds = inspect::claims(certificate) && verdict.valid;
    let class = if holds { "claim" } else { "refused" };
    let promise = inspect::promise_sentence(certificate, verdict);
    let _ = writeln!(page, "<p class=\"{class}\">{}</p>", lines(&promise));
    for note in &verdict.notes {
        let _ = writeln!(page, "<p class=\"quiet\">{}</p>", escape(note));
    }
    write_notes(&verdict.stated, page);
    let (signed, made) = inspect::signer_and_origin(verdict);
    let _ = writeln!(
        page,
        "<p class=\"quiet\">{}. {}</p>",
        lines(&crate::sentences::sentence(signed.trim())),
        lines(&made)
    );
}

/// The words of the file's maker, apart from ours.
fn write_notes(stated: &[String], page: &mut String) {
    if stated.is_empty() {
        return;
    }
    let _ = writeln!(page, "<p class=\"quiet\">{}</p>", escape(crate::sentences::MAKER_HEADING));
    for note in stated {
        let _ = writeln!(page, "<blockquote class=\"quiet\">{}</blockquote>", escape(note));
    }
}

/// Escapes text that was laid out for a terminal, on one line.
fn lines(text: &str) -> String {
    text.lines().map(|line| escape(line.trim())).collect::<Vec<_>>().join(" ")
}

/// An explanation of the pictures, and of their reliability.
fn reading(model: &Model, shapes: &Shapes, page: &mut String) {
    let what = match (shapes.scale, &shapes.classes[..]) {
        (Scale::Score, [class]) if shapes.divided => format!(
            "The sum of a row is the number below plus what each column adds; above 0 the model says {}.",
            escape(class)
        ),
        (Scale::Score, [class]) => format!(
            "The score of a row is the number below plus what each column adds; above 0 the model says {}{}.",
            escape(class),
            match model.loss() {
                Loss::Logistic => ", the surer the further (about log-odds)",
                _ => "",
            }
        ),
        (Scale::Score, _) => format!(
            "Each class has a {}: its number below plus what each column adds; the model says the class with the \
             largest.{}",
            if shapes.divided { "sum" } else { "score" },
            match shapes.relative {
                true =>
                    " What all classes have in common says nothing and is left out: they add up to 0.",
                false => "",
            }
        ),
        (Scale::Target, _) => {
            "The predicted number is the one below plus what each column adds, kept within the \
                               target's bounds."
                .into()
        }
        (Scale::LogRate, _) => {
            "The logarithm of the predicted rate is, up to a constant, the number below plus what \
                                each column adds; the rate is kept within the target's bounds."
                .into()
        }
    };
    let sums = match shapes.exact {
        _ if shapes.unexplained => {
            "These sums are not the whole model: other parts of it belong to no column, and are not drawn."
        }
        _ if shapes.divided => {
            "What the model says of a record is what its sum says. Its score, which ranks records and tells how sure it \
             is, is that sum divided by how far the record's features are from the average record's."
        }
        true => "These sums are the model: they hold for every row.",
        false => {
            "These sums hold for rows that the schema's bound on a row's length does not touch; what is said of a \
             longer row is scaled down with the row, all columns alike."
        }
    };
    let noise = match (&shapes.intercept_noise, model.request().task.method.name()) {
        (Some(0.0), _) => "No noise was added, so there are no bands.".to_string(),
        (Some(_), method) => format!(
            "Bands show what the noise of privacy alone may have done: {BAND} standard deviations to either side, {}. \
             Pale bars and plain figures are within it: read nothing into them. Where there is nothing but noise, one \
             point in twenty may still lie outside. How another sample of records would differ is not in the bands.",
            match method {
                "centred-gd" => {
                    "by an upper bound from public numbers and the released mean (to first order, and if the \
                     descent was stable, which is assumed)"
                }
                "placed-gd" => {
                    "by an upper bound from public numbers, the released knots and the released mean (to first order, and \
                     if the descent was stable, which is assumed)"
                }
                "gd" | "sgd" => "by an upper bound from public numbers (to first order)",
                _ => "from the noise added to the weights",
            }
        ),
        (None, method) => format!(
            "There are no bands: how far the noise of method {} moves a weight depends on the records, and no bound \
             from public numbers is known. Small effects may be noise.",
            escape(method)
        ),
    };
    let _ = write!(
        page,
        "<h2>How to read it</h2>\n<p>{what} {sums}</p>\n<p>{noise}</p>\n\
         <p>Each picture is 0 on average, evenly over the column's declared bounds or categories, not over the \
         records; a pair shows what its two columns do not say each for itself. A column that says much need not be \
         a cause.</p>\n"
    );
    let problem = |(place, value): (usize, &f64)| match shapes.classes.get(place) {
        Some(class) if shapes.intercept.len() > 1 => {
            format!("{} {}", escape(class), three_digits(*value))
        }
        _ => three_digits(*value),
    };
    let each: Vec<String> = shapes.intercept.iter().enumerate().map(problem).collect();
    let band = match shapes.intercept_noise {
        Some(noise) if noise > 0.0 => format!(" (± {})", three_digits(BAND * noise)),
        _ => String::new(),
    };
    let _ = writeln!(page, "<p><strong>Before any column: {}{band}</strong></p>", each.join(", "));
}

/// The range of each shape, side by side.
fn overview(order: &[&Shape], page: &mut String) {
    const NAMES: f64 = 190.0;
    const WIDTH: f64 = 720.0;
    const ROW: f64 = 19.0;
    if order.len() < 2 {
        return;
    }
    let shown = &order[..order.len().min(OVERVIEW)];
    let height = shown.len() as f64 * ROW + 26.0;
    let along = svg::Scale::around_zero(
        shown.iter().map(|shape| largest_effect(shape)),
        NAMES,
        WIDTH - 12.0,
    );
    let along = svg::Scale { low: 0.0, ..along };
    let mut picture = svg::open(WIDTH, height, "How far each column moves the score");
    for tick in along.ticks(6.0) {
        let x = along.at(tick);
        let _ = write!(picture, "<path class=\"rule\" d=\"M{x:.1} 2V{:.1}\"/>", height - 20.0);
        svg::text(&mut picture, (x, height - 6.0), "middle", "", &three_digits(tick));
    }
    for (row, shape) in shown.iter().enumerate() {
        let y = 2.0 + row as f64 * ROW;
        let bar = |to: f64, class: &str| {
            format!(
                "<rect class=\"{class}\" x=\"{NAMES}\" y=\"{:.1}\" width=\"{:.1}\" height=\"{:.1}\"/>",
                y + 3.0,
                (along.at(to) - NAMES).max(0.0),
                ROW - 6.0
            )
        };
        picture.push_str(&bar(largest_effect(shape), "up faint"));
        picture.push_str(&bar(shape.beyond().max(0.0), "up"));
        let name = svg::escape_cut(&shape.name(), 28);
        svg::text(&mut picture, (NAMES - 6.0, y + ROW / 2.0 + 4.0), "end", "name", &name);
    }
    picture.push_str("</svg>");
    let dark = match order.iter().any(|shape| shape.noise.is_some()) {
        true => "Dark: beyond the band of its noise. Pale: all of it.",
        false => "The largest effect of each.",
    };
    let more = match order.len() - shown.len() {
        0 => String::new(),
        more => format!(" {more} more follow below."),
    };
    let _ = write!(
        page,
        "<h2>How far each column moves it</h2>\n<p class=\"quiet\">{dark}{more}</p>\n{picture}\n"
    );
}

/// The largest absolute effect.
fn largest_effect(shape: &Shape) -> f64 {
    shape.effects.iter().flatten().fold(0.0, |most, effect| most.max(effect.abs()))
}

/// One shape: its name, a sentence, its pictures and its numbers.
fn figure(shape: &Shape, shapes: &Shapes, page: &mut String) {
    let problems = shape.effects.len();
    let pair = shape.axes.len() == 2;
    let wide = if problems > 1 || (pair && shape.axes[1].levels.len() > 7) {
        " class=\"wide\""
    } else {
        ""
    };
    let name = shape.name();
    let _ = write!(page, "<figure{wide}>\n<h3>{}</h3>\n<figcaption>", escape(&name));
    let all = || shape.effects.iter().flatten();
    let (low, high) =
        (all().fold(0.0_f64, |a, b| a.min(*b)), all().fold(0.0_f64, |a, b| a.max(*b)));
    let _ = write!(page, "From {} to {}", signed_number(low), signed_number(high));
    match shape.noise {
        Some(_) if shape.beyond() > 0.0 => {
            let _ = write!(page, "; beyond its noise by up to {}.", three_digits(shape.beyond()));
        }
        Some(_) => page.push_str("; all of it within its noise."),
        None => page.push('.'),
    }
    let not_drawn = if pair { 0 } else { plot::not_drawn(&shape.axes[0]) };
    if not_drawn > 0 {
        let _ = write!(page, " {not_drawn} categories that say less are not drawn.");
    }
    if pair && shape.noise.is_some() {
        page.push_str(" Bold: beyond its noise.");
    }
    let many = if problems > 1 { " many" } else { "" };
    let _ = writeln!(page, "</figcaption>\n<div class=\"panels{many}\">");
    for problem in 0..problems {
        let class = shapes.classes.get(problem).filter(|_| problems > 1);
        let heading = class
            .map_or(String::new(), |class| format!("<p class=\"panel\">{}</p>", escape(class)));
        let label = match class {
            Some(class) => format!("{name}, for {class}"),
            None => name.clone(),
        };
        let picture = ProblemEffects { shape, problem }.svg(&label);
        let _ = writeln!(page, "<div>{heading}{picture}</div>");
    }
    page.push_str("</div>\n");
    numbers(shape, shapes, page);
    page.push_str("</figure>\n");
}

/// The shape as numbers, collapsed.
fn numbers(shape: &Shape, shapes: &Shapes, page: &mut String) {
    let curved = shape.axes.iter().any(|axis| axis.kind == AxisKind::Curved);
    let places = shape.effects.first().map_or(0, Vec::len);
    page.push_str("<details><summary>Numbers</summary>\n<table><thead><tr>");
    for axis in &shape.axes {
        let _ = write!(page, "<th scope=\"col\">{}</th>", escape(&axis.column));
    }
    for problem in 0..shape.effects.len() {
        let class = shapes.classes.get(problem).filter(|_| shape.effects.len() > 1);
        let _ =
            write!(page, "<th scope=\"col\">{}</th>", class.map_or("adds".into(), |c| escape(c)));
    }
    page.push_str("</tr></thead><tbody>\n");
    let width = shape.axes.last().map_or(1, |axis| axis.levels.len());
    for place in (0..places).take(ROWS) {
        page.push_str("<tr>");
        let at =
            if shape.axes.len() == 2 { vec![place / width, place % width] } else { vec![place] };
        for (axis, at) in shape.axes.iter().zip(at) {
            let _ =
                write!(page, "<th scope=\"row\">{}</th>", escape(&plot::level(&axis.levels[at])));
        }
        for problem in 0..shape.effects.len() {
            let _ = write!(page, "<td>{}</td>", ProblemEffects { shape, problem }.in_words(place));
        }
        page.push_str("</tr>\n");
    }
    page.push_str("</tbody></table>\n");
    let between = match (shape.axes.len(), shape.axes[0].kind, curved) {
        (1, AxisKind::Straight, _) => "Between these values the line is straight.",
        (_, _, true) => "Between these values it bends a little.",
        _ => "",
    };
    let _ = writeln!(page, "<p class=\"quiet\">{between}</p></details>");
}
