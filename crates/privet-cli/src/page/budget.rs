//! A ledger as one page: the releases from each data set, their authors and purposes, the remaining
//! budget, and its meaning.

use super::svg::{self, escape, three_digits};
use super::{POLICY, STYLE};
use crate::output::number;
use crate::spending::per_cent;
use crate::verbs::budget::rounded_up;
use privet_core::Neighbours;
use privet_dp::account::Guarantee;
use privet_ledger::entry::PriceBasis;
use privet_ledger::{Account, Books, Limit, Reservation, State};
use std::fmt::Write as _;

/// Releases of a data set that are listed; further ones are only counted.
const LISTED: usize = 500;

/// The page of a ledger.
pub fn page(books: &Books) -> String {
    let title = "Privacy budget";
    let mut page = format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"{POLICY}\">\n\
         <title>{title}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n<main>\n<h1>{title}</h1>\n"
    );
    let head = books.head();
    let _ = writeln!(
        page,
        "<p>What was published from each data set, and how much more its limit allows. A release that would exceed the \
         limit is refused before it is made.</p>\n<p class=\"quiet\">As of entry {} of ledger {}, hash {}. Written by \
         privet {} on {}.</p>",
        head.sequence,
        escape(&head.ledger),
        escape(&head.hash),
        privet_dp::gate::VERSION,
        privet_core::now()
    );
    if books.accounts().is_empty() {
        page.push_str("<p>No data set was opened yet.</p>\n");
    }
    for (name, account) in books.accounts() {
        data_set(books, name, account, &mut page);
    }
    if !books.backwards().is_empty() {
        let _ = writeln!(
            page,
            "<p class=\"quiet\">A computer's clock went back {} times; entries are in the order in which they were \
             written.</p>",
            books.backwards().len()
        );
    }
    page.push_str(
        "<h2>How far this can be trusted</h2>\n<p>Every release is written down before its noise is drawn, so that a \
         crash can waste budget but never hide spending. Entries form a chain of hashes that the certificates of \
         releases refer to: <code>privet budget verify --certificates</code> finds entries that were edited or taken \
         out, as far as certificates exist. It cannot find releases that were made without this ledger.</p>\n\
         </main>\n</body>\n</html>\n",
    );
    super::unbroken::unbroken(&page)
}

fn data_set(books: &Books, name: &str, account: &Account, page: &mut String) {
    let Account { limit, .. } = account;
    let of_it = || books.reservations().values().filter(|held| held.dataset == name);
    let share = account.share();
    let over = share > 1.0;
    let _ = write!(
        page,
        "<h2>{}</h2>\n<p class=\"{}\"><strong>{} of the budget is spent, {} is left.</strong> {}</p>\n",
        escape(name),
        if over { "refused" } else { "claim" },
        per_cent(share),
        per_cent((1.0 - share).max(0.0)),
        spent_in_words(account)
    );
    if !account.purpose.is_empty() {
        let _ =
            writeln!(page, "<p>Opened {} for: {}</p>", day(&account.at), escape(&account.purpose));
    } else {
        let _ = writeln!(page, "<p class=\"quiet\">Opened {}.</p>", day(&account.at));
    }
    if !account.shares_rows_with.is_empty() {
        let _ = writeln!(
            page,
            "<p class=\"refused\">It shares rows with {}, and was opened on its own all the same: people in both are \
             protected by the two limits together, not by either alone.</p>",
            escape(&account.shares_rows_with.join(", "))
        );
    }
    let _ = writeln!(page, "<h3>What the limit means</h3>\n<p>{}</p>", meaning(limit));
    if let Some(whose) = crate::sentences::unit_sentence(limit.filter.unit, &account.whose) {
        let class = if account.whose.is_said() { "quiet" } else { "refused" };
        let whose = escape(&crate::sentences::sentence(&whose));
        let _ = writeln!(page, "<p class=\"{class}\">{whose}.</p>");
    }
    plot(account, &of_it().filter(|held| held.state != State::Void).collect::<Vec<_>>(), page);
    releases(account, &of_it().collect::<Vec<_>>(), page);
}

fn spent_in_words(account: &Account) -> String {
    let limit = &account.limit;
    let budget = format!("ε = {} at δ = {}", number(limit.epsilon), number(limit.delta));
    match (account.releases, account.proved_epsilon()) {
        (0, _) => format!("Nothing was released. The limit is {budget}."),
        (count, proved) => {
            let releases =
                if count == 1 { "One release".into() } else { format!("{count} releases") };
            let spent = match proved.is_finite() {
                true => format!("together at most ε = {} at that δ", number(rounded_up(proved))),
                false => "for which together nothing is proved".into(),
            };
            format!("The limit is {budget}. {releases}, {spent}.")
        }
    }
}

/// The meaning of the limit, for readers who do not know ε.
fn meaning(limit: &Limit) -> String {
    let guarantee =
        Guarantee::new(limit.filter.neighbours, limit.filter.unit, limit.epsilon, limit.delta);
    let power = limit.epsilon.min(700.0).exp();
    // Accuracy of the best test between two equally likely worlds: (e^ε + δ)/(1 + e^ε).
    let right = (power + limit.delta) / (1.0 + power) * 100.0;
    let guess = match limit.filter.neighbours {
        Neighbours::ReplaceOne | Neighbours::ReplaceLabel => {
            "which of two people, else equally likely, is in the data"
        }
        Neighbours::AddRemove => {
            "whether a person, in it or not with equal chances, is in the data"
        }
    };
    format!(
        "Whoever knows everything about everybody else, and sees all releases, guesses {guess}. By chance they are right \
         50 times in 100; with everything that this limit allows at most {} times in 100. In full: {}.",
        three_digits((right * 10.0).ceil() / 10.0),
        escape(&crate::sentences::guarantee(&guarantee))
    )
}

