//! A document as one self-contained page of HTML: style and plots are inside, there is no script, and a
//! content policy forbids the page to fetch anything.

use super::document::{Block, Cell, Document, Table, Tone};
use privet_cli::page::panel::Figure;
use privet_cli::page::svg::entities as escape;
use std::fmt::Write as _;

const STYLE: &str = include_str!("style.css");
/// The page may apply its own style; it fetches and runs nothing.
pub const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'";
/// Number of headings from which there is a table of contents.
const CONTENTS_FROM: usize = 4;

/// The page.
pub fn page(title: &str, document: &Document) -> String {
    let title = escape(title);
    let mut page = format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"{POLICY}\">\n\
         <title>{title}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n<main>\n<h1>{title}</h1>\n"
    );
    contents(document, &mut page);
    let mut anchors = document.headings().map(|(.., anchor)| anchor);
    for block in &document.blocks {
        match block {
            Block::Heading(level, text) => {
                let level = (*level).clamp(2, 6);
                let anchor = anchors.next().unwrap_or_default();
                let _ = writeln!(page, "<h{level} id=\"{anchor}\">{}</h{level}>", escape(text));
            }
            Block::Text(text) => {
                let _ = writeln!(page, "<p>{}</p>", escape(text));
            }
            Block::Notice(text) => {
                let _ = writeln!(page, "<p class=\"notice\" role=\"note\">{}</p>", escape(text));
            }
            Block::Notes(notes) => {
                page.push_str("<ol class=\"notes\" type=\"a\">\n");
                for note in notes {
                    let _ = writeln!(page, "<li>{}</li>", escape(note));
                }
                page.push_str("</ol>\n");
            }
            Block::Table(one) => table(one, true, &mut page),
            Block::Folded(one) => {
                let caption = escape(&one.caption);
                let _ = writeln!(page, "<details>\n<summary>{caption}</summary>");
                table(one, false, &mut page);
                page.push_str("</details>\n");
            }
            Block::Figure(one) => figure(one, &mut page),
        }
    }
    page.push_str("</main>\n</body>\n</html>\n");
    page
}

fn contents(document: &Document, page: &mut String) {
    if document.headings().count() < CONTENTS_FROM {
        return;
    }
    page.push_str("<nav aria-label=\"Contents\">\n<ul>\n");
    let headings: Vec<_> = document.headings().collect();
    for part in headings.chunk_by(|_, (level, ..)| *level > 2) {
        let link = |(_, text, anchor): &(u8, &str, String)| {
            format!("<li><a href=\"#{anchor}\">{}</a>", escape(text))
        };
        let inner: String = part[1..].iter().map(|one| link(one) + "</li>").collect();
        let inner = if inner.is_empty() { inner } else { format!("<ul>{inner}</ul>") };
        let _ = writeln!(page, "{}{inner}</li>", link(&part[0]));
    }
    page.push_str("</ul>\n</nav>\n");
}

fn table(table: &Table, shown: bool, page: &mut String) {
    // A wide table scrolls in its own box, which the keyboard can reach. Its caption would scroll away
    // and is shown above; the one inside is for screen readers.
    let caption = escape(&table.caption);
    if shown {
        let _ = writeln!(page, "<p class=\"caption\" aria-hidden=\"true\">{caption}</p>");
    }
    let _ = writeln!(
        page,
        "<div class=\"wide\" tabindex=\"0\" role=\"group\" aria-label=\"{caption}\">\n<table>\n\
         <caption>{caption}</caption>\n<thead><tr>"
    );
    for (name, number) in &table.columns {
        let class = aligned(*number, Tone::Plain);
        let _ = write!(page, "<th scope=\"col\"{class}>{}</th>", escape(name));
    }
    page.push_str("</tr></thead>\n<tbody>\n");
    for row in &table.rows {
        page.push_str("<tr>");
        for (place, (Cell { text, tone }, (_, number))) in
            row.iter().zip(&table.columns).enumerate()
        {
            let (class, text) = (aligned(*number, *tone), escape(text));
            let _ = match place {
                0 => write!(page, "<th scope=\"row\"{class}>{text}</th>"),
                _ => write!(page, "<td{class}>{text}</td>"),
            };
        }
        page.push_str("</tr>\n");
    }
    page.push_str("</tbody>\n</table>\n</div>\n");
}

fn aligned(number: bool, tone: Tone) -> &'static str {
    match (number, tone) {
        (false, Tone::Plain) => "",
        (false, Tone::Strong) => " class=\"strong\"",
        (false, Tone::Warning) => " class=\"warning\"",
        (true, Tone::Plain) => " class=\"number\"",
        (true, Tone::Strong) => " class=\"number strong\"",
        (true, Tone::Warning) => " class=\"number warning\"",
    }
}

fn figure(figure: &Figure, page: &mut String) {
    page.push_str("<figure>\n<div class=\"panels\">\n");
    for panel in &figure.panels {
        page.push_str(&panel.svg());
        page.push('\n');
    }
    page.push_str("</div>\n<ul class=\"legend\" aria-label=\"Legend\">\n");
    for (style, name) in &figure.legend {
        let _ = writeln!(page, "<li>{}{}</li>", style.sample(), escape(name));
    }
    let _ =
        writeln!(page, "</ul>\n<figcaption>{}</figcaption>\n</figure>", escape(&figure.caption));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hostile_names_stay_text() {
        let hostile = "</title><script>alert('x')</script>\" onload=\"y&amp;\u{0}";
        let mut document = Document::default();
        for _ in 0..CONTENTS_FROM {
            document.heading(3, hostile);
        }
        document.text(hostile);
        let one = Table::of(hostile, [hostile]);
        let one = one.text_column(hostile, |name| Cell::new(*name, Tone::Warning));
        document.table(one.clone());
        document.collapsed_table(one);
        let page = page(hostile, &document);
        assert!(!page.contains("<script") && !page.contains("onload=\""));
        assert!(
            page.contains("&lt;script&gt;alert(&#39;x&#39;)") && page.contains("&amp;amp;\u{fffd}")
        );
        assert_eq!(page.matches("</title>").count(), 1);
    }

    #[test]
    fn the_page_names_nothing_outside_itself() {
        let page = page("title", &Document::default());
        for word in ["http:", "https:", "src=", "url(", "@import", "<script", "<link"] {
            assert!(!page.contains(word), "{word}");
        }
    }

    #[test]
    fn lists_of_contents_are_nested_and_closed() {
        let mut document = Document::default();
        for (level, name) in [(2, "a"), (3, "b"), (3, "c"), (2, "d"), (2, "e"), (3, "f")] {
            document.heading(level, name);
        }
        let page = page("title", &document);
        for tag in ["ul", "li"] {
            assert_eq!(
                page.matches(&format!("<{tag}>")).count(),
                page.matches(&format!("</{tag}>")).count(),
                "{tag}"
            );
        }
        assert!(
            page.contains("<a href=\"#part-2\">c</a>") && page.contains("<h3 id=\"part-2\">c</h3>")
        );
    }
}
