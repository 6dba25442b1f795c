//! Names, texts and numbers as SQL writes them.

/// A name.
pub(super) fn ident(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

/// A column of the table.
pub(super) fn of_table(name: &str) -> String {
    format!("privet_in.{}", ident(name))
}

/// A text.
pub(super) fn literal(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

/// A number in double precision.
pub(super) fn number(value: f64) -> String {
    if value < 0.0 { format!("({value:e})") } else { format!("{:e}", value + 0.0) }
}

/// A sum as a balanced tree.
pub(super) fn sum(terms: &[String]) -> String {
    match terms {
        [] => number(0.0),
        [one] => one.clone(),
        terms => {
            let (left, right) = terms.split_at(terms.len() / 2);
            format!("({} + {})", sum(left), sum(right))
        }
    }
}