/// The day of a moment.
fn day(at: &str) -> String {
    escape(at.get(..10).unwrap_or(at))
}

/// Approximate seconds since 1970 of a ledger's timestamp: for positions on a plot.
fn seconds(at: &str) -> f64 {
    let part = |from: usize, to: usize| {
        at.get(from..to).and_then(|t| t.parse::<f64>().ok()).unwrap_or(0.0)
    };
    let days = part(0, 4) * 372.0 + (part(5, 7) - 1.0) * 31.0 + part(8, 10);
    days * 86_400.0 + part(11, 13) * 3600.0 + part(14, 16) * 60.0 + part(17, 19)
}

/// Plots the growth of the spent share.
fn plot(account: &Account, counted: &[&Reservation], page: &mut String) {
    const WIDTH: f64 = 720.0;
    const HEIGHT: f64 = 220.0;
    const LEFT: f64 = 46.0;
    const FOOT: f64 = 26.0;
    if counted.is_empty() {
        return;
    }
    let exact = account.limit.exact();
    let share = |held: &Reservation| match held.charged {
        PriceBasis::Whole => 1.0,
        _ => held.price.share(&exact),
    };
    // In the order of the entries; a clock set back moves no point back.
    let mut points = vec![(seconds(&account.at), 0.0)];
    for held in counted {
        let (last, sum) = points[points.len() - 1];
        points.push((seconds(&held.at).max(last), sum + share(held)));
    }
    let (start, end) = (points[0].0, points[points.len() - 1].0);
    let span = (end - start).max(1.0);
    let most = account.share().max(1.0) * 1.05;
    let x = |at: f64| LEFT + (at - start) / span * (WIDTH - LEFT - 12.0);
    let y = |share: f64| (HEIGHT - FOOT) - share / most * (HEIGHT - FOOT - 10.0);
    let mut picture = svg::open(WIDTH, HEIGHT, "Share of the budget that was spent, over time");
    for tick in [0.0, 0.25, 0.5, 0.75, 1.0] {
        let (at, class) = (y(tick), if tick == 1.0 { "zero" } else { "rule" });
        let _ = write!(picture, "<path class=\"{class}\" d=\"M{LEFT} {at:.1}H{WIDTH}\"/>");
        svg::text(
            &mut picture,
            (LEFT - 6.0, at + 4.0),
            "end",
            "",
            &format!("{:.0} %", 100.0 * tick),
        );
    }
    let mut path = format!("M{:.1} {:.1}", x(points[0].0), y(0.0));
    for (at, share) in &points[1..] {
        let _ = write!(path, "H{:.1}V{:.1}", x(*at), y(*share));
    }
    let _ = write!(picture, "<path class=\"line\" d=\"{path}H{WIDTH}\"/>");
    let last = counted.last().map_or("", |held| held.at.as_str());
    svg::text(&mut picture, (LEFT, HEIGHT - 8.0), "start", "", &day(&account.at));
    if day(last) != day(&account.at) {
        svg::text(&mut picture, (WIDTH - 4.0, HEIGHT - 8.0), "end", "", &day(last));
    }
    picture.push_str("</svg>");
    let taken: u64 = account.imported.values().map(|taken| taken.releases).sum();
    let note = match taken {
        0 => String::new(),
        _ => format!(" {taken} releases of other ledgers count as well and are not drawn."),
    };
    let _ = write!(
        page,
        "<h3>Spent over time</h3>\n<p class=\"quiet\">The dashed line is the limit.{note}</p>\n{picture}\n"
    );
}

fn releases(account: &Account, all: &[&Reservation], page: &mut String) {
    if all.is_empty() {
        return;
    }
    let exact = account.limit.exact();
    page.push_str(
        "<h3>Releases</h3>\n<p class=\"quiet\">Shares are in the measure of the filter that keeps the \
         limit, in which costs add up; the ε of releases do not.</p>\n<div class=\"scrolled\"><table><thead><tr><th scope=\"col\">when</th><th scope=\"col\">who</th>\
         <th scope=\"col\">what</th><th scope=\"col\">why</th><th scope=\"col\">ε asked</th>\
         <th scope=\"col\">of the limit</th><th scope=\"col\">state</th></tr></thead><tbody>\n",
    );
    for held in all.iter().rev().take(LISTED) {
        let share = match (held.state, held.charged) {
            (State::Void, _) => "–".into(),
            (_, PriceBasis::Whole) => "all of it".into(),
            _ => per_cent(held.price.share(&exact)),
        };
        let state = match held.state {
            State::Reserved => "reserved: nothing drawn yet, or a process was killed",
            State::Drawn => "spent; whether it was kept is not known",
            State::Settled => "spent",
            State::Void => "void: refused before anything was drawn",
        };
        let _ = writeln!(
            page,
            "<tr><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{share}</td><td>{state}</td></tr>",
            escape(&held.at.get(..16).unwrap_or(&held.at).replace('T', " ")),
            escape(&held.who),
            escape(&held.doing),
            escape(if held.purpose.is_empty() { "–" } else { &held.purpose }),
            held.claim.map_or("–".into(), |claim| number(claim.epsilon)),
        );
    }
    page.push_str("</tbody></table></div>\n");
    if all.len() > LISTED {
        let _ = writeln!(
            page,
            "<p class=\"quiet\">{} earlier ones are not listed.</p>",
            all.len() - LISTED
        );
    }
}
