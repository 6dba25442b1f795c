//! Names, strings and numbers as SQL literals.

/// A quoted identifier.
pub(super) fn ident(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

/// A column of the table.
pub(super) fn of_table(name: &str) -> String {
    format!("privet_in.{}", ident(name))
}

/// A string literal.
pub(super) fn literal(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

/// A double-precision literal.
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
