//! Help that fits the window. Its texts are broken by hand in the source; on a narrower screen than the
//! author's, lines would be broken a second time, in the middle of sentences.

use clap::Command;

/// A line of at least this many characters was broken because the next word did not fit.
const FULL_LINE_CHARACTERS: usize = 72;

/// Joins the paragraphs of the long descriptions of a command and all its subcommands into one line
/// each, for `clap` to break. Lists (lines that begin with a space) and short lines stay as they are.
pub fn flowing(command: Command) -> Command {
    let texts = [command.get_long_about(), command.get_after_help()]
        .map(|text| text.map(|text| paragraphs(&text.to_string())));
    let [about, after] = texts;
    let command = match about {
        Some(text) => command.long_about(text),
        None => command,
    };
    let command = match after {
        Some(text) => command.after_help(text),
        None => command,
    };
    command.mut_subcommands(flowing)
}

fn paragraphs(text: &str) -> String {
    let mut flowed = String::with_capacity(text.len());
    let mut before: Option<&str> = None;
    for line in text.lines() {
        let begins = line.is_empty() || line.starts_with(' ');
        match before {
            None => {}
            Some(full)
                if !begins
                    && !full.starts_with(' ')
                    && full.chars().count() >= FULL_LINE_CHARACTERS =>
            {
                flowed.push(' ')
            }
            Some(_) => flowed.push('\n'),
        }
        flowed.push_str(line);
        before = Some(line);
    }
    flowed
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::Cli;

    #[test]
    fn full_lines_flow_and_short_ones_and_lists_stay() {
        let full = "x".repeat(FULL_LINE_CHARACTERS);
        assert_eq!(
            paragraphs(&format!("{full}\nand so on.\nNext:\n  a  b\n  c\n\nLast.")),
            format!("{full} and so on.\nNext:\n  a  b\n  c\n\nLast.")
        );
        assert_eq!(
            paragraphs(&format!("  {full}\nnot of the list")),
            format!("  {full}\nnot of the list")
        );
    }

    /// On a screen of 80 columns no description has a line of a few words between two full ones, the
    /// sign of a paragraph that was broken twice.
    #[test]
    fn no_description_is_broken_twice() {
        let mut verbs = vec![Cli::shape()];
        let mut seen = 0;
        while let Some(mut verb) = verbs.pop() {
            verbs.extend(verb.get_subcommands().cloned());
            let Some(about) = verb.get_long_about().map(ToString::to_string) else { continue };
            let name = verb.get_name().to_owned();
            let shown = verb.clone().term_width(80).render_long_help().to_string();
            let shown: Vec<&str> =
                shown.lines().take_while(|line| !line.starts_with("Usage:")).collect();
            assert!(shown.len() >= about.lines().count(), "{name}");
            for three in shown.windows(3) {
                let prose = three.iter().all(|line| !line.is_empty() && !line.starts_with(' '));
                let [first, middle, last] = [0, 1, 2].map(|k| three[k].chars().count());
                let broken = prose
                    && first > 60
                    && middle < 40
                    && last > 60
                    && !three[1].ends_with(['.', ':']);
                assert!(!broken, "{name}: {three:?}");
            }
            let _ = verb.render_long_help();
            seen += 1;
        }
        assert!(seen > 20, "{seen} descriptions");
    }
}
