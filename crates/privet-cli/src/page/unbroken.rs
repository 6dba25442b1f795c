//! Numbers such as 1e-6 stay on one line, and every ε and δ with its number: browsers break a line after
//! a hyphen between letters and digits, and no line should end in "δ = 1e-" or "ε =". The text itself is
//! unchanged, so that it can be copied.

/// Puts every number of a page with an exponent below 0, and every one after "ε = " or "δ = " with that
/// prefix, in a span that is not broken; tags, styles, titles and pictures are left alone.
pub(super) fn unbroken(page: &str) -> String {
    const SKIPPED: [(&str, &str); 3] =
        [("<style", "</style>"), ("<title", "</title>"), ("<svg", "</svg>")];
    let mut whole = String::with_capacity(page.len() + 256);
    let mut rest = page;
    while let Some(at) = rest.find('<') {
        let (text, markup) = rest.split_at(at);
        mark_text(text, &mut whole);
        let skipped = SKIPPED.iter().find(|(open, _)| markup.starts_with(open));
        let end = skipped.map_or(">", |(_, close)| close);
        let Some(found) = markup.find(end) else {
            whole.push_str(markup);
            return whole;
        };
        let (own, after) = markup.split_at(found + end.len());
        whole.push_str(own);
        rest = after;
    }
    mark_text(rest, &mut whole);
    whole
}

/// As [`unbroken`], for a text between tags.
fn mark_text(text: &str, into: &mut String) {
    let bytes = text.as_bytes();
    let digits = |mut at: usize| {
        while bytes.get(at).is_some_and(u8::is_ascii_digit) {
            at += 1;
        }
        at
    };
    let mut done = 0;
    for (at, _) in text.match_indices("e-") {
        let number = |byte: &u8| byte.is_ascii_digit() || *byte == b'.';
        let from = at - bytes[..at].iter().rev().take_while(|byte| number(byte)).count();
        let to = digits(at + 2);
        let alone = |byte: Option<&u8>| !byte.is_some_and(u8::is_ascii_alphanumeric);
        let before = from.checked_sub(1).and_then(|place| bytes.get(place));
        if from < done || from == at || to == at + 2 || !alone(before) || !alone(bytes.get(to)) {
            continue;
        }
        let named = ["ε = ", "δ = "].iter().find(|name| text[done..from].ends_with(**name));
        let from = from - named.map_or(0, |name| name.len());
        named_numbers(&text[done..from], into);
        into.push_str("<span class=\"unbroken\">");
        into.push_str(&text[from..to]);
        into.push_str("</span>");
        done = to;
    }
    named_numbers(&text[done..], into);
}

/// The numbers after "ε = " and "δ = ", in a text without negative exponents.
fn named_numbers(text: &str, into: &mut String) {
    let mut rest = text;
    while let Some(at) = rest.find(['ε', 'δ']) {
        let (before, from) = rest.split_at(at);
        into.push_str(before);
        let name = from.chars().next().map_or(0, char::len_utf8);
        let number = from[name..].strip_prefix(" = ").map_or(0, |after| {
            let whole = after.find(|letter: char| !letter.is_ascii_digit() && letter != '.');
            after[..whole.unwrap_or(after.len())].trim_end_matches('.').len()
        });
        let end = if number == 0 { name } else { name + " = ".len() + number };
        if number == 0 {
            into.push_str(&from[..end]);
        } else {
            into.push_str(&format!("<span class=\"unbroken\">{}</span>", &from[..end]));
        }
        rest = &from[end..];
    }
    into.push_str(rest);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_kept_together_and_nothing_else_is_touched() {
        let span = |number: &str| format!("<span class=\"unbroken\">{number}</span>");
        let page = "<p title=\"1e-6\">δ = 1e-6, 2.5e-12; the-6, 7e-, a1e-6, 1e-6b, 1e6</p><svg><text>1e-9</text></svg>";
        let found = unbroken(page);
        let named = span("δ = 1e-6");
        let expected =
            page.replacen("δ = 1e-6", &named, 1).replacen("2.5e-12", &span("2.5e-12"), 1);
        assert_eq!(found, expected);
        for same in ["", "<p", "a < b", "<style>1e-6</style>", "<title>1e-6</title>", "1e", "ε"] {
            assert_eq!(unbroken(same), same);
        }
        assert_eq!(unbroken("1e-6"), span("1e-6"));
        let both = format!("({}), {}. e^ε = 3", span("ε = 1.2"), span("δ = 0"));
        let both = both.replace("ε = 3", &span("ε = 3"));
        assert_eq!(unbroken("(ε = 1.2), δ = 0. e^ε = 3"), both);
    }
}
