//! A document as Markdown, for `docs/`.

use super::document::{Block, Cell, Document, Table, Tone};
use std::fmt::Write as _;

/// The page.
pub fn page(title: &str, document: &Document) -> String {
    let mut page = format!("# {}\n", escape(title));
    for block in &document.blocks {
        page.push('\n');
        match block {
            Block::Heading(level, text) => {
                let _ = writeln!(page, "{} {}", "#".repeat(usize::from(*level)), escape(text));
            }
            Block::Text(text) => {
                let _ = writeln!(page, "{}", escape(text));
            }
            Block::Notice(text) => {
                let _ = writeln!(page, "> **Note.** {}", escape(text));
            }
            Block::Notes(notes) => {
                for (letter, note) in ('a'..).zip(notes) {
                    let _ = writeln!(page, "- ({letter}) {}", escape(note));
                }
            }
            Block::Table(one) | Block::Folded(one) => table(one, &mut page),
            Block::Figure(_) => {
                page.pop();
            }
        }
    }
    page
}

fn table(table: &Table, page: &mut String) {
    let _ = writeln!(page, "{}\n", escape(&table.caption));
    let (names, rules): (Vec<String>, Vec<&str>) = table
        .columns
        .iter()
        .map(|(name, number)| (escape(name), if *number { "---:" } else { "---" }))
        .unzip();
    let _ = writeln!(page, "| {} |\n|{}|", names.join(" | "), rules.join("|"));
    for row in &table.rows {
        let cells: Vec<String> = row.iter().map(cell).collect();
        let _ = writeln!(page, "| {} |", cells.join(" | "));
    }
}

fn cell(cell: &Cell) -> String {
    let text = escape(&cell.text);
    match cell.tone {
        Tone::Plain => text,
        Tone::Strong | Tone::Warning if text.is_empty() => text,
        Tone::Strong => format!("**{text}**"),
        Tone::Warning => format!("**{text}** ⚠"),
    }
}

/// Escapes text for Markdown.
fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '\\' | '|' | '<' | '>' | '`' | '*' | '_' | '[' | ']' | '#' | '~' => {
                escaped.push('\\');
                escaped.push(character);
            }
            '\n' | '\r' | '\t' => escaped.push(' '),
            character => escaped.push(character),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hostile_names_stay_text() {
        let mut document = Document::default();
        document.heading(3, "a|b\n# c <b>");
        let one = Table::of("caption", ["x|y\nz"]).text_column("name", |name| *name);
        document.table(one.numbers("value", |_| Cell::new("1.0", Tone::Warning)));
        let page = page("title", &document);
        assert!(page.contains("### a\\|b \\# c \\<b\\>\n"));
        assert!(page.contains("| x\\|y z | **1.0** ⚠ |\n") && page.contains("|---|---:|"));
    }
}
