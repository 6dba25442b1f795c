//! The help text about records that do not fit the schema: the same in every verb that reads records.

use crate::family;
use clap::Command;

/// Verbs that read records under a schema and by default end at a record that does not fit it, beside
/// the verbs of the offered families.
const VERBS: [&[&str]; 9] = [
    &["train"],
    &["tune"],
    &["count"],
    &["vote"],
    &["answer"],
    &["neighbours"],
    &["complete"],
    &["evaluate"],
    &["party", "train"],
];

/// The text appended to their help.
const BAD_LINE_HELP: &str = "\
A line that does not fit the schema ends the command with its number, which tells of that record.
With `invalid = \"drop\"` in the schema no record can (see docs/guide.md).";

/// Appends the text to the description of each of them.
pub fn with_help(command: Command) -> Command {
    let own = VERBS.into_iter().fold(command, with_help_at);
    family::names().into_iter().fold(own, |command, verb| with_help_at(command, &[verb]))
}

fn with_help_at(command: Command, path: &[&'static str]) -> Command {
    match path {
        [] => {
            let about = command.get_long_about().map(ToString::to_string).unwrap_or_default();
            command.long_about(format!("{about}\n\n{BAD_LINE_HELP}"))
        }
        [verb, rest @ ..] => command.mut_subcommand(*verb, |below| with_help_at(below, rest)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::Cli;

    /// A verb that takes a table, a schema and a budget reads records; only streams take no schema that
    /// refuses a record, and a plan reads none.
    #[test]
    fn every_verb_that_may_end_at_a_record_says_so() {
        const READS_NONE: [&str; 1] = ["plan"];
        const NEVER_ENDS: [&str; 1] = ["online"];
        let shape = Cli::shape();
        for verb in shape.get_subcommands() {
            let takes = |name: &str| verb.get_arguments().any(|flag| flag.get_id() == name);
            let about = verb.get_long_about().map(ToString::to_string).unwrap_or_default();
            let says = about.contains("which tells of that record");
            let name = verb.get_name();
            let listed =
                VERBS.iter().any(|path| *path == [name]) || family::names().contains(&name);
            assert_eq!(says, listed, "{name}");
            if takes("schema") && takes("epsilon") && !READS_NONE.contains(&name) {
                assert!(listed || NEVER_ENDS.contains(&name), "{name}");
            }
        }
        let party = shape.find_subcommand("party").unwrap().find_subcommand("train").unwrap();
        assert!(party.get_long_about().unwrap().to_string().contains("tells of that record"));
    }
}
